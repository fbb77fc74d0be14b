"""N-gram models trained by modified Kneser-Ney (Chen and Goodman 1998), and written in ARPA form."""

from __future__ import annotations

import gzip
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import InputError
from softbleu.io.files import write_output
from softbleu.language.ngrams import MARKS, UNKNOWN, NgramModel, NgramTable

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_ORDER = 5
_UNKNOWN, _START, _END = range(3)
_NOT_ASKED = -99  # Logarithm that files have for the beginning of a line, which nothing is before
_FALLBACK = (0.5, 1.0, 1.5)
"""What is taken off counts of 1, 2 and more where the text is too small to tell, as KenLM does if asked."""


@dataclass(frozen=True)
class _Counts:
    """The n-grams of one order that a text has, by ascending key."""

    keys: Integers
    contexts: Integers  # Place of each n-gram without its last word in the order below
    endings: Integers  # Place of each n-gram without its first word in the order below
    firsts: Integers  # Number of the first word
    times: Integers  # How often the text has it


def train_ngrams(
    lines: Iterable[Sequence[str]],
    order: int = 3,
    *,
    least_word: int = 1,
    least_ngram: int = 1,
) -> NgramModel:
    """Train an n-gram model on tokenised lines.

    Counts of shorter n-grams are of the words before which they are seen, but of n-grams at the beginning of a line,
    as often as they are there. What is taken off counts of 1, 2 and more follows from how many n-grams are seen once
    to four times; the share of an n-gram that is left out goes to the shorter ones. Words seen fewer than
    `least_word` times are taken for `<unk>`; n-grams of two words or more seen fewer than `least_ngram` times are
    left out.

    >>> model = train_ngrams([["a", "rose", "is", "a", "rose"]], order=2)
    >>> list(model.words), [len(table.keys) for table in model.tables]
    (['<unk>', '<s>', '</s>', 'a', 'is', 'rose'], [6, 5])
    """
    if not 1 <= order <= MOST_ORDER:
        raise InputError(f"an n-gram model has an order from 1 to {MOST_ORDER}, not {order}")
    if least_word < 1 or least_ngram < 1:
        raise InputError("words and n-grams are kept that are seen once or more: give a number from 1")
    words, text = _read(lines, least_word)
    every = _count(text, len(words), order)
    # Before there is any word, all but the beginning of a line are equally likely.
    probabilities = np.full(1, 1 / (len(words) - 1))
    found: list[Floats] = []
    backoffs: list[Floats] = []
    for n, counts in enumerate(every, start=1):
        seen = _adjusted(counts, every[n] if n < order else None)
        if n == 1:
            # The beginning of a line comes after nothing.
            seen[_START] = 0
        taken = _discounts(seen)[np.minimum(seen, 3)]
        if n > 1:
            taken = np.where(counts.times < least_ngram, seen, taken)
        totals = np.bincount(counts.contexts, seen, len(probabilities))
        left = np.bincount(counts.contexts, taken, len(probabilities))
        shares = np.divide(left, totals, out=np.ones(len(totals)), where=totals > 0)
        own = (seen - taken) / np.maximum(totals, 1)[counts.contexts]
        probabilities = own + shares[counts.contexts] * probabilities[counts.endings]
        found.append(probabilities)
        backoffs.append(shares)
    backoffs.append(np.ones(len(probabilities)))
    return NgramModel(words, _tables(every, found, backoffs[1:], least_ngram))


def _read(lines: Iterable[Sequence[str]], least: int) -> tuple[tuple[str, ...], Integers]:
    """Sort the words that are frequent enough, and number all lines, each between its marks."""
    vocabulary: dict[str, int] = {}
    numbered = array("i")
    for line in lines:
        # -1 and -2 are a line's beginning and end.
        numbered.extend([-1, *(vocabulary.setdefault(word, len(vocabulary)) for word in line), -2])
    if not numbered:
        raise InputError("no text to train on: it has no lines")
    text = np.frombuffer(numbered, np.int32)
    times = np.bincount(text[text >= 0], minlength=len(vocabulary)).tolist()
    # Readers of models take the mark in upper case for the mark.
    marks = {*MARKS, UNKNOWN.upper()}
    kept = sorted(word for word, count in zip(vocabulary, times, strict=True) if count >= least and word not in marks)
    numbers = np.full(len(vocabulary) + 2, _UNKNOWN, np.int64)
    numbers[[vocabulary[word] for word in kept]] = np.arange(len(kept)) + len(MARKS)
    numbers[[-1, -2]] = _START, _END
    return (*MARKS, *kept), numbers[text]


def _count(text: Integers, words: int, order: int) -> list[_Counts]:
    """Count the n-grams of each order; none reaches from one line into the next."""
    nothing = np.zeros(words, np.int64)
    every = [_Counts(np.arange(words), nothing, nothing, np.arange(words), np.bincount(text, minlength=words))]
    places = text
    for n in range(2, order + 1):
        contexts, last = places[: max(len(text) - n + 1, 0)], text[n - 1 :]
        starts = np.flatnonzero((contexts >= 0) & (last != _START))
        keys, first, inverse, times = np.unique(
            contexts[starts] * words + last[starts], return_index=True, return_inverse=True, return_counts=True
        )
        at = starts[first]
        every.append(_Counts(keys, contexts[at], places[at + 1], text[at], times))
        places = np.full(len(text), -1)
        places[starts] = inverse
    return every


def _adjusted(counts: _Counts, longer: _Counts | None) -> Integers:
    """Number of different words before each n-gram; how often it is there, if nothing can be or it is the longest."""
    if longer is None:
        return counts.times.copy()
    before = np.bincount(longer.endings, minlength=len(counts.keys))
    return np.where(counts.firsts == _START, counts.times, before)


def _discounts(seen: Integers) -> Floats:
    """What is taken off counts of 0, 1, 2, and 3 or more."""
    once, twice, thrice, four = (int(number) for number in np.bincount(np.minimum(seen, 5), minlength=6)[1:5])
    if once and twice and thrice:
        share = once / (once + 2 * twice)
        found = (1 - 2 * share * twice / once, 2 - 3 * share * thrice / twice, 3 - 4 * share * four / thrice)
        # Where nothing is taken off, words not seen there would be impossible.
        if all(0 < each <= k for k, each in enumerate(found, start=1)):
            return np.array([0, *found])
    return np.array([0, *_FALLBACK])


def _tables(
    every: Sequence[_Counts], probabilities: Sequence[Floats], backoffs: Sequence[Floats], least: int
) -> list[NgramTable]:
    """Put the n-grams that are seen often enough into tables; what they begin with is in the tables before."""
    words = len(every[0].keys)
    tables: list[NgramTable] = []
    places = np.zeros(1, np.int64)
    for n, (counts, probability, backoff) in enumerate(zip(every, probabilities, backoffs, strict=True), start=1):
        kept = counts.times >= (least if n > 1 else 0)
        keys = places[counts.contexts[kept]] * words + counts.keys[kept] % words
        logs, more = (np.log10(values[kept]).astype(np.float32) for values in (probability, backoff))
        if n == 1:
            logs[_START] = _NOT_ASKED
        tables.append(NgramTable(keys, logs, more))
        places = np.cumsum(kept) - 1
    return tables


def write_arpa(model: NgramModel, path: Path, digits: int = 6) -> None:
    """Write a model in ARPA form, packed if the name ends in ``.gz``; logarithms have so many decimals."""
    lines = _lines(model, digits)
    if path.suffix == ".gz":
        write_output(path, gzip.compress("".join(lines).encode(), mtime=0))
    else:
        write_output(path, lines)


def _lines(model: NgramModel, digits: int) -> Iterator[str]:
    yield "\\data\\\n"
    yield from (f"ngram {n}={len(table.keys)}\n" for n, table in enumerate(model.tables, start=1))
    for n, table in enumerate(model.tables, start=1):
        yield f"\n\\{n}-grams:\n"
        texts = (" ".join(model.words[code] for code in row) for row in _rows(model, n).tolist())
        logs, backoffs = table.log_probabilities.tolist(), table.backoffs.tolist()
        for text, log, backoff in zip(texts, logs, backoffs, strict=True):
            more = f"\t{_number(backoff, digits)}" if n < model.order and backoff else ""
            yield f"{_number(log, digits)}\t{text}{more}\n"
    yield "\n\\end\\\n"


def _rows(model: NgramModel, order: int) -> Integers:
    """Numbers of the words of all n-grams of an order, in the order of their table: (n-grams, order)."""
    rows = np.arange(len(model.words))[:, None]
    for table in model.tables[1:order]:
        contexts, last = np.divmod(table.keys, len(model.words))
        rows = np.column_stack((rows[contexts], last))
    return rows


def _number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}".rstrip("0").rstrip(".").replace("-0.", "-.") or "0"
