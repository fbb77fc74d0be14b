"""Rules of a grammar, and what they must not have: symbols without rules, use or end, or that become themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from heapq import heapify, heappop, heappush
from math import inf
from typing import NamedTuple, Protocol

from softbleu.errors import InputError

TOLERANCE = 0.01
"""How far from 1 probabilities may sum, as in NLTK."""


class Part(NamedTuple):
    """A symbol or a word on the right of a rule."""

    text: str
    is_word: bool


@dataclass(frozen=True)
class Rule:
    """One way to write a symbol."""

    symbol: str
    parts: tuple[Part, ...]
    weight: float
    """How likely it is among the rules of its symbol; they sum to 1."""
    line: int

    @property
    def word(self) -> str | None:
        """The word, if the rule is nothing but one word."""
        return self.parts[0].text if len(self.parts) == 1 and self.parts[0].is_word else None


class Place(Protocol):
    """A line of a file."""

    @property
    def where(self) -> str:
        """File and line, as messages name them."""


def check_rules(file: str, start: str, rules: Sequence[Rule]) -> None:
    """See that a grammar is sound.

    Raises `InputError`, which names the first fault and its line.
    """
    for check in (_check_defined, _check_repeated, _check_weights, _check_used, _check_ends, _check_cycles):
        check(file, start, rules)


def symbols_below(rule: Rule) -> list[str]:
    """Symbols on the right of a rule."""
    return [part.text for part in rule.parts if not part.is_word]


def least_heights(rules: Sequence[Rule]) -> dict[str, float]:
    """Height of the lowest derivation of each symbol, words counted as NLTK does; infinite where there is none.

    It is 1 for a rule without parts, 2 for one of words, and so on.
    """
    heights = {rule.symbol: inf for rule in rules}
    # The lowest first, as Dijkstra goes through a graph: each rule is looked at once for each of its symbols.
    waiting = [set(symbols_below(rule)) for rule in rules]
    users: dict[str, list[int]] = {}
    for number, symbols in enumerate(waiting):
        for symbol in symbols:
            users.setdefault(symbol, []).append(number)
    ahead = [(least_height(rule, {}), rule.symbol) for rule, below in zip(rules, waiting, strict=True) if not below]
    heapify(ahead)
    while ahead:
        height, symbol = heappop(ahead)
        if heights[symbol] < inf:
            continue
        heights[symbol] = height
        for number in users.get(symbol, ()):
            waiting[number].remove(symbol)
            if not waiting[number]:
                heappush(ahead, (least_height(rules[number], heights), rules[number].symbol))
    return heights


def least_height(rule: Rule, heights: Mapping[str, float]) -> float:
    """Height of the lowest derivation that begins with a rule."""
    return 1 + max((1 if part.is_word else heights[part.text] for part in rule.parts), default=0)


def recursion_of(rules: Sequence[Rule]) -> list[str] | None:
    """Symbols that lead from one of them back to itself, so that there are infinitely many sentences; or None."""
    return _cycle({rule.symbol: set[str]() for rule in rules}, ((rule.symbol, symbols_below(rule)) for rule in rules))


def greatest_height(start: str, rules: Sequence[Rule]) -> int:
    """Height of the highest derivation of a grammar that is not recursive."""
    by_symbol: dict[str, list[Rule]] = {}
    for rule in rules:
        by_symbol.setdefault(rule.symbol, []).append(rule)
    graph = {symbol: {below for rule in own for below in symbols_below(rule)} for symbol, own in by_symbol.items()}
    heights: dict[str, float] = {}
    for symbol in TopologicalSorter(graph).static_order():
        heights[symbol] = max(least_height(rule, heights) for rule in by_symbol[symbol])
    return int(heights[start])


def _cycle(graph: dict[str, set[str]], edges: Iterator[tuple[str, list[str]]]) -> list[str] | None:
    for symbol, below in edges:
        graph[symbol].update(below)
    # Sets come in another order in each process; the message should not.
    sorter = TopologicalSorter({symbol: sorted(below) for symbol, below in graph.items()})
    try:
        sorter.prepare()
    except CycleError as error:
        found: list[str] = error.args[1][::-1]
        return found
    return None


def _check_defined(file: str, start: str, rules: Sequence[Rule]) -> None:
    defined = {rule.symbol for rule in rules}
    if start not in defined:
        raise InputError(f"{file}: the start symbol {start!r} has no rules")
    for rule in rules:
        for symbol in symbols_below(rule):
            if symbol not in defined:
                near = get_close_matches(symbol, sorted(defined), n=1)
                hint = f"did you mean {near[0]!r}?" if near else "a word must stand in quotes"
                raise InputError(f"{file}, line {rule.line}: the symbol {symbol!r} has no rules ({hint})")


def _check_repeated(file: str, start: str, rules: Sequence[Rule]) -> None:
    first: dict[object, int] = {}
    for rule in rules:
        key = (rule.symbol, rule.parts)
        if key in first:
            raise InputError(
                f"{file}, line {rule.line}: a rule of {rule.symbol!r} stands twice, first in line {first[key]}"
            )
        first[key] = rule.line


def _check_weights(file: str, start: str, rules: Sequence[Rule]) -> None:
    sums: dict[str, float] = {}
    for rule in rules:
        sums[rule.symbol] = sums.get(rule.symbol, 0.0) + rule.weight
    for rule in rules:
        total = sums[rule.symbol]
        if abs(total - 1) > TOLERANCE:
            raise InputError(
                f"{file}, line {rule.line}: the probabilities of {rule.symbol!r} sum to {total:g}, not to 1"
            )
        if rule.weight <= 0:
            raise InputError(f"{file}, line {rule.line}: a rule of {rule.symbol!r} has no probability; write [0.5]")


def _check_used(file: str, start: str, rules: Sequence[Rule]) -> None:
    below: dict[str, list[str]] = {}
    for rule in rules:
        below.setdefault(rule.symbol, []).extend(symbols_below(rule))
    reached, ahead = {start}, [start]
    while ahead:
        new = [symbol for symbol in below[ahead.pop()] if symbol not in reached]
        reached.update(new)
        ahead.extend(new)
    for rule in rules:
        if rule.symbol not in reached:
            raise InputError(
                f"{file}, line {rule.line}: {rule.symbol!r} is never reached from {start!r}; use it or remove it"
            )


def _check_ends(file: str, start: str, rules: Sequence[Rule]) -> None:
    heights = least_heights(rules)
    for rule in rules:
        if heights[rule.symbol] == inf:
            raise InputError(
                f"{file}, line {rule.line}: {rule.symbol!r} never comes to an end; give it a rule that does not "
                "lead back to it"
            )


def _check_cycles(file: str, start: str, rules: Sequence[Rule]) -> None:
    """See that no symbol turns into itself and nothing else, or the same words had infinitely many derivations."""
    wordless = least_heights([rule for rule in rules if not any(part.is_word for part in rule.parts)])
    empty = {symbol for symbol, height in wordless.items() if height < inf}

    def alone(rule: Rule) -> list[str]:
        if any(part.is_word for part in rule.parts):
            return []
        needed = [part.text for part in rule.parts if part.text not in empty]
        return needed if len(needed) == 1 else [] if needed else [part.text for part in rule.parts]

    cycle = _cycle({rule.symbol: set[str]() for rule in rules}, ((rule.symbol, alone(rule)) for rule in rules))
    if cycle is not None:
        line = next(rule.line for rule in rules if rule.symbol == cycle[0] and cycle[1] in alone(rule))
        raise InputError(f"{file}, line {line}: a cycle, {' -> '.join(cycle)}: remove one of its rules")


def check_directives(
    rules: Sequence[Rule],
    classes: Sequence[tuple[Place, Sequence[str]]],
    functions: Sequence[tuple[Place, Sequence[str]]],
) -> None:
    """See that synonyms and function words are words of the grammar, and that synonyms can replace one another.

    Raises `InputError`, which names the line.
    """
    words = {part.text for rule in rules for part in rule.parts if part.is_word}
    for line, members in (*classes, *functions):
        for word in members:
            if word not in words:
                raise InputError(f"{line.where}: the grammar has no word {word!r}")
    categories = _categories(rules)
    taken: set[str] = set()
    for line, members in classes:
        sizes = Counter(symbol for word in members for symbol in categories.get(word, ()))
        if len(set(members)) < 2 or len(set(members)) < len(members):
            raise InputError(f"{line.where}: at least two different synonyms are needed")
        for word in members:
            if word in taken:
                raise InputError(f"{line.where}: {word!r} is in another synonym class already")
            if not any(sizes[symbol] > 1 for symbol in categories.get(word, ())):
                raise InputError(f"{line.where}: {word!r} shares no category with its synonyms")
        taken.update(members)


def _categories(rules: Sequence[Rule]) -> dict[str, set[str]]:
    """Of each word the symbols that are written by it alone."""
    found: dict[str, set[str]] = {}
    for rule in rules:
        if rule.word is not None:
            found.setdefault(rule.word, set()).add(rule.symbol)
    return found
