"""Stems of English words, as METEOR 1.5 has them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

_MASK = "\ue000"
"""Stands for a letter that is none to the stemmer."""


@lru_cache(1 << 17)
def stem(word: str) -> str:
    """Stem a word as METEOR 1.5 does, by the Snowball stemmer for English of its day.

    >>> stem("geologists"), stem("geology"), stem("adding")
    ('geologist', 'geolog', 'ad')
    """
    # That stemmer did not know the ending -ogist yet.
    if "ogist" in word:
        return _stemmer()(word.replace("ogist", f"ogis{_MASK}")).replace(_MASK, "t")
    return _stemmer()(word)


@lru_cache(1)
def _stemmer() -> Callable[[str], str]:
    from snowballstemmer.english_stemmer import EnglishStemmer

    stemmed: Callable[[str], str] = EnglishStemmer().stemWord
    return stemmed
