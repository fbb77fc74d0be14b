"""Which reference n-grams are matched approximately, by how many different candidate n-grams, and where."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.embeddings.function_words import is_function_word
from softbleu.kernels.scale import SCALE
from softbleu.meta.credit import SPURIOUS, UNJUDGED

if TYPE_CHECKING:
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.sweep import MatchIntervals
    from softbleu.types import Integers


Ngram = tuple[str, ...]
PROMISCUOUS = 20  # So many n-grams with the most different partners are offenders, whatever their words


@dataclass(frozen=True)
class Partner:
    """A reference n-gram and the approximate matches with it."""

    ngram: Ngram
    matches: int
    mass: float  # How many there are, and their mass in n-grams
    candidates: int  # How many different candidate n-grams matched it
    suspects: int
    """How many of the matches are spurious; of unaligned text, where nobody knows, all but those whose n-grams differ
    in case only."""
    suspect_mass: float  # Their mass

    @property
    def is_function(self) -> bool:
        """Whether it has function words only."""
        return all(map(is_function_word, self.ngram))


@dataclass(frozen=True)
class Context:
    """An n-gram in its sentence.

    >>> str(Context(("he", "drove", "to", "work"), 1, 2))
    'he [drove to] work'
    """

    tokens: tuple[str, ...]
    start: int
    order: int

    def __str__(self) -> str:
        return self.within(len(self.tokens))

    def within(self, most: int) -> str:
        """Show at most so many tokens on each side.

        >>> Context(("he", "drove", "to", "work"), 1, 2).within(0)
        '… [drove to] …'
        """
        end = self.start + self.order
        low, high = max(self.start - most, 0), min(end + most, len(self.tokens))
        before, behind = ["…"] * bool(low), ["…"] * (high < len(self.tokens))
        shown = [*self.tokens[low : self.start], f"[{' '.join(self.ngram)}]", *self.tokens[end:high]]
        return " ".join([*before, *shown, *behind])

    @property
    def ngram(self) -> Ngram:
        """Its tokens."""
        return self.tokens[self.start : self.start + self.order]


@dataclass(frozen=True)
class Offender:
    """A pair of n-grams that are matched and should not be, and the first place where they are."""

    similarity: float  # Mean mass of a match
    matches: int
    segment: int  # Number of the first, from 1
    candidate: Context
    reference: Context


Pairs = dict[tuple[bytes, bytes], list[int]]
"""By the codes of candidate and reference n-gram: matches, mass, suspects, their mass, and the candidate and
reference token at which the first suspect starts."""


def count_pairs(piece: Chunk, intervals: MatchIntervals, classes: Integers) -> Pairs:
    """Count approximate matches of a piece of text; tokens of either side are numbered from its start."""
    pairs: Pairs = {}
    text, split = piece.positions.codes.astype("<i4").tobytes(), piece.positions.split
    names = ("starts", "order", "partner_starts", "partner_orders", "matched")
    columns = [classes.tolist(), *(getattr(intervals, name).tolist() for name in names)]
    for kind, left, n, right, m, mass in zip(*columns, strict=True):
        key = text[4 * left : 4 * (left + n)], text[4 * right : 4 * (right + m)]
        entry = pairs.setdefault(key, [0, 0, 0, 0, -1, -1])
        entry[0] += 1
        entry[1] += mass
        if kind in (SPURIOUS, UNJUDGED):
            if not entry[2]:
                entry[4:] = left, right - split
            entry[2] += 1
            entry[3] += mass
    return pairs


class PartnerTally:
    """Collects approximate matches of a text at one threshold; grows with the number of different ones.

    It is judged where somebody knows what is spurious.
    """

    def __init__(self, chunk: Chunk, words: Sequence[str], *, judged: bool) -> None:
        self._chunk = chunk
        self._words = words
        self._judged = judged
        self._pairs: Pairs = {}

    def add(self, pairs: Pairs, segment: int) -> None:
        """Add what `count_pairs` found in a piece of the text, of which `segment` is the first."""
        whole = self._chunk
        to_candidate = int(whole.candidates.offsets[segment])
        to_reference = int(whole.references.offsets[whole.segment_offsets[segment]])
        for key, (matches, mass, suspects, suspect_mass, left, right) in pairs.items():
            entry = self._pairs.setdefault(key, [0, 0, 0, 0, -1, -1])
            entry[0] += matches
            entry[1] += mass
            if suspects and (self._judged or not self._differ_in_case(*key)):
                if not entry[2]:
                    entry[4:] = left + to_candidate, right + to_reference
                entry[2] += suspects
                entry[3] += suspect_mass

    def partners(self) -> list[Partner]:
        """All partners, those with the most suspects first."""
        sums: dict[bytes, list[int]] = {}
        for (_, partner), entry in self._pairs.items():
            total = sums.setdefault(partner, [0] * 5)
            for number, value in enumerate((*entry[:4], 1)):
                total[number] += value
        found = [
            Partner(self._spell(code), matches, mass / SCALE, candidates, suspects, suspect_mass / SCALE)
            for code, (matches, mass, suspects, suspect_mass, candidates) in sums.items()
        ]
        return sorted(found, key=lambda each: (-each.suspects, -each.suspect_mass, -each.matches, each.ngram))

    def offenders(self, most: int, partners: Iterable[Partner] | None = None) -> list[Offender]:
        """The suspects of greatest mass whose partner is of function words, or among the most promiscuous ones.

        One entry a pair of n-grams; pairs of equal mass in the order of their number, then of the text.
        """
        known = self.partners() if partners is None else list(partners)
        promiscuous = sorted(
            (each for each in known if each.suspects), key=lambda each: (-each.candidates, each.ngram)
        )
        chosen = {each.ngram for each in promiscuous[:PROMISCUOUS]}
        chosen |= {each.ngram for each in known if each.is_function}
        suspects = [(key, entry) for key, entry in self._pairs.items() if entry[2] and self._spell(key[1]) in chosen]
        suspects.sort(key=lambda pair: (-pair[1][3] / pair[1][2], -pair[1][2], *pair[1][4:6]))
        return [
            Offender(mass / many / SCALE, many, *self._place(left, len(x) // 4, right, len(y) // 4))
            for (x, y), (_, _, many, mass, left, right) in suspects[:most]
        ]

    def _differ_in_case(self, left: bytes, right: bytes) -> bool:
        x, y = self._spell(left), self._spell(right)
        return [word.lower() for word in x] == [word.lower() for word in y]

    def _spell(self, codes: bytes) -> Ngram:
        return tuple(self._words[code] for code in np.frombuffer(codes, "<i4").tolist())

    def _place(self, left: int, n: int, right: int, m: int) -> tuple[int, Context, Context]:
        candidates, references = self._chunk.candidates, self._chunk.references
        segment = int(np.searchsorted(candidates.offsets, left, side="right")) - 1
        line = int(np.searchsorted(references.offsets, right, side="right")) - 1
        contexts = [
            Context(
                tuple(self._words[code] for code in tokens.lines(number, number + 1).codes.tolist()),
                place - int(tokens.offsets[number]),
                order,
            )
            for tokens, number, place, order in ((candidates, segment, left, n), (references, line, right, m))
        ]
        return segment + 1, contexts[0], contexts[1]
