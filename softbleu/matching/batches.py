"""Batches: candidates of about one size, as one array: what their n-grams may match, and who gets what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.io.limits import Limit
from softbleu.kernels import Kernels
from softbleu.kernels.assignment import Intervals, assign_greedily
from softbleu.kernels.scale import SCALE
from softbleu.matching.matches import Matches, Rules
from softbleu.matching.ngrams import Chunk, Ngrams
from softbleu.matching.similarity import TokenProducts, UnitVectors, Vectors, round_millionths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.types import Flags, Floats, Integers

BATCH_CELLS = 1 << 15  # Entries of a batch's token-by-token matrices: small enough to stay in the cache
LONG_CELLS = 1 << 21  # A segment with a greater matrix is matched by itself, a stripe at a time
EXACT = 2 * SCALE  # Stands for an exact match among similarities: before every approximate one, even of similarity 1
OPTIMAL = Limit(
    "assignment 'optimal'",
    "pairs of n-grams that may match",
    1 << 25,
    "a document of 3,000 words, at threshold 0.8: 100,000",
    "raise the threshold, or use 'exact-first'",
)
"""Of one order in one segment (2 GB)."""


@dataclass(frozen=True)
class Batch:
    """Candidates of about one size, and the references of their segments."""

    systems: Integers  # System of each candidate
    lines: Integers  # Line of each candidate
    candidate: Integers  # Positions of the candidates' tokens: (batch, most tokens), padded with the chunk's size
    reference: Integers  # Positions of the references' tokens, likewise

    @property
    def is_long(self) -> bool:
        """Whether it is a single candidate whose token-by-token matrix is too large to be made at once."""
        return bool(self.candidate.shape[1] * self.reference.shape[1] > LONG_CELLS)


def batches(chunk: Chunk, most_cells: int | None = None) -> Iterator[Batch]:
    """Group the candidates of a chunk that have tokens on both sides by size; a long one is a batch of its own.

    A batch has at most `most_cells` pairs of tokens, or one candidate.
    """
    candidate, reference = chunk.candidates.offsets, chunk.reference_positions
    height, width = candidate[1:] - candidate[:-1], np.tile(reference[1:] - reference[:-1], chunk.systems)
    ranked = np.lexsort((height, width))
    ranked = ranked[(height[ranked] > 0) & (width[ranked] > 0)]
    start, most = 0, most_cells or BATCH_CELLS
    while start < len(ranked):
        # Widths ascend, so the cells do: as many candidates as fit, but at least one.
        some = ranked[start : start + most]
        cells = np.maximum.accumulate(height[some]) * width[some] * np.arange(1, len(some) + 1)
        lines = some[: max(1, int(np.searchsorted(cells, most, side="right")))]
        systems, segments = np.divmod(lines, len(chunk))
        yield Batch(
            systems,
            lines,
            _padded(candidate[lines], height[lines], chunk.size),
            _padded(reference[segments], width[lines], chunk.size),
        )
        start += len(lines)


def _padded(starts: Integers, lengths: Integers, padding: int) -> Integers:
    places = np.arange(lengths.max())
    return np.where(places < lengths[:, None], starts[:, None] + places, padding)


@dataclass(frozen=True)
class WeighedText:
    """A chunk's tokens as vectors: what the similarity of its n-grams follows from."""

    vectors: UnitVectors
    rows: Integers  # Row of the vectors of each position, and any for padding
    norms: list[Floats]  # 1 / norm of the n-gram that starts at each position, n = 1, 2, …; 0 for padding

    @classmethod
    def of(cls, chunk: Chunk, vectors: Vectors, by_frequency: bool, order: int) -> WeighedText:
        """Look up the vectors of a chunk."""
        unit_vectors, rows = vectors.unit(chunk, by_frequency=by_frequency)
        return cls(unit_vectors, np.append(rows, 0), unit_vectors.text_norms(rows, order))

    def products(self, batch: Batch) -> TokenProducts:
        """Products of the tokens of a batch."""
        cross, plain = self.vectors.products(self.rows[batch.candidate], self.rows[batch.reference])
        return TokenProducts(cross, plain, self._norms(batch.candidate), self._norms(batch.reference))

    def _norms(self, places: Integers) -> list[Floats]:
        width = places.shape[1]
        return [norms[places[:, : width - n]] for n, norms in enumerate(self.norms[:width])]


@dataclass(frozen=True)
class Pool:
    """Clipped counts of references' n-grams, of one order, spread over a chunk's positions and one for padding."""

    ngrams: Ngrams
    index: Integers  # Number of the candidate n-gram that starts here, -1 for none
    waiting: Flags  # Whether a candidate n-gram starts here that is still to be matched
    pool_index: Integers  # Number of the pool n-gram that starts here, that of none being the last
    counts: Integers  # Count of each pool n-gram, and 0 for none
    left: Integers
    """Counts less the exact matches of each system, (systems, pool n-grams and none); the counts themselves
    unless exact matches come first."""

    @classmethod
    def of(cls, ngrams: Ngrams, chunk: Chunk, rules: Rules) -> Pool:
        """Spread the n-grams of a chunk."""
        starts, pool_starts, size = ngrams.starts, ngrams.pool_starts, chunk.size + 1
        index, pool_index, waiting = np.full(size, -1), np.full(size, len(pool_starts)), np.zeros(size, bool)
        index[starts], pool_index[pool_starts] = np.arange(len(starts)), np.arange(len(pool_starts))
        waiting[starts] = ~ngrams.exact if rules.exact_first else True
        counts, left = (np.zeros((*systems, len(pool_starts) + 1), np.int64) for systems in ((), (chunk.systems,)))
        counts[:-1] = ngrams.capacity
        left[:, :-1] = ngrams.left(chunk.systems) if rules.exact_first else ngrams.capacity
        return cls(ngrams, index, waiting, pool_index, counts, left)

    def capacity(self, less_exact: bool, systems: Integers, starts: Integers) -> Integers:
        """Count the instances of pool n-grams that begin at `starts`, (batch, starts), for candidates of `systems`.

        With `less_exact` those that exact matches take are subtracted.
        """
        numbers = self.pool_index[starts]
        return self.left[systems[:, None], numbers] if less_exact else self.counts[numbers]

    def equal(self, candidate: Integers, reference: Integers) -> Flags:
        """Whether n-grams at two positions are equal: (batch, candidate starts, reference starts)."""
        ids = np.append(self.ngrams.ids, -1)[self.index[candidate]]
        pool_ids = np.append(self.ngrams.pool_ids, -2)[self.pool_index[reference]]
        same: Flags = ids[:, :, None] == pool_ids[:, None, :]
        return same

    def start(self, order: int, rules: Rules) -> Matches:
        """Make the matches of an order that precede approximate ones: exact ones, if the rules match these first."""
        if rules.exact_first or not rules.pool_orders[order - 1]:
            return Matches.exact(self.ngrams, order)
        return Matches.none(self.ngrams)


@dataclass(frozen=True)
class Tables:
    """Similarities of the n-grams of a batch and capacities of the pool n-grams, before any match is made."""

    orders: list[int]  # Orders that may match approximately
    pool_orders: list[list[int]]  # Of each, the orders of the pool n-grams in its columns, in pool order
    similarities: NDArray[np.int32]
    """In millionths, `EXACT` for equal n-grams, 0 or less where no match is allowed.

    The shape is (orders, batch, candidate n-grams, pool n-grams)."""
    capacity: Integers  # Instances of the pool n-grams, in millionths: (orders, batch, pool n-grams)

    @property
    def columns(self) -> int:
        """Pool n-grams of each order."""
        return int(self.capacity.shape[2])

    def assign(self, rules: Rules) -> tuple[Integers, Integers]:
        """Give pool n-grams to candidate n-grams by the rules; order o's candidate s has the number o * batch + s.

        Found are the pool n-gram of each candidate n-gram, -1 for none, and the similarity of that match.
        Similarities are overwritten.
        """
        similarities, capacity = self._stacked()
        if rules.assignment == "optimal":
            similarities[similarities <= rules.threshold] = 0
            return _assign_optimally(similarities, capacity)
        return assign_greedily(similarities, capacity, rules.unit, rules.threshold)

    def sweep(self, thresholds: Integers, kernels: Kernels) -> Intervals:
        """Match at every threshold (in millionths) by `kernels`; candidates are numbered as `assign` does."""
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

    def note(self, tables: Tables, partner: Integers, value: Integers, matches: list[Matches]) -> None:
        """Write into `matches`, order by order, the matches that `Tables.assign` made.

        `partner` has the pool n-gram of each candidate n-gram, -1 for none, `value` the similarity in millionths:
        (batch, candidate n-grams).
        """
        row, start = np.nonzero(partner >= 0)
        layer, line = np.divmod(row, len(self.batch.lines))
        block, place = np.divmod(partner[row, start], self.batch.reference.shape[1])
        positions, partners = self.batch.candidate[line, start], self.batch.reference[line, place]
        values = np.minimum(value[row, start], SCALE)
        bounds = pairwise(np.searchsorted(layer, np.arange(len(tables.orders) + 1)).tolist())
        for order, pool_orders, ends in zip(tables.orders, tables.pool_orders, bounds, strict=True):
            some, made = slice(*ends), matches[order - 1]
            entries = self.pools[order - 1].index[positions[some]]
            made.matched[entries] = values[some]
            made.partner_starts[entries] = partners[some]
            made.partner_orders[entries] = np.array(pool_orders)[block[some]]

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
        pool = self.pools[order - 1]
        candidate = self.batch.candidate[:, : block.shape[1]]
        if pool_order in self.rules.pool_orders[order - 1]:
            rows, columns = pool.waiting[candidate].astype(np.float64), np.where(offered > 0, float(SCALE), 0.0)
            similarities = self.rules.composition.similarities(self.products, order, pool_order, rows, columns)
            if similarities is not None:
                block[...] = round_millionths(similarities)
        if pool_order == order and self.rules.equal_is_one and not self.rules.exact_first:
            block[pool.equal(candidate, self.batch.reference[:, : block.shape[2]])] = EXACT


def _assign_optimally(similarities: NDArray[np.int32], capacity: Integers) -> tuple[Integers, Integers]:
    from scipy.optimize import linear_sum_assignment

    batch, rows, _ = similarities.shape
    partner = np.full((batch, rows), -1)
    value = np.zeros((batch, rows), np.int64)
    for segment, weights in enumerate(similarities):
        matchable = np.flatnonzero((weights > 0).any(axis=1))
        useful = np.flatnonzero((weights > 0).any(axis=0))
        # No column can serve more rows than there are.
        instances = np.repeat(useful, np.minimum(capacity[segment, useful] // SCALE, len(matchable)))
        size = len(matchable) * len(instances)
        OPTIMAL.check(size, f"a group of {len(matchable):,} candidate and {len(instances):,} reference n-grams")
        gain = np.clip(weights[np.ix_(matchable, instances)], 0, SCALE)
        chosen, column = linear_sum_assignment(gain, maximize=True)
        paid = gain[chosen, column] > 0
        row, column = matchable[chosen[paid]], instances[column[paid]]
        partner[segment, row] = column
        value[segment, row] = weights[row, column]
    return partner, value


def assign_links(
    rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], capacity: Integers, height: int
) -> tuple[Integers, Integers]:
    """Match the few pairs that may match at all by the greatest total, each connected group by itself.

    Each pair that may match has a candidate n-gram, of which there are `height`, a pool n-gram and a similarity.

    Pair i has candidate n-gram ``rows[i]``, pool n-gram ``columns[i]`` and similarity ``values[i]``; `capacity`,
    (pool n-grams,), is in millionths of an instance.

    >>> links = np.array([0, 1, 1]), np.array([0, 0, 2]), np.array([900_000, 800_000, 700_000])
    >>> assign_links(*links, np.full(3, SCALE), 3)
    (array([ 0,  2, -1]), array([900000, 700000,      0]))
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes = height + len(capacity)
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns + height)), shape=(nodes, nodes))
    group = connected_components(graph, directed=False)[1][rows]
    order = np.argsort(group, kind="stable")
    partner, value = np.full(height, -1), np.zeros(height, np.int64)
    row_of, column_of = np.zeros(height, np.int32), np.zeros(len(capacity), np.int32)  # In a group
    for some in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        taken, others = np.unique(rows[some]), np.unique(columns[some])
        row_of[taken], column_of[others] = np.arange(len(taken)), np.arange(len(others))
        OPTIMAL.check(
            len(taken) * len(others), f"a group of {len(taken):,} candidate and {len(others):,} reference n-grams"
        )
        weights = np.zeros((1, len(taken), len(others)), np.int32)
        weights[0, row_of[rows[some]], column_of[columns[some]]] = values[some]
        chosen, value[taken] = (first[0] for first in _assign_optimally(weights, capacity[None, others]))
        partner[taken] = np.where(chosen >= 0, others[chosen], -1)
    return partner, value
