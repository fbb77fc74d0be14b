"""Kinds of soft matches: how the words of two n-grams that match differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from softbleu.config.languages import language_of_data
from softbleu.embeddings.function_words import is_function_word
from softbleu.thesaurus.resources import stem_in

MATCH_KINDS = {
    "case": "the same words, in other case",
    "order": "the same words, in another order",
    "inflection": "words of one stem",
    "number or name": "a number or a name, for another word",
    "function words": "a function word or a mark, for another one",
    "other words": "other words, whose vectors are close",
    "mixed": "words that differ in several of these ways",
    "length": "n-grams of different lengths",
}
"""Kinds of soft matches, and what the two n-grams are."""


class KindFinder:
    """Finder of the kinds of soft matches in a text.

    The words of a pair of n-grams are compared position by position, in lower case. If all that differ do so in one
    way, this is the kind of the pair. Names are capitalised words that the text never has in lower case, so German
    nouns count as names. Function words are English. Stems come from the stemmer of the language, if it has any.

    >>> finder = KindFinder(["the", "The", "cat", "cats", "sat", "Paris", "Rome"])
    >>> finder.kind(["The", "cat"], ["the", "cat"]), finder.kind(["the", "cat"], ["the", "cats"])
    ('case', 'inflection')
    >>> finder.kind(["Rome"], ["Paris"]), finder.kind(["sat"], ["cat"]), finder.kind(["the", "cats"], ["sat", "cat"])
    ('number or name', 'other words', 'mixed')
    """

    def __init__(self, words: Iterable[str], language: str | None = "en") -> None:
        self._lower = frozenset(word for word in words if word == word.lower())
        self._language = None if language is None else language_of_data(language)
        self._known: dict[tuple[str, ...], str] = {}  # Kinds of pairs of words

    def kind(self, candidate: Sequence[str], reference: Sequence[str]) -> str:
        """Name the kind of a pair of n-grams that differ."""
        if len(candidate) != len(reference):
            return "length"
        folded, other = (tuple(map(str.casefold, words)) for words in (candidate, reference))
        if folded == other:
            return "case"
        if sorted(folded) == sorted(other):
            return "order"
        pairs = zip(candidate, reference, folded, other, strict=True)
        kinds = {self.word_kind(word, met) for word, met, one, two in pairs if one != two}
        return kinds.pop() if len(kinds) == 1 else "mixed"

    def word_kind(self, *words: str) -> str:
        """Name the kind of two words that differ."""
        if (kind := self._known.get(words)) is None:
            kind = self._known[words] = self._word_kind(words)
        return kind

    def _word_kind(self, words: tuple[str, ...]) -> str:
        if any(any(map(str.isdigit, word)) for word in words):
            return "number or name"
        language = self._language
        if language and language.stemmer and len({stem_in(word.lower(), language.code) for word in words}) == 1:
            return "inflection"
        if any(map(self._is_name, words)):
            return "number or name"
        return "function words" if all(map(self._is_function_word, words)) else "other words"

    def _is_name(self, word: str) -> bool:
        return word[:1].isupper() and word.lower() not in self._lower and not self._is_function_word(word)

    def _is_function_word(self, word: str) -> bool:
        english = self._language is None or self._language.code == "en"
        return is_function_word(word) if english else not any(map(str.isalpha, word))


def equal_in_place(candidate: Sequence[str], reference: Sequence[str]) -> int:
    """Count the words that two n-grams have in the same places.

    >>> equal_in_place("of the democratic system".split(), "the American democratic system".split())
    2
    """
    return sum(map(str.__eq__, candidate, reference))
