"""Measures of agreement with judges: correlations, Kendall's tau, accuracies; the bootstrap of all of them.

A measure is a function of the weights of units, such as segments, which samples draw. Most are `linear`, functions
of sums over units, or `quadratic`, of sums over pairs of units. `softbleu.meta.campaign` exchanges scores of two
metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations_with_replacement
from math import comb
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from softbleu.corpora.judgements import Assessments, Comparisons, ScoreTable, drawn_with
from softbleu.errors import InputError, known_name
from softbleu.io.arguments import Limit
from softbleu.io.platform import cached_property
from softbleu.resample import ALIKE, bootstrap, ends, flip_p_values, sign_p_value
from softbleu.tables import Value

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

_LIMIT = Limit("accuracies", "pairs of rows", 50_000_000, "3,000 segments: 4,498,500", "take fewer")
"""Each pair takes 24 bytes, and for a while 8 more."""
_AT_ONCE = 1 << 19  # Pairs of points that are processed at once
_ARRAYS = 8  # Numbers in memory for each point of a sample, while it is correlated
_FLIPPED = 1 << 22  # Sums of flipped differences that are in memory at a time
_MOST_SQUARED = 3000  # Clusters up to which all pairs are summed, for all samples at once
_MOST_TOGETHER = 2_000_000  # Pairs of all outputs for which each sample seeks its own tie threshold: 2,000 outputs
_MOST_SEGMENTS = 1500  # Segments of which all pairs are compared
_NOISE = 1e-12
"""Smaller differences count as none: the last bits do not decide which tie threshold is best."""

FEWEST_POINTS = 3  # Fewest points of a meaningful correlation
FEWEST_TO_TEST = 4  # Points that Williams' test needs: it has n - 3 degrees of freedom
LITTLE = 0.001  # Of accuracy, as much as tables of three digits show

Weigh = Callable[["Floats"], "Floats"]  # Weights of units, (samples, units), to values, (samples,); NaN if undefined
Apart = Callable[[slice], "Floats"]  # Differences of some pairs of things, (pairs, columns)
Combine = Callable[..., "Floats"]  # Sums, arrays of one shape, to values


def divide(above: Floats | Integers, below: Floats | Integers) -> Floats:
    """Divide arrays, `above` by `below`; NaN where the divisor is not positive."""
    return np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > 0)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number, and its values in bootstrap samples."""

    value: float | None  # None if undefined, as a correlation with a constant column
    drawn: Floats = field(repr=False)  # Value in each sample; NaN if undefined
    facts: Mapping[str, Value] = field(default_factory=dict, repr=False)  # What is known beside it, such as counts

    @property
    def interval(self) -> tuple[float, float] | None:
        """Percentiles 2.5 and 97.5 of the samples; None if most are undefined."""
        known = self.drawn[~np.isnan(self.drawn)]
        if not len(known) or 2 * len(known) < len(self.drawn):
            return None
        low, high = ends(known)
        return float(low), float(high)

    @property
    def p_value(self) -> float | None:
        """Two-sided p of a difference in the same samples; None if most are undefined."""
        return None if self.interval is None else sign_p_value(self.drawn)

    def cells(self, name: str, prefix: str = "") -> dict[str, Value]:
        """Return the number, and the ends of its interval as `low` and `high`; None if undefined."""
        low, high = self.interval or (None, None)
        return {name: self.value, f"{prefix}low": low, f"{prefix}high": high}

    @property
    def doubt(self) -> str:
        """Explain why an agreement may be chance, if that of chance is known; empty if it is above chance."""
        chance = self.facts.get("chance")
        if not isinstance(chance, float):
            return ""
        if self.value is None or self.value < chance + LITTLE:
            return "not above chance"
        return "above chance, but its interval is not" if (self.interval or (1.0,))[0] <= chance else ""


def difference(one: Estimate, other: Estimate) -> Estimate:
    """Compare two numbers sample by sample.

    >>> one, other = (Estimate(value, np.full(99, value)) for value in (0.75, 0.5))
    >>> apart = difference(one, other)
    >>> apart.interval, apart.p_value
    ((0.25, 0.25), 0.02)
    """
    if one.value is None or other.value is None:
        raise InputError("undefined values cannot be compared")
    return Estimate(one.value - other.value, one.drawn - other.drawn)


def estimate(weigh: Weigh, units: int, samples: int, seed: int, width: int = 0, **facts: Value) -> Estimate:
    """Measure all units, and bootstrap samples of them, with facts known beside.

    Parameters
    ----------
    weigh
        The measure.
    units
        Number of units.
    samples, seed
        How many samples, 0 or more, and the seed of the draws.
    width
        Numbers in memory for a sample, if these are more than its units.

    Examples
    --------
    >>> mean = linear(np.array([[1.0, 1.0], [1.0, 3.0]]), np.arange(2), lambda counted, sums: divide(sums, counted))
    >>> found = estimate(mean, 2, samples=4, seed=1)
    >>> found.value, found.drawn.tolist()
    (2.0, [2.0, 3.0, 1.0, 3.0])
    """
    drawn = [weigh(counts.astype(np.float64)) for counts in bootstrap(units, samples, seed, width)]
    value = float(weigh(np.ones((1, units)))[0])
    return Estimate(None if np.isnan(value) else value, np.concatenate([np.zeros(0), *drawn]), facts)


def linear(columns: Floats, units: Integers, combine: Combine) -> Weigh:
    """Measure weighted units by sums over them.

    Parameters
    ----------
    columns
        Rows of the summands, (rows, k).
    units
        Unit of each row, from 0.
    combine
        Makes a value of k sums; also of many, as arrays.
    """
    sums = np.stack([np.bincount(units, column) for column in columns.T], axis=1)
    return lambda weights: combine(*(weights @ sums).T)


def quadratic(matrices: Floats, combine: Combine) -> Weigh:
    """Measure weighted units by sums over pairs of them: `matrices` are (k, units, units)."""
    return lambda weights: combine(*(((weights @ one) * weights).sum(axis=1) for one in matrices))


# Scores by a metric and by judges, and the unit of each point, from 0, to a measure of weighted units
Measure = Callable[["Floats", "Floats", "Integers"], Weigh]


@dataclass(frozen=True)
class Coefficient:
    """A measure from -1 to 1 of the scores of points by a metric and by judges."""

    weigh: Measure
    columns: Callable[[Floats, Floats], Floats] | None = None
    """Rows, (points, k), of scores by a metric, with mean 0 and variance 1, and by judges. `combine` makes the
    coefficient of their sums. Where it can, metrics are tested by exchanging their scores."""
    combine: Combine = divide


def sum_coefficient(columns: Callable[[Floats, Floats], Floats], combine: Combine) -> Coefficient:
    """Make a coefficient of sums over points, for the bootstrap and for permutations.

    Parameters
    ----------
    columns
        Makes rows, (points, k), of scores by a metric and by judges, (points,) each.
    combine
        Makes the coefficient of k sums.

    Examples
    --------
    >>> quadrant = sum_coefficient(lambda x, y: np.sign((x - x.mean()) * (y - y.mean()))[:, None], lambda s: s / 4)
    >>> weigh = quadrant.weigh(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 4.0]), np.arange(4))
    >>> weigh(np.ones((1, 4))).tolist()
    [0.0]
    """
    return Coefficient(
        lambda one, other, units: linear(columns(one, other), units, combine), columns=columns, combine=combine
    )


def correlate(
    one: Floats,
    other: Floats,
    coefficient: str = "pearson",
    samples: int = 1000,
    seed: int = 12345,
    clusters: Integers | None = None,
) -> Estimate:
    """Correlate two columns of numbers, with bootstrap samples of the points.

    Points of the same cluster, such as a segment, are drawn together. The same seed draws the same samples for every
    pair of columns.

    Parameters
    ----------
    one, other
        The columns, (points,).
    coefficient
        One of `COEFFICIENTS`.
    samples, seed
        How many samples, 0 or more, and the seed of the draws.
    clusters
        Cluster with which each point is drawn, (points,); None: each point is drawn alone.

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
    units = np.unique(np.arange(len(one)) if clusters is None else clusters, return_inverse=True)[1]
    return _rounded(COEFFICIENTS[coefficient].weigh(one, other, units), units, samples, seed, _ARRAYS * len(one))


def _rounded(weigh: Weigh, units: Integers, samples: int, seed: int, width: int = 0) -> Estimate:
    """Estimate a correlation. A hair beyond 1 is noise, and so is .8000000000000001."""
    found = estimate(weigh, int(units.max()) + 1, samples, seed, width)
    return found if found.value is None else replace(found, value=round(found.value, 14))


def correlate_within(
    one: Floats, other: Floats, samples: int, seed: int, clusters: Integers, drawn_with: Integers | None = None
) -> Estimate:
    """Compute Pearson's correlation of the differences of all pairs of points within a cluster.

    Parameters
    ----------
    one, other
        The columns, (points,).
    samples, seed
        How many samples, 0 or more, and the seed of the draws.
    clusters
        Cluster of each point, such as its segment, (points,).
    drawn_with
        Number of the group with which each point is drawn, such as its document; None: its cluster.

    Examples
    --------
    >>> one, other = np.array([1.0, 2.0, 11.0, 12.0, 13.0]), np.array([1.0, 2.0, 3.0, 1.0, 2.0])
    >>> correlate_within(one, other, 0, 1, np.array([4, 4, 7, 7, 7]))
    Estimate(value=-0.28571428571429)
    """
    _, first, numbers = np.unique(clusters, return_index=True, return_inverse=True)
    sizes = np.bincount(numbers)
    # The sum of products of differences over pairs is n times the sum of products of centred values.
    centred = [column - (np.bincount(numbers, column) / sizes)[numbers] for column in (one, other)]
    products = combinations_with_replacement(centred, 2)
    sums = np.stack([np.bincount(numbers, a * b) * sizes for a, b in products], axis=1)
    units = np.arange(len(sizes)) if drawn_with is None else np.unique(drawn_with[first], return_inverse=True)[1]
    least, _, least_other = _NOISE * sums.sum(axis=0)  # Smaller squares are noise of the means

    def r(ones: Floats, products: Floats, others: Floats) -> Floats:
        varied = (ones > least) & (others > least_other)
        return divide(products, np.where(varied, np.sqrt(ones * others), 0))

    return _rounded(linear(sums, units, r), units, samples, seed)


class WilliamsTest(NamedTuple):
    """Test whether two correlations with the same judges differ by chance."""

    t: float
    """Student's t with n - 3 degrees of freedom; positive if the first correlation is greater."""
    p_value: float  # Two-sided


def williams(first: float, second: float, between: float, points: int) -> WilliamsTest:
    """Test the difference of two correlations with the same variable (Williams 1959; Steiger 1980, equation 7).

    Raises InputError for fewer than 4 points.

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
    # A power of two changes no digit; products of the greatest and least scores would have no number.
    one, other = (np.ldexp(column, -np.frexp(np.abs(column).max(initial=0))[1]) for column in (one, other))
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


def _kendall(one: Floats, other: Floats, numbers: Integers) -> Weigh:
    """Compute tau-b from sums over pairs of clusters: concordant minus discordant pairs, and untied pairs."""
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

    return quadratic(sums, lambda agreed, untied, untied_other: divide(agreed, np.sqrt(untied * untied_other)))


def _by_point(measure: Callable[[Floats, Floats, Floats], Floats]) -> Measure:
    return lambda one, other, units: lambda weights: measure(one, other, weights[:, units])


def _pearson_columns(one: Floats, other: Floats) -> Floats:
    centred = other - other.mean()
    scaled = one * centred / (np.sqrt(centred @ centred) or 1.0)
    return np.stack([scaled, one**2, one / np.sqrt(len(one))], axis=1)


def _pearson_of(products: Floats, squares: Floats, sums: Floats) -> Floats:
    spread = squares - sums**2
    return divide(products, np.sqrt(np.where(spread > ALIKE, spread, 0)))


# Pearson's correlation of samples is not of sums: centred anew in each, the nearest scores keep all their digits.
COEFFICIENTS: dict[str, Coefficient] = {
    "pearson": Coefficient(_by_point(_pearson), _pearson_columns, _pearson_of),
    "spearman": Coefficient(
        _by_point(lambda one, other, weights: _pearson(_midranks(one, weights), _midranks(other, weights), weights))
    ),
    "kendall": Coefficient(_kendall),
}

TESTED = ("pearson", "spearman")  # Coefficients whose differences are tested


_AGREED = np.array([[1, 0, -1], [0, 0, 0], [-1, 0, 1]])
# Contribution of each pair of outcomes (judges, metric: worse, tied, better) to the numerator and the denominator
_COUNTED: dict[str, tuple[Integers, Integers]] = {
    "hties": (_AGREED + np.diag([0, 1, 0]), np.ones((3, 3), np.int64)),
    "noties": (_AGREED, np.array([[1, 1, 1], [0, 0, 0], [1, 1, 1]])),
}


TAUS = tuple(_COUNTED)
_COUNTS = ("pairs", "untied", "concordant", "discordant")


def judged_scores(
    comparisons: Comparisons, segments: Mapping[str, Floats], metric: str
) -> tuple[Comparisons, Floats]:
    """Select the comparisons of systems that a metric scored, and stack its scores: (systems, segments)."""
    known = set(segments) & set(comparisons.systems)
    if len(known) < 2:
        lacking = ", ".join(sorted(set(comparisons.systems) - known))
        raise InputError(f"{metric} scored fewer than two of the ranked systems: it lacks {lacking}")
    taken = comparisons.only(known)
    lengths = {len(segments[name]) for name in taken.systems}
    last = int(taken.segment.max())
    if last >= min(lengths):
        raise InputError(
            f"the rankings name segment {last + 1} of {min(lengths)} that {metric} scored: "
            "is the corpus another one, or are segments counted from another start?"
        )
    scores = np.stack([segments[name][: min(lengths)] for name in taken.systems])
    whole = ~np.isnan(scores[taken.first, taken.segment] - scores[taken.second, taken.segment])
    if not whole.any():
        raise InputError(f"{metric} scored both outputs of none of the comparisons")
    return taken if whole.all() else taken.at(whole), scores


def preference_taus(
    judged: Comparisons | Assessments, table: ScoreTable, samples: int = 1000, seed: int = 12345
) -> dict[str, Estimate]:
    """Compute both variants of tau of a metric by name, with bootstrap samples of the segments.

    Tau is (concordant - discordant) / pairs, None without pairs. `noties` leaves judges' ties out, and a tie of the
    metric only adds to the denominator; `hties` takes a tie on both sides as concordant, and one on either side only
    adds to the denominator (Machacek and Bojar 2013; Chollampatt and Ng 2018, section 4.2).

    Facts are the numbers of `pairs` in the denominator; of those that neither judges nor the metric tie, `untied`; of
    `concordant` and `discordant` ones; and of comparisons of systems that the metric did not score, `skipped`.

    Greater scores are better, also for two assessed outputs of a segment.

    Parameters
    ----------
    judged
        Comparisons of outputs, or scores of single outputs, by judges.
    table
        Scores of a metric, greater for better.
    samples
        Bootstrap samples; 0 gives no interval.
    seed
        Seed of the samples.
    """
    table.need_segments()
    pairs = JudgedPairs.of(judged, table)
    if pairs is None:
        raise InputError("preferences need two assessed outputs of a segment: here is one of each")
    skipped = len(judged) - len(pairs.judges) if isinstance(judged, Comparisons) else 0
    return pairs.taus(samples, seed, skipped)


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """Pairs with the judges' preference and the metric's difference."""

    judges: Integers  # 1 where the first is better, -1 where the second is, 0 for a tie
    differences: Floats  # Of the metric
    one: Integers
    other: Integers
    """Numbers of the two things that the bootstrap draws, from 0; the same array twice if pairs belong to one thing,
    such as a segment, and are drawn with it."""
    base: Floats  # Weight of each pair

    @classmethod
    def among(cls, judges: Floats, scores: Floats, clusters: Integers | None = None) -> Self:
        """Pair all points; points with the same number in `clusters` are drawn together, None: each is drawn alone.

        Parameters
        ----------
        judges, scores
            Scores of the points by judges and by the metric, (points,).
        clusters
            Cluster with which each point is drawn, from 0, (points,); None: each is drawn alone.

        Examples
        --------
        >>> JudgedPairs.among(np.array([1.0, 0.0, 0.0]), np.array([5.0, 2.0, 1.0])).accuracy(calibrated=True)
        (1.0, 1.0)
        """
        _LIMIT.check(comb(len(judges), 2), f"a table of {len(judges):,} rows")
        one, other = np.triu_indices(len(judges), 1)
        drawn = (one, other) if clusters is None else (clusters[one], clusters[other])
        said = np.sign(judges[one] - judges[other]).astype(np.int64)
        return cls(said, scores[one] - scores[other], *drawn, np.ones(len(one)))

    @classmethod
    def of(cls, judged: Comparisons | Assessments, table: ScoreTable) -> Self | None:
        """Pair the outputs of each segment that judges compared or scored; None if no segment has two."""
        if isinstance(judged, Comparisons):
            return cls.compared(judged, table)
        judges, scores, segments = judged.pick(table.segments, table.name)
        return cls.within(judges, scores, segments, judged.drawn_with(segments))

    @classmethod
    def compared(cls, comparisons: Comparisons, table: ScoreTable) -> Self:
        """Pair the outputs in `comparisons` that the metric scored; each segment weighs 1."""
        taken, scores = judged_scores(comparisons, table.segments, table.name)
        differences = scores[taken.first, taken.segment] - scores[taken.second, taken.segment]
        _, numbers, sizes = np.unique(taken.segment, return_inverse=True, return_counts=True)
        clusters = np.unique(taken.cluster, return_inverse=True)[1]
        return cls(taken.outcome, differences, clusters, clusters, 1 / sizes[numbers])

    @classmethod
    def within(
        cls, judges: Floats, scores: Floats, segments: Integers, drawn_with: Integers | None = None
    ) -> Self | None:
        """Pair the points of each segment, which weighs 1; None if no segment has two.

        Parameters
        ----------
        judges, scores
            Scores of the points by judges and by the metric, (points,).
        segments
            Segment of each point, (points,).
        drawn_with
            Cluster with which each point is drawn; None: its segment.
        """
        order = np.argsort(segments, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(segments[order])) + 1)
        _LIMIT.check(sum(comb(len(group), 2) for group in groups), "a table of segments")
        pairs = [group[np.stack(np.triu_indices(len(group), 1))] for group in groups if len(group) > 1]
        if not pairs:
            return None
        one, other = np.concatenate(pairs, axis=1)
        said = np.sign(judges[one] - judges[other]).astype(np.int64)
        base = np.concatenate([np.full(group.shape[1], 1 / group.shape[1]) for group in pairs])
        drawn = np.unique(segments if drawn_with is None else drawn_with, return_inverse=True)[1][one]
        return cls(said, scores[one] - scores[other], drawn, drawn, base)

    @property
    def tied(self) -> float:
        """Share of pairs that judges tie: the accuracy of a metric that ties all pairs."""
        return float(self.base[self.judges == 0].sum() / self.base.sum())

    @property
    def chance(self) -> float:
        """Accuracy of a metric without information: it ties all pairs, or guesses half of the others right."""
        return max(self.tied, (1 - self.tied) / 2)

    def taus(self, samples: int, seed: int, skipped: int = 0) -> dict[str, Estimate]:
        """Compute both variants of tau, see `preference_taus`."""
        cells = 3 * (self.judges + 1) + np.sign(self.differences).astype(np.int64) + 1
        counts = np.bincount(cells, minlength=9).reshape(3, 3)
        units = np.unique(self.one, return_inverse=True)[1]
        taus = {}
        for variant, (above, below) in _COUNTED.items():
            parts = (below, np.abs(_AGREED), above > 0, above < 0)
            facts = {name: int((counts * part).sum()) for name, part in zip(_COUNTS, parts, strict=True)}
            weigh = linear(np.stack([above.flat[cells], below.flat[cells]], axis=1), units, divide)
            taus[variant] = estimate(weigh, int(units.max()) + 1, samples, seed, **facts, skipped=skipped)
        return taus

    def accuracy(self, counts: Integers | None = None, *, calibrated: bool) -> tuple[float, float] | None:
        """Compute the share of pairs that the metric orders as judges do, and its tie threshold; None without pairs.

        If calibrated, differences up to the threshold with the greatest accuracy (the smallest of several) count as
        ties (Deutsch, Foster and Freitag 2023); otherwise the threshold is 0. `counts` has how often each thing was
        drawn; None: once.
        """
        (one, other), base, right, sizes, places, gain, last = self._kinds
        weights = np.ones(len(one)) if counts is None else counts[one] * (1 if other is one else counts[other])
        total, least = float(weights @ base), float(weights @ right)
        if not total:
            return None
        values = np.cumsum(weights[places] * gain)[last] if calibrated else np.zeros(0)
        best = int((values >= values.max() - _NOISE * total).argmax()) if len(values) else 0
        if not len(values) or values[best] <= _NOISE * total:
            return least / total, 0.0
        return (least + float(values[best])) / total, float(sizes[best])

    def samples(self, samples: int, seed: int, *, calibrated: bool) -> Floats:
        """Compute accuracies in samples of the paired things, each with its own threshold; NaN without pairs.

        Parameters
        ----------
        samples, seed
            How many, and the seed of the draws.
        calibrated
            Whether each sample has the tie threshold that is best for it, or 0.
        """
        things = int(max(self.one.max(), self.other.max())) + 1
        batches = chain.from_iterable(bootstrap(things, samples, seed))
        drawn = (self.accuracy(counts, calibrated=calibrated) for counts in batches)
        return np.array([np.nan if accuracy is None else accuracy[0] for accuracy in drawn], np.float64)

    @cached_property
    def _kinds(self) -> tuple[tuple[Integers, Integers], Floats, Floats, Floats, Integers, Floats, Integers]:
        """Group pairs that are drawn together: their things, weight, correct weight, and the gain by ties.

        A tie threshold adds the gains of all differences up to it; `last` is the last gain of each size.
        """
        single, things = self.one is self.other, int(max(self.one.max(), self.other.max())) + 1
        keys, place = np.unique(self.one if single else self.one * things + self.other, return_inverse=True)
        right = self.base * (np.sign(self.differences) == self.judges)
        sizes, rank = np.unique(np.abs(self.differences), return_inverse=True)
        cells, cell = np.unique(rank * len(keys) + place, return_inverse=True)
        gain = np.bincount(cell, self.base * (self.judges == 0) - right).astype(np.float64)
        rank, places = np.divmod(cells[gain != 0], len(keys))
        last = np.flatnonzero(np.diff(rank, append=-1))
        drawn = (keys, keys) if single else np.divmod(keys, things)
        weight, just = (np.bincount(place, column).astype(np.float64) for column in (self.base, right))
        return drawn, weight, just, sizes[rank[last]], places, gain[gain != 0], last

    def estimate(self, samples: int, seed: int, *, calibrated: bool = True) -> Estimate:
        """Estimate the accuracy.

        Its facts are the accuracy of a metric that does not look at the texts, `chance`; the greatest difference that
        counts as a tie of the metric, `epsilon`, None if it is not calibrated; the numbers of `pairs` and `ties` of
        judges.
        """
        value, epsilon = self.accuracy(calibrated=calibrated) or (0.0, 0.0)
        facts: dict[str, Value] = {"chance": self.chance, "epsilon": epsilon if calibrated else None}
        facts |= {"pairs": len(self.judges), "ties": int((self.judges == 0).sum())}
        return Estimate(value, self.samples(samples, seed, calibrated=calibrated), facts)


def output_accuracies(
    table: ScoreTable, judged: Comparisons | Assessments, samples: int = 1000, seed: int = 12345
) -> dict[str, Estimate]:
    """Compute tie-calibrated accuracies over all pairs of judged outputs, and their mean over segments.

    Pairs are the compared outputs, or all assessed outputs; for more than 2,000 of these only the mean over segments
    is computed. Segments are drawn for the intervals. Raises InputError for fewer than 2 outputs.

    Parameters
    ----------
    table
        Scores of a metric, greater for better.
    judged
        Comparisons of outputs, or scores of single outputs, by judges.
    samples
        Bootstrap samples; 0 gives no interval.
    seed
        Seed of the samples.
    """
    together = within = JudgedPairs.of(judged, table)
    if isinstance(judged, Comparisons):
        together = within and replace(within, base=np.ones(len(within.base)))
    else:
        judges, scores, segments = judged.pick(table.segments, table.name)
        if len(judges) < 2:
            raise InputError(f"an accuracy needs 2 outputs or more, here are {len(judges)}")
        few = within is None or comb(len(judges), 2) <= _MOST_TOGETHER
        clusters = np.unique(judged.drawn_with(segments), return_inverse=True)[1]
        together = JudgedPairs.among(judges, scores, clusters) if few else None
    pairings = {"outputs": together, "outputs by segment": within}
    return {of: pairs.estimate(samples, seed) for of, pairs in pairings.items() if pairs}


def segment_accuracies(
    table: ScoreTable, judged: Assessments, samples: int = 1000, seed: int = 12345
) -> dict[str, Estimate]:
    """Compute accuracies between segments: tie-calibrated over all pairs of segment means, and soft.

    The soft one is soft pairwise accuracy of segments instead of systems: p-values come from sign flips of the
    differences of two segments, system by system. Segments are drawn for the interval. Returns none if no segment has
    several outputs, or more than `_MOST_SEGMENTS` have.

    Parameters
    ----------
    table
        Scores of a metric, greater for better.
    judged
        Scores of single outputs by judges.
    samples, seed
        Bootstrap samples and sign flips, and the seed of both.
    """
    judges, scores, segments = judged.pick(table.segments, table.name)
    places, numbers = np.unique(segments, return_inverse=True)
    if not 2 <= len(places) <= min(_MOST_SEGMENTS, len(judges) - 1):
        return {}
    said, by_metric = (np.bincount(numbers, column) / np.bincount(numbers) for column in (judges, scores))
    drawn = np.unique(judged.drawn_with(places), return_inverse=True)[1]
    found = {"segments": JudgedPairs.among(said, by_metric, drawn).estimate(samples, seed)}
    if judged.texts is None:
        one, other = np.triu_indices(len(places), 1)
        apart = [
            lambda some, side=side[:, places].T: side[one[some]] - side[other[some]]
            for side in judged.tables(table.segments, table.name)
        ]
        found["segments softly"] = soft_pairs(apart, one, other, drawn, samples, seed)
    return found


def soft_accuracy(
    table: ScoreTable, judged: Comparisons | Assessments, samples: int = 1000, seed: int = 12345
) -> Estimate | None:
    """Compute soft pairwise accuracy (Thompson et al. 2024): 1 - the mean difference of p-values of pairs of systems.

    p is one-sided, from sign flips of the differences of the segments on which judges compared the two, or scored
    both; the difference of comparisons is wins minus losses. Systems are drawn for the interval. Returns None without
    two assessed systems.

    Parameters
    ----------
    table
        Scores of a metric, greater for better.
    judged
        Comparisons of outputs, or scores of single outputs, by judges.
    samples
        Sign flips, and bootstrap samples of systems.
    seed
        Seed of both.
    """
    if isinstance(judged, Comparisons):
        taken, scores = judged_scores(judged, table.segments, table.name)
        systems, width = len(scores), scores.shape[1]
        one, other = np.triu_indices(systems, 1)
        pair = taken.first * (2 * systems - taken.first - 3) // 2 + taken.second - 1
        cells, size = pair * width + taken.segment, len(one) * width
        said = np.bincount(cells, taken.outcome, size)
        judges = np.where(np.bincount(cells, minlength=size) > 0, said, np.nan).reshape(-1, width)
    else:
        people, scores = judged.tables(table.segments, table.name)
        one, other = np.triu_indices(len(people), 1)
        judges = people[one] - people[other]
    shared = ~np.isnan(judges)
    sides = [np.where(shared, side, 0.0) for side in (judges, scores[one] - scores[other])]
    if judged.documents is not None:
        # Signs are flipped by document.
        numbers = drawn_with(np.arange(judges.shape[1]), judged.documents)
        whole = np.eye(int(numbers.max()) + 1)[numbers]
        sides = [side @ whole for side in sides]
    some = shared.any(axis=1)
    if not some.any():
        return None
    one, other = one[some], other[some]
    apart = [side[some].__getitem__ for side in sides]
    return soft_pairs(apart, one, other, np.arange(int(other.max()) + 1), samples, seed)


def soft_pairs(
    apart: Sequence[Apart], one: Integers, other: Integers, units: Integers, samples: int, seed: int
) -> Estimate:
    """Compute 1 - the mean difference of p-values of pairs of things, with bootstrap samples of units of these.

    Parameters
    ----------
    apart
        By judges and by the metric, the differences of some pairs, (pairs, columns); NaN in columns that the two do
        not share.
    one, other
        The things of each pair, from 0.
    units
        The unit of each thing, from 0.
    samples, seed
        Bootstrap samples and sign flips, and the seed of both.
    """
    if not samples:  # There is no p without sign flips.
        return Estimate(None, np.zeros(0), {"chance": None, "epsilon": None, "pairs": len(one), "ties": None})
    judges, scores = (np.full(len(one), np.nan) for _ in apart)
    for start in range(0, len(one), step := max(1, _FLIPPED // samples)):
        for order, side in zip((judges, scores), apart, strict=True):
            differences = side(slice(start, start + step))
            shared = ~np.isnan(differences).all(axis=1)
            p_values = flip_p_values(np.nan_to_num(differences[shared]), samples, seed)
            order[start : start + step][shared] = p_values
    known, size = ~np.isnan(judges), int(units.max()) + 1
    cells = units[one] * size + units[other]
    columns = (np.where(known, np.abs(judges - scores), 0), known)
    error, pairs = (np.bincount(cells, column, size**2).reshape(size, size) for column in columns)
    weigh = quadratic(np.stack([error, pairs]), lambda error, pairs: 1 - divide(error, pairs))
    facts: dict[str, Value] = {
        "chance": 1 - float(np.abs(judges[known] - 0.5).mean()),
        "epsilon": None,
        "pairs": int(known.sum()),
    }
    found = estimate(weigh, size, samples, seed)
    return replace(found, value=1 - float(error.sum() / pairs.sum()), facts={**facts, "ties": None})
