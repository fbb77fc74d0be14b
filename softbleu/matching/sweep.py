"""Many matchers at once: similarities are computed once for all thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from softbleu.kernels import SCALE, Intervals, Kernels, choose_kernels
from softbleu.kernels.numpy_backend import assign_greedily
from softbleu.matching.matchers import (
    MATCHED_WORDS,
    Batch,
    Matcher,
    Matches,
    Pool,
    SoftMatcher,
    Tables,
    WeighedText,
    batches,
    match_long_segment,
    places_in,
    stripes_of,
    words_of,
)
from softbleu.matching.ngrams import Chunk, TokenProducts, Vectors, threshold_in_millionths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.types import Array, Flags, Integers

SWEEP_CELLS = 1 << 18  # Like BATCH_CELLS, but larger, since NumPy processes all thresholds at once


def matched_by_all(
    matchers: Sequence[Matcher], chunks: Sequence[Chunk], vectors: Vectors | None, max_order: int, kernels: Kernels
) -> list[Integers]:
    """Sum the matches by every matcher; see `Matcher.matched`.

    Takes one chunk per system; returns per matcher an array of millionths, (systems, segments, max_order). References
    are prepared once. All matchers share the products of tokens; greedy matchers that differ only in their thresholds
    share similarities and assignment, too.
    """
    families: dict[SoftMatcher, dict[int, float]] = {}
    matched: dict[int, Integers] = {}
    for number, matcher in enumerate(matchers):
        if vectors is None or not isinstance(matcher, SoftMatcher) or not matcher.is_plain(max_order):
            parts = [matcher.matched(chunk, vectors, max_order, kernels) for chunk in chunks]
            matched[number] = np.concatenate(parts)
        elif _can_sweep(matcher):
            members = families.setdefault(replace(matcher, threshold=0.0), {})
            members[number] = matcher.least_similarity
        else:
            matched[number] = matcher.matched(Chunk.together(chunks), vectors, max_order, kernels)
    if families and vectors is not None:
        chunk = Chunk.together(chunks)
        if len(matchers) - len(matched) == 1:
            (number,) = next(iter(families.values()))
            matched[number] = matchers[number].matched(chunk, vectors, max_order, kernels)
        else:
            chunk, _ = chunk.in_order()
            sweeps = [
                ThresholdSweep(family, sorted(set(members.values())), chunk, max_order, vectors)
                for family, members in families.items()
            ]
            _sweep(sweeps, chunk, vectors, kernels)
            for sweep, members in zip(sweeps, families.values(), strict=True):
                matched |= {number: sweep.at(threshold) for number, threshold in members.items()}
    shape = len(chunks), -1, max_order
    return [matched[number].reshape(shape) for number in range(len(matchers))]


def _can_sweep(matcher: SoftMatcher) -> bool:
    """Whether the sweep assigns matches in the same way as the matcher."""
    return matcher.assignment != "optimal" and matcher.consumption == "unit"


class ThresholdSweep:
    """One matcher at ascending thresholds."""

    def __init__(
        self, matcher: SoftMatcher, thresholds: list[float], chunk: Chunk, max_order: int, vectors: Vectors
    ) -> None:
        self.matcher = replace(matcher, threshold=thresholds[0])
        self.rules = self.matcher.rules(max_order, vectors)
        self.thresholds = thresholds
        self.by_frequency = self.rules.composition.by_frequency
        self.millionths = np.array([threshold_in_millionths(threshold) for threshold in thresholds])
        MATCHED_WORDS.check_sum(**chunk.sizes)
        self.pools = [
            Pool.of(ngrams, chunk, self.rules) for ngrams in chunk.ngrams(max_order, instances=self.rules.in_context)
        ]
        self.exact = [Matches.first(pool.ngrams, order, self.rules) for order, pool in enumerate(self.pools, start=1)]
        sums = np.column_stack([chunk.sums(some.starts, some.matched) for some in self.exact])
        self.matched = np.tile(sums, (len(thresholds), 1, 1))
        self._lines = chunk.positions.line

    def at(self, threshold: float) -> Integers:
        """Return the matches at one of the thresholds, in millionths: (lines, orders)."""
        sums: Integers = self.matched[self.thresholds.index(threshold)]
        return sums

    def add(self, batch: Batch, products: TokenProducts, kernels: Kernels) -> None:
        """Add the matches of a batch."""
        for made in self.matches_of(batch, products, kernels):
            places = self._lines[made.starts] * self.matched.shape[2] + made.order - 1
            self.matched += sums_at_thresholds(made, places, made.matched, self.matched.shape)

    def add_long(self, batch: Batch, text: WeighedText) -> None:
        """Add the matches of a long candidate, alone in its batch, stripe by stripe."""
        words_of(batch)
        left: dict[int, Integers] = {}
        for _, tables in stripes_of(self.rules, self.pools, batch, text):
            for order, similarities, capacity in zip(
                tables.orders, tables.similarities, tables.capacity, strict=True
            ):
                remaining = left.setdefault(order, np.tile(capacity, (len(self.thresholds), 1)))
                greatest = similarities.max(axis=1, initial=0)
                for number, threshold in enumerate(self.millionths.tolist()):
                    room, rows = remaining[number, : len(capacity)], similarities[None, greatest > threshold]
                    columns, values = assign_greedily(rows, room, SCALE, threshold)
                    np.subtract.at(room, columns[columns >= 0], SCALE)
                    self.matched[number, batch.lines[0], order - 1] += np.minimum(values, SCALE).sum()

    def matches_of_long(self, batch: Batch, text: WeighedText) -> Iterator[MatchIntervals]:
        """Yield the approximate matches of a long candidate, alone in its batch, threshold by threshold."""
        for number, threshold in enumerate(self.millionths.tolist()):
            made = [Matches(some.starts, *np.zeros((3, len(some.starts)), np.int64)) for some in self.exact]
            match_long_segment(replace(self.rules, threshold=threshold), self.pools, batch, text, made)
            for order, matches in enumerate(made, start=1):
                yield MatchIntervals.of(matches, order, number, number + 1)

    def matches_of(self, batch: Batch, products: TokenProducts, kernels: Kernels) -> Iterator[MatchIntervals]:
        """Yield the approximate matches of a batch, at all thresholds at once."""
        if (tables := Tables.of(self.rules, self.pools, batch, products)) is not None:
            found = kernels.sweep_greedily(tables.similarities, tables.capacity, self.millionths)
            layer, line = np.divmod(found.segment, len(batch.lines))
            block, place = np.divmod(found.column, batch.reference.shape[1])
            widest = max(map(len, tables.pool_orders))
            pool_orders = np.array([row + [0] * (widest - len(row)) for row in tables.pool_orders])[layer, block]
            orders, matched = np.array(tables.orders)[layer], np.minimum(found.value, SCALE).astype(np.int64)
            starts, partners = batch.candidate[line, found.row], batch.reference[line, place]
            yield MatchIntervals(orders, starts, matched, partners, pool_orders, found.first, found.end)


def _sweep(sweeps: list[ThresholdSweep], chunk: Chunk, vectors: Vectors, kernels: Kernels) -> None:
    weightings = sorted({sweep.by_frequency for sweep in sweeps})
    deepest = max(sweep.rules.deepest for sweep in sweeps)
    texts = {weighting: WeighedText.of(chunk, vectors, weighting, deepest) for weighting in weightings}
    for batch in batches(chunk, _cells(kernels)):
        if batch.is_long:
            for sweep in sweeps:
                sweep.add_long(batch, texts[sweep.by_frequency])
            continue
        products = {weighting: text.products(batch) for weighting, text in texts.items()}
        for sweep in sweeps:
            sweep.add(batch, products[sweep.by_frequency], kernels)


def sums_at_thresholds(
    matches: Intervals | MatchIntervals, cells: Integers, values: Array, shape: tuple[int, ...]
) -> Integers:
    """Sum values of matches, whole numbers, at each threshold by cell; `shape`: of the thresholds, then of the cells.

    `cells` and `values` have the number of its cell and the value of each match.

    >>> matches = Intervals(*np.zeros((4, 2), int), first=np.array([0, 1]), end=np.array([2, 3]))
    >>> sums_at_thresholds(matches, np.array([0, 0]), np.array([5, 7]), (3, 1)).tolist()
    [[5], [12], [7]]
    """
    size, width = math.prod(shape), math.prod(shape[1:])
    # Matches that begin at each threshold, less matches that have ended; floats hold sums below 2^53 exactly.
    ended = matches.end < shape[0]
    changes = np.bincount(matches.first * width + cells, values, size)
    changes -= np.bincount((matches.end * width + cells)[ended], values[ended], size)
    return np.cumsum(changes.reshape(shape), axis=0).astype(np.int64)


def _cells(kernels: Kernels) -> int | None:
    return SWEEP_CELLS if kernels.NAME == "numpy" else None


@dataclass(frozen=True)
class MatchIntervals:
    """Matches of candidate n-grams, each with the interval of ascending thresholds at which it is made."""

    order: Integers  # Order of the candidate n-gram
    starts: Integers  # Candidate position at which the n-gram starts
    matched: Integers  # Matched share in millionths: 1,000,000 for an exact match
    partner_starts: Integers  # Position at which the matched reference n-gram first appears
    partner_orders: Integers
    first: Integers  # Number of the lowest threshold at which the match is made
    end: Integers  # Number of the first higher threshold at which it is not made, or of thresholds

    @classmethod
    def of(cls, matches: Matches, order: int, first: int, end: int) -> MatchIntervals:
        """Make the matches of an order for thresholds `first` up to `end`."""
        columns = [column[matches.matched > 0] for column in vars(matches).values()]
        orders, firsts, ends = (np.full(len(columns[0]), value) for value in (order, first, end))
        return cls(orders, columns[0], columns[1], columns[2], columns[3], firsts, ends)

    @classmethod
    def joined(cls, parts: Iterable[MatchIntervals]) -> MatchIntervals:
        """Concatenate several."""
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*map(np.concatenate, columns))

    def chosen(self, which: Flags) -> MatchIntervals:
        """Return some of the matches."""
        return MatchIntervals(*(column[which] for column in vars(self).values()))

    def pairs(self, codes: NDArray[np.int32]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Yield the n-gram of each candidate and its partner, in codes of words, from those of all positions."""
        words: list[int] = codes.tolist()
        sides = (self.starts, self.order), (self.partner_starts, self.partner_orders)
        places = (part.tolist() for starts, orders in sides for part in (starts, starts + orders))
        for start, end, first, beyond in zip(*places, strict=True):
            yield tuple(words[start:end]), tuple(words[first:beyond])

    def differ(self, chunk: Chunk) -> Flags:
        """Select the matches whose n-grams differ in spelling: (matches,)."""
        codes = np.append(chunk.positions.codes, -1)
        equal = self.order == self.partner_orders
        for index in range(int(self.order.max(initial=0))):
            beyond = index >= self.order
            left, right = (
                np.minimum(starts + index, len(codes) - 1) for starts in (self.starts, self.partner_starts)
            )
            equal &= beyond | (codes[left] == codes[right])
        return np.asarray(~equal)


def match_intervals(
    matcher: SoftMatcher,
    thresholds: Sequence[float],
    chunk: Chunk,
    vectors: Vectors,
    max_order: int,
    kernels: Kernels | None = None,
) -> MatchIntervals:
    """Match a chunk at ascending thresholds; return the matches, each with its thresholds.

    Every assignment and consumption is supported. See `Matcher.matches` and `Matcher.matched` for the parameters.
    """
    lowest = replace(matcher, threshold=thresholds[0])
    swept, parts = 0, list[MatchIntervals]()
    if len(thresholds) > 1 and lowest.is_plain(max_order) and _can_sweep(lowest):
        # At threshold 1 and above, only equal n-grams match.
        below = sum(threshold_in_millionths(threshold) < SCALE for threshold in thresholds)
        swept = len(thresholds) if vectors.equal_is_one else below
        kernels = kernels or choose_kernels("numpy")
        parts += _swept(lowest, thresholds[:swept], chunk, vectors, max_order, kernels)
    others = [replace(matcher, threshold=threshold) for threshold in thresholds[swept:]]
    parts += match_each(others, chunk, vectors, max_order, swept)
    return MatchIntervals.joined(parts)


def _swept(
    matcher: SoftMatcher,
    thresholds: Sequence[float],
    chunk: Chunk,
    vectors: Vectors,
    max_order: int,
    kernels: Kernels,
) -> Iterator[MatchIntervals]:
    """Yield the matches at all thresholds, with similarities computed once."""
    given, (chunk, originals) = chunk, chunk.in_order()
    sweep = ThresholdSweep(matcher, list(thresholds), chunk, max_order, vectors)
    first = None if chunk is given or sweep.rules.in_context else given.first_of_equals(max_order)
    text = WeighedText.of(chunk, vectors, sweep.by_frequency, sweep.rules.deepest)
    parts = (
        sweep.matches_of_long(batch, text)
        if batch.is_long
        else sweep.matches_of(batch, text.products(batch), kernels)
        for batch in batches(chunk, _cells(kernels))
    )
    exact = (MatchIntervals.of(some, order, 0, len(thresholds)) for order, some in enumerate(sweep.exact, start=1))
    for made in chain(exact, chain.from_iterable(parts)):
        yield replace(made, partner_starts=places_in(originals, first, made.partner_starts, made.partner_orders))


def match_each(
    matchers: Sequence[Matcher], chunk: Chunk, vectors: Vectors | None, max_order: int, first: int
) -> Iterator[MatchIntervals]:
    """Yield the matches of each matcher for its own threshold; thresholds are numbered from `first`."""
    for number, matcher in enumerate(matchers, start=first):
        for order, matches in enumerate(matcher.matches(chunk, vectors, max_order), start=1):
            yield MatchIntervals.of(matches, order, number, number + 1)
