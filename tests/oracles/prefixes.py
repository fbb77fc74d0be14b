"""How much of a reference an unfinished candidate has come to: every prefix is tried, and every edit."""

from collections.abc import Sequence
from functools import cache


def edits(one: Sequence[object], other: Sequence[object]) -> int:
    """Fewest insertions, deletions and substitutions."""

    @cache
    def rest(i: int, j: int) -> int:
        if i == len(one) or j == len(other):
            return len(one) - i + len(other) - j
        return min(rest(i + 1, j) + 1, rest(i, j + 1) + 1, rest(i + 1, j + 1) + (one[i] != other[j]))

    return rest(0, 0)


def reached(candidate: Sequence[object], reference: Sequence[object]) -> int:
    """Length of the longest of the prefixes with the fewest edits."""
    ends = range(len(reference) + 1)
    return max(ends, key=lambda end: (-edits(candidate, reference[:end]), end))
