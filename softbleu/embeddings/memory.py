"""Vectors in memory: gensim's KeyedVectors, a mapping of words to arrays, and what is kept of larger sets."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softbleu.embeddings.store import LOOKUP_FROM
from softbleu.embeddings.vectors import Selection, VectorCase, VectorSource, WordVectors
from softbleu.errors import VectorError
from softbleu.io.platform import cached_property

_ROWS_AT_ONCE = 4096
_MOST = 1 << 17  # Words that are kept of a large set


@runtime_checkable
class KeyedVectorsLike(Protocol):
    """Part of gensim's KeyedVectors that is used: the row of each word, and the rows."""

    key_to_index: dict[str, int]
    vectors: NDArray[Any]


class MemorySource:
    """Words and their rows in memory; checked and hashed as a whole when first used.

    Raises `VectorError`: no words, a word that is no string, or rows of a shape that does not fit.
    """

    def __init__(self, words: Iterable[str], rows: NDArray[Any], name: str) -> None:
        self._words = list(words)
        self._rows = rows
        self.name = name
        if strange := [word for word in self._words if not isinstance(word, str)]:
            raise VectorError(f"{name}: word {strange[0]!r} is no string; give words as strings")
        if not self._words or rows.ndim != 2 or rows.shape[1] == 0 or len(rows) < len(self._words):
            raise VectorError(
                f"{name}: {len(self._words)} words with vectors of shape {rows.shape}; give one row per word"
            )

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return int(self._rows.shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """Hex SHA-256 over the words, one a line, and their float32 values."""
        digest = hashlib.sha256()
        for word in self._words:
            digest.update(word.encode("utf-8", "surrogatepass") + b"\n")
        for _, rows in self.batches():
            digest.update(rows.astype("<f4", order="C", copy=False).data)
        return digest.hexdigest()

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Take the first words and their rows; see `VectorSource.head`."""
        parts = list(self.batches(count))
        rows = [rows for _, rows in parts] or [np.zeros((0, self.dimension), np.float32)]
        return self._words[:count], np.concatenate(rows)

    def batches(self, count: int | None = None) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Go through the first words, all if `count` is None, and their rows."""
        wanted = self._words[:count]
        for start in range(0, len(wanted), _ROWS_AT_ONCE):
            words = wanted[start : start + _ROWS_AT_ONCE]
            with np.errstate(over="ignore"):
                rows = self._rows[start : start + len(words)].astype(np.float32)
            if not (finite := np.isfinite(rows).all(axis=1)).all():
                word = words[int(np.argmin(finite))]
                raise VectorError(f"{self.name}: NaN or infinite value for word {word!r}; mend or drop that vector")
            yield words, rows

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Take the vectors of these words; see `VectorSource.select`."""
        fingerprint = self.fingerprint
        selection = Selection(words, case)
        take = selection.open_forms.pop
        places = [
            (row, slot)
            for row, word in enumerate(self._words)
            if (slot := take(word.encode("utf-8", "surrogatepass"), None)) is not None
        ]
        if places:
            numbers = np.array([row for row, _ in places], dtype=np.intp)
            selection.add([slot for _, slot in places], self._rows[numbers].astype(np.float32))
        return selection.finish(self.dimension, self.name, fingerprint)


def open_keyed_vectors(keyed: KeyedVectorsLike) -> MemorySource:
    """Use a gensim KeyedVectors as it is, without a copy; words are taken in the order of their rows."""
    words = sorted(keyed.key_to_index, key=keyed.key_to_index.__getitem__)
    places = [keyed.key_to_index[word] for word in words]
    if places != list(range(len(words))):
        raise VectorError("KeyedVectors: words and rows do not fit together; build it again with add_vectors")
    return MemorySource(words, np.asarray(keyed.vectors), "KeyedVectors")


def open_mapping(vectors: Mapping[str, ArrayLike]) -> MemorySource:
    """Use a mapping of words to vectors, all of one length.

    Raises `VectorError`: the mapping is empty, or a vector is not one list of numbers as long as the first one.

    >>> source = open_mapping({"yes": [3.0, 4.0], "no": [0.0, 1.0]})
    >>> source.select(["no", "Yes", "perhaps"]).norms.tolist()
    [1.0, 5.0, 0.0]
    """
    shape: tuple[int, ...] | None = None
    rows = []
    for word, values in vectors.items():
        try:
            row = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise VectorError(f"mapping: the vector of {word!r} is no list of numbers; mend or drop it") from None
        shape = shape or row.shape
        if row.ndim != 1 or row.shape != shape:
            raise VectorError(
                f"mapping: the vector of {word!r} has shape {row.shape}, the first one {shape}; "
                "give each word one list of numbers, all of one length"
            )
        rows.append(row)
    return MemorySource(vectors, np.array(rows), "mapping")


class KeptVectors:
    """A source whose rows are kept once they were read, for `VectorSource.select` of a few words at a time.

    Stores of fewer than `LOOKUP_FROM` words are read whole, the first time.
    """

    def __init__(self, source: VectorSource, case: VectorCase) -> None:
        self._source, self._case = source, case
        self._nothing = np.zeros(source.dimension, np.float32)
        self._rows: dict[str, NDArray[np.float32]] = {}
        self._whole = isinstance(source, MemorySource) or getattr(source, "count", LOOKUP_FROM) < LOOKUP_FROM
        if self._whole:
            words, rows = source.head()
            # The first of repeated words counts.
            self._rows = dict(zip(reversed(words), rows[::-1], strict=True))

    @property
    def name(self) -> str:
        """Name of the source."""
        return self._source.name

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return len(self._nothing)

    @cached_property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the content."""
        return self._source.fingerprint

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Take the first words and their rows; see `VectorSource.head`."""
        return self._source.head(count)

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Take the vectors of these words; words whose vector is zero are not counted."""
        if case != self._case:
            return self._source.select(words, case)
        known = self._rows if self._whole else self._taken(words)
        rows = np.array([self._row(known, word) for word in words], np.float32).reshape(-1, len(self._nothing))
        return WordVectors(rows, self.name, self.fingerprint, 0)

    def _row(self, known: Mapping[str, NDArray[np.float32]], word: str) -> NDArray[np.float32]:
        row = known.get(word)
        if row is None and self._whole and self._case == "fallback":
            row = known.get(word.lower())
        return self._nothing if row is None else row

    def _taken(self, words: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Rows in memory, after those of new words were read; earlier ones go when they are too many."""
        if len(self._rows) > _MOST:
            self._rows = {}
        # Another thread may begin anew meanwhile.
        known = self._rows
        new = [word for word in dict.fromkeys(words) if word not in known]
        if new:
            known.update(zip(new, self._source.select(new, self._case).rows, strict=True))
        return known
