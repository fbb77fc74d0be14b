"""The references of a network: counted, drawn, listed best first."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count

from softbleu.io.limits import Limit
from softbleu.kernels.lattices import HUNDRED
from softbleu.lattices.lattice import NetworkPath, WordNetwork

_LIMIT = Limit(
    "telling equal references apart",
    "steps from sets of states",
    20_000_000,
    "a document of 1,500 words, with stems and words that may be left out: 13,000",
    "allow fewer variants",
)
_Set = tuple[int, int]  # The first state of a set, and a number whose bit k says whether it has state first + k
_Sets = dict[_Set, dict[str, _Set]]


def count_texts(network: WordNetwork) -> int:
    """Count different references, however many paths spell them; `InputError` where paths are too entangled for it.

    >>> from softbleu.lattices.texts import parse_brackets
    >>> count_texts(parse_brackets("[a|a] (b|[b] b)")), count_texts(parse_brackets("(a|b) " * 100)) == 2**100
    (4, True)
    """
    sets = _texts(network)
    return _counted(network, sets)[next(iter(sets))]


def _counted(network: WordNetwork, sets: _Sets) -> dict[_Set, int]:
    """In how many ways a text goes on from each set of states."""
    counts: dict[_Set, int] = {}
    for states in sorted(sets, reverse=True):
        counts[states] = _ended(network, states) + sum(counts[after] for after in sets[states].values())
    return counts


def draw_texts(network: WordNetwork, seed: int = 0) -> Iterator[tuple[str, ...]]:
    """Draw references, each different one equally likely, again and again.

    >>> from itertools import islice
    >>> from softbleu.lattices.texts import parse_brackets
    >>> [" ".join(text) for text in islice(draw_texts(parse_brackets("a [big] (dog|hound)")), 3)]
    ['a dog', 'a big hound', 'a big dog']
    """
    from softbleu.corpora.derivations import Chance

    chance, sets = Chance(seed), _texts(network)
    counts = _counted(network, sets)
    start = next(iter(sets))
    while True:
        states, words, left = start, [], chance.below(counts[start])
        while left >= _ended(network, states):
            left -= _ended(network, states)
            for word, after in sorted(sets[states].items()):
                if left < counts[after]:
                    words.append(word)
                    states = after
                    break
                left -= counts[after]
        yield tuple(words)


def _ended(network: WordNetwork, states: _Set) -> int:
    """1 if the last state is in a set."""
    return states[1] >> (network.states - 1 - states[0]) & 1


def _joined(one: _Set, other: _Set) -> _Set:
    (first, bits), (later, more) = sorted((one, other))
    return first, bits | more << (later - first)


def _members(states: _Set) -> Iterator[int]:
    state, bits = states
    while bits:
        gap = (bits & -bits).bit_length()
        state, bits = state + gap, bits >> gap
        yield state - 1


def _texts(network: WordNetwork) -> _Sets:
    """The states that each beginning of a text leads to, the empty one first, and what each word then leads to."""
    where = f"a network of {len(network):,} arcs"
    work = 0
    closed: list[_Set] = [(0, 1)] * network.states  # Each state, and those that empty arcs lead to
    onward: list[dict[str, _Set]] = [{}] * network.states
    for state in range(network.states - 1, -1, -1):
        reached, after = (state, 1), dict[str, _Set]()
        for arc in network.leaving[state]:
            there = closed[arc.target]
            if not arc.word:
                reached = _joined(reached, there)
            else:
                after[arc.word] = _joined(after.get(arc.word, there), there)
        closed[state], onward[state] = reached, after
        work += reached[1].bit_length() // 64
        _LIMIT.check(work, where)
    sets: _Sets = {closed[0]: {}}
    same: dict[_Set, _Set] = {}
    waiting = [closed[0]]
    while waiting:
        states = waiting.pop()
        steps = sets[states]
        for state in _members(states):
            work += 1 + len(onward[state])
            for word, there in onward[state].items():
                steps[word] = _joined(steps[word], there) if word in steps else there
        _LIMIT.check(work, where)
        for word, there in steps.items():
            steps[word] = same.setdefault(there, there)
            if there not in sets:
                sets[there] = {}
                waiting.append(there)
    return sets


class _Beginning:
    """Words that references begin with, by the last of them; those of equal words are one."""

    __slots__ = ("before", "far", "length", "longer", "reached", "word")

    def __init__(self, word: str = "", before: _Beginning | None = None) -> None:
        self.word, self.longer, self.reached = word, dict[str, _Beginning](), set[int]()
        self.before = self.far = before or self
        self.length = 0
        if before is not None:
            self.length = before.length + 1
            # Of two beginnings, it takes so many jumps as their length has digits to find where they part.
            if before.length - before.far.length == before.far.length - before.far.far.length:
                self.far = before.far.far

    def then(self, word: str) -> _Beginning:
        """Append one more word, unless it is empty."""
        if word and word not in self.longer:
            self.longer[word] = _Beginning(word, self)
        return self.longer[word] if word else self

    def __lt__(self, other: _Beginning) -> bool:
        one, two = self._cut(other.length), other._cut(self.length)
        if one is two:
            return self.length < other.length
        while one.before is not two.before:
            one, two = (one.before, two.before) if one.far is two.far else (one.far, two.far)
        return one.word < two.word

    def _cut(self, length: int) -> _Beginning:
        cut = self
        while cut.length > length:
            cut = cut.before if cut.far.length < length else cut.far
        return cut

    def words(self) -> tuple[str, ...]:
        """All of its words."""
        backwards, last = [], self
        while last.length:
            backwards.append(last.word)
            last = last.before
        return tuple(backwards[::-1])


def cheapest_paths(network: WordNetwork) -> Iterator[NetworkPath]:
    """Give different references, the cheapest first; equal ones by their words.

    A* (Hart, Nilsson & Raphael, 1968) over beginnings of references and states, with what is still to be paid as
    heuristic: memory grows with what was given, not with the paths that there are.

    >>> from softbleu.lattices.texts import parse_brackets
    >>> [" ".join(path.words) for path in cheapest_paths(parse_brackets("a (dog|hound)"))]
    ['a dog', 'a hound']
    """
    # What is still to be paid from each state on, and its arcs by that: what is found next is never dearer than
    # what waits, and of the arcs that leave a state, one waits at a time.
    ahead = [0] * network.states
    onward: list[list[tuple[int, str, int, int]]] = [[]] * network.states
    for state in range(network.states - 2, -1, -1):
        arcs = [(round(arc.cost * HUNDRED), arc) for arc in network.leaving[state]]
        onward[state] = sorted((cost + ahead[arc.target], arc.word, cost, arc.target) for cost, arc in arcs)
        ahead[state] = onward[state][0][0]
    number = count()
    waiting: list[tuple[int, _Beginning, int, int, int, int, _Beginning]] = []

    def wait(paid: int, state: int, first: int, begun: _Beginning) -> None:
        for place in range(first, len(onward[state])):
            total, word, _, target = onward[state][place]
            longer = begun.then(word)
            if target not in longer.reached:
                heapq.heappush(waiting, (paid + total, longer, next(number), paid, state, place, begun))
                return

    wait(0, 0, 0, _Beginning())
    while waiting:
        total, longer, _, paid, state, place, begun = heapq.heappop(waiting)
        wait(paid, state, place + 1, begun)
        _, _, cost, target = onward[state][place]
        if target in longer.reached:
            continue
        longer.reached.add(target)
        if target < network.states - 1:
            wait(paid + cost, target, 0, longer)
        else:
            yield NetworkPath(longer.words(), total / HUNDRED)
