"""Intervals and paired tests, from the statistics of segments alone: no text is scored twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from math import comb
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np

from softbleu.config.signature import parse_signature
from softbleu.errors import InputError, UnknownNameError
from softbleu.io.data_files import parse_whole
from softbleu.io.executors import single_threaded_blas
from softbleu.io.tabular import Tabular
from softbleu.metrics.aggregation import ChosenSums
from softbleu.metrics.result import Coverage

if TYPE_CHECKING:
    from softbleu.engine.statistics import Statistics
    from softbleu.metrics import Metric
    from softbleu.types import Floats, Integers


Test = Literal["randomization", "bootstrap"]
Program = Literal["none", "sacrebleu"]
Correction = Literal["holm", "fdr", "none"]
LEVEL = 0.95  # Share of the samples that a range of ranks has
ALIKE = 1e-9  # Segments whose scores differ by no more are alike
_DRAWN_TOGETHER = 256
_SCORED_TOGETHER = 4096  # Sums that are scored in one call: few enough for the cache
_CELLS = 1 << 22  # Entries of the matrices that are in memory at a time; they have a column per segment
MOST = 1_000_000
SAMPLES, TRIALS = 1000, 10_000  # Bootstrap samples and trials, unless there are so many tests that they need more
MOST_UNASKED = 100_000  # More than these must be asked for: after Holm they are enough for all pairs of 100 systems
_FOR_A_TEST = 100  # Samples (or trials) a test: the least p of the first of them is 0.01 then


@dataclass(frozen=True)
class Comparison:
    """How one system stands beside the baseline."""

    name: str
    score: float
    mean: float  # Of the bootstrap scores
    interval: tuple[float, float]  # Between the 2.5th and the 97.5th percentile of the bootstrap scores
    p_value: float | None  # Two-sided; None for the baseline itself
    rank: int  # 1 for the best score; equal scores share a rank
    ranks: tuple[int, int]  # Best and worst rank in 95% of the samples
    beside: Pair | None
    """The system beside the baseline; None for the baseline itself. Its p-value is corrected among the tests against
    the baseline."""
    coverage: Coverage | None = None  # None when no similarity was looked at


@dataclass(frozen=True)
class Pair:
    """How one system differs from another."""

    name: str
    other: str
    difference: float  # The score less that of the other
    interval: tuple[float, float]
    """Between the 2.5th and the 97.5th percentile of the differences of the bootstrap scores."""
    p_value: float  # Two-sided
    corrected: float  # The p-value corrected for all tests of its kind by this metric
    effect: float
    """Mean difference of the segments' scores over their standard deviation (Cohen's d of paired values); 0 where
    there is none."""
    wins: int  # Segments that score better than the other's
    ties: int
    losses: int

    def turned(self) -> Pair:
        """The other beside this one."""
        low, high = self.interval
        turned = replace(self, name=self.other, other=self.name, difference=-self.difference, interval=(-high, -low))
        return replace(turned, effect=-self.effect, wins=self.losses, losses=self.wins)


@dataclass(frozen=True)
class SignificanceSettings:
    """How to test.

    Parameters
    ----------
    test
        `randomization` (approximate randomisation, Riezler & Maxwell 2005) or `bootstrap` (Koehn 2004, two-sided).
    samples
        Bootstrap samples, for the intervals too. None stands for 1,000, or, where the bootstrap is the test, for as
        many as all pairs of the systems need (`settled`).
    trials
        Shufflings of the randomisation test. None stands for 10,000, or for as many as it needs.
    seed
        Of NumPy's generator.
    correction
        Of p-values, for as many as a metric makes: `holm` (Holm 1979) keeps the chance of any false alarm, `fdr`
        (Benjamini & Hochberg 1995) the share of false ones among the alarms; `none` leaves them.
    compatible
        `sacrebleu` counts as that program does (`paired_bootstrap`, `approximate_randomization`). Its bootstrap calls
        two equally good systems different, with p < 0.05, in about 12% of cases.
    """

    test: Test = "randomization"
    samples: int | None = None
    trials: int | None = None
    seed: int = 12345
    correction: Correction = "holm"
    compatible: Program = "none"

    def __post_init__(self) -> None:
        for name, known in (("test", Test), ("correction", Correction), ("compatible", Program)):
            if getattr(self, name) not in get_args(known):
                raise UnknownNameError(name, getattr(self, name), get_args(known))
        for name, value in (("samples", self.samples), ("trials", self.trials)):
            if value is not None and not 1 <= value <= MOST:
                raise InputError(f"the number of {name} must lie between 1 and {MOST:,}, not {value:,}")
        if self.seed < 0:
            raise InputError(f"the seed must be at least 0, not {self.seed}")

    def settled(self, systems: int) -> Self:
        """Choose the numbers of samples and trials that are not given.

        Holm's correction multiplies the least p of all pairs of systems by their number. So the test draws so often,
        in thousands, that the least p can still become 0.01, but no more than `MOST_UNASKED` times.

        >>> [SignificanceSettings().settled(systems).trials for systems in (2, 14, 15, 23, 100)]
        [10000, 10000, 11000, 26000, 100000]
        """
        tests = comb(systems, 2) if self.correction == "holm" else 1
        needed = min(-(-(_FOR_A_TEST * tests - 1) // 1000) * 1000, MOST_UNASKED)
        samples, trials = (needed, 0) if self.test == "bootstrap" else (0, needed)
        return replace(self, samples=self.samples or max(samples, SAMPLES), trials=self.trials or max(trials, TRIALS))

    def drawn(self) -> int:
        """How often the test draws: samples of the bootstrap, else trials."""
        return (self.samples or SAMPLES) if self.test == "bootstrap" else (self.trials or TRIALS)

    def least_p(self, tests: int) -> float:
        """The least p-value that the first of so many tests can have once it is corrected.

        >>> round(SignificanceSettings(trials=999).least_p(253), 3)
        0.253
        """
        return min(1.0, (tests if self.correction == "holm" else 1) / (self.drawn() + 1))

    @classmethod
    def from_signature(cls, signature: str | None, **given: Any) -> tuple[Self, str | None]:
        """Make the settings that a signature of a comparison has, and name its baseline; what is given goes before.

        None stands for what is not given. The bootstrap of signatures without `test-compatible` was that of
        sacrebleu, which is also the test that `compatible` alone stands for.

        >>> SignificanceSettings.from_signature("metric:bleu|test-samples:50|test-baseline:A", seed=1)[0].samples
        50
        >>> SignificanceSettings.from_signature("metric:bleu|test-test:bootstrap|test-seed:1")[0].compatible
        'sacrebleu'

        Raises `InputError`: it cannot be read, or has a number that is none.
        """
        pairs = {} if signature is None else parse_signature(signature)
        said: dict[str, Any] = {
            each.name: pairs[f"test-{each.name}"] for each in fields(cls) if f"test-{each.name}" in pairs
        }
        for name in ("samples", "trials", "seed"):
            if name in said:
                try:
                    said[name] = parse_whole(said[name])
                except ValueError:
                    raise InputError(f"test-{name}:{said[name]} in the signature: a whole number is needed") from None
        if said.get("test") == "bootstrap":
            said.setdefault("compatible", "sacrebleu")
        said |= {name: value for name, value in given.items() if value is not None}
        if said.get("compatible") == "sacrebleu":
            said.setdefault("test", "bootstrap")
        return cls(**said), pairs.get("test-baseline")


@dataclass(frozen=True, repr=False)
class ComparisonTable(Tabular):
    """How systems compare, and what that depends on."""

    comparisons: list[Comparison]
    baseline: str
    metric: str  # The metric, as an expression
    label: str  # What people call the score
    signature: str  # Of the scores and the test
    short_signature: str  # Without what has its default
    higher_is_better: bool
    significance: SignificanceSettings  # How it was tested, with the numbers of samples and trials that were drawn
    resampled: Floats  # The bootstrap scores, (systems, samples)
    pairs: list[Pair]  # All pairs of systems in the order given, the later of two first; corrected among all pairs

    def pair(self, name: str, other: str) -> Pair:
        """One system beside another, either way round.

        Raises `UnknownNameError`: no system of that name, or twice the same.
        """
        for each in self.pairs:
            if (each.name, each.other) == (name, other):
                return each
            if (each.name, each.other) == (other, name):
                return each.turned()
        names = [each.name for each in self.comparisons if each.name != name]
        raise UnknownNameError("system", other if other not in names else name, names)

    def records(self) -> list[dict[str, Any]]:
        """A row per system."""
        return [
            {
                "system": each.name,
                "score": each.score,
                "low": each.interval[0],
                "high": each.interval[1],
                "p_value": each.p_value,
                "rank": each.rank,
                "best_rank": each.ranks[0],
                "worst_rank": each.ranks[1],
                **{name: getattr(each.beside, name, None) for name in ("difference", "corrected", "effect")},
            }
            for each in self.comparisons
        ]

    def described(self) -> dict[str, str]:
        """The baseline and the signature."""
        return {"metric": self.metric, "baseline": self.baseline, "signature": self.short_signature}


class ComparisonTables(list[ComparisonTable], Tabular):
    """Tables by several metrics, one each; together they are shown as one."""

    def records(self) -> list[dict[str, Any]]:
        """A row per system and metric."""
        return [{"metric": table.metric, **row} for table in self for row in table.records()]

    def described(self) -> dict[str, str]:
        """Signatures by metric."""
        return {f"signature of {table.metric}": table.short_signature for table in self}


@single_threaded_blas()
def compare_systems(statistics: Statistics, baseline: str, settings: SignificanceSettings) -> ComparisonTable:
    """Give every system an interval, a rank and its range, and test it against the baseline and all others.

    `statistics` have the rows of all segments (`collect_statistics` with ``keep_rows=True``); for numbers that are
    not given see `SignificanceSettings.settled`. Raises `UnknownNameError`: no system has the baseline's name.
    """
    if baseline not in statistics.systems:
        raise UnknownNameError("system", baseline, statistics.systems)
    settings = settings.settled(len(statistics.systems))
    place = statistics.systems.index(baseline)
    metric = statistics.metric.at_level("corpus")
    scores = np.array([metric.aggregation.score(rows, statistics.offsets).score for rows in statistics.rows])
    upward = scores if metric.higher_is_better else -scores
    resampled = bootstrap_scores(statistics, metric, settings.samples or SAMPLES, settings.seed)
    as_sacrebleu = settings.compatible == "sacrebleu"
    if settings.test == "bootstrap":
        tested = [paired_bootstrap(resampled, scores, each, as_sacrebleu=as_sacrebleu) for each in range(len(scores))]
        p_values = np.stack(tested)
    else:
        trials = settings.trials or TRIALS
        p_values = approximate_randomization(statistics, metric, trials, settings.seed, as_sacrebleu=as_sacrebleu)
    lower, upper = np.percentile(resampled, [2.5, 97.5], axis=1)
    best, worst = rank_ranges(resampled.T if metric.higher_is_better else -resampled.T)
    differing = _Differing(statistics, scores, resampled, p_values, settings.correction)
    others = [(number, place) for number in range(len(scores)) if number != place]
    beside = dict(zip((number for number, _ in others), differing.pairs(others), strict=True))
    comparisons = [
        Comparison(
            name,
            float(scores[k]),
            float(resampled[k].mean()),
            (float(lower[k]), float(upper[k])),
            None if k == place else float(p_values[place, k]),
            1 + int((upward > upward[k]).sum()),
            (int(best[k]), int(worst[k])),
            beside.get(k),
            None if statistics.coverage is None else statistics.coverage[k],
        )
        for k, name in enumerate(statistics.systems)
    ]
    how: dict[str, Any] = {f"test-{name}": value for name, value in asdict(settings).items()}
    how["test-baseline"] = baseline
    signature, short = (statistics.signature(short=short, **how) for short in (False, True))
    return ComparisonTable(
        comparisons,
        baseline,
        str(statistics.metric),
        metric.label,
        signature,
        short,
        metric.higher_is_better,
        settings,
        resampled,
        differing.pairs([(one, other) for one in range(len(scores)) for other in range(one)]),
    )


class _Differing:
    """What is said of pairs of systems."""

    def __init__(
        self, statistics: Statistics, scores: Floats, resampled: Floats, p_values: Floats, correction: Correction
    ) -> None:
        self._names, self._scores, self._resampled = statistics.systems, scores, resampled
        self._p_values, self._correction = p_values, correction
        self._segments = segment_numbers(statistics)
        self._sign = 1 if statistics.metric.higher_is_better else -1

    def pairs(self, chosen: Sequence[tuple[int, int]]) -> list[Pair]:
        """Pairs of systems, corrected as if there were no others."""
        corrected = correct([float(self._p_values[other, one]) for one, other in chosen], self._correction)
        return [self._pair(one, other, p) for (one, other), p in zip(chosen, corrected, strict=True)]

    def _pair(self, one: int, other: int, corrected: float) -> Pair:
        low, high = np.percentile(self._resampled[one] - self._resampled[other], [2.5, 97.5])
        apart = self._segments[one] - self._segments[other]
        spread = float(apart.std(ddof=1)) if len(apart) > 1 else 0.0
        better, worse = (int((sign * self._sign * apart > ALIKE).sum()) for sign in (1, -1))
        difference = float(self._scores[one] - self._scores[other])
        return Pair(
            self._names[one],
            self._names[other],
            difference,
            (float(low), float(high)),
            float(self._p_values[other, one]),
            corrected,
            float(apart.mean()) / spread if spread > ALIKE else 0.0,
            better,
            len(apart) - better - worse,
            worse,
        )


def segment_numbers(statistics: Statistics) -> Floats:
    """Scores of the segments of every system, as at level `segment`: (systems, segments)."""
    metric = statistics.metric.at_level("segment")
    return np.stack([metric.aggregation.segment_numbers(rows, statistics.offsets) for rows in statistics.rows])


def correct(p_values: Sequence[float], correction: Correction) -> list[float]:
    """Correct p-values for their number; see `SignificanceSettings`.

    >>> correct([0.01, 0.04, 0.03], "holm"), correct([0.01, 0.04, 0.03], "none")
    ([0.03, 0.06, 0.06], [0.01, 0.04, 0.03])
    """
    if correction == "none" or not p_values:
        return list(p_values)
    if correction == "fdr":
        from scipy.stats import false_discovery_control

        found: list[float] = false_discovery_control(p_values).tolist()
        return found
    order = np.argsort(p_values, kind="stable")
    steps = np.array(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    corrected: list[float] = adjusted.tolist()
    return corrected


def rank_ranges(resampled: Floats) -> tuple[Integers, Integers]:
    """Best and worst rank of each system in 95% of the samples; as many are left out at either end.

    The scores have shape (samples, systems); greater is better.

    >>> ranges = rank_ranges(np.array([[3.0, 2.0, 1.0], [2.0, 3.0, 1.0]]))
    >>> ranges[0].tolist(), ranges[1].tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    from scipy.stats import rankdata

    ranks = np.sort(rankdata(-resampled, method="min", axis=1).astype(np.int64), axis=0)
    # Rounded, for (1 - 0.95) * 1000 is a little more than 50.
    out = int(np.ceil(round(len(ranks) * (1 - LEVEL) / 2, 9))) if len(ranks) > 2 else 0
    return ranks[out], ranks[len(ranks) - 1 - out]


def bootstrap_scores(statistics: Statistics, metric: Metric, samples: int, seed: int) -> Floats:
    """Scores of corpora of as many segments, the same draws with replacement for every system: (systems, samples)."""
    segments = len(statistics.offsets) - 1
    generator = np.random.default_rng(seed)
    scores = np.empty((len(statistics.systems), samples))
    chosen = _chosen_sums(statistics, metric)
    columns = statistics.rows.shape[0] * statistics.rows.shape[-1]
    for start, stop in _batches(samples, max(segments, columns)):
        drawn = generator.integers(segments, size=(stop - start, segments))
        drawn += np.arange(stop - start)[:, None] * segments
        weights = np.bincount(drawn.reshape(-1), minlength=(stop - start) * segments)
        for system, sums in enumerate(chosen.weighted(weights.reshape(-1, segments), start)):
            scores[system, start:stop] = metric.scores(sums)
    return scores


def paired_bootstrap(resampled: Floats, scores: Floats, baseline: int, *, as_sacrebleu: bool = False) -> Floats:
    """Two-sided p-values of the differences from the baseline (Koehn 2004).

    The share of samples whose difference is at least as far from the mean of all samples as the observed one from 0;
    one is added above and below, so that p is never 0. Where no difference was observed, p is 1.

    sacrebleu (``--paired-bs``) takes absolute values before the mean is subtracted, so that only one tail counts, and
    greater ones only. Where no difference was observed, its p is close to 0; here it is 1.
    """
    differences = resampled - resampled[baseline]
    observed = np.abs(scores - scores[baseline])[:, None]
    if as_sacrebleu:
        differences = np.abs(differences)
    centred = differences - differences.mean(axis=1, keepdims=True)
    exceeding = centred > observed if as_sacrebleu else np.abs(centred) >= observed - ALIKE
    p_values = (exceeding.sum(axis=1) + 1) / (resampled.shape[1] + 1)
    return np.where(observed[:, 0] == 0, 1.0, p_values)


def approximate_randomization(
    statistics: Statistics, metric: Metric, trials: int, seed: int, *, as_sacrebleu: bool = False
) -> Floats:
    """Two-sided p-values of the differences of all pairs: (systems, systems).

    In each trial the outputs of two systems are exchanged in about half of the segments, the same for all pairs; p is
    the share of trials whose difference is as great as the observed one or greater, one added above and below; 1
    where no difference was observed. sacrebleu (``--paired-ar``) counts greater ones only.
    """
    segments = len(statistics.offsets) - 1
    generator = np.random.default_rng(seed)
    chosen = _chosen_sums(statistics, metric)
    systems = len(statistics.systems)
    exceeding = np.zeros((systems, systems))
    margin = 1e-12 if as_sacrebleu else -ALIKE
    together = max(1, _SCORED_TOGETHER // _DRAWN_TOGETHER)
    for start, stop in _batches(trials, segments):
        swapped = generator.integers(2, size=(stop - start, segments))
        # Columns first: metrics take whole columns at a time.
        sums = chosen.weighted(swapped, start), chosen.plain(start, stop)
        part, whole = (np.ascontiguousarray(np.moveaxis(each, -1, 0)) for each in sums)
        left, scores = whole - part, _scores_of(metric, whole)
        for one in range(systems):
            for first in range(one + 1, systems, together):
                others = slice(first, first + together)
                exchanged = _scores_of(metric, left[:, [one]] + part[:, others])
                exchanged -= _scores_of(metric, left[:, others] + part[:, [one]])
                observed = np.abs(scores[one] - scores[others])
                exceeding[one, others] += (np.abs(exchanged) > observed + margin).sum(axis=1)
    exceeding += exceeding.T
    observed = np.array([metric.aggregation.score(rows, statistics.offsets).score for rows in statistics.rows])
    return np.where(observed == observed[:, None], 1.0, (exceeding + 1) / (trials + 1))


def _scores_of(metric: Metric, sums: Floats) -> Floats:
    """Scores of sums of any shape, whose first axis has the columns."""
    return metric.scores(sums.reshape(len(sums), -1).T).reshape(sums.shape[1:])


def _batches(count: int, segments: int) -> Iterator[tuple[int, int]]:
    size = max(1, min(_DRAWN_TOGETHER, _CELLS // segments))
    for start in range(0, count, size):
        yield start, min(start + size, count)


def _chosen_sums(statistics: Statistics, metric: Metric) -> ChosenSums:
    systems = [*statistics.rows]
    return ChosenSums(systems, [metric.aggregation.chosen_rows(rows, statistics.offsets) for rows in systems])
