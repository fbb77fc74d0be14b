"""Cheapest alignments of three texts at once, and what their columns mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from softbleu.metrics.imeasure.bands import Band
from softbleu.metrics.imeasure.search import MISMATCH, MOVES, Node, Triple, find_costs

COLUMNS = 5
TRUE_POSITIVE, TRUE_NEGATIVE, FALSE_POSITIVE, FALSE_NEGATIVE, BOTH = range(COLUMNS)

AlignedColumn = tuple[tuple[int | None, ...], tuple[int, ...]]  # Places of its words, and what it counts as
_NO_WORD = -9
_MARGIN = 2


def count_alignment(triple: Triple) -> list[int]:
    """Align source, candidate and reference, and count the columns by what they say.

    The sum over all pairs of texts is least (Felice & Briscoe 2015); of several such alignments the one that the
    official program finds is taken. Counted are true positives (changed as in the reference), true negatives
    (rightly left), false positives, false negatives, and columns that are both of these.

    >>> count_alignment(((0, 1, 2), (0, 3, 2), (0, 4, 2, 5)))
    [0, 2, 1, 2, 1]
    """
    counts, ends, _ = _aligned(triple)
    counts[TRUE_NEGATIVE] += sum(ends)
    return counts


def align_columns(triple: Triple) -> list[AlignedColumn]:
    """Write out the columns that `count_alignment` counts, from left to right.

    >>> align_columns(((0, 1, 2), (0, 3, 2), (0, 4, 2, 5)))[1:]
    [((1, 1, 1), (2, 3)), ((2, 2, 2), (1,)), ((None, None, 3), (3,))]
    """
    _, (prefix, suffix), middle = _aligned(triple)
    moved = [
        (tuple(None if place is None else prefix + place for place in places), kinds) for places, kinds in middle
    ]
    before: list[Any] = [((place,) * 3, (TRUE_NEGATIVE,)) for place in range(prefix)]
    after = [(tuple(len(text) - suffix + place for text in triple), (TRUE_NEGATIVE,)) for place in range(suffix)]
    return [*before, *moved, *after]


def _aligned(triple: Triple) -> tuple[list[int], tuple[int, int], list[AlignedColumn]]:
    """Counts and columns of what lies between the common ends, and how long these are."""
    prefix, suffix = _common_ends(triple)
    # The common end is aligned with itself by the way that is taken; the common beginning mostly.
    prefix = max(0, prefix - _MARGIN)
    source, candidate, reference = (text[prefix : len(text) - suffix] for text in triple)
    found = _count((source, candidate, reference), begun=prefix > 0)
    if found is None:
        source, candidate, reference = (text[: len(text) - suffix] for text in triple)
        found, prefix = _count((source, candidate, reference), begun=False) or ([], []), 0
    return found[0], (prefix, suffix), found[1][::-1]


def _common_ends(triple: Triple) -> tuple[int, int]:
    """Count the words that all begin with, and those that what remains of all ends with."""
    suffix = 0
    for one, other, third in zip(*map(reversed, triple), strict=False):
        if not one == other == third:
            break
        suffix += 1
    prefix = 0
    for one, other, third in zip(*triple, strict=False):
        if not one == other == third:
            break
        prefix += 1
    return min(prefix, min(map(len, triple)) - suffix), suffix


def _count(triple: Triple, *, begun: bool) -> tuple[list[int], list[AlignedColumn]] | None:
    costs = find_costs(triple)
    cost_at: Callable[[Node], int | None] = Band(triple).cost if costs is None else costs.get
    return _follow(triple, cost_at, begun)


def _follow(
    triple: Triple, cost_at: Callable[[Node], int | None], begun: bool
) -> tuple[list[int], list[AlignedColumn]] | None:
    """Follow the first of equally cheap ways from the end; None where what was cut off before might matter."""
    counts = [0] * COLUMNS
    columns: list[AlignedColumn] = []
    source, candidate, reference = triple
    cell = (len(source), len(candidate), len(reference))
    here = cost_at(cell) or 0
    while any(cell):
        i, j, k = cell
        if begun and not (i and j and k):
            return None
        for (down, across, onward), gaps, meet in MOVES:
            if down > i or across > j or onward > k:
                continue
            one = source[i - 1] if down else _NO_WORD
            other = candidate[j - 1] if across else _NO_WORD
            third = reference[k - 1] if onward else _NO_WORD
            unlike = (one != other, one != third, other != third)
            before = here - gaps - MISMATCH * sum(map(bool.__and__, meet, unlike))
            cell = (i - down, j - across, k - onward)
            if cost_at(cell) == before:
                break
        kinds = _kinds_of(one, other, third)
        for kind in kinds:
            counts[kind] += 1
        places = zip(cell, (down, across, onward), strict=True)
        columns.append((tuple(place if taken else None for place, taken in places), kinds[:2]))
        here = before
    return counts, columns


def _kinds_of(source: int, candidate: int, reference: int) -> tuple[int, ...]:
    """Say what a column means; a gap is alike a gap, and unlike any word."""
    if candidate == reference:
        return (TRUE_NEGATIVE if source == candidate else TRUE_POSITIVE,)
    if source == candidate:
        return (FALSE_NEGATIVE,)
    return (FALSE_POSITIVE,) if source == reference else (FALSE_POSITIVE, FALSE_NEGATIVE, BOTH)
