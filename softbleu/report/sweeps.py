"""Sweeps as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from softbleu.report.plots import Lines, draw

if TYPE_CHECKING:
    from softbleu.experiments import SweepRow

_ALREADY_SAID = ("metric", "matcher", "quantile")
MOST_SYSTEMS = 3
"""Systems that have a panel of their own; more are averaged."""


def sweep_lines(rows: Sequence[SweepRow]) -> list[Lines]:
    """Score against threshold: a panel a system, or one of the mean of many; a line a matcher and variant.

    What has no threshold is a level line.
    """
    systems = list(dict.fromkeys(row.system for row in rows))
    if len(systems) > MOST_SYSTEMS:
        return [_panel(f"mean of {len(systems)} systems", rows, len(systems))]
    return [_panel(system, [row for row in rows if row.system == system], 1) for system in systems]


def draw_sweep(rows: Sequence[SweepRow], picture_format: str) -> bytes:
    """Draw score against threshold; see `sweep_lines` and `plots.draw`."""
    return draw(sweep_lines(rows), picture_format)


def _panel(title: str, rows: Sequence[SweepRow], systems: int) -> Lines:
    sums: dict[str, dict[float | None, float]] = {}
    for row in rows:
        points = sums.setdefault(_name(row, rows), {})
        points[row.threshold] = points.get(row.threshold, 0.0) + row.score / systems
    thresholds = sorted({row.threshold for row in rows if row.threshold is not None}) or [0.0, 1.0]
    lines = {
        name: [(threshold, points[None]) for threshold in (thresholds[0], thresholds[-1])]
        if None in points
        else sorted((threshold, score) for threshold, score in points.items() if threshold is not None)
        for name, points in sums.items()
    }
    return Lines(title, "threshold", "score", lines)


def _name(row: SweepRow, rows: Sequence[SweepRow]) -> str:
    """Name a line by what differs between lines."""
    parts = [str(row.varied.get("matcher", ""))]
    if row.label:
        parts.append(row.label)
    else:
        parts += [
            f"{key} {value}" for key, value in row.varied.items() if key not in ("metric", "matcher", "quantile")
        ]
    return ", ".join(parts)
