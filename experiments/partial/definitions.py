"""Definitions of the beginning of a reference that an unfinished candidate has come to, written out one by one.

A definition gives for every prefix of a candidate, in words, how many words of the reference stand beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

Ends = NDArray[np.int64]
Table = NDArray[np.float64]
"""(candidate words, reference words): 1 for equal words, or similarities."""


def aligned(equal: Table, tie: str, substitution: float = 1.0) -> Ends:
    """Find the prefix with the least edit cost to each prefix of a candidate; a substitution costs 1 - similarity.

    `tie` says which of equal costs counts: the `longest`, the `shortest`, or the `nearest` to the candidate's length.
    """
    height, width = equal.shape
    steps = np.arange(width + 1)
    costs = np.round(1_000_000 * substitution * (1 - np.clip(equal, 0, 1))).astype(np.int64)
    row, ends = steps * 1_000_000, np.zeros(height, np.int64)
    for place in range(height):
        last, row = row, row + 1_000_000
        row[1:] = np.minimum(row[1:], last[:-1] + costs[place])
        row = np.minimum.accumulate(row - steps * 1_000_000) + steps * 1_000_000
        found = np.flatnonzero(row == row.min())
        if tie == "nearest":
            found = found[np.argsort(np.abs(found - (place + 1)), kind="stable")]
        ends[place] = found[-1 if tie == "longest" else 0]
    return ends


def unordered(equal: Table, dice: bool = False) -> Ends:
    """Find the prefix with the least cost whatever the order: words on the longer side less equal words.

    The k-th of equal words of a candidate meets the k-th of the reference. `dice` takes the greatest share of equal
    words on both sides instead.
    """
    height, width = equal.shape
    steps, met, ends = np.arange(width + 1), np.zeros(width + 1), np.zeros(height, np.int64)
    for place in range(height):
        before = (
            int((equal[:place] == 1).all(axis=1).sum())
            if not width
            else int(sum(np.array_equal(equal[other], equal[place]) for other in range(place)))
        )
        places = np.flatnonzero(equal[place] == 1)
        if before < len(places):
            met[places[before] + 1 :] += 1
        costs = -2 * met / (place + 1 + steps) if dice else np.maximum(place + 1, steps) - met
        ends[place] = np.flatnonzero(costs == costs.min())[-1]
    return ends


def same_number(equal: Table) -> Ends:
    """Take as many words of the reference as the candidate has."""
    height, width = equal.shape
    return np.minimum(np.arange(1, height + 1), width)


def scaled(equal: Table) -> Ends:
    """Take the same share of the reference as of the whole candidate, which nobody knows before its end."""
    height, width = equal.shape
    return np.round(np.arange(1, height + 1) * width / max(height, 1)).astype(np.int64)


DEFINITIONS: Mapping[str, Callable[[Table], Ends]] = {
    "edits, longest": lambda equal: aligned(equal, "longest"),
    "edits, nearest": lambda equal: aligned(equal, "nearest"),
    "edits, shortest": lambda equal: aligned(equal, "shortest"),
    "no substitutions": lambda equal: aligned(equal, "longest", 2.0),
    "any order": unordered,
    "any order, Dice": lambda equal: unordered(equal, dice=True),
    "same number": same_number,
    "scaled": scaled,
}
