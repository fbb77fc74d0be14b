"""Parts of speech of English words: by lists, endings and frequencies of forms, and by the words around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import log
from typing import NamedTuple

from softbleu.embeddings.function_words import WORD_CLASSES
from softbleu.io.files import required_resource
from softbleu.language.values import WordList
from softbleu.metrics.edits import IRREGULAR

OPEN_PARTS = frozenset(("NOUN", "VERB", "ADJ", "ADV"))


class Reading(NamedTuple):
    """A part of speech, and the form of a verb or noun by its tag in the Penn Treebank."""

    part: str
    form: str


class TaggedWord(NamedTuple):
    """A word in its sentence."""

    reading: Reading
    readings: tuple[Reading, ...]  # All that the word can have
    helps: bool  # Whether it is an auxiliary of a verb, or the `to` of an infinitive
    helped: bool  # Whether it is a verb behind an auxiliary or `to`

    @property
    def part(self) -> str:
        """Part of speech."""
        return self.reading.part

    @property
    def form(self) -> str:
        """Form, by its tag."""
        return self.reading.form


def _readings(*texts: str) -> tuple[Reading, ...]:
    return tuple(Reading(*text.split("/")) for text in texts)


_NOUN, _PLURAL, _ADJECTIVE = _readings("NOUN/NN", "NOUN/NNS", "ADJ/JJ")
_BASE, _PRESENT, _THIRD, _PAST, _PARTICIPLE, _ING, _MODAL = _readings(
    *(f"VERB/{form}" for form in ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG", "MD"))
)
_PREPOSITION, _PARTICLE, _INFINITIVE, _POSSESSIVE = _readings("PREP/IN", "PART/RP", "PART/TO", "PART/POS")
_DETERMINER, _RELATIVE, _THERE, _MARK = _readings("DET/DT", "DET/WDT", "PRON/EX", "PUNCT/PUNCT")
_ADVERB, _NUMBER, _NAME = _readings("ADV/RB", "NUM/CD", "NOUN/NNP")

_LISTED = {
    "modal": "will would shall should can could may might must cannot 'll 'd ca wo sha",
    "subject": "i you we they he she it who which that there",
    "possessive": "my your his her its our their",
    "begins an object": """
        the a an this these those it them him us me you each every some any my your his her its our their
    """,
    "begins a clause": "that if because when while although though since as than",
    "particle": "up out off down away back",
    "sometimes a particle": "on in over along through",
    "adverb": """
        not n't never always often sometimes ever still already even again soon now today maybe perhaps quite rather
        almost once twice well away back together instead else moreover furthermore nowadays otherwise yet only far
        later ago enough first secondly firstly besides seldom
    """,
    "adjective": """
        good bad new old big small large great little high low long short young important different same own true
        real easy hard early late right wrong sure able free full certain poor rich happy sad strong weak main common
        human public private social special specific similar available possible necessary serious clear hot cold
        dark fast slow safe dangerous close dear fair fine rare rude strict healthy heavy busy empty whole entire
        ill dead alone alive aware proper popular modern next last past recent future present male female double
        simple complex deep wide broad huge tiny nice kind mature mild severe pure quick rapid vast wise mental equal
        due prone online inner outer lazy guilty wealthy funny angry ready pretty lucky crazy scary tight thick thin
        brief mere secret likely unlikely friendly daily lovely costly elderly lonely deadly ugly silly
        false warm sick single
    """,
    "number": "one two three four five six seven eight nine ten hundred thousand million",
    "no adverb": """
        family reply apply supply rely ally bully assembly anomaly monthly weekly fly july italy holy belly rally
        multiply imply comply
    """,
    "plural": "people police media data others",
    "verb": """
        become begin bring buy choose eat forget give go grow hear keep know lose make mean meet say see seek sell
        send speak spend teach tell understand write think get take find feel leave
    """,
    "past as the base": "put set cut let hit hurt cost shut spread read quit split",
    "participle as the base": "become come run overcome",
    "irregular noun": "man woman child person foot tooth mouse life wife leaf phenomenon criterion analysis",
    "irregular adjective": "good bad far",
    "not a form": "a not datum medium person",
}
"""Words by list: `verb` has verbs that are hardly ever nouns, `not a form` bases that are passed over."""
_LISTS = {name: frozenset(text.split()) for name, text in _LISTED.items()}
_FORMS_OF_BE = {"be": _BASE, "am": _PRESENT, "is": _THIRD, "are": _PRESENT, "was": _PAST, "were": _PAST}
_FORMS_OF_BE |= {"been": _PARTICIPLE, "being": _ING, "'re": _PRESENT, "'m": _PRESENT}
_FORMS_OF_HAVE = {"have": _PRESENT, "has": _THIRD, "had": _PAST, "having": _ING, "'ve": _PRESENT}
_FORMS_OF_DO = {"do": _PRESENT, "does": _THIRD, "did": _PAST}
_MODALS, _SUBJECTS = _LISTS["modal"], _LISTS["subject"]
_AUXILIARIES = {**dict.fromkeys(_MODALS, _MODAL), **_FORMS_OF_BE, **_FORMS_OF_HAVE, **_FORMS_OF_DO}
_BY_WORD: dict[str, tuple[Reading, ...]] = {
    **dict.fromkeys(_LISTS["plural"], (_PLURAL,)),
    **dict.fromkeys(_LISTS["number"], (_NUMBER,)),
    **dict.fromkeys(_LISTS["adverb"], (_ADVERB,)),
    **{word: (reading,) for word, reading in _AUXILIARIES.items()},
    **dict.fromkeys(("'s", "'"), (_POSSESSIVE,)),
    **dict.fromkeys(("what", "which", "whose"), (_RELATIVE,)),
    **{"to": (_INFINITIVE,), "done": (_PARTICIPLE,), "doing": (_ING,), "being": (_ING, _NOUN)},
}
"""Readings of listed words."""
_BY_CLASS = {
    "determiner": _DETERMINER,
    "pronoun": Reading("PRON", "PRP"),
    "preposition": _PREPOSITION,
    "conjunction": Reading("CONJ", "CC"),
    "quantifier": _ADJECTIVE,
    "adverb": _ADVERB,
}
_NOUN_ENDING = re.compile(
    "(?:tion|sion|ment|ness|ity|ism|ist|ship|hood|dom|[ae]nce|[ae]ncy|ure|age|logy|graphy|[eo]r|ee|cy|ty)$"
)
_ADJECTIVE_ENDING = re.compile("(?:ous|ful|less|[ai]ble|ive|ic|ical|al|ary|ish|[ea]nt|ese|ian|some|like)$")
_VERB_ENDING = re.compile("(?:i[sz]e|ify)$")
_ADVERBS = 6  # Words within which an auxiliary is looked for over adverbs
_UNLISTED = 90_000  # Rank of words that are not among the most frequent
_SMOOTHED = 50  # Added to ranks, which brings the logarithms of the smallest ranks together
_MORE_VERB = 0.3
"""Logarithm by which the forms of a verb must be more frequent than the plural for a verb first. Chosen on AMU, CAMB,
CUUI and annotator 0 of CoNLL-2014."""


@cache
def english_words() -> frozenset[str]:
    """Read the bundled list of correct English words."""
    return WordList.read(required_resource("language", "en-small", "words.txt.gz")).words


@cache
def _ranks() -> Mapping[str, int]:
    """Read the ranks of the most frequent English words, from 0, of the bundled vectors."""
    lines = required_resource("embeddings", "glove-6b-100d", "vocab.txt").read_text(encoding="utf-8").split("\n")
    return {word: rank for rank, word in enumerate(lines)}


def _scarcity(*words: str) -> float:
    """Logarithm of the least rank of some words."""
    return log(min(_ranks().get(word, _UNLISTED) for word in words) + _SMOOTHED)


@dataclass(frozen=True)
class _Irregular:
    """Bases of irregular forms by part of speech, and the tags of irregular verbs."""

    bases: Mapping[str, Mapping[str, str]]
    readings: Mapping[str, tuple[Reading, ...]]
    forms: Mapping[str, tuple[str, ...]]  # By base


@cache
def _irregular() -> _Irregular:
    bases: dict[str, dict[str, str]] = {part: {} for part in OPEN_PARTS}
    readings: dict[str, list[Reading]] = {}
    for base, *forms in map(str.split, IRREGULAR.strip().replace("\n", "|").split("|")):
        if base in _LISTS["not a form"]:
            continue
        part = (
            "NOUN" if base in _LISTS["irregular noun"] else "ADJ" if base in _LISTS["irregular adjective"] else "VERB"
        )
        bases[part] |= dict.fromkeys((base, *forms), base)
        if part == "VERB" and base not in _AUXILIARIES:
            other = [form for form in forms if not form.endswith(("s", "ing"))]
            ends = ((_PAST,), (_PARTICIPLE,)) if len(other) > 1 else ((_PAST, _PARTICIPLE),)
            for form, tags in zip(other, ends, strict=False):
                readings.setdefault(form, []).extend(tags)
    for base in _LISTS["participle as the base"]:
        readings[base] = [_BASE, _PARTICIPLE]
    pasts: dict[str, list[str]] = {}
    for form, base in bases["VERB"].items():
        pasts.setdefault(base, []).append(form)
    return _Irregular(
        bases,
        {form: tuple(sorted(tags, key=lambda tag: tag.form)) for form, tags in readings.items()},
        {base: tuple(forms) for base, forms in pasts.items()},
    )


@lru_cache(1 << 16)
def lemmas(word: str, part: str) -> frozenset[str]:
    """Words that an English word, in lower case, may be a form of, itself among them, as a part of speech.

    >>> sorted(lemmas("makes", "VERB")), sorted(lemmas("stopped", "VERB")), sorted(lemmas("cities", "NOUN"))
    (['make', 'makes'], ['stop', 'stopped'], ['cities', 'city'])
    """
    found = {_irregular().bases[part][word]} if word in _irregular().bases.get(part, ()) else set()
    if part in ("NOUN", "VERB"):
        found |= _without_s(word)
    for ending in _ENDINGS.get(part, ()):
        stem = word.removesuffix(ending)
        if len(stem) > 1 and stem != word:
            doubled = {stem[:-1]} if len(stem) > 2 and stem[-1] == stem[-2] else set()
            changed = {f"{stem[:-1]}y"} if stem[-1] == "i" else {f"{stem[:-1]}ie"} if stem[-1] == "y" else set()
            found |= ({stem, f"{stem}e"} | doubled | changed) & english_words()
    return frozenset(found | {word})


_ENDINGS = {"VERB": ("ing", "ed"), "ADJ": ("er", "est"), "ADV": ("er", "est")}


def _without_s(word: str) -> set[str]:
    """Singulars of a plural, or bases of a verb of the third person, that are words."""
    if not word.endswith("s") or word.endswith("ss"):
        return set()
    ends = (("s", ""), ("es", ""), ("ies", "y"), ("ves", "f"), ("ves", "fe"))
    made = {word.removesuffix(end) + new for end, new in ends if word.endswith(end)}
    return {each for each in made if each in english_words() and len(each) > 1}


def _with(word: str, ending: str) -> set[str]:
    """Ways to write a word with an ending: `stopped`, `making`, `cities`."""
    made = {word + ending}
    if ending == "s":
        return made | {f"{word}es"} | ({f"{word[:-1]}ies"} if word.endswith("y") else set())
    made |= {word + word[-1] + ending} | ({word.removesuffix("e") + ending} if word.endswith("e") else set())
    return made | ({f"{word[:-1]}ied"} if ending == "ed" and word.endswith("y") else set())


@lru_cache(1 << 16)
def _is_verb(word: str) -> bool:
    """Whether a word is the base of a verb: its forms in -ing and -ed are words."""
    if word in _LISTS["past as the base"] or word in _irregular().forms:
        return True
    known = word in english_words() and len(word) > 1
    return known and all(_with(word, ending) & english_words() for ending in ("ing", "ed"))


@lru_cache(1 << 16)
def _is_noun(word: str) -> bool:
    """Whether a word has a plural, or ends as nouns do."""
    if _NOUN_ENDING.search(word):
        return True
    seldom = _ADJECTIVE_ENDING.search(word) and _ranks().get(f"{word}s", _UNLISTED) > 6 * _ranks().get(
        word, _UNLISTED
    )
    return bool(_with(word, "s") & english_words()) and not seldom


@lru_cache(1 << 16)
def _is_adjective(word: str) -> bool:
    """Whether a word is listed, or ends as adjectives do, or has an adverb that is not rare."""
    words, ending = english_words(), _ADJECTIVE_ENDING.search(word)
    if word in _LISTS["adjective"] or word not in words:
        return word in _LISTS["adjective"] or (ending is not None and len(word) > 6)
    adverbs = {f"{word}ly", f"{word}ally" if word.endswith("ic") else ""}
    adverbs |= {f"{word[:-1]}y"} if word.endswith("le") else {f"{word[:-1]}ily"} if word.endswith("y") else set()
    if adverbs & words:
        rare = _ranks().get(f"{word}ly", _UNLISTED)
        by_chance = _is_noun(word) and not ending and not word.endswith("y") and rare > 30_000
        return not by_chance and not (_is_verb(word) and rare > 25_000)
    if ending and len(word) > 5:
        return not word.endswith("ment")
    return word.endswith(("er", "est")) and any(map(_is_adjective, lemmas(word, "ADJ") - {word}))


@lru_cache(1 << 16)
def _verb_first(word: str) -> bool:
    """Whether a word that is a verb and a noun is more often a verb."""
    if word in _LISTS["verb"] or _VERB_ENDING.search(word):
        return True
    pasts = [form for form in _irregular().forms.get(word, ()) if form != word]
    verb = _scarcity(*_with(word, "ing"), *_with(word, "ed"), *pasts)
    return _scarcity(*_with(word, "s")) - verb > _MORE_VERB


@lru_cache(1 << 16)
def readings_of(word: str) -> tuple[Reading, ...]:
    """Parts of speech that an English word, in lower case, can be, the likeliest first.

    >>> [reading.part for reading in readings_of("help")], readings_of("slowly")
    (['VERB', 'NOUN'], (Reading(part='ADV', form='RB'),))
    """
    if word.endswith("ly") and len(word) > 4 and word not in _LISTS["no adverb"] | _LISTS["adjective"]:
        return (_ADVERB,)
    return _inflected(word) or _uninflected(word)


def _inflected(word: str) -> tuple[Reading, ...]:
    """Readings of a word with the ending of a verb or a plural, or of an irregular form."""
    if word in _irregular().bases["NOUN"]:
        return (_PLURAL,) if _irregular().bases["NOUN"][word] != word else ()
    found = [*_irregular().readings.get(word, ())]
    bases = lemmas(word, "VERB") - {word}
    if any(map(_is_verb, bases)):
        found += [_ING] * word.endswith("ing") + [_PAST, _PARTICIPLE] * word.endswith("ed")
    if found and not word.endswith("ed") and f"{word}s" in english_words() and _BASE not in found:
        found.append(_NOUN)
    singulars = _without_s(word)
    if singulars:
        verbs = [each for each in singulars if _is_verb(each)]
        # Of two bases that are not in the list of ranks, the longer: overemphasise, not overemphasis.
        likeliest = min(sorted(verbs, reverse=True), key=_scarcity, default="")
        only_verb = likeliest in _LISTS["verb"] or _VERB_ENDING.search(likeliest)
        first = bool(verbs) and (not any(map(_is_noun, singulars)) or _verb_first(likeliest))
        plural = [] if only_verb else [_PLURAL]
        found += [_THIRD, *plural] if first or only_verb else [_PLURAL, *[_THIRD] * bool(verbs)]
    return tuple(found)


def _uninflected(word: str) -> tuple[Reading, ...]:
    """Readings of a word that is no form of another."""
    found = [_ADJECTIVE] if _is_adjective(word) else []
    noun = _is_noun(word)
    if _is_verb(word) and not (
        _NOUN_ENDING.search(word) and not word.endswith(("er", "or", "ure", "age")) and len(word) > 6
    ):
        if word in _LISTS["verb"] or _VERB_ENDING.search(word):
            return (_BASE,)
        first = not noun or _verb_first(word)
        return (_BASE, *found, _NOUN) if first else (*found, _NOUN, _BASE)
    return (*found, _NOUN) if noun or not found else tuple(found)


def _listed_readings(word: str, written: str, *, first: bool) -> tuple[Reading, ...]:
    """Readings of a word in its sentence, by itself; `first` words may be capitalised."""
    if word in _BY_WORD:
        return _BY_WORD[word]
    if not any(map(str.isalnum, word)):
        return (_MARK,)
    if any(map(str.isdigit, word)):
        return (_NUMBER,)
    # Of `his/her` the first word says what both are.
    known = WORD_CLASSES.get(word.partition("/")[0])
    if known in _BY_CLASS:
        return (_BY_CLASS[known],)
    unknown = word not in english_words()
    if written[0].isupper() and not first and unknown:
        return (_NAME,)
    return (_ADJECTIVE, _NOUN) if "-" in word and unknown and not word.endswith("s") else readings_of(word)


@lru_cache(1 << 12)
def tag_words(words: tuple[str, ...]) -> tuple[TaggedWord, ...]:
    """Tag the words of a tokenised English sentence, from left to right.

    >>> [word.part for word in tag_words(("They", "make", "the", "same", "use", "of", "it", "."))]
    ['PRON', 'VERB', 'DET', 'ADJ', 'NOUN', 'PREP', 'PRON', 'PUNCT']
    """
    low = [word.lower() for word in words]
    readings = [
        _listed_readings(word, written, first=place == 0)
        for place, (word, written) in enumerate(zip(low, words, strict=True))
    ]
    chosen: list[Reading] = []
    for place in range(len(words)):
        chosen.append(_Context(low, readings, chosen, place).choice())
    helps = [_helps(low, chosen, place) for place in range(len(words))]
    helped = [_is_helped(low, chosen, helps, place) for place in range(len(words))]
    return tuple(map(TaggedWord, chosen, readings, helps, helped))


def _before(chosen: Sequence[Reading], place: int) -> int:
    """Place of the word before that is no adverb; -1 without one."""
    first = max(0, place - _ADVERBS)
    return next((each for each in reversed(range(first, place)) if chosen[each].part != "ADV"), first - 1)


def _helps(low: Sequence[str], chosen: Sequence[Reading], place: int) -> bool:
    """Whether a word is an auxiliary, by the verb behind it."""
    word = low[place]
    if word == "to" or word not in _AUXILIARIES or chosen[place].part != "VERB":
        return chosen[place] == _INFINITIVE
    then = place + 1
    if word in _MODALS or (word in _FORMS_OF_DO and low[then : then + 1] in (["not"], ["n't"])):
        return True
    passed = ("ADV", "PRON")[: 1 + (place == 0)]
    while then < min(len(low), place + _ADVERBS) and chosen[then].part in passed:
        then += 1
    if then == len(low) or chosen[then].part != "VERB":
        return False
    forms = {"VBN", "VBD"} | ({"VBG"} if word in _FORMS_OF_BE else set())
    return low[then] in _AUXILIARIES or word in _FORMS_OF_DO or chosen[then].form in forms


def _is_helped(low: Sequence[str], chosen: Sequence[Reading], helps: Sequence[bool], place: int) -> bool:
    """Whether a word is a verb behind an auxiliary or `to`."""
    before = _before(chosen, place)
    if chosen[place].part != "VERB" or before < 0:
        return False
    return helps[before] or low[before] == "to" or low[before] in _AUXILIARIES


class _Context:
    """A word, those before it with their readings, and those behind it."""

    def __init__(
        self, low: Sequence[str], readings: Sequence[tuple[Reading, ...]], chosen: Sequence[Reading], place: int
    ) -> None:
        self.low, self.readings, self.chosen, self.place = low, readings, chosen, place
        self.word, self.own = low[place], readings[place]
        before = _before(chosen, place)
        self.last = low[before] if before >= 0 else ""
        self.before = chosen[before] if before >= 0 else Reading("", "")
        self.adjacent = before == place - 1 >= 0
        self.second = chosen[before - 1] if before > 0 else Reading("", "")
        self.second_word = low[before - 1] if before > 0 else ""
        self.next = low[place + 1] if place + 1 < len(low) else ""
        self.then = readings[place + 1] if place + 1 < len(low) else ()

    def choice(self) -> Reading:
        """Choose a reading."""
        special = _SPECIAL.get(self.word)
        if special is not None and (found := special(self)) is not None:
            return found
        if len(self.own) > 1:
            for rule in _RULES:
                if (found := rule(self)) is not None:
                    return found
        return self.own[0]

    def pick(self, part: str, *forms: str) -> Reading | None:
        """Return the first reading of a part, and of one of these forms if any is given."""
        return next((each for each in self.own if each.part == part and (not forms or each.form in forms)), None)

    def can_follow(self, *parts: str) -> bool:
        """Whether the next word can be of one of these parts."""
        return any(each.part in parts for each in self.then)

    def follows(self, *parts: str) -> bool:
        """Whether the next word is likeliest of one of these parts."""
        return bool(self.then) and self.then[0].part in parts


def _to(here: _Context) -> Reading:
    """`to` before the base of a verb is that of an infinitive."""
    place = here.place + 1
    while place < min(len(here.low), here.place + _ADVERBS) and here.readings[place][0].part == "ADV":
        place += 1
    bases = here.readings[place] if place < len(here.low) else ()
    return _INFINITIVE if {_BASE, _PRESENT, _MODAL} & set(bases) else _PREPOSITION


def _that(here: _Context) -> Reading:
    if here.chosen and here.chosen[-1].part == "NOUN":
        if here.can_follow("VERB"):
            return _RELATIVE
        if here.next in _SUBJECTS | _LISTS["possessive"] | {"the", "a"}:
            return _PREPOSITION
    if here.follows("VERB"):
        return _RELATIVE
    return _DETERMINER if here.follows("NOUN", "ADJ") and _PLURAL not in here.then else _PREPOSITION


def _her(here: _Context) -> Reading:
    """`her` without a noun is a pronoun."""
    return _DETERMINER if here.can_follow("NOUN", "ADJ") else _BY_CLASS["pronoun"]


def _there(here: _Context) -> Reading | None:
    exists = here.next in _AUXILIARIES or here.next in ("exist", "exists", "existed", "seems", "seem", "also")
    return _THERE if exists else None


def _clitic(here: _Context) -> Reading:
    """`'s` is a verb behind pronouns, and before articles, `not`, `been` and words in -ing."""
    verb = here.last in _SUBJECTS | {"what", "where", "how", "let"} or _ING in here.then
    return _THIRD if verb or here.next in ("a", "the", "not", "been") else _POSSESSIVE


def _particle(here: _Context) -> Reading | None:
    """A word behind a verb that begins no phrase."""
    if not here.adjacent or here.before.part != "VERB" or here.last in _AUXILIARIES:
        return None
    ends = not here.then or here.follows("PUNCT", "PREP", "PART", "CONJ", "ADV")
    always = here.word in _LISTS["particle"] and (here.word, here.next) != ("out", "of")
    return _PARTICLE if always or ends else None


_SPECIAL: dict[str, Callable[[_Context], Reading | None]] = {
    **{"to": _to, "that": _that, "there": _there, "her": _her, "'s": _clitic},
    **dict.fromkeys(_LISTS["particle"] | _LISTS["sometimes a particle"], _particle),
}


def _behind_auxiliary(here: _Context) -> Reading | None:
    if here.before == _INFINITIVE:
        return here.pick("VERB", "VB")
    asked = here.before.part == "PRON" and here.second_word in _MODALS | _FORMS_OF_DO.keys()
    if here.last in _MODALS or here.last in _FORMS_OF_DO or asked:
        return here.pick("VERB", "VB")
    if here.last in _FORMS_OF_HAVE or here.last in _FORMS_OF_BE:
        return here.pick("VERB", "VBN") or (here.pick("VERB", "VBG") if here.last in _FORMS_OF_BE else None)
    return None


def _before_object(here: _Context) -> Reading | None:
    """A verb stands before an article, a possessive or a pronoun."""
    if (
        here.next not in _LISTS["begins an object"]
        or here.before.part in ("DET", "ADJ", "NUM")
        or not here.pick("NOUN")
    ):
        return None
    if here.before == _PREPOSITION:
        return here.pick("VERB", "VBG")
    base = here.pick("VERB", "VB") if here.before.part == "NOUN" else None
    return _PRESENT if base else here.pick("VERB")


def _in_noun_phrase(here: _Context) -> Reading | None:
    """Read what stands behind a determiner, adjective, number, possessive or preposition as adjective or noun."""
    inside = here.before.part in ("DET", "ADJ", "NUM") and here.before != _RELATIVE
    behind = here.before == _PREPOSITION
    if not (inside or behind or here.before == _POSSESSIVE):
        return None
    noun, adjective, participle = here.pick("NOUN"), here.pick("ADJ"), here.pick("VERB", "VBN")
    if here.can_follow("NOUN", "ADJ") and (adjective or (participle and not noun)):
        return adjective or participle
    if not behind:
        return noun or adjective
    if here.last in _LISTS["begins a clause"] and here.pick("VERB"):
        return here.own[0]
    return adjective or noun


def _behind_subject(here: _Context) -> Reading | None:
    if here.last not in _SUBJECTS and here.before.part != "PRON" and here.before != _RELATIVE:
        return None
    return here.pick("VERB", "VBD") or (here.pick("VERB", "VB") and _PRESENT) or here.pick("VERB")


def _behind_noun(here: _Context) -> Reading | None:
    if here.before.part != "NOUN":
        return None
    if here.pick("VERB", "VBD"):
        return _PARTICIPLE if here.next == "by" else _PAST
    if here.before == _PLURAL and here.pick("VERB", "VB"):
        return _PRESENT
    if here.before != _PLURAL and here.follows("DET", "PREP", "PRON", "ADV", "ADJ", "PART"):
        return here.pick("VERB", "VBZ")
    return None


def _behind_verb(here: _Context) -> Reading | None:
    full = here.before.part == "VERB" and here.last not in _AUXILIARIES and here.own[0].part != "ADJ"
    return here.pick("NOUN") if full else None


def _behind_conjunction(here: _Context) -> Reading | None:
    """`and` stands between words of one part."""
    if here.before.part != "CONJ":
        return None
    return here.pick(here.second.part, here.second.form) or here.pick(here.second.part)


_RULES = (
    _behind_auxiliary,
    _before_object,
    _in_noun_phrase,
    _behind_subject,
    _behind_noun,
    _behind_verb,
    _behind_conjunction,
)
