"""N-gram language models with back-off, as sorted arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from softbleu.io.platform import cached_property

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

UNKNOWN, START, END = MARKS = ("<unk>", "<s>", "</s>")
NEVER = -100.0  # Logarithm of the probability of unknown words where a model says nothing of them, as KenLM has it
_TOKENS_AT_ONCE = 1 << 18  # Judged together: few enough for the memory


@dataclass(frozen=True)
class NgramTable:
    """All n-grams of one order, in ascending order of their keys."""

    keys: Integers
    """Place of the n-gram without its last word in the table below, times the number of words, plus the last word."""
    log_probabilities: NDArray[np.float32]  # Of the last word after the others, to base 10
    backoffs: NDArray[np.float32]
    """Logarithm of what the probability of a word that never follows is multiplied by; of the longest, 0."""

    def find(self, keys: Integers) -> Integers:
        """Place of each key; -1 for those that are not there."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        rows: Integers = np.where(self.keys[places] == keys, places, -1)
        return rows


@dataclass(frozen=True)
class LineJudgements:
    """Judgements of lines by a language model."""

    log_probabilities: Floats
    """Of each line, to base 10: the sum over its tokens and, if the model judges that, its end."""
    tokens: Integers  # Their numbers, ends not counted
    unknown: Integers  # How many of them the model does not know


@dataclass(frozen=True)
class NgramModel:
    """An n-gram model with back-off (Katz 1987): of n-grams not seen, the shorter ones are looked at.

    >>> logs = np.array([-1.0, -99.0, -0.5, -0.25], np.float32)
    >>> model = NgramModel([*MARKS, "a"], [NgramTable(np.arange(4), logs, np.zeros(4, np.float32))])
    >>> judged = model.judge([["a", "a"], ["a", "tulip"], []])
    >>> judged.tokens.tolist(), judged.unknown.tolist(), judged.log_probabilities.tolist()
    ([2, 2, 0], [0, 1, 0], [-1.0, -1.75, -0.5])
    """

    words: Sequence[str]
    """All words, `<unk>`, `<s>` and `</s>` among them; a word's number is its place here and in the first table."""
    tables: Sequence[NgramTable]  # Those of n = 1, 2, …
    cased: ClassVar[bool] = False
    ends: ClassVar[bool] = True

    @property
    def order(self) -> int:
        """Words of the longest n-grams."""
        return len(self.tables)

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {word: code for code, word in enumerate(self.words) if word not in MARKS}

    @cached_property
    def _marks(self) -> tuple[int, int, int]:
        unknown, start, end = map(self.words.index, MARKS)
        return unknown, start, end

    def codes(self, words: Iterable[str]) -> Integers:
        """Numbers of words; those that are not known have that of `<unk>`."""
        known, unknown = self._codes, self._marks[0]
        return np.fromiter((known.get(word, unknown) for word in words), np.int64)

    def judge(self, lines: Sequence[Sequence[str]]) -> LineJudgements:
        """Judge lines of words."""
        offsets = np.cumsum([0, *map(len, lines)])
        codes = self.codes(chain.from_iterable(lines))
        lengths = np.diff(offsets)
        logs = self.token_log_probabilities(codes, offsets)
        # One number after the other, so that a line has the same digits in any company.
        numbers = np.repeat(np.arange(len(lengths)), lengths + 1)
        totals = np.bincount(numbers, logs, len(lengths)).astype(np.float64)
        places = np.flatnonzero(codes == self._marks[0])
        unknown = np.bincount(np.searchsorted(offsets, places, side="right") - 1, minlength=len(lengths))
        return LineJudgements(totals, lengths, unknown)

    def judge_words(self, line: Sequence[str]) -> list[float]:
        """Logarithm of the probability of each word of a line after those before it."""
        logs: list[float] = self.token_log_probabilities(self.codes(line), np.array([0, len(line)]))[:-1].tolist()
        return logs

    def token_log_probabilities(self, codes: Integers, offsets: Integers) -> Floats:
        """Logarithm of the probability of each token after those before it, and of each line's end after its last."""
        _, start, end = self._marks
        lengths = np.diff(offsets)
        # Each line with its beginning and its end.
        text = np.full(len(codes) + 2 * len(lengths), end, np.int64)
        starts = offsets[:-1] + 2 * np.arange(len(lengths))
        inner = np.ones(len(text), bool)
        inner[starts] = inner[starts + lengths + 1] = False
        text[inner] = codes
        text[starts] = start
        # Some tokens at a time, and what stands before them.
        before = range(0, len(text), _TOKENS_AT_ONCE)
        parts = [(max(at - self.order + 1, 0), at) for at in before]
        logs = np.concatenate(
            [np.zeros(0)]
            + [self._log_probabilities(text[first : at + _TOKENS_AT_ONCE])[at - first :] for first, at in parts]
        )
        judged = np.ones(len(text), bool)
        judged[starts] = False
        judged_logs: Floats = logs[judged]
        return judged_logs

    def _log_probabilities(self, text: Integers) -> Floats:
        """Logarithm of the probability of each token after those before it, beginnings of lines included."""
        start = self._marks[1]
        logs = self.tables[0].log_probabilities[text].astype(np.float64)
        places = text
        for n, (shorter, table) in enumerate(zip(self.tables, self.tables[1:], strict=False), start=2):
            if len(text) < n:
                break
            contexts, last = places[: len(text) - n + 1], text[n - 1 :]
            # Nothing reaches from one line into the next.
            contexts = np.where(last == start, -1, contexts)
            places = table.find(np.where(contexts < 0, -1, contexts * len(self.words) + last))
            known = contexts >= 0
            logs[n - 1 :][known] += shorter.backoffs[contexts[known]]
            seen = places >= 0
            logs[n - 1 :][seen] = table.log_probabilities[places[seen]]
        values: Floats = logs
        return values
