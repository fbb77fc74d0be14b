"""Differences of systems: intervals and paired tests from the statistics of segments, and of several runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate
from math import comb
from typing import TYPE_CHECKING, Literal, Self, get_args

import numpy as np

from softbleu.config.declare import parse_signature
from softbleu.corpora.labels import Documents, intraclass_correlation
from softbleu.engine.plan import GivenMetrics
from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError, Parameter, UnknownNameError, known_name
from softbleu.io.platform import cached_property, single_threaded_blas
from softbleu.io.progress import note, note_wait
from softbleu.io.reading import parse_whole
from softbleu.metrics.protocols import ReadsRows, at_level, in_percent
from softbleu.metrics.result import Coverage
from softbleu.resample import (
    ALIKE,
    TOGETHER,
    Correction,
    bootstrap_p_values,
    check_samples,
    correct,
    ends,
    exchanged_sums,
    rank_ranges,
    resampled_sums,
)
from softbleu.tables import SIGNIFICANT, Noted, Tabular, best_places, decimals_of

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.corpora.gating import GatedLines
    from softbleu.engine.statistics import Statistics
    from softbleu.metrics import Metric
    from softbleu.types import Cells, Fields, Floats, Keywords, Progress


Test = Literal["randomization", "bootstrap"]
Program = Literal["none", "sacrebleu"]
_SCORED_TOGETHER = 8192  # Sums that are scored in one call: few enough for the cache
SAMPLES, TRIALS = 1000, 10_000  # Bootstrap samples and trials, unless there are so many tests that they need more
MOST_UNASKED = 100_000  # More than these must be asked for: after Holm they are enough for all pairs of 100 systems
PAIRED_UNASKED = 14  # Systems whose pairs are all tested unasked: 10,000 trials are enough for them
_MANY = 100_000_000  # Trials times pairs that take some ten seconds
_BOOTSTRAP = Parameter("test", "bootstrap")
_NOTED = 0.1  # By how much variances grow with documents before a note says so
_FOR_A_TEST = 100  # Samples (or trials) a test: the least p of the first of them is 0.01 then
_RUN = re.compile(r"(.+)\.(\d+)")


@dataclass(frozen=True)
class Comparison:
    """Comparison of a system with the baseline."""

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
    gated: GatedLines | None = None  # Lines that a gate changed


@dataclass(frozen=True)
class Pair:
    """Comparison of a system with another one."""

    name: str
    other: str
    difference: float  # The score less that of the other
    interval: tuple[float, float]
    """Between the 2.5th and the 97.5th percentile of the differences of the bootstrap scores."""
    p_value: float  # Two-sided
    corrected: float  # The p-value corrected for all tests of its kind by this metric
    effect: float
    """Mean difference of the segments' scores over their standard deviation (Cohen's d of paired values); 0 if
    all are equal."""
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
    """Settings of a test.

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
        (Benjamini & Hochberg 1995) the share of false ones among the alarms; `none` leaves them. None stands for
        `holm`, and for `none` where `compatible` is `sacrebleu`, which corrects nothing.
    all_pairs
        Test every pair of systems. Otherwise more than `PAIRED_UNASKED` systems are tested against the baseline only.
    compatible
        `sacrebleu` counts as that program does (`bootstrap_p_values`, `approximate_randomization`). Its bootstrap
        calls two equally good systems different, with p < 0.05, in about 12% of cases.
    documents
        Documents of the segments, which samples and trials draw as wholes: segments of one document are more like one
        another than others are, so that intervals by segments are too narrow. A file (``FILE:COLUMN``) or labels.
    """

    test: Test = "randomization"
    samples: int | None = None
    trials: int | None = None
    seed: int = 12345
    correction: Correction = None  # type: ignore[assignment]  # None is replaced before anybody reads it
    compatible: Program = "none"
    all_pairs: bool = field(default=False, kw_only=True)
    documents: Documents | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.documents is not None and not isinstance(self.documents, Documents):
            named = Documents.read if isinstance(self.documents, str) else Documents.of
            object.__setattr__(self, "documents", named(self.documents))
        if self.correction is None:
            object.__setattr__(self, "correction", "none" if self.compatible == "sacrebleu" else "holm")
        for name, known in (("test", Test), ("correction", Correction), ("compatible", Program)):
            object.__setattr__(self, name, known_name(name, getattr(self, name), get_args(known)))
        for name, value in (("samples", self.samples), ("trials", self.trials)):
            check_samples(1 if value is None else value, self.seed, name)

    def every_pair(self, systems: int) -> bool:
        """Whether so many systems are tested in pairs, and not only against the baseline."""
        return self.all_pairs or systems <= PAIRED_UNASKED

    def settled(self, systems: int, parts: int | None = None) -> Self:
        """Choose the numbers of samples and trials that are not given.

        With `parts` each system is tested against the baseline in so many parts.

        Holm's correction multiplies the least p of all tests by their number. So the test draws so often, in
        thousands, that the least p can still become 0.01, but no more than `MOST_UNASKED` times.

        >>> [SignificanceSettings().settled(systems).trials for systems in (2, 14, 100)]
        [10000, 10000, 10000]
        >>> [SignificanceSettings(all_pairs=True).settled(systems).trials for systems in (14, 15, 23, 100)]
        [10000, 11000, 26000, 100000]
        """
        tests = comb(systems, 2) if self.every_pair(systems) and parts is None else (systems - 1) * (parts or 1)
        if self.correction != "holm":
            tests = 1
        needed = min(-(-(_FOR_A_TEST * tests - 1) // 1000) * 1000, MOST_UNASKED)
        samples, trials = (needed, 0) if self.test == "bootstrap" else (0, needed)
        return replace(self, samples=self.samples or max(samples, SAMPLES), trials=self.trials or max(trials, TRIALS))

    def drawn(self) -> int:
        """Number of draws: samples of the bootstrap, else trials."""
        return (self.samples or SAMPLES) if self.test == "bootstrap" else (self.trials or TRIALS)

    def signed(self, baseline: str) -> dict[str, object]:
        """Return what a signature says of the tests: all settings that change a number, and the baseline."""
        # Which systems are tested changes no number but those of draws, which the signature has.
        left_out = {"all_pairs", *["documents"] * (self.documents is None)}
        names = [declared.name for declared in fields(self) if declared.name not in left_out]
        return {**{f"test-{name}": getattr(self, name) for name in names}, "test-baseline": baseline}

    @property
    def floor(self) -> float:
        """The least p-value of a test before it is corrected: every draw is less extreme than the difference."""
        return 1 / (self.drawn() + 1)

    def least_p(self, tests: int) -> float:
        """The least p-value that the first of so many tests can have once it is corrected.

        >>> round(SignificanceSettings(trials=999).least_p(253), 3)
        0.253
        """
        return min(1.0, (tests if self.correction == "holm" else 1) * self.floor)

    def too_few(self, tests: int) -> list[str]:
        """Return a note if none of so many tests can be significant."""
        least = self.least_p(tests)
        few = least >= SIGNIFICANT
        return [f"no p can be below {least:.4f} here: draw more samples or trials, or correct by fdr"] * few

    @classmethod
    def from_signature(cls, signature: str | None, **changed: object) -> tuple[Self, str | None]:
        """Make the settings that a signature of a comparison has, and name its baseline; `changed` ones go before.

        None stands for a setting that is not given. The bootstrap of signatures without `test-compatible` was that of
        sacrebleu, which is also the test that `compatible` alone stands for.

        >>> SignificanceSettings.from_signature("metric:bleu|test-samples:50|test-baseline:A", seed=1)[0].samples
        50
        >>> SignificanceSettings.from_signature("metric:bleu|test-test:bootstrap|test-seed:1")[0].compatible
        'sacrebleu'

        Raises `InputError`: it cannot be read, or has a number that is none.
        """
        pairs = {} if signature is None else parse_signature(signature)
        names = [declared.name for declared in fields(cls)]
        said: Keywords = {name: pairs[f"test-{name}"] for name in names if f"test-{name}" in pairs}
        for name in ("samples", "trials", "seed"):
            if name in said:
                try:
                    said[name] = parse_whole(said[name])
                except ValueError:
                    raise InputError(f"test-{name}:{said[name]} in the signature: a whole number is needed") from None
        if said.get("test") == "bootstrap":
            said.setdefault("compatible", "sacrebleu")
            said.setdefault("correction", "holm")  # Of signatures that name none
        if "documents" in said:
            said["documents"] = said["documents"].rpartition("#")[0]
        said |= {name: value for name, value in changed.items() if value is not None}
        if said.get("compatible") == "sacrebleu":
            said.setdefault("test", "bootstrap")
        return cls(**said), pairs.get("test-baseline")


@dataclass(frozen=True, repr=False)
class ComparisonTable(Tabular):
    """Comparisons of systems, and the settings that they depend on."""

    comparisons: list[Comparison]
    baseline: str
    metric: str  # The metric, as an expression
    label: str  # What people call the score
    signature: str  # Of the scores and the test
    short_signature: str  # Without what has its default
    higher_is_better: bool
    significance: SignificanceSettings  # How it was tested, with the numbers of samples and trials that were drawn
    resampled: Floats  # The bootstrap scores, (systems, samples)
    pairs: list[Pair]
    """The pairs that were tested, corrected among themselves: all pairs of systems in the order given, the later of
    two first, or every system beside the baseline (see `SignificanceSettings.all_pairs`)."""
    in_percent: bool = True  # Whether scores are known to be on a scale to 100
    notes: tuple[str, ...] = ()  # Notes of the call on its texts and settings, which it also gave as warnings

    def pair(self, name: str, other: str) -> Pair:
        """Find the pair of two systems, `name` and `other`, either way round.

        Raises `UnknownNameError`: no system of that name, or twice the same; `InputError`: they were not tested.
        """
        if (name, other) in self._by_names:
            return self._by_names[name, other]
        if (other, name) in self._by_names:
            return self._by_names[other, name].turned()
        names = [row.name for row in self.comparisons if row.name != name]
        if name != other and {name, other} <= {row.name for row in self.comparisons}:
            raise InputError(f"{name} and {other} were not tested: of so many systems set all_pairs=True")
        raise UnknownNameError("system", other if other not in names else name, names)

    @cached_property
    def _by_names(self) -> dict[tuple[str, str], Pair]:
        return {(pair.name, pair.other): pair for pair in self.pairs}

    def records(self) -> list[Cells]:
        """A row per system."""
        return [
            {
                "system": comparison.name,
                "score": comparison.score,
                "low": comparison.interval[0],
                "high": comparison.interval[1],
                "p_value": comparison.p_value,
                "rank": comparison.rank,
                "best_rank": comparison.ranks[0],
                "worst_rank": comparison.ranks[1],
                **{name: getattr(comparison.beside, name, None) for name in ("difference", "corrected", "effect")},
            }
            for comparison in self.comparisons
        ]

    def described(self) -> dict[str, str]:
        """The baseline and the signature."""
        return {"metric": self.metric, "baseline": self.baseline, "signature": self.short_signature}

    def _decimals(self) -> dict[str, int]:
        digits = decimals_of([row.score for row in self.comparisons], in_percent=self.in_percent)
        return dict.fromkeys(("score", "low", "high", "difference"), digits)

    def _bold(self, rows: Sequence[Fields]) -> list[tuple[int, str]]:
        """The best score."""
        scores, digits = [row.score for row in self.comparisons], self._decimals()["score"]
        return [(place, "score") for place in best_places(scores, digits, higher=self.higher_is_better)]


class ComparisonTables(Noted, list[ComparisonTable]):
    """Tables by several metrics, one each; together they are shown as one."""

    def records(self) -> list[Cells]:
        """A row per system and metric."""
        return [{"metric": table.metric, **row} for table in self for row in table.records()]

    def described(self) -> dict[str, str]:
        """Signatures by metric."""
        return {f"signature of {table.metric}": table.short_signature for table in self}

    def _decimals(self) -> dict[str, int]:
        """Return the most decimals of any table."""
        names = dict.fromkeys(name for table in self for name in table._decimals())
        return {name: max(table._decimals()[name] for table in self) for name in names}

    def _bold(self, rows: Sequence[Fields]) -> list[tuple[int, str]]:
        """The best score of each metric."""
        starts = accumulate((len(table.comparisons) for table in self), initial=0)
        return [
            (start + place, name)
            for start, table in zip(starts, self, strict=False)
            for place, name in table._bold(())
        ]


@single_threaded_blas()
def compare_systems(
    statistics: Statistics, baseline: str, settings: SignificanceSettings, progress: Progress | None = None
) -> ComparisonTable:
    """Give every system an interval, a rank and its range, and test it against the baseline, or all others.

    Parameters
    ----------
    statistics
        Rows of all segments (`collect_statistics` with ``keep_rows=True``).
    baseline
        Name of a system.
    settings
        How to test; for numbers that are not given see `SignificanceSettings.settled`.
    progress
        Called with the number of samples and trials done and of all.

    Raises `UnknownNameError`: no system has the baseline's name.
    """
    if baseline not in statistics.systems:
        raise UnknownNameError("system", baseline, statistics.systems)
    systems = len(statistics.systems)
    settings = settings.settled(systems)
    place = statistics.systems.index(baseline)
    metric = at_level(statistics.metric, "corpus")
    scores = np.array([metric.aggregation.score(rows, statistics.offsets).score for rows in statistics.rows])
    upward = scores if metric.higher_is_better else -scores
    samples, trials = settings.samples or SAMPLES, settings.trials or TRIALS
    every_pair = settings.every_pair(systems)
    resampled = bootstrap_scores(statistics, metric, samples, settings.seed, progress, settings.documents)
    missing = np.isnan(scores) | np.isnan(resampled).any(axis=1)
    if missing.any():
        name, label = statistics.systems[int(missing.argmax())], metric.called or metric.label
        raise InputError(f"{label}: too few segments of {name} have a score for intervals and tests")
    if (tests := comb(systems, 2) * every_pair) * settings.drawn() > _MANY:
        note_wait(f"{tests:,} pairs of systems are tested, each in {settings.drawn():,} draws; fewer take less time")
    baselines, as_sacrebleu = range(systems) if every_pair else [place], settings.compatible == "sacrebleu"
    if settings.test == "bootstrap":
        p_values = np.full((systems, systems), np.nan)
        for number in baselines:
            apart = resampled - resampled[number], scores - scores[number]
            p_values[number] = bootstrap_p_values(*apart, as_sacrebleu=as_sacrebleu)
    else:
        run: Keywords = {"progress": progress, "documents": settings.documents}
        p_values = approximate_randomization(
            statistics, metric, trials, settings.seed, baselines, as_sacrebleu=as_sacrebleu, **run
        )
    lower, upper = ends(resampled)
    best, worst = rank_ranges(resampled.T if metric.higher_is_better else -resampled.T)
    differing = _Differing(statistics, scores, resampled, p_values, settings.correction)
    if settings.documents is None and isinstance(statistics.metric, ReadsRows):
        differing.note_documents(statistics.metric, place)
    others = [number for number in range(systems) if number != place]
    tested = differing.pairs([(number, place) for number in others])
    beside = dict(zip(others, tested, strict=True))
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
            None if statistics.gating is None else statistics.gating.of(name),
        )
        for k, name in enumerate(statistics.systems)
    ]
    signature, short = (
        statistics.signature("corpus", short=short, **settings.signed(baseline)) for short in (False, True)
    )
    return ComparisonTable(
        comparisons,
        baseline,
        str(statistics.metric),
        metric.called or metric.label,
        signature,
        short,
        metric.higher_is_better,
        settings,
        resampled,
        differing.pairs([(one, other) for one in range(systems) for other in range(one)]) if every_pair else tested,
        in_percent(metric),
    )


class _Differing:
    """Differences, p-values and effect sizes of pairs of systems."""

    def __init__(
        self, statistics: Statistics, scores: Floats, resampled: Floats, p_values: Floats, correction: Correction
    ) -> None:
        self._names, self._scores, self._resampled = statistics.systems, scores, resampled
        self._p_values, self._correction = p_values, correction
        self._segments = segment_numbers(statistics)
        self._sign = 1 if statistics.metric.higher_is_better else -1

    def note_documents(self, metric: ReadsRows, baseline: int) -> None:
        """Note that segments of a document are more like one another than others, where no documents were named."""
        labels, apart = metric.documents, self._segments - self._segments[baseline]
        if len(labels) != apart.shape[1] or len(apart) < 2:
            return
        counted = ~np.isnan(apart).any(axis=0)
        numbers = np.unique(np.array(labels)[counted], return_inverse=True)[1]
        correlation = intraclass_correlation(np.delete(apart[:, counted], baseline, axis=0), numbers)
        size = len(numbers) / (int(numbers.max()) + 1)
        if correlation * (size - 1) > _NOTED:
            note(
                f"differences are similar within a document (intraclass correlation {correlation:.2f}, {size:.1f} "
                "segments each), so that intervals by segments are too narrow: name them with ",
                Parameter("documents"),
            )

    def pairs(self, chosen: Sequence[tuple[int, int]]) -> list[Pair]:
        """Pairs of systems, corrected as if there were no others."""
        corrected = correct([float(self._p_values[other, one]) for one, other in chosen], self._correction)
        return [self._pair(one, other, p) for (one, other), p in zip(chosen, corrected, strict=True)]

    def _pair(self, one: int, other: int, corrected: float) -> Pair:
        low, high = ends(self._resampled[one] - self._resampled[other])
        apart = self._segments[one] - self._segments[other]
        apart = apart[~np.isnan(apart)]
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
    metric = at_level(statistics.metric, "segment")
    return np.stack([metric.aggregation.segment_numbers(rows, statistics.offsets) for rows in statistics.rows])


def bootstrap_scores(
    statistics: Statistics,
    metric: Metric,
    samples: int,
    seed: int,
    progress: Progress | None = None,
    documents: Documents | None = None,
) -> Floats:
    """Score resampled corpora, the same draws with replacement for every system: (systems, samples).

    `statistics` have the rows of all segments, which `metric` scores; there are as many samples of as many segments,
    or documents, drawn by a generator of that `seed`. `progress` is called with the samples done and all.
    """
    segments = len(statistics.offsets) - 1
    scores = np.empty((len(statistics.systems), samples))
    chosen = metric.aggregation.drawn([*statistics.rows], statistics.offsets)
    counted = metric.aggregation.counted(statistics.rows[0], statistics.offsets)
    columns = statistics.rows.shape[0] * statistics.rows.shape[-1]
    units = None if documents is None else documents.fitting(segments)
    for start, stop, sums in resampled_sums(chosen, segments, samples, seed, units, counted, columns):
        for system, of_system in enumerate(sums):
            scores[system, start:stop] = metric.columns(of_system).score
        if progress is not None:
            progress(stop, samples)
    return scores


def approximate_randomization(
    statistics: Statistics,
    metric: Metric,
    trials: int,
    seed: int,
    baselines: Sequence[int] | None = None,
    *,
    as_sacrebleu: bool = False,
    progress: Progress | None = None,
    documents: Documents | None = None,
) -> Floats:
    """Two-sided p-values of the differences of systems by approximate randomisation: (systems, systems).

    In each trial the outputs of two systems are exchanged in about half of the segments, the same for all pairs; p is
    the share of trials whose difference is as great as the observed one or greater, one added above and below; 1
    where no difference was observed. With `as_sacrebleu` greater ones alone count, as with ``--paired-ar``. Pairs
    without any of the `baselines` have NaN. With documents, the outputs of whole documents are exchanged.

    `statistics`, `metric`, `seed` and `progress` are as in `bootstrap_scores`. Raises `InputError` for a metric
    whose parts do not add up.
    """
    segments, systems = len(statistics.offsets) - 1, len(statistics.systems)
    chosen = metric.aggregation.drawn([*statistics.rows], statistics.offsets)
    if not chosen.adds_up:
        raise InputError(f"{metric.label} has no test by randomisation, as parts do not add up: give ", _BOOTSTRAP)
    pairs = _pairs_with(range(systems) if baselines is None else baselines, systems)
    exceeding = np.full((systems, systems), np.nan)
    for one, others in pairs:
        exceeding[one, others] = 0
    margin = 1e-12 if as_sacrebleu else -ALIKE
    units = None if documents is None else documents.fitting(segments)
    for done, *sums in exchanged_sums(chosen, segments, trials, seed, units):
        # Columns first: metrics take whole columns at a time.
        part, whole = (np.ascontiguousarray(np.moveaxis(sides, -1, 0)) for sides in sums)
        left, scores = whole - part, _scores_of(metric, whole)
        means = (left[0] - part[0]) / whole[1] if metric.aggregation.is_mean else None
        for one, others in pairs:
            if means is None:
                exchanged = _scores_of(metric, left[:, [one]] + part[:, others])
                exchanged -= _scores_of(metric, left[:, others] + part[:, [one]])
            else:
                exchanged = means[one] - means[others]
            observed = np.abs(scores[one] - scores[others])
            exceeding[one, others] += (np.abs(exchanged) > observed + margin).sum(axis=1)
        if progress is not None:
            progress(done, trials)
    exceeding = np.fmax(exceeding, exceeding.T)
    observed = np.array([metric.aggregation.score(rows, statistics.offsets).score for rows in statistics.rows])
    return np.where(observed == observed[:, None], 1.0, (exceeding + 1) / (trials + 1))


def _pairs_with(baselines: Sequence[int], systems: int) -> list[tuple[int, slice]]:
    """Each baseline with the systems behind it, or with all if it is the only one, some of them at a time."""
    together = max(1, _SCORED_TOGETHER // TOGETHER)
    return [
        (one, slice(first, min(first + together, systems)))
        for one in baselines
        for first in range(one + 1 if len(baselines) > 1 else 0, systems, together)
    ]


def _scores_of(metric: Metric, sums: Floats) -> Floats:
    """Scores of sums of any shape, whose first axis has the columns."""
    return metric.columns(sums.reshape(len(sums), -1).T).score.reshape(sums.shape[1:])


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

    def records(self) -> list[Cells]:
        """A row per metric and system."""
        return [vars(row) for row in self.rows]

    def described(self) -> Fields:
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
        Metrics to compute.
    significance
        Samples, their seed, documents of the segments, and the correction of p-values.
    baseline
        System from which others differ; the first unless named.
    jobs, executor, progress
        As in `softbleu.score_corpus`.

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
        raise InputError(f"no system {first!r}; systems: {', '.join(runs)}")
    options = RunOptions(jobs, executor, progress=progress)
    rows: list[SystemRuns] = []
    collected = collect_statistics(corpus, metrics, options, keep_rows=True)
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
        """Variances between runs, with degrees of freedom: the usual one where a system has one run."""
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
        """Two-sided p of no difference; 1 where nothing varies or differs."""
        from scipy.stats import t

        error, degrees = self._error(units)
        if error == 0:
            return float(self.value == 0)
        return 2 * float(t.sf(abs(self.value) / error, degrees))
