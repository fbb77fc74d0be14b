"""Is the credit of an approximate match deserved? Judged by gold alignments, summed by threshold and order.

An approximate match pairs a candidate n-gram with a reference n-gram of another spelling; its credit is its weight.
It is

- `deserved` if every token of the shorter of the two is aligned to a token inside the other, in the same order (for
  n-grams of one order: position by position),
- an `order` error if every token of the shorter one is aligned inside the other, but not in that order,
- `spurious` otherwise.

A reference n-gram that occurs several times is judged by its kindest occurrence. Without alignments a match is
`unjudged`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.embeddings.function_words import is_function_word
from softbleu.kernels.positions import ngram_ids
from softbleu.kernels.scale import SCALE

if TYPE_CHECKING:
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.sweep import MatchIntervals
    from softbleu.types import Flags, Integers

BINS = 50  # Of the histogram of similarities
VERDICTS = ("deserved", "order", "spurious", "unjudged")  # The kinder first
DESERVED, ORDER, SPURIOUS, UNJUDGED = range(len(VERDICTS))


@dataclass(frozen=True)
class JudgedCredit:
    """The approximate matches at one threshold, of one order or of all.

    Weights are in n-grams: 1 is what an exact match counts. What needs alignments is None without them.

    >>> credit = JudgedCredit(4, weight=3.0, deserved=1.5, misordered=0.5, spurious=1.0, rewarded=2, deserving=5)
    >>> credit.precision, credit.recall, round(credit.f1, 4)
    (0.5, 0.4, 0.4444)
    """

    matches: int
    weight: float
    deserved: float | None
    misordered: float | None
    spurious: float | None  # The weight of each class
    rewarded: int | None  # Candidate n-grams that deserve credit and have a deserved match
    deserving: int | None
    """Candidate n-grams that deserve credit: without an exact match by BLEU's counting (the leftmost occurrences
    first), and whose tokens are all aligned, in order, to adjacent tokens of the reference. It depends on the text
    only."""

    @property
    def precision(self) -> float | None:
        """Deserved share of the weight; None if there is no weight."""
        return self._share(self.deserved)

    @property
    def order_share(self) -> float | None:
        """Share of order errors in the weight."""
        return self._share(self.misordered)

    @property
    def spurious_share(self) -> float | None:
        """Spurious share of the weight."""
        return self._share(self.spurious)

    @property
    def recall(self) -> float | None:
        """Share of the deserving n-grams that have a deserved match; None if none is deserving."""
        return None if self.rewarded is None or not self.deserving else self.rewarded / self.deserving

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; 0 if both are 0."""
        precision, recall = self.precision, self.recall
        if precision is None or recall is None:
            return None
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    def _share(self, part: float | None) -> float | None:
        return None if part is None or not self.weight else part / self.weight


class CreditTally:
    """Adds up matches, piece by piece, for ascending thresholds at once; judged where there are alignments."""

    def __init__(self, thresholds: int, max_order: int, *, judged: bool) -> None:
        self.judged = judged
        self.deserving = np.zeros(max_order, np.int64)
        self._changes = np.zeros((3, thresholds, max_order, len(VERDICTS)), np.int64)
        """Number of matches, weight in millionths, and number of the rewarded that begin at each threshold, less what
        has ended: by order and class."""
        self.histogram = np.zeros((len(VERDICTS), BINS), np.int64)
        """Matches made at the lowest threshold, by class and by similarity: equal bins from 0 to 1."""

    def add(self, intervals: MatchIntervals, classes: Integers, rewarded: Flags) -> None:
        """Add approximate matches of these classes; `rewarded` are the deserved ones of deserving n-grams."""
        _, thresholds, *cells = self._changes.shape
        size = int(np.prod(cells))
        cell = (intervals.order - 1) * len(VERDICTS) + classes
        ended = intervals.end < thresholds
        for total, values in zip(self._changes, (np.ones(len(cell)), intervals.matched, rewarded), strict=True):
            begun = np.bincount(intervals.first * size + cell, values, total.size)
            over = np.bincount((intervals.end * size + cell)[ended], values[ended], total.size)
            # Sums of whole numbers below 2^53, which floats hold exactly.
            total += (begun - over).astype(np.int64).reshape(total.shape)
        lowest = intervals.first == 0
        bins = np.minimum(intervals.matched[lowest] * BINS // SCALE, BINS - 1)
        self.histogram += np.bincount(classes[lowest] * BINS + bins, minlength=self.histogram.size).reshape(-1, BINS)

    def merge(self, other: CreditTally) -> None:
        """Add what another tally of the same thresholds and orders has."""
        self.deserving += other.deserving
        self._changes += other._changes
        self.histogram += other.histogram

    def credit(self, threshold: int, order: int | None = None) -> JudgedCredit:
        """Credit at the threshold of that number, of one order or of all."""
        orders = slice(None) if order is None else slice(order - 1, order)
        counts, weights, rewarded = self._changes[:, : threshold + 1, orders].sum(axis=(1, 2)).tolist()
        judged: list[Any] = [None] * 5
        if self.judged:
            judged = [*(weights[kind] / SCALE for kind in (DESERVED, ORDER, SPURIOUS)), sum(rewarded)]
            judged.append(int(self.deserving[orders].sum()))
        return JudgedCredit(sum(counts), sum(weights) / SCALE, *judged)


def approximate(chunk: Chunk, intervals: MatchIntervals) -> Flags:
    """Say which matches of `intervals`, made in a chunk, pair n-grams of different spelling: (matches,)."""
    codes = np.append(chunk.positions.codes, -1)
    equal = intervals.order == intervals.partner_orders
    for index in range(int(intervals.order.max(initial=0))):
        beyond = index >= intervals.order
        left = np.minimum(intervals.starts + index, chunk.size)
        right = np.minimum(intervals.partner_starts + index, chunk.size)
        equal &= beyond | (codes[left] == codes[right])
    return np.asarray(~equal)


class Judge:
    """Judges the matches of a chunk whose segments have one reference each.

    `aligned` has for each candidate token the place of the token of its reference that it is aligned to, from 0, or
    -1; each place at most once.
    """

    def __init__(self, chunk: Chunk, aligned: Integers, max_order: int) -> None:
        split, segment = chunk.positions.split, chunk.positions.segment
        matched = np.flatnonzero(aligned >= 0)
        other = chunk.reference_positions[segment[matched]] + aligned[matched]
        # For each position the one that it is aligned to; one position more, which stands for all beyond the end.
        self._link = np.full(chunk.size + 1, -1)
        self._link[matched] = other
        self._link[other] = matched
        self._occurrences = [_Occurrences(*ngrams, split) for ngrams in ngram_ids(chunk.positions, max_order)]
        self._exact = [(ngrams.starts, ngrams.exact) for ngrams in chunk.ngrams(max_order)]

    def classes(self, intervals: MatchIntervals) -> Integers:
        """Class of each match: an index of `VERDICTS`."""
        kindest = np.full(len(intervals.order), SPURIOUS)
        for order in np.unique(intervals.partner_orders).tolist():
            chosen = np.flatnonzero(intervals.partner_orders == order)
            match, partner = self._occurrences[order - 1].of(intervals.partner_starts[chosen])
            match = chosen[match]
            classes = self._judge(
                intervals.starts[match], intervals.order[match], partner, np.full(len(match), order)
            )
            np.minimum.at(kindest, match, classes)
        return kindest

    def deserving(self) -> list[Integers]:
        """Of each order, where the candidate n-grams that deserve credit start; see `JudgedCredit`."""
        starts_by_order = []
        for order, (starts, exact) in enumerate(self._exact, start=1):
            link = self._link[starts]
            adjacent = ~exact & (link >= 0)
            for index in range(1, order):
                adjacent &= self._link[starts + index] == link + index
            starts_by_order.append(starts[adjacent])
        return starts_by_order

    def _judge(self, left: Integers, left_order: Integers, right: Integers, right_order: Integers) -> Integers:
        """Judge n-grams by where they start and their orders."""
        swap = left_order > right_order
        start, other = np.where(swap, right, left), np.where(swap, left, right)
        length, width = np.minimum(left_order, right_order), np.maximum(left_order, right_order)
        inside, ordered = np.ones(len(left), bool), np.ones(len(left), bool)
        before = np.full(len(left), -1)
        for index in range(int(length.max(initial=0))):
            beyond = index >= length
            link = self._link[np.minimum(start + index, len(self._link) - 1)]
            inside &= beyond | ((link >= other) & (link < other + width))
            ordered &= beyond | (link > before)
            before = link
        return np.where(inside, np.where(ordered, DESERVED, ORDER), SPURIOUS)


class _Occurrences:
    """Where the n-grams of one order occur in the references."""

    def __init__(self, starts: Integers, cells: Integers, split: int) -> None:
        cut = int(np.searchsorted(starts, split))
        self._starts, self._cells = starts[cut:], cells[cut:]
        ranked = np.argsort(self._cells, kind="stable")
        self._by_cell, self._sorted_cells = self._starts[ranked], self._cells[ranked]

    def of(self, starts: Integers) -> tuple[Integers, Integers]:
        """All occurrences of the n-grams that start there: number of the n-gram, position."""
        cells = self._cells[np.searchsorted(self._starts, starts)]
        low = np.searchsorted(self._sorted_cells, cells)
        many = np.searchsorted(self._sorted_cells, cells, side="right") - low
        number = np.repeat(np.arange(len(starts)), many)
        index = np.arange(len(number)) - np.repeat(np.cumsum(many) - many, many)
        return number, self._by_cell[low[number] + index]


Ngram = tuple[str, ...]
PROMISCUOUS = 20  # So many n-grams with the most different partners are offenders, whatever their words


@dataclass(frozen=True)
class Partner:
    """A reference n-gram and the approximate matches with it."""

    ngram: Ngram
    matches: int
    weight: float  # How many there are, and their weight in n-grams
    candidates: int  # How many different candidate n-grams matched it
    suspects: int
    """How many of the matches are spurious; of unaligned text, where nobody knows, all but those whose n-grams differ
    in case only."""
    suspect_weight: float  # Their weight

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

    similarity: float  # Mean weight of a match
    matches: int
    segment: int  # Number of the first, from 1
    candidate: Context
    reference: Context


Pairs = dict[tuple[bytes, bytes], list[int]]
"""By the codes of candidate and reference n-gram: matches, weight, suspects, their weight, and the candidate and
reference token at which the first suspect starts."""


def count_pairs(piece: Chunk, intervals: MatchIntervals, classes: Integers) -> Pairs:
    """Count approximate matches in a piece of text; tokens of either side are numbered from its start.

    `intervals` are its matches, `classes` says of each whether it is spurious or deserved.
    """
    pairs: Pairs = {}
    text, split = piece.positions.codes.astype("<i4").tobytes(), piece.positions.split
    names = ("starts", "order", "partner_starts", "partner_orders", "matched")
    columns = [classes.tolist(), *(getattr(intervals, name).tolist() for name in names)]
    for kind, left, n, right, m, weight in zip(*columns, strict=True):
        key = text[4 * left : 4 * (left + n)], text[4 * right : 4 * (right + m)]
        entry = pairs.setdefault(key, [0, 0, 0, 0, -1, -1])
        entry[0] += 1
        entry[1] += weight
        if kind in (SPURIOUS, UNJUDGED):
            if not entry[2]:
                entry[4:] = left, right - split
            entry[2] += 1
            entry[3] += weight
    return pairs


class PartnerTally:
    """Collects approximate matches of a text at one threshold; grows with the number of different ones.

    It is judged where alignments are known.
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
        for key, (matches, weight, suspects, suspect_weight, left, right) in pairs.items():
            entry = self._pairs.setdefault(key, [0, 0, 0, 0, -1, -1])
            entry[0] += matches
            entry[1] += weight
            one, other = ([word.lower() for word in self._spell(codes)] for codes in key)
            if suspects and (self._judged or one != other):
                if not entry[2]:
                    entry[4:] = left + to_candidate, right + to_reference
                entry[2] += suspects
                entry[3] += suspect_weight

    def partners(self) -> list[Partner]:
        """All partners, those with the most suspects first."""
        sums: dict[bytes, list[int]] = {}
        for (_, partner), entry in self._pairs.items():
            total = sums.setdefault(partner, [0] * 5)
            for number, value in enumerate((*entry[:4], 1)):
                total[number] += value
        partners = [
            Partner(self._spell(code), matches, weight / SCALE, candidates, suspects, suspect_weight / SCALE)
            for code, (matches, weight, suspects, suspect_weight, candidates) in sums.items()
        ]
        return sorted(
            partners,
            key=lambda partner: (-partner.suspects, -partner.suspect_weight, -partner.matches, partner.ngram),
        )

    def offenders(self, most: int) -> list[Offender]:
        """The suspects of greatest weight whose partner is of function words, or among the most promiscuous ones.

        One entry a pair of n-grams; pairs of equal weight in the order of their number, then of the text.
        """
        known = self.partners()
        promiscuous = sorted(
            (partner for partner in known if partner.suspects),
            key=lambda partner: (-partner.candidates, partner.ngram),
        )
        chosen = {partner.ngram for partner in promiscuous[:PROMISCUOUS]}
        chosen |= {partner.ngram for partner in known if partner.is_function}
        suspects = [(key, entry) for key, entry in self._pairs.items() if entry[2] and self._spell(key[1]) in chosen]
        suspects.sort(key=lambda pair: (-pair[1][3] / pair[1][2], -pair[1][2], *pair[1][4:6]))
        return [
            Offender(weight / many / SCALE, many, *self._place(left, len(x) // 4, right, len(y) // 4))
            for (x, y), (_, _, many, weight, left, right) in suspects[:most]
        ]

    def _spell(self, codes: bytes) -> Ngram:
        return tuple(self._words[code] for code in np.frombuffer(codes, "<i4").tolist())

    def _place(self, left: int, n: int, right: int, m: int) -> tuple[int, Context, Context]:
        candidates, references = self._chunk.candidates, self._chunk.references
        segment = int(np.searchsorted(candidates.offsets, left, side="right")) - 1
        line = int(np.searchsorted(references.offsets, right, side="right")) - 1
        contexts = [
            Context(
                tuple(self._words[code] for code in tokens.lines(number, number + 1).codes.tolist()),
                index - int(tokens.offsets[number]),
                order,
            )
            for tokens, number, index, order in ((candidates, segment, left, n), (references, line, right, m))
        ]
        return segment + 1, contexts[0], contexts[1]
