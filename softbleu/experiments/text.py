"""Text whose matches are looked at: of one system, aligned to its reference or not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora.segments import Segments
from softbleu.errors import InputError
from softbleu.tokens import Tokenizer

if TYPE_CHECKING:
    from softbleu.corpora.aligned import AlignedPair
    from softbleu.scoring.run import Corpus
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
