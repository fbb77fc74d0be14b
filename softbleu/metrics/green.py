"""GREEN: n-grams that a correction kept, inserted and deleted, rightly or not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from softbleu.config.declare import setting
from softbleu.io.arguments import Limit
from softbleu.kernels.numpy_backend import ngram_ids
from softbleu.matching.ngrams import Chunk, WordTable
from softbleu.metrics.aggregation import keep_best
from softbleu.metrics.base import Metric
from softbleu.metrics.requirements import Requirements, needed
from softbleu.metrics.score import Score, ScoreColumns, column
from softbleu.metrics.settings import order_setting
from softbleu.text.coded import Tokens

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.types import Floats, Integers

_PIECE = 256  # Candidates that are counted together: few enough for the cache. Results do not depend on it.
_LIMIT = Limit("green", "words", 1 << 21, "a document of 3,000 words: 9,000")  # Of all texts together (0.5 GB)
_CLASSES = ("kept", "inserted", "deleted", "overinserted", "overdeleted", "underinserted", "underdeleted")


@dataclass(frozen=True)
class GreenScore(Score):
    """A GREEN score; lists have one entry an order, counts are of n-grams."""

    kept: list[int] = column("", "kept", "count")  # In source, candidate and reference
    inserted: list[int] = column("", "inserted", "count")  # In candidate and reference, not in the source
    deleted: list[int] = column("", "deleted", "count")  # In the source only
    overinserted: list[int] = column("", "over-inserted", "count")  # In the candidate only
    overdeleted: list[int] = column("", "over-deleted", "count")  # In source and reference, not in the candidate
    underinserted: list[int] = column("", "under-inserted", "count")  # In the reference only
    underdeleted: list[int] = column("", "under-deleted", "count")  # In source and candidate, not in the reference
    precisions: list[float] = column("P", "precision %", "per cent")  # What is right of that and what is too much
    recalls: list[float] = column("R", "recall %", "per cent")  # What is right of that and what is missing


@dataclass(frozen=True, repr=False)
class Green(Metric):
    """F of corrections by n-grams in seven classes (Koyama et al. 2024), by the numbers of gec-metrics 0.1.1.

    n-grams kept, inserted or deleted as in the reference are true positives; over-inserted and over-deleted ones are
    false positives, under-inserted and under-deleted ones false negatives. Precision and recall, 1 without mistakes,
    are geometric means over the orders. Of several references each segment takes the best.

    Examples
    --------
    >>> Green(order=1).score(np.array([6, 1, 1, 1, 1, 0, 2])).recalls
    [80.0]
    """

    order: int = order_setting(4)
    beta: float = setting(2.0, "Weight of recall beside precision", least=0, most=1e6)
    name: ClassVar[str] = "green"
    also_rewards: ClassVar[str] = "all edits of all systems; errors added to the source (up to 39% of sentences)"
    requires: ClassVar[Requirements] = Requirements(source=True)

    @property
    def edit_judge(self) -> Metric:
        """Metric whose edits pages show: ERRANT, without its types."""
        from softbleu.metrics.errant import Errant

        return Errant()

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Count the n-grams of each class, in the order of `GreenScore`, each by order: (segments, 7 orders)."""
        units = chunk.by_reference()
        _LIMIT.check_sum(**units.sizes)
        rows = np.concatenate([self._counts(piece) for piece in units.pieces(_PIECE)])
        return keep_best(rows, chunk.segment_offsets, self)

    def _counts(self, units: Chunk) -> Integers:
        """Count the n-grams of candidates that have one reference each."""
        segments = len(units)
        both = Tokens.joined([needed(units.source, self.name, "source"), units.references])
        texts = both.chosen(np.arange(2 * segments).reshape(2, segments).T.reshape(-1))
        positions = Chunk(units.candidates, texts, 2 * np.arange(segments + 1)).positions
        owner = np.repeat(np.arange(segments), positions.sizes)
        rows = np.empty((segments, len(_CLASSES), self.order), np.int64)
        for n, (starts, ids) in enumerate(ngram_ids(positions, self.order)):
            # Sides are -1 in candidates, 0 in sources, 1 in references.
            numbers = np.bincount(3 * ids + positions.side[starts] + 1, minlength=3 * len(owner))
            for index, counts in enumerate(_by_class(*numbers.reshape(-1, 3).T)):
                rows[:, index, n] = np.bincount(owner, counts, segments)
        return rows.reshape(segments, -1)

    def columns(self, rows: Integers | Floats) -> ScoreColumns[GreenScore]:
        """Score rows of statistics, or sums of rows."""
        shares = self._parts(rows)
        precision, recall = map(_geometric_mean, shares)
        factor = self.beta**2
        below = factor * precision + recall
        f = 100 * ((1 + factor) * precision * recall / np.where(below > 0, below, 1))
        counts = np.moveaxis(rows.reshape(len(rows), len(_CLASSES), self.order), 1, 0)
        named = dict(zip(_CLASSES, counts, strict=True))
        return ScoreColumns(GreenScore, f, **named, precisions=100 * shares[0], recalls=100 * shares[1])

    def _parts(self, rows: Integers | Floats) -> tuple[Floats, Floats]:
        """Precision and recall of each order: (rows, orders) each."""
        counts = np.asarray(rows).reshape(len(rows), len(_CLASSES), self.order)
        right, more, less = counts[:, :3].sum(axis=1), counts[:, 3:5].sum(axis=1), counts[:, 5:].sum(axis=1)
        precision, recall = (np.where(wrong == 0, 1, right / np.maximum(right + wrong, 1)) for wrong in (more, less))
        return precision, recall


def _by_class(candidate: Integers, source: Integers, reference: Integers) -> list[Integers]:
    """Count n-grams by class."""
    shared = np.minimum(candidate, reference)
    return [
        np.minimum(source, shared),
        np.maximum(shared - source, 0),
        np.maximum(source - np.maximum(candidate, reference), 0),
        np.maximum(candidate - np.maximum(source, reference), 0),
        np.maximum(np.minimum(source, reference) - candidate, 0),
        np.maximum(reference - np.maximum(source, candidate), 0),
        np.maximum(np.minimum(source, candidate) - reference, 0),
    ]


def _geometric_mean(values: Floats) -> Floats:
    """Mean of each row, by the logarithms of Python's own library, so that equal references stay equal."""
    distinct, indices = np.unique(values, return_inverse=True)
    logs = np.array([math.log(value) if value else -math.inf for value in distinct.tolist()])[indices]
    total = np.zeros(len(values))
    for logs_of_column in logs.reshape(values.shape).T:
        total += logs_of_column
    return np.array([math.exp(mean) for mean in (total / values.shape[1]).tolist()])
