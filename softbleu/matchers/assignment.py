"""Who gets what: candidate n-grams and the pool's instances, by similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.kernels.assignment import assign_greedily
from softbleu.kernels.scale import SCALE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.matchers.matches import Rules
    from softbleu.types import Integers


EXACT = 2 * SCALE
"""Stands for an exact match among similarities: before every approximate one, even of similarity 1."""
LARGEST = 1 << 24
"""Entries of the greatest matrix that is solved optimally (134 MB)."""


def assign(similarities: NDArray[np.int32], capacity: Integers, rules: Rules) -> tuple[Integers, Integers]:
    """Give pool n-grams to candidate n-grams as the rules say.

    Parameters
    ----------
    similarities : (batch, candidate n-grams, pool n-grams) in millionths, `EXACT` for equal ones, 0 or less where no
        match is allowed; overwritten
    capacity : instances of each pool n-gram in millionths, (batch, pool n-grams)

    Returns
    -------
    Pool n-gram of each candidate n-gram, -1 for none, and the similarity of the match: (batch, candidate n-grams).
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
        if len(kept) * len(instances) > LARGEST:
            raise InputError(
                f"{len(kept)} candidate n-grams of one segment against {len(instances)} reference n-grams are "
                "too many for assignment 'optimal': split the segment, or use 'exact-first'"
            )
        gain = np.clip(weights[np.ix_(kept, instances)], 0, SCALE)
        chosen, column = linear_sum_assignment(gain, maximize=True)
        paid = gain[chosen, column] > 0
        row, column = kept[chosen[paid]], instances[column[paid]]
        partner[segment, row] = column
        value[segment, row] = weights[row, column]
    return partner, value
