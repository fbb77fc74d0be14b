"""The edits by which a candidate is most like the gold edits: a shortest path through all its cheapest alignments."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from softbleu.metrics.m2.alignments import Alignments, Arc, Edit

if TYPE_CHECKING:
    from softbleu.corpora.m2 import Coded
    from softbleu.types import Words
MOST_ARCS = 200_000
"""A larger lattice is not written out; the official scorer would take minutes to hours for it."""
_MOST_CELLS = 1 << 16
_EPSILON = 0.001
_SUBSTITUTIONS = (1, 2)
"""What a substitution costs in each of the two alignments that are put together."""


class LatticeTooLargeError(Exception):
    """There are too many arcs to list."""


@dataclass(frozen=True)
class Lattice:
    """All arcs between the vertices of the cheapest alignments, merged ones too, in the official scorer's order."""

    candidate: Words
    arcs: tuple[Arc, ...]
    """As the official scorer lists them: some more than once, which makes them heavier."""
    weights: dict[Arc, float]
    """Without any gold edit."""
    lengths: dict[Arc, int]
    unchanged: frozenset[Arc]
    """Arcs along which source and candidate are the same."""
    vertices: tuple[int, ...]
    """In order."""

    @classmethod
    def of(cls, source: Words, candidate: Words, most_unchanged: int) -> Lattice:
        """Put the alignments together and merge neighbouring arcs.

        Raises
        ------
        LatticeTooLargeError
            There would be more than `MOST_ARCS` arcs.
        """
        if len(source) * len(candidate) > _MOST_CELLS:
            raise LatticeTooLargeError
        width = len(candidate) + 1
        simple: Counter[Arc] = Counter()
        for substitution in _SUBSTITUTIONS:
            simple.update(Alignments(source, candidate, substitution).arcs())
        same = {
            (tail, head)
            for tail, head in simple
            if head - tail == width + 1 and source[tail // width] == candidate[tail % width]
        }
        merged, labels = _merge(simple, same, most_unchanged)
        arcs = [*sorted(simple.elements()), *_without_merged_same(merged, labels)]
        lengths = {arc: labels[arc][0] for arc in dict.fromkeys(arcs)}
        unchanged = frozenset(arc for arc in lengths if labels[arc][0] == labels[arc][1])
        weights: dict[Arc, float] = dict(lengths)
        for arc in arcs:
            if arc not in unchanged:
                weights[arc] += _EPSILON
        vertices = tuple(sorted({0, *(head for _, head in simple)}))
        return cls(candidate, tuple(arcs), weights, lengths, unchanged, vertices)

    def edits_towards(self, gold: Coded) -> list[Edit]:
        """Edits of the path that goes through most gold edits, then is shortest, then has the fewest edits."""
        weights = self._weights_towards(gold)
        weighted = [(*arc, weights[arc]) for arc in self.arcs]
        distances = dict.fromkeys(self.vertices, math.inf)
        distances[0] = 0.0
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
        path = [self.vertices[-1]]
        while path[-1] in before:
            path.append(before[path[-1]])
        path.reverse()
        return [self._edit(arc) for arc in pairwise(path) if arc not in self.unchanged]

    def _edit(self, arc: Arc) -> Edit:
        width = len(self.candidate) + 1
        (start, first), (end, last) = divmod(arc[0], width), divmod(arc[1], width)
        return start, end, self.candidate[first:last]

    def _weights_towards(self, gold: Coded) -> dict[Arc, float]:
        spans: dict[tuple[int, int], list[tuple[Words, ...]]] = {}
        for start, end, corrections in gold:
            spans.setdefault((start, end), []).append(corrections)
        if not spans:
            return self.weights
        width = len(self.candidate) + 1
        chosen: dict[tuple[int, int], list[Arc]] = {span: [] for span in spans}
        for arc in self.arcs:
            span = (arc[0] // width, arc[1] // width)
            if span in chosen:
                chosen[span].append(arc)
        weights = dict(self.weights)
        for span, arcs in chosen.items():
            if span[0] == span[1]:
                self._weigh_insertions(sorted(arcs), spans[span], weights)
            else:
                for arc in arcs:
                    if any(self._edit(arc)[2] in corrections for corrections in spans[span]):
                        weights[arc] = -len(self.arcs)
        return weights

    def _weigh_insertions(self, arcs: list[Arc], gold: list[tuple[Words, ...]], weights: dict[Arc, float]) -> None:
        """Give each gold insertion at a place to one arc, from the left and from the right in turns.

        What follows an arc that was given one, and does not begin where that ends, is passed over.
        """
        weights.update((arc, self.lengths[arc]) for arc in arcs)
        left, right, current = 0, len(arcs) - 1, 0
        first, last = 0, len(gold) - 1
        while left <= right:
            arc, from_left = arcs[current], current == left
            text = self._edit(arc)[2]
            order = range(first, last + 1) if from_left else range(last, first - 1, -1)
            match = next((number for number in order if text in gold[number]), None)
            if match is None:
                weights[arc] += _EPSILON
                left, right = (left + 1, right) if from_left else (left, right - 1)
                current = right if from_left else left
            elif from_left:
                weights[arc], first = -len(self.arcs), match + 1
                left += 1
                while left < len(arcs) and arcs[left][0] != arc[1]:
                    weights[arcs[left]] += _EPSILON
                    left += 1
                current = left
            else:
                weights[arc], last = -len(self.arcs), match - 1
                right -= 1
                while right >= 0 and arcs[right][1] != arc[0]:
                    weights[arcs[right]] += _EPSILON
                    right -= 1
                current = right


def _merge(simple: Counter[Arc], same: set[Arc], most_unchanged: int) -> tuple[list[Arc], dict[Arc, tuple[int, int]]]:
    """Merge neighbouring arcs: those made, in order, and of every arc its length and how many words stay the same.

    An arc that turns out to be shorter by another way is listed again.
    """
    into: dict[int, dict[int, tuple[int, int]]] = {}
    out: dict[int, list[tuple[int, int]]] = {}
    for tail, head in sorted(simple):
        kept = int((tail, head) in same)
        into.setdefault(head, {})[tail] = (1, kept)
        into.setdefault(tail, {})
        out.setdefault(tail, []).append((head, kept))
    made: list[Arc] = []
    # Vertices in order: when one is reached all arcs into it are known, and none but simple ones lead on.
    for middle in sorted(into):
        for tail, (length, unchanged) in sorted(into[middle].items()):
            for head, kept in out.get(middle, ()):
                known = into[head].get(tail)
                if (known is None or length + 1 < known[0]) and unchanged + kept <= most_unchanged:
                    into[head][tail] = (length + 1, unchanged + kept)
                    made.append((tail, head))
        if len(made) > MOST_ARCS:
            raise LatticeTooLargeError
    return made, {(tail, head): label for head, arcs in into.items() for tail, label in arcs.items()}


def _without_merged_same(made: list[Arc], labels: dict[Arc, tuple[int, int]]) -> Iterable[Arc]:
    """Leave out merged arcs along which nothing changes, but pass over the arc behind each, as the scorer does.

    (It takes them out of the list that it goes through.)
    """
    passed_over = False
    for arc in made:
        length, unchanged = labels[arc]
        taken_out = length == unchanged and not passed_over
        passed_over = taken_out
        if not taken_out:
            yield arc


def match_edits(edits: Sequence[Edit], gold: Coded) -> list[tuple[int, int]]:
    """Find the edits that gold edits have, both gone through in order, as the official scorer does: their numbers."""
    found: list[tuple[int, int]] = []
    first = 0
    for place, (start, end, text) in enumerate(edits):
        for number in range(first, len(gold)):
            gold_start, gold_end, corrections = gold[number]
            if (start, end) == (gold_start, gold_end) and text in corrections:
                found.append((place, number))
                first = number + 1
    return found
