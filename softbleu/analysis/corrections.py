"""Corrections of systems by kind: edits that are gold edits or wrong, gold edits that are missed, and their tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np

from softbleu.config.languages import find_language
from softbleu.corpora.edits import apply_edits
from softbleu.engine.plan import GivenMetric, Plan, make_plan
from softbleu.errors import InputError, MissingExtraError, Parameter, UnknownNameError
from softbleu.io.platform import single_threaded_blas
from softbleu.io.progress import note, warn
from softbleu.kernels import SCALE
from softbleu.metrics.edits import Classify, JudgedEdit, JudgedEdits, errant_types, form_types
from softbleu.metrics.m2 import M2
from softbleu.results.explain import OTHER, check_edits, judge_corpus, operation
from softbleu.results.significance import (
    ALIKE,
    SignificanceSettings,
    correct,
    exchanged_sums,
    paired_bootstrap,
    resampled_sums,
)
from softbleu.tables import Tabular

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.corpora.labels import Documents
    from softbleu.engine.plan import GivenMetrics
    from softbleu.engine.statistics import Statistics
    from softbleu.types import Cells, Floats, Integers

By = Literal["type", "category", "operation", "form", "errant", "rules"]
ALL = "all"
_LETTERS = {"M:": "missing", "U:": "unnecessary", "R:": "replacement"}
_SCORED = ("correct", "proposed", "gold")  # Counts that F is made of
_COUNTS = (*_SCORED, "hits", "wrong", "missed", "over")
_LEAST, _LEAST_APART = 10, 20
"""Segments, or documents, that must have a kind for an interval of F, or of what it adds; and of a difference of F.
With fewer, intervals would have the true value in 80% of samples, or less."""
_LEAST_TESTED = 10  # Segments, or documents, that must differ for a test: after Holm, fewer seldom give p < 0.05
_Ends = tuple[float, float] | None


@dataclass(frozen=True)
class KindScore:
    """Precision, recall and F for edits of one kind."""

    system: str
    kind: str
    correct: float  # Sum of the edits' similarity to gold edits; a whole number if only equal edits count
    proposed: int
    gold: int
    precision: float  # In per cent, as recall and F; 100 where nothing is proposed, as for M2
    recall: float
    f: float
    hits: int  # Gold edits that the candidate has
    wrong: int  # Gold edits where the candidate has another edit
    missed: int  # Gold edits where the candidate has none: under-corrections
    over: int  # Over-corrections: edits without a gold edit


class KindScores(Tabular, list[KindScore]):
    """Scores by kind of each system, all kinds together first: a list that can be looked at as a table."""

    def records(self) -> list[Cells]:
        """A row per system and kind."""
        return [vars(score) for score in self]


def correction_kinds(
    corpus: Corpus, metric: GivenMetric | Plan, by: By = "type", language: str | None = None
) -> KindScores:
    """Score the edits of every system by kind, as judged by a metric with its choice of references.

    Parameters
    ----------
    corpus
        Outputs with gold edits, or with source and references.
    metric
        A metric that judges edits, such as M2, or CLEME, whose chunks count as edits here.
    by
        `type`: types of the gold file; another edit has its type in the system's `.m2` file, else the type of the
        gold edit that it touches, else `other` (so precision by type leaves out over-corrections of texts).
        `category`: these types without a prefix such as `R:`. `operation`: `missing`, `unnecessary` or
        `replacement`, by the first letter of ERRANT's types, if the file has these. The three are ERRANT's `-cat` 3,
        2 and 1. `form`: the form of the change, in any language, see `form_types`. `errant`: ERRANT's types, by
        ERRANT or, with a note, by rules where it is not installed. `rules`: by rules in any case, see `rule_types`.
    language
        Code of the language of the stems for `form`.

    Raises
    ------
    InputError, MissingExtraError
        A metric that judges no edits, no gold edits or references, or no ERRANT.
    """
    plan = make_plan(metric)
    counts = _KindCounts(_judged(corpus, plan, _Naming.of(by, language))[0])
    _note_untyped(counts, by)
    scores = KindScores()
    for system, name in enumerate(corpus.systems):
        own = [
            score
            for score in counts.scores(system, name, _beta(plan))
            if score.kind == ALL or score.proposed or score.gold
        ]
        scores += sorted(own, key=lambda score: (score.kind != ALL, -score.gold - score.proposed, score.kind))
    return scores


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
    tables, naming = KindTables(), _Naming.of(by, language)
    for metric in plan.metrics:
        alone = replace(plan, metrics=(metric,))
        judged, statistics = _judged(corpus, alone, naming)
        counts = _KindCounts(judged)
        if metric is plan.metrics[0]:
            _note_untyped(counts, by)
        tables.append(_table(counts, statistics, _beta(alone), naming, first, settings))
    return tables


def _beta(plan: Plan) -> float:
    return float(getattr(plan.only, "beta", 0.5))


def _note_untyped(counts: _KindCounts, by: By) -> None:
    """Note how many edits of outputs have no type."""
    untyped = counts.totals[:, counts.kinds[OTHER], _COUNTS.index("proposed")].sum() if OTHER in counts.kinds else 0
    if untyped and by in ("type", "category"):
        note(
            f"{untyped:,} edits where no annotator has one are {OTHER!r}, so precision by type leaves them out: "
            "give a .m2 file of the system's edits, which has their types, or ask for kinds by errant"
        )


def find_corrections(
    corpus: Corpus, metric: GivenMetric | Plan, by: By = "type", language: str | None = None
) -> list[list[JudgedEdits]]:
    """Find the edits that `metric` judges, with their kinds: a list of segments for each system of `corpus`.

    Kinds go `by` type, operation, form (of a `language`) or ERRANT's types; see `correction_kinds`, also for the
    errors.
    """
    return _judged(corpus, make_plan(metric), _Naming.of(by, language))[0]


def _judged(corpus: Corpus, plan: Plan, naming: _Naming) -> tuple[list[list[JudgedEdits]], Statistics]:
    """Judge edits, name their kinds, and return the statistics of the metric."""
    check_edits(plan.only)
    judged, statistics = judge_corpus(corpus, plan)
    if naming.by != "type":
        judged = [[_with_kinds(line, naming) for line in lines] for lines in judged]
    return judged, statistics


@dataclass(frozen=True)
class _Naming:
    """Names of kinds of edits."""

    by: By
    classify: Classify | None  # Names types of edits; None where the edits have them
    types: str = ""  # Who names them, for signatures: `errant` or `rules`

    @classmethod
    def of(cls, by: By, language: str | None) -> Self:
        """Choose the function that names kinds. Where ERRANT is not installed, rules name its types, with a note."""
        if by not in get_args(By):
            raise UnknownNameError("grouping of edits", by, get_args(By))
        if by not in ("errant", "rules"):
            return cls(by, form_types(language) if by == "form" else None)
        if language is not None and find_language(language).code != "en":
            raise InputError("ERRANT's types are for English; for other languages take ", Parameter("by", "form"))
        if by == "errant":
            try:
                return cls(by, errant_types(), "errant")
            except (InputError, MissingExtraError) as error:
                warn(f"types are named by rules, which differ from ERRANT in 1 of 10 edits (types:rules); {error}")
        from softbleu.metrics.edit_types import rule_types

        return cls(by, rule_types(), "rules")


def _with_kinds(line: JudgedEdits, naming: _Naming) -> JudgedEdits:
    """Rename the kinds by ERRANT, by operation, or without the part before a colon."""
    sides = []
    for side in (line.edits, line.gold):
        if naming.classify is None:
            kinds = [_tier(edit, naming.by) for edit in side]
        else:
            text = apply_edits(line.source, [(*edit.spans[:2], edit.text) for edit in side])
            kinds = naming.classify(line.source, text, [edit.spans for edit in side])
        sides.append(tuple(replace(edit, kind=kind) for edit, kind in zip(side, kinds, strict=True)))
    return replace(line, edits=sides[0], gold=sides[1])


def _tier(edit: JudgedEdit, by: By) -> str:
    """Return the operation of an edit, or the last part of its kind."""
    letter, colon, rest = edit.kind.partition(":")
    if by == "operation":
        return _LETTERS.get(letter + colon) or operation(edit)
    return rest or letter


class _KindCounts:
    """Counts of edits by system, kind and segment; `correct` in units of `SCALE`. See `DrawnSums`."""

    def __init__(self, judged: Sequence[Sequence[JudgedEdits]]) -> None:
        from scipy.sparse import csr_array

        self.kinds: dict[str, int] = {}
        entries = [
            (system, segment, *counted)
            for system, lines in enumerate(judged)
            for segment, line in enumerate(lines)
            for counted in self._counted(line)
        ]
        system, segment, kind, count, amount = np.array(entries, np.int64).reshape(-1, 5).T
        self._shape = len(judged), len(self.kinds), len(_SCORED)
        self.segments = len(judged[0])
        self.totals = np.zeros((*self._shape[:2], len(_COUNTS)), np.int64)
        np.add.at(self.totals, (system, kind, count), amount)
        scored = count < len(_SCORED)
        cells = np.ravel_multi_index((system[scored], kind[scored], count[scored]), self._shape)
        size = int(np.prod(self._shape)), self.segments
        self._by_cell = csr_array((amount[scored].astype(np.float64), (cells, segment[scored])), shape=size)
        width = size[0] // len(judged)
        self._by_system = [self._by_cell[number * width : (number + 1) * width] for number in range(len(judged))]

    def _counted(self, line: JudgedEdits) -> Iterator[tuple[int, int, int]]:
        """Yield the number of a kind and of a count, and what a line adds to it."""
        added = [
            (edit.kind, name, 1) for edit in line.edits for name in ("proposed", edit.verdict) if name in _OF_EDITS
        ]
        added += [(edit.kind, _OF_GOLD.get(name, name), 1) for edit in line.gold for name in ("gold", edit.verdict)]
        added += [(line.gold[number].kind, "correct", round(SCALE * share)) for _, number, share in line.links]
        for kind, name, amount in added:
            yield self.kinds.setdefault(kind, len(self.kinds)), _COUNTS.index(name), amount

    def scores(self, system: int, name: str, beta: float) -> list[KindScore]:
        """Score the kinds of a system, all together first."""
        rows = [self.totals[system].sum(axis=0), *self.totals[system]]
        return [
            _kind_score(name, kind, row.tolist(), beta) for kind, row in zip((ALL, *self.kinds), rows, strict=True)
        ]

    def plain(self, start: int, stop: int) -> Floats:
        """Add up all segments: (systems, draws, kinds, 3), the same in each draw."""
        whole: Floats = self.totals[:, None, :, : len(_SCORED)].astype(np.float64)
        return np.broadcast_to(whole, (whole.shape[0], stop - start, *whole.shape[2:]))

    def weighted(self, weights: Integers, start: int) -> Floats:
        """Add up segments times weights, (draws, segments): (systems, draws, kinds, 3)."""
        sums: Floats = self._by_cell @ weights.T.astype(np.float64)
        return np.moveaxis(sums.reshape(*self._shape, len(weights)), -1, 1)

    def differing(self, one: int, other: int, documents: Documents | None) -> Integers:
        """Count the segments, or documents, in which two systems differ: all kinds together, then each."""
        of_one, of_other = (self._by_system[system] for system in (one, other))
        return self._units(of_one - of_other, documents)

    def units(self, systems: Sequence[int], documents: Documents | None) -> Integers:
        """Count the segments, or documents, in which any of some systems has edits: all kinds together, then each."""
        return self._units(sum(self._by_system[system] for system in systems), documents)

    def _units(self, counts: Any, documents: Documents | None) -> Integers:
        """Count segments or documents with entries that are not 0: all kinds together, then each."""
        cells, segments = counts.nonzero()
        places = segments if documents is None else documents.fitting(self.segments)[segments]
        kinds, held = np.unique(np.stack([cells // len(_SCORED), places]), axis=1)
        return np.append(len(np.unique(held)), np.bincount(kinds, minlength=len(self.kinds)))


_OF_EDITS = ("proposed", "over")
_OF_GOLD = {"hit": "hits"}


def _kind_score(system: str, kind: str, counts: Sequence[int], beta: float) -> KindScore:
    shares, proposed, gold, *verdicts = counts
    whole, part = divmod(shares, SCALE)
    correct = whole + part / SCALE if part else whole
    precision, recall = (100 * (correct / number if number else 1.0) for number in (proposed, gold))
    f = float(M2(beta=beta).columns(np.array([[correct, proposed, gold]])).score[0])
    return KindScore(system, kind, correct, proposed, gold, precision, recall, f, *verdicts)


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
    def of(cls, counts: _KindCounts, systems: int, base: int, beta: float, settings: SignificanceSettings) -> Self:
        """Score, resample and test the kinds of every system."""
        samples, documents = settings.samples or 0, settings.documents
        whole = counts.plain(0, 1)[:, 0]
        scores = _f_of(whole, beta)
        resampled, added = np.empty((2, *scores.shape, samples))
        for start, stop, sums in resampled_sums(counts, counts.segments, samples, settings.seed, documents):
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
        units = [counts.units([number], documents) for number in range(systems)]
        of_both = [counts.units([number, base], documents) for number in range(systems)]
        return cls(base, scores, resampled, shares, added, p_values, corrected, units, of_both)

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
    counts: _KindCounts,
    statistics: Statistics,
    beta: float,
    naming: _Naming,
    baseline: str,
    settings: SignificanceSettings,
) -> KindTable:
    """Test the kinds of every system against a baseline's."""
    systems, base = statistics.systems, statistics.systems.index(baseline)
    settings = settings.settled(len(systems), len(counts.kinds))
    tested = _Tested.of(counts, len(systems), base, beta, settings)
    every = [counts.scores(number, name, beta) for number, name in enumerate(systems)]
    greatest = np.abs(tested.contributions).max(axis=0).round(9)
    size = counts.totals[:, :, 1 : len(_SCORED)].sum(axis=(0, 2))
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
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def _p_values(
    counts: _KindCounts,
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
        for system, kind in np.argwhere(tested):
            pair = resampled[[base, system], kind]
            known = pair[:, ~np.isnan(pair).any(axis=0)]
            p_values[system, kind] = paired_bootstrap(known, scores[[base, system], kind], 0)[1]
        return p_values
    trials, exceeding = settings.trials or 0, np.zeros(scores.shape)
    observed = np.abs(scores - scores[base])
    for _, part, whole in exchanged_sums(counts, counts.segments, trials, settings.seed, settings.documents):
        left = whole - part
        for system in others:
            one, other = left[system] + part[base], left[base] + part[system]
            # Where a side has no gold edits of the kind, the exchange counts as one that exceeds.
            within = np.abs(_f_of(one, beta) - _f_of(other, beta)) < observed[system] - ALIKE
            exceeding[system] += (~within).sum(axis=0)
    p_values[tested] = (exceeding[tested] + 1) / (trials + 1)
    return p_values
