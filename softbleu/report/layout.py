"""Layout of text: digits, colour, columns that line up."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from softbleu.errors import InputError

LEAST_NAME = 12  # Columns that a name keeps where a table is too wide
GAP = "  "
_MOST_DIGITS = 15  # A float holds no more decimal digits than these
BOLD = "1"  # Code of a terminal's bold print


@dataclass(frozen=True)
class Layout:
    """Choices about looks, which no number depends on. Data formats have numbers and signatures in full."""

    digits: int = 2  # Decimals of scores in text and tables
    colour: bool = False
    long_signature: bool = False  # Whether signatures name settings that have their defaults, too
    spreadsheet: bool = False
    """Whether an apostrophe keeps spreadsheets from computing CSV text that begins with `=`, `+`, `-` or `@`."""
    columns: Sequence[str] = ()  # Of comparisons, those that are chosen; all where none is
    width: int = 0  # Columns of the terminal, which tables of text fit; 0 where there is none

    def __post_init__(self) -> None:
        if not 0 <= self.digits <= _MOST_DIGITS:
            raise InputError(f"the number of digits must be from 0 to {_MOST_DIGITS}, not {self.digits}")

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
