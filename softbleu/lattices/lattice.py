"""A network: an acyclic lattice of words, every path of which is a reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softbleu.errors import InputError
from softbleu.io.arguments import Limit
from softbleu.kernels.lattices import HUNDRED

if TYPE_CHECKING:
    from softbleu.types import Integers

ARC_KINDS = ("reference", "stem", "synonym", "paraphrase", "neighbour", "optional", "grammar", "user")
"""Where an arc may be from."""
MOST_COST = 1000.0  # Words that an arc may cost
LARGEST_NETWORK = Limit(
    "a network", "arcs", 500_000, "3,000 words with 10 variants each: 30,000", "allow fewer variants"
)


class NetworkArc(NamedTuple):
    """A step from a state to another; without a word it is empty."""

    source: int
    target: int
    word: str
    cost: float = 0.0  # In words
    kind: str = "user"


@dataclass(frozen=True, eq=False)
class WordNetwork:
    """States are numbered so that every arc leads to a later one; paths go from the first to the last.

    Make one by `WordNetwork.of`, which checks it. Entries of the arrays are arcs, ordered by the states they leave.
    """

    words: tuple[str, ...]  # Empty texts for empty arcs
    sources: Integers
    targets: Integers
    costs: Integers  # In hundredths of a word
    kinds: Integers  # Places in `ARC_KINDS`

    @classmethod
    def of(
        cls, arcs: Iterable[NetworkArc], start: int = 0, ends: Sequence[int] | None = None, *, where: str = "network"
    ) -> WordNetwork:
        """Order the states of arcs, which have any numbers, and check them.

        Paths begin at `start` and end at one of `ends`, or where no arc leaves; `where` names the network in
        messages. Raises `InputError`: there is no path, a cycle, a state that no path goes through, a cost that is
        none, or too many arcs.

        >>> dogs = NetworkArc(7, 3, "dog"), NetworkArc(7, 3, "hound", 0.2, "synonym")
        >>> network = WordNetwork.of([NetworkArc(0, 7, "a"), *dogs])
        >>> network.states, network.targets.tolist()
        (3, [1, 2, 2])
        """
        listed = list(arcs)
        if not listed:
            raise InputError(f"{where}: an empty network: give it at least one arc")
        LARGEST_NETWORK.check(len(listed), where)
        if ends is None:
            leaving = {arc.source for arc in listed}
            ends = sorted({arc.target for arc in listed} - leaving)
        if len(ends) != 1:
            # Another end that all of them lead to.
            last = 1 + max(max(arc.source, arc.target) for arc in listed)
            listed += [NetworkArc(end, last, "") for end in ends]
            ends = [last]
        for arc in listed:
            if not 0 <= arc.cost <= MOST_COST:
                step = f"{arc.source} to {arc.target}"
                raise InputError(f"{where}: the arc from {step} costs {arc.cost:g}, not 0 to {MOST_COST:g}: mend it")
        order = _ordered(listed, where)
        _check_reached(listed, order, start, ends[0], where)
        numbers = {state: number for number, state in enumerate(order)}
        least: dict[tuple[int, int, str], tuple[float, int]] = {}
        for arc in listed:
            key = numbers[arc.source], numbers[arc.target], arc.word
            value = arc.cost, ARC_KINDS.index(arc.kind)
            least[key] = min(value, least.get(key, value))
        keys = sorted(least, key=lambda key: key[0])
        return cls(
            tuple(word for _, _, word in keys),
            np.array([key[0] for key in keys], np.int64),
            np.array([key[1] for key in keys], np.int64),
            np.array([round(HUNDRED * least[key][0]) for key in keys], np.int64),
            np.array([least[key][1] for key in keys], np.int64),
        )

    @classmethod
    def chain(
        cls, words: Sequence[str], more: Iterable[tuple[int, int, Sequence[str], float, str]] = ()
    ) -> WordNetwork:
        """A reference, and phrases that may stand in the place of some of its words.

        `more` says where what is replaced begins and ends, what stands there instead (nothing: it may be left out),
        its cost and kind.

        >>> network = WordNetwork.chain("it is late".split(), [(0, 2, ["it's"], 0.1, "paraphrase")])
        >>> network.words, network.costs.tolist()
        (('it', "it's", 'is', 'late'), [0, 10, 0, 0])
        """
        made, end = NetworkBuilder(), 0
        for word in words or [""]:
            end = made.step(end, [word], "reference")
        for phrase in more:
            made.phrase(*phrase)
        return cls.of(made.arcs, 0, [end])

    def split(self, split: Callable[[str], Sequence[str]]) -> WordNetwork:
        """Split the word of each arc into tokens, an arc each.

        >>> WordNetwork.chain(["dog,"]).split(lambda word: [word[:-1], word[-1]]).words
        ('dog', ',')
        """
        if all(list(split(word)) == [word] for word in set(self.words) - {""}):
            return self
        made = NetworkBuilder(self.states)
        for arc in self.arcs():
            made.phrase(arc.source, arc.target, split(arc.word), arc.cost, arc.kind)
        return WordNetwork.of(made.arcs, 0, [self.states - 1])

    @property
    def states(self) -> int:
        """Number of states."""
        return int(self.targets[-1]) + 1

    def __len__(self) -> int:
        return len(self.words)

    def arcs(self) -> Iterator[NetworkArc]:
        """All arcs."""
        columns = (self.sources, self.targets, self.costs, self.kinds)
        for word, source, target, cost, kind in zip(self.words, *(part.tolist() for part in columns), strict=True):
            yield NetworkArc(source, target, word, cost / HUNDRED, ARC_KINDS[kind])


class NetworkBuilder:
    """Arcs of a network that is being made; the first `states` states are there."""

    def __init__(self, states: int = 1) -> None:
        self.arcs: list[NetworkArc] = []
        self._states = states

    def _new(self) -> int:
        self._states += 1
        return self._states - 1

    def step(self, state: int, words: Iterable[str], kind: str = "user") -> int:
        """Go on from a state by any of some words; return the new state behind them."""
        end = self._new()
        self.arcs += [NetworkArc(state, end, word, 0.0, kind) for word in words]
        return end

    def join(self, states: Iterable[int], kind: str = "user") -> int:
        """Let states lead to a new one without a word, and return that."""
        end = self._new()
        self.arcs += [NetworkArc(state, end, "", 0.0, kind) for state in states]
        return end

    def phrase(self, source: int, target: int, words: Sequence[str], cost: float, kind: str) -> list[int]:
        """Let a phrase, or nothing, lead from a state to another; its first arc pays. Return all its states."""
        states = [source, *(self._new() for _ in words[1:]), target]
        for number, (word, step) in enumerate(zip(words or [""], pairwise(states), strict=True)):
            self.arcs.append(NetworkArc(*step, word, 0.0 if number else cost, kind))
        return states


def _ordered(arcs: Sequence[NetworkArc], where: str) -> list[int]:
    """States, each before those that its arcs lead to."""
    before: dict[int, set[int]] = {}
    for arc in arcs:
        before.setdefault(arc.target, set()).add(arc.source)
    try:
        return list(TopologicalSorter(before).static_order())
    except CycleError as error:
        cycle = " -> ".join(map(str, error.args[1][::-1]))
        raise InputError(f"{where}: the states {cycle} are a cycle: a network has none") from None


def _check_reached(arcs: Sequence[NetworkArc], order: Sequence[int], start: int, end: int, where: str) -> None:
    """See that every state lies on a path from the start to the end."""
    to: dict[int, list[int]] = {}
    back: dict[int, list[int]] = {}
    for arc in arcs:
        to.setdefault(arc.source, []).append(arc.target)
        back.setdefault(arc.target, []).append(arc.source)
    for state in (start, end):
        if state not in order:
            raise InputError(
                f"{where}: no arc has the {'start' if state == start else 'end'}, state {state}: give it one"
            )
    for first, steps, lost in ((start, to, "is not reached from"), (end, back, "leads to no end:")):
        seen, waiting = {first}, [first]
        while waiting:
            for state in steps.get(waiting.pop(), ()):
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
        missed = [state for state in order if state not in seen]
        if missed:
            what = f"the start {start}" if steps is to else str(end)
            raise InputError(f"{where}: state {missed[0]} {lost} {what}: take it out, or mend its arcs")
