"""Rules of soft matchers, and the matches that a matcher makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from softbleu.kernels.scale import SCALE
from softbleu.matching.ngrams import Ngrams
from softbleu.matching.similarity import Composition

if TYPE_CHECKING:
    from softbleu.types import Integers

Assignment = Literal["exact-first", "sequential", "optimal"]
Consumption = Literal["unit", "similarity"]


@dataclass(frozen=True)
class Rules:
    """How a soft matcher matches n-grams up to some order; see `SoftMatcher`."""

    pool_orders: tuple[tuple[int, ...], ...]  # Of each order, those that may match approximately
    threshold: int  # In millionths: a similarity must exceed it
    assignment: Assignment
    consumption: Consumption
    composition: Composition
    equal_is_one: bool = True  # Whether equal n-grams match as such, not by what their similarity is where they stand
    in_context: bool = False  # Whether equal n-grams differ by where they stand

    @property
    def exact_first(self) -> bool:
        """Whether equal n-grams are matched before others."""
        return self.equal_is_one and self.assignment == "exact-first"

    @property
    def unit(self) -> int:
        """Millionths of a pool n-gram that a match uses; 0: as many as its similarity has."""
        return SCALE if self.consumption == "unit" else 0

    @property
    def max_order(self) -> int:
        """Greatest order."""
        return len(self.pool_orders)

    def columns(self, order: int) -> list[int]:
        """Orders of the pool n-grams that n-grams of an order may match, their own among them, ascending."""
        return sorted({order, *self.pool_orders[order - 1]})

    @property
    def deepest(self) -> int:
        """Greatest order of an n-gram whose similarity is looked at."""
        return max((max(n, *orders) for n, orders in enumerate(self.pool_orders, start=1) if orders), default=0)


@dataclass(frozen=True)
class Matches:
    """Matches of the candidate n-grams of one order, an entry per n-gram in each array."""

    starts: Integers  # Candidate positions at which the n-grams start
    matched: Integers  # How much of each is matched, in millionths: 1,000,000 for an exact match, 0 for none
    partner_starts: Integers  # Position at which the matched reference n-gram first appears; -1 for none
    partner_orders: Integers  # Order of the matched reference n-gram; 0 for none

    @classmethod
    def none(cls, ngrams: Ngrams) -> Matches:
        """No matches yet."""
        empty = np.zeros(len(ngrams.starts), np.int64)
        return cls(ngrams.starts, empty, empty - 1, empty.copy())

    @classmethod
    def exact(cls, ngrams: Ngrams, order: int) -> Matches:
        """Make the exact matches alone of `ngrams` of an order."""
        first = np.full(len(ngrams.counts), -1)
        first[ngrams.pool_ids[::-1]] = ngrams.pool_starts[::-1]
        partners = np.where(ngrams.exact, first[ngrams.ids], -1)
        return cls(ngrams.starts, ngrams.exact * SCALE, partners, np.where(ngrams.exact, order, 0))
