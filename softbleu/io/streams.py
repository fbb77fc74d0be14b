"""Files read in one streaming pass, unpacked and hashed on the way."""

from __future__ import annotations

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from softbleu.errors import InputError, Parameter, VectorError
from softbleu.io.data_files import bounded_lines, longest_line, refuse_line

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

BLOCK_SIZE = 1 << 20
_UNPACKERS: dict[bytes, Callable[[Any], object]] = {
    b"\x1f\x8b": lambda packed: gzip.GzipFile(fileobj=packed),
    b"BZh": bz2.BZ2File,
    b"\xfd7z": lzma.LZMAFile,
}
_LONGEST_MAGIC = 3
UTF8 = ("utf-8", "ascii")


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
    size: int  # Bytes of the file, as it lies on the disk
    _reader: _HashingReader
    _packed: io.BufferedIOBase

    @property
    def done(self) -> int:
        """How many of them have been read."""
        return self._reader.count

    def fingerprint(self, *, unpack: bool = True) -> str:
        """Read what is left and give the hex SHA-256 of the whole file.

        With `unpack`, what is left is looked at for damage of its packing.
        """
        rest = self.content if unpack else self._packed
        while rest.read(BLOCK_SIZE):
            pass
        return self._reader.digest.hexdigest()


@contextmanager
def open_stream(path: Path) -> Iterator[Stream]:
    """Open a file for one pass; gzip, bzip2 and xz are recognised by the first bytes, not by the file's name.

    Raises `VectorError`: within the ``with`` block too: the file cannot be read, or its packing is damaged.
    """
    try:
        opened = path.open("rb", buffering=0)
    except OSError as error:
        raise _unreadable(path, error) from error
    try:
        with opened as handle:
            reader = _HashingReader(path, handle)
            packed = io.BufferedReader(reader, BLOCK_SIZE)
            content: io.BufferedIOBase = packed
            head = packed.peek(_LONGEST_MAGIC)
            for magic, unpacker in _UNPACKERS.items():
                if head.startswith(magic):
                    unpacked = cast("io.RawIOBase", unpacker(packed))
                    content = io.BufferedReader(unpacked, BLOCK_SIZE)
            size = os.fstat(handle.fileno()).st_size
            yield Stream(content, size, reader, packed)
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise VectorError(f"{path}: damaged packed file ({error}); download or pack it again") from error
    except OSError as error:
        if error.errno is not None:
            raise
        # What bz2 says of damage.
        raise VectorError(f"{path}: damaged packed file ({error}); download or pack it again") from error


def _unreadable(path: Path, error: OSError) -> VectorError:
    return VectorError(f"{path}: cannot be read ({error.strerror or error})")


def encoding_of(name: str) -> str:
    """Find what Python calls an encoding of text."""
    try:
        codec = codecs.lookup(name)
        "".encode(name)  # what is no encoding of text (base64, say) raises a LookupError
        return codec.name
    except (LookupError, ValueError):
        raise InputError(f"unknown encoding {name!r}; e.g. utf-8, latin-1, utf-16, gb18030") from None


@contextmanager
def decoding(name: str, encoding: str) -> Iterator[None]:
    """Say where bytes are not what they should be."""
    try:
        yield
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise _other_encoding(f"{name}: not {encoding} (0x{byte:02x})") from None
    except UnicodeError as error:
        raise _other_encoding(f"{name}: not {encoding} ({error})") from None


def not_utf8(name: str, line: int, byte: int, value: int) -> InputError:
    """Say which byte of a line is no UTF-8."""
    return _other_encoding(f"{name}, line {line}, byte {byte}: not UTF-8 (0x{value:02x})")


def _other_encoding(wrong: str) -> InputError:
    return InputError(f"{wrong}; name its encoding with ", Parameter("encoding"))


@contextmanager
def text_reader(stream: IO[bytes] | io.BufferedIOBase, encoding: str) -> Iterator[io.TextIOWrapper]:
    """Decode strictly, to the very last byte; newlines stay what they are, and the stream stays open."""
    reader = io.TextIOWrapper(cast("io.BufferedReader", stream), encoding, newline="\n")
    try:
        yield reader
    finally:
        reader.detach()


def text_lines(stream: IO[bytes] | io.BufferedIOBase, name: str, encoding: str) -> Iterator[str]:
    """Read the lines of a text one by one, without their ends and without a byte-order mark."""
    if encoding in UTF8:
        for number, line in enumerate(bounded_lines(stream, name), start=1):
            try:
                text = line.decode().removesuffix("\n").removesuffix("\r")
            except UnicodeDecodeError as error:
                raise not_utf8(name, number, error.start + 1, line[error.start]) from None
            yield text if number > 1 else text.removeprefix("\ufeff")
        return
    with decoding(name, encoding), text_reader(stream, encoding) as reader:
        for number, text in enumerate(_lines(name, reader)):
            yield text if number else text.removeprefix("\ufeff")


def _lines(name: str, reader: io.TextIOWrapper) -> Iterator[str]:
    """Cut at newlines alone, unlike `str.splitlines`."""
    rest, longest = "", longest_line()
    while block := reader.read(BLOCK_SIZE):
        lines = (rest + block).split("\n")
        rest = lines.pop()
        if max(map(len, [*lines, rest])) > longest:
            refuse_line(name, longest)
        for line in lines:
            yield line.removesuffix("\r")
    if rest:
        yield rest.removesuffix("\r")
