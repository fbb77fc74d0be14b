"""The matching of a whole chunk: similar segments are padded to one size and matched together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.kernels.numpy_kernels import Lifetimes, sweep_greedily
from softbleu.matchers.assignment import EXACT, assign
from softbleu.matchers.long import LongSegment, match_long_segment
from softbleu.matchers.pool import Pool
from softbleu.similarity import SCALE, TokenProducts, composition, threshold_in_millionths, to_millionths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from softbleu.matchers.base import Matches, SoftMatcher
    from softbleu.ngrams import Chunk
    from softbleu.similarity import TokenVectors
    from softbleu.types import Integers


BATCH_CELLS = 1 << 15
"""Entries of a batch's token-by-token matrices: small enough to stay in the cache."""
LONG_CELLS = 1 << 21
"""A segment with a greater matrix is matched by itself, a stripe at a time."""


def soft_matches(matcher: SoftMatcher, chunk: Chunk, vectors: TokenVectors, max_order: int) -> list[Matches]:
    """Match the n-grams of orders 1…max_order of every segment, approximately where the matcher allows."""
    pools = [Pool.of(ngrams, chunk.positions + 1, matcher) for ngrams in chunk.ngrams(max_order)]
    matches = [pool.start(order, matcher, max_order) for order, pool in enumerate(pools, start=1)]
    by_frequency = composition(matcher.composition).by_frequency
    unit_vectors, codes = vectors.weighted(by_frequency=by_frequency).unit(chunk.layout.codes)
    codes = np.append(codes, 0)
    for candidate, reference in batches(chunk):
        if candidate.shape[1] * reference.shape[1] > LONG_CELLS:
            segment = LongSegment(candidate[0], reference[0], codes)
            match_long_segment(matcher, pools, segment, unit_vectors, matches)
        else:
            products = TokenProducts.of(codes[candidate], codes[reference], unit_vectors, max_order)
            BatchMatching(matcher, pools, candidate, reference, products).run(matches)
    return matches


def batches(chunk: Chunk, most_cells: int | None = None) -> Iterator[tuple[Integers, Integers]]:
    """Group the segments that have tokens on both sides by size.

    Yields
    ------
    Positions of the candidates' and of the references' tokens, each (batch, most tokens); where a segment has
    fewer, `chunk.positions`. A segment that is too long for company comes alone.
    """
    candidate, reference = chunk.candidate_positions, chunk.reference_positions
    height, width = np.diff(candidate), np.diff(reference)
    ranked = np.lexsort((width, height))
    ranked = ranked[(height[ranked] > 0) & (width[ranked] > 0)]
    start = 0
    while start < len(ranked):
        widest = np.maximum.accumulate(width[ranked[start:]])
        cells = height[ranked[start:]] * widest * np.arange(1, len(widest) + 1)
        # Heights ascend, so the cells do: as many segments as fit, but at least one.
        chosen = ranked[start : start + max(1, int(np.searchsorted(cells, most_cells or BATCH_CELLS, side="right")))]
        yield (
            _padded(candidate[chosen], height[chosen], chunk.positions),
            _padded(reference[chosen], width[chosen], chunk.positions),
        )
        start += len(chosen)


def _padded(starts: Integers, lengths: Integers, padding: int) -> Integers:
    places = np.arange(lengths.max())
    return np.where(places < lengths[:, None], starts[:, None] + places, padding)


@dataclass(frozen=True)
class Tables:
    """What the n-grams of a batch may match, before anything is given out."""

    orders: list[int]
    """Orders that may match approximately."""
    pool_orders: dict[int, list[int]]
    """Of each, the orders of the pool n-grams in its columns, in pool order."""
    similarities: NDArray[np.int32]
    """In millionths, -1 where no match is allowed: (orders, segments, candidate n-grams, pool n-grams)."""
    capacity: Integers
    """Instances of the pool n-grams, in millionths: (orders, segments, pool n-grams)."""

    @property
    def columns(self) -> int:
        """Pool n-grams of each order."""
        return int(self.capacity.shape[2])

    def sweep(self, thresholds: Integers) -> Lifetimes:
        """Match at every threshold (in millionths); order o's segment s has the number o * segments + s."""
        height = self.similarities.shape[2]
        return sweep_greedily(
            self.similarities.reshape(-1, height, self.columns), self.capacity.reshape(-1, self.columns), thresholds
        )


@dataclass(frozen=True)
class BatchMatching:
    """All n-grams of a batch as one array: (order, segment, candidate n-gram, pool n-gram)."""

    matcher: SoftMatcher
    pools: list[Pool]
    candidate: Integers
    reference: Integers
    products: TokenProducts

    def run(self, matches: list[Matches]) -> None:
        """Match the batch and note what was found."""
        tables = self.tables()
        if tables is None:
            return
        batch, height = self.candidate.shape
        partner, value = assign(
            tables.similarities.reshape(-1, height, tables.columns),
            tables.capacity.reshape(-1, tables.columns),
            self.matcher,
        )
        for layer, order in enumerate(tables.orders):
            rows = slice(layer * batch, (layer + 1) * batch)
            pool_orders = np.array(tables.pool_orders[order])
            self._note(partner[rows], value[rows], order, pool_orders, matches[order - 1])

    def tables(self) -> Tables | None:
        """Similarities of all matches that are allowed, and what the pool offers; None if no match is."""
        (batch, height), width = self.candidate.shape, self.reference.shape[1]
        max_order = len(self.pools)
        soft_orders = {n: self.matcher.pool_orders(n, max_order) for n in range(1, max_order + 1)}
        orders = [order for order, soft in soft_orders.items() if soft and order <= height]
        # Columns in pool order: the starts of 1-grams, then those of 2-grams, …
        pool_orders = {n: [k for k in sorted({n, *soft_orders[n]}) if k <= width] for n in orders}
        columns = width * max(map(len, pool_orders.values()), default=0)
        if not columns:
            return None
        similarities = np.full((len(orders), batch, height, columns), -1, np.int32)
        capacity = np.zeros((len(orders), batch, columns), np.int64)
        for layer, order in enumerate(orders):
            for place, pool_order in enumerate(pool_orders[order]):
                block = slice(place * width, place * width + width - pool_order + 1)
                rows = slice(0, height - order + 1)
                capacity[layer, :, block] = self._capacity(order, pool_order)
                self._fill(similarities[layer, :, rows, block], order, pool_order, pool_order in soft_orders[order])
        return Tables(orders, pool_orders, similarities, capacity * SCALE)

    def _capacity(self, order: int, pool_order: int) -> Integers:
        return self.pools[pool_order - 1].capacity(pool_order == order)[
            self.reference[:, : self.reference.shape[1] - pool_order + 1]
        ]

    def _fill(self, block: NDArray[np.int32], order: int, pool_order: int, soft: bool) -> None:
        """Write the similarities of the matches that are allowed."""
        own = self.pools[order - 1]
        candidate = self.candidate[:, : block.shape[1]]
        allowed = own.waiting[candidate][:, :, None] & (self._capacity(order, pool_order) > 0)[:, None, :]
        if pool_order == order and self.matcher.assignment != "exact-first":
            pool_cells = own.pool_cells[self.reference[:, : block.shape[2]]]
            equal = own.cells[candidate][:, :, None] == pool_cells[:, None, :]
            block[equal] = EXACT
            allowed &= ~equal
        if not soft:
            return
        similarities = composition(self.matcher.composition).similarities(self.products, order, pool_order)
        if similarities is not None:
            millionths = to_millionths(similarities)
            allowed &= millionths > threshold_in_millionths(self.matcher.threshold)
            np.copyto(block, millionths, where=allowed)

    def _note(self, partner: Integers, value: Integers, order: int, pool_orders: Integers, matches: Matches) -> None:
        segment, row = np.nonzero(partner >= 0)
        block, place = np.divmod(partner[segment, row], self.reference.shape[1])
        found = self.pools[order - 1].index[self.candidate[segment, row]]
        matches.masses[found] = np.minimum(value[segment, row], SCALE)
        matches.partner_starts[found] = self.reference[segment, place]
        matches.partner_orders[found] = pool_orders[block]
