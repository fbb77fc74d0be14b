"""Scores that another program gave as a metric: its statistics are read, not computed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from softbleu import results
from softbleu.config.declare import parse_expression, setting, split_name
from softbleu.corpora.corpus import Corpus, Segments
from softbleu.corpora.files import split_file
from softbleu.corpora.judgements import ScoreTable, in_order_of, merge_scores, read_scores
from softbleu.corpora.judgements.scores import are_penalties, sentinel_of
from softbleu.errors import InputError, Parameter, SoftbleuError, UnknownNameError, counted
from softbleu.io.progress import note
from softbleu.matching.matchers import MATCHERS
from softbleu.metrics.aggregation import SumOfRows
from softbleu.metrics.base import METRICS, Level, Metric, WholeMetric
from softbleu.metrics.protocols import at_level
from softbleu.metrics.reading import read_metric
from softbleu.metrics.requirements import Requirements, lacking
from softbleu.metrics.resampling import ChosenSums
from softbleu.metrics.score import Score, ScoreColumns

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk, WordTable
    from softbleu.metrics.result import Results
    from softbleu.types import Flags, Floats, Integers, Keywords, OfAnnotators

Statistic = Literal["mean", "median", "sum"]
Missing = Literal["refuse", "leave-out"]
_SIGNED = re.compile(r"(?:^|\|)metric:([^|]+)")
_COUNTED = re.compile(
    r"(?:sentence|sent|sp|sacre|corpus|flores\d*)?(?:bleu|chrf|ter|gleu|nist|meteor|wer|cer)(?:score)?\d*(?:p*|\+*)"
)
"""Usual names, small letters and digits, of metrics of which a corpus does not have the mean of its sentences."""
_PENALTY = re.compile(
    r"metric ?x|\b(?:[hm]?ter|terp|[cmw]er|errors?|mistakes?|penalty|penalties|perplexity|distance)\b"
)
_MERIT = re.compile("comet|kiwi|bleu|chr ?f|bert ?score|yisi|prism|meteor|rouge|accuracy|quality|judge")
_SCORE = re.compile(
    "gemba|^(?:(?:da|z|raw|avg|average|mean|overall|final|total|human|llm|model|sys|system|seg|segment|metric) )*"
    "scores?$"
)
"""Usual names, words in small letters, of metrics of which less, or more, is better."""
_TURNED = re.compile(r"^\s*(?:1\s*)?[-\u2212]|(?i:neg(?:ated|ative)?|inver(?:se|ted))(?![a-z])")
_MEANS = ("bertscore", "refless", "trained")  # Our metrics of which a corpus has the mean of its segments
_SAME = 0.01  # Points within which the statistics of a segment must make its score
_NAMED = 3  # Segments without a score, or outputs, that a message names
_FAR = 4  # Standard deviations from which on a judge's score may be a slip


def one_table(text: str) -> ScoreTable | None:
    """Read the scores of one metric from a file, or from several, joined by `+`. InputError: they are of several."""
    if text == "none":
        return None
    parts = [text] if Path(text).exists() else text.split("+")
    tables = [table for part in parts for table in read_scores(part)]
    if len(tables) == len(parts):  # Each of other systems, as signatures have files that were given one name
        tables = [replace(table, name=tables[0].name) for table in tables]
    tables = merge_scores(tables)
    if len(tables) > 1:
        raise InputError(f"{text}: scores by {len(tables)} metrics: name one, as in {text}:{tables[0].name}")
    return tables[0]


@dataclass(frozen=True, repr=False)
class Scores(WholeMetric):
    """Scores of segments that another program gave, such as COMET, MetricX or an LLM judge.

    A corpus has the mean (or the median, or the sum) of its segments. Where a file of softbleu has their statistics,
    the mean gives way to the score of their sum, by the metric that made them. Every system has a score of every
    segment; where one is missing, the segment is left out of all systems, if that is allowed. Corpus results alone
    cannot be tested.

    Parameters
    ----------
    called
        Name of the metric in tables.
    table
        Scores of the segments of each system: a mapping, a table, or a file (``FILE:METRIC`` where it has several) as
        `softbleu.corpora.judgements.read_scores` has it.
    statistic
        Score of a corpus from the scores of its segments: `mean`, `median` or `sum`. The bootstrap tests medians.
    missing
        `refuse` a corpus in which a segment has a score of one system and none of another, or `leave-out` this
        segment of every system. Segments without any score are left out, with a note.
    missing_value
        A number that stands for a missing score, such as -1: its segment is left out of every system.
    lower
        Whether less is better; None: as the file says, or the metric that it names, else not. No score depends on it.

    Examples
    --------
    >>> comet = Scores("COMET", {"A": [0.5, 0.25], "B": [0.75, None]}, missing="leave-out")
    >>> [(result.name, result.score) for result in comet.results()]
    [('A', 0.5), ('B', 0.75)]
    """

    name: ClassVar[str] = "scores"
    called: str = field(default="", repr=False, kw_only=False)
    table: ScoreTable | Mapping[str, Sequence[float | None]] | str | None = setting(
        None,
        "Scores of segments that another program gave: a file, FILE:METRIC where it has several",
        read=one_table,
        hashed=True,
        metavar="FILE",
    )
    statistic: Statistic = setting("mean", "What a corpus has of the scores of its segments, where these are read")
    missing: Missing = setting(
        "refuse", "Where a score is missing: refuse all, or leave-out the segment of every system"
    )
    missing_value: float | None = setting(
        None, "Take this value, such as a judge's -1, for a missing score, and leave its segment out of every system"
    )
    lower: bool | None = field(default=None, repr=False)
    pool: Metric | None = field(default=None, repr=False)  # Scores sums of statistics, where the table has these

    def check(self) -> None:
        """Take a file or a mapping for a table."""
        table = self.table
        if isinstance(table, str | Path):
            table = one_table(str(table))
        elif isinstance(table, Mapping):
            segments = {name: _column(name, scores) for name, scores in table.items()}
            table = ScoreTable(self.called or "scores", {}, segments, self.called)
        elif table is not None and not isinstance(table, ScoreTable):
            raise InputError(Parameter("scores"), f" has the scores of each system, not {table!r}")
        if table is not None and table.statistics and self.pool is None:
            object.__setattr__(self, "pool", _pool_of(table) if self.statistic == "mean" else None)
            table = table if self.pool else replace(table, statistics={})
        table = None if table is None else table.without(self.missing_value)
        object.__setattr__(self, "table", table)
        lower = less_is_better(self._known) if self.lower is None and table is not None else self.lower
        object.__setattr__(self, "higher_is_better", not lower)

    @property
    def _known(self) -> ScoreTable:
        if not isinstance(self.table, ScoreTable):
            raise InputError("metric 'scores' needs scores: name a file of them with ", Parameter("scores"))
        return self.table

    @property
    def label(self) -> str:
        """Name of the metric in its file, or of the mean of its sentences in its place."""
        if self.table is None:
            return "scores"
        return f"{self.statistic} of sentence {self.usual}" if self.is_of_sentences else self._known.name

    @property
    def usual(self) -> str:
        """Usual name of the metric that the scores are of."""
        table = self._known
        made_by = _made(table.made_by) if table.name == table.made_by else None
        return table.name if made_by is None else made_by.called or made_by.label

    @property
    def is_of_sentences(self) -> bool:
        """Whether the corpus scores are other than the metric's, whose segments cannot be pooled."""
        table = self._known
        if self.pool is not None or not self.has_segments:
            return False
        made_by = _made(table.made_by)
        if made_by is not None:
            return made_by.name not in _MEANS
        names = table.name, table.metric.partition("(")[0]
        return any(_COUNTED.fullmatch(re.sub("[^a-z0-9+]", "", name.lower())) for name in names)

    def at_level(self, level: Level) -> Self:
        """Return scores whose statistics are scored as at a level."""
        return self if self.pool is None else replace(self, pool=at_level(self.pool, level))

    def signature(self, *, short: bool = False, vectors: str | None = None, **more: object) -> str:
        """Add the way of corpus scores, unless it is the mean; see `Metric.signature`."""
        if self.pool is not None:
            more["corpus"] = f"pooled {self.pool}"
        elif not self.has_segments:
            more["corpus"] = "as given"
        elif self.table is not None and self.is_of_sentences:
            more["corpus"] = self.label
        return super().signature(short=short, vectors=vectors, **more)

    @property
    def requires(self) -> Requirements:
        """No text."""
        return Requirements(references=False)

    @property
    def systems(self) -> list[str]:
        """Names of the systems that have scores of segments, or else of all with scores."""
        return [*(self._known.segments or self._known.systems)]

    @property
    def has_segments(self) -> bool:
        """Whether segments have scores; else there are corpus results."""
        return self.table is None or bool(self._known.segments)

    @property
    def place(self) -> str:
        """The file of the scores, or their name."""
        return self._known.location or self._known.name

    @property
    def documents(self) -> Sequence[str]:
        """Names of the documents of the segments, where the file has them."""
        return () if self.table is None else self._known.documents

    def read_rows(self, corpus: Corpus, systems: Sequence[str]) -> Floats:
        """Read rows of a score, or of statistics, and a count, 0 for segments left out: (systems, segments, k).

        Corpus results stand in every row. InputError: a system has no scores, or of another number of segments, or of
        fewer than must be.
        """
        table, where, segments = self._known, self.place, len(corpus)
        scored = table.segments or table.systems
        for system in systems:
            if system not in scored:
                raise UnknownNameError("system", system, self.systems, place=where)
            count = len(table.segments.get(system, ()))
            if table.segments and (count > segments or (count < segments and not self._may_lack_last)):
                raise InputError(
                    f"{where}: {counted(count, 'segment')} of {system} with scores, the corpus has {segments:,}"
                )
        table.check_texts(corpus)
        self._tell_way(several=len(systems) > 1)
        if not table.segments:
            given = np.array([table.systems[system] for system in systems])
            return np.stack([np.repeat(given[:, None], segments, 1), np.ones((len(systems), segments))], axis=2)
        scores = np.full((len(systems), segments), np.nan)
        for row, system in enumerate(systems):
            scores[row, : len(table.segments[system])] = table.segments[system]
        gaps = np.isnan(scores)
        if gaps.any():
            self._tell(where, systems, gaps)
        there = ~gaps.any(axis=0)
        if not there.any():
            few = int(np.argmax(gaps.sum(axis=1)))
            said = f"the fewest, {segments - int(gaps[few].sum()):,}, are of {systems[few]}"
            raise InputError(f"{where}: no segment has a score of every system: leave out systems with few ({said})")
        counts = np.broadcast_to(there.astype(float), scores.shape)[..., None]
        if self.pool is None:
            return np.concatenate([np.where(there, scores, 0.0)[..., None], counts], axis=2)
        rows = np.stack([table.statistics[system] for system in systems])
        rows = np.pad(rows, ((0, 0), (0, segments - rows.shape[1]), (0, 0)))
        return np.concatenate([np.where(there[:, None], rows, 0), counts], axis=2)

    def _tell(self, where: str, systems: Sequence[str], gaps: Flags) -> None:
        """Name segments without a score: in a note, or in an InputError if they are refused."""
        places = [
            f"{systems[system]} segment {segment + 1}" for system, segment in np.argwhere(gaps)[:_NAMED].tolist()
        ]
        more = ", …" if gaps.sum() > _NAMED else ""
        table, lost, segments = self._known, int(gaps.any(axis=0).sum()), gaps.shape[1]
        said = f"{where}: {counted(int(gaps.sum()), 'score is', 'scores are')} missing ({', '.join(places)}{more})"
        uneven = bool(np.any(gaps.any(axis=0) != gaps.all(axis=0)))
        if self.missing == "refuse" and self.missing_value is None and uneven:
            way = (
                Parameter("missing", "leave-out"),
                f" leaves {lost:,} of {segments:,} segments out of every system",
            )
            raise InputError(f"{said}: ", *way)
        if table.judged:
            some = segments - int(gaps.all(axis=0).sum())
            less = f", {some - segments + lost:,} more are judged of some systems and left out" * uneven
            note(f"{where}: compared are the {segments - lost:,} segments that are judged of every system{less}")
            return
        note(f"{said}: {lost:,} of {segments:,} segments are left out of every system")

    @property
    def _may_lack_last(self) -> bool:
        """Whether segments may be missing at the end: they are numbered."""
        return self.missing == "leave-out" and (self._known.judged or self._known.first is not None)

    def _tell_way(self, *, several: bool) -> None:
        """Print notes on which way is better, if nobody said it, and on a number that may stand for a gap."""
        table = self._known
        down = less_is_better(table) if self.lower is None else False
        if down is None and several:
            said = f"assuming that higher is better for {self.usual}: name it if lower is better, with "
            note(said, Parameter("lower"))
        elif down and not table.made_by:
            note(f"{self.usual}: lower is better")
        if self.missing_value is None and (odd := sentinel_of(table.segments.values())):
            note(f"{self.place}: {odd[1]}: ", Parameter("missing_value", odd[0]), " leaves them out")

    def results(self) -> Results:
        """Score all systems of the table, without texts."""
        return results.score_corpus(corpus_of([self]), [self])

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Refuse text, of which nothing is known here."""
        raise InputError(
            f"{self.label} has scores of whole corpora, by system and segment: it cannot score other text"
        )

    def columns(self, rows: Integers | Floats) -> ScoreColumns[Score]:
        """Score rows, or sums of rows, by the metric that made them; NaN where no segment has a score."""
        if self.pool is not None:
            pooled, there = self.pool.columns(rows[:, :-1]), rows[:, -1] > 0
            scores = np.where(there, pooled.score, np.nan)
            kind = lambda score, row: pooled[row] if there[row] else Score(score)  # noqa: E731
            return ScoreColumns(kind, scores, row=np.arange(len(rows)))
        if self.statistic == "sum":
            return ScoreColumns(Score, np.where(rows[:, 1] > 0, rows[:, 0], np.nan))
        with np.errstate(invalid="ignore"):
            return ScoreColumns(Score, rows[:, 0] / rows[:, 1])

    @property
    def aggregation(self) -> AllRows:
        """All rows at once: the mean is that of NumPy, to the last digit."""
        return AllRows(self)


@dataclass(frozen=True)
class AllRows(SumOfRows):
    """A row of a score, or of statistics, and a count for each segment, which are looked at together."""

    metric: Scores
    sum_is_enough: ClassVar[bool] = False

    @property
    def is_mean(self) -> bool:
        """Segments count once or, for every system, not at all."""
        return self.metric.statistic == "mean" and self.metric.pool is None

    @property
    def by_segment(self) -> bool:
        """Rows are not added up block by block."""
        return False

    def summed(self, rows: Integers, offsets: Integers) -> Any:
        """Add up scores and counts, in the order of the segments."""
        # Columns one after the other, so that their sums are those of NumPy to the last digit.
        if not self.metric.has_segments:
            return rows[0]
        columns = np.ascontiguousarray(rows[rows[:, -1] > 0].T)
        return np.median(columns, axis=1) if self.metric.statistic == "median" else columns.sum(axis=1)

    def counted(self, rows: Any, offsets: Integers) -> Integers:
        """Segments that are not left out."""
        return np.flatnonzero(rows[:, -1] > 0)

    def counts(self, rows: object, offsets: Integers) -> Integers | None:
        """Return None: rows can be read from the file again."""
        return None

    def segment_scores(self, rows: Integers, offsets: Integers) -> Sequence[Score]:
        """Score each segment. InputError: there are corpus results only."""
        self._need_segments()
        return super().segment_scores(rows, offsets)

    def segment_numbers(self, rows: Integers, offsets: Integers) -> Floats:
        """Scores of the segments alone. InputError: there are corpus results only."""
        self._need_segments()
        return super().segment_numbers(rows, offsets)

    def _need_segments(self) -> None:
        if not self.metric.has_segments:
            raise InputError(f"{self.metric.place}: scores of systems only, one number each: give those of segments")

    def drawn(self, systems: Sequence[Any], offsets: Integers) -> ChosenSums | DrawnMedians:
        """Sums of the segments that are drawn, or their medians."""
        self._need_segments()
        return DrawnMedians(systems) if self.metric.statistic == "median" else super().drawn(systems, offsets)


class DrawnMedians:
    """Medians of the segments that are drawn, each with a count of 1: (systems, samples, 2)."""

    adds_up: ClassVar[bool] = False
    in_blocks: ClassVar[bool] = False

    def __init__(self, systems: Sequence[Floats]) -> None:
        self._scores = [rows[:, 0] for rows in systems]

    def weighted(self, weights: Integers, start: int) -> Floats:
        """Medians of segments, each drawn as often as `weights` says, (samples, segments): (systems, samples, 2).

        `start` is the number of the first sample.
        """
        medians = np.ones((len(self._scores), len(weights), 2))
        for system, scores in enumerate(self._scores):
            order = np.argsort(scores, kind="stable")
            passed = np.cumsum(weights[:, order], axis=1)
            drawn = passed[:, -1:] / 2
            lower, upper = (scores[order][reached.argmax(axis=1)] for reached in (passed >= drawn, passed > drawn))
            medians[system, :, 0] = (lower + upper) / 2
        return medians


def _made(expression: str) -> Metric | None:
    """Make the metric of an expression; None where there is none of that name here, or it reads scores itself."""
    try:
        if not expression or parse_expression(split_name(expression)[1])[0] == Scores.name:
            return None
        return read_metric(expression)
    except SoftbleuError:
        return None


def _pool_of(table: ScoreTable) -> Metric | None:
    """Make the metric whose statistics a table has, if it makes of them the scores that the table has."""
    metric = _made(table.made_by)
    if metric is None:
        return None
    scorer = at_level(metric, "segment")
    for system, rows in table.statistics.items():
        scores, there = table.segments[system], ~np.isnan(table.segments[system])
        try:
            made = scorer.columns(rows[there]).score
        except (IndexError, ValueError):  # Rows of another length
            return None
        if not np.allclose(made, scores[there], rtol=0, atol=_SAME):
            return None
    return metric


def _column(name: str, scores: Iterable[float | None]) -> Floats:
    try:
        listed = scores.to_pylist() if hasattr(scores, "to_pylist") else scores  # Arrays of pyarrow
        return np.array([np.nan if score is None else float(score) for score in listed], np.float64)
    except (TypeError, ValueError):
        raise InputError(f"scores of {name!r} must be numbers, or None where missing") from None


def less_is_better(table: ScoreTable) -> bool | None:
    """Tell whether less is better, by the table or the metric that it names; None where neither knows.

    It is not if no score is above 0: the scores are negated already.
    """
    down = _of_metric(table)
    down = by_name(table) if down is None else down
    return down and some_above(table)


def some_above(table: ScoreTable) -> bool:
    """Whether any score is above 0."""
    columns = ([*table.systems.values()], *table.segments.values())
    return any(bool(np.any(np.asarray(column) > 0)) for column in columns)


def by_name(table: ScoreTable) -> bool | None:
    """Tell whether less is better by the usual names of metrics, error rates and penalties; None for other names.

    Scores called MQM are penalties if none is below 0, unless the greatest is there more often than the least.

    >>> names = ("MetricX-24", "cpWER", "xCOMET", "1-TER", "mqm", "Kim")
    >>> [by_name(ScoreTable(name, {"A": 2.5}, {}, name)) for name in names]
    [True, True, False, None, True, None]
    """
    if _of_metric(table) is not None:
        return None
    for name in (table.name, table.metric):
        words = " ".join(re.findall("[a-z]+", re.sub("(?<=[a-z])(?=[A-Z])", " ", name).lower()))
        if _TURNED.search(name):
            return None
        if _PENALTY.search(words) or _MERIT.search(words):
            return _PENALTY.search(words) is not None
        if "mqm" in words.split():
            return are_penalties(np.concatenate([[*table.systems.values()], *table.segments.values()]))
        if _SCORE.search(words):
            return False
    return None


def _of_metric(table: ScoreTable) -> bool | None:
    """Tell whether less is better, by the table or the metric of ours that it names; None where neither knows."""
    if table.better or not table.metric:
        return table.better == "lower"
    signed = _SIGNED.search(table.metric)
    for name in (signed[1] if signed else table.metric.partition("(")[0], table.name):
        if (kind := METRICS.get(name)) is not None:
            return not kind.higher_is_better
        if MATCHERS.get(name) is not None:
            return False
    return None


def read_outside(
    files: Sequence[str],
    lower: Sequence[str] = (),
    encoding: str = "utf-8",
    direction: str | None = None,
    annotators: OfAnnotators = "mean",
) -> list[Scores]:
    """Read scores of other programs, a metric each; files are ``NAME=FILE`` or ``FILE:METRIC,METRIC``, too.

    Parameters
    ----------
    files
        Files to read; files that have other systems by the same metric go together.
    lower
        Names of metrics of which less is better.
    encoding
        Of the files.
    direction
        Take rows of this direction (column `lp`) only.
    annotators
        `mean` of several annotators of an output, or a metric of each, `apart`.
    """
    labelled = map(split_file, files)
    how: Keywords = {"encoding": encoding, "direction": direction, "annotators": annotators}
    tables = merge_scores(table for label, file in labelled for table in read_scores(file, label=label, **how))
    dated = next((table for table in tables if table.documents), None)
    tables = tables if dated is None else [in_order_of(dated, table) for table in tables]
    known = [table.name for table in tables]
    if unknown := [name for name in lower if name not in known]:
        raise UnknownNameError("scores", unknown[0], known)
    tables = _of_all_systems(tables) if annotators == "apart" else tables
    for table in tables:
        _note_far(table)
    return [
        _named(
            Scores("", table, missing="leave-out" if table.judged else "refuse", lower=table.name in lower or None)
        )
        for table in tables
    ]


def _of_all_systems(tables: Sequence[ScoreTable]) -> list[ScoreTable]:
    """Keep the annotators who judged a segment of every system; a note counts the others."""
    systems = {system for table in tables for system in table.segments}
    kept = [
        table
        for table in tables
        if table.segments.keys() == systems and not np.isnan([*table.segments.values()]).any(axis=0).all()
    ]
    if not kept:
        said = f"none of {len(tables)} annotators judged a segment of every system: leave out "
        raise InputError(f"{tables[0].location.rpartition(':')[0]}: {said}", Parameter("annotators", "apart"))
    if len(kept) < len(tables):
        note(f"{len(tables) - len(kept)} of {len(tables)} annotators judged no segment of every system: left out")
    return kept


def _note_far(table: ScoreTable) -> None:
    """Name judged outputs whose score lies far from the others of their system and segment."""
    if not table.judged or len(table.segments) < _NAMED:
        return
    systems, scores = [*table.segments], np.stack([*table.segments.values()])
    common = np.flatnonzero(~np.isnan(scores).any(axis=0))
    judged = scores[:, common]
    if not judged.size or not judged.std():
        return
    usual = judged.mean(axis=1, keepdims=True) + judged.mean(axis=0) - judged.mean()
    apart = np.abs(judged - usual)
    deviations = apart / np.sqrt((apart**2).mean())
    far = np.flatnonzero(deviations > _FAR)
    if len(far):
        farthest = far[np.argsort(-deviations.ravel()[far], kind="stable")][:_NAMED]
        places = zip(*np.unravel_index(farthest, judged.shape), strict=True)
        shown = [
            f"{systems[row]} segment {common[place] + 1} ({judged[row, place]:g}, expected {usual[row, place]:.0f})"
            for row, place in places
        ]
        said = f"{counted(len(far), 'score lies', 'scores lie')} over {_FAR} standard deviations from what"
        note(f"{table.name}: {said} system and segment lead to expect, farthest {', '.join(shown)}")


def _named(scores: Scores) -> Scores:
    """Call scores as their file does; a note names means of sentences."""
    if scores.is_of_sentences:
        said = f"{scores.label} is shown, which is not {scores.usual} of the corpus"
        note(f"{scores.place}: scores of segments without their statistics: {said}")
    return replace(scores, called=scores.label)


def corpus_of(metrics: Sequence[Metric], labels: int = 0) -> Segments:
    """Make a corpus without text of the systems that all of these have scores of; a note names others.

    Where judges did not see the last segments, so many `labels` of documents say how many there are.
    """
    scores = [metric for metric in metrics if isinstance(metric, Scores)]
    if computed := [metric for metric in metrics if not isinstance(metric, Scores)]:
        if computed[0].requires.delays:
            raise lacking(computed[0].name, "delays")
        texts = Parameter("candidates"), " and references with ", Parameter("references")
        raise InputError(f"there is no text for {computed[0]}: name systems with ", *texts)
    known = [{*metric.systems} for metric in scores]
    common = [name for name in scores[0].systems if all(name in names for names in known)]
    if not common:
        raise InputError(
            f"no system has scores by all of {', '.join(metric.called or metric.label for metric in scores)}"
        )
    together = {*common}
    others = dict.fromkeys(name for metric in scores for name in metric.systems if name not in together)
    if others:
        note(f"{', '.join(others)}: left out, not every file has scores of them")
    counted = [metric for metric in scores if metric.has_segments]
    sizes = {len(metric._known.segments[name]): f"{metric.place} ({name})" for metric in counted for name in common}
    lasting = {len(metric._known.segments[name]) for metric in counted if metric._may_lack_last for name in common}
    for metric in counted[1:]:
        counted[0]._known.check_numbers(metric.place, metric._known.first, len(metric._known.segments[common[0]]))
    if len(sizes.keys() - lasting | {max(sizes, default=0)}) > 1:
        told = [f"{where} has {count:,}" for count, where in sizes.items()]
        raise InputError(f"different numbers of segments: {told[0]}, {told[1]}")
    count = max([*sizes, labels] if lasting and lasting == {*sizes} else sizes, default=1)
    return Segments({name: [""] * count for name in common}, [()] * count)
