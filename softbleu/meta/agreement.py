"""How well metrics agree with people: about systems, about single outputs, and about pairs of outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError, UnknownNameError
from softbleu.meta.correlation import (
    COEFFICIENTS,
    FEWEST_POINTS,
    FEWEST_TO_TEST,
    Correlation,
    WilliamsTest,
    correlate,
    williams,
)

if TYPE_CHECKING:
    from softbleu.corpora.judgements import Assessments, ScoreTable
    from softbleu.types import Floats


TESTED = ("pearson", "spearman")  # Coefficients whose differences are tested


@dataclass(frozen=True, eq=False)
class Columns:
    """Scores of the same points by people and by metrics."""

    human: str  # What the human scores are called
    points: tuple[str, ...]  # Names of the points; empty for single outputs
    people: Floats  # Of shape (points,)
    metrics: Mapping[str, Floats]  # The same by the name of the metric
    left_out: Mapping[str, tuple[str, ...]]  # Systems that were scored on one side only, by where they are missing

    @property
    def constant(self) -> list[str]:
        """Names of what scores all points the same: no correlation with it is defined."""
        columns = {self.human: self.people, **self.metrics}
        return [name for name, column in columns.items() if np.ptp(column) == 0]


@dataclass(frozen=True)
class MetricAgreement:
    """How a metric agrees with people."""

    metric: str
    human: str
    points: int  # How many systems, or outputs
    correlations: Mapping[str, Correlation]


@dataclass(frozen=True)
class MetricPair:
    """Two metrics beside one another, the one with the greater correlation first."""

    human: str
    coefficient: str  # What was correlated with, and how
    better: str
    worse: str
    values: tuple[float, float]  # Their correlations with people
    between: float  # Of both metrics
    test: WilliamsTest


def join_systems(metrics: Sequence[ScoreTable], human: str, scores: Mapping[str, float]) -> Columns:
    """Find the systems that people and all metrics scored. InputError: fewer than 3; the missing ones are named.

    >>> from softbleu.corpora.judgements import ScoreTable
    >>> table = ScoreTable("bleu", {"A": 30.0, "B": 20.0, "C": 10.0, "D": 5.0})
    >>> joined = join_systems([table], "people", {"A": 0.6, "B": 0.5, "C": 0.4})
    >>> joined.points, dict(joined.left_out)
    (('A', 'B', 'C'), {'people': ('D',)})
    """
    for table in metrics:
        if not table.systems:
            raise InputError(f"{table.name} has scores of segments only: give those of systems, too")
    sides: dict[str, Mapping[str, float]] = {human: scores, **{table.name: table.systems for table in metrics}}
    every = dict.fromkeys(name for side in sides.values() for name in side)
    left_out = {
        side: tuple(name for name in every if name not in given)
        for side, given in sides.items()
        if len(given) < len(every)
    }
    points = tuple(name for name in every if all(name in given for given in sides.values()))
    if len(points) < FEWEST_POINTS:
        lacking = "; ".join(f"{side} lacks {', '.join(names)}" for side, names in left_out.items())
        raise InputError(
            f"a correlation needs {FEWEST_POINTS} systems or more, here are {len(points)}"
            + (f": {lacking}" * bool(lacking))
        )
    columns = {side: np.array([given[name] for name in points], np.float64) for side, given in sides.items()}
    people = columns.pop(human)
    return Columns(human, points, people, columns, left_out)


def join_assessments(metrics: Sequence[ScoreTable], human: str, assessments: Assessments) -> Columns:
    """Find what the metrics gave to single assessed outputs. InputError: fewer than 3, or of other systems."""
    columns: dict[str, Floats] = {}
    people: Floats | None = None
    for table in metrics:
        if not table.segments:
            raise InputError(f"{table.name} has scores of systems only: give those of segments, too")
        judged, found = assessments.pick(table.segments, table.name)
        if people is not None and len(judged) != len(people):
            raise InputError(f"{table.name} scored other systems than {metrics[0].name}: score the same with both")
        people, columns[table.name] = judged, found
    if people is None:
        raise InputError("there is no metric to compare with people")
    if len(people) < FEWEST_POINTS:
        raise InputError(f"a correlation needs {FEWEST_POINTS} outputs or more, here are {len(people)}")
    return Columns(human, (), people, columns, {})


def agreements(columns: Columns, samples: int = 1000, seed: int = 12345) -> list[MetricAgreement]:
    """Correlate every metric with people: Pearson, Spearman and Kendall, with bootstrap intervals over the points."""
    found = []
    for name, column in columns.metrics.items():
        correlations = {each: correlate(column, columns.people, each, samples, seed) for each in COEFFICIENTS}
        found.append(MetricAgreement(name, columns.human, len(column), correlations))
    return found


def leave_one_out(columns: Columns) -> Iterator[tuple[str, MetricAgreement]]:
    """Correlate again without each of the points, 4 or more: which of them makes the correlation what it is."""
    if len(columns.people) <= FEWEST_POINTS:
        raise InputError(f"to leave one out, {FEWEST_POINTS + 1} systems are needed, here are {len(columns.people)}")
    for place, point in enumerate(columns.points):
        rest = {name: np.delete(column, place) for name, column in columns.metrics.items()}
        others = Columns(columns.human, (), np.delete(columns.people, place), rest, {})
        for each in agreements(others, samples=0):
            yield point, each


def compare_metrics(columns: Columns, against: str | None = None) -> list[MetricPair]:
    """Test of every pair of metrics whether one agrees with people more than the other, beyond chance.

    With `against` only pairs with that metric are tested. Metrics that score all points the same are left out. With
    Spearman's coefficient the test is an approximation.
    """
    if against is not None and against not in columns.metrics:
        raise UnknownNameError("metric", against, columns.metrics)
    usable = [name for name in columns.metrics if name not in columns.constant]
    if len(usable) < 2 or columns.human in columns.constant:
        raise InputError(f"a test needs two metrics or more that tell points apart, here are {len(usable)}")
    if len(columns.people) < FEWEST_TO_TEST:
        raise InputError(f"Williams' test needs {FEWEST_TO_TEST} points or more, here are {len(columns.people)}")
    found = []
    for coefficient in TESTED:
        values = {name: _value(columns.metrics[name], columns.people, coefficient) for name in usable}
        for one, other in combinations(usable, 2):
            if against not in (None, one, other):
                continue
            better, worse = (one, other) if values[one] >= values[other] else (other, one)
            between = _value(columns.metrics[better], columns.metrics[worse], coefficient)
            both = (values[better], values[worse])
            test = williams(*both, between, len(columns.people))
            found.append(MetricPair(columns.human, coefficient, better, worse, both, between, test))
    return found


def _value(one: Floats, other: Floats, coefficient: str) -> float:
    value = correlate(one, other, coefficient, samples=0).value
    if value is None:
        raise InputError("scores that are all the same have no correlation")
    return value
