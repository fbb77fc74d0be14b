"""What a page about a run shows: scores, intervals, and every match with the thresholds at which it is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.matchers.base import SoftMatcher
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.grid import Grid
from softbleu.scoring.page_matches import Matching, ShownMatches, ShownText, shown_text
from softbleu.scoring.run import collect_statistics, make_results, prepare_vectors
from softbleu.scoring.significance import SignificanceSettings, compare_systems

if TYPE_CHECKING:
    from softbleu.kernels import KernelName
    from softbleu.matchers import Matcher
    from softbleu.metrics import Metric
    from softbleu.metrics.gleu import Gleu
    from softbleu.scoring.blocks import Level
    from softbleu.scoring.run import Corpus, Result, Statistics
    from softbleu.scoring.settings import Settings
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
    settings: Settings,
    *,
    level: Level = "corpus",
    jobs: int = 1,
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
    settings = settings.resolved()
    tokenizer, choice = settings.tokenizer(), settings.vector_choice()
    segment_metric = settings.make_matching_metric("segment")
    metric = segment_metric if level == "segment" else settings.make_matching_metric()
    thresholds = _thresholds(metric)

    def collect(what: Metric, *, keep_rows: bool, progress: Progress | None) -> Statistics:
        return collect_statistics(
            corpus, what, tokenizer, choice, keep_rows=keep_rows, jobs=jobs, kernels=kernels, progress=progress
        )

    statistics = collect(metric, keep_rows=True, progress=None if thresholds else progress)
    results = make_results(statistics, metric, level, segment_metric)
    by_segment = results if level == "segment" else make_results(statistics, metric, "segment", segment_metric)
    masses = np.zeros((len(results), 0, metric.order), np.int64)
    if thresholds and isinstance(metric, Bleu):
        grid = Grid(tuple(_at(metric, threshold) for threshold in thresholds))
        sums = collect(grid, keep_rows=False, progress=progress).rows
        masses = sums.reshape(len(results), len(thresholds), -1)[:, :, 2 : 2 + metric.order]
    shown = min(len(corpus), max(1, ROWS // len(results)))
    text = shown_text(corpus, shown, tokenizer)
    prepared = prepare_vectors(corpus, tokenizer, choice) if thresholds or metric.needs_vectors else None
    run = thresholds.index(_own_threshold(metric.matcher)) if thresholds else 0
    matches, too_long = Matching(metric.matcher, metric.order, thresholds, run, prepared).of(text)
    significance = SignificanceSettings()
    return Page(
        metric=metric,
        segment_metric=segment_metric,
        results=results,
        segment_signature=by_segment[0].signature,
        segment_scores=[[score.score for score in (result.segments or ())[:shown]] for result in by_segment],
        intervals=_intervals(statistics, metric, significance),
        significance=significance,
        thresholds=thresholds,
        run=run,
        masses=masses,
        rows=statistics.rows[:, : shown if isinstance(metric, Bleu) else 0],
        segments=len(corpus),
        text=text,
        matches=matches,
        too_long=too_long,
    )


def _at(metric: Bleu, threshold: float) -> Bleu:
    # Only soft matchers come here, and their threshold is a field.
    return replace(metric, matcher=replace(metric.matcher, threshold=threshold))  # type: ignore[call-arg]


def _own_threshold(matcher: Matcher) -> float:
    return matcher.threshold if isinstance(matcher, SoftMatcher) else 0.0


def _thresholds(metric: Bleu | Gleu) -> tuple[float, ...]:
    """Thresholds of the slider, ascending; none where there is nothing to slide."""
    if not isinstance(metric, Bleu) or not isinstance(metric.matcher, SoftMatcher):
        return ()
    if not _at(metric, 0.0).needs_vectors:
        return ()
    quick = metric.matcher.assignment != "optimal" and metric.matcher.consumption == "unit"
    steps = STEPS if quick else COARSE_STEPS
    return tuple(sorted({*(step / steps for step in range(steps + 1)), metric.matcher.threshold}))


def _intervals(
    statistics: Statistics, metric: Bleu | Gleu, significance: SignificanceSettings
) -> list[tuple[float, float] | None]:
    if not metric.has_corpus_score:
        return [None] * len(statistics.systems)
    table = compare_systems(statistics, metric, statistics.systems[0], significance)
    return [comparison.interval for comparison in table.comparisons]
