"""Text as arrays: lines of token ids, the ids of words, and the pairs of tokens of each segment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import InputError
from softbleu.io.platform import cached_property

if TYPE_CHECKING:
    from softbleu.types import Array, Floats, Integers

_BLOCK = 1 << 14  # Words whose parts are coded at once
_SMALL = 1 << 12  # Pairs of a segment whose decays are cached: 8 MB at most, 1 MB of ordinary lines


@dataclass(frozen=True)
class Tokens:
    """Lines as coded tokens: line i holds ``codes[offsets[i]:offsets[i + 1]]``."""

    codes: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def joined(cls, parts: Sequence[Tokens]) -> Tokens:
        """Join the lines of several texts."""
        starts = np.cumsum([0, *(len(part.codes) for part in parts[:-1])])
        ends = [start + part.offsets[1:] for start, part in zip(starts, parts, strict=True)]
        codes, offsets = np.concatenate([part.codes for part in parts]), np.concatenate(([0], *ends))
        written = [
            part.texts for part in parts if isinstance(part, WrittenLines | LinesInText) and part.texts is not None
        ]
        texts = np.concatenate(written) if written and len(written) == len(parts) else None
        placed = [part for part in parts if isinstance(part, LinesInText)]
        if not placed or len(placed) < len(parts):
            return cls(codes, offsets) if texts is None else WrittenLines(codes, offsets, texts)
        firsts = np.cumsum([0, *(len(part.text.lengths) for part in placed[:-1])]).tolist()
        before = [
            np.where(part.before < 0, -1, part.before + first) for part, first in zip(placed, firsts, strict=True)
        ]
        text = Tokens.joined([part.text for part in placed])
        return LinesInText(codes, offsets, text, np.concatenate(before), texts)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of tokens in each line."""
        return self.offsets[1:] - self.offsets[:-1]

    def lines(self, start: int, stop: int) -> Self:
        """Return lines `start` to `stop - 1`."""
        offsets = self.offsets[start : stop + 1]
        return self._with(self.codes[offsets[0] : offsets[-1]], offsets - offsets[0], slice(start, stop))

    def by_line(self) -> list[tuple[int, ...]]:
        """Return the codes of each line."""
        codes = self.codes.tolist()
        return [tuple(codes[start:stop]) for start, stop in pairwise(self.offsets.tolist())]

    def surface_forms(self, words: Sequence[str] | Mapping[int, str]) -> list[list[str]]:
        """Return the words of each line; `words` maps codes to words."""
        return [[words[code] for code in line] for line in self.by_line()]

    def chosen(self, lines: NDArray[np.int64]) -> Self:
        """Return the lines with these numbers, in this order."""
        places, offsets = chosen_places(self.offsets, lines)
        return self._with(self.codes[places], offsets, lines)

    def first_tokens(self, sizes: NDArray[np.int64]) -> Self:
        """Keep the first tokens of each line, (lines,) numbers of them; text beside them stays whole."""
        within = np.arange(len(self.codes)) - np.repeat(self.offsets[:-1], self.lengths)
        codes = self.codes[within < np.repeat(sizes, self.lengths)]
        return self._with(codes, np.concatenate(([0], np.cumsum(sizes))), slice(None))

    def _with(self, codes: NDArray[np.int32], offsets: NDArray[np.int64], lines: slice | NDArray[np.int64]) -> Self:
        """Return a value of the same class for `lines`, whose codes are given."""
        return type(self)(codes, offsets)

    def spread(self, parts: WordParts) -> Tokens:
        """Replace each token by its parts."""
        places, bounds = chosen_places(parts.bounds, self.codes)
        return Tokens(parts.codes[places], bounds[self.offsets])


@dataclass(frozen=True)
class TextLines(Tokens):
    """Coded lines with their text."""

    texts: Array

    def _with(self, codes: NDArray[np.int32], offsets: NDArray[np.int64], lines: slice | NDArray[np.int64]) -> Self:
        return type(self)(codes, offsets, self.texts[lines])


class WrittenLines(TextLines):
    """Coded lines with their text as an encoder reads it."""


@dataclass(frozen=True)
class LinesInText(Tokens):
    """Coded lines with the lines that precede them in their documents."""

    text: Tokens
    before: NDArray[np.int64]  # (lines, most): line numbers in `text`, nearest last; -1: no line
    texts: Array | None = None  # The lines as they are written, if `text` has them, too

    def _with(self, codes: NDArray[np.int32], offsets: NDArray[np.int64], lines: slice | NDArray[np.int64]) -> Self:
        texts = None if self.texts is None else self.texts[lines]
        return type(self)(codes, offsets, self.text, self.before[lines], texts)


def lines_before(tokens: Tokens, most: int | None = None) -> list[tuple[tuple[int, ...], ...]]:
    """Return the codes of the lines before each line, at most `most`, nearest last; none for lines without a text."""
    if most == 0 or not isinstance(tokens, LinesInText):
        return [()] * len(tokens.lengths)
    before = tokens.before[:, -(most or 0) :]
    numbers = np.unique(before[before >= 0])
    codes = dict(zip(numbers.tolist(), tokens.text.chosen(numbers).by_line(), strict=True))
    return [tuple(codes[number] for number in line if number >= 0) for line in before.tolist()]


def written_lines(tokens: Tokens) -> list[str]:
    """Return lines as they are written; raise InputError if they were coded without their text."""
    texts = getattr(tokens, "texts", None)
    if texts is None:
        raise InputError(
            "these lines are tokens, without their text: an encoder cannot read them as they are written"
        )
    written: list[str] = texts.tolist()
    return written


def written_before(tokens: Tokens, most: int) -> list[tuple[str, ...]]:
    """Return the lines before each line as they are written; see `lines_before`."""
    if most == 0 or not isinstance(tokens, LinesInText):
        return [()] * len(tokens.lengths)
    texts = written_lines(tokens.text)
    return [tuple(texts[number] for number in line if number >= 0) for line in tokens.before[:, -most:].tolist()]


def texts_of(tokens: Tokens) -> list[str]:
    """Return the text of lines, which `TextTokenizer` keeps."""
    if not isinstance(tokens, TextLines):
        raise InputError("these lines are tokens, without their text: a metric of strings cannot read them")
    texts: list[str] = tokens.texts.tolist()
    return texts


@dataclass(frozen=True)
class TokenPairs:
    """Positions of each segment's token pairs: one row per candidate token, the pairs of a row side by side."""

    rows: Integers  # Bounds of the segments among the candidate tokens
    columns: Integers  # Bounds of the segments among the reference tokens

    @cached_property
    def cells(self) -> Integers:
        """Bounds of the segments among the pairs."""
        return np.concatenate(([0], np.cumsum(np.diff(self.rows) * np.diff(self.columns))))

    def block(self, values: Floats, segment: int) -> Floats:
        """Return the values of a segment's pairs: (candidate tokens, reference tokens)."""
        height, width = (int(bounds[segment + 1] - bounds[segment]) for bounds in (self.rows, self.columns))
        return values[self.cells[segment] : self.cells[segment + 1]].reshape(height, width)

    @cached_property
    def tokens(self) -> tuple[Integers, Integers]:
        """Candidate token and reference token of each pair."""
        widths = np.repeat(np.diff(self.columns), np.diff(self.rows))
        firsts = np.repeat(self.columns[:-1], np.diff(self.rows))
        left = np.repeat(np.arange(len(widths)), widths)
        return left, np.arange(len(left)) + np.repeat(firsts - (np.cumsum(widths) - widths), widths)

    def decays(self, rate: float) -> Floats:
        """Return ``exp(-rate * distance)`` for each pair; positions are middles of tokens, from 0 to 1."""
        shapes = zip(np.diff(self.rows).tolist(), np.diff(self.columns).tolist(), strict=True)
        tables = (
            _decays(*shape, rate) if shape[0] * shape[1] <= _SMALL else _decays.__wrapped__(*shape, rate)
            for shape in shapes
        )
        return np.concatenate([np.empty(0), *tables])


@lru_cache(maxsize=1 << 8)
def _decays(height: int, width: int, rate: float) -> Floats:
    """Return the decays of the pairs of a segment; they depend on its two lengths alone.

    >>> (-np.log(_decays(2, 1, 1.0))).round(3).tolist()
    [0.25, 0.25]
    """
    candidate, reference = ((np.arange(length) + 0.5) / length for length in (height, width))
    return np.exp(-rate * np.abs(np.subtract.outer(candidate, reference))).reshape(-1)


def chosen_places(bounds: NDArray[np.int64], chosen: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of the entries of chosen lines, and the bounds of these lines."""
    lengths = bounds[chosen + 1] - bounds[chosen]
    offsets = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return np.arange(offsets[-1]) + np.repeat(bounds[chosen] - offsets[:-1], lengths), offsets


def sorted_once(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort `keys` in place and drop duplicates, five times as fast as `np.unique` with its hash table."""
    keys.sort()
    once: NDArray[np.int64] = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    return once


class Vocabulary(dict[str, int]):
    """Codes of words, given in order of first appearance.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.encode([["a", "rose", "is"], [], ["a", "rose"]]).codes.tolist()
    [0, 1, 2, 0, 1]
    >>> list(vocabulary)
    ['a', 'rose', 'is']
    """

    def __missing__(self, word: str) -> int:
        code = self[word] = len(self)
        return code

    def since(self, start: int) -> list[str]:
        """Return the words from code `start` on; fast if they are few.

        >>> Vocabulary(a=0, rose=1, so=2).since(1)
        ['rose', 'so']
        """
        return list(islice(reversed(self), max(len(self) - start, 0)))[::-1]

    def encode(self, lines: Sequence[Sequence[str]]) -> Tokens:
        """Code the words of tokenized lines; new words get the next codes."""
        offsets = np.zeros(len(lines) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, lines), np.int64, len(lines)), out=offsets[1:])
        codes = np.fromiter(map(self.__getitem__, chain.from_iterable(lines)), np.int32, int(offsets[-1]))
        return Tokens(codes, offsets)


@dataclass(frozen=True)
class WordParts:
    """Parts of words: word w has ``codes[bounds[w]:bounds[w + 1]]``."""

    codes: Array
    bounds: NDArray[np.int64]

    @cached_property
    def kinds(self) -> int:
        """One more than the greatest code."""
        return int(self.codes.max(initial=-1)) + 1

    @classmethod
    def of(
        cls,
        words: Iterable[str],
        parts: Callable[[str], Sequence[str]],
        vocabulary: Vocabulary | None = None,
        behind: WordParts | None = None,
    ) -> WordParts:
        """Code the parts of words, in order of appearance or by `vocabulary`; `behind` are those of words before."""
        known = Vocabulary() if vocabulary is None else vocabulary
        rest = iter(words)
        # A block at a time: parts take many times more memory as strings than as codes.
        blocks = [known.encode([]) if behind is None else Tokens(behind.codes, behind.bounds)]
        while some := [parts(word) for word in islice(rest, _BLOCK)]:
            blocks.append(known.encode(some))
        lines = Tokens.joined(blocks)
        return cls(lines.codes, lines.offsets)
