"""Ranking of metrics over the tasks of a campaign, as in WMT's metrics task: permutation tests and clusters.

A task is a measure of agreement with judges on one set of outputs. Two metrics are compared by exchanging their
scores at random (Deutsch, Dror and Roth 2021): p is the share of permutations in which the first leads by no less.
The differences of all tasks, added up permutation by permutation, test the average over tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError, Parameter, UnknownNameError, known_name
from softbleu.io.reading import parse_score
from softbleu.meta.agreement import JudgedPoints
from softbleu.meta.evidence import Evidence, IntervalSettings
from softbleu.meta.measures import COEFFICIENTS, FEWEST_POINTS, LITTLE, Combine, JudgedPairs, correlate, divide
from softbleu.resample import ALIKE, bits, flip_p_values, sign_sums
from softbleu.tables import Table, Value

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers, Progress

GREATEST_P = 0.05  # A metric outperforms another if p is at most this


@dataclass(frozen=True)
class Permutations:
    """Random exchanges of two metrics' scores."""

    count: int = 1000
    seed: int = 12345
    task: str = ""  # Name of the task: each has draws of its own
    exchanged: str = "outputs"  # One of `softbleu.meta.evidence.EXCHANGED`
    progress: Progress | None = None  # Called with the permutations that are done and all, by slow measures

    def draw(self, *shape: int) -> Iterator[Integers]:
        """Yield which units are kept, 1, and which are exchanged, 0, in batches (permutations, *shape).

        The first permutation exchanges nothing.
        """
        return chain([np.ones((1, *shape), np.int8)], bits(shape, self.count, self.seeds, "task"))

    @property
    def seeds(self) -> list[int]:
        """Seed of the draws, with the name of the task."""
        return [self.seed, *self.task.encode()]


@dataclass(frozen=True, eq=False)
class Measured:
    """Agreement of metrics with judges in a task, and differences of every two metrics after permutations."""

    values: Mapping[str, float | None]  # By metric, in the order of the rows of `permuted`; None: undefined
    permuted: Floats
    """Agreement of the first metric minus that of the second of every two, (pairs, 1 + permutations), the observed
    first; pairs are those of `itertools.combinations`, of the metrics with values."""
    chance: float | None = None  # Agreement of a metric that knows nothing, of accuracies of outputs and soft ones
    measure: str = ""  # One of `TASK_MEASURES`
    set: str = ""  # Name of the set of outputs, such as its direction of translation; empty for one set

    @property
    def name(self) -> str:
        """Name of the measure and the set."""
        return f"{self.measure} {self.set}".strip()

    def scaled(self) -> Measured:
        """Express a correlation r as (r + 1) / 2, so that it can be averaged with shares."""
        if self.measure not in _CORRELATIONS:
            return self
        values = {name: None if r is None else (r + 1) / 2 for name, r in self.values.items()}
        return replace(self, values=values, permuted=self.permuted / 2)

    def difference(self, one: str, other: str) -> Floats:
        """Return the differences of two metrics, (1 + permutations,)."""
        names = [name for name, value in self.values.items() if value is not None]
        if names.index(one) > names.index(other):
            return -self.difference(other, one)
        found: Floats = self.permuted[list(combinations(names, 2)).index((one, other))]
        return found


def soft_accuracies(judged: JudgedPoints, permutations: Permutations) -> Measured:
    """Compute soft pairwise accuracy of systems (Thompson et al. 2024).

    Values are those of `softbleu.meta.measures.soft_accuracy`, with as many sign flips as permutations. Permutations
    are compared by the p-values that more and more flips tend to, of the normal distribution: to flip signs anew in
    each would take a hundred times as long.

    Parameters
    ----------
    judged
        Scores of outputs.
    permutations
        Number and seed of the permutations.
    """
    tables = judged.grids(np.stack([judged.judges, *judged.metrics.values()]))
    known = ~np.isnan(tables[0])
    one, other = np.triu_indices(len(known), 1)
    shared = (known[one] & known[other]).any(axis=1)
    one, other = one[shared], other[shared]
    if not permutations.count:
        raise InputError("soft pairwise accuracy comes from sign flips: ask for ", Parameter("samples"))
    flips = permutations.count, permutations.seed
    said, *found = (flip_p_values(np.nan_to_num(table[one] - table[other]), *flips) for table in tables)
    values = [1 - float(np.abs(said - by_metric).mean()) for by_metric in found]
    judged_segments = known.any(axis=0)
    known = known[:, judged_segments].astype(np.float64)
    scores = np.nan_to_num(judged.grids(judged.standardised())[..., judged_segments])
    pairs = _SystemPairs(known, one, other)
    centred = np.where(known, tables[0][:, judged_segments] - judged.judges.mean(), 0)
    by_judges = pairs.p_values(*pairs.moments(centred))
    shape = known.shape if permutations.exchanged == "outputs" else (1, known.shape[1])
    drawn = chain.from_iterable(permutations.draw(*shape))
    found = []
    for number, kept in enumerate(drawn):
        found.append(pairs.exchanged(scores * kept, scores * (1 - kept), by_judges))
        if permutations.progress is not None:
            permutations.progress(number, permutations.count)
    chance = 1 - float(np.abs(said - 0.5).mean())
    return Measured(dict(zip(judged.metrics, values, strict=True)), _differences(np.array(found)), chance)


@dataclass(frozen=True, eq=False)
class _SystemPairs:
    """Pairs of systems, and which segments they share."""

    known: Floats  # 1 where a segment of a system is judged, else 0, (systems, segments)
    one: Integers
    other: Integers

    def moments(self, scores: Floats) -> tuple[Floats, Floats]:
        """Sum the differences of each pair, and their squares, (…, pairs); scores are 0 where they are unknown."""
        sums, squares, products = scores @ self.known.T, scores**2 @ self.known.T, scores @ scores.swapaxes(-1, -2)
        there, back = (..., self.one, self.other), (..., self.other, self.one)
        return sums[there] - sums[back], squares[there] + squares[back] - 2 * products[there]

    def p_values(self, sums: Floats, squares: Floats) -> Floats:
        """Return the limit of one-sided p-values of many sign flips."""
        from scipy.special import ndtr

        varied = squares > ALIKE
        ratios = np.divide(-sums, np.sqrt(squares, where=varied, out=squares), out=sums, where=varied)
        return np.where(varied, ndtr(ratios), 0.5)

    def exchanged(self, kept: Floats, taken: Floats, judges: Floats) -> Floats:
        """Compute the accuracy of `kept` scores of each metric filled up with scores `taken` of each other.

        Returns (metrics, metrics); the diagonal has the metrics' own. `judges` are p-values of pairs.
        """
        (sums, squares), (other_sums, other_squares) = self.moments(kept), self.moments(taken)
        metrics, systems, segments = kept.shape
        products = kept.reshape(-1, segments) @ taken.reshape(-1, segments).T
        products = products.reshape(metrics, systems, metrics, systems).transpose(0, 2, 1, 3)
        crossed = products[..., self.one, self.other] + products[..., self.other, self.one]
        both = squares[:, None] + other_squares - 2 * crossed
        accuracies: Floats = 1 - np.abs(self.p_values(sums[:, None] + other_sums, both) - judges).mean(axis=-1)
        return accuracies


def tied_accuracies(judged: JudgedPoints, permutations: Permutations) -> Measured:
    """Compute tie-calibrated accuracy of outputs by segment (Deutsch, Foster and Freitag 2023).

    Each metric keeps its tie threshold. With `exchanged="outputs"` permutations exchange the verdicts of two metrics
    on a pair of outputs, as in mt-metrics-eval; with `"segments"`, those on all pairs of a segment.

    Parameters
    ----------
    judged
        Scores of outputs.
    permutations
        Number and seed of the permutations.
    """
    assert judged.segments is not None
    values: dict[str, float | None] = {}
    right, weights, segments, chance = [], np.zeros(0), np.zeros(0, np.int64), 0.0
    for name, scores in judged.metrics.items():
        pairs = JudgedPairs.within(judged.judges, scores, judged.segments)
        if pairs is None:
            raise InputError("accuracy by segment needs two judged outputs of a segment")
        values[name], epsilon = pairs.accuracy(calibrated=True) or (0.0, 0.0)
        said = np.where(np.abs(pairs.differences) <= epsilon, 0, np.sign(pairs.differences))
        right.append((said == pairs.judges).astype(np.int8))
        weights, segments, chance = pairs.base / pairs.base.sum(), pairs.one, pairs.chance
    if permutations.exchanged == "segments":
        columns = (np.array(right) * weights)[..., None]
        return Measured(values, exchange_sums(columns, segments, lambda shares: shares, permutations), chance)
    sizes, kinds = np.unique(weights, return_inverse=True)
    both = [*combinations(right, 2)]
    # Exchanging equal verdicts changes nothing.
    apart = (np.bincount(kinds[one != other], minlength=len(sizes)) for one, other in both)
    drawn = sign_sums(apart, permutations.count, permutations.seeds)
    permuted = [
        np.append((one - other) @ weights, signs @ sizes) for (one, other), signs in zip(both, drawn, strict=True)
    ]
    return Measured(values, np.array(permuted).reshape(-1, 1 + permutations.count), chance)


def exchange_sums(columns: Floats, units: Integers, combine: Combine, permutations: Permutations) -> Floats:
    """Measure every two metrics after exchanges of units: differences, (pairs, 1 + permutations).

    Parameters
    ----------
    columns
        Rows of each metric, whose sums are exchanged, (metrics, points, k).
    units
        Unit of each point; those of one unit are exchanged together.
    combine
        Makes a value of k sums, as arrays; 0 where it is undefined.
    permutations
        Random exchanges.
    """
    numbers = np.unique(units, return_inverse=True)[1]
    metrics, _, size = columns.shape
    sums = np.stack([np.bincount(numbers, column) for side in columns for column in side.T], axis=1)
    kept = np.concatenate([batch.astype(np.float64) @ sums for batch in permutations.draw(len(sums))])
    sides = (side.reshape(-1, metrics, size).transpose(2, 0, 1) for side in (kept, sums.sum(axis=0) - kept))
    kept, taken = (np.ascontiguousarray(side) for side in sides)
    return _differences(np.nan_to_num(combine(*(kept[..., None] + taken[..., None, :]))))


def exchange_scores(scores: Floats, measure: Callable[[Floats], Floats], permutations: Permutations) -> Floats:
    """Measure every two metrics anew after exchanges of scores: differences, (pairs, 1 + permutations).

    Parameters
    ----------
    scores
        Scores of points by metrics, (metrics, points).
    measure
        Makes values, (permutations,), of mixed scores, (permutations, points).
    permutations
        Random exchanges.
    """
    kept = np.concatenate([*permutations.draw(scores.shape[1])])
    permuted = [
        measure(np.where(kept, first, second)) - measure(np.where(kept, second, first))
        for first, second in combinations(scores, 2)
    ]
    return np.array(permuted).reshape(-1, len(kept))


def _differences(agreement: Floats) -> Floats:
    """Return the differences of every two metrics, (pairs, permutations).

    `agreement[k, i, j]` is that of metric i with the judges, where permutation k gives it some of metric j's scores.
    """
    first, second = np.triu_indices(agreement.shape[-1], 1)
    apart: Floats = agreement[:, first, second] - agreement[:, second, first]
    return apart.T


def _coefficients(coefficient: str, judged: JudgedPoints, permutations: Permutations) -> Measured:
    """Correlate metrics with judges, over all outputs or systems; None where a correlation is undefined."""
    one = COEFFICIENTS[coefficient]
    values = {
        name: correlate(scores, judged.judges, coefficient, samples=0).value
        for name, scores in judged.metrics.items()
    }
    whole = replace(judged, metrics={name: judged.metrics[name] for name, r in values.items() if r is not None})
    if one.columns is None:
        return Measured(values, _ordered(whole, permutations, _tau))
    if not whole.metrics:
        return Measured(values, np.zeros((0, 1 + permutations.count)))
    by_segment = permutations.exchanged == "segments" and judged.segments is not None
    units = judged.segments if by_segment else np.arange(len(judged.judges))
    assert units is not None
    columns = np.stack([one.columns(scores, judged.judges) for scores in whole.standardised()])
    return Measured(values, exchange_sums(columns, units, one.combine, permutations))


def pairwise_accuracies(judged: JudgedPoints, permutations: Permutations) -> Measured:
    """Compute the share of pairs of systems that each metric orders as judges do (Kocmi et al. 2021).

    Parameters
    ----------
    judged
        Scores of systems.
    permutations
        Number and seed of the permutations.
    """
    values: dict[str, float | None] = {
        name: (JudgedPairs.among(judged.judges, scores).accuracy(calibrated=False) or (None,))[0]
        for name, scores in judged.metrics.items()
    }
    return Measured(values, _ordered(judged, permutations, lambda orders, said: (orders == said).mean(axis=1)))


def _ordered(
    judged: JudgedPoints, permutations: Permutations, agreement: Callable[[Floats, Floats], Floats]
) -> Floats:
    """Compare the orders of every two systems by judges and by exchanged scores of every two metrics."""
    one, other = np.triu_indices(len(judged.judges), 1)
    said = np.sign(judged.judges[one] - judged.judges[other])

    def agreed(scores: Floats) -> Floats:
        apart = scores[:, one] - scores[:, other]
        return agreement(np.where(np.abs(apart) > ALIKE, np.sign(apart), 0.0), said)

    return exchange_scores(judged.standardised(), agreed, permutations)


def _tau(orders: Floats, said: Floats) -> Floats:
    """Kendall's tau-b of orders of pairs; 0 where it is undefined."""
    return np.nan_to_num(divide(orders @ said, np.sqrt((orders != 0).sum(axis=1) * (said != 0).sum())))


TaskMeasure = Callable[[JudgedPoints, Permutations], Measured]
_BY_SUMS = [name for name, one in COEFFICIENTS.items() if one.columns is not None]
OUTPUT_MEASURES: dict[str, TaskMeasure] = {
    "spa": soft_accuracies,
    "acc_eq": tied_accuracies,
    **{name: partial(_coefficients, name) for name in _BY_SUMS},
}
SYSTEM_MEASURES: dict[str, TaskMeasure] = {
    **{f"systems_{name}": partial(_coefficients, name) for name in (*_BY_SUMS, "kendall")},
    "systems_accuracy": pairwise_accuracies,
}
TASK_MEASURES = {**OUTPUT_MEASURES, **SYSTEM_MEASURES}
"""Measures of agreement by name: of single outputs, and of scores of systems."""
_CORRELATIONS = {prefix + name for name in COEFFICIENTS for prefix in ("", "systems_")}
"""Measures from -1 to 1; the others are shares, from 0 to 1."""
AVERAGE = "average"
CLUSTER = " cluster"  # Ending of the columns of clusters


def measure_tasks(evidence: Evidence, settings: IntervalSettings) -> tuple[list[Measured], list[str]]:
    """Measure the agreement of metrics in each task of a set; also return notes on outputs left out.

    Only outputs that all metrics scored count. Human scores of systems are those given, or means of judged outputs.

    Parameters
    ----------
    evidence
        Scores of metrics and judgements of outputs, or of systems.
    settings
        Permutations (`samples`) and their seed, what they exchange, and the tasks.
    """
    given, assessments = evidence.human or evidence.rankings, evidence.assessments
    usual: tuple[str, ...] = ("systems_pearson", "systems_accuracy") if assessments is None else ("spa", "acc_eq")
    if assessments is not None and not assessments.systems:
        usual = ("pearson",)
    named = [known_name("task", name, TASK_MEASURES) for name in dict.fromkeys(settings.tasks or usual)]
    if assessments is not None and assessments.documents is not None:
        said = "permutations exchange outputs or segments: leave out ", Parameter("documents"), ", or name "
        raise InputError(*said, Parameter("level", "document"))
    outputs, notes = (None, []) if assessments is None else judged_outputs(evidence)
    systems = None
    tasks = []
    for name in named:
        task = f"{name} {evidence.direction}"
        draws = Permutations(settings.samples, settings.seed, task, settings.exchange, evidence.progress)
        if name in SYSTEM_MEASURES:
            systems = systems or judged_systems(evidence if given else evidence.with_means("systems")[0])
        judged = systems if name in SYSTEM_MEASURES else outputs
        if judged is None:
            raise InputError(f"{name} needs judgements of single outputs: give ", Parameter("assessments"))
        measured = replace(TASK_MEASURES[name](judged, draws), measure=name, set=evidence.direction)
        if (chance := measured.chance) is not None:
            blind = [metric for metric, value in measured.values.items() if (value or 0.0) < chance + LITTLE]
            notes += [f"{name}: not above chance, {chance:.3f}: {', '.join(blind)}"] * bool(blind)
        undefined = [metric for metric, value in measured.values.items() if value is None]
        notes += [f"{name}: undefined, as all scores are the same: {', '.join(undefined)}"] * bool(undefined)
        tasks.append(measured)
    return tasks, notes


def judged_outputs(evidence: Evidence) -> tuple[JudgedPoints, list[str]]:
    """Find the judged outputs that all metrics scored; also return notes on others."""
    tables, assessments = evidence.need_metrics(), evidence.assessments
    assert assessments is not None
    if assessments.texts is not None:
        (columns,) = evidence.of_outputs()
        return columns, []
    scored = [table.need_segments() for table in tables]
    common = [name for name in scored[0] if all(name in segments for segments in scored)]
    sides = [assessments.tables({name: table.segments[name] for name in common}, table.name) for table in tables]
    if not len(sides[0][0]):
        raise InputError(f"no judged system has scores by all of {', '.join(table.name for table in tables)}")
    known = ~np.any([np.isnan(judges) for judges, _ in sides], axis=0)
    systems, segments = np.nonzero(known)
    metrics = {table.name: values[known] for table, (_, values) in zip(tables, sides, strict=True)}
    if len(segments) < FEWEST_POINTS:
        raise InputError(f"agreement needs {FEWEST_POINTS} outputs or more that all metrics scored")
    most = int(np.any([~np.isnan(judges) for judges, _ in sides], axis=0).sum())
    notes = [f"{most - len(segments):,} judged outputs lack a score by a metric: left out for all"]
    return JudgedPoints(sides[0][0][known], metrics, systems, segments), notes * (len(segments) < most)


def judged_systems(evidence: Evidence) -> JudgedPoints:
    """Find the systems that judges and all metrics scored; metrics without scores of systems have means."""
    tables = [replace(table, systems=table.systems or table.means()) for table in evidence.need_metrics()]
    joined = replace(evidence, metrics=tables).of_systems()
    if len(joined) > 1:
        names = ", ".join(columns.human for columns in joined)
        raise InputError(f"a task has one kind of human scores of systems, here are {names}")
    return joined[0]


def average(tasks: Sequence[Measured], weights: Sequence[float]) -> Measured:
    """Average tasks by weights that add up to 1: values, and differences permutation by permutation.

    A metric that lacks a task has no average.
    """
    scaled = [task.scaled() for task in tasks]
    names = dict.fromkeys(name for one in scaled for name in one.values)
    values: dict[str, float | None] = {}
    for name in names:
        found = [one.values.get(name) for one in scaled]
        known = [value for value in found if value is not None]
        whole = len(known) == len(found)
        values[name] = sum(w * value for w, value in zip(weights, known, strict=True)) if whole else None
    pairs = combinations([name for name, value in values.items() if value is not None], 2)
    permuted = [
        sum(weight * one.difference(*pair) for weight, one in zip(weights, scaled, strict=True)) for pair in pairs
    ]
    return Measured(values, np.array(permuted).reshape(-1, tasks[0].permuted.shape[1]))


def p_value(differences: Floats) -> float | None:
    """Return the share of permutations with no smaller a difference than the observed; None without permutations.

    >>> p_value(np.array([0.2, 0.1, 0.3, -0.2, 0.2]))
    0.5
    """
    return float((differences[1:] >= differences[0] - ALIKE).mean()) if len(differences) > 1 else None


def rank(measured: Measured) -> dict[str, int | None]:
    """Rank metrics by clusters, the best first: a cluster ends before a metric that one of it outperforms.

    As in WMT's metrics task (Freitag et al. 2024): each metric is compared with all before it in the cluster, and
    outperformed if p is .05 or less. Without permutations clusters are None.

    >>> permuted = np.array([[0.1, 0.0, 0.2], [0.3, 0.0, 0.1], [0.2, 0.0, 0.1]])
    >>> rank(Measured({"a": 0.7, "b": 0.6, "c": 0.4}, permuted))
    {'a': 1, 'b': 1, 'c': 2}
    """
    values = {name: value for name, value in measured.values.items() if value is not None}
    order = sorted(values, key=lambda name: (-values[name], name))
    ranks: dict[str, int | None] = {}
    cluster: list[str] = []
    number = 1
    for name in order:
        found = [p_value(measured.difference(better, name)) for better in cluster]
        if any(p is not None and p <= GREATEST_P for p in found):
            number, cluster = number + 1, []
        cluster.append(name)
        ranks[name] = number if measured.permuted.shape[1] > 1 or len(values) < 2 else None
    return ranks


def task_weights(tasks: Sequence[Measured], given: Sequence[str] | Mapping[str, float]) -> list[float]:
    """Multiply the weights of each task's measure and set, 1 unless given, and scale them to add up to 1.

    Parameters
    ----------
    tasks
        The tasks.
    given
        Weights by name of a measure or set, also as texts ``NAME=WEIGHT``.
    """
    weights: dict[str, float] = {}
    known = dict.fromkeys(part for task in tasks for part in (task.measure, task.set) if part)
    for name, said in given.items() if isinstance(given, Mapping) else (text.rpartition("=")[::2] for text in given):
        if name not in known:
            raise UnknownNameError("measure or set", name, known)
        try:
            weights[name] = parse_score(said)
        except ValueError:
            weights[name] = -1.0
        if weights[name] < 0:
            raise InputError(Parameter("weights"), f": {said!r} is not a weight, a number from 0 to 1e+100")
    made = [weights.get(task.measure, 1.0) * weights.get(task.set, 1.0) for task in tasks]
    if not (total := sum(made)):
        raise InputError(Parameter("weights"), ": no task has a weight above 0")
    return [weight / total for weight in made]


def _columns(tasks: Sequence[Measured], overall: Measured) -> dict[str, Measured]:
    """Name the average, if there are several tasks, and the tasks."""
    return {**({AVERAGE: overall} if len(tasks) > 1 else {}), **{task.name: task for task in tasks}}


def ranking_table(tasks: Sequence[Measured], settings: IntervalSettings) -> Table:
    """Make a row per metric, the best first: its average and its value in each task, each with its cluster."""
    weights = task_weights(tasks, settings.weights)
    overall = average(tasks, weights)
    columns = _columns(tasks, overall)
    ranks = {name: rank(measured) for name, measured in columns.items()}

    def place(metric: str) -> tuple[bool, float, str]:
        known = [value for task in tasks if (value := task.scaled().values.get(metric)) is not None]
        value = overall.values[metric]
        return value is None, -(sum(known) / max(1, len(known)) if value is None else value), metric

    rows: list[dict[str, Value]] = []
    for metric in sorted(overall.values, key=place):
        rows.append({"metric": metric})
        for name, measured in columns.items():
            rows[-1] |= {name: measured.values.get(metric), f"{name}{CLUSTER}": ranks[name].get(metric)}
    marked = [
        (number, 1 + 2 * place + more)
        for number, row in enumerate(rows)
        for place, name in enumerate(columns)
        for more in range(2 * (row[f"{name}{CLUSTER}"] == 1))
    ]
    return Table.of(rows, facts=_facts(tasks, weights, settings), marked=marked)


def tests_table(tasks: Sequence[Measured], settings: IntervalSettings) -> Table:
    """Make a row per task and pair of metrics, and for the average: values, difference and p of the permutations."""
    weights = task_weights(tasks, settings.weights)
    columns = _columns(tasks, average(tasks, weights))
    rows: list[list[Value]] = []
    for name, measured in columns.items():
        values = {metric: value for metric, value in measured.values.items() if value is not None}
        for better, worse in combinations(sorted(values, key=lambda metric: (-values[metric], metric)), 2):
            one, other, p = values[better], values[worse], p_value(measured.difference(better, worse))
            rows.append([name, better, worse, one, other, one - other, p])
    names = ["task", "better", "worse", "of_better", "of_worse", "difference", "p_value"]
    return Table(names, rows, _facts(tasks, weights, settings))


def _facts(tasks: Sequence[Measured], weights: Sequence[float], settings: IntervalSettings) -> dict[str, Value]:
    equal = len(set(weights)) == 1
    shown = {f"weight of {task.name}": weight for task, weight in zip(tasks, weights, strict=True)}
    facts = dict[str, Value](permutations=settings.samples, exchanged=settings.exchange, seed=settings.seed)
    if len(tasks) > 1 and any(task.measure in _CORRELATIONS for task in tasks):
        facts[AVERAGE] = "of shares, and of correlations as (r + 1) / 2"
    return facts | ({} if equal else shown)
