"""How much of the source's content words a line keeps, and how much of its own are the source's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from softbleu.embeddings.function_words import is_function_word

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer


def content_words(words: Sequence[str]) -> Counter[str]:
    """Words that carry meaning, in lower case: neither function words nor what has no letter."""
    lower = (word.lower() for word in words)
    return Counter(word for word in lower if not is_function_word(word))


def meaning(candidate: Sequence[str], source: Sequence[str], t: float) -> float:
    """F of matched content words, P R / (t P + (1 - t) R): first equal words are matched, then equal stems.

    Two lines without any content words mean the same.

    >>> round(meaning("He wants big dogs .".split(), "he want dogs and cats".split(), 0.5), 3)
    0.667
    """
    own, others = content_words(candidate), content_words(source)
    if not own or not others:
        return float(own == others)
    equal = own & others
    matched = equal.total() + (_stems(own - equal) & _stems(others - equal)).total()
    precision, recall = matched / own.total(), matched / others.total()
    return precision * recall / (t * precision + (1 - t) * recall) if matched else 0.0


def _stems(words: Counter[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for word, count in words.items():
        found[_stem(word)] += count
    return found


@lru_cache(1 << 16)
def _stem(word: str) -> str:
    return str(_stemmer().stem(word))


@cache
def _stemmer() -> PorterStemmer:
    # Imported here, for it takes as long as a short run.
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()
