"""Context-free grammars in NLTK's notation with directives, and their derivations."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from heapq import heapify, heappop, heappush
from itertools import accumulate
from math import inf, prod
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from softbleu.corpora.files import open_text
from softbleu.corpora.records import SEPARATOR
from softbleu.errors import InputError, Parameter, UnknownNameError
from softbleu.io.arguments import Limit
from softbleu.io.files import find_resource

TOLERANCE = 0.01  # Deviation from 1 allowed for sums of probabilities, as in NLTK
SUFFIX = ".cfg"
_LIMIT = Limit("a grammar", "words and signs of rules", 100_000, "1,000 rules: 5,000", "leave some out")
MOST_FORMS = 100  # Forms of an alternation, which are linked pairwise
_WEIGHT = re.compile(r"\[[\d.]+\]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_START = re.compile(r"%start\s+([\w/][\w/^<>-]*)")
_DIRECTIVE = re.compile(r"#\s*(\w+)\s*:\s*(.*)")
_NUMBERED = re.compile(r"('[^']*'|\"[^\"]*\")|\[(\d+)\]")
_MARKED = re.compile(r"(.*?)(?:<(\d+)>)?")
_DIRECTIVES = ("synonyms", "function", "alternate")
Links = tuple[tuple[int, int], ...]  # Positions in two rules of parts with the same meaning
Places = dict[tuple[str, str], int]


class Part(NamedTuple):
    """A symbol or a word on the right of a rule."""

    text: str
    is_word: bool


@dataclass(frozen=True)
class Rule:
    """A production: a symbol and its right-hand side."""

    symbol: str
    parts: tuple[Part, ...]
    weight: float  # Probability among the rules of the symbol, which sum to 1
    line: int

    @property
    def word(self) -> str | None:
        """The word, if the right-hand side is a single word."""
        return self.parts[0].text if len(self.parts) == 1 and self.parts[0].is_word else None


class _Line(NamedTuple):
    where: str
    number: int
    text: str


def symbols_below(rule: Rule) -> list[str]:
    """List the symbols on the right of a rule."""
    return [part.text for part in rule.parts if not part.is_word]


def least_heights(rules: Sequence[Rule]) -> dict[str, float]:
    """Compute the height of the lowest derivation of each symbol, infinite without any.

    A rule without parts has height 1, a rule of words height 2, and so on, as NLTK counts.
    """
    heights = {rule.symbol: inf for rule in rules}
    # In order of height, like Dijkstra's algorithm: each rule is visited once per symbol.
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
    """Compute the height of the lowest derivation that begins with a rule."""
    return 1 + max((1 if part.is_word else heights[part.text] for part in rule.parts), default=0)


def _graph(rules: Sequence[Rule], below: Callable[[Rule], list[str]]) -> dict[str, list[str]]:
    """Map each symbol to the symbols below its rules, sorted, since the order of sets differs between processes."""
    graph: dict[str, set[str]] = {}
    for rule in rules:
        graph.setdefault(rule.symbol, set()).update(below(rule))
    return {symbol: sorted(symbols) for symbol, symbols in graph.items()}


def greatest_height(start: str, rules: Sequence[Rule]) -> int:
    """Compute the height of the highest derivation of a grammar without recursion."""
    order = TopologicalSorter(_graph(rules, symbols_below)).static_order()
    places = {symbol: place for place, symbol in enumerate(order)}
    heights: dict[str, float] = {}
    for rule in sorted(rules, key=lambda rule: places[rule.symbol]):
        heights[rule.symbol] = max(heights.get(rule.symbol, 0), least_height(rule, heights))
    return int(heights[start])


def cycle_of(rules: Sequence[Rule], below: Callable[[Rule], list[str]] = symbols_below) -> list[str] | None:
    """Find a cycle of symbols, which makes the language infinite; None without one."""
    try:
        TopologicalSorter(_graph(rules, below)).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1][::-1]
        return cycle
    return None


def _refuse(file: str, rule: Rule, message: str) -> NoReturn:
    raise InputError(f"{file}, line {rule.line}: {message}")


def _check_defined(file: str, start: str, rules: Sequence[Rule]) -> None:
    defined = {rule.symbol for rule in rules}
    if start not in defined:
        raise InputError(f"{file}: the start symbol {start!r} has no rules")
    for rule in rules:
        for symbol in symbols_below(rule):
            if symbol not in defined:
                near = get_close_matches(symbol, sorted(defined), n=1)
                hint = f"did you mean {near[0]!r}?" if near else "a word must stand in quotes"
                _refuse(file, rule, f"the symbol {symbol!r} has no rules ({hint})")


def _check_repeated(file: str, start: str, rules: Sequence[Rule]) -> None:
    first: dict[object, int] = {}
    for rule in rules:
        if (key := (rule.symbol, rule.parts)) in first:
            _refuse(file, rule, f"a rule of {rule.symbol!r} is repeated, first in line {first[key]}")
        first[key] = rule.line


def _check_weights(file: str, start: str, rules: Sequence[Rule]) -> None:
    sums: dict[str, float] = {}
    for rule in rules:
        sums[rule.symbol] = sums.get(rule.symbol, 0.0) + rule.weight
    for rule in rules:
        if abs(sums[rule.symbol] - 1) > TOLERANCE:
            _refuse(file, rule, f"the probabilities of {rule.symbol!r} sum to {sums[rule.symbol]:g}, not to 1")
        if rule.weight <= 0:
            _refuse(file, rule, f"a rule of {rule.symbol!r} has no probability; write [0.5]")


def _check_used(file: str, start: str, rules: Sequence[Rule]) -> None:
    below = _graph(rules, symbols_below)
    reached, ahead = {start}, [start]
    while ahead:
        new = [symbol for symbol in below[ahead.pop()] if symbol not in reached]
        reached.update(new)
        ahead.extend(new)
    for rule in rules:
        if rule.symbol not in reached:
            _refuse(file, rule, f"{rule.symbol!r} is never reached from {start!r}; use it or remove it")


def _check_ends(file: str, start: str, rules: Sequence[Rule]) -> None:
    heights = least_heights(rules)
    for rule in rules:
        if heights[rule.symbol] == inf:
            _refuse(file, rule, f"{rule.symbol!r} never ends; give it a rule that does not lead back to it")


def _check_cycles(file: str, start: str, rules: Sequence[Rule]) -> None:
    """Check that no symbol derives itself alone, which would give a sentence infinitely many derivations."""
    wordless = least_heights([rule for rule in rules if not any(part.is_word for part in rule.parts)])
    empty = {symbol for symbol, height in wordless.items() if height < inf}

    def alone(rule: Rule) -> list[str]:
        if any(part.is_word for part in rule.parts):
            return []
        needed = [part.text for part in rule.parts if part.text not in empty]
        return needed if len(needed) == 1 else [] if needed else [part.text for part in rule.parts]

    cycle = cycle_of(rules, alone)
    if cycle is not None:
        rule = next(rule for rule in rules if rule.symbol == cycle[0] and cycle[1] in alone(rule))
        _refuse(file, rule, f"a cycle, {' -> '.join(cycle)}: remove one of its rules")


def _check_directives(
    rules: Sequence[Rule],
    classes: Sequence[tuple[_Line, Sequence[str]]],
    functions: Sequence[tuple[_Line, Sequence[str]]],
) -> None:
    """Check that synonyms and function words are words of the grammar, and that synonyms share a category."""
    categories = categories_of(rules)
    for line, members in (*classes, *functions):
        for word in members:
            if word not in categories:
                raise InputError(f"{line.where}: the grammar has no word {word!r}")
    taken: set[str] = set()
    for line, members in classes:
        sizes = Counter(symbol for word in members for symbol in categories[word])
        if len(set(members)) < 2 or len(set(members)) < len(members):
            raise InputError(f"{line.where}: at least two different synonyms are needed")
        for word in members:
            if word in taken:
                raise InputError(f"{line.where}: {word!r} is in another synonym class already")
            if not any(sizes[symbol] > 1 for symbol in categories[word]):
                raise InputError(f"{line.where}: {word!r} shares no category with its synonyms")
        taken.update(members)


def categories_of(rules: Sequence[Rule]) -> dict[str, set[str]]:
    """Map each word to its categories: the symbols with a rule of this word alone."""
    categories: dict[str, set[str]] = {part.text: set() for rule in rules for part in rule.parts if part.is_word}
    for rule in rules:
        if rule.word is not None:
            categories[rule.word].add(rule.symbol)
    return categories


@dataclass(frozen=True)
class Grammar:
    """A valid grammar; read one with `read_grammar`.

    Every symbol has rules, is reached from the start and ends, and no symbol derives itself alone.
    """

    name: str
    start: str
    rules: tuple[Rule, ...]
    synonyms: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Synonym class of each word that has one."""
    function_words: frozenset[str] = frozenset()
    alternations: Mapping[tuple[int, int], Links] = field(default_factory=dict)
    """Links between the parts of two rules, by number, with the same meaning in another order."""

    def synonymous(self, first: str, second: str) -> bool:
        """Whether two words mean the same: equal, or of one synonym class."""
        return first == second or second in self.synonyms.get(first, ())


def grammar_names() -> list[str]:
    """List the bundled grammars.

    >>> grammar_names()
    ['agreement', 'alternations', 'modifiers', 'morgan2014', 'reports']
    """
    folder = find_resource("corpora", "grammars")
    return [] if folder is None else sorted(path.stem for path in folder.glob(f"*{SUFFIX}"))


def read_grammar(name: str, encoding: str = "utf-8") -> Grammar:
    """Read a grammar by its name or from a file.

    The notation is NLTK's (``NP -> Det N | 'she'``, ``[0.5]`` after a right-hand side for its probability,
    ``%start``), parsed by NLTK. Comments may hold directives: ``# synonyms: store mall`` declares words with the same
    meaning, ``# function: the to`` function words, and ``# alternate: S -> NP[1] V NP[2] | NP[2] 'was' V 'by' NP[1]``
    rules with the same meaning, where numbers identify symbols. Raises `InputError`, which names the line: the file
    cannot be parsed; a symbol has no rules, is never used, never ends, or derives itself; probabilities do not sum to
    1; a directive names words or rules that the grammar lacks.

    >>> grammar = read_grammar("morgan2014")
    >>> grammar.start, len(grammar.rules), sorted(grammar.synonyms["mall"])
    ('S', 27, ['mall', 'store', 'supermarket'])
    """
    lines = open_text(str(_find(name)), encoding)
    return parse_grammar(name.removesuffix(SUFFIX).rpartition("/")[2], lines, file=name)


def _find(name: str) -> Path:
    """Find the file of a bundled grammar, or a file by its path."""
    folder = find_resource("corpora", "grammars")
    if folder is not None and name in grammar_names():
        return folder / f"{name}{SUFFIX}"
    path = Path(name)
    if not path.exists() and path.name == name and not path.suffix:
        raise UnknownNameError("grammar", name, [*grammar_names(), f"or a file *{SUFFIX}"])
    return path


def parse_grammar(name: str, lines: Iterable[str], *, file: str | None = None) -> Grammar:
    """Parse the lines of a grammar; see `read_grammar`.

    >>> grammar = parse_grammar("tiny", ["S -> N 'sleeps'", "N -> 'Ann' [0.9] | 'Bob' [0.1]"])
    Traceback (most recent call last):
    softbleu.errors.InputError: tiny, line 1: the probabilities of 'S' sum to 0, not to 1
    """
    file = file or name
    rule_lines, directives, start = _sort_lines(file, lines)
    _LIMIT.check(sum(map(_size, rule_lines)), file)
    weighted = any(_WEIGHT.search(_QUOTED.sub("", line.text)) for line in rule_lines)
    rules = [rule for line in rule_lines for rule in _parse_rules(line, weighted)]
    if not rules:
        raise InputError(f"{file}: no rules; write 'S -> NP VP', a rule per line")
    if not weighted:
        counts = Counter(rule.symbol for rule in rules)
        rules = [Rule(rule.symbol, rule.parts, 1 / counts[rule.symbol], rule.line) for rule in rules]
    begin = start or rules[0].symbol
    for check in (_check_defined, _check_repeated, _check_weights, _check_used, _check_ends, _check_cycles):
        check(file, begin, rules)
    classes = [(line, line.text.split()) for kind, line in directives if kind == "synonyms"]
    functions = [(line, line.text.split()) for kind, line in directives if kind == "function"]
    _check_directives(rules, classes, functions)
    numbers = {(rule.symbol, rule.parts): number for number, rule in enumerate(rules)}
    return Grammar(
        name,
        begin,
        tuple(rules),
        {word: members for _, words in classes for members in (frozenset(words),) for word in members},
        frozenset(word for _, words in functions for word in words),
        dict(link for kind, line in directives if kind == "alternate" for link in _parse_alternate(line, numbers)),
    )


def _sort_lines(file: str, lines: Iterable[str]) -> tuple[list[_Line], list[tuple[str, _Line]], str | None]:
    """Separate rules, directives and the start symbol; a backslash continues a line, as in NLTK."""
    rules: list[_Line] = []
    directives: list[tuple[str, _Line]] = []
    start, begun = None, ""
    for number, text in enumerate(lines, start=1):
        line = _Line(f"{file}, line {number}", number, begun + text.strip())
        if line.text.startswith("#"):
            directives.extend(_directive_of(line))
        elif line.text.endswith("\\"):
            begun = line.text[:-1].rstrip() + " "
            continue
        elif line.text.startswith("%"):
            match = _START.fullmatch(line.text)
            if not match:
                raise InputError(f"{line.where}: not a directive of NLTK; write '%start SYMBOL'")
            start = match[1]
        elif line.text:
            rules.append(line)
        begun = ""
    if begun:
        raise InputError(f"{file}: the last line ends with a backslash, but nothing follows")
    return rules, directives, start


def _size(line: _Line) -> int:
    """Count the words, symbols and signs of a rule."""
    others, words = _QUOTED.subn(" ", line.text)
    return words + len(others.split())


def _directive_of(line: _Line) -> Iterator[tuple[str, _Line]]:
    match = _DIRECTIVE.fullmatch(line.text)
    if match is None:
        return
    kind = match[1].lower()
    if kind in _DIRECTIVES:
        yield kind, _Line(line.where, line.number, match[2])
    elif near := get_close_matches(kind, _DIRECTIVES, n=1, cutoff=0.8):
        raise InputError(f"{line.where}: unknown directive '# {match[1]}:' (did you mean '# {near[0]}:'?)")


def _parse_rules(line: _Line, weighted: bool) -> Iterator[Rule]:
    """Parse the rules of a line with NLTK."""
    # NLTK takes most of a second to import.
    from nltk.grammar import read_grammar as read_productions
    from nltk.grammar import standard_nonterm_parser

    try:
        _, productions = read_productions(line.text, standard_nonterm_parser, probabilistic=weighted)
    except ValueError as error:
        raise InputError(
            f"{line.where}: {str(error).rpartition(chr(10))[2]}; write 'NP -> Det N | \"she\"'"
        ) from None
    for production in productions:
        parts = tuple(_part_of(line, part) for part in production.rhs())
        yield Rule(str(production.lhs()), parts, production.prob() if weighted else 1.0, line.number)


def _part_of(line: _Line, part: object) -> Part:
    if not isinstance(part, str):
        return Part(str(part), False)
    if part.split() != [part] or part == SEPARATOR:
        raise InputError(f"{line.where}: {part!r} is not one word; write 'shopping' 'mall' for two")
    return Part(part, True)


def _parse_alternate(
    line: _Line, numbers: Mapping[tuple[str, tuple[Part, ...]], int]
) -> Iterator[tuple[tuple[int, int], Links]]:
    """Link the rules of a directive, which must be rules of the grammar."""
    if "->" not in line.text:
        raise InputError(f'{line.where}: write \'# alternate: S -> NP[1] V NP[2] | NP[2] "was" V "by" NP[1]\'')
    forms = []
    for symbol, parts, places in _parse_forms(line):
        number = numbers.get((symbol, parts))
        if number is None:
            form = " ".join(repr(part.text) if part.is_word else part.text for part in parts)
            raise InputError(f"{line.where}: the grammar has no rule {symbol} -> {form}; add it")
        forms.append((number, places))
    if len(forms) < 2 or len({number for number, _ in forms}) < len(forms):
        raise InputError(f"{line.where}: at least two different forms are needed, with | between them")
    if len(forms) > MOST_FORMS:
        raise InputError(f"{line.where}: {len(forms)} forms: at most {MOST_FORMS}")
    for first, places in forms:
        for second, others in forms:
            if places.keys() != others.keys():
                name, _ = sorted(places.keys() ^ others.keys())[0]
                raise InputError(f"{line.where}: {name!r} has no counterpart in every form")
            if first != second:
                yield (first, second), tuple((place, others[key]) for key, place in places.items())


def _parse_forms(line: _Line) -> Iterator[tuple[str, tuple[Part, ...], Places]]:
    """Parse the forms of an alternation, each with the positions of its numbered symbols."""
    marked = _NUMBERED.sub(lambda match: match[1] or f"<{match[2]}>", line.text)
    for rule in _parse_rules(line._replace(text=marked), weighted=False):
        parts, places = list(rule.parts), Places()
        for place, part in enumerate(rule.parts):
            if part.is_word:
                continue
            symbol, number = _MARKED.fullmatch(part.text).groups("")  # type: ignore[union-attr]  # anything fits
            if (symbol, number) in places:
                raise InputError(f"{line.where}: {symbol!r} stands twice in a form; number them: {symbol}[1]")
            places[symbol, number] = place
            parts[place] = Part(symbol, False)
        yield rule.symbol, tuple(parts), places


def link_rules(grammar: Grammar, first: int, second: int) -> Links:
    """Link corresponding parts of two rules of a symbol.

    Parts of the same rule are linked one by one, symbols of a declared alternation as declared, other symbols by name
    in order, and words in order if they are equal or synonyms.

    Parameters
    ----------
    grammar
        The grammar of the rules.
    first, second
        Numbers of two rules of a symbol.
    """
    left, right = (grammar.rules[number].parts for number in (first, second))
    if first == second:
        return tuple((place, place) for place in range(len(left)))
    declared = grammar.alternations.get((first, second))
    links = list(declared or ())
    taken = {place for _, place in links}
    for place, part in enumerate(left):
        if declared is not None and not part.is_word:
            continue
        for other, counterpart in enumerate(right):
            same = grammar.synonymous(part.text, counterpart.text) if part.is_word else part == counterpart
            if other not in taken and part.is_word == counterpart.is_word and same:
                links.append((place, other))
                taken.add(other)
                break
    return tuple(sorted(links))


def alternations_of(grammar: Grammar) -> dict[int, list[tuple[int, dict[int, int]]]]:
    """Map each rule to its alternations: other rules, with the position in this rule of each of their parts."""
    forms: dict[int, list[tuple[int, dict[int, int]]]] = {}
    for first, second in grammar.alternations:
        origins = {other: place for place, other in link_rules(grammar, first, second)}
        forms.setdefault(first, []).append((second, origins))
    return forms


Derivation = tuple[int, tuple["Derivation", ...]]
"""Number of a rule, and a derivation per symbol on its right; plain tuples, as there may be millions."""

GREATEST_HEIGHT = 200  # Higher derivations would exhaust Python's stack
UNCOUNTABLE = 1 << 4096  # Limit of counts: with S -> S S the number of digits doubles with the height
GREATEST_LENGTH = 10_000  # Greatest mean number of words of drawn sentences
DEFAULT_HEIGHT = 20  # Height for recursive grammars
_BLOCK = 1 << 13
_BITS = 53


class Chance:
    """Random numbers, one at a time; generated in blocks, which is many times faster."""

    def __init__(self, seed: int) -> None:
        self.next: Callable[[], float] = _stream(seed).__next__
        """Draw a number from 0 to 1, 1 excluded."""

    def below(self, bound: int) -> int:
        """Draw a whole number below a bound of any size."""
        if bound < 1 << 32:
            return int(self.next() * bound)
        draws = (bound.bit_length() + 64) // _BITS + 1
        number = 0
        for _ in range(draws):
            number = number << _BITS | int(self.next() * (1 << _BITS))
        return number * bound >> draws * _BITS


def _stream(seed: int) -> Iterator[float]:
    generator = np.random.default_rng(seed)
    while True:
        yield from generator.random(_BLOCK).tolist()


@dataclass(frozen=True)
class _Choice:
    """The rules of a symbol that fit a height."""

    rules: tuple[int, ...]
    bounds: tuple[float, ...]  # Cumulative probabilities
    starts: tuple[int, ...]  # Number of the first derivation of each rule
    total: int
    lengths: tuple[float, float]  # Mean number of words, drawn by weights and uniformly


@dataclass(frozen=True)
class Derivations:
    """The derivations of a grammar up to a height; make them with `Derivations.of`."""

    grammar: Grammar
    height: int  # Greatest height, as NLTK counts the height of a tree (including words)
    below: tuple[tuple[str, ...], ...]  # Symbols on the right of each rule
    words: tuple[tuple[str | None, ...], ...]  # Parts of each rule: words, and None for symbols
    _choices: dict[tuple[str, int], _Choice] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, grammar: Grammar, max_depth: int | None = None, *, exhaustive: bool = False) -> Derivations:
        """Prepare the derivations of a grammar.

        `max_depth` is the greatest height of a derivation, including words; by default 20 for recursive grammars and
        unlimited for others. A recursive grammar needs it if `exhaustive`. Raises `InputError`: no sentence fits, the
        language is infinite, or derivations are higher than 200.

        >>> from softbleu.corpora.grammar import read_grammar
        >>> derivations = Derivations.of(read_grammar("morgan2014"))
        >>> derivations.height, derivations.count()
        (6, 1008)
        >>> " ".join(derivations.sentence(derivations.at(1007)))
        'we ran around a mall'
        """
        rules = grammar.rules
        recursion = cycle_of(rules)
        if exhaustive and recursion is not None and max_depth is None:
            raise InputError(
                f"{grammar.name} has infinitely many sentences ({' -> '.join(recursion)}): give ",
                Parameter("max_depth"),
            )
        least = least_heights(rules)[grammar.start]
        if max_depth is not None and max_depth < least:
            raise InputError(
                f"{grammar.name} has no sentence of depth {max_depth}: ",
                Parameter("max_depth", round(least)),
                " is the least",
            )
        if recursion is None:
            highest = greatest_height(grammar.start, rules)
            height = highest if max_depth is None else min(max_depth, highest)
        else:
            height = max(DEFAULT_HEIGHT, int(least)) if max_depth is None else max_depth
        if height > GREATEST_HEIGHT:
            most = Parameter("max_depth", GREATEST_HEIGHT)
            raise InputError(f"{grammar.name}: derivations of depth {height} are too deep: give ", most)
        below = tuple(tuple(symbols_below(rule)) for rule in rules)
        words = tuple(tuple(part.text if part.is_word else None for part in rule.parts) for rule in rules)
        made = cls(grammar, height, below, words)
        made._fill()
        return made

    def _fill(self) -> None:
        """Compute, from the lowest height up, the rules that fit and their numbers of derivations."""
        rules = self.grammar.rules
        heights = least_heights(rules)
        least = [least_height(rule, heights) for rule in rules]
        numbers: dict[str, list[int]] = {}
        for number, rule in enumerate(rules):
            numbers.setdefault(rule.symbol, []).append(number)
        for height in range(1, self.height + 1):
            for symbol, all_numbers in numbers.items():
                fit = [number for number in all_numbers if least[number] <= height]
                if fit:
                    self._choices[symbol, height] = self._choose(fit, height)

    def _choose(self, fit: list[int], height: int) -> _Choice:
        """Combine the rules that fit a height; needs the choices of all lower heights."""
        below = [[self._choices[symbol, height - 1] for symbol in self.below[number]] for number in fit]
        sums = list(accumulate(self.grammar.rules[number].weight for number in fit))
        counts = [min(prod(choice.total for choice in choices), UNCOUNTABLE) for choices in below]
        *starts, total = accumulate(counts, initial=0)
        shares = (
            [self.grammar.rules[number].weight / sums[-1] for number in fit],
            [count / total for count in counts],
        )
        lengths = [
            sum(
                share * (len(self.words[number]) - len(choices) + sum(choice.lengths[kind] for choice in choices))
                for share, number, choices in zip(shares[kind], fit, below, strict=True)
            )
            for kind in (0, 1)
        ]
        return _Choice(
            tuple(fit),
            # The last bound is exactly 1, so that rounding leaves no gap.
            (*(part / sums[-1] for part in sums[:-1]), 1.0),
            tuple(starts),
            min(total, UNCOUNTABLE),
            (lengths[0], lengths[1]),
        )

    def check_drawing(self, *, uniform: bool) -> None:
        """Check that sentences can be drawn: not too long and, if drawn uniformly, countable."""
        if uniform:
            self.count()
        length = self._choices[self.grammar.start, self.height].lengths[uniform]
        if length > GREATEST_LENGTH:
            raise InputError(
                f"{self.grammar.name} has sentences of some {length:,.0f} words at depth {self.height}: lower ",
                Parameter("max_depth"),
                ", or make the rules that repeat themselves less probable",
            )

    def count(self) -> int:
        """Count the derivations exactly; ambiguous sentences have several."""
        if self.capped_count >= UNCOUNTABLE:
            raise InputError(f"{self.grammar.name} has too many derivations to count: lower ", Parameter("max_depth"))
        return self.capped_count

    @property
    def capped_count(self) -> int:
        """Number of derivations, at most 2⁴⁰⁹⁶."""
        return self._choices[self.grammar.start, self.height].total

    def at(self, index: int) -> Derivation:
        """Return a derivation by its number, below `count()`, in NLTK's order: the last word varies first."""
        return self._at(self.grammar.start, self.height, index)

    def _at(self, symbol: str, height: int, index: int) -> Derivation:
        choice = self._choices[symbol, height]
        place = bisect_right(choice.starts, index) - 1
        number = choice.rules[place]
        index -= choice.starts[place]
        made: list[Derivation] = []
        for below in reversed(self.below[number]):
            index, part = divmod(index, self._choices[below, height - 1].total)
            made.append(self._at(below, height - 1, part))
        return number, tuple(made[::-1])

    def draw(self, chance: Chance) -> Derivation:
        """Draw a derivation by the probabilities of the rules that fit."""
        return self._draw(self.grammar.start, self.height, chance.next)

    def _draw(self, symbol: str, height: int, draw: Callable[[], float]) -> Derivation:
        choice = self._choices[symbol, height]
        number = choice.rules[bisect_right(choice.bounds, draw())]
        below = self.below[number]
        return number, tuple([self._draw(inner, height - 1, draw) for inner in below]) if below else ()

    def draw_uniformly(self, chance: Chance) -> Derivation:
        """Draw a derivation; all are equally likely."""
        return self.at(chance.below(self.count()))

    def sentence(self, derivation: Derivation) -> list[str]:
        """Return the words of a derivation."""
        words: list[str] = []
        self._write(derivation, words)
        return words

    def _write(self, derivation: Derivation, words: list[str]) -> None:
        number, inner = derivation
        if not inner:
            words += filter(None, self.words[number])
            return
        ahead = iter(inner)
        for word in self.words[number]:
            if word is None:
                self._write(next(ahead), words)
            else:
                words.append(word)
