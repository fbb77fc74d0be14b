"""M2, written as the official scorer goes about it: words as text, every table a dictionary, no shortcut."""

from collections.abc import Callable, Sequence
from itertools import pairwise, permutations

Vertex = tuple[int, int]
Arc = tuple[Vertex, Vertex]
Gold = tuple[int, int, tuple[str, ...]]  # Start, end, and the corrections that are right
EPSILON = 0.001


def simple_arcs(source: list[str], candidate: list[str], substitution: int) -> set[Arc]:
    """Arcs of all cheapest alignments."""
    costs: dict[Vertex, int] = {}
    best: dict[Vertex, list[Vertex]] = {}
    for i in range(len(source) + 1):
        for j in range(len(candidate) + 1):
            ways = {}
            if i and j:
                ways[i - 1, j - 1] = costs[i - 1, j - 1] + (source[i - 1] != candidate[j - 1]) * substitution
            if i:
                ways[i - 1, j] = costs[i - 1, j] + 1
            if j:
                ways[i, j - 1] = costs[i, j - 1] + 1
            costs[i, j] = min(ways.values(), default=0)
            best[i, j] = [tail for tail, cost in ways.items() if cost == costs[i, j]]
    arcs, waiting = set(), [(len(source), len(candidate))]
    while waiting:
        head = waiting.pop()
        for tail in best[head]:
            if (tail, head) not in arcs:
                arcs.add((tail, head))
                waiting.append(tail)
    return arcs


class Graph:
    """The lattice with merged arcs."""

    def __init__(self, source: Sequence[str], candidate: Sequence[str], most_unchanged: int) -> None:
        self.source, self.candidate = list(source), list(candidate)
        both = [simple_arcs(self.source, self.candidate, price) for price in (1, 2)]
        self.arcs: list[Arc] = sorted([*both[0], *both[1]])
        self.vertices = sorted({(0, 0)} | {vertex for arc in self.arcs for vertex in arc})
        self.length: dict[Arc, float] = dict.fromkeys(self.arcs, 1)
        self.unchanged = {arc: int(self.is_same(arc)) for arc in self.arcs}
        self.merge(most_unchanged)
        self.take_out()

    def is_same(self, arc: Arc) -> bool:
        (i, j), (down, across) = arc
        return down == i + 1 and across == j + 1 and self.source[i] == self.candidate[j]

    def nothing_changes(self, arc: Arc) -> bool:
        return self.unchanged[arc] == self.length[arc]

    def merge(self, most_unchanged: int) -> None:
        for middle in self.vertices:
            for tail in self.vertices:
                for head in self.vertices:
                    if (tail, middle) not in self.length or (middle, head) not in self.length:
                        continue
                    length = self.length[tail, middle] + self.length[middle, head]
                    unchanged = self.unchanged[tail, middle] + self.unchanged[middle, head]
                    if length < self.length.get((tail, head), float("inf")) and unchanged <= most_unchanged:
                        self.arcs.append((tail, head))
                        self.length[tail, head] = length
                        self.unchanged[tail, head] = unchanged

    def take_out(self) -> None:
        """Take merged arcs without a change from the list, while going through it: the next is passed over."""
        place = 0
        while place < len(self.arcs):
            arc = self.arcs[place]
            if self.nothing_changes(arc) and self.length[arc] > 1:
                self.arcs.remove(arc)
            place += 1

    def edit(self, arc: Arc) -> tuple[int, int, str]:
        (i, j), (down, across) = arc
        return i, down, " ".join(self.candidate[j:across])

    def weights(self, gold: Sequence[Gold]) -> dict[Arc, float]:
        weights: dict[Arc, float] = {arc: self.length[arc] for arc in self.arcs}
        of_span: dict[tuple[int, int], list[Arc]] = {}
        for arc in self.arcs:
            of_span.setdefault((arc[0][0], arc[1][0]), []).append(arc)
        for (start, end), arcs in of_span.items():
            here = [corrections for first, last, corrections in gold if (first, last) == (start, end)]
            if start == end:
                self.weigh_insertions(sorted(arcs), here, weights)
                continue
            for arc in arcs:
                if any(self.edit(arc)[2] in corrections for corrections in here):
                    weights[arc] = -len(self.arcs)
                elif not self.nothing_changes(arc):
                    weights[arc] += EPSILON
        return weights

    def weigh_insertions(self, arcs: list[Arc], gold: list[tuple[str, ...]], weights: dict[Arc, float]) -> None:
        """Go through them from both ends in turns; a match moves on to an arc that begins where it ends."""
        left, right, current, unused = 0, len(arcs) - 1, 0, list(range(len(gold)))
        while left <= right:
            arc = arcs[current]
            at_left = current == left
            order = unused if at_left else unused[::-1]
            match = next((number for number in order if self.edit(arc)[2] in gold[number]), None)
            if match is None:
                weights[arc] += EPSILON
                if at_left:
                    left, current = left + 1, right
                else:
                    right, current = right - 1, left
                continue
            weights[arc] = -len(self.arcs)
            unused = [number for number in unused if (number > match if at_left else number < match)]
            step = 1 if at_left else -1
            current += step
            while 0 <= current < len(arcs) and (
                arcs[current][0] != arc[1] if at_left else arcs[current][1] != arc[0]
            ):
                weights[arcs[current]] += EPSILON
                current += step
            left, right = (current, right) if at_left else (left, current)

    def best_path(self, weights: dict[Arc, float]) -> list[Arc]:
        """Every pass of Bellman and Ford, over all arcs in order."""
        distances = dict.fromkeys(self.vertices, float("inf"))
        distances[0, 0] = 0.0
        before: dict[Vertex, Vertex] = {}
        for _ in self.vertices:
            for tail, head in self.arcs:
                if distances[tail] + weights[tail, head] < distances[head]:
                    distances[head] = distances[tail] + weights[tail, head]
                    before[head] = tail
        path = [(len(self.source), len(self.candidate))]
        while path[-1] in before:
            path.append(before[path[-1]])
        return list(pairwise(path[::-1]))

    def counts(self, gold: Sequence[Gold]) -> tuple[int, int, int]:
        edits = [self.edit(arc) for arc in self.best_path(self.weights(gold)) if not self.nothing_changes(arc)]
        return len(self.matches(edits, gold)), len(edits), len(gold)

    @staticmethod
    def matches(edits: list[tuple[int, int, str]], gold: Sequence[Gold]) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for place, (start, end, text) in enumerate(edits):
            first = found[-1][1] + 1 if found else 0
            found += [
                (place, number)
                for number, (begin, stop, corrections) in enumerate(gold)
                if number >= first and (begin, stop) == (start, end) and text in corrections
            ]
        return found


def f_measure(correct: float, proposed: float, gold: float, beta: float) -> float:
    """As the official scorer prints it."""
    precision = correct / proposed if proposed else 1.0
    recall = correct / gold if gold else 1.0
    below = beta * beta * precision + recall
    return (1 + beta * beta) * precision * recall / below if below else 0.0


def running_choice(segments: Sequence[Sequence[tuple[int, int, int]]], beta: float) -> list[int]:
    """Of each segment the annotator with whom the F of all segments so far is greatest."""
    correct = proposed = gold = 0.0
    chosen = []
    for annotators in segments:
        best: tuple[float, float, float] | None = None
        choice = 0
        for number, counts in enumerate(annotators):
            sums = (correct + counts[0], proposed + counts[1], gold + counts[2])
            below = beta * beta * sums[2] + sums[1]
            measure = (1 + beta * beta) * sums[0] / below if below else 1.0 if sums[0] == 0 else 0.0
            if best is None or measure > best[0] or (measure == best[0] and (sums[0], -below) > best[1:]):
                best, choice = (measure, sums[0], -below), number
        chosen.append(choice)
        correct, proposed, gold = (a + b for a, b in zip((correct, proposed, gold), annotators[choice], strict=True))
    return chosen


Similarity = Callable[[str, str], float]
Placed = tuple[int, int, list[str]]  # Start, end, and the words that stand there instead


def paired(one: list[str], other: list[str], similarity: Similarity) -> float:
    """Greatest sum of similarities of words paired in order."""
    if not one or not other:
        return 0.0
    both = similarity(one[0], other[0]) + paired(one[1:], other[1:], similarity)
    return max(both, paired(one[1:], other, similarity), paired(one, other[1:], similarity))


def alike(one: list[str], other: list[str], similarity: Similarity) -> int:
    return round(2e6 * paired(one, other, similarity) / max(len(one) + len(other), 1))


def credit(source: list[str], edit: Placed, gold: Gold, similarity: Similarity, threshold: float) -> int:
    """What an edit has of a gold edit, in millionths."""
    (start, end, words), (first, last, corrections) = edit, gold
    common = {*range(start, end)} & {*range(first, last)}
    every = {*range(start, end)} | {*range(first, last)}
    best = 0
    for correction in corrections:
        found = alike(words, correction.split(), similarity)
        nearer = found > threshold * 1e6 and found > alike(source[start:end], correction.split(), similarity)
        best = max(best, 1_000_000 if words == correction.split() else found * nearer)
    return best if (start, end) == (first, last) else best * len(common) // max(len(every), 1)


def soft_counts(graph: Graph, gold: Sequence[Gold], similarity: Similarity, threshold: float) -> tuple[int, int]:
    """Credit in millionths, and how many edits there are: the best path, then the best of all assignments."""
    weights = graph.weights(gold)
    for arc in graph.arcs:
        start, end, text = graph.edit(arc)
        for each in gold:
            if each[:2] == (start, end) and not graph.nothing_changes(arc) and text not in each[2]:
                value = credit(graph.source, (start, end, text.split()), each, similarity, threshold)
                weights[arc] = min(weights[arc], -len(graph.arcs) * value / 1e6 if value else weights[arc])
    edits = [graph.edit(arc) for arc in graph.best_path(weights) if not graph.nothing_changes(arc)]
    hits = graph.matches(edits, gold)
    left = [(start, end, text.split()) for n, (start, end, text) in enumerate(edits) if n not in {m for m, _ in hits}]
    open_gold: list[Gold | None] = [each for n, each in enumerate(gold) if n not in {m for _, m in hits}]
    sums = [
        sum(credit(graph.source, edit, each, similarity, threshold) for edit, each in zip(left, order) if each)  # noqa: B905
        for order in permutations([*open_gold, *[None] * len(left)], len(left))
    ]
    return 1_000_000 * len(hits) + max(sums, default=0), len(edits)
