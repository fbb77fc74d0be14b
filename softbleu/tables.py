"""Tables: rows of named values as text, HTML, plain data, or a data frame of pandas or polars."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from typing import Any, Literal

from softbleu.errors import MissingExtraError, one_line
from softbleu.types import Cells, Fields

Value = str | int | float | bool | None
TableForm = Literal["plain", "html"]
Decimals = int | Mapping[str, int]  # Of floats, for all columns or by column
_DIGITS = 2  # Decimals of numbers in text, unless a table says otherwise
_LEAST_SCALE = 10  # Greater scores have two decimals
PROBABILITIES = ("p_value", "corrected")  # Columns of p-values
SIGNIFICANT = 0.05  # p-values below which differences are marked
LEAST_P = 0.001  # Smaller p-values are shown as "< 0.001"


class Tabular:
    """Base class of results that are rows of named values; a subclass implements `records`."""

    def records(self) -> list[Cells]:
        """Return the rows by column name; each has the same names."""
        raise NotImplementedError

    def described(self) -> Fields:
        """Return facts about all rows, such as signatures."""
        return {}

    def to_dict(self) -> Cells:
        """Return plain data for `json`: the facts, and `rows`."""
        return {**self.described(), "rows": self.records()}

    def to_frame(self) -> Any:
        """Make a data frame of pandas, or of polars if only that is installed; lists have a column per entry.

        Empty columns are left out.
        """
        for name in ("pandas", "polars"):
            if find_spec(name) is not None:
                more = {"infer_schema_length": None} if name == "polars" else {}
                return import_module(name).DataFrame(self._full_rows(), **more)
        raise MissingExtraError("a data frame needs another package: pip install pandas (or polars)")

    def to_polars(self) -> Any:
        """Make a data frame of polars, without empty columns."""
        if find_spec("polars") is None:
            raise MissingExtraError("a data frame of polars needs another package: pip install polars")
        return import_module("polars").DataFrame(self._full_rows(), infer_schema_length=None)

    def _full_rows(self) -> list[Cells]:
        """Return the rows without columns that are empty in all of them; lists have a column per entry."""
        rows = [spread(row) for row in self.records()]
        full = {name for row in rows for name, value in row.items() if value is not None}
        return [{name: value for name, value in row.items() if name in full} for row in rows]

    def __str__(self) -> str:
        """Format the table, with the facts under it."""
        return "\n".join((self._table("plain"), *self._notes()))

    def __repr__(self) -> str:
        """Format the table as `str` does."""
        return str(self)

    def _repr_html_(self) -> str:
        """Format the table as HTML, for notebooks: the best scores in bold, rows in their colours."""
        from html import escape

        notes = (f"<p><small>{escape(note)}</small></p>" for note in self._notes())
        return "".join((self._table("html"), *notes))

    def _table(self, form: TableForm) -> str:
        rows = self._rows()
        colours = [self._colour(row) for row in rows]
        return format_rows(rows, form, self._decimals(), bold=self._bold(rows), colours=colours)

    def _notes(self) -> list[str]:
        shown = {name: _shown(value, name, _DIGITS) for name, value in self.described().items()}
        return [one_line(f"{name}: {value}") for name, value in shown.items()]

    def _rows(self) -> Sequence[Fields]:
        """Rows of the table as it is shown."""
        return self.records()

    def _decimals(self) -> Decimals:
        """Decimals of floats, for all columns or by column."""
        return _DIGITS

    def _bold(self, rows: Sequence[Fields]) -> Collection[tuple[int, str]]:
        """Row and column of the cells in bold."""
        return ()

    def _colour(self, row: Fields) -> str:
        """Colour of a row, in CSS; empty: none."""
        return ""


class Noted(Tabular):
    """Base class of lists of results that keep the notes of their work."""

    @property
    def notes(self: Any) -> tuple[str, ...]:
        """Notes of all results, each once."""
        return tuple(dict.fromkeys(note for result in self for note in result.notes))


@dataclass(frozen=True)
class Records(Tabular):
    r"""A table of columns and rows, with facts; `softbleu.report` writes it.

    >>> table = Records(["word", "similarity"], [["cat", 0.75]], facts={"vectors": "glove-6b-100d"})
    >>> table.to_dict()
    {'vectors': 'glove-6b-100d', 'rows': [{'word': 'cat', 'similarity': 0.75}]}
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]  # None: undefined. Long tables are computed while writers go through them
    facts: Mapping[str, Value | Sequence[str]] = field(default_factory=dict)  # Facts about all rows
    empty: str = "nothing found"  # Text of a table without rows
    digits: int | Mapping[str, int] | None = None
    """Decimals of floats in text, for all columns or by column; None: by the layout."""
    notes: Sequence[str] = ()  # Notes below the table; formats for programs omit them
    text_columns: int | None = None  # First columns that are aligned left; None: all before the first of numbers
    marked: Collection[tuple[int, int]] = ()  # Row and column, from 0, of highlighted cells
    background: Collection[str] = ()  # Columns and facts that are too wide: text has them below the table
    verbatim: Collection[str] = ()  # Columns whose names are shown unchanged

    @classmethod
    def of(cls, table: Tabular) -> Records:
        """Make a table of rows of named values and their facts; missing values are None."""
        rows = table.records()
        columns = list(dict.fromkeys(name for row in rows for name in row))
        return cls(columns, [[row.get(name) for name in columns] for row in rows], table.described())

    def records(self) -> list[Cells]:
        """Return the rows by column name."""
        return list(self.named_rows())

    def named_rows(self) -> Iterator[Cells]:
        """Yield the rows by column name."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def described(self) -> Fields:
        """Return the facts."""
        return self.facts

    def _decimals(self) -> Decimals:
        return _DIGITS if self.digits is None else self.digits

    def _bold(self, rows: Sequence[Fields]) -> Collection[tuple[int, str]]:
        return [(row, self.columns[column]) for row, column in self.marked]


def format_rows(
    rows: Sequence[Fields],
    form: TableForm = "plain",
    digits: Decimals = _DIGITS,
    *,
    bold: Collection[tuple[int, str]] = (),
    colours: Sequence[str] = (),
) -> str:
    """Format rows as text or HTML, which has bold cells, given by row and column, and a colour of each row.

    >>> print(format_rows([{"system": "A", "score": 51.5}, {"system": "B", "score": 8.25}]))
    system      score
    A           51.50
    B            8.25
    """
    if not rows:
        return "nothing found"
    from tabulate import tabulate

    columns = list(dict.fromkeys(name for row in rows for name in row))
    first = {name: next((row[name] for row in rows if row.get(name) is not None), None) for name in columns}
    right = ["right" if isinstance(value, int | float) else "left" for value in first.values()]
    places = {name: digits if isinstance(digits, int) else digits.get(name, _DIGITS) for name in columns}
    cells = [[_shown(row.get(name), name, places[name]) for name in columns] for row in rows]
    if form == "html":
        from html import escape

        columns, tags = list(map(escape, columns)), dict.fromkeys(bold, "b")
        cells = [
            [_tagged(cell, tags.get((number, name), ""), colour) for name, cell in zip(places, row, strict=True)]
            for number, (row, colour) in enumerate(zip(cells, colours or [""] * len(cells), strict=True))
        ]
    tablefmt = "unsafehtml" if form == "html" else form
    return str(tabulate(cells, columns, tablefmt=tablefmt, disable_numparse=True, colalign=right))


def _tagged(cell: str, tag: str, colour: str) -> str:
    """Write a cell as HTML, bold or in a colour."""
    from html import escape

    text = f"<{tag}>{escape(cell)}</{tag}>" if tag else escape(cell)
    return f'<span style="color: {colour}">{text}</span>' if colour and cell else text


def _shown(value: object, column: str, digits: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return p_text(value) if column in PROBABILITIES else f"{value:z.{digits}f}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(_shown(each, column, digits) for each in value)
    return one_line(str(value))


def p_text(p_value: float) -> str:
    """Format a p-value; more digits would depend only on the number of samples.

    >>> p_text(0.0301), p_text(0.00003)
    ('0.0301', '< 0.001')
    """
    return f"{p_value:.4f}" if p_value >= LEAST_P else f"< {LEAST_P}"


def decimals_of(scores: Iterable[float | None], *, in_percent: bool) -> int:
    """Choose the decimals of the scores of one table.

    Scores that are `in_percent` have two; others four if all lie between -1 and 1, or within 1 of each other and
    below 10; otherwise two.

    >>> decimals_of([0.8564, 0.8567], in_percent=False), decimals_of([28.6, 28.7], in_percent=False)
    (4, 2)
    """
    known = [] if in_percent else [score for score in scores if score is not None and isfinite(score)]
    greatest = max(map(abs, known), default=_LEAST_SCALE)
    near = len(known) > 1 and max(known) - min(known) < 1
    return 4 if greatest <= 1 or (near and greatest < _LEAST_SCALE) else 2


def best_places(scores: Sequence[float | None], digits: int, *, higher: bool) -> list[int]:
    """Return the places of the best scores, including scores that print the same with these digits.

    >>> best_places([28.611, None, 28.614, 28.4], 2, higher=True)
    [0, 2]
    """
    known = [score for score in scores if score is not None and score == score]
    best = (max if higher else min)(known, default=None)
    shown = None if best is None else f"{best:z.{digits}f}"
    return [n for n, score in enumerate(scores) if score is not None and f"{score:z.{digits}f}" == shown]


def spread(row: Fields) -> Cells:
    """Spread lists over numbered entries.

    >>> spread({"system": "A", "precisions": [50.0, 25.0]})
    {'system': 'A', 'precisions_1': 50.0, 'precisions_2': 25.0}
    """
    cells: dict[str, object] = {}
    for name, value in row.items():
        if isinstance(value, list | tuple):
            cells |= {f"{name}_{number}": entry for number, entry in enumerate(value, start=1)}
        else:
            cells[name] = value
    return cells
