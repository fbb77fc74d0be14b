"""Files of n-gram models in ARPA form, as SRILM and KenLM write them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from softbleu.errors import InputError
from softbleu.io.data_files import parse_whole
from softbleu.io.streams import open_stream, text_lines
from softbleu.language.ngrams import END, NEVER, START, UNKNOWN, NgramModel, NgramTable

_MOST_ORDER = 10
Entry = tuple[Sequence[str], float, float]


def read_arpa(path: str | os.PathLike[str]) -> NgramModel:
    r"""Read an n-gram model from a file in ARPA form, plain or packed (gzip, bzip2).

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "one.arpa"
    >>> words = "-99\t<s>\n-0.3\t</s>\n-0.3\ta\n"
    >>> _ = place.write_text(f"\\data\\\nngram 1=3\n\n\\1-grams:\n{words}\n\\end\\\n")
    >>> read_arpa(place).judge([["a"], ["the"]]).log_probabilities.round(2).tolist()
    [-0.6, -100.3]
    """
    with open_stream(Path(path)) as stream:
        return _Reader(str(path), text_lines(stream.content, str(path), "utf-8")).read()


class _Reader:
    """Reader of a file, from its first line to its last."""

    def __init__(self, name: str, lines: Iterator[str]) -> None:
        self._name = name
        self._lines = enumerate(lines, start=1)
        self._number = 0

    def read(self) -> NgramModel:
        if self._next() != "\\data\\":
            self._refuse("an n-gram model in ARPA form begins with \\data\\")
        counts: list[int] = []
        while (line := self._next()).startswith("ngram "):
            counts.append(self._count(line, len(counts) + 1))
        if not counts:
            self._refuse("after \\data\\ come the numbers of n-grams, as ngram 1=5000")
        words, first = self._words(line, counts[0])
        codes, tables = {word: code for code, word in enumerate(words)}, [first]
        for n, count in enumerate(counts[1:], start=2):
            tables.append(self._table(self._next(), n, count, codes, tables))
        if self._next() != "\\end\\":
            self._refuse("\\end\\ was expected; is it cut short, or are there more n-grams than it says?")
        return NgramModel(words, tables)

    def _next(self) -> str:
        """Read the next line that has anything in it."""
        for number, line in self._lines:
            self._number = number
            if text := line.strip():
                return text
        raise InputError(f"{self._name}: it ends after line {self._number}, without \\end\\: it is cut short")

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

    def _entries(self, title: str, order: int, count: int) -> Iterator[Entry]:
        if title != f"\\{order}-grams:":
            self._refuse(f"\\{order}-grams: was expected, not {title[:40]!r}")
        for _ in range(count):
            parts = self._next().split()
            if len(parts) not in (order + 1, order + 2):
                self._refuse(f"a logarithm, {order} words and, perhaps, a back-off were expected")
            numbers = [self._log(text) for text in (parts[0], *parts[order + 1 :])]
            if numbers[0] > 0:
                self._refuse(f"{parts[0]} is no logarithm of a probability: it is above 0")
            yield parts[1 : order + 1], numbers[0], numbers[1] if len(numbers) > 1 else 0.0

    def _log(self, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if value == -math.inf:
            return NEVER
        if not abs(value) <= 1000:
            self._refuse(f"{text[:20]!r} is no logarithm")
        return value

    def _words(self, title: str, count: int) -> tuple[tuple[str, ...], NgramTable]:
        words: dict[str, None] = {}
        logs, backoffs = [], []
        for (word,), log, backoff in self._entries(title, 1, count):
            # SRILM writes the mark of unknown words in upper case.
            word = UNKNOWN if word == UNKNOWN.upper() else word
            if word in words:
                self._refuse(f"the word {word[:40]!r} stands there twice")
            words[word] = None
            logs.append(log)
            backoffs.append(backoff)
        for mark in (START, END):
            if mark not in words:
                self._refuse(f"the mark {mark} is not among the words")
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
                self._refuse(f"the word {ngram[row.index(-1)][:40]!r} is not among those of one word")
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
            raise InputError(f"{self._name}: the n-gram {text[:60]!r} is there, but not what it begins with")
        keys = places * len(codes) + words[:, -1]
        ascending = np.argsort(keys, kind="stable")
        keys = keys[ascending]
        if (keys[1:] == keys[:-1]).any():
            raise InputError(f"{self._name}: an n-gram of {order} words stands there twice")
        arrays = (np.array(values, np.float32)[ascending] for values in (logs, backoffs))
        return NgramTable(keys, *arrays)
