"""Aggregation: how the rows of segments reduce to scores of segments, of a corpus, and of samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from softbleu.errors import InputError
from softbleu.metrics.resampling import ChosenSums, DrawStream, ReferenceDraws, Sampling
from softbleu.metrics.score import ReferenceScore, Score, ScoreColumns

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

_NORMAL_95 = 1.959963984540054
_MOST_STREAMS = 4096  # Samples whose generators are held at once, of 2.5 KB each


class Scorer(Protocol):
    """A metric, as far as it scores rows of statistics."""

    name: ClassVar[str]
    higher_is_better: ClassVar[bool]

    def score(self, row: Integers | Floats) -> Score:
        """Score one row of statistics, or a sum of rows."""

    def columns(self, rows: Integers | Floats) -> ScoreColumns[Score]:
        """Score many of these."""


@dataclass(frozen=True)
class Aggregation(ABC):
    """Reduction of the rows of a metric's segments to scores; segment s has rows ``offsets[s]:offsets[s + 1]``."""

    metric: Scorer
    sum_is_enough: ClassVar[bool] = False  # Whether a corpus score takes no more than the sum of all rows
    has_corpus_score: ClassVar[bool] = True  # Whether a corpus has a score that is not a mean of segment scores

    @property
    def is_mean(self) -> bool:
        """Whether a row is a score and a weight, which is the same for all systems, and a corpus has their mean."""
        return False

    @property
    def by_segment(self) -> bool:
        """Whether the score of a segment is independent of the segments before it."""
        return True

    @property
    def adds_up(self) -> bool:
        """Whether a corpus of segments with a row each is scored from no more than their sum."""
        return True

    @abstractmethod
    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose one row of each segment: their places among the rows, (segments,).

        `rows`, (rows, k), are statistics of one system; segment s has ``rows[offsets[s]:offsets[s + 1]]``.
        Both are the same in all methods.
        """

    def summed(self, rows: Integers, offsets: Integers) -> Integers | Floats:
        """Add up the rows that count, to a row for `Metric.score`; for `rows` and `offsets` see `chosen`."""
        total: Integers = rows[self.chosen(rows, offsets)].sum(axis=0)
        return total

    def score(self, rows: Integers, offsets: Integers) -> Score:
        """Score a corpus, all of whose rows are there."""
        return self.metric.score(self.summed(rows, offsets))

    def stream(self) -> RowStream:
        """Score a corpus whose rows come block by block, with the same digits."""
        return RowStream(self)

    def singles(self, rows: Integers) -> Sequence[Score]:
        """Score each row, maybe with more numbers than a sum has."""
        return self.metric.columns(rows)

    def segment_scores(self, rows: Integers, offsets: Integers) -> Sequence[Score]:
        """Score each segment by its chosen row; for `rows` and `offsets` see `chosen`."""
        return self.singles(rows[self.chosen(rows, offsets)])

    def segment_numbers(self, rows: Integers, offsets: Integers) -> Floats:
        """Score each segment as `segment_scores` does, but as numbers; for `rows` and `offsets` see `chosen`."""
        return self.metric.columns(rows[self.chosen(rows, offsets)]).score

    def reference_scores(self, rows: Integers, offsets: Integers) -> list[ReferenceScore]:
        """Score each candidate against each of its references; for `rows` and `offsets` see `chosen`."""
        chosen, scores = set(self.chosen(rows, offsets).tolist()), self.singles(rows)
        return [
            ReferenceScore(segment, index - start + 1, index in chosen, scores[index])
            for segment, (start, stop) in enumerate(pairwise(offsets.tolist()), start=1)
            for index in range(start, stop)
        ]

    def counted(self, rows: object, offsets: Integers) -> Integers:
        """Number the segments that count, the same of all systems; for `rows` and `offsets` see `chosen`."""
        return np.arange(len(offsets) - 1)

    def counts(self, rows: Integers, offsets: Integers) -> Integers | None:
        """Choose the rows whose sum a corpus is scored from; None if it takes more. See `chosen`."""
        return rows[self.chosen(rows, offsets)]

    def drawn(self, systems: Sequence[Integers], offsets: Integers) -> Any:
        """Prepare the rows of each of some systems for resampling; `offsets` divides them into segments.

        Returns `ChosenSums`, or an object with its methods that is made of other numbers.
        """
        return ChosenSums(systems, [[self.chosen(rows, offsets)] for rows in systems])


@dataclass(frozen=True)
class SumOfRows(Aggregation):
    """A row per segment; a corpus is scored from their sum."""

    sum_is_enough: ClassVar[bool] = True

    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose all rows."""
        return np.arange(len(rows))

    def summed(self, rows: Integers, offsets: Integers) -> Integers | Floats:
        """Add up all rows."""
        total: Integers = rows.sum(axis=0)
        return total

    def reference_scores(self, rows: Integers, offsets: Integers) -> list[ReferenceScore]:
        """Raise InputError: rows are of segments, not of references."""
        raise InputError(f"metric {self.metric.name!r} has no scores of single references: use level 'segment'")


@dataclass(frozen=True)
class BestReference(Aggregation):
    """A row for each reference of each segment, of which one counts: the best by its score, the first of equals.

    >>> from softbleu.metrics import Bleu
    >>> best = BestReference(Bleu(order=1))
    >>> rows = np.array([[2, 2, 0, 2], [2, 2, 1_000_000, 2], [1, 1, 1_000_000, 1]])
    >>> best.chosen(rows, np.array([0, 2, 3])).tolist()
    [1, 2]
    """

    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose the row of each segment's best reference."""
        scores = self.metric.columns(rows).score
        return best_rows(offsets, scores if self.metric.higher_is_better else -scores)


def running_choice(
    sums: Sequence[Sequence[float]],
    offsets: Integers,
    key: Callable[[Sequence[float], Sequence[float]], tuple[float, ...]],
    *,
    running: bool,
) -> Integers:
    """Choose of each segment the row with the greatest key, the first of equal ones.

    A key is made of a row and, if `running`, of its sum with all rows that are chosen before, else of the row twice.
    The rows of segment s are ``offsets[s]`` up to ``offsets[s + 1]``.

    >>> rows, offsets = [[3, 1], [2, 0], [0, 5], [9, 9]], np.array([0, 2, 4])
    >>> running_choice(rows, offsets, lambda row, total: (-total[1],), running=True)
    array([1, 2])
    """
    before: Iterable[float] = repeat(0.0)
    chosen: list[int] = []
    for start, stop in pairwise(offsets.tolist()):
        totals = [list(map(add, before, row)) for row in sums[start:stop]]
        keys = [key(row, total) for row, total in zip(sums[start:stop], totals, strict=True)]
        best = keys.index(max(keys))
        chosen.append(start + best)
        before = totals[best] if running else before
    return np.array(chosen, np.int64)


@dataclass(frozen=True)
class MeanOfReferences(Aggregation):
    """A row for each reference of each segment, whose scores have a mean; a corpus has the mean of its segments."""

    best: BestReference
    has_corpus_score: ClassVar[bool] = False

    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose the row of each segment's best reference."""
        return self.best.chosen(rows, offsets)

    def summed(self, rows: Integers, offsets: Integers) -> Floats:
        """Add up the means over references."""
        counts = np.repeat(np.diff(offsets), np.diff(offsets))
        total: Floats = (rows / counts[:, None]).sum(axis=0)
        return total

    def score(self, rows: Integers, offsets: Integers) -> Score:
        """Score the sum of segments that have one reference each."""
        if len(rows) == len(offsets) - 1:
            return self.metric.score(rows.sum(axis=0))
        raise InputError(
            f"metric {self.metric.name!r} has no corpus score by the 'mean' over references: use level 'segment' or "
            "'macro', or sampled ('sample') or best ('max') references"
        )

    def counts(self, rows: Integers, offsets: Integers) -> Integers | None:
        """All rows, of segments with one reference each."""
        return rows if len(rows) == len(offsets) - 1 else None

    def segment_scores(self, rows: Integers, offsets: Integers) -> Sequence[Score]:
        """Score each segment: the mean over its references."""
        means = self.metric.columns(np.add.reduceat(rows, offsets[:-1]) / np.diff(offsets)[:, None])
        scores, bounds = self.metric.columns(rows).score, pairwise(offsets.tolist())
        pairs = zip(means, bounds, strict=True)
        return [replace(score, score=float(scores[start:stop].mean())) for score, (start, stop) in pairs]

    def segment_numbers(self, rows: Integers, offsets: Integers) -> Floats:
        """Means of the scores alone."""
        scores = self.metric.columns(rows).score
        if len(rows) == len(offsets) - 1:
            return scores
        return np.add.reduceat(scores, offsets[:-1]) / np.diff(offsets)


@dataclass(frozen=True)
class SampledReferences(MeanOfReferences):
    """A corpus has the mean score of random samples, each of which draws one reference per segment."""

    samples: int
    seed: int  # sample k is seeded with this + 101 k
    sampling: Sampling = "python2"
    has_corpus_score: ClassVar[bool] = True

    def score(self, rows: Integers, offsets: Integers) -> Score:
        """Score the sums of all samples; draws are shared by systems that have the same references."""
        if len(rows) == len(offsets) - 1:
            return self.metric.score(rows.sum(axis=0))
        (sums,) = self.drawn([rows], offsets).drawn(self.samples)
        return self.mean_score(sums)

    def mean_score(self, sums: Floats) -> Score:
        """Mean score of the sums of samples, with their standard deviation and interval."""
        scores = self.metric.columns(sums).score
        mean, deviation = float(scores.mean()), float(scores.std())
        more: dict[str, object] = {"standard_deviation": deviation, "interval": normal_interval(mean, deviation)}
        return replace(self.metric.score(sums.mean(axis=0)), score=mean, **more)

    def stream(self) -> RowStream:
        """Draw as rows come."""
        return DrawnRows(self)

    def drawn(self, systems: Sequence[Integers], offsets: Integers) -> ChosenSums:
        """Prepare rows of every reference, and which of them each sample draws."""
        counts = np.diff(offsets)
        if counts.max() == 1:
            return ChosenSums(systems, [[offsets[:-1]]] * len(systems))
        draws = ReferenceDraws.shared(counts.astype(np.int64).tobytes(), self.samples, self.seed, self.sampling)
        return ChosenSums(systems, [_by_reference(counts)] * len(systems), draws)


class RowStream:
    """Corpus scores of rows that come block by block: sums are held, or all rows where a score takes them at once."""

    def __init__(self, aggregation: Aggregation) -> None:
        self._aggregation = aggregation
        self._sums: Any = 0
        self._held: list[tuple[Integers, Integers]] = []

    def add(self, rows: Integers, counts: Integers) -> None:
        """Add the next segments: (systems, rows, k), and how many rows each segment has."""
        if self._aggregation.by_segment:
            offsets = _offsets(counts)
            self._sums = self._sums + np.stack([self._aggregation.summed(system, offsets) for system in rows])
        else:
            self._held.append((rows, counts))

    def scores(self) -> Sequence[Score]:
        """Score each system."""
        if not self._held:
            return list(map(self._aggregation.metric.score, self._sums))
        rows, counts = zip(*self._held, strict=True)
        offsets = _offsets(np.concatenate(counts))
        return [self._aggregation.score(system, offsets) for system in np.concatenate(rows, axis=1)]


class DrawnRows(RowStream):
    """Sums of the rows that random samples draw. One block is scored as a whole; of more none is held.

    Of very many samples all rows are held.
    """

    def __init__(self, aggregation: SampledReferences) -> None:
        super().__init__(aggregation)
        self._samples, self._seed, self._score = aggregation.samples, aggregation.seed, aggregation.mean_score
        self._sampling = aggregation.sampling
        self._streams: list[Callable[[Integers], Integers]] = []
        self._passed = 0

    def add(self, rows: Integers, counts: Integers) -> None:
        """Add the rows that each sample draws of the next segments."""
        self._held.append((rows, counts))
        if self._samples <= _MOST_STREAMS and (len(self._held) > 1 or self._passed or self._streams):
            for block in self._held:
                self._draw(*block)
            self._held.clear()

    def _draw(self, rows: Integers, counts: Integers) -> None:
        if not self._streams and counts.max() == 1:
            # Before any segment has several references, all samples draw the same.
            self._passed += len(counts)
            self._sums = self._sums + rows.sum(axis=1)
            return
        if not self._streams:
            self._begin()
        draws = ReferenceDraws(counts, self._samples, self._seed, self._streams)
        places = [_by_reference(counts)] * len(rows)
        self._sums = self._sums + ChosenSums([*rows], places, draws).drawn(self._samples)

    def _begin(self) -> None:
        """Draw for the segments that were passed over."""
        self._streams = [DrawStream(self._seed + 101 * k, self._sampling) for k in range(self._samples)]
        for draw in self._streams:
            for start in range(0, self._passed, 1 << 16):
                draw(np.ones(min(1 << 16, self._passed - start), np.int64))
        self._sums = np.expand_dims(self._sums, -2) if self._passed else 0

    def scores(self) -> Sequence[Score]:
        """Score each system."""
        return [self._score(sums) for sums in self._sums] if self._streams else super().scores()


def best_rows(offsets: Integers, *scores: Floats | Integers) -> Integers:
    """Row of each segment's greatest score; ties go by the next scores, …, then the first row.

    The rows of segment s are ``offsets[s]`` up to ``offsets[s + 1]``; each of `scores` has shape (rows,).

    >>> best_rows(np.array([0, 2, 4]), np.array([1.0, 2.0, 3.0, 3.0])).tolist()
    [1, 2]
    """
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    ranked = np.lexsort((np.arange(len(owner)), *(-score for score in reversed(scores)), owner))
    return ranked[offsets[:-1]]


def keep_best(rows: Integers, offsets: Integers, metric: Scorer) -> Integers:
    """Keep the row of each segment that a metric scores best, the first of equal ones; see `best_rows`."""
    return rows if len(rows) == len(offsets) - 1 else rows[BestReference(metric).chosen(rows, offsets)]


def _offsets(counts: Integers) -> Integers:
    return np.concatenate(([0], np.cumsum(counts)))


def _by_reference(counts: Integers) -> list[Integers]:
    """List rows of each segment's reference 1, 2, …; the last one again where a segment has fewer."""
    first = _offsets(counts)[:-1]
    return [first + np.minimum(number, counts - 1) for number in range(int(counts.max()))]


def normal_interval(mean: float, deviation: float) -> tuple[float, float]:
    """Central 95% of a normal distribution of that mean and standard deviation.

    >>> [round(bound, 4) for bound in normal_interval(50.0, 1.0)]
    [48.04, 51.96]
    """
    return mean - _NORMAL_95 * deviation, mean + _NORMAL_95 * deviation
