"""Pages about a run: scores, intervals, and each line with its matches or marks.

The page of a metric over n-grams has every match with its thresholds; other pages have marks: edits, alignments,
similarities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from softbleu.analysis.buckets import scores_by_length, scores_by_word
from softbleu.analysis.corrections import By
from softbleu.analysis.credit import SoftGain, soft_gains
from softbleu.analysis.excerpt import (
    choose_segments,
    chosen_text,
    excerpt_lines,
    first_statistics,
    language_of_excerpt,
    written_text,
)
from softbleu.analysis.kind_differences import compare_corrections
from softbleu.analysis.marks import LineMarks, Similarities, find_marks, mark_spans
from softbleu.analysis.matches import SweptMatches, Thresholds, sweep_matches
from softbleu.analysis.ngrams import differences_in
from softbleu.engine.plan import GivenMetrics, Plan, make_plan
from softbleu.engine.runner import Runner, RunOptions, running
from softbleu.engine.statistics import Statistics
from softbleu.errors import InputError, Parameter
from softbleu.io.platform import single_threaded_blas
from softbleu.kernels import KernelName, choose_kernels
from softbleu.metrics.protocols import BleuFormula, ShowsEdits, ShowsSimilarities, at_level, exact_twin
from softbleu.report.comparisons import nested_pair, trades
from softbleu.report.corrections import kind_rows
from softbleu.resample import ALIKE, ends, rank_ranges
from softbleu.results.comparison import Comparison, bootstrap_scores
from softbleu.results.significance import SignificanceSettings
from softbleu.results.slices import compare_systems, outputs_family, segment_numbers

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.corpora.judgements.spans import SpanTable
    from softbleu.engine.encode import CodedBlock
    from softbleu.metrics.base import Level, Metric
    from softbleu.metrics.result import Result
    from softbleu.metrics.score import Score
    from softbleu.report.plots import Scatter
    from softbleu.types import Floats, Integers, Progress

ROWS = 15_000  # Candidates on a page; the systems' scores are always of all segments
_SLOWNESS = 16  # How much longer matching at every threshold takes than scoring by exact matches
_NGRAMS = 10  # N-grams of each pair and direction on the page of a comparison
_PAIRS = (
    "difference: system − other, with its 95% interval; p value: of the test, and corrected for all tests; "
    "effect: Cohen's d over lines; wins, ties, losses: numbers of lines.\n"
)
_KINDS = (
    "contribution: points of F that the kind adds to the difference over all edits, with their 95% interval; "
    "difference: F − F of the baseline, with its 95% interval; p value: of the test, and corrected for all kinds."
)
_MATCHES = "matches: of the better system, other matches: of the worse one, offered: occurrences in the references"
_NO_ROWS = np.zeros((0, 0, 0), np.int64)


@dataclass(frozen=True)
class PageScores:
    """Scores of the systems, and of the segments on the page, by the page's metric."""

    metric: Metric
    segment_metric: Metric
    results: Sequence[Result]  # One per system, at the metric's own threshold
    others: Sequence[Sequence[Result]]  # Results of each other metric
    intervals: Sequence[tuple[float, float] | None]  # 95%, one per system; None without a score of the corpus
    significance: SignificanceSettings
    segments: Sequence[Sequence[float]]  # Scores of the segments, by system
    segment_signature: str
    ranks: Sequence[tuple[int, int]]  # Best and worst rank in 95% of the samples, one per system; empty for one
    parts: Mapping[str, Sequence[Sequence[float]]]
    """Components of the segments' scores by column name, and scores by the other metrics by expression; likewise."""
    rows: Integers  # Lengths and totals for BLEU's formula (systems, segments, k); empty for other metrics


@dataclass(frozen=True)
class PageText:
    """Text on a page: segments of the corpus, as they were written."""

    tokens: CodedBlock
    numbers: Integers  # Numbers of the segments in the corpus, from 0
    blanks: Integers  # 1 where a blank precedes the token, in the order of the lines
    language: str  # Language of candidates and references (BCP 47); empty if unknown
    plain: bool  # Whether the metric marks nothing; then words are marked that only one of two systems has right
    segments: int  # Segments of the whole corpus

    def __len__(self) -> int:
        """Segments on the page."""
        return len(self.tokens)


@dataclass(frozen=True)
class PageTable:
    """A table on a page."""

    title: str
    rows: Sequence[Mapping[str, object]]  # By column name, the same in each row
    note: str = ""
    why: bool = False  # Whether it explains the scores


@dataclass(frozen=True)
class LineDifferences:
    """Differences of segments from the baseline, by system."""

    step: float  # Width of a bar of the histogram, a round number; the outermost bars count all beyond them, too
    counts: Integers  # (systems, bars); better segments on the right, equal ones in the middle
    effects: Floats
    """Points that each segment on the page adds to the corpus score of the baseline: (systems, shown)."""


@dataclass(frozen=True)
class Page:
    """Content of a page about a run."""

    scores: PageScores
    text: PageText
    matches: SweptMatches
    marks: LineMarks | None
    similarities: Similarities | None
    title: str = ""
    pair: tuple[int, int] | None = None  # Numbers of the systems that the page opens side by side
    tables: Sequence[PageTable] = field(default_factory=list)
    compared: Sequence[Comparison] = ()  # Tests by each metric, of a page that compares systems
    differences: LineDifferences | None = None
    gains: Sequence[SoftGain | None] = ()  # Soft gains, one per system; empty without soft matches
    charts: Sequence[Scatter] = ()  # Quality against latency


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
    """Score a corpus and make a page of the scores.

    `level` is `corpus` or `segment`; `title` is the title of the page; `spans` are marked in its lines. The other
    parameters are as for `softbleu.score_corpus`.

    BLEU over a soft matcher is scored at every threshold from 0 to 1 in hundredths, and at its own threshold; in
    twentieths where each threshold needs its own matching (assignment `optimal`, consumption `similarity`).
    At level `segment` the corpus is scored as segments are (BLEU: with effective order). The page is about the first
    metric; its lines also have scores by the others.
    """
    if level in ("macro", "reference", "document"):
        said = f"an HTML page shows scores of corpus and segments, not level {level!r}: leave out "
        raise InputError(said, Parameter("level"))
    options = RunOptions(jobs, executor, kernels, progress=progress)
    with _scored(corpus, metrics, options, level) as (runner, statistics):
        return _page_of(runner, statistics, level, SignificanceSettings(), title, spans)


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
    by: By | None = None,
    language: str | None = None,
) -> Page:
    """Make the page of a comparison: the baseline beside the best other system, and tables of where they differ.

    Of three systems or more without a baseline, the best by the first metric stands in its place.

    The page is about the first metric; its lines also have scores by the others. `title` is the title of the page,
    `spans` are marked in its lines. Edits are compared for all metrics that judge them, `by` kinds of a `language` as
    in `compare_corrections` (`type` unless given). The other parameters are as for `compare_corpus`.
    """
    options = RunOptions(jobs, executor, progress=progress)
    with _scored(corpus, metrics, options) as (runner, statistics):
        settings, first = significance or SignificanceSettings(), corpus.systems[0]
        with_best = baseline is None and len(corpus.systems) > 2
        if with_best:  # The page is about it
            first = corpus.systems[outputs_family(statistics[0], first, settings).best]
        baseline = baseline or first
        compared = compare_systems(statistics, baseline, settings, progress, with_best=with_best)
        page = _page_of(runner, statistics, "corpus", compared[0].significance, title, spans, baseline)
        others = [row for row in compared[0].comparisons if row.name != baseline]
        best = min(others, key=lambda row: row.rank, default=None)
        kinds = _kind_tables(corpus, statistics, baseline, settings, by, language)
        tables = [*_comparison_tables(runner, statistics, compared, kinds), *page.tables]
        if best is None:
            return replace(page, tables=tables)
        pair = corpus.systems.index(baseline), corpus.systems.index(best.name)
        differences = _line_differences(statistics[0], pair[0], page.text.numbers)
        delays = [one.metric.requires.delays for one in statistics]
        charts = [*chain(*trades(compared, delays))]
        return replace(page, pair=pair, tables=tables, compared=compared, differences=differences, charts=charts)


_SIDE = 6  # Bars of a histogram on each side of the equal segments
_INNER = 0.99  # Share of the differences that lie within it
_STEPS = [float(f"{first}e{exponent}") for exponent in range(-6, 9) for first in (1, 2, 5)]


def _line_differences(statistics: Statistics, baseline: int, shown: Integers) -> LineDifferences:
    """Count the segments of each system by how much better they are than the baseline's."""
    scores = segment_numbers(statistics)
    better = np.nan_to_num(scores - scores[baseline]) * (1 if statistics.metric.higher_is_better else -1)
    better[np.abs(better) <= ALIKE] = 0
    width = np.quantile(np.abs(better[better != 0]), _INNER) / _SIDE if better.any() else 1
    step = max(step for step in _STEPS if step <= max(width, _STEPS[0]))
    bars = np.sign(better) * np.minimum(np.abs(better) // step + 1, _SIDE)
    counts = (bars[..., None] == np.arange(-_SIDE, _SIDE + 1)).sum(axis=1)
    return LineDifferences(step, counts, _effects(statistics, baseline, shown, scores))


def _effects(statistics: Statistics, baseline: int, shown: Integers, scores: Floats) -> Floats:
    """Return how much the corpus score falls if the output of a segment is the baseline's: (systems, shown).

    A corpus score that takes more than a sum of rows is treated as the mean of the segments' `scores`.
    """
    aggregation = at_level(statistics.metric, "corpus").aggregation
    rows = [aggregation.counts(of_system, statistics.offsets) for of_system in statistics.rows.astype(np.float64)]
    effects: Floats = (scores - scores[baseline])[:, shown] / scores.shape[1]
    for system, own in enumerate(rows):
        if own is not None and (beside := rows[baseline]) is not None:
            exchanged = own.sum(axis=0) - own[shown] + beside[shown]
            found = aggregation.metric.columns(np.vstack([own.sum(axis=0), exchanged])).score
            effects[system] = found[0] - found[1:]
    return effects


@contextmanager
def _scored(
    corpus: Corpus, wanted: GivenMetrics, options: RunOptions, level: Level = "corpus"
) -> Iterator[tuple[Runner, list[Statistics]]]:
    """Score the metrics of a page; the runner is prepared to sweep the first of them."""
    plan = make_plan(wanted)
    if any(metric.partial for metric in plan.metrics):
        said = "this page marks matches in whole outputs; another one has curves of unfinished outputs ("
        raise InputError(said, Parameter("level", "prefix"), " makes it): leave out ", Parameter("partial"))
    metrics, thresholds = plan.metrics, Thresholds.of(plan.metrics[0])
    swept = [metrics[0].revised({"threshold": threshold}) for threshold in thresholds.values[:1]]
    if swept:
        # A sweep takes longer than one scoring, so compiling pays for less text.
        kernels = choose_kernels(options.kernels, _SLOWNESS * corpus.bytes).NAME
        options = replace(options, kernels=kernels)
    plan = replace(plan, metrics=(*metrics, *swept)).over(corpus, level=level, keep_rows=True, whole=True)
    metrics = plan.metrics[: len(metrics)]
    with running(corpus, plan, options) as runner, single_threaded_blas():
        # Scoring reuses the prepared lines.
        runner.prepared(metrics[0])
        yield runner, runner.collect(metrics)


def _page_of(
    runner: Runner,
    statistics: Sequence[Statistics],
    level: Level,
    significance: SignificanceSettings,
    title: str,
    spans: Sequence[SpanTable],
    baseline: str | None = None,
) -> Page:
    """Make the page of the first statistics."""
    corpus, metric = runner.corpus, statistics[0].metric
    prepared = runner.prepared(metric)
    most = min(len(corpus), max(1, ROWS // len(corpus.systems)))
    compares_words = isinstance(metric, ShowsSimilarities)
    segments = choose_segments(prepared, _differences(statistics[0], baseline), most, tables=compares_words)
    scores = _scores_of(statistics, level, segments, significance)
    text = chosen_text(prepared, segments)
    matches, words = sweep_matches(runner, metric, text)
    marks, similarities = None, None
    if compares_words or not spans:
        marks, similarities = find_marks(corpus, metric, text, segments, words)
    raw = list(excerpt_lines(corpus, segments, text))
    unmarked = not matches.order and marks is None and similarities is None
    written, blanks = written_text(raw, text, metric.tokenizer, words=unmarked)
    language = language_of_excerpt(metric.tokenizer, written)
    return Page(
        scores,
        PageText(written, segments, blanks, language, unmarked and not spans, len(corpus)),
        matches,
        mark_spans(spans, corpus.systems, raw[: len(corpus.systems)], written, segments) if spans else marks,
        similarities,
        title,
        tables=[_scores_by_all([scores.results, *scores.others])] if scores.others else [],
        gains=_soft_gains(runner, metric, scores.results, level),
    )


def _differences(statistics: Statistics, baseline: str | None) -> Iterator[Floats]:
    """Tell how much the segments differ: all systems, and each from the baseline; those of one system by their score.

    The scores of one system are turned, so that its worst segments come first.
    """
    scores = segment_numbers(statistics)
    if len(scores) == 1:
        yield -scores[0] if statistics.metric.higher_is_better else scores[0]
        return
    yield np.nanmax(scores, axis=0, initial=-np.inf) - np.nanmin(scores, axis=0, initial=np.inf)
    if baseline is not None and len(scores) > 2:
        yield from np.abs(scores - scores[statistics.systems.index(baseline)])


def _scores_of(
    statistics: Sequence[Statistics], level: Level, shown: Integers, significance: SignificanceSettings
) -> PageScores:
    """Score the systems, and the `shown` segments by the first metric and the others."""
    first, *more = statistics
    # The page shows its metric as scored at its level; the rows are the same.
    metric = at_level(first.metric, level)
    results = first.results(level)
    by_segment = results if level == "segment" else first_statistics(first, int(shown[-1]) + 1).results("segment")
    segments = [[(result.segments or ())[number] for number in shown.tolist()] for result in by_segment]
    with_formula = isinstance(first.metric, BleuFormula)
    parts = {} if with_formula else _components(segments)
    parts |= {str(scored.metric): segment_numbers(scored)[:, shown].tolist() for scored in more}
    significance = significance.settled(len(results))
    intervals, ranks = _intervals(first, metric, significance)
    return PageScores(
        metric,
        at_level(first.metric, "segment"),
        results,
        [scored.results(level) for scored in more],
        intervals,
        significance,
        [[score.score for score in scores] for scores in segments],
        by_segment[0].signature,
        ranks,
        parts,
        first.metric.parts_of(first.rows[:, shown])[1] if isinstance(first.metric, BleuFormula) else _NO_ROWS,
    )


def _components(segments: Sequence[Sequence[Score]]) -> dict[str, list[list[float]]]:
    """Collect the numbers behind each segment's score by column name, an entry per order of lists."""
    shown = [[score.shown() for score in scores] for scores in segments]
    names = shown[0][0] if shown[0] else ()
    numeric = (name for name in names if all(isinstance(part[name], int | float) for row in shown for part in row))
    return {name: [[part[name] for part in row] for row in shown] for name in numeric}


def _intervals(
    statistics: Statistics, metric: Metric, significance: SignificanceSettings
) -> tuple[list[tuple[float, float] | None], list[tuple[int, int]]]:
    """Bootstrap 95% intervals and ranges of ranks; None, and no ranges, where there is no score of the corpus."""
    if not metric.aggregation.has_corpus_score:
        return [None] * len(statistics.systems), []
    family = outputs_family(statistics, statistics.systems[0], significance, metric=metric)
    resampled = bootstrap_scores(family)[0][:, 0]
    intervals: list[tuple[float, float] | None] = [
        None if low != low else (low, high) for low, high in ends(resampled).T.tolist()
    ]
    if len(resampled) < 2 or None in intervals:
        return intervals, []
    best, worst = rank_ranges(resampled.T if metric.higher_is_better else -resampled.T)
    return intervals, list(zip(best.tolist(), worst.tolist(), strict=True))


def _scores_by_all(results: Sequence[Sequence[Result]]) -> PageTable:
    """Make a table of the scores of all metrics, a row per system."""
    rows = [
        {"system": row[0].name} | {result.metric: result.score for result in row}
        for row in zip(*results, strict=True)
    ]
    return PageTable("Scores by all metrics", rows, "\n".join(of_metric[0].signature for of_metric in results))


def _soft_gains(runner: Runner, metric: Metric, results: Sequence[Result], level: Level) -> list[SoftGain | None]:
    """Find the soft gains of the systems; see `soft_gains`."""
    twin = exact_twin(metric)
    if twin is None:
        return []
    (exact,) = runner.collect([twin])
    return soft_gains(runner.corpus, metric, results, exact.results(level), runner.prepared)


def _kind_tables(
    corpus: Corpus,
    statistics: Sequence[Statistics],
    baseline: str,
    settings: SignificanceSettings,
    by: By | None,
    language: str | None,
) -> list[PageTable]:
    """Make a table for each metric that judges edits; each metric must, if the kinds are asked for."""
    judging = tuple(scored.metric for scored in statistics if by or isinstance(scored.metric, ShowsEdits))
    if not judging or settings.compatible != "none":
        return []
    compared = compare_corrections(
        corpus, Plan(judging), by or "type", language=language, baseline=baseline, significance=settings
    )
    return [
        PageTable(f"{table.label}: corrections by kind", kind_rows(table), f"{_KINDS}\n{table.signature}", why=True)
        for table in compared
    ]


def _comparison_tables(
    runner: Runner, statistics: Sequence[Statistics], compared: Sequence[Comparison], kinds: Sequence[PageTable]
) -> list[PageTable]:
    """Make the tables of `compare` and of its views; those of `kinds` of edits are made."""
    corpus, metric = runner.corpus, statistics[0].metric
    shown = [
        PageTable(
            f"{table.label}: differences of pairs", list(map(nested_pair, table.pairs)), _PAIRS + table.signature
        )
        for table in compared
        if table.pairs
    ]
    shown += kinds
    if not corpus.has_references:
        return shown
    prepared = runner.prepared(metric)
    by_length, by_word = scores_by_length(prepared, statistics), scores_by_word(prepared, metric, "rarity")
    shown.append(PageTable("Scores by segment length", by_length.records(), why=True))
    shown.append(PageTable("Words by their frequency in the references", by_word.records(), why=True))
    if len(corpus.systems) > 1:
        ngrams = differences_in(prepared, compared[0].baseline, top=_NGRAMS).records()
        shown.append(PageTable("N-grams that one system matches more often", ngrams, _MATCHES, why=True))
    return shown
