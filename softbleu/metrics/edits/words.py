"""Classes of words, and bases of their inflected forms, for the extraction of edits without a parser."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache, partial

from softbleu.config.languages import find_language
from softbleu.embeddings.function_words import WORD_CLASSES
from softbleu.thesaurus.resources import stem
from softbleu.thesaurus.stems import stem_of

CONTENT = frozenset(("content", "verb", "adverb", "auxiliary", "quantifier"))
"""Classes whose words carry content; auxiliaries do, since treebanks count most of them as verbs."""
VERBAL = frozenset(("auxiliary", "infinitive", "verb"))
_VERB, _ADVERB = re.compile(r"..(?:ed|ing|i[sz]e|ify|ate)$"), re.compile("..ly$")
# Base first. Pronouns and what compares are left out: there, a change of form is a change of word.
_IRREGULAR = """
be am is are was were been being 's 're 'm|have has had having 've|do does did done|go goes went gone
will would 'll 'd wo|can could ca|shall should sha|may might|say said|get got gotten|make made|know knew known
think thought|take took taken|see saw seen|come came|give gave given|find found|tell told|become became|leave left
feel felt|bring brought|begin began begun|keep kept|hold held|write wrote written|stand stood|hear heard|mean meant
meet met|pay paid|sit sat|speak spoke spoken|lie lay lain lying|lead led|grow grew grown|lose lost|fall fell fallen
send sent|build built|understand understood|draw drew drawn|break broke broken|spend spent|drive drove driven
buy bought|wear wore worn|choose chose chosen|seek sought|throw threw thrown|catch caught|deal dealt|win won
teach taught|eat ate eaten|sell sold|fight fought|arise arose arisen|rise rose risen|sleep slept|hide hid hidden
forget forgot forgotten|show showed shown|fly flew flown|sing sang sung|swim swam swum|drink drank drunk
ride rode ridden|bear bore born borne|die dying|shake shook shaken|steal stole stolen|wake woke woken|feed fed
strike struck|stick stuck|swear swore sworn|bind bound|hang hung|shoot shot|slide slid|blow blew blown|lend lent
man men|woman women|child children|person people|foot feet|tooth teeth|mouse mice|life lives|wife wives|leaf leaves
phenomenon phenomena|criterion criteria|analysis analyses|datum data|medium media|a an|not n't|good better best
bad worse worst|far further farther
"""
_BASES = {
    form: forms.split()[0] for forms in _IRREGULAR.strip().replace("\n", "|").split("|") for form in forms.split()
}


@lru_cache(1 << 17)
def base_form(word: str) -> str:
    """Base of an inflected English word in lower case: of irregular forms as listed, else the stem.

    >>> [base_form(word) for word in ("went", "diseases", "is")]
    ['go', 'diseas', 'be']
    """
    return stem(_BASES.get(word, word))


@lru_cache(1 << 17)
def word_class(word: str) -> str:
    """Class of an English word: of function words as listed, else by its ending or by what it consists of.

    >>> [word_class(word) for word in ("The", "deciding", "slowly", "house", ",", "3.5")]
    ['determiner', 'verb', 'adverb', 'content', 'mark', 'number']
    """
    word = word.lower()
    if word in WORD_CLASSES:
        return WORD_CLASSES[word]
    by_letters = class_by_letters(word)
    if by_letters != "content":
        return by_letters
    return "verb" if _VERB.search(word) else "adverb" if _ADVERB.search(word) else "content"


def class_by_letters(word: str) -> str:
    """Class of a word of any language: one with letters carries content.

    >>> [class_by_letters(word) for word in ("der", "的", "。", "3.5")]
    ['content', 'content', 'mark', 'number']
    """
    if any(map(str.isalpha, word)):
        return "content"
    return "number" if any(map(str.isdigit, word)) else "mark"


@dataclass(frozen=True)
class WordRules:
    """What the extraction of edits asks of words: English lists answer, or what is known in any language."""

    base_form: Callable[[str], str]  # Of a word in lower case
    word_class: Callable[[str], str]
    possessive: tuple[str, ...] = ()  # Words that belong to the word before
    joints: str = "-'’"  # Left out where only blanks may differ


@cache
def rules_of(language: str | None) -> WordRules:
    """Rules for a language, by its code; None: English.

    >>> rules_of("de").base_form("häuser"), rules_of("cs").base_form("psi"), rules_of("de").word_class("the")
    ('haus', 'psi', 'content')
    """
    known = find_language(language or "en")
    if known.code == "en":
        return WordRules(base_form, word_class, ("'s", "'"), "-'")
    return WordRules(partial(stem_of, algorithm=known.stemmer) if known.stemmer else str, class_by_letters)
