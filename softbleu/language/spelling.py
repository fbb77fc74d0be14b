"""Words that are spelt wrong: those that no list has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from softbleu.data_files import bounded_lines
from softbleu.errors import InputError
from softbleu.streams import open_stream


class Spelling(Protocol):
    """What tells words that are spelt wrong."""

    def misspelt(self, words: Sequence[str]) -> list[bool]:
        """Tell which words of a line are spelt wrong."""


@dataclass(frozen=True)
class WordList:
    """A list of words: what it lacks is wrong, but for names, numbers and single letters.

    >>> words = WordList(frozenset({"behaviour", "behavior", "good"}))
    >>> words.misspelt(["Good", "behaviour", "behavoir", "-", "42nd", "Behavoir", "good-behavior"])
    [False, False, True, False, False, False, False]
    """

    words: frozenset[str]
    """In lower case."""

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> WordList:
        """Read a file with a word a line, plain or packed (gzip, bzip2)."""
        with open_stream(Path(path)) as stream:
            try:
                lines = [line.decode().strip().lower() for line in bounded_lines(stream.content, str(path))]
            except UnicodeDecodeError:
                raise InputError(f"{path}: not UTF-8; save it as UTF-8") from None
        words = frozenset(filter(None, lines))
        if not words:
            raise InputError(f"{path}: a word list without words")
        return cls(words)

    def misspelt(self, words: Sequence[str]) -> list[bool]:
        """Tell which words of a line are spelt wrong; a capital that is not the first word's makes a name."""
        return [self._is_wrong(word, first=place == 0) for place, word in enumerate(words)]

    def _is_wrong(self, word: str, *, first: bool) -> bool:
        lower = word.lower()
        if len(word) == 1 or lower in self.words or (word != lower and not first):
            return False
        parts = lower.split("-")
        return all(part.replace("'", "").isalpha() for part in parts) and not self.words.issuperset(parts)
