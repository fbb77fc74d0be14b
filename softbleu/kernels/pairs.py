"""The pairs of tokens of some segments: every candidate token with every reference token, as one flat array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers


@dataclass(frozen=True)
class TokenPairs:
    """Where the pairs of each segment stand: one row per candidate token, the pairs of a row side by side."""

    rows: Integers  # Bounds of the segments among the candidate tokens
    columns: Integers  # Bounds of the segments among the reference tokens

    @cached_property
    def cells(self) -> Integers:
        """Bounds of the segments among the pairs."""
        return np.concatenate(([0], np.cumsum(np.diff(self.rows) * np.diff(self.columns))))

    def block(self, values: Floats, segment: int) -> Floats:
        """Those values, one a pair, that belong to a segment: (candidate tokens, reference tokens)."""
        height, width = (int(bounds[segment + 1] - bounds[segment]) for bounds in (self.rows, self.columns))
        block: Floats = values[self.cells[segment] : self.cells[segment + 1]].reshape(height, width)
        return block

    @cached_property
    def tokens(self) -> tuple[Integers, Integers]:
        """Candidate token and reference token of each pair."""
        widths = np.repeat(np.diff(self.columns), np.diff(self.rows))
        firsts = np.repeat(self.columns[:-1], np.diff(self.rows))
        left = np.repeat(np.arange(len(widths)), widths)
        return left, np.arange(len(left)) + np.repeat(firsts - (np.cumsum(widths) - widths), widths)

    @cached_property
    def distances(self) -> Floats:
        """How far apart the tokens of each pair stand, each place measured by the length of its line."""
        own, others = middles(self.rows), middles(self.columns)
        found = np.empty(int(self.cells[-1]))
        for segment in range(len(self.cells) - 1):
            first, second = (slice(*bounds[segment : segment + 2]) for bounds in (self.rows, self.columns))
            block = self.block(found, segment)
            np.abs(np.subtract.outer(own[first], others[second], out=block), out=block)
        return found


def middles(bounds: Integers) -> Floats:
    """Where the middle of each token stands in its line, 0 to 1.

    >>> middles(np.array([0, 2, 3])).tolist()
    [0.25, 0.75, 0.5]
    """
    lengths = np.diff(bounds)
    places: Floats = np.arange(bounds[-1]) - np.repeat(bounds[:-1], lengths) + 0.5
    places /= np.repeat(lengths, lengths)
    return places
