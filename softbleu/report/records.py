"""Tables in every format, for readers and for programs; the layout of text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal, TypeVar

from softbleu.errors import InputError, Parameter, known_name, one_line, optional
from softbleu.tables import PROBABILITIES, Records, Tabular, Value, decimals_of, p_text

LEAST_NAME = 12  # Width that a name keeps in a table that is too wide
GAP = "  "
_MOST_DIGITS = 15  # Decimal digits of a float
BOLD = "1"  # Terminal code of bold print
SCHEMA = 1
Written = Iterator[str] | bytes  # Pieces of text that make whole lines, or the bytes of a file
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
        "≤": r"$\le$",
        "±": r"$\pm$",
        **{char: f"\\{char}" for char in "&%$#_{}"},
    }
)


@dataclass(frozen=True)
class Layout:
    """Appearance of text and tables. Formats for programs have numbers and signatures in full."""

    digits: int | None = None  # Decimals of scores in text and tables; None: by their scale
    colour: bool = False
    long_signature: bool = False  # Whether signatures include settings at their defaults
    spreadsheet: bool = False
    """Whether CSV text that begins with `=`, `+`, `-` or `@` gets an apostrophe that stops spreadsheets."""
    columns: Sequence[str] = ()  # Columns of comparisons; empty: all
    width: int = 0  # Columns of the terminal, to which text tables are fitted; 0: no limit

    def __post_init__(self) -> None:
        if self.digits is not None and not 0 <= self.digits <= _MOST_DIGITS:
            raise InputError(f"the number of digits must be from 0 to {_MOST_DIGITS}, not {self.digits}")

    def decimals(self, scores: Iterable[float | None] = (), *, in_percent: bool = True) -> int:
        """Choose the decimals of scores in one table, unless `digits` are given; see `decimals_of`.

        >>> Layout().decimals([0.8564, 0.8567], in_percent=False), Layout(1).decimals([0.8564], in_percent=False)
        (4, 1)
        """
        return decimals_of(scores, in_percent=in_percent) if self.digits is None else self.digits

    def styled(self, line: str, code: str) -> str:
        """Add terminal codes to a line, if the layout has colours."""
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
    """Lay rows out in columns, aligned right where `right` is true, without trailing blanks.

    With `head` a rule follows the first row; `bold` has the row and column of highlighted cells.

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
    """Cut a table that is too wide into several; long cells lose their middle.

    Columns before the first that is aligned right are repeated in every table, if the width suffices. Width 0 cuts
    nothing. Yields rows and the numbers of their columns.
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
    """Remove the middle of a text that is too long.

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
    """Return the columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


Found = TypeVar("Found")
Subject = TypeVar("Subject")


class Formats(dict[str, Found]):
    """Writers by the names of their formats."""

    def find(self, name: str, others: Iterable[str] = ()) -> Found:
        """Find the writer of a format. UnknownNameError: the message lists these formats and `others`."""
        valid = [*self, *others]
        if name.lower() == "html" and "html" not in valid:
            pages = "only score, compare, check, directions and rankings of metrics make pages"
            raise InputError(f"format {name!r}: {pages}; valid here: {', '.join(valid)}")
        return self[known_name("format", ALIASES.get(name.lower(), name), valid)]


Writers = Formats[Callable[[Subject, Layout], Written]]


def dump(value: object) -> str:
    """Write JSON on one line; numbers that JSON cannot express, such as NaN, are errors."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def json_rows(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Write a JSON array, one object per line."""
    yield "["
    for number, row in enumerate(rows):
        yield (",\n" if number else "\n") + dump(row)
    yield "\n]"


def json_document(facts: Mapping[str, object], **lists: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Write a JSON object: schema version, facts, and lists with one object per line."""
    yield dump({"schema": SCHEMA, **facts}).removesuffix("}")
    for name, rows in lists.items():
        yield f', "{name}": '
        yield from json_rows(rows)
    yield "}\n"


def records_text(records: Records, layout: Layout) -> Iterator[str]:
    """Write the facts, one per line, and a table; columns that do not fit a terminal continue below."""
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
    """Move background columns and facts to the notes if signatures are long; otherwise drop them."""
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
    """Select columns by their places, in this order."""
    rows = [[row[place] for place in places] for row in records.rows]
    return replace(records, columns=[records.columns[place] for place in places], rows=rows)


def records_json(records: Records, layout: Layout) -> Iterator[str]:
    """Write one JSON object, one row per line."""
    return json_document(records.facts, **({"rows": records.named_rows()} if records.columns else {}))


def records_jsonl(records: Records, layout: Layout) -> Iterator[str]:
    """Write one JSON object per row, or one with the facts of a table without columns."""
    if not records.columns:
        yield dump(dict(records.facts)) + "\n"
    yield from (f"{dump(row)}\n" for row in records.named_rows())


def records_tsv(records: Records, layout: Layout) -> Iterator[str]:
    """Write a line of column names and a line per row, or names and values of the facts without columns."""
    for row in _lines(records):
        yield "\t".join(map(one_line, map(_plain, row))) + "\n"


def records_csv(records: Records, layout: Layout) -> Iterator[str]:
    r"""Write comma-separated values (RFC 4180), numbers in full, text unchanged.

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
        # With this line terminator the writer quotes cells that contain either of its characters.
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
    """Write a LaTeX tabular (the document must load booktabs), with the facts as comments.

    Without columns the facts are the table: one name and value per line.
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
    """Format the highlighted cells by a pattern."""
    return [
        [pattern.format(cell) if (row, column) in records.marked else cell for column, cell in enumerate(cells)]
        for row, cells in enumerate(rows)
    ]


def records_parquet(records: Records, layout: Layout) -> bytes:
    """Write Parquet. Raises MissingExtraError if pyarrow is not installed."""
    with optional("parquet", "Parquet"):
        import pyarrow
        import pyarrow.parquet
    rows = [[_text(value) if isinstance(value, str) else value for value in row] for row in records.rows]
    cells = zip(*rows, strict=True) if rows else ([] for _ in records.columns)
    columns = dict(zip(map(_text, records.columns), map(list, cells), strict=True))
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


Audience = Literal["readers", "paper", "programs"]


@dataclass(frozen=True)
class RecordFormat:
    """A format of tables: its writer, its audience, and the suffix of its files if that is not its name."""

    write: Callable[[Records, Layout], Written]
    audience: Audience
    suffix: str = ""
    binary: bool = False


RECORD_FORMATS = {
    "text": RecordFormat(records_text, "readers", "txt"),
    "json": RecordFormat(records_json, "programs"),
    "jsonl": RecordFormat(records_jsonl, "programs"),
    "tsv": RecordFormat(records_tsv, "programs"),
    "markdown": RecordFormat(records_markdown, "readers", "md"),
    "latex": RecordFormat(records_latex, "paper", "tex"),
    "csv": RecordFormat(records_csv, "programs"),
    "parquet": RecordFormat(records_parquet, "programs", binary=True),
}
"""All formats of tables. Commands, suffixes of files and tables for readers or programs follow from these rows."""
RECORD_WRITERS: Writers[Records] = Formats({name: kind.write for name, kind in RECORD_FORMATS.items()})
BINARY_FORMATS = [name for name, kind in RECORD_FORMATS.items() if kind.binary]
ALIASES = {kind.suffix: name for name, kind in RECORD_FORMATS.items() if kind.suffix}


def is_for_readers(name: str) -> bool:
    """Whether a format of tables is for readers, who also get notes."""
    kind = RECORD_FORMATS.get(ALIASES.get(name.lower(), name.lower()))
    return kind is not None and kind.audience != "programs"


def suffix_of(name: str) -> str:
    """Return the suffix of files in a format of tables."""
    kind = RECORD_FORMATS[known_name("format", ALIASES.get(name.lower(), name), RECORD_FORMATS)]
    return kind.suffix or name.lower()


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
    """Escape characters that UTF-8 cannot encode, such as bytes of file names, as the other formats do."""
    return value.encode(errors="backslashreplace").decode()


def _escape_markdown(text: str) -> str:
    return one_line(text).translate(_MARKDOWN)


def _latex_row(cells: Sequence[str]) -> list[str]:
    escaped = [one_line(cell).translate(_LATEX) for cell in cells]
    # A bracket or a star after the end of a row would be parsed as its argument.
    return [f"{{}}{escaped[0]}" if escaped[0].startswith(("[", "*")) else escaped[0], *escaped[1:]] if escaped else []


def _tabulated(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], table_format: object
) -> str:
    from tabulate import tabulate

    kinds = ["right" if flush else "left" for flush in right]
    text = tabulate(rows, header, tablefmt=table_format, disable_numparse=True, colalign=kinds)
    return f"{text}\n"


Made = Records | list[Records]  # One table, or several that are written one after the other


def table_writers(
    programs: Callable[[Subject, Layout], Made],
    readers: Callable[[Subject, Layout], Made] | None = None,
    paper: Callable[[Subject, Layout], Made] | None = None,
    **own: Callable[[Subject, Layout], Written],
) -> Writers[Subject]:
    """Make a writer for every format, which writes the table for its audience; `own` formats have other writers.

    The table for a paper defaults to the one for readers, and that to the one for programs.
    """
    readers = readers or programs
    made = {"programs": programs, "readers": readers, "paper": paper or readers}
    tables = {name: partial(_write_made, kind.write, made[kind.audience]) for name, kind in RECORD_FORMATS.items()}
    return Formats({**tables, **own})


def _write_made(
    write: Callable[[Records, Layout], Written],
    make: Callable[[Subject, Layout], Made],
    subject: Subject,
    layout: Layout,
) -> Written:
    made = make(subject, layout)
    return write(made, layout) if isinstance(made, Records) else _in_turn(write, made, layout)


def _in_turn(write: Callable[[Records, Layout], Written], tables: Iterable[Records], layout: Layout) -> Iterator[str]:
    for number, table in enumerate(tables):
        yield "\n" if number else ""
        written = write(table, layout)
        assert not isinstance(written, bytes), "a binary format holds one table"
        yield from written


def view_table(table: Tabular, layout: Layout) -> Records:
    """Return the table of any value with rows."""
    return table if isinstance(table, Records) else Records.of(table)


VIEWS: Writers[Tabular] = table_writers(view_table)
"""Writers of any value with rows."""


def format_by_suffix(name: str | None) -> str:
    """Return the format for the suffix of a file; text without one. Raises InputError for unknown suffixes."""
    suffix = Path(name or "").suffix.lower().removeprefix(".")
    known = {kind.suffix or name: name for name, kind in RECORD_FORMATS.items()} | {"html": "html"}
    if suffix and suffix not in known:
        said = f"{name}: no format has the suffix .{suffix}: take .{', .'.join(known)}, or name one by "
        raise InputError(said, Parameter("format"))
    return known.get(suffix, "text")
