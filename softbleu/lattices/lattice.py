"""A network: an acyclic lattice of words, every path of which is a reference; its forms as text, and pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import groupby, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from softbleu.errors import InputError
from softbleu.io.arguments import Limit
from softbleu.io.reading import NotJsonError, parse_json
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


_TOKEN = re.compile(r"\s*(?:\[\](?=\S)|([\[\]()|])|((?:\\.|[^\s\[\]()|\\])+))")
_DEEPEST = 100


def format_line(network: WordNetwork) -> str:
    """Write a network as a line: of each state but the last its arcs, each a word, steps ahead, cost and kind.

    >>> format_line(WordNetwork.chain(["a", "dog"], [(1, 2, ["hound"], 0.2, "synonym")]))
    '[[["a"]],[["dog"],["hound",1,0.2,"synonym"]]]'
    """
    states: list[list[list[Any]]] = []
    for state, arcs in groupby(network.arcs(), attrgetter("source")):
        written = [[arc.word, arc.target - state, arc.cost, arc.kind] for arc in arcs]
        states.append([arc[:1] if arc[1:] == [1, 0.0, "reference"] else arc for arc in written])
    return json.dumps(states, ensure_ascii=False, separators=(",", ":"))


def parse_line(line: str, where: str = "network") -> WordNetwork:
    """Read a network from such a line."""
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
            f"{where}: {line[:40]!r} is no network: a line is [[[word, steps, cost, kind], …], …], each state's arcs"
        ) from None


def _arc_of(
    state: int, where: str, word: str, steps: int = 1, cost: float = 0.0, kind: str = "reference"
) -> NetworkArc:
    if kind not in ARC_KINDS:
        raise InputError(f"{where}: no kind of arcs {kind!r}; there are: {', '.join(ARC_KINDS)}")
    if not (isinstance(word, str) and type(steps) is int and not isinstance(cost, bool)):
        raise TypeError
    if steps < 1:
        raise InputError(f"{where}: an arc of state {state} goes {steps} steps: arcs lead to later states")
    if word.split() not in ([], [word]):
        raise InputError(f"{where}: {word!r} is not one word: give each an arc")
    return NetworkArc(state, state + steps, word, float(cost), kind)


def parse_brackets(line: str, where: str = "network") -> WordNetwork:
    """Read a network in brackets: `(dog|hound)` is one of these, `[big|large]` one of these or nothing.

    A word right behind `[]` may be left out. A backslash makes the next character a letter.

    >>> [arc.word for arc in parse_brackets("the []big (dog|hound)").arcs()]
    ['the', 'big', '', 'dog', 'hound', '', '']
    """
    return _Brackets(line, where).network()


class _Brackets:
    """A reader of the notation."""

    def __init__(self, line: str, where: str) -> None:
        self._line, self._where = line, where
        if len(line) > LARGEST_NETWORK.most:
            # Each word is an arc, and each choice ends with one at least.
            arcs = sum(token[1] in (None, ")", "]") for token in _TOKEN.finditer(line))
            LARGEST_NETWORK.check(arcs, where)
        self._tokens = list(_TOKEN.finditer(line))
        self._next, self._made = 0, NetworkBuilder()

    def network(self) -> WordNetwork:
        end = self._sequence(0, 0)
        if self._next < len(self._tokens):
            raise self._error(f"{self._tokens[self._next][1]!r} closes nothing")
        if "".join(self._line.split()) != "".join("".join(token[0].split()) for token in self._tokens):
            raise self._error("a backslash stands before nothing")
        if not self._made.arcs:
            end = self._made.join([end])
        return WordNetwork.of(self._made.arcs, 0, [end], where=self._where)

    def _error(self, what: str) -> InputError:
        return InputError(f"{self._where}: {what} in {self._line[:60]!r}: write the [big|large] (dog|hound) []barked")

    def _sequence(self, state: int, depth: int) -> int:
        """Read up to what closes, from a state on; return where it ends."""
        if depth > _DEEPEST:
            raise self._error("too many brackets within one another")
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
                    raise self._error("no word stands behind []")
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
"""What reads a line of each notation; the second text says where it stands."""


def format_dot(network: WordNetwork) -> str:
    """Write a network in Graphviz's language.

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
