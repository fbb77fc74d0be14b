"""The bootstrap and its intervals; correlations, and the test of the difference of two that share a variable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError, known_name

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

MOST_SAMPLES = 100_000
INTERVAL = (2.5, 97.5)  # Percentiles
_AT_ONCE = 1 << 19  # Points of samples that are looked at together
_NOISE = 1e-12  # Differences that are no greater are none


def check_samples(samples: int, seed: int) -> None:
    """Raise InputError if so many samples cannot be drawn, or not with this seed."""
    if not 1 <= samples <= MOST_SAMPLES:
        raise InputError(f"the number of samples must lie between 1 and {MOST_SAMPLES:,}, not {samples:,}")
    if seed < 0:
        raise InputError(f"the seed must be at least 0, not {seed}")


def divide(above: Floats | Integers, below: Floats | Integers) -> Floats:
    """Divide arrays number by number, `above` by `below`; NaN where the divisor is not positive."""
    shares: Floats = np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > 0)
    return shares


def draw_batches(things: int, samples: int, seed: int, rows: int | None = None) -> Iterator[Integers]:
    """How often each thing is drawn in samples of as many: (samples, things), some samples at a time.

    Which are together makes no difference; as many are as go with so many rows. There may be 0 samples.

    Parameters
    ----------
    things
        How many there are.
    samples, seed
        How many samples, and the seed of the draws.
    rows
        How many rows go with the things, where these are more.
    """
    check_samples(samples or 1, seed)
    generator = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // max(things, rows or 0))
    for start in range(0, samples, step):
        size = min(step, samples - start)
        drawn = generator.integers(things, size=(size, things)) + np.arange(size)[:, None] * things
        yield np.bincount(drawn.reshape(-1), minlength=size * things).reshape(size, things)


def draw_counts(things: int, samples: int, seed: int) -> Iterator[Integers]:
    """Count how often each of so many things is drawn, a sample at a time, by a generator of that `seed`."""
    return chain.from_iterable(draw_batches(things, samples, seed))


def redraw(kinds: Integers, size: int, clusters: Integers, samples: int, seed: int) -> Floats:
    """Count what is of each kind, 0 to size - 1, in samples of whole clusters: (samples, size).

    Parameters
    ----------
    kinds
        Kind of each row, (rows,).
    size
        How many kinds there are.
    clusters
        Number of what each row is drawn with, (rows,).
    samples, seed
        How many samples, and the seed of the draws.
    """
    places, numbers = np.unique(clusters, return_inverse=True)
    keys, counted = np.unique(numbers * size + kinds, return_counts=True)
    cluster, kind = np.divmod(keys, size)
    drawn = [np.bincount(kind, counts[cluster] * counted, size) for counts in draw_counts(len(places), samples, seed)]
    return np.array(drawn, np.float64).reshape(samples, size)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number, and what it is in samples of what is drawn together."""

    value: float | None  # None where it is not defined, as a correlation of which one side is constant
    drawn: Floats = field(repr=False)  # Of each sample; NaN where it is not defined

    @property
    def interval(self) -> tuple[float, float] | None:
        """Between the percentiles 2.5 and 97.5 of the samples; None where most of them have nothing."""
        known = self.drawn[~np.isnan(self.drawn)]
        if not len(known) or 2 * len(known) < len(self.drawn):
            return None
        low, high = np.percentile(known, INTERVAL)
        return float(low), float(high)

    @property
    def cells(self) -> tuple[float | None, float | None, float | None]:
        """The number and the ends of its interval, None where there is none."""
        return self.value, *(self.interval or (None, None))


@dataclass(frozen=True, eq=False)
class Difference(Estimate):
    """How much one number exceeds another of the same samples."""

    p_value: float | None  # Two-sided; None where most samples have nothing


def difference(one: Estimate, other: Estimate) -> Difference:
    """Compare two numbers sample by sample.

    p is twice the share of samples in which the difference is not of its sign, one added above and below, so that it
    is below .05 where the interval leaves 0 out.

    >>> one, other = (Estimate(value, np.full(99, value)) for value in (0.75, 0.5))
    >>> difference(one, other).interval, difference(one, other)
    ((0.25, 0.25), Difference(value=0.25, p_value=0.02))
    """
    if one.value is None or other.value is None:
        raise InputError("what is not defined cannot be compared")
    apart = one.drawn - other.drawn
    least, known = min((apart <= _NOISE).sum(), (apart >= -_NOISE).sum()), (~np.isnan(apart)).sum()
    value = Difference(one.value - other.value, apart, min(1.0, 2 * (int(least) + 1) / (int(known) + 1)))
    return value if value.interval is not None else replace(value, p_value=None)


FEWEST_POINTS = 3  # Points a correlation needs to mean anything
FEWEST_TO_TEST = 4  # Points that Williams' test needs: it has as many degrees of freedom as there are points beyond 3
_MOST_SQUARED = 3000  # Clusters of which all pairs are summed, for all samples at once


@dataclass(frozen=True)
class WilliamsTest:
    """How likely two correlations with the same judges differ so much by chance."""

    t: float
    """Of Student's distribution with n - 3 degrees of freedom; positive where the first correlation is greater."""
    p_value: float  # Two-sided


def correlate(
    one: Floats,
    other: Floats,
    coefficient: str = "pearson",
    samples: int = 1000,
    seed: int = 12345,
    clusters: Integers | None = None,
) -> Estimate:
    """Correlate two columns of numbers, with samples of the points, drawn with replacement.

    `clusters` numbers what each point is drawn with, such as its segment; None: each is drawn alone. The same seed
    draws the same for every pair of columns.

    Parameters
    ----------
    one, other
        The columns, (points,).
    coefficient
        One of `COEFFICIENTS`.
    samples, seed
        How many samples, 0 or more, and the seed of the draws.
    clusters
        Number of what each point is drawn with, (points,).

    Examples
    --------
    >>> correlate(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]), "spearman", samples=0)
    Estimate(value=0.8)
    >>> correlate(np.array([1.0, 1.0, 1.0]), np.array([1.0, 3.0, 2.0]))
    Estimate(value=None)
    """
    coefficient = known_name("coefficient", coefficient, COEFFICIENTS)
    if len(one) != len(other):
        raise InputError(f"{len(one)} scores cannot be correlated with {len(other)}")
    if len(one) < FEWEST_POINTS:
        raise InputError(f"a correlation needs {FEWEST_POINTS} points or more, here are {len(one)}")
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return Estimate(None, np.full(samples, np.nan))
    # Rounded, for a hair beyond 1 is noise, and so is .8000000000000001.
    places, numbers = np.unique(np.arange(len(one)) if clusters is None else clusters, return_inverse=True)
    measure = COEFFICIENTS[coefficient](one, other, numbers)
    value = round(float(measure(np.ones((1, len(places))))[0]), 14)
    drawn = [measure(counts.astype(np.float64)) for counts in draw_batches(len(places), samples, seed, len(one))]
    return Estimate(value, np.concatenate([np.zeros(0), *drawn]))


def correlate_within(
    one: Floats, other: Floats, samples: int, seed: int, clusters: Integers, drawn_with: Integers | None = None
) -> Estimate:
    """Pearson's correlation of the differences of all pairs of points of one cluster, both ways round.

    Parameters
    ----------
    one, other
        The columns, (points,).
    samples, seed
        How many samples, 0 or more, and the seed of the draws.
    clusters
        Cluster of each point, such as its segment, (points,).
    drawn_with
        Number of what each point is drawn with, such as the document of its segment; None: its cluster.

    Examples
    --------
    >>> one, other = np.array([1.0, 2.0, 11.0, 12.0, 13.0]), np.array([1.0, 2.0, 3.0, 1.0, 2.0])
    >>> correlate_within(one, other, 0, 1, np.array([4, 4, 7, 7, 7]))
    Estimate(value=-0.28571428571429)
    """
    numbers = np.unique(clusters, return_inverse=True)[1]
    sizes = np.bincount(numbers)
    # The sum over pairs of products of differences is the number of points times that of products less their means'.
    centred = [column - (np.bincount(numbers, column) / sizes)[numbers] for column in (one, other)]
    products = combinations_with_replacement(centred, 2)
    sums = np.stack([np.bincount(numbers, a * b) * sizes for a, b in products], axis=1)
    if drawn_with is not None:
        together = np.unique(drawn_with, return_inverse=True)[1][np.unique(numbers, return_index=True)[1]]
        sums = np.stack([np.bincount(together, column) for column in sums.T], axis=1)
    drawn = [counts @ sums for counts in draw_batches(len(sums), samples, seed)]
    one_square, products_sum, other_square = np.concatenate([sums.sum(axis=0)[None], *drawn]).T
    varied = (one_square > _NOISE * sums[:, 0].sum()) & (other_square > _NOISE * sums[:, 2].sum())
    values = divide(products_sum, np.where(varied, np.sqrt(one_square * other_square), 0))
    return Estimate(round(float(values[0]), 14) if varied[0] else None, values[1:])


def williams(first: float, second: float, between: float, points: int) -> WilliamsTest:
    """Test the difference of two correlations with the same variable (Williams 1959; Steiger 1980, equation 7).

    InputError: fewer than 4 points.

    `first` and `second` are of either metric with judges, `between` is of both with each other.

    Parameters
    ----------
    first, second
        Correlations of the two metrics with the judges.
    between
        Correlation of the two metrics with each other.
    points
        Number of points that all three are over.

    Examples
    --------
    >>> test = williams(0.4, 0.5, 0.1, 103)
    >>> round(test.t, 3), round(test.p_value, 3)
    (-0.891, 0.375)
    """
    from scipy.stats import t as student

    if points < FEWEST_TO_TEST:
        raise InputError(f"Williams' test needs {FEWEST_TO_TEST} points or more, here are {points}")
    if first == second:
        return WilliamsTest(0.0, 1.0)
    determinant = max(0.0, 1 - first**2 - second**2 - between**2 + 2 * first * second * between)
    middle = ((first + second) / 2) ** 2 * (1 - between) ** 3
    below = 2 * (points - 1) / (points - 3) * determinant + middle
    above = (first - second) ** 2 * (points - 1) * (1 + between)
    t = float(np.copysign(np.sqrt(above / below) if below > 0 else np.inf, first - second))
    return WilliamsTest(t, 2 * float(student.sf(abs(t), points - 3)))


def _pearson(one: Floats, other: Floats, weights: Floats) -> Floats:
    total = weights.sum(axis=1, keepdims=True)
    centred = [column - (weights * column).sum(axis=1, keepdims=True) / total for column in (one, other)]
    sums = [(weights * a * b).sum(axis=1) for a, b in combinations_with_replacement(centred, 2)]
    drawn = weights > 0
    ranges = [np.where(drawn, c, -np.inf).max(axis=1) - np.where(drawn, c, np.inf).min(axis=1) for c in (one, other)]
    return divide(sums[1], np.where(np.minimum(*ranges) > 0, np.sqrt(sums[0] * sums[2]), 0))


def _midranks(column: Floats, weights: Floats) -> Floats:
    order = np.argsort(column, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(column[order]) != 0])
    tied = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks = np.empty_like(weights)
    ranks[:, order] = np.repeat(tied.cumsum(axis=1) - tied / 2, np.diff(np.r_[starts, len(column)]), axis=1)
    return ranks


def _kendall(one: Floats, other: Floats, numbers: Integers) -> Callable[[Floats], Floats]:
    """Tau-b: concordant pairs less discordant ones, and pairs that a side does not tie, summed by their clusters."""
    points, order = len(one), np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    if len(starts) > _MOST_SQUARED or points > 5 * _MOST_SQUARED:
        from scipy.stats import kendalltau

        def repeat(weights: Floats) -> Floats:
            repeated = (np.repeat(np.arange(points), counts[numbers].astype(np.int64)) for counts in weights)
            return np.array([kendalltau(one[places], other[places]).statistic for places in repeated])

        return repeat
    sums = np.zeros((3, len(starts), len(starts)))
    step = max(1, _AT_ONCE // points)
    for start in range(0, points, step):
        block = order[start : start + step]
        rows = np.flatnonzero(np.diff(numbers[block], prepend=-1))
        signs = [
            (column[block, None] > column[order]).view(np.int8) - (column[block, None] < column[order]).view(np.int8)
            for column in (one, other)
        ]
        for total, pairs in zip(sums, (signs[0] * signs[1], np.abs(signs[0]), np.abs(signs[1])), strict=True):
            by_cluster = np.add.reduceat(pairs, starts, axis=1, dtype=np.int64)
            total[numbers[block][rows]] += np.add.reduceat(by_cluster, rows, axis=0)

    def weigh(weights: Floats) -> Floats:
        weighed = [np.einsum("sc,sc->s", weights @ total, weights) for total in sums]
        return divide(weighed[0], np.sqrt(weighed[1] * weighed[2]))

    return weigh


def _by_point(measure: Callable[[Floats, Floats, Floats], Floats]) -> Measure:
    return lambda one, other, numbers: lambda weights: measure(one, other, weights[:, numbers])


# Of two columns and the cluster of each point, from 0: one number a sample, of which each cluster weighs so much
Measure = Callable[["Floats", "Floats", "Integers"], Callable[["Floats"], "Floats"]]
COEFFICIENTS: dict[str, Measure] = {
    "pearson": _by_point(_pearson),
    "spearman": _by_point(
        lambda one, other, weights: _pearson(_midranks(one, weights), _midranks(other, weights), weights)
    ),
    "kendall": _kendall,
}
