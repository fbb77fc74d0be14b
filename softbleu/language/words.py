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
_BEFORE = re.compile(
    rf"\s+(?=[,.;:?!)\]}}%…]|'(?!\S)|{_CLITIC})|(?<=\bcan)\s+(?=not\b)",
    re.IGNORECASE,
)
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
    r"""Join the tokens of a line as people write them, without blanks before clitics and most marks.

    >>> as_written('He said , `` I can not , or do n\'t , know ( yet ) the boys \' names . \'\'')
    'He said, "I cannot, or don\'t, know (yet) the boys\' names."'
    >>> as_written("Nothing's changed  here, and/or there.")
    "Nothing's changed here, and/or there."
    """
    plain = " ".join(line.translate(_PLAIN).replace("''", '"').split())
    return _AFTER.sub("", _BEFORE.sub("", _QUOTED.sub(r'"\1"', plain)))
