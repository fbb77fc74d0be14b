"""Several BLEUs as one: their statistics side by side, so that one pass over a corpus serves them all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from softbleu.errors import InputError
from softbleu.matchers.sweep import matched_by_all
from softbleu.metrics.base import Metric, Score
from softbleu.metrics.bleu import Bleu

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.ngrams import Chunk
    from softbleu.similarity import TokenVectors
    from softbleu.types import Floats, Integers


@dataclass(frozen=True)
class Grid(Metric):
    """BLEUs of one order, to be computed together: those that differ in their thresholds share their similarities.

    It has no score of its own; `split` gives each its statistics.

    >>> from softbleu.matchers import make_matcher
    >>> grid = Grid(tuple(Bleu(make_matcher("vleu", threshold=t)) for t in (0.7, 0.8)))
    >>> grid.needs_vectors, [part.shape for part in grid.split(np.zeros((3, 20), np.int64))]
    (True, [(3, 10), (3, 10)])

    Raises
    ------
    InputError
        No metrics, or such of different orders.
    """

    metrics: tuple[Bleu, ...]
    name: ClassVar[str] = "grid"

    def __post_init__(self) -> None:
        if len({metric.order for metric in self.metrics}) != 1:
            raise InputError("a grid takes one or more BLEUs, all of one order")

    @property
    def needs_vectors(self) -> bool:
        """Whether any of them looks at similarities."""
        return any(metric.needs_vectors for metric in self.metrics)

    @property
    def needs_frequencies(self) -> bool:
        """Whether any of them weighs words by their frequencies."""
        return any(metric.needs_frequencies for metric in self.metrics)

    def statistics(self, chunk: Chunk, vectors: TokenVectors | None, kernels: Kernels) -> Integers:
        """Compute the statistics of all of them, side by side: (segments, metrics * k)."""
        matchers = [metric.matcher for metric in self.metrics]
        matched = matched_by_all(matchers, [chunk], vectors, self.metrics[0].order, kernels)
        return np.concatenate(
            [metric.statistics_of(chunk, found[0]) for metric, found in zip(self.metrics, matched, strict=True)],
            axis=1,
        )

    def split(self, rows: Integers) -> Iterator[Integers]:
        """Part statistics, (…, metrics * k), into those of each metric."""
        yield from np.split(rows, len(self.metrics), axis=-1)

    def score(self, row: Integers) -> Score:
        """Refuse: there is no score of the whole."""
        raise InputError("a grid has no score: split its statistics")

    def scores(self, rows: Integers | Floats) -> Floats:
        """Refuse: there is no score of the whole."""
        raise InputError("a grid has no score: split its statistics")
