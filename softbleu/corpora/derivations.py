"""Derivations of a grammar: counted, numbered, drawn at random, written as words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from math import prod

import numpy as np

from softbleu.corpora.grammar import (
    Grammar,
    cycle_of,
    greatest_height,
    least_height,
    least_heights,
    symbols_below,
)
from softbleu.errors import InputError, Parameter

Derivation = tuple[int, tuple["Derivation", ...]]
"""Number of a rule, and a derivation of each symbol on its right; plain tuples, for millions are made."""

GREATEST_HEIGHT = 200  # Higher derivations would exhaust Python's stack
UNCOUNTABLE = 1 << 4096  # Counts stop here: those of S -> S S double their digits with every step of the height
GREATEST_LENGTH = 10_000  # Words that sentences may have on average when they are drawn
DEFAULT_HEIGHT = 20  # To which sentences of a recursive grammar are drawn when no height is given
_BLOCK = 1 << 13
_BITS = 53


class Chance:
    """Random numbers of a seed, one at a time; they are drawn in blocks, which is many times faster."""

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
    """The rules of a symbol that fit below a height."""

    rules: tuple[int, ...]
    bounds: tuple[float, ...]  # Summed probabilities, up to 1
    starts: tuple[int, ...]  # Number of the first derivation of each rule
    total: int
    lengths: tuple[float, float]  # Mean number of words, drawn by weights and uniformly


@dataclass(frozen=True)
class Derivations:
    """The derivations of a grammar up to a height; make them with `Derivations.of`."""

    grammar: Grammar
    height: int  # Greatest height, words counted, as NLTK counts the height of a tree
    below: tuple[tuple[str, ...], ...]  # Of each rule, the symbols on its right
    words: tuple[tuple[str | None, ...], ...]  # Of each rule, its parts: words, and None for symbols
    _choices: dict[tuple[str, int], _Choice] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, grammar: Grammar, max_depth: int | None = None, *, exhaustive: bool = False) -> Derivations:
        """Prepare the derivations of a grammar.

        `max_depth` is the greatest height of a derivation, words counted; None sets no limit to a grammar of finitely
        many sentences and 20 to others. If it is `exhaustive`, a recursive grammar needs one. Raises `InputError`: no
        sentence is that low, or there are infinitely many, or derivations are higher than 200.

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
        """Find, from the lowest height up, which rules fit and how many derivations each begins."""
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
        """Put together what is to know of the rules that fit, all lower choices being known."""
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
            # The last is exactly 1, lest rounding leave a gap at the end.
            (*(part / sums[-1] for part in sums[:-1]), 1.0),
            tuple(starts),
            min(total, UNCOUNTABLE),
            (lengths[0], lengths[1]),
        )

    def check_drawing(self, *, uniform: bool) -> None:
        """See that sentences to be drawn can be numbered, and are not endless."""
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
        """Count them exactly without making them; sentences are as many unless some have several derivations."""
        if self.capped_count >= UNCOUNTABLE:
            raise InputError(f"{self.grammar.name} has too many derivations to count: lower ", Parameter("max_depth"))
        return self.capped_count

    @property
    def capped_count(self) -> int:
        """How many there are, but 2⁴⁰⁹⁶ if there are more."""
        return self._choices[self.grammar.start, self.height].total

    def at(self, index: int) -> Derivation:
        """Make the derivation of a number below `count()`; they come in NLTK's order, the last word varying first."""
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
        """Draw one by the probabilities of the rules that fit; without weights they are all equally likely."""
        return self._draw(self.grammar.start, self.height, chance.next)

    def _draw(self, symbol: str, height: int, draw: Callable[[], float]) -> Derivation:
        choice = self._choices[symbol, height]
        number = choice.rules[bisect_right(choice.bounds, draw())]
        below = self.below[number]
        return number, tuple([self._draw(inner, height - 1, draw) for inner in below]) if below else ()

    def draw_uniformly(self, chance: Chance) -> Derivation:
        """Draw one, each equally likely."""
        return self.at(chance.below(self.count()))

    def sentence(self, derivation: Derivation) -> list[str]:
        """Words of a derivation."""
        words: list[str] = []
        self._write(derivation, words)
        return words

    def _write(self, derivation: Derivation, words: list[str]) -> None:
        number, inner = derivation
        if not inner:
            words += self.words[number]  # type: ignore[arg-type]  # no symbols, so no None
            return
        ahead = iter(inner)
        for word in self.words[number]:
            if word is None:
                self._write(next(ahead), words)
            else:
                words.append(word)
