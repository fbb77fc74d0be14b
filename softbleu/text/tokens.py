"""Tokenizers, which split lines into tokens."""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from string import punctuation
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol
from unicodedata import normalize

from softbleu.config.declare import Declared, Registry, Setting, setting
from softbleu.config.languages import UNSPACED, find_language
from softbleu.errors import InputError, MissingExtraError, SoftbleuError, optional
from softbleu.io.files import Content
from softbleu.io.platform import sacrebleu_tokenizers
from softbleu.text.meteor import PACKAGE, MeteorData, kept_stops, normalised

if TYPE_CHECKING:
    from softbleu.text.coded import Tokens

_FARTHEST = 20  # Characters that a tokenizer may have removed between two tokens


def token_places(tokens: Iterable[str], line: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each token in its original line; an empty span if the line lacks it.

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


class CodesLines(Protocol):
    """A coder of lines, as the engine has one."""

    def encode(self, texts: Sequence[str]) -> Tokens:
        """Split and code lines."""


_BLANKS = re.compile("[ \t\f\r]+")
MARKS_13A = "".join(mark for mark in punctuation if mark not in "',-.")  # Tokens of 13a everywhere
ESCAPES_13A = {"<skipped>": "", "&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
"""Strings that 13a replaces, in this order."""
_CLASS = re.escape(MARKS_13A)
_WORDS_13A = re.compile(rf"[{_CLASS}.,]|(?<=[0-9])-|(?:[^\s{_CLASS}.,0-9-]|(?<![0-9])-|[0-9](?:[.,](?=[0-9]))?)+")
# Characters that sacrebleu's zh treats as Chinese, including punctuation.
_CHINESE = "\u2001-\u2a6d\u2e80-\u2fdf\u2ff0-\u303f\u3100-\u312f\u31a0-\u31bf\u31c0-\u31ef\u3200-\u4db5\u4e00-\u9fbb"
_CHINESE += "\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\ufe10-\ufe1f\ufe30-\ufe4f\uff00-\uffef"
_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1064"
_MARKS += "\u1067-\u106d\u1071-\u1074\u1082-\u108f\u109a-\u109d\u17b4-\u17d3\u17dd\u3099\u309a"
"""Vowels and tones of these scripts that go with the character before."""
_BEYOND_13A = re.compile("|".join(["[.,]{2}[0-9]", "-\n", *ESCAPES_13A]))  # Needs several passes
_POINTS = re.compile(r"[.,]{2}[0-9]|\A[.,]|[0-9][.,]\Z")
_BETWEEN_WORDS = rf"[\s{_CHINESE}]"  # Compiled on use, as it takes 6 ms
_WORDS = 1 << 12  # Words whose tokens are cached: 1.5 MB


@dataclass(frozen=True, kw_only=True)
class Tokenizer(Declared):
    """Base class of tokenizers: a subclass implements `tokens`; its additional fields are its settings.

    Examples
    --------
    >>> make_tokenizer("13a", lowercase=True).split("It's late, isn't it?")
    ["it's", 'late', ',', "isn't", 'it', '?']
    >>> make_tokenizer("char").split("so it"), make_tokenizer("char+space").split("so it")
    (['s', 'o', 'i', 't'], ['s', 'o', ' ', 'i', 't'])
    """

    lowercase: bool = setting(False, "Fold the text to lower case first", always_signed=True)
    normalize_unicode: Literal["NFC", "NFKC"] | None = setting(
        None, "Bring the text into a normal form of Unicode first", unset="the text as it is", signed_if_set=True
    )
    kind: ClassVar[str] = "tokenizer"
    argument: ClassVar[str] = ""  # Setting that may follow its name and a colon
    language: ClassVar[str | None] = None  # The language it is for (BCP 47); None: any
    by_word: ClassVar[bool] = False
    """Whether splitting each whitespace-separated word by itself gives the tokens of the line."""
    divides_words: ClassVar[bool] = True  # Whether it splits text that is already tokenised
    glue: ClassVar[str] = " "  # Separator between tokens that are shown

    @abstractmethod
    def tokens(self, line: str) -> list[str]:
        """Split a line, which is already in lower case if `lowercase` is set."""

    def split(self, line: str) -> list[str]:
        """Split one line."""
        return self.splitter(line)

    @property
    def splitter(self) -> Split:
        """Function that splits a line; faster than `split` if called often."""
        split = self.tokens if type(self).__module__.startswith("softbleu.") else self._checked
        return (lambda line: split(self.fold(line))) if self.folds else split

    @property
    def folds(self) -> bool:
        """Whether text is changed before splitting."""
        return self.lowercase or self.normalize_unicode is not None

    def fold(self, line: str) -> str:
        """Convert text to lower case and to a normal form, if these are set."""
        line = line.lower() if self.lowercase else line
        return line if self.normalize_unicode is None else normalize(self.normalize_unicode, line)

    def _checked(self, line: str) -> list[str]:
        """Split a line by a tokenizer of another package; its failures become `InputError`."""
        try:
            tokens = self.tokens(line)
            if not isinstance(tokens, list | tuple) or not all(isinstance(token, str) for token in tokens):
                raise TypeError(f"tokens must be a list of texts, not {tokens!r:.40}")
        except (SoftbleuError, MemoryError, KeyboardInterrupt):
            raise
        except BaseException as error:
            said = f"tokenizer {self.name!r} of {type(self).__module__} fails at the line {line[:40]!r}"
            raise InputError(f"{said}: {type(error).__name__}: {error}") from error
        return list(tokens)

    @property
    def word_splitter(self) -> Callable[[str], Sequence[str]]:
        """Function that splits a single word, with a cache."""
        return _word_splitter(self)

    @property
    def line_splitter(self) -> Split:
        """Function that splits a line; tokenizers that take word by word split each word once."""
        if not self.by_word or self.splits_at_whitespace:
            return self.splitter
        split, words = self.word_splitter, self.words
        return lambda line: [*chain.from_iterable(map(split, words(line)))]

    @property
    def splits_at_whitespace(self) -> bool:
        """Whether tokens are the whitespace-separated words, unchanged."""
        return False

    def words(self, line: str) -> list[str]:
        """Return the words of a line, each of which is tokenised by itself."""
        return line.split()

    def reference(self, line: str) -> str:
        """Return the part of a reference line that is split."""
        return line

    def coded_references(self, texts: Sequence[str], coder: CodesLines) -> Tokens:
        """Code lines of references by `coder`."""
        return coder.encode([self.reference(text) for text in texts])

    @property
    def plain(self) -> Tokenizer:
        """Tokenizer that the settings name, without the metric's wrapper."""
        return self


# The cache is not part of the value, which is sent to worker processes.
@cache
def _word_splitter(tokenizer: Tokenizer) -> Callable[[str], Sequence[str]]:
    return lru_cache(_WORDS)(tokenizer.splitter)


# Classes without fields of their own are not decorated as dataclasses: that would take half a millisecond each.


class Whitespace(Tokenizer):
    """Words between whitespace."""

    name: ClassVar[str] = "none"
    by_word: ClassVar[bool] = True
    divides_words: ClassVar[bool] = False
    tokens = staticmethod(str.split)  # type: ignore[assignment]

    @property
    def splits_at_whitespace(self) -> bool:
        """Whether tokens are the whitespace-separated words, unchanged."""
        return not self.folds


class Blanks(Tokenizer):
    """Words between blanks and tabs."""

    name: ClassVar[str] = "blanks"
    divides_words: ClassVar[bool] = False

    def tokens(self, line: str) -> list[str]:
        """Split one line."""
        return [word for word in _BLANKS.split(line) if word]


class Characters(Tokenizer):
    """Characters, without whitespace."""

    name: ClassVar[str] = "char"
    by_word: ClassVar[bool] = True
    divides_words: ClassVar[bool] = False
    glue: ClassVar[str] = ""

    def tokens(self, line: str) -> list[str]:
        """Split one line."""
        return list("".join(line.split()))


class AllCharacters(Tokenizer):
    """Characters including whitespace (as in the GLEU re-implementation)."""

    name: ClassVar[str] = "char+space"
    divides_words: ClassVar[bool] = False
    glue: ClassVar[str] = ""
    tokens = staticmethod(list)  # type: ignore[assignment,var-annotated]


def _language_code(tag: str) -> str:
    return find_language(tag).code


def meteor_language() -> str:
    """Declare the setting for the language of METEOR and of its tokenizer."""
    choices = ("en", "cs", "de", "es", "fr", "ru")
    said = "Language of METEOR's stems, parameters and -norm"
    return setting("en", said, choices=choices, read=_language_code, signed_if_set=True)


def data_setting(*, signed_if_set: bool = False) -> MeteorData | None:
    """Declare the setting for the folder of METEOR's data."""
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

    language: str = meteor_language()  # type: ignore[misc]  # a class variable of other tokenizers
    meteor_data: MeteorData | None = data_setting(signed_if_set=True)
    name: ClassVar[str] = "meteor"
    argument: ClassVar[str] = "language"

    def tokens(self, line: str) -> list[str]:
        """Split one line."""
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
    """Base class of sacrebleu's tokenizers, without those that download a model."""

    home: ClassVar[tuple[str, str]]  # Its module there, and its class

    def tokens(self, line: str) -> list[str]:
        """Split one line."""
        return _split_of(type(self))(line)


class Tokenizer13a(OfSacrebleu):
    """The default of sacrebleu for BLEU (mteval-v13a)."""

    name: ClassVar[str] = "13a"
    by_word: ClassVar[bool] = True  # It looks only at neighbouring characters
    home: ClassVar[tuple[str, str]] = "tokenizer_13a", "Tokenizer13a"

    def tokens(self, line: str) -> list[str]:
        """Split one line in one pass if possible; sacrebleu splits the others."""
        if line.isalnum():
            return [line]
        return super().tokens(line) if _BEYOND_13A.search(line) else _WORDS_13A.findall(line)

    @property
    def line_splitter(self) -> Split:
        """Function that splits a line; letters and digits alone are a token, which takes no cache to know."""
        if self.folds:
            return super().line_splitter
        split, words = self.word_splitter, self.words
        return lambda line: [token for word in words(line) for token in ((word,) if word.isalnum() else split(word))]

    def words(self, line: str) -> list[str]:
        """Return the words of a line; 13a joins words that are hyphenated over a line break."""
        return (line.rstrip().replace("-\n", "") if "\n" in line else line).split()


class International(OfSacrebleu):
    """Words, and punctuation and symbols of Unicode (by sacrebleu, mteval-v14)."""

    name: ClassVar[str] = "intl"
    home: ClassVar[tuple[str, str]] = "tokenizer_intl", "TokenizerV14International"


@cache
def _words_beside(characters: str, marks: str = "") -> re.Pattern[str]:
    """Compile a pattern of tokens: single `characters` with the `marks` after them; other text as in 13a."""
    beside = _WORDS_13A.pattern.replace(r"[^\s", rf"[^\s{characters}", 1)
    return re.compile(rf"(?!\s)[{characters}]{f'[{marks}]*' if marks else ''}|{beside}")


class Chinese(OfSacrebleu):
    """Chinese characters; other text as 13a (by sacrebleu)."""

    name: ClassVar[str] = "zh"
    language: ClassVar[str | None] = "zh"
    home: ClassVar[tuple[str, str]] = "tokenizer_zh", "TokenizerZh"

    def tokens(self, line: str) -> list[str]:
        """Split one line in one pass; sacrebleu splits the words that need several."""
        line, find = line.strip(), _words_beside(_CHINESE).findall
        tokens: list[str] = []
        end = 0
        for start, stop in _words_with_points(line):
            tokens += find(line, end, start)
            # Placeholders for the words beside it.
            before, after = ["x"] * (start > 0), ["x"] * (stop < len(line))
            split = super().tokens(" ".join([*before, line[start:stop], *after]))
            tokens += split[len(before) : len(split) - len(after)]
            end = stop
        return tokens + find(line, end) if end else find(line)


def _words_with_points(line: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of words (between blanks and Chinese characters) whose points one pass does not split."""
    stop = 0
    for match in _POINTS.finditer(line):
        if match.start() >= stop:
            start, between = match.start(), re.compile(_BETWEEN_WORDS)
            while start > stop and not between.match(line[start - 1]):
                start -= 1
            after = between.search(line, match.end())
            stop = after.start() if after else len(line)
            yield start, stop


class Unspaced(Tokenizer):
    """Characters of Chinese, Japanese, Thai, Lao, Khmer, Burmese, whose words have no blanks; other text as 13a."""

    name: ClassVar[str] = "unspaced"
    glue: ClassVar[str] = ""

    def tokens(self, line: str) -> list[str]:
        """Split one line."""
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
        """Split one line."""
        if self.spm_model is None:
            raise InputError("tokenizer 'spm' needs a sentencepiece model: name it as spm:FILE")
        return _pieces_of(self.spm_model.location)(line)


class Flores200(Tokenizer):
    """Pieces of the sentencepiece model of FLORES-200, for spBLEU (needs softbleu[spm] and the model)."""

    name: ClassVar[str] = "flores200"
    home: ClassVar[tuple[str, str]] = "flores200sacrebleuspm", "https://tinyurl.com/flores200sacrebleuspm"

    def tokens(self, line: str) -> list[str]:
        """Split one line."""
        return _pieces_of(_model_of_sacrebleu(*self.home))(line)


class Flores101(Flores200):
    """Pieces of the sentencepiece model of FLORES-101, for spBLEU (needs softbleu[spm] and the model)."""

    name: ClassVar[str] = "flores101"
    home: ClassVar[tuple[str, str]] = (
        "sacrebleu_tokenizer_spm.model",
        "https://dl.fbaipublicfiles.com/fairseq/models/flores/sacrebleu_tokenizer_spm.model",
    )


def _model_of_sacrebleu(file: str, address: str) -> str:
    """Return the path of a model in sacrebleu's cache."""
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
    """Base class for wrappers by which metrics change lines or tokens; the settings are the settings of `inner`."""

    inner: Tokenizer = Whitespace()

    def complete(self) -> None:
        """Copy name and common settings of `inner`, which is unwrapped first."""
        inner = self.inner.plain
        common = {each: getattr(inner, each) for each in ("lowercase", "normalize_unicode", "name")}
        for name, value in {"inner": inner, **common}.items():
            object.__setattr__(self, name, value)

    @property
    def plain(self) -> Tokenizer:
        """Tokenizer that the settings name."""
        return self.inner

    def tokens(self, line: str) -> list[str]:
        """Split one line."""
        return self.inner.tokens(line)

    def settings(self, without: str = "") -> list[tuple[Setting, object]]:
        """List the settings of the inner tokenizer."""
        return self.inner.settings(without)

    def revised(self, settings: Mapping[str, object]) -> Tokenizer:  # type: ignore[override]  # the metric changes it again
        """Return `inner` with other settings."""
        return self.inner.revised(settings)


@dataclass(frozen=True)
class TextTokenizer(ChangedTokenizer):
    """A tokenizer that keeps the text of lines beside their tokens, in lower case if that is set."""


_ELSEWHERE = {"spbleu(-1k)?": ("spBLEU is BLEU with the tokenizer flores200",)}
TOKENIZERS = Registry("tokenizer", "softbleu.text", Tokenizer, _ELSEWHERE)  # type: ignore[type-abstract]  # none is made of it


def make_tokenizer(name: str, **options: object) -> Tokenizer:
    """Make a tokenizer from its name and options; options that are None keep their defaults.

    Examples
    --------
    >>> make_tokenizer("13a", lowercase=True)
    Tokenizer13a(lowercase=True, normalize_unicode=None)
    """
    return TOKENIZERS.make(name, **options)
