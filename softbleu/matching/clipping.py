"""The pool of reference n-grams that a chunk offers, spread over its positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.matching.matches import Matches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.matching.matches import Rules
    from softbleu.matching.ngrams import Chunk, Ngrams
    from softbleu.types import Flags, Integers


@dataclass(frozen=True)
class Pool:
    """The n-grams of one order, spread over a chunk's positions (and one more, for padding)."""

    ngrams: Ngrams
    index: Integers  # Number of the candidate n-gram that starts here, -1 for none
    waiting: Flags  # Whether a candidate n-gram starts here that is still to be matched
    pool_index: Integers  # Number of the pool n-gram that starts here, that of none being the last
    counts: Integers  # Count of each pool n-gram, and 0 for none
    left: Integers
    """What exact matches leave of the counts to each system, (systems, pool n-grams and none); the counts themselves
    unless exact matches come first."""

    @classmethod
    def of(cls, ngrams: Ngrams, chunk: Chunk, rules: Rules) -> Pool:
        """Spread the n-grams of a chunk."""

        def spread(values: NDArray[Any], starts: Integers, empty: int) -> NDArray[Any]:
            flat = np.full(chunk.size + 1, empty, values.dtype)
            flat[starts] = values
            return flat

        starts, pool_starts = ngrams.starts, ngrams.pool_starts
        exact_first = rules.exact_first
        counts = np.append(ngrams.capacity, 0)
        left = np.tile(counts, (chunk.systems, 1))
        if exact_first:
            left[:, :-1] = ngrams.left(chunk.systems)
        return cls(
            ngrams,
            index=spread(np.arange(len(starts)), starts, -1),
            waiting=spread(~ngrams.exact if exact_first else np.ones(len(starts), bool), starts, 0),
            pool_index=spread(np.arange(len(pool_starts)), pool_starts, len(pool_starts)),
            counts=counts,
            left=left,
        )

    def capacity(self, own: bool, systems: Integers, starts: Integers) -> Integers:
        """Instances of the pool n-grams at (batch, starts), less exact matches where these are of the `own` order."""
        numbers = self.pool_index[starts]
        return self.left[systems[:, None], numbers] if own else self.counts[numbers]

    def ids(self, starts: Integers) -> Integers:
        """Ids of the candidate n-grams that start at some positions; -1 for none."""
        ids: Integers = np.append(self.ngrams.ids, -1)[self.index[starts]]
        return ids

    def equal(self, candidate: Integers, reference: Integers) -> Flags:
        """Whether n-grams at two positions are equal: (batch, candidate starts, reference starts)."""
        pool_ids = np.append(self.ngrams.pool_ids, -2)
        same: Flags = self.ids(candidate)[:, :, None] == pool_ids[self.pool_index[reference]][:, None, :]
        return same

    def start(self, order: int, rules: Rules) -> Matches:
        """Matches before any approximate one is made."""
        if rules.exact_first or not rules.pool_orders[order - 1]:
            return Matches.exact(self.ngrams, order)
        return Matches.none(self.ngrams)
