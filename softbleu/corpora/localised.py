"""Parts of a text that localisation keeps: placeholders, numbers, pairs of marks, the last mark, blanks, terms."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from rapidfuzz.distance import OSA

from softbleu.config.languages import UNSPACED, is_unspaced
from softbleu.errors import InputError

_PLACEHOLDER = re.compile(
    r"%%|(?<![\d%])%(?:\(\w+\)|\d+\$)?[-+#0]*\d*(?:\.\d+)?(?:hh?|ll?|[zjtL])?(?:[diufs@]|[oxXeEFgGcp](?![a-zA-Z]))"
    r"|[$%#]?\{\{?\s*[#/^&]?[A-Za-z0-9_.$-]*(?:[:!][^{}\s]*)?\s*\}\}?|%[A-Za-z]\w*%"
    r"|\{\s*\w+\s*,\s*(?:plural|select|selectordinal|number|date|time)\b"
    r"|</?[a-zA-Z\d][\w:.-]*(?:\s[^<>]*)?/?>|\\[nrt]|\\u[\da-fA-F]{4}|\\(?=[\"'])|&(?!amp;)[a-zA-Z]\w{1,7};|&#\w+;"
    r"|\*\*|(?<!\w)__(?=\w)|(?<=\w)__(?!\w)|~~|`[^`\n]+`|\]\("
)
_READ = r"\s(?:title|alt|placeholder|aria-label)=(?:\"[^\"]*\"|'[^']*')"  # Attributes that people read
_ADDRESS = re.compile(
    r"(?:https?://|www\.(?=[\w-]+\.\w))[^\s<>\"“”«»()（）\u3000-\u303f\uff00-\uffef]+|(?<![@\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
)
_GROUPED = re.compile(r"(?<![A-Za-z\d])\d{1,3}(?:[ \xa0\u2009\u202f'’]\d{3}(?!\d))+(?:[.,\u066b]\d+)?")
_NUMBER = re.compile(r"(?<![A-Za-z\d])(?<![A-Za-z]-)\d+(?:[.,\u066b\u066c]\d+)*")
_CONVERTED = re.compile(
    r"(?<![\d.,])(?:\d{1,2}(?=\s?[月日号號時时点點월일시])|\d+[/-]\d+[/-]\d+|\d{1,2}\. ?\d{1,2}\. ?\d{2,4}"
    r"|\d{1,2}(?:[:\uff1a]\d\d)+|\d{1,2}[.h]\d\d (?:Uhr|h\b)|\d{1,2}(?:[.h]\d\d)? ?[ap]\.?m\b"
    r"|(?i:\d+(?:[.,-]\d+)*[ -]?(?:miles?|mph|feet|foot|ft|inch(?:es)?|yards?|yd|pounds?|lbs?|ounces?|oz|acres?"
    r"|gallons?|°f|degrees|里|斤|亩)(?!\w)))"
)
"""Dates, times of the day and units of some countries, for which translations may have other numbers."""
_MAGNITUDE = re.compile(
    r"(?i)\d[\s\xa0-]?(?:[万萬亿億兆千百십백천만억]|लाख|करोड़|हज|अरब|सौ|ألف|آلاف|ملي|مليار"
    r"|(?:thous|hundr|milli|mili|bill?i|tril|tis|mil|mio|mld|mrd|mln|tau|duiz|тыс|млн|млрд|мил|тис|bn|[kmb]\b))"
)
_UNITS = r"%|‰|°[CF]?|[kcmµn]?m[²³]?|km/h|[kmµ]?g|[mc]?l|[kMGT]i?B|[kMG]?Hz|[kM]?Wh?|[km]?V|mAh|px|pt|kcal|[€$£¥₹]"
_MEASURED = re.compile(
    rf"(?P<currency>[€$£¥₹])\s?(?P<amount>\d+(?:[.,]\d+)*)"
    rf"|(?<![\w.,])(?P<number>\d+(?:[.,]\d+)*)[ \xa0\u202f-]?(?P<unit>{_UNITS})(?![\w²³/])"
)
_BARE = re.compile(r"\s*(?:[.,;:!?)\]}。，！？।]|$)")
_BEFORE = re.compile(rf"[%€$£¥₹{UNSPACED}]\s?$")
_NOT_PAIRED = re.compile(r"[:;=8][-']?[()\[\]]+|(?<=\d)\"|(?<=\w)\"(?=\w)|->|<-")  # Faces, inches, Hebrew, arrows
_PAIRED = re.compile(r"</|[()\[\]{}【】《》（）［］\"“”„‟«»「」『』`]")
_BRACKET = re.compile(r"[()\[\]{}【】《》]")
_LEFT = {")": "(", "]": "[", "}": "{", "】": "【", "》": "《"}
_NUMBERED = re.compile(r"(?:^|\s)\w{1,3}$")  # Before the bracket of `a)`
_SENTENCE = re.compile(r"[.?!…।۔][\"'”’»)]*\s+(?=\S)|[。！？](?=.)")  # Ends of sentences before others
_ASCII = {0xFF08: "(", 0xFF09: ")", 0xFF3B: "[", 0xFF3D: "]", 0xFF1A: ":", 0xFF1B: ";"}
_ALONE = ("br", "hr", "img", "p", "li", "input")  # Tags that need no end
_TAG = re.compile(r"<(/?)([a-zA-Z\d][\w:.-]*)(?:\s[^<>]*)?(/?)>")
_AFTER_END = re.compile(
    r"(?:[\s\"'“”„«»‹›‘’)\]}）」』】》〉*_~`]|<[^<>]*>|[\u200b-\u200f\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])+$"
)
_QUESTIONS, _STOPS = "?？؟\u037e՞፧⁇", ".。।॥۔։．｡!！…‥።។။᠃"
_ENDING = re.compile(rf"[{_QUESTIONS}{_STOPS}]+$")
_ABBREVIATION = re.compile(r"(?:\b\w\.){2,}$|\b(?:Inc|Ltd|Co|Corp|Jr|Sr|etc|St|No|vs|Mr|Dr)\.$")
_UNSTOPPED = re.compile("[\u0e00-\u0eff]")  # Thai and Lao have no full stop
_SOURCE_END = r"(?:['’]?s|e[nrsm]?|[aiuynm])?(?!\w)"
_AGAIN = re.compile(r"(?<![\w-])([^\W\d_]{2,}) (?=(\1)\b)", re.IGNORECASE)
_TWICE = (
    "had that se si ti mi ho je by nous vous sie die der das den dem ihr dat haar ha he hi ho bye no very so blah "
    "tak ten то что не да ну"
)
"""Words that may stand twice without a mark between them, as in `je se se mnou`, `nous nous levons`, `had had`."""
_DOUBLING = {"hi", "id", "ms", "jv", "su", "tl", "fil", "tr", "az", "uz", "kk", "ky", "sw", "yo", "ig", "af", "ha"}
"""Languages whose grammar doubles words; others in their scripts (India, Southeast Asia) are never looked at."""
DECIMAL_COMMA = (
    "af agq ast az bas be bg blo br bs ca cs cv da de dsb dua dyo el eo es et eu ewo ff fi fo fr fy gl hr hsb ht hu "
    "hy ia id ie is it jgo jv ka kab kea kgp kk kkj kl ksf ku ky lb lij lld ln lo lt lu lv mgh mk mua nb nl nmg nn "
    "nnh no nr pl ps pt rn ro ru rw sah sc se seh sg shi sk sl smn sq sr ss su sv tg tk tok tr ts tt tzm uk uz ve "
    "vec vi wo yav yrl zgh"
)
"""Languages that write 1.234,56 or 1 234,56: all with a decimal comma in the CLDR of Unicode."""


def placeholders(text: str) -> list[str]:
    r"""Return the parts of a text for programs: placeholders, format specifiers, tags, escapes, marks of Markdown.

    >>> placeholders(r"**Delete** {count} of %1$s&nbsp;\n<br />")
    ['**', '**', '{count}', '%s', '&nbsp;', '\\n', '<br/>']
    """
    if not any(mark in text for mark in "%{<\\*_~`]&"):
        return []
    return [re.sub(rf"{_READ}|[\s\"']|(?<=%)\d+\$", "", match[0]) for match in _PLACEHOLDER.finditer(text)]


def swapped(text: str, models: Sequence[str]) -> str | None:
    """Return parts for programs that stand in the places of others: `%d %s` for `%s %d`, or in a reference's text.

    Named and numbered parts may change places with their words, so that only a text that is else the same tells.

    >>> swapped("%d von %s", ["%s of %d"]), swapped("{b}s {a}", ["{a} of {b}"])
    ('%d %s', None)
    """
    parts, others = placeholders(text), list(map(placeholders, models))
    if len(parts) < 2 or any(sorted(parts) != sorted(other) for other in others):
        return None
    numbered = any(re.search(r"%\d+\$", each) for each in (text, *models))
    printed = [part for part in parts if re.fullmatch(r"%[^%()]*\w", part)]
    fixed = [[part for part in other if part in printed] for other in others]
    if not numbered and len({*printed}) > 1 and all(other != printed for other in fixed):
        return " ".join(printed)
    plain = _PLACEHOLDER.sub("\0", text)
    same = [
        other != parts for other, model in zip(others, models, strict=True) if _PLACEHOLDER.sub("\0", model) == plain
    ]
    return " ".join(parts) if same and all(same) else None


def addresses(text: str) -> set[str]:
    """Return links and e-mail addresses, without the marks of a sentence at their ends.

    >>> sorted(addresses("See https://a.example/b, or write to me@a.example."))
    ['https://a.example/b', 'me@a.example']
    """
    return {found.rstrip(".,;:!?'*_`") for found in _ADDRESS.findall(text)} if "@" in text or "." in text else set()


def unbalanced(text: str) -> set[str]:
    """Return brackets, quotation marks and tags of a text without their other half.

    Quotations of several sentences may begin or end in other lines, and are left out.

    >>> unbalanced("(see „here“"), unbalanced("</b>now<b> :)") == {"<b>", "</b>"}, unbalanced('a) 5" of «tea» (or b)')
    ({'('}, True, set())
    """
    if not _PAIRED.search(text):
        return set()
    found, open_tags = set[str](), list[str]()
    for closing, name, empty in _TAG.findall(text) if "</" in text else ():
        if closing and open_tags and open_tags[-1] == name:
            open_tags.pop()
        elif closing:
            found.add(f"</{name}>")
        elif not empty and name not in _ALONE:
            open_tags.append(name)
    found.update(f"<{name}>" for name in open_tags)
    plain = _NOT_PAIRED.sub(" ", _TAG.sub(" ", text).translate(_ASCII))
    depths = Counter[str]()
    for match in _BRACKET.finditer(plain):
        mark, left = match[0], _LEFT.get(match[0], match[0])
        if mark == left or depths[left]:
            depths[left] += 1 if mark == left else -1
        elif not _NUMBERED.search(plain[: match.start()]):
            found.add(mark)
    found.update(+depths)
    paired = (('"', '"“”„‟«»「」『』'), ("`", "`")) if not _SENTENCE.search(text) else ()
    found.update(name for name, marks in paired if sum(map(plain.count, marks)) % 2)
    return found


def blanks(text: str) -> set[str]:
    r"""Find blanks before and behind a text.

    >>> sorted(blanks(" The cat ")), blanks("The cat\\r"), blanks(" ")
    (['a blank at its beginning', 'a blank at its end'], set(), set())
    """
    line = text.rstrip("\r\n")
    found = {"a blank at its beginning": line[:1].isspace(), "a blank at its end": line[-1:].isspace()}
    return {name for name, is_so in found.items() if is_so and line.strip()}


def doubled(text: str, language: str = "") -> str | None:
    """Return a word that stands twice, of the scripts whose languages do not double words by their grammar.

    >>> doubled("Open the the file."), doubled("Je se se mnou."), doubled("धीरे धीरे")
    ('the the', None, None)
    """
    for match in _AGAIN.finditer(text) if language not in _DOUBLING else ():
        script = unicodedata.name(match[1][0], "?").partition(" ")[0]
        capital = match[1][0].isupper() and match[2][0].isupper()  # A name, such as Duran Duran
        if script in ("LATIN", "CYRILLIC", "GREEK") and match[1].lower() not in _TWICE.split() and not capital:
            return f"{match[1]} {match[2]}"
    return None


def ending(text: str) -> str | None:
    """Tell how a text ends: with a question (?), another mark (.), a letter ("") or, as nothing can be said, None.

    Nothing is said of abbreviations and titles, of quotations, which move to other places, and of running text of
    three sentences or more, which may break off or go on.

    >>> [ending(text) for text in ("Come on and go!", "Wirklich so?", "मैं घर आया।", "Save the file", "of Acme Inc.")]
    ['.', '?', '.', '', None]
    """
    rest = _AFTER_END.sub("", text)
    if len(_SENTENCE.findall(text)) > 1 or re.search("[\"'“”„«»’」]", text[len(rest) :]):
        return None
    if match := _ENDING.search(rest):
        asks = any(mark in match[0] for mark in _QUESTIONS)
        abbreviated = _ABBREVIATION.search(rest) or (match[0] == "." and len(text.split()) < 3)
        return "?" if asks else None if abbreviated else "."
    if rest.endswith(";") and re.search("[\u0370-\u03ff]", rest):
        return "?"
    lettered = rest and unicodedata.category(rest[-1])[0] in "LM"
    return "" if lettered and not _UNSTOPPED.match(rest[-1]) else None


@lru_cache(maxsize=1 << 12)
def _with_digits(text: str) -> str:
    """Write the digits of all scripts in ASCII, and leave addresses out; empty without digits.

    >>> _with_digits("१२ of https://a.example/1")
    '12 of  '
    """
    if not any(map(str.isdecimal, text)):
        return ""
    plain = re.sub(r"(?![0-9])\d", lambda digit: str(unicodedata.digit(digit[0])), text)
    return _ADDRESS.sub(" ", plain)


def _values(number: str) -> Iterator[str]:
    """Yield the values that a number may have, by its separators: 1,250 is 1250 or 1.25, and 1 250 is 1250.

    >>> [sorted(_values(number)) for number in ("1.234,56", "1,250", "1,00,000", "1.2.3", "2.50")]
    [['1234.56'], ['1.25', '1250'], ['100000'], ['1.2.3'], ['2.5']]
    """
    number = re.sub(r"[^\d.,\u066b\u066c]", "", number)
    separators = re.sub(r"\d", "", number)
    whole, _, rest = re.sub(r"[^\d]", ".", number).rpartition(".")
    groups = re.split(r"\D", number)
    digits = re.sub(r"\D", "", number)
    repeated = len(separators) > 1 and len({*separators}) == 1
    if separators and not repeated:
        yield f"{int(whole.replace('.', '') or 0)}.{rest}".rstrip("0").rstrip(".")
    if repeated and any(len(group) not in (2, 3) for group in groups[1:]):
        yield number  # A version
    elif not separators or repeated or (len(separators) == 1 and len(rest) == 3):
        yield str(int(digits))


def changed_numbers(text: str, inputs: Sequence[str], *, alone: bool) -> str | None:
    """Return a number that all inputs have, and the one that a text has in its place; `alone`: there is but a source.

    A translation may write numbers as words, so a number is only wrong if another one is there that no input has. If
    there is but a source, this must look like it, but for one digit or the order of two. A number of one digit is
    often a word elsewhere, so that it tells only if a text has no other.

    >>> changed_numbers("1.350 Zimmer", ["1,250 rooms"], alone=True), changed_numbers("8 km", ["5 miles"], alone=True)
    ('1,250 became 1.350', None)
    """
    here, *beside = map(_with_digits, (text, *inputs))
    if not here or not all(beside):
        return None
    scaled = any(map(_MAGNITUDE.search, (text, *inputs)))

    def values(number: str) -> set[str]:
        known = {*_values(number)}
        return known | {f"~{value.replace('.', '').strip('0')}" for value in known if scaled}

    def all_values(line: str) -> set[str]:
        every = [*_GROUPED.findall(line), *_NUMBER.findall(line), *re.findall(r"\d+(?:[.,]\d+)*", line)]
        return {value for number in every for value in values(number)}

    own, others = all_values(here), list(map(all_values, beside))
    lost = [one for one in _own_numbers(beside[0]) if own.isdisjoint(values(one))]
    lost = [one for one in lost if all(not other.isdisjoint(values(one)) for other in others)]
    added = [one for one in _own_numbers(here) if set().union(*others).isdisjoint(values(one))]
    single = all(len(re.findall(r"\d+", line)) == 1 for line in (here, *beside))
    for one in lost:
        for other in added:
            digits = [re.sub(r"\D", "", number) for number in (one, other)]
            if not alone or ((single or min(map(len, digits)) > 1) and OSA.distance(*digits) < 2):
                return f"{one} became {other}"
    return None


def _own_numbers(text: str) -> list[str]:
    """Return the numbers of a text that a translation does not convert."""
    return _NUMBER.findall(_GROUPED.sub(lambda match: re.sub(r"[^\d.,]", "", match[0]), _CONVERTED.sub(" ", text)))


def wrong_separators(text: str, references: Sequence[str], language: str = "") -> str | None:
    """Return a number that has point and comma the other way round than its language, or all references, have them.

    A point before other than three digits may belong to a version, so it counts before a unit or behind a comma only.

    >>> [wrong_separators(text, [], "de") for text in ("1,234.56 Euro", "1.5 km", "Qt 6.2")]
    ['1,234.56', '1.5', None]
    """
    marks = ",." if language in DECIMAL_COMMA.split() else ".,"
    swapped_mark = {".": ",", ",": "."}
    amounts = {each["number"] or each["amount"] for each in _MEASURED.finditer(text)}
    for match in _NUMBER.finditer(text):
        number = match[0]
        separators = re.sub(r"\d", "", number)
        if not separators or not {*separators} <= {*".,"}:
            continue
        models = [
            [other for other in _NUMBER.findall(each) if re.sub(r"\D", "", number) == re.sub(r"\D", "", other)]
            for each in references
        ]
        others = {re.sub(r"[^.,]", "", other)[-1:] for row in models for other in row}
        if models and all(models) and others == {swapped_mark[separators[-1]]}:
            return number
        groups = re.split(r"\D", number)[1:]
        decimal = len({*separators}) == 2 and separators[-1] != marks[0]
        grouped = len(groups) > 1 and {*separators} == {marks[0]} and {*map(len, groups)} == {3}
        measured = separators == marks[1] and len(groups[0]) != 3 and number in amounts
        if language and (decimal or grouped or measured):
            return number
    return None


def lost_unit(text: str, source: str) -> str | None:
    """Return a number with the unit of a source, if the text has the number and neither unit nor word beside it.

    >>> lost_unit("Der Weg hat 5.", "The way has 5 km."), lost_unit("5 Kilometer", "5 km"), lost_unit("5公里", "5 km")
    ('5 km', None, None)
    """
    for match in _MEASURED.finditer(source):
        number, unit = match["number"] or match["amount"], match["unit"] or match["currency"]
        places = [each for each in _NUMBER.finditer(text) if not {*_values(each[0])}.isdisjoint(_values(number))]
        bare = all(_BARE.match(text, each.end()) and not _BEFORE.search(text[: each.start()]) for each in places)
        if places and bare and unit not in text:
            return match[0]
    return None


def broken_terms(text: str, source: str, terms: Mapping[str, Sequence[str]]) -> str | None:
    """Return the terms of a glossary that a source has, and none of whose translations a text has.

    The source may have a term in another case, or with the ending of a plural or a case. A translation is there if
    each of its words is, or one that begins as it does: endings are inflected, so that two thirds of the letters
    are compared, three or more, without accents.

    >>> terms = {"file": ["Datei", "Akte"], "cat": ["kočka"]}
    >>> broken_terms("Zwei Ordner", "Two Files", terms), broken_terms("Die Akten", "Files, filets", terms)
    ('file: Datei|Akte', None)
    >>> broken_terms("O kočce.", "About the cat.", terms)
    """
    if not terms:
        return None
    plain = _without_accents(text)

    def is_kept(target: str) -> bool:
        words = _without_accents(target).split()
        return all(
            re.search(_begins(word if is_unspaced(word) else word[: max(3, 2 * len(word) // 3)]), plain)
            for word in words
        )

    found = [
        f"{term}: {'|'.join(targets)}"
        for term, targets in terms.items()
        if re.search(_begins(term, _SOURCE_END), source, 0 if term.isupper() else re.IGNORECASE)
        and not any(map(is_kept, targets))
    ]
    return ", ".join(found) or None


def _without_accents(text: str) -> str:
    letters = unicodedata.normalize("NFD", text.casefold())
    return "".join(char for char in letters if unicodedata.category(char) != "Mn" or char > "\u036f")


def _begins(text: str, end: str = "") -> str:
    """Make a pattern of a text at the beginning of a word, or anywhere in scripts without blanks."""
    return re.escape(text) if is_unspaced(text) else rf"(?<!\w){re.escape(text)}{end}"


def read_terms(lines: Iterable[str], name: str) -> dict[str, list[str]]:
    r"""Read a glossary: lines `source term TAB target term`, with `|` between allowed targets, by source term.

    Raises `InputError`: a line has other columns or an empty one, or the glossary has no line.

    >>> read_terms(["file\tDatei|Akte", ""], "terms.tsv")
    {'file': ['Datei', 'Akte']}
    """
    terms: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        term, *columns = map(str.strip, line.split("\t"))
        targets = [target for target in map(str.strip, "".join(columns[:1]).split("|")) if target]
        if term and targets and len(columns) == 1:
            terms.setdefault(term, []).extend(targets)
        elif line.strip():
            raise InputError(f"{name}, line {number}: no term and translation: write source term TAB target term")
    if not terms:
        raise InputError(f"{name}: a glossary without terms: write lines of source term TAB target term")
    return terms
