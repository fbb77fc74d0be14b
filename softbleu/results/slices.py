"""Families of slices: whole outputs, and the runs of systems."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora.labels import intraclass_correlation
from softbleu.engine.plan import GivenMetrics
from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError, Parameter
from softbleu.io.progress import note
from softbleu.metrics.protocols import ReadsRows, at_level, in_percent
from softbleu.resample import correct
from softbleu.results.comparison import SCORES, ComparedRow, Comparison, SliceFamily, bootstrap_scores, compare_slices
from softbleu.results.significance import SAMPLES, SignificanceSettings

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.engine.statistics import Statistics
    from softbleu.metrics import Metric
    from softbleu.types import Fields, Floats, Progress

_SEGMENTS = 1 << 15  # Segments that are scored in one call
_NOTED = 0.1  # By how much variances grow with documents before a note says so
_RUN = re.compile(r"(.+)\.(\d+)")
_FRAME = {{"lower": "low", "upper": "high"}.get(name, name): key for name, key in SCORES.items()}


def outputs_family(
    statistics: Statistics,
    baseline: str,
    how: SignificanceSettings,
    named: Fields | None = None,
    metric: Metric | None = None,
    by: str | None = None,
) -> SliceFamily:
    """Make the family of outputs as they are: one slice.

    `statistics` have the rows of all segments (`collect_statistics` with ``keep_rows=True``), `named` is what rows
    say of the slice. They are scored by their metric at level `corpus`, unless another is given. Signatures name
    the kind of slices, `by`.
    """
    systems, offsets = statistics.systems, statistics.offsets
    metric = at_level(statistics.metric, "corpus") if metric is None else metric
    how, aggregation, rows = how.settled(len(systems)), metric.aggregation, [*statistics.rows]
    signature, short = (
        statistics.signature("corpus", short=short, **how.signed(baseline), **({"test-by": by} if by else {}))
        for short in (False, True)
    )

    def score(sums: Floats) -> Floats:
        scores: Floats = metric.columns(sums.reshape(-1, sums.shape[-1])).score
        return scores.reshape(*sums.shape[:-1], 1)

    coverage, gating = statistics.coverage, statistics.gating
    written: Sequence[int | None] = [len(offsets) - 1 - empty for empty in statistics.empty or ()]
    written = written or [None] * len(systems)
    facts = [
        [{"coverage": coverage and coverage[place], "gated": gating and gating.of(name), "outputs": written[place]}]
        for place, name in enumerate(systems)
    ]
    return SliceFamily(
        str(statistics.metric),
        metric.called or metric.label,
        systems,
        baseline,
        how,
        aggregation.drawn(rows, offsets),
        score,
        np.array([[aggregation.score(each, offsets).score] for each in rows]),
        len(offsets) - 1,
        [named or {}],
        aggregation.counted(rows[0], offsets),
        lambda: segment_numbers(statistics),
        metric.higher_is_better,
        in_percent(metric),
        aggregation.is_mean,
        facts=facts,
        signatures=(signature, short),
        columns=statistics.rows.shape[0] * statistics.rows.shape[-1],
    )


def compare_systems(
    statistics: Sequence[Statistics],
    baseline: str,
    how: SignificanceSettings,
    progress: Progress | None = None,
    moments: Mapping[str, float | None] | None = None,
    *,
    with_best: bool = False,
) -> Comparison:
    """Give every system an interval, a rank and its range, and test it against the baseline, or all others.

    Outputs at a moment of a log are compared only with outputs at the same moment.

    Parameters
    ----------
    statistics
        Rows of all segments by each metric (`collect_statistics` with ``keep_rows=True``).
    baseline
        Name of a system.
    how
        How to test; for numbers that are not given see `SignificanceSettings.settled`.
    progress
        Called with the number of samples and trials done and of all.
    moments
        Moment of the source of each system's outputs, None for whole ones, where some are unfinished.
    with_best
        Test the best of three systems or more beside all others, too.

    Raises `UnknownNameError`: no system has the baseline's name.
    """
    groups: dict[float | None, list[int]] = {}
    for place, name in enumerate(statistics[0].systems):
        groups.setdefault(moments.get(name) if moments else None, []).append(place)
    families = (
        outputs_family(part, own, how, {"moment": moment} if moments else None)
        for each in statistics
        for moment, part, own in _by_moment(each, groups, baseline)
    )
    columns, all_pairs = {"metric": "metric", **_FRAME}, how.every_pair(len(statistics[0].systems) // len(groups))
    table = compare_slices(
        families,
        all_pairs=all_pairs,
        with_best=with_best and len(statistics[0].systems) // len(groups) > 2,
        together=lambda row: (row["metric"], row.get("moment")),
        columns=columns,
        progress=progress,
    )
    for each in statistics:
        if how.documents is None and isinstance(each.metric, ReadsRows):
            _note_documents(each.metric, segment_numbers(each), each.systems.index(baseline))
    return replace(table, facts={f"signature of {one.metric}": one.short_signature for one in table})


def _by_moment(
    statistics: Statistics, groups: Mapping[float | None, Sequence[int]], baseline: str
) -> Iterator[tuple[float | None, Statistics, str]]:
    """Yield the statistics of the outputs of each moment, which have places, and the baseline at that moment."""
    if len(groups) == 1:
        yield next(iter(groups)), statistics, baseline
        return
    name = next(
        (baseline.removesuffix(f"@{m:g}") for m in groups if m is not None and baseline.endswith(f"@{m:g}")), baseline
    )
    for moment, places in sorted(groups.items(), key=lambda group: (group[0] is None, group[0] or 0.0)):
        covered = statistics.coverage and tuple(statistics.coverage[place] for place in places)
        empty = statistics.empty and [statistics.empty[place] for place in places]
        systems = tuple(statistics.systems[place] for place in places)
        part = replace(statistics, systems=systems, rows=statistics.rows[places], coverage=covered, empty=empty)
        yield moment, part, name if moment is None else f"{name}@{moment:g}"


def _note_documents(metric: ReadsRows, segments: Floats, baseline: int) -> None:
    """Note that segments of a document are more like one another than others, where no documents were named."""
    labels, apart = metric.documents, segments - segments[baseline]
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


def segment_numbers(statistics: Statistics) -> Floats:
    """Scores of the segments of every system, as at level `segment`: (systems, segments)."""
    aggregation, offsets = at_level(statistics.metric, "segment").aggregation, statistics.offsets
    numbers = np.empty((len(statistics.rows), len(offsets) - 1))
    step = _SEGMENTS if aggregation.by_segment else len(offsets)
    for start in range(0, len(offsets) - 1, step):
        some = offsets[start : start + step + 1]
        for number, rows in enumerate(statistics.rows[:, some[0] : some[-1]]):
            whole = rows.astype(np.int64) if rows.dtype.kind == "i" else rows
            numbers[number, start : start + step] = aggregation.segment_numbers(whole, some - some[0])
    return numbers


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


_OF_RUNS = (
    *("system", "runs", "score", "between_runs", "between_segments", "lower", "upper"),
    *("difference", "difference_lower", "difference_upper", "p_value", "corrected"),
)


def compare_runs(
    corpus: Corpus,
    metrics: GivenMetrics = "bleu",
    significance: SignificanceSettings | None = None,
    *,
    baseline: str | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Take outputs called ``NAME.1``, ``NAME.2`` … for runs of one system, and compare systems by their means.

    The variance of a mean is that between runs over their number, and that of the means of samples of segments, the
    same for all systems. Intervals and p-values are Student's t with degrees of freedom after Satterthwaite (1946).
    As runs differ by chance within segments, too, which counts twice, they are rather too wide. Beside a system of
    one run all are taken to have one variance.

    Rows have the number of `runs`, the mean of these as their `score`, the standard deviations of runs' scores,
    `between_runs`, None of one run, and of a run's score by which segments were drawn, `between_segments`. Intervals
    and tests are for other runs and other segments.

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
    how = significance or SignificanceSettings()
    how = replace(how, samples=how.samples or SAMPLES)
    runs = group_runs(corpus.systems)
    if len(runs) == len(corpus.systems):
        raise InputError("no system has several runs: call them NAME.1, NAME.2 and so on")
    first = next(iter(runs)) if baseline is None else baseline
    if first not in runs:
        raise InputError(f"no system {first!r}; systems: {', '.join(runs)}")
    collected = collect_statistics(corpus, metrics, RunOptions(jobs, executor, progress=progress), keep_rows=True)
    families = [outputs_family(statistics, corpus.systems[0], how) for statistics in collected]
    drawn = [bootstrap_scores(family)[0] for family in families]
    rows = [row for each in zip(families, drawn, strict=True) for row in _of_runs(*each, runs, first)]
    signatures = {
        family.label: scored.signature("corpus") for family, scored in zip(families, collected, strict=True)
    }
    columns = {"metric": "label", **{name: name for name in _OF_RUNS}}
    return Comparison(rows, [], families, drawn, columns, signatures)


def _of_runs(family: SliceFamily, drawn: Floats, runs: Mapping[str, Sequence[int]], first: str) -> list[ComparedRow]:
    scores, drawn = family.observed[:, 0], drawn[:, 0]
    units = family.size if family.documents is None else len(np.unique(family.documents))
    several = [scores[places] for places in runs.values() if len(places) > 1]
    degrees = sum(len(some) - 1 for some in several)
    usual = sum(float(np.var(some)) * len(some) for some in several) / degrees, degrees
    means = {system: ([scores[places]], drawn[places].mean(axis=0)) for system, places in runs.items()}
    rows = []
    for system, places in runs.items():
        value, low, high, _ = _mean(*means[system], usual, units)
        row = ComparedRow(metric=family.name, label=family.label, system=system, runs=len(places), score=value)
        row |= {"between_runs": float(np.std(scores[places], ddof=1)) if len(places) > 1 else None}
        row |= {
            "between_segments": float(np.sqrt(np.mean(np.var(drawn[places], axis=1)))),
            "lower": low,
            "upper": high,
        }
        row |= dict.fromkeys(_OF_RUNS[7:])
        if system != first:
            (own, of_own), (base, of_base) = means[system], means[first]
            row |= zip(_OF_RUNS[7:], _mean([*own, *base], of_own - of_base, usual, units), strict=False)
        rows.append(row)
    tested = [row for row in rows if row["p_value"] is not None]
    for row, corrected in zip(
        tested, correct([row["p_value"] for row in tested], family.how.correction), strict=True
    ):
        row["corrected"] = corrected
    return rows


def _mean(runs: Sequence[Floats], drawn: Floats, usual: tuple[float, int], units: int) -> list[float]:
    """Return the mean of a system's runs, or the difference of two, the ends of its interval and its two-sided p.

    `runs` are the scores of one system or two, `drawn` the value in samples of segments, `usual` is the variance of a
    run's score, pooled over the systems of several runs, with its degrees of freedom: it is taken where a system has
    one run. There are so many `units`, segments or documents. p is 1 where nothing varies or differs.
    """
    from scipy.stats import t

    one, *other = (float(scores.mean()) for scores in runs)
    value, sizes = one - sum(other), [len(scores) for scores in runs]
    parts = [(usual[0] * sum(1 / size for size in sizes), usual[1])]
    if 1 not in sizes:
        parts = [(float(np.var(scores, ddof=1)) / size, size - 1) for scores, size in zip(runs, sizes, strict=True)]
    parts.append((float(np.var(drawn)), max(units - 1, 1)))
    variance = sum(part for part, _ in parts)
    squares = sum(part**2 / degrees for part, degrees in parts)
    error, freedom = variance**0.5, variance**2 / squares if squares > 0 else 1.0
    half = float(t.ppf(0.975, freedom)) * error
    p_value = 2 * float(t.sf(abs(value) / error, freedom)) if error else float(value == 0)
    return [value, value - half, value + half, p_value]
