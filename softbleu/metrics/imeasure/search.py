"""Cheapest alignments of three texts by a search that looks at little more than these."""

from __future__ import annotations

import operator
from itertools import product

from softbleu.types import Words

Triple = tuple[Words, Words, Words]  # Source, candidate and reference
Node = tuple[int, int, int]  # How many words of each lie behind

GAP, MISMATCH = 2, 3  # Costs of a pair of texts in a column: a word beside none, and beside another; alike: 0
PAIRS = ((0, 1), (0, 2), (1, 2))
MOVES = tuple(  # Which texts have a word in a column, what its gaps cost, and which pairs of words meet in it
    (move, GAP * sum(move[a] != move[b] for a, b in PAIRS), tuple(bool(move[a] and move[b]) for a, b in PAIRS))
    for move in ((1, 1, 1), (1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1))
)
# Moves and their costs, where these texts have words left and these pairs of their next words are not alike
_STEPS = {
    (have, unlike): tuple(
        (*move, gaps + MISMATCH * sum(map(operator.and_, meet, unlike)))
        for move, gaps, meet in MOVES
        if all(map(operator.le, move, have))
    )
    for have in product((False, True), repeat=3)
    for unlike in product((False, True), repeat=3)
}
_NONE = (-1, -2, -3)
_FAR = 1 << 60
_STRAY = 3
_MOST_CELLS, _CELLS_A_WORD = 20_000, 150  # Of all texts, or so many more a word (1 GB for 25,000 words)
MOST_PAIRS = 1 << 25  # Words of two texts, each with each; their tables have so many entries (0.3 GB)


def find_costs(triple: Triple) -> dict[Node, int] | None:
    """Find the costs up to all cells of all cheapest alignments; those of other cells may be missing or too great.

    A search ahead (A*): what the rest of the three pairs of texts costs, each pair aligned by itself, is never more
    than the rest of the alignment of all three. None where too many cells would have to be looked at.

    >>> find_costs(((0, 1), (0, 2), (0, 1)))[2, 2, 2]
    6
    """
    source, candidate, reference = triple
    end = (len(source), len(candidate), len(reference))
    if max(end[a] * end[b] for a, b in PAIRS) > MOST_PAIRS:
        return None
    first, second, third = (_rest_costs(triple[a], triple[b]) for a, b in PAIRS)
    costs = {(0, 0, 0): 0}
    most = max(_MOST_CELLS, _CELLS_A_WORD * sum(end))
    waiting = {first[0][0] + second[0][0] + third[0][0]: [(0, 0, 0)]}
    done: set[Node] = set()
    while end not in done:
        estimate = min(waiting)
        cells = waiting.pop(estimate)
        # All of the same estimate, the end's too: ties are decided when all equally cheap ways are known.
        while cells:
            cell = cells.pop()
            if cell in done:
                continue
            done.add(cell)
            here = costs[cell]
            i, j, k = cell
            word = source[i] if i < end[0] else _NONE[0]
            other = candidate[j] if j < end[1] else _NONE[1]
            beyond = reference[k] if k < end[2] else _NONE[2]
            have = (i < end[0], j < end[1], k < end[2])
            for down, across, onward, price in _STEPS[have, (word != other, word != beyond, other != beyond)]:
                cost, there = here + price, (i + down, j + across, k + onward)
                if cost < costs.get(there, _FAR):
                    costs[there] = cost
                    ahead = cost + first[i + down][j + across]
                    ahead += second[i + down][k + onward] + third[j + across][k + onward]
                    if ahead == estimate:
                        cells.append(there)
                    else:
                        waiting.setdefault(ahead, []).append(there)
            if len(done) > most:
                return None
    return costs


def _rest_costs(one: Words, other: Words) -> list[list[int]]:
    """Costs at least of aligning what is left of two texts; exact near the cheapest way, elsewhere what gaps cost."""
    shift, stray = abs(len(one) - len(other)), _STRAY
    while True:
        table = _rest_costs_near(one, other, stray)
        # A way that strays further costs two gaps for each word, there and back.
        if table[0][0] < GAP * (shift + 2 * stray):
            return table
        stray *= 2


def _rest_costs_near(one: Words, other: Words, stray: int) -> list[list[int]]:
    rows, columns = len(one), len(other)
    # Everything backwards, from the ends of both.
    gaps = [GAP * abs(number - rows) for number in range(rows + columns + 1)]
    below = gaps[rows : rows + columns + 1]
    table = [below]
    backwards = other[::-1]
    lowest, highest = min(0, columns - rows) - stray, max(0, columns - rows) + stray
    for number, word in enumerate(reversed(one), start=1):
        row = gaps[rows - number : rows - number + columns + 1]
        start, stop = max(1, number + lowest), min(columns, number + highest) + 1
        left = row[start - 1]
        for column in range(start, stop):
            up, cost = below[column], below[column - 1]
            if backwards[column - 1] != word:
                cost += MISMATCH
            left = (left if left < up else up) + GAP
            if cost < left:
                left = cost
            row[column] = left
        table.append(row)
        below = row
    for row in table:
        row.reverse()
    table.reverse()
    return table
