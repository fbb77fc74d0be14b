"""Text whose matches are looked at: of one system, aligned to its reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.aligned import AlignedPair, check_alignment, read_aligned
from softbleu.corpora.generate import GenerationSettings, generate
from softbleu.corpora.segments import Segments
from softbleu.errors import InputError, Parameter, known_name
from softbleu.text.tokenizers import Tokenizer, Whitespace

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.types import Integers


GRAMMAR = "modifiers"
COUNT = 2000
PAIRINGS = ("paraphrase", "halves")


@dataclass(frozen=True)
class MatchedText:
    """Text of one system, and the gold alignments of its candidates to their references; `of_pairs` makes it."""

    corpus: Corpus
    tokenizer: Tokenizer
    aligned: Integers
    """For each candidate token the place of the reference token that it is aligned to, or -1."""

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


def read_matched_text(
    generated: Mapping[str, Any], pairs: str | Iterable[AlignedPair] | None, encoding: str
) -> tuple[MatchedText, dict[str, str]]:
    """Read aligned pairs from a file, take those that are there, or generate them; and say what they are.

    `generated` has the settings of `generated_text`, None where they are not chosen.
    """
    if pairs is None:
        settings, text = generated_text(**generated, encoding=encoding)
        said = f"{settings.grammar}, {settings.pairing}, seed {settings.seed}"
    elif any(value is not None for value in generated.values()):
        raise InputError("one text at a time: ", Parameter("pairs"), ", or what ", Parameter("grammar"), " generates")
    else:
        said = pairs if isinstance(pairs, str) else "aligned pairs"
        text = MatchedText.of_pairs(read_aligned(pairs, encoding) if isinstance(pairs, str) else pairs)
    return text, {"text": said, "pairs": f"{len(text.corpus):,}"}
