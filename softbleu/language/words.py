"""Lines as words, as language models and word lists of this room have them."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ENDINGS = "s|re|ve|ll|d|m"
_END = r"(?![^\W_])"
_CLITIC = rf"(?:n't|'(?:{_ENDINGS})){_END}"
_INSIDE = rf"(?:[-.]|'(?!(?:{_ENDINGS}){_END}))[^\W_]+?"
_WORD = re.compile(
    rf"{_CLITIC}|[^\W\d_]+?(?={_CLITIC})|[^\W_]+(?:{_INSIDE}(?={_CLITIC}|{_END}))*|\S",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\s+(?=[,.;:?!)\]}%…]|n't\b|'(?:s|re|ve|ll|d|m)\b)", re.IGNORECASE)
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


def as_written(words: Sequence[str]) -> str:
    r"""Join words as people write them, without blanks before clitics and most marks.

    >>> as_written(split_words('He said , " I do n\'t know ( yet ) . "'))
    'He said, "I don\'t know (yet)."'
    """
    quoted = _QUOTED.sub(r'"\1"', " ".join(words))
    return _AFTER.sub("", _BEFORE.sub("", quoted))
