"""Tables of edit distances, a bit a cell, with the distances and alignments of sacrebleu's tables."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

_HALF_WIDTH = 25  # Cells of a row on each side of the diagonal; others are not looked at


class Edits(NamedTuple):
    """How the cheapest edits make a reference of a candidate."""

    behind: list[int]  # How many words of the candidate lie before the end of the reference's first 0, 1, 2, … words
    wrong: list[int]  # How many of the candidate's first 0, 1, 2, … words meet no equal word
    missed: list[int]  # How many of the reference's do not


class _Row(NamedTuple):
    """A row from `low` to `high`: bits are differences of neighbours, that of `base` and `base` + 1 the lowest."""

    low: int
    high: int
    base: int
    step: int  # How much further its base is than that of the row above
    new: int  # Bits beyond the row above
    bits: int
    meeting: int  # Bits of cells with a cell of the row above on their left: where words can meet


@lru_cache(maxsize=1 << 12)
def _rows(candidate: int, reference: int) -> list[_Row]:
    """Rows about the diagonal of a table of so many words, from the row of no word, which has all cells."""
    slope = reference / candidate
    half = math.ceil(slope / 2 + _HALF_WIDTH) if slope / 2 > _HALF_WIDTH else _HALF_WIDTH
    rows = [_Row(0, reference, max(0, math.floor(slope) - half - 1), 0, 0, 0, 0)]
    for number in range(1, candidate + 1):
        above, centre = rows[-1], math.floor(number * slope)
        low = max(0, centre - half)
        high = reference if number == candidate else min(reference, centre + half - 1)
        base = max(0, low - 1)
        bits = (1 << (high - base)) - 1
        new = bits >> (above.high - base) << (above.high - base)
        last = min(high, above.high + 1)
        meeting = (1 << (last - base)) - (1 << max(low - 1, above.low) - base)
        rows.append(_Row(low, high, base, base - above.base, new, bits, meeting))
    return rows


def surely_within(candidate: int, reference: int) -> int:
    """Edit distance up to which all cheapest paths lie within the table of texts of so many words."""
    return 2 * (_HALF_WIDTH - 2) - abs(candidate - reference)


class Table:
    """Edit distances from candidates of one length to a reference, whose words are letters.

    Unless it is whole, a table has the cells about its diagonal only.
    Rows are filled a bit a cell (Myers 1999; Hyyrö 2003). That there are no cells beyond the ends of a row is seen to
    by letting no words meet there: then no path outside is cheaper than the one along the border.
    """

    def __init__(self, length: int, reference: str, *, whole: bool) -> None:
        self._reference = reference
        if whole:
            bits = (1 << len(reference)) - 1
            self._rows = [_Row(0, len(reference), 0, 0, 0, bits, bits)] * (length + 1)
        else:
            self._rows = _rows(length, len(reference))
        self._masks = dict.fromkeys(reference, 0)
        for place, letter in enumerate(reference):
            self._masks[letter] |= 1 << place

    def distance(self, candidate: str) -> int:
        """Edit distance of a candidate."""
        return self._filled(candidate)[0]

    def _filled(self, candidate: str) -> tuple[int, list[int], list[int]]:
        """Edit distance; of each row the cells equal to the one above on the left, and those above the one above."""
        masks = self._masks
        row = self._rows[1]
        _, _, base, _, _, bits, meeting = row
        corner, more, less = base, bits, 0
        same, raised = [0], [0]
        for letter, here in zip(candidate, self._rows[1:], strict=True):
            if here is not row:
                row = here
                _, _, base, step, new, bits, meeting = row
                gone = (1 << step) - 1
                corner += (more & gone).bit_count() - (less & gone).bit_count()
                more = more >> step | new
                less >>= step
            corner += 1
            meets = masks.get(letter, 0) >> base & meeting
            equal = (((meets & more) + more) ^ more | meets | less) & bits
            up = less | bits & ~(equal | more)
            same.append(equal)
            raised.append(up)
            down = (equal & more) << 1
            up = up << 1 | 1
            more = (down | ~(equal | up)) & bits
            less = up & equal
        return corner + more.bit_count() - less.bit_count(), same, raised

    def alignment(self, candidate: str) -> Edits:
        """Find the cheapest edits; of equal ones, from the end, words that meet go first, then words left out."""
        _, same, raised = self._filled(candidate)
        rows, reference = self._rows, self._reference
        i, j = len(candidate), len(reference)
        behind, wrong, missed = [0] * (j + 1), [1] * (i + 1), [1] * (j + 1)
        wrong[0] = missed[0] = 0
        while i and j:
            low, high = rows[i - 1][:2]
            cell = j - 1 - rows[i].base
            equal = candidate[i - 1] == reference[j - 1]
            if low < j <= high + 1 and (equal or not same[i] >> cell & 1):
                behind[j] = i
                if equal:
                    wrong[i] = missed[j] = 0
                i -= 1
                j -= 1
            elif j <= high and raised[i] >> cell & 1:
                i -= 1
            else:
                behind[j] = i
                j -= 1
        return Edits(behind, list(accumulate(wrong)), list(accumulate(missed)))
