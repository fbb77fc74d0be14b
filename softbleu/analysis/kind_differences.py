"""Differences of systems kind by kind of edits: F with intervals, tests, and what each kind adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from softbleu.analysis.corrections import (
    F_COUNTS,
    By,
    KindCounts,
    KindNaming,
    KindScore,
    beta_of,
    judge_kinds,
    note_untyped,
)
from softbleu.engine.plan import GivenMetrics, make_plan
from softbleu.errors import InputError, UnknownNameError
from softbleu.io.platform import single_threaded_blas
from softbleu.kernels import SCALE
from softbleu.resample import ALIKE, bootstrap_p_values, correct, ends, exchanged_sums, resampled_sums
from softbleu.results.explain import check_edits
from softbleu.results.significance import SignificanceSettings
from softbleu.tables import Tabular

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.statistics import Statistics
    from softbleu.types import Cells, Floats, Integers

_LEAST, _LEAST_APART = 10, 20
"""Segments, or documents, that must have a kind for an interval of F, or of what it adds; and of a difference of F.
With fewer, intervals would have the true value in 80% of samples, or less."""
_LEAST_TESTED = 10  # Segments, or documents, that must differ for a test: after Holm, fewer seldom give p < 0.05
_Ends = tuple[float, float] | None


@dataclass(frozen=True)
class KindDifference:
    """Differences of the edits of one kind from the baseline's, in F and in counts, and what they add to F of all."""

    difference: float | None  # Of F, in points; None where one of both has no F
    interval: _Ends  # Between the 2.5th and the 97.5th percentile of resampled differences; None of few segments
    p_value: float | None  # Two-sided; None without a difference, or of a kind that differs in fewer than 10 segments
    corrected: float | None  # For all kinds, and all systems, that are tested by this metric
    contribution: float  # What the kind adds to the difference of F of all kinds together, in points
    contribution_interval: _Ends
    correct: float  # Differences of the counts
    proposed: int
    gold: int


@dataclass(frozen=True)
class KindRow:
    """A kind of edits of a system, beside the baseline."""

    score: KindScore
    interval: _Ends  # Of F
    beside: KindDifference | None  # None for the baseline

    @property
    def f(self) -> float | None:
        """F; None where there are no gold edits, so that there is nothing to find."""
        return self.score.f if self.score.gold else None

    def records(self) -> Cells:
        """Cells by column name: None where something cannot be computed."""
        score, beside = self.score, self.beside
        apart: Cells = dict.fromkeys(KIND_DIFFERENCES)
        if beside is not None:
            values = [beside.difference, *_split(beside.interval), beside.p_value, beside.corrected]
            values += [beside.contribution, *_split(beside.contribution_interval)]
            apart = dict(zip(KIND_DIFFERENCES, [*values, beside.correct, beside.proposed, beside.gold], strict=True))
        lower, upper = _split(self.interval)
        known = {
            "precision": score.precision if score.proposed else None,
            "recall": score.recall if score.gold else None,
        }
        return {**vars(score), **known, "f": self.f, "lower": lower, "upper": upper, **apart}


KIND_DIFFERENCES = (
    *("difference", "difference_lower", "difference_upper", "p_value", "corrected"),
    *("contribution", "contribution_lower", "contribution_upper"),
    *("correct_difference", "proposed_difference", "gold_difference"),
)


def _split(ends: _Ends) -> tuple[float | None, float | None]:
    return (None, None) if ends is None else ends


@dataclass(frozen=True)
class KindTable(Tabular):
    """Kinds of edits of systems as one metric judges them, beside a baseline."""

    rows: Sequence[KindRow]
    """All kinds together first, then the kinds that add most to a difference; of each kind a row per system."""
    baseline: str
    metric: str  # The metric, as an expression
    label: str  # What people call it
    beta: float  # Weight of recall in F
    signature: str  # Of the edits and the tests
    short_signature: str
    significance: SignificanceSettings
    tests: int  # Number of tests of kinds, for which their p-values are corrected
    is_score: bool  # Whether F of all kinds is the metric's score; CLEME and others score their counts in other ways

    def records(self) -> list[Cells]:
        """A row per kind and system."""
        return [row.records() for row in self.rows]

    def described(self) -> dict[str, str]:
        """The baseline and the signature."""
        return {"metric": self.metric, "baseline": self.baseline, "signature": self.short_signature}


class KindTables(Tabular, list[KindTable]):
    """Kinds of edits as several metrics judge them."""

    def records(self) -> list[Cells]:
        """A row per metric, kind and system; without the metric where it is the only one."""
        named = len(self) > 1
        return [{"metric": table.metric, **row} if named else row for table in self for row in table.records()]

    def described(self) -> dict[str, str]:
        """The baseline, and signatures by metric."""
        return {"baseline": self[0].baseline, **{f"signature of {each.metric}": each.signature for each in self}}


def compare_corrections(
    corpus: Corpus,
    metrics: GivenMetrics = "m2",
    by: By = "type",
    *,
    language: str | None = None,
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
) -> KindTables:
    """Compare the edits of systems with a baseline's, kind by kind: F with intervals, tests, and what each kind adds.

    F of a kind is N / D with N = (1 + beta²) × correct and D = proposed + beta² × gold, in per cent. Of two systems a
    kind adds (ΔN − F ΔD) / D to the difference of F of all kinds, where Δ is the difference of that kind, and F and D
    are means of both systems, of all kinds. The kinds add up to the difference: Δ(F D) = F ΔD + D ΔF.

    Intervals come from samples of the segments, or documents, the same for all kinds. Kinds in fewer than 10 of
    these have none, and kinds in fewer than 20 none of a difference of F. A p-value is of the difference of F, by
    the test of `compare_corpus`. It is corrected for the kinds and systems that are tested; that of `all` for the
    systems. Kinds that differ in fewer than 10 segments, or documents, are not tested: no exchange of these has a
    p that is below 0.05 after Holm's correction for 13 tests.

    Parameters
    ----------
    corpus
        Outputs with gold edits, or with source and references.
    metrics
        Metrics that judge edits; there is a table for each.
    by, language
        As in `correction_kinds`.
    baseline
        Name of a system; the first unless named.
    significance
        How differences are tested; see `SignificanceSettings`. Other programs' ways of counting are refused.

    Raises
    ------
    InputError, MissingExtraError
        As `correction_kinds`, or no system has the name of the baseline.

    Examples
    --------
    >>> from softbleu.corpora.edits import Annotation, Edit, GoldSegment
    >>> edits = Edit(1, 2, "V", ("eats",)), Edit(2, 3, "D", ("an",))
    >>> gold = [GoldSegment("he eat a apple", (Annotation(0, edits),))]
    >>> from softbleu.corpora import Segments
    >>> corpus = Segments.of_gold({"A": ["he eats a apple"], "B": ["he eats an apple"]}, gold)
    >>> (table,) = compare_corrections(corpus, "m2")
    >>> [(row.score.kind, round(row.beside.contribution, 2)) for row in table.rows if row.beside]
    [('all', 16.67), ('D', 16.67), ('V', 0.0)]
    """
    plan = make_plan(metrics)
    settings = SignificanceSettings() if significance is None else significance
    first = corpus.systems[0] if baseline is None else baseline
    if first not in corpus.systems:
        raise UnknownNameError("system", first, corpus.systems)
    if settings.compatible != "none":
        raise InputError(f"kinds of edits have no p-values as {settings.compatible} counts them")
    for metric in plan.metrics:
        check_edits(metric)
    tables, naming = KindTables(), KindNaming.of(by, language)
    for metric in plan.metrics:
        alone = replace(plan, metrics=(metric,))
        judged, statistics = judge_kinds(corpus, alone, naming)
        counts = KindCounts(judged)
        if metric is plan.metrics[0]:
            note_untyped(counts, by)
        tables.append(_table(counts, statistics, beta_of(alone), naming, first, settings))
    return tables


def _terms(counts: Floats, beta: float) -> tuple[Floats, Floats]:
    """Return the terms of F, N and D, of counts, (…, 3)."""
    correct, proposed, gold = np.moveaxis(counts, -1, 0)
    return 100 * (1 + beta**2) / SCALE * correct, proposed + beta**2 * gold


def _f_of(counts: Floats, beta: float) -> Floats:
    """Score counts of kinds, (…, kinds, 3): F of all kinds together and of each, NaN without a gold edit."""
    with_all = np.concatenate([counts.sum(axis=-2, keepdims=True), counts], axis=-2)
    above, below = _terms(with_all, beta)
    known = with_all[..., -1] > 0
    return np.where(known, above / np.where(known, below, 1), np.nan)


def contributions(one: Floats, base: Floats, beta: float) -> Floats:
    """Compute what each kind adds to the difference of F of all kinds, `one` less `base`, in points: (…, kinds).

    Both are counts of `correct` edits in units of `SCALE`, proposed and gold ones: (…, kinds, 3).

    >>> one, base = np.array([[[2 * SCALE, 2, 2], [0, 1, 0]], [[SCALE, 1, 2], [0, 0, 0]]], np.float64)
    >>> [round(share, 2) for share in contributions(one, base, 1.0).tolist()]
    [31.67, -18.33]
    """
    (above, below), (base_above, base_below) = (_terms(counts, beta) for counts in (one, base))
    totals = [side.sum(axis=-1, keepdims=True) for side in (above, below, base_above, base_below)]
    # Without edits F is 100, which nothing is divided by.
    f, base_f = (
        np.where(under > 0, over / np.where(under > 0, under, 1), 100.0) for over, under in (totals[:2], totals[2:])
    )
    weight = (totals[1] + totals[3]) / 2
    added = above - base_above - (f + base_f) / 2 * (below - base_below)
    return added / np.where(weight > 0, weight, 1)


@dataclass(frozen=True, eq=False)
class _Tested:
    """Kinds of systems, tested against a baseline; shapes begin with (systems, all kinds together and each)."""

    base: int
    scores: Floats
    resampled: Floats  # F of each sample, in the third dimension, as `added`
    contributions: Floats
    added: Floats  # Contributions of each sample
    p_values: Floats
    corrected: Floats
    units: Sequence[Integers]  # Segments, or documents, in which a system has edits
    units_of_both: Sequence[Integers]  # In which a system or the baseline has edits

    @classmethod
    def of(cls, counts: KindCounts, systems: int, base: int, beta: float, settings: SignificanceSettings) -> Self:
        """Score, resample and test the kinds of every system."""
        samples, documents = settings.samples or 0, settings.documents
        units = None if documents is None else documents.fitting(counts.segments)
        whole = counts.plain(0, 1)[:, 0]
        scores = _f_of(whole, beta)
        resampled, added = np.empty((2, *scores.shape, samples))
        for start, stop, sums in resampled_sums(counts, counts.segments, samples, settings.seed, units):
            resampled[..., start:stop] = np.moveaxis(_f_of(sums, beta), 1, -1)
            added[:, 1:, start:stop] = np.moveaxis(contributions(sums, sums[[base]], beta), 1, -1)
        added[:, 0] = resampled[:, 0] - resampled[base, 0]
        shares = contributions(whole, whole[[base]], beta)
        shares = np.concatenate([shares.sum(axis=1, keepdims=True), shares], axis=1)
        p_values = _p_values(counts, scores, resampled, beta, base, settings)
        corrected = np.full_like(p_values, np.nan)
        for part in (slice(0, 1), slice(1, None)):
            known = ~np.isnan(p_values[:, part])
            corrected[:, part][known] = correct(p_values[:, part][known].tolist(), settings.correction)
        of_one = [counts.units([number], documents) for number in range(systems)]
        of_both = [counts.units([number, base], documents) for number in range(systems)]
        return cls(base, scores, resampled, shares, added, p_values, corrected, of_one, of_both)

    def row(self, system: int, kind: int, score: KindScore, baseline: KindScore) -> KindRow:
        """Make the row of a system and kind, with its counts and the baseline's."""
        at = system, kind
        interval = _ends(self.resampled[at], self.units[system][kind])
        if system == self.base:
            return KindRow(score, interval, None)
        of_both = self.units_of_both[system][kind]
        beside = KindDifference(
            _known(self.scores[at] - self.scores[self.base, kind]),
            _ends(self.resampled[at] - self.resampled[self.base, kind], of_both, _LEAST_APART),
            _known(self.p_values[at]),
            _known(self.corrected[at]),
            float(self.contributions[at]),
            _ends(self.added[at], of_both),
            score.correct - baseline.correct,
            score.proposed - baseline.proposed,
            score.gold - baseline.gold,
        )
        return KindRow(score, interval, beside)


@single_threaded_blas()
def _table(
    counts: KindCounts,
    statistics: Statistics,
    beta: float,
    naming: KindNaming,
    baseline: str,
    settings: SignificanceSettings,
) -> KindTable:
    """Test the kinds of every system against a baseline's."""
    systems, base = statistics.systems, statistics.systems.index(baseline)
    settings = settings.settled(len(systems), len(counts.kinds))
    tested = _Tested.of(counts, len(systems), base, beta, settings)
    every = [counts.scores(number, name, beta) for number, name in enumerate(systems)]
    greatest = np.abs(tested.contributions).max(axis=0).round(9)
    size = counts.totals[:, :, 1 : len(F_COUNTS)].sum(axis=(0, 2))
    order = sorted(range(1, 1 + len(counts.kinds)), key=lambda kind: (-greatest[kind], -size[kind - 1]))
    numbers = ((system, kind) for kind in (0, *order) for system in range(len(systems)))
    rows = [tested.row(system, kind, every[system][kind], every[base][kind]) for system, kind in numbers]
    how = {**settings.signed(baseline), "test-by": naming.by, **({"types": naming.types} if naming.types else {})}
    signature, short = (statistics.signature("corpus", short=short, **how) for short in (False, True))
    metric = statistics.metric
    tests = int((~np.isnan(tested.p_values[:, 1:])).sum())
    label = metric.called or metric.label
    own = [metric.aggregation.score(rows, statistics.offsets).score for rows in statistics.rows]
    is_score = bool(np.allclose(own, [kinds[0].f for kinds in every], atol=0.005))
    return KindTable(rows, baseline, str(metric), label, beta, signature, short, settings, tests, is_score)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _ends(drawn: Floats, units: int, least: int = _LEAST) -> _Ends:
    """Return the 95% interval of drawn values; None where a kind has fewer than `least` units, or nothing varies."""
    known = drawn[~np.isnan(drawn)]
    if units < least or not known.size or not np.ptp(known):
        return None
    low, high = ends(known)
    return float(low), float(high)


def _p_values(
    counts: KindCounts,
    scores: Floats,
    resampled: Floats,
    beta: float,
    base: int,
    settings: SignificanceSettings,
) -> Floats:
    """Two-sided p-values of the differences of F from the baseline's; NaN where there is nothing to test."""
    others = [number for number in range(len(scores)) if number != base]
    tested = np.zeros(scores.shape, bool)
    for system in others:
        few = counts.differing(system, base, settings.documents) < _LEAST_TESTED
        few[0] = False
        tested[system] = ~few & ~np.isnan(scores[system] - scores[base])
    p_values = np.full(scores.shape, np.nan)
    if settings.test == "bootstrap":
        apart, observed = resampled - resampled[base], scores - scores[base]
        p_values[tested] = bootstrap_p_values(apart[tested], observed[tested])
        return p_values
    trials, exceeding = settings.trials or 0, np.zeros(scores.shape)
    observed = np.abs(scores - scores[base])
    units = None if settings.documents is None else settings.documents.fitting(counts.segments)
    for _, part, whole in exchanged_sums(counts, counts.segments, trials, settings.seed, units):
        left = whole - part
        for system in others:
            one, other = left[system] + part[base], left[base] + part[system]
            # Where a side has no gold edits of the kind, the exchange counts as one that exceeds.
            within = np.abs(_f_of(one, beta) - _f_of(other, beta)) < observed[system] - ALIKE
            exceeding[system] += (~within).sum(axis=0)
    p_values[tested] = (exceeding[tested] + 1) / (trials + 1)
    return p_values
