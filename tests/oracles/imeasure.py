"""I-measure, as the paper and the official program have it: one table of all cells, fractions, no shortcut."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

MOVES = ((1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1))
Counts = tuple[int, int, int, int, int]
"""True positives, true negatives, false positives, false negatives, and both of the last."""


def column_cost(column: Sequence[str]) -> int:
    """Sum over the pairs; an empty word is a gap."""
    return sum(
        0 if column[a] == column[b] else 2 if "" in (column[a], column[b]) else 3 for a, b in ((0, 1), (0, 2), (1, 2))
    )


def columns_of(texts: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Columns of the alignment of source, candidate and reference."""
    costs = {(0, 0, 0): 0}
    ends = [len(text) for text in texts]

    def steps(cell: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[str, ...]]]:
        """The cells before, and the columns on the way."""
        for move in MOVES:
            before = tuple(place - m for m, place in zip(move, cell, strict=True))
            if min(before) >= 0:
                yield before, tuple(text[i - 1] if m else "" for text, i, m in zip(texts, cell, move, strict=True))

    cells = [(i, j, k) for i in range(ends[0] + 1) for j in range(ends[1] + 1) for k in range(ends[2] + 1)]
    for cell in cells[1:]:
        costs[cell] = min(costs[before] + column_cost(column) for before, column in steps(cell))
    columns: list[tuple[str, ...]] = []
    cell: tuple[int, ...] = tuple(ends)
    while any(cell):
        cell, column = next(step for step in steps(cell) if costs[step[0]] + column_cost(step[1]) == costs[cell])
        columns.append(column)
    return columns[::-1]


def counts_of(texts: Sequence[Sequence[str]]) -> Counts:
    """Count what the columns say."""
    right = kept = wrong = missed = both = 0
    for source, candidate, reference in columns_of(texts):
        if source == candidate:
            kept += candidate == reference
            missed += candidate != reference
        elif source == reference:
            wrong += 1
        elif candidate == reference:
            right += 1
        else:
            wrong, missed, both = wrong + 1, missed + 1, both + 1
    return right, kept, wrong, missed, both


def detection(counts: Counts) -> Counts:
    right, kept, wrong, missed, both = counts
    return right + both, kept, wrong - both, missed - both, 0


def weighted_accuracy(counts: Counts, weight: int) -> Fraction:
    right, kept, wrong, missed, both = counts
    below = weight * (right + wrong) + kept + missed - (weight + 1) * Fraction(both, 2)
    return (weight * right + kept) / Fraction(below) if below else Fraction(1)


def accuracy(counts: Counts) -> Fraction:
    right, kept, wrong, missed, both = counts
    below = right + kept + wrong + missed - both
    return Fraction(right + kept, below) if below else Fraction(1)


def improvement(counts: Counts, base: Counts, weight: int) -> Fraction:
    ours, theirs = weighted_accuracy(counts, weight), weighted_accuracy(base, weight)
    if ours == theirs:
        return Fraction(math.floor(ours))
    return (ours - theirs) / (1 - theirs) if ours > theirs else ours / theirs - 1


def best_reference(
    source: Sequence[str], candidate: Sequence[str], references: Sequence[Sequence[str]], weight: int = 2
) -> tuple[int, Counts, Counts]:
    """Number of the best reference, the candidate's counts, and those of the source as its own candidate."""
    found: list[tuple[tuple[Fraction, ...], int, Counts, Counts]] = []
    for number, reference in enumerate(references):
        counts, base = counts_of((source, candidate, reference)), counts_of((source, source, reference))
        key = tuple(
            value
            for one, other in ((counts, base), (detection(counts), detection(base)))
            for value in (weighted_accuracy(one, weight), improvement(one, other, weight), accuracy(one))
        )
        if not found or key > found[0][0]:
            found = [(key, number, counts, base)]
    _, number, counts, base = found[0]
    return number, counts, base
