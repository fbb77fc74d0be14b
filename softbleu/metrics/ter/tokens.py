"""Text as Tercom takes it: punctuation split off or left out, Chinese and Japanese characters by themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from softbleu.text.tokens import Split, Tokenizer

_ENTITIES = {"&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}
_APART = str.maketrans({mark: f" {mark} " for mark in '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'})
_POINTS = (
    # Unless a digit stands before, or behind it.
    (re.compile("([^0-9])([.,])"), r"\1 \2 "),
    (re.compile("([.,])([^0-9])"), r" \1 \2"),
    (re.compile("([0-9])(-)"), r"\1 \2 "),
)
_PUNCTUATION = str.maketrans(dict.fromkeys('.,?:;!"()'))
_ASIAN_MARKS = (
    "\u3001\u3002\u3008-\u3011\u3014-\u301f\u30fb\uff01\uff02\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff61-\uff65"
)
_ASIAN_PUNCTUATION = re.compile(f"[{_ASIAN_MARKS}]")
# CJK radicals, strokes, enclosed and compatibility forms, ideographs; not kana within words.
_ASIAN = re.compile(
    f"([\u2e80-\u2eff\u31c0-\u31ef\u3200-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f{_ASIAN_MARKS}])"
)


@dataclass(frozen=True)
class TercomTokenizer(Tokenizer):
    """Words of text that is changed first.

    >>> TercomTokenizer(lowercase=True, normalized=True).split("It's 1,000 -- or so.")
    ['it', "'s", '1,000', '--', 'or', 'so', '.']
    >>> TercomTokenizer(no_punct=True).split("No, I did not (yet).")
    ['No', 'I', 'did', 'not', 'yet']
    """

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False

    splits_at_whitespace: ClassVar[bool] = False
    by_word: ClassVar[bool] = False

    @property
    def splitter(self) -> Split:
        """The function that splits a line."""
        split = Tokenizer(self.tokenize).splitter
        return lambda line: split(self._changed(line))

    def reference(self, line: str) -> str:
        """A line that is changed already: sacrebleu changes references twice, and the second time splits more."""
        return " ".join(self._changed(line).split())

    def _changed(self, line: str) -> str:
        line = line.rstrip()
        if self.lowercase:
            line = line.lower()
        if self.normalized:
            line = _normalized(line)
            if self.asian_support:
                line = _ASIAN.sub(r" \1 ", line)
        if self.no_punct:
            line = line.translate(_PUNCTUATION)
            if self.asian_support:
                line = _ASIAN_PUNCTUATION.sub("", line)
        return line


def _normalized(line: str) -> str:
    line = line.replace("\n-", "").replace("\n", " ")
    for entity, character in _ENTITIES.items():
        line = line.replace(entity, character)
    line = f" {line} ".translate(_APART).replace("'s ", " 's ")
    for pattern, apart in _POINTS:
        line = pattern.sub(apart, line)
    return line
