"""The one map of languages: tokenizer, stems and similarity of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from softbleu.errors import InputError, Parameter

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
"""Scripts whose words have no blanks between them, for a class of a regular expression: Thai, Lao, Burmese, Khmer,
Japanese, Chinese."""
_TAG = re.compile(r"([a-z]{2,3})(-[a-z0-9]{1,8})*", re.IGNORECASE)


@dataclass(frozen=True)
class Language:
    """A language, by its code of BCP 47, and what is made for it."""

    code: str
    name: str
    tokenize: str | None = None  # Name of its tokenizer; None: words stand between blanks, and any will do
    stemmer: str | None = None  # Name of its algorithm in snowballstemmer

    @property
    def similarity(self) -> str:
        """How words are compared without vectors, unless settings say it."""
        return f"spelling+stems:{self.code}" if self.stemmer else "spelling"


_STEMMED = (
    "ar Arabic, ca Catalan, da Danish, de German, el Greek, en English, es Spanish, eu Basque, fi Finnish, "
    "fr French, ga Irish, hi Hindi, hu Hungarian, hy Armenian, id Indonesian, it Italian, lt Lithuanian, ne Nepali, "
    "nl Dutch, no Norwegian, pt Portuguese, ro Romanian, ru Russian, sr Serbian, sv Swedish, ta Tamil, tr Turkish, "
    "yi Yiddish"
)
"""Languages of snowballstemmer, whose algorithms have their names."""
_OTHERS = (
    Language("cs", "Czech"),
    Language("ja", "Japanese", "unspaced"),
    Language("ko", "Korean"),
    Language("pl", "Polish"),
    Language("th", "Thai", "unspaced"),
    Language("uk", "Ukrainian"),
    Language("zh", "Chinese", "zh"),
)
_NAMED = (entry.split() for entry in _STEMMED.split(", "))
_KNOWN = [*_OTHERS, *(Language(code, name, stemmer=name.lower()) for code, name in _NAMED)]
LANGUAGES: Mapping[str, Language] = dict(sorted((language.code, language) for language in _KNOWN))
"""Those for which there is anything, by their codes."""
_EARLIER = {"nb": "no", "nn": "no", "cz": "cs", "iw": "he"}  # Other codes of the same


def find_language(tag: str) -> Language:
    """Find a language by its tag of BCP 47, whose region and script make no difference.

    >>> find_language("de-AT").name, find_language("is").name
    ('German', 'is')
    """
    match = _TAG.fullmatch(tag) if isinstance(tag, str) else None
    if match is None:
        raise InputError(Parameter("language"), f" must be a code of BCP 47, such as cs, de or zh, not {tag!r}")
    code = match[1].lower()
    code = _EARLIER.get(code, code)
    return LANGUAGES.get(code, Language(code, code))
