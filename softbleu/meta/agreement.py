"""How well metrics agree with judges, about systems and about single outputs; and judges with one another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError, Parameter, UnknownNameError
from softbleu.meta.correlation import (
    COEFFICIENTS,
    FEWEST_POINTS,
    FEWEST_TO_TEST,
    Estimate,
    WilliamsTest,
    correlate,
    correlate_within,
    williams,
)

if TYPE_CHECKING:
    from softbleu.corpora.judgements import Assessments, Comparisons, ScoreTable
    from softbleu.types import Floats, Integers

TESTED = ("pearson", "spearman")  # Coefficients whose differences are tested


@dataclass(frozen=True, eq=False)
class Columns:
    """Scores of the same points by judges and by metrics."""

    human: str  # What the human scores are called
    points: tuple[str, ...]  # Names of the points; empty for single outputs
    judges: Floats  # Of shape (points,)
    metrics: Mapping[str, Floats]  # The same by the name of the metric
    left_out: Mapping[str, tuple[str, ...]]  # Systems that were scored on one side only, by where they are missing
    segments: Integers | None = None  # Segment of each point; None where points are of none
    clusters: Integers | None = None  # What each point is drawn with, such as its segment; None: alone

    def at(self, chosen: Integers) -> Columns:
        """Take some of the points, systems, in this order."""
        metrics = {name: column[chosen] for name, column in self.metrics.items()}
        return Columns(self.human, tuple(self.points[place] for place in chosen), self.judges[chosen], metrics, {})

    @property
    def constant(self) -> list[str]:
        """Names of what scores all points the same: no correlation with it is defined."""
        columns = [(self.human, self.judges), *self.metrics.items()]
        return [name for name, column in columns if np.ptp(column) == 0]


@dataclass(frozen=True)
class MetricAgreement:
    """How a metric agrees with judges."""

    metric: str
    human: str
    points: int  # How many systems, or outputs
    correlations: Mapping[str, Estimate]

    @property
    def values(self) -> list[float | None]:
        """The correlations as numbers."""
        return [correlation.value for correlation in self.correlations.values()]


@dataclass(frozen=True)
class MetricPair:
    """Two metrics side by side, the one with the greater correlation first."""

    human: str
    coefficient: str  # What was correlated with, and how
    better: str
    worse: str
    values: tuple[float, float]  # Their correlations with judges
    between: float  # Of both metrics
    test: WilliamsTest
    corrected: float | None = None  # Its p-value after Holm's correction for all tests of the table


def join_systems(
    metrics: Sequence[ScoreTable], human: str, scores: Mapping[str, float], fewest: int = FEWEST_POINTS
) -> Columns:
    """Find the systems that judges and all metrics scored. InputError: fewer than that; the missing ones are named.

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
            raise InputError(f"{table.name} has scores of segments only: give those of systems, too")
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
    """Find what the metrics gave to single assessed outputs. InputError: fewer than 3, or of other systems.

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
        if not table.segments:
            raise InputError(f"{table.name} has scores of systems only: give those of segments, too")
        judged, values, segments = assessments.pick(table.segments, table.name)
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
    """Correlate again without each of the points, 4 or more: which of them makes the correlation what it is."""
    if len(columns.judges) <= FEWEST_POINTS:
        raise InputError(f"to leave one out, {FEWEST_POINTS + 1} systems are needed, here are {len(columns.judges)}")
    for index, point in enumerate(columns.points):
        others = np.delete(np.arange(len(columns.judges)), index)
        yield from ((point, agreement) for agreement in agreements(columns.at(others), samples=0))


def neighbour_windows(columns: Columns, size: int) -> Iterator[tuple[int, Columns]]:
    """Go through all windows of so many systems that judges rank next to one another, the best first, from rank 1.

    How well metrics tell similar systems apart (Kobayashi et al. 2024). InputError: fewer than 3 systems in a
    window, or fewer systems than that.

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
    """Test of every pair of metrics whether one agrees with judges more than the other, beyond chance.

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
    """Pair the metrics that can be tested: all of `usable`, or those with one, `against`.

    `known` are the names that there are. InputError: fewer than two can be tested; UnknownNameError: no such metric.
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
    """Agreement of two annotators, or of one with itself where both are the same."""

    one: str
    other: str  # Names; both empty for the weighted mean over all pairs
    kappa: float | None
    """(observed - expected) / (1 - expected); None where everything that both said was the same outcome."""
    observed: float
    expected: float  # Share of equal outcomes, and that of chance
    comparisons: int  # Pairs of judgements of the same two outputs


def annotator_agreement(comparisons: Comparisons) -> list[AnnotatorAgreement]:
    """Cohen's kappa of every pair of annotators who judged the same two outputs, and of each with itself.

    Chance is that of WMT (Bojar et al. 2014, section 3.2): the squared shares of the three outcomes in all that both
    said, of the pairs in common; `a` better and `b` better are told apart by the order of the systems' names.

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
        _agreement((names[one], names[other]), same[one, other], total[one, other], said[one, other])
        for one, other in sorted(total)
    ]


def mean_agreement(agreements: list[AnnotatorAgreement], *, within: bool) -> AnnotatorAgreement | None:
    """Mean kappa over pairs of annotators, or `within` each, weighted by comparisons.

    None where no pair has `FEWEST_COMMON` comparisons in common.

    Parameters
    ----------
    agreements
        Those of `annotator_agreement`.
    within
        Take annotators with themselves, or with others.
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


def _agreement(names: tuple[str, str], same: int, total: int, said: Outcomes) -> AnnotatorAgreement:
    observed = same / total
    expected = sum((count / said.total()) ** 2 for count in said.values())
    kappa = None if expected == 1 else (observed - expected) / (1 - expected)
    return AnnotatorAgreement(*names, kappa, observed, expected, total)
