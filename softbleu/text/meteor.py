"""METEOR's data files (synonyms, paraphrases, abbreviations) and its text normalisation, `-norm`.

Normalised text is in lower case, with punctuation split off. The rules were found by running the program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from softbleu.config.languages import language_of_data
from softbleu.errors import InputError, MissingExtraError, Parameter
from softbleu.io.files import Content, package_folder
from softbleu.io.reading import read_bounded

PACKAGE = "pycocoevalcap"
NEED_DATA = ("synonym", "paraphrase")  # Stages that use the data
SYNONYMS, EXCEPTIONS = "synonym/english.synsets", "synonym/english.exceptions"
PARAPHRASES = ("data/paraphrase-en.gz", "paraphrase-en.gz")
_PREFIXES = "nonbreaking/*.prefixes"


class MeteorData(Content):
    """A folder with METEOR's data, or the package `pycocoevalcap`, which includes it.

    Raises `InputError` if the folder has no data or cannot be read, `MissingExtraError` if the package is missing.
    """

    @classmethod
    def files_of(cls, location: str) -> Sequence[Path]:
        """List the files of the folder or of the package."""
        return MeteorFiles.of(location).all


def needed_data(stages: Sequence[str], data: MeteorData | None) -> MeteorData | None:
    """Return `data`, or the package's data, if one of the stages needs it; otherwise None."""
    needed = any(stage in NEED_DATA for stage in stages)
    return (data or MeteorData.of(PACKAGE)) if needed else None


@dataclass(frozen=True)
class MeteorFiles:
    """METEOR's files: in a folder, or in the jar (a zip file) of that folder."""

    folder: Path
    jar: Path | None

    @classmethod
    def of(cls, location: str) -> MeteorFiles:
        """Find the files of a folder or of the package."""
        if location == PACKAGE:
            package = package_folder(PACKAGE)
            if package is None:
                raise MissingExtraError(
                    "METEOR's data is not installed: pip install '.[meteor]' in a clone, name its folder by ",
                    Parameter("meteor_data"),
                    ", or do without synonyms, paraphrases and its tokenizer",
                )
            folder = package / "meteor"
        else:
            folder = Path(location)
        if not folder.is_dir():
            raise InputError(
                f"{folder}: no folder of meteor data: name the one that has METEOR's jar, or a folder synonym"
            )
        files = cls(folder, next(iter(sorted(folder.glob("meteor-*.jar"))), None))
        if not files.all:
            raise InputError(
                f"{folder}: no meteor data: neither meteor-*.jar nor {SYNONYMS} nor {PARAPHRASES[0]} is there"
            )
        return files

    @property
    def all(self) -> list[Path]:
        """Files that are read."""
        paths = [self.folder / SYNONYMS, self.folder / EXCEPTIONS, self.paraphrases]
        paths += sorted(self.folder.glob(_PREFIXES))
        return [path for path in (self.jar, *paths) if path is not None and path.is_file()]

    @property
    def paraphrases(self) -> Path | None:
        """Path of the table of paraphrases."""
        return next((path for name in PARAPHRASES if (path := self.folder / name).is_file()), None)

    def lines(self, name: str) -> list[str]:
        """Return the lines of a file; none if it is missing."""
        import zlib
        from zipfile import BadZipFile, ZipFile

        path = self.folder / name
        try:
            if path.is_file():
                with path.open("rb") as stream:
                    content = read_bounded(stream, str(path))
            elif self.jar is not None:
                path = self.jar
                with ZipFile(self.jar) as jar, jar.open(name) as stream:
                    content = read_bounded(stream, f"{path}: {name}")
            else:
                return []
            return content.decode().removesuffix("\n").split("\n")
        except (OSError, BadZipFile, KeyError, UnicodeDecodeError, zlib.error, NotImplementedError) as error:
            raise InputError(f"{path}: {name} cannot be read ({error}): get the file again") from error

    def lists(self, name: str) -> dict[str, list[str]]:
        """Read a file whose every second line lists words that belong to the one above; empty if it is missing."""
        lines = self.lines(name)
        if len(lines) % 2:
            raise InputError(f"{self.folder}: {name} ends after {lines[-1][:40]!r}: get the file again")
        return {word: below.split() for word, below in zip(lines[::2], lines[1::2], strict=True)}


# Letters in the program's sense: Latin with most of its diacritics, Cyrillic, and little else.
_LETTERS = "A-Za-zÀ-ÖØ-öø-žЀ-ԧᴀ-ᵿꙀ-ꙮ꙾-ꚗ"
_CONTROLS = "".join(map(chr, range(33)))
_DOTS = "\0"  # Placeholder for each full stop of an ellipsis
# Applied in this order. Of two matches that overlap only the first is replaced.
_Step = tuple[str, str | Callable[[re.Match[str]], str]]  # What to find, and what to put there
_STEPS: tuple[_Step, ...] = (
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
_APOSTROPHES: dict[str, tuple[_Step, ...]] = {
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
"""Rules for apostrophes; in other languages an apostrophe is a token by itself."""
_OTHER_SPACES = re.compile("[\xa0\u2000-\u200a\u202f\u205f\u3000]")
_HAS_LETTER = re.compile(f"[{_LETTERS}]")


@dataclass(frozen=True)
class KeptStops:
    """Abbreviations that keep their full stop: always, or only before a digit."""

    always: frozenset[str] = frozenset()
    before_digits: frozenset[str] = frozenset()


@cache
def kept_stops(data: MeteorData, language: str) -> KeptStops:
    """Read the abbreviations of a language."""
    name = f"nonbreaking/{language_of_data(language).name.lower()}.prefixes"
    lines = MeteorFiles.of(data.location).lines(name)
    if not lines:
        raise InputError(f"{data.location}: {name} is missing, which the tokenizer meteor needs: name METEOR's jar")
    entries = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    numeric = frozenset(word for word, *more in entries if more == ["#NUMERIC_ONLY#"])
    return KeptStops(frozenset(word for word, *_ in entries) - numeric, numeric)


@cache
def _compiled(language: str) -> list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]]:
    """Compile the steps when they are first needed; that takes some milliseconds."""
    steps = (*_STEPS, *_APOSTROPHES.get(language, (("'", " ' "),)))
    return [(re.compile(pattern), made) for pattern, made in steps]


def normalised(line: str, language: str, stops: KeptStops) -> list[str]:
    """Normalise a line and split it into words.

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
    # Other spaces count as words until here: a full stop before one ends a sentence.
    text = _OTHER_SPACES.sub(" ", text.replace(_DOTS, ".").lower()).strip(_CONTROLS)
    return [word for word in text.split(" ") if word]


def _without_stop(word: str, after: str, stops: KeptStops) -> str:
    """Split the full stop off a word that ends a sentence."""
    before = word[:-1]
    if not before or word[-1] != ".":
        return word
    inside = "." in before and _HAS_LETTER.search(before)
    number = before in stops.before_digits and after[:1].isascii() and after[:1].isdigit()
    lower = after[:1].isascii() and after[:1].islower()
    return word if inside or number or lower or before in stops.always else f"{before} ."


def _acronym(word: str) -> str:
    """Remove the full stops of an acronym such as U.N."""
    acronym = word[-1:] == "." and word.count(".") > 1 and _HAS_LETTER.search(word)
    return word.replace(".", "") if acronym else word
