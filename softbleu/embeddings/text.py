"""Vectors as text: a word and its numbers on each line, with word2vec's header or without, as in GloVe."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from softbleu.data_files import longest_line, refuse_line
from softbleu.embeddings.formats import FileLayout, is_number
from softbleu.embeddings.vectors import Sink
from softbleu.errors import VectorError
from softbleu.streams import Stream, Watch

_NUMERIC = b"0123456789.+-eE "


@dataclass(frozen=True)
class _Lines:
    """Reads single lines: the file they come from, and how many values each must have."""

    path: Path
    dimension: int
    tolerant: bool

    def split(self, line: bytes, number: int) -> tuple[bytes, bytes]:
        """Part a line into word and values; every line pays for this, so the usual case comes first."""
        line = line.rstrip()
        if line.count(b" ") == self.dimension and b"  " not in line and b"\t" not in line:
            word, _, values = line.partition(b" ")
        else:
            word, values = self._split_unusual(line, number)
        if values.translate(None, _NUMERIC) and not (self.tolerant and all(map(is_number, values.split()))):
            self._refuse_values(word, values, number)
        return word, values

    def _split_unusual(self, line: bytes, number: int) -> tuple[bytes, bytes]:
        """Lines with tabs, repeated spaces, or words that hold spaces, which GloVe's largest set has."""
        parts = line.rsplit(None, self.dimension)
        beyond = parts[0].split()[1:]
        if len(parts) <= self.dimension or (beyond and all(map(is_number, beyond))):
            raise VectorError(
                f"{self.path}: line {number}: {len(line.split()) - 1} values found, "
                f"{self.dimension} expected; the file is cut off, damaged or no vector file"
            )
        return parts[0], b" ".join(parts[1:])

    def parse(self, word: bytes, values: bytes, number: int) -> NDArray[np.float32]:
        """Values of a wanted line as numbers."""
        try:
            with np.errstate(over="ignore"):
                row = np.array([float(field) for field in values.split()]).astype(np.float32)
        except ValueError:
            self._refuse_values(word, values, number)
        if not (self.tolerant or np.isfinite(row).all()):
            self._refuse_values(word, values, number)
        return row

    def _refuse_values(self, word: bytes, values: bytes, number: int) -> NoReturn:
        where = f"for word {word.decode('utf-8', 'replace')!r}"
        strange = next((field for field in values.split() if not is_number(field)), None)
        what = f"{strange.decode('utf-8', 'replace')!r} is no number" if strange else "NaN or infinite value"
        raise VectorError(f"{self.path}: line {number}: {what} {where}; mend or drop that vector")


def _read_block(path: Path, stream: Stream, block_size: int, number: int) -> list[bytes]:
    """Read lines of that size together, or more."""
    block, size, longest = [], 0, longest_line()
    while size < block_size and (line := stream.content.readline(longest + 1)):
        block.append(line)
        size += len(line)
        if len(line) > longest:
            refuse_line(f"{path}, line {number + len(block)}", longest)
    return block


def read_text(
    path: Path, stream: Stream, layout: FileLayout, sink: Sink, block_size: int, watch: Watch | None = None
) -> None:
    """Go through the lines once and parse those that the sink wants, until it is full.

    Raises `VectorError`: a line with too few or too many values, or with values that are not finite, wanted or not;
    fewer or more lines than the header announces.
    """
    lines = _Lines(path, layout.dimension, sink.tolerant)
    stream.content.read(layout.start)
    number = 0 if layout.count is None else 1
    count = 0
    while not sink.full and (block := _read_block(path, stream, block_size, number)):
        if watch is not None:
            watch(stream)
        slots: list[int] = []
        rows: list[NDArray[np.float32]] = []
        for line in block:
            number += 1
            if line.isspace():
                continue
            count += 1
            word, values = lines.split(line, number)
            slot = sink.take(word, None)
            if slot is not None:
                slots.append(slot)
                rows.append(lines.parse(word, values, number))
        if rows:
            sink.add(slots, np.stack(rows))
    if not sink.full and layout.count is not None and count != layout.count:
        what = "truncated" if count < layout.count else "damaged"
        raise VectorError(
            f"{path}: {what} at line {number}: {count} of {layout.count} vectors read; "
            "download or convert it again, or mend the header"
        )
