"""Intervals and paired tests, from the statistics of segments alone: no text is scored twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from softbleu.errors import InputError, UnknownNameError
from softbleu.metrics.references import ChosenSums
from softbleu.scoring.executors import single_threaded_blas
from softbleu.tabular import Tabular

if TYPE_CHECKING:
    from softbleu.metrics import Metric
    from softbleu.scoring.results import Statistics
    from softbleu.types import Floats


Test = Literal["bootstrap", "randomization"]
_PIECE = 256
_CELLS = 1 << 22
"""Entries of the matrices that are held at a time; they have a column a segment."""
MOST = 1_000_000


@dataclass(frozen=True)
class Comparison:
    """How one system stands beside the baseline."""

    name: str
    score: float
    mean: float
    """Of the bootstrap scores."""
    interval: tuple[float, float]
    """Between the 2.5th and the 97.5th percentile of the bootstrap scores."""
    p_value: float | None
    """Two-sided; None for the baseline itself."""
    rank: int
    """1 for the best score; equal scores share a rank."""


@dataclass(frozen=True)
class SignificanceSettings:
    """How to test.

    Parameters
    ----------
    test
        `bootstrap` (Koehn 2004) or `randomization` (approximate randomisation, Riezler & Maxwell 2005).
    samples
        Bootstrap samples, for the intervals too.
    trials
        Shufflings of the randomisation test.
    seed
        Of NumPy's generator.
    """

    test: Test = "bootstrap"
    samples: int = 1000
    trials: int = 10_000
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.test not in get_args(Test):
            raise UnknownNameError("test", self.test, get_args(Test))
        for name, value in (("samples", self.samples), ("trials", self.trials)):
            if not 1 <= value <= MOST:
                raise InputError(f"the number of {name} must lie between 1 and {MOST:,}, not {value:,}")
        if self.seed < 0:
            raise InputError(f"the seed must be at least 0, not {self.seed}")


@dataclass(frozen=True, repr=False)
class ComparisonTable(Tabular):
    """How systems compare, and what that depends on."""

    comparisons: list[Comparison]
    baseline: str
    metric: str
    """The measure, as an expression."""
    label: str
    """What people call the score."""
    signature: str
    """Of the scores and the test."""
    short_signature: str
    """Without what has its default."""
    higher_is_better: bool
    resampled: Floats
    """The bootstrap scores, (systems, samples)."""

    def records(self) -> list[dict[str, Any]]:
        """A row a system."""
        return [
            {
                "system": each.name,
                "score": each.score,
                "low": each.interval[0],
                "high": each.interval[1],
                "p_value": each.p_value,
                "rank": each.rank,
            }
            for each in self.comparisons
        ]

    def described(self) -> dict[str, str]:
        """The baseline and the signature."""
        return {"metric": self.metric, "baseline": self.baseline, "signature": self.short_signature}


class ComparisonTables(list[ComparisonTable], Tabular):
    """Tables by several metrics, one each; together they are shown as one."""

    def records(self) -> list[dict[str, Any]]:
        """A row a system and metric."""
        return [{"metric": table.metric, **row} for table in self for row in table.records()]

    def described(self) -> dict[str, str]:
        """Signatures by metric."""
        return {f"signature of {table.metric}": table.short_signature for table in self}


@single_threaded_blas()
def compare_systems(statistics: Statistics, baseline: str, settings: SignificanceSettings) -> ComparisonTable:
    """Give every system an interval, a rank, and a p-value against the baseline.

    Parameters
    ----------
    statistics : rows of all segments of all systems (`collect_statistics` with ``keep_rows=True``)
    baseline : name of the system the others are tested against

    Raises
    ------
    UnknownNameError
        No system of that name.
    """
    if baseline not in statistics.systems:
        raise UnknownNameError("system", baseline, statistics.systems)
    place = statistics.systems.index(baseline)
    metric = statistics.measure.at_level("corpus").metric
    scores = np.array([metric.summarise(rows, statistics.offsets).score for rows in statistics.rows])
    upward = scores if metric.higher_is_better else -scores
    resampled = bootstrap_scores(statistics, metric, settings.samples, settings.seed)
    if settings.test == "bootstrap":
        p_values = paired_bootstrap(resampled, scores, place)
    else:
        p_values = approximate_randomization(statistics, metric, place, settings.trials, settings.seed)
    lower, upper = np.percentile(resampled, [2.5, 97.5], axis=1)
    comparisons = [
        Comparison(
            name,
            float(scores[k]),
            float(resampled[k].mean()),
            (float(lower[k]), float(upper[k])),
            None if k == place else float(p_values[k]),
            1 + int((upward > upward[k]).sum()),
        )
        for k, name in enumerate(statistics.systems)
    ]
    tested: dict[str, Any] = {f"test-{name}": value for name, value in asdict(settings).items()}
    tested["test-baseline"] = baseline
    signature, short = (statistics.signature(short=short, **tested) for short in (False, True))
    return ComparisonTable(
        comparisons,
        baseline,
        str(statistics.measure),
        metric.label,
        signature,
        short,
        metric.higher_is_better,
        resampled,
    )


def bootstrap_scores(statistics: Statistics, metric: Metric, samples: int, seed: int) -> Floats:
    """Scores of corpora of as many segments, drawn with replacement; the same draws for every system.

    Returns
    -------
    Of shape (systems, samples).
    """
    segments = len(statistics.offsets) - 1
    generator = np.random.default_rng(seed)
    scores = np.empty((len(statistics.systems), samples))
    chosen = _chosen_sums(statistics, metric)
    for start, stop in _pieces(samples, segments):
        drawn = generator.integers(segments, size=(stop - start, segments))
        drawn += np.arange(stop - start)[:, None] * segments
        weights = np.bincount(drawn.reshape(-1), minlength=(stop - start) * segments)
        for system, sums in enumerate(chosen.weighted(weights.reshape(-1, segments), start)):
            scores[system, start:stop] = metric.scores(sums)
    return scores


def paired_bootstrap(resampled: Floats, scores: Floats, baseline: int) -> Floats:
    """Two-sided p-values of the differences from the baseline (Koehn 2004, as sacrebleu's ``--paired-bs``).

    The share of samples whose absolute difference, less its mean, exceeds the difference that was observed;
    one is added above and below, so that p is never 0. Where no difference was observed, p is 1 (sacrebleu: close
    to 0, as no sample of equal systems exceeds it).
    """
    differences = np.abs(resampled - resampled[baseline])
    centred = differences - differences.mean(axis=1, keepdims=True)
    observed = np.abs(scores - scores[baseline])[:, None]
    p_values = ((centred > observed).sum(axis=1) + 1) / (resampled.shape[1] + 1)
    return np.where(observed[:, 0] == 0, 1.0, p_values)


def approximate_randomization(
    statistics: Statistics, metric: Metric, baseline: int, trials: int, seed: int
) -> Floats:
    """Two-sided p-values of the differences from the baseline (as sacrebleu's ``--paired-ar``).

    In each trial the outputs of system and baseline are exchanged in about half of the segments; p is the share of
    trials whose difference exceeds the observed one, one added above and below; 1 where no difference was observed.
    """
    segments = len(statistics.offsets) - 1
    generator = np.random.default_rng(seed)
    chosen = _chosen_sums(statistics, metric)
    systems = len(statistics.systems)
    exceeding = np.zeros(systems)
    for start, stop in _pieces(trials, segments):
        swapped = generator.integers(2, size=(stop - start, segments))
        part = chosen.weighted(swapped, start)
        whole = chosen.plain(start, stop)
        for system in range(systems):
            one = metric.scores(whole[system] - part[system] + part[baseline])
            other = metric.scores(whole[baseline] - part[baseline] + part[system])
            observed = np.abs(metric.scores(whole[system]) - metric.scores(whole[baseline]))
            exceeding[system] += (np.abs(one - other) > observed + 1e-12).sum()
    observed = np.array([metric.summarise(rows, statistics.offsets).score for rows in statistics.rows])
    return np.where(observed == observed[baseline], 1.0, (exceeding + 1) / (trials + 1))


def _pieces(count: int, segments: int) -> Iterator[tuple[int, int]]:
    size = max(1, min(_PIECE, _CELLS // segments))
    for start in range(0, count, size):
        yield start, min(start + size, count)


def _chosen_sums(statistics: Statistics, metric: Metric) -> ChosenSums:
    systems = [*statistics.rows]
    return ChosenSums(systems, [metric.choose(rows, statistics.offsets) for rows in systems])
