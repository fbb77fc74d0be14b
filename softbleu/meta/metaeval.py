"""Meta-evaluation in one call: how well metrics agree with judges, also pooled over directions of translation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack

from softbleu.corpora.judgements import Assessments, Comparisons, ScoreTable
from softbleu.engine.runner import RunOptions
from softbleu.errors import InputError, Parameter, known_name
from softbleu.io.arguments import check_run
from softbleu.io.progress import keeping_notes, note
from softbleu.meta.campaign import TASK_MEASURES
from softbleu.meta.evidence import IntervalSettings
from softbleu.meta.pooling import HOW, pooled_table
from softbleu.meta.questions import OF_TASKS, QUESTIONS, MetaEvaluation, answer
from softbleu.meta.reading import (
    Inputs,
    JudgedUnits,
    JudgementInputs,
    Metrics,
    Outputs,
    ScoreInputs,
    TextInputs,
    default_question,
    read_evidence,
)
from softbleu.tables import Table
from softbleu.types import Keywords, Progress

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from softbleu.corpora.directions import Direction

_Group = TypeVar("_Group", bound="DataclassInstance")


class MetaevalOptions(TypedDict, total=False):
    """Options of `metaeval`: the fields of `Inputs` and `IntervalSettings`."""

    scores: Sequence[str | ScoreTable]
    lower: Sequence[str]
    metrics: Metrics
    candidates: Outputs
    references: Sequence[str | Sequence[str]]
    source: str | Sequence[str] | None
    gold: str | None
    rankings: str | Comparisons | None
    rankings_start: int | None
    expand: bool
    rank_by: Sequence[str]
    human: Sequence[str] | Mapping[str, Mapping[str, float]]
    assessments: str | Assessments | None
    documents: str | Sequence[str] | None
    level: str
    direction: str | None
    language: str | None
    column: str | None
    unescape: bool
    standardise: str | None
    encoding: str
    aggregate: str | None
    names: Sequence[str]
    missing_value: float | None
    against: str | None
    window: int
    samples: int
    runs: int
    seed: int
    tasks: Sequence[str]
    weights: Sequence[str] | Mapping[str, float]
    exchange: str


@keeping_notes
def metaeval(
    question: str | None = None,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **options: Unpack[MetaevalOptions],
) -> MetaEvaluation:
    """Measure how well metrics agree with human judgements of systems, of outputs, and of pairs of outputs.

    The steps are functions: `softbleu.meta.reading.read_evidence` reads `Inputs`, and
    `softbleu.meta.questions` has a function per question.

    Parameters
    ----------
    question
        One of `QUESTIONS` (default: `systems`, or another that the input can answer).
    scores
        Scores of metrics: tables, or files, also as ``NAME=FILE``; for `spans` files of spans.
    lower
        Names of scores, also of human scores (`assessments` are called "direct assessment"), for which lower is
        better, such as error rates: they are negated. Files that name their metric or signature, usual names such as
        MetricX, TER or errors, and computed metrics need no name here.
    metrics
        Metrics to compute: expressions such as ``vleu(threshold=0.8)``, also as ``NAME=EXPRESSION``, signatures or
        values; or a mapping from names to these.
    names
        Names of the systems in files of numbers alone (`scores`, `human`), in order. A file that is named as one of
        them has the scores of its segments.
    missing_value
        A number that stands for a missing score of a metric or a judge, such as -1.
    candidates
        Outputs to compute metrics on: texts by the name of the system, or files (default: the `assessments`).
    references
        References of each segment, or files.
    source
        Source of each segment, or a file.
    gold
        A file of gold edits, which include references and source.
    rankings
        Comparisons by judges, or a file of them.
    rankings_start
        Number of the first segment in the rankings.
    expand
        Whether systems with identical outputs, which judges saw as one, count separately.
    rank_by
        Ways in which comparisons become scores of systems: see `softbleu.meta.evidence.WAYS`.
    human
        Human scores of systems by name, or files, optionally as ``NAME=FILE``.
    assessments
        Direct assessment of single outputs, or a file of it; for `spans` the file of the judges' spans.
    documents
        Documents of the segments, which samples draw: a label per segment, or a file, also ``FILE:COLUMN``.
    level
        Level of outputs: `segment` or `document`. Computed metrics score documents; human scores and scores that are
        read are the documents' own, or means of their segments.
    direction
        Read only rows of this direction, e.g. ``cs-en``.
    language
        Code of the language of the texts, which selects defaults of the metrics.
    column
        Column of human scores, if a table has several; by default the first of score, human, z, mqm, esa, da, raw.
    unescape
        Replace entities such as ``&apos;`` in texts by characters.
    standardise
        `annotator`: express `assessments` in standard deviations from the mean of their annotator.
    aggregate
        Rank systems by comparing a metric's scores of every two systems on every segment, in one of
        `softbleu.meta.evidence.WAYS` (Goto et al. 2025). By default systems have the metric's corpus scores.
    against
        Metric with which `williams` compares all others (default: all pairs).
    window
        Systems per window of `windows`.
    samples
        Bootstrap samples.
    runs
        Runs of TrueSkill.
    seed
        Seed of the samples and runs.
    tasks
        Measures by which `metrics` ranks metrics: some of `softbleu.meta.campaign.TASK_MEASURES` (default: `spa` and
        `acc_eq`, those of WMT24; without judgements of outputs `systems_pearson` and `systems_accuracy`).
    weights
        Weights of tasks by the name of a measure or a direction, also as ``NAME=WEIGHT`` (default: 1).
    exchange
        What permutations exchange: two metrics' scores of single `outputs`, or of whole `segments`.
    jobs
        Number of processes; the digits do not depend on it.
    executor
        An executor to use instead.
    encoding
        Encoding of the files.
    progress
        True for a progress bar, or a function of the steps that are done and of all.

    Raises
    ------
    InputError, UnknownNameError
        Incomplete, invalid or contradictory input.

    Examples
    --------
    >>> from softbleu.corpora.judgements import ScoreTable
    >>> judges = {"A": 0.6, "B": 0.5, "C": 0.3, "D": 0.1}
    >>> bleu = ScoreTable("bleu", {"A": 31.0, "B": 32.5, "C": 20.0, "D": 12.0})
    >>> metaeval(scores=[bleu], human={"judges": judges}, samples=100).records()[0]["spearman"]
    0.8
    """
    check_run(jobs, executor, progress)
    return _told(_answered(question, RunOptions(jobs, executor, progress=progress), **options))


def _told(evaluation: MetaEvaluation) -> MetaEvaluation:
    for said in evaluation.notes:
        note(said)
    return evaluation


def _answered(question: str | None, run: RunOptions, **options: Unpack[MetaevalOptions]) -> MetaEvaluation:
    given: Keywords = {**options}
    inputs = Inputs(
        _taken(ScoreInputs, given),
        _taken(JudgementInputs, given),
        _taken(TextInputs, given),
        _taken(JudgedUnits, given),
    )
    settings = _taken(IntervalSettings, given)
    if given:
        raise TypeError(f"metaeval() got an unexpected keyword argument {next(iter(given))!r}")
    question = known_name("table", question or inputs.question(), QUESTIONS)
    for name in settings.tasks:  # Before anything is scored
        known_name("task", name, TASK_MEASURES)
    return answer(question, read_evidence(question, inputs, settings, run), settings)


def _taken(kind: type[_Group], given: dict[str, object]) -> _Group:
    """Make a dataclass of its fields in `given`, which are removed there."""
    names = [one.name for one in fields(kind) if one.name in given]
    return kind(**{name: given.pop(name) for name in names})


POOLED = ("systems", "outputs", "preferences", "accuracy", "differences", "spans", *OF_TASKS)
"""Questions about several directions: their estimates are pooled, or are tasks of one ranking."""


@keeping_notes
def metaeval_directions(
    directions: Sequence[Direction],
    question: str | None = None,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **settings: Unpack[MetaevalOptions],
) -> MetaEvaluation:
    """Measure how well metrics agree with judges in several directions of translation, and pool the estimates.

    Each row has an estimate per direction, and their mean with an interval that includes the variance between
    directions. Tables of metrics have a task per direction and measure, and rank metrics by their average. For one
    direction the table is as from `softbleu.metaeval`.

    Parameters
    ----------
    directions
        Directions as from `softbleu.corpora.directions.read_directions`.
    question
        One of `POOLED`, or any for one direction (default: as for `softbleu.metaeval`).
    jobs, executor
        Number of processes, or an executor to use instead; the digits do not depend on them.
    progress
        Called with the number of directions that are done.
    settings
        Options of `softbleu.metaeval`. In file names ``{direction}`` is replaced by the name of the direction; from
        files of several directions (column `lp`) only its rows are read. Without metrics and scores those that
        mt-metrics-eval's folders have are read, and so are its human scores without judgements.

    Raises
    ------
    InputError
        An input is invalid.
    """
    check_run(jobs, executor, progress)
    run = RunOptions(jobs, executor)
    of_systems = settings.get("human") or settings.get("rankings")
    judged = bool(of_systems or settings.get("assessments"))
    assessed = settings.get("assessments") or any(direction.judged for direction in directions)
    asked = question or default_question(directions, of_systems, assessed)
    single = len(directions) == 1
    question = asked if single else known_name("table of several directions", asked, POOLED)
    answers: dict[str, MetaEvaluation] = {}
    for number, direction in enumerate(directions, start=1):
        here: Keywords = {name: _named(value, direction.name) for name, value in settings.items()}
        if not single:
            here.pop("weights", None)  # They are of all directions together
        found = () if here.get("scores") or here.get("metrics") else direction.published
        here["scores"] = [*direction.scores, *found, *here.get("scores", ())]
        if direction.judged and not judged:
            here["assessments"] = _only(direction)
        if here.get("metrics") or question == "spans":
            candidates = [f"{name}={file}" for name, file in direction.candidates.items()]
            here |= {"candidates": candidates, "references": direction.references, "source": direction.source}
        here["language"] = here.get("language") or direction.language
        try:
            answers[direction.name] = _answered(question, run, direction=direction.name, **here)
        except InputError as error:
            raise InputError(f"{direction.name}: ", *error.args) from error
        if progress is not None:
            progress(number, len(directions))
    if single:
        return _told(next(iter(answers.values())))
    return _told(_together(question, answers, _taken(IntervalSettings, {**settings})))


def _only(direction: Direction) -> str:
    """Return the file of human scores; raise InputError if there are several."""
    if len(direction.judged) > 1:
        files = ", ".join(file.replace(direction.name, "{direction}") for file in direction.judged)
        raise InputError(
            f"{direction.name}: several human scores: give one of {files} with ", Parameter("assessments")
        )
    return direction.judged[0]


def _named(value: object, direction: str) -> object:
    """Replace ``{direction}`` in file names."""
    if isinstance(value, str):
        return value.replace("{direction}", direction)
    return [_named(part, direction) for part in value] if isinstance(value, list | tuple) else value


def _together(question: str, answers: Mapping[str, MetaEvaluation], settings: IntervalSettings) -> MetaEvaluation:
    signatures = {
        f"{metric} {name}": text for name, one in answers.items() for metric, text in one.signatures.items()
    }
    background, notes = list(signatures), _noted(answers)
    if question in OF_TASKS:
        tasks = tuple(task for found in answers.values() for task in found.tasks)
        made = OF_TASKS[question](tasks, settings)
        shown = replace(made, facts={**made.facts, **signatures}, background=background)
        return MetaEvaluation(question, shown, tasks=tasks, notes=tuple(notes), signatures=signatures)
    table = pooled_table(question, {name: found.of_metrics for name, found in answers.items()})
    if not table.rows:
        raise InputError("pooling needs the variance of estimates: ask for ", Parameter("samples"))
    lacking = {str(row["metric"]): None for row in table.named_rows() if row["mean"] is None}
    if lacking:
        notes.append(f"{', '.join(lacking)}: not pooled, because a direction has no estimate with an interval")
    if len(answers) == 2:
        notes.append("means have no intervals: two directions are too few to estimate how much directions differ")
    columns = [name for name in table.columns if name != "question"]
    shown = Table.of(table.named_rows(), columns, facts={"pooled": HOW, **signatures}, background=background)
    return MetaEvaluation(question, shown, notes=tuple(notes), signatures=signatures)


def _noted(answers: Mapping[str, MetaEvaluation]) -> list[str]:
    """Join the notes of directions, which are named unless all have the note."""
    noted: dict[str, list[str]] = {}
    for name, found in answers.items():
        for said in found.notes:
            noted.setdefault(said, []).append(name)
    return [said if len(names) == len(answers) else f"{', '.join(names)}: {said}" for said, names in noted.items()]
