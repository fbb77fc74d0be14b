"""Word error rate of many segments at once, by arrays of words as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from softbleu.declare import Score, ScoreColumns, column, setting
from softbleu.metrics import BestReference, Metric

PARTS = 1000  # Of an edit: statistics are whole numbers


@dataclass(frozen=True)
class WordErrors(Score):
    """Word error rate in per cent, and what it is made of."""

    edits: float = column("edits", "edits", "count")
    reference_length: int = column("words", "reference words", "tokens")


@dataclass(frozen=True)
class WordErrorArrays(Metric):
    """Least cost of edits that make the candidate of its best reference, per word of that reference."""

    substitution_cost: float = setting(1.0, "Cost of a substitution beside an insertion's", least=0, most=1e6)
    name: ClassVar[str] = "wer-arrays"
    higher_is_better: ClassVar[bool] = False

    def statistics(self, chunk, words, kernels):
        """Cost of edits, and words, of every reference of each segment: (references, 2)."""
        pairs = chunk.by_reference()
        costs = [self._costs(padded(some.candidates), padded(some.references)) for some in pairs.pieces(64)]
        return np.column_stack((np.concatenate(costs), pairs.references.lengths))

    def _costs(self, candidates, references):
        """Fill the tables of edit distances row by row, those of all pairs at once."""
        places = PARTS * np.arange(references.shape[1] + 1)
        row = np.tile(places, (len(references), 1))
        for word in candidates.T[:, :, None]:
            change = np.where(references == word, 0, round(PARTS * self.substitution_cost))
            below = row + PARTS
            np.minimum(below[:, 1:], row[:, :-1] + change, out=below[:, 1:])
            below = np.minimum.accumulate(below - places, axis=1) + places
            row = np.where(word < 0, row, below)  # A shorter candidate has ended
        return row[np.arange(len(row)), (references >= 0).sum(axis=1)]

    def columns(self, rows):
        """Score rows of counts, or sums of rows."""
        edits, words = rows[:, 0] / PARTS, rows[:, 1]
        return ScoreColumns(WordErrors, 100 * edits / np.maximum(words, 1), edits=edits, reference_length=words)

    @property
    def aggregation(self):
        """The best reference counts."""
        return BestReference(self)


def padded(lines):
    """Codes of the words of lines, a row each, with -1 behind the last word."""
    filled = np.arange(lines.lengths.max(initial=0)) < lines.lengths[:, None]
    codes = np.full(filled.shape, -1)
    codes[filled] = lines.codes
    return codes
