"""Several runs of a system, such as generations of one source by other seeds: how much they differ, and segments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError
from softbleu.io.tabular import Tabular
from softbleu.results.api import GivenMetrics, plan_metrics
from softbleu.results.significance import SAMPLES, SignificanceSettings, bootstrap_scores

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.statistics import Statistics
    from softbleu.types import Floats, Progress

_RUN = re.compile(r"(.+)\.(\d+)")


@dataclass(frozen=True)
class SystemRuns:
    """Scores of the runs of one system by one metric."""

    metric: str
    system: str
    runs: int
    score: float  # Mean of the runs
    between_runs: float | None  # Standard deviation of the runs' scores; None of one run
    between_segments: float  # Standard deviation of a run's score by which segments were drawn
    lower: float
    upper: float
    """Ends of the interval of the mean, where both runs and segments are drawn."""
    difference: float | None  # From the first system; None for that itself
    difference_lower: float | None
    difference_upper: float | None


@dataclass(frozen=True)
class RunTable(Tabular):
    """Systems of several runs, by several metrics."""

    rows: Sequence[SystemRuns]
    signatures: Mapping[str, str]  # By metric

    def records(self) -> list[dict[str, Any]]:
        """A row per metric and system."""
        return [vars(row) for row in self.rows]

    def described(self) -> Mapping[str, Any]:
        """Signatures by metric."""
        return self.signatures


def group_runs(systems: Sequence[str]) -> dict[str, list[int]]:
    """Places of the runs of each system: ``A.1`` and ``A.2`` are of A, other names of a system of one run.

    >>> group_runs(["A.1", "A.2", "B"])
    {'A': [0, 1], 'B': [2]}
    """
    runs: dict[str, list[int]] = {}
    for place, name in enumerate(systems):
        match = _RUN.fullmatch(name)
        runs.setdefault(match[1] if match else name, []).append(place)
    return runs


def compare_runs(
    corpus: Corpus,
    metrics: GivenMetrics = "bleu",
    significance: SignificanceSettings | None = None,
    *,
    baseline: str | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> RunTable:
    """Take outputs called ``NAME.1``, ``NAME.2`` … for runs of one system, and compare systems by their means.

    A sample draws segments, the same for all, and runs of each system. Its interval is wider than one of a single
    run's where runs differ. With few runs, which stand for all that might have been, it is still too narrow.

    Parameters
    ----------
    corpus
        Outputs of the runs.
    metrics
        What to compute.
    significance
        Samples, their seed, and documents of the segments.
    baseline
        System from which others differ; the first unless named.
    jobs, executor, progress
        Those of `softbleu.score_corpus`.

    Raises
    ------
    InputError
        No system has several runs.
    """
    settings = significance or SignificanceSettings()
    runs = group_runs(corpus.systems)
    if len(runs) == len(corpus.systems):
        raise InputError("no system has several runs: call them NAME.1, NAME.2 and so on")
    first = next(iter(runs)) if baseline is None else baseline
    if first not in runs:
        raise InputError(f"no system {first!r}: there are {', '.join(runs)}")
    options = RunOptions(jobs, executor, progress=progress)
    rows: list[SystemRuns] = []
    collected = collect_statistics(corpus, plan_metrics(metrics), options, keep_rows=True)
    for statistics in collected:
        rows += _rows(statistics, runs, first, settings)
    signatures = {scored.metric.called or scored.metric.label: scored.signature("corpus") for scored in collected}
    return RunTable(rows, signatures)


def _rows(
    statistics: Statistics, runs: Mapping[str, Sequence[int]], first: str, settings: SignificanceSettings
) -> list[SystemRuns]:
    metric = statistics.metric
    samples = settings.samples or SAMPLES
    drawn = bootstrap_scores(statistics, metric, samples, settings.seed, documents=settings.documents)
    scores = [metric.aggregation.score(rows, statistics.offsets).score for rows in statistics.rows]
    generator = np.random.default_rng(settings.seed)
    means: dict[str, tuple[float, Floats]] = {}
    for system, places in runs.items():
        chosen = np.array(places)[generator.integers(len(places), size=(samples, len(places)))]
        means[system] = float(np.mean([scores[n] for n in places])), drawn[chosen.T, np.arange(samples)].mean(axis=0)
    rows = []
    for system, places in runs.items():
        mean, sampled = means[system]
        apart, apart_sampled = mean - means[first][0], sampled - means[first][1]
        beside = [None] * 3 if system == first else [apart, *np.percentile(apart_sampled, (2.5, 97.5)).tolist()]
        spread = float(np.std([scores[n] for n in places], ddof=1)) if len(places) > 1 else None
        within = float(np.sqrt(np.mean(np.var(drawn[list(places)], axis=1))))
        ends = np.percentile(sampled, (2.5, 97.5)).tolist()
        label = metric.called or metric.label
        rows.append(SystemRuns(label, system, len(places), mean, spread, within, *ends, *beside))
    return rows
