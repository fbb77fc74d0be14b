"""A vector file as a source: read in one streaming pass, of which only the wanted rows stay in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.binary import read_binary
from softbleu.embeddings.formats import detect_layout
from softbleu.embeddings.text import read_text
from softbleu.embeddings.vectors import Head, Selection, Sink, VectorCase, WordVectors
from softbleu.streams import BLOCK_SIZE, Watch, open_stream

_READERS = {"binary": read_binary, "text": read_text}


class FileSource:
    r"""word2vec (binary or text) or GloVe vectors in one file, packed with gzip or bzip2 or not.

    Raises `VectorError`: the file is missing, empty or no vector file.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tiny.txt"
    >>> _ = path.write_text("yes 3 4\nno 0 1\n")
    >>> FileSource(path).select(["Yes", "maybe"]).norms.tolist()
    [5.0, 0.0]
    """

    def __init__(self, path: Path, block_size: int = BLOCK_SIZE) -> None:
        self.path = path
        self._block_size = block_size
        self.layout = detect_layout(path)
        """What the first bytes of the file say about it."""
        self.name, self.dimension = path.name, self.layout.dimension
        self._fingerprint: str | None = None

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the file as it lies on the disk; read through for it unless `select` has been."""
        if self._fingerprint is None:
            with open_stream(self.path, self._block_size) as stream:
                self._fingerprint = stream.fingerprint()
        return self._fingerprint

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Take the vectors of these words in one pass over the file; see `VectorSource.select`."""
        selection = Selection(words, case)
        self.read(selection)
        return selection.finish(self.dimension, self.name, self.fingerprint)

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Take the first words and their rows; see `VectorSource.head`."""
        head = Head(count)
        self.read(head, to_end=False)
        return head.finish(self.dimension)

    def read(self, sink: Sink, *, watch: Watch | None = None, to_end: bool = True) -> None:
        """Go through the file once and give the sink what it wants.

        `watch` is told now and then how far the stream is. With `to_end` the file is hashed to its end even if the
        sink is full before.
        """
        with open_stream(self.path, self._block_size) as stream:
            _READERS[self.layout.kind](self.path, stream, self.layout, sink, self._block_size, watch)
            if to_end or not sink.full:
                self._fingerprint = stream.fingerprint(unpack=not sink.full)
