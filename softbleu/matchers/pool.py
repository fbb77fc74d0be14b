"""The pool of reference n-grams that a chunk offers, spread over its positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.matchers.base import Matches, SoftMatcher

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.ngrams import Ngrams
    from softbleu.types import Integers


@dataclass(frozen=True)
class Pool:
    """The n-grams of one order, spread over a chunk's positions (and one more, for padding)."""

    ngrams: Ngrams
    index: Integers
    """Number of the candidate n-gram that starts here, -1 for none."""
    waiting: NDArray[np.bool_]
    """Whether a candidate n-gram starts here that is still to be matched."""
    cells: Integers
    """Cell of the candidate n-gram that starts here, -1 for none."""
    pool_cells: Integers
    """Cell of the pool n-gram that starts here, -2 for none."""
    counts: Integers
    """Count of the pool n-gram that starts here, 0 for none."""
    left: Integers
    """What exact matches leave of the counts; the counts themselves unless exact matches come first."""

    @classmethod
    def of(cls, ngrams: Ngrams, positions: int, matcher: SoftMatcher) -> Pool:
        """Spread the n-grams of a chunk with so many positions, padding included."""

        def spread(values: NDArray[Any], starts: Integers, empty: int) -> NDArray[Any]:
            flat = np.full(positions, empty, values.dtype)
            flat[starts] = values
            return flat

        starts, pool_starts, pool_cells = ngrams.starts, ngrams.pool_starts, ngrams.pool_cells
        counts = spread(ngrams.counts[pool_cells], pool_starts, 0)
        exact_first = matcher.assignment == "exact-first"
        return cls(
            ngrams,
            index=spread(np.arange(len(starts)), starts, -1),
            waiting=spread(~ngrams.exact if exact_first else np.ones(len(starts), bool), starts, 0),
            cells=spread(ngrams.cells, starts, -1),
            pool_cells=spread(pool_cells, pool_starts, -2),
            counts=counts,
            left=spread(ngrams.left[pool_cells], pool_starts, 0) if exact_first else counts,
        )

    def capacity(self, own: bool) -> Integers:
        """Instances of the pool n-gram that starts at each position: after exact matches in its own order."""
        return self.left if own else self.counts

    def start(self, order: int, matcher: SoftMatcher, max_order: int) -> Matches:
        """Matches before any approximate one is made."""
        if matcher.assignment == "exact-first" or not matcher.pool_orders(order, max_order):
            return Matches.exact(self.ngrams, order)
        return Matches.none(self.ngrams)
