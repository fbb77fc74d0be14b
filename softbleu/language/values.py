"""What is known of a line by itself, as numbers: its fluency, and what its grammaticality is told by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from softbleu.errors import InputError
from softbleu.language.arpa import read_arpa
from softbleu.language.ngrams import LineJudgements
from softbleu.language.spelling import Spelling, WordList
from softbleu.language.words import split_words
from softbleu.resources import find_resource

if TYPE_CHECKING:
    from softbleu.types import Floats

DEFAULT_LANGUAGE = "en-small"
"""The set that travels with the package."""
VALUES = ("fluency", "length", "misspelt", "misspelt_share", "capital", "end", "small_i")
"""What is known of a line: how much likelier the model finds it than its words by themselves, by token (base 10);
logarithm of its number of words; how many are misspelt, and what share; 1 for a line that begins with a capital, ends
with a mark, has an `i` by itself."""
_ENDS = tuple(".?!\"')…")


class LanguageModel(Protocol):
    """What says how likely lines are."""

    def judge(self, lines: Sequence[Sequence[str]]) -> LineJudgements:
        """Judge lines of words; a line's digits do not depend on the others."""


@dataclass(frozen=True)
class LanguageSet:
    """A language model, the unigrams that it is compared with, and a spelling, all of words in lower case."""

    model: LanguageModel
    unigrams: LanguageModel
    spelling: Spelling

    @classmethod
    def open(cls, folder: Path) -> LanguageSet:
        """Read the files of a folder: `model.arpa.gz`, `unigrams.arpa.gz`, `words.txt.gz`.

        Raises
        ------
        InputError, VectorError
            One is missing or no such file.
        """
        model, unigrams = (read_arpa(folder / f"{name}.arpa.gz") for name in ("model", "unigrams"))
        return cls(model, unigrams, WordList.read(folder / "words.txt.gz"))

    def values(self, lines: Sequence[str]) -> Floats:
        """Values of each line, in the order of `VALUES`: (lines, values).

        Examples
        --------
        >>> found = default_language().values(["This is a good house .", "this is good a hous"])
        >>> found[:, 0].argmax(), found[:, 2].tolist()
        (np.int64(0), [0.0, 1.0])
        """
        words = [split_words(line) for line in lines]
        lower = [[word.lower() for word in line] for line in words]
        judged, alone = self.model.judge(lower), self.unigrams.judge(lower)
        tokens = judged.tokens
        misspelt = np.array([sum(self.spelling.misspelt(line)) for line in words], np.float64)
        return np.column_stack(
            (
                (judged.log_probabilities - alone.log_probabilities) / (tokens + 1),
                np.log(np.maximum(tokens, 1)),
                misspelt,
                misspelt / np.maximum(tokens, 1),
                [line[:1].isupper() for line in lines],
                [line.rstrip().endswith(_ENDS) for line in lines],
                ["i" in line for line in words],
            )
        ).reshape(len(lines), len(VALUES))


@cache
def default_language() -> LanguageSet:
    """Open the set that travels with the package, once.

    Raises
    ------
    InputError
        This installation lacks it.
    """
    folder = find_resource("language", DEFAULT_LANGUAGE)
    if folder is None:
        raise InputError(f"this installation lacks the language model {DEFAULT_LANGUAGE}: install softbleu again")
    return LanguageSet.open(folder)
