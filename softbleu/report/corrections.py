"""Comparisons of edits by kind: for readers and papers the kinds that add most first, for programs all numbers."""

from __future__ import annotations

from collections.abc import Sequence

from softbleu import report
from softbleu.analysis.corrections import ALL
from softbleu.errors import InputError
from softbleu.results.comparison import ComparedRow, Comparison
from softbleu.results.verdicts import corrected_text
from softbleu.tables import SIGNIFICANT, is_significant

_DRAWN = 20  # Kinds of a picture: those that add most
_ERRANT = {
    **{"M": "missing", "U": "unnecessary", "R": "wrong", "ADJ": "adjective", "ADV": "adverb", "CONJ": "conjunction"},
    **{"CONTR": "contraction", "DET": "determiner", "INFL": "inflection", "MORPH": "word family", "NUM": "number"},
    **{"ORTH": "case or spaces", "PART": "particle", "POSS": "possessive", "PREP": "preposition", "PRON": "pronoun"},
    **{"PUNCT": "punctuation", "SVA": "agreement", "WO": "word order"},
}
"""Words for the parts of ERRANT's types; others are words already."""


def readable_kind(kind: str) -> str:
    """Return a type of ERRANT as words; other kinds as they are.

    >>> readable_kind("M:PREP"), readable_kind("R:VERB:TENSE"), readable_kind("Vform")
    ('missing preposition', 'wrong verb tense', 'Vform')
    """
    parts = kind.split(":")
    return kind if parts[0] not in ("M", "U", "R") else " ".join(_ERRANT.get(part, part.lower()) for part in parts)


def kind_rows(table: Comparison) -> list[dict[str, object]]:
    """Make the rows of a page: intervals in one cell each."""
    rows = []
    for row in table.rows:
        beside = row.beside
        cells: dict[str, object] = {name: row[name] for name in ("kind", "system", "correct", "proposed", "gold")}
        cells |= {f"F{row['beta']:g}": row.f, "interval": row.interval}
        for name in ("contribution", "contribution_interval", "difference", "interval", "corrected", "p_value"):
            key = "difference_interval" if name == "interval" else name
            cells[key] = None if beside is None else getattr(beside, name)
        cells["floor"] = row["floor"]
        rows.append(cells)
    return rows


def kind_panels(tables: Comparison) -> list[Sequence[report.plots.IntervalRows]]:
    """Plot what the kinds add to the difference from the baseline, with intervals: a panel per metric and system."""
    panels = []
    for table in tables:
        beside: dict[str, list[ComparedRow]] = {}
        for row in table.rows:
            if row.beside is not None and row["kind"] != ALL:
                beside.setdefault(row["system"], []).append(row)
        panels += [_panel(table, system, rows) for system, rows in beside.items()]
    if not panels:
        raise InputError("a picture of kinds shows differences: give two systems")
    return report.plots.in_rows(panels, 2)


def _panel(table: Comparison, system: str, rows: Sequence[ComparedRow]) -> report.plots.IntervalRows:
    drawn = [(row["kind"], row.beside) for row in rows[:_DRAWN] if row.beside is not None]
    return report.plots.IntervalRows(
        f"{table.label}: {system} beside {table.baseline}",
        f"points of F{rows[0]['beta']:g} that the kind adds, 95% intervals",
        [readable_kind(kind) for kind, _ in drawn],
        [beside.contribution for _, beside in drawn],
        [beside.contribution_interval for _, beside in drawn],
        [is_significant(beside) for _, beside in drawn],
        note=f"● F of the kind differs, ○ not (p < {SIGNIFICANT}, {corrected_text(table, table.tests)})",
        at=0.0,
    )
