"""Comparisons of edits by kind: for readers and papers the kinds that add most first, for programs all numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from softbleu import report
from softbleu.analysis.corrections import ALL
from softbleu.analysis.kind_differences import KIND_DIFFERENCES
from softbleu.errors import InputError
from softbleu.formats import Layout, Writers, table_writers, with_columns
from softbleu.report.comparisons import corrected_text, p_cell
from softbleu.report.scores import signature_note
from softbleu.results.comparison import Comparison, Row
from softbleu.tables import SIGNIFICANT, Table, Value, best_places

_DRAWN = 20  # Kinds of a picture: those that add most


def kind_records(tables: Comparison, layout: Layout) -> Table:
    """Make a row per metric, kind and system with all numbers; differences only where there are other systems."""
    records = Table.of(tables)
    several = any(row.beside for table in tables for row in table.rows)
    kept = [place for place, name in enumerate(records.columns) if several or name not in KIND_DIFFERENCES]
    return with_columns(records, kept)


def kind_tables(tables: Comparison, layout: Layout) -> Table:
    """Make a table: a row per kind and system, the kinds that add most first; stars mark significant differences."""
    rows = [
        {"metric": table.label, **_cells(table, row, layout)} if len(tables) > 1 else _cells(table, row, layout)
        for table in tables
        for row in table.rows
    ]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[row.get(name, "") for name in columns] for row in rows]
    names = 2 + (len(tables) > 1)
    return Table(columns, cells, notes=_notes(tables, layout), text_columns=names, verbatim=columns)


def _cells(table: Comparison, row: Row, layout: Layout) -> dict[str, Value]:
    digits = layout.decimals()

    def number(value: float | None, ends: tuple[float, float] | None = None, sign: str = "") -> str:
        shown = [f"{each:{sign}z.{digits}f}" for each in (*([] if value is None else [value]), *(ends or ()))]
        return "" if value is None else f"{shown[0]} [{shown[1]}, {shown[2]}]" if ends else shown[0]

    cells: dict[str, Value] = {
        "kind": row["kind"],
        "system": row["system"],
        "right": row["correct"],
        "proposed": row["proposed"],
        "gold": row["gold"],
        "P": number(row["precision"]),
        "R": number(row["recall"]),
        f"F{row['beta']:g} [95% CI]": number(row["score"], row.interval),
    }
    if len(table.families[0].systems) == 1:
        return cells
    if (beside := row.beside) is None:
        return {**cells, "diff [95% CI]": "baseline", "p": "", "adds [95% CI]": ""}
    at_floor = beside.p_value is not None and beside.p_value <= table.significance.floor
    return {
        **cells,
        "diff [95% CI]": number(beside.difference, beside.interval, "+"),
        "p": "" if beside.corrected is None else p_cell(beside.corrected, at_floor=at_floor),
        "adds [95% CI]": number(beside.contribution, beside.contribution_interval, "+"),
    }


def _notes(tables: Comparison, layout: Layout) -> list[str]:
    """Explain the columns."""
    notes, first, beta = list[str](), tables[0], tables.rows[0]["beta"]
    if first.tests:
        tests = max(table.tests for table in tables)
        notes.append(f"* p < {SIGNIFICANT} against {first.baseline} · p: {corrected_text(first, tests)}")
        notes += first.significance.too_few(tests)
    if any(row.beside for row in first.rows):
        notes.append(f"adds: points of the difference of F{beta:g} that come from the kind; the kinds add up to all")
    other = [table.label for table in tables if not table.rows[0]["is_score"]]
    if other:
        notes.append(f"F{beta:g} is that of M2, of these counts, and not the score of {', '.join(other)}")
    return [*notes, *(signature_note(table, layout) for table in tables)]


def kind_summary(tables: Comparison, layout: Layout) -> Table:
    """Make a table for a paper: kinds × systems with F, stars for significance, and what each kind adds."""
    rows, marked, columns = list[list[str]](), list[tuple[int, int]](), list[str]()
    digits = layout.decimals()
    for table in tables:
        for kind, of_kind in groupby(table.rows, lambda row: row["kind"]):
            systems = list(of_kind)
            cells: dict[str, str] = {"metric": table.label} if len(tables) > 1 else {}
            cells["kind"] = kind
            for row in systems:
                star = "*" * (row.beside is not None and (row.beside.corrected or 1.0) < SIGNIFICANT)
                cells[row["system"]] = "" if row.f is None else f"{row.f:z.{digits}f}{star}"
            for row in systems:
                if row.beside is not None:
                    cells[f"{row['system']} adds"] = f"{row.beside.contribution:+z.{digits}f}"
            columns = columns or list(cells)
            best = best_places([row.f for row in systems], digits, higher=True)
            best = best if len(best) < sum(row.f is not None for row in systems) else []
            marked += [(len(rows), columns.index(systems[place]["system"])) for place in best]
            rows.append(list(cells.values()))
    names = 1 + (len(tables) > 1)
    return Table(columns, rows, notes=_notes(tables, layout), text_columns=names, marked=marked, verbatim=columns)


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
        rows.append(cells)
    return rows


def draw_kinds(tables: Comparison, picture_format: str) -> bytes:
    """Draw what the kinds add to the difference from the baseline, with intervals: a panel per metric and system."""
    panels = []
    for table in tables:
        beside: dict[str, list[Row]] = {}
        for row in table.rows:
            if row.beside is not None and row["kind"] != ALL:
                beside.setdefault(row["system"], []).append(row)
        panels += [_panel(table, system, rows) for system, rows in beside.items()]
    if not panels:
        raise InputError("a picture of kinds shows differences: give two systems")
    return report.plots.draw(report.plots.in_rows(panels, 2), picture_format)


def _panel(table: Comparison, system: str, rows: Sequence[Row]) -> report.plots.IntervalRows:
    drawn = [(row["kind"], row.beside) for row in rows[:_DRAWN] if row.beside is not None]
    return report.plots.IntervalRows(
        f"{table.label}: {system} beside {table.baseline}",
        f"points of F{rows[0]['beta']:g} that the kind adds, 95% intervals",
        [kind for kind, _ in drawn],
        [beside.contribution for _, beside in drawn],
        [beside.contribution_interval for _, beside in drawn],
        [(beside.corrected or 1.0) < SIGNIFICANT for _, beside in drawn],
        note=f"● F of the kind differs, ○ not (p < {SIGNIFICANT}, {corrected_text(table, table.tests)})",
        at=0.0,
    )


KIND_WRITERS: Writers[Comparison] = table_writers(kind_records, readers=kind_tables, paper=kind_summary)
"""Formats of comparisons of edits by kind."""
