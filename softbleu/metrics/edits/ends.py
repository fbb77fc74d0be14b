"""Words that texts have in common at both ends: what was changed lies between."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def common_ends(*texts: Sequence[object]) -> tuple[int, int]:
    """Count the words that all texts begin with, and those that the rest of all ends with.

    >>> common_ends((1, 2, 3, 4), (1, 2, 4))
    (2, 1)
    """
    start = _equal(zip(*texts, strict=False))
    return start, _equal(zip(*(reversed(text[start:]) for text in texts), strict=False))


def _equal(columns: Iterable[tuple[object, ...]]) -> int:
    """Count the columns before the first whose words differ."""
    count = 0
    for column in columns:
        if column.count(column[0]) < len(column):
            break
        count += 1
    return count
