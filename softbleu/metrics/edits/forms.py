"""Types of edits by their form, in any language: what an edit does, and what of the words it changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from softbleu.config.languages import find_language
from softbleu.metrics.edits.errant import Classify, Spans
from softbleu.thesaurus.stems import stem_of

_JOINED = str.maketrans("", "", "-'’")


def form_types(language: str | None = None) -> Classify:
    """Make a function that names the types of edits of a language.

    `M`, `U` and `R` stand for missing, unnecessary and replaced words, as in ERRANT's types. Behind them: `PUNCT`,
    only marks are changed; `CASE`, only capital letters; `SPACE`, only blanks, hyphens and apostrophes; `ORDER`, only
    the order of the words; `STEM`, only endings, where Snowball has the language; else `OTHER`.

    >>> spans = [(1, 2, 1, 2), (2, 3, 2, 3), (3, 4, 3, 4)]
    >>> form_types("de")("Die häuser stehe .".split(), "Die Häuser stehen !".split(), spans)
    ['R:CASE', 'R:STEM', 'R:PUNCT']
    """
    algorithm = None if language is None else find_language(language).stemmer
    stems = partial(stem_of, algorithm=algorithm) if algorithm else None

    def classify(source: Sequence[str], corrected: Sequence[str], edits: Sequence[Spans]) -> list[str]:
        return [_type_of(source[a:b], corrected[c:d], stems) for a, b, c, d in edits]

    return classify


def _type_of(source: Sequence[str], corrected: Sequence[str], stems: Callable[[str], str] | None) -> str:
    letter = "M" if not source else "R" if corrected else "U"
    sides = [[word.lower() for word in words] for words in (source, corrected)]

    def same(of: Callable[[list[str]], object]) -> bool:
        return of(sides[0]) == of(sides[1])

    if same(lambda words: [word for word in words if any(map(str.isalnum, word))]) and not same(list):
        return f"{letter}:PUNCT"
    if letter != "R":
        return f"{letter}:OTHER"
    if same(list):
        return "R:CASE"
    if same(lambda words: "".join(words).translate(_JOINED)):
        return "R:SPACE"
    if same(sorted):
        return "R:ORDER"
    if stems is not None and same(lambda words: list(map(stems, words))):
        return "R:STEM"
    return "R:OTHER"
