"""Soft credit by kind, and the pairs of n-grams that earn it, as a line, as tables and as a picture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor
from typing import TYPE_CHECKING

from softbleu.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.analysis.credit import SoftCredit, SoftGain, SoftPair
    from softbleu.report.plots import Lines

_SMALL = 5  # Per cent of the soft credit: kinds below are one part
_REST = "rest"


@dataclass(frozen=True)
class ShownPart:
    """Part of a kind in a soft gain, as it is shown; kind `rest` stands for the small ones."""

    kind: str
    points: str
    share: float  # Per cent of the soft credit
    example: SoftPair | None = None  # The pair of the kind that earns most

    def __str__(self) -> str:
        """The kind and its points."""
        return f"{self.kind} {self.points}"


def shown_parts(gain: SoftGain, digits: int) -> tuple[str, list[ShownPart]]:
    """Format a soft gain and the parts of its kinds, rounded so that the parts add up.

    They have one decimal less than the score, which has `digits`. The parts that rounding down cuts most are rounded
    up.

    >>> from softbleu.analysis.credit import KindPoints, SoftGain, SoftPair
    >>> example = SoftPair("A", 1, "The", "the", "case", 0, 2, 2_000_000)
    >>> points = {"other words": 19.55, "case": 0.25, "order": 0.25}
    >>> parts = [KindPoints(kind, 5 * value, value, example) for kind, value in points.items()]
    >>> added, shown = shown_parts(SoftGain(30.0, 20.05, parts, 100, 100), 2)
    >>> added, [*map(str, shown)]
    ('+20.0', ['other words 19.5', 'rest 0.5'])
    """
    small = [part for part in gain.parts if part.share < _SMALL]
    large = [part for part in gain.parts if len(small) < 2 or part not in small]
    rows: list[tuple[str, float, float, SoftPair | None]]
    rows = [(part.kind, part.points, part.share, part.example) for part in large]
    if len(small) > 1:
        rows.append((_REST, sum(part.points for part in small), sum(part.share for part in small), None))
    digits = max(digits - 1, 0)
    unit = 10**digits
    whole, units = round(gain.added * unit), [floor(points * unit) for _, points, *_ in rows]
    cut = sorted(range(len(rows)), key=lambda number: units[number] - rows[number][1] * unit)
    for number in cut[: whole - sum(units)]:
        units[number] += 1
    shown = [
        ShownPart(kind, f"{count / unit:.{digits}f}", share, example)
        for (kind, _, share, example), count in zip(rows, units, strict=True)
    ]
    return f"+{whole / unit:.{digits}f}", shown


def credit_view(credit: SoftCredit, show: str, top: int, *, readers: bool) -> Table | list[Table]:
    """Make the table of soft credit: its `kinds`, or the `top` pairs that earn most, for readers below the kinds."""
    if show == "kinds":
        return credit.kinds_table() if readers else Table.of(credit)
    pairs = credit.pairs_table(top)
    return [credit.kinds_table(), replace(pairs, facts={})] if readers else pairs


def credit_lines(credit: SoftCredit) -> list[Sequence[Lines]]:
    """Plot the soft credit of each kind by threshold, a panel per system."""
    from softbleu.kernels import SCALE
    from softbleu.matching.kinds import MATCH_KINDS
    from softbleu.report.plots import Lines, in_rows

    panels = []
    for number, system in enumerate(credit.systems):
        sums = credit.soft[number].sum(axis=1) / SCALE
        lines = {
            kind: list(zip(credit.thresholds, sums[:, place].tolist(), strict=True))
            for place, kind in enumerate(MATCH_KINDS)
            if sums[:, place].any()
        }
        panels.append(Lines(system, "threshold", "soft credit, n-grams of all orders", lines))
    return in_rows(panels)
