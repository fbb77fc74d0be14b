"""N-gram language models with back-off, as sorted arrays, and their files in the ARPA format of SRILM and KenLM."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import InputError
from softbleu.io.arguments import read_number
from softbleu.io.platform import cached_property
from softbleu.io.reading import open_stream, parse_whole, text_lines

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

UNKNOWN, START, END = MARKS = ("<unk>", "<s>", "</s>")
NEVER = -100.0  # Log probability of unknown words in a model without `<unk>`, as in KenLM
_MOST_ORDER = 10  # Greatest order of n-grams
_TOKENS_AT_ONCE = 1 << 18  # Tokens that are judged together, to save memory


@dataclass(frozen=True)
class NgramTable:
    """All n-grams of one order, sorted by key."""

    keys: Integers
    """Row of the n-gram's head in the table of the lower order, times the number of words, plus the last word."""
    log_probabilities: NDArray[np.float32]  # Log probability (base 10) of the last word after the others
    backoffs: NDArray[np.float32]
    """Log back-off weight (base 10) of unseen next words; 0 for the greatest order."""

    def find(self, keys: Integers) -> Integers:
        """Find the row of each key; -1 for missing keys."""
        if not len(self.keys):
            return np.full(len(keys), -1, np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, -1)


@dataclass(frozen=True)
class NgramModel:
    """An n-gram model with back-off (Katz 1987): unseen n-grams are scored by shorter ones.

    >>> logs = np.array([-1.0, -99.0, -0.5, -0.25], np.float32)
    >>> model = NgramModel([*MARKS, "a"], [NgramTable(np.arange(4), logs, np.zeros(4, np.float32))])
    >>> model.judge([["a", "a"], ["a", "tulip"], []]).tolist()
    [-1.0, -1.75, -0.5]
    """

    words: Sequence[str]
    """All words, including `<unk>`, `<s>` and `</s>`; a word's number is its position here and in the first table."""
    tables: Sequence[NgramTable]  # For n = 1, 2, …
    cased: ClassVar[bool] = False
    ends: ClassVar[bool] = True

    @property
    def order(self) -> int:
        """Greatest order of n-grams."""
        return len(self.tables)

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {word: code for code, word in enumerate(self.words) if word not in MARKS}

    @cached_property
    def _marks(self) -> tuple[int, int, int]:
        unknown, start, end = map(self.words.index, MARKS)
        return unknown, start, end

    def codes(self, words: Iterable[str]) -> Integers:
        """Return the numbers of words; unknown words get the number of `<unk>`."""
        known, unknown = self._codes, self._marks[0]
        return np.fromiter((known.get(word, unknown) for word in words), np.int64)

    def judge(self, lines: Sequence[Sequence[str]]) -> Floats:
        """Compute the log probability (base 10) of each line of words, including its end."""
        offsets = np.cumsum([0, *map(len, lines)])
        codes = self.codes(chain.from_iterable(lines))
        lengths = np.diff(offsets)
        logs = self.token_log_probabilities(codes, offsets)
        # Sequential sums, so that digits of a line do not depend on other lines.
        numbers = np.repeat(np.arange(len(lengths)), lengths + 1)
        return np.bincount(numbers, logs, len(lengths)).astype(np.float64)

    def judge_words(self, line: Sequence[str]) -> list[float]:
        """Compute the log probability (base 10) of each word of a line given the words before it."""
        logs: list[float] = self.token_log_probabilities(self.codes(line), np.array([0, len(line)]))[:-1].tolist()
        return logs

    def token_log_probabilities(self, codes: Integers, offsets: Integers) -> Floats:
        """Compute the log probability (base 10) of each token, and of each line's end, given the tokens before it."""
        _, start, end = self._marks
        lengths = np.diff(offsets)
        # Lines with their beginnings and ends
        text = np.full(len(codes) + 2 * len(lengths), end, np.int64)
        starts = offsets[:-1] + 2 * np.arange(len(lengths))
        inner = np.ones(len(text), bool)
        inner[starts] = inner[starts + lengths + 1] = False
        text[inner] = codes
        text[starts] = start
        # Parts with their contexts
        before = range(0, len(text), _TOKENS_AT_ONCE)
        parts = [(max(at - self.order + 1, 0), at) for at in before]
        logs = np.concatenate(
            [np.zeros(0)]
            + [self._log_probabilities(text[first : at + _TOKENS_AT_ONCE])[at - first :] for first, at in parts]
        )
        judged = np.ones(len(text), bool)
        judged[starts] = False
        return logs[judged]

    def _log_probabilities(self, text: Integers) -> Floats:
        """Compute the log probability of each token, including beginnings of lines."""
        start = self._marks[1]
        logs = self.tables[0].log_probabilities[text].astype(np.float64)
        places = text
        for n, (shorter, table) in enumerate(zip(self.tables, self.tables[1:], strict=False), start=2):
            if len(text) < n:
                break
            contexts, last = places[: len(text) - n + 1], text[n - 1 :]
            # Contexts end at the beginning of a line.
            contexts = np.where(last == start, -1, contexts)
            places = table.find(np.where(contexts < 0, -1, contexts * len(self.words) + last))
            known = contexts >= 0
            logs[n - 1 :][known] += shorter.backoffs[contexts[known]]
            seen = places >= 0
            logs[n - 1 :][seen] = table.log_probabilities[places[seen]]
        return logs


def read_arpa(path: str | os.PathLike[str]) -> NgramModel:
    r"""Read an n-gram model from a file in ARPA format, plain or packed (gzip, bzip2).

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "one.arpa"
    >>> words = "-99\t<s>\n-0.3\t</s>\n-0.3\ta\n"
    >>> _ = place.write_text(f"\\data\\\nngram 1=3\n\n\\1-grams:\n{words}\n\\end\\\n")
    >>> read_arpa(place).judge([["a"], ["the"]]).round(2).tolist()
    [-0.6, -100.3]
    """
    with open_stream(Path(path)) as stream:
        return _Reader(str(path), text_lines(stream.content, str(path), "utf-8")).read()


class _Reader:
    """Reader of a file in ARPA format."""

    def __init__(self, name: str, lines: Iterator[str]) -> None:
        self._name = name
        self._lines = enumerate(lines, start=1)
        self._number = 0

    def read(self) -> NgramModel:
        if self._next() != "\\data\\":
            self._refuse("an n-gram model in ARPA format begins with \\data\\")
        counts: list[int] = []
        while (line := self._next()).startswith("ngram "):
            counts.append(self._count(line, len(counts) + 1))
        if not counts:
            self._refuse("the numbers of n-grams follow \\data\\, such as ngram 1=5000")
        words, first = self._words(line, counts[0])
        codes, tables = {word: code for code, word in enumerate(words)}, [first]
        for n, count in enumerate(counts[1:], start=2):
            tables.append(self._table(self._next(), n, count, codes, tables))
        if self._next() != "\\end\\":
            self._refuse("\\end\\ was expected: the file is truncated, or has more n-grams than declared")
        return NgramModel(words, tables)

    def _next(self) -> str:
        """Read the next line that is not blank."""
        for number, line in self._lines:
            self._number = number
            if text := line.strip():
                return text
        raise InputError(f"{self._name}: truncated: it ends after line {self._number}, without \\end\\")

    def _refuse(self, reason: str) -> NoReturn:
        raise InputError(f"{self._name}, line {self._number}: {reason}")

    def _count(self, line: str, order: int) -> int:
        head, _, number = line.removeprefix("ngram ").partition("=")
        if head.strip() != str(order) or not number.strip().isdecimal() or order > _MOST_ORDER:
            self._refuse(f"ngram {order}=… was expected, up to order {_MOST_ORDER}, not {line[:40]!r}")
        try:
            return parse_whole(number.strip())
        except ValueError as error:
            self._refuse(str(error))

    def _entries(self, title: str, order: int, count: int) -> Iterator[tuple[Sequence[str], float, float]]:
        if title != f"\\{order}-grams:":
            self._refuse(f"\\{order}-grams: was expected, not {title[:40]!r}")
        for _ in range(count):
            parts = self._next().split()
            if len(parts) not in (order + 1, order + 2):
                self._refuse(f"a logarithm, {order} words and optionally a back-off were expected")
            numbers = [self._log(text) for text in (parts[0], *parts[order + 1 :])]
            if numbers[0] > 0:
                self._refuse(f"{parts[0]} is not the logarithm of a probability: it is above 0")
            yield parts[1 : order + 1], numbers[0], numbers[1] if len(numbers) > 1 else 0.0

    def _log(self, text: str) -> float:
        try:
            value = read_number(float, text)
        except ValueError:
            value = math.nan
        if value == -math.inf:
            return NEVER
        if not abs(value) <= 1000:
            self._refuse(f"{text[:20]!r} is not a logarithm")
        return value

    def _words(self, title: str, count: int) -> tuple[tuple[str, ...], NgramTable]:
        words: dict[str, None] = {}
        logs, backoffs = [], []
        for (word,), log, backoff in self._entries(title, 1, count):
            # SRILM writes <UNK>.
            word = UNKNOWN if word == UNKNOWN.upper() else word
            if word in words:
                self._refuse(f"the word {word[:40]!r} is repeated")
            words[word] = None
            logs.append(log)
            backoffs.append(backoff)
        for mark in (START, END):
            if mark not in words:
                self._refuse(f"{mark} is missing among the words")
        if UNKNOWN not in words:
            words[UNKNOWN] = None
            logs.append(NEVER)
            backoffs.append(0.0)
        table = NgramTable(np.arange(len(words)), np.array(logs, np.float32), np.array(backoffs, np.float32))
        return tuple(words), table

    def _table(
        self, title: str, order: int, count: int, codes: dict[str, int], tables: Sequence[NgramTable]
    ) -> NgramTable:
        rows, logs, backoffs = [], [], []
        for ngram, log, backoff in self._entries(title, order, count):
            row = [codes.get(word, -1) for word in ngram]
            if -1 in row:
                self._refuse(f"the word {ngram[row.index(-1)][:40]!r} is missing among the 1-grams")
            rows.append(row)
            logs.append(log)
            backoffs.append(backoff)
        words = np.array(rows, np.int64).reshape(-1, order)
        places = words[:, 0]
        for table, last in zip(tables[1:], words.T[1:-1], strict=True):
            places = table.find(np.where(places < 0, -1, places * len(codes) + last))
        if (places < 0).any():
            at = rows[int(np.flatnonzero(places < 0)[0])]
            text = " ".join(list(codes)[code] for code in at)
            raise InputError(f"{self._name}: the n-gram {text[:60]!r} lacks its first words as a shorter n-gram")
        keys = places * len(codes) + words[:, -1]
        ascending = np.argsort(keys, kind="stable")
        keys = keys[ascending]
        if (keys[1:] == keys[:-1]).any():
            raise InputError(f"{self._name}: an n-gram of {order} words is repeated")
        arrays = (np.array(values, np.float32)[ascending] for values in (logs, backoffs))
        return NgramTable(keys, *arrays)
