"""Tokens: words to integer codes, and what is known of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain, islice, pairwise
from operator import add
from string import punctuation
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import InputError
from softbleu.io.platform import cached_property

_PARTS = 1 << 14  # Words whose parts are remembered
_MANY = range(1 << 10, 1 << 17)
"""Numbers of words whose character n-grams are numbered all at once: in 200 MB at most."""


@dataclass(frozen=True)
class Tokens:
    """Lines as coded tokens: line i holds ``codes[offsets[i]:offsets[i + 1]]``."""

    codes: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: Sequence[Tokens]) -> Tokens:
        """All lines of several texts."""
        starts = np.cumsum([0, *(len(part.codes) for part in parts[:-1])])
        ends = [start + part.offsets[1:] for start, part in zip(starts, parts, strict=True)]
        codes, offsets = np.concatenate([part.codes for part in parts]), np.concatenate(([0], *ends))
        placed = [part for part in parts if isinstance(part, LinesInText)]
        if not placed or len(placed) < len(parts):
            return cls(codes, offsets)
        firsts = np.cumsum([0, *(len(part.text.lengths) for part in placed[:-1])]).tolist()
        before = [
            np.where(part.before < 0, -1, part.before + first) for part, first in zip(placed, firsts, strict=True)
        ]
        return LinesInText(codes, offsets, Tokens.joined([part.text for part in placed]), np.concatenate(before))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each line."""
        return self.offsets[1:] - self.offsets[:-1]

    def lines(self, start: int, stop: int) -> Self:
        """Lines start to stop - 1."""
        offsets = self.offsets[start : stop + 1]
        return self._with(self.codes[offsets[0] : offsets[-1]], offsets - offsets[0], slice(start, stop))

    def by_line(self) -> list[tuple[int, ...]]:
        """Codes of each line."""
        codes = self.codes.tolist()
        return [tuple(codes[start:stop]) for start, stop in pairwise(self.offsets.tolist())]

    def surface_forms(self, words: Sequence[str] | Mapping[int, str]) -> list[list[str]]:
        """Words of each line, given those that the codes stand for."""
        return [[words[code] for code in line] for line in self.by_line()]

    def chosen(self, lines: NDArray[np.int64]) -> Self:
        """Lines with these numbers, in that order."""
        places, offsets = chosen_places(self.offsets, lines)
        return self._with(self.codes[places], offsets, lines)

    def _with(self, codes: NDArray[np.int32], offsets: NDArray[np.int64], lines: Any) -> Self:
        """Put the codes of some lines together with what is known of these."""
        return type(self)(codes, offsets)

    def spread(self, parts: WordParts) -> Tokens:
        """Return the lines with the parts of each token in its place."""
        places, bounds = chosen_places(parts.bounds, self.codes)
        return Tokens(parts.codes[places], bounds[self.offsets])


@dataclass(frozen=True)
class TextLines(Tokens):
    """Coded lines beside their text."""

    texts: NDArray[Any]

    def _with(self, codes: NDArray[np.int32], offsets: NDArray[np.int64], lines: Any) -> Self:
        return type(self)(codes, offsets, self.texts[lines])


@dataclass(frozen=True)
class LinesInText(Tokens):
    """Coded lines, and the lines of their text that stand before them in their documents."""

    text: Tokens
    before: NDArray[np.int64]  # (lines, most): numbers of lines of the text, the nearest last; -1 where there is none

    def _with(self, codes: NDArray[np.int32], offsets: NDArray[np.int64], lines: Any) -> Self:
        return type(self)(codes, offsets, self.text, self.before[lines])


def lines_before(tokens: Tokens, most: int) -> list[tuple[tuple[int, ...], ...]]:
    """Codes of up to so many lines before each line, the nearest last; of lines without a text there are none."""
    if not most or not isinstance(tokens, LinesInText):
        return [()] * len(tokens.lengths)
    before = tokens.before[:, -most:]
    numbers = np.unique(before[before >= 0])
    codes = dict(zip(numbers.tolist(), tokens.text.chosen(numbers).by_line(), strict=True))
    return [tuple(codes[number] for number in line if number >= 0) for line in before.tolist()]


def texts_of(tokens: Tokens) -> list[str]:
    """Text of the lines of a metric whose tokenizer keeps it."""
    if not isinstance(tokens, TextLines):
        raise InputError("these lines are tokens, without their text: a metric of strings cannot read them")
    texts: list[str] = tokens.texts.tolist()
    return texts


@dataclass(frozen=True)
class WordParts:
    """Parts of words: word w has ``codes[bounds[w]:bounds[w + 1]]``."""

    codes: NDArray[Any]
    bounds: NDArray[np.int64]

    @cached_property
    def kinds(self) -> int:
        """Bound of the codes."""
        return int(self.codes.max(initial=-1)) + 1

    @classmethod
    def of(
        cls, words: Iterable[str], parts: Callable[[str], Sequence[str]], vocabulary: Vocabulary | None = None
    ) -> WordParts:
        """Number the parts of words, in order of appearance or as a vocabulary knows them."""
        known = Vocabulary() if vocabulary is None else vocabulary
        rest = iter(words)
        # Some words at a time: as strings their parts take many times the memory.
        blocks = [known.encode([])]
        while some := [parts(word) for word in islice(rest, _PARTS)]:
            blocks.append(known.encode(some))
        lines = Tokens.joined(blocks)
        return cls(lines.codes, lines.offsets)

    def followed_by(self, other: WordParts) -> WordParts:
        """These words, and others after them."""
        return WordParts(
            np.concatenate((self.codes, other.codes)),
            np.concatenate((self.bounds, self.bounds[-1] + other.bounds[1:])),
        )


def chosen_places(bounds: NDArray[np.int64], chosen: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of the entries of chosen lines one after the other, and the bounds of these lines."""
    lengths = bounds[chosen + 1] - bounds[chosen]
    offsets = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return np.arange(offsets[-1]) + np.repeat(bounds[chosen] - offsets[:-1], lengths), offsets


def sorted_once(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort keys and keep one of equal ones: `np.unique` without its hash table, which takes five times as long."""
    keys.sort()
    once: NDArray[np.int64] = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    return once


class Vocabulary(dict[str, int]):
    """Codes of words, given in order of first appearance.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.encode([["a", "rose", "is"], [], ["a", "rose"]]).codes.tolist()
    [0, 1, 2, 0, 1]
    >>> list(vocabulary)
    ['a', 'rose', 'is']
    """

    def __missing__(self, word: str) -> int:
        code = self[word] = len(self)
        return code

    def since(self, start: int) -> list[str]:
        """The words from a code on: few, when many are known.

        >>> Vocabulary(a=0, rose=1, so=2).since(1)
        ['rose', 'so']
        """
        return list(islice(reversed(self), max(len(self) - start, 0)))[::-1]

    def encode(self, lines: Sequence[Sequence[str]]) -> Tokens:
        """Code the words of tokenized lines, learning those that are new."""
        offsets = np.zeros(len(lines) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, lines), np.int64, len(lines)), out=offsets[1:])
        codes = np.fromiter(map(self.__getitem__, chain.from_iterable(lines)), np.int32, int(offsets[-1]))
        return Tokens(codes, offsets)


def _character_grams(word: str) -> Sequence[str]:
    """Character 2- to 4-grams of a word between marks of its ends, each once."""
    marked = f"\x02{word}\x03"
    pairs = list(map(add, marked, marked[1:]))
    triples = list(map(add, pairs, marked[2:]))
    return list(dict.fromkeys(chain(pairs, triples, map(add, triples, marked[3:]))))


def character_grams(words: Sequence[str]) -> WordParts:
    """Character 2- to 4-grams as `_character_grams` has them, in another order, of many words at once.

    >>> character_grams(["aaa", "a"]).bounds.tolist()
    [0, 8, 11]
    """
    text = "".join(f"\x02{word}\x03" for word in words).encode("utf-32-le", "surrogatepass")
    characters = np.frombuffer(text, "<u4").astype(np.int64)
    lengths = np.fromiter(map(len, words), np.int64, len(words)) + 2
    owners = np.repeat(np.arange(len(words)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(characters))  # Characters to the end of the word
    bits, kinds = (3 * len(characters)).bit_length(), 0
    ids, keys = characters, []
    for n in (2, 3, 4):
        starts = np.flatnonzero(left >= n)
        # An n-gram is the pair of the one without its last character and that character, which has 21 bits at most.
        pairs = ids[starts] << 21 | characters[starts + n - 1]
        distinct, numbers = np.unique(pairs, return_inverse=True)
        keys.append(owners[starts] << bits | kinds + numbers)
        kinds += len(distinct)
        ids = np.zeros(len(characters), np.int64)
        ids[starts] = numbers
    once = sorted_once(np.concatenate(keys))
    bounds = np.searchsorted(once, np.arange(len(words) + 1) << bits)
    return WordParts((once & (1 << bits) - 1).astype(np.int32), bounds)


def _letters(word: str) -> Sequence[str]:
    """Characters of a word in lower case, and pairs of them, those with marks of its ends too, each once."""
    lower = word.lower()
    marked = f"\x02{lower}\x03"
    return list(dict.fromkeys(chain(lower, map(add, marked, marked[1:]))))


def _without_punctuation(word: str) -> Sequence[str]:
    """A word, and the punctuation mark at its end, or else at its beginning, as chrF++ splits them; no blanks."""
    if len(word) > 1 and word[-1] in punctuation:
        return word[:-1], word[-1]
    if len(word) > 1 and word[0] in punctuation:
        return word[0], word[1:]
    return (word,) if not word.isspace() else ()


# What a word is made of, by the names under which metrics ask for it.
WORD_PARTS: dict[str, Callable[[str], Sequence[str]]] = {
    "spelling": _character_grams,
    "characters": str,
    "letters": _letters,
    "punctuation": _without_punctuation,
}


@cache
def _part_splitter(name: str) -> Callable[[str], Sequence[str]]:
    return lru_cache(_PARTS)(WORD_PARTS[name])


class WordFeature(Protocol):
    """Something else that is known of words, computed once for those of a corpus; a value that can be compared."""

    def of(self, words: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """Features of these words, by name."""


def word_features(part: str | WordFeature, words: Sequence[str]) -> Mapping[str, NDArray[Any]]:
    """Compute a feature of words: by a name of `WORD_PARTS` their parts and bounds, else what a `WordFeature` makes.

    >>> {name: found.tolist() for name, found in word_features("punctuation", ["so", "so."]).items()}
    {'punctuation': [0, 0, 1], 'punctuation_bounds': [0, 1, 3]}
    """
    if not isinstance(part, str):
        return part.of(words)
    many = part == "spelling" and len(words) in _MANY
    parts = character_grams(words) if many else WordParts.of(words, _part_splitter(part))
    return {part: parts.codes, f"{part}_bounds": parts.bounds}


_FARTHEST = 20  # Characters between two tokens that a tokenizer may have taken away


def token_places(tokens: Iterable[str], line: str) -> Iterator[tuple[int, int]]:
    """Start and end of each token in the line that it was made of; an empty place for one that the line lacks.

    >>> list(token_places(["it", "'s", "gone"], "It's over"))
    [(0, 2), (2, 4), (4, 4)]
    """
    folded = line.lower()
    folded = folded if len(folded) == len(line) else line
    end = 0
    for token in tokens:
        at = folded.find(token.lower(), end, end + len(token) + _FARTHEST) if token else -1
        if at < 0:
            yield end, end
            end += line[end : end + 1].isspace()
        else:
            end = at + len(token)
            yield at, end
