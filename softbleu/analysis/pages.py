"""What a page about a run shows: scores, intervals, and all that is known of each line.

Of metrics over n-grams that is every match with the thresholds at which it is made; see `page_marks` for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.analysis.buckets import bucket_scores
from softbleu.analysis.corrections import correction_kinds, has_corrections
from softbleu.analysis.page_marks import ShownHeat, ShownMarks, find_heat, find_marks
from softbleu.analysis.page_matches import Matching, ShownMatches, ShownText, no_matches, shown_text
from softbleu.analysis.words import ngram_differences
from softbleu.errors import InputError
from softbleu.matchers.base import SoftMatcher
from softbleu.metrics.optional import BleuFormula
from softbleu.scoring.api import compare_corpus
from softbleu.scoring.measure import Measure
from softbleu.scoring.results import make_results
from softbleu.scoring.run import running
from softbleu.scoring.significance import (
    ComparisonTable,
    SignificanceSettings,
    compare_systems,
    segment_numbers,
)

if TYPE_CHECKING:
    from softbleu.kernels import KernelName
    from softbleu.matchers import Matcher
    from softbleu.metrics.base import Level, Metric
    from softbleu.metrics.score import Score
    from softbleu.scoring.results import Result, Statistics
    from softbleu.scoring.run import Corpus
    from softbleu.tokens import Tokenizer
    from softbleu.types import Integers, Progress

ROWS = 15_000
"""Candidates that a page shows; its scores are of all."""
STEPS = 100
"""Thresholds of a page lie so many to 1 apart."""
COARSE_STEPS = 20
"""The same for matchers that must match anew at every threshold."""
_NGRAMS = 10
"""N-grams of each pair and direction that a page of a comparison shows."""


@dataclass(frozen=True)
class Page:
    """Everything that a page about a run shows."""

    metric: Metric
    """Scores corpora."""
    segment_metric: Metric
    """Scores segments."""
    order: int
    """Greatest n of the n-grams whose matches are shown; 0 where there are none."""
    tokenizer: Tokenizer
    results: list[Result]
    """Of the run's own threshold; one a system."""
    segment_signature: str
    segment_scores: list[list[float]]
    """Of the segments shown, system by system."""
    parts: dict[str, list[list[float]]]
    """What the segments' scores are made of, by how tables call it, and scores by other metrics; likewise."""
    intervals: list[tuple[float, float] | None]
    """95% of the bootstrap scores, one a system; None where the metric has no score of a corpus."""
    significance: SignificanceSettings
    """How the intervals were made."""
    thresholds: tuple[float, ...]
    """Ascending; empty for a metric whose score cannot be taken anew at another threshold."""
    run: int
    """Which of them is the run's own."""
    masses: Integers
    """Matches in millionths: (systems, thresholds, orders); empty without thresholds."""
    rows: Integers
    """Statistics of the segments shown: (systems, segments, k); no segments where there is not one row for each."""
    segments: int
    """Segments of the corpus; `text` has the first of them."""
    text: ShownText
    matches: ShownMatches
    too_long: list[int]
    """Rows whose matches are known at the run's threshold only."""
    marks: ShownMarks | None
    heat: ShownHeat | None
    title: str = ""
    pair: tuple[int, int] | None = None
    """Systems that are shown side by side at first."""
    tables: list[PageTable] = field(default_factory=list)


@dataclass(frozen=True)
class PageTable:
    """A table that a page shows as it is."""

    title: str
    rows: list[dict[str, Any]]
    """By the names of the columns, the same in each."""
    note: str = ""


def make_page(
    corpus: Corpus,
    metric: str | Metric | Measure = "bleu",
    *,
    level: Level = "corpus",
    jobs: int = 1,
    executor: Executor | None = None,
    kernels: KernelName = "auto",
    progress: Progress | None = None,
    title: str = "",
    others: Sequence[Measure] = (),
) -> Page:
    """Score a corpus and collect what a page shows of it.

    BLEU over a soft matcher is scored at every threshold from 0 to 1 in hundredths, and at the run's own; where each
    threshold needs a matching of its own (assignment `optimal`, consumption `similarity`), in twentieths.

    Parameters
    ----------
    level : at level `segment` the corpus is scored as segments are (BLEU: with effective order)
    title : of the page
    others : further metrics, of which each line shows the score

    Raises
    ------
    InputError, VectorError
        What cannot be scored, vectors that cannot be read, and levels that a page does not show.
    """
    if level not in ("corpus", "segment"):
        raise InputError(f"an HTML page shows scores of corpus and segments, not level {level!r}: leave out --level")
    measure = Measure.of(metric).resolved()
    matcher = measure.matcher
    thresholds = _thresholds(measure)
    measures = [measure, *(measure.with_threshold(threshold) for threshold in thresholds)]
    others = [each.resolved() for each in others]
    with running(corpus, [*measures, *others], jobs=jobs, executor=executor, kernels=kernels, whole=True) as runner:
        prepared = runner.prepared(measure.tokenizer)
        statistics, *swept = runner.collect(measures, keep_rows=[True] + [False] * len(thresholds), progress=progress)
        more = runner.collect(others, keep_rows=True)
    results = make_results(statistics, level)
    by_segment = results if level == "segment" else make_results(statistics, "segment")
    # Whoever is shown at a level is scored as at that level; the rows are the same.
    shown_metric: Any = measure.at_level(level).metric
    segment_metric: Any = measure.at_level("segment").metric
    order: int = 0 if matcher is None else shown_metric.order
    masses = np.zeros((len(results), 0, order), np.int64)
    if thresholds:
        masses = np.stack([each.rows[:, 0, 2 : 2 + order] for each in swept], axis=1)
    shown = min(len(corpus), max(1, ROWS // len(results)))
    text = shown_text(prepared, shown)
    requires = measure.metric.requires
    words = None
    if requires.table or thresholds:
        words = prepared.table(measure.vectors, replace(requires, vectors=requires.vectors or bool(thresholds))).words
    run = thresholds.index(_own_threshold(matcher)) if thresholds and matcher else 0
    matches, too_long = no_matches(), list[int]()
    if matcher is not None:
        vectors = None if words is None else words.vectors
        matches, too_long = Matching(matcher, order, thresholds, run, vectors).of(text)
    significance = SignificanceSettings()
    levelled = replace(statistics, measure=replace(measure, metric=shown_metric))
    segments = [(result.segments or ())[:shown] for result in by_segment]
    parts = {} if isinstance(shown_metric, BleuFormula) else _parts(segments)
    parts |= {str(each.measure): segment_numbers(each)[:, :shown].tolist() for each in more}
    return Page(
        metric=shown_metric,
        segment_metric=segment_metric,
        order=order,
        tokenizer=measure.tokenizer,
        results=results,
        segment_signature=by_segment[0].signature,
        segment_scores=[[score.score for score in scores] for scores in segments],
        parts=parts,
        intervals=_intervals(levelled, significance),
        significance=significance,
        thresholds=thresholds,
        run=run,
        masses=masses,
        rows=statistics.rows[:, : shown if isinstance(shown_metric, BleuFormula) else 0],
        segments=len(corpus),
        text=text.spelt_alone(),
        matches=matches,
        too_long=too_long,
        marks=find_marks(corpus, measure, text, words),
        heat=find_heat(measure, text, words),
        title=title,
    )


def _parts(segments: Sequence[Sequence[Score]]) -> dict[str, list[list[float]]]:
    """Numbers that tables show of each segment's score, lists an entry an order."""
    found: dict[str, list[list[float]]] = {}
    for column in segments[0][0].columns() if segments[0] else ():
        values = [[getattr(score, column.name) for score in scores] for scores in segments]
        flat = [value for own in values for value in own]
        if column.short and all(isinstance(value, int | float) for value in flat):
            found[column.short] = values
        elif column.short and all(isinstance(value, list) for value in flat):
            for number in range(len(flat[0])):
                found[f"{column.short}{number + 1}"] = [[value[number] for value in own] for own in values]
    return found


def _own_threshold(matcher: Matcher) -> float:
    return matcher.least_similarity if isinstance(matcher, SoftMatcher) else 0.0


def _thresholds(measure: Measure) -> tuple[float, ...]:
    """Thresholds of the slider, ascending; none where there is nothing to slide."""
    matcher = measure.matcher
    if not isinstance(measure.metric, BleuFormula) or not isinstance(matcher, SoftMatcher):
        return ()
    if not measure.with_threshold(0.0).metric.requires.vectors:
        return ()
    quick = matcher.assignment != "optimal" and matcher.consumption == "unit"
    steps = STEPS if quick else COARSE_STEPS
    return tuple(sorted({*(step / steps for step in range(steps + 1)), _own_threshold(matcher)}))


def _intervals(statistics: Statistics, significance: SignificanceSettings) -> list[tuple[float, float] | None]:
    if not statistics.measure.metric.aggregation.has_corpus_score:
        return [None] * len(statistics.systems)
    table = compare_systems(statistics, statistics.systems[0], significance)
    return [comparison.interval for comparison in table.comparisons]


def make_comparison_page(
    corpus: Corpus,
    metrics: Sequence[Measure],
    *,
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
    title: str = "",
) -> Page:
    """Make the page of a comparison: the baseline beside the best other system, and tables of where they differ.

    Parameters
    ----------
    metrics : the page is about the first; lines show scores by the others, too
    baseline, significance : as of `compare_corpus`
    """
    tables = compare_corpus(
        corpus, list(metrics), baseline=baseline, significance=significance, jobs=jobs, executor=executor
    )
    page = make_page(
        corpus, metrics[0], jobs=jobs, executor=executor, progress=progress, title=title, others=metrics[1:]
    )
    first = tables[0]
    others = sorted((row for row in first.comparisons if row.name != first.baseline), key=lambda row: row.rank)
    pair = None
    if others:
        pair = corpus.systems.index(first.baseline), corpus.systems.index(others[0].name)
    return replace(page, pair=pair, tables=_tables(corpus, metrics, tables))


def _tables(corpus: Corpus, metrics: Sequence[Measure], tables: Sequence[ComparisonTable]) -> list[PageTable]:
    """What `compare` shows, and its views."""
    shown = [
        PageTable(f"{table.label}: differences of pairs", [vars(pair) for pair in table.pairs], table.signature)
        for table in tables
        if table.pairs
    ]
    if has_corrections(metrics[0]):
        shown.append(PageTable("Corrections by kind", correction_kinds(corpus, metrics[0]).records()))
    if not corpus.has_references:
        return shown
    shown += [
        PageTable("Scores by length of the segment", bucket_scores(corpus, metrics).records()),
        PageTable(
            "Words by how often the references have them", bucket_scores(corpus, metrics, by="rarity").records()
        ),
    ]
    if len(corpus.systems) > 1:
        found = ngram_differences(corpus, baseline=tables[0].baseline, top=_NGRAMS, tokenizer=metrics[0].tokenizer)
        shown.append(PageTable("N-grams that one system gets and another misses", found.records()))
    return shown
