"""Matches of n-grams at every threshold of a metric, for pages with a slider."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from softbleu.engine.encode import CodedBlock
from softbleu.engine.worker import MINI_BATCH
from softbleu.kernels import KernelName, choose_kernels
from softbleu.matching.matchers import LONG_CELLS, SoftMatcher
from softbleu.matching.ngrams import Chunk, Vectors, WordTable
from softbleu.matching.sweep import MatchIntervals, match_each, match_intervals, sums_at_thresholds
from softbleu.metrics.protocols import BleuFormula, matcher_of

if TYPE_CHECKING:
    from softbleu.engine.runner import Runner
    from softbleu.matching import Matcher
    from softbleu.metrics.base import Metric
    from softbleu.types import Integers


def narrowed(column: Integers) -> Integers:
    """Convert whole numbers from 0 to the smallest type that holds them.

    >>> narrowed(np.array([1, 256])).dtype
    dtype('uint16')
    """
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))


STEPS = 100  # Steps of a slider from 0 to 1
COARSE_STEPS = 20  # The same for matchers that need their own matching at every threshold


@dataclass(frozen=True)
class Thresholds:
    """Thresholds of a slider, ascending; empty if the score cannot be computed at another threshold."""

    values: tuple[float, ...] = ()
    run: int = 0  # Number of the metric's own threshold

    @classmethod
    def of(cls, metric: Metric) -> Thresholds:
        """Choose the thresholds for a metric."""
        matcher = matcher_of(metric)
        if not isinstance(metric, BleuFormula) or not isinstance(matcher, SoftMatcher):
            return cls()
        if not metric.replaced(threshold=0.0).requires.vectors:
            return cls()
        steps = STEPS if matcher.assignment != "optimal" and matcher.consumption == "unit" else COARSE_STEPS
        values = tuple(sorted({*(step / steps for step in range(steps + 1)), matcher.least_similarity}))
        return cls(values, values.index(matcher.least_similarity))


@dataclass(frozen=True)
class ThresholdMatches:
    """Matches of an excerpt, sorted by row, order, start and threshold; an entry per match in each column.

    The n-grams closest to those without a match at the metric's threshold begin, and end, beyond the last threshold.
    """

    row: Integers  # system * segments of the excerpt + segment
    order: Integers
    start: Integers  # First token of the n-gram in the candidate
    matched: Integers  # Clipped matches, in millionths
    partner: Integers  # First token of the n-gram in the segment's references, which count as one text
    partner_order: Integers
    first: Integers  # Number of the lowest threshold that has the match
    end: Integers  # Number of the first higher threshold without it

    @classmethod
    def joined(cls, parts: Sequence[Sequence[Integers]]) -> ThresholdMatches:
        """Join the columns of consecutive rows; `parts` may be empty."""
        none = [narrowed(np.zeros(0, np.int64)) for _ in fields(cls)]
        return cls(*(np.concatenate(columns) for columns in zip(*(parts or [none]), strict=True)))


@dataclass(frozen=True)
class SweptMatches:
    """The matches of an excerpt at every threshold, and their sums over the whole corpus."""

    order: int  # Greatest n of the n-grams; 0 for metrics without matches
    thresholds: Thresholds
    found: ThresholdMatches
    clipped: Integers  # In millionths: (systems, thresholds, orders); empty without thresholds
    too_long: Sequence[int] = ()  # Rows that are matched at the metric's own threshold only


def sweep_matches(runner: Runner, metric: Metric, text: CodedBlock) -> tuple[SweptMatches, WordTable | None]:
    """Match an excerpt at every threshold and sum the matches of the whole corpus; also return the table of words.

    The table is None if neither the metric nor a slider uses vectors or features of words.
    """
    matcher, thresholds, requires = matcher_of(metric), Thresholds.of(metric), metric.requires
    order = 0 if matcher is None else int(vars(metric)["order"])
    words = None
    if requires.table or thresholds.values:
        wanted = replace(requires, vectors=requires.vectors or bool(thresholds.values))
        words = runner.prepared(metric).table(metric.vector_choice, wanted).words
    if matcher is None:
        nothing = np.zeros((len(text.candidates), 0, order), np.int64)
        return SweptMatches(order, thresholds, ThresholdMatches.joined([]), nothing), words
    swept = _match(text, matcher, order, thresholds, None if words is None else words.vectors, runner.kernels)
    partial = swept.too_long or len(text) < len(runner.corpus)
    if isinstance(metric, BleuFormula) and thresholds.values and partial:
        metrics = [metric.replaced(threshold=each) for each in thresholds.values]
        collected = runner.collect(metrics, keep_rows=False)
        clipped = np.stack([metric.parts_of(statistics.rows[:, 0])[0] for statistics in collected], axis=1)
        swept = replace(swept, clipped=clipped)
    return swept, words


def _match(
    text: CodedBlock,
    matcher: Matcher,
    order: int,
    thresholds: Thresholds,
    vectors: Vectors | None,
    kernels: KernelName,
) -> SweptMatches:
    """Match all rows of an excerpt at every threshold; sums leave out rows that are too long for a sweep."""
    values = thresholds.values
    parts: list[list[Integers]] = []
    clipped = np.zeros((len(text.candidates), len(values), order), np.int64)
    too_long: list[int] = []
    for system, chunk in enumerate(text.chunks()):
        for start, stop, long in _pieces(chunk):
            row, piece = system * len(text) + start, chunk.part(start, stop)
            if long or not values or vectors is None or not isinstance(matcher, SoftMatcher):
                intervals = MatchIntervals.joined(match_each([matcher], piece, vectors, order, thresholds.run))
            else:
                intervals = match_intervals(matcher, values, piece, vectors, order, choose_kernels(kernels))
            if long and values:
                too_long.append(row)
            elif values:
                clipped[system] += sums_at_thresholds(
                    intervals, intervals.order - 1, intervals.matched, clipped.shape[1:]
                )
                if vectors is not None and isinstance(matcher, SoftMatcher):
                    closest = enumerate(matcher.closest(piece, vectors, order), start=1)
                    beyond = (MatchIntervals.of(made, n, len(values), len(values)) for n, made in closest)
                    intervals = MatchIntervals.joined([intervals, *beyond])
            parts.append([narrowed(column) for column in _merged(_by_row(intervals, piece, row))])
    return SweptMatches(order, thresholds, ThresholdMatches.joined(parts), clipped, too_long)


def _pieces(chunk: Chunk) -> Iterator[tuple[int, int, bool]]:
    """Yield the bounds of pieces to match, and whether they are one segment that is too long for a sweep."""
    pairs = chunk.candidates.lengths * np.diff(chunk.reference_positions)
    start = 0
    for long in [*np.flatnonzero(pairs > LONG_CELLS).tolist(), len(chunk)]:
        for first in range(start, long, MINI_BATCH):
            yield first, min(first + MINI_BATCH, long), False
        if long < len(chunk):
            yield long, long + 1, True
        start = long + 1


def _by_row(intervals: MatchIntervals, piece: Chunk, row: int) -> tuple[Integers, ...]:
    """Return the columns of `ThresholdMatches`, with positions in the texts of each row."""
    segment = piece.positions.segment[intervals.starts]
    return (
        row + segment,
        intervals.order,
        intervals.starts - piece.candidates.offsets[segment],
        intervals.matched,
        intervals.partner_starts - piece.reference_positions[segment],
        intervals.partner_orders,
        intervals.first,
        intervals.end,
    )


def _merged(columns: Sequence[Integers]) -> Integers:
    """Sort matches, and merge a match with its continuation at the next threshold."""
    # Six columns identify the match; the other two are its first threshold and its end.
    made = np.stack(columns)
    made = made[:, np.lexsort(made[6::-1])]
    goes_on = (made[:6, 1:] == made[:6, :-1]).all(axis=0) & (made[6, 1:] == made[7, :-1])
    begins = np.flatnonzero(np.append(True, ~goes_on)[: made.shape[1]])
    last = np.append(begins[1:], made.shape[1])[: len(begins)] - 1
    merged = np.concatenate([made[:7, begins], made[7:, last]])
    return merged[:, np.lexsort(merged[[6, 2, 1, 0]])]
