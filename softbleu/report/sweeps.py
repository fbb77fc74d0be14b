"""Sweeps as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from softbleu.report.plots import Lines, draw

if TYPE_CHECKING:
    from softbleu.experiments import SweepRow

_ALREADY_SAID = ("metric", "matcher", "quantile")
"""Not named in the legend beside the matcher, or said by the axis."""
MOST_SYSTEMS = 3
"""Systems that have a panel of their own; more are averaged."""


def sweep_lines(rows: Sequence[SweepRow]) -> list[Lines]:
    """Score against threshold: a panel a system, or one of the mean of many; a line a matcher and variant.

    What has no threshold is a level line.
    """
    systems = list(dict.fromkeys(row.system for row in rows))
    if len(systems) > MOST_SYSTEMS:
        return [_panel(f"mean of {len(systems)} systems", rows)]
    return [_panel(system, [row for row in rows if row.system == system]) for system in systems]


def draw_sweep(rows: Sequence[SweepRow], picture_format: str) -> bytes:
    """Draw score against threshold; see `sweep_lines` and `plots.draw`."""
    return draw(sweep_lines(rows), picture_format)


def _panel(title: str, rows: Sequence[SweepRow]) -> Lines:
    # A number and a quantile may be one threshold: then a system has its score there twice.
    scores: dict[str, dict[float | None, list[float]]] = {}
    for row in rows:
        scores.setdefault(_name(row), {}).setdefault(row.threshold, []).append(row.score)
    means = {name: {at: fmean(found) for at, found in points.items()} for name, points in scores.items()}
    thresholds = sorted({row.threshold for row in rows if row.threshold is not None}) or [0.0, 1.0]
    lines = {
        name: [(threshold, points[None]) for threshold in (thresholds[0], thresholds[-1])]
        if None in points
        else sorted((threshold, score) for threshold, score in points.items() if threshold is not None)
        for name, points in means.items()
    }
    return Lines(title, "threshold", "score", lines)


def _name(row: SweepRow) -> str:
    """Name a line by what differs between lines."""
    parts = [str(row.varied.get("matcher", ""))]
    if row.label:
        parts.append(row.label)
    else:
        parts += [f"{key} {value}" for key, value in row.varied.items() if key not in _ALREADY_SAID]
    return ", ".join(parts)
