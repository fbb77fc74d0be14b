"""Where the words of a large store are, without reading them: sorted checksums of all words, memory-mapped.

``lookup.npy``, uint32 of shape (3, words): CRC-32 of each word, ascending; its row; the byte of ``vocab.txt`` at
which it starts. Checksums may clash, so a word found by its checksum is compared with the text.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import VectorError

LOOKUP = "lookup.npy"
LOOKUP_FROM = 200_000
"""Words from which on a lookup pays: fewer are read as quickly."""
_LARGEST_TEXT = 1 << 32


class LookupBuilder:
    """Notes words as they are written, one a line.

    >>> builder = LookupBuilder()
    >>> builder.add([b"the", b"of"])
    >>> builder.table()[1:].tolist()
    [[1, 0], [4, 0]]
    """

    def __init__(self) -> None:
        self._checksums: list[NDArray[np.uint32]] = []
        self._lengths: list[NDArray[np.int64]] = []

    def add(self, words: Sequence[bytes]) -> None:
        """Note the next words."""
        self._checksums.append(np.fromiter(map(crc32, words), np.uint32, len(words)))
        self._lengths.append(np.fromiter(map(len, words), np.int64, len(words)) + 1)

    def table(self) -> NDArray[np.uint32] | None:
        """Return the lookup of all words; None if their text is too long for it."""
        checksums, lengths = np.concatenate(self._checksums), np.concatenate(self._lengths)
        ends = np.cumsum(lengths)
        if not len(ends) or ends[-1] > _LARGEST_TEXT:
            return None
        order = np.argsort(checksums, kind="stable")
        return np.stack([checksums[order], order.astype(np.uint32), (ends - lengths)[order].astype(np.uint32)])


def find_rows(table: NDArray[np.uint32], vocabulary: Path, words: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Find words: yields (place in `words`, row) of each that is there."""
    if not words:
        return
    checksums = np.fromiter(map(crc32, words), np.uint32, len(words))
    first = np.searchsorted(table[0], checksums, "left")
    beyond = np.searchsorted(table[0], checksums, "right")
    with vocabulary.open("rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as text:
        for place in np.flatnonzero(beyond > first).tolist():
            line = words[place] + b"\n"
            for entry in range(int(first[place]), int(beyond[place])):
                start = int(table[2, entry])
                if text[start : start + len(line)] == line:
                    row = int(table[1, entry])
                    if row >= table.shape[1]:
                        raise VectorError(f"{vocabulary.with_name(LOOKUP)}: no row {row}; write the store again")
                    yield place, row
                    break
