"""From the hidden states of pieces to vectors of the words that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softbleu.embeddings.postprocess import unit_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.embeddings.encoders.base import Pieces


def word_rows(
    pieces: Pieces, states: NDArray[np.float32], starts: NDArray[np.int64], words: int
) -> NDArray[np.float64]:
    """Direction of the mean of the pieces of each word; zero for a word without any.

    `starts` has the number of the first word of each line, all lines counted through, and `words` is how many there
    are. The rows have shape (words, dimension).
    """
    inner = np.flatnonzero(pieces.words >= 0)
    owner = np.repeat(starts, np.diff(pieces.offsets))[inner] + pieces.words[inner]
    rows = np.zeros((words, states.shape[1]))
    # The first piece of each word, then the second of those that have one, …; directions of sums are those of means.
    rank = np.arange(len(owner)) - np.searchsorted(owner, owner)
    rows[owner[rank == 0]] = states[inner[rank == 0]]
    for number in range(1, int(rank.max(initial=0)) + 1):
        some = rank == number
        rows[owner[some]] += states[inner[some]]
    return unit_rows(rows)
