"""Several runs of a system, such as generations of one source by other seeds: how much they differ, and segments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError
from softbleu.io.tabular import Tabular
from softbleu.results.api import GivenMetrics, plan_metrics
from softbleu.results.significance import SAMPLES, SignificanceSettings, bootstrap_scores, correct

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.runner import Statistics
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
    """Ends of the interval of 95% of the mean, for other runs and other segments."""
    difference: float | None  # From the baseline; None for that itself
    difference_lower: float | None
    difference_upper: float | None
    p_value: float | None  # Two-sided, for other runs and other segments
    corrected: float | None = None  # For all tests by this metric


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

    The variance of a mean is that between runs over their number, and that of the means of samples of segments, the
    same for all systems. Intervals and p-values are Student's t with degrees of freedom after Satterthwaite (1946).
    As runs differ by chance within segments, too, which counts twice, they are rather too wide. Beside a system of
    one run all are taken to have one variance.

    Parameters
    ----------
    corpus
        Outputs of the runs.
    metrics
        What to compute.
    significance
        Samples, their seed, documents of the segments, and the correction of p-values.
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
    drawn = bootstrap_scores(
        statistics, metric, settings.samples or SAMPLES, settings.seed, documents=settings.documents
    )
    scores = np.array([metric.aggregation.score(rows, statistics.offsets).score for rows in statistics.rows])
    segments = len(statistics.offsets) - 1
    units = segments if settings.documents is None else len(set(settings.documents.numbers.tolist()))
    usual = _usual([scores[places] for places in runs.values()])
    means = {system: _Mean([scores[places]], drawn[places].mean(axis=0), usual) for system, places in runs.items()}
    rows = []
    for system, places in runs.items():
        mean, apart = means[system], means[system].less(means[first])
        beside = [None] * 4 if system == first else [apart.value, *apart.interval(units), apart.p_value(units)]
        spread = float(np.std(scores[places], ddof=1)) if len(places) > 1 else None
        within = float(np.sqrt(np.mean(np.var(drawn[places], axis=1))))
        label, ends = metric.called or metric.label, mean.interval(units)
        rows.append(SystemRuns(label, system, len(places), mean.value, spread, within, *ends, *beside))
    tested = [row.p_value for row in rows if row.p_value is not None]
    corrected = iter(correct(tested, settings.correction))
    return [row if row.p_value is None else replace(row, corrected=next(corrected)) for row in rows]


def _usual(systems: Sequence[Floats]) -> tuple[float, int]:
    """Variance of a run's score, pooled over the systems of several runs, and its degrees of freedom."""
    several = [scores for scores in systems if len(scores) > 1]
    degrees = sum(len(scores) - 1 for scores in several)
    return sum(float(np.var(scores)) * len(scores) for scores in several) / degrees, degrees


@dataclass(frozen=True)
class _Mean:
    """The mean of a system's runs, or the difference of two such means."""

    scores: Sequence[Floats]  # Of the runs of the system, or of both
    drawn: Floats  # The mean, or the difference, in samples of segments
    usual: tuple[float, int]

    @property
    def value(self) -> float:
        """The mean, or the difference."""
        one, *other = (float(scores.mean()) for scores in self.scores)
        return one - sum(other)

    def less(self, other: _Mean) -> _Mean:
        """The difference from another mean."""
        return _Mean([*self.scores, *other.scores], self.drawn - other.drawn, self.usual)

    @property
    def _parts(self) -> list[tuple[float, int]]:
        """Variances by which runs there are, with degrees of freedom: the usual one where a system has one run."""
        sizes = [len(scores) for scores in self.scores]
        if 1 in sizes:
            return [(self.usual[0] * sum(1 / size for size in sizes), self.usual[1])]
        return [
            (float(np.var(scores, ddof=1)) / size, size - 1) for scores, size in zip(self.scores, sizes, strict=True)
        ]

    def _error(self, units: int) -> tuple[float, float]:
        """Standard error and degrees of freedom; `units` are drawn, segments or documents."""
        parts = [*self._parts, (float(np.var(self.drawn)), max(units - 1, 1))]
        variance = sum(part for part, _ in parts)
        squares = sum(part**2 / degrees for part, degrees in parts)
        return variance**0.5, variance**2 / squares if squares > 0 else 1.0

    def interval(self, units: int) -> tuple[float, float]:
        """Ends of the interval of 95%."""
        from scipy.stats import t

        error, degrees = self._error(units)
        half = float(t.ppf(0.975, degrees)) * error
        return self.value - half, self.value + half

    def p_value(self, units: int) -> float:
        """Two-sided p of no difference; 1 where nothing varies and there is none."""
        from scipy.stats import t

        error, degrees = self._error(units)
        if error == 0:
            return float(self.value == 0)
        return 2 * float(t.sf(abs(self.value) / error, degrees))
