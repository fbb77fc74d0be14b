"""Text as METEOR's `-norm` was seen to make it: marks split off, quotes and hyphens made plain, lower case."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Any

# Letters, as the program has them: Latin with most of its marks, Cyrillic, and little else.
_LETTERS = "A-Za-zÀ-ÖØ-öø-žЀ-ԧᴀ-ᵿꙀ-ꙮ꙾-ꚗ"
_CONTROLS = "".join(map(chr, range(33)))
_DOTS = "\0"  # Stands for each of several full stops in a row while words are looked at
_ABBREVIATIONS = """
    Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con Corp Cpl DR Dr Drs Ens Gen Gov Hon Hosp Hr Insp Lt MM
    MR MRS MS Maj Messrs Mlle Mme Mr Mrs Ms Msgr Nos Nr Op Ord Pfc Ph Prof Pvt Rep Reps Res Rev Rt Sen Sens Sfc Sgt Sr
    St Supt Surg rev v vs A B C D E F G H I J K L M N O P Q R S T U V W X Y Z
"""
ABBREVIATIONS = frozenset(_ABBREVIATIONS.split())  # English words that keep their full stop before a capital, too
_BEFORE_NUMBERS = frozenset(["Art", "No", "pp"])  # Those that keep it before a digit

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
    (f"([^{_LETTERS}])'([^{_LETTERS}])", r"\1 ' \2"),
    (f"([^{_LETTERS}0-9])'([{_LETTERS}])", r"\1 ' \2"),
    (f"([{_LETTERS}])'([^{_LETTERS}])", r"\1 ' \2"),
    (f"([{_LETTERS}])'([{_LETTERS}])", r"\1 '\2"),
    ("([0-9])'s", r"\1 's"),
)
_OTHER_SPACES = re.compile("[\xa0\u2000-\u200a\u202f\u205f\u3000]")
_HAS_LETTER = re.compile(f"[{_LETTERS}]")


@cache
def _compiled() -> list[tuple[re.Pattern[str], Any]]:
    """The steps, compiled when the first line comes: that takes some milliseconds."""
    return [(re.compile(pattern), made) for pattern, made in _STEPS]


def normalised(line: str) -> list[str]:
    """Words of a line of English.

    >>> normalised("The U.S.-led “state-of-the-art” thing (Dr. No’s) costs $3,000.50...")
    ['the', 'us', 'led', '"', 'state', 'of', 'the', 'art', '"', 'thing', '(', 'dr.', 'no', "'s", ')', 'costs', '$', \
'3,000.50', '...']
    """
    text = f" {line} "
    for pattern, made in _compiled():
        text = pattern.sub(made, text)
    words = [word for word in text.split(" ") if word]
    without_stops = [_without_stop(word, after) for word, after in pairwise([*words, ""])]
    text = " ".join(_acronym(word) for word in " ".join(without_stops).split(" "))
    # Other spaces were words until here: a full stop before one is that of a sentence.
    text = _OTHER_SPACES.sub(" ", text.replace(_DOTS, ".").lower()).strip(_CONTROLS)
    return [word for word in text.split(" ") if word]


def _without_stop(word: str, after: str) -> str:
    """Split the full stop from a word that ends a sentence."""
    before = word[:-1]
    if not before or word[-1] != ".":
        return word
    inside = "." in before and _HAS_LETTER.search(before)
    number = before in _BEFORE_NUMBERS and after[:1].isascii() and after[:1].isdigit()
    lower = after[:1].isascii() and after[:1].islower()
    return word if inside or number or lower or before in ABBREVIATIONS else f"{before} ."


def _acronym(word: str) -> str:
    """Take the full stops out of U.N. and the like."""
    acronym = word[-1:] == "." and word.count(".") > 1 and _HAS_LETTER.search(word)
    return word.replace(".", "") if acronym else word
