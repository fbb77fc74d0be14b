"""Rows of named values, whatever they are about, for people and for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from softbleu.errors import UnknownNameError
from softbleu.report.data import SCHEMA, dump
from softbleu.report.layout import one_line
from softbleu.report.markup import escape_latex, escape_markdown
from softbleu.report.table import Table
from softbleu.report.text import draw_table

if TYPE_CHECKING:
    from softbleu.report.layout import Layout

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Records:
    r"""A table: a value for each column in every row, and facts about the whole.

    >>> records = Records(["word", "similarity"], [["cat", 0.75]], facts={"vectors": "glove-6b-100d"})
    >>> list(RECORD_WRITERS["tsv"](records, None))
    ['word\tsimilarity\n', 'cat\t0.75\n']
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    facts: Mapping[str, Value | Sequence[str]] = field(default_factory=dict)
    """What is true of all rows; before them in text, beside them in JSON."""
    empty: str = "nothing found"
    """What text says where there are no rows."""
    digits: int | None = None
    """Decimals of this table's floats in text, where they are not scores; else those of the layout."""


RecordWriter = Callable[[Records, "Layout"], Iterator[str]]


def records_text(records: Records, layout: Layout) -> Iterator[str]:
    """Write the facts, a line each, and a table."""
    width = max(map(len, records.facts), default=0)
    for name, value in records.facts.items():
        yield f"{name.replace('_', ' '):<{width}}  {one_line(_show(value, records, layout))}\n"
    if not records.columns:
        return
    if records.facts:
        yield "\n"
    if records.rows:
        yield from draw_table(_table(records, layout), [False] * len(records.rows), layout)
    else:
        yield f"{records.empty}\n"


def records_json(records: Records, layout: Layout) -> Iterator[str]:
    """Write one JSON object, a row a line."""
    facts = "".join(f", {dump(name)}: {dump(value)}" for name, value in records.facts.items())
    yield f'{{"schema": {SCHEMA}{facts}'
    if records.columns:
        yield ', "rows": ['
        for number, row in enumerate(records.rows):
            yield (",\n" if number else "\n") + dump(dict(zip(records.columns, row, strict=True)))
        yield "\n]"
    yield "}\n"


def records_jsonl(records: Records, layout: Layout) -> Iterator[str]:
    """Write one JSON object a row; one with the facts where there are no rows."""
    if not records.columns:
        yield dump(dict(records.facts)) + "\n"
    for row in records.rows:
        yield dump(dict(zip(records.columns, row, strict=True))) + "\n"


def records_tsv(records: Records, layout: Layout) -> Iterator[str]:
    """Write a line of column names and a line a row; names and values of the facts where there are no rows."""
    if not records.columns:
        for name, value in records.facts.items():
            yield f"{name}\t{_cell(value)}\n"
        return
    yield "\t".join(records.columns) + "\n"
    for row in records.rows:
        yield "\t".join(map(_cell, row)) + "\n"


def records_markdown(records: Records, layout: Layout) -> Iterator[str]:
    """Write the facts as a list, and a Markdown table."""
    for name, value in records.facts.items():
        yield f"- {name.replace('_', ' ')}: {escape_markdown(_show(value, records, layout))}\n"
    if not records.columns:
        return
    if records.facts:
        yield "\n"
    table = _table(records, layout)
    yield _bars(table.header)
    yield _bars(["---" if number < table.text_columns else "---:" for number in range(len(table.header))])
    yield from (_bars(map(escape_markdown, row)) for row in table.rows)


def records_latex(records: Records, layout: Layout) -> Iterator[str]:
    """Write a LaTeX tabular, for which the document must load booktabs, with the facts as comments.

    Where there are no columns, the facts are the table: a line each, name and value.
    """
    if not records.columns:
        named = [[name.replace("_", " "), _show(value, records, layout)] for name, value in records.facts.items()]
        yield "% needs \\usepackage{booktabs}\n\\begin{tabular}{ll}\n\\toprule\n"
        yield from (f"{' & '.join(map(escape_latex, row))} \\\\\n" for row in named)
        yield "\\bottomrule\n\\end{tabular}\n"
        return
    for name, value in records.facts.items():
        yield f"% {name}: {one_line(_show(value, records, layout))}\n"
    table = _table(records, layout)
    kinds = "l" * table.text_columns + "r" * (len(table.header) - table.text_columns)
    yield f"% needs \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{kinds}}}\n\\toprule\n"
    for number, row in enumerate((table.header, *table.rows)):
        yield f"{' & '.join(map(escape_latex, row))} \\\\\n" + ("\\midrule\n" if number == 0 else "")
    yield "\\bottomrule\n\\end{tabular}\n"


RECORD_WRITERS: dict[str, RecordWriter] = {
    "text": records_text,
    "json": records_json,
    "jsonl": records_jsonl,
    "tsv": records_tsv,
    "markdown": records_markdown,
    "latex": records_latex,
}


def find_record_writer(name: str) -> RecordWriter:
    """Find the writer of records of that name.

    Raises
    ------
    UnknownNameError
        No such format; the message lists those there are.
    """
    if name not in RECORD_WRITERS:
        raise UnknownNameError("format", name, RECORD_WRITERS)
    return RECORD_WRITERS[name]


def _table(records: Records, layout: Layout) -> Table:
    rows = [[_show(value, records, layout) for value in row] for row in records.rows]
    text_columns = next(
        (
            number
            for number, column in enumerate(zip(*records.rows, strict=True))
            if all(_is_number(value) for value in column)
        ),
        len(records.columns),
    )
    return Table([name.replace("_", " ") for name in records.columns], rows, text_columns)


def _is_number(value: Value) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _show(value: Value | Sequence[str], records: Records, layout: Layout) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{layout.digits if records.digits is None else records.digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    return value if isinstance(value, str) else ", ".join(value)


def _cell(value: Value | Sequence[str]) -> str:
    return one_line(value) if isinstance(value, str) else "" if value is None else dump(value)


def _bars(cells: Iterator[str] | Sequence[str] | map[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
