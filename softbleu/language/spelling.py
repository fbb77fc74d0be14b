"""Lines as words, as language models and word lists have them, and misspelled words."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from softbleu.errors import InputError
from softbleu.io.streams import open_stream, text_lines

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
    """Split a line into words, clitics, numbers and marks, whether it was tokenised or not.

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
    """A list of words: what it lacks is wrong, but for names, numbers and single letters.

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
        """Find the misspelled words of a line; a capital that is not the first word's makes a name."""
        return [self._is_wrong(word, first=place == 0) for place, word in enumerate(words)]

    def _is_wrong(self, word: str, *, first: bool) -> bool:
        lower = word.lower()
        if len(word) == 1 or lower in self.words or (word != lower and not first):
            return False
        parts = lower.split("-")
        return all(part.replace("'", "").isalpha() for part in parts) and not self.words.issuperset(parts)
