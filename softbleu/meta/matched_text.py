"""Text whose matches are looked at: of one system, aligned to its reference or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.aligned import AlignedPair, check_alignment, read_aligned
from softbleu.corpora.generate import GenerationSettings, generate
from softbleu.corpora.segments import Segments
from softbleu.errors import InputError, Parameter, known_name
from softbleu.meta.evidence import Outputs, open_outputs
from softbleu.text.tokenizers import Tokenizer, Whitespace, make_tokenizer

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.types import Integers


GRAMMAR = "modifiers"
COUNT = 2000
PAIRINGS = ("paraphrase", "halves")
_PLAIN = (Parameter("candidates"), " and ", Parameter("references"))


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
        """Take a corpus without alignments, split by a tokenizer (or at white space). InputError: several systems."""
        if len(corpus.systems) != 1:
            raise InputError(f"one system at a time, not {len(corpus.systems)}: name one candidate file")
        return cls(corpus, tokenizer or Whitespace())

    @classmethod
    def of_pairs(cls, pairs: Iterable[AlignedPair]) -> MatchedText:
        """Take aligned pairs. InputError: there are none, or a pair, which is named, is not possible."""
        candidates, references, aligned = [], [], []
        for number, pair in enumerate(pairs, start=1):
            candidates.append(" ".join(pair.candidate))
            references.append(" ".join(pair.reference))
            if (candidates[-1].split(), references[-1].split()) != (list(pair.candidate), list(pair.reference)):
                raise InputError(f"pair {number} has a token with a blank in it, or an empty one")
            aligned.append(_places(number, pair))
        if not candidates:
            raise InputError("there are no aligned pairs: nothing to analyse")
        return cls(Segments.of(candidates, references), Whitespace(), np.concatenate(aligned))


def _places(number: int, pair: AlignedPair) -> Integers:
    places = np.full(len(pair.candidate), -1)
    for left, right in check_alignment(f"pair {number}", pair.candidate, pair.reference, pair.alignment):
        places[left] = right
    return places


def generated_text(
    grammar: str | None, pairing: str | None, count: int | None, seed: int | None, encoding: str = "utf-8"
) -> tuple[GenerationSettings, MatchedText]:
    """Generate aligned pairs by a grammar; parameters that are None have their defaults.

    `pairing` is `paraphrase` or `halves`: `count` pairs, of halves all by default. `seed` is that of the draws,
    `encoding` that of a grammar's file. Returns the settings that say how, too.
    """
    chosen: Any = known_name("pairing", pairing or "paraphrase", PAIRINGS)
    count = COUNT if count is None and chosen == "paraphrase" else count
    settings = GenerationSettings(grammar or GRAMMAR, chosen, seed or 0, count, encoding=encoding)
    return settings, MatchedText.of_pairs(generate(settings).pairs())


@contextmanager
def open_matched_text(
    generated: Mapping[str, Any],
    pairs: str | Iterable[AlignedPair] | None,
    candidates: Outputs,
    references: Sequence[str | Sequence[str]],
    encoding: str,
    tokens: Mapping[str, Any],
) -> Iterator[tuple[MatchedText, dict[str, str]]]:
    """Open aligned pairs, generated or given, or text without alignments, and say what it is; one text only.

    Parameters
    ----------
    generated
        Settings of generated pairs (`generated_text`); None where they are not chosen.
    pairs
        Aligned pairs, or their file.
    candidates, references
        Text without alignments, as `open_outputs` has it.
    encoding
        Of the files.
    tokens
        Settings of the tokenizer of text without alignments.
    """
    plain, wanted = bool(candidates or references), any(value is not None for value in generated.values())
    if plain + wanted + (pairs is not None) > 1:
        raise InputError(
            "one text at a time: ", Parameter("pairs"), ", or what ", Parameter("grammar"), " generates, or ", *_PLAIN
        )
    if not plain and tokens:
        raise InputError(
            "aligned pairs have their tokens: leave out ", Parameter("tokenize"), " and ", Parameter("lowercase")
        )
    if plain:
        if not candidates:
            raise InputError("no candidate file: name one with ", Parameter("candidates"))
        with open_outputs(None, candidates, references, None, None, encoding, unescape=False) as corpus:
            text = MatchedText.of_corpus(
                corpus, make_tokenizer(tokens.get("tokenize", "none"), lowercase=tokens.get("lowercase"))
            )
            yield text, {"text": corpus.systems[0], "segments": f"{len(corpus):,}"}
        return
    if pairs is None:
        settings, text = generated_text(**generated, encoding=encoding)
        said = f"{settings.grammar}, {settings.pairing}, seed {settings.seed}"
    else:
        said = pairs if isinstance(pairs, str) else "aligned pairs"
        try:
            text = MatchedText.of_pairs(read_aligned(pairs, encoding) if isinstance(pairs, str) else pairs)
        except InputError as error:
            raise InputError(*error.args, "; text without alignments goes by ", *_PLAIN) from None
    yield text, {"text": said, "pairs": f"{len(text.corpus):,}"}
