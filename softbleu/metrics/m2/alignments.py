"""All cheapest alignments of a source and a candidate, word by word."""

from __future__ import annotations

from collections.abc import Iterable

from softbleu.types import Words

Edit = tuple[int, int, Words]  # Source words start up to end become these words
Arc = tuple[int, int]  # From vertex to vertex; behind i source and j candidate words: i * (candidate + 1) + j


def common_ends(source: Words, candidate: Words) -> tuple[int, int]:
    """Count the words that both begin with, and those that the rest of both ends with.

    >>> common_ends((1, 2, 3, 4), (1, 2, 4))
    (2, 1)
    """
    most = min(len(source), len(candidate))
    prefix = 0
    while prefix < most and source[prefix] == candidate[prefix]:
        prefix += 1
    suffix = 0
    while suffix < most - prefix and source[-1 - suffix] == candidate[-1 - suffix]:
        suffix += 1
    return prefix, suffix


class Alignments:
    """All cheapest alignments of two texts, as arcs from vertex to vertex.

    Where one text is still within the common beginning, what the alignment costs so far is the difference of the
    numbers of words; likewise to the end within the common end. Only the rectangle between is computed.
    """

    def __init__(self, source: Words, candidate: Words, substitution: int) -> None:
        self.source, self.candidate, self.substitution = source, candidate, substitution
        self.prefix, suffix = common_ends(source, candidate)
        self.rows, self.columns = len(source) - suffix, len(candidate) - suffix
        self.costs = self._costs()

    def _costs(self) -> list[list[int]]:
        """Costs up to each vertex of the rectangle."""
        start, substitution = self.prefix, self.substitution
        candidate = self.candidate[start : self.columns]
        above = list(range(self.columns - start + 1))
        table = [above]
        for number, word in enumerate(self.source[start : self.rows], start=1):
            left, diagonal = number, above[0]
            row = [left]
            for other, up in zip(candidate, above[1:], strict=True):
                # The innermost loop of all: comparisons are faster than min().
                left = (left if left < up else up) + 1
                cost = diagonal if other == word else diagonal + substitution
                if cost < left:
                    left = cost
                row.append(left)
                diagonal = up
            table.append(row)
            above = row
        return table

    def arcs(self) -> Iterable[Arc]:
        """All arcs, each once, in no order; and those of the common beginning and end, which are a chain."""
        width = len(self.candidate) + 1
        rows, columns, start = self.rows, self.columns, self.prefix
        total = self.costs[-1][-1]
        last_row = ((rows, column) for column in range(start, columns))
        last_column = ((row, columns) for row in range(start, rows))
        shift = columns - rows
        border = [(rows, columns)] + [
            (row, column)
            for row, column in (*last_row, *last_column)
            if self.costs[row - start][column - start] + abs(column - row - shift) == total
        ]
        for row, column, down, across in (*self._backward(border), *self._forward(border)):
            yield (row - down) * width + column - across, row * width + column

    def _backward(self, border: list[tuple[int, int]]) -> Iterable[tuple[int, int, int, int]]:
        """Arcs that lead to the border: row and column where they end, and how many words of both they take."""
        source, candidate, costs, start = self.source, self.candidate, self.costs, self.prefix

        def cost(row: int, column: int) -> int:
            # A vertex outside of the texts costs one more than its neighbour: no arc comes from there.
            within = row > start and column > start
            return costs[row - start][column - start] if within else abs(row - column)

        waiting, seen = list(border), set(border)
        while waiting:
            row, column = waiting.pop()
            here = cost(row, column)
            price = here
            if row and column:
                price = here - (0 if source[row - 1] == candidate[column - 1] else self.substitution)
            for down, across, before in ((1, 1, price), (1, 0, here - 1), (0, 1, here - 1)):
                place = (row - down, column - across)
                if place[0] < 0 or place[1] < 0 or cost(*place) != before:
                    continue
                yield row, column, down, across
                if place not in seen:
                    seen.add(place)
                    waiting.append(place)

    def _forward(self, border: list[tuple[int, int]]) -> Iterable[tuple[int, int, int, int]]:
        """Arcs that lead from the border to the end, likewise."""
        source, candidate = self.source, self.candidate
        rows, columns = len(source), len(candidate)
        shift = columns - rows
        waiting, seen = list(border), set(border)
        while waiting:
            row, column = waiting.pop()
            here = abs(column - row - shift)
            for down, across in ((1, 1), (1, 0), (0, 1)):
                place = (row + down, column + across)
                if place[0] > rows or place[1] > columns:
                    continue
                # Within the common end a substitution never pays.
                price = 0 if down and across else 1
                if down and across and source[row] != candidate[column]:
                    continue
                if price + abs(place[1] - place[0] - shift) != here or self._inside(row, column, place):
                    continue
                yield *place, down, across
                if place not in seen:
                    seen.add(place)
                    waiting.append(place)

    def _inside(self, row: int, column: int, place: tuple[int, int]) -> bool:
        """Whether an arc lies within the rectangle, whose arcs are found from its border backwards."""
        return place[0] <= self.rows and place[1] <= self.columns and row <= self.rows and column <= self.columns
