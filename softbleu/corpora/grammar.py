"""Context-free grammars in NLTK's notation, and what our directives in their comments add."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from softbleu.corpora.files import open_text
from softbleu.corpora.records import SEPARATOR
from softbleu.corpora.rules import Part, Rule, check_directives, check_rules
from softbleu.errors import InputError, UnknownNameError
from softbleu.limits import Limit
from softbleu.resources import find_resource

SUFFIX = ".cfg"
_LIMIT = Limit("a grammar", "words and signs of rules", 100_000, "leave some out")
MOST_FORMS = 100
"""Of an alternation; each corresponds to every other."""
_WEIGHT = re.compile(r"\[[\d.]+\]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_START = re.compile(r"%start\s+([\w/][\w/^<>-]*)")
_DIRECTIVE = re.compile(r"#\s*(\w+)\s*:\s*(.*)")
_ALTERNATE = re.compile(r"([\w/][\w/^<>-]*)\s*->\s*(.*)")
_PART = re.compile(r"\s*(?:'([^']*)'|\"([^\"]*)\"|([\w/][\w/^<>-]*)(?:\[(\d+)\])?|(\|))\s*")
_DIRECTIVES = ("synonyms", "function", "alternate")


Links = tuple[tuple[int, int], ...]
"""Places in one rule and the places in another that hold the same meaning."""


@dataclass(frozen=True)
class Grammar:
    """A grammar that has passed all checks; read one with `read_grammar`.

    Every symbol has rules, is reached from the start and comes to an end, and no symbol turns into itself.
    """

    name: str
    start: str
    rules: tuple[Rule, ...]
    synonyms: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Of each word in a synonym class, the whole class."""
    function_words: frozenset[str] = frozenset()
    alternations: Mapping[tuple[int, int], Links] = field(default_factory=dict)
    """Pairs of rules (by number) that say the same in another order, and how their symbols correspond."""

    def alike(self, first: str, second: str) -> bool:
        """Whether two words mean the same: equal, or of one synonym class."""
        return first == second or second in self.synonyms.get(first, ())


class _Line(NamedTuple):
    where: str
    number: int
    text: str


def grammar_names() -> list[str]:
    """Names of the grammars that travel with the package.

    >>> grammar_names()
    ['agreement', 'alternations', 'modifiers', 'morgan2014']
    """
    folder = find_resource("corpora", "grammars")
    return [] if folder is None else sorted(path.stem for path in folder.glob(f"*{SUFFIX}"))


def read_grammar(name: str, encoding: str = "utf-8") -> Grammar:
    """Read a grammar by its name or from a file.

    The notation is NLTK's (``NP -> Det N | 'she'``, ``[0.5]`` behind a right-hand side for its probability,
    ``%start``), and NLTK reads it. Comments may hold directives: ``# synonyms: store mall`` declares words that mean
    the same, ``# function: the to`` words without a meaning of their own, and ``# alternate: S -> NP[1] V NP[2] |
    NP[2] 'was' V 'by' NP[1]`` rules that say the same, with numbers telling which symbol is which. Raises
    `InputError`: the file cannot be read or parsed; a symbol has no rules, is never used, never ends, or turns into
    itself; probabilities do not sum to 1; a directive names what the grammar lacks. The line is named.

    >>> grammar = read_grammar("morgan2014")
    >>> grammar.start, len(grammar.rules), sorted(grammar.synonyms["mall"])
    ('S', 27, ['mall', 'store', 'supermarket'])
    """
    with closing(open_text(str(_find(name)), encoding)) as lines:
        return parse_grammar(name.removesuffix(SUFFIX).rpartition("/")[2], lines, file=name)


def _find(name: str) -> Path:
    """Path of a grammar: what looks like a file is one."""
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
        raise InputError(f"{file}: no rules; write 'S -> NP VP', a rule a line")
    if not weighted:
        counts = Counter(rule.symbol for rule in rules)
        rules = [Rule(rule.symbol, rule.parts, 1 / counts[rule.symbol], rule.line) for rule in rules]
    begin = start or rules[0].symbol
    check_rules(file, begin, rules)
    classes = [(line, line.text.split()) for kind, line in directives if kind == "synonyms"]
    functions = [(line, line.text.split()) for kind, line in directives if kind == "function"]
    check_directives(rules, classes, functions)
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
    """Tell rules, directives and the start symbol apart; a backslash continues a line, as in NLTK."""
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
            found = _START.fullmatch(line.text)
            if not found:
                raise InputError(f"{line.where}: not a directive of NLTK; write '%start SYMBOL'")
            start = found[1]
        elif line.text:
            rules.append(line)
        begun = ""
    if begun:
        raise InputError(f"{file}: the last line ends with a backslash, but nothing follows")
    return rules, directives, start


def _size(line: _Line) -> int:
    """How many words, symbols and signs a rule has."""
    others, words = _QUOTED.subn(" ", line.text)
    return words + len(others.split())


def _directive_of(line: _Line) -> Iterator[tuple[str, _Line]]:
    found = _DIRECTIVE.fullmatch(line.text)
    if found is None:
        return
    kind = found[1].lower()
    if kind in _DIRECTIVES:
        yield kind, _Line(line.where, line.number, found[2])
    elif near := get_close_matches(kind, _DIRECTIVES, n=1, cutoff=0.8):
        raise InputError(f"{line.where}: unknown directive '# {found[1]}:' (did you mean '# {near[0]}:'?)")


def _parse_rules(line: _Line, weighted: bool) -> Iterator[Rule]:
    """Have NLTK parse the rules of a line."""
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


def _part_of(line: _Line, part: Any) -> Part:
    if not isinstance(part, str):
        return Part(str(part), False)
    if part.split() != [part] or part == SEPARATOR:
        raise InputError(f"{line.where}: {part!r} is not one word; write 'shopping' 'mall' for two")
    return Part(part, True)


def _parse_alternate(
    line: _Line, numbers: Mapping[tuple[str, tuple[Part, ...]], int]
) -> Iterator[tuple[tuple[int, int], Links]]:
    """Link the rules that a directive names; the rules themselves must be in the grammar."""
    head = _ALTERNATE.fullmatch(line.text)
    if head is None:
        raise InputError(f'{line.where}: write \'# alternate: S -> NP[1] V NP[2] | NP[2] "was" V "by" NP[1]\'')
    forms = []
    for parts, places in _parse_forms(line, head[2]):
        number = numbers.get((head[1], parts))
        if number is None:
            form = " ".join(repr(part.text) if part.is_word else part.text for part in parts)
            raise InputError(f"{line.where}: the grammar has no rule {head[1]} -> {form}; add it")
        forms.append((number, places))
    if len(forms) < 2 or len({number for number, _ in forms}) < len(forms):
        raise InputError(f"{line.where}: at least two different forms are needed, with | between them")
    if len(forms) > MOST_FORMS:
        raise InputError(f"{line.where}: {len(forms)} forms, where {MOST_FORMS} are the most: take fewer")
    for first, places in forms:
        for second, others in forms:
            if places.keys() != others.keys():
                name, _ = sorted(places.keys() ^ others.keys())[0]
                raise InputError(f"{line.where}: {name!r} has no counterpart in every form")
            if first != second:
                yield (first, second), tuple((place, others[key]) for key, place in places.items())


Places = dict[tuple[str, str], int]


def _parse_forms(line: _Line, text: str) -> Iterator[tuple[tuple[Part, ...], Places]]:
    """Read the right-hand sides of an alternation, and at which place each numbered symbol stands."""
    parts: list[Part] = []
    places: Places = {}
    position = 0
    while position < len(text):
        found = _PART.match(text, position)
        if found is None:
            raise InputError(f"{line.where}: cannot read {text[position:][:20]!r}; words stand in quotes")
        single, double, symbol, number, bar = found.groups()
        position = found.end()
        if bar:
            yield tuple(parts), places
            parts, places = [], {}
        elif symbol:
            key = (symbol, number or "")
            if key in places:
                raise InputError(f"{line.where}: {symbol!r} stands twice in a form; number them: {symbol}[1]")
            places[key] = len(parts)
            parts.append(Part(symbol, False))
        else:
            parts.append(Part(single or double or "", True))
    yield tuple(parts), places
