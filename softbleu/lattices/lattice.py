"""A network: an acyclic lattice of words in which every path is a reference; its notations, and drawings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import groupby, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softbleu.errors import InputError
from softbleu.io.arguments import Limit
from softbleu.io.reading import NotJsonError, parse_json
from softbleu.kernels.lattices import HUNDRED

if TYPE_CHECKING:
    from softbleu.types import Integers

ARC_KINDS = ("reference", "stem", "synonym", "paraphrase", "neighbour", "optional", "grammar", "user")
"""Origins of arcs."""
MOST_COST = 1000.0  # Greatest cost of an arc, in words
LARGEST_NETWORK = Limit(
    "a network", "arcs", 500_000, "3,000 words with 10 variants each: 30,000", "allow fewer variants"
)


class NetworkArc(NamedTuple):
    """A step from a state to another, with a word or, for an empty arc, an empty text."""

    source: int
    target: int
    word: str
    cost: float = 0.0  # In words
    kind: str = "user"


@dataclass(frozen=True, eq=False)
class WordNetwork:
    """A network whose states are in topological order; paths go from the first to the last state.

    Make one by `WordNetwork.of`, which checks it. Entries of the arrays are arcs, ordered by source.
    """

    words: tuple[str, ...]  # Empty texts for empty arcs
    sources: Integers
    targets: Integers
    costs: Integers  # In hundredths of a word
    kinds: Integers  # Positions in `ARC_KINDS`

    @classmethod
    def of(
        cls, arcs: Iterable[NetworkArc], start: int = 0, ends: Sequence[int] | None = None, *, where: str = "network"
    ) -> WordNetwork:
        """Make a network of arcs between states with any numbers.

        Paths begin at `start` and end at one of `ends`, by default at states without outgoing arcs; `where` names the
        network in messages. Raises `InputError`: no path, a cycle, a state on no path, an invalid cost, or too many
        arcs.

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
            # Add a common end.
            last = 1 + max(max(arc.source, arc.target) for arc in listed)
            listed += [NetworkArc(end, last, "") for end in ends]
            ends = [last]
        for arc in listed:
            if not 0 <= arc.cost <= MOST_COST:
                step = f"{arc.source} to {arc.target}"
                raise InputError(f"{where}: the arc from {step} costs {arc.cost:g}, not 0 to {MOST_COST:g}")
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
        """Make a network of a reference, and of phrases that may replace some of its words.

        `more` holds replacements: start, end, words (empty for a deletion), cost and kind.

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
        """Split the word of each arc into tokens, with one arc per token.

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
        """Yield all arcs."""
        columns = (self.sources, self.targets, self.costs, self.kinds)
        for word, source, target, cost, kind in zip(self.words, *(part.tolist() for part in columns), strict=True):
            yield NetworkArc(source, target, word, cost / HUNDRED, ARC_KINDS[kind])


class NetworkBuilder:
    """Builder of the arcs of a network, which begins with `states` states."""

    def __init__(self, states: int = 1) -> None:
        self.arcs: list[NetworkArc] = []
        self._states = states

    def _new(self) -> int:
        self._states += 1
        return self._states - 1

    def step(self, state: int, words: Iterable[str], kind: str = "user") -> int:
        """Add arcs from a state to a new one, one per word; return the new state."""
        end = self._new()
        self.arcs += [NetworkArc(state, end, word, 0.0, kind) for word in words]
        return end

    def join(self, states: Iterable[int], kind: str = "user") -> int:
        """Add empty arcs from states to a new one; return it."""
        end = self._new()
        self.arcs += [NetworkArc(state, end, "", 0.0, kind) for state in states]
        return end

    def phrase(self, source: int, target: int, words: Sequence[str], cost: float, kind: str) -> list[int]:
        """Add a path of words, or an empty arc, whose first arc has the cost; return its states."""
        states = [source, *(self._new() for _ in words[1:]), target]
        for number, (word, step) in enumerate(zip(words or [""], pairwise(states), strict=True)):
            self.arcs.append(NetworkArc(*step, word, 0.0 if number else cost, kind))
        return states


def _ordered(arcs: Sequence[NetworkArc], where: str) -> list[int]:
    """Return the states in topological order."""
    before: dict[int, set[int]] = {}
    for arc in arcs:
        before.setdefault(arc.target, set()).add(arc.source)
    try:
        return list(TopologicalSorter(before).static_order())
    except CycleError as error:
        cycle = " -> ".join(map(str, error.args[1][::-1]))
        raise InputError(f"{where}: the states {cycle} form a cycle: networks are acyclic") from None


def _check_reached(arcs: Sequence[NetworkArc], order: Sequence[int], start: int, end: int, where: str) -> None:
    """Check that every state lies on a path from the start to the end."""
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
            other = f"the start {start}" if steps is to else str(end)
            raise InputError(f"{where}: state {missed[0]} {lost} {other}: remove it, or correct its arcs")


_TOKEN = re.compile(r"\s*(?:\[\](?=\S)|([\[\]()|])|((?:\\.|[^\s\[\]()|\\])+))")
_DEEPEST = 100


def format_line(network: WordNetwork) -> str:
    """Write a network as a line: the arcs of each state but the last, as word, steps ahead, cost and kind.

    >>> format_line(WordNetwork.chain(["a", "dog"], [(1, 2, ["hound"], 0.2, "synonym")]))
    '[[["a"]],[["dog"],["hound",1,0.2,"synonym"]]]'
    """
    states: list[list[list[object]]] = []
    for state, arcs in groupby(network.arcs(), attrgetter("source")):
        written = [[arc.word, arc.target - state, arc.cost, arc.kind] for arc in arcs]
        states.append([arc[:1] if arc[1:] == [1, 0.0, "reference"] else arc for arc in written])
    return json.dumps(states, ensure_ascii=False, separators=(",", ":"))


def parse_line(line: str, where: str = "network") -> WordNetwork:
    """Read a network from a line written by `format_line`."""
    try:
        states = parse_json(line, where)
        if not isinstance(states, list):
            raise TypeError
        LARGEST_NETWORK.check(sum(map(len, states)), where)
        return WordNetwork.of(
            (_arc_of(state, where, *parts) for state, arcs in enumerate(states) for parts in arcs),
            0,
            [len(states)],
            where=where,
        )
    except (ValueError, TypeError, AttributeError) as error:
        if isinstance(error, InputError) and not isinstance(error, NotJsonError):
            raise
        raise InputError(
            f"{where}: {line[:40]!r} is not a network: write [[[word, steps, cost, kind], …], …], arcs state by state"
        ) from None


def _arc_of(
    state: int, where: str, word: str, steps: int = 1, cost: float = 0.0, kind: str = "reference"
) -> NetworkArc:
    if kind not in ARC_KINDS:
        raise InputError(f"{where}: unknown kind of arcs {kind!r}; valid: {', '.join(ARC_KINDS)}")
    if not (isinstance(word, str) and type(steps) is int and not isinstance(cost, bool)):
        raise TypeError
    if steps < 1:
        raise InputError(f"{where}: an arc of state {state} goes {steps} steps: arcs lead to later states")
    if word.split() not in ([], [word]):
        raise InputError(f"{where}: {word!r} is not one word: give each an arc")
    return NetworkArc(state, state + steps, word, float(cost), kind)


def parse_brackets(line: str, where: str = "network") -> WordNetwork:
    """Read a network in brackets: `(dog|hound)` is one of the words, `[big|large]` one of the words or nothing.

    A word directly after `[]` is optional. A backslash escapes the next character.

    >>> [arc.word for arc in parse_brackets("the []big (dog|hound)").arcs()]
    ['the', 'big', '', 'dog', 'hound', '', '']
    """
    return _Brackets(line, where).network()


class _Brackets:
    """Parser of the notation in brackets."""

    def __init__(self, line: str, where: str) -> None:
        self._line, self._where = line, where
        if len(line) > LARGEST_NETWORK.most:
            # Each word is an arc, and each choice ends with at least one.
            arcs = sum(token[1] in (None, ")", "]") for token in _TOKEN.finditer(line))
            LARGEST_NETWORK.check(arcs, where)
        self._tokens = list(_TOKEN.finditer(line))
        self._next, self._made = 0, NetworkBuilder()

    def network(self) -> WordNetwork:
        end = self._sequence(0, 0)
        if self._next < len(self._tokens):
            raise self._error(f"{self._tokens[self._next][1]!r} closes nothing")
        if "".join(self._line.split()) != "".join("".join(token[0].split()) for token in self._tokens):
            raise self._error("a backslash at the end")
        if not self._made.arcs:
            end = self._made.join([end])
        return WordNetwork.of(self._made.arcs, 0, [end], where=self._where)

    def _error(self, fault: str) -> InputError:
        return InputError(
            f"{self._where}: {fault} in {self._line[:60]!r}: write the [big|large] (dog|hound) []barked"
        )

    def _sequence(self, state: int, depth: int) -> int:
        """Parse until the closing bracket or `|`, starting at `state`; return the end state."""
        if depth > _DEEPEST:
            raise self._error("brackets nested too deeply")
        while self._next < len(self._tokens):
            mark, word = self._tokens[self._next].groups()
            if mark is not None and mark in "])|":
                break
            self._next += 1
            if mark is not None:
                state = self._choice(state, mark, depth)
            elif word is None:
                following = self._tokens[self._next][2] if self._next < len(self._tokens) else None
                if following is None:
                    raise self._error("no word after []")
                self._next += 1
                state = self._made.step(state, [_plain(following), ""])
            else:
                state = self._made.step(state, [_plain(word)])
        return state

    def _choice(self, state: int, opening: str, depth: int) -> int:
        closing, ends = {"(": ")", "[": "]"}[opening], []
        while True:
            ends.append(self._sequence(state, depth + 1))
            if self._next >= len(self._tokens):
                raise self._error(f"{opening!r} is not closed")
            mark = self._tokens[self._next][1]
            self._next += 1
            if mark == closing:
                break
            if mark != "|":
                raise self._error(f"{mark!r} closes what {opening!r} opens")
        ends += [state] if opening == "[" else []
        return self._made.join(dict.fromkeys(ends))


def _plain(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word)


PARSERS: dict[str, Callable[[str, str], WordNetwork]] = {"network": parse_line, "brackets": parse_brackets}
"""Parser of a line by notation; the second argument is its position, for errors."""


def format_dot(network: WordNetwork) -> str:
    """Write a network in Graphviz's DOT language.

    >>> print(format_dot(WordNetwork.chain(["dog"], [(0, 1, ["hound"], 0.2, "synonym")])))
    digraph network {
      rankdir=LR; node [shape=circle, label="", width=.1]; 1 [shape=doublecircle];
      0 -> 1 [label="dog"];
      0 -> 1 [label="hound / 0.2", tooltip="synonym", style=dashed];
    }
    """
    lines = []
    for arc in network.arcs():
        label = (arc.word or "ε") + (f" / {arc.cost:g}" if arc.cost else "")
        quoted = label.replace("\\", "\\\\").replace('"', '\\"')
        plain = arc.kind in ("reference", "grammar", "user")
        more = "" if plain else f', tooltip="{arc.kind}", style=dashed'
        lines.append(f'  {arc.source} -> {arc.target} [label="{quoted}"{more}];')
    head = f'  rankdir=LR; node [shape=circle, label="", width=.1]; {network.states - 1} [shape=doublecircle];'
    return "\n".join(["digraph network {", head, *lines, "}"])
