"""Neighbours as the definition reads: every pair compared, one after another, with exact sums.

Imports nothing from softbleu, so that agreement between the two means something.
"""

import math
from collections.abc import Sequence

import numpy as np

Found = list[tuple[int, float]]


def unit(row: Sequence[float]) -> list[float]:
    """The row at unit length, rounded to single precision; an all-zero row as it is."""
    length = math.sqrt(math.fsum(value * value for value in row))
    return [float(np.float32(value / length)) if length else 0.0 for value in row]


def ranking(query: Sequence[float], rows: Sequence[Sequence[float]]) -> Found:
    """All rows but all-zero ones, and their cosines in single precision; nearest first, ties by number."""
    if not any(query):
        return []
    one = unit(query)
    cosines = [
        (number, float(np.float32(math.fsum(a * b for a, b in zip(one, unit(row), strict=True)))))
        for number, row in enumerate(rows)
        if any(row)
    ]
    return sorted(cosines, key=lambda pair: (-pair[1], pair[0]))


def nearest(query: Sequence[float], rows: Sequence[Sequence[float]], count: int, own: int = -1) -> Found:
    return [pair for pair in ranking(query, rows) if pair[0] != own][:count]


def above(query: Sequence[float], rows: Sequence[Sequence[float]], threshold: float, own: int = -1) -> Found:
    limit = float(np.float32(threshold))
    return [pair for pair in ranking(query, rows) if pair[0] != own and pair[1] > limit]
