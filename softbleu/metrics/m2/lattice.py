"""The edits by which a candidate is most like the gold edits: a shortest path through all its cheapest alignments.

These are listed, as the official scorer does, or stand in tables where they are too many. Neither way serves for the
other: of equally good paths the scorer takes the one that its list of arcs, some of them twice, leads to first, and
the list of a long segment would take hours.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from softbleu.io.platform import cached_property
from softbleu.kernels import SCALE
from softbleu.kernels.prefixes import next_row
from softbleu.metrics.edits import common_ends
from softbleu.types import Words

if TYPE_CHECKING:
    from softbleu.corpora.edits import Coded, CodedEdit
    from softbleu.types import Flags, Integers

Span = tuple[int, int]
EditCredit = Callable[[int, Span, Span], int]
"""Credit of an edit of the source words of the first span, for candidate words of the second, for a gold edit, by its
number: in millionths."""
Arc = tuple[int, int]  # From vertex to vertex; behind i source and j candidate words: i * (candidate + 1) + j


def alignment_arcs(source: Words, candidate: Words, substitution: int) -> Iterator[Arc]:
    """All arcs of all cheapest alignments of two texts, each once, in no order.

    `substitution` is the cost of one, where a word left out or put in costs 1.
    """
    width = len(candidate) + 1
    costs = _alignment_costs(source, candidate, substitution)
    waiting, seen = [(len(source), len(candidate))], set[tuple[int, int]]()
    while waiting:
        vertex = waiting.pop()
        if vertex in seen:
            continue
        seen.add(vertex)
        row, column = vertex
        gap = costs[row][column] - 1
        price = gap + 1
        if row and column and source[row - 1] != candidate[column - 1]:
            price -= substitution
        for down, across, before in ((1, 1, price), (1, 0, gap), (0, 1, gap)):
            if down <= row and across <= column and costs[row - down][column - across] == before:
                waiting.append((row - down, column - across))
                yield (row - down) * width + column - across, row * width + column


def _alignment_costs(source: Words, candidate: Words, substitution: int) -> list[list[int]]:
    """Least costs up to each vertex."""
    above = list(range(len(candidate) + 1))
    table = [above]
    for number, word in enumerate(source, start=1):
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


MOST_ARCS = 200_000  # A larger lattice is not written out; the official scorer would take minutes to hours for it
_MOST_CELLS = 1 << 16
_LONGEST_KNOWN = 40  # Words of source and candidate whose lattice is kept in mind
_EPSILON = 0.001
_SUBSTITUTIONS = (1, 2)  # What a substitution costs in each of the two alignments that are put together


class LatticeTooLargeError(Exception):
    """Too many arcs to list."""


@dataclass(frozen=True)
class Lattice:
    """All arcs between the vertices of the cheapest alignments, merged ones too, in the official scorer's order."""

    width: int  # Numbers of vertices go up by it with each word of the source
    arcs: tuple[Arc, ...]  # As the official scorer lists them: some more than once, which makes them heavier
    weights: dict[Arc, float]  # Without any gold edit
    lengths: dict[Arc, int]
    unchanged: frozenset[Arc]  # Arcs along which source and candidate are the same
    vertices: tuple[int, ...]  # In order
    simple: tuple[Arc, ...]  # Arcs that are not merged, each once, in order
    listed: int  # How many of all arcs they are, with those that are listed twice
    chained: tuple[bool, bool]  # Begins, ends with one way only, through more unchanged words than edits may have
    merged: int  # How many arcs were merged
    passed_over: bool  # Whether the next merged arc, were there one, would be passed over

    @classmethod
    def of(cls, source: Words, candidate: Words, most_unchanged: int, plain: int = 0, odd: bool = False) -> Lattice:
        """Put the alignments together and merge neighbouring arcs; `plain`, `odd`: see `_without_merged_same`."""
        width = len(candidate) + 1
        simple: Counter[Arc] = Counter()
        for substitution in _SUBSTITUTIONS:
            simple.update(alignment_arcs(source, candidate, substitution))
        same = {
            (tail, head)
            for tail, head in simple
            if head - tail == width + 1 and source[tail // width] == candidate[tail % width]
        }
        listed = sorted(simple.elements())
        distinct = tuple(sorted(simple))
        chained = _chained(distinct, same, most_unchanged + 1)
        merged, labels = _merge(simple, same, most_unchanged)
        some_merged, passed_over = _without_merged_same(merged, labels, plain, odd)
        arcs = [*listed, *some_merged]
        lengths = {arc: labels[arc][0] for arc in dict.fromkeys(arcs)}
        unchanged = frozenset(arc for arc in lengths if labels[arc][0] == labels[arc][1])
        weights: dict[Arc, float] = dict(lengths)
        for arc in arcs:
            if arc not in unchanged:
                weights[arc] += _EPSILON
        vertices = tuple(sorted({0, *(head for _, head in simple)}))
        sizes = len(listed), chained, len(merged), passed_over
        return cls(width, tuple(arcs), weights, lengths, unchanged, vertices, distinct, *sizes)

    @cached_property
    def by_span(self) -> dict[tuple[int, int], list[Arc]]:
        """Arcs by where they begin and end in the source."""
        spans: dict[tuple[int, int], list[Arc]] = {}
        for arc in self.arcs:
            spans.setdefault((arc[0] // self.width, arc[1] // self.width), []).append(arc)
        return spans

    def edits_towards(
        self,
        candidate: Words,
        gold: Coded,
        size: int,
        ahead: int,
        behind: Sequence[tuple[Arc, int]],
        credit: EditCredit | None = None,
    ) -> list[CodedEdit]:
        """Find the edits of the candidate's path with most gold edits; the shortest, then with the fewest edits.

        `size` counts all arcs, arcs of words that are left out included, `ahead` and `behind` (arcs and their
        lengths; longer ones were merged). Edits of the same words as a gold edit count as much as `credit` says.
        """
        weights = self._weights_towards(candidate, gold, size)
        if credit is not None:
            weights = self._with_credit(weights, candidate, gold, size, credit, ahead)
        weighted = [
            *((*arc, weights[arc]) for arc in self.simple),
            *((*arc, float(length)) for arc, length in behind if length == 1),
            *((*arc, weights[arc]) for arc in self.arcs[self.listed :]),
            *((*arc, float(length)) for arc, length in behind if length > 1),
        ]
        distances = dict.fromkeys((*self.vertices, *(head for (_, head), _ in behind)), math.inf)
        distances[0] = float(ahead)
        before: dict[int, int] = {}
        changed = True
        # Bellman and Ford's passes in the scorer's order: of equally good paths it keeps the one found first.
        while changed:
            changed = False
            for tail, head, weight in weighted:
                distance = distances[tail] + weight
                if distance < distances[head]:
                    distances[head] = distance
                    before[head] = tail
                    changed = True
        last = self.vertices[-1]
        path = [max(distances)]
        while path[-1] in before:
            path.append(before[path[-1]])
        path.reverse()
        return [self._edit(candidate, arc) for arc in pairwise(path) if arc[1] <= last and arc not in self.unchanged]

    def arcs_behind(self, words: int, deep: int) -> Iterator[tuple[Arc, int]]:
        """Arcs of unchanged words behind, and their lengths; at each `deep` are merged, and every other is listed."""
        last, passed_over = self.vertices[-1], self.passed_over

        def vertex(place: int) -> int:
            return last + place * (1 if place > 0 else self.width + 1)

        for place in range(words):
            yield (vertex(place), vertex(place + 1)), 1
            for length in range(deep + 1, 1, -1):
                passed_over = not passed_over
                if not passed_over:
                    yield (vertex(place + 1 - length), vertex(place + 1)), length

    def _edit(self, candidate: Words, arc: Arc) -> CodedEdit:
        (start, first), (end, last) = divmod(arc[0], self.width), divmod(arc[1], self.width)
        return start, end, candidate[first:last]

    def _weights_towards(self, candidate: Words, gold: Coded, size: int) -> dict[Arc, float]:
        spans: dict[tuple[int, int], list[tuple[Words, ...]]] = {}
        for start, end, corrections in gold:
            if (start, end) in self.by_span:
                spans.setdefault((start, end), []).append(corrections)
        if not spans:
            return self.weights
        weights = dict(self.weights)
        for span, corrected in spans.items():
            arcs = self.by_span[span]
            if span[0] == span[1]:
                self._weigh_insertions(candidate, sorted(arcs), corrected, weights, size)
            else:
                for arc in arcs:
                    if any(self._edit(candidate, arc)[2] in corrections for corrections in corrected):
                        weights[arc] = -size
        return weights

    def _with_credit(
        self, weights: dict[Arc, float], candidate: Words, gold: Coded, size: int, credit: EditCredit, ahead: int
    ) -> dict[Arc, float]:
        """Add the weights of edits that are no gold edits."""
        credited = dict(weights)
        for number, (start, end, corrections) in enumerate(gold):
            for arc in self.by_span.get((start, end), ()):
                if arc in self.unchanged or self._edit(candidate, arc)[2] in corrections:
                    continue
                words = ahead + arc[0] % self.width, ahead + arc[1] % self.width
                if value := credit(number, (start + ahead, end + ahead), words):
                    credited[arc] = min(credited[arc], -size * value / SCALE)
        return credited

    def _weigh_insertions(
        self, candidate: Words, arcs: list[Arc], gold: list[tuple[Words, ...]], weights: dict[Arc, float], size: int
    ) -> None:
        """Give each gold insertion at a place to one arc, from the left and from the right in turns.

        Arcs after an arc with a value that do not begin at its end are passed over.
        """
        weights.update((arc, self.lengths[arc]) for arc in arcs)
        # The first and the last arc, and gold insertion, that are left; `side` is 0 from the left, 1 from the right.
        ends, bounds, current = [0, len(arcs) - 1], [0, len(gold) - 1], 0
        while ends[0] <= ends[1]:
            arc, side = arcs[current], int(current != ends[0])
            step, text = 1 - 2 * side, self._edit(candidate, arc)[2]
            order = range(bounds[0], bounds[1] + 1)[::step]
            match = next((number for number in order if text in gold[number]), None)
            ends[side] += step
            if match is None:
                weights[arc] += _EPSILON
                current = ends[1 - side]
                continue
            weights[arc], bounds[side] = -size, match + step
            while 0 <= ends[side] < len(arcs) and arcs[ends[side]][side] != arc[1 - side]:
                weights[arcs[ends[side]]] += _EPSILON
                ends[side] += step
            current = ends[side]


def _merge(simple: Counter[Arc], same: set[Arc], most_unchanged: int) -> tuple[list[Arc], dict[Arc, tuple[int, int]]]:
    """Merge neighbouring arcs: new arcs, in order (shorter ones again); of every arc length and unchanged words."""
    into: dict[int, dict[int, tuple[int, int]]] = {}
    out: dict[int, list[tuple[int, int]]] = {}
    for tail, head in sorted(simple):
        same_word = int((tail, head) in same)
        into.setdefault(head, {})[tail] = (1, same_word)
        into.setdefault(tail, {})
        out.setdefault(tail, []).append((head, same_word))
    made: list[Arc] = []
    # Vertices in order: when one is reached all arcs into it are known, and none but simple ones lead on.
    for middle in sorted(into):
        for tail, (length, unchanged) in sorted(into[middle].items()):
            for head, same_word in out.get(middle, ()):
                known = into[head].get(tail)
                if (known is None or length + 1 < known[0]) and unchanged + same_word <= most_unchanged:
                    into[head][tail] = (length + 1, unchanged + same_word)
                    made.append((tail, head))
        if len(made) > MOST_ARCS:
            raise LatticeTooLargeError
    return made, {(tail, head): label for head, arcs in into.items() for tail, label in arcs.items()}


def _without_merged_same(
    made: list[Arc], labels: dict[Arc, tuple[int, int]], plain: int, odd: bool
) -> tuple[list[Arc], bool]:
    """Leave out merged arcs without a change, but pass over the arc after each, as the scorer does.

    (It removes them from the list that it iterates over.) After the first `plain` arcs this depends on `odd`.
    """
    left: list[Arc] = []
    passed_over = False
    for number, arc in enumerate(made):
        if number == plain:
            passed_over = odd
        length, unchanged = labels[arc]
        passed_over = length == unchanged and not passed_over
        if not passed_over:
            left.append(arc)
    return left, passed_over


def _chained(arcs: Sequence[Arc], same: set[Arc], words: int) -> tuple[bool, bool]:
    """Whether the first, and whether the last so many arcs are the only way through unchanged words."""

    def is_chain(some: Sequence[Arc]) -> bool:
        joined = all(one[1] == other[0] for one, other in pairwise(some))
        return joined and len(some) == words and all(arc in same for arc in some)

    return is_chain(arcs[:words]), is_chain(arcs[len(arcs) - min(words, len(arcs)) :])


@dataclass(frozen=True)
class Excerpt:
    """A lattice without most of the common beginning of source and candidate, and with little of their common end."""

    lattice: Lattice
    candidate: Words
    size: int  # Arcs of the whole lattice
    ahead: int = 0  # Words that are left out ahead
    behind: tuple[tuple[Arc, int], ...] = ()  # Arcs of words behind, and their lengths

    @classmethod
    def of(cls, source: Words, candidate: Words, most_unchanged: int) -> Excerpt:
        """Leave out the parts that do not matter."""
        _check_size(source, candidate)
        ends = common_ends(source, candidate)
        # So many arcs are merged at each of many unchanged words, and at fewer first ones all are.
        deep = max(0, most_unchanged - 1)
        # Edits never reach over so many words; further ones are needed where words repeat.
        for margin in (most_unchanged + 1, 4 * (most_unchanged + 1)):
            ahead, behind = (max(0, end - margin) for end in ends)
            texts = source[ahead : len(source) - behind], candidate[ahead : len(candidate) - behind]
            plain = deep * (deep + 1) // 2 if ahead else 0
            merged = plain + deep * ahead
            lattice = _lattice_of(*texts, most_unchanged, plain, merged % 2 == 1)
            if all(chained or not cut for chained, cut in zip(lattice.chained, (ahead, behind), strict=True)):
                if lattice.merged + deep * (ahead + behind) > MOST_ARCS:
                    raise LatticeTooLargeError
                arcs = tuple(lattice.arcs_behind(behind, deep))
                # What is left out ahead has an arc per word in both alignments, and every other merged one is listed.
                size = len(lattice.arcs) + 2 * ahead + merged // 2 - plain // 2 + len(arcs) + behind
                return cls(lattice, texts[1], size, ahead, arcs)
        return cls.whole(source, candidate, most_unchanged)

    @classmethod
    def whole(cls, source: Words, candidate: Words, most_unchanged: int) -> Excerpt:
        """Make the lattice of source and candidate with nothing left out; for `most_unchanged` see `of`."""
        _check_size(source, candidate)
        lattice = _lattice_of(source, candidate, most_unchanged, 0, False)
        return cls(lattice, candidate, len(lattice.arcs))

    def edits_towards(self, gold: Coded, credit: EditCredit | None = None) -> list[CodedEdit]:
        """Find edits of the best path of the whole lattice; for `gold` and `credit` see `Lattice.edits_towards`."""
        ahead = self.ahead
        shifted = tuple((start - ahead, end - ahead, texts) for start, end, texts in gold)
        edits = self.lattice.edits_towards(self.candidate, shifted, self.size, ahead, self.behind, credit)
        return [(start + ahead, end + ahead, text) for start, end, text in edits]


def _check_size(source: Words, candidate: Words) -> None:
    if len(source) * len(candidate) > _MOST_CELLS:
        raise LatticeTooLargeError


def _lattice_of(source: Words, candidate: Words, most_unchanged: int, plain: int, odd: bool) -> Lattice:
    """A lattice, which depends only on which words are equal: many short texts share theirs."""
    numbers: dict[int, int] = {}
    texts = (tuple(numbers.setdefault(word, len(numbers)) for word in text) for text in (source, candidate))
    short = len(source) + len(candidate) <= _LONGEST_KNOWN
    return (_known_lattice if short else Lattice.of)(next(texts), next(texts), most_unchanged, plain, odd)


_known_lattice = lru_cache(1 << 11)(Lattice.of)


def match_edits(edits: Sequence[CodedEdit], gold: Coded) -> list[tuple[int, int]]:
    """Find the edits that gold edits have, both gone through in order, as the official scorer does: their numbers."""
    matched: list[tuple[int, int]] = []
    first = 0
    for index, (start, end, text) in enumerate(edits):
        for number in range(first, len(gold)):
            gold_start, gold_end, corrections = gold[number]
            if (start, end) == (gold_start, gold_end) and text in corrections:
                matched.append((index, number))
                first = number + 1
    return matched


Step = tuple[int, int]
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
        """Arcs of one word each that change nothing, by the vertex where they begin."""
        return np.equal.outer(np.array(self.source, np.int64), np.array(self.candidate, np.int64))

    @cached_property
    def arcs(self) -> dict[Step, Flags]:
        """List for each step the vertices at which such an arc of a cheapest alignment ends."""
        arcs = {step: np.zeros((len(self.source) + 1, len(self.candidate) + 1), bool) for step in _STEPS}
        for substitution in _SUBSTITUTIONS:
            prices = np.where(self.same, np.int32(0), np.int32(substitution))
            ahead = _cost_table(prices)
            behind = _cost_table(prices[::-1, ::-1])[::-1, ::-1]
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
        """Vertices where gold edits may begin, by the vertex where they end; insertions at their first place only."""
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


def _cost_table(prices: Integers) -> Integers:
    """Find least costs of aligning all beginnings of two texts; `prices` are costs of one word for the other."""
    costs = np.zeros((len(prices) + 1, prices.shape[1] + 1), np.int32)
    for row, saved in enumerate(1 - prices):
        costs[row + 1] = next_row(costs[row], saved)
    costs += np.arange(prices.shape[1] + 1, dtype=np.int32)
    return costs
