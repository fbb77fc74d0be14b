"""Vectors word by word: a set of middling size is in memory whole, of a larger one what was asked for is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from softbleu.embeddings.lookup import LOOKUP_FROM
from softbleu.embeddings.memory import MemorySource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.embeddings.vectors import VectorCase, VectorSource

_MOST = 1 << 17
"""Words that are kept of a large set."""


class KeptVectors:
    """Answers for a few words at a time, as `VectorSource.select` does.

    Parameters
    ----------
    source
        The set. Stores of fewer than `LOOKUP_FROM` words are read whole, the first time.
    case
        How words are looked up.

    Examples
    --------
    >>> from softbleu.embeddings.memory import open_mapping
    >>> kept = KeptVectors(open_mapping({"yes": [3.0, 4.0], "no": [0.0, 1.0]}), "fallback")
    >>> kept.rows(["Yes", "perhaps"]).tolist()
    [[3.0, 4.0], [0.0, 0.0]]
    """

    def __init__(self, source: VectorSource, case: VectorCase) -> None:
        self._source, self._case = source, case
        self._places: dict[str, int] = {}
        self._table = np.zeros((1, source.dimension), np.float32)
        if isinstance(source, MemorySource) or getattr(source, "count", LOOKUP_FROM) < LOOKUP_FROM:
            words, rows = source.head()
            # The first of repeated words counts; row 0 is for words that are not there.
            self._places = {words[place]: place + 1 for place in reversed(range(len(words)))}
            self._table = np.concatenate((self._table, rows))
            self._whole = True
        else:
            self._whole = False

    def rows(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Rows of these words, (words, dimension); zero for those that are not there."""
        if not self._whole:
            self._take([word for word in dict.fromkeys(words) if word not in self._places])
        return self._table[[self._place(word) for word in words]]

    def _place(self, word: str) -> int:
        place = self._places.get(word)
        if place is None and self._whole and self._case == "fallback":
            place = self._places.get(word.lower())
        return place or 0

    def _take(self, words: Sequence[str]) -> None:
        if not words:
            return
        if len(self._table) > _MOST:
            self._places, self._table = {}, self._table[:1]
        selected = self._source.select(words, self._case)
        self._places |= {word: len(self._table) + number for number, word in enumerate(words)}
        self._table = np.concatenate((self._table, selected.rows))
