"""Edits most like the gold edits where the alignments are too many to list: by tables, in bounded time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.io.platform import cached_property
from softbleu.types import Words

if TYPE_CHECKING:
    from softbleu.corpora.edits import Coded, CodedEdit
    from softbleu.metrics.m2.similar import EditCredit
    from softbleu.types import Flags, Integers

Step = tuple[int, int]
_SUBSTITUTIONS = (1, 2)
_FAR = 1 << 60
_STEPS: tuple[Step, ...] = ((1, 1), (1, 0), (0, 1))  # Source and candidate words that an arc takes


@dataclass(frozen=True)
class EditTables:
    """The vertices and simple arcs of all cheapest alignments, as tables of (source + 1, candidate + 1) vertices.

    The best path goes through most gold edits, then is shortest, then has the fewest edits, as in `Lattice`; but here
    every edit weighs the same, where the official scorer weighs some twice, and a gold insertion is looked for at the
    first place where the candidate has it.
    """

    source: Words
    candidate: Words
    most_unchanged: int

    @cached_property
    def same(self) -> Flags:
        """Where an arc of one word each changes nothing, by the vertex where it begins."""
        return np.equal.outer(np.array(self.source, np.int64), np.array(self.candidate, np.int64))

    @cached_property
    def arcs(self) -> dict[Step, Flags]:
        """For each step the vertices at which such an arc of some cheapest alignment ends."""
        arcs = {step: np.zeros((len(self.source) + 1, len(self.candidate) + 1), bool) for step in _STEPS}
        for substitution in _SUBSTITUTIONS:
            prices = np.where(self.same, np.int32(0), np.int32(substitution))
            ahead = _alignment_costs(prices)
            behind = _alignment_costs(prices[::-1, ::-1])[::-1, ::-1]
            for (down, across), flags in arcs.items():
                price = prices if down and across else 1
                tails = ahead[: len(ahead) - down, : ahead.shape[1] - across]
                flags[down:, across:] |= tails + price + behind[down:, across:] == ahead[-1, -1]
        return arcs

    def edits_towards(self, gold: Coded, credit: EditCredit | None = None) -> list[CodedEdit]:
        """Edits of the best path towards the edits of `gold`; `credit` changes nothing here."""
        jumps = self._jumps(gold)
        values = self._values(jumps)
        return self._trace(values, jumps)[::-1]

    @property
    def _units(self) -> tuple[int, int]:
        """Value that an arc adds to a path (a new edit adds 1), and value that a gold edit takes away."""
        length = len(self.source) + len(self.candidate) + 2
        return length, length * length

    def _jumps(self, gold: Coded) -> dict[tuple[int, int], set[tuple[int, int]]]:
        """Where each gold edit may begin, by the vertex where it ends; an insertion at its first place only."""
        jumps: dict[tuple[int, int], set[tuple[int, int]]] = {}
        for start, end, corrections in gold:
            ways = (
                ((start, column), (end, column + len(text)))
                for text in sorted(corrections)
                for column in range(len(self.candidate) - len(text) + 1)
                if self.candidate[column : column + len(text)] == text
            )
            for tail, head in ways:
                if tail == head or tail in jumps.get(head, ()) or not self._connected(tail, head):
                    continue
                jumps.setdefault(head, set()).add(tail)
                if start == end:
                    # A text that repeats it would be cut into many correct insertions else.
                    break
        return jumps

    def _connected(self, tail: tuple[int, int], head: tuple[int, int]) -> bool:
        """Whether a path with few enough unchanged words leads there."""
        least = {tail: 0}
        for row in range(tail[0], head[0] + 1):
            for column in range(tail[1], head[1] + 1):
                ways = [
                    least[before] + (down and across and int(self.same[before]))
                    for (down, across), flags in self.arcs.items()
                    if flags[row, column] and (before := (row - down, column - across)) in least
                ]
                if ways and min(ways) <= self.most_unchanged:
                    least[row, column] = min(ways)
        return head in least

    def _values(self, jumps: dict[tuple[int, int], set[tuple[int, int]]]) -> Integers:
        """Least values of paths by state: 0 between edits, 1 + u within one that has u unchanged words so far."""
        shape = (len(self.source) + 1, len(self.candidate) + 1)
        # A row and a column more at the border, so that no step leaves the table.
        values = np.full((self.most_unchanged + 2, shape[0] + 1, shape[1] + 1), _FAR, np.int64)
        values[0, 1, 1] = 0
        same = np.zeros(shape, bool)
        same[1:, 1:] = self.same
        by_diagonal: dict[int, list[tuple[int, int]]] = {}
        for head in jumps:
            by_diagonal.setdefault(sum(head), []).append(head)
        length, gain = self._units
        for diagonal in range(1, sum(shape) - 1):
            rows = np.arange(max(0, diagonal - shape[1] + 1), min(shape[0] - 1, diagonal) + 1)
            columns = diagonal - rows
            best = values[:, rows + 1, columns + 1]
            for (down, across), flags in self.arcs.items():
                tails = (
                    np.where(flags[rows, columns], values[:, rows + 1 - down, columns + 1 - across], _FAR) + length
                )
                unchanged = same[rows, columns] if down and across else np.zeros(len(rows), bool)
                changed = np.where(unchanged, _FAR, tails)
                np.minimum(best[1], changed[0] + 1, out=best[1])
                np.minimum(best[1:], changed[1:], out=best[1:])
                unchanged_tails = np.where(unchanged, tails, _FAR)
                np.minimum(best[0], unchanged_tails[0], out=best[0])
                np.minimum(best[2:], unchanged_tails[1:-1], out=best[2:])
            best[0] = best.min(axis=0)
            values[:, rows + 1, columns + 1] = best
            for row, column in by_diagonal.get(diagonal, ()):
                ways = [int(values[0, tail[0] + 1, tail[1] + 1]) - gain for tail in jumps[row, column]]
                values[0, row + 1, column + 1] = min(int(values[0, row + 1, column + 1]), *ways)
        return values[:, 1:, 1:]

    def _trace(self, values: Integers, jumps: dict[tuple[int, int], set[tuple[int, int]]]) -> list[CodedEdit]:
        """Follow the best path from its end."""
        _, gain = self._units
        vertex, state, end = (len(self.source), len(self.candidate)), 0, None
        edits: list[CodedEdit] = []

        def add(tail: tuple[int, int], head: tuple[int, int]) -> None:
            text = self.candidate[tail[1] : head[1]]
            if text != self.source[tail[0] : head[0]]:
                edits.append((tail[0], head[0], text))

        while vertex != (0, 0) or state:
            value = int(values[(state, *vertex)])
            if state == 0:
                tails = (tail for tail in sorted(jumps.get(vertex, ())) if int(values[(0, *tail)]) - gain == value)
                tail = next(tails, None)
                if tail is not None:
                    add(tail, vertex)
                    vertex = tail
                    continue
            before = next(self._before(values, vertex, state, value), None)
            if before is None:
                # The value is that of an edit which ends here.
                state, end = 1 + int(np.argmin(values[(slice(1, None), *vertex)])), vertex
                continue
            tail, previous = before
            if state and not previous and end is not None:
                add(tail, end)
            vertex, state = tail, previous
        return edits

    def _before(
        self, values: Integers, vertex: tuple[int, int], state: int, value: int
    ) -> Iterator[tuple[tuple[int, int], int]]:
        """Vertices and states from which an arc leads here at that value."""
        length, _ = self._units
        for (down, across), flags in self.arcs.items():
            if not flags[vertex]:
                continue
            tail = (vertex[0] - down, vertex[1] - across)
            unchanged = bool(down and across and self.same[tail])
            sources = {(0, True): [(0, 0)], (1, False): [(0, 1), (1, 0)]}.get(
                (state, unchanged), [(state - unchanged, 0)] if state > unchanged else []
            )
            for previous, opened in sources:
                if int(values[(previous, *tail)]) + length + opened == value:
                    yield tail, previous


def _alignment_costs(prices: Integers) -> Integers:
    """Least costs of aligning all beginnings of two texts; `prices` are those of one word for the other."""
    rows, columns = prices.shape
    steps = np.arange(columns + 1, dtype=prices.dtype)
    costs = np.empty((rows + 1, columns + 1), prices.dtype)
    costs[0] = steps
    for row in range(rows):
        here = costs[row] + 1
        np.minimum(here[1:], costs[row, :-1] + prices[row], out=here[1:])
        costs[row + 1] = np.minimum.accumulate(here - steps) + steps
    return costs
