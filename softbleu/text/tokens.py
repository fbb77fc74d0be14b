"""Text as tokens: tokenizers, which split lines into words; words as integer codes, and what is known of them."""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain, islice, pairwise
from operator import add
from pathlib import Path
from string import punctuation
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, Self
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from softbleu.config.declare import Declared, Registry, Setting, setting
from softbleu.config.languages import UNSPACED, find_language
from softbleu.errors import InputError, MissingExtraError, SoftbleuError, optional
from softbleu.io.files import Content
from softbleu.io.platform import cached_property, sacrebleu_tokenizers
from softbleu.text.meteor import PACKAGE, MeteorData, kept_stops, normalised

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

_PARTS = 1 << 14  # Words whose parts are remembered
_MANY = range(1 << 10, 1 << 17)
"""Numbers of words whose character n-grams are numbered all at once: in 200 MB at most."""
_SMALL = 1 << 12  # Pairs of a segment up to which decays are kept: 64 MB at most, 12 for 100,000 lines of WMT13


@dataclass(frozen=True)
class Tokens:
    """Lines as coded tokens: line i holds ``codes[offsets[i]:offsets[i + 1]]``."""

    codes: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: Sequence[Tokens]) -> Tokens:
        """All lines of several texts."""
        starts = np.cumsum([0, *(len(part.codes) for part in parts[:-1])])
        ends = [start + part.offsets[1:] for start, part in zip(starts, parts, strict=True)]
        codes, offsets = np.concatenate([part.codes for part in parts]), np.concatenate(([0], *ends))
        placed = [part for part in parts if isinstance(part, LinesInText)]
        if not placed or len(placed) < len(parts):
            return cls(codes, offsets)
        firsts = np.cumsum([0, *(len(part.text.lengths) for part in placed[:-1])]).tolist()
        before = [
            np.where(part.before < 0, -1, part.before + first) for part, first in zip(placed, firsts, strict=True)
        ]
        return LinesInText(codes, offsets, Tokens.joined([part.text for part in placed]), np.concatenate(before))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens of each line."""
        return self.offsets[1:] - self.offsets[:-1]

    def lines(self, start: int, stop: int) -> Self:
        """Lines start to stop - 1."""
        offsets = self.offsets[start : stop + 1]
        return self._with(self.codes[offsets[0] : offsets[-1]], offsets - offsets[0], slice(start, stop))

    def by_line(self) -> list[tuple[int, ...]]:
        """Codes of each line."""
        codes = self.codes.tolist()
        return [tuple(codes[start:stop]) for start, stop in pairwise(self.offsets.tolist())]

    def surface_forms(self, words: Sequence[str] | Mapping[int, str]) -> list[list[str]]:
        """Words of each line, given those that the codes stand for."""
        return [[words[code] for code in line] for line in self.by_line()]

    def chosen(self, lines: NDArray[np.int64]) -> Self:
        """Lines with these numbers, in that order."""
        places, offsets = chosen_places(self.offsets, lines)
        return self._with(self.codes[places], offsets, lines)

    def _with(self, codes: NDArray[np.int32], offsets: NDArray[np.int64], lines: Any) -> Self:
        """Put the codes of some lines together with what is known of these."""
        return type(self)(codes, offsets)

    def spread(self, parts: WordParts) -> Tokens:
        """Return the lines with the parts of each token in its place."""
        places, bounds = chosen_places(parts.bounds, self.codes)
        return Tokens(parts.codes[places], bounds[self.offsets])


@dataclass(frozen=True)
class TextLines(Tokens):
    """Coded lines beside their text."""

    texts: NDArray[Any]

    def _with(self, codes: NDArray[np.int32], offsets: NDArray[np.int64], lines: Any) -> Self:
        return type(self)(codes, offsets, self.texts[lines])


@dataclass(frozen=True)
class LinesInText(Tokens):
    """Coded lines, and the lines of their text that stand before them in their documents."""

    text: Tokens
    before: NDArray[np.int64]  # (lines, most): numbers of lines of the text, the nearest last; -1 where there is none

    def _with(self, codes: NDArray[np.int32], offsets: NDArray[np.int64], lines: Any) -> Self:
        return type(self)(codes, offsets, self.text, self.before[lines])


def lines_before(tokens: Tokens, most: int | None = None) -> list[tuple[tuple[int, ...], ...]]:
    """Codes of the lines before each line, all or `most`, nearest last; lines without a text have none."""
    if most == 0 or not isinstance(tokens, LinesInText):
        return [()] * len(tokens.lengths)
    before = tokens.before[:, -(most or 0) :]
    numbers = np.unique(before[before >= 0])
    codes = dict(zip(numbers.tolist(), tokens.text.chosen(numbers).by_line(), strict=True))
    return [tuple(codes[number] for number in line if number >= 0) for line in before.tolist()]


def texts_of(tokens: Tokens) -> list[str]:
    """Text of the lines of a metric whose tokenizer keeps it."""
    if not isinstance(tokens, TextLines):
        raise InputError("these lines are tokens, without their text: a metric of strings cannot read them")
    texts: list[str] = tokens.texts.tolist()
    return texts


@dataclass(frozen=True)
class WordParts:
    """Parts of words: word w has ``codes[bounds[w]:bounds[w + 1]]``."""

    codes: NDArray[Any]
    bounds: NDArray[np.int64]

    @cached_property
    def kinds(self) -> int:
        """Bound of the codes."""
        return int(self.codes.max(initial=-1)) + 1

    @classmethod
    def of(
        cls, words: Iterable[str], parts: Callable[[str], Sequence[str]], vocabulary: Vocabulary | None = None
    ) -> WordParts:
        """Number the parts of words, in order of appearance or as a vocabulary knows them."""
        known = Vocabulary() if vocabulary is None else vocabulary
        rest = iter(words)
        # Some words at a time: as strings their parts take many times the memory.
        blocks = [known.encode([])]
        while some := [parts(word) for word in islice(rest, _PARTS)]:
            blocks.append(known.encode(some))
        lines = Tokens.joined(blocks)
        return cls(lines.codes, lines.offsets)

    def followed_by(self, other: WordParts) -> WordParts:
        """These words, and others after them."""
        return WordParts(
            np.concatenate((self.codes, other.codes)),
            np.concatenate((self.bounds, self.bounds[-1] + other.bounds[1:])),
        )


@dataclass(frozen=True)
class TokenPairs:
    """Where the pairs of each segment stand: one row per candidate token, the pairs of a row side by side."""

    rows: Integers  # Bounds of the segments among the candidate tokens
    columns: Integers  # Bounds of the segments among the reference tokens

    @cached_property
    def cells(self) -> Integers:
        """Bounds of the segments among the pairs."""
        return np.concatenate(([0], np.cumsum(np.diff(self.rows) * np.diff(self.columns))))

    def block(self, values: Floats, segment: int) -> Floats:
        """Those values, one a pair, that belong to a segment: (candidate tokens, reference tokens)."""
        height, width = (int(bounds[segment + 1] - bounds[segment]) for bounds in (self.rows, self.columns))
        block: Floats = values[self.cells[segment] : self.cells[segment + 1]].reshape(height, width)
        return block

    @cached_property
    def tokens(self) -> tuple[Integers, Integers]:
        """Candidate token and reference token of each pair."""
        widths = np.repeat(np.diff(self.columns), np.diff(self.rows))
        firsts = np.repeat(self.columns[:-1], np.diff(self.rows))
        left = np.repeat(np.arange(len(widths)), widths)
        return left, np.arange(len(left)) + np.repeat(firsts - (np.cumsum(widths) - widths), widths)

    def decays(self, rate: float) -> Floats:
        """``exp(-rate * distance)`` of each pair: tokens are as far apart as the middles of their places, 0 to 1."""
        shapes = zip(np.diff(self.rows).tolist(), np.diff(self.columns).tolist(), strict=True)
        tables = (
            _decays(*shape, rate) if shape[0] * shape[1] <= _SMALL else _decays.__wrapped__(*shape, rate)
            for shape in shapes
        )
        return np.concatenate([np.empty(0), *tables])


@lru_cache(maxsize=1 << 11)
def _decays(height: int, width: int, rate: float) -> Floats:
    """Decays of the pairs of one segment, which are those of all segments of these lengths.

    >>> (-np.log(_decays(2, 1, 1.0))).round(3).tolist()
    [0.25, 0.25]
    """
    candidate, reference = ((np.arange(length) + 0.5) / length for length in (height, width))
    decays: Floats = np.exp(-rate * np.abs(np.subtract.outer(candidate, reference))).reshape(-1)
    return decays


def chosen_places(bounds: NDArray[np.int64], chosen: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places of the entries of chosen lines one after the other, and the bounds of these lines."""
    lengths = bounds[chosen + 1] - bounds[chosen]
    offsets = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return np.arange(offsets[-1]) + np.repeat(bounds[chosen] - offsets[:-1], lengths), offsets


def sorted_once(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort keys and keep one of equal ones: `np.unique` without its hash table, which takes five times as long."""
    keys.sort()
    once: NDArray[np.int64] = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    return once


class Vocabulary(dict[str, int]):
    """Codes of words, given in order of first appearance.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.encode([["a", "rose", "is"], [], ["a", "rose"]]).codes.tolist()
    [0, 1, 2, 0, 1]
    >>> list(vocabulary)
    ['a', 'rose', 'is']
    """

    def __missing__(self, word: str) -> int:
        code = self[word] = len(self)
        return code

    def since(self, start: int) -> list[str]:
        """The words from a code on: few, when many are known.

        >>> Vocabulary(a=0, rose=1, so=2).since(1)
        ['rose', 'so']
        """
        return list(islice(reversed(self), max(len(self) - start, 0)))[::-1]

    def encode(self, lines: Sequence[Sequence[str]]) -> Tokens:
        """Code the words of tokenized lines, learning those that are new."""
        offsets = np.zeros(len(lines) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, lines), np.int64, len(lines)), out=offsets[1:])
        codes = np.fromiter(map(self.__getitem__, chain.from_iterable(lines)), np.int32, int(offsets[-1]))
        return Tokens(codes, offsets)


@lru_cache(_PARTS)
def _character_grams(word: str) -> Sequence[str]:
    """Character 2- to 4-grams of a word between marks of its ends, each once."""
    marked = f"\x02{word}\x03"
    pairs = list(map(add, marked, marked[1:]))
    triples = list(map(add, pairs, marked[2:]))
    return list(dict.fromkeys(chain(pairs, triples, map(add, triples, marked[3:]))))


def character_grams(words: Sequence[str]) -> WordParts:
    """Character 2- to 4-grams as `_character_grams` has them, in another order, of many words at once.

    >>> character_grams(["aaa", "a"]).bounds.tolist()
    [0, 8, 11]
    """
    text = "".join(f"\x02{word}\x03" for word in words).encode("utf-32-le", "surrogatepass")
    characters = np.frombuffer(text, "<u4").astype(np.int64)
    lengths = np.fromiter(map(len, words), np.int64, len(words)) + 2
    owners = np.repeat(np.arange(len(words)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(characters))  # Characters to the end of the word
    bits, kinds = (3 * len(characters)).bit_length(), 0
    ids, keys = characters, []
    for n in (2, 3, 4):
        starts = np.flatnonzero(left >= n)
        # An n-gram is the pair of the one without its last character and that character, which has 21 bits at most.
        pairs = ids[starts] << 21 | characters[starts + n - 1]
        distinct, numbers = np.unique(pairs, return_inverse=True)
        keys.append(owners[starts] << bits | kinds + numbers)
        kinds += len(distinct)
        ids = np.zeros(len(characters), np.int64)
        ids[starts] = numbers
    once = sorted_once(np.concatenate(keys))
    bounds = np.searchsorted(once, np.arange(len(words) + 1) << bits)
    return WordParts((once & (1 << bits) - 1).astype(np.int32), bounds)


@lru_cache(_PARTS)
def _letters(word: str) -> Sequence[str]:
    """Characters of a word in lower case, and pairs of them, those with marks of its ends too, each once."""
    lower = word.lower()
    marked = f"\x02{lower}\x03"
    return list(dict.fromkeys(chain(lower, map(add, marked, marked[1:]))))


@lru_cache(_PARTS)
def _without_punctuation(word: str) -> Sequence[str]:
    """A word, and the punctuation mark at its end, or else at its beginning, as chrF++ splits them; no blanks."""
    if len(word) > 1 and word[-1] in punctuation:
        return word[:-1], word[-1]
    if len(word) > 1 and word[0] in punctuation:
        return word[0], word[1:]
    return (word,) if not word.isspace() else ()


# What a word is made of, by the names under which metrics ask for it.
WORD_PARTS: dict[str, Callable[[str], Sequence[str]]] = {
    "spelling": _character_grams,
    "characters": str,
    "letters": _letters,
    "punctuation": _without_punctuation,
}


class WordFeature(Protocol):
    """Something else that is known of words, computed once for those of a corpus; a value that can be compared."""

    def of(self, words: Sequence[str]) -> Mapping[str, NDArray[Any]]:
        """Features of these words, by name."""


def word_features(part: str | WordFeature, words: Sequence[str]) -> Mapping[str, NDArray[Any]]:
    """Compute a feature of words: by a name of `WORD_PARTS` their parts and bounds, else what a `WordFeature` makes.

    >>> {name: found.tolist() for name, found in word_features("punctuation", ["so", "so."]).items()}
    {'punctuation': [0, 0, 1], 'punctuation_bounds': [0, 1, 3]}
    """
    if not isinstance(part, str):
        return part.of(words)
    many = part == "spelling" and len(words) in _MANY
    parts = character_grams(words) if many else WordParts.of(words, WORD_PARTS[part])
    return {part: parts.codes, f"{part}_bounds": parts.bounds}


_FARTHEST = 20  # Characters between two tokens that a tokenizer may have taken away


def token_places(tokens: Iterable[str], line: str) -> Iterator[tuple[int, int]]:
    """Start and end of each token in the line that it was made of; an empty place for one that the line lacks.

    >>> list(token_places(["it", "'s", "gone"], "It's over"))
    [(0, 2), (2, 4), (4, 4)]
    """
    folded = line.lower()
    folded = folded if len(folded) == len(line) else line
    end = 0
    for token in tokens:
        at = folded.find(token.lower(), end, end + len(token) + _FARTHEST) if token else -1
        if at < 0:
            yield end, end
            end += line[end : end + 1].isspace()
        else:
            end = at + len(token)
            yield at, end


Split = Callable[[str], list[str]]

_BLANKS = re.compile("[ \t\f\r]+")
MARKS_13A = "".join(mark for mark in punctuation if mark not in "',-.")  # What 13a always takes for tokens
ESCAPES_13A = {"<skipped>": "", "&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
"""Strings that 13a reads as something else, one after the other."""
_CLASS = re.escape(MARKS_13A)
_WORDS_13A = re.compile(rf"[{_CLASS}.,]|(?<=[0-9])-|(?:[^\s{_CLASS}.,0-9-]|(?<![0-9])-|[0-9](?:[.,](?=[0-9]))?)+")
# Characters that sacrebleu's zh takes for Chinese, punctuation among them.
_CHINESE = "\u2001-\u2a6d\u2e80-\u2fdf\u2ff0-\u303f\u3100-\u312f\u31a0-\u31bf\u31c0-\u31ef\u3200-\u4db5\u4e00-\u9fbb"
_CHINESE += "\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\ufe10-\ufe1f\ufe30-\ufe4f\uff00-\uffef"
_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1064"
_MARKS += "\u1067-\u106d\u1071-\u1074\u1082-\u108f\u109a-\u109d\u17b4-\u17d3\u17dd\u3099\u309a"
"""Vowels and tones of these scripts that go with the character before."""
_BEYOND_13A = re.compile("|".join(["[.,]{2}[0-9]", "-\n", *ESCAPES_13A]))  # Where one pass over a line is not enough
_POINTS = re.compile(r"[.,]{2}[0-9]|\A[.,]|[0-9][.,]\Z")
_BETWEEN_WORDS = re.compile(rf"[\s{_CHINESE}]")
_WORDS = 1 << 17  # Words whose tokens are remembered


@dataclass(frozen=True, kw_only=True)
class Tokenizer(Declared):
    """How a line becomes tokens; a subclass splits it (`tokens`), and its further fields are its settings.

    Examples
    --------
    >>> make_tokenizer("13a", lowercase=True).split("It's late, isn't it?")
    ["it's", 'late', ',', "isn't", 'it', '?']
    >>> make_tokenizer("char").split("so it"), make_tokenizer("char+space").split("so it")
    (['s', 'o', 'i', 't'], ['s', 'o', ' ', 'i', 't'])
    """

    lowercase: bool = setting(False, "Fold the text to lower case first", always_signed=True, common=True)
    normalize_unicode: Literal["NFC", "NFKC"] | None = setting(
        None, "Bring the text into a normal form of Unicode first", unset="the text as it is", signed_if_set=True
    )
    kind: ClassVar[str] = "tokenizer"
    argument: ClassVar[str] = ""  # Setting that may stand behind its name and a colon
    language: ClassVar[str | None] = None  # That it is made for, by BCP 47; None for any
    by_word: ClassVar[bool] = False
    """Whether the tokens of a line are those of its whitespace-separated words, taken one by one."""
    divides_words: ClassVar[bool] = True  # Text that is tokenised already is not left as it stands
    glue: ClassVar[str] = " "  # What stands between tokens where they are shown

    @abstractmethod
    def tokens(self, line: str) -> list[str]:
        """Tokens of one line, which is in lower case already where that is set."""

    def split(self, line: str) -> list[str]:
        """Tokens of one line."""
        return self.splitter(line)

    @property
    def splitter(self) -> Split:
        """The function that splits a line: get it once, call it often."""
        split = self.tokens if type(self).__module__.startswith("softbleu.") else self._checked
        return (lambda line: split(self.fold(line))) if self.folds else split

    @property
    def folds(self) -> bool:
        """Whether the text is changed before it is split."""
        return self.lowercase or self.normalize_unicode is not None

    def fold(self, line: str) -> str:
        """Return the text in lower case and in a normal form, where these are set."""
        line = line.lower() if self.lowercase else line
        return line if self.normalize_unicode is None else normalize(self.normalize_unicode, line)

    def _checked(self, line: str) -> list[str]:
        """Tokens of one line by a tokenizer of another package, which may fail."""
        try:
            tokens = self.tokens(line)
            if not isinstance(tokens, list | tuple) or not all(isinstance(token, str) for token in tokens):
                raise TypeError(f"tokens must be a list of texts, not {tokens!r:.40}")
        except (SoftbleuError, MemoryError):
            raise
        except Exception as error:
            said = f"tokenizer {self.name!r} of {type(self).__module__} fails at the line {line[:40]!r}"
            raise InputError(f"{said}: {type(error).__name__}: {error}") from error
        return list(tokens)

    @property
    def word_splitter(self) -> Callable[[str], Sequence[str]]:
        """The function that splits a single word, and remembers the tokens."""
        return _word_splitter(self)

    @property
    def splits_at_whitespace(self) -> bool:
        """Whether tokens are just the whitespace-separated words of the line, untouched."""
        return False

    def words(self, line: str) -> list[str]:
        """Words of a line, where each is tokenised by itself."""
        return line.split()

    def reference(self, line: str) -> str:
        """Text of a reference that is split, which may be less than its line."""
        return line

    def coded_references(self, texts: Sequence[str], coder: Any) -> Tokens:
        """Code lines of references by a `softbleu.engine.encode.LineCoder`."""
        coded: Tokens = coder.encode([self.reference(text) for text in texts])
        return coded

    @property
    def plain(self) -> Tokenizer:
        """The tokenizer that settings name, without what a metric makes of it."""
        return self


# Not kept in the value itself, which travels to worker processes.
@cache
def _word_splitter(tokenizer: Tokenizer) -> Callable[[str], Sequence[str]]:
    return lru_cache(_WORDS)(tokenizer.splitter)


# Those without a field of their own are dataclasses by their base: to decorate each takes half a millisecond a start.


class Whitespace(Tokenizer):
    """Words between whitespace."""

    name: ClassVar[str] = "none"
    by_word: ClassVar[bool] = True
    divides_words: ClassVar[bool] = False
    tokens = staticmethod(str.split)  # type: ignore[assignment]

    @property
    def splits_at_whitespace(self) -> bool:
        """Whether tokens are just the whitespace-separated words of the line, untouched."""
        return not self.folds


class Blanks(Tokenizer):
    """Words between blanks and tabs."""

    name: ClassVar[str] = "blanks"
    divides_words: ClassVar[bool] = False

    def tokens(self, line: str) -> list[str]:
        """Tokens of one line."""
        return [word for word in _BLANKS.split(line) if word]


class Characters(Tokenizer):
    """Characters, without whitespace."""

    name: ClassVar[str] = "char"
    by_word: ClassVar[bool] = True
    divides_words: ClassVar[bool] = False
    glue: ClassVar[str] = ""

    def tokens(self, line: str) -> list[str]:
        """Tokens of one line."""
        return list("".join(line.split()))


class AllCharacters(Tokenizer):
    """Characters, whitespace too (as the GLEU re-implementation has them)."""

    name: ClassVar[str] = "char+space"
    divides_words: ClassVar[bool] = False
    glue: ClassVar[str] = ""
    tokens = staticmethod(list)  # type: ignore[assignment,var-annotated]


def _code_of(tag: str) -> str:
    return find_language(tag).code


def meteor_language() -> Any:
    """Declare the language of METEOR, and of its tokenizer."""
    choices = ("en", "cs", "de", "es", "fr", "ru")
    said = "Language of METEOR's stems, parameters and -norm"
    return setting("en", said, choices=choices, read=_code_of, signed_if_set=True)


def data_setting(*, signed_if_set: bool = False) -> Any:
    """Declare where METEOR's data lies."""
    return setting(
        None,
        "Folder with METEOR's data: its jar, or synonym/ and nonbreaking/, and data/paraphrase-en.gz",
        read=MeteorData.read,
        hashed=True,
        metavar="FOLDER",
        unset=f"that of the package {PACKAGE}",
        signed_if_set=signed_if_set,
    )


@dataclass(frozen=True)
class MeteorNorm(Tokenizer):
    """Czech, English, French, German, Russian or Spanish as METEOR's -norm makes it, in lower case."""

    language: str = meteor_language()  # type: ignore[misc]  # the others are made for one
    meteor_data: MeteorData | None = data_setting(signed_if_set=True)
    name: ClassVar[str] = "meteor"
    argument: ClassVar[str] = "language"

    def tokens(self, line: str) -> list[str]:
        """Tokens of one line."""
        return normalised(line, self.language, kept_stops(self.meteor_data or _data_of_package(), self.language))


@cache
def _data_of_package() -> MeteorData:
    return MeteorData.of(PACKAGE)


@cache
def _split_of(kind: type[OfSacrebleu]) -> Split:
    module, attribute = kind.home
    try:
        tokenize = getattr(import_module(f"{sacrebleu_tokenizers()}.{module}"), attribute)()
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError(
            f"tokenizer {kind.name!r} needs another package: pip install 'sacrebleu[{kind.language}]'"
        ) from error
    return lambda line: tokenize(line.rstrip()).split()


class OfSacrebleu(Tokenizer):
    """A tokenizer of sacrebleu; those that fetch a model over the network are left out."""

    home: ClassVar[tuple[str, str]]  # Its module there, and its class

    def tokens(self, line: str) -> list[str]:
        """Tokens of one line."""
        return _split_of(type(self))(line)


class Tokenizer13a(OfSacrebleu):
    """The default of sacrebleu for BLEU (mteval-v13a)."""

    name: ClassVar[str] = "13a"
    by_word: ClassVar[bool] = True  # It looks at neighbouring characters only
    home: ClassVar[tuple[str, str]] = "tokenizer_13a", "Tokenizer13a"

    def tokens(self, line: str) -> list[str]:
        """Tokens of one line, in one pass; what one pass cannot do is left to sacrebleu."""
        if line.isalnum():
            return [line]
        return super().tokens(line) if _BEYOND_13A.search(line) else _WORDS_13A.findall(line)

    def words(self, line: str) -> list[str]:
        """Words of a line; 13a joins what a line break divides after a hyphen."""
        return (line.rstrip().replace("-\n", "") if "\n" in line else line).split()


class International(OfSacrebleu):
    """Words, and punctuation and symbols of Unicode (by sacrebleu, mteval-v14)."""

    name: ClassVar[str] = "intl"
    home: ClassVar[tuple[str, str]] = "tokenizer_intl", "TokenizerV14International"


@cache
def _words_beside(characters: str, marks: str = "") -> re.Pattern[str]:
    """Pattern of tokens: some characters by themselves, with marks that follow; other text as 13a has it."""
    beside = _WORDS_13A.pattern.replace(r"[^\s", rf"[^\s{characters}", 1)
    return re.compile(rf"(?!\s)[{characters}]{f'[{marks}]*' if marks else ''}|{beside}")


class Chinese(OfSacrebleu):
    """Chinese characters; other text as 13a (by sacrebleu)."""

    name: ClassVar[str] = "zh"
    language: ClassVar[str | None] = "zh"
    home: ClassVar[tuple[str, str]] = "tokenizer_zh", "TokenizerZh"

    def tokens(self, line: str) -> list[str]:
        """Tokens of one line, in one pass; words that one pass cannot split are left to sacrebleu."""
        line, find = line.strip(), _words_beside(_CHINESE).findall
        tokens: list[str] = []
        end = 0
        for start, stop in _words_with_points(line):
            tokens += find(line, end, start)
            # Other words, in the place of those beside it.
            before, after = ["x"] * (start > 0), ["x"] * (stop < len(line))
            split = super().tokens(" ".join([*before, line[start:stop], *after]))
            tokens += split[len(before) : len(split) - len(after)]
            end = stop
        return tokens + find(line, end) if end else find(line)


def _words_with_points(line: str) -> Iterator[tuple[int, int]]:
    """Bounds of words, between blanks and Chinese characters, whose full stops and commas one pass does not split."""
    stop = 0
    for match in _POINTS.finditer(line):
        if match.start() >= stop:
            start = match.start()
            while start > stop and not _BETWEEN_WORDS.match(line[start - 1]):
                start -= 1
            after = _BETWEEN_WORDS.search(line, match.end())
            stop = after.start() if after else len(line)
            yield start, stop


class Unspaced(Tokenizer):
    """Characters of Chinese, Japanese, Thai, Lao, Khmer, Burmese, whose words have no blanks; other text as 13a."""

    name: ClassVar[str] = "unspaced"
    glue: ClassVar[str] = ""

    def tokens(self, line: str) -> list[str]:
        """Tokens of one line."""
        return _words_beside(UNSPACED + "\u3000-\u303f\uff00-\uffef", _MARKS).findall(line)


class Japanese(OfSacrebleu):
    """Japanese words (by sacrebleu; needs sacrebleu[ja])."""

    name: ClassVar[str] = "ja-mecab"
    language: ClassVar[str | None] = "ja"
    home: ClassVar[tuple[str, str]] = "tokenizer_ja_mecab", "TokenizerJaMecab"


class Korean(OfSacrebleu):
    """Korean words (by sacrebleu; needs sacrebleu[ko])."""

    name: ClassVar[str] = "ko-mecab"
    language: ClassVar[str | None] = "ko"
    home: ClassVar[tuple[str, str]] = "tokenizer_ko_mecab", "TokenizerKoMecab"


class SpmModel(Content):
    """A sentencepiece model."""


@dataclass(frozen=True)
class SentencePiece(Tokenizer):
    """Pieces of a sentencepiece model: spm:FILE (needs softbleu[spm])."""

    spm_model: SpmModel | None = setting(
        None,
        "Sentencepiece model of the tokenizer spm",
        metavar="FILE",
        unset="what spm:FILE names",
        read=SpmModel.read,
        hashed=True,
        signed_if_set=True,
    )
    name: ClassVar[str] = "spm"
    argument: ClassVar[str] = "spm_model"

    def tokens(self, line: str) -> list[str]:
        """Tokens of one line."""
        if self.spm_model is None:
            raise InputError("tokenizer 'spm' needs a sentencepiece model: name it as spm:FILE")
        return _pieces_of(self.spm_model.location)(line)


class Flores200(Tokenizer):
    """Pieces of the sentencepiece model of FLORES-200, for spBLEU (needs softbleu[spm] and the model)."""

    name: ClassVar[str] = "flores200"
    home: ClassVar[tuple[str, str]] = "flores200sacrebleuspm", "https://tinyurl.com/flores200sacrebleuspm"

    def tokens(self, line: str) -> list[str]:
        """Tokens of one line."""
        return _pieces_of(_model_of_sacrebleu(*self.home))(line)


class Flores101(Flores200):
    """Pieces of the sentencepiece model of FLORES-101, for spBLEU (needs softbleu[spm] and the model)."""

    name: ClassVar[str] = "flores101"
    home: ClassVar[tuple[str, str]] = (
        "sacrebleu_tokenizer_spm.model",
        "https://dl.fbaipublicfiles.com/fairseq/models/flores/sacrebleu_tokenizer_spm.model",
    )


def _model_of_sacrebleu(file: str, address: str) -> str:
    """Find a model where sacrebleu keeps it."""
    path = Path(os.environ.get("SACREBLEU", "~/.sacrebleu"), "models", file).expanduser()
    if not path.is_file():
        raise InputError(f"{path}: no sentencepiece model is there: put what {address} has there under this name")
    return str(path)


@cache
def _pieces_of(path: str) -> Split:
    with optional("spm", "A model of sentencepiece"):
        from sentencepiece import SentencePieceProcessor
    try:
        processor = SentencePieceProcessor(model_file=path)
    except (RuntimeError, OSError) as error:
        raise InputError(f"{path}: no sentencepiece model") from error
    return lambda line: " ".join(processor.EncodeAsPieces(line.rstrip())).split()


@dataclass(frozen=True)
class ChangedTokenizer(Tokenizer):
    """A tokenizer whose lines or tokens a metric changes, as a subclass says; its settings are those of `inner`."""

    inner: Tokenizer = Whitespace()

    def complete(self) -> None:
        """Take over what the inner one is called, and unwrap one that is changed already."""
        inner = self.inner.plain
        common = {each: getattr(inner, each) for each in ("lowercase", "normalize_unicode", "name")}
        for name, value in {"inner": inner, **common}.items():
            object.__setattr__(self, name, value)

    @property
    def plain(self) -> Tokenizer:
        """The tokenizer that settings name."""
        return self.inner

    def tokens(self, line: str) -> list[str]:
        """Tokens of one line."""
        return self.inner.tokens(line)

    def settings(self, without: str = "") -> Iterator[tuple[Setting, Any]]:
        """Those of the inner one."""
        return self.inner.settings(without)

    def revised(self, settings: Mapping[str, Any]) -> Tokenizer:  # type: ignore[override]  # the metric changes it again
        """The inner one with other settings."""
        return self.inner.revised(settings)


@dataclass(frozen=True)
class TextTokenizer(ChangedTokenizer):
    """A tokenizer beside whose tokens the text of lines is kept, in lower case where that is set."""


_ELSEWHERE = {"spbleu(-1k)?": ("spBLEU is BLEU with the tokenizer flores200",)}
TOKENIZERS = Registry("tokenizer", "softbleu.text", Tokenizer, _ELSEWHERE)


def make_tokenizer(name: str, **options: object) -> Tokenizer:
    """Make a tokenizer from its name and its options; options that are None keep their defaults.

    Examples
    --------
    >>> make_tokenizer("13a", lowercase=True)
    Tokenizer13a(lowercase=True, normalize_unicode=None)
    """
    tokenizer: Tokenizer = TOKENIZERS.make(name, **options)
    return tokenizer
