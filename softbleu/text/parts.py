"""Parts of words (characters, n-grams of them, punctuation) and other features of words, coded as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import add
from string import punctuation
from typing import TYPE_CHECKING, Protocol

import numpy as np

from softbleu.text.coded import WordParts, sorted_once

if TYPE_CHECKING:
    from softbleu.types import Array

_PARTS = 1 << 10  # Words whose parts are cached: 2 MB
_MANY = range(1 << 10, 1 << 17)
"""Numbers of words whose character n-grams are coded in one pass, which takes at most 200 MB."""


@lru_cache(_PARTS)
def _character_grams(word: str) -> Sequence[str]:
    """Return the distinct character 2- to 4-grams of a word with markers at its ends."""
    marked = f"\x02{word}\x03"
    pairs = list(map(add, marked, marked[1:]))
    triples = list(map(add, pairs, marked[2:]))
    return list(dict.fromkeys(chain(pairs, triples, map(add, triples, marked[3:]))))


def character_grams(words: Sequence[str]) -> WordParts:
    """Code the n-grams of `_character_grams` for many words at once; their order differs.

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
        # The key of an n-gram: the number of its prefix, and its last character, which has 21 bits at most.
        pairs = ids[starts] << 21 | characters[starts + n - 1]
        distinct, numbers = np.unique(pairs, return_inverse=True)
        keys.append(owners[starts] << bits | kinds + numbers)
        kinds += len(distinct)
        ids = np.zeros(len(characters), np.int64)
        ids[starts] = numbers
    once = sorted_once(np.concatenate(keys))
    bounds = np.searchsorted(once, np.arange(len(words) + 1) << bits)
    return WordParts((once & (1 << bits) - 1).astype(np.int32), bounds)


@lru_cache(_PARTS)
def _letters(word: str) -> Sequence[str]:
    """Return the distinct characters and character pairs of a lower-cased word with markers at its ends."""
    lower = word.lower()
    marked = f"\x02{lower}\x03"
    return list(dict.fromkeys(chain(lower, map(add, marked, marked[1:]))))


@lru_cache(_PARTS)
def without_punctuation(word: str) -> Sequence[str]:
    """Split the punctuation mark at a word's end, or else at its beginning, as chrF++ does; drop whitespace."""
    if len(word) > 1 and word[-1] in punctuation:
        return word[:-1], word[-1]
    if len(word) > 1 and word[0] in punctuation:
        return word[0], word[1:]
    return (word,) if not word.isspace() else ()


# Kinds of word parts, by the names that metrics use.
WORD_PARTS: dict[str, Callable[[str], Sequence[str]]] = {
    "spelling": _character_grams,
    "characters": str,
    "spaced": "{} ".format,
    "letters": _letters,
    "punctuation": without_punctuation,
}


class WordFeature(Protocol):
    """A feature of words that is computed once per corpus; features are values that compare equal."""

    def of(self, words: Sequence[str]) -> Mapping[str, Array]:
        """Return the features of `words` by name."""


def word_features(part: str | WordFeature, words: Sequence[str]) -> Mapping[str, Array]:
    """Compute a feature of words: parts and bounds for a name of `WORD_PARTS`, or the arrays of a `WordFeature`.

    >>> {name: found.tolist() for name, found in word_features("punctuation", ["so", "so."]).items()}
    {'punctuation': [0, 0, 1], 'punctuation_bounds': [0, 1, 3]}
    """
    if not isinstance(part, str):
        return part.of(words)
    many = part == "spelling" and len(words) in _MANY
    parts = character_grams(words) if many else WordParts.of(words, WORD_PARTS[part])
    return {part: parts.codes, f"{part}_bounds": parts.bounds}
