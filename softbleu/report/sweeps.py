"""Sweeps as pictures: scores by threshold, and ranks of systems by threshold."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, TypeVar

from softbleu.errors import InputError
from softbleu.meta.sweep import rank_by_score
from softbleu.report.plots import MOST_COLOURS, Lines, Ranks, Rows, draw, in_rows

if TYPE_CHECKING:
    from softbleu.meta import SweepRow

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
    """Score against threshold: a panel a system, or one of the mean of many; a line a matcher and variant.

    Where these are too many lines, each variant has a panel of its own. What has no threshold is a level line.
    """
    systems = _split(rows, lambda row: row.system)
    if len(systems) > MOST_SYSTEMS:
        systems = {f"mean of {len(systems)} systems": list(rows)}
    several = _several_metrics(rows)
    if len(_split(rows, lambda row: _name(row, several))) <= MOST_LINES:
        return in_rows([_panel(system, found, lambda row: _name(row, several)) for system, found in systems.items()])
    return in_rows(
        [
            _panel(", ".join(filter(None, (system, variant))), part, _matcher)
            for system, found in systems.items()
            for variant, part in _split(found, lambda row: _variant(row, several)).items()
        ]
    )


def sweep_ranks(rows: Sequence[SweepRow]) -> Rows:
    """Ranks of systems by threshold, a panel a matcher and variant, one below the other.

    What has no threshold is the first place of each panel whose other settings it has; without any threshold,
    matchers and variants are the places of one panel. The systems whose ranks change most have colours.
    """
    check_ranks({row.system for row in rows})
    several = _several_metrics(rows)
    level = [row for row in rows if row.threshold is None]
    soft = sorted((row for row in rows if row.threshold is not None), key=lambda row: row.threshold or 0.0)
    panels: list[tuple[str, str, dict[str, list[SweepRow]]]] = []
    for title, found in _split(soft, lambda row: _name(row, several)).items():
        first = [row for row in level if _settings(row).items() <= _settings(found[0]).items()]
        places = _split(first, _matcher) | _split(found, lambda row: f"{row.threshold:.3g}")
        panels.append((title, "threshold", places))
    if not soft:
        panels.append(("", "", _split(level, lambda row: _name(row, several))))
    ranks = [[rank_by_score(found) for found in places.values()] for _, _, places in panels]
    spans = {
        system: max(max(each[system] for each in found) - min(each[system] for each in found) for found in ranks)
        for system in ranks[0][0]
    }
    moved = sorted((system for system in spans if spans[system]), key=lambda system: -spans[system])
    drawn = []
    for (title, x_label, places), at in zip(panels, ranks, strict=True):
        own = {system: [each[system] for each in at] for system in spans}
        drawn.append([Ranks(title, x_label, list(places), own, moved[:MOST_COLOURS])])
    return drawn


def _panel(title: str, rows: Sequence[SweepRow], name: Callable[[SweepRow], str]) -> Lines:
    thresholds = sorted({row.threshold for row in rows if row.threshold is not None}) or [0.0, 1.0]
    lines = {}
    for line, found in _split(rows, name).items():
        # A number and a quantile may be one threshold: then a system has its score there twice.
        means = {
            at: fmean(row.score for row in each) for at, each in _split(found, lambda row: row.threshold).items()
        }
        lines[line] = [
            point
            for at, score in means.items()
            for point in ([(thresholds[0], score), (thresholds[-1], score)] if at is None else [(at, score)])
        ]
    return Lines(title, "threshold", "score", {line: sorted(points) for line, points in lines.items()})


def _split(rows: Iterable[SweepRow], by: Callable[[SweepRow], Key]) -> dict[Key, list[SweepRow]]:
    found: dict[Key, list[SweepRow]] = {}
    for row in rows:
        found.setdefault(by(row), []).append(row)
    return found


def _several_metrics(rows: Sequence[SweepRow]) -> bool:
    return len({row.varied.get("metric") for row in rows}) > 1


def _matcher(row: SweepRow) -> str:
    return str(row.varied.get("matcher") or row.varied.get("metric", ""))


def _settings(row: SweepRow) -> dict[str, str | float]:
    """What differs between lines, but for the matcher; the quantile is said by the axis."""
    varied = {key: value for key, value in row.varied.items() if key not in ("matcher", "quantile")}
    return {"": row.label, **{key: value for key, value in varied.items() if value is not None}}


def _variant(row: SweepRow, several: bool) -> str:
    """Name what differs between lines, but for the matcher."""
    found = {key: value for key, value in _settings(row).items() if key not in ("", "metric")}
    parts = [row.label] if row.label else [f"{key} {value}" for key, value in found.items()]
    return ", ".join([*[str(row.varied["metric"])] * (several and "matcher" in row.varied), *parts])


def _name(row: SweepRow, several: bool) -> str:
    return ", ".join(filter(None, (_matcher(row), _variant(row, several))))
