"""Artificial corpora: sentences of a grammar, alone or in aligned pairs, of halves (Morgan 2014) or paraphrases."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from itertools import count, islice
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from softbleu.config.declare import Declared, setting
from softbleu.corpora.files import numbered_lines
from softbleu.corpora.grammar import (
    Chance,
    Derivation,
    Derivations,
    Grammar,
    Links,
    alternations_of,
    categories_of,
    link_rules,
    read_grammar,
)
from softbleu.corpora.records import SEPARATOR
from softbleu.errors import InputError, Parameter, UnknownNameError, known_name
from softbleu.io.reading import parse_json
from softbleu.types import JsonObject, Progress

Label = Literal["identical", "paraphrase", "related", "unrelated"]
LABELS: tuple[Label, ...] = get_args(Label)
Alignment = tuple[tuple[int, int], ...]
GREATEST_LANGUAGE = 10_000_000  # Greatest number of sentences to enumerate, at some hundred bytes each
Token = tuple[str, int]  # A word of the candidate, and the position of the reference token it is aligned with
NOTHING = -1  # Position of unaligned tokens
_REMEMBERED = 1000  # Cached words with their replacements
Pairing = Literal["none", "halves", "paraphrase"]
DerivationSampling = Literal["weights", "uniform"]
Item = TypeVar("Item")
_Line = JsonObject  # Fields of a line by name
FRUITLESS = 100_000  # Consecutive repetitions after which drawing stops
_STEP = 1000
_MOST = 10**15


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A candidate and a reference with their word alignment."""

    candidate: tuple[str, ...]
    reference: tuple[str, ...]
    alignment: Alignment  # Positions (candidate, reference), from 0, sorted; each at most once
    label: Label


def label_pair(
    candidate: Collection[str], reference: Collection[str], alignment: Alignment, function_words: Collection[str]
) -> Label:
    """Label the relation of two sentences by their alignment.

    Sentences with the same tokens are "identical"; a "paraphrase" has all content tokens aligned on both sides;
    sentences are "related" if some content token is aligned, and "unrelated" otherwise.

    Parameters
    ----------
    candidate, reference
        Tokens of the sentences.
    alignment
        Positions of candidate and reference tokens with the same meaning.
    function_words
        Words that are not content words.

    Examples
    --------
    >>> alignment = ((0, 0), (1, 1), (4, 4))
    >>> label_pair("he ran to the mall".split(), "he ran to a store".split(), alignment, {"to", "the", "a"})
    'paraphrase'
    >>> label_pair(["he", "ran"], ["he", "drove"], ((0, 0),), ())
    'related'
    """
    if candidate == reference:
        return "identical"
    places = {place for place, _ in alignment}, {place for _, place in alignment}
    aligned = {
        place in covered
        for side, covered in zip((candidate, reference), places, strict=True)
        for place, word in enumerate(side)
        if word not in function_words
    }
    if True not in aligned:
        return "unrelated"
    return "related" if False in aligned else "paraphrase"


def read_aligned(path: str, encoding: str = "utf-8") -> Iterator[AlignedPair]:
    """Read aligned pairs from JSON lines written by the generator.

    A line is an object with `candidate`, `reference` (tokens separated by blanks), `alignment` (a list of positions
    `[candidate, reference]`, from 0) and `label`. The file may be packed, or `-`.
    """
    for where, line in numbered_lines(path, encoding):
        yield _parse(where, line)


def _parse(where: str, line: str) -> AlignedPair:
    entry = parse_json(line, where)
    entry = entry if isinstance(entry, dict) else {}
    sides = [side for name in ("candidate", "reference") if isinstance(side := entry.get(name), str)]
    if len(sides) < 2:
        raise InputError(f"{where}: an object with the texts 'candidate' and 'reference' is needed")
    candidate, reference = (tuple(side.split()) for side in sides)
    if entry.get("label") not in LABELS:
        raise InputError(f"{where}: 'label' is needed, one of {', '.join(LABELS)}")
    places = entry.get("alignment")
    if not isinstance(places, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(type(place) is int for place in pair) for pair in places
    ):
        raise InputError(f"{where}: 'alignment' is needed, a list of places [candidate, reference]")
    return AlignedPair(candidate, reference, check_alignment(where, candidate, reference, places), entry["label"])


def check_alignment(
    where: str, candidate: Sequence[str], reference: Sequence[str], places: Iterable[Sequence[int]]
) -> Alignment:
    """Check that the positions of an alignment exist, and occur once.

    Parameters
    ----------
    where
        File and line of the pair, for errors.
    candidate, reference
        Tokens of the sentences.
    places
        Positions of candidate and reference tokens, from 0.
    """
    alignment = tuple((left, right) for left, right in places)
    for left, right in alignment:
        if not (0 <= left < len(candidate) and 0 <= right < len(reference)):
            sizes = f"{len(candidate)} and {len(reference)}"
            raise InputError(f"{where}: [{left}, {right}] aligns tokens that do not exist, of {sizes}")
    if any(len(set(side)) < len(alignment) for side in zip(*alignment, strict=True)):
        raise InputError(f"{where}: a token is aligned twice")
    return alignment


class Seen:
    """A set of texts, stored as short digests: a million take at most a hundred megabytes."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def add(self, text: str) -> bool:
        """Add a text; return whether it is new."""
        before = len(self._digests)
        self._digests.add(blake2b(text.encode(), digest_size=12).digest())
        return len(self._digests) > before


_Parts = tuple[int, list[Any]]  # Number of a rule, and for each part the position of a word or nested parts


@dataclass(frozen=True)
class Aligner:
    """Aligns words of two derivations that have corresponding positions and the same meaning."""

    derivations: Derivations
    _links: dict[tuple[int, int], Links] = field(default_factory=dict, repr=False, compare=False)

    def align(self, candidate: Derivation, reference: Derivation) -> Alignment:
        """Align words with the same meaning; return positions (candidate, reference).

        Both derivations are walked together from their start, along the parts that `link_rules` links. So "man" in
        "the man saw a dog" is not aligned with "man" in "a dog saw the man".

        >>> from softbleu.corpora.grammar import read_grammar
        >>> derivations = Derivations.of(read_grammar("morgan2014"))
        >>> first, second = derivations.at(0), derivations.at(79)
        >>> " ".join(derivations.sentence(first)), " ".join(derivations.sentence(second))
        ('the man went to the store', 'the boy went by the supermarket')
        >>> Aligner(derivations).align(first, second)
        ((0, 0), (1, 1), (2, 2), (4, 4), (5, 5))
        """
        places: list[tuple[int, int]] = []
        self._walk(self._parts(candidate, count()), self._parts(reference, count()), places)
        return tuple(sorted(places))

    def _walk(self, first: _Parts, second: _Parts, places: list[tuple[int, int]]) -> None:
        key = (first[0], second[0])
        links = self._links.get(key)
        if links is None:
            links = self._links[key] = link_rules(self.derivations.grammar, *key)
        for place, other in links:
            one, two = first[1][place], second[1][other]
            if isinstance(one, int) or isinstance(two, int):
                places.append((one, two))
            else:
                self._walk(one, two, places)

    def _parts(self, derivation: Derivation, places: Iterator[int]) -> _Parts:
        """Return the rule of a derivation, and the position of each word or the nested parts of each symbol."""
        number, inner = derivation
        ahead = iter(inner)
        words = self.derivations.words[number]
        return number, [next(places) if word is not None else self._parts(next(ahead), places) for word in words]


def distinct_numbers(derivations: Derivations) -> NDArray[np.int64]:
    """Return the number of one derivation per distinct sentence."""
    total = derivations.count()
    if total > GREATEST_LANGUAGE:
        number = f"{total:,}" if total < 10**15 else f"some 10^{len(str(total)) - 1}"
        raise InputError(
            f"{derivations.grammar.name} has {number} derivations, too many to take them all: lower ",
            Parameter("max_depth"),
            ", or draw some of the sentences or paraphrases by ",
            Parameter("count"),
        )
    seen = Seen()
    new = (index for index in range(total) if seen.add(" ".join(derivations.sentence(derivations.at(index)))))
    return np.fromiter(new, np.int64)


def pair_halves(derivations: Derivations, seed: int, numbers: NDArray[np.int64]) -> Iterator[AlignedPair]:
    """Pair sentences at random without repetition (Morgan 2014); an odd one is left over.

    Parameters
    ----------
    derivations
        Derivations of the grammar.
    seed
        Seed of the order of the sentences.
    numbers
        Numbers of derivations of distinct sentences.
    """
    shuffled = np.random.default_rng(seed).permutation(numbers)
    half = len(shuffled) // 2
    aligner = Aligner(derivations)
    for left, right in zip(shuffled[:half], shuffled[half : 2 * half], strict=True):
        first, second = derivations.at(int(left)), derivations.at(int(right))
        candidate, reference = tuple(derivations.sentence(first)), tuple(derivations.sentence(second))
        alignment = aligner.align(first, second)
        label = label_pair(candidate, reference, alignment, derivations.grammar.function_words)
        yield AlignedPair(candidate, reference, alignment, label)


@dataclass(frozen=True)
class ParaphraseSettings(Declared):
    """Rates, from 0 to 1, of differences between a candidate and its reference."""

    synonyms: float = setting(0.5, "Rate of replacing a word by a synonym of its category", least=0, most=1)
    category: float = setting(0.0, "Rate of replacing other words by a word of their category", least=0, most=1)
    alternate: float = setting(0.5, "Rate of replacing a rule by one of its alternations", least=0, most=1)
    noise: tuple[tuple[str, float], ...] = setting((), "Kinds of noise (see `NOISE`), each with its rate per token")

    def check(self) -> None:
        """Check that kinds of noise are known, occur once, and have a probability."""
        kinds = [kind for kind, _ in self.noise]
        for kind, rate in self.noise:
            if kind not in NOISE:
                raise UnknownNameError("noise", kind, NOISE)
            if kinds.count(kind) > 1:
                raise InputError(Parameter("noise", kind), " is given twice")
            if not 0 <= rate <= 1:
                raise InputError(Parameter("noise", kind), f" is a probability from 0 to 1, not {rate:g}")


class Lexicon:
    """The words of a grammar, and replacements for noise."""

    def __init__(self, grammar: Grammar) -> None:
        categories = categories_of(grammar.rules)
        self.words = tuple(sorted(categories))
        self.function_words = grammar.function_words

        # Computed on demand: for all words, memory would be quadratic.
        @lru_cache(_REMEMBERED)
        def strangers(word: str) -> tuple[str, ...]:
            others = (other for other in self.words if not categories[word] & categories[other])
            return tuple(other for other in others if not grammar.synonymous(word, other))

        @lru_cache(_REMEMBERED)
        def functions(word: str) -> tuple[str, ...]:
            return tuple(other for other in sorted(self.function_words) if not grammar.synonymous(word, other))

        self.strangers: Callable[[str], tuple[str, ...]] = strangers
        """Words that share neither category nor meaning with a word."""
        self.functions: Callable[[str], tuple[str, ...]] = functions
        """Function words with another meaning than a word."""


def _swap(tokens: list[Token], rate: float, chance: Chance, lexicon: Lexicon) -> list[Token]:
    """Swap a token with the next one; skip both then."""
    place = 0
    while place < len(tokens) - 1:
        if chance.next() < rate:
            tokens[place], tokens[place + 1] = tokens[place + 1], tokens[place]
            place += 1
        place += 1
    return tokens


def _drop(tokens: list[Token], rate: float, chance: Chance, lexicon: Lexicon) -> list[Token]:
    """Drop a token."""
    return [token for token in tokens if chance.next() >= rate]


def _insert(tokens: list[Token], rate: float, chance: Chance, lexicon: Lexicon) -> list[Token]:
    """Insert a random word of the grammar, unaligned, before a token."""
    made: list[Token] = []
    for token in tokens:
        if chance.next() < rate:
            made.append((lexicon.words[chance.below(len(lexicon.words))], NOTHING))
        made.append(token)
    return made


def _substitute(tokens: list[Token], rate: float, chance: Chance, lexicon: Lexicon) -> list[Token]:
    """Replace a token by a word of another category."""
    return [_other(token, lexicon.strangers(token[0]), chance) if chance.next() < rate else token for token in tokens]


def _function(tokens: list[Token], rate: float, chance: Chance, lexicon: Lexicon) -> list[Token]:
    """Replace a function word by one with another meaning."""
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
"""Kinds of noise, which are added in the order given."""


_Placed = tuple[list[str], int]  # Words of a group, and the position of one of them


def _placed(group: list[str], word: str | None) -> _Placed:
    """Add a word to its group, None to a group of its own; return the group and the position."""
    group = [] if word is None else group
    group.append(word or "")
    return group, len(group) - 1


class Paraphraser:
    """Makes pairs of a derivation's sentence, the reference, and a paraphrase of it, the candidate."""

    def __init__(self, derivations: Derivations, settings: ParaphraseSettings, chance: Chance) -> None:
        grammar = derivations.grammar
        self._settings = settings
        self._chance = chance
        self._grammar = grammar
        self._words = derivations.words
        self._lexicon = Lexicon(grammar)
        groups: dict[object, list[str]] = {}
        self._others: list[_Placed] = []
        self._mates: list[_Placed] = []
        for rule in grammar.rules:
            self._others.append(_placed(groups.setdefault(rule.symbol, []), rule.word))
            synonyms = grammar.synonyms.get(rule.word or "", frozenset((rule.word,)))
            self._mates.append(_placed(groups.setdefault((rule.symbol, synonyms), []), rule.word))
        self._forms = alternations_of(grammar)

    def pair(self, derivation: Derivation) -> AlignedPair:
        """Make the pair of a derivation.

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
        """Append a derivation's words to the reference, and return the tokens of the candidate."""
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
        """Return the reference position of the word at `place` of a rule, or NOTHING."""
        return NOTHING if place is None else parts[place][0][1]

    def _draw_other(self, group: Sequence[str], place: int) -> str:
        """Draw a word of a group, except the one at `place`."""
        number = self._chance.below(len(group) - 1)
        return group[number + (number >= place)]

    def _write_words(self, number: int, reference: list[str]) -> list[Token]:
        words, start = self._words[number], len(reference)
        reference += filter(None, words)
        others, mates = self._others[number], self._mates[number]
        if len(others[0]) > 1:
            if len(mates[0]) > 1 and self._chance.next() < self._settings.synonyms:
                return [(self._draw_other(*mates), start)]
            if self._settings.category and self._chance.next() < self._settings.category:
                word = self._draw_other(*others)
                return [(word, start if self._grammar.synonymous(words[0] or "", word) else NOTHING)]
        return [(word or "", start + place) for place, word in enumerate(words)]


@dataclass(frozen=True)
class GenerationSettings(Declared):
    """Settings of an artificial corpus; together with the version of the package it determines every byte."""

    grammar: str = setting("morgan2014", "Name or file of a grammar, see `read_grammar`")
    pairing: Pairing = setting("none", "Sentences alone, paired at random without repetition, or with paraphrases")
    seed: int = setting(0, "The same seed gives the same corpus", least=0, most=_MOST)
    count: int | None = setting(None, "Number of sentences or pairs", least=1, most=_MOST)
    every: bool = setting(False, "All sentences of the grammar, in their order, instead of a count")
    max_depth: int | None = setting(None, "Greatest height of a derivation, words counted", least=1, most=_MOST)
    sampling: DerivationSampling = setting("weights", "Draw by the weights of the rules, or all equally likely")
    distinct: bool = setting(False, "Draw nothing twice")
    paraphrase: ParaphraseSettings = setting(factory=ParaphraseSettings)
    encoding: str = setting("utf-8", "Encoding of the grammar's file")

    def check(self) -> None:
        """Check that the settings are compatible."""
        if self.count is not None and self.every:
            raise InputError(Parameter("count"), " and ", Parameter("every"), " exclude each other")
        if self.count is None and not self.every and self.pairing != "halves":
            raise InputError("the number is missing: give ", Parameter("count"), ", or ", Parameter("every"))


@dataclass(frozen=True)
class Generated:
    """A reproducible artificial corpus, generated on each iteration. Make it with `generate`."""

    settings: GenerationSettings
    derivations: Derivations
    total: int  # Number of sentences or pairs
    numbers: NDArray[np.int64] | None = None  # One derivation per sentence of the language; None if drawn at random

    def sentences(self) -> Iterator[str]:
        """Make the sentences of the pairing `none`."""
        _check_pairing(self.settings.pairing == "none", "sentences")
        sentences = (
            " ".join(self.derivations.sentence(derivation))
            for derivation in self._derivations(Chance(self.settings.seed))
        )
        return self._limit(sentences, str)

    def pairs(self) -> Iterator[AlignedPair]:
        """Make the pairs of the other pairings."""
        _check_pairing(self.settings.pairing != "none", "pairs")
        if self.numbers is not None and self.settings.pairing == "halves":
            return islice(pair_halves(self.derivations, self.settings.seed, self.numbers), self.total)
        chance = Chance(self.settings.seed)
        paraphraser = Paraphraser(self.derivations, self.settings.paraphrase, chance)
        return self._limit(map(paraphraser.pair, self._derivations(chance)), _key)

    def lines(self, file_format: str | None = None, progress: Progress | None = None) -> Iterator[str]:
        """Yield the lines of a file: plain, tsv or jsonl for sentences; pairs, tsv or jsonl for pairs."""
        what = "sentences" if self.settings.pairing == "none" else "pairs"
        write = FORMATS[known_name(f"format of {what}", file_format or FORMAT_NAMES[what][0], FORMAT_NAMES[what])]
        if what == "sentences":
            rows: Iterator[_Line] = ({"sentence": sentence} for sentence in self.sentences())
        else:
            rows = (
                {
                    "candidate": " ".join(pair.candidate),
                    "reference": " ".join(pair.reference),
                    "alignment": pair.alignment,
                    "label": pair.label,
                }
                for pair in self.pairs()
            )
        return write(_watch(rows, self.total, progress), self.derivations.grammar.name)

    def _derivations(self, chance: Chance) -> Iterator[Derivation]:
        """Yield the derivations of all sentences in order, or random ones without end."""
        if self.numbers is not None:
            yield from map(self.derivations.at, map(int, self.numbers))
            return
        draw = self.derivations.draw if self.settings.sampling == "weights" else self.derivations.draw_uniformly
        while True:
            yield draw(chance)

    def _limit(self, items: Iterator[Item], key: Callable[[Item], str]) -> Iterator[Item]:
        if self.settings.every:
            return items
        if self.settings.distinct:
            items = _drop_repeated(items, key)
        return islice(items, self.total)


def generate(settings: GenerationSettings) -> Generated:
    r"""Prepare an artificial corpus: read the grammar and check that it has enough sentences.

    Sentences, pairs and lines are generated on iteration. Drawing needs memory only if it is `distinct`. Raises
    `InputError`: the grammar cannot be used, or has too few sentences.

    >>> halves = generate(GenerationSettings(pairing="halves"))
    >>> halves.total
    504
    >>> next(halves.lines("pairs"))
    'a boy walked around the store ||| the person went to a supermarket\n'
    >>> print(*generate(GenerationSettings(grammar="modifiers", count=2, seed=2)).sentences(), sep="\n")
    that sailor helped the little attorney rapidly
    one quick small attorney visited one neighbour who quickly helped that sad sailor
    """
    halves = settings.pairing == "halves"
    grammar = read_grammar(settings.grammar, settings.encoding)
    derivations = Derivations.of(grammar, settings.max_depth, exhaustive=settings.every or halves)
    numbers = distinct_numbers(derivations) if halves or settings.every else None
    if numbers is not None:
        available = len(numbers) // 2 if halves else len(numbers)
    else:
        derivations.check_drawing(uniform=settings.sampling == "uniform")
        bounded = settings.distinct and settings.pairing == "none"
        available = derivations.capped_count if bounded else settings.count or 0
    if available == 0:
        raise InputError(f"{grammar.name} has one sentence only: nothing to pair it with")
    if settings.count is not None and settings.count > available:
        what = "pairs without repetition" if halves else "sentences"
        raise InputError(f"{grammar.name} has {available:,} {what}: lower ", Parameter("count", settings.count))
    return Generated(settings, derivations, settings.count or available, numbers)


def _key(pair: AlignedPair) -> str:
    return f"{' '.join(pair.candidate)} {SEPARATOR} {' '.join(pair.reference)}"


def _check_pairing(fits: bool, what: str) -> None:
    if not fits:
        raise InputError(f"this pairing gives no {what}")


def _tab_separated(rows: Iterator[_Line], grammar: str) -> Iterator[str]:
    """Yield a line of column names and the rows; an alignment as ``0-0 1-2``."""
    for number, row in enumerate(rows):
        if not number:
            yield "\t".join(row) + "\n"
        cells = (
            " ".join(f"{left}-{right}" for left, right in value) if name == "alignment" else value
            for name, value in row.items()
        )
        yield "\t".join(cells) + "\n"


_encode = json.JSONEncoder(ensure_ascii=False).encode
FORMATS: dict[str, Callable[[Iterator[_Line], str], Iterator[str]]] = {
    "plain": lambda rows, grammar: (f"{row['sentence']}\n" for row in rows),
    "pairs": lambda rows, grammar: (f"{row['candidate']} {SEPARATOR} {row['reference']}\n" for row in rows),
    "tsv": _tab_separated,
    "jsonl": lambda rows, grammar: (_encode({**row, "grammar": grammar}) + "\n" for row in rows),
}
FORMAT_NAMES = {"sentences": ("plain", "tsv", "jsonl"), "pairs": ("pairs", "tsv", "jsonl")}
"""Formats of sentences and of pairs, the default first."""


def _drop_repeated(items: Iterator[Item], key: Callable[[Item], str]) -> Iterator[Item]:
    seen = Seen()
    repeated = different = 0
    for item in items:
        if seen.add(key(item)):
            repeated = 0
            different += 1
            yield item
        elif (repeated := repeated + 1) >= FRUITLESS:
            message = f"only {different:,} different ones, then none in {FRUITLESS:,} draws: lower "
            raise InputError(message, Parameter("count"))


def _watch(items: Iterator[Item], total: int, progress: Progress | None) -> Iterator[Item]:
    for number, item in enumerate(items):
        if progress is not None and number % _STEP == 0:
            progress(number, total)
        yield item
    if progress is not None:
        progress(total, total)


def format_for(output: str | None) -> str | None:
    """Return the format for the suffix of a file; None for the default.

    >>> format_for("pairs.jsonl"), format_for("pairs.txt"), format_for(None)
    ('jsonl', None, None)
    """
    suffix = "" if output is None else output.removesuffix(".gz").rpartition(".")[2].lower()
    return suffix if suffix in ("tsv", "jsonl") else None
