"""How text for people is laid out: digits, colour, columns that line up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from softbleu.errors import InputError

_MOST_DIGITS = 15
"""A float holds no more decimal digits than these."""
BOLD = "1"
"""Code of a terminal's bold print."""


@dataclass(frozen=True)
class Layout:
    """Choices about looks, which no number depends on.

    Parameters
    ----------
    digits : decimals of scores in text and tables; data formats are always in full precision
    colour : whether the text goes to a terminal that shows colours
    long_signature : whether people are shown what has its default, too; data formats always have it
    spreadsheet : whether an apostrophe keeps spreadsheets from computing CSV text that begins with ``=``, ``+``,
        ``-`` or ``@``
    """

    digits: int = 2
    colour: bool = False
    long_signature: bool = False
    spreadsheet: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.digits <= _MOST_DIGITS:
            raise InputError(f"the number of digits must be from 0 to {_MOST_DIGITS}, not {self.digits}")

    def styled(self, line: str, code: str) -> str:
        """Put a line between a terminal's codes, where there are colours."""
        return f"\x1b[{code}m{line}\x1b[0m" if self.colour and code else line


def one_line(text: str) -> str:
    r"""Write control characters, line ends and tabs as escapes: names come from outside and may hold anything.

    >>> print(one_line("two\twords\x1b[1m and\na line"))
    two\twords\x1b[1m and\na line
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def align(
    rows: Sequence[Sequence[str]], right: Sequence[bool], gap: str = "  ", *, head: bool = False
) -> Iterator[str]:
    """Lay rows out in columns, flush right where `right` says so, without blanks at the end.

    A rule follows the first row if that is the `head`.

    >>> for line in align([["system", "score"], ["A", "7.5"]], [False, True], head=True):
    ...     print(line)
    system  score
    ─────────────
    A         7.5
    """
    widths = [max(map(_display_width, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        cells = (
            " " * (width - _display_width(cell)) + cell if flush else cell + " " * (width - _display_width(cell))
            for cell, width, flush in zip(row, widths, right, strict=True)
        )
        yield gap.join(cells).rstrip()
        if head and number == 0:
            yield "─" * (sum(widths) + len(gap) * (len(widths) - 1))


def _display_width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
