"""A candidate and its reference from one derivation: words exchanged, order alternated, noise added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from softbleu.config.declare import Declared, setting
from softbleu.corpora.aligned import AlignedPair, alternations_of, label_pair
from softbleu.corpora.derivations import Chance, Derivation, Derivations
from softbleu.corpora.grammar import Grammar
from softbleu.errors import InputError, Parameter, UnknownNameError

Token = tuple[str, int]  # A word of the candidate and the place of the reference token that it means, or NOTHING
NOTHING = -1
_REMEMBERED = 1000  # Words whose strangers are remembered


@dataclass(frozen=True)
class ParaphraseSettings(Declared):
    """How a candidate differs from its reference; rates are probabilities from 0 to 1."""

    synonyms: float = setting(0.5, "Of a word with synonyms in its category: to become one", least=0, most=1)
    category: float = setting(0.0, "Of other leaves: to become another word of their category", least=0, most=1)
    alternate: float = setting(0.5, "Of a rule with alternations: to become one of them", least=0, most=1)
    noise: tuple[tuple[str, float], ...] = setting((), "Kinds of noise (see `NOISE`), each with its rate per token")

    def check(self) -> None:
        """See that there are such kinds of noise, each once and with a probability."""
        kinds = [kind for kind, _ in self.noise]
        for kind, rate in self.noise:
            if kind not in NOISE:
                raise UnknownNameError("noise", kind, NOISE)
            if kinds.count(kind) > 1:
                raise InputError(Parameter("noise", kind), " is given twice")
            if not 0 <= rate <= 1:
                raise InputError(Parameter("noise", kind), f" is a probability from 0 to 1, not {rate:g}")


@dataclass(frozen=True)
class Lexicon:
    """The words of a grammar, as noise needs them."""

    words: tuple[str, ...]
    function_words: frozenset[str]
    functions: Callable[[str], tuple[str, ...]]  # Of a function word, those of another meaning
    strangers: Callable[[str], tuple[str, ...]]  # Of a word, those that share neither category nor meaning with it

    @classmethod
    def of(cls, grammar: Grammar) -> Lexicon:
        """Collect the words of a grammar, in alphabetical order."""
        categories: dict[str, set[str]] = {}
        for rule in grammar.rules:
            for part in rule.parts:
                if part.is_word:
                    # Words between symbols are of no category but their own.
                    categories.setdefault(part.text, set()).add(rule.symbol if rule.word else f"'{part.text}'")
        words = tuple(sorted(categories))
        function_words = sorted(grammar.function_words)

        # Made when they are needed: of all words they would be as many as the square of these.
        @lru_cache(_REMEMBERED)
        def strangers(word: str) -> tuple[str, ...]:
            return tuple(
                other
                for other in words
                if not categories[word] & categories[other] and not grammar.synonymous(word, other)
            )

        @lru_cache(_REMEMBERED)
        def functions(word: str) -> tuple[str, ...]:
            return tuple(other for other in function_words if not grammar.synonymous(word, other))

        return cls(words, grammar.function_words, functions, strangers)


def _swap(tokens: list[Token], rate: float, chance: Chance, lexicon: Lexicon) -> list[Token]:
    """Exchange a token with the next; the two are then passed over."""
    place = 0
    while place < len(tokens) - 1:
        if chance.next() < rate:
            tokens[place], tokens[place + 1] = tokens[place + 1], tokens[place]
            place += 1
        place += 1
    return tokens


def _drop(tokens: list[Token], rate: float, chance: Chance, lexicon: Lexicon) -> list[Token]:
    """Leave a token out."""
    return [token for token in tokens if chance.next() >= rate]


def _insert(tokens: list[Token], rate: float, chance: Chance, lexicon: Lexicon) -> list[Token]:
    """Put any word of the grammar before a token; it means nothing in the reference."""
    made: list[Token] = []
    for token in tokens:
        if chance.next() < rate:
            made.append((lexicon.words[chance.below(len(lexicon.words))], NOTHING))
        made.append(token)
    return made


def _substitute(tokens: list[Token], rate: float, chance: Chance, lexicon: Lexicon) -> list[Token]:
    """Put a word of a wrong category in the place of a token."""
    return [_other(token, lexicon.strangers(token[0]), chance) if chance.next() < rate else token for token in tokens]


def _function(tokens: list[Token], rate: float, chance: Chance, lexicon: Lexicon) -> list[Token]:
    """Put a function word of another meaning in the place of one."""
    return [
        _other(token, lexicon.functions(token[0]), chance)
        if token[0] in lexicon.function_words and chance.next() < rate
        else token
        for token in tokens
    ]


def _other(token: Token, words: tuple[str, ...], chance: Chance) -> Token:
    return (words[chance.below(len(words))], NOTHING) if words else token


NOISE: dict[str, Callable[[list[Token], float, Chance, Lexicon], list[Token]]] = {
    "swap": _swap,
    "drop": _drop,
    "insert": _insert,
    "substitute": _substitute,
    "function": _function,
}
"""Kinds of noise; they are added in the order in which they are asked for."""


@dataclass(frozen=True)
class _Others:
    """The words of a group but for one; all of a group share its list."""

    group: list[str]
    place: int

    @classmethod
    def of(cls, group: list[str], word: str | None) -> _Others:
        """Add a word to its group; None has no others."""
        if word is None:
            return cls([""], 0)
        group.append(word)
        return cls(group, len(group) - 1)

    def __len__(self) -> int:
        return len(self.group) - 1

    def __getitem__(self, number: int) -> str:
        return self.group[number + (number >= self.place)]


class Paraphraser:
    """Makes pairs of which the reference is a derivation's sentence, and the candidate says it in another way."""

    def __init__(self, derivations: Derivations, settings: ParaphraseSettings, chance: Chance) -> None:
        grammar = derivations.grammar
        self._settings = settings
        self._chance = chance
        self._grammar = grammar
        self._words = derivations.words
        self._lexicon = Lexicon.of(grammar)
        groups: dict[object, list[str]] = {}
        self._others: list[_Others] = []
        self._mates: list[_Others] = []
        for rule in grammar.rules:
            self._others.append(_Others.of(groups.setdefault(rule.symbol, []), rule.word))
            synonyms = grammar.synonyms.get(rule.word or "", frozenset((rule.word,)))
            self._mates.append(_Others.of(groups.setdefault((rule.symbol, synonyms), []), rule.word))
        self._forms = alternations_of(grammar)

    def pair(self, derivation: Derivation) -> AlignedPair:
        """Make the candidate of a derivation.

        >>> from softbleu.corpora.grammar import read_grammar
        >>> derivations = Derivations.of(read_grammar("morgan2014"))
        >>> settings = ParaphraseSettings(synonyms=1.0)
        >>> pair = Paraphraser(derivations, settings, Chance(0)).pair(derivations.at(0))
        >>> print(" ".join(pair.candidate), "|||", " ".join(pair.reference), pair.label)
        the boy went to the supermarket ||| the man went to the store paraphrase
        """
        words: list[str] = []
        tokens = self._write(derivation, words)
        for kind, rate in self._settings.noise:
            tokens = NOISE[kind](tokens, rate, self._chance, self._lexicon)
        candidate, reference = tuple([word for word, _ in tokens]), tuple(words)
        if candidate == reference:
            return AlignedPair(candidate, reference, tuple((i, i) for i in range(len(words))), "identical")
        alignment = tuple([(place, origin) for place, (_, origin) in enumerate(tokens) if origin != NOTHING])
        label = label_pair(candidate, reference, alignment, self._grammar.function_words)
        return AlignedPair(candidate, reference, alignment, label)

    def _write(self, derivation: Derivation, reference: list[str]) -> list[Token]:
        """Write a derivation's words to the reference, and return those of the candidate."""
        number, inner = derivation
        forms = self._forms.get(number)
        if not inner and forms is None:
            return self._write_words(number, reference)
        parts: list[list[Token]] = []
        ahead = iter(inner)
        for word in self._words[number]:
            if word is None:
                parts.append(self._write(next(ahead), reference))
            else:
                parts.append([(word, len(reference))])
                reference.append(word)
        if forms is not None and self._chance.next() < self._settings.alternate:
            other, origins = forms[self._chance.below(len(forms))]
            parts = [
                parts[origins[place]] if word is None else [(word, self._origin(parts, origins.get(place)))]
                for place, word in enumerate(self._words[other])
            ]
        return [token for part in parts for token in part]

    @staticmethod
    def _origin(parts: list[list[Token]], place: int | None) -> int:
        """Place in the reference of the word that a word between symbols means."""
        return NOTHING if place is None else parts[place][0][1]

    def _write_words(self, number: int, reference: list[str]) -> list[Token]:
        words, start = self._words[number], len(reference)
        reference += words  # type: ignore[arg-type]  # no symbols, so no None
        others = self._others[number]
        if others:
            mates = self._mates[number]
            if mates and self._chance.next() < self._settings.synonyms:
                return [(mates[self._chance.below(len(mates))], start)]
            if self._settings.category and self._chance.next() < self._settings.category:
                word = others[self._chance.below(len(others))]
                return [(word, start if self._grammar.synonymous(words[0] or "", word) else NOTHING)]
        return [(word or "", start + place) for place, word in enumerate(words)]
