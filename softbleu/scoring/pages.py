"""What a page about a run shows: scores, intervals, and every match with the thresholds at which it is made."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.errors import InputError
from softbleu.matchers.base import SoftMatcher
from softbleu.metrics.bleu import Bleu
from softbleu.scoring.explain import matching_of
from softbleu.scoring.measure import Measure
from softbleu.scoring.page_matches import Matching, ShownMatches, ShownText, shown_text
from softbleu.scoring.results import make_results
from softbleu.scoring.run import running
from softbleu.scoring.significance import SignificanceSettings, compare_systems

if TYPE_CHECKING:
    from softbleu.kernels import KernelName
    from softbleu.matchers import Matcher
    from softbleu.metrics.base import Level, Metric
    from softbleu.metrics.gleu import Gleu
    from softbleu.scoring.results import Result, Statistics
    from softbleu.scoring.run import Corpus
    from softbleu.tokens import Tokenizer
    from softbleu.types import Integers, Progress

ROWS = 3000
"""Candidates that a page shows; its scores are of all."""
STEPS = 100
"""Thresholds of a page lie so many to 1 apart."""
COARSE_STEPS = 20
"""The same for matchers that must match anew at every threshold."""


@dataclass(frozen=True)
class Page:
    """Everything that a page about a run shows."""

    metric: Bleu | Gleu
    """Scores corpora."""
    segment_metric: Bleu | Gleu
    """Scores segments."""
    tokenizer: Tokenizer
    results: list[Result]
    """Of the run's own threshold; one a system."""
    segment_signature: str
    segment_scores: list[list[float]]
    """Of the segments shown, system by system."""
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


def make_page(
    corpus: Corpus,
    metric: str | Metric | Measure = "bleu",
    *,
    level: Level = "corpus",
    jobs: int = 1,
    executor: Executor | None = None,
    kernels: KernelName = "auto",
    progress: Progress | None = None,
) -> Page:
    """Score a corpus and collect what a page shows of it.

    BLEU over a soft matcher is scored at every threshold from 0 to 1 in hundredths, and at the run's own; where each
    threshold needs a matching of its own (assignment `optimal`, consumption `similarity`), in twentieths.

    Parameters
    ----------
    level : at level `segment` the corpus is scored as segments are (BLEU: with effective order)

    Raises
    ------
    InputError, VectorError
        What cannot be scored, vectors that cannot be read, and levels that a page does not show.
    """
    if level not in ("corpus", "segment"):
        raise InputError(f"an HTML page shows scores of corpus and segments, not level {level!r}: leave out --level")
    measure = Measure.of(metric).resolved()
    matcher = matching_of(measure)
    thresholds = _thresholds(measure)
    measures = [measure, *(measure.with_threshold(threshold) for threshold in thresholds)]
    with running(corpus, measures, jobs=jobs, executor=executor, kernels=kernels) as runner:
        prepared = runner.prepared(measure.tokenizer)
        statistics, *swept = runner.collect(measures, keep_rows=[True] + [False] * len(thresholds), progress=progress)
    results = make_results(statistics, level)
    by_segment = results if level == "segment" else make_results(statistics, "segment")
    # Whoever is shown at a level is scored as at that level; the rows are the same.
    shown_metric: Any = measure.at_level(level).metric
    segment_metric: Any = measure.at_level("segment").metric
    order = shown_metric.order
    masses = np.zeros((len(results), 0, order), np.int64)
    if thresholds:
        masses = np.stack([each.rows[:, 0, 2 : 2 + order] for each in swept], axis=1)
    shown = min(len(corpus), max(1, ROWS // len(results)))
    text = shown_text(prepared, shown)
    requires = measure.metric.requires
    soft = bool(thresholds) or requires.vectors
    vectors = prepared.table(measure.vectors, requires).words.vectors if soft else None
    run = thresholds.index(_own_threshold(matcher)) if thresholds else 0
    matches, too_long = Matching(matcher, order, thresholds, run, vectors).of(text)
    significance = SignificanceSettings()
    levelled = replace(statistics, measure=replace(measure, metric=shown_metric))
    return Page(
        metric=shown_metric,
        segment_metric=segment_metric,
        tokenizer=measure.tokenizer,
        results=results,
        segment_signature=by_segment[0].signature,
        segment_scores=[[score.score for score in (result.segments or ())[:shown]] for result in by_segment],
        intervals=_intervals(levelled, significance),
        significance=significance,
        thresholds=thresholds,
        run=run,
        masses=masses,
        rows=statistics.rows[:, : shown if isinstance(shown_metric, Bleu) else 0],
        segments=len(corpus),
        text=text.spelt_alone(),
        matches=matches,
        too_long=too_long,
    )


def _own_threshold(matcher: Matcher) -> float:
    return matcher.least_similarity if isinstance(matcher, SoftMatcher) else 0.0


def _thresholds(measure: Measure) -> tuple[float, ...]:
    """Thresholds of the slider, ascending; none where there is nothing to slide."""
    matcher = measure.matcher
    if not isinstance(measure.metric, Bleu) or not isinstance(matcher, SoftMatcher):
        return ()
    if not measure.with_threshold(0.0).metric.requires.vectors:
        return ()
    quick = matcher.assignment != "optimal" and matcher.consumption == "unit"
    steps = STEPS if quick else COARSE_STEPS
    return tuple(sorted({*(step / steps for step in range(steps + 1)), _own_threshold(matcher)}))


def _intervals(statistics: Statistics, significance: SignificanceSettings) -> list[tuple[float, float] | None]:
    if not statistics.measure.metric.has_corpus_score:
        return [None] * len(statistics.systems)
    table = compare_systems(statistics, statistics.systems[0], significance)
    return [comparison.interval for comparison in table.comparisons]
