"""Files read once from front to back, unpacked and hashed on the way."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from softbleu.errors import VectorError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK_SIZE = 1 << 20
_UNPACKERS: dict[bytes, Callable[[Any], object]] = {
    b"\x1f\x8b": lambda packed: gzip.GzipFile(fileobj=packed),
    b"BZh": bz2.BZ2File,
}
_LONGEST_MAGIC = 3


class _HashingReader(io.RawIOBase):
    """A raw file that feeds all that is read from it to a SHA-256."""

    def __init__(self, path: Path, handle: io.RawIOBase) -> None:
        self._path = path
        self._handle = handle
        self.digest = hashlib.sha256()
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        try:
            count = self._handle.readinto(buffer)
        except OSError as error:
            # Said here, where it is known to come from reading, not from what is written meanwhile.
            raise _unreadable(self._path, error) from error
        self.digest.update(memoryview(buffer)[: count or 0])
        self.count += count or 0
        return count


@dataclass(frozen=True)
class Stream:
    """The unpacked content of a file, and the means to hash the file as it lies on the disk."""

    content: io.BufferedIOBase
    size: int
    """Bytes of the file, as it lies on the disk."""
    _reader: _HashingReader
    _packed: io.BufferedIOBase
    _block_size: int

    @property
    def done(self) -> int:
        """How many of them have been read."""
        return self._reader.count

    def fingerprint(self, *, unpack: bool = True) -> str:
        """Read what is left and give the hex SHA-256 of the whole file.

        With `unpack`, what is left is looked at for damage of its packing.
        """
        rest = self.content if unpack else self._packed
        while rest.read(self._block_size):
            pass
        return self._reader.digest.hexdigest()


Watch = Callable[[Stream], None]
"""Told now and then how far a stream is."""


@contextmanager
def open_stream(path: Path, block_size: int = BLOCK_SIZE) -> Iterator[Stream]:
    """Open a file for one pass; gzip and bzip2 are recognised by the first bytes, not by the file's name.

    Raises `VectorError`: within the ``with`` block too: the file cannot be read, or its packing is damaged.
    """
    try:
        opened = path.open("rb", buffering=0)
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        with opened as handle:
            reader = _HashingReader(path, handle)
            packed = io.BufferedReader(reader, max(block_size, _LONGEST_MAGIC))
            content: io.BufferedIOBase = packed
            head = packed.peek(_LONGEST_MAGIC)
            for magic, unpacker in _UNPACKERS.items():
                if head.startswith(magic):
                    unpacked = cast("io.RawIOBase", unpacker(packed))
                    content = io.BufferedReader(unpacked, block_size)
            size = os.fstat(handle.fileno()).st_size
            yield Stream(content, size, reader, packed, block_size)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise VectorError(f"{path}: damaged packed file ({error}); download or pack it again") from error
    except OSError as error:
        if error.errno is not None:
            raise
        # What bz2 says of damage.
        raise VectorError(f"{path}: damaged packed file ({error}); download or pack it again") from error


def _unreadable(path: Path, error: OSError) -> VectorError:
    return VectorError(f"{path}: cannot be read ({error.strerror or error})")
