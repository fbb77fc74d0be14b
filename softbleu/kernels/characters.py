"""Clipped counts of the character n-grams of two texts, by sorting short arrays."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from softbleu.types import Integers

_LONGEST = 1 << 16  # Characters
_BITS = 62  # Of a number that has the characters of an n-gram; one more bit tells the two texts apart
_ENDS = "\x80", "\x81"  # Marks of the ends of ASCII texts


@cache
def _layout(order: int) -> tuple[int, Integers, Integers]:
    """Return how many kinds of characters there may be, and the value of a character at each place of an n-gram."""
    values = 1 << (1 + _BITS // order * np.arange(order)[::-1])
    return 1 << _BITS // order, values, np.arange(order)


def clipped_counts_of_characters(candidate: str, reference: str, order: int) -> list[int] | None:
    """Count the character n-grams of a candidate found in a reference, clipped, for each order.

    The characters from each place on, as many as the greatest order has, are one number. In sorted numbers, equal
    n-grams of any order are neighbours. Returns None for texts of too many characters, or too many different ones.

    >>> clipped_counts_of_characters("aaba", "abab", 3)
    [3, 2, 1]
    """
    if not candidate or not reference:
        return [0] * order
    kinds, values, numbers = _layout(order)
    size = len(candidate) + len(reference) + 1
    text = candidate + reference
    if size > _LONGEST:
        return None
    if text.isascii() and kinds > 1 << 8:
        one, other = _ENDS
        line = np.frombuffer(f"{candidate}{one}{reference}{other * order}".encode("latin-1"), np.uint8)
        codes = line.astype(np.int64)
    else:
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        # A character's code is its first place among all characters, sorted; in long texts among the distinct ones.
        known = np.sort(points) if size + 1 < kinds else np.unique(points)
        if len(known) + 2 > kinds:
            return None
        codes, found = np.full(size + order, len(known) + 1), known.searchsorted(points)
        codes[: len(candidate)] = found[: len(candidate)]
        codes[len(candidate)] = len(known)
        codes[len(candidate) + 1 : size] = found[len(candidate) :]
    keys = np.ndarray((size, order), codes.dtype, codes, 0, codes.strides * 2) @ values
    keys[len(candidate) + 1 :] += 1
    keys.sort()
    # Neighbours are other n-grams where a character differs.
    new = np.ones((order, size), bool)
    np.greater_equal(keys[1:] ^ keys[:-1], values[:, None], out=new[:, 1:])
    (starts,) = new.ravel().nonzero()
    keys &= 1
    keys *= -2
    keys += 1
    signs = np.empty((order, size), np.int64)
    signs[:] = keys  # 1 for the candidate, -1 for the reference
    unmatched = np.abs(np.add.reduceat(signs.ravel(), starts))
    counts: list[int] = ((size - np.add.reduceat(unmatched, starts.searchsorted(numbers * size))) >> 1).tolist()
    return counts
