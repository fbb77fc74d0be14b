"""Agreement of metrics with judges about systems, outputs and spans, and of judges with each other; the bootstrap."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora.judgements import Assessments, Comparisons, ScoreTable, drawn_with
from softbleu.corpora.judgements.spans import MAJOR, MINOR, MarkedSpan, SpanTable
from softbleu.errors import InputError, Parameter, UnknownNameError, known_name
from softbleu.resample import bootstrap, ends, sign_p_value

if TYPE_CHECKING:
    from softbleu.corpora.labels import Documents
    from softbleu.types import Floats, Integers

_AT_ONCE = 1 << 19  # Pairs of points that are processed at once
_NOISE = 1e-12  # Smaller differences count as none


def divide(above: Floats | Integers, below: Floats | Integers) -> Floats:
    """Divide arrays, `above` by `below`; NaN where the divisor is not positive."""
    return np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > 0)


def redraw(kinds: Integers, size: int, clusters: Integers, samples: int, seed: int) -> Floats:
    """Count each kind, 0 to size - 1, in samples of whole clusters: (samples, size).

    Parameters
    ----------
    kinds
        Kind of each row, (rows,).
    size
        Number of kinds.
    clusters
        Cluster of each row, (rows,).
    samples, seed
        How many samples, and the seed of the draws.
    """
    places, numbers = np.unique(clusters, return_inverse=True)
    keys, counted = np.unique(numbers * size + kinds, return_counts=True)
    cluster, kind = np.divmod(keys, size)
    batches = chain.from_iterable(bootstrap(len(places), samples, seed))
    drawn = [np.bincount(kind, counts[cluster] * counted, size) for counts in batches]
    return np.array(drawn, np.float64).reshape(samples, size)


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number, and its values in bootstrap samples."""

    value: float | None  # None if undefined, as a correlation with a constant column
    drawn: Floats = field(repr=False)  # Value in each sample; NaN if undefined

    @property
    def interval(self) -> tuple[float, float] | None:
        """Percentiles 2.5 and 97.5 of the samples; None if most are undefined."""
        known = self.drawn[~np.isnan(self.drawn)]
        if not len(known) or 2 * len(known) < len(self.drawn):
            return None
        low, high = ends(known)
        return float(low), float(high)

    @property
    def cells(self) -> tuple[float | None, float | None, float | None]:
        """The number and the ends of its interval; None if undefined."""
        return self.value, *(self.interval or (None, None))


@dataclass(frozen=True, eq=False)
class Difference(Estimate):
    """Difference of two numbers in the same samples."""

    p_value: float | None  # Two-sided; None if most samples are undefined


def difference(one: Estimate, other: Estimate) -> Difference:
    """Compare two numbers sample by sample.

    >>> one, other = (Estimate(value, np.full(99, value)) for value in (0.75, 0.5))
    >>> difference(one, other).interval, difference(one, other)
    ((0.25, 0.25), Difference(value=0.25, p_value=0.02))
    """
    if one.value is None or other.value is None:
        raise InputError("undefined values cannot be compared")
    apart = one.drawn - other.drawn
    value = Difference(one.value - other.value, apart, sign_p_value(apart))
    return value if value.interval is not None else replace(value, p_value=None)


FEWEST_POINTS = 3  # Fewest points of a meaningful correlation
FEWEST_TO_TEST = 4  # Points that Williams' test needs: it has n - 3 degrees of freedom
_MOST_SQUARED = 3000  # Clusters up to which all pairs are summed, for all samples at once


@dataclass(frozen=True)
class WilliamsTest:
    """Test whether two correlations with the same judges differ by chance."""

    t: float
    """Student's t with n - 3 degrees of freedom; positive if the first correlation is greater."""
    p_value: float  # Two-sided


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
    # Rounded, for a hair beyond 1 is noise, and so is .8000000000000001.
    places, numbers = np.unique(np.arange(len(one)) if clusters is None else clusters, return_inverse=True)
    measure = COEFFICIENTS[coefficient](one, other, numbers)
    value = round(float(measure(np.ones((1, len(places))))[0]), 14)
    drawn = [measure(counts.astype(np.float64)) for counts in bootstrap(len(places), samples, seed, 8 * len(one))]
    return Estimate(value, np.concatenate([np.zeros(0), *drawn]))


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
    numbers = np.unique(clusters, return_inverse=True)[1]
    sizes = np.bincount(numbers)
    # The sum of products of differences over pairs is n times the sum of products of centred values.
    centred = [column - (np.bincount(numbers, column) / sizes)[numbers] for column in (one, other)]
    products = combinations_with_replacement(centred, 2)
    sums = np.stack([np.bincount(numbers, a * b) * sizes for a, b in products], axis=1)
    if drawn_with is not None:
        together = np.unique(drawn_with, return_inverse=True)[1][np.unique(numbers, return_index=True)[1]]
        sums = np.stack([np.bincount(together, column) for column in sums.T], axis=1)
    drawn = [counts @ sums for counts in bootstrap(len(sums), samples, seed)]
    one_square, products_sum, other_square = np.concatenate([sums.sum(axis=0)[None], *drawn]).T
    varied = (one_square > _NOISE * sums[:, 0].sum()) & (other_square > _NOISE * sums[:, 2].sum())
    values = divide(products_sum, np.where(varied, np.sqrt(one_square * other_square), 0))
    return Estimate(round(float(values[0]), 14) if varied[0] else None, values[1:])


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


def _kendall(one: Floats, other: Floats, numbers: Integers) -> Callable[[Floats], Floats]:
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

    def weigh(weights: Floats) -> Floats:
        weighed = [np.einsum("sc,sc->s", weights @ total, weights) for total in sums]
        return divide(weighed[0], np.sqrt(weighed[1] * weighed[2]))

    return weigh


def _by_point(measure: Callable[[Floats, Floats, Floats], Floats]) -> Measure:
    return lambda one, other, numbers: lambda weights: measure(one, other, weights[:, numbers])


# Measures of two columns and the cluster of each point, from 0: a number per sample, from the weight of each cluster
Measure = Callable[["Floats", "Floats", "Integers"], Callable[["Floats"], "Floats"]]
COEFFICIENTS: dict[str, Measure] = {
    "pearson": _by_point(_pearson),
    "spearman": _by_point(
        lambda one, other, weights: _pearson(_midranks(one, weights), _midranks(other, weights), weights)
    ),
    "kendall": _kendall,
}

TESTED = ("pearson", "spearman")  # Coefficients whose differences are tested


@dataclass(frozen=True, eq=False)
class Columns:
    """Scores of the same points by judges and by metrics."""

    human: str  # Name of the human scores
    points: tuple[str, ...]  # Names of the points; empty for single outputs
    judges: Floats  # Of shape (points,)
    metrics: Mapping[str, Floats]  # The same by the name of the metric
    left_out: Mapping[str, tuple[str, ...]]  # Systems that were scored on one side only, by where they are missing
    segments: Integers | None = None  # Segment of each point; None if points have no segments
    clusters: Integers | None = None  # Cluster with which each point is drawn, such as its segment; None: alone

    def at(self, chosen: Integers) -> Columns:
        """Select points, in this order."""
        metrics = {name: column[chosen] for name, column in self.metrics.items()}
        return Columns(self.human, tuple(self.points[place] for place in chosen), self.judges[chosen], metrics, {})

    @property
    def constant(self) -> list[str]:
        """Names of columns with the same score for all points, whose correlation is undefined."""
        columns = [(self.human, self.judges), *self.metrics.items()]
        return [name for name, column in columns if np.ptp(column) == 0]


@dataclass(frozen=True)
class MetricAgreement:
    """Correlations of a metric with judges."""

    metric: str
    human: str
    points: int  # Number of systems or outputs
    correlations: Mapping[str, Estimate]

    @property
    def values(self) -> list[float | None]:
        """The correlations as numbers."""
        return [correlation.value for correlation in self.correlations.values()]


@dataclass(frozen=True)
class MetricPair:
    """Two metrics side by side, the one with the greater correlation first."""

    human: str
    coefficient: str  # Coefficient of the correlations
    better: str
    worse: str
    values: tuple[float, float]  # Their correlations with judges
    between: float  # Of both metrics
    test: WilliamsTest
    corrected: float | None = None  # Its p-value after Holm's correction for all tests of the table


def join_systems(
    metrics: Sequence[ScoreTable], human: str, scores: Mapping[str, float], fewest: int = FEWEST_POINTS
) -> Columns:
    """Find the systems that judges and all metrics scored. Raises InputError for too few, with the missing ones.

    Parameters
    ----------
    metrics
        Scores of systems or segments by metrics, greater for better.
    human
        Name of the human scores.
    scores
        Human score of each system.
    fewest
        How many systems must be on all sides.

    Examples
    --------
    >>> from softbleu.corpora.judgements import ScoreTable
    >>> table = ScoreTable("bleu", {"A": 30.0, "B": 20.0, "C": 10.0, "D": 5.0})
    >>> joined = join_systems([table], "judges", {"A": 0.6, "B": 0.5, "C": 0.4})
    >>> joined.points, dict(joined.left_out)
    (('A', 'B', 'C'), {'judges': ('D',)})
    """
    for table in metrics:
        if not table.systems:
            raise InputError(f"{table.name} has scores of segments only: give scores of systems, too")
    # A metric may have the name of the human scores: they are not one column.
    tables = {table.name: table.systems for table in metrics}
    sides = [(human, scores), *tables.items()]
    every = dict.fromkeys(name for _, side in sides for name in side)
    left_out: dict[str, tuple[str, ...]] = {}
    for side, systems in sides:
        if missing := tuple(name for name in every if name not in systems):
            left_out[side] = (*left_out.get(side, ()), *missing)
    points = tuple(name for name in every if all(name in systems for _, systems in sides))
    if len(points) < fewest:
        lacking = "; ".join(f"{side} lacks {', '.join(names)}" for side, names in left_out.items())
        raise InputError(
            f"{'a correlation' if fewest == FEWEST_POINTS else 'an accuracy'} needs {fewest} systems or more, "
            f"here are {len(points)}" + (f": {lacking}" * bool(lacking))
        )
    judges, *columns = (np.array([systems[name] for name in points], np.float64) for _, systems in sides)
    return Columns(human, points, judges, dict(zip(tables, columns, strict=True)), left_out)


def join_assessments(metrics: Sequence[ScoreTable], human: str, assessments: Assessments) -> Columns:
    """Find the metrics' scores of assessed outputs. Raises InputError for fewer than 3, or for other systems.

    Parameters
    ----------
    metrics
        Scores of systems or segments by metrics, greater for better.
    human
        Name of the human scores.
    assessments
        Human scores of single outputs.
    """
    columns: dict[str, Floats] = {}
    judges, segments = np.zeros(0), np.zeros(0, np.int64)
    for table in metrics:
        judged, values, segments = assessments.pick(table.need_segments(), table.name)
        if columns and not np.array_equal(judged, judges):
            raise InputError(f"{table.name} scored other outputs than {metrics[0].name}: score the same with both")
        judges, columns[table.name] = judged, values
    if not columns:
        raise InputError("there is no metric to compare with judges")
    if len(judges) < FEWEST_POINTS:
        raise InputError(f"a correlation needs {FEWEST_POINTS} outputs or more, here are {len(judges)}")
    return Columns(human, (), judges, columns, {}, segments, assessments.drawn_with(segments))


def agreements(columns: Columns, samples: int = 1000, seed: int = 12345) -> list[MetricAgreement]:
    """Correlate every metric with judges: Pearson, Spearman and Kendall, and Pearson within and between segments.

    Parameters
    ----------
    columns
        Scores of the same points by judges and metrics.
    samples
        Bootstrap samples; 0 gives no interval.
    seed
        Seed of the samples.
    """
    correlated = []
    for name, column in columns.metrics.items():
        both, segments, drawn = (column, columns.judges), columns.segments, columns.clusters
        correlations = {r: correlate(*both, r, samples, seed, drawn) for r in COEFFICIENTS}
        if segments is not None and len(np.unique(segments)) < len(column):
            correlations["pearson_within"] = correlate_within(*both, samples, seed, segments, drawn)
            places, first, numbers = np.unique(segments, return_index=True, return_inverse=True)
            if len(places) >= FEWEST_POINTS:
                one, other = (np.bincount(numbers, side) / np.bincount(numbers) for side in both)
                of_segments = None if drawn is None else drawn[first]
                correlations["pearson_between"] = correlate(one, other, "pearson", samples, seed, of_segments)
        correlated.append(MetricAgreement(name, columns.human, len(column), correlations))
    return correlated


def leave_one_out(columns: Columns) -> Iterator[tuple[str, MetricAgreement]]:
    """Correlate again without each of 4 or more points."""
    if len(columns.judges) <= FEWEST_POINTS:
        raise InputError(f"to leave one out, {FEWEST_POINTS + 1} systems are needed, here are {len(columns.judges)}")
    for index, point in enumerate(columns.points):
        others = np.delete(np.arange(len(columns.judges)), index)
        yield from ((point, agreement) for agreement in agreements(columns.at(others), samples=0))


def neighbour_windows(columns: Columns, size: int) -> Iterator[tuple[int, Columns]]:
    """Yield all windows of systems that judges rank next to each other, the best first, with the first rank.

    Correlations in windows show how well metrics distinguish similar systems (Kobayashi et al. 2024). Raises
    InputError for windows of fewer than 3 systems, or of more than all.

    Parameters
    ----------
    columns
        Scores of the systems by judges and metrics.
    size
        Systems of a window.

    Examples
    --------
    >>> columns = Columns("judges", ("A", "B", "C", "D"), np.array([1.0, 4.0, 2.0, 3.0]), {}, {})
    >>> [(rank, window.points) for rank, window in neighbour_windows(columns, 3)]
    [(1, ('B', 'D', 'C')), (2, ('D', 'C', 'A'))]
    """
    if not FEWEST_POINTS <= size <= len(columns.judges):
        said = f" is of {FEWEST_POINTS} to {len(columns.judges)} systems, not {size}"
        raise InputError(Parameter("window"), said)
    order = np.argsort(-columns.judges, kind="stable")
    for start in range(len(order) - size + 1):
        yield start + 1, columns.at(order[start : start + size])


def compare_metrics(columns: Columns, against: str | None = None) -> list[MetricPair]:
    """Test for every pair of metrics whether one agrees with judges more than the other, beyond chance.

    With `against` only pairs with that metric are tested. Metrics that score all points the same are left out. With
    Spearman's coefficient the test is an approximation.

    Parameters
    ----------
    columns
        Scores of the same points by judges and metrics; 4 points or more.
    against
        Name of the metric that all others are tested against; None: every pair is tested.
    """
    usable = [name for name, column in columns.metrics.items() if np.ptp(column) and np.ptp(columns.judges)]
    pairs = pair_metrics(usable, against, columns.metrics)
    if len(columns.judges) < FEWEST_TO_TEST:
        raise InputError(f"Williams' test needs {FEWEST_TO_TEST} points or more, here are {len(columns.judges)}")
    tested = []
    for coefficient in TESTED:
        values = {
            name: correlate(columns.metrics[name], columns.judges, coefficient, samples=0).value or 0.0
            for name in usable
        }
        for one, other in pairs:
            better, worse = (one, other) if values[one] >= values[other] else (other, one)
            between = correlate(columns.metrics[better], columns.metrics[worse], coefficient, samples=0).value or 0.0
            both = (values[better], values[worse])
            test = williams(*both, between, len(columns.judges))
            tested.append(MetricPair(columns.human, coefficient, better, worse, both, between, test))
    return tested


def pair_metrics(usable: Sequence[str], against: str | None, known: Collection[str]) -> list[tuple[str, str]]:
    """Pair the metrics that can be tested: all of `usable`, or each with `against`.

    `known` are all names. Raises InputError if fewer than two can be tested, UnknownNameError for another metric.
    """
    if against is not None and against not in known:
        raise UnknownNameError("metric", against, known)
    if len(usable) < 2:
        raise InputError(f"a test needs two metrics or more that tell points apart, here are {len(usable)}")
    return [pair for pair in combinations(usable, 2) if against in (None, *pair)]


FEWEST_COMMON = 50  # Comparisons in common that two annotators need to count for the mean (Grundkiewicz et al. 2015).
Outcomes = Counter[int]


@dataclass(frozen=True)
class AnnotatorAgreement:
    """Agreement of two annotators, or of one with itself."""

    one: str
    other: str  # Names; both empty for the weighted mean over all pairs
    kappa: float | None
    """(observed - expected) / (1 - expected); None if both always gave the same outcome."""
    observed: float
    expected: float  # Share of equal outcomes, and its value by chance
    comparisons: int  # Pairs of judgements of the same two outputs


def annotator_agreement(comparisons: Comparisons) -> list[AnnotatorAgreement]:
    """Compute Cohen's kappa of every pair of annotators who judged the same two outputs, and of each with itself.

    Chance is defined as by WMT (Bojar et al. 2014, section 3.2): the sum of the squared shares of the three outcomes
    in all common judgements; the two wins are distinguished by the order of the systems' names.

    >>> from softbleu.corpora.judgements import Comparisons
    >>> rows = [(0, "A", "B", 1, "x"), (0, "A", "B", 1, "y"), (1, "A", "B", -1, "x"), (1, "A", "B", 0, "y")]
    >>> [(pair.one, pair.other, pair.observed, pair.expected) for pair in annotator_agreement(Comparisons.of(rows))]
    [('x', 'y', 0.5, 0.375)]
    """
    same: Counter[tuple[int, int]] = Counter()
    total: Counter[tuple[int, int]] = Counter()
    said: defaultdict[tuple[int, int], Outcomes] = defaultdict(Counter)
    groups: defaultdict[tuple[int, ...], dict[int, Outcomes]] = defaultdict(dict)
    columns = (comparisons.segment, comparisons.first, comparisons.second, comparisons.annotator, comparisons.outcome)
    for *outputs, annotator, outcome in np.stack(columns, axis=1)[np.lexsort(columns[2::-1])].tolist():
        groups[tuple(outputs)].setdefault(annotator, Counter())[outcome] += 1
    for by_annotator in groups.values():
        annotators = sorted(by_annotator)
        for index, one in enumerate(annotators):
            mine = by_annotator[one]
            if mine.total() > 1:
                same[one, one] += sum(count * (count - 1) // 2 for count in mine.values())
                total[one, one] += mine.total() * (mine.total() - 1) // 2
                said[one, one] += mine
            for other in annotators[index + 1 :]:
                theirs = by_annotator[other]
                same[one, other] += sum(count * theirs[outcome] for outcome, count in mine.items())
                total[one, other] += mine.total() * theirs.total()
                said[one, other] += mine + theirs
    names = comparisons.annotators
    return [
        _kappa((names[one], names[other]), same[one, other], total[one, other], said[one, other])
        for one, other in sorted(total)
    ]


def mean_agreement(agreements: list[AnnotatorAgreement], *, within: bool) -> AnnotatorAgreement | None:
    """Average kappa over pairs of annotators, or `within` each, weighted by comparisons.

    None if no pair has `FEWEST_COMMON` comparisons in common.

    Parameters
    ----------
    agreements
        Agreements from `annotator_agreement`.
    within
        Average annotators with themselves, or with others.
    """
    counted = [
        pair
        for pair in agreements
        if (pair.one == pair.other) == within and pair.comparisons >= FEWEST_COMMON and pair.kappa is not None
    ]
    if not counted:
        return None
    weights = [pair.comparisons for pair in counted]
    kappa, observed, expected = (
        float(np.average([getattr(pair, name) for pair in counted], weights=weights))
        for name in ("kappa", "observed", "expected")
    )
    return AnnotatorAgreement("", "", kappa, observed, expected, sum(weights))


def _kappa(names: tuple[str, str], same: int, total: int, said: Outcomes) -> AnnotatorAgreement:
    observed = same / total
    expected = sum((count / said.total()) ** 2 for count in said.values())
    kappa = None if expected == 1 else (observed - expected) / (1 - expected)
    return AnnotatorAgreement(*names, kappa, observed, expected, total)


_BITS = {MINOR: 1, MAJOR: 2, "": 3}
_CREDIT = np.array([[0, 0, 0, 0], [0, 1, 0.5, 1], [0, 0.5, 1, 1], [0, 1, 1, 1]])
"""Credit of a character, by the judges' mark (rows: no, minor, major, both) and the predicted one (columns)."""


@dataclass(frozen=True, eq=False)
class Marks:
    """Spans that judges marked, and spans of metrics."""

    judged: SpanTable
    predicted: Sequence[SpanTable]
    texts: Mapping[str, Sequence[str]] | None = None  # Of each system, where they are known
    documents: Documents | None = None  # Documents of the segments, which samples draw


@dataclass(frozen=True, eq=False)
class SpanAgreement:
    """Agreement of a metric's spans with judges, micro-averaged over judgements."""

    metric: str
    precision: float | None
    recall: float | None
    f1: Estimate
    random: Estimate  # Expected F1 of the same number of random characters
    predicted: int  # Characters
    marked: int
    judgements: int


def span_agreements(marks: Marks, samples: int = 1000, seed: int = 12345) -> list[SpanAgreement]:
    """Compare the spans of each metric with judges, as WMT does (Blain et al. 2023; Alves et al. 2024).

    A character that both mark counts 1, or 1/2 if one mark is minor and the other major. Precision divides the sum by
    the predicted characters, recall by the marked ones. An empty span has one character. Each judgement of an output
    counts by itself; an output that a metric did not read has no spans. Random characters are not blank, and
    need the texts. Samples draw segments, or their documents.

    Parameters
    ----------
    marks
        Spans of judges and of metrics.
    samples, seed
        Bootstrap samples, 0 or more, and the seed of the draws.

    Examples
    --------
    >>> from softbleu.corpora.judgements import MarkedOutput
    >>> judges = SpanTable("judges", {"A": {0: [MarkedOutput("", (MarkedSpan(0, 4, "major"),))]}})
    >>> metric = SpanTable("m", {"A": {0: [MarkedOutput("", (MarkedSpan(2, 6, "minor"),))]}})
    >>> (agreement,) = span_agreements(Marks(judges, [metric]), samples=0)
    >>> agreement.precision, agreement.recall, agreement.f1.value
    (0.25, 0.25, 0.25)
    """
    for table in (marks.judged, *marks.predicted) if marks.texts is not None else ():
        table.check(marks.texts or {})
    return [_of_spans(marks, predicted, samples, seed) for predicted in marks.predicted]


def _of_spans(marks: Marks, predicted: SpanTable, samples: int, seed: int) -> SpanAgreement:
    judged = marks.judged.outputs
    if not judged.keys() & predicted.outputs.keys():
        raise InputError(f"{predicted.name} has spans of none of the judged systems {', '.join(judged)}")
    rows, places = [], list[int]()
    for system in judged.keys() & predicted.outputs.keys():
        lines = (marks.texts or {}).get(system)
        for segment, outputs in judged[system].items():
            said = [output.spans for output in predicted.outputs[system].get(segment, ())]
            line = None if lines is None else lines[segment]
            rows += [_counts(output.spans, said[0] if said else (), line) for output in outputs]
            places += [segment] * len(outputs)
    numbers = np.unique(
        drawn_with(np.array(places), None if marks.documents is None else marks.documents.numbers),
        return_inverse=True,
    )[1]
    sums = np.stack([np.bincount(numbers, column) for column in np.array(rows).T], axis=1)
    drawn = np.concatenate([sums.sum(axis=0)[None], *(c @ sums for c in bootstrap(len(sums), samples, seed))])
    right, guessed, marked, by_chance, spread = drawn.T
    chance = divide(2 * by_chance, (spread + marked) * (marks.texts is not None))
    shares = [divide(right, guessed), divide(right, marked), divide(2 * right, guessed + marked), chance]
    precision, recall, f1, random = (Estimate(None if np.isnan(v[0]) else float(v[0]), v[1:]) for v in shares)
    counts = int(guessed[0]), int(marked[0]), len(rows)
    return SpanAgreement(predicted.name, precision.value, recall.value, f1, random, *counts)


def _counts(judged: Sequence[MarkedSpan], predicted: Sequence[MarkedSpan], line: str | None) -> tuple[float, ...]:
    """Count characters: credit, predicted, marked; and the expected credit and number of random ones."""
    length = max([len(line or "") + 1, *(span.end + 1 for span in (*judged, *predicted) if line is None)])
    marks, guessed = (_flags(spans, length, line is not None) for spans in (judged, predicted))
    right = float(_CREDIT[marks, guessed].sum())
    sizes = float((guessed > 0).sum()), float((marks > 0).sum())
    if line is None or not guessed.any():
        return right, *sizes, 0.0, 0.0
    visible = np.array([not char.isspace() for char in line] + [False])
    shares = np.bincount(guessed[visible], minlength=4) / max(int(visible.sum()), 1)
    shares[0] = 0
    return right, *sizes, float((_CREDIT[marks[visible]] @ shares).sum()), float(shares.sum() * visible.sum())


def _flags(spans: Sequence[MarkedSpan], length: int, cut: bool) -> Integers:
    """Return bits of minor and major marks at each place of a line and at its end."""
    flags = np.zeros(length, np.int64)
    for start, end, severity in spans:
        if cut:
            start, end = min(start, length - 1), min(end, max(length - 1, start))
        flags[start : max(end, start + 1)] |= _BITS[severity]
    return flags
