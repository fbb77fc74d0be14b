"""Costs of alignments of three texts in tables, for texts with too many cheap alignments to search them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.io.limits import Limit
from softbleu.metrics.imeasure.search import GAP, MISMATCH, PAIRS, Triple

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[np.int32]
    Costs = NDArray[np.signedinteger[Any]]

_LIMIT = Limit(  # Of 2 or 4 bytes each
    "imeasure", "cells of a table", 1 << 29, "three texts of 250 words that have nothing in common: 16,000,000"
)
_FAR, _VERY_FAR = 1 << 14, 1 << 29  # What stands for no way at all, in tables of 16 and of 32 bits
_ROUNDS = 4


class Band:
    """Least costs up to the cells whose words differ little in number, those of all cheapest alignments included."""

    def __init__(self, triple: Triple) -> None:
        self.triple = triple
        lengths = [len(text) for text in triple]
        least = _least_costs(triple)
        half_width = _half_width(sum(least), lengths, least)
        while True:
            self._set_bounds(lengths, half_width)
            self._fill()
            # What is found in too narrow a band tells how wide it must be.
            needed = _half_width(self.cost((lengths[0], lengths[1], lengths[2])), lengths, least)
            if needed <= half_width:
                return
            half_width = needed

    def _set_bounds(self, lengths: list[int], half_width: int) -> None:
        """Entry (i, a, b) stands for i source, ``i + low[0] + a`` candidate, ``i + low[1] + b`` reference words."""
        shifts = [length - lengths[0] for length in lengths[1:]]
        # Beyond all words of a text there is nothing.
        self.low = [max(min(shift, 0) - half_width, -lengths[0]) for shift in shifts]
        high = [min(max(shift, 0) + half_width, most) for shift, most in zip(shifts, lengths[1:], strict=True)]
        self.width = [top - bottom + 1 for top, bottom in zip(high, self.low, strict=True)]
        words = "{:,} source, {:,} candidate and {:,} reference words".format(*lengths)
        _LIMIT.check((lengths[0] + 1) * self.width[0] * self.width[1], f"a segment of {words}, so changed,")

    def cost(self, cell: tuple[int, int, int]) -> int:
        """Least cost up to a cell; one outside of the band is far."""
        one, other = cell[1] - cell[0] - self.low[0], cell[2] - cell[0] - self.low[1]
        if 0 <= one < self.width[0] and 0 <= other < self.width[1]:
            return int(self.costs[cell[0], one, other])
        return _VERY_FAR

    def _padded(self, number: int) -> Codes:
        """Make a text an array whose entry ``row + a`` is the word that entry a of a row has last."""
        before = 1 - self.low[number - 1]
        text = self.triple[number]
        # Fillers of its own: nothing is alike beyond the words of a text.
        padded = np.full(max(len(self.triple[0]) + self.width[number - 1], before + len(text)), -1 - number, np.int32)
        padded[before : before + len(text)] = text
        return padded

    def _fill(self) -> None:
        source = self.triple[0]
        candidate, reference = self._padded(1), self._padded(2)
        first, second = self.width
        # As many gaps as there can be.
        small = 2 * GAP * sum(map(len, self.triple)) < _FAR
        far, kind = (_FAR, np.int16) if small else (_VERY_FAR, np.int32)
        # With a border, for moves from outside.
        self.costs: Costs = np.full((len(source) + 1, first + 1, second + 1), far, kind)
        two_gaps, prices = kind(2 * GAP), np.array([0, MISMATCH], kind)
        for row in range(len(source) + 1):
            here = self.costs[row, :first, :second]
            ours, theirs = candidate[row : row + first], reference[row : row + second]
            between = prices[(ours[:, None] != theirs).view(np.int8)]
            if row:
                above, word = self.costs[row - 1], source[row - 1]
                to_candidate = prices[(ours != word).view(np.int8)][:, None]
                to_reference = prices[(theirs != word).view(np.int8)]
                np.add(above[:first, :second], between, out=here)
                here += to_candidate
                here += to_reference
                np.minimum(here, above[:first, 1:] + (to_candidate + two_gaps), out=here)
                np.minimum(here, above[1:, :second] + (to_reference + two_gaps), out=here)
                np.minimum(here, above[1:, 1:] + two_gaps, out=here)
            else:
                here[-self.low[0], -self.low[1]] = 0
            # Entries for fewer words than none are part of no alignment.
            unused = [max(0, -row - low) for low in self.low]
            here[: unused[0]] = far
            here[:, : unused[1]] = far
            _spread(here[unused[0] :, unused[1] :], between[unused[0] :, unused[1] :])
            np.minimum(here, kind(far), out=here)


def _spread(here: Costs, between: Costs) -> None:
    """Lower the costs of a row by the ways within it, which take no source word."""
    two_gaps = here.dtype.type(2 * GAP)
    across = two_gaps * np.arange(here.shape[1], dtype=here.dtype)
    down = two_gaps * np.arange(here.shape[0], dtype=here.dtype)[:, None]
    both = between[1:, 1:] + two_gaps
    # A word or two at a place is the rule; only longer insertions need the way word by word.
    for _ in range(_ROUNDS):
        for steps, axis in ((across, 1), (down, 0)):
            here -= steps
            np.minimum.accumulate(here, axis=axis, out=here)
            here += steps
        before = here[:-1, :-1] + both
        if (before >= here[1:, 1:]).all():
            return
        np.minimum(here[1:, 1:], before, out=here[1:, 1:])
    for place, line in enumerate(here):
        if place:
            np.minimum(line, here[place - 1] + two_gaps, out=line)
            np.minimum(line[1:], here[place - 1, :-1] + both[place - 1], out=line[1:])
        line -= across
        np.minimum.accumulate(line, out=line)
        line += across


def _least_costs(triple: Triple) -> list[int]:
    """Find what each pair of texts costs at least: words that only one has meet another or a gap."""
    least = []
    words = [Counter(text) for text in triple]
    for one, other in PAIRS:
        only = (words[one] - words[other]).total(), (words[other] - words[one]).total()
        least.append(MISMATCH * min(only) + GAP * abs(only[0] - only[1]))
    return least


def _half_width(cost: int, lengths: list[int], least: list[int]) -> int:
    """Find how wide a band must be, so that alignments that leave it cost more than that.

    A path that strays by one word more than the difference in length asks for two gaps more in that pair of texts,
    there and back; the other two pairs cost at least what they must (Carrillo & Lipman 1988). Or else that word's
    gaps are counted in the third pair as well.
    """
    needed = 0
    for text, others in ((1, (1, 2)), (2, (0, 2))):
        shift = abs(lengths[text] - lengths[0])
        one = (cost - 2 * shift - sum(least[pair] for pair in others)) // 4
        needed = max(needed, min(one, (cost - 4 * shift) // 8))
    return needed
