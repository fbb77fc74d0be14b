"""The references of a network: counted, drawn, listed best first; the network made smaller."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count

from softbleu.errors import InputError
from softbleu.lattices.lattice import NetworkArc, NetworkPath, WordNetwork

MOST_STATE_SETS = 100_000  # Sets of states that are looked at when references are counted
_Sets = dict[frozenset[int], dict[str, frozenset[int]]]


def count_texts(network: WordNetwork) -> int:
    """Count different references, however many paths spell them; `InputError` where paths are too entangled for it.

    >>> from softbleu.lattices.texts import parse_brackets
    >>> count_texts(parse_brackets("[a|a] (b|[b] b)")), count_texts(parse_brackets("(a|b) " * 100)) == 2**100
    (4, True)
    """
    return _counted(network, _texts(network))[_closed(network, frozenset((0,)))]


def _counted(network: WordNetwork, sets: _Sets) -> dict[frozenset[int], int]:
    """In how many ways a text goes on from each set of states."""
    counts: dict[frozenset[int], int] = {}
    for states in sorted(sets, key=min, reverse=True):
        counts[states] = (network.states - 1 in states) + sum(counts[after] for after in sets[states].values())
    return counts


def draw_texts(network: WordNetwork, seed: int = 0) -> Iterator[tuple[str, ...]]:
    """Draw references, each different one equally likely, again and again.

    >>> from itertools import islice
    >>> from softbleu.lattices.texts import parse_brackets
    >>> [" ".join(text) for text in islice(draw_texts(parse_brackets("a [big] (dog|hound)")), 3)]
    ['a dog', 'a big hound', 'a big dog']
    """
    from softbleu.corpora.derivations import Chance

    chance, last = Chance(seed), network.states - 1
    sets = _texts(network)
    counts = _counted(network, sets)
    start = _closed(network, frozenset((0,)))
    while True:
        states, words, left = start, [], chance.below(counts[start])
        while left >= (last in states):
            left -= last in states
            for word, after in sorted(sets[states].items()):
                if left < counts[after]:
                    words.append(word)
                    states = after
                    break
                left -= counts[after]
        yield tuple(words)


def _closed(network: WordNetwork, states: frozenset[int]) -> frozenset[int]:
    """States, and those that empty arcs lead to."""
    found, waiting = set(states), list(states)
    while waiting:
        for arc in network.leaving[waiting.pop()]:
            if not arc.word and arc.target not in found:
                found.add(arc.target)
                waiting.append(arc.target)
    return frozenset(found)


def _texts(network: WordNetwork) -> _Sets:
    """The states that each beginning of a text leads to, and what each word then leads to."""
    start = _closed(network, frozenset((0,)))
    sets: _Sets = {}
    waiting = [start]
    while waiting:
        states = waiting.pop()
        if states in sets:
            continue
        if len(sets) >= MOST_STATE_SETS:
            raise InputError("this network's paths are too entangled to tell equal ones apart: allow fewer variants")
        steps: dict[str, set[int]] = {}
        for state in states:
            for arc in network.leaving[state]:
                if arc.word:
                    steps.setdefault(arc.word, set()).add(arc.target)
        sets[states] = {word: _closed(network, frozenset(targets)) for word, targets in steps.items()}
        waiting += sets[states].values()
    return sets


def cheapest_paths(network: WordNetwork) -> Iterator[NetworkPath]:
    """Give different references, the cheapest first; equal ones by their words.

    >>> from softbleu.lattices.texts import parse_brackets
    >>> [" ".join(path.words) for path in cheapest_paths(parse_brackets("a (dog|hound)"))]
    ['a dog', 'a hound']
    """
    # What is still to be paid from each state on: what is found next is then never dearer than what waits.
    ahead = [0.0] * network.states
    for state in range(network.states - 2, -1, -1):
        ahead[state] = min(arc.cost + ahead[arc.target] for arc in network.leaving[state])
    seen: set[tuple[str, ...]] = set()
    number = count()
    waiting: list[tuple[float, tuple[str, ...], int, int, float, tuple[NetworkArc, ...]]] = [
        (ahead[0], (), 0, 0, 0.0, ())
    ]
    while waiting:
        _, words, _, state, paid, taken = heapq.heappop(waiting)
        if state == network.states - 1:
            if words not in seen:
                seen.add(words)
                yield NetworkPath(words, round(paid, 2), taken)
            continue
        for arc in network.leaving[state]:
            cost = paid + arc.cost
            longer = (*words, arc.word) if arc.word else words
            total = round(cost + ahead[arc.target], 6)
            heapq.heappush(waiting, (total, longer, next(number), arc.target, cost, (*taken, arc)))


def minimised(network: WordNetwork) -> WordNetwork:
    """Merge states from which the same goes on, words, costs and kinds; every path stays, at its cost.

    >>> steps = (0, 1, "a"), (0, 2, "b"), (1, 3, "c"), (2, 3, "c")
    >>> network = WordNetwork.of(NetworkArc(*step) for step in steps)
    >>> network.states, minimised(network).states
    (4, 3)
    """
    names: dict[object, int] = {}
    same: dict[int, int] = {network.states - 1: network.states - 1}
    kept: list[NetworkArc] = []
    for state in range(network.states - 2, -1, -1):
        own = [arc._replace(target=same[arc.target]) for arc in network.leaving[state]]
        key = frozenset((arc.target, arc.word, arc.cost, arc.kind) for arc in own)
        if key not in names:
            names[key] = state
            kept += own
        same[state] = names[key]
    return WordNetwork.of(kept, same[0], [network.states - 1])
