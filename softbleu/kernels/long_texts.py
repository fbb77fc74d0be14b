"""Clipped counts of n-grams of one very long segment, in little memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Codes = NDArray[np.int32]

_TABLE, _ENTRIES = 1 << 26, 8
"""Entries of a table of all n-grams that there may be, at most, and for each that there is; else these are sorted."""


def clipped_counts_of_long(candidate: Codes, references: Sequence[Codes], order: int) -> list[int]:
    """Count the n-grams of a candidate that are found in its references, clipped, of each order.

    The digits are those of `softbleu.kernels.numpy_backend.clipped_counts`. N-grams that the candidate lacks are
    forgotten at once.

    >>> clipped_counts_of_long(np.array([1, 1, 2, 1], np.int32), [np.array([1, 2, 1, 2], np.int32)], 3)
    [3, 2, 1]
    """
    texts = [candidate, *references]
    numbers: list[NDArray[Any]] = _numbered(texts, 1 + max(int(text.max(initial=0)) for text in texts))
    # Beyond the end of a text nothing is known.
    words = [np.append(text, np.int32(-1)) for text in numbers]
    width = 1 + int(numbers[0].max(initial=0))
    starts = [np.arange(len(text), dtype=np.int32) for text in texts]
    counts = []
    for n in range(1, order + 1):
        if n > 1:
            bound = (1 + int(numbers[0].max(initial=0))) * width
            for place, text in enumerate(words):
                last = text[starts[place] + (n - 1)]
                starts[place], numbers[place], last = _known(last >= 0, starts[place], numbers[place], last)
                numbers[place] = numbers[place].astype(np.int64)
                numbers[place] *= width
                numbers[place] += last
            numbers = _numbered(numbers, bound)
        for place, number in enumerate(numbers):
            starts[place], numbers[place] = _known(number >= 0, starts[place], number)
        own = np.bincount(numbers[0])
        best = np.zeros(len(own), np.int64)
        for number in numbers[1:]:
            np.maximum(best, np.bincount(number, minlength=len(own)), out=best)
        counts.append(int(np.minimum(own, best).sum()))
    return counts


def _known(known: NDArray[np.bool_], *arrays: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    return arrays if known.all() else tuple(each[known] for each in arrays)


def _numbered(keys: Sequence[NDArray[Any]], bound: int) -> list[NDArray[Any]]:
    """Number the keys, all below a bound, that the first text has; -1 stands for others."""
    if bound > min(_TABLE, _ENTRIES * sum(map(len, keys))):
        distinct, found = np.unique(np.concatenate(keys), return_inverse=True)
        keys, bound = np.split(found, np.cumsum([len(each) for each in keys])[:-1]), len(distinct)
    there = np.zeros(bound, bool)
    there[keys[0]] = True
    table = np.cumsum(there, dtype=np.int32)
    table[~there] = 0
    table -= 1
    return [table[each] for each in keys]
