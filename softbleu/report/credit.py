"""Soft credit by kind, and the pairs of n-grams that earn it, as tables and as a picture."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from softbleu.kernels import SCALE
from softbleu.matching.kinds import MATCH_KINDS
from softbleu.report.plots import Lines, draw, in_rows
from softbleu.tables import Table

if TYPE_CHECKING:
    from softbleu.analysis.credit import SoftCredit


def credit_view(credit: SoftCredit, show: str, top: int, *, readers: bool) -> Table | list[Table]:
    """Make the table of soft credit: its `kinds`, or the `top` pairs that earn most, for readers below the kinds."""
    if show == "kinds":
        return credit.kinds_table() if readers else Table.of(credit)
    pairs = credit.pairs_table(top)
    return [credit.kinds_table(), replace(pairs, facts={})] if readers else pairs


def draw_credit(credit: SoftCredit, picture_format: str) -> bytes:
    """Draw the soft credit of each kind by threshold, a panel per system."""
    return draw(in_rows(credit_lines(credit)), picture_format)


def credit_lines(credit: SoftCredit) -> list[Lines]:
    """Plot the soft credit of each kind by threshold, a panel per system."""
    panels = []
    for number, system in enumerate(credit.systems):
        sums = credit.soft[number].sum(axis=1) / SCALE
        lines = {
            kind: list(zip(credit.thresholds, sums[:, place].tolist(), strict=True))
            for place, kind in enumerate(MATCH_KINDS)
            if sums[:, place].any()
        }
        panels.append(Lines(system, "threshold", "soft credit, n-grams of all orders", lines))
    return panels
