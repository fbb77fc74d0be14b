"""Stems of words, by the algorithms of Snowball."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from threading import Lock
from typing import Any

_STEMMING = Lock()  # A stemmer has its word in itself: of two threads at once, one would get half of the other's


@lru_cache(1 << 17)
def stem_of(word: str, algorithm: str) -> str:
    """Stem a word by the algorithm of that name in snowballstemmer.

    >>> stem_of("häuser", "german"), stem_of("houses", "english")
    ('haus', 'hous')
    """
    with _STEMMING:
        return _stemmer(algorithm)(word)


@cache
def _stemmer(algorithm: str) -> Callable[[str], str]:
    import snowballstemmer

    made: Any = snowballstemmer.stemmer(algorithm)
    stemmed: Callable[[str], str] = made.stemWord
    return stemmed
