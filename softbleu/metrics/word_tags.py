"""Parts of speech of English words, by a tagger that learned of spaCy's; their bases and stems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softbleu.io.files import required_resource
from softbleu.language.values import WordList
from softbleu.metrics.edits import IRREGULAR

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PARTS = {
    **{
        "JJ": "ADJ",
        "NN": "NOUN",
        "NNS": "NOUN",
        "RB": "ADV",
        "DT": "DET",
        "PRP$": "DET",
        "PRP": "PRON",
        "IN": "PREP",
    },
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBZ", "MD"), "VERB"),
    **{"CC": "CONJ", "RP": "PART", "TO": "PART", "POS": "PART", "CD": "NUM", "PUNCT": "PUNCT"},
}
"""Parts of speech, as ERRANT names them, by form."""


class Tag(NamedTuple):
    """The tag of a word in its sentence."""

    form: str  # By the Penn Treebank, but what makes no difference to types of edits is one: VB and VBP, JJ and JJR
    role: str = ""  # `a`: the first auxiliary of a verb; `b`: a later one; `h`: a verb with an auxiliary

    @property
    def part(self) -> str:
        """Part of speech, as ERRANT names it."""
        return _PARTS.get(self.form, "X")

    @property
    def helps(self) -> bool:
        """Whether the word is an auxiliary."""
        return self.role in ("a", "b")

    @property
    def helped(self) -> bool:
        """Whether an auxiliary of the same verb stands before."""
        return self.role in ("b", "h")


def normal_word(word: str) -> str:
    """Return a word in lower case; numbers are one word."""
    return "0" if word[:1].isdigit() else word.lower()


WordWindow = tuple[str, str, str, str, str]
"""A word between the two before it and the two behind it; `<` and `>` stand before and behind a sentence."""


def windows(words: Sequence[str]) -> list[WordWindow]:
    """List each word of a sentence with the words around it.

    >>> windows(["Two", "dogs"])
    [('<', '<', 'Two', 'dogs', '>'), ('<', 'Two', 'dogs', '>', '>')]
    """
    padded = ["<", "<", *words, ">", ">"]
    return list(zip(padded, padded[1:], padded[2:], padded[3:], padded[4:], strict=False))


def features(window: WordWindow, usual: Mapping[str, str]) -> list[str]:
    """List the features of a word: its letters, the words around, and their usual forms.

    `usual` has the most frequent form of a word in lower case and, behind `~`, of words with these last letters. As
    many features of each word; each begins with its number.

    >>> found = features(("<", "Two", "dogs", ">", ">"), {"dogs": "NNS"})
    >>> found[0], found[7], found[15]
    ('0 dogs', '7 two', '15 NNS')
    """

    def usual_form(word: str, low: str) -> str:
        if low in usual or word in ("<", ">"):
            return usual.get(low, word)
        return "A" if word[:1].isupper() else "-" if "-" in word else usual.get(f"~{low[-3:]}", "")

    word, (second, last, here, then, far) = window[2], map(normal_word, window)
    before, left, own, right, behind = map(usual_form, window, (second, last, here, then, far))
    capitals = "A" if word.isupper() and len(word) > 1 else "a" if word[:1].isupper() else ""
    shown = (
        *(here, here[-1:], here[-2:], here[-3:], here[-4:], here[:1], f"{capitals} {'-' in word} {window[1] == '<'}"),
        *(last, then, second, far, last[-3:], then[-3:], f"{last} {here}", f"{here} {then}"),
        *(own, left, right, f"{before} {left}", f"{right} {behind}", f"{left} {right}"),
        *(f"{left} {here}", f"{here} {right}", f"{left} {own}", f"{own} {right}", f"{left} {own} {right}"),
    )
    return [f"{number} {feature}" for number, feature in enumerate(shown)]


def _as_bytes(lines: Iterable[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(lines).encode(), np.uint8)


_MOST_KNOWN = 1 << 16


@dataclass(frozen=True)
class Tagger:
    """A linear tagger: the tag of a word has the greatest sum of the weights of the word's features."""

    tags: tuple[Tag, ...]
    usual: Mapping[str, str]  # As in `features`
    rows: Mapping[str, int]  # Of features, in the weights
    weights: NDArray[np.int8]  # A column for each tag; the last row is for unknown features
    known: dict[WordWindow, Tag] = field(default_factory=dict)  # Tags that were found

    @classmethod
    def read(cls, path: Path) -> Tagger:
        """Read a file that `write` wrote."""
        with np.load(path) as held:
            texts = {name: held[name].tobytes().decode().split("\n") for name in ("tags", "usual", "features")}
            weights = np.zeros((len(texts["features"]) + 1, len(texts["tags"])), np.int8)
            weights[np.repeat(np.arange(len(held["counts"])), held["counts"]), held["columns"]] = held["values"]
        usual = dict(line.split("\t") for line in texts["usual"])
        rows = {feature: row for row, feature in enumerate(texts["features"])}
        return cls(tuple(Tag(*tag.split("/")) for tag in texts["tags"]), usual, rows, weights)

    def write(self, path: Path) -> None:
        """Write a file: texts with a line for each name, and of each feature the weights that are not 0."""
        rows, columns = np.nonzero(self.weights)
        np.savez_compressed(
            path,
            tags=_as_bytes(map("/".join, self.tags)),
            usual=_as_bytes(map("\t".join, self.usual.items())),
            features=_as_bytes(self.rows),
            counts=np.bincount(rows, minlength=len(self.rows)).astype(np.uint8),
            columns=columns.astype(np.uint8),
            values=self.weights[rows, columns],
        )

    def tag(self, words: Sequence[str]) -> list[Tag]:
        """Tag the words of a sentence; a word between the same four words has the same tag again."""
        here, unknown = windows(words), len(self.rows)
        if len(self.known) > _MOST_KNOWN:
            self.known.clear()
        new = [window for window in here if window not in self.known]
        if new:
            rows = [[self.rows.get(each, unknown) for each in features(window, self.usual)] for window in new]
            best = self.weights[rows].sum(axis=1, dtype=np.int32).argmax(axis=1)
            self.known.update(zip(new, (self.tags[number] for number in best), strict=True))
        return [self.known[window] for window in here]


@cache
def _tagger() -> Tagger:
    return Tagger.read(required_resource("language", "en-tags", "tagger.npz"))


@lru_cache(1 << 12)
def tag_words(words: tuple[str, ...]) -> tuple[Tag, ...]:
    """Tag the words of a tokenised English sentence.

    >>> [tag.part for tag in tag_words(("They", "make", "the", "same", "use", "of", "it", "."))]
    ['PRON', 'VERB', 'DET', 'ADJ', 'NOUN', 'PREP', 'PRON', 'PUNCT']
    """
    tagger, tags, quoted = _tagger(), list[Tag](), False
    for place, (word, tag) in enumerate(zip(words, tagger.tag(words), strict=True)):
        if word in ("'", "’"):
            # The speeches that the tagger learned from have double quotes alone.
            possessive = not quoted and place > 0 and words[place - 1].lower().endswith("s")
            quoted = not quoted and not possessive
            tag = Tag("POS" if possessive else "PUNCT")
        elif word not in tagger.usual and not any(map(str.isalnum, word)):
            tag = Tag("PUNCT")
        tags.append(tag)
    return tuple(tags)


@cache
def english_words() -> frozenset[str]:
    """Read the bundled lists of correct English words: of all spellings, and more that are British."""
    lists = (required_resource("language", name, "words.txt.gz") for name in ("en-small", "en-tags"))
    return frozenset[str]().union(*(WordList.read(path).words for path in lists))


@cache
def _irregular() -> dict[str, dict[str, str]]:
    """Bases of irregular forms, by part of speech."""
    named = {
        "ADJ": "good bad far",
        "NOUN": "man woman child foot tooth mouse life wife leaf phenomenon criterion analysis",
    }
    parts = {base: part for part, words in named.items() for base in words.split()}
    bases: dict[str, dict[str, str]] = {"NOUN": {}, "ADJ": {}, "VERB": {}}
    for base, *forms in map(str.split, IRREGULAR.strip().replace("\n", "|").split("|")):
        if base not in ("a", "not", "datum", "medium", "person"):
            bases[parts.get(base, "VERB")] |= dict.fromkeys((base, *forms), base)
    return bases


_ENDINGS = {"VERB": ("ing", "ed"), "ADJ": ("er", "est"), "ADV": ("er", "est")}


@lru_cache(1 << 16)
def lemmas(word: str, part: str) -> frozenset[str]:
    """Words that an English word, in lower case, may be a form of, itself among them, as a part of speech.

    >>> sorted(lemmas("makes", "VERB")), sorted(lemmas("stopped", "VERB")), sorted(lemmas("cities", "NOUN"))
    (['make', 'makes'], ['stop', 'stopped'], ['cities', 'city'])
    """
    found = {_irregular()[part][word]} if word in _irregular().get(part, ()) else set()
    if part in ("NOUN", "VERB"):
        found |= _without_s(word)
    for ending in _ENDINGS.get(part, ()):
        stem = word.removesuffix(ending)
        if len(stem) > 1 and stem != word:
            doubled = {stem[:-1]} if len(stem) > 2 and stem[-1] == stem[-2] else set()
            changed = {f"{stem[:-1]}y"} if stem[-1] == "i" else {f"{stem[:-1]}ie"} if stem[-1] == "y" else set()
            found |= ({stem, f"{stem}e"} | doubled | changed) & english_words()
    return frozenset(found | {word})


def _without_s(word: str) -> set[str]:
    """Singulars of a plural, or bases of a verb of the third person, that are words."""
    if not word.endswith("s") or word.endswith("ss"):
        return set()
    ends = (("s", ""), ("es", ""), ("ies", "y"), ("ves", "f"), ("ves", "fe"))
    made = {word.removesuffix(end) + new for end, new in ends if word.endswith(end)}
    return {each for each in made if each in english_words() and len(each) > 1}


_LANCASTER = """
ai*2. a*1. bb1. city3s. ci2> cn1t> dd1. dei3y> deec2ss. dee1. de2> dooh4> e1> feil1v. fi2> gni3> gai3y. ga2> gg1.
ht*2. hsiug5ct. hsi3> i*1. i1y> ji1d. juf1s. ju1d. jo1d. jeh1r. jrev1t. jsim2t. jn1d. j1s. lbaifi6. lbai4y. lba3>
lbi3. lib2l> lc1. lufi4y. luf3> lu2. lai3> lau3> la2> ll1. mui3. mu*2. msi3> mm1. nois4j> noix4ct. noi3> nai3> na2>
nee0. ne2> nn1. pihs4> pp1. re2> rae0. ra2. ro2> ru2> rr1. rt1> rei3y> sei3y> sis2. si2> ssen4> ss0. suo3> su*2. s*1>
s0. tacilp4y. ta2> tnem4> tne3> tna3> tpir2b. tpro2b. tcud1. tpmus2. tpec2iv. tulo2v. tsis0. tsi3> tt1. uqi3. ugo1.
vis3j> vie0. vi2> ylb1> yli3y> ylp0. yl2> ygo1. yhp1. ymo1. ypo1. yti3> yte3> ytl2. yrtsi5. yra3> yro3> yfi3. ycn2t>
yca3> zi2> zy1s.
"""
"""Rules of the stemmer: an ending from its last letter, `*` for whole words alone, how many letters go, letters in
their place, and whether rules follow (`>`)."""
_RULES = [
    (ending[::-1], bool(whole), int(gone), new, more == ">")
    for ending, whole, gone, new, more in re.findall(r"([a-z]+)(\*?)(\d)([a-z]*)([>.])", _LANCASTER)
]


@lru_cache(1 << 14)
def lancaster_stem(word: str) -> str:
    """Stem an English word in lower case as Paice & Husk (1990) do, in Lancaster, which joins derived words.

    >>> [lancaster_stem(word) for word in ("describing", "description", "presumably", "string")]
    ['describ', 'describ', 'presum', 'string']
    """
    stem, more = word, word.isalpha()
    while more:
        more = False
        for ending, whole, gone, new, again in _RULES:
            if stem.endswith(ending) and (not whole or stem == word) and _is_stem(stem[: len(stem) - gone]):
                stem, more = stem[: len(stem) - gone] + new, again
                break
    return stem


def _is_stem(rest: str) -> bool:
    """Whether the rest of a word is long enough: two letters from a vowel on, or three with a vowel."""
    vowels = "aeiouy"
    return (
        len(rest) >= 2
        if rest[:1] and rest[0] in vowels
        else len(rest) >= 3 and (rest[1] in vowels or rest[2] in vowels)
    )
