"""Corpus scores of rows that come block by block, none of which is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.metrics.references import ChosenRows, ChosenSums, ReferenceDraws

if TYPE_CHECKING:
    from softbleu.metrics.base import Metric
    from softbleu.metrics.score import Score
    from softbleu.types import Floats, Integers


class Gathered:
    """Sums of the rows of all systems; metrics that need more of them have their own."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._sums: Any = 0

    def add(self, rows: Integers, counts: Integers) -> None:
        """Add the next segments: (systems, rows, k), and how many rows each segment has."""
        self._sums = self._sums + rows.sum(axis=1)

    def scores(self) -> Sequence[Score]:
        """Score each system."""
        return [self._metric.score(row) for row in self._sums]


class GatheredDraws(Gathered):
    """Sums of the rows that random samples draw, one of each segment; see `references.draw_references`.

    Parameters
    ----------
    score : of the sums of all samples of a system, (samples, k)
    """

    def __init__(self, metric: Metric, samples: int, seed: int, score: Callable[[Floats], Score]) -> None:
        super().__init__(metric)
        self._samples, self._seed, self._score = samples, seed, score
        self._streams: list[np.random.RandomState] = []
        self._passed = 0

    def add(self, rows: Integers, counts: Integers) -> None:
        """Add what each sample draws; before any segment has several references, all draw the same."""
        if not self._streams and counts.max() == 1:
            self._passed += len(counts)
            super().add(rows, counts)
            return
        if not self._streams:
            self._begin()
        first = np.concatenate(([0], np.cumsum(counts)[:-1]))
        places = [first + np.minimum(number, counts - 1) for number in range(int(counts.max()))]
        chosen = ChosenRows(places, ReferenceDraws(counts, self._samples, self._seed, self._streams))
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
        return [self._score(sums) for sums in self._sums] if self._streams else super().scores()


class GatheredBest(Gathered):
    """Sums of the best rows, one of each segment.

    Parameters
    ----------
    best : places of the best rows of each segment, by the rows of a system and where segments begin and end
    """

    def __init__(self, metric: Metric, best: Callable[[Integers, Integers], Integers]) -> None:
        super().__init__(metric)
        self._best = best

    def add(self, rows: Integers, counts: Integers) -> None:
        """Add the best rows."""
        offsets = np.concatenate(([0], np.cumsum(counts)))
        super().add(np.stack([own[self._best(own, offsets)] for own in rows]), counts)
