"""How rows of segments reduce to scores: their sum, those of the best references, or of references that are drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from softbleu.errors import InputError
from softbleu.metrics.draws import ChosenRows, ChosenSums, ReferenceDraws
from softbleu.metrics.score import ReferenceScore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from softbleu.metrics.score import Score, Scorer
    from softbleu.types import Floats, Integers


_NORMAL_95 = 1.959963984540054
_MOST_STREAMS = 4096  # Samples whose generators are held at once, of 2.5 KB each


@dataclass(frozen=True)
class Aggregation(ABC):
    """How the rows of a metric's segments reduce to scores; segment s has rows ``offsets[s]:offsets[s + 1]``."""

    metric: Scorer
    sum_is_enough: ClassVar[bool] = False  # Whether a corpus score takes no more than the sum of all rows
    has_corpus_score: ClassVar[bool] = True  # Whether a corpus has a score that is not a mean of segment scores

    @property
    def by_segment(self) -> bool:
        """Whether the score of a segment does not hang on those before it."""
        return True

    @abstractmethod
    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose one row of each segment: their places among the rows."""

    def summed(self, rows: Integers, offsets: Integers) -> Any:
        """Add up what counts of the rows of some segments."""
        total: Integers = rows[self.chosen(rows, offsets)].sum(axis=0)
        return total

    def pooled(self, rows: Integers, offsets: Integers) -> Score:
        """Score the sum of all segments, whatever a corpus score is otherwise."""
        return self.metric.score(self.summed(rows, offsets))

    def score(self, rows: Integers, offsets: Integers) -> Score:
        """Score a corpus, all of whose rows are there."""
        return self.pooled(rows, offsets)

    def stream(self) -> RowStream:
        """Score a corpus whose rows come block by block, with the same digits."""
        return RowStream(self) if self.by_segment else HeldRows(self)

    def single(self, row: Integers) -> Score:
        """Score a row; there may be more to say of it than of a sum."""
        return self.metric.score(row)

    def segment_scores(self, rows: Integers, offsets: Integers) -> list[Any]:
        """Score each segment."""
        return [self.single(row) for row in rows[self.chosen(rows, offsets)]]

    def segment_numbers(self, rows: Integers, offsets: Integers) -> Floats:
        """Scores of the segments alone, as `segment_scores` has them."""
        return self.metric.scores(rows[self.chosen(rows, offsets)])

    def reference_scores(self, rows: Integers, offsets: Integers) -> list[ReferenceScore]:
        """Score each candidate against each of its references."""
        chosen = set(self.chosen(rows, offsets).tolist())
        return [
            ReferenceScore(segment, place - start + 1, place in chosen, self.single(rows[place]))
            for segment, (start, stop) in enumerate(pairwise(offsets.tolist()), start=1)
            for place in range(start, stop)
        ]

    def chosen_rows(self, rows: Integers, offsets: Integers) -> ChosenRows:
        """Rows that resampling adds up: those that are chosen in the whole corpus, whatever is drawn."""
        return ChosenRows([self.chosen(rows, offsets)])


@dataclass(frozen=True)
class SumOfRows(Aggregation):
    """A row a segment; a corpus is scored from their sum."""

    sum_is_enough: ClassVar[bool] = True

    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """All rows."""
        return np.arange(len(rows))

    def reference_scores(self, rows: Integers, offsets: Integers) -> list[ReferenceScore]:
        """There are none."""
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
        scores = self.metric.scores(rows)
        return best_rows(offsets, scores if self.metric.higher_is_better else -scores)


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

    def segment_scores(self, rows: Integers, offsets: Integers) -> list[Any]:
        """Score each segment: the mean over its references."""
        return [self._mean(rows[start:stop]) for start, stop in pairwise(offsets.tolist())]

    def _mean(self, rows: Integers) -> Score:
        whole = self.metric.score(rows[0] if len(rows) == 1 else rows.mean(axis=0))
        return replace(whole, score=float(self.metric.scores(rows).mean()))

    def segment_numbers(self, rows: Integers, offsets: Integers) -> Floats:
        """Means of the scores alone."""
        scores = self.metric.scores(rows)
        if len(rows) == len(offsets) - 1:
            return scores
        means: Floats = np.add.reduceat(scores, offsets[:-1]) / np.diff(offsets)
        return means


@dataclass(frozen=True)
class SampledReferences(MeanOfReferences):
    """A corpus has the mean score of random samples, each of which draws one reference a segment."""

    samples: int
    seed: int  # sample k is seeded with this + 101 k
    has_corpus_score: ClassVar[bool] = True

    def score(self, rows: Integers, offsets: Integers) -> Score:
        """Score the sums of all samples; draws are shared by systems that have the same references."""
        if len(rows) == len(offsets) - 1:
            return self.metric.score(rows.sum(axis=0))
        (sums,) = ChosenSums([rows], [self.chosen_rows(rows, offsets)]).drawn(self.samples)
        return self.mean_score(sums)

    def mean_score(self, sums: Floats) -> Score:
        """Mean score of the sums of samples, with their standard deviation and interval."""
        scores = self.metric.scores(sums)
        mean, deviation = float(scores.mean()), float(scores.std())
        more: dict[str, Any] = {"standard_deviation": deviation, "interval": normal_interval(mean, deviation)}
        return replace(self.metric.score(sums.mean(axis=0)), score=mean, **more)

    def stream(self) -> RowStream:
        """Draw as rows come; of very many samples all rows are held."""
        return DrawnRows(self) if self.samples <= _MOST_STREAMS else HeldRows(self)

    def chosen_rows(self, rows: Integers, offsets: Integers) -> ChosenRows:
        """Rows of every reference, and which of them each sample draws."""
        counts = np.diff(offsets)
        if counts.max() == 1:
            return super().chosen_rows(rows, offsets)
        counted = counts.astype(np.int64).tobytes()
        return ChosenRows(_by_reference(counts), ReferenceDraws.shared(counted, self.samples, self.seed))


class RowStream:
    """Corpus scores of rows that come block by block, of which only sums are held."""

    def __init__(self, aggregation: Aggregation) -> None:
        self._aggregation = aggregation
        self._sums: Any = 0

    def add(self, rows: Integers, counts: Integers) -> None:
        """Add the next segments: (systems, rows, k), and how many rows each segment has."""
        offsets = _offsets(counts)
        self._sums = self._sums + np.stack([self._aggregation.summed(own, offsets) for own in rows])

    def scores(self) -> Sequence[Score]:
        """Score each system."""
        return [self._aggregation.metric.score(row) for row in self._sums]


class HeldRows(RowStream):
    """Holds all rows, for scores that take them at once."""

    def __init__(self, aggregation: Aggregation) -> None:
        super().__init__(aggregation)
        self._held: list[tuple[Integers, Integers]] = []

    def add(self, rows: Integers, counts: Integers) -> None:
        """Hold the next segments."""
        self._held.append((rows, counts))

    def scores(self) -> Sequence[Score]:
        """Score each system."""
        rows, counts = zip(*self._held, strict=True)
        offsets = _offsets(np.concatenate(counts))
        return [self._aggregation.score(own, offsets) for own in np.concatenate(rows, axis=1)]


class DrawnRows(HeldRows):
    """Sums of the rows that random samples draw. One block is scored as a whole; of more none is held."""

    def __init__(self, aggregation: SampledReferences) -> None:
        super().__init__(aggregation)
        self._samples, self._seed, self._score = aggregation.samples, aggregation.seed, aggregation.mean_score
        self._streams: list[np.random.RandomState] = []
        self._passed = 0

    def add(self, rows: Integers, counts: Integers) -> None:
        """Add what each sample draws of the next segments."""
        super().add(rows, counts)
        if len(self._held) > 1 or self._passed or self._streams:
            for each in self._held:
                self._draw(*each)
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
        chosen = ChosenRows(_by_reference(counts), draws)
        self._sums = self._sums + ChosenSums([*rows], [chosen] * len(rows)).drawn(self._samples)

    def _begin(self) -> None:
        """Draw for the segments that were passed over."""
        self._streams = [np.random.RandomState([self._seed + 101 * k]) for k in range(self._samples)]
        for stream in self._streams:
            for start in range(0, self._passed, 1 << 16):
                stream.random_sample(min(1 << 16, self._passed - start))
        self._sums = np.expand_dims(self._sums, -2) if self._passed else 0

    def scores(self) -> Sequence[Score]:
        """Score each system."""
        if self._held:
            return super().scores()
        return [self._score(sums) for sums in self._sums] if self._streams else RowStream.scores(self)


def best_rows(offsets: Integers, *scores: Floats | Integers) -> Integers:
    """Row of each segment's greatest score; ties go by the next scores, …, then the first row.

    >>> best_rows(np.array([0, 2, 4]), np.array([1.0, 2.0, 3.0, 3.0])).tolist()
    [1, 2]
    """
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    ranked = np.lexsort((np.arange(len(owner)), *(-each for each in reversed(scores)), owner))
    return ranked[offsets[:-1]]


def keep_best(rows: Integers, offsets: Integers, scores: Callable[[Integers], Floats]) -> Integers:
    """Keep of each segment the row that scores best, the first of equals."""
    return rows if len(rows) == len(offsets) - 1 else rows[best_rows(offsets, scores(rows))]


def _offsets(counts: Integers) -> Integers:
    return np.concatenate(([0], np.cumsum(counts)))


def _by_reference(counts: Integers) -> list[Integers]:
    """Rows of each segment's reference 1, 2, …; of those that have no more, their last."""
    first = _offsets(counts)[:-1]
    return [first + np.minimum(number, counts - 1) for number in range(int(counts.max()))]


def normal_interval(mean: float, deviation: float) -> tuple[float, float]:
    """Central 95% of a normal distribution.

    >>> [round(bound, 4) for bound in normal_interval(50.0, 1.0)]
    [48.04, 51.96]
    """
    return mean - _NORMAL_95 * deviation, mean + _NORMAL_95 * deviation
