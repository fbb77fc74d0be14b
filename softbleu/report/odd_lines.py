"""A page of what is odd in outputs: systems side by side, and every odd line under the check that it fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from softbleu.errors import one_line
from softbleu.io.tabular import Records
from softbleu.report.html import static_page

if TYPE_CHECKING:
    from softbleu.corpora.checks import Oddities, Oddity
    from softbleu.report.layout import Layout


def write_odd_lines(odd: Oddities, layout: Layout) -> Iterator[str]:
    """Write a page without scripts that a browser opens without any other file and without a network."""
    systems = "1 system" if len(odd.systems) == 1 else f"{len(odd.systems)} systems"
    found = f"{odd.lines:,} lines each, {len(odd.oddities):,} oddities"
    return static_page(f"Odd lines of {systems}", found, _content(odd))


def _content(odd: Oddities) -> Iterator[str]:
    table = Records.of(odd)
    yield from _section("Systems", _table(table.columns, table.rows))
    by_check = {name: [entry for entry in odd.oddities if entry.check == name] for name in table.columns[3:]}
    for name, entries in by_check.items():
        yield from _section(name, _details(entries))


def _section(title: str, content: Iterable[str]) -> Iterator[str]:
    yield f"<section>\n<h2>{escape(title)}</h2>\n"
    yield from content
    yield "</section>\n"


def _details(entries: Sequence[Oddity]) -> Iterator[str]:
    """The odd lines of each system, folded up."""
    ranked = sorted(entries, key=lambda entry: entry.system)
    for system, group in groupby(ranked, key=lambda entry: entry.system):
        rows = [[entry.line, entry.detail, entry.output] for entry in group]
        yield f"<details><summary>{escape(one_line(system))}: {len(rows):,}</summary>\n"
        yield from _table(["line", "detail", "output"], rows)
        yield "</details>\n"


def _table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    heads = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    yield f'<div class="scroll" tabindex="0"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n'
    for row in rows:
        cells = (
            f'<td class="number">{cell:,}</td>'
            if isinstance(cell, int)
            else f'<td dir="auto">{escape(one_line(str(cell)))}</td>'
            for cell in row
        )
        yield f"<tr>{''.join(cells)}</tr>\n"
    yield "</tbody>\n</table></div>\n"
