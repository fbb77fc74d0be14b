"""Is the credit of an approximate match deserved? Judged by gold alignments, summed by threshold and order.

An approximate match pairs a candidate n-gram with a reference n-gram of another spelling; its credit is its weight.
It is

- `deserved` if every token of the shorter of the two is aligned to a token inside the other, in the same order (for
  n-grams of one order: position by position),
- an `order` error if every token of the shorter one is aligned inside the other, but not in that order,
- `spurious` otherwise.

A reference n-gram that occurs several times is judged by its kindest occurrence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.kernels.positions import ngram_ids
from softbleu.kernels.scale import SCALE

if TYPE_CHECKING:
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.sweep import MatchIntervals
    from softbleu.types import Flags, Integers

BINS = 50  # Of the histogram of similarities
VERDICTS = ("deserved", "order", "spurious")  # The kinder first
DESERVED, ORDER, SPURIOUS = range(len(VERDICTS))


@dataclass(frozen=True)
class JudgedCredit:
    """The approximate matches at one threshold, of one order or of all.

    Weights are in n-grams: 1 is what an exact match counts.

    >>> credit = JudgedCredit(4, weight=3.0, deserved=1.5, misordered=0.5, spurious=1.0, rewarded=2, deserving=5)
    >>> credit.precision, credit.recall, round(credit.f1, 4)
    (0.5, 0.4, 0.4444)
    """

    matches: int
    weight: float
    deserved: float
    misordered: float
    spurious: float  # The weight of each class
    rewarded: int  # Candidate n-grams that deserve credit and have a deserved match
    deserving: int
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
        return self.rewarded / self.deserving if self.deserving else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; 0 if both are 0."""
        precision, recall = self.precision, self.recall
        if precision is None or recall is None:
            return None
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

    def _share(self, part: float) -> float | None:
        return part / self.weight if self.weight else None


class CreditTally:
    """Adds up judged matches, piece by piece, for ascending thresholds at once."""

    def __init__(self, thresholds: int, max_order: int) -> None:
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
        deserved, misordered, spurious = (weights[kind] / SCALE for kind in (DESERVED, ORDER, SPURIOUS))
        deserving = int(self.deserving[orders].sum())
        weight = sum(weights) / SCALE
        return JudgedCredit(sum(counts), weight, deserved, misordered, spurious, sum(rewarded), deserving)


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
