"""Least edit costs of candidates to any path of a lattice, for many lattices at once, arc by arc."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from softbleu.io.platform import cached_property
from softbleu.text.coded import chosen_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.types import Flags, Integers

BATCH = 128  # Lattices that are processed together: few enough for the cache. Results do not depend on it
_MOST_CELLS = 1 << 22  # Cells of the tables of a batch of several lattices
HUNDRED = 100
"""Unit of weights of words; costs have the unit of 1 / 10,000, so that a word of full weight costs 10,000."""
_FAR = np.int64(1) << 60
_NO_WORD = -2


@dataclass(frozen=True)
class Lattices:
    """Concatenated lattices: the arcs of lattice b are entries ``offsets[b]`` to ``offsets[b + 1]``.

    Arcs are in topological order. Paths go from state 0 to the last state.
    """

    offsets: Integers
    states: Integers  # Number of states of each lattice
    sources: Integers
    targets: Integers
    words: NDArray[np.int32]  # Codes; -1 for a word that no candidate has, -2 for no word
    costs: Integers  # Hundredths
    kinds: Integers

    def __len__(self) -> int:
        return len(self.states)

    @property
    def ends(self) -> Integers:
        """Last state of each lattice."""
        return self.states - 1

    @cached_property
    def empty(self) -> Flags:
        """Mask of the arcs without a word."""
        without_word: Flags = self.words == _NO_WORD
        return without_word

    @cached_property
    def sizes(self) -> Integers:
        """Number of arcs of each lattice."""
        return np.diff(self.offsets)

    def chosen(self, lattices: Integers) -> tuple[Lattices, Integers]:
        """Select lattices by number, in the order given; also return the numbers of their arcs."""
        arcs, offsets = chosen_places(self.offsets, lattices)
        made = Lattices(
            offsets,
            self.states[lattices],
            self.sources[arcs],
            self.targets[arcs],
            self.words[arcs],
            self.costs[arcs],
            self.kinds[arcs],
        )
        return made, arcs

    def batches(self, widths: Integers | None = None) -> Iterator[Integers]:
        """Yield batches of lattice numbers, the lattices with most arcs first.

        `widths` are the columns of a table that each lattice needs, with a row per state; batches are small enough
        for these tables.
        """
        order = np.argsort(-self.sizes, kind="stable")
        start = 0
        while start < len(order):
            some = order[start : start + BATCH]
            if widths is not None:
                cells = np.maximum.accumulate(self.states[some]) * np.maximum.accumulate(widths[some])
                cells *= np.arange(1, len(some) + 1)
                some = some[: max(1, int(np.searchsorted(cells, _MOST_CELLS, side="right")))]
            yield some
            start += len(some)

    def greatest(self, values: Integers) -> Integers:
        """Compute the greatest sum of arc values, none below 0, over a path of each lattice."""
        most = np.zeros(len(self), np.int64)
        for batch in self.batches():
            sums = np.full((len(batch), int(self.states[batch].max())), -1, np.int64)
            sums[:, 0] = 0
            for rows, arcs in self.steps(batch):
                reached = sums[rows, self.sources[arcs]] + values[arcs]
                targets = self.targets[arcs]
                sums[rows, targets] = np.maximum(sums[rows, targets], reached)
            most[batch] = sums[np.arange(len(batch)), self.ends[batch]]
        return most

    def steps(self, batch: Integers) -> Iterator[tuple[Integers, Integers]]:
        """Yield, for each step, the batch rows of lattices with an arc left, and the numbers of these arcs."""
        sizes, starts = self.sizes[batch], self.offsets[batch]
        rows = np.arange(len(batch))
        count = len(batch)
        for step in range(int(sizes.max(initial=0))):
            while sizes[count - 1] <= step:
                count -= 1
            yield rows[:count], starts[:count] + step


@dataclass(frozen=True)
class CandidateTexts:
    """Candidates, one per lattice, as a table padded to the longest."""

    words: NDArray[np.int32]
    lengths: Integers
    weights: Integers  # In hundredths, or in the unit of `EditPrices.full`


@dataclass(frozen=True)
class EditPrices:
    """Costs of edits."""

    extra: int  # Cost of deleting a word of the candidate, in hundredths of its weight
    both: bool
    """Whether a substitution costs the sum of deletion and insertion, not the greater of the two."""
    full: int  # Weight of a word of full weight; for equal weights, 1 allows longer texts


@dataclass(frozen=True)
class PathSearch:
    """Search for the path with the least ratio of edit cost to path weight, in each lattice.

    A word of a path that the candidate lacks costs its weight; an arc adds its own cost times its word's weight (an
    empty arc counts full weight).
    """

    lattices: Lattices
    texts: CandidateTexts
    weights: Integers  # Weights of the arcs' words, in hundredths; 0 for empty arcs
    edits: EditPrices

    @cached_property
    def arc_costs(self) -> Integers:
        """Costs of arcs, multiplied by the weights of their words."""
        return self.lattices.costs * np.where(self.lattices.empty, self.edits.full, self.weights)

    @cached_property
    def longest(self) -> Integers:
        """Greatest weight of a path of each lattice."""
        return self.lattices.greatest(self.weights)

    @cached_property
    def dearest(self) -> Integers:
        """Upper bounds of the costs of paths of each lattice."""
        words = HUNDRED * self.longest + self.edits.extra * self.texts.weights.sum(axis=1)
        costs: Integers = words + self.lattices.greatest(self.arc_costs)
        return costs

    @property
    def bits(self) -> int:
        """Bits that numbers of the search may need, apart from the bits of a weight; more than 60 overflow."""
        cost, length = int(self.dearest.max(initial=0)), int(self.longest.max(initial=0)) + 1
        return (2 * cost * length).bit_length() + length.bit_length()

    def least_ratios(self) -> tuple[Integers, Integers]:
        """Find the least ratio of each lattice exactly, by Dinkelbach's method.

        Returns costs in ten thousandths and weights of paths in hundredths (if `full` is 100). Of equal ratios, the
        path with the least weight is chosen.
        """
        costs, lengths = np.zeros(len(self.lattices), np.int64), np.zeros(len(self.lattices), np.int64)
        for batch in self.lattices.batches(self.texts.lengths + 1):
            costs[batch], lengths[batch] = self._ratios(batch)
        return costs, lengths

    def _ratios(self, batch: Integers) -> tuple[Integers, Integers]:
        """Return cost and weight of the best path of each lattice of a batch."""
        # The ratio to beat, initially one edit per word
        above, below = np.full(len(batch), HUNDRED), np.ones(len(batch), np.int64)
        cost, length = np.zeros(len(batch), np.int64), np.zeros(len(batch), np.int64)
        going = np.arange(len(batch))
        while len(going):
            some = batch[going]
            values, lengths = CostTable(self, some, above[going], below[going]).least()
            ratio = (values + above[going] * lengths) // below[going]
            cost[going], length[going] = ratio, lengths
            # A path without words has no ratio: if others exist, search for one with words at any cost.
            bare = (lengths == 0) & (ratio > 0) & (self.longest[some] > 0)
            better = (values != 0) & ~bare & (lengths > 0)
            above[going[better]], below[going[better]] = ratio[better], lengths[better]
            above[going[bare]], below[going[bare]] = self.dearest[some[bare]] + 1, 1
            going = going[better | bare]
        return cost, length

    def closest_ways(self, costs: Integers, lengths: Integers) -> list[list[tuple[int, int]]]:
        """Return the edits behind the ratios of `least_ratios`.

        For each lattice, a list of arc numbers and positions of candidate words, in order; -1 if either is missing.
        """
        ways: list[list[tuple[int, int]]] = [[]] * len(self.lattices)
        for batch in self.lattices.batches(self.texts.lengths + 1):
            table = CostTable(self, batch, costs[batch], np.maximum(lengths[batch], 1))
            for row, number in enumerate(batch.tolist()):
                ways[number] = table.way(row)
        return ways


class CostTable:
    """Least values of paths to every state, by the number of candidate words consumed.

    Low bits hold the weight of the path. Values exclude the costs of deleting all consumed words, so that a deletion
    adds nothing.
    """

    def __init__(self, search: PathSearch, batch: Integers, above: Integers, below: Integers) -> None:
        self._search, self._lattices, self._batch = search, search.lattices, batch
        self._shift = shift = int(search.longest[batch].max(initial=0)).bit_length()
        self._above, self._below = above, below
        self._lengths = search.texts.lengths[batch]
        width = int(self._lengths.max(initial=0))
        self._words = search.texts.words[batch, :width]
        prices = (below[:, None] * search.edits.extra * search.texts.weights[batch, :width]) << shift
        self._prices = np.where(np.arange(width) < self._lengths[:, None], prices, 0)
        self._before = np.zeros((len(batch), width + 1), np.int64)
        np.cumsum(self._prices, axis=1, out=self._before[:, 1:])
        size = len(batch), int(search.lattices.states[batch].max(initial=1)), width + 1
        self._cells = np.full(size, _FAR)
        self._cells[:, 0, 0] = 0
        self._fill()

    def _fill(self) -> None:
        """Fill the table, arc by arc."""
        lattices = self._lattices
        for rows, arcs in lattices.steps(self._batch):
            base, word = self._prices_of(rows, arcs)
            here = np.minimum.accumulate(self._cells[rows, lattices.sources[arcs]], axis=1)
            made = here + word[:, None]
            np.minimum(made[:, 1:], here[:, :-1] + self._substitutions(rows, arcs, word), out=made[:, 1:])
            made += base[:, None]
            targets = lattices.targets[arcs]
            self._cells[rows, targets] = np.minimum(self._cells[rows, targets], made)

    def _prices_of(self, rows: Integers, arcs: Integers) -> tuple[Integers, Integers]:
        """Return the costs of arcs, and the additional costs of inserting their words."""
        weight, below = self._search.weights[arcs], self._below[rows]
        base = ((below * self._search.arc_costs[arcs] - self._above[rows] * weight) << self._shift) + weight
        return base, (HUNDRED * below * weight) << self._shift

    def _substitutions(self, rows: Integers, arcs: Integers, word: Integers) -> Integers:
        """Compute the costs of matching candidate words with arcs' words, less the costs of deleting them."""
        words, prices = self._words[rows], self._prices[rows]
        other = word[:, None] if self._search.edits.both else np.maximum(word[:, None] - prices, 0)
        cost = np.where(words == self._lattices.words[arcs][:, None], -prices, other)
        cost[self._lattices.empty[arcs]] = _FAR
        return cost

    def way(self, row: int) -> list[tuple[int, int]]:
        """Return the best path of a lattice as arcs and candidate words; see `closest_ways`."""
        number = int(self._batch[row])
        arcs = np.arange(self._lattices.offsets[number], self._lattices.offsets[number + 1])
        rows = np.full(len(arcs), row)
        base, word = self._prices_of(rows, arcs)
        exact = self._cells[row]

        @lru_cache(2)
        def closed(state: int) -> Integers:
            return np.minimum.accumulate(exact[state])

        def substituted(place: int) -> Integers:
            one = slice(place, place + 1)
            costs: Integers = self._substitutions(rows[one], arcs[one], word[one])[0]
            return costs

        into: dict[int, list[int]] = {}
        for place, target in enumerate(self._lattices.targets[arcs].tolist()):
            into.setdefault(target, []).append(place)
        state, left = int(self._lattices.ends[number]), int(self._lengths[row])
        way: list[tuple[int, int]] = []
        while True:
            value = closed(state)[left]
            start = int(np.flatnonzero(exact[state, : left + 1] == value)[0])
            way += [(-1, place) for place in range(left - 1, start - 1, -1)]
            left = start
            if not state:
                return way[::-1]
            for place in into[state]:
                source = int(self._lattices.sources[arcs[place]])
                if closed(source)[left] + word[place] + base[place] == value:
                    way.append((int(arcs[place]), -1))
                elif left and closed(source)[left - 1] + substituted(place)[left - 1] + base[place] == value:
                    left -= 1
                    way.append((int(arcs[place]), left))
                else:
                    continue
                state = source
                break

    def least(self) -> tuple[Integers, Integers]:
        """Return the least ``below * cost - above * weight`` of a path of each lattice, and the path's weight."""
        rows = np.arange(len(self._batch))
        cells = np.minimum.accumulate(self._cells[rows, self._lattices.ends[self._batch]], axis=1)
        packed: Integers = cells[rows, self._lengths] + self._before[rows, self._lengths]
        return packed >> self._shift, packed & ((1 << self._shift) - 1)
