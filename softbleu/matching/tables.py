"""Which n-grams of a batch are alike, as one array, and who gets what: similar segments are padded to one size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.kernels.scale import SCALE
from softbleu.matching.assignment import EXACT, assign
from softbleu.matching.similarity import round_millionths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.kernels import Kernels
    from softbleu.kernels.assignment import Intervals
    from softbleu.matching.batches import Batch
    from softbleu.matching.clipping import Pool
    from softbleu.matching.matches import Matches, Rules
    from softbleu.matching.similarity import TokenProducts
    from softbleu.types import Integers


@dataclass(frozen=True)
class Tables:
    """What the n-grams of a batch may match, before anything is given out."""

    orders: list[int]  # Orders that may match approximately
    pool_orders: list[list[int]]  # Of each, the orders of the pool n-grams in its columns, in pool order
    similarities: NDArray[np.int32]
    """In millionths, 0 or less where no match is allowed: (orders, batch, candidate n-grams, pool n-grams)."""
    capacity: Integers  # Instances of the pool n-grams, in millionths: (orders, batch, pool n-grams)

    @property
    def columns(self) -> int:
        """Pool n-grams of each order."""
        return int(self.capacity.shape[2])

    def assign(self, rules: Rules) -> tuple[Integers, Integers]:
        """Match by the rules; order o's candidate s has the number o * batch + s."""
        return assign(*self._stacked(), rules)

    def sweep(self, thresholds: Integers, kernels: Kernels) -> Intervals:
        """Match at every threshold (in millionths); candidates are numbered as `assign` does."""
        return kernels.sweep_greedily(*self._stacked(), thresholds)

    def _stacked(self) -> tuple[NDArray[np.int32], Integers]:
        height = self.similarities.shape[2]
        return self.similarities.reshape(-1, height, self.columns), self.capacity.reshape(-1, self.columns)


@dataclass(frozen=True)
class BatchMatching:
    """All n-grams of a batch as one array: (order, candidate, candidate n-gram, pool n-gram)."""

    rules: Rules
    pools: list[Pool]
    batch: Batch
    products: TokenProducts

    def run(self, matches: list[Matches]) -> None:
        """Match the batch and note what was found."""
        tables = self.tables()
        if tables is not None:
            self.note(tables, *tables.assign(self.rules), matches)

    def note(self, tables: Tables, partner: Integers, value: Integers, matches: list[Matches]) -> None:
        """Note matches that tables gave."""
        size = len(self.batch.lines)
        for layer, order in enumerate(tables.orders):
            rows = slice(layer * size, (layer + 1) * size)
            pool_orders = np.array(tables.pool_orders[layer])
            self._note(partner[rows], value[rows], order, pool_orders, matches[order - 1])

    def tables(self) -> Tables | None:
        """Similarities of all matches that are allowed, and what the pool offers; None if no match is."""
        (size, height), width = self.batch.candidate.shape, self.batch.reference.shape[1]
        orders = [order for order, soft in enumerate(self.rules.pool_orders, start=1) if soft and order <= height]
        # Columns in pool order: the starts of 1-grams, then those of 2-grams, …
        pool_orders = [[k for k in self.rules.columns(n) if k <= width] for n in orders]
        columns = width * max(map(len, pool_orders), default=0)
        if not columns:
            return None
        similarities = np.zeros((len(orders), size, height, columns), np.int32)
        capacity = np.zeros((len(orders), size, columns), np.int64)
        for layer, order in enumerate(orders):
            for place, pool_order in enumerate(pool_orders[layer]):
                block = slice(place * width, place * width + width - pool_order + 1)
                rows = slice(0, height - order + 1)
                starts = self.batch.reference[:, : width - pool_order + 1]
                offered = self.pools[pool_order - 1].capacity(pool_order == order, self.batch.systems, starts)
                capacity[layer, :, block] = offered
                self._fill(similarities[layer, :, rows, block], order, pool_order, offered)
        capacity *= SCALE
        return Tables(orders, pool_orders, similarities, capacity)

    def _fill(self, block: NDArray[np.int32], order: int, pool_order: int, offered: Integers) -> None:
        """Write the similarities of the matches that are allowed."""
        own = self.pools[order - 1]
        candidate = self.batch.candidate[:, : block.shape[1]]
        if pool_order in self.rules.pool_orders[order - 1]:
            rows, columns = own.waiting[candidate].astype(np.float64), np.where(offered > 0, float(SCALE), 0.0)
            similarities = self.rules.composition.similarities(self.products, order, pool_order, rows, columns)
            if similarities is not None:
                block[...] = round_millionths(similarities)
        if pool_order == order and self.rules.equal_is_one and not self.rules.exact_first:
            block[own.equal(candidate, self.batch.reference[:, : block.shape[2]])] = EXACT

    def _note(self, partner: Integers, value: Integers, order: int, pool_orders: Integers, matches: Matches) -> None:
        line, row = np.nonzero(partner >= 0)
        block, place = np.divmod(partner[line, row], self.batch.reference.shape[1])
        found = self.pools[order - 1].index[self.batch.candidate[line, row]]
        matches.matched[found] = np.minimum(value[line, row], SCALE)
        matches.partner_starts[found] = self.batch.reference[line, place]
        matches.partner_orders[found] = pool_orders[block]
