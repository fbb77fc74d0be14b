"""Correlations with bootstrap intervals, and the test of the difference of two that share a variable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError, known_name
from softbleu.meta.resampling import draw_points, interval_of

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers


FEWEST_POINTS = 3  # Points a correlation needs to mean anything
FEWEST_TO_TEST = 4  # Points that Williams' test needs: it has as many degrees of freedom as there are points beyond 3
_MOST_SQUARED = 4000  # Points of which all pairs are looked at, for all samples at once


@dataclass(frozen=True)
class Correlation:
    """A correlation and its 95% interval."""

    value: float | None  # -1 to 1; None where it is not defined: one side is constant
    interval: tuple[float, float] | None
    """Between the percentiles 2.5 and 97.5 of the bootstrap samples; None where most samples have none."""


@dataclass(frozen=True)
class WilliamsTest:
    """How likely a correlation with people is greater by chance than another one with the same people."""

    t: float
    """Of Student's distribution with n - 3 degrees of freedom; positive where the first correlation is greater."""
    p_value: float  # One-sided, for the greater of both


def correlate(
    one: Floats, other: Floats, coefficient: str = "pearson", samples: int = 1000, seed: int = 12345
) -> Correlation:
    """Correlate two columns of numbers, with an interval from samples of the points, drawn with replacement.

    Samples of which one side is constant are left out; without samples there is no interval. The same seed draws the
    same points for every pair of columns.

    >>> correlate(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]), "spearman", samples=0)
    Correlation(value=0.8, interval=None)
    >>> correlate(np.array([1.0, 1.0, 1.0]), np.array([1.0, 3.0, 2.0]))
    Correlation(value=None, interval=None)
    """
    coefficient = known_name("coefficient", coefficient, COEFFICIENTS)
    if len(one) != len(other):
        raise InputError(f"{len(one)} scores cannot be correlated with {len(other)}")
    if len(one) < FEWEST_POINTS:
        raise InputError(f"a correlation needs {FEWEST_POINTS} points or more, here are {len(one)}")
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return Correlation(None, None)
    # Rounded, for a hair beyond 1 is noise, and so is .8000000000000001.
    value = round(float(COEFFICIENTS[coefficient](one, other, np.arange(len(one))[None])[0]), 14)
    if not samples:
        return Correlation(value, None)
    found: list[float] = []
    for drawn in draw_points(len(one), samples, seed):
        varied = (np.ptp(one[drawn], axis=1) > 0) & (np.ptp(other[drawn], axis=1) > 0)
        found += COEFFICIENTS[coefficient](one, other, drawn[varied]).tolist()
    return Correlation(value, interval_of(found, samples))


def williams(first: float, second: float, between: float, points: int) -> WilliamsTest:
    """Test the difference of two correlations with the same variable (Williams 1959; Steiger 1980, equation 7).

    InputError: fewer than 4 points.

    `first` and `second` are of either metric with people, `between` is of both with each other.

    >>> test = williams(0.4, 0.5, 0.1, 103)
    >>> round(test.t, 3), round(test.p_value, 3)
    (-0.891, 0.187)
    """
    from scipy.stats import t as student

    if points < FEWEST_TO_TEST:
        raise InputError(f"Williams' test needs {FEWEST_TO_TEST} points or more, here are {points}")
    if first == second:
        return WilliamsTest(0.0, 0.5)
    determinant = max(0.0, 1 - first**2 - second**2 - between**2 + 2 * first * second * between)
    middle = ((first + second) / 2) ** 2 * (1 - between) ** 3
    below = 2 * (points - 1) / (points - 3) * determinant + middle
    above = (first - second) ** 2 * (points - 1) * (1 + between)
    t = float(np.copysign(np.sqrt(above / below) if below > 0 else np.inf, first - second))
    return WilliamsTest(t, float(student.sf(abs(t), points - 3)))


def _pearson(one: Floats, other: Floats, drawn: Integers) -> Floats:
    return _product_moment(one[drawn], other[drawn])


def _spearman(one: Floats, other: Floats, drawn: Integers) -> Floats:
    from scipy.stats import rankdata

    return _product_moment(rankdata(one[drawn], axis=1), rankdata(other[drawn], axis=1))


def _product_moment(one: Floats, other: Floats) -> Floats:
    one = one - one.mean(axis=1, keepdims=True)
    other = other - other.mean(axis=1, keepdims=True)
    scale: Floats = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    found: Floats = (one * other).sum(axis=1) / scale
    return found


def _kendall(one: Floats, other: Floats, drawn: Integers) -> Floats:
    """Tau-b of each sample: how often a point was drawn weighs the pairs that it is in."""
    points = len(one)
    if points > _MOST_SQUARED:
        from scipy.stats import kendalltau

        return np.array([kendalltau(one[each], other[each]).statistic for each in drawn], np.float64)
    offsets = np.arange(len(drawn))[:, None] * points
    weights = np.bincount((drawn + offsets).reshape(-1), minlength=offsets.size * points)
    weights = weights.reshape(-1, points).astype(np.float64)
    signs = [np.sign(column[:, None] - column[None]) for column in (one, other)]

    def weigh(pairs: Floats) -> Floats:
        sums: Floats = np.einsum("sp,sp->s", weights @ pairs, weights)
        return sums

    untied = weigh(np.abs(signs[0])) * weigh(np.abs(signs[1]))
    found: Floats = weigh(signs[0] * signs[1]) / np.sqrt(untied)
    return found


# Of two columns in samples of their points, (samples, points): one number a sample
COEFFICIENTS: dict[str, Callable[[Floats, Floats, Integers], Floats]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
}
