"""Choosing among several references: drawn at random, or the best."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers


_NORMAL_95 = 1.959963984540054


def draw_references(counts: Integers, iterations: int, seed: int = 0) -> Integers:
    """Draw one reference a segment, `iterations` times, as the official GLEU+ program does.

    Iteration k takes the stream of Python's ``random.seed(seed + 101 * k)`` and, of a segment's R references,
    number ``int(random.random() * R)`` (what Python 2's ``randint`` did).

    Parameters
    ----------
    counts : number of references of each segment

    Returns
    -------
    Integers of shape (iterations, segments).

    Examples
    --------
    >>> draw_references(np.array([2, 2, 3, 1]), 2).tolist()
    [[1, 1, 1, 0], [1, 0, 2, 0]]
    """
    return _draw(counts.astype(np.int64).tobytes(), iterations, seed)


@lru_cache(maxsize=2)
def _draw(counts: bytes, iterations: int, seed: int) -> Integers:
    """Many systems share their references, and so their draws."""
    references = np.frombuffer(counts, np.int64)
    draws = np.empty((iterations, len(references)), np.int64)
    stream = np.random.RandomState(0)
    for k in range(iterations):
        # Seeded with a list of one number, this generator gives Python's own stream.
        stream.seed([seed + 101 * k])
        draws[k] = stream.random_sample(len(references)) * references
    draws.setflags(write=False)
    return draws


def sampled_sums(rows: Integers, offsets: Integers, draws: Integers) -> Floats:
    """Sums over the corpus of the rows that each iteration drew: (iterations, columns), exact whole numbers."""
    counts = np.diff(offsets)
    sums = np.zeros((len(draws), rows.shape[1]))
    for number in range(int(counts.max(initial=0))):
        have = np.flatnonzero(counts > number)
        chosen = (draws[:, have] == number).astype(np.float64)
        sums += chosen @ rows[offsets[have] + number].astype(np.float64)
    return sums


def best_references(scores: Floats, tie_breakers: Floats, offsets: Integers) -> Integers:
    """Row of each segment's greatest score; ties go by the first tie breaker, the next, …, then the first row."""
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    keys = (np.arange(len(scores)), *(-tie_breakers.T[::-1]), -scores, owner)
    ranked = np.lexsort(keys)
    return ranked[offsets[:-1]]


def normal_interval(mean: float, deviation: float) -> tuple[float, float]:
    """Central 95% of a normal distribution.

    >>> [round(bound, 4) for bound in normal_interval(50.0, 1.0)]
    [48.04, 51.96]
    """
    return mean - _NORMAL_95 * deviation, mean + _NORMAL_95 * deviation
