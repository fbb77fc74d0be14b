"""Vectors of a vocabulary, and what every source of them has in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from softbleu.io.platform import cached_property

VectorCase = Literal["exact", "fallback"]


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of a list of words, in that order.

    >>> rows = np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)
    >>> vectors = WordVectors(rows, "made up", "0" * 64, zero_words=0)
    >>> vectors.norms.tolist(), vectors.known.tolist(), vectors.mean_norm
    ([5.0, 0.0], [True, False], 5.0)
    """

    rows: NDArray[np.float32]
    """Shape (words, dimension), as in the file, not normalised; a zero row where the word has none."""
    name: str  # What was asked for: a bundled name, or the file name
    fingerprint: str  # Hex SHA-256 of the content the vectors came from
    zero_words: int  # How many of the words were found with an all-zero row, which counts as no vector

    @cached_property
    def norms(self) -> NDArray[np.float64]:
        """Shape (words,): Euclidean length of each row, computed in float64; 0.0 means no vector."""
        lengths: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", self.rows, self.rows, dtype=np.float64))
        return lengths

    @property
    def known(self) -> NDArray[np.bool_]:
        """Shape (words,): whether each word has a vector."""
        return self.norms > 0

    @property
    def mean_norm(self) -> float:
        """Mean Euclidean length over the words that have a vector; 1.0 if none has."""
        lengths = self.norms[self.known]
        return float(lengths.mean()) if lengths.size else 1.0


@runtime_checkable
class VectorSource(Protocol):
    """A set of word vectors, of which only the rows of a vocabulary are ever taken."""

    @property
    def name(self) -> str:
        """Name that was asked for: of a bundled set, or of the file."""

    @property
    def dimension(self) -> int:
        """Length of each vector."""

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the content; a file not yet read to its end is read for it, once."""

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Take the first words, the most frequent ones in most sets, and their rows; all if `count` is None.

        Raises `VectorError`: the content is damaged as far as it was read.
        """

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Take the vectors of these words, in this order; repeated words are fine.

        A word is looked up as written and then, with ``case="fallback"``, lower-cased. A word found as written keeps
        that row even if it is all zero. Of words that a file repeats, the first counts. Raises `VectorError`: the
        content is damaged, or holds values that are not finite, even for words not asked for.
        """


class Sink(Protocol):
    """Receiver of the words of a source: it takes some, and their rows."""

    tolerant: bool  # Whether rows with values that are not finite are wanted as well, not refused

    @property
    def take(self) -> Callable[[bytes, None], int | None]:
        """Gives a word, as UTF-8 bytes, its slot, or the second argument if its row is not wanted."""

    @property
    def full(self) -> bool:
        """Whether nothing more is wanted."""

    def add(self, slots: Sequence[int], rows: NDArray[np.float32]) -> None:
        """Keep these rows, shape (slots, dimension), for these slots."""


class Selection:
    """Gathers the rows of a vocabulary while a source goes through its words.

    ``open_forms`` maps each spelling still looked for, as UTF-8 bytes, to its slot. A source pops the
    spellings it has, so that the first of repeated words wins, and adds their slots and rows. It wants to see
    every row, so that damage is found wherever it is.

    >>> selection = Selection(["The", "cat"], "fallback")
    >>> sorted(selection.open_forms)
    [b'The', b'cat', b'the']
    >>> selection.add([selection.take(b"the", None)], np.ones((1, 4), dtype=np.float32))
    >>> selection.finish(4, "made up", "0" * 64).norms.tolist()
    [2.0, 0.0]
    """

    def __init__(self, words: Sequence[str], case: VectorCase) -> None:
        self.open_forms: dict[bytes, int] = {}
        self.take: Callable[[bytes, None], int | None] = self.open_forms.pop
        self.tolerant = False
        self.full = False
        self._written = self._slots(words)
        self._lowered = self._slots(map(str.lower, words)) if case == "fallback" else self._written
        self._location = np.full(len(self.open_forms), -1, dtype=np.intp)
        self._parts: list[NDArray[np.float32]] = []
        self._count = 0

    def _slots(self, words: Iterable[str]) -> NDArray[np.intp]:
        slot = self.open_forms.setdefault
        # A lone surrogate, from text read with surrogateescape, must not stop the search: it matches nothing.
        forms = (word.encode("utf-8", "surrogatepass") for word in words)
        return np.fromiter((slot(form, len(self.open_forms)) for form in forms), np.intp)

    def add(self, slots: Sequence[int], rows: NDArray[np.float32]) -> None:
        """Keep these rows, shape (slots, dimension), for these slots."""
        if len(slots):
            self._location[np.asarray(slots)] = np.arange(self._count, self._count + len(slots))
            self._count += len(slots)
            self._parts.append(rows)

    def finish(self, dimension: int, name: str, fingerprint: str) -> WordVectors:
        """Put the gathered rows in the order of the words."""
        written = self._location[self._written]
        chosen = np.where(written >= 0, written, self._location[self._lowered])
        known = chosen >= 0
        rows = np.zeros((len(chosen), dimension), dtype=np.float32)
        if self._parts:
            gathered = np.concatenate(self._parts)
            self._parts.clear()
            rows[known] = gathered[chosen[known]]
        return WordVectors(rows, name, fingerprint, int(np.count_nonzero(known & ~rows.any(axis=1))))


class Head:
    """Gathers the first words of a source and their rows.

    >>> head = Head(1)
    >>> head.take(b"the", None), head.take(b"of", None), head.full
    (0, None, True)
    """

    def __init__(self, count: int | None) -> None:
        self.words: list[str] = []
        self.tolerant = False
        self._seen: set[bytes] = set()
        self._count = count
        self._parts: list[NDArray[np.float32]] = []

    @property
    def full(self) -> bool:
        """Whether there are as many as were asked for."""
        return self._count is not None and len(self.words) >= self._count

    def take(self, word: bytes, _: None) -> int | None:
        """Want a word if it is new; words that are no text cannot be asked for and are passed over."""
        if self.full or word in self._seen:
            return None
        self._seen.add(word)
        try:
            self.words.append(word.decode())
        except UnicodeDecodeError:
            return None
        return len(self.words) - 1

    def add(self, slots: Sequence[int], rows: NDArray[np.float32]) -> None:
        """Keep these rows, which come in the order of the words."""
        self._parts.append(rows)

    def finish(self, dimension: int) -> tuple[list[str], NDArray[np.float32]]:
        """Return the words and their rows, shape (words, dimension)."""
        parts, self._parts = self._parts, []
        return self.words, np.concatenate(parts) if parts else np.zeros((0, dimension), np.float32)
