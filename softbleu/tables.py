"""Tables: rows of named values, and columns that say how readers see them; `softbleu.formats` writes them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from math import isfinite
from typing import Any, TypeVar

from softbleu.errors import MissingExtraError, one_line
from softbleu.types import Cells, Fields

_Item = TypeVar("_Item")
Value = str | int | float | bool | None
DIGITS = 2  # Decimals of numbers in text, unless a table says otherwise
_LEAST_SCALE = 10  # Greater scores have two decimals
PROBABILITIES = ("p_value", "corrected")  # Columns of p-values
SIGNIFICANT = 0.05  # p-values below which differences are marked
TOO_FEW = "too few lines"  # In the place of p, where there is no test
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

    def as_table(self) -> Table:
        """Return the table for readers: the rows, with the facts under it."""
        made = Table.of(self.records(), colour=getattr(self, "colour", None))
        return made.with_facts_below(self.described())

    def __str__(self) -> str:
        """Format the table, with the facts under it."""
        return self._written("as_text").rstrip("\n")

    def __repr__(self) -> str:
        """Format the table as `str` does."""
        return str(self)

    def _repr_html_(self) -> str:
        """Format the table as HTML, for notebooks: the best scores in bold, rows in their colours."""
        return self._written("as_html")

    def _written(self, writer: str) -> str:
        formats = import_module("softbleu.formats")  # Writers know tables, and tables only that there are writers
        return "".join(getattr(formats, writer)(self.as_table(), formats.Layout()))


class ResultList(Tabular, list[_Item]):
    """A list of results that can be looked at as a table: of their own rows, or of their fields."""

    def records(self) -> list[Cells]:
        """Return the rows of all results."""
        return [row for item in self for row in (item.records() if hasattr(item, "records") else [vars(item)])]

    @property
    def colour(self) -> Callable[[Fields], str] | None:
        """Colour of the rows of the results, in CSS."""
        return getattr(self[0], "colour", None) if self else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of all results, each once."""
        return tuple(dict.fromkeys(note for item in self for note in getattr(item, "notes", ())))


@dataclass(frozen=True)
class TableColumn:
    """A column for readers: the value that stands in it, how it looks, and which way is better.

    >>> TableColumn("score", "BLEU", digits=1, ends=("low", "high")).cell({"score": 7.0, "low": 6.5, "high": 8.0})
    '7.0 [6.5, 8.0]'
    """

    name: str  # Key of the value in the rows
    head: str | None = None  # None: the name, with blanks
    form: str = ""  # A form of `CELL_FORMS`; empty: by the value
    digits: int | None = None  # Decimals; None: as many as the table has
    sign: str = ""  # `+`: always with a sign
    ends: tuple[str, str] | None = None  # Keys of the ends of an interval, which follows the number
    better: int = 0  # 1: greater is better, -1: less is; the best of each group are highlighted
    missing: str = "-"  # Cell without a value
    text: Callable[[Fields, int], str] | None = None  # Makes the cell from the row and the decimals in another way

    @property
    def title(self) -> str:
        """Head for readers."""
        return self.name.replace("_", " ") if self.head is None else self.head

    @property
    def is_number(self) -> bool:
        """Whether cells are numbers and nothing else."""
        return self.text is None and self.ends is None and self.form != "p"

    def cell(self, row: Fields, digits: int = DIGITS) -> str:
        """Format the value of a row for readers, numbers with so many decimals unless the column says otherwise."""
        digits = digits if self.digits is None else self.digits
        if self.text is not None:
            return self.text(row, digits)
        value = row.get(self.name)
        if value is None:
            return self.missing
        if self.form:
            return CELL_FORMS[self.form](value, digits, row)
        if isinstance(value, float) and self.name in PROBABILITIES:
            return p_text(value, row)
        shown = self._shown(value, digits)
        if self.ends is None or row.get(self.ends[0]) is None:
            return shown
        low, high = (self._shown(row[end], digits) for end in self.ends)
        return f"{shown} [{low}, {high}]"

    def _shown(self, value: Any, digits: int) -> str:
        if isinstance(value, float):
            return f"{value:{self.sign}z.{digits}f}"
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int):
            return f"{value:,}"
        if isinstance(value, str):
            return value
        return (" to " if isinstance(value, tuple) else ", ").join(self._shown(part, digits) for part in value)


def _p_form(value: float, digits: int, row: Fields) -> str:
    """Format a p-value, with a star if it is significant.

    >>> _p_form(0.0099, 2, {"p_value": 0.0099, "floor": 0.0099}), _p_form(0.2, 2, {})
    ('≤ 0.0099*', '0.2000 ')
    """
    return p_text(value, row) + ("*" if value < SIGNIFICANT else " ")


def is_significant(row: Fields) -> bool:
    """Whether a row of a comparison differs from the baseline, after correction."""
    return row["corrected"] is not None and row["corrected"] < SIGNIFICANT


def _number_form(decimals: Callable[[int], int], *, whole: bool = False) -> Callable[[Any, int, Fields], str]:
    """Make the form of a unit of numbers: its decimals, and whether whole numbers have none; pairs are `a to b`."""

    def shown(value: Any, digits: int, row: Fields) -> str:
        if isinstance(value, tuple):
            return " to ".join(shown(part, digits, row) for part in value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return str(value)
        if isinstance(value, int) or (whole and value.is_integer()):
            return f"{int(value):,}"
        return f"{value:,.{decimals(digits)}f}"

    return shown


CELL_FORMS: dict[str, Callable[[Any, int, Fields], str]] = {
    "p": _p_form,
    "starred": lambda value, digits, row: f"{value:z.{digits}f}{'*' * is_significant(row)}",
    "text": lambda value, digits, row: str(value),
    "score": _number_form(lambda digits: digits),
    "per cent": _number_form(lambda digits: digits),
    "ratio": _number_form(lambda digits: digits + 2),
    "count": _number_form(lambda digits: digits, whole=True),
    "tokens": _number_form(lambda digits: 1, whole=True),
}
"""Forms of cells by name: a function of the value, the decimals and the row."""


@dataclass(frozen=True)
class Table(Tabular):
    r"""Rows of values, with facts about all; programs get every column in full, readers those of `shown`.

    >>> table = Table(["word", "similarity"], [["cat", 0.75]], facts={"vectors": "glove-6b-100d"})
    >>> table.to_dict()
    {'vectors': 'glove-6b-100d', 'rows': [{'word': 'cat', 'similarity': 0.75}]}
    >>> print(table)
    vectors  glove-6b-100d
    <BLANKLINE>
    word  similarity
    ────────────────
    cat         0.75
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]  # None: undefined. Long tables are computed while writers go through them
    facts: Mapping[str, Value | Sequence[str]] = field(default_factory=dict)  # Facts about all rows
    empty: str = "nothing found"  # Text of a table without rows
    digits: int | Callable[[Fields], int] | None = (
        None  # Decimals of floats in text, or of a row; None: by the layout
    )
    notes: Sequence[str] = ()  # Notes below the table; formats for programs omit them
    text_columns: int | None = None  # First columns that are aligned left; None: all before the first of numbers
    marked: Collection[tuple[int, int]] = ()  # Row and column, from 0, of further highlighted cells
    background: Collection[str] = ()  # Columns and facts that are too wide: text has them below the table
    verbatim: Collection[str] = ()  # Columns whose names are shown unchanged
    shown: Sequence[TableColumn] = ()  # What readers see; empty: all columns
    group: Callable[[Fields], object] | None = None  # The best of each group of rows are highlighted; None: of all
    lead: str = ""  # The finding, which readers see above the table
    also: str = ""  # TableColumn that is highlighted with the best
    colour: Callable[[Fields], str] | None = None  # Colour of a row in HTML, in CSS
    wrapped: bool = False  # Whether sentences of facts and of the last column are wrapped in text

    @classmethod
    def of(cls, table: Tabular | Iterable[Fields], columns: Sequence[str] = (), **more: Any) -> Table:
        """Make a table of rows of named values, and of their facts; missing values are None."""
        rows = table.records() if isinstance(table, Tabular) else [*table]
        columns = columns or list(dict.fromkeys(name for row in rows for name in row))
        facts = {"facts": table.described()} if isinstance(table, Tabular) else {}
        return cls(columns, [[row.get(name) for name in columns] for row in rows], **facts | more)

    def with_facts_below(self, facts: Fields) -> Table:
        """Return the table with these facts as further notes."""
        return replace(self, notes=[*self.notes, *(f"{name}: {TableColumn(name).cell(facts)}" for name in facts)])

    def as_table(self) -> Table:
        """Return the table itself."""
        return self

    def records(self) -> list[Cells]:
        """Return the rows by column name."""
        return list(self.named_rows())

    def named_rows(self) -> Iterator[Cells]:
        """Yield the rows by column name."""
        return (dict(zip(self.columns, row, strict=True)) for row in self.rows)

    def described(self) -> Fields:
        """Return the facts."""
        return self.facts

    @property
    def seen(self) -> Sequence[TableColumn]:
        """Columns for readers, without those in the background."""
        shown = (name for name in self.columns if name not in self.background)
        return self.shown or [TableColumn(name, name if name in self.verbatim else None) for name in shown]

    def cells(self, digits: int = DIGITS) -> list[list[str]]:
        """Format the cells for readers, row by row, each on one line."""
        seen = self.seen
        return [
            [one_line(column.cell(row, self._decimals(row, digits))) for column in seen] for row in self.named_rows()
        ]

    def _decimals(self, row: Fields, digits: int) -> int:
        return self.digits(row) if callable(self.digits) else digits if self.digits is None else self.digits

    def highlighted(self, digits: int = DIGITS) -> set[tuple[int, int]]:
        """Return row and column of the cells that stand out: the marked, and the best of each column and group."""
        seen, made = self.seen, set(self.marked)
        also = [place for place, column in enumerate(seen) if column.name == self.also]
        for place, column in enumerate(seen):
            groups: dict[object, list[tuple[int, Fields]]] = {}
            for number, row in enumerate(self.named_rows() if column.better else ()):
                groups.setdefault(None if self.group is None else self.group(row), []).append((number, row))
            for rows in groups.values():
                (_, first), scores = rows[0], [row[column.name] for _, row in rows]
                higher = (column.better > 0) == (first.get("better") != "lower")
                shown = self._decimals(first, digits) if column.digits is None else column.digits
                best = [rows[n][0] for n in best_places(scores, shown, higher=higher)]
                made |= {(number, at) for number in best for at in (place, *also)}
        return made


def p_text(p_value: float, row: Fields) -> str:
    """Format a p-value of a row, with a sign if no draw could have made it less; more digits would be those of draws.

    >>> p_text(0.0301, {}), p_text(0.00003, {}), p_text(0.0301, {"p_value": 0.001, "floor": 0.001})
    ('0.0301', '< 0.001', '≤ 0.0301')
    """
    if p_value < LEAST_P:
        return f"< {LEAST_P}"
    plain, floor = row.get("p_value"), row.get("floor")
    at_floor = plain is not None and floor is not None and plain <= floor
    return f"{'≤ ' * at_floor}{p_value:.4f}"


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
