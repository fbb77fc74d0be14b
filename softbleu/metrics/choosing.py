"""Metrics that look at one reference (or annotator) of each segment, chosen among all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from softbleu.metrics.base import Metric, ReferenceScore
from softbleu.metrics.references import ChosenRows
from softbleu.metrics.score import Score

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers


class ChoosingMetric(Metric):
    """A metric with a row for each reference of each segment, of which one counts; `chosen` says which."""

    @abstractmethod
    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose one row of each segment: their places among the rows."""

    def score_of_one(self, row: Integers) -> Score:
        """Score a single row; `score` unless there is more to say of it than of a sum."""
        return self.score(row)

    def summarise(self, rows: Integers, offsets: Integers) -> Score:
        """Score a corpus: the sum of the chosen rows."""
        return self.score(rows[self.chosen(rows, offsets)].sum(axis=0))

    def pooled(self, rows: Integers, offsets: Integers) -> Score:
        """Score the sum over all segments, of the chosen rows."""
        return self.summarise(rows, offsets)

    def choose(self, rows: Integers, offsets: Integers) -> ChosenRows:
        """Rows that are chosen in the whole corpus, whatever is resampled."""
        return ChosenRows([self.chosen(rows, offsets)])

    def segment_scores(self, rows: Integers, offsets: Integers) -> list[Score]:
        """Score the chosen row of each segment."""
        return [self.score_of_one(row) for row in rows[self.chosen(rows, offsets)]]

    def segment_numbers(self, rows: Integers, offsets: Integers) -> Floats:
        """Scores of the segments alone."""
        return self.scores(rows[self.chosen(rows, offsets)])

    def reference_scores(self, rows: Integers, offsets: Integers) -> list[ReferenceScore]:
        """Score each candidate with each of its references."""
        return scores_by_reference(rows, offsets, self.chosen(rows, offsets), self.score_of_one)


def scores_by_reference(
    rows: Integers, offsets: Integers, chosen: Integers, score: Callable[[Integers], Score]
) -> list[ReferenceScore]:
    """Score every row, and say whose it is and whether it is one of the chosen."""
    places = set(chosen.tolist())
    return [
        ReferenceScore(segment, place - start + 1, place in places, score(rows[place]))
        for segment, (start, stop) in enumerate(pairwise(offsets.tolist()), start=1)
        for place in range(start, stop)
    ]
