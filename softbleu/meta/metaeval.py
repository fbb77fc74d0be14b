"""Meta-evaluation: how well metrics agree with judges, in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.corpora.judgements import (
    Assessments,
    Comparisons,
    ScoreTable,
    merge_scores,
    read_assessments,
    read_rankings,
)
from softbleu.errors import InputError, Parameter, UnknownNameError, known_name
from softbleu.io.tabular import Records, Tabular, Value
from softbleu.meta.accuracy import (
    Accuracy,
    assessment_accuracies,
    output_accuracies,
    preference_taus,
    soft_accuracy,
    system_accuracies,
)
from softbleu.meta.agreement import (
    Columns,
    MetricAgreement,
    MetricPair,
    agreements,
    annotator_agreement,
    compare_metrics,
    join_assessments,
    join_systems,
    leave_one_out,
    mean_agreement,
    neighbour_windows,
    pair_metrics,
)
from softbleu.meta.correlation import COEFFICIENTS, Estimate, difference
from softbleu.meta.evidence import (
    ASSESSMENT,
    Evidence,
    IntervalSettings,
    Metrics,
    Outputs,
    aggregate_scores,
    make_score_tables,
    open_outputs,
    rank_systems,
    read_human,
    read_metrics,
    read_tables,
)
from softbleu.results.significance import correct

if TYPE_CHECKING:
    from softbleu.results import Result
    from softbleu.types import Progress

# Questions that need systems to be ranked
RANKED = ("ranking", "systems", "williams", "left-out", "windows", "accuracy")
BY_OUTPUT = ("outputs", "preferences", "accuracy", "differences")  # Questions that need scores of segments
_CORRECTED = "{}, two-sided; corrected after Holm"
_JUDGEMENTS = (Parameter("human"), ", ", Parameter("rankings"), " or ", Parameter("assessments"))
_SIGNIFICANT = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class MetaEvaluation(Tabular):
    """The answer to one of `QUESTIONS`."""

    question: str
    table: Records
    columns: tuple[Columns, ...] = ()  # Scores of judges and metrics side by side, where the question is about them
    agreements: tuple[tuple[MetricAgreement, ...], ...] = ()
    """Of `systems` and `outputs`: of each of these the correlations, a metric each."""
    pairs: tuple[MetricPair, ...] = ()  # Of `williams`: the metrics tested
    notes: tuple[str, ...] = ()  # What was left out, and where no correlation is defined
    signatures: Mapping[str, str] = field(default_factory=dict)  # Of the metrics that were computed, by name

    def records(self) -> list[dict[str, Any]]:
        """Rows of the table."""
        return self.table.records()

    def described(self) -> Mapping[str, Any]:
        """What is true of all rows."""
        return self.table.facts


def metaeval(
    question: str | None = None,
    *,
    scores: Sequence[str | ScoreTable] = (),
    lower: Sequence[str] = (),
    metrics: Metrics = (),
    candidates: Outputs = (),
    references: Sequence[str | Sequence[str]] = (),
    source: str | Sequence[str] | None = None,
    gold: str | None = None,
    rankings: str | Comparisons | None = None,
    rankings_start: int | None = None,
    expand: bool = True,
    rank_by: Sequence[str] = (),
    human: Sequence[str] | Mapping[str, Mapping[str, float]] = (),
    assessments: str | Assessments | None = None,
    direction: str | None = None,
    column: str | None = None,
    unescape: bool = False,
    encoding: str = "utf-8",
    aggregate: str | None = None,
    against: str | None = None,
    window: int = 4,
    samples: int = 1000,
    runs: int = 100,
    seed: int = 12345,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> MetaEvaluation:
    """Measure how well metrics agree with human judgements of systems, of outputs, and of pairs of outputs.

    Parameters
    ----------
    question
        One of `QUESTIONS` (default: `systems`, or what the input allows).
    scores
        Scores of metrics: tables, or files, also as ``NAME=FILE``.
    lower
        Names of scores, or of human ones, of which less is better, such as error rates: they are negated. Of files
        that name their metric, or its signature, and of computed metrics it is known.
    metrics
        Metrics to compute: expressions such as ``vleu(threshold=0.8)``, also as ``NAME=EXPRESSION``, signatures or
        values; or a mapping from names to these.
    candidates
        Texts to compute metrics on: texts by the name of the system, or files (default: those of `assessments`).
    references
        References of each segment, or files.
    source
        Source of each segment, or a file.
    gold
        A file of gold edits, which make references and source.
    rankings
        Comparisons by judges, or a file of them.
    rankings_start
        Number of the first segment in the rankings.
    expand
        Whether systems with identical outputs, which judges saw as one, count each.
    rank_by
        How comparisons become scores of systems: see `softbleu.meta.evidence.WAYS`.
    human
        Scores of systems by their name, or files, each maybe as ``NAME=FILE``.
    assessments
        Direct assessment of single outputs, or a file of it.
    direction
        Take rows of this direction only, e.g. ``cs-en``.
    column
        Of human scores, where a table has several; by default the first of score, human, z, mqm and raw.
    unescape
        Turn entities such as ``&apos;`` in texts into characters.
    aggregate
        How a metric's scores of segments become scores of systems, as judges' comparisons do: every two systems are
        compared on every segment, and ranked in one of `softbleu.meta.evidence.WAYS` (Goto et al. 2025). By default
        systems have the metric's own scores of the corpus.
    against
        Metric with which `williams` compares all others (default: all pairs).
    window
        Systems in a window of `windows`.
    samples
        Samples of the bootstrap.
    runs
        Runs of TrueSkill.
    seed
        Seed of samples and runs.
    jobs
        Processes to use; the digits do not depend on it.
    executor
        Any other executor to use instead.

    Raises
    ------
    InputError, UnknownNameError
        The input is incomplete, invalid or contradictory.

    Examples
    --------
    >>> from softbleu.corpora.judgements import ScoreTable
    >>> judges = {"A": 0.6, "B": 0.5, "C": 0.3, "D": 0.1}
    >>> bleu = ScoreTable("bleu", {"A": 31.0, "B": 32.5, "C": 20.0, "D": 12.0})
    >>> found = metaeval(scores=[bleu], human={"judges": judges}, samples=100).table
    >>> dict(zip(found.columns, found.rows[0]))["spearman"]
    0.8
    """
    asked = question or default_question(scores or metrics, human or rankings, assessments)
    name = known_name("table", asked, QUESTIONS)
    for option, given in {"rankings_start": rankings_start, "rank_by": rank_by, "expand": not expand}.items():
        if rankings is None and given:
            raise InputError(Parameter(option), " is about ", Parameter("rankings"), ": give a file of them")
    settings = IntervalSettings(samples, runs, seed, against, window)
    people = human if isinstance(human, Mapping) else read_human(human, direction, encoding, column)
    tables, notes = read_tables(scores, lower, direction, encoding)
    for unknown in set(lower) - {*people, *(table.name for table in tables)}:
        raise UnknownNameError("scores", unknown, [*people, *(table.name for table in tables)])
    judges = Evidence(
        (),
        {
            name: {system: -score for system, score in judged.items()} if name in lower else judged
            for name, judged in people.items()
        },
        read_rankings(rankings, start=rankings_start, expand=expand, encoding=encoding)
        if isinstance(rankings, str)
        else rankings,
        read_assessments(assessments, direction=direction, column=column, unescape=unescape, encoding=encoding)
        if isinstance(assessments, str)
        else assessments,
    )
    scorers = read_metrics(metrics)
    if not scorers and (candidates or references or gold):
        texts_of = (Parameter("candidates"), " and ", Parameter("references"))
        raise InputError(*texts_of, " are there to compute metrics: name some with ", Parameter("metrics"))
    firsts: dict[str, Result] = {}
    if scorers:
        texts = None if judges.assessments is None or candidates else judges.assessments.texts
        unjudged = not (judges.human or judges.comparisons)
        by_output = texts is not None or aggregate or name in BY_OUTPUT or (name == "williams" and unjudged)
        with open_outputs(texts, candidates, references, source, gold, encoding, unescape=unescape) as corpus:
            computed, firsts = make_score_tables(
                corpus, scorers, segments=bool(by_output), jobs=jobs, executor=executor, progress=progress
            )
        tables += computed
    tables = merge_scores(tables)
    if aggregate is not None:
        tables = [aggregate_scores(table, aggregate, settings, progress) for table in tables]
    ranked = {}
    if judges.comparisons is not None and name in RANKED:
        ranked = rank_systems(judges.comparisons, rank_by or ["expected-wins"], settings, progress)
    evidence = replace(judges, metrics=tables, rankings=ranked)
    answer = QUESTIONS[name](evidence, settings)
    missing = {table.name: sum(int(np.isnan(each).sum()) for each in table.segments.values()) for table in tables}
    lacks = (f"{metric} lacks {count:,} scores of segments: left out" for metric, count in missing.items() if count)
    signatures = {name: each.signature for name, each in firsts.items()}
    short = [f"{name} signature: {each.short_signature}" for name, each in firsts.items()]
    facts = {**signatures, **answer.table.facts, **({"aggregate": aggregate} if aggregate else {})}
    table = replace(answer.table, facts=facts, background=list(signatures), notes=[*answer.table.notes, *short])
    notes += [*lacks, *_one_sided(evidence, name), *answer.notes]
    return replace(answer, table=table, notes=tuple(dict.fromkeys(notes)), signatures=signatures)


def default_question(metrics: object, of_systems: object, assessments: object) -> str:
    """Find what can be asked of such input.

    >>> default_question([], "rankings.csv", None), default_question(["bleu"], None, "assessed.tsv")
    ('ranking', 'outputs')
    """
    if not metrics:
        return "ranking"
    return "outputs" if assessments and not of_systems else "systems"


def _correlations(name: str, columns: Sequence[Columns], settings: IntervalSettings) -> MetaEvaluation:
    """A row per metric and kind of human scores: three coefficients, each with its interval."""
    names = ["human", "metric", "points"]
    correlated = tuple(tuple(agreements(each, settings.samples, settings.seed)) for each in columns)
    rows = [
        [
            *_values(found, names),
            *chain.from_iterable((each.value, *_ends(each.interval)) for each in found.correlations.values()),
        ]
        for found in chain.from_iterable(correlated)
    ]
    measures = [*correlated[0][0].correlations]
    names += [f"{measure}{end}" for measure in measures for end in ("", "_low", "_high")]
    return _answer(name, Records(names, rows, settings.facts()), columns, agreements=correlated)


def _williams(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per pair of metrics: their correlations with judges and with each other, and Williams' test."""
    systems = evidence.human or evidence.rankings or evidence.assessments is None
    columns = evidence.of_systems() if systems else evidence.of_outputs()
    names = ["human", "coefficient", "better", "worse", "r_better", "r_worse", "r_between", "t", "p_value"]
    tested = [pair for each in columns for pair in compare_metrics(each, settings.against)]
    corrected = correct([pair.test.p_value for pair in tested], "holm")
    pairs = tuple(replace(pair, corrected=p_value) for pair, p_value in zip(tested, corrected, strict=True))
    cells = ((*pair.values, pair.between, *astuple(pair.test), pair.corrected) for pair in pairs)
    rows = [[*_values(pair, names[:4]), *each] for pair, each in zip(pairs, cells, strict=True)]
    table = Records([*names, "corrected"], rows, {"tests": _CORRECTED.format(len(rows))})
    return _answer("williams", table, columns, pairs=pairs)


def _without_each(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per metric and system left out: the correlations of the others, and how much more that is."""
    columns = evidence.of_systems()
    rows: list[list[Value]] = []
    for each in columns:
        whole = {found.metric: found.correlations for found in agreements(each, samples=0)}
        for point, found in leave_one_out(each):
            values = [correlation.value for correlation in found.correlations.values()]
            before = whole[found.metric]["pearson"].value
            change = None if before is None or values[0] is None else values[0] - before
            rows.append([each.human, found.metric, point, *values, change])
    return _answer(
        "left-out", Records(["human", "metric", "without", *COEFFICIENTS, "pearson_change"], rows), columns
    )


def _windows(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per metric and window of systems that judges rank next to one another: the correlations of these."""
    columns = evidence.of_systems()
    rows: list[list[Value]] = [
        [each.human, found.metric, rank, rank + settings.window - 1, ", ".join(window.points), *values]
        for each in columns
        for rank, window in neighbour_windows(each, settings.window)
        for found in agreements(window, samples=0)
        for values in [[correlation.value for correlation in found.correlations.values()]]
    ]
    names = ["human", "metric", "from_rank", "to_rank", "systems", *COEFFICIENTS]
    return _answer("windows", Records(names, rows, {"window": settings.window}), columns)


def _preferences(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per metric and variant of tau, with the interval and the counts: of rankings, or of direct assessment."""
    names = ["metric", "variant", "tau", "low", "high", "pairs", "untied", "concordant", "discordant", "skipped"]
    judged = evidence.comparisons or evidence.assessments or evidence.need_comparisons()
    rows = [
        [tau.metric, tau.variant, tau.value, *_ends(tau.interval), *_values(tau, names[5:])]
        for table in evidence.need_metrics()
        for tau in preference_taus(judged, table, settings.samples, settings.seed)
    ]
    facts = {**settings.facts(), **({"comparisons": len(judged)} if isinstance(judged, Comparisons) else {})}
    return MetaEvaluation("preferences", Records(names, rows, facts))


def _accuracies(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per metric and kind of pair: how often it says of two what judges say."""
    metrics, draws = evidence.need_metrics(), (settings.samples, settings.seed)
    columns = evidence.of_systems(fewest=2) if evidence.human or evidence.rankings else []
    found: list[Accuracy] = [each for side in columns for each in system_accuracies(side, *draws)]
    for table in metrics:
        if table.segments and evidence.comparisons is not None:
            found += filter(None, [soft_accuracy(table, evidence.comparisons, "rankings", *draws)])
            found += output_accuracies(table, evidence.comparisons, *draws)
        if table.segments and evidence.assessments is not None:
            found += filter(None, [soft_accuracy(table, evidence.assessments, ASSESSMENT, *draws)])
            found += assessment_accuracies(table, ASSESSMENT, evidence.assessments, *draws)
    if not found:
        raise InputError("an accuracy needs judgements, ", *_JUDGEMENTS, ", and for outputs their scores")
    names = ["human", "metric", "of", "accuracy", "low", "high", "chance", "epsilon", "pairs", "ties"]
    rows = [
        [each.human, each.metric, each.of, each.value, *_ends(each.interval), *_values(each, names[6:])]
        for each in sorted(found, key=lambda each: (each.human, each.of))
    ]
    answer = _answer("accuracy", Records(names, rows, settings.facts()), columns)
    return replace(answer, notes=(*answer.notes, *_tied(found)))


def _tied(accuracies: Iterable[object]) -> Iterator[str]:
    """Name the metrics whose calibrated accuracy is that of calling all pairs ties."""
    metrics: dict[tuple[str, str], list[str]] = {}
    for found in accuracies:
        if isinstance(found, Accuracy) and found.all_tied:
            metrics.setdefault((found.human, found.of), []).append(found.metric)
    for (human, of), names in metrics.items():
        yield f"{human}, {of}: to call all pairs ties is as good, to .001, as any epsilon of {', '.join(names)}"


def _differences(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """How much more one metric agrees than another, by paired samples of segments, or of systems."""
    tables = [table for table in evidence.need_metrics() if table.segments]
    common = [name for name in tables[0].segments if all(name in each.segments for each in tables)] if tables else []
    measured: dict[tuple[str, str], dict[str, Estimate]] = {}
    for table in tables:
        same = replace(table, segments={name: table.segments[name] for name in common})
        for human, measure, estimate in _measures(same, evidence, settings):
            measured.setdefault((human, measure), {})[table.name] = estimate
    if not measured:
        raise InputError("differences need judgements, ", *_JUDGEMENTS, ", and scores of segments")
    notes = [*_tied(estimate for estimates in measured.values() for estimate in estimates.values())]
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
    # Of n samples p is 2 / (n + 1) at least, and Holm's correction multiplies the smallest one by the tests.
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
    """A row per pair of metrics by one measure; p is corrected after Holm for these."""
    rows: list[list[Value]] = []
    for pair in pairs:
        better, worse = sorted(pair, key=lambda name: -(estimates[name].value or 0))
        apart = difference(estimates[better], estimates[worse])
        values = [estimates[better].value, estimates[worse].value, apart.value]
        rows.append([*key, better, worse, *values, *_ends(apart.interval), apart.p_value])
    corrected = iter(correct([p_value for *_, p_value in rows if isinstance(p_value, float)], "holm"))
    return [[*row, None if row[-1] is None else next(corrected)] for row in rows]


def _measures(
    table: ScoreTable, evidence: Evidence, settings: IntervalSettings
) -> Iterator[tuple[str, str, Estimate]]:
    """Name each measure of how well a metric agrees about outputs, and with whom."""
    draws = (settings.samples, settings.seed)
    for human, people in evidence.human.items():
        for each in agreements(join_systems([table], human, people), *draws):
            yield from ((human, f"{name} of systems", value) for name, value in each.correlations.items())
    if evidence.comparisons is not None:
        for tau in preference_taus(evidence.comparisons, table, *draws):
            yield "rankings", f"tau {tau.variant}", tau
        for found in output_accuracies(table, evidence.comparisons, *draws):
            yield "rankings", f"accuracy, {found.of}", found
    if evidence.assessments is not None:
        for found in assessment_accuracies(table, ASSESSMENT, evidence.assessments, *draws):
            yield ASSESSMENT, f"accuracy, {found.of}", found
        for each in agreements(join_assessments([table], ASSESSMENT, evidence.assessments), *draws):
            yield from ((ASSESSMENT, name, value) for name, value in each.correlations.items())


def _ranking(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per system and way of ranking, the best first."""
    comparisons = evidence.need_comparisons()
    names = ["by", "system", "cluster", "score", "mean", "best", "worst", "wins", "ties", "losses"]
    rows = [[by, each.name, *_values(each, names[2:])] for by, found in evidence.rankings.items() for each in found]
    facts: dict[str, Value] = {"comparisons": len(comparisons), "untied": int((comparisons.outcome != 0).sum())}
    facts |= {**settings.facts(), **({"runs": settings.runs} if "trueskill" in evidence.rankings else {})}
    return MetaEvaluation("ranking", Records(names, rows, facts))


def _annotators(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per pair of annotators, after the weighted means over different ones and within each one."""
    found = annotator_agreement(evidence.need_comparisons())
    names = ["kappa", "observed", "expected", "comparisons"]
    rows: list[list[Value]] = []
    for name, within in (("all, with others", False), ("all, with themselves", True)):
        # There may be one kind of agreement without the other, or pairs too small for a mean.
        with suppress(InputError):
            rows.append([name, "", *_values(mean_agreement(found, within=within), names)])
    rows += [[each.one, each.other, *_values(each, names)] for each in found]
    table = Records(["annotator", "other", *names], rows, empty="nobody judged what another had judged")
    return MetaEvaluation("annotators", table)


def _answer(question: str, table: Records, columns: Sequence[Columns], **more: Any) -> MetaEvaluation:
    """Answer a question about columns; say what was left out, and where no correlation is defined."""
    notes = [note for each in columns for note in _left_out(each.left_out)]
    notes += [
        f"{name} gives the same score to all {len(each.judges)}: no correlation with it is defined"
        for each in columns
        for name in each.constant
    ]
    return MetaEvaluation(question, table, tuple(columns), notes=tuple(dict.fromkeys(notes)), **more)


def _one_sided(evidence: Evidence, question: str) -> list[str]:
    """Name the systems of which only judges, or only a metric, scored outputs, where the question is about these."""
    lacking: dict[str, Sequence[str]] = {}
    about_outputs = question in BY_OUTPUT or (question == "williams" and not (evidence.human or evidence.rankings))
    for side, judged in ((ASSESSMENT, evidence.assessments), ("rankings", evidence.comparisons)):
        for table in evidence.metrics:
            if about_outputs and judged is not None and table.segments:
                lacking[table.name], lacking[side] = judged.one_sided(table.segments)
    return _left_out(lacking)


def _left_out(lacking: Mapping[str, Sequence[str]]) -> list[str]:
    """Say what each side lacks, those together that lack the same."""
    sides: dict[tuple[str, ...], list[str]] = {}
    for side, systems in lacking.items():
        sides.setdefault(tuple(systems), []).append(side)
    return [
        f"{', '.join(names)} {'lack' if len(names) > 1 else 'lacks'} {', '.join(systems)}: left out"
        for systems, names in sides.items()
        if systems
    ]


def _ends(interval: tuple[float, float] | None) -> tuple[Value, Value]:
    return interval or (None, None)


def _values(found: object, names: Sequence[str]) -> list[Value]:
    return [getattr(found, name) for name in names]


# What can be asked; the docstring of each function says what its table has
QUESTIONS: dict[str, Callable[[Evidence, IntervalSettings], MetaEvaluation]] = {
    "systems": lambda evidence, settings: _correlations("systems", evidence.of_systems(), settings),
    "outputs": lambda evidence, settings: _correlations("outputs", evidence.of_outputs(), settings),
    "preferences": _preferences,
    "accuracy": _accuracies,
    "differences": _differences,
    "williams": _williams,
    "left-out": _without_each,
    "windows": _windows,
    "ranking": _ranking,
    "annotators": _annotators,
}
