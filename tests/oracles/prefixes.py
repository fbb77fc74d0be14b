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


def reached_by_characters(candidate: Sequence[str], reference: Sequence[str], behind: str = "") -> int:
    """Length of the longest prefix with the fewest edits of characters; `behind` each word stands a text."""
    ends = range(len(reference) + 1)
    text, texts = "".join(word + behind for word in candidate), [word + behind for word in reference]
    return max(ends, key=lambda end: (-edits(text, "".join(texts[:end])), end))
