"""Reading of judgements, scores and texts into `Evidence`, and scoring of the metrics that are computed."""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import numpy as np

from softbleu.config.declare import parse_signature, split_name
from softbleu.corpora import ParallelFiles, Segments, name_files, name_systems, split_file
from softbleu.corpora.corpus import Against, Corpus, compared_with, make_corpus
from softbleu.corpora.judgements import (
    Assessments,
    Comparisons,
    ScoreTable,
    SpanTable,
    file_stem,
    merge_scores,
    plain_names,
    read_assessments,
    read_rankings,
    read_scores,
    read_spans,
)
from softbleu.corpora.judgements.numbering import KnownOutputs
from softbleu.corpora.judgements.scores import sentinel_of
from softbleu.corpora.labels import Documents
from softbleu.engine.notes import note_coverage
from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.engine.statistics import Statistics
from softbleu.errors import InputError, Parameter, known_name
from softbleu.io.arguments import by_text, several
from softbleu.io.progress import note
from softbleu.io.reading import STDIN
from softbleu.meta.agreement import Marks
from softbleu.meta.evidence import BY_OUTPUT, RANKED, WAYS, Evidence, IntervalSettings, aggregate_scores
from softbleu.metrics.base import Level, Metric
from softbleu.metrics.protocols import matcher_of
from softbleu.metrics.reading import fit_metric
from softbleu.metrics.result import Coverage, Result
from softbleu.metrics.scores import less_is_better, some_above
from softbleu.metrics.signatures import metric_from_signature
from softbleu.results.explain import mark_unmatched
from softbleu.results.runs import broken_promises
from softbleu.tables import Value
from softbleu.types import Keywords

Metrics = Sequence["str | Metric"] | Mapping[str, "str | Metric"]
"""Expressions, signatures or values; a text may be ``NAME=EXPRESSION``, a mapping has the names."""
Outputs = Sequence[str] | Mapping[str, Sequence[str]]  # Files, or texts by the name of the system
Signed = dict[str, dict[str, str]]  # Entries of signatures by the name of the metric
_OF_RUN = ("level", "nrefs", "documents")  # Keys of signatures that differ in every run


@dataclass(frozen=True)
class ScoreInputs:
    """Scores of metrics: tables or files of them, and metrics to compute."""

    scores: Sequence[str | ScoreTable] = ()  # Files may be ``NAME=FILE``
    metrics: Metrics = ()
    lower: Sequence[str] = ()  # Names of scores, also of human scores, for which lower is better
    language: str | None = None  # Code of the language of the texts, which selects defaults of metrics
    aggregate: str | None = None  # One of `WAYS`, by which scores of segments become scores of systems
    names: Sequence[str] = ()  # Names of the systems in files of numbers alone, also of human scores
    missing_value: float | None = None  # Number that stands for a missing score, also of judges

    def __post_init__(self) -> None:
        for name in ("scores", "metrics", "lower", "names"):
            object.__setattr__(self, name, several(getattr(self, name)))


@dataclass(frozen=True)
class JudgementInputs:
    """Human judgements, or files of them."""

    human: Sequence[str] | Mapping[str, Mapping[str, float]] = ()  # Scores of systems; files may be ``NAME=FILE``
    rankings: str | Comparisons | None = None
    rankings_start: int | None = None  # Number of the first segment in the rankings
    expand: bool = True  # Whether systems with identical outputs, which judges saw as one, count each
    rank_by: Sequence[str] = ()  # Ways in which comparisons become scores of systems, see `WAYS`
    assessments: str | Assessments | None = None
    column: str | None = None  # Column of the scores, if a table has several
    standardise: str | None = None  # `annotator`: standardise scores by the mean and deviation of the annotator

    def __post_init__(self) -> None:
        for name in ("human", "rank_by"):
            object.__setattr__(self, name, several(getattr(self, name)))
        unexpanded = Parameter("unexpanded", python="expand")
        start, rank_by = Parameter("rankings_start"), Parameter("rank_by")
        used = {start: self.rankings_start, rank_by: self.rank_by, unexpanded: not self.expand}
        for option, value in used.items():
            if self.rankings is None and value:
                raise InputError(option, " is about ", Parameter("rankings"), ": give a file of them")


@dataclass(frozen=True)
class TextInputs:
    """Outputs of systems, and the texts that metrics compare them with: texts, or files."""

    candidates: Outputs = ()
    references: Sequence[str | Sequence[str]] = ()
    source: str | Sequence[str] | None = None
    gold: str | None = None  # File of gold edits, which include references and source
    unescape: bool = False  # Whether entities such as ``&apos;`` are replaced by characters
    encoding: str = "utf-8"  # Encoding of all files

    def __post_init__(self) -> None:
        for name in ("candidates", "references"):
            object.__setattr__(self, name, several(getattr(self, name)))

    @contextmanager
    def open(self, documents: Documents | None = None) -> Iterator[Corpus]:
        """Open the corpus of the candidates and their references; with `unescape` it is read into memory."""
        opened: AbstractContextManager[Corpus]
        candidates, source, gold = self.candidates, self.source, self.gold
        if isinstance(candidates, Mapping):
            opened = nullcontext(make_corpus(candidates, self.references, source, documents=documents))
        elif candidates:
            files, sources = [str(name) for name in self.references], source if isinstance(source, str) else None
            others = [name for name in (sources, gold) if name is not None]
            named = name_systems(candidates, files, others, name_outputs)
            opened = ParallelFiles.open(named, files, sources, gold=gold, encoding=self.encoding, documents=documents)
        else:
            texts_of = (Parameter("candidates"), " and ", Parameter("references"))
            own = "; texts of ", Parameter("assessments"), " are scored if no column numbers segments"
            raise InputError("metrics need a corpus to score: name it with ", *texts_of, *own)
        with opened as corpus:
            if self.unescape and corpus.gold is not None:
                raise InputError("gold edits count the words of their own text: leave out ", Parameter("unescape"))
            yield loaded(corpus, html.unescape) if self.unescape else corpus

    def lines(self) -> Mapping[str, Sequence[str]]:
        """Read the lines of the systems."""
        with self.open() as corpus:
            return loaded(corpus).candidates

    def known_outputs(self, tables: Sequence[ScoreTable]) -> KnownOutputs | None:
        """Return a function that reads the lines of systems, or else the first table's scores; None without both.

        Standard input can be read only once, so its lines are not known.
        """
        candidates = () if isinstance(self.candidates, Mapping) else self.candidates
        files = [*candidates, *self.references, self.source, self.gold]
        if self.candidates and not any(
            isinstance(file, str) and (file == STDIN or file.endswith(f"={STDIN}")) for file in files
        ):
            return self.lines
        return next((table.segments for table in tables if table.segments), None)


@dataclass(frozen=True)
class JudgedUnits:
    """Rows that are read, and the units that are judged."""

    direction: str | None = None  # Direction of translation such as ``cs-en`` (column `lp`); None: all rows
    level: Literal["segment", "document"] = "segment"  # `segment` or `document`
    documents: str | Sequence[str] | None = None  # Label of each segment, or a file, also ``FILE:COLUMN``

    def __post_init__(self) -> None:
        known_name("level", self.level, ("segment", "document"))

    def read_documents(self, encoding: str) -> Documents | None:
        """Read the documents of the segments, which bootstrap samples draw; None without documents."""
        if isinstance(self.documents, str):
            return Documents.read(self.documents, encoding)
        return None if self.documents is None else Documents.of(self.documents)


@dataclass(frozen=True)
class Inputs:
    """Everything that a meta-evaluation is made from."""

    scores: ScoreInputs = field(default_factory=ScoreInputs)
    judgements: JudgementInputs = field(default_factory=JudgementInputs)
    texts: TextInputs = field(default_factory=TextInputs)
    units: JudgedUnits = field(default_factory=JudgedUnits)

    def question(self) -> str:
        """Choose a question that the inputs can answer."""
        judged = self.judgements
        return default_question(
            self.scores.scores or self.scores.metrics, judged.human or judged.rankings, judged.assessments
        )


def default_question(metrics: object, of_systems: object, assessments: object) -> str:
    """Choose a question for metrics, human scores `of_systems` and assessments; each is empty or None if missing.

    >>> default_question([], "rankings.csv", None), default_question(["bleu"], None, "assessed.tsv")
    ('ranking', 'outputs')
    """
    if not metrics:
        return "ranking"
    return "outputs" if assessments and not of_systems else "systems"


def read_evidence(question: str, inputs: Inputs, settings: IntervalSettings, options: RunOptions) -> Evidence:
    """Read the evidence for a question, and score the metrics that are computed.

    Parameters
    ----------
    question
        One of `softbleu.meta.questions.QUESTIONS`.
    inputs
        Scores, judgements and texts.
    settings
        Bootstrap samples, runs of TrueSkill, and the seed.
    options
        Executor and progress.
    """
    texts, documents = inputs.texts, inputs.units.read_documents(inputs.texts.encoding)
    facts: dict[str, Value] = {}
    named: dict[str, Value] = {} if documents is None else {"documents": str(documents)}
    if question == "spans":
        return Evidence(marks=replace(_gather_marks(inputs), documents=documents), facts=named)
    whole, lower = inputs.units.level == "document", inputs.scores.lower
    scores = inputs.scores
    more = scores.names, scores.missing_value
    tables, notes = read_tables(scores.scores, lower, inputs.units.direction, texts.encoding, *more)
    evidence = _read_judgements(question, inputs, tables, documents).turned(lower)
    evidence, said = evidence.by_document(documents, whole=whole).with_means(question)
    notes += said
    evidence, broken = _with_computed(question, evidence, inputs, documents, options)
    notes += broken
    tables, aggregate = merge_scores(evidence.metrics), inputs.scores.aggregate
    if aggregate is not None:
        tables = [aggregate_scores(table, aggregate, settings, options.progress) for table in tables]
        facts["aggregate"] = aggregate
    if evidence.assessments is not None and (evidence.asks_of_outputs(question) or question == "annotators"):
        facts |= evidence.assessments.counts()
    ranked = {}
    if evidence.comparisons is not None and question in RANKED:
        ways = [known_name("way of ranking", way, WAYS) for way in inputs.judgements.rank_by or ["expected-wins"]]
        ranked = {way: WAYS[way](evidence.comparisons, settings, options.progress) for way in ways}
    missing = {table.name: sum(int(np.isnan(s).sum()) for s in table.segments.values()) for table in tables}
    notes += [f"{metric} lacks {count:,} scores of segments: left out" for metric, count in missing.items() if count]
    direction = inputs.units.direction or ""
    return replace(
        evidence,
        metrics=tables,
        rankings=ranked,
        notes=notes,
        facts=facts | named,
        direction=direction,
        progress=options.progress,
    )


def _read_judgements(
    question: str, inputs: Inputs, tables: Sequence[ScoreTable], documents: Documents | None
) -> Evidence:
    """Read the judgements, and hold them beside the tables of metrics."""
    judged, units, encoding = inputs.judgements, inputs.units, inputs.texts.encoding
    known, rankings, assessments = inputs.texts.known_outputs(tables), judged.rankings, judged.assessments
    human = read_human(judged.human, units.direction, encoding, judged.column, inputs.scores.names)
    if isinstance(rankings, str):
        outputs = known if question in BY_OUTPUT or documents is not None else None
        start, expand = judged.rankings_start, judged.expand
        rankings = read_rankings(rankings, start=start, expand=expand, encoding=encoding, outputs=outputs)
    if isinstance(assessments, str):
        assessments = read_assessments(
            assessments,
            direction=units.direction,
            column=judged.column,
            unescape=inputs.texts.unescape,
            standardise=judged.standardise,
            encoding=encoding,
            texts=known,
            documents=documents if units.level == "document" else None,
            missing_value=inputs.scores.missing_value,
        )
        last = 1 + max(assessments.segments, default=-1)
        for table in tables if units.level == "segment" else ():
            table.check_numbers(str(judged.assessments), assessments.first, last)
    return Evidence(tables, human, rankings, assessments)


def _with_computed(
    question: str, evidence: Evidence, inputs: Inputs, documents: Documents | None, options: RunOptions
) -> tuple[Evidence, list[str]]:
    """Score the metrics that are computed; also return notes on signatures that the scores do not match."""
    texts, scores, assessments = inputs.texts, inputs.scores, evidence.assessments
    signed: Signed = {}
    metrics = read_metrics(scores.metrics, scores.language, signed)
    # Outputs are also used to number the assessed lines.
    placing = inputs.judgements.assessments is not None and (scores.scores or question == "annotators")
    if not (metrics or placing) and (texts.candidates or texts.references or texts.gold):
        texts_of = (Parameter("candidates"), " and ", Parameter("references"))
        raise InputError(*texts_of, " are there to compute metrics: name some with ", Parameter("metrics"))
    if not metrics:
        return evidence, []
    assessed = None if assessments is None or texts.candidates else assessments.texts
    by_output = assessed is not None or scores.aggregate or evidence.asks_of_outputs(question)
    level: Level = inputs.units.level if by_output else "corpus"
    with texts.open(documents) if assessed is None else nullcontext(assessed) as corpus:
        for table in evidence.metrics:
            table.check_texts(corpus)
        tables, computed = make_score_tables(corpus, metrics, level, signed=signed, options=options)
    broken = [
        f"{name}: {said}"
        for name, promised in signed.items()
        for said in broken_promises(promised, computed[name].signature, _OF_RUN)
    ]
    return replace(evidence, metrics=[*evidence.metrics, *tables], computed=computed), broken


def read_tables(
    scores: Sequence[str | ScoreTable],
    lower: Collection[str],
    direction: str | None,
    encoding: str,
    names: Sequence[str] = (),
    missing_value: float | None = None,
) -> tuple[list[ScoreTable], list[str]]:
    """Read scores of metrics, so that greater is better; also return notes.

    Scores for which lower is better (by `lower`, the file, the signature or the name) are negated, unless none is
    above 0: then they are negated already.

    Parameters
    ----------
    scores
        Tables, or files, optionally as ``NAME=FILE``.
    lower
        Names of tables for which lower is better.
    direction
        Direction whose rows are read (column `lp`).
    encoding
        Encoding of the files.
    names
        Names of the systems in files of numbers alone; see `read_scores`.
    missing_value
        A number that stands for a missing score.
    """
    tables: list[ScoreTable] = []
    notes, unknown = [], []
    for table in _opened(scores, direction, encoding, names):
        table = table.without(missing_value)
        if missing_value is None and (odd := sentinel_of(table.segments.values())):
            note(f"{table.name}: {odd[1]}: ", Parameter("missing_value", odd[0]), " leaves them out")
        down = some_above(table) if table.name in lower else less_is_better(table)
        unknown += [table.name] * (down is None)
        if down:
            notes.append(f"{table.name}: lower is better, so its scores are negated")
            table = negated(table)
        elif table.name in lower:
            notes.append(f"{table.name}: no score is above 0, so they are taken as already negated")
        tables.append(table)
    if unknown:
        notes.append(f"assuming that higher is better for {', '.join(unknown)}: name the others with 'lower'")
    return tables, notes


def negated(table: ScoreTable) -> ScoreTable:
    """Negate the scores of a table."""
    systems = {name: -score for name, score in table.systems.items()}
    segments = {name: -column for name, column in table.segments.items()}
    return replace(table, systems=systems, segments=segments)


def _opened(
    scores: Sequence[str | ScoreTable], direction: str | None, encoding: str, names: Sequence[str]
) -> Iterator[ScoreTable]:
    for named in scores:
        if isinstance(named, str):
            label, file = split_file(named)
            yield from read_scores(file, label=label, direction=direction, names=names, encoding=encoding)
        else:
            yield named


def make_score_tables(
    corpus: Corpus,
    metrics: Mapping[str, Metric],
    level: Level = "corpus",
    *,
    signed: Mapping[str, Mapping[str, str]] | None = None,
    options: RunOptions | None = None,
) -> tuple[list[ScoreTable], dict[str, Result]]:
    """Score a corpus with several metrics; also return the first result of each metric.

    Greater is better: scores for which lower is better, such as error rates, are negated.

    Parameters
    ----------
    corpus
        Candidates of the systems, and the texts that the metrics need.
    metrics
        Metrics by name.
    level
        `corpus`, or `segment` or `document` to score these, too.
    signed
        Entries of the signatures from which metrics were read, by name.
    options
        Executor and progress.
    """
    tables, firsts, coverages = [], {}, list[tuple[str, str, Coverage | None]]()
    groups: dict[Against, list[str]] = {}
    for name in metrics:
        groups.setdefault(_against(signed or {}, name), []).append(name)
    statistics: dict[str, Statistics] = {}
    for against, names in groups.items():
        texts, some = compared_with(corpus, against), [metrics[name] for name in names]
        run: Keywords = {"keep_rows": level != "corpus", "level": level}
        collected = collect_statistics(texts, some, options or RunOptions(), **run)
        statistics |= zip(names, collected, strict=True)
    for name in metrics:
        results = statistics[name].results(level)
        firsts[name] = results[0]
        coverages += [(result.name, name, result.coverage) for result in results]
        parts = {result.name: np.array([part.score for _, part in result.parts()]) for result in results}
        table = ScoreTable(
            name, {result.name: result.score for result in results}, {} if level == "corpus" else parts
        )
        tables.append(table if results[0].higher_is_better else negated(table))
    note_coverage(coverages)
    return tables, firsts


def _against(signed: Mapping[str, Mapping[str, str]], name: str) -> Any:
    """Return the texts that outputs are compared with, by the signature of a metric; by default the references."""
    return signed.get(name, {}).get("against", "references")


def read_metrics(metrics: Metrics, language: str | None = None, signed: Signed | None = None) -> dict[str, Metric]:
    """Read the metrics to compute by name. Raises InputError for two of the same name.

    The language of the texts selects defaults of expressions; the entries of signatures are added to `signed`.

    >>> read = read_metrics(["gleu", "soft=vleu(threshold=0.8)", "metric:bleu|matcher:xleu|threshold:0.5"])
    >>> list(read), read["soft"].threshold
    (['gleu', 'soft', 'bleu xleu'], 0.8)
    """
    pairs = (split_name(m) if isinstance(m, str) else (None, m) for m in metrics)
    named_metrics: dict[str, Metric] = {}
    settings: Keywords = {} if language is None else {"language": language}
    for label, text in metrics.items() if isinstance(metrics, Mapping) else pairs:
        signature = str(text) if isinstance(text, str) and ":" in text.partition("(")[0] else None
        metric = fit_metric(text, settings) if signature is None else metric_from_signature(signature)
        matcher = matcher_of(metric)
        soft = f" {matcher.name}" if matcher is not None and matcher.name != "exact" else ""
        name = label or f"{metric.name}{soft}"
        if name in named_metrics:
            raise InputError(f"two metrics are called {name!r}: name one by NAME=METRIC")
        named_metrics[name] = metric
        if signature is not None and signed is not None:
            signed[name] = parse_signature(signature)
    return named_metrics


def read_human(
    files: Sequence[str] | Mapping[str, Mapping[str, float]],
    direction: str | None,
    encoding: str,
    column: str | None = None,
    names: Sequence[str] = (),
) -> dict[str, Mapping[str, float]]:
    """Read human scores of systems by name.

    Parameters
    ----------
    files
        Files, optionally as ``NAME=FILE``, or scores by their name and the system.
    direction
        Direction whose rows are read (column `lp`).
    encoding
        Encoding of the files.
    column
        Column of the scores; None: the first of `SCORED`.
    names
        Names of the systems in files of numbers alone; see `read_scores`.
    """
    if isinstance(files, Mapping):
        return {name: by_text("systems", judged) for name, judged in by_text("judges", files).items()}
    human: dict[str, Mapping[str, float]] = {}
    for label, file in map(split_file, files):
        how: Keywords = {"direction": direction, "column": column, "names": names, "encoding": encoding}
        for made in read_scores(file, label=label, **how):
            name = label or file_stem(file, direction)
            if name in human:
                raise InputError(f"two human scores are called {name!r}: name one by NAME=FILE")
            if not made.systems:
                note(f"{name}: human scores of systems are means of segments")
            human[name] = made.systems or made.means()
    return human


def name_outputs(paths: Sequence[str]) -> dict[str, str]:
    """Name systems after their files as `name_files` does, without test set and direction if all have both.

    >>> name_outputs(["out/newstest2017.PJATK.4760.cs-en", "out/newstest2017.online-A.0.cs-en"])
    {'PJATK.4760': 'out/newstest2017.PJATK.4760.cs-en', 'online-A.0': 'out/newstest2017.online-A.0.cs-en'}
    >>> name_outputs(["out/AMU.txt"])
    {'AMU': 'out/AMU.txt'}
    """
    files = [Path(path).name for path in paths]
    plain = plain_names(files)
    named = {plain[file]: path for file, path in zip(files, paths, strict=True)}
    if len(named) == len(paths) and not set(named) & set(files):
        return named
    return name_files(paths)


def loaded(corpus: Corpus, clean: Callable[[str], str] = str) -> Segments:
    """Read a corpus into memory, and apply `clean` to each text."""
    blocks = [block.load() for block in corpus.blocks()]

    def lines(texts: Iterable[Sequence[str]]) -> list[str]:
        return list(map(clean, chain.from_iterable(texts)))

    candidates = {name: lines(block.candidates[name] for block in blocks) for name in corpus.systems}
    references = [tuple(map(clean, texts)) for block in blocks for texts in block.references]
    source = None if corpus.source is None else lines(block.source or () for block in blocks)
    return replace(Segments.of(candidates, references), source=source, documents=corpus.documents)


def read_marks(spans: Sequence[str], corpus: Corpus, encoding: str = "utf-8") -> list[SpanTable]:
    """Read files of spans, optionally as ``NAME=FILE``, in the outputs of a corpus."""

    def texts() -> Mapping[str, Sequence[str]]:
        return loaded(corpus).candidates

    tables = [read_spans(file, label=label, encoding=encoding, texts=texts) for label, file in map(split_file, spans)]
    for table in tables:
        if not table.outputs.keys() & {*corpus.systems}:
            marked, shown = ", ".join(sorted(table.outputs)), ", ".join(corpus.systems)
            raise InputError(f"{table.name} has spans of {marked}, but of none of the systems {shown}")
    return tables


def _gather_marks(inputs: Inputs) -> Marks:
    """Read spans of judges and of metrics, and find the spans of metrics that are computed."""
    scores, texts, units = inputs.scores, inputs.texts, inputs.units
    files = [inputs.judgements.assessments, *scores.scores]
    if not all(isinstance(file, str) for file in files):
        raise InputError("spans are read from files: give the judges' file with ", Parameter("assessments"))
    known = texts.lines if texts.candidates else None
    tables = [
        read_spans(file, label=label, direction=units.direction, encoding=texts.encoding, texts=known)
        for label, file in map(split_file, map(str, files))
    ]
    if known is None:
        return Marks(tables[0], tables[1:], None)
    signed: Signed = {}
    metrics = read_metrics(scores.metrics, scores.language, signed)
    with texts.open() as corpus:
        for name, metric in metrics.items():
            compared = compared_with(corpus, _against(signed, name))
            tables.append(mark_unmatched(compared, metric, name=name)[0])
        return Marks(tables[0], tables[1:], loaded(corpus).candidates)
