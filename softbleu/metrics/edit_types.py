"""Types of edits of English by rules of our own, as ERRANT names them, without a tagger to install."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from softbleu.metrics.edits import Classify, Spans
from softbleu.metrics.word_tags import Tag, english_words, lancaster_stem, lemmas, tag_words

_OPEN = frozenset(("NOUN", "VERB", "ADJ", "ADV"))
_NAMED = _OPEN | {"DET", "PRON", "PREP", "CONJ", "PART", "PUNCT"}
"""Parts of speech that are types of edits."""
_CONTRACTED = frozenset(("'d", "'ll", "'m", "n't", "'re", "'s", "'ve"))
_SHORTENED = {"ca": "can", "sha": "shall", "wo": "will"}
_BY_FORM = {"VBG": "VERB:FORM", "VBN": "VERB:FORM", "VBD": "VERB:TENSE", "VBZ": "VERB:SVA"}
"""Types of edits between forms of one verb, the first that either has."""
_PAIRS = {
    ("other", "another"): "DET",
    ("another", "other"): "DET",
    ("your", "yours"): "PRON",
    ("no", "not"): "OTHER",
    ("not", "no"): "OTHER",
    ("the", "that"): "PRON",
    ("all", "everything"): "PRON",
    ("that", "what"): "PRON",
}
"""Types of pairs of words whose parts of speech give none."""


class _Word(NamedTuple):
    text: str
    tag: Tag

    @property
    def low(self) -> str:
        return self.text.lower()

    @property
    def part(self) -> str:
        return self.tag.part


def rule_types() -> Classify:
    """Make a function that names the types of edits of English texts as ERRANT does, by rules.

    A type is `M:`, `U:` or `R:`, for missing, unnecessary and replaced words, and one of ERRANT's 25 types (Bryant,
    Felice & Briscoe 2017, table 2). ERRANT asks spaCy for parts of speech, lemmas and dependencies. Here a small
    tagger that learned from spaCy (`tag_words`), lists and endings answer, so some types differ: by how much, says
    the guide to metrics of edits.

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
    single = len(source) == len(corrected) == 1
    if source[-1].low == corrected[-1].low and not single:
        return _type_of(source[:-1], corrected[:-1])
    if "".join(one).lower() == "".join(other).lower():
        return "R:ORTH"
    if sorted(map(str.lower, one)) == sorted(map(str.lower, other)):
        return "R:WO"
    return f"R:{_of_words(source[0], corrected[0]) if single else _of_phrases(source, corrected)}"


def _of_one_side(words: Sequence[_Word]) -> str:
    """Name the type of an insertion or a deletion."""
    if len(words) == 1:
        if words[0].tag.form == "POS":
            return "NOUN:POSS"
        if words[0].low in _CONTRACTED:
            return "CONTR"
        if words[0].low == "to" and words[0].tag.form == "TO":
            return "VERB:FORM"
    parts = {word.part for word in words}
    if all(word.tag.helps for word in words):
        return "VERB:TENSE"
    if len(parts) == 1 and parts <= _NAMED:
        return parts.pop()
    return "VERB" if parts == {"PART", "VERB"} else "OTHER"


def _of_phrases(source: list[_Word], corrected: list[_Word]) -> str:
    """Name the replacement of several words, or by several."""
    words = source + corrected
    parts, same = {word.part for word in words}, _same_lemma(source[-1], corrected[-1])
    if all(word.tag.helps for word in words):
        return "VERB:TENSE"
    if len(parts) == 1 and parts <= _NAMED:
        return "VERB:TENSE" if parts == {"VERB"} and same else parts.pop()
    if parts == {"PART", "VERB"}:
        return "VERB:FORM" if same else "VERB"
    possessive = any([word.part for word in side] == ["NOUN", "PART"] for side in (source, corrected))
    if possessive and _same_lemma(source[0], corrected[0]):
        return "NOUN:POSS"
    compared = not {"more", "most"}.isdisjoint((source[0].low, corrected[0].low))
    short = max(len(source), len(corrected)) <= 2
    return "ADJ:FORM" if compared and short and not _bases(source[-1]).isdisjoint(_bases(corrected[-1])) else "OTHER"


def _of_words(source: _Word, corrected: _Word) -> str:
    """Name the replacement of a word by a word: by the first group of rules that has an answer."""
    return (
        _as_contraction(source, corrected)
        or _as_misspelt(source, corrected)
        or _as_forms(source, corrected)
        or _as_parts(source, corrected)
        or _by_letters(source, corrected)
    )


def _as_contraction(source: _Word, corrected: _Word) -> str:
    both = {source.low, corrected.low}
    if "POS" in (source.tag.form, corrected.tag.form):
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
    if _same_lemma(source, corrected):
        return f"{source.part}:INFL" if source.part == corrected.part and source.part in ("NOUN", "VERB") else "MORPH"
    alike = _likeness(source.low, corrected.low)
    short = len(source.text) <= 4 and len(corrected.text) <= 4
    if alike > 0.55 or (short and (alike == 0.5 or round(alike, 3) == 0.333)):
        return "SPELL"
    return _part_of(corrected)


def _as_forms(source: _Word, corrected: _Word) -> str:
    """Name the replacement of a form of a word by another, or by a word derived from it."""
    if not {source.part, corrected.part} <= _OPEN:
        return ""
    if not _same_lemma(source, corrected):
        return "MORPH" if lancaster_stem(source.low) == lancaster_stem(corrected.low) else ""
    forms = (source.tag.form, corrected.tag.form)
    if source.part == corrected.part:
        if source.part in ("ADJ", "NOUN"):
            return "ADJ:FORM" if source.part == "ADJ" else "NOUN:NUM"
        if source.part == "VERB":
            if source.tag.helped and corrected.tag.helped:
                return "VERB:FORM"
            named = [kind for form, kind in _BY_FORM.items() if form in forms]
            helping = source.tag.helps and corrected.tag.helps
            if named or helping:
                return named[0] if named else "VERB:TENSE"
    return "NOUN:NUM" if (source.part, forms[1]) == ("ADJ", "NNS") else _BY_FORM.get(forms[1], "MORPH")


def _as_parts(source: _Word, corrected: _Word) -> str:
    """Name the replacement of a word by another one by their parts of speech."""
    parts = {source.part, corrected.part}
    if source.tag.helps and corrected.tag.helps:
        return "VERB:TENSE"
    if len(parts) == 1 and parts <= _NAMED:
        return source.part
    if parts == {"PART", "PREP"}:
        return "PART"
    if parts == {"DET", "PRON"}:
        return "DET" if corrected.tag.form in ("PRP$", "WP$") else "PRON"
    if parts == {"NUM", "DET"}:
        return "DET"
    return _PAIRS.get((source.low, corrected.low), "")


def _by_letters(source: _Word, corrected: _Word) -> str:
    """Name the replacement of a word by one of another part: it may be misspelt as another word."""
    if not (source.text.isalpha() and corrected.text.isalpha()):
        return "OTHER"
    here, there, alike = len(source.text), len(corrected.text), _likeness(source.low, corrected.low)
    # Length of a word, least and greatest length of what is written for it, and how alike they are at least.
    spelt = {1: (2, 2, 0.5), 2: (2, 3, 0.5), 3: (2, 4, 0.5), 4: (3, 4, 0.5), 5: (5, 5, 0.6)}
    least, most, bound = spelt.get(here, (6, 1 << 30, 0.81))
    if least <= there <= most and alike >= bound + 0.01 * (here == 4 and there == 3):
        return "SPELL"
    if (here, there) in ((4, 5), (5, 4)) and alike == 0.8:
        return "SPELL"
    if {source.low, corrected.low} in ({"though", "thought"}, {"therefor", "therefore"}):
        return "SPELL"
    if {source.low, corrected.low} in ({"well", "good"}, {"after", "later"}):
        return _part_of(corrected)
    if here > 5 and there > 5:
        begins = source.text.startswith(corrected.text) or corrected.text.startswith(source.text)
        if begins and alike >= 0.66:
            return "MORPH"
        if alike > 0.8:
            return "SPELL"
        return _part_of(corrected) if alike < 0.55 else "OTHER"
    by_part = there > 5 and (here == 5 or (here == 4 and alike > 0.5))
    return _part_of(corrected) if by_part else "OTHER"


def _part_of(word: _Word) -> str:
    return word.part if word.part in _NAMED else "OTHER"


def _likeness(word: str, other: str) -> float:
    """Share of the letters of the longer word that need no change to make the other."""
    from rapidfuzz.distance.Levenshtein import normalized_similarity

    return float(normalized_similarity(word, other))


def _bases(word: _Word) -> frozenset[str]:
    return lemmas(word.low, "ADJ")


def _same_lemma(source: _Word, corrected: _Word) -> bool:
    return not lemmas(source.low, source.part).isdisjoint(lemmas(corrected.low, corrected.part))
