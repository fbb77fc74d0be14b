"""Tokenizers: lines of text to words."""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from string import punctuation
from typing import Any, ClassVar, Literal
from unicodedata import normalize

from softbleu.config.declare import Declared, Registry, Setting, setting
from softbleu.config.languages import UNSPACED
from softbleu.errors import InputError, MissingExtraError, SoftbleuError
from softbleu.io.files import Content
from softbleu.io.platform import sacrebleu_tokenizers
from softbleu.text.meteor_data import PACKAGE, MeteorData, data_setting
from softbleu.text.tokens import Tokens

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


def meteor_language() -> Any:
    """Declare the language of METEOR, and of its tokenizer."""
    choices = ("en", "cs", "de", "es", "fr", "ru")
    return setting("en", "Language of METEOR's stems, parameters and -norm", choices=choices, signed_if_set=True)


@dataclass(frozen=True)
class MeteorNorm(Tokenizer):
    """Czech, English, French, German, Russian or Spanish as METEOR's -norm makes it, in lower case."""

    language: str = meteor_language()  # type: ignore[misc]  # the others are made for one
    meteor_data: MeteorData | None = data_setting(signed_if_set=True)
    name: ClassVar[str] = "meteor"
    argument: ClassVar[str] = "language"

    def tokens(self, line: str) -> list[str]:
        """Tokens of one line."""
        from softbleu.text.normaliser import kept_stops, normalised

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
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError as error:
        raise MissingExtraError("sentencepiece models need another package: pip install 'softbleu[spm]'") from error
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


_ELSEWHERE = {"spbleu": "spBLEU is BLEU with the tokenizer flores200"}
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
