"""Files read once from front to back, unpacked and hashed on the way."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from softbleu.errors import VectorError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK_SIZE = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"


class _HashingReader(io.RawIOBase):
    """A raw file that feeds all that is read from it to a SHA-256."""

    def __init__(self, handle: io.RawIOBase) -> None:
        self._handle = handle
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        count = self._handle.readinto(buffer)
        self.digest.update(memoryview(buffer)[: count or 0])
        return count


@dataclass(frozen=True)
class Stream:
    """The unpacked content of a file, and the means to hash the file as it lies on the disk."""

    content: io.BufferedIOBase
    _reader: _HashingReader
    _block_size: int

    def fingerprint(self) -> str:
        """Read what is left and give the hex SHA-256 of the whole file."""
        while self.content.read(self._block_size):
            pass
        return self._reader.digest.hexdigest()


@contextmanager
def open_stream(path: Path, block_size: int = BLOCK_SIZE) -> Iterator[Stream]:
    """Open a file for one pass; gzip is recognised by its first bytes, not by the file's name.

    Raises
    ------
    VectorError
        Within the ``with`` block too: the file cannot be read, or its gzip packing is damaged.
    """
    try:
        with path.open("rb", buffering=0) as handle:
            reader = _HashingReader(handle)
            packed = io.BufferedReader(reader, max(block_size, len(_GZIP_MAGIC)))
            content: io.BufferedIOBase = packed
            if packed.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC):
                unpacked = gzip.GzipFile(fileobj=packed)
                content = io.BufferedReader(cast("io.RawIOBase", unpacked), block_size)
            yield Stream(content, reader, block_size)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise VectorError(f"{path}: damaged gzip file ({error}); download or pack it again") from error
    except OSError as error:
        raise VectorError(f"{path}: cannot be read ({error.strerror or error})") from error
