"""N-gram language models with back-off, as sorted arrays; trained by modified Kneser-Ney (Chen and Goodman 1998)."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import InputError
from softbleu.types import Progress

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

UNKNOWN, START, END = MARKS = ("<unk>", "<s>", "</s>")
NEVER = -100.0  # Logarithm of the probability of unknown words where a model says nothing of them, as KenLM has it
MOST_ORDER = 5
_REPORT_EVERY = 10_000
_TOKENS_AT_ONCE = 1 << 18  # Judged together: few enough for the memory
_UNKNOWN, _START, _END = range(3)
_NOT_ASKED = -99  # Logarithm that files have for the beginning of a line, which nothing is before
_FALLBACK = (0.5, 1.0, 1.5)
"""What is taken off counts of 1, 2 and more where the text is too small to tell, as KenLM does if asked."""


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
        found: Integers = np.where(self.keys[places] == keys, places, -1)
        return found


@dataclass(frozen=True)
class LineJudgements:
    """What a language model makes of lines."""

    log_probabilities: Floats
    """Of each line, to base 10: the sum over its tokens and, if the model judges that, its end."""
    tokens: Integers  # Their numbers, ends not counted
    unknown: Integers  # How many of them the model does not know


@dataclass(frozen=True)
class NgramModel:
    """An n-gram model with back-off (Katz 1987): of n-grams not seen, the shorter ones are looked at.

    >>> from softbleu.language import train_ngrams
    >>> model = train_ngrams([["a", "rose", "is", "a", "rose"]], order=2)
    >>> judged = model.judge([["a", "rose"], ["a", "tulip"], []])
    >>> judged.tokens.tolist(), judged.unknown.tolist()
    ([2, 2, 0], [0, 1, 0])
    >>> likely, unlikely, _ = judged.log_probabilities.tolist()
    >>> likely > unlikely
    True
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
        found: list[float] = self.token_log_probabilities(self.codes(line), np.array([0, len(line)]))[:-1].tolist()
        return found

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
        found: Floats = logs[judged]
        return found

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
        found: Floats = logs
        return found

    def ngrams(self, order: int) -> Integers:
        """Numbers of the words of all n-grams of an order, in the order of their table: (n-grams, order)."""
        rows = np.arange(len(self.words))[:, None]
        for table in self.tables[1:order]:
            contexts, last = np.divmod(table.keys, len(self.words))
            rows = np.column_stack((rows[contexts], last))
        return rows


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
    progress: Progress | None = None,
) -> NgramModel:
    """Train an n-gram model on tokenised lines.

    Counts of shorter n-grams are of the words before which they are seen, but of n-grams at the beginning of a line,
    as often as they are there. What is taken off counts of 1, 2 and more follows from how many n-grams are seen once
    to four times; the share of an n-gram that is left out goes to the shorter ones. Words seen fewer than
    `least_word` times are taken for `<unk>`; n-grams of two words or more seen fewer than `least_ngram` times are
    left out. `progress` is told how many tokens were read.

    >>> model = train_ngrams([["a", "rose", "is", "a", "rose"]], order=2)
    >>> list(model.words), [len(table.keys) for table in model.tables]
    (['<unk>', '<s>', '</s>', 'a', 'is', 'rose'], [6, 5])
    """
    if not 1 <= order <= MOST_ORDER:
        raise InputError(f"an n-gram model has an order from 1 to {MOST_ORDER}, not {order}")
    if least_word < 1 or least_ngram < 1:
        raise InputError("words and n-grams are kept that are seen once or more: give a number from 1")
    words, text = _read(lines, least_word, progress)
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


def _read(lines: Iterable[Sequence[str]], least: int, progress: Progress | None) -> tuple[tuple[str, ...], Integers]:
    """Sort the words that are frequent enough, and number all lines, each between its marks."""
    vocabulary: dict[str, int] = {}
    numbered, tokens, reported = array("i"), 0, 0
    for line in lines:
        codes = [vocabulary.setdefault(word, len(vocabulary)) for word in line]
        # -1 and -2 are a line's beginning and end.
        numbered.extend([-1, *codes, -2])
        tokens += len(codes)
        if progress is not None and tokens >= reported + _REPORT_EVERY:
            reported = tokens
            progress(tokens, 0)
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
