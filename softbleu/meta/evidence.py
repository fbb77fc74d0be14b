"""Judgements and scores of metrics of the same systems, side by side."""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from softbleu.config.declare import parse_signature, split_name
from softbleu.corpora import ParallelFiles, Segments, name_files, name_systems, split_file
from softbleu.corpora.corpus import Corpus, compared_with, make_corpus
from softbleu.corpora.files import STDIN
from softbleu.corpora.judgements import (
    Assessments,
    Comparisons,
    ScoreTable,
    SpanTable,
    drawn_with,
    file_stem,
    plain_names,
    read_scores,
    read_spans,
)
from softbleu.corpora.judgements.numbering import KnownOutputs
from softbleu.corpora.labels import Documents
from softbleu.engine.notes import note_coverage
from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError, Parameter, UnknownNameError, known_name
from softbleu.io.arguments import by_text
from softbleu.io.progress import note
from softbleu.io.tabular import Value
from softbleu.meta.agreement import FEWEST_POINTS, Columns, Marks, check_samples, join_assessments, join_systems
from softbleu.meta.rankings import RankedSystem, play_matches, rank_by_skill, rank_by_wins, win_shares
from softbleu.metrics.base import Level, Metric
from softbleu.metrics.protocols import matcher_of
from softbleu.metrics.reading import fit_metric
from softbleu.metrics.result import Coverage, Result
from softbleu.metrics.scores import less_is_better
from softbleu.metrics.signatures import metric_from_signature
from softbleu.results.explain import unmatched_spans
from softbleu.types import Progress

ASSESSMENT = "direct assessment"
BY_OUTPUT = ("outputs", "preferences", "accuracy", "differences")  # Questions that need scores of segments
OF_SYSTEMS = ("systems", "left-out", "windows")  # Questions that need human scores of systems

Metrics = Sequence["str | Metric"] | Mapping[str, "str | Metric"]
"""Expressions, signatures or values; a text may be ``NAME=EXPRESSION``, a mapping has the names."""
OpenOutputs = Callable[..., AbstractContextManager[Corpus]]  # `open_outputs` with what it opens
Outputs = Sequence[str] | Mapping[str, Sequence[str]]  # Files, or texts by the name of the system


@dataclass(frozen=True)
class IntervalSettings:
    """How intervals and tests are made."""

    samples: int = 1000  # Of the bootstrap
    runs: int = 100  # Of TrueSkill
    seed: int = 12345
    against: str | None = None  # The metric that others are tested against; None: each against each
    window: int = 4  # Systems in a window

    def __post_init__(self) -> None:
        # Without samples there are no intervals.
        check_samples(self.samples or 1, self.seed)
        check_samples(self.runs, self.seed)

    def facts(self) -> dict[str, Value]:
        """List how many samples there are, and their seed."""
        return {"samples": self.samples, "seed": self.seed}


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that is known of the systems; what is not is empty or None."""

    metrics: Sequence[ScoreTable] = ()
    human: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Scores of the systems by judges, by the name of these scores."""
    comparisons: Comparisons | None = None
    assessments: Assessments | None = None
    rankings: Mapping[str, Sequence[RankedSystem]] = field(default_factory=dict)
    """The systems as ranked by the comparisons, by the name of the way."""
    marks: Marks | None = None  # Spans, where the question is about these

    @property
    def of_judges(self) -> list[tuple[str, Comparisons | Assessments]]:
        """Judgements of single outputs, with their name."""
        sides = (("rankings", self.comparisons), (ASSESSMENT, self.assessments))
        return [(human, judged) for human, judged in sides if judged is not None]

    def asks_of_outputs(self, question: str) -> bool:
        """Whether a question needs scores of segments, and is about judgements of single outputs."""
        unranked = self.assessments is not None and not (self.human or self.comparisons)
        return question in BY_OUTPUT or (question == "williams" and unranked)

    def turned(self, names: Collection[str]) -> Evidence:
        """Negate the human scores of these names. InputError: no scores have such a name, a metric's neither."""
        assessed = [ASSESSMENT] * (self.assessments is not None)
        known = [*self.human, *assessed, *(table.name for table in self.metrics)]
        if unknown := [name for name in names if name not in known]:
            raise UnknownNameError("scores", unknown[0], known)
        human = {
            by: {name: -score if by in names else score for name, score in scores.items()}
            for by, scores in self.human.items()
        }
        assessments = self.assessments
        if assessments is not None and ASSESSMENT in names:
            assessments = replace(assessments, scores=-assessments.scores)
        return replace(self, human=human, assessments=assessments)

    def by_document(self, documents: Documents | None, *, whole: bool) -> Evidence:
        """Have samples draw the documents of segments; of `whole` ones means stand in the place of segments.

        InputError: there are no judgements of single outputs, or of whole documents no documents or assessments.
        """
        comparisons, assessments = self.comparisons, self.assessments
        if documents is not None and not self.of_judges:
            said = " are of segments, of which no judgements are there: give "
            raise InputError(Parameter("documents"), said, Parameter("rankings"), " or ", Parameter("assessments"))
        if whole and (documents is None or assessments is None):
            said = "to look at whole documents, name these and scores of their segments by judges: give "
            raise InputError(said, Parameter("documents"), " and ", Parameter("assessments"))
        if documents is None:
            return self
        numbers = documents.numbers
        if comparisons is not None:
            drawn = drawn_with(comparisons.segment, numbers)
            comparisons = replace(comparisons, cluster=drawn, documents=numbers)
        if assessments is not None:
            assessments = assessments.of_documents(numbers) if whole else replace(assessments, documents=numbers)
        metrics = [table.of_documents(numbers) for table in self.metrics] if whole else self.metrics
        return replace(self, metrics=metrics, comparisons=comparisons, assessments=assessments)

    def with_means(self, question: str) -> tuple[Evidence, list[str]]:
        """Take means of assessed outputs for human scores of systems, where a question needs these and has none.

        With a note that says so.
        """
        if question not in OF_SYSTEMS or self.assessments is None or self.human or self.comparisons is not None:
            return self, []
        means, same = self.assessments.of_systems()
        on = "" if same else ", which are not the same segments for every system"
        return replace(self, human={ASSESSMENT: means}), [
            f"human scores of systems are means of assessed outputs{on}"
        ]

    def of_systems(self, fewest: int = FEWEST_POINTS) -> list[Columns]:
        """Join metrics with each kind of human scores of systems. InputError: either is missing, or fewer systems."""
        metrics = self.need_metrics()
        ranked = {by: {system.name: system.score for system in ranks} for by, ranks in self.rankings.items()}
        sides = {**self.human, **ranked}
        if not sides:
            raise InputError("there are no human scores of systems: give them, or rankings to make them from")
        return [join_systems(metrics, name, scores, fewest) for name, scores in sides.items()]

    def of_outputs(self) -> list[Columns]:
        """Join metrics with direct assessment of single outputs. InputError: either is missing."""
        metrics = self.need_metrics()
        if self.assessments is None:
            raise InputError("there is no direct assessment of single outputs: give a file of it")
        return [join_assessments(metrics, ASSESSMENT, self.assessments)]

    def need_metrics(self) -> Sequence[ScoreTable]:
        """The metrics; InputError where there are none."""
        if not self.metrics:
            raise InputError("there is no metric: give files of scores, or settings and a corpus to score")
        return self.metrics

    def need_comparisons(self) -> Comparisons:
        """The comparisons; InputError where there are none."""
        if self.comparisons is None:
            raise InputError("there are no comparisons by judges: give rankings")
        return self.comparisons


# How systems are ranked by judges' comparisons
WAYS: dict[str, Callable[[Comparisons, IntervalSettings, Progress | None], list[RankedSystem]]] = {
    "expected-wins": lambda comparisons, settings, _: rank_by_wins(comparisons, settings.samples, settings.seed),
    "trueskill": lambda comparisons, settings, progress: rank_by_skill(
        comparisons, settings.runs, settings.seed, progress
    ),
}


def aggregate_scores(
    table: ScoreTable, way: str, settings: IntervalSettings, progress: Progress | None = None
) -> ScoreTable:
    """Give a metric's systems the scores that its segments' pairwise wins make, as judges' do (Goto et al. 2025).

    InputError: the table has no segments, or of one system only.

    Parameters
    ----------
    table
        Scores of segments by a metric.
    way
        One of `WAYS`.
    settings
        Runs of TrueSkill and their seed.
    progress
        Told how many matches of a run are played.

    Examples
    --------
    >>> table = ScoreTable("m", {}, {"A": np.array([3.0, 2.0, 1.0]), "B": np.array([2.0, 1.0, 24.0])})
    >>> aggregate_scores(table, "expected-wins", IntervalSettings()).systems
    {'A': 0.6666666666666666, 'B': 0.3333333333333333}
    """
    compared = Comparisons.of_scores(table.need_segments("to aggregate wins, "), table.name)
    if not len(compared):
        raise InputError(f"{table.name} scored no segment of two systems: there are no wins to aggregate")
    if known_name("way of ranking", way, WAYS) == "trueskill":
        scores = play_matches(compared, settings.runs, settings.seed, progress).mean(axis=0)
    else:
        scores = win_shares(compared.tallies().astype(np.float64))
    return replace(table, systems=dict(zip(compared.systems, scores.tolist(), strict=True)))


def read_tables(
    scores: Sequence[str | ScoreTable], lower: Collection[str], direction: str | None, encoding: str
) -> tuple[list[ScoreTable], list[str]]:
    """Read scores of metrics, files or tables, and make greater the better; with notes on what was not known.

    Scores of which less is better are negated: as `lower` names the metric, its file says, or its signature or name
    does. Where none is above 0 they are negated already.

    Parameters
    ----------
    scores
        Tables, or files of them, each maybe as ``NAME=FILE``.
    lower
        Names of tables of which less is better.
    direction
        Rows of which direction are read (column `lp`).
    encoding
        Of the files.
    """
    tables: list[ScoreTable] = []
    notes, unknown = [], []
    for table in _opened(scores, direction, encoding):
        down = table.name in lower or less_is_better(table)
        unknown += [table.name] * (down is None)
        columns = ([*table.systems.values()], *table.segments.values())
        if down and any(np.any(np.array(column) > 0) for column in columns):
            notes.append(f"{table.name}: less is better, so that its scores are negated")
            table = negated(table)
        elif table.name in lower:
            notes.append(f"{table.name}: no score is above 0, so that they are taken for negated already")
        tables.append(table)
    if unknown:
        notes.append(f"greater is taken for better in {', '.join(unknown)}: 'lower' names those of which less is")
    return tables, notes


def negated(table: ScoreTable) -> ScoreTable:
    """Make greater the better of what was better when less."""
    systems = {name: -score for name, score in table.systems.items()}
    segments = {name: -column for name, column in table.segments.items()}
    return replace(table, systems=systems, segments=segments)


def _opened(scores: Sequence[str | ScoreTable], direction: str | None, encoding: str) -> Iterator[ScoreTable]:
    for named in scores:
        if isinstance(named, str):
            label, file = split_file(named)
            yield from read_scores(file, label=label, direction=direction, encoding=encoding)
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
    """Score a corpus with several metrics, by name: its segments, or else its systems; with the first result of each.

    What is better is greater: scores of which less is better, such as error rates, are negative.

    Parameters
    ----------
    corpus
        Candidates of the systems, with what the metrics need.
    metrics
        Metrics by name.
    level
        Whether segments are scored, too, or documents, which stand in their place.
    signed
        Entries of the signatures that some of the metrics were read from, by name.
    options
        How the work is done.
    """
    tables, firsts, coverages = [], {}, list[tuple[str, str, Coverage | None]]()
    groups: dict[Any, list[str]] = {}
    for name in metrics:
        groups.setdefault(_against(signed or {}, name), []).append(name)
    statistics: dict[str, Any] = {}
    for against, names in groups.items():
        texts, some = compared_with(corpus, against), [metrics[name] for name in names]
        run: Any = {"keep_rows": level != "corpus", "level": level}
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
    """What the signature of a metric, if it has one, says that outputs are compared with."""
    return signed.get(name, {}).get("against", "references")


def read_metrics(
    metrics: Metrics, language: str | None = None, signed: dict[str, dict[str, str]] | None = None
) -> dict[str, Metric]:
    """Read what to compute, by the name that it is given or has itself. InputError: two of the same name.

    The language of the texts chooses defaults of what is no signature; their entries are added to `signed`.

    >>> read = read_metrics(["gleu", "soft=vleu(threshold=0.8)", "metric:bleu|matcher:xleu|threshold:0.5"])
    >>> list(read), read["soft"].threshold
    (['gleu', 'soft', 'bleu xleu'], 0.8)
    """
    pairs: Iterable[Any] = (split_name(m) if isinstance(m, str) else (None, m) for m in metrics)
    named_metrics: dict[str, Metric] = {}
    settings: dict[str, Any] = {} if language is None else {"language": language}
    for label, text in metrics.items() if isinstance(metrics, Mapping) else pairs:
        signature = str(text) if isinstance(text, str) and ":" in text.partition("(")[0] else None
        metric = fit_metric(text, settings).metric if signature is None else metric_from_signature(signature)
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
) -> dict[str, Mapping[str, float]]:
    """Read human scores of systems from files, each maybe as ``NAME=FILE``, by name.

    Parameters
    ----------
    files
        Tables of systems and scores; or the scores themselves, by their name and the system.
    direction
        Rows of which direction are read (column `lp`).
    encoding
        Of the files.
    column
        Column of the scores; None: the first of `SCORED`.
    """
    if isinstance(files, Mapping):
        return {name: by_text("systems", judged) for name, judged in by_text("judges", files).items()}
    human: dict[str, Mapping[str, float]] = {}
    for label, file in map(split_file, files):
        for made in read_scores(file, label=label, direction=direction, column=column, encoding=encoding):
            name = label or file_stem(file, direction)
            if name in human:
                raise InputError(f"two human scores are called {name!r}: name one by NAME=FILE")
            if not made.systems:
                note(f"{name}: human scores of systems are means of segments")
            human[name] = made.systems or made.means()
    return human


def name_outputs(paths: Sequence[str]) -> dict[str, str]:
    """Name systems after their files as `name_files` does, without test set and direction where all have both.

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


@contextmanager
def open_outputs(
    candidates: Outputs,
    references: Sequence[str | Sequence[str]],
    source: Sequence[str] | None,
    gold: str | None,
    encoding: str,
    *,
    unescape: bool,
    documents: Documents | None = None,
) -> Iterator[Corpus]:
    """Open the corpus that metrics are computed on: candidates with their references.

    With `unescape` it is read into memory, with characters in the place of entities such as ``&apos;``.

    Parameters
    ----------
    candidates
        Files of systems, or texts by the name of the system.
    references
        Files, or references of each segment.
    source, gold
        Source texts, or their file; a file of gold edits.
    encoding
        Of the files.
    unescape
        Whether entities become characters.
    documents
        Documents of the segments of candidates.
    """
    opened: AbstractContextManager[Corpus]
    if isinstance(candidates, Mapping):
        opened = nullcontext(make_corpus(candidates, references, source, documents=documents))
    elif candidates:
        files, sources = [str(name) for name in references], source if isinstance(source, str) else None
        named = name_systems(candidates, files, [name for name in (sources, gold) if name is not None], name_outputs)
        opened = ParallelFiles.open(named, files, sources, gold=gold, encoding=encoding, documents=documents)
    else:
        texts_of = (Parameter("candidates"), " and ", Parameter("references"))
        raise InputError("metrics need a corpus to score: name it with ", *texts_of)
    with opened as corpus:
        if unescape and corpus.gold is not None:
            raise InputError("gold edits count the words of their own text: leave out ", Parameter("unescape"))
        yield loaded(corpus, html.unescape) if unescape else corpus


def loaded(corpus: Corpus, clean: Callable[[str], str] = str) -> Segments:
    """Read a corpus into memory, each text as `clean` makes it."""
    blocks = [block.load() for block in corpus.blocks()]

    def lines(texts: Iterable[Sequence[str]]) -> list[str]:
        return list(map(clean, chain.from_iterable(texts)))

    candidates = {name: lines(block.candidates[name] for block in blocks) for name in corpus.systems}
    references = [tuple(map(clean, texts)) for block in blocks for texts in block.references]
    source = None if corpus.source is None else lines(block.source or () for block in blocks)
    return replace(Segments.of(candidates, references), source=source, documents=corpus.documents)


def lines_of(outputs: OpenOutputs) -> Mapping[str, Sequence[str]]:
    """Read the lines of the systems."""
    with outputs() as corpus:
        return loaded(corpus).candidates


def known_outputs(
    outputs: OpenOutputs, candidates: Outputs, others: Iterable[object], tables: Sequence[ScoreTable]
) -> KnownOutputs | None:
    """Return the lines of systems, by a function, or else the first scores of their segments; None: neither is known.

    Parameters
    ----------
    outputs
        Opens the corpus.
    candidates, others
        Files of systems, or texts by their name; other files. Standard input is read once only, and so not here.
    tables
        Scores by metrics.
    """
    files = [*(() if isinstance(candidates, Mapping) else candidates), *others]
    if candidates and not any(
        isinstance(file, str) and (file == STDIN or file.endswith(f"={STDIN}")) for file in files
    ):
        return partial(lines_of, outputs)
    return next((table.segments for table in tables if table.segments), None)


def gather_marks(
    files: Sequence[object],
    outputs: OpenOutputs | None,
    metrics: Metrics,
    direction: str | None,
    language: str | None,
    encoding: str,
) -> Marks:
    """Read spans of judges, the first file, and of metrics; find those of metrics that are to be computed.

    Parameters
    ----------
    files
        Files of spans, each maybe as ``NAME=FILE``.
    outputs
        Opens the corpus; None: there is none.
    metrics
        Metrics whose spans are to be found.
    direction
        Rows of which direction are read (column `lp`).
    language
        Code of the language of the texts.
    encoding
        Of the files.
    """
    if not all(isinstance(file, str) for file in files):
        raise InputError("spans are read from files: give that of judges with ", Parameter("assessments"))
    how: dict[str, Any] = {"direction": direction, "encoding": encoding}
    how["texts"] = None if outputs is None else partial(lines_of, outputs)
    tables = [read_spans(file, label=label, **how) for label, file in map(split_file, map(str, files))]
    texts = None
    if outputs is not None:
        with outputs() as corpus:
            texts = loaded(corpus).candidates
            signed: dict[str, dict[str, str]] = {}
            for name, metric in read_metrics(metrics, language, signed).items():
                compared = compared_with(corpus, _against(signed, name))
                tables.append(unmatched_spans(compared, metric, name=name).table)
    return Marks(tables[0], tables[1:], texts)


def read_marks(spans: Sequence[str], corpus: Corpus, encoding: str = "utf-8") -> list[SpanTable]:
    """Read spans of files, each maybe behind a name, in outputs of a corpus. InputError: a file has none of these."""
    texts = partial(lines_of, lambda: nullcontext(corpus))
    tables = [read_spans(file, label=label, encoding=encoding, texts=texts) for label, file in map(split_file, spans)]
    for table in tables:
        if not table.outputs.keys() & {*corpus.systems}:
            marked, shown = ", ".join(sorted(table.outputs)), ", ".join(corpus.systems)
            raise InputError(f"{table.name} has spans of {marked}, and of none of the systems {shown}")
    return tables
