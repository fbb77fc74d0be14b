"""Precision and recall of counts, and F of both, from 0 to 1."""

from __future__ import annotations


def shares_of(hits: float, wrong: float, missed: float, beta: float = 1.0) -> tuple[float, float, float]:
    """Compute F, precision and recall: what is right of what is proposed, and of what is wanted; 1 of nothing.

    `beta` is the weight of recall beside precision.

    >>> shares_of(3, 1, 3, beta=0.5), shares_of(0, 0, 2)[1:]
    ((0.6818181818181818, 0.75, 0.5), (1.0, 0.0))
    """
    precision = hits / (hits + wrong) if hits + wrong else 1.0
    recall = hits / (hits + missed) if hits + missed else 1.0
    return f_of(precision, recall, beta), precision, recall


def f_of(precision: float, recall: float, beta: float = 1.0) -> float:
    """F of precision and recall, 0 where both are; `beta` as in `shares_of`."""
    weight = beta**2
    return (1 + weight) * precision * recall / (weight * precision + recall) if precision + recall else 0.0
