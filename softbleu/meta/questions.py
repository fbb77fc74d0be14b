"""Questions about metrics and judges: a function per question, from evidence to a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from softbleu.corpora.judgements import Assessments, Comparisons, ScoreTable
from softbleu.errors import InputError, Parameter, known_name
from softbleu.meta.accuracy import (
    Accuracy,
    output_accuracies,
    preference_taus,
    segment_accuracies,
    soft_accuracy,
    system_accuracies,
)
from softbleu.meta.agreement import (
    COEFFICIENTS,
    Columns,
    Estimate,
    MetricAgreement,
    MetricPair,
    agreements,
    annotator_agreement,
    compare_metrics,
    correlate,
    difference,
    join_assessments,
    join_systems,
    leave_one_out,
    mean_agreement,
    neighbour_windows,
    pair_metrics,
    span_agreements,
)
from softbleu.meta.campaign import CampaignTask, measure_tasks, ranking_table, tests_table
from softbleu.meta.evidence import Evidence, IntervalSettings
from softbleu.resample import correct
from softbleu.tables import Records, Tabular, Value
from softbleu.types import Cells, Fields

_CORRECTED = "{}, two-sided; corrected after Holm"
_JUDGEMENTS = (Parameter("human"), ", ", Parameter("rankings"), " or ", Parameter("assessments"))
_SIGNIFICANT = 0.05
AGREEMENT_DIGITS = 3  # Decimals of correlations and the like, unless told otherwise


@dataclass(frozen=True, eq=False, repr=False)
class MetaEvaluation(Tabular):
    """The answer to one of `QUESTIONS`."""

    question: str
    table: Records
    columns: tuple[Columns, ...] = ()  # Scores of judges and metrics side by side, if the question is about them
    agreements: tuple[tuple[MetricAgreement, ...], ...] = ()
    """Correlations of each metric, for each of `columns`; for `systems` and `outputs`."""
    pairs: tuple[MetricPair, ...] = ()  # Tested pairs of metrics; for `williams`
    tasks: tuple[CampaignTask, ...] = ()  # For `metrics` and `metric-pairs`
    notes: tuple[str, ...] = ()  # What was left out, and undefined correlations
    signatures: Mapping[str, str] = field(default_factory=dict)  # Signatures of the computed metrics by name

    def records(self) -> list[Cells]:
        """Return the rows of the table."""
        return self.table.records()

    def described(self) -> Fields:
        """Return facts that hold for all rows."""
        return self.table.facts

    def as_table(self) -> Records:
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
    """Correlate metrics with direct assessment of single outputs: a row per metric."""
    return _correlations("outputs", evidence.of_outputs(), settings)


def _correlations(name: str, columns: Sequence[Columns], settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric and kind of human scores: each coefficient with its interval."""
    correlated = tuple(tuple(agreements(side, settings.samples, settings.seed)) for side in columns)
    names = ["human", "metric", "points"]
    rows = [
        [*_values(agreement, names), *chain.from_iterable(r.cells for r in agreement.correlations.values())]
        for agreement in chain.from_iterable(correlated)
    ]
    names += [f"{measure}{end}" for measure in correlated[0][0].correlations for end in ("", "_low", "_high")]
    return _answer(name, Records(names, rows, settings.facts()), columns, agreements=correlated)


def williams_tests(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per pair of metrics: their correlations with judges and with each other, and Williams' test."""
    columns = evidence.of_outputs() if evidence.asks_of_outputs("williams") else evidence.of_systems()
    names = ["human", "coefficient", "better", "worse", "r_better", "r_worse", "r_between", "t", "p_value"]
    tested = [pair for side in columns for pair in compare_metrics(side, settings.against)]
    corrected = correct([pair.test.p_value for pair in tested], "holm")
    pairs = tuple(replace(pair, corrected=p_value) for pair, p_value in zip(tested, corrected, strict=True))
    rows = [
        [*_values(pair, names[:4]), *pair.values, pair.between, *astuple(pair.test), pair.corrected] for pair in pairs
    ]
    table = Records([*names, "corrected"], rows, {"tests": _CORRECTED.format(len(rows))})
    return _answer("williams", table, columns, pairs=pairs)


def leave_systems_out(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric and system that is left out: the other systems' correlations, and the change."""
    columns = evidence.of_systems()
    rows: list[list[Value]] = []
    for side in columns:
        before = {whole.metric: whole.values[0] for whole in agreements(side, samples=0)}
        for point, rest in leave_one_out(side):
            pearson, whole = rest.values[0], before[rest.metric]
            change = None if whole is None or pearson is None else pearson - whole
            rows.append([side.human, rest.metric, point, *rest.values, change])
    names = ["human", "metric", "without", *COEFFICIENTS, "pearson_change"]
    return _answer("left-out", Records(names, rows), columns)


def correlate_windows(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric and window of systems with adjacent human ranks: the correlations in the window."""
    columns = evidence.of_systems()
    rows: list[list[Value]] = []
    for side in columns:
        for rank, window in neighbour_windows(side, settings.window):
            place = (rank, rank + settings.window - 1, ", ".join(window.points))
            rows += [[side.human, one.metric, *place, *one.values] for one in agreements(window, samples=0)]
    names = ["human", "metric", "from_rank", "to_rank", "systems", *COEFFICIENTS]
    return _answer("windows", Records(names, rows, {"window": settings.window}), columns)


def measure_preferences(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric and variant of tau, with interval and counts, from rankings or direct assessment."""
    names = ["metric", "variant", "tau", "low", "high", "pairs", "untied", "concordant", "discordant", "skipped"]
    judged = evidence.comparisons or evidence.assessments or evidence.need_comparisons()
    rows = [
        [tau.metric, tau.variant, *tau.cells, *_values(tau, names[5:])]
        for table in evidence.need_metrics()
        for tau in preference_taus(judged, table, settings.samples, settings.seed)
    ]
    facts = {**settings.facts(), **({"comparisons": len(judged)} if isinstance(judged, Comparisons) else {})}
    return MetaEvaluation("preferences", Records(names, rows, facts))


def measure_accuracy(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric and kind of pair: the share of pairs that it orders as judges do."""
    metrics, draws = evidence.need_metrics(), (settings.samples, settings.seed)
    columns = evidence.of_systems(fewest=2) if evidence.human or evidence.rankings else []
    accuracies = [accuracy for side in columns for accuracy in system_accuracies(side, *draws)]
    for table in metrics:
        for human, judged in evidence.of_judges if table.segments else ():
            accuracies += filter(None, [soft_accuracy(table, judged, human, *draws)])
            accuracies += output_accuracies(table, judged, human, *draws)
            if not isinstance(judged, Comparisons):
                accuracies += segment_accuracies(table, judged, human, *draws)
    if not accuracies:
        raise InputError("an accuracy needs judgements, ", *_JUDGEMENTS, ", and for outputs their scores")
    names = ["human", "metric", "of", "accuracy", "low", "high", "chance", "epsilon", "pairs", "ties"]
    accuracies.sort(key=lambda accuracy: (accuracy.human, accuracy.of))
    rows = [[*_values(a, names[:3]), *a.cells, *_values(a, names[6:])] for a in accuracies]
    answer = _answer("accuracy", Records(names, rows, settings.facts()), columns)
    return replace(answer, notes=(*answer.notes, *_doubts(accuracies)))


def _doubts(estimates: Iterable[Estimate]) -> Iterator[str]:
    """Name the metrics whose accuracy may be chance."""
    metrics: dict[tuple[str, str, str], list[str]] = {}
    for accuracy in estimates:
        if isinstance(accuracy, Accuracy) and accuracy.doubt:
            metrics.setdefault((accuracy.human, accuracy.of, accuracy.doubt), []).append(accuracy.metric)
    for (human, of, doubt), names in metrics.items():
        yield f"{human}, {of}: {doubt}: {', '.join(names)}"


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
    notes = [*_doubts(estimate for estimates in measured.values() for estimate in estimates.values())]
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
    columns = ["human", "measure", "better", "worse", "of_better", "of_worse", "difference", "low", "high", "p_value"]
    return MetaEvaluation("differences", Records([*columns, "corrected"], rows, facts), notes=tuple(notes))


def _tested(
    key: tuple[str, str], estimates: Mapping[str, Estimate], pairs: Iterable[tuple[str, str]]
) -> list[list[Value]]:
    """Make a row per pair of metrics by one measure; p is Holm-corrected for these pairs."""
    rows: list[list[Value]] = []
    for pair in pairs:
        better, worse = sorted(pair, key=lambda name: -(estimates[name].value or 0))
        apart = difference(estimates[better], estimates[worse])
        values = (estimates[better].value, estimates[worse].value)
        rows.append([*key, better, worse, *values, *apart.cells, apart.p_value])
    corrected = iter(correct([p_value for *_, p_value in rows if isinstance(p_value, float)], "holm"))
    return [[*row, None if row[-1] is None else next(corrected)] for row in rows]


def _measures(
    table: ScoreTable, evidence: Evidence, settings: IntervalSettings
) -> Iterator[tuple[str, str, Estimate]]:
    """Yield each measure of agreement of a metric about outputs: the judges, its name and the estimate."""
    draws = (settings.samples, settings.seed)
    for human, scores in evidence.human.items():
        (agreement,) = agreements(join_systems([table], human, scores), *draws)
        yield from ((human, f"{name} of systems", r) for name, r in agreement.correlations.items())
    for human, judged in evidence.of_judges:
        if isinstance(judged, Comparisons):
            for tau in preference_taus(judged, table, *draws):
                yield human, f"tau {tau.variant}", tau
        for accuracy in output_accuracies(table, judged, human, *draws):
            yield human, f"accuracy, {accuracy.of}", accuracy
        if not isinstance(judged, Comparisons):
            (agreement,) = agreements(join_assessments([table], human, judged), *draws)
            yield from ((human, name, r) for name, r in agreement.correlations.items())


def rank_systems(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per system and way of ranking, the best first."""
    comparisons = evidence.need_comparisons()
    names = ["by", "system", "cluster", "score", "mean", "best", "worst", "wins", "ties", "losses"]
    rows = [
        [way, system.name, *_values(system, names[2:])]
        for way, systems in evidence.rankings.items()
        for system in systems
    ]
    facts: dict[str, Value] = {"comparisons": len(comparisons), "untied": int((comparisons.outcome != 0).sum())}
    facts |= {**settings.facts(), **({"runs": settings.runs} if "trueskill" in evidence.rankings else {})}
    return MetaEvaluation("ranking", Records(names, rows, facts))


def measure_annotators(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per pair of annotators, after the weighted means between and within annotators.

    For assessments: correlate the scores that different annotators gave the same output.
    """
    if evidence.comparisons is None and evidence.assessments is not None:
        return _annotator_scores(evidence.assessments, settings)
    pairs = annotator_agreement(evidence.need_comparisons())
    names = ["kappa", "observed", "expected", "comparisons"]
    means = {"all, with others": mean_agreement(pairs, within=False)}
    means["all, with themselves"] = mean_agreement(pairs, within=True)
    rows = [[name, "", *_values(mean, names)] for name, mean in means.items() if mean is not None]
    rows += [[pair.one, pair.other, *_values(pair, names)] for pair in pairs]
    table = Records(["annotator", "other", *names], rows, empty="no output has two judgements")
    return MetaEvaluation("annotators", table)


def _annotator_scores(assessments: Assessments, settings: IntervalSettings) -> MetaEvaluation:
    if assessments.annotations is None:
        raise InputError("the judgements do not name their annotators: no agreement to measure")
    one, other, outputs = assessments.annotations.pairs()
    if not len(one):
        raise InputError("no two annotators judged the same output: no agreement to measure")
    segments = outputs if assessments.texts is not None else np.array(assessments.segments)[outputs]
    drawn = assessments.drawn_with(segments)
    rows: list[list[Value]] = [
        [name, *correlate(one, other, name, settings.samples, settings.seed, drawn).cells, len(np.unique(outputs))]
        for name in COEFFICIENTS
    ]
    table = Records(["coefficient", "agreement", "low", "high", "outputs"], rows, settings.facts())
    return MetaEvaluation("annotators", table)


def compare_spans(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """Make a row per metric: precision, recall and F1 in characters, and F1 minus chance or another metric."""
    marks = evidence.marks
    if marks is None or not marks.predicted:
        raise InputError("no spans of metrics: give files of them, or metrics and a corpus")
    compared = {one.metric: one for one in span_agreements(marks, settings.samples, settings.seed)}
    known_name("metric", settings.against or next(iter(compared)), compared)
    names = ["metric", "precision", "recall", "f1", "low", "high", "random", "difference", "difference_low"]
    names += ["difference_high", "p_value", "predicted", "marked", "judgements"]
    rows: list[list[Value]] = []
    for one in compared.values():
        other = compared[settings.against].f1 if settings.against else one.random
        apart: Sequence[Value] = [None] * 4
        if other is not one.f1 and None not in (other.value, one.f1.value):
            apart = (*(measured := difference(one.f1, other)).cells, measured.p_value)
        rows.append([*_values(one, names[:3]), *one.f1.cells, one.random.value, *apart, *_values(one, names[-3:])])
    lacking = {one.name: sorted(marks.judged.outputs.keys() - one.outputs.keys()) for one in marks.predicted}
    unjudged = {name for one in marks.predicted for name in one.outputs} - marks.judged.outputs.keys()
    notes = _left_out({**lacking, marks.judged.name: sorted(unjudged)})
    if marks.judged.missing:
        notes.append(f"{marks.judged.missing:,} marks of omissions have no character: left out")
    facts = {"difference": f"from {settings.against or 'random characters'}", **settings.facts()}
    return MetaEvaluation("spans", Records(names, rows, facts), notes=tuple(notes))


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


def _answer(question: str, table: Records, columns: Sequence[Columns], **more: Any) -> MetaEvaluation:
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
        f"{', '.join(names)} {'lack' if len(names) > 1 else 'lacks'} {', '.join(systems)}: left out"
        for systems, names in sides.items()
        if systems
    ]


def _values(row: object, names: Sequence[str]) -> list[Value]:
    return [getattr(row, name) for name in names]


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
