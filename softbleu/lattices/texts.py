"""Networks as text: a line of JSON each, and brackets; pictures in Graphviz's language."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import groupby
from operator import attrgetter
from typing import Any

from softbleu.errors import InputError
from softbleu.io.reading import NotJsonError, parse_json
from softbleu.lattices.lattice import ARC_KINDS, LARGEST_NETWORK, NetworkArc, NetworkBuilder, WordNetwork

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
