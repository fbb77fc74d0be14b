"""Columns of numbers as spreadsheets write them: decimal commas, marks of thousands, percentages, U+2212."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from softbleu.errors import InputError

_NUMBER = re.compile(r"[-+]?[\d.,]*\d[.,]?(?:[eE][-+]?\d+)?%?")
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*(?:(?!\1)[.,]\d*)?(?:[eE][-+]?\d+)?")
"""A number whose thousands are set apart by the mark that is captured."""
_BLANKS = re.compile(r"(?<=\d)['\u2019\s](?=\d{3})|\s+(?=%$)")  # Marks of thousands, and what stands before percent
_WAY = "write decimals with a point, and thousands without a mark"


def plain_numbers(
    column: str, places: Sequence[str], cells: Sequence[str], *, decimal_comma: bool = False
) -> list[str]:
    r"""Write the numbers of a column with a decimal point and no other mark; cells that are no numbers stay.

    A mark that a number has twice, or before another mark, sets thousands apart. InputError: commas may be decimal
    or not, or only some numbers are percentages.

    Parameters
    ----------
    column
        Name of the column, for errors.
    places, cells
        Place of each cell, such as ``x.csv, line 2``, and its text.
    decimal_comma
        Whether single commas are decimal, as in CSV with semicolons.

    Examples
    --------
    >>> plain_numbers("score", ["x, line 1", "x, line 2"], ["1,000.5", "\u22122"])
    ['1000.5', '-2']
    >>> plain_numbers("score", ["x, line 1", "x, line 2"], ["0,85", "n/a"])
    ['0.85', 'n/a']
    """
    if not any(set(",%") & {*cell} or not cell.isascii() or " " in cell.strip() for cell in cells):
        return list(cells)

    def refuse(said: str, numbers: Iterable[int]) -> NoReturn:
        shown = {number: f"{cells[number]!r} ({places[number].rpartition(', ')[2]})" for number in numbers}
        raise InputError(f"{places[next(iter(shown))]}: column {column!r} has {' and '.join(shown.values())}: {said}")

    bare = (_BLANKS.sub("", cell.strip().replace("\u2212", "-")) for cell in cells)
    known = {number: cell for number, cell in enumerate(bare) if _NUMBER.fullmatch(cell)}
    percentages = {cell.endswith("%"): number for number, cell in known.items()}
    if len(percentages) > 1:
        refuse("write all as percentages, or none", percentages.values())
    known = {number: cell.rstrip("%") for number, cell in known.items()}
    marks, sure = _decimal_marks(known)
    if len(marks) > 1:
        refuse(_WAY, marks.values())
    decimal = next(iter(marks), ".")
    if decimal == "," and not (sure or decimal_comma):
        commas = [number for number, cell in known.items() if "," in cell]
        if all(_GROUPED.fullmatch(known[number]) for number in commas):
            refuse(f"thousands, or decimals? {_WAY.capitalize()}", commas[:1])
    plain, thousands = list(cells), ",."[decimal == ","]
    for number, cell in known.items():
        grouped = _GROUPED.fullmatch(cell)
        if thousands in cell and (grouped is None or grouped[1] != thousands):
            refuse(_WAY, [number])
        plain[number] = cell.replace(thousands, "").replace(decimal, ".")
    return plain


def _decimal_marks(numbers: Mapping[int, str]) -> tuple[dict[str, int], bool]:
    """Find decimal marks, each with a number that has it; also return whether marks of thousands show them.

    >>> _decimal_marks({0: "1.234,5", 1: "1.234"}), _decimal_marks({0: "0,5", 1: "1.234"})
    (({',': 0}, True), ({',': 0, '.': 1}, False))
    """
    shown: dict[str, int] = {}
    single: dict[str, int] = {}
    for number, cell in numbers.items():
        marks = re.findall("[.,]", cell)
        if len(marks) > 1:
            shown.setdefault(marks[-1] if len({*marks}) > 1 else ",.".replace(marks[0], ""), number)
        elif marks:
            single.setdefault(marks[0], number)
    return (shown, True) if shown else (single, False)
