"""Collect the content of a page about a run: scores, intervals, and the matches or marks of each line.

Of metrics over n-grams that is every match with the thresholds at which it is made; see `page_lines` for others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.analysis.differences import (
    correction_kinds,
    differences_in,
    scores_by_length,
    scores_by_word,
    shown_text,
)
from softbleu.analysis.page_lines import (
    ShownHeat,
    ShownMarks,
    ShownMatches,
    find_heat,
    find_marks,
    language_of_text,
    mark_spans,
    match_text,
    raw_lines,
    shown_segments,
    written_text,
)
from softbleu.engine.plan import GivenMetrics, Plan, make_plan, with_threshold
from softbleu.engine.runner import Runner, RunOptions, Statistics, running
from softbleu.errors import InputError, Parameter
from softbleu.io.executors import single_threaded_blas
from softbleu.kernels import KernelName, choose_kernels
from softbleu.matching.matchers import SoftMatcher
from softbleu.metrics.protocols import BleuFormula, ShowsEdits, ShowsSimilarities, matcher_of
from softbleu.results.api import make_results
from softbleu.results.significance import (
    SAMPLES,
    ComparisonTable,
    SignificanceSettings,
    bootstrap_scores,
    compare_systems,
    segment_numbers,
)

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.corpora.judgements import SpanTable
    from softbleu.corpora.labels import Documents
    from softbleu.engine.encode import CodedBlock
    from softbleu.engine.prepare import CorpusWords, PreparedCorpus
    from softbleu.metrics.base import Level, Metric
    from softbleu.metrics.result import Result, Score
    from softbleu.text.tokens import Tokenizer
    from softbleu.types import Integers, Progress

ROWS = 15_000  # Candidates that a page shows; its scores are of all
STEPS = 100  # Thresholds of a page lie so many to 1 apart
COARSE_STEPS = 20  # The same for matchers that must match anew at every threshold
_SLOWNESS = 16  # How much longer it takes to match at every threshold than to score by exact matches
_NO_ROWS = np.zeros((0, 0, 0), np.int64)
_LOOKED_AT = 10_000  # Words whose script says the language
_NGRAMS = 10  # N-grams of each pair and direction that a page of a comparison shows


@dataclass(frozen=True)
class Page:
    """Everything that a page about a run shows."""

    metric: Metric
    segment_metric: Metric
    order: int  # Greatest n of the n-grams whose matches are shown; 0 where there are none
    results: list[Result]  # Of the run's own threshold; one a system
    segment_signature: str
    segment_scores: list[list[float]]  # Of the segments shown, system by system
    parts: dict[str, list[list[float]]]
    """What the segments' scores are made of, by how tables call it, and scores by other metrics; likewise."""
    intervals: list[tuple[float, float] | None]
    """95% of the bootstrap scores, one a system; None where the metric has no score of a corpus."""
    significance: SignificanceSettings
    thresholds: tuple[float, ...]
    """Ascending; empty for a metric whose score cannot be taken anew at another threshold."""
    run: int  # Which of them is the run's own
    clipped_matches: Integers  # In millionths: (systems, thresholds, orders); empty without thresholds
    rows: Integers
    """Lengths and totals of the segments shown, (systems, segments, k), for the formula of BLEU; none for others."""
    segments: int  # Segments of the corpus; `text` has the first of them
    text: CodedBlock
    matches: ShownMatches
    too_long: list[int]  # Rows whose matches are known at the run's threshold only
    blanks: Integers  # Whether a blank stands before each token of `text`, in the order of its lines
    language: str  # Of candidates and references, by BCP 47; empty where it is not known
    plain: bool  # Whether the metric marks nothing: words are marked that one system has right and another has not
    marks: ShownMarks | None
    heat: ShownHeat | None
    title: str = ""
    more: tuple[Result, ...] = ()  # Of the other metrics
    pair: tuple[int, int] | None = None  # Systems that are shown side by side at first
    tables: list[PageTable] = field(default_factory=list)


@dataclass(frozen=True)
class PageTable:
    """A table that a page shows as it is."""

    title: str
    rows: list[dict[str, Any]]  # By the names of the columns, the same in each
    note: str = ""


def make_page(
    corpus: Corpus,
    metrics: GivenMetrics = "bleu",
    *,
    level: Level = "corpus",
    jobs: int = 1,
    executor: Executor | None = None,
    kernels: KernelName = "auto",
    progress: Progress | None = None,
    title: str = "",
    spans: Sequence[SpanTable] = (),
) -> Page:
    """Score a corpus and collect what a page shows of it.

    `level` is `corpus` or `segment`; `title` is that of the page; `spans` are marked in its lines. The other
    parameters are those of `softbleu.score_corpus`.

    BLEU over a soft matcher is scored at every threshold from 0 to 1 in hundredths, and at the run's own; where each
    threshold needs a matching of its own (assignment `optimal`, consumption `similarity`), in twentieths.
    At level `segment` the corpus is scored as segments are (BLEU: with effective order). The page is about the first
    metric; lines show scores by the others, too.
    """
    if level not in ("corpus", "segment"):
        raise InputError(
            f"an HTML page shows scores of corpus and segments, not level {level!r}: leave out ", Parameter("level")
        )
    options = RunOptions(jobs, executor, kernels, progress=progress)
    with _collected(corpus, make_plan(metrics), options) as collected:
        return _page_of(*collected, level, title, spans=spans)


@contextmanager
def _collected(corpus: Corpus, plan: Plan, options: RunOptions) -> Iterator[tuple[Runner, list[Statistics]]]:
    """Run the metrics of a page, of which the first may be swept."""
    metrics = plan.metrics
    swept = [with_threshold(metrics[0], threshold) for threshold in _slider(metrics[0])[0][:1]]
    if swept:
        # Sweeping takes longer still than scoring once: being compiled pays for less text.
        kernels = choose_kernels(options.kernels, _SLOWNESS * int(getattr(corpus, "bytes", 0))).NAME
        options = replace(options, kernels=kernels)
    plan = replace(plan, metrics=(*metrics, *swept)).over(corpus, keep_rows=True, whole=True)
    metrics = plan.metrics[: len(metrics)]
    with running(corpus, plan, options) as runner, single_threaded_blas():
        # Lines that are prepared first are known to what scores them.
        runner.prepared(metrics[0].tokenizer)
        yield runner, runner.collect(metrics)


def _page_of(
    runner: Runner,
    collected: Sequence[Statistics],
    level: Level,
    title: str,
    documents: Documents | None = None,
    spans: Sequence[SpanTable] = (),
) -> Page:
    """Make the page of the first statistics; lines show scores by the others, too."""
    statistics, *more = collected
    others = [make_results(scored, level) for scored in more]
    corpus, metric = runner.corpus, statistics.metric
    prepared = runner.prepared(metric.tokenizer)
    results = make_results(statistics, level)
    most = min(len(corpus), max(1, ROWS // len(results)))
    shown = shown_segments(prepared, most, tables=isinstance(metric, ShowsSimilarities))
    by_segment = results if level == "segment" else make_results(_first(statistics, shown), "segment")
    # Whoever is shown at a level is scored as at that level; the rows are the same.
    shown_metric: Any = metric.at_level(level)
    order: int = 0 if matcher_of(metric) is None else shown_metric.order
    text = shown_text(prepared, shown)
    thresholds, run = _slider(metric)
    table = _table_of(prepared, metric, thresholds)
    words = None if table is None else table.words
    matches, clipped, too_long = _matched(runner, metric, order, text, table)
    marks, heat = find_marks(corpus, metric, text, words), find_heat(metric, text, words)
    plain = not order and marks is None and heat is None
    raw = list(raw_lines(corpus, shown, text))
    written, blanks = written_text(raw, text, metric.tokenizer, words=plain)
    for marked in spans:
        marked.check(dict(zip(corpus.systems, raw, strict=False)), shown)
    marks = mark_spans(spans, corpus.systems, raw[: len(corpus.systems)], written) if spans else marks
    significance = SignificanceSettings(documents=documents).settled(len(results))
    segments = [(result.segments or ())[:shown] for result in by_segment]
    parts = {} if isinstance(shown_metric, BleuFormula) else _parts(segments)
    parts |= {str(scored.metric): segment_numbers(scored)[:, :shown].tolist() for scored in more}
    return Page(
        metric=shown_metric,
        segment_metric=metric.at_level("segment"),
        order=order,
        results=results,
        segment_signature=by_segment[0].signature,
        segment_scores=[[score.score for score in scores] for scores in segments],
        parts=parts,
        intervals=_intervals(statistics, shown_metric, significance),
        significance=significance,
        thresholds=thresholds,
        run=run,
        clipped_matches=clipped,
        rows=metric.parts_of(statistics.rows[:, :shown])[1] if isinstance(metric, BleuFormula) else _NO_ROWS,
        segments=len(corpus),
        text=written,
        blanks=blanks,
        language=_language(metric.tokenizer, written),
        plain=plain and not spans,
        matches=matches,
        too_long=too_long,
        marks=marks,
        heat=heat,
        title=title,
        tables=[_scores_by_all([results, *others])] if others else [],
        more=tuple(result for scored in others for result in scored),
    )


def _scores_by_all(results: Sequence[Sequence[Result]]) -> PageTable:
    """Make a table of the scores of all metrics, a row per system."""
    rows = [
        {"system": row[0].name} | {result.metric: result.score for result in row}
        for row in zip(*results, strict=True)
    ]
    return PageTable("Scores by all metrics", rows, "\n".join(of_metric[0].signature for of_metric in results))


def _language(tokenizer: Tokenizer, text: CodedBlock) -> str:
    """Language of the candidates and references; empty where neither tokenizer nor script tells it."""
    told = tokenizer.language
    if told and told != "en":
        return told
    return language_of_text(text.words[code] for code in text.candidates[0].codes[:_LOOKED_AT].tolist())


def _first(statistics: Statistics, segments: int) -> Statistics:
    """Those of the first segments: whatever a segment's score depends on lies before it."""
    counts = statistics.counts[:segments]
    return replace(statistics, counts=counts, rows=statistics.rows[:, : int(counts.sum())])


def _table_of(prepared: PreparedCorpus, metric: Metric, thresholds: Sequence[float]) -> CorpusWords | None:
    """Make the table of the words, if the metric or the slider uses their vectors or features."""
    requires = metric.requires
    if not requires.table and not thresholds:
        return None
    return prepared.table(metric.vector_choice, replace(requires, vectors=requires.vectors or bool(thresholds)))


def _matched(
    runner: Runner, metric: Metric, order: int, text: CodedBlock, table: CorpusWords | None
) -> tuple[ShownMatches, Integers, list[int]]:
    """Match what is shown at every threshold, and add up the matches of the whole corpus."""
    matcher, (thresholds, run) = matcher_of(metric), _slider(metric)
    if matcher is None:
        return ShownMatches.joined([]), np.zeros((len(text.candidates), 0, order), np.int64), []
    vectors = None if table is None else table.words.vectors
    matches, clipped, too_long = match_text(text, matcher, order, thresholds, run, vectors, runner.kernels)
    if isinstance(metric, BleuFormula) and thresholds and (too_long or len(text) < len(runner.corpus)):
        swept = runner.collect([with_threshold(metric, threshold) for threshold in thresholds], keep_rows=False)
        clipped = np.stack([metric.parts_of(statistics.rows[:, 0])[0] for statistics in swept], axis=1)
    return matches, clipped, too_long


def _parts(segments: Sequence[Sequence[Score]]) -> dict[str, list[list[float]]]:
    """Numbers that tables show of each segment's score, lists an entry an order."""
    shown = [[score.shown() for score in scores] for scores in segments]
    names = shown[0][0] if shown[0] else ()
    numeric = (name for name in names if all(isinstance(part[name], int | float) for row in shown for part in row))
    return {name: [[part[name] for part in row] for row in shown] for name in numeric}


def _slider(metric: Metric) -> tuple[tuple[float, ...], int]:
    """Thresholds of the slider, ascending, and which is the run's own; none where there is nothing to slide."""
    matcher = matcher_of(metric)
    if not isinstance(metric, BleuFormula) or not isinstance(matcher, SoftMatcher):
        return (), 0
    if not with_threshold(metric, 0.0).requires.vectors:
        return (), 0
    steps = STEPS if matcher.assignment != "optimal" and matcher.consumption == "unit" else COARSE_STEPS
    thresholds = tuple(sorted({*(step / steps for step in range(steps + 1)), matcher.least_similarity}))
    return thresholds, thresholds.index(matcher.least_similarity)


def _intervals(
    statistics: Statistics, metric: Metric, significance: SignificanceSettings
) -> list[tuple[float, float] | None]:
    if not metric.aggregation.has_corpus_score:
        return [None] * len(statistics.systems)
    samples, documents = significance.samples or SAMPLES, significance.documents
    resampled = bootstrap_scores(statistics, metric, samples, significance.seed, documents=documents)
    return [(low, high) for low, high in np.percentile(resampled, [2.5, 97.5], axis=1).T.tolist()]


def make_comparison_page(
    corpus: Corpus,
    metrics: GivenMetrics,
    *,
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    title: str = "",
    spans: Sequence[SpanTable] = (),
) -> Page:
    """Make the page of a comparison: the baseline beside the best other system, and tables of where they differ.

    The page is about the first metric; lines show scores by the others, too. `title` is that of the page,
    `spans` are marked in its lines, and the other parameters are those of `compare_corpus`.
    """
    options = RunOptions(jobs, executor, progress=progress)
    with _collected(corpus, make_plan(metrics), options) as (runner, statistics):
        baseline = baseline or corpus.systems[0]
        settings = significance or SignificanceSettings()
        tables = [compare_systems(scored, baseline, settings, progress) for scored in statistics]
        page = _page_of(runner, statistics, "corpus", title, settings.documents, spans)
        others = [row for row in tables[0].comparisons if row.name != baseline]
        best = min(others, key=lambda row: row.rank, default=None)
        pair = None if best is None else (corpus.systems.index(baseline), corpus.systems.index(best.name))
        return replace(page, pair=pair, tables=[*_tables(runner, statistics, tables), *page.tables])


def _tables(runner: Runner, statistics: Sequence[Statistics], tables: Sequence[ComparisonTable]) -> list[PageTable]:
    """Make the tables that `compare` shows, and those of its views."""
    corpus, metric = runner.corpus, statistics[0].metric
    shown = [
        PageTable(f"{table.label}: differences of pairs", [vars(pair) for pair in table.pairs], table.signature)
        for table in tables
        if table.pairs
    ]
    if isinstance(metric, ShowsEdits):
        shown.append(PageTable("Corrections by kind", correction_kinds(corpus, Plan((metric,))).records()))
    if not corpus.has_references:
        return shown
    prepared = runner.prepared(metric.tokenizer)
    shown += [
        PageTable("Scores by length of the segment", scores_by_length(prepared, statistics).records()),
        PageTable(
            "Words by how often the references have them", scores_by_word(prepared, metric, "rarity").records()
        ),
    ]
    if len(corpus.systems) > 1:
        differences = differences_in(prepared, tables[0].baseline, top=_NGRAMS)
        shown.append(PageTable("N-grams that one system gets and another misses", differences.records()))
    return shown
