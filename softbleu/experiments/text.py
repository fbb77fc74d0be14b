"""Text whose matches are looked at: of one system, aligned to its reference or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora.segments import Segments
from softbleu.errors import InputError
from softbleu.ngrams import Chunk
from softbleu.tokens import Tokenizer, Tokens

if TYPE_CHECKING:
    from softbleu.corpora.aligned import AlignedPair
    from softbleu.scoring.run import Corpus
    from softbleu.tokens import Vocabulary
    from softbleu.types import Integers


@dataclass(frozen=True)
class MatchedText:
    """Text of one system, and the gold alignments of its candidates to their references if there are any.

    Make it by `of_pairs` from aligned pairs, or by `of_corpus` from any text.
    """

    corpus: Corpus
    tokenizer: Tokenizer
    aligned: Integers | None = None
    """For each candidate token the place of the reference token that it is aligned to, or -1."""

    @classmethod
    def of_corpus(cls, corpus: Corpus, tokenizer: Tokenizer | None = None) -> MatchedText:
        """Take text without alignments.

        Raises
        ------
        InputError
            It has several systems.
        """
        if len(corpus.systems) != 1:
            raise InputError(f"one system at a time, not {len(corpus.systems)}: name one candidate file")
        return cls(corpus, tokenizer or Tokenizer())

    @classmethod
    def of_pairs(cls, pairs: Iterable[AlignedPair]) -> MatchedText:
        """Take aligned pairs.

        Raises
        ------
        InputError
            There are none, or an alignment or token is not possible; the pair is named.
        """
        candidates, references, aligned = [], [], []
        for number, pair in enumerate(pairs, start=1):
            candidates.append(" ".join(pair.candidate))
            references.append(" ".join(pair.reference))
            if (candidates[-1].split(), references[-1].split()) != (list(pair.candidate), list(pair.reference)):
                raise InputError(f"pair {number} has a token with a blank in it, or an empty one")
            aligned.append(_places(number, pair))
        if not candidates:
            raise InputError("there are no aligned pairs: nothing to analyse")
        return cls(Segments.of(candidates, references), Tokenizer(), np.concatenate(aligned))

    def code(self, vocabulary: Vocabulary) -> Chunk:
        """Code the whole text."""
        split = self.tokenizer.splitter
        candidates, references, counts = [], [], [0]
        for block in self.corpus.blocks():
            segments = block.load()
            (texts,) = segments.candidates.values()
            candidates.append(vocabulary.encode([split(line) for line in texts]))
            references.append(vocabulary.encode([split(line) for lines in segments.references for line in lines]))
            counts += map(len, segments.references)
        return Chunk(_joined(candidates), _joined(references), np.array([*accumulate(counts)]))


def _places(number: int, pair: AlignedPair) -> Integers:
    places = np.full(len(pair.candidate), -1)
    for left, right in pair.alignment:
        if not (0 <= left < len(places) and 0 <= right < len(pair.reference)):
            raise InputError(f"pair {number}: [{left}, {right}] aligns tokens that are not there")
        places[left] = right
    met = places[places >= 0]
    if not len(pair.alignment) == len(met) == len(np.unique(met)):
        raise InputError(f"pair {number}: a token is aligned twice")
    return places


def _joined(parts: Sequence[Tokens]) -> Tokens:
    lengths = np.concatenate([part.lengths for part in parts])
    return Tokens(np.concatenate([part.codes for part in parts]), np.concatenate(([0], np.cumsum(lengths))))
