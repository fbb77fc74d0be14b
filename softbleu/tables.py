"""Tables: rows of named values as text, HTML, plain data, or a data frame of pandas or polars."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from softbleu.errors import MissingExtraError, one_line
from softbleu.types import Cells, Fields

Value = str | int | float | bool | None
_DIGITS = 4  # Decimals of numbers in text


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
        rows = [spread(row) for row in self.records()]
        full = {name for row in rows for name, value in row.items() if value is not None}
        rows = [{name: value for name, value in row.items() if name in full} for row in rows]
        for name in ("pandas", "polars"):
            if find_spec(name) is not None:
                return import_module(name).DataFrame(rows)
        raise MissingExtraError("a data frame needs another package: pip install pandas (or polars)")

    def to_polars(self) -> Any:
        """Make a data frame of polars."""
        if find_spec("polars") is None:
            raise MissingExtraError("a data frame of polars needs another package: pip install polars")
        return import_module("polars").DataFrame([spread(row) for row in self.records()], infer_schema_length=None)

    def __str__(self) -> str:
        """Format the table, with the facts under it."""
        return "\n".join((self._table("plain"), *self._notes()))

    def __repr__(self) -> str:
        """Format the table as `str` does."""
        return str(self)

    def _repr_html_(self) -> str:
        """Format the table as HTML, for notebooks."""
        from html import escape

        return "".join((self._table("html"), *(f"<p><small>{escape(note)}</small></p>" for note in self._notes())))

    def _table(self, form: str) -> str:
        return format_rows(self.records(), form)

    def _notes(self) -> list[str]:
        return [one_line(f"{name}: {value}") for name, value in self.described().items()]


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


def format_rows(rows: Sequence[Mapping[str, object]], form: str = "plain", digits: int = _DIGITS) -> str:
    """Format rows in one of tabulate's forms, such as `plain` and `html`.

    >>> print(format_rows([{"system": "A", "score": 51.5}, {"system": "B", "score": 8.25}]))
    system      score
    A         51.5000
    B          8.2500
    """
    if not rows:
        return "nothing found"
    from tabulate import tabulate

    right = ["right" if isinstance(value, int | float) else "left" for value in rows[0].values()]
    cells = [[_shown(value, digits) for value in row.values()] for row in rows]
    return str(tabulate(cells, list(rows[0]), tablefmt=form, disable_numparse=True, colalign=right))


def _shown(value: object, digits: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.{digits}f}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(_shown(each, digits) for each in value)
    return one_line(str(value))


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
