"""Data of pictures: sweeps, deserved and spurious credit, and agreement with human judges."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from softbleu.errors import InputError, known_name
from softbleu.meta.agreement import TESTED, Columns, MetricAgreement, MetricPair
from softbleu.meta.spurious import BINS, PLAIN, VERDICTS
from softbleu.meta.sweep import rank_by_score
from softbleu.report.plots import MOST_COLOURS, HeatMap, Histogram, Lines, Points, Ranks, Rows, Scatter, draw, in_rows

if TYPE_CHECKING:
    from softbleu.meta import SweepRow
    from softbleu.meta.metaeval import MetaEvaluation
    from softbleu.meta.spurious import Analysis

Key = TypeVar("Key")
MOST_SYSTEMS = 3  # Systems that have panels of their own; more are averaged
MOST_LINES = 8  # Lines in a panel, where panels can tell variants apart


def draw_sweep(rows: Sequence[SweepRow], picture_format: str) -> bytes:
    """Draw score against threshold."""
    return draw(sweep_lines(rows), picture_format)


def draw_ranks(rows: Sequence[SweepRow], picture_format: str) -> bytes:
    """Draw ranks of systems by threshold."""
    return draw(sweep_ranks(rows), picture_format)


def check_ranks(systems: Collection[str]) -> None:
    """See that there are ranks to draw. InputError: fewer than two systems."""
    if len(systems) < 2:
        raise InputError(f"ranks need two systems or more, here are {len(systems)}")


def sweep_lines(rows: Sequence[SweepRow]) -> Rows:
    """Score against threshold: a panel per system, or one of the mean of many; a line per matcher and variant.

    Where these are too many lines, each variant has a panel of its own. What has no threshold is a level line.
    """
    systems = _split(rows, lambda row: row.system)
    if len(systems) > MOST_SYSTEMS:
        systems = {f"mean of {len(systems)} systems": list(rows)}
    several = _several_metrics(rows)
    if len(_split(rows, lambda row: _name(row, several))) <= MOST_LINES:
        return in_rows([_panel(system, part, lambda row: _name(row, several)) for system, part in systems.items()])
    return in_rows(
        [
            _panel(", ".join(filter(None, (system, variant))), part, _matcher)
            for system, whole in systems.items()
            for variant, part in _split(whole, lambda row: _variant(row, several)).items()
        ]
    )


def sweep_ranks(rows: Sequence[SweepRow]) -> Rows:
    """Ranks of systems by threshold, a panel per matcher and variant, one below the other.

    What has no threshold is the first place of each panel whose other settings it has; without any threshold,
    matchers and variants are the places of one panel. The systems whose ranks change most have colours.
    """
    check_ranks({row.system for row in rows})
    several = _several_metrics(rows)
    level = [row for row in rows if row.threshold is None]
    soft = sorted((row for row in rows if row.threshold is not None), key=lambda row: row.threshold or 0.0)
    panels: list[tuple[str, str, dict[str, list[SweepRow]]]] = []
    for title, with_name in _split(soft, lambda row: _name(row, several)).items():
        first = [row for row in level if _settings(row).items() <= _settings(with_name[0]).items()]
        places = _split(first, _matcher) | _split(with_name, lambda row: f"{row.threshold:.3g}")
        panels.append((title, "threshold", places))
    if not soft:
        panels.append(("", "", _split(level, lambda row: _name(row, several))))
    ranks = [[rank_by_score(place) for place in places.values()] for _, _, places in panels]
    spans = {
        system: max(max(at[system] for at in places) - min(at[system] for at in places) for places in ranks)
        for system in ranks[0][0]
    }
    moved = sorted((system for system in spans if spans[system]), key=lambda system: -spans[system])
    drawn = []
    for (title, x_label, places), at in zip(panels, ranks, strict=True):
        moving = {system: [place[system] for place in at] for system in spans}
        drawn.append([Ranks(title, x_label, list(places), moving, moved[:MOST_COLOURS])])
    return drawn


def _panel(title: str, rows: Sequence[SweepRow], name: Callable[[SweepRow], str]) -> Lines:
    thresholds = sorted({row.threshold for row in rows if row.threshold is not None}) or [0.0, 1.0]
    lines = {}
    for line, on_line in _split(rows, name).items():
        # A number and a quantile may be one threshold: then a system has its score there twice.
        means = {
            at: fmean(row.score for row in part) for at, part in _split(on_line, lambda row: row.threshold).items()
        }
        lines[line] = [
            point
            for at, score in means.items()
            for point in ([(thresholds[0], score), (thresholds[-1], score)] if at is None else [(at, score)])
        ]
    return Lines(title, "threshold", "score", {line: sorted(points) for line, points in lines.items()})


def _split(rows: Iterable[SweepRow], by: Callable[[SweepRow], Key]) -> dict[Key, list[SweepRow]]:
    parts: dict[Key, list[SweepRow]] = {}
    for row in rows:
        parts.setdefault(by(row), []).append(row)
    return parts


def _several_metrics(rows: Sequence[SweepRow]) -> bool:
    return len({row.varied.get("metric") for row in rows}) > 1


def _matcher(row: SweepRow) -> str:
    return str(row.varied.get("matcher") or row.varied.get("metric", ""))


def _settings(row: SweepRow) -> dict[str, str | float]:
    """Settings that differ between lines, without the matcher and the quantile, which the axis says."""
    varied = {key: value for key, value in row.varied.items() if key not in ("matcher", "quantile")}
    return {"": row.label, **{key: value for key, value in varied.items() if value is not None}}


def _variant(row: SweepRow, several: bool) -> str:
    """Name what differs between lines, but for the matcher."""
    settings = {key: value for key, value in _settings(row).items() if key not in ("", "metric")}
    parts = [row.label] if row.label else [f"{key} {value}" for key, value in settings.items()]
    return ", ".join([*[str(row.varied["metric"])] * (several and "matcher" in row.varied), *parts])


def _name(row: SweepRow, several: bool) -> str:
    return ", ".join(filter(None, (_matcher(row), _variant(row, several))))


def draw_spurious(analyses: Sequence[Analysis], picture_format: str) -> bytes:
    """Draw shares of spurious credit by threshold and precision by recall."""
    return draw(spurious_lines(analyses), picture_format)


def spurious_lines(analyses: Sequence[Analysis]) -> Rows:
    """Spurious share by threshold, then precision by recall: a panel per variant, a line per matcher.

    Where the matchers were tried as they are, too, every other panel has that in grey.
    """
    shares: dict[str, dict[str, Points]] = {}
    trades: dict[str, dict[str, Points]] = {}
    for analysis in analyses:
        variant, matcher = analysis.variant.name, analysis.variant.matcher
        spurious = zip(analysis.thresholds, (credit.spurious_share for credit in analysis.curve), strict=True)
        shares.setdefault(variant, {})[matcher] = [(at, 100 * share) for at, share in spurious if share is not None]
        both = ((credit.recall, credit.precision) for credit in analysis.curve)
        trades.setdefault(variant, {})[matcher] = [
            (100 * x, 100 * y) for x, y in both if x is not None and y is not None
        ]
    return [
        *_variant_panels("threshold", "spurious credit, per cent", shares),
        *_variant_panels("recall, per cent", "precision of the credit, per cent", trades),
    ]


def _variant_panels(x_label: str, y_label: str, curves: Mapping[str, Mapping[str, Points]]) -> Rows:
    plain = curves.get(PLAIN, {})
    behind = {variant: {} if variant == PLAIN else plain for variant in curves}
    return in_rows([Lines(name, x_label, y_label, curves[name], behind[name], PLAIN) for name in curves])


def similarity_histograms(analyses: Sequence[Analysis]) -> Rows:
    """Similarities of deserved and spurious matches, a panel per variant: matches at the lowest threshold."""
    edges = [number / BINS for number in range(BINS + 1)]
    panels = []
    for analysis in analyses:
        rows = zip(VERDICTS, analysis.tally.histogram, strict=True)
        counts = {name: row.tolist() for name, row in rows if row.any()}
        title = f"{analysis.name}, threshold {analysis.thresholds[0]:g}"
        panels.append(Histogram(title, "similarity", "matches", edges, counts))
    return in_rows(panels)


DRAWN = ("systems", "outputs", "williams")  # Questions whose answers have a picture


def check_picture(question: str) -> None:
    """See that there is a picture of an answer."""
    known_name("table with a picture", question, DRAWN)


def draw_metaeval(evaluation: MetaEvaluation, picture_format: str) -> bytes:
    """Draw scores of judges against each metric's, a panel each with Pearson's r; of `williams` p-values by test.

    Panels that stand in a row have the same judges. A p-value is how likely the row's metric differs so much from
    the column's by chance alone, corrected for all tests.
    """
    check_picture(evaluation.question)
    if evaluation.question != "williams":
        rows = [
            row
            for column, correlated in zip(evaluation.columns, evaluation.agreements, strict=True)
            for row in in_rows([_scatter(column, agreement) for agreement in correlated])
        ]
        return draw(rows, picture_format)
    tests: dict[str, list[MetricPair]] = {}
    for pair in evaluation.pairs:
        tests.setdefault(f"{pair.human}, {pair.coefficient}", []).append(pair)
    return draw(in_rows([_heat(title, pairs) for title, pairs in tests.items()], len(TESTED)), picture_format)


def _scatter(columns: Columns, agreement: MetricAgreement) -> Scatter:
    metric, pearson = agreement.metric, agreement.correlations["pearson"]
    points = list(zip(columns.metrics[metric].tolist(), columns.judges.tolist(), strict=True))
    note = "r is not defined" if pearson.value is None else f"r = {pearson.value:.3f}"
    if pearson.interval is not None:
        note += " [{:.3f}, {:.3f}]".format(*pearson.interval)
    return Scatter(metric, metric, columns.human, points, columns.points, note)


def _heat(title: str, pairs: Sequence[MetricPair]) -> HeatMap:
    p_values = {(pair.better, pair.worse): pair.corrected for pair in pairs}
    values = {
        metric: value for pair in pairs for metric, value in zip((pair.better, pair.worse), pair.values, strict=True)
    }
    names = sorted(values, key=lambda metric: -values[metric])
    cells = [[p_values.get((row, column)) for column in names] for row in names]
    return HeatMap(f"{title}: p after Holm", names, cells)
