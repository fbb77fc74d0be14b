"""The pairs of tokens of some segments: every candidate token with every reference token, as one flat array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from softbleu.io.platform import cached_property

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

_SMALL = 1 << 12  # Pairs of a segment up to which decays are kept: 64 MB at most, 12 for 100,000 lines of WMT13


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

    def decays(self, rate: float) -> Floats:
        """``exp(-rate * distance)`` of each pair: tokens are as far apart as the middles of their places, 0 to 1."""
        shapes = zip(np.diff(self.rows).tolist(), np.diff(self.columns).tolist(), strict=True)
        tables = (
            _decays(*shape, rate) if shape[0] * shape[1] <= _SMALL else _decays.__wrapped__(*shape, rate)
            for shape in shapes
        )
        return np.concatenate([np.empty(0), *tables])


@lru_cache(maxsize=1 << 11)
def _decays(height: int, width: int, rate: float) -> Floats:
    """Decays of the pairs of one segment, which are those of all segments of these lengths.

    >>> (-np.log(_decays(2, 1, 1.0))).round(3).tolist()
    [0.25, 0.25]
    """
    candidate, reference = ((np.arange(length) + 0.5) / length for length in (height, width))
    decays: Floats = np.exp(-rate * np.abs(np.subtract.outer(candidate, reference))).reshape(-1)
    return decays
