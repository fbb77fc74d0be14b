"""Vectors word by word: a set of middling size is in memory whole, of a larger one what was asked for is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from softbleu.embeddings.memory import MemorySource
from softbleu.embeddings.store import LOOKUP_FROM

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.embeddings.vectors import VectorCase, VectorSource

_MOST = 1 << 17
"""Words that are kept of a large set."""


class KeptVectors:
    """Answers for a few words at a time, as `VectorSource.select` does.

    Stores of fewer than `LOOKUP_FROM` words are read whole, the first time.

    >>> from softbleu.embeddings.memory import open_mapping
    >>> kept = KeptVectors(open_mapping({"yes": [3.0, 4.0], "no": [0.0, 1.0]}), "fallback")
    >>> kept.rows(["Yes", "perhaps"]).tolist()
    [[3.0, 4.0], [0.0, 0.0]]
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

    def rows(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Rows of these words, (words, dimension); zero for those that are not there."""
        if not self._whole:
            self._take(words)
        found = [self._row(word) for word in words]
        return np.array(found, np.float32).reshape(-1, len(self._nothing))

    def _row(self, word: str) -> NDArray[np.float32]:
        row = self._rows.get(word)
        if row is None and self._whole and self._case == "fallback":
            row = self._rows.get(word.lower())
        return self._nothing if row is None else row

    def _take(self, words: Sequence[str]) -> None:
        """Read those that are not kept; what was kept of others goes where there is no room."""
        if len(self._rows) > _MOST:
            self._rows = {}
        new = [word for word in dict.fromkeys(words) if word not in self._rows]
        if new:
            self._rows |= zip(new, self._source.select(new, self._case).rows, strict=True)
