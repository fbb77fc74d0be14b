"""Giving pool n-grams to candidate n-grams at many thresholds, compiled by numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from softbleu.kernels.assignment import Intervals
from softbleu.kernels.compiled import kernel, part
from softbleu.kernels.scale import SCALE

if TYPE_CHECKING:
    from softbleu.types import Integers


def sweep_greedily(similarities: NDArray[np.int32], capacity: Integers, thresholds: Integers) -> Intervals:
    """Do what `softbleu.kernels.assignment.sweep_greedily` does; its entries may come in another order."""
    made, count = _sweep(np.ascontiguousarray(similarities), capacity, thresholds)
    return Intervals(*made[:, :count])


@kernel
def _sweep(similarities, capacity, thresholds):  # type: ignore[no-untyped-def]
    """Serve the rows at the lowest threshold; then let the least similar match fall away, again and again."""
    batch, rows = similarities.shape[:2]
    made, count = np.empty((6, 64 + 4 * batch * rows), np.int64), 0
    partner, value, since = np.empty(rows, np.int64), np.empty(rows, np.int64), np.empty(rows, np.int64)
    for segment in range(batch):
        table = similarities[segment]
        _serve(table, capacity[segment], thresholds[0], partner, value)
        since[:] = 0
        while True:
            # Nothing is noted more often in a round than there are rows.
            made = _with_room(made, count, rows)
            least = _least_similar(value)
            if least < 0 or value[least] > thresholds[-1]:
                break
            level, free = value[least], partner[least]
            now = np.searchsorted(thresholds, level)
            count = _note(made, count, segment, least, partner, value, since, now)
            partner[least], value[least] = -1, 0
            # Its instance goes to the first row further right that likes it better, whose own goes on likewise.
            for row in range(least + 1, rows):
                offered = table[row, free]
                better = offered > value[row] or (offered == value[row] and free < partner[row])
                if better and offered > level:
                    count = _note(made, count, segment, row, partner, value, since, now)
                    free, partner[row] = partner[row], free
                    value[row], since[row] = offered, now
                    if free < 0:
                        break
        for row in range(rows):
            count = _note(made, count, segment, row, partner, value, since, len(thresholds))
    return made, count


@part
def _serve(table, capacity, threshold, partner, value):  # type: ignore[no-untyped-def]
    """Give each row, left to right, its most similar column that is left, the leftmost of equal ones."""
    left = capacity.copy()
    for row in range(len(table)):
        best, most = -1, threshold
        for column in range(len(left)):
            if table[row, column] > most and left[column] > 0:
                best, most = column, table[row, column]
        partner[row], value[row] = best, 0
        if best >= 0:
            left[best] -= SCALE
            value[row] = most


@part
def _least_similar(value):  # type: ignore[no-untyped-def]
    """Row of the least similar match, the leftmost of equal ones; -1 if there is none."""
    least = -1
    for row in range(len(value)):
        if value[row] > 0 and (least < 0 or value[row] < value[least]):
            least = row
    return least


@part
def _with_room(made, count, more):  # type: ignore[no-untyped-def]
    """Return the same entries with space for more."""
    if count + more <= made.shape[1]:
        return made
    grown = np.empty((6, 2 * made.shape[1] + more), np.int64)
    grown[:, :count] = made[:, :count]
    return grown


@part
def _note(made, count, segment, row, partner, value, since, now):  # type: ignore[no-untyped-def]
    """Note the match of a row that ends now, if there was one at any threshold."""
    if value[row] <= 0 or since[row] >= now:
        return count
    made[0, count] = segment
    made[1, count] = row
    made[2, count] = partner[row]
    made[3, count] = value[row]
    made[4, count] = since[row]
    made[5, count] = now
    return count + 1
