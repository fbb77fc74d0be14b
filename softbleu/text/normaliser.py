"""Text as METEOR's `-norm` was seen to make it: marks split off, quotes and hyphens made plain, lower case."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from softbleu.config.languages import find_language
from softbleu.errors import InputError
from softbleu.text.meteor_data import MeteorData, MeteorFiles

# Letters, as the program has them: Latin with most of its marks, Cyrillic, and little else.
_LETTERS = "A-Za-zÀ-ÖØ-öø-žЀ-ԧᴀ-ᵿꙀ-ꙮ꙾-ꚗ"
_CONTROLS = "".join(map(chr, range(33)))
_DOTS = "\0"  # Stands for each of several full stops in a row while words are looked at
# One after the other; each looks at characters once, so that of two that overlap only the first is changed.
_STEPS = (
    ("[\t\n\f\r]", " "),
    ("[“”]", '"'),
    ("[‘’`]", "'"),
    ("''", '"'),
    (rf"([^{_LETTERS}0-9 \v.',-])", r" \1 "),
    ("–", "-"),
    (r"\.\.+", lambda match: f" {_DOTS * len(match[0])} "),
    ("([^0-9]),([^0-9])", r"\1 , \2"),
    ("([0-9]),([^0-9])", r"\1 , \2"),
    ("([^0-9]),([0-9])", r"\1 , \2"),
    ("--", "-"),
    (f"([{_LETTERS}0-9.])-([{_LETTERS}0-9])", r"\1 \2"),
)
_NO_LETTERS_BESIDE, _NO_LETTER_AFTER = f"([^{_LETTERS}])'([^{_LETTERS}])", f"([{_LETTERS}])'([^{_LETTERS}])"
_APOSTROPHES = {
    "en": (
        (_NO_LETTERS_BESIDE, r"\1 ' \2"),
        (f"([^{_LETTERS}0-9])'([{_LETTERS}])", r"\1 ' \2"),
        (_NO_LETTER_AFTER, r"\1 ' \2"),
        (f"([{_LETTERS}])'([{_LETTERS}])", r"\1 '\2"),
        ("([0-9])'s", r"\1 's"),
    ),
    "fr": (
        (_NO_LETTERS_BESIDE, r"\1 ' \2"),
        (f"([^{_LETTERS}])'([{_LETTERS}])", r"\1 ' \2"),
        (_NO_LETTER_AFTER, r"\1 ' \2"),
        (f"([{_LETTERS}])'([{_LETTERS}])", r"\1' \2"),
    ),
}
"""Of languages other than these, an apostrophe stands by itself."""
_OTHER_SPACES = re.compile("[\xa0\u2000-\u200a\u202f\u205f\u3000]")
_HAS_LETTER = re.compile(f"[{_LETTERS}]")


@dataclass(frozen=True)
class KeptStops:
    """Words that keep their full stop, also before a capital letter or, some of them, before a digit only."""

    always: frozenset[str] = frozenset()
    before_digits: frozenset[str] = frozenset()


@cache
def kept_stops(data: MeteorData, language: str) -> KeptStops:
    """Read those of the program."""
    name = f"nonbreaking/{find_language(language).name.lower()}.prefixes"
    lines = MeteorFiles.of(data.location).lines(name)
    if not lines:
        raise InputError(f"{data.location}: {name} is missing, which the tokenizer meteor needs: name METEOR's jar")
    entries = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    numeric = frozenset(word for word, *more in entries if more == ["#NUMERIC_ONLY#"])
    return KeptStops(frozenset(word for word, *_ in entries) - numeric, numeric)


@cache
def _compiled(language: str) -> list[tuple[re.Pattern[str], Any]]:
    """The steps, compiled when the first line comes: that takes some milliseconds."""
    steps = (*_STEPS, *_APOSTROPHES.get(language, (("'", " ' "),)))
    return [(re.compile(pattern), made) for pattern, made in steps]


def normalised(line: str, language: str, stops: KeptStops) -> list[str]:
    """Words of a line.

    >>> stops = KeptStops(frozenset(["Dr", "M", "usw", "3"]))
    >>> normalised("The U.S.-led “state-of-the-art” thing (Dr. No’s) costs $3,000.50...", "en", stops)
    ['the', 'us', 'led', '"', 'state', 'of', 'the', 'art', '"', 'thing', '(', 'dr.', 'no', "'s", ')', 'costs', '$', \
'3,000.50', '...']
    >>> " ".join(normalised("L’été, c’est le 5. M. Dupont", "fr", stops))
    "l' été , c' est le 5 . m. dupont"
    >>> " ".join(normalised("Am 3. Mai usw.", "de", stops))
    'am 3. mai usw.'
    """
    text = f" {line} "
    for pattern, made in _compiled(language):
        text = pattern.sub(made, text)
    words = [word for word in text.split(" ") if word]
    without_stops = [_without_stop(word, after, stops) for word, after in pairwise([*words, ""])]
    text = " ".join(_acronym(word) for word in " ".join(without_stops).split(" "))
    # Other spaces were words until here: a full stop before one is that of a sentence.
    text = _OTHER_SPACES.sub(" ", text.replace(_DOTS, ".").lower()).strip(_CONTROLS)
    return [word for word in text.split(" ") if word]


def _without_stop(word: str, after: str, stops: KeptStops) -> str:
    """Split the full stop from a word that ends a sentence."""
    before = word[:-1]
    if not before or word[-1] != ".":
        return word
    inside = "." in before and _HAS_LETTER.search(before)
    number = before in stops.before_digits and after[:1].isascii() and after[:1].isdigit()
    lower = after[:1].isascii() and after[:1].islower()
    return word if inside or number or lower or before in stops.always else f"{before} ."


def _acronym(word: str) -> str:
    """Take the full stops out of U.N. and the like."""
    acronym = word[-1:] == "." and word.count(".") > 1 and _HAS_LETTER.search(word)
    return word.replace(".", "") if acronym else word
