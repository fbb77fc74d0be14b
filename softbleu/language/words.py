"""Lines as words, as language models and word lists of this room have them."""

from __future__ import annotations

import re

_ENDINGS = "s|re|ve|ll|d|m"
_END = r"(?![^\W_])"
_CLITIC = rf"(?:n't|'(?:{_ENDINGS})){_END}"
_INSIDE = rf"(?:[-.]|'(?!(?:{_ENDINGS}){_END}))[^\W_]+?"
_WORD = re.compile(
    rf"{_CLITIC}|[^\W\d_]+?(?={_CLITIC})|[^\W_]+(?:{_INSIDE}(?={_CLITIC}|{_END}))*|\S",
    re.IGNORECASE,
)
_PLAIN = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"'})


def split_words(line: str) -> list[str]:
    """Split a line into words, clitics, numbers and marks, whether it was tokenised or not.

    >>> split_words("I don't think it’s the well-known o'clock.")
    ['I', 'do', "n't", 'think', 'it', "'s", 'the', 'well-known', "o'clock", '.']
    >>> split_words("I do n't ( 3.5 % )")
    ['I', 'do', "n't", '(', '3.5', '%', ')']
    """
    return _WORD.findall(line.translate(_PLAIN))
