"""A table of systems in several directions: to read, for a paper, and as a page that can be sorted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING

from softbleu.io.tabular import Records, Value
from softbleu.report.html import read_part, static_page
from softbleu.report.records import DATA_FORMATS, RECORD_WRITERS, Written

if TYPE_CHECKING:
    from softbleu.analysis.directions import DirectionTable
    from softbleu.report.layout import Layout


def direction_records(table: DirectionTable, layout: Layout) -> Records:
    """Make a row per system and a column per metric and direction, the best of each marked, and macro averages."""
    columns, rows = ["system"], [[system] for system in table.systems]
    marked = []
    values: list[list[Value]] = [list(row) for row in rows]
    for metric in table.results:
        cells = [table.scores(metric, system) for system in table.systems]
        best = max if table.higher(metric) else min
        for place, (direction, _) in enumerate(cells[0]):
            known = [row[place][1] for row in cells if row[place][1] is not None]
            columns.append(f"{metric} {direction}")
            for number, row in enumerate(cells):
                values[number].append(row[place][1])
                if known and row[place][1] == best(score for score in known if score is not None):
                    marked.append((number, len(columns) - 1))
    return Records(columns, values, notes=_notes(table), marked=marked, text_columns=1, digits=layout.digits)


def _notes(table: DirectionTable) -> list[str]:
    shared = {metric: table.common(metric) for metric in table.results}
    several = len(table.directions) > 1
    said = [f"macro, {metric}: mean over {', '.join(names)}" for metric, names in shared.items() if several]
    signatures = {
        f"{metric} {direction} signature: {next(iter(systems.values())).short_signature}": None
        for metric, by_direction in table.results.items()
        for direction, systems in by_direction.items()
    }
    return [*said, *signatures]


def write_directions(name: str, table: DirectionTable, layout: Layout) -> Written:
    """Write the table in a format: long for programs, else a row per system."""
    if name in DATA_FORMATS:
        records = Records.of(table)
        return RECORD_WRITERS[name](Records(records.columns, records.rows), layout)
    return RECORD_WRITERS[name](direction_records(table, layout), layout)


def directions_page(
    table: DirectionTable, layout: Layout, pages: Mapping[str, str], title: str = ""
) -> Iterator[str]:
    """Write a page that a browser opens without any other file: a row per system, sorted by a click on a head.

    Parameters
    ----------
    table
        Scores of the systems.
    layout
        Decimals of the scores.
    pages
        Names of the pages of single directions, to which cells lead.
    title
        Of the page.
    """
    title = title or f"{len(table.systems)} systems, {len(table.directions)} directions"
    return static_page(title, "", _content(table, layout, pages), read_part("sort.js"))


def _content(table: DirectionTable, layout: Layout, pages: Mapping[str, str]) -> Iterator[str]:
    made = direction_records(table, layout)
    yield '<div class="scroll wide" role="region" aria-label="Scores" tabindex="0"><table>\n<thead><tr>'
    yield "".join(f'<th scope="col"><button type="button">{escape(column)}</button></th>' for column in made.columns)
    yield "</tr></thead>\n<tbody>\n"
    for number, (system, *scores) in enumerate(made.rows):
        name = escape(str(system))
        yield f'<tr><th scope="row" data-value="{name}"><bdi>{name}</bdi></th>'
        for place, (column, score) in enumerate(zip(made.columns[1:], scores, strict=True), start=1):
            page = pages.get(column.rpartition(" ")[2])
            yield _cell(score, page, layout.digits, best=(number, place) in made.marked)
        yield "</tr>\n"
    yield "</tbody>\n</table></div>\n"
    yield "".join(f'<p class="note">{escape(note)}</p>\n' for note in made.notes)


def _cell(score: Value, page: str | None, digits: int, *, best: bool) -> str:
    if score is None:
        return '<td class="number" data-value="">–</td>'
    shown = f"{score:.{digits}f}"
    linked = shown if page is None else f'<a href="{escape(page)}">{shown}</a>'
    return f'<td class="number{" best" if best else ""}" data-value="{score!r}">{linked}</td>'
