"""word2vec binary: a header, then for each word its bytes, a space and its float32 values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from softbleu.embeddings.formats import FileLayout
from softbleu.embeddings.vectors import Sink
from softbleu.errors import VectorError
from softbleu.streams import Stream, Watch

_VALUE_SIZE = 4
_LONGEST_WORD = 1 << 16


@dataclass
class _Position:
    """How far the file has been read: whole records, and the byte where the next one begins."""

    records: int
    offset: int


def read_binary(
    path: Path, stream: Stream, layout: FileLayout, sink: Sink, block_size: int, watch: Watch | None = None
) -> None:
    """Go through the records once, block by block, and add those that the sink wants, until it is full.

    Raises `VectorError`: the file ends early or late, or holds a value that is not finite, wanted or not.
    """
    if layout.count is None:
        raise VectorError(f"{path}: a binary vector file needs a header with its number of vectors")
    size = layout.dimension * _VALUE_SIZE
    position = _Position(0, layout.start)
    stream.content.read(layout.start)
    rest = b""
    while position.records < layout.count:
        if sink.full:
            return
        if watch is not None:
            watch(stream)
        block = stream.content.read(block_size)
        if not block:
            _refuse_truncated(path, position, layout.count, rest)
        buffer = rest + block
        starts, kept, slots = _split_records(buffer, size, layout.count - position.records, sink)
        if starts:
            rows = _gather(buffer, starts, size)
            if not (sink.tolerant or np.isfinite(rows).all()):
                _refuse_values(path, position, buffer, starts, rows)
            sink.add(slots, rows if len(kept) == len(rows) else rows[kept])
            done = starts[-1] + size
            position.records += len(starts)
            position.offset += done
            buffer = buffer[done:]
        rest = buffer
        if len(rest) > size + _LONGEST_WORD and b" " not in rest[:_LONGEST_WORD]:
            _refuse_word(path, position)
    if (rest + stream.content.read(_LONGEST_WORD)).strip():
        raise VectorError(
            f"{path}: more data after the {layout.count} vectors of the header, at byte {position.offset}; "
            "the header is wrong or the file is damaged"
        )


def _split_records(buffer: bytes, size: int, limit: int, sink: Sink) -> tuple[list[int], list[int], list[int]]:
    """Find where the values of each whole record start, which records are wanted, and their slots."""
    starts: list[int] = []
    kept: list[int] = []
    slots: list[int] = []
    take, find, last = sink.take, buffer.find, len(buffer) - size
    begin = 0
    for record in range(limit):
        start = find(b" ", begin) + 1
        if start == 0 or start > last:
            break
        starts.append(start)
        # Some writers end each record with a line break, which then leads the next word.
        slot = take(buffer[begin : start - 1].lstrip(b"\n"), None)
        if slot is not None:
            kept.append(record)
            slots.append(slot)
        begin = start + size
    return starts, kept, slots


def _gather(buffer: bytes, starts: list[int], size: int) -> NDArray[np.float32]:
    """Values of all records of a buffer, shape (records, dimension), copied at once."""
    windows = sliding_window_view(np.frombuffer(buffer, dtype=np.uint8), size)
    rows: NDArray[np.float32] = windows[np.asarray(starts)].view("<f4").astype(np.float32, copy=False)
    return rows


def _show(word: bytes) -> str:
    return repr(word.lstrip(b"\n").decode("utf-8", "replace"))


def _refuse_truncated(path: Path, position: _Position, count: int, rest: bytes) -> NoReturn:
    word, space, _ = rest.partition(b" ")
    named = f" ({_show(word)})" if space else ""
    raise VectorError(
        f"{path}: truncated at word {position.records + 1}{named}, byte {position.offset}: "
        f"{position.records} of {count} vectors read; download or convert it again"
    )


def _refuse_word(path: Path, position: _Position) -> NoReturn:
    raise VectorError(
        f"{path}: word {position.records + 1}, byte {position.offset}, has no end within {_LONGEST_WORD} "
        "bytes; the header is wrong or the file is damaged"
    )


def _refuse_values(
    path: Path, position: _Position, buffer: bytes, starts: list[int], rows: NDArray[np.float32]
) -> NoReturn:
    record = int(np.argmin(np.isfinite(rows).all(axis=1)))
    begin = starts[record - 1] + rows.shape[1] * _VALUE_SIZE if record else 0
    word = _show(buffer[begin : starts[record] - 1])
    raise VectorError(
        f"{path}: NaN or infinite value for word {word} (word {position.records + record + 1}, "
        f"byte {position.offset + begin}); mend or drop that vector"
    )
