"""Stems of words, by the algorithms of Snowball, and lemmas, by simplemma's lists."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, partial
from importlib import import_module

from softbleu.config.languages import find_language
from softbleu.errors import InputError, MissingExtraError, Parameter
from softbleu.io.platform import lock

_STEMMING = lock()  # A stemmer has its word in itself: of two threads at once, one would get half of the other's


@lru_cache(1 << 17)
def stem_of(word: str, algorithm: str) -> str:
    """Stem a word by the algorithm of that name in snowballstemmer.

    >>> stem_of("häuser", "german"), stem_of("houses", "english")
    ('haus', 'hous')
    """
    with _STEMMING:
        return _stemmer(algorithm)(word)


def stem_in(word: str, language: str) -> str:
    """Stem a word of a language, by its code."""
    return stem_of(word, find_language(language).stemmer or "")


@cache
def _stemmer(algorithm: str) -> Callable[[str], str]:
    # Not by its `stemmer`, which gives that of PyStemmer where this is installed, of another version.
    module = import_module(f"snowballstemmer.{algorithm}_stemmer")
    stemmed: Callable[[str], str] = getattr(module, f"{algorithm.title()}Stemmer")().stemWord
    return stemmed


@lru_cache(1 << 17)
def lemma_of(word: str, language: str) -> str:
    """Find a word's lemma in simplemma's list of a language, by its code; an unknown word is its own."""
    return str(_lemmatizer(language)(word)) if word.strip() else word


@cache
def _lemmatizer(language: str) -> Callable[[str], str]:
    """Open a list; an `InputError` says that there is none, a `MissingExtraError` that `lemmas` is not installed."""
    try:
        from simplemma import lemmatize
    except ImportError as error:
        raise MissingExtraError("lemmas need another package: pip install 'softbleu[lemmas]'") from error
    try:
        lemmatize("a", lang=language)
    except ValueError as error:
        said = f" 'lemmas:{language}': simplemma has no such language; write lemmas:CODE, such as lemmas:cs"
        raise InputError(Parameter("similarity"), said) from error
    return partial(lemmatize, lang=language)
