"""Types of edits of English by rules of our own, as ERRANT names them, without a tagger to install."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from softbleu.metrics.edits import Classify, Spans, common_ends, likeness
from softbleu.metrics.word_tags import OPEN_PARTS, Reading, TaggedWord, english_words, lemmas, tag_words
from softbleu.thesaurus.resources import stem

_CONTRACTED = frozenset(("'d", "'ll", "'m", "n't", "'re", "'s", "'ve"))
_SHORTENED = {"ca": "can", "sha": "shall", "wo": "will"}
_NAMED = OPEN_PARTS | {"DET", "PRON", "PREP", "CONJ", "PART", "PUNCT"}
"""Parts of speech that are types of edits."""
_PAIRS = {
    frozenset(("other", "another")): "DET",
    frozenset(("your", "yours")): "PRON",
    frozenset(("no", "not")): "OTHER",
    frozenset(("that", "which")): "PRON",
    frozenset(("that", "what")): "PRON",
}
"""Types of pairs of words whose parts of speech give none."""
_BY_PARTS = {frozenset(("PART", "PREP")): "PART", frozenset(("NUM", "DET")): "DET"}
_BY_FORM = {"VBG": "VERB:FORM", "VBN": "VERB:FORM", "VBD": "VERB:TENSE", "VBZ": "VERB:SVA"}
"""Types of edits between forms of one verb, the first that either has."""
_HALF, _ALIKE = 0.5, 0.8  # Likeness of letters from which a short word, and a longer one, is another misspelt


class _Word(NamedTuple):
    text: str
    tagged: TaggedWord

    @property
    def low(self) -> str:
        return self.text.lower()

    @property
    def part(self) -> str:
        return self.tagged.part

    @property
    def form(self) -> str:
        return self.tagged.form

    def read_as(self, reading: Reading) -> _Word:
        """Return the word with another of its readings."""
        return _Word(self.text, self.tagged._replace(reading=reading))


def rule_types() -> Classify:
    """Make a function that names the types of edits of English texts as ERRANT does, by rules.

    A type is `M:`, `U:` or `R:`, for missing, unnecessary and replaced words, and one of ERRANT's 25 types (Bryant,
    Felice & Briscoe 2017, table 2). ERRANT asks spaCy for parts of speech, lemmas and dependencies. Here lists of
    words, endings, frequencies of forms and the words around answer (`tag_words`), so some types differ: by how much,
    says the guide to metrics of edits.

    Examples
    --------
    >>> source, corrected = "He go to the shop yesturday .".split(), "He goes to shops yesterday .".split()
    >>> rule_types()(source, corrected, [(1, 2, 1, 2), (3, 4, 3, 3), (4, 5, 3, 4), (5, 6, 4, 5)])
    ['R:VERB:SVA', 'U:DET', 'R:NOUN:NUM', 'R:SPELL']
    """

    def classify(source: Sequence[str], corrected: Sequence[str], edits: Sequence[Spans]) -> list[str]:
        texts = [list(map(_Word, text, tag_words(tuple(text)))) for text in (source, corrected)]
        return [_type_of(texts[0][a:b], texts[1][c:d]) for a, b, c, d in edits]

    return classify


def _type_of(source: list[_Word], corrected: list[_Word]) -> str:
    if not source or not corrected:
        return f"U:{_of_one_side(source)}" if source else f"M:{_of_one_side(corrected)}"
    one, other = ([word.text for word in side] for side in (source, corrected))
    if one == other:
        return "UNK"
    if "".join(one).lower() == "".join(other).lower():
        return "R:ORTH"
    if sorted(map(str.lower, one)) == sorted(map(str.lower, other)):
        return "R:WO"
    if source[-1].low == corrected[-1].low:
        source, corrected = source[:-1], corrected[:-1]
        if not source or not corrected:
            return _type_of(source, corrected)
    single = len(source) == len(corrected) == 1
    return f"R:{_of_words(source[0], corrected[0]) if single else _of_phrases(source, corrected)}"


def _of_one_side(words: Sequence[_Word]) -> str:
    """Name the type of an insertion or a deletion."""
    parts = {word.part for word in words}
    if len(words) == 1:
        if words[0].form == "POS":
            return "NOUN:POSS"
        if words[0].low in _CONTRACTED:
            return "CONTR"
        if words[0].form == "TO":
            return "VERB:FORM"
    if all(word.tagged.helps for word in words):
        return "VERB:TENSE"
    if len(parts) == 1 and parts <= _NAMED:
        return parts.pop()
    return "VERB" if parts == {"PART", "VERB"} else "OTHER"


def _of_phrases(source: list[_Word], corrected: list[_Word]) -> str:
    """Name the replacement of several words, or by several."""
    last = _agreeing(source[-1], corrected[-1])
    sides = [*source[:-1], last[0]], [*corrected[:-1], last[1]]
    words = sides[0] + sides[1]
    parts = {word.part for word in words}
    if all(word.tagged.helps for word in words):
        return "VERB:TENSE"
    compared = not {"more", "most"}.isdisjoint(side[0].low for side in sides) and max(map(len, sides)) <= 2
    if compared and _forms_of_one(last[0].low, last[1].low, "ADJ"):
        return "ADJ:FORM"
    if len(parts) == 1 and parts <= _NAMED:
        return "VERB:TENSE" if parts == {"VERB"} and _same_lemma(*last) else parts.pop()
    if parts == {"PART", "VERB"}:
        return "VERB:FORM" if _same_lemma(*last) else "VERB"
    possessive = any([word.part for word in side] == ["NOUN", "PART"] for side in sides)
    same = possessive and _forms_of_one(sides[0][0].low, sides[1][0].low, "NOUN")
    return "NOUN:POSS" if same else "OTHER"


def _of_words(source: _Word, corrected: _Word) -> str:
    """Name the replacement of a word by a word: by the first group of rules that has an answer."""
    pair = _agreeing(source, corrected)
    return _as_contraction(*pair) or _as_misspelt(*pair) or _as_forms(*pair) or _as_parts(*pair) or _by_letters(*pair)


def _as_contraction(source: _Word, corrected: _Word) -> str:
    both = {source.low, corrected.low}
    if "POS" in (source.form, corrected.form):
        return "NOUN:POSS"
    if not both.isdisjoint(_CONTRACTED) and source.part == corrected.part:
        return "CONTR"
    if both.isdisjoint(_SHORTENED):
        return "VERB:SVA" if both == {"was", "were"} else ""
    return "CONTR" if any(_SHORTENED.get(word) in both for word in both) else "VERB:TENSE"


def _as_misspelt(source: _Word, corrected: _Word) -> str:
    """Name the replacement of a misspelled word."""
    if not source.text.isalpha() or source.low in english_words():
        return ""
    same = source.part == corrected.part
    if _same_lemma(source, corrected):
        return f"{source.part}:INFL" if same and source.part in ("NOUN", "VERB") else "MORPH"
    if likeness(source.text, corrected.text) > _HALF:
        return "SPELL"
    return source.part if same and source.part in _NAMED else "OTHER"


def _as_forms(source: _Word, corrected: _Word) -> str:
    """Name the replacement of a form of a word by another, or by a word derived from it."""
    if not {source.part, corrected.part} <= OPEN_PARTS:
        return ""
    if not _same_lemma(source, corrected):
        return "MORPH" if _derived(source.low, corrected.low) else ""
    forms = (source.form, corrected.form)
    if source.part == corrected.part:
        if source.part in ("ADJ", "NOUN"):
            return "ADJ:FORM" if source.part == "ADJ" else "NOUN:NUM"
        if source.part == "VERB":
            if source.tagged.helped and corrected.tagged.helped:
                return "VERB:FORM"
            named = [kind for form, kind in _BY_FORM.items() if form in forms]
            helping = source.tagged.helps and corrected.tagged.helps
            return named[0] if named else "VERB:TENSE" if helping else "MORPH"
    return "NOUN:NUM" if (source.part, forms[1]) == ("ADJ", "NNS") else _BY_FORM.get(forms[1], "MORPH")


def _as_parts(source: _Word, corrected: _Word) -> str:
    """Name the replacement of a word by another one by their parts of speech."""
    parts = frozenset((source.part, corrected.part))
    if source.tagged.helps and corrected.tagged.helps:
        return "VERB:TENSE"
    if len(parts) == 1 and parts <= _NAMED:
        return source.part
    if parts == {"DET", "PRON"}:
        return corrected.part
    return _BY_PARTS.get(parts) or _PAIRS.get(frozenset((source.low, corrected.low)), "")


def _by_letters(source: _Word, corrected: _Word) -> str:
    """Name the replacement of a word by one of another part: it may be misspelt as another word."""
    if not (source.text.isalpha() and corrected.text.isalpha()):
        return "OTHER"
    sizes, alike = (len(source.text), len(corrected.text)), likeness(source.low, corrected.low)
    short = sizes[0] <= 4 and sizes[1] <= 4 and min(sizes) >= sizes[0] - 1
    if (short and alike >= _HALF) or (sizes[0] > 4 and sizes[1] >= 4 and alike > _ALIKE):
        return "SPELL"
    return corrected.part if min(sizes) >= 4 and alike > _HALF and corrected.part in _NAMED else "OTHER"


def _agreeing(source: _Word, corrected: _Word) -> tuple[_Word, _Word]:
    """Read two forms of one word as one part of speech, that of the corrected one if both can be that."""
    same = source.part == corrected.part or corrected.part not in OPEN_PARTS
    if same or not _forms_of_one(source.low, corrected.low, corrected.part):
        return source, corrected
    for reading in source.tagged.readings:
        if reading.part == corrected.part:
            return source.read_as(reading), corrected
    for reading in corrected.tagged.readings:
        if reading.part == source.part:
            return source, corrected.read_as(reading)
    return source, corrected


def _same_lemma(source: _Word, corrected: _Word) -> bool:
    return not lemmas(source.low, source.part).isdisjoint(lemmas(corrected.low, corrected.part))


def _forms_of_one(source: str, corrected: str, part: str) -> bool:
    return not lemmas(source, part).isdisjoint(lemmas(corrected, part))


_SUFFIX = (
    # Endings by which words are derived; compiled on use.
    "(?:ship|ness|ment|[ai]?tions?|[sx]?ions?|ally|als?|ily|ly|ies|y|es|e|s|ed|ing|[eo]rs?|ives?|[ai]ble|ful|ous|ity"
    "|[ae]nces?|[ae]nts?|ically|ical|ics?|isms?|ists?|i[sz]ed?|d|de|t|th|se|ced?|cy|ure|age|ate|ative|ated|ating|i)$"
)


@lru_cache(1 << 14)
def _derived(word: str, other: str) -> bool:
    """Whether one word is derived from another, or both from a third: by stems, or by roots without endings."""
    if stem(word) == stem(other):
        return True
    shared, _ = common_ends(word, other)
    return shared >= 3 and 2 * shared >= min(len(word), len(other)) and not _roots(word).isdisjoint(_roots(other))


def _roots(word: str) -> set[str]:
    found = {word}
    for _ in range(3):
        found |= {re.sub(_SUFFIX, "", each) for each in found if len(each) > 4}
    return {each for each in found if len(each) > 2}
