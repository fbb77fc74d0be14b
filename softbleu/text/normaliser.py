"""Text as METEOR's `-norm` was seen to make it: marks split off, quotes and hyphens made plain, lower case."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from string import ascii_letters, ascii_uppercase, digits
from typing import Any

# Letters, as the program has them: Latin with most of its marks, Cyrillic, and little else.
_LETTERS = "A-Za-zÀ-ÖØ-öø-žЀ-ԧᴀ-ᵿꙀ-ꙮ꙾-ꚗ"
_CONTROLS = "".join(map(chr, range(33)))
_DOTS = "\0"  # Stands for each of several full stops in a row while words are looked at
_TITLES = """
    Adj Adm Adv Asst Bart Bldg Brig Bros Capt Cmdr Col Comdr Con Corp Cpl DR Dr Ens Gen Gov Hon Hosp Insp Lt MM MR
    MRS MS Maj Messrs Mlle Mme Mr Mrs Ms Msgr Nos Nr Op Ord Pfc Ph Prof Pvt Rep Reps Res Rev Rt Sen Sens Sfc Sgt Sr
    St Supt Surg v vs
"""
_RUSSIAN_UNITS = "г га гг дм кг км л м мг мм см т"
_KEEP_STOPS = {
    "cs": "",
    "de": f"""
    {" ".join(ascii_letters)} {" ".join(map(str, range(1, 100)))} {_TITLES} I II III IV V VI VII VIII IX X XI XII
    XIII XIV XV XVI XVII XVIII XIX XX ii iii iv vi vii viii ix xi xii xiii xiv xv xvi xvii xviii xix xx Art BSE
    Buchst Ca Chr Co Dkr Ltd Mio Mrd MwSt No SA Std Zt bzgl bzw ca dergl dgl etc evtl ff ggf jun pp sen sog sogen spp
    usf usw vgl zzt
    """,
    "en": f"{' '.join(ascii_uppercase)} {_TITLES} Drs Hr rev",
    "es": f"""
    {" ".join(ascii_uppercase)} Apdo Av Bco Da Dep Dn Dr Dra Excmo Fil Gral Let Lic Prof Pts Rte Sr Sra Srta Sta Sto
    Tel Ud Uds Vd Vds adj admón afmo apdo av c cap cm cta dcha doc ej entlo esq etc gr grs izq kg km mg mm núm p ptas
    pág págs s vid vol
    """,
    "fr": f"""
    {" ".join(ascii_letters)} MM SS al ann apr art auj av boul ca cf chap contr dir env etc ex fasc fig fr fém hab
    ibid id inf lib masc ms pl pp sec sect sing sq sqq suiv sup suppl tél vb vol vs éd
    """,
    "ru": f"""
    {" ".join(ascii_uppercase)} {" ".join(d + unit for d in digits for unit in _RUSSIAN_UNITS.split())}
    {" ".join(d + unit for d in "CILMVX" for unit in ("в", "вв"))} Исп Тел бульв в вв г га гг гл гос д дм доп др е ед
    зам и инд исп к кап кв кг кл км кол комн коп куб л лиц лл м макс мг мин мл млн млрд мм н наб нач неуд ном обл обр
    общ ок ост отл п пер перераб пл пос пр просп проф р ред руб с сб св см соч ср ст стр т тел тех тт туп тыс уд ул
    уч физ х хор ч чел шт экз э
    """,
}
_BEFORE_NUMBERS = frozenset(["Art", "No", "pp"])  # English words that keep it before a digit only

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


@cache
def kept_stops(language: str) -> frozenset[str]:
    """Words that keep their full stop before a capital, too."""
    return frozenset(_KEEP_STOPS[language].split())


@cache
def _compiled(language: str) -> list[tuple[re.Pattern[str], Any]]:
    """The steps, compiled when the first line comes: that takes some milliseconds."""
    steps = (*_STEPS, *_APOSTROPHES.get(language, (("'", " ' "),)))
    return [(re.compile(pattern), made) for pattern, made in steps]


def normalised(line: str, language: str = "en") -> list[str]:
    """Words of a line.

    >>> normalised("The U.S.-led “state-of-the-art” thing (Dr. No’s) costs $3,000.50...")
    ['the', 'us', 'led', '"', 'state', 'of', 'the', 'art', '"', 'thing', '(', 'dr.', 'no', "'s", ')', 'costs', '$', \
'3,000.50', '...']
    >>> " ".join(normalised("L’été, c’est le 3. M. Dupont", "fr")), " ".join(normalised("Am 3. Mai usw.", "de"))
    ("l' été , c' est le 3 . m. dupont", 'am 3. mai usw.')
    """
    text = f" {line} "
    for pattern, made in _compiled(language):
        text = pattern.sub(made, text)
    words = [word for word in text.split(" ") if word]
    without_stops = [_without_stop(word, after, language) for word, after in pairwise([*words, ""])]
    text = " ".join(_acronym(word) for word in " ".join(without_stops).split(" "))
    # Other spaces were words until here: a full stop before one is that of a sentence.
    text = _OTHER_SPACES.sub(" ", text.replace(_DOTS, ".").lower()).strip(_CONTROLS)
    return [word for word in text.split(" ") if word]


def _without_stop(word: str, after: str, language: str) -> str:
    """Split the full stop from a word that ends a sentence."""
    before = word[:-1]
    if not before or word[-1] != ".":
        return word
    inside = "." in before and _HAS_LETTER.search(before)
    number = language == "en" and before in _BEFORE_NUMBERS and after[:1].isascii() and after[:1].isdigit()
    lower = after[:1].isascii() and after[:1].islower()
    return word if inside or number or lower or before in kept_stops(language) else f"{before} ."


def _acronym(word: str) -> str:
    """Take the full stops out of U.N. and the like."""
    acronym = word[-1:] == "." and word.count(".") > 1 and _HAS_LETTER.search(word)
    return word.replace(".", "") if acronym else word
