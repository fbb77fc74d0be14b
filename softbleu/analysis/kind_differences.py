"""Differences of systems kind by kind of edits: F with intervals, tests, and what each kind adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from softbleu.analysis.corrections import (
    ALL,
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
from softbleu.kernels import SCALE
from softbleu.results.comparison import ComparedRow, Comparison, SliceFamily, compare_slices
from softbleu.results.explain import check_edits
from softbleu.results.significance import SignificanceSettings

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.statistics import Statistics
    from softbleu.types import Cells, Floats, Integers

KIND_DIFFERENCES = (
    *("difference", "difference_lower", "difference_upper", "p_value", "corrected"),
    *("contribution", "contribution_lower", "contribution_upper"),
    *("correct_difference", "proposed_difference", "gold_difference"),
)
_COUNTED = ("correct", "proposed", "gold", "precision", "recall", "f", "hits", "wrong", "missed", "over")
_COLUMNS = {name: name for name in ("system", "kind", *_COUNTED, "lower", "upper", *KIND_DIFFERENCES)} | {
    "f": "score"
}


def compare_corrections(
    corpus: Corpus,
    metrics: GivenMetrics = "m2",
    by: By = "type",
    *,
    language: str | None = None,
    baseline: str | None = None,
    significance: SignificanceSettings | None = None,
) -> Comparison:
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
    >>> [(row.kind, round(row.contribution, 2)) for row in table.rows if row.beside]
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
    naming = KindNaming.of(by, language)
    families = []
    for metric in plan.metrics:
        alone = replace(plan, metrics=(metric,))
        judged, statistics = judge_kinds(corpus, alone, naming)
        counts = KindCounts(judged)
        if metric is plan.metrics[0]:
            note_untyped(counts, by)
        families.append(_family(counts, statistics, beta_of(alone), naming, first, settings))
    columns = {"metric": "metric", **_COLUMNS} if len(families) > 1 else _COLUMNS
    table = compare_slices(families, together=lambda row: (row["metric"], row["kind"] == ALL), columns=columns)
    facts: dict[str, object] = {
        "baseline": first,
        **{f"signature of {one.name}": one.signatures[0] for one in families},
    }
    facts["macro"] = [
        {"system": system, "metric": one.name, "value": f}
        for one in families
        for system, f in macro_averages(one).items()
    ]
    return replace(table, rows=[row for one in table for row in _by_size(one.rows)], facts=facts)


def macro_averages(family: SliceFamily) -> dict[str, float]:
    """Average F of the kinds that have gold edits, of each system; kinds are the slices behind the first."""
    counts = (~np.isnan(family.observed[:, 1:])).sum(axis=1)
    sums = np.nansum(family.observed[:, 1:], axis=1)
    return {name: float(f / n) for name, f, n in zip(family.systems, sums, counts, strict=True) if n}


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


def _family(
    counts: KindCounts,
    statistics: Statistics,
    beta: float,
    naming: KindNaming,
    baseline: str,
    settings: SignificanceSettings,
) -> SliceFamily:
    """Make the family of all kinds together and of each, by F and its counts."""
    systems, metric, kinds = statistics.systems, statistics.metric, (ALL, *counts.kinds)
    settings = settings.settled(len(systems), len(counts.kinds))
    every = [counts.scores(number, name, beta) for number, name in enumerate(systems)]
    base = every[systems.index(baseline)]
    own = [metric.aggregation.score(rows, statistics.offsets).score for rows in statistics.rows]
    said = {"beta": beta, "is_score": bool(np.allclose(own, [scores[0].f for scores in every], atol=0.005))}
    how = {**settings.signed(baseline), "test-by": naming.by, **({"types": naming.types} if naming.types else {})}
    signature, short = (statistics.signature("corpus", short=short, **how) for short in (False, True))

    def differing(one: int, other: int) -> Integers:
        found = counts.differing(one, other, settings.documents)
        found[0] = np.iinfo(np.int64).max  # All kinds together are tested in any case
        return found

    return SliceFamily(
        str(metric),
        metric.called or metric.label,
        systems,
        baseline,
        settings,
        counts,
        lambda sums: _f_of(sums, beta),
        _f_of(counts.plain(0, 1), beta)[:, 0],
        counts.segments,
        [{"kind": kind} for kind in kinds],
        adds=lambda sums, of_base: contributions(sums, of_base, beta),
        units=cache(lambda some: counts.units(some, settings.documents)),
        differing=differing,
        facts=[
            [_cells(*pair, said, scores is not base) for pair in zip(scores, base, strict=True)] for scores in every
        ],
        signatures=(signature, short),
    )


def _cells(score: KindScore, baseline: KindScore, said: Cells, beside: bool) -> Cells:
    """The counts of a kind, and their differences from the baseline's."""
    cells = {name: value for name, value in vars(score).items() if name in _COUNTED and name != "f"}
    known = {
        "score": score.f if score.gold else None,
        "precision": score.precision if score.proposed else None,
        "recall": score.recall if score.gold else None,
    }
    apart = {
        f"{name}_difference": getattr(score, name) - getattr(baseline, name) if beside else None for name in F_COUNTS
    }
    return {**cells, **known, **apart, **said}


def _by_size(rows: Sequence[ComparedRow]) -> list[ComparedRow]:
    """Sort the kinds by their greatest contribution to a difference, and by their edits; all together are first."""
    kinds: dict[str, list[ComparedRow]] = {}
    for row in rows:
        kinds.setdefault(row["kind"], []).append(row)

    def place(kind: str) -> tuple[bool, float, int]:
        added = max(abs(row["contribution"] or 0.0) for row in kinds[kind])
        return kind != ALL, -float(np.round(added, 9)), -sum(row["proposed"] + row["gold"] for row in kinds[kind])

    return [row for kind in sorted(kinds, key=place) for row in kinds[kind]]
