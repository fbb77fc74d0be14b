"""Tables as text: rows of named values, whatever they are about, to read and for programs; the layout of text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import TypeVar

from softbleu.errors import InputError, Parameter, known_name, one_line, optional
from softbleu.io.tabular import Records, Tabular, Value

LEAST_NAME = 12  # Columns that a name keeps where a table is too wide
GAP = "  "
_LEAST_SCALE = 10  # Scores that reach it are told apart by two decimals
_MOST_DIGITS = 15  # A float holds no more decimal digits than these
BOLD = "1"  # Code of a terminal's bold print
SCHEMA = 1
ALIASES = {"md": "markdown", "tex": "latex"}  # Formats by other names
SUFFIXES = {"text": "txt", **{name: alias for alias, name in ALIASES.items()}}
"""Of files, where they are not the names of the formats."""
Written = Iterator[str] | bytes  # Pieces of text, which together are whole lines; or the bytes of a file
LEAST_P = 0.001  # Below it people are shown no digits
_MARKDOWN = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>|~"})
_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "\N{MINUS SIGN}": "$-$",
        **{char: f"\\{char}" for char in "&%$#_{}"},
    }
)


@dataclass(frozen=True)
class Layout:
    """Choices about looks, which no number depends on. Data formats have numbers and signatures in full."""

    digits: int | None = None  # Decimals of scores in text and tables; None: as many as their scale needs
    colour: bool = False
    long_signature: bool = False  # Whether signatures name settings that have their defaults, too
    spreadsheet: bool = False
    """Whether an apostrophe keeps spreadsheets from computing CSV text that begins with `=`, `+`, `-` or `@`."""
    columns: Sequence[str] = ()  # Of comparisons, those that are chosen; all where none is
    width: int = 0  # Columns of the terminal, which tables of text fit; 0 where there is none

    def __post_init__(self) -> None:
        if self.digits is not None and not 0 <= self.digits <= _MOST_DIGITS:
            raise InputError(f"the number of digits must be from 0 to {_MOST_DIGITS}, not {self.digits}")

    def decimals(self, scores: Iterable[float | None] = (), *, in_percent: bool = True) -> int:
        """Choose the decimals of scores that stand together, unless `digits` are given.

        Scores that are known to be `in_percent` have two; others four where all lie between -1 and 1, or within 1 of
        one another and below 10.

        >>> Layout().decimals([0.8564, 0.8567], in_percent=False), Layout(1).decimals([0.8564], in_percent=False)
        (4, 1)
        >>> Layout().decimals([28.6, 28.7], in_percent=False), Layout().decimals([1.31, 1.3099], in_percent=False)
        (2, 4)
        """
        if self.digits is not None:
            return self.digits
        known = [] if in_percent else [score for score in scores if score is not None and isfinite(score)]
        greatest = max(map(abs, known), default=_LEAST_SCALE)
        near = len(known) > 1 and max(known) - min(known) < 1
        return 4 if greatest <= 1 or (near and greatest < _LEAST_SCALE) else 2

    def styled(self, line: str, code: str) -> str:
        """Put a line between a terminal's codes, where there are colours."""
        return f"\x1b[{code}m{line}\x1b[0m" if self.colour and code else line


def lay_out(
    rows: Sequence[Sequence[str]],
    right: Sequence[bool],
    gap: str = GAP,
    *,
    head: bool = False,
    bold: Collection[tuple[int, int]] = (),
    layout: Layout | None = None,
) -> Iterator[str]:
    """Lay rows out in columns, flush right where `right` says so, without blanks at the end.

    A rule follows the first row if that is the `head`; `bold` has the row and column of cells that stand out.

    >>> for line in lay_out([["system", "score"], ["A", "7.5"]], [False, True], head=True):
    ...     print(line)
    system  score
    ─────────────
    A         7.5
    """
    widths = [max(map(_display_width, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = []
        for index, (cell, width, flush) in enumerate(zip(row, widths, right, strict=True)):
            blanks = " " * (width - _display_width(cell))
            shown = layout.styled(cell, BOLD) if layout and (number, index) in bold else cell
            cells.append(blanks + shown if flush else shown + blanks)
        yield gap.join(cells).rstrip()
        if head and number == 0:
            yield "─" * (sum(widths) + len(gap) * (len(widths) - 1))


def fit(
    rows: Sequence[Sequence[str]], right: Sequence[bool], width: int
) -> Iterator[tuple[list[list[str]], list[int]]]:
    """Cut a table that is too wide: further columns go into tables of their own, and long cells lose their middle.

    Columns before the first that is flush right stand in every table, if the width suffices. Width 0 cuts nothing.
    Yields rows and which columns they have.
    """
    widths = [max(map(_display_width, column)) for column in zip(*rows, strict=True)]
    if not width or _total(widths) <= width:
        yield list(map(list, rows)), list(range(len(widths)))
        return
    names = right.index(True) if True in right else 1
    names = names if _total(widths[:names]) <= width * 2 // 3 else 1
    widths[:names] = [min(size, max(LEAST_NAME, width // 2)) for size in widths[:names]]
    most = max(LEAST_NAME, width - _total(widths[:names]) - len(GAP))
    widths[names:] = [min(size, most) for size in widths[names:]]
    tables = [list(range(names))]
    for column in range(names, len(widths)):
        if _total([*(widths[n] for n in tables[-1]), widths[column]]) > width and len(tables[-1]) > names:
            tables.append(list(range(names)))
        tables[-1].append(column)
    for columns in tables:
        yield [[_shorten(row[n], widths[n]) for n in columns] for row in rows], columns


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _shorten(text: str, most: int) -> str:
    """Leave the ends of a text that is too long.

    >>> _shorten("newstest2013.online-A", 12)
    'newste…ine-A'
    """
    if _display_width(text) <= most:
        return text
    while _display_width(text) >= most:
        middle = len(text) // 2
        text = text[:middle] + text[middle + 1 :]
    middle = -(-len(text) // 2)
    return f"{text[:middle]}…{text[middle:]}"


def _display_width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


Found = TypeVar("Found")
Subject = TypeVar("Subject")


class Formats(dict[str, Found]):
    """Writers by the names of their formats."""

    def find(self, name: str, others: Iterable[str] = ()) -> Found:
        """Find the writer of that name. UnknownNameError: the message lists the formats there are, and others."""
        there = [*self, *others]
        if name.lower() == "html" and "html" not in there:
            pages = "pages are made by softbleu score -f html, and by compare, check and directions"
            raise InputError(f"format {name!r}: {pages}; valid here: {', '.join(there)}")
        return self[known_name("format", ALIASES.get(name.lower(), name), there)]


Writers = Formats[Callable[[Subject, Layout], Written]]


def dump(value: object) -> str:
    """Write JSON on one line; a number that JSON cannot express is an error, never `NaN`."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def json_rows(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Write a JSON array, an object per line."""
    yield "["
    for number, row in enumerate(rows):
        yield (",\n" if number else "\n") + dump(row)
    yield "\n]"


def json_document(facts: Mapping[str, object], **lists: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Write a JSON object: the version of its form, facts, and lists with an object per line."""
    yield dump({"schema": SCHEMA, **facts}).removesuffix("}")
    for name, rows in lists.items():
        yield f', "{name}": '
        yield from json_rows(rows)
    yield "}\n"


def records_text(records: Records, layout: Layout) -> Iterator[str]:
    """Write the facts, a line each, and a table; one that is too wide for a terminal goes on below."""
    records = _without_background(records, layout)
    facts = [list(map(one_line, fact)) for fact in _facts(records, layout)]
    yield from (f"{line}\n" for line in lay_out(facts, [False, False]))
    if facts and records.columns:
        yield "\n"
    if records.rows and records.columns:
        rows = [list(map(one_line, row)) for row in [_header(records), *_cells(records, layout)]]
        right = _flush_right(records)
        for number, (cut, columns) in enumerate(fit(rows, right, layout.width)):
            yield "\n" if number else ""
            bold = {(0, n) for n in range(len(columns))}
            bold |= {(row + 1, columns.index(column)) for row, column in records.marked if column in columns}
            shown = lay_out(cut, [right[n] for n in columns], head=True, bold=bold, layout=layout)
            yield from (f"{line}\n" for line in shown)
    elif records.columns:
        yield f"{records.empty}\n"
    if records.notes:
        yield "\n"
    yield from (f"{one_line(note)}\n" for note in records.notes)


def _without_background(records: Records, layout: Layout) -> Records:
    """Leave out what is in the background; it goes below, each once, where signatures are long."""
    if not records.background:
        return records
    shown = [n for n, name in enumerate(records.columns) if name not in records.background]
    behind = [f"{records.columns[n]}: {row[n]}" for row in records.rows for n in range(len(row)) if n not in shown]
    behind += [f"{name}: {fact}" for name, fact in records.facts.items() if name in records.background]
    return replace(
        with_columns(records, shown),
        facts={name: fact for name, fact in records.facts.items() if name not in records.background},
        notes=[*records.notes, *(dict.fromkeys(behind) if layout.long_signature else ())],
    )


def with_columns(records: Records, places: Sequence[int]) -> Records:
    """Keep the columns at some places, in that order."""
    rows = [[row[place] for place in places] for row in records.rows]
    return replace(records, columns=[records.columns[place] for place in places], rows=rows)


def records_json(records: Records, layout: Layout) -> Iterator[str]:
    """Write one JSON object, a row per line."""
    return json_document(records.facts, **({"rows": records.named_rows()} if records.columns else {}))


def records_jsonl(records: Records, layout: Layout) -> Iterator[str]:
    """Write one JSON object a row; one with the facts where there are no columns."""
    if not records.columns:
        yield dump(dict(records.facts)) + "\n"
    yield from (f"{dump(row)}\n" for row in records.named_rows())


def records_tsv(records: Records, layout: Layout) -> Iterator[str]:
    """Write a line of column names and a line per row; names and values of the facts where there are no columns."""
    for row in _lines(records):
        yield "\t".join(map(one_line, map(_plain, row))) + "\n"


def records_csv(records: Records, layout: Layout) -> Iterator[str]:
    r"""Write the same as comma-separated values of RFC 4180, numbers in full, text as it is.

    >>> from softbleu.report import Layout
    >>> list(records_csv(Records(["system", "score"], [["a, b", 12.5], ["=c", None]]), Layout()))
    ['system,score\n', '"a, b",12.5\n', '=c,\n']
    >>> list(records_csv(Records(["x"], [["=c"]]), Layout(spreadsheet=True)))
    ['x\n', "'=c\n"]
    """
    for row in _lines(records):
        cells = [
            f"'{value}"
            if layout.spreadsheet and isinstance(value, str) and value.startswith(("=", "+", "-", "@"))
            else _plain(value)
            for value in row
        ]
        line = io.StringIO()
        # With this end of line the writer quotes cells that hold either of its characters.
        csv.writer(line, lineterminator="\r\n").writerow(cells)
        yield line.getvalue().removesuffix("\r\n") + "\n"


def records_markdown(records: Records, layout: Layout) -> Iterator[str]:
    """Write the facts as a list, and a Markdown table."""
    records = _without_background(records, layout)
    for name, value in _facts(records, layout):
        yield f"- {name}: {_escape_markdown(value)}\n"
    if records.columns:
        if records.facts:
            yield "\n"
        header = list(map(_escape_markdown, _header(records)))
        cells = [list(map(_escape_markdown, row)) for row in _cells(records, layout)]
        rows = _marked(cells, records, "**{}**")
        yield _tabulated(header, rows, _flush_right(records), "pipe")
    yield from (f"\n{_escape_markdown(note)}\n" for note in records.notes)


def records_latex(records: Records, layout: Layout) -> Iterator[str]:
    """Write a LaTeX tabular, for which the document must load booktabs, with the facts as comments.

    Where there are no columns, the facts are the table: a line each, name and value.
    """
    from tabulate import DataRow, Line, TableFormat

    records = _without_background(records, layout)
    header, right = _latex_row(_header(records)), _flush_right(records)
    rows = _marked(list(map(_latex_row, _cells(records, layout))), records, "\\textbf{{{}}}")
    yield from (f"% {one_line(note)}\n" for note in records.notes)
    if records.columns:
        yield from (f"% {name}: {one_line(_show(fact, records, layout))}\n" for name, fact in records.facts.items())
    else:
        rows, right = list(map(_latex_row, _facts(records, layout))), [False, False]
    kinds = "".join("r" if flush else "l" for flush in right)
    row = DataRow("", " & ", r" \\")
    booktabs = TableFormat(
        lineabove=Line(f"% needs \\usepackage{{booktabs}}\n\\begin{{tabular}}{{{kinds}}}\n\\toprule", "", "", ""),
        linebelowheader=Line("\\midrule", "", "", ""),
        linebetweenrows=None,
        linebelow=Line("\\bottomrule\n\\end{tabular}", "", "", ""),
        headerrow=row,
        datarow=row,
        padding=0,
        with_header_hide=None,
    )
    yield _tabulated(header, rows, right, booktabs)


def _marked(rows: Sequence[Sequence[str]], records: Records, pattern: str) -> list[list[str]]:
    """Put the cells that stand out into a pattern."""
    return [
        [pattern.format(cell) if (row, column) in records.marked else cell for column, cell in enumerate(cells)]
        for row, cells in enumerate(rows)
    ]


def records_parquet(records: Records, layout: Layout) -> bytes:
    """Write Parquet. MissingExtraError: pyarrow is not installed."""
    with optional("parquet", "Parquet"):
        import pyarrow
        import pyarrow.parquet
    rows = [[_text(value) if isinstance(value, str) else value for value in row] for row in records.rows]
    cells = zip(*rows, strict=True) if rows else ([] for _ in records.columns)
    columns = dict(zip(map(_text, records.columns), map(list, cells), strict=True))
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


RECORD_WRITERS: Writers[Records] = Formats(
    {
        "text": records_text,
        "json": records_json,
        "jsonl": records_jsonl,
        "tsv": records_tsv,
        "markdown": records_markdown,
        "latex": records_latex,
        "csv": records_csv,
        "parquet": records_parquet,
    }
)
DATA_FORMATS = ("csv", "tsv", "json", "jsonl", "parquet")
"""Those for programs, which are known by the suffix of a file, too."""
BINARY_FORMATS = ("parquet",)  # Those that are bytes, not text


PROBABILITIES = ("p_value", "corrected")  # Columns of these


def p_text(p_value: float) -> str:
    """Show a p-value; further digits depend on the number of samples alone.

    >>> p_text(0.0301), p_text(0.00003)
    ('0.0301', '< 0.001')
    """
    return f"{p_value:.4f}" if p_value >= LEAST_P else f"< {LEAST_P}"


def _header(records: Records) -> list[str]:
    return [name if name in records.verbatim else name.replace("_", " ") for name in records.columns]


def _cells(records: Records, layout: Layout) -> list[list[str]]:
    return [
        [
            p_text(value)
            if name in PROBABILITIES and isinstance(value, float)
            else _show(value, records, layout, name)
            for name, value in zip(records.columns, row, strict=True)
        ]
        for row in records.rows
    ]


def _facts(records: Records, layout: Layout) -> list[list[str]]:
    return [[name.replace("_", " "), _show(value, records, layout)] for name, value in records.facts.items()]


def _show(value: Value | Sequence[str], records: Records, layout: Layout, column: str = "") -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        digits = records.digits.get(column) if isinstance(records.digits, Mapping) else records.digits
        return f"{value:z.{layout.decimals() if digits is None else digits}f}"
    if isinstance(value, int):
        return f"{value:,}"
    return value if isinstance(value, str) else ", ".join(value)


def _flush_right(records: Records) -> list[bool]:
    left = records.text_columns
    if left is None:
        numeric = (all(map(_is_number, column)) for column in zip(*records.rows, strict=True))
        left = next((number for number, is_number in enumerate(numeric) if is_number), len(records.columns))
    return [number >= left for number in range(len(records.columns))]


def _is_number(value: Value) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _lines(records: Records) -> Iterable[Iterable[Value | Sequence[str]]]:
    return chain([records.columns], records.rows) if records.columns else records.facts.items()


def _plain(value: Value | Sequence[str]) -> str:
    return value if isinstance(value, str) else "" if value is None else dump(value)


def _text(value: str) -> str:
    """Text as UTF-8 can hold it: what is none, as file names may have it, is escaped as in the other formats."""
    return value.encode(errors="backslashreplace").decode()


def _escape_markdown(text: str) -> str:
    return one_line(text).translate(_MARKDOWN)


def _latex_row(cells: Sequence[str]) -> list[str]:
    escaped = [one_line(cell).translate(_LATEX) for cell in cells]
    # After the end of a row, a bracket or a star would be an argument of it.
    return [f"{{}}{escaped[0]}" if escaped[0].startswith(("[", "*")) else escaped[0], *escaped[1:]] if escaped else []


def _tabulated(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], table_format: object
) -> str:
    from tabulate import tabulate

    kinds = ["right" if flush else "left" for flush in right]
    text = tabulate(rows, header, tablefmt=table_format, disable_numparse=True, colalign=kinds)
    return f"{text}\n"


def table_writers(
    make: Callable[[Subject, Layout], Records | list[Records]], names: Iterable[str] = RECORD_WRITERS
) -> dict[str, Callable[[Subject, Layout], Written]]:
    """Writers of what is made into a table first, or into several, which stand one after the other."""
    return {name: partial(_write_made, name, make) for name in names}


def _write_made(
    name: str, make: Callable[[Subject, Layout], Records | list[Records]], subject: Subject, layout: Layout
) -> Written:
    made = make(subject, layout)
    return RECORD_WRITERS[name](made, layout) if isinstance(made, Records) else _in_turn(name, made, layout)


def _in_turn(name: str, tables: Iterable[Records], layout: Layout) -> Iterator[str]:
    for number, table in enumerate(tables):
        yield "\n" if number else ""
        yield from RECORD_WRITERS[name](table, layout)  # type: ignore[misc]  # no bytes are written for people


def _view(table: Tabular, layout: Layout) -> Records:
    return table if isinstance(table, Records) else Records.of(table)


VIEWS: Writers[Tabular] = Formats(table_writers(_view))
"""Writers of what can be looked at as a table."""


def format_by_suffix(name: str | None) -> str:
    """The format that the suffix of a file names; text without one. InputError: none has that suffix."""
    suffix = Path(name or "").suffix.lower().removeprefix(".")
    known = {"txt": "text", **ALIASES, **{key: key for key in (*DATA_FORMATS, "html")}}
    if suffix and suffix not in known:
        said = f"{name}: no format has the suffix .{suffix}: take .{', .'.join(known)}, or name one by "
        raise InputError(said, Parameter("format"))
    return known.get(suffix, "text")
