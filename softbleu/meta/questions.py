"""Questions about metrics and judges: a function per question, from evidence to a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.judgements import Assessments, Comparisons, ScoreTable
from softbleu.errors import InputError, Parameter, known_name
from softbleu.meta import agreement, measures
from softbleu.meta.agreement import JudgedPoints, agreements, judges_left_out, pair_metrics, pairs_left_out
from softbleu.meta.campaign import Measured, measure_tasks, ranking_table, tests_table
from softbleu.meta.evidence import Evidence, IntervalSettings
from softbleu.meta.measures import COEFFICIENTS, FEWEST_POINTS, Estimate, JudgedPairs, correlate, difference
from softbleu.resample import correct
from softbleu.tables import Table, Tabular, Value
from softbleu.types import Cells, Fields

if TYPE_CHECKING:
    from softbleu.types import Floats

_CORRECTED = "{}, two-sided; corrected after Holm"
_JUDGEMENTS = (Parameter("human"), ", ", Parameter("rankings"), " or ", Parameter("assessments"))
_SIGNIFICANT = 0.05
_ACCURACY = "accuracy, "  # Beginning of names of measures
_SPAN_SHARES, _SPAN_COUNTS = ("precision", "recall"), ("predicted", "marked", "judgements")
AGREEMENT_DIGITS = 3  # Decimals of correlations and the like, unless told otherwise


@dataclass(frozen=True, eq=False, repr=False)
class MetaEvaluation(Tabular):
    """The answer to one of `QUESTIONS`."""

    question: str
    table: Table
    columns: tuple[JudgedPoints, ...] = ()  # Scores of judges and metrics side by side, if the question is about them
    judges: tuple[str, ...] = ()  # Rows of judges beside the other judges, where others are of metrics
    tasks: tuple[Measured, ...] = ()  # For `metrics` and `metric-pairs`
    notes: tuple[str, ...] = ()  # What was left out, and undefined correlations
    signatures: Mapping[str, str] = field(default_factory=dict)  # Signatures of the computed metrics by name

    def records(self) -> list[Cells]:
        """Return the rows of the table."""
        return self.table.records()

    @property
    def of_metrics(self) -> Table:
        """The table without the rows of judges, whom other sets do not have."""
        rows = [[*row.values()] for row in self.table.named_rows() if row.get("metric") not in self.judges]
        return replace(self.table, rows=rows)

    def described(self) -> Fields:
        """Return facts that hold for all rows."""
        return self.table.facts

    def as_table(self) -> Table:
        """Return the table, with more decimals than scores have."""
        return replace(self.table, digits=AGREEMENT_DIGITS)


def answer(question: str, evidence: Evidence, settings: IntervalSettings | None = None) -> MetaEvaluation:
    """Answer one of `QUESTIONS`, with the signatures, facts and notes of the evidence.

    Examples
    --------
    >>> bleu = ScoreTable("bleu", {"A": 31.0, "B": 32.5, "C": 20.0, "D": 12.0})
    >>> evidence = Evidence([bleu], {"judges": {"A": 0.6, "B": 0.5, "C": 0.3, "D": 0.1}})
    >>> answer("systems", evidence, IntervalSettings(samples=100)).records()[0]["spearman"]
    0.8
    """
    found = QUESTIONS[known_name("table", question, QUESTIONS)](evidence, settings or IntervalSettings())
    signatures = {name: result.signature for name, result in evidence.computed.items()}
    short = [f"{name} signature: {result.short_signature}" for name, result in evidence.computed.items()]
    facts = {**signatures, **found.table.facts, **evidence.facts}
    table = replace(found.table, facts=facts, background=list(signatures), notes=[*found.table.notes, *short])
    notes = dict.fromkeys([*evidence.notes, *_one_sided(evidence, question), *found.notes])
    return replace(found, table=table, notes=tuple(notes), signatures=signatures)


def correlate_systems(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Correlate metrics with human scores of systems: a row per metric and kind of human scores."""
    return _correlations("systems", evidence.of_systems(), settings)


def correlate_outputs(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Correlate metrics with direct assessment of single outputs: a row per metric, then judges beside the others."""
    columns = evidence.of_outputs()
    people = {} if evidence.assessments is None else judges_left_out(evidence.assessments, evidence.scored)
    made = _correlations("outputs", [*columns, *people.values()], settings)
    return replace(made, columns=tuple(columns), judges=(*people,))


def _correlations(name: str, columns: Sequence[JudgedPoints], settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric and kind of human scores: each coefficient with its interval."""
    rows: list[dict[str, Value]] = []
    for side in columns:
        for metric, found in agreements(side, settings.samples, settings.seed).items():
            rows.append({"human": side.human, "metric": metric, "points": len(side.judges)})
            for measure, r in found.items():
                rows[-1] |= r.cells(measure, f"{measure}_")
    return _answer(name, Table.of(rows, facts=settings.facts()), columns)


def williams_tests(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per pair of metrics: their correlations with judges and with each other, and Williams' test.

    The metric with the greater correlation comes first. Metrics that score all points the same are left out. With
    Spearman's coefficient the test is an approximation.
    """
    columns = evidence.of_outputs() if evidence.asks_of_outputs("williams") else evidence.of_systems()
    rows: list[dict[str, Value]] = []
    for side in columns:
        metrics, points = side.metrics, len(side.judges)
        usable = [name for name, column in metrics.items() if np.ptp(column) and np.ptp(side.judges)]
        pairs = pair_metrics(usable, settings.against, metrics)
        if points < measures.FEWEST_TO_TEST:
            raise InputError(f"Williams' test needs {measures.FEWEST_TO_TEST} points or more, here are {points}")
        for coefficient in measures.TESTED:
            values = {name: _of(metrics[name], side.judges, coefficient) for name in usable}
            for pair in pairs:
                better, worse = sorted(pair, key=lambda name: -values[name])
                both, between = (values[better], values[worse]), _of(metrics[better], metrics[worse], coefficient)
                names = {"human": side.human, "coefficient": coefficient, "better": better, "worse": worse}
                r = {"r_better": both[0], "r_worse": both[1], "r_between": between}
                test = measures.williams(*both, between, points)
                rows.append({**names, **r, **dict(zip(("t", "p_value"), test, strict=True))})
    _correct(rows)
    return _answer("williams", Table.of(rows, facts={"tests": _CORRECTED.format(len(rows))}), columns)


def _of(one: Floats, other: Floats, coefficient: str) -> float:
    return correlate(one, other, coefficient, samples=0).value or 0.0


def _correct(rows: Sequence[dict[str, Value]]) -> None:
    """Add p-values after Holm's correction for all rows; None without p-values."""
    corrected = iter(correct([p for row in rows if isinstance(p := row["p_value"], float)], "holm"))
    for row in rows:
        row["corrected"] = None if row["p_value"] is None else next(corrected)


def leave_systems_out(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric and system that is left out: the other systems' correlations, and the change."""
    columns = evidence.of_systems()
    rows: list[dict[str, Value]] = []
    for side in columns:
        if len(side.judges) <= FEWEST_POINTS:
            raise InputError(f"to leave one out, {FEWEST_POINTS + 1} systems are needed, here are {len(side.judges)}")
        before = agreements(side, samples=0)
        for index, point in enumerate(side.points):
            for row in _correlated(side.at(np.delete(np.arange(len(side.judges)), index)), without=point):
                pearson: Any = (row["pearson"], before[str(row["metric"])]["pearson"].value)
                rows.append({**row, "pearson_change": None if None in pearson else pearson[0] - pearson[1]})
    return _answer("left-out", Table.of(rows), columns)


def correlate_windows(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric and window of systems with adjacent human ranks: the correlations in the window.

    They show how well metrics distinguish similar systems (Kobayashi et al. 2024).
    """
    columns, size = evidence.of_systems(), settings.window
    rows: list[dict[str, Value]] = []
    for side in columns:
        if not FEWEST_POINTS <= size <= len(side.judges):
            said = f" is of {FEWEST_POINTS} to {len(side.judges)} systems, not {size}"
            raise InputError(Parameter("window"), said)
        order = np.argsort(-side.judges, kind="stable")
        for start in range(len(order) - size + 1):
            window = side.at(order[start : start + size])
            place = {"from_rank": start + 1, "to_rank": start + size}
            rows += _correlated(window, **place, systems=", ".join(window.points))
    return _answer("windows", Table.of(rows, facts={"window": size}), columns)


def _correlated(side: JudgedPoints, **named: Value) -> Iterator[dict[str, Value]]:
    """Yield a row per metric of each coefficient of some systems."""
    for metric, found in agreements(side, samples=0).items():
        numbers = {name: one.value for name, one in found.items()}
        yield {"human": side.human, "metric": metric, **named, **numbers}


def measure_preferences(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric and variant of tau, with interval and counts, from rankings or direct assessment.

    Rows of judges beside the others follow, where several judged the same.
    """
    judged, draws = evidence.comparisons or evidence.assessments, (settings.samples, settings.seed)
    judged = judged or evidence.need_comparisons()
    found = [(table.name, measures.preference_taus(judged, table, *draws)) for table in evidence.need_metrics()]
    people = pairs_left_out(judged, evidence.scored)
    found += [(name, pairs.taus(*draws)) for name, pairs in people.items()]
    rows = [
        {"metric": name, "variant": variant, **tau.cells("tau"), **tau.facts}
        for name, taus in found
        for variant, tau in taus.items()
    ]
    facts = {**settings.facts(), **({"comparisons": len(judged)} if isinstance(judged, Comparisons) else {})}
    return MetaEvaluation("preferences", Table.of(rows, facts=facts), judges=(*people,))


def measure_accuracy(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric and kind of pair: the share of pairs that it orders as judges do (Kocmi et al. 2021)."""
    metrics, draws = evidence.need_metrics(), (settings.samples, settings.seed)
    columns = evidence.of_systems(fewest=2) if evidence.human or evidence.rankings else []
    found: list[tuple[str, str, str, Estimate]] = []
    for side in columns:
        for metric, scores in side.metrics.items():
            pairs = JudgedPairs.among(side.judges, scores)
            found.append((side.human, "systems", metric, pairs.estimate(*draws, calibrated=False)))
    for table in metrics:
        for human, judged in evidence.of_judges if table.segments else ():
            accuracies = measures.output_accuracies(table, judged, *draws)
            if (soft := measures.soft_accuracy(table, judged, *draws)) is not None:
                accuracies["systems softly"] = soft
            if not isinstance(judged, Comparisons):
                accuracies |= measures.segment_accuracies(table, judged, *draws)
            found += [(human, of, table.name, one) for of, one in accuracies.items()]
    if not found:
        raise InputError("an accuracy needs judgements, ", *_JUDGEMENTS, ", and for outputs their scores")
    found.sort(key=lambda one: one[:2])
    rows = [
        {"human": human, "metric": metric, "of": of, **one.cells("accuracy"), **one.facts}
        for human, of, metric, one in found
    ]
    answer = _answer("accuracy", Table.of(rows, facts=settings.facts()), columns)
    return replace(answer, notes=(*answer.notes, *_doubts(found)))


def _doubts(found: Iterable[tuple[str, str, str, Estimate]]) -> Iterator[str]:
    """Name the metrics whose accuracy may be chance."""
    metrics: dict[str, list[str]] = {}
    for human, of, metric, one in found:
        if one.doubt:
            metrics.setdefault(f"{human}, {of.removeprefix(_ACCURACY)}: {one.doubt}", []).append(metric)
    return (f"{doubt}: {', '.join(names)}" for doubt, names in metrics.items())


def bootstrap_differences(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Compare the agreement of pairs of metrics by paired bootstrap samples of segments or systems."""
    tables = [table for table in evidence.need_metrics() if table.segments]
    common = set.intersection(*(set(table.segments) for table in tables)) if tables else set()
    measured: dict[tuple[str, str], dict[str, Estimate]] = {}
    for table in tables:
        same = {name: scores for name, scores in table.segments.items() if name in common}
        for human, measure, estimate in _measures(replace(table, segments=same), evidence, settings):
            measured.setdefault((human, measure), {})[table.name] = estimate
    if not measured:
        raise InputError("differences need judgements, ", *_JUDGEMENTS, ", and scores of segments")
    notes = [*_doubts((*key, name, one) for key, estimates in measured.items() for name, one in estimates.items())]
    defined = {
        key: [name for name, estimate in estimates.items() if estimate.value is not None]
        for key, estimates in measured.items()
    }
    families = []
    for key, names in defined.items():
        if len(names) < 2 and max(map(len, defined.values())) > 1:
            notes.append(f"{', '.join(key)}: defined for fewer than two metrics, left out")
        else:
            families.append(_tested(key, measured[key], pair_metrics(names, settings.against, measured[key])))
    most, rows = max(map(len, families)), [*chain.from_iterable(families)]
    # With n samples p is at least 2 / (n + 1); Holm's correction multiplies the smallest p by the number of tests.
    if 0 < settings.samples < (needed := round(2 * most / _SIGNIFICANT)):
        notes.append(
            f"with {settings.samples:,} samples and {most:,} test{'s' * (most > 1)} of a measure no corrected p can "
            f"be below {_SIGNIFICANT}: take {needed:,} or more"
        )
    facts = {**settings.facts(), "tests": f"{_CORRECTED.format(len(rows))} within each measure"}
    return MetaEvaluation("differences", Table.of(rows, facts=facts), notes=tuple(notes))


def _tested(
    key: tuple[str, str], estimates: Mapping[str, Estimate], pairs: Iterable[tuple[str, str]]
) -> list[dict[str, Value]]:
    """Make a row per pair of metrics by one measure; p is Holm-corrected for these pairs."""
    rows: list[dict[str, Value]] = []
    for pair in pairs:
        better, worse = sorted(pair, key=lambda name: -(estimates[name].value or 0))
        apart = difference(estimates[better], estimates[worse])
        values = {"of_better": estimates[better].value, "of_worse": estimates[worse].value}
        names = {"human": key[0], "measure": key[1], "better": better, "worse": worse}
        rows.append({**names, **values, **apart.cells("difference"), "p_value": apart.p_value})
    _correct(rows)
    return rows


def _measures(
    table: ScoreTable, evidence: Evidence, settings: IntervalSettings
) -> Iterator[tuple[str, str, Estimate]]:
    """Yield each measure of agreement of a metric about outputs: the judges, its name and the estimate."""
    draws = (settings.samples, settings.seed)
    for human, scores in evidence.human.items():
        ((_, found),) = agreements(agreement.join_systems([table], human, scores), *draws).items()
        yield from ((human, f"{name} of systems", r) for name, r in found.items())
    for human, judged in evidence.of_judges:
        if isinstance(judged, Comparisons):
            for variant, tau in measures.preference_taus(judged, table, *draws).items():
                yield human, f"tau {variant}", tau
        for of, accuracy in measures.output_accuracies(table, judged, *draws).items():
            yield human, f"{_ACCURACY}{of}", accuracy
        if not isinstance(judged, Comparisons):
            ((_, found),) = agreements(agreement.join_assessments([table], human, judged), *draws).items()
            yield from ((human, name, r) for name, r in found.items())


def rank_systems(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per system and way of ranking, the best first."""
    comparisons = evidence.need_comparisons()
    names = ["by", "system", "cluster", "score", "mean", "best", "worst", "wins", "ties", "losses"]
    rows = [
        {"by": way, "system": system.name, **asdict(system)}
        for way, systems in evidence.rankings.items()
        for system in systems
    ]
    facts: dict[str, Value] = {"comparisons": len(comparisons), "untied": int((comparisons.outcome != 0).sum())}
    facts |= {**settings.facts(), **({"runs": settings.runs} if "trueskill" in evidence.rankings else {})}
    return MetaEvaluation("ranking", Table.of(rows, names, facts=facts))


def measure_annotators(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per pair of annotators, after the weighted means between and within annotators.

    For assessments: correlate the scores that different annotators gave the same output.
    """
    if evidence.comparisons is None and evidence.assessments is not None:
        return _annotator_scores(evidence.assessments, settings)
    pairs = agreement.annotator_agreement(evidence.need_comparisons())
    means = {"others": agreement.mean_agreement(pairs, within=False)}
    means["themselves"] = agreement.mean_agreement(pairs, within=True)
    shown = [replace(mean, one=f"all, with {name}") for name, mean in means.items() if mean is not None]
    names = ["annotator", "other", "kappa", "observed", "expected", "comparisons"]
    table = Table(names, [astuple(pair) for pair in (*shown, *pairs)], empty="no output has two judgements")
    return MetaEvaluation("annotators", table)


def _annotator_scores(assessments: Assessments, settings: IntervalSettings) -> MetaEvaluation:
    if assessments.annotations is None:
        raise InputError("the judgements do not name their annotators: no agreement to measure")
    one, other, outputs = assessments.annotations.pairs()
    if not len(one):
        raise InputError("no two annotators judged the same output: no agreement to measure")
    segments = outputs if assessments.texts is not None else np.array(assessments.segments)[outputs]
    draws = settings.samples, settings.seed, assessments.drawn_with(segments)
    found = {name: correlate(one, other, name, *draws).cells("agreement") for name in COEFFICIENTS}
    rows = [{"coefficient": name, **cells, "outputs": len(np.unique(outputs))} for name, cells in found.items()]
    return MetaEvaluation("annotators", Table.of(rows, facts=settings.facts()))


def compare_spans(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric: precision, recall and F1 in characters, and F1 minus chance or another metric."""
    marks = evidence.marks
    if marks is None or not marks.predicted:
        raise InputError("no spans of metrics: give files of them, or metrics and a corpus")
    compared = agreement.span_agreements(marks, settings.samples, settings.seed)
    known_name("metric", settings.against or next(iter(compared)), compared)
    rows = []
    for metric, (f1, random) in compared.items():
        other = compared[settings.against][0] if settings.against else random
        defined = other is not f1 and None not in (other.value, f1.value)
        apart = difference(f1, other) if defined else Estimate(None, np.zeros(0))
        cells = apart.cells("difference", "difference_")
        shares, counts = ({name: f1.facts[name] for name in names} for names in (_SPAN_SHARES, _SPAN_COUNTS))
        scores = {"metric": metric, **shares, **f1.cells("f1"), "random": random.value}
        rows.append({**scores, **cells, "p_value": apart.p_value, **counts})
    lacking = {one.name: sorted(marks.judged.outputs.keys() - one.outputs.keys()) for one in marks.predicted}
    unjudged = {name for one in marks.predicted for name in one.outputs} - marks.judged.outputs.keys()
    notes = _left_out({**lacking, marks.judged.name: sorted(unjudged)})
    if marks.judged.missing:
        notes.append(f"{marks.judged.missing:,} marks of omissions have no character: left out")
    facts = {"difference": f"from {settings.against or 'random characters'}", **settings.facts()}
    return MetaEvaluation("spans", Table.of(rows, facts=facts), notes=tuple(notes))


def rank_metrics(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric: its agreement in each task and on average, with clusters by permutation tests."""
    return _of_tasks("metrics", evidence, settings)


def compare_in_tasks(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per task and pair of metrics: their agreement, and p of the permutation test."""
    return _of_tasks("metric-pairs", evidence, settings)


def _of_tasks(question: str, evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    tasks, notes = measure_tasks(evidence, settings)
    table = OF_TASKS[question](tasks, settings)
    return MetaEvaluation(question, table, tasks=tuple(tasks), notes=tuple(notes))


OF_TASKS = {"metrics": ranking_table, "metric-pairs": tests_table}
"""Questions about tasks, which may be of several sets, with the functions that make their tables."""


def _answer(question: str, table: Table, columns: Sequence[JudgedPoints], **more: Any) -> MetaEvaluation:
    """Answer a question about columns, with notes on missing systems and undefined correlations."""
    notes = [note for side in columns for note in _left_out(side.left_out)]
    notes += [
        f"{name} gives the same score to all {len(side.judges)}: its correlation is undefined"
        for side in columns
        for name in side.constant
    ]
    return MetaEvaluation(question, table, tuple(columns), notes=tuple(dict.fromkeys(notes)), **more)


def _one_sided(evidence: Evidence, question: str) -> Iterator[str]:
    """Name the systems whose outputs only judges or only a metric scored, if the question is about outputs."""
    for human, judged in evidence.of_judges if evidence.asks_of_outputs(question) else ():
        lacking = {}
        for table in evidence.metrics:
            if table.segments:
                lacking[table.name], lacking[human] = judged.one_sided(table.segments)
        yield from _left_out(lacking)


def _left_out(lacking: Mapping[str, Sequence[str]]) -> list[str]:
    """Make a note per set of missing systems."""
    sides: dict[tuple[str, ...], list[str]] = {}
    for side, systems in lacking.items():
        sides.setdefault(tuple(systems), []).append(side)
    return [
        f"{', '.join(systems)} {'have' if len(systems) > 1 else 'has'} no scores by {', '.join(names)}: left out"
        for systems, names in sides.items()
        if systems
    ]


# The docstring of each function describes its table
QUESTIONS: dict[str, Callable[[Evidence, IntervalSettings], MetaEvaluation]] = {
    "systems": correlate_systems,
    "outputs": correlate_outputs,
    "preferences": measure_preferences,
    "accuracy": measure_accuracy,
    "differences": bootstrap_differences,
    "williams": williams_tests,
    "left-out": leave_systems_out,
    "windows": correlate_windows,
    "ranking": rank_systems,
    "annotators": measure_annotators,
    "spans": compare_spans,
    "metrics": rank_metrics,
    "metric-pairs": compare_in_tasks,
}
