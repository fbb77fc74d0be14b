"""Who gets what: candidate n-grams and the pool's instances, by similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.io.limits import Limit
from softbleu.kernels.assignment import assign_greedily
from softbleu.kernels.scale import SCALE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.matching.matches import Rules
    from softbleu.types import Integers

EXACT = 2 * SCALE  # Stands for an exact match among similarities: before every approximate one, even of similarity 1
OPTIMAL = Limit(
    "assignment 'optimal'",
    "pairs of n-grams that may match",
    1 << 25,
    "a document of 3,000 words, at threshold 0.8: 100,000",
    "raise the threshold, or use 'exact-first'",
)
"""Of one order in one segment (2 GB)."""


def assign(similarities: NDArray[np.int32], capacity: Integers, rules: Rules) -> tuple[Integers, Integers]:
    """Give pool n-grams to candidate n-grams as the rules say.

    `similarities`, (batch, candidate n-grams, pool n-grams), are in millionths, `EXACT` for equal n-grams, 0 or less
    where no match is allowed, and overwritten; `capacity`, (batch, pool n-grams), is in millionths of an instance.
    Found are the pool n-gram of each candidate n-gram, -1 for none, and the similarity of that match.
    """
    if rules.assignment == "optimal":
        similarities[similarities <= rules.threshold] = 0
        return _assign_optimally(similarities, capacity)
    unit = SCALE if rules.consumption == "unit" else 0
    return assign_greedily(similarities, capacity, unit, rules.threshold)


def consumed(similarities: Integers, rules: Rules) -> Integers:
    """What matches of such similarities take from the pool, in millionths of an instance."""
    if rules.consumption == "unit":
        return np.full(len(similarities), SCALE)
    return np.minimum(similarities, SCALE)


def _assign_optimally(similarities: NDArray[np.int32], capacity: Integers) -> tuple[Integers, Integers]:
    from scipy.optimize import linear_sum_assignment

    batch, rows, _ = similarities.shape
    partner = np.full((batch, rows), -1)
    value = np.zeros((batch, rows), np.int64)
    for segment, weights in enumerate(similarities):
        kept = np.flatnonzero((weights > 0).any(axis=1))
        useful = np.flatnonzero((weights > 0).any(axis=0))
        # No column can serve more rows than there are.
        instances = np.repeat(useful, np.minimum(capacity[segment, useful] // SCALE, len(kept)))
        size = len(kept) * len(instances)
        OPTIMAL.check(size, f"a group of {len(kept):,} candidate and {len(instances):,} reference n-grams")
        gain = np.clip(weights[np.ix_(kept, instances)], 0, SCALE)
        chosen, column = linear_sum_assignment(gain, maximize=True)
        paid = gain[chosen, column] > 0
        row, column = kept[chosen[paid]], instances[column[paid]]
        partner[segment, row] = column
        value[segment, row] = weights[row, column]
    return partner, value


def assign_links(
    rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], capacity: Integers, height: int
) -> tuple[Integers, Integers]:
    """Match by the greatest total what few pairs link: each group that hangs together by itself; as `assign` does.

    Each pair that may match has a candidate n-gram, of which there are `height`, a pool n-gram and a similarity.

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
    for some in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        own, row = np.unique(rows[some], return_inverse=True)
        others, column = np.unique(columns[some], return_inverse=True)
        OPTIMAL.check(
            len(own) * len(others), f"a group of {len(own):,} candidate and {len(others):,} reference n-grams"
        )
        weights = np.zeros((1, len(own), len(others)), np.int32)
        weights[0, row, column] = values[some]
        chosen, value[own] = (each[0] for each in _assign_optimally(weights, capacity[None, others]))
        partner[own] = np.where(chosen >= 0, others[chosen], -1)
    return partner, value
