"""The one map of languages: their codes as programs write them, and the tokenizer, stems and similarity of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from softbleu.errors import InputError, Parameter
from softbleu.io.progress import note

UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff"
"""Scripts whose words have no blanks between them, for a class of a regular expression: Thai, Lao, Burmese, Khmer,
Japanese, Chinese."""


def is_unspaced(text: str) -> bool:
    """Tell whether most of a text is in scripts without blanks between words."""
    return not text.isascii() and 2 * len(re.findall(f"[{UNSPACED}]", text)) > len(text)


@dataclass(frozen=True)
class Language:
    """A language, by its code of BCP 47, and its resources."""

    code: str
    name: str
    tokenize: str | None = None  # Name of its tokenizer; None: words stand between blanks, and any will do
    stemmer: str | None = None  # Name of its algorithm in snowballstemmer

    @property
    def similarity(self) -> str:
        """Similarity of words without vectors, unless settings name one."""
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
"""Languages with settings, by their codes."""
UNSPACED_LANGUAGES = ("ja", "km", "lo", "lzh", "my", "th", "wuu", "yue", "zh")
"""Languages without blanks between words, also those whose scores have no tokenizer of their own."""
_COUNTRIES = {"cn": "zh", "cz": "cs", "dk": "da", "gr": "el", "jp": "ja", "ua": "uk", "vn": "vi"}
"""Codes of countries that are no codes of languages, and their languages, for which some programs take them."""
_LOCALE = re.compile(r"(?P<tag>[A-Za-z_]+)(?:\.[\w-]+)?(?:@\w+)?", re.ASCII)  # Of POSIX: cs_CZ.UTF-8
_BETWEEN = re.compile(
    r"\s*(?:[-=]*>|[\u2192:,;/|+\s]|(?<=[a-zA-Z])2(?=[a-zA-Z])|(?<=[a-zA-Z])[-_]to[-_](?=[a-zA-Z]))\s*"
)
"""Signs that stand between two languages, and in no tag."""
_WORDS = re.compile(r"([A-Za-z0-9]+)")
_MOST_WORDS, _LONGEST = 12, 200  # Words and characters of a name that are looked at; more would take long


@dataclass(frozen=True, order=True)
class _Reading:
    """A language or a pair that a text may name: the less speaks against it, the earlier it is sorted."""

    cases: int  # Regions in small letters and languages in capitals, in a text that has both
    lengths: bool  # Only one of the two languages has three letters
    odd: int  # Regions that are languages, too, unless the language prevails there; English does in too many
    pair: bool
    size: int  # Less than 0: the more words are read, the better
    joined: bool  # What stands between the languages also stands within one
    underscore: bool
    start: int  # Less than 0: prefixes are commoner than suffixes
    tags: tuple[tuple[str, ...], ...]  # Of the language, or of source and target


def find_language(tag: str) -> Language:
    """Find the language of a text by a code of ISO 639, BCP 47, POSIX or FLORES; for a pair its target.

    Notes say where nothing is known of the language, and where a pair might be a language of a region.

    >>> [find_language(tag).code for tag in ("de-AT", "zho_Hans", "cmn", "cs_CZ.UTF-8", "eng-jpn", "en-pt_BR", "isl")]
    ['de', 'zh', 'zh', 'cs', 'ja', 'pt', 'is']
    """
    language, readings = _found(tag)
    if readings and (readings[0].pair or not _LOCALE.fullmatch(tag)):
        _note_doubt(tag, readings, in_pairs=False)
    if language.code not in LANGUAGES:
        note(f"no settings for language {language.code!r}; using the language-independent defaults")
    return language


def language_of_data(tag: str) -> Language:
    """Find the language of stems, lemmas, vectors and the like as `find_language` does, without notes."""
    return _found(tag)[0]


def _found(tag: str) -> tuple[Language, Sequence[_Reading]]:
    if isinstance(tag, str) and tag in LANGUAGES:
        return LANGUAGES[tag], ()
    text = tag.strip() if isinstance(tag, str) else ""
    locale = _LOCALE.fullmatch(text)
    readings = _readings(locale["tag"] if locale else text)
    if readings:
        return _language(readings[0].tags[-1]), readings
    unknown = re.match(r"[A-Za-z]{2,3}(?![^-_])", text)
    if unknown is None or _tag((unknown[0],)) is not None:
        named = next(
            (known.code for known in LANGUAGES.values() if known.name.lower() == text.lower()), "cs, de or zh"
        )
        said = f" must be a code of ISO 639 or BCP 47, such as {named}, not {str(tag)[:60]!r}"
        raise InputError(Parameter("language"), said)
    code = unknown[0].lower()
    return Language(code, code), ()


def target_language(name: str) -> Language | None:
    """Find the target language in the name of a direction, such as ``wmt24_en-cs``; None where it names none.

    >>> [target_language(name).code for name in ("wmt24_en-zh", "en2cs", "ces-zho_Hans")], target_language("test")
    (['zh', 'cs', 'zh'], None)
    """
    readings = [
        one
        for one in _readings(name, anywhere=True)
        if one.pair or len(one.tags[-1]) > 1 or _language(one.tags[-1]).code in LANGUAGES
    ]
    if not readings:
        return None
    _note_doubt(name, readings, in_pairs=True)
    return _language(readings[0].tags[-1])


def find_direction(name: str, names: Iterable[str]) -> str | None:
    """Find a direction among the names of a file: of this name, or the only one of the same languages.

    >>> find_direction("eng-zho_Hans", ["en-cs", "en-zh_CN"]), find_direction("en-zh", ["en-zh_CN", "en-zh_TW"])
    ('en-zh_CN', None)
    """
    there = dict.fromkeys(names)
    same = [other for other in there if (pair := _pair(other)) is not None and pair == _pair(name)]
    return name if name in there else same[0] if len(same) == 1 else None


def _pair(name: str) -> tuple[str, str] | None:
    """Codes of the languages of a direction."""
    readings = _readings(name, anywhere=True)
    if not readings or not readings[0].pair:
        return None
    source, target = (_language(tag).code for tag in readings[0].tags)
    return source, target


def _note_doubt(text: str, readings: Sequence[_Reading], *, in_pairs: bool) -> None:
    """Note where a text that is read as a pair could be a language of a region, or the other way round."""
    best = readings[0]
    other = next((one for one in readings if one.pair != best.pair and one.size == best.size), None)
    if other is None or (in_pairs and best.pair) or _language(other.tags[-1]) == _language(best.tags[-1]):
        return
    single, pair = (other, best) if best.pair else (best, other)
    spoken, region, target = _language(single.tags[-1]), single.tags[0][-1].upper(), _language(pair.tags[-1])
    alone = f"{spoken.name} of region {region}"
    if best.pair:
        note(
            f"{text!r} is read as a pair, into {target.name}: write {single.tags[0][0].lower()}-{region} for {alone}"
        )
    elif target.code in LANGUAGES and (_prevailing(region) == target.code or (in_pairs and not other.cases)):
        import langcodes

        codes = "-".join(langcodes.Language.get(part.code).to_alpha3() for part in (spoken, target))
        note(f"{text!r} is read as {alone}: write {codes} for a pair, into {target.name}")


@cache
def _readings(text: str, *, anywhere: bool = False) -> list[_Reading]:
    """Read a text as a language and as a pair of languages, the likeliest first; `anywhere`: pairs within it, too."""
    if len(text) > _LONGEST:
        return []
    marked = _BETWEEN.sub(">", text.strip().translate(dict.fromkeys(map(ord, "\u2010\u2011\u2013\u2014\u2212"), "-")))
    rest, *found = _WORDS.split(marked)
    words, signs = found[::2], found[1::2]
    if not anywhere and (rest or signs[-1:] != [""] or any({*sign} - {*"-_>"} for sign in signs)):
        return []
    count = len(words) if len(words) <= _MOST_WORDS else 0
    spans = [(start, stop) for start in range(count) for stop in range(start + 1, count + 1)] if anywhere else []
    readings = [
        reading
        for start, stop in spans or [(0, count)] * bool(count)
        for reading in _read(words[start:stop], signs[start : stop - 1], start)
        if reading.pair or stop - start == len(words)
    ]
    return sorted(readings)


def _read(words: Sequence[str], signs: Sequence[str], start: int) -> Iterator[_Reading]:
    """Read all of some words, with the signs between them, as a language, and as a pair cut at each place."""
    cased = any(map(str.isupper, words)) and any(map(str.islower, words))
    for cut in range(len(words)):
        parts = [tuple(part) for part in (words[:cut], words[cut:]) if part]
        tags = [_tag(part) for part in parts]
        if None in tags or any(">" in sign for place, sign in enumerate(signs, 1) if place != cut):
            continue
        regions = [(part[0], part[-1]) for part in parts if len(part) > 1 and len(part[-1]) == 2]
        cases = sum(region.islower() for _, region in regions) + sum(part[0].isupper() for part in parts)
        yield _Reading(
            cases=cased * cases,
            lengths=len({len(part[0]) for part in parts}) > 1,
            odd=sum(_is_odd(*each) for each in regions),
            pair=cut > 0,
            size=-len(words),
            joined=cut > 0 and signs.count(signs[cut - 1]) > 1,
            underscore=cut > 0 and "_" in signs[cut - 1],
            start=-start,
            tags=tuple(parts),
        )


def _is_odd(language: str, region: str) -> bool:
    spoken, other = _language((language,)).code, _tag((region,))
    # Two letters that stand for two others were given up: in is India.
    is_language = other is not None and (other == region.lower() or len(other) > 2 or region.lower() in _COUNTRIES)
    return is_language and (spoken == "en" or _prevailing(region) != spoken)


@cache
def _prevailing(region: str) -> str:
    """Code of the language that prevails in a region, after CLDR."""
    import langcodes

    return _language((langcodes.Language.make(territory=region.upper()).maximize().language or "und",)).code


@cache
def _tag(words: tuple[str, ...]) -> str | None:
    """Tag of BCP 47 that words make: a language, maybe with script, region and more; None where they make none."""
    import langcodes

    first = _COUNTRIES.get(words[0].lower(), words[0])
    region = words[-1] if len(words) > 1 and len(words[-1]) == 2 else ""
    try:
        found = langcodes.Language.get("-".join((first, *words[1:])))
        area = langcodes.Language.get(f"und-{region or '001'}")
    except ValueError:
        return None
    # In small letters a region that is not one today, or anybody's own, is a language: cs is Czech.
    current = not region.islower() or (area.territory == region.upper() and not re.match("[xq](?!k)|aa|zz", region))
    valid = found.is_valid() and found.extlangs is None and found.language and len(words[0]) in (2, 3)
    return found.to_tag() if valid and current else None


@cache
def _language(words: tuple[str, ...]) -> Language:
    """Language of a tag; one that is part of another, for which alone there are settings, is that one."""
    import langcodes
    from langcodes.data_dicts import MACROLANGUAGES

    found = langcodes.Language.get(_tag(words) or "und")
    code = str(found.language)
    whole: str = code if code in LANGUAGES else MACROLANGUAGES.get(code, "")
    if whole not in LANGUAGES:
        whole = str(found.prefer_macrolanguage().language)
    known = LANGUAGES.get(whole, Language(whole, whole))
    # In Latin letters words have blanks between them in any language.
    return replace(known, tokenize=None) if found.script == "Latn" else known
