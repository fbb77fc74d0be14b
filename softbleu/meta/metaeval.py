"""Meta-evaluation: how well metrics agree with judges, in one call; of several directions of translation, pooled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import astuple, dataclass, field, replace
from functools import partial
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
from softbleu.corpora.labels import Documents
from softbleu.engine.runner import RunOptions
from softbleu.errors import InputError, Parameter, known_name
from softbleu.io.arguments import check_run, several
from softbleu.io.tabular import Records, Tabular, Value
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
from softbleu.meta.evidence import (
    BY_OUTPUT,
    WAYS,
    Evidence,
    IntervalSettings,
    Metrics,
    Outputs,
    aggregate_scores,
    gather_marks,
    known_outputs,
    make_score_tables,
    open_outputs,
    read_human,
    read_metrics,
    read_tables,
)
from softbleu.meta.pooling import HOW, pooled_table
from softbleu.metrics.result import Result
from softbleu.results.runs import broken_promises
from softbleu.results.significance import correct
from softbleu.types import Progress

if TYPE_CHECKING:
    from softbleu.corpora.directions import Direction

# Questions that need systems to be ranked
RANKED = ("ranking", "systems", "williams", "left-out", "windows", "accuracy")
_CORRECTED = "{}, two-sided; corrected after Holm"
_JUDGEMENTS = (Parameter("human"), ", ", Parameter("rankings"), " or ", Parameter("assessments"))
_SIGNIFICANT = 0.05
_OF_RUN = ("level", "nrefs", "documents")  # Keys of signatures that this run has in another way


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
        """Facts that hold for all rows."""
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
    documents: str | Sequence[str] | None = None,
    level: str = "segment",
    direction: str | None = None,
    language: str | None = None,
    column: str | None = None,
    unescape: bool = False,
    standardise: str | None = None,
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
        Scores of metrics: tables, or files, also as ``NAME=FILE``; for `spans` what they mark.
    lower
        Names of scores, or of human ones (those of `assessments` are "direct assessment"), of which less is better,
        such as error rates: they are negated. Of files that name their metric, or its signature, and of computed
        metrics it is known.
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
        Direct assessment of single outputs, or a file of it; for `spans` what judges mark.
    documents
        Documents of the segments, which samples draw as wholes: a label per segment, or a file, also ``FILE:COLUMN``.
    level
        Of outputs: `segment`, or `document`, whose human scores are their own or means of their segments'. Documents
        are scored by the metrics that are computed; of scores that are read there are means.
    direction
        Take rows of this direction only, e.g. ``cs-en``.
    language
        Code of the language of the texts, which chooses defaults of the metrics.
    column
        Of human scores, where a table has several; by default the first of score, human, z, mqm, esa, da and raw.
    unescape
        Turn entities such as ``&apos;`` in texts into characters.
    standardise
        `annotator`: take of each judgement of `assessments` how many standard deviations it lies above the mean of
        its annotator.
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
    encoding
        Of the files.
    progress
        True for a bar, in notebooks too; or a function of the steps done and of all.

    Raises
    ------
    InputError, UnknownNameError
        The input is incomplete, invalid or contradictory.

    Examples
    --------
    >>> from softbleu.corpora.judgements import ScoreTable
    >>> judges = {"A": 0.6, "B": 0.5, "C": 0.3, "D": 0.1}
    >>> bleu = ScoreTable("bleu", {"A": 31.0, "B": 32.5, "C": 20.0, "D": 12.0})
    >>> metaeval(scores=[bleu], human={"judges": judges}, samples=100).records()[0]["spearman"]
    0.8
    """
    check_run(jobs, executor, progress)
    scores, metrics, candidates, references, human, rank_by = map(
        several, (scores, metrics, candidates, references, human, rank_by)
    )
    asked = question or default_question(scores or metrics, human or rankings, assessments)
    question = known_name("table", asked, QUESTIONS)
    for option, value in {"rankings_start": rankings_start, "rank_by": rank_by, "expand": not expand}.items():
        if rankings is None and value:
            raise InputError(Parameter(option), " is about ", Parameter("rankings"), ": give a file of them")
    settings = IntervalSettings(samples, runs, seed, against, window)
    named = Documents.read(documents, encoding) if isinstance(documents, str) else None
    named = Documents.of(documents) if named is None and documents is not None else named
    outputs = partial(open_outputs, candidates, references, source, gold, encoding, unescape=unescape)
    if question == "spans":
        marks = gather_marks(
            (assessments, *scores), outputs if candidates else None, metrics, direction, language, encoding
        )
        return _spans(Evidence(marks=replace(marks, documents=named)), settings)
    by_document = known_name("level", level, ("segment", "document")) == "document"
    tables, notes = read_tables(scores, lower, direction, encoding)
    known = known_outputs(outputs, candidates, [*references, source, gold], tables)
    judges = Evidence(
        tables,
        read_human(human, direction, encoding, column),
        read_rankings(
            rankings,
            start=rankings_start,
            expand=expand,
            encoding=encoding,
            outputs=known if question in BY_OUTPUT or named is not None else None,
        )
        if isinstance(rankings, str)
        else rankings,
        read_assessments(
            assessments,
            direction=direction,
            column=column,
            unescape=unescape,
            standardise=standardise,
            encoding=encoding,
            texts=known,
            documents=named if by_document else None,
        )
        if isinstance(assessments, str)
        else assessments,
    )
    judges, said = judges.turned(lower).by_document(named, whole=by_document).with_means(question)
    notes += said
    tables = [*judges.metrics]
    signed: dict[str, dict[str, str]] = {}
    scorers = read_metrics(metrics, language, signed)
    # Outputs also say of which lines the assessments are.
    placing = assessments is not None and (scores or question == "annotators")
    if not (scorers or placing) and (candidates or references or gold):
        texts_of = (Parameter("candidates"), " and ", Parameter("references"))
        raise InputError(*texts_of, " are there to compute metrics: name some with ", Parameter("metrics"))
    firsts: dict[str, Result] = {}
    if scorers:
        texts = None if judges.assessments is None or candidates else judges.assessments.texts
        by_output = texts is not None or aggregate or judges.asks_of_outputs(question)
        at: Any = level if by_output else "corpus"
        options = RunOptions(jobs, executor, progress=progress)
        with outputs(documents=named) if texts is None else nullcontext(texts) as corpus:
            computed, firsts = make_score_tables(corpus, scorers, at, signed=signed, options=options)
        tables += computed
        for name, promised in signed.items():
            broken = broken_promises(promised, firsts[name].signature, _OF_RUN)
            notes += [f"{name}: {said}" for said in broken]
    tables = merge_scores(tables)
    if aggregate is not None:
        tables = [aggregate_scores(table, aggregate, settings, progress) for table in tables]
    ranked = {}
    if judges.comparisons is not None and question in RANKED:
        ways = [known_name("way of ranking", way, WAYS) for way in rank_by or ["expected-wins"]]
        ranked = {way: WAYS[way](judges.comparisons, settings, progress) for way in ways}
    evidence = replace(judges, metrics=tables, rankings=ranked)
    answer = QUESTIONS[question](evidence, settings)
    missing = {table.name: sum(int(np.isnan(s).sum()) for s in table.segments.values()) for table in tables}
    lacks = (f"{metric} lacks {count:,} scores of segments: left out" for metric, count in missing.items() if count)
    signatures = {name: result.signature for name, result in firsts.items()}
    short = [f"{name} signature: {result.short_signature}" for name, result in firsts.items()]
    facts = {**signatures, **answer.table.facts, **({"aggregate": aggregate} if aggregate else {})}
    if judges.assessments is not None and (judges.asks_of_outputs(question) or question == "annotators"):
        facts |= judges.assessments.counts()
    facts |= {} if named is None else {"documents": str(named)}
    table = replace(answer.table, facts=facts, background=list(signatures), notes=[*answer.table.notes, *short])
    notes += [*lacks, *_one_sided(evidence, question), *answer.notes]
    return replace(answer, table=table, notes=tuple(dict.fromkeys(notes)), signatures=signatures)


def default_question(metrics: object, of_systems: object, assessments: object) -> str:
    """Choose a question for metrics, human scores `of_systems` and assessments; each is empty or None if missing.

    >>> default_question([], "rankings.csv", None), default_question(["bleu"], None, "assessed.tsv")
    ('ranking', 'outputs')
    """
    if not metrics:
        return "ranking"
    return "outputs" if assessments and not of_systems else "systems"


def _correlations(name: str, columns: Sequence[Columns], settings: IntervalSettings) -> MetaEvaluation:
    """A row per metric and kind of human scores: three coefficients, each with its interval."""
    correlated = tuple(tuple(agreements(side, settings.samples, settings.seed)) for side in columns)
    names = ["human", "metric", "points"]
    rows = [
        [*_values(agreement, names), *chain.from_iterable(r.cells for r in agreement.correlations.values())]
        for agreement in chain.from_iterable(correlated)
    ]
    names += [f"{measure}{end}" for measure in correlated[0][0].correlations for end in ("", "_low", "_high")]
    return _answer(name, Records(names, rows, settings.facts()), columns, agreements=correlated)


def _williams(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per pair of metrics: their correlations with judges and with each other, and Williams' test."""
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


def _without_one(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per metric and system left out: the correlations of the others, and how much more that is."""
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


def _windows(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per metric and window of systems that judges rank next to one another: the correlations of these."""
    columns = evidence.of_systems()
    rows: list[list[Value]] = []
    for side in columns:
        for rank, window in neighbour_windows(side, settings.window):
            told = (rank, rank + settings.window - 1, ", ".join(window.points))
            rows += [[side.human, one.metric, *told, *one.values] for one in agreements(window, samples=0)]
    names = ["human", "metric", "from_rank", "to_rank", "systems", *COEFFICIENTS]
    return _answer("windows", Records(names, rows, {"window": settings.window}), columns)


def _preferences(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per metric and variant of tau, with the interval and the counts: of rankings, or of direct assessment."""
    names = ["metric", "variant", "tau", "low", "high", "pairs", "untied", "concordant", "discordant", "skipped"]
    judged = evidence.comparisons or evidence.assessments or evidence.need_comparisons()
    rows = [
        [tau.metric, tau.variant, *tau.cells, *_values(tau, names[5:])]
        for table in evidence.need_metrics()
        for tau in preference_taus(judged, table, settings.samples, settings.seed)
    ]
    facts = {**settings.facts(), **({"comparisons": len(judged)} if isinstance(judged, Comparisons) else {})}
    return MetaEvaluation("preferences", Records(names, rows, facts))


def _accuracies(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per metric and kind of pair: how often it says of two what judges say."""
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
    """Name the metrics whose accuracy may be that of a metric that knows nothing."""
    metrics: dict[tuple[str, str, str], list[str]] = {}
    for accuracy in estimates:
        if isinstance(accuracy, Accuracy) and accuracy.doubt:
            metrics.setdefault((accuracy.human, accuracy.of, accuracy.doubt), []).append(accuracy.metric)
    for (human, of, doubt), names in metrics.items():
        yield f"{human}, {of}: {doubt}: {', '.join(names)}"


def _differences(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """How much more one metric agrees than another, by paired samples of segments, or of systems."""
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
        values = (estimates[better].value, estimates[worse].value)
        rows.append([*key, better, worse, *values, *apart.cells, apart.p_value])
    corrected = iter(correct([p_value for *_, p_value in rows if isinstance(p_value, float)], "holm"))
    return [[*row, None if row[-1] is None else next(corrected)] for row in rows]


def _measures(
    table: ScoreTable, evidence: Evidence, settings: IntervalSettings
) -> Iterator[tuple[str, str, Estimate]]:
    """Name each measure of how well a metric agrees about outputs, and with whom."""
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


def _ranking(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per system and way of ranking, the best first."""
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


def _annotators(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per pair of annotators, after the weighted means over different ones and within each one.

    Of assessments there is the correlation of the scores that different annotators gave the same output.
    """
    if evidence.comparisons is None and evidence.assessments is not None:
        return _annotator_scores(evidence.assessments, settings)
    pairs = annotator_agreement(evidence.need_comparisons())
    names = ["kappa", "observed", "expected", "comparisons"]
    means = {"all, with others": mean_agreement(pairs, within=False)}
    means["all, with themselves"] = mean_agreement(pairs, within=True)
    rows = [[name, "", *_values(mean, names)] for name, mean in means.items() if mean is not None]
    rows += [[pair.one, pair.other, *_values(pair, names)] for pair in pairs]
    table = Records(["annotator", "other", *names], rows, empty="nobody judged what another had judged")
    return MetaEvaluation("annotators", table)


def _annotator_scores(assessments: Assessments, settings: IntervalSettings) -> MetaEvaluation:
    if assessments.annotations is None:
        raise InputError("who made a judgement is not said: there is no agreement of annotators to measure")
    one, other, outputs = assessments.annotations.pairs()
    if not len(one):
        raise InputError("no two annotators judged the same output: there is no agreement to measure")
    segments = outputs if assessments.texts is not None else np.array(assessments.segments)[outputs]
    drawn = assessments.drawn_with(segments)
    rows: list[list[Value]] = [
        [name, *correlate(one, other, name, settings.samples, settings.seed, drawn).cells, len(np.unique(outputs))]
        for name in COEFFICIENTS
    ]
    table = Records(["coefficient", "agreement", "low", "high", "outputs"], rows, settings.facts())
    return MetaEvaluation("annotators", table)


def _spans(evidence: Evidence, settings: IntervalSettings) -> MetaEvaluation:
    """A row per metric: precision, recall and F1 in characters, and how far F1 is above chance, or another metric."""
    marks = evidence.marks
    if marks is None or not marks.predicted:
        raise InputError("there are no spans of metrics: give files of them, or metrics and a corpus")
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
        notes.append(f"{marks.judged.missing:,} marks of what outputs leave out stand at no character: left out")
    told = {"difference": f"from {settings.against or 'random characters'}", **settings.facts()}
    told |= {} if marks.documents is None else {"documents": str(marks.documents)}
    return MetaEvaluation("spans", Records(names, rows, told), notes=tuple(notes))


def _answer(question: str, table: Records, columns: Sequence[Columns], **more: Any) -> MetaEvaluation:
    """Answer a question about columns; say what was left out, and where no correlation is defined."""
    notes = [note for side in columns for note in _left_out(side.left_out)]
    notes += [
        f"{name} gives the same score to all {len(side.judges)}: no correlation with it is defined"
        for side in columns
        for name in side.constant
    ]
    return MetaEvaluation(question, table, tuple(columns), notes=tuple(dict.fromkeys(notes)), **more)


def _one_sided(evidence: Evidence, question: str) -> Iterator[str]:
    """Name the systems of which only judges, or only a metric, scored outputs, where the question is about these."""
    for human, judged in evidence.of_judges if evidence.asks_of_outputs(question) else ():
        lacking = {}
        for table in evidence.metrics:
            if table.segments:
                lacking[table.name], lacking[human] = judged.one_sided(table.segments)
        yield from _left_out(lacking)


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


def _values(row: object, names: Sequence[str]) -> list[Value]:
    return [getattr(row, name) for name in names]


# What can be asked; the docstring of each function says what its table has
QUESTIONS: dict[str, Callable[[Evidence, IntervalSettings], MetaEvaluation]] = {
    "systems": lambda evidence, settings: _correlations("systems", evidence.of_systems(), settings),
    "outputs": lambda evidence, settings: _correlations("outputs", evidence.of_outputs(), settings),
    "preferences": _preferences,
    "accuracy": _accuracies,
    "differences": _differences,
    "williams": _williams,
    "left-out": _without_one,
    "windows": _windows,
    "ranking": _ranking,
    "annotators": _annotators,
    "spans": _spans,
}


POOLED = ("systems", "outputs", "preferences", "accuracy", "differences", "spans")
"""Questions whose estimates are pooled over directions."""


def metaeval_directions(
    directions: Sequence[Direction], question: str | None = None, *, progress: Progress | None = None, **settings: Any
) -> MetaEvaluation:
    """Measure in several directions of translation how well metrics agree with judges, and pool the estimates.

    A row has an estimate in each direction, and its mean over directions with an interval that takes in how much
    directions differ. Of one direction there is the table of `softbleu.metaeval`.

    Parameters
    ----------
    directions
        As `softbleu.corpora.directions.read_directions` finds them.
    question
        One of `POOLED`, of one direction any (default: as `softbleu.metaeval` chooses it).
    progress
        Told how many directions are done.
    settings
        Those of `softbleu.metaeval`. In names of files ``{direction}`` stands for the name of the direction; of files
        of several directions (column `lp`) its rows are read.

    Raises
    ------
    InputError
        An input is not valid.
    """
    of_systems = settings.get("human") or settings.get("rankings")
    asked = question or default_question(directions, of_systems, settings.get("assessments"))
    single = len(directions) == 1
    question = asked if single else known_name("table of several directions", asked, POOLED)
    answers: dict[str, MetaEvaluation] = {}
    for number, direction in enumerate(directions, start=1):
        here = {name: _named(value, direction.name) for name, value in settings.items()}
        here["scores"] = [*direction.scores, *here.get("scores", ())]
        if here.get("metrics") or question == "spans":
            candidates = [f"{name}={file}" for name, file in direction.candidates.items()]
            here |= {"candidates": candidates, "references": direction.references, "source": direction.source}
        here["language"] = here.get("language") or direction.language
        try:
            answers[direction.name] = metaeval(question, direction=direction.name, **here)
        except InputError as error:
            raise InputError(f"{direction.name}: ", *error.args) from error
        if progress is not None:
            progress(number, len(directions))
    return next(iter(answers.values())) if single else _together(question, answers)


def _named(value: Any, direction: str) -> Any:
    """Put the name of a direction into names of files."""
    if isinstance(value, str):
        return value.replace("{direction}", direction)
    return [_named(part, direction) for part in value] if isinstance(value, list | tuple) else value


def _together(question: str, answers: Mapping[str, MetaEvaluation]) -> MetaEvaluation:
    table = pooled_table(question, {name: answer.table for name, answer in answers.items()})
    if not table.rows:
        raise InputError("to pool takes how much estimates vary: ask for ", Parameter("samples"))
    told: dict[str, list[str]] = {}
    for name, answer in answers.items():
        for note in answer.notes:
            told.setdefault(note, []).append(name)
    notes = [note if len(names) == len(answers) else f"{', '.join(names)}: {note}" for note, names in told.items()]
    lacking = {str(row["metric"]): None for row in table.named_rows() if row["mean"] is None}
    if lacking:
        notes.append(f"{', '.join(lacking)}: not pooled where a direction has no estimate with an interval")
    if len(answers) == 2:
        notes.append("means have no intervals: two directions say too little about how much directions differ")
    signatures = {
        f"{metric} {name}": text for name, one in answers.items() for metric, text in one.signatures.items()
    }
    facts = {"pooled": HOW, **signatures}
    columns = [name for name in table.columns if name != "question"]
    rows = [row[1:] for row in table.rows]
    shown = Records(columns, rows, facts, background=list(signatures))
    return MetaEvaluation(question, shown, notes=tuple(notes), signatures=signatures)
