"""Tables in every format, for readers and for programs: one renderer; the layout of text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import Literal, TypeVar

from softbleu.errors import InputError, Parameter, known_name, one_line, optional
from softbleu.tables import Table, TableColumn, Tabular, Value, decimals_of

LEAST_NAME = 12  # Width that a name keeps in a table that is too wide
GAP = "  "
_LEAST_TEXT, _WIDTH = 24, 80  # Columns of wrapped text, and of a terminal that is none
NUMBER = ' class="number"'  # Attribute of the heads of numbers in HTML, which stand above them
_MOST_DIGITS = 15  # Decimal digits of a float
BOLD, DIM = "1", "2"  # Terminal codes of print
SCHEMA = 1
FACTS = ("name", "fact")  # Columns of a table of facts alone, which has no heads
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
    unsigned: str = ""  # Note in the place of signatures; empty: these
    long_signature: bool = False  # Whether signatures include settings at their defaults
    spreadsheet: bool = False
    """Whether CSV text that begins with `=`, `+`, `-` or `@` gets an apostrophe that stops spreadsheets."""
    columns: Sequence[str] = ()  # Columns of comparisons; empty: all
    verdicts: bool = True  # Whether a sentence names the system with the best score
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
            raise InputError(f"format {name!r}: this table has no page; valid here: {', '.join(valid)}")
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
    yield dump({"schema": SCHEMA} | {**facts}).removesuffix("}")
    for name, rows in lists.items():
        yield f', "{name}": '
        yield from json_rows(rows)
    yield "}\n"


def as_text(table: Table, layout: Layout) -> Iterator[str]:
    """Write the finding, the facts, one per line, and a table; columns that do not fit a terminal continue below."""
    yield f"{layout.styled(one_line(table.lead), BOLD)}\n\n" if table.lead else ""
    facts = [list(map(one_line, fact)) for fact in _facts(table, layout)]
    facts = _wrapped(facts, layout) if table.wrapped else facts
    yield from (f"{line}\n" for line in lay_out(facts, [False, False]))
    if facts and table.columns:
        yield "\n"
    if table.rows and table.columns:
        rows, right = [_heads(table), *table.cells(layout.decimals())], _flush_right(table)
        rows = _wrapped(rows, layout) if table.wrapped else rows
        best = table.highlighted(layout.decimals()) if layout.colour else ()
        for number, (cut, columns) in enumerate(fit(rows, right, layout.width)):
            yield "\n" if number else ""
            bold = {(0, n) for n in range(len(columns))}
            bold |= {(row + 1, columns.index(column)) for row, column in best if column in columns}
            shown = lay_out(cut, [right[n] for n in columns], head=True, bold=bold, layout=layout)
            yield from (f"{line}\n" for line in shown)
    elif table.columns:
        yield f"{table.empty}\n"
    notes = _notes(table, layout)
    if notes:
        yield "\n"
    yield from (f"{layout.styled(one_line(note), DIM)}\n" for note in notes)


def _wrapped(rows: Sequence[Sequence[str]], layout: Layout) -> list[list[str]]:
    """Wrap the last cell of each row, in rows of their own, to the width of the terminal, or else 80 columns."""
    others = [max(map(_display_width, column)) for column in zip(*rows, strict=True)][:-1]
    room = max(_LEAST_TEXT, (layout.width or _WIDTH) - _total([*others, 0]))
    return [
        [*(cells if number == 0 else [""] * len(cells)), line]
        for *cells, text in rows
        for number, line in enumerate(wrap(text, room, break_on_hyphens=False) or [""])
    ]


def with_columns(table: Table, places: Sequence[int]) -> Table:
    """Select columns by their places, in this order."""
    rows = [[row[place] for place in places] for row in table.rows]
    return replace(table, columns=[table.columns[place] for place in places], rows=rows)


def as_json(table: Table, layout: Layout) -> Iterator[str]:
    """Write one JSON object, one row per line."""
    return json_document(table.facts, **({"rows": table.named_rows()} if table.columns else {}))


def as_jsonl(table: Table, layout: Layout) -> Iterator[str]:
    """Write one JSON object per row, or one with the facts of a table without columns."""
    if not table.columns:
        yield dump(dict(table.facts)) + "\n"
    yield from (f"{dump(row)}\n" for row in table.named_rows())


def as_tsv(table: Table, layout: Layout) -> Iterator[str]:
    """Write a line of column names and a line per row, or names and values of the facts without columns."""
    for row in _lines(table):
        yield "\t".join(map(one_line, map(_plain, row))) + "\n"


def as_csv(table: Table, layout: Layout) -> Iterator[str]:
    r"""Write comma-separated values (RFC 4180), numbers in full, text unchanged.

    >>> from softbleu.formats import Layout
    >>> list(as_csv(Table(["system", "score"], [["a, b", 12.5], ["=c", None]]), Layout()))
    ['system,score\n', '"a, b",12.5\n', '=c,\n']
    >>> list(as_csv(Table(["x"], [["=c"]]), Layout(spreadsheet=True)))
    ['x\n', "'=c\n"]
    """
    for row in _lines(table):
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


def as_markdown(table: Table, layout: Layout) -> Iterator[str]:
    """Write the finding, the facts as a list, and a Markdown table."""
    facts = _facts(table, layout)
    yield f"{_escape_markdown(table.lead)}\n\n" if table.lead else ""
    yield from (f"- {name}: {_escape_markdown(value)}\n" for name, value in facts)
    if table.columns:
        yield "\n" if facts else ""
        yield _ruled(table, layout, lambda row: list(map(_escape_markdown, row)), "**{}**", "pipe")
    yield from (f"\n{_escape_markdown(note)}\n" for note in _notes(table, layout))


def as_latex(table: Table, layout: Layout) -> Iterator[str]:
    """Write a LaTeX tabular (the document must load booktabs), with the facts as comments.

    Without columns the facts are the table: one name and value per line.
    """
    from tabulate import DataRow, Line, TableFormat

    facts = _facts(table, layout, blanks=False)
    said = [*[table.lead] * bool(table.lead), *_notes(table, layout)]
    yield from (f"% {one_line(note)}\n" for note in said)
    if table.columns:
        yield from (f"% {name}: {one_line(fact)}\n" for name, fact in facts)
    else:
        table = Table(FACTS, [[name.replace("_", " "), fact] for name, fact in facts], text_columns=2)
    kinds = "".join("r" if flush else "l" for flush in _flush_right(table))
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
    yield _ruled(table, layout, _latex_row, "\\textbf{{{}}}", booktabs)


def _ruled(
    table: Table, layout: Layout, escaped: Callable[[Sequence[str]], list[str]], strong: str, form: object
) -> str:
    """Write a table by tabulate, the cells that stand out by a pattern."""
    from tabulate import tabulate

    best = table.highlighted(layout.decimals())
    rows = [
        [strong.format(cell) if (row, column) in best else cell for column, cell in enumerate(escaped(cells))]
        for row, cells in enumerate(table.cells(layout.decimals()))
    ]
    kinds = ["right" if flush else "left" for flush in _flush_right(table)]
    heads = escaped(_heads(table)) if table.columns != FACTS else []
    return f"{tabulate(rows, heads, tablefmt=form, disable_numparse=True, colalign=kinds)}\n"


def as_html(table: Table, layout: Layout) -> Iterator[str]:
    """Write an HTML table, the best cells bold and rows in their colours, with facts and notes below it."""
    best, seen, named = table.highlighted(layout.decimals()), table.seen, [*table.named_rows()]
    numeric = [
        column.is_number and any(isinstance(row.get(column.name), int | float) for row in named) for column in seen
    ]
    heads = "".join(
        f'<th scope="col"{NUMBER * above}>{escape(head)}</th>'
        for head, above in zip(_heads(table), numeric, strict=True)
    )
    yield f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n"
    rows = zip(named, table.cells(layout.decimals()), strict=True)
    for number, (row, cells) in enumerate(rows):
        colour = "" if table.colour is None else table.colour(row)
        made = []
        for place, (column, text) in enumerate(zip(seen, cells, strict=True)):
            is_number = numeric[place] and not isinstance(row.get(column.name), str)
            shown = f"<b>{escape(text)}</b>" if (number, place) in best else escape(text)
            shown = f'<span style="color: {colour}">{shown}</span>' if colour and text else shown
            kind = 'class="number"' if is_number else 'dir="auto"'
            made.append(f"<td {kind}>{shown}</td>")
        yield f"<tr>{''.join(made)}</tr>\n"
    yield "</tbody>\n</table>"
    said = [*(f"{name}: {fact}" for name, fact in _facts(table, layout)), *_notes(table, layout)]
    yield from (f"<p><small>{escape(one_line(note))}</small></p>" for note in said)


def as_parquet(table: Table, layout: Layout) -> bytes:
    """Write Parquet. Raises MissingExtraError if pyarrow is not installed."""
    with optional("parquet", "Parquet"):
        import pyarrow
        import pyarrow.parquet
    rows = [[_text(value) if isinstance(value, str) else value for value in row] for row in table.rows]
    cells = zip(*rows, strict=True) if rows else ([] for _ in table.columns)
    columns = dict(zip(map(_text, table.columns), map(list, cells), strict=True))
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


Audience = Literal["readers", "paper", "programs"]


@dataclass(frozen=True)
class Format:
    """A format of tables: its writer, its audience, and the suffix of its files if that is not its name."""

    write: Callable[[Table, Layout], Written]
    audience: Audience
    suffix: str = ""
    binary: bool = False


TABLE_FORMATS = {
    "text": Format(as_text, "readers", "txt"),
    "json": Format(as_json, "programs"),
    "jsonl": Format(as_jsonl, "programs"),
    "tsv": Format(as_tsv, "programs"),
    "markdown": Format(as_markdown, "readers", "md"),
    "latex": Format(as_latex, "paper", "tex"),
    "csv": Format(as_csv, "programs"),
    "parquet": Format(as_parquet, "programs", binary=True),
}
"""All formats of tables. Commands, suffixes of files and tables for readers or programs follow from these rows."""
BINARY_FORMATS = [name for name, kind in TABLE_FORMATS.items() if kind.binary]
ALIASES = {kind.suffix: name for name, kind in TABLE_FORMATS.items() if kind.suffix}


def is_for_readers(name: str) -> bool:
    """Whether a format of tables is for readers, who also get notes."""
    kind = TABLE_FORMATS.get(ALIASES.get(name.lower(), name.lower()))
    return kind is not None and kind.audience != "programs"


def suffix_of(name: str) -> str:
    """Return the suffix of files in a format of tables."""
    kind = TABLE_FORMATS[known_name("format", ALIASES.get(name.lower(), name), TABLE_FORMATS)]
    return kind.suffix or name.lower()


def _heads(table: Table) -> list[str]:
    return [one_line(column.title) for column in table.seen]


def _facts(table: Table, layout: Layout, *, blanks: bool = True) -> list[list[str]]:
    digits = table.digits if isinstance(table.digits, int) else layout.decimals()
    return [
        [name.replace("_", " ") if blanks else name, TableColumn(name).cell(table.facts, digits)]
        for name in table.facts
        if name not in table.background
    ]


def _notes(table: Table, layout: Layout) -> list[str]:
    """Return the notes; below them columns and facts in the background, if signatures are long."""
    if not table.background or not layout.long_signature:
        return [*table.notes]
    behind = [
        f"{name}: {row[name]}" for row in table.named_rows() for name in table.columns if name in table.background
    ]
    behind += [f"{name}: {fact}" for name, fact in table.facts.items() if name in table.background]
    return [*table.notes, *dict.fromkeys(behind)]


def _flush_right(table: Table) -> list[bool]:
    seen, left = table.seen, table.text_columns
    if left is None:
        rows = [*table.named_rows()]
        numeric = (bool(rows) and all(_is_number(row.get(column.name)) for row in rows) for column in seen)
        left = next((number for number, is_number in enumerate(numeric) if is_number), len(seen))
    return [number >= left for number in range(len(seen))]


def _is_number(value: Value) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _lines(table: Table) -> Iterable[Iterable[Value | Sequence[str]]]:
    return chain([table.columns], table.rows) if table.columns else table.facts.items()


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


Made = Table | list[Table]  # One table, or several that are written one after the other


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
    tables = {name: partial(_write_made, kind.write, made[kind.audience]) for name, kind in TABLE_FORMATS.items()}
    return Formats({**tables, **own})


def _write_made(
    write: Callable[[Table, Layout], Written],
    make: Callable[[Subject, Layout], Made],
    subject: Subject,
    layout: Layout,
) -> Written:
    made = make(subject, layout)
    return write(made, layout) if isinstance(made, Table) else _in_turn(write, made, layout)


def _in_turn(write: Callable[[Table, Layout], Written], tables: Iterable[Table], layout: Layout) -> Iterator[str]:
    for number, table in enumerate(tables):
        yield "\n" if number else ""
        written = write(table, layout)
        assert not isinstance(written, bytes), "a binary format holds one table"
        yield from written


def view_table(found: Tabular | list[Table], layout: Layout) -> Made:
    """Return the tables of any value with rows."""
    if isinstance(found, Table) or not isinstance(found, Tabular):
        return found
    return Table.of(found)


TABLE_WRITERS: Writers[Tabular | list[Table]] = table_writers(view_table)
"""Writers of any value with rows, and of several tables."""


def format_by_suffix(name: str | None) -> str:
    """Return the format for the suffix of a file; text without one. Raises InputError for unknown suffixes."""
    suffix = Path(name or "").suffix.lower().removeprefix(".")
    known = {kind.suffix or name: name for name, kind in TABLE_FORMATS.items()} | {"html": "html"}
    if suffix and suffix not in known:
        said = f"{name}: no format has the suffix .{suffix}: take .{', .'.join(known)}, or name one by "
        raise InputError(said, Parameter("format"))
    return known.get(suffix, "text")
