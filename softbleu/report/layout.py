"""How text for people is laid out: digits, colour, columns that line up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

from softbleu.errors import InputError

MOST_DIGITS = 15
"""A float holds no more decimal digits than these."""


@dataclass(frozen=True)
class Layout:
    """Choices about looks, which no number depends on.

    Parameters
    ----------
    digits : decimals of scores in text and tables; data formats are always in full precision
    colour : whether the text goes to a terminal that shows colours
    long_signature : show settings that have their defaults in text and tables, too
    """

    digits: int = 2
    colour: bool = False
    long_signature: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.digits <= MOST_DIGITS:
            raise InputError(f"the number of digits must be from 0 to {MOST_DIGITS}, not {self.digits}")


def one_line(text: str) -> str:
    r"""Write control characters, line ends and tabs as escapes: names come from outside and may hold anything.

    >>> print(one_line("two\twords\x1b[1m and\na line"))
    two\twords\x1b[1m and\na line
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def display_width(text: str) -> int:
    """Columns that a text takes on a terminal.

    >>> display_width("cat"), display_width("猫")
    (3, 2)
    """
    if text.isascii():
        return len(text)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in ("W", "F") else 1 for char in text)


def align(rows: Sequence[Sequence[str]], right: Sequence[bool], gap: str = "  ") -> Iterator[str]:
    """Lay rows out in columns, flush right where `right` says so, without blanks at the end.

    >>> for line in align([["system", "score"], ["A", "7.5"]], [False, True]):
    ...     print(line)
    system  score
    A         7.5
    """
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            " " * (width - display_width(cell)) + cell if flush else cell + " " * (width - display_width(cell))
            for cell, width, flush in zip(row, widths, right, strict=True)
        )
        yield gap.join(cells).rstrip()
