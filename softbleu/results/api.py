"""The Python interface: scores and comparisons in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, get_args, overload

from softbleu import results as library
from softbleu.config.earlier import also_named
from softbleu.corpora.corpus import Against, Corpus, References, Segments, Texts, make_corpus
from softbleu.corpora.gates import GivenGate, gated
from softbleu.corpora.recordings import early_moments
from softbleu.engine.notes import Note, corpus_notes, note_coverage, note_impossible
from softbleu.engine.plan import (
    GivenMetric,
    GivenMetrics,
    Plan,
    check_requirements,
    make_metric,
    make_metrics,
    make_plan,
)
from softbleu.engine.runner import RunOptions, collect_statistics, running
from softbleu.engine.scorer import SegmentScorer as SegmentScorer
from softbleu.engine.streams import ScoredStream as ScoredStream
from softbleu.engine.totals import Kept, Totals, reason_for_text
from softbleu.errors import InputError, known_name
from softbleu.formats import Layout
from softbleu.io.platform import cached_property
from softbleu.io.progress import keeping_notes, note, shown
from softbleu.metrics.base import Level, Metric
from softbleu.metrics.result import Result, Results

_GLANCED = 128  # Segments that an accumulator keeps for notes
MYPY = False  # mypy takes it for true. It names a wrong setting itself; other checkers need an overload to do so

if TYPE_CHECKING:
    from softbleu.corpora.edits import GoldSegment
    from softbleu.kernels import KernelName
    from softbleu.metrics.keywords import Settings
    from softbleu.results.comparison import Comparison
    from softbleu.results.significance import SignificanceSettings
    from softbleu.types import Keywords, Progress

    _Texts = Iterable[str | GoldSegment]
    _Systems = Mapping[str, _Texts]
    _References = References | None
    _Source = Iterable[str] | None

    class _Options(Settings, total=False):
        """Options of `score` and `compare` beside texts and metrics; see there."""

        gold: Sequence[GoldSegment] | None
        documents: Sequence[object] | None
        against: Against
        gate: GivenGate | None
        jobs: int
        executor: Executor | None
        progress: Progress | bool | None

    class _ScoreOptions(_Options, total=False):
        level: Level

    class _CompareOptions(_Options, total=False):
        baseline: str | None
        significance: SignificanceSettings | None

    class KnownSetting:
        """Type that checkers name in errors about a setting that is misspelt or of the wrong type."""

    class _CorpusOptions(TypedDict, total=False):
        baseline: str | None
        significance: SignificanceSettings | None
        jobs: int
        executor: Executor | None
        checkpoint: str | None
        progress: Progress | None


@keeping_notes
def score_corpus(
    corpus: Corpus,
    metrics: GivenMetrics = "bleu",
    *,
    level: Level = "corpus",
    jobs: int = 1,
    executor: Executor | None = None,
    kernels: KernelName = "auto",
    checkpoint: str | None = None,
    progress: Progress | None = None,
) -> Results:
    """Score every system of a corpus.

    Parameters
    ----------
    corpus
        `Segments`, or files opened by `ParallelFiles.open`.
    metrics
        Metrics to compute; several share one pass over the corpus.
    level
        `segment` gives the score of each segment, too, `document` that of each document, as of a corpus; `macro`
        averages the segment scores; `reference` gives the score against each reference.
    jobs
        Processes to use (threads, where compiled kernels do the work); the digits do not depend on it.
    executor
        Another executor to use instead, e.g. that of a cluster.
    kernels
        `numpy`, `numba`, or `auto`: whichever is faster for the size of the text.
    checkpoint
        Folder, by path or URL, where finished parts are kept, and found again by another run of the same; see
        `softbleu.engine.checkpoint`.
    progress
        Called with the number of segments done and of all.

    Returns
    -------
    Results
        One result a system, in the order of the corpus; of several metrics results by the first come first.

    Raises
    ------
    InputError, VectorError
        The text or a setting is invalid; the vectors cannot be read.
    """
    plan = make_plan(metrics).over(corpus, level=level, keep_rows=level in ("macro", "reference", "document"))
    with running(corpus, plan, RunOptions(jobs, executor, kernels, checkpoint, progress)) as runner:
        statistics = runner.collect(plan.metrics)
    by_metric = [(scored.metric, scored.results(level)) for scored in statistics]
    results = Results(result for _, found in by_metric for result in found)
    if any(metric.requires.gold for metric in plan.metrics):
        note_impossible((result.name, metric, result.score) for metric, found in by_metric for result in found)
    if plan.compares_words:
        note_coverage((result.name, result.label, result.coverage) for result in results)
    return results


@also_named(metric="metrics")
@keeping_notes
def compare_corpus(
    corpus: Corpus,
    metrics: GivenMetrics = "bleu",
    *,
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    checkpoint: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Score every system of a corpus and test all differences; the first is the baseline unless one is named.

    Of several metrics there is a table each. Of three systems or more without a baseline `best` has the tests of the
    best one beside all others, too. Under 30 lines nothing is tested, and p-values are None.

    `significance` says how differences are tested (default: `SignificanceSettings()`); `jobs`, `executor`,
    `checkpoint` and `progress` are as in `score_corpus`.
    """
    settings = library.significance.SignificanceSettings() if significance is None else significance
    if not isinstance(settings, library.significance.SignificanceSettings):
        raise InputError(f"significance must be SignificanceSettings, not {settings!r}")
    options = RunOptions(jobs, executor, checkpoint=checkpoint, progress=progress)
    statistics = collect_statistics(corpus, replace(make_plan(metrics), small_rows=True), options, keep_rows=True)
    first = corpus.systems[0] if baseline is None else str(baseline)
    tables = library.slices.compare_systems(
        statistics, first, settings, progress, early_moments(corpus), with_best=baseline is None
    )
    paired = zip(statistics, tables, strict=True)
    note_impossible((row.name, each.metric, row.score) for each, table in paired for row in table.comparisons)
    note_coverage((row.name, table.label, row.coverage) for table in tables for row in table.comparisons)
    return _with_verdict(tables, several=isinstance(metrics, list | tuple | Plan))


def _with_verdict(tables: Comparison, *, several: bool) -> Comparison:
    """Return the comparison by several metrics, or by the only one, with its finding unless it is of moments."""
    found = tables if several else tables[0]
    verdict = "" if found.families[0].slices[0] else library.verdicts.headline([*found], Layout())
    return replace(found, verdict=verdict)


@overload
def score(  # type: ignore[overload-overlap]  # a name is no list of names
    candidates: _Systems,
    references: _References = ...,
    source: _Source = ...,
    *,
    metrics: GivenMetrics = ...,
    **more: Unpack[_ScoreOptions],
) -> Results: ...
@overload
def score(  # type: ignore[overload-overlap]  # and a name no list of names
    candidates: _Texts,
    references: _References = ...,
    source: _Source = ...,
    *,
    metrics: GivenMetric = ...,
    **more: Unpack[_ScoreOptions],
) -> Result: ...
@overload
def score(
    candidates: Texts,
    references: _References = ...,
    source: _Source = ...,
    *,
    metrics: Sequence[GivenMetric],
    **more: Unpack[_ScoreOptions],
) -> Results: ...


if not MYPY:

    @overload
    def score(
        candidates: Texts,
        references: _References = ...,
        source: _Source = ...,
        *,
        metrics: GivenMetrics = ...,
        **more: KnownSetting,
    ) -> Result | Results: ...


@also_named(metric="metrics")
@keeping_notes
def score(
    candidates: Texts,
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    metrics: GivenMetrics = "bleu",
    gold: Sequence[GoldSegment] | None = None,
    documents: Sequence[object] | None = None,
    against: Against = "references",
    gate: GivenGate | None = None,
    level: Level = "corpus",
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    **settings: Unpack[Settings],
) -> Result | Results:
    """Score candidates against references.

    Parameters
    ----------
    candidates
        One candidate per segment: a list, a column of a data frame or a generator. For several systems, a mapping
        from their names to such lists. In the place of texts: a system's edits from `read_m2`.
    references
        One entry per segment: a reference, or a list of references. None for metrics that need no references.
    source
        One text per segment, before correction; GLEU, GREEN and the I-measure need it.
    metrics
        A name, an expression such as ``vleu(threshold=0.8)``, a value such as ``softbleu.Vleu(threshold=0.8)``, or
        several of these. `metric` is another name of this parameter.
    gold
        Source and annotators' edits of each segment (`softbleu.corpora.read_m2`). M2 needs them; for other metrics
        they make the references.
    documents
        A label per segment, the same in one document. A `context` does not leave its document; without
        labels the whole text is one.
    against
        `source` compares candidates with the source instead of references, by vectors of words or an encoder that
        have both languages; signatures say so.
    gate
        Rules of a gate before scoring: ``"all"``, or names of `softbleu.corpora.gates.RULES`. They strip reasoning,
        fences and chatter, and count refusals and lines in another script or language as empty.
    level
        `segment` adds the score of each segment, `document` that of each document (of its segments together),
        `reference` the score against each reference (GLEU); `macro` is the mean of the segment scores.
    jobs
        Processes to use; the digits do not depend on it.
    executor
        Another executor to use instead.
    progress
        True for a bar, in notebooks too; or a function of the segments done and of all segments.
    settings
        Settings of the metric, its matcher, tokenizer and vectors, such as ``matcher="vleu", threshold=0.8``; the
        page of settings lists all.

    Returns
    -------
    Result or Results
        One result, or for a mapping or several metrics a list of them.

    Raises
    ------
    InputError, VectorError
        The text or a setting is invalid; the vectors cannot be read.

    Examples
    --------
    >>> result = score(["the cat sat on the mat"], [["the cat sat on a mat", "a cat sat down"]])
    >>> round(result.score, 2)
    53.73
    >>> vectors = {"cat": [1.0, 0.2], "dog": [0.9, 0.3], "mat": [0.0, 1.0]}
    >>> soft = score(["a dog sat on a mat"], ["a cat sat on a mat"], metrics="vleu", threshold=0.8, vectors=vectors)
    >>> round(soft.score, 2)
    99.86
    """
    several = isinstance(candidates, Mapping) or isinstance(metrics, list | tuple)
    with shown(progress) as shower:
        corpus = gated(make_corpus(candidates, references, source, gold, documents, against), gate)
        wanted = make_metrics(metrics, **settings)
        results = score_corpus(corpus, wanted, level=level, jobs=jobs, executor=executor, progress=shower)
    return results if several else results[0]


@overload
def compare(
    candidates: _Systems,
    references: _References = ...,
    source: _Source = ...,
    *,
    metrics: GivenMetric = ...,
    **more: Unpack[_CompareOptions],
) -> Comparison: ...
@overload
def compare(
    candidates: _Systems,
    references: _References = ...,
    source: _Source = ...,
    *,
    metrics: Sequence[GivenMetric],
    **more: Unpack[_CompareOptions],
) -> Comparison: ...


if not MYPY:

    @overload
    def compare(
        candidates: _Systems,
        references: _References = ...,
        source: _Source = ...,
        *,
        metrics: GivenMetrics = ...,
        **more: KnownSetting,
    ) -> Comparison: ...


@also_named(metric="metrics")
@keeping_notes
def compare(
    candidates: _Systems,
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    metrics: GivenMetrics = "bleu",
    gold: Sequence[GoldSegment] | None = None,
    documents: Sequence[object] | None = None,
    against: Against = "references",
    gate: GivenGate | None = None,
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    **settings: Unpack[Settings],
) -> Comparison:
    """Score several systems with intervals, and test their differences from a baseline (default: the first).

    Candidates are a mapping from names to texts; `significance` says how differences are tested. The other parameters
    are as in `score`; `documents` are drawn as wholes, too. There is one table per metric, which has all pairs of
    systems, too; of more than 14 systems only with ``significance=SignificanceSettings(all_pairs=True)``.

    Examples
    --------
    >>> systems = {"one": ["a cat sat", "it is"], "two": ["a dog sat", "it is"]}
    >>> table = compare(systems, ["a cat sat", "it is"], order=2)
    >>> [(each.name, round(each.score, 2), each.rank) for each in table.comparisons]
    [('one', 100.0, 1), ('two', 51.64, 2)]
    >>> pair = table.pair("one", "two")
    >>> round(pair.difference, 2), (pair.wins, pair.ties, pair.losses)
    (48.36, (1, 1, 0))
    """
    with shown(progress) as shower:
        corpus = gated(make_corpus(candidates, references, source, gold, documents, against), gate)
        wanted = make_metrics(metrics, **settings)
        if documents is not None and significance is None:
            significance = library.significance.SignificanceSettings(documents=corpus.documents)
        run: Keywords = {"jobs": jobs, "executor": executor, "progress": shower}
        tables = compare_corpus(corpus, wanted, baseline=baseline, significance=significance, **run)
        # The command writes it beside its tables.
        few, tests = tables[0].untested, len(tables[0].pairs)
        for said in [few] if few else tables[0].significance.too_few(tests) if tests else ():
            note(said)
    return _with_verdict(tables, several=isinstance(metrics, list | tuple))


class Accumulator:
    """Collects batches of text and scores them together, with the digits of `corpus_score`.

    It keeps sums of statistics, not text, wherever a metric's statistics add up. `kept` says what it keeps, and `why`
    if that is more than sums. For notes it has the text of the first 128 segments, which is not pickled.

    Parameters
    ----------
    metric
        A name, an expression or a value, such as ``softbleu.Vleu(threshold=0.8)``.
    keep_rows
        Keep the statistics of each segment, too, a few integers: scores of segments and intervals need them.

    Examples
    --------
    >>> chrf = Accumulator("chrf")
    >>> chrf.update(["the cat"], ["the cats"])
    >>> chrf.update(["a dog"], [["a dog", "the dog"]])
    >>> round(float(chrf.compute()), 1), chrf.kept
    (80.7, 'sums')
    """

    def __init__(self, metric: str | Metric = "bleu", *, keep_rows: bool = False) -> None:
        self.metric = make_metric(metric)
        self._keep_rows = keep_rows
        self.reset()

    def __getstate__(self) -> dict[str, object]:
        """Write the metric as an expression where that says all."""
        written = str(self.metric)
        same = None if self.metric.called else make_metric(written)
        plain = same is not None and _identity(same) == _identity(self.metric)
        state = {name: value for name, value in vars(self).items() if name not in ("_plan", "_why")}
        if self._totals is not None:
            state["_segments"] = []
        return state | {"metric": written if plain else self.metric}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the metric again."""
        vars(self).update(state)
        self.metric = make_metric(self.metric)
        if self._totals is not None:
            self._totals.metric = self._resolved

    @cached_property
    def _plan(self) -> Plan:
        return make_plan([self.metric])

    @property
    def _resolved(self) -> Metric:
        return self._plan.only

    @cached_property
    def _why(self) -> str | None:
        return reason_for_text(self._resolved)

    def __len__(self) -> int:
        return len(self._segments) if self._totals is None else self._totals.segments

    def __repr__(self) -> str:
        return f"Accumulator({str(self.metric)!r}), {len(self)} segments, kept as {self.kept}"

    @property
    def kept(self) -> Kept:
        """Kind of data kept of the segments so far: sums of statistics, rows of each segment, or text."""
        return "text" if self._why is not None else "sums" if self._totals is None else self._totals.kept

    @property
    def why(self) -> str | None:
        """Reason to keep text or rows; None for sums."""
        if self._why is not None or self.kept == "sums":
            return self._why
        return (
            "rows were asked for" if self._keep_rows else "references are drawn, or chosen after the segments before"
        )

    def reset(self) -> None:
        """Forget all segments."""
        self._segments: list[tuple[str, Sequence[str], str | None]] = []
        self._found: tuple[int, list[Note]] = (0, [])  # Notes on so many segments
        self._totals: Totals | None = None
        self._with_source: bool | None = None

    def update(self, candidates: Iterable[str], references: References, source: Iterable[str] | None = None) -> None:
        """Add a batch of segments: candidates, references and maybe source, as for `corpus_score`.

        Raises
        ------
        InputError, VectorError
            They do not go together, not with earlier text, or not with the metric; then nothing is added.
        """
        if isinstance(candidates, Mapping):
            raise InputError("an accumulator has the text of one system: make one for each")
        batch = Segments.of(candidates, references, source)
        self._check_source(batch.source is not None)
        (texts,) = batch.candidates.values()
        room = len(texts)
        if self._why is None:
            totals = self._made()
            check_requirements(batch, totals.metric)
            totals.add(batch)
            room = max(0, _GLANCED - len(self._segments))
        segments = zip(texts, batch.references, batch.source or repeat(None, len(texts)), strict=True)
        self._segments.extend(islice(segments, room))
        self._with_source = batch.source is not None

    def merge(self, other: Accumulator) -> None:
        """Add the segments of another after one's own; the other stays as it is.

        Raises
        ------
        InputError
            It scores by another metric, keeps other rows, or only one of the two has sources.
        """
        if not isinstance(other, Accumulator):
            raise InputError(f"cannot merge: another accumulator is needed, not {type(other).__name__}")
        if _identity(other.metric) != _identity(self.metric):
            raise InputError(f"cannot merge what {other.metric} is to score with what {self.metric} is to score")
        if other._keep_rows != self._keep_rows:
            raise InputError("cannot merge: only one of the two was made with keep_rows=True")
        if other._with_source is None:
            return
        self._check_source(other._with_source)
        self._segments.extend(other._segments)
        if other._totals is not None:
            self._made().merge(other._totals)
            del self._segments[_GLANCED:]
        self._with_source = other._with_source

    @keeping_notes
    def compute(self, *, level: Level = "corpus") -> Result:
        """Score all segments so far, at a level of `softbleu.score`; all but `corpus` need ``keep_rows=True``.

        Raises
        ------
        InputError, VectorError
            As `corpus_score`, or there is no text yet.
        """
        if not len(self):
            raise InputError("no text to score yet: add some by update")
        known_name("level", level, get_args(Level))
        if self._totals is None:
            return self.metric.corpus_score(*self._texts(), level=level)
        if level == "document":
            raise InputError("scores of documents need these: an accumulator has none")
        self._need_rows(f"level {level!r}", level != "corpus")
        (result,) = self._totals.collected().results(level)
        note_coverage([(result.name, result.label, result.coverage)])
        if self._found[0] < len(self._segments):
            self._found = len(self._segments), [*corpus_notes(make_corpus(*self._texts()), self._plan)]
        for parts in self._found[1]:
            note(*parts)
        return result

    def interval(self, significance: SignificanceSettings | None = None) -> tuple[float, float]:
        """Compute the 95% interval of the corpus score by bootstrap samples of segments, as `softbleu.compare` does.

        Raises
        ------
        InputError
            There is no text yet, or it was not made with ``keep_rows=True``.

        Examples
        --------
        >>> chrf = Accumulator("chrf", keep_rows=True)
        >>> chrf.update(["the cat", "a dog"], ["the cats", "a dog"])
        >>> [round(bound, 1) for bound in chrf.interval()]
        [77.6, 100.0]
        """
        if not len(self):
            raise InputError("no text to score yet: add some by update")
        settings = library.significance.SignificanceSettings() if significance is None else significance
        if self._totals is None:
            table = compare_corpus(make_corpus(*self._texts()), self.metric, significance=settings)
        else:
            self._need_rows("an interval")
            table = library.slices.compare_systems([self._totals.collected()], "candidate", settings)
        row = table.rows[0]
        return row["lower"], row["upper"]

    def _texts(self) -> tuple[Sequence[str], Sequence[Sequence[str]], Sequence[str] | None]:
        """Candidates, references and source of the segments that are kept."""
        candidates, references, source = zip(*self._segments, strict=True)
        return candidates, references, None if None in source else source

    def _made(self) -> Totals:
        if self._totals is None:
            self._totals = Totals(self._resolved, keep_rows=self._keep_rows)
        return self._totals

    def _check_source(self, with_source: bool) -> None:
        if self._with_source not in (None, with_source):
            raise InputError("some batches have sources and some have none")

    def _need_rows(self, what: str, needed: bool = True) -> None:
        if needed and not self._keep_rows:
            raise InputError(f"{what} needs the statistics of each segment: make the accumulator with keep_rows=True")


def _identity(metric: Metric) -> object:
    """Make a key that distinguishes metrics; vectors in memory cannot always be compared."""
    return metric, metric.tokenizer, metric.vector_choice.key
