"""Text files as bytes: found, decompressed, decoded, without a byte-order mark, and cut into blocks of lines."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self, cast

import numpy as np

from softbleu.data_files import bounded_lines, longest_line, refuse_line
from softbleu.errors import InputError
from softbleu.files import hash_files

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from numpy.typing import NDArray

_GZIP = b"\x1f\x8b"
_PIECE = 1 << 20
_UTF8 = ("utf-8", "ascii")
STDIN = "-"


@dataclass(frozen=True)
class TextFile:
    """A plain UTF-8 file, cut into blocks of lines.

    The last line may lack its newline; a carriage return before a newline belongs to the line end.
    """

    name: str
    """As the user gave it."""
    path: Path
    """Where the plain UTF-8 text lies: the file itself, or a copy decompressed or decoded."""
    lines: int
    block: int
    """Lines of a block."""
    bounds: NDArray[np.int64]
    """Byte at which each block starts, and the end of the file."""

    @classmethod
    def open(cls, name: str, encoding: str, folder: Path, block: int) -> Self:
        """Find a file (`-`: standard input), make it plain UTF-8 in `folder` where it is not, and count its lines.

        Raises
        ------
        InputError
            The file is missing, a folder, no proper gzip, or not in that encoding.
        """
        path = _plain(name, encoding, folder)
        lines, bounds = _cut(name, path, block)
        return cls(name, path, lines, block, bounds)

    def read(self, number: int) -> bytes:
        """Read block `number`, each of its lines ended by a newline.

        Raises
        ------
        InputError
            It is not UTF-8; the message names the line and the byte.
        """
        start, stop = int(self.bounds[number]), int(self.bounds[number + 1])
        with self.path.open("rb") as stream:
            stream.seek(start)
            text = stream.read(stop - start)
        try:
            text.decode()
        except UnicodeDecodeError as error:
            line = text.count(b"\n", 0, error.start) + 1
            byte = error.start - text.rfind(b"\n", 0, error.start) + (start if line == 1 and not number else 0)
            raise _not_utf8(self.name, number * self.block + line, byte, text[error.start]) from None
        return text if text.endswith(b"\n") else text + b"\n"

    def read_lines(self, number: int) -> list[str]:
        """Read block `number` as lines without their ends."""
        lines = self.read(number).decode().split("\n")
        lines.pop()
        return [line.removesuffix("\r") for line in lines]


def open_text(name: str, encoding: str = "utf-8") -> Generator[str]:
    """Read the lines of a text file one by one, without their ends: `.gz`, `-` and byte-order marks are handled."""
    encoding = _encoding_of(encoding)
    with _decoding(name, encoding), _stream(name) as (stream, _):
        if encoding in _UTF8:
            for number, line in enumerate(bounded_lines(stream, name), start=1):
                text = _decode(name, number, line)
                yield text if number > 1 else text.removeprefix("\ufeff")
            return
        with _reader(stream, encoding) as reader:
            for number, text in enumerate(_lines(name, reader)):
                yield text if number else text.removeprefix("\ufeff")


def hash_file(path: Path) -> str:
    """Hex SHA-256 of a file.

    Raises
    ------
    InputError
        It cannot be read.
    """
    try:
        return hash_files(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def read_words(name: str, encoding: str = "utf-8") -> list[str]:
    """Read the words of a file (- is standard input), one a line; each once, in order.

    Raises
    ------
    InputError
        The file cannot be read, or has no words.
    """
    words = dict.fromkeys(word for line in open_text(name, encoding) if (word := line.strip()))
    if not words:
        raise InputError(f"{name}: no words: give one a line")
    return list(words)


def _decode(name: str, number: int, line: bytes) -> str:
    try:
        return line.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise _not_utf8(name, number, error.start + 1, line[error.start]) from None


def _not_utf8(name: str, line: int, byte: int, value: int) -> InputError:
    return InputError(
        f"{name}, line {line}, byte {byte}: not UTF-8 (0x{value:02x}); name its encoding with --encoding"
    )


@contextmanager
def _reader(stream: IO[bytes], encoding: str) -> Iterator[io.TextIOWrapper]:
    """Decode strictly, to the very last byte; newlines stay what they are, and the stream stays open."""
    reader = io.TextIOWrapper(cast("io.BufferedReader", stream), encoding, newline="\n")
    try:
        yield reader
    finally:
        reader.detach()


def _lines(name: str, reader: io.TextIOWrapper) -> Iterator[str]:
    """Cut at newlines alone, unlike `str.splitlines`."""
    rest, longest = "", longest_line()
    while piece := reader.read(_PIECE):
        lines = (rest + piece).split("\n")
        rest = lines.pop()
        if max(map(len, [*lines, rest])) > longest:
            refuse_line(name, longest)
        for line in lines:
            yield line.removesuffix("\r")
    if rest:
        yield rest.removesuffix("\r")


def _encoding_of(encoding: str) -> str:
    try:
        found = codecs.lookup(encoding)
        "".encode(encoding)  # what is no encoding of text (base64, say) raises a LookupError
        return found.name
    except (LookupError, ValueError):
        raise InputError(f"unknown encoding {encoding!r}; e.g. utf-8, latin-1, utf-16, gb18030") from None


@contextmanager
def _stream(name: str) -> Iterator[tuple[IO[bytes], bool]]:
    """Open a file, pipe or standard input for reading, decompressed; and tell whether it is a plain file."""
    path = Path(name)
    if name != STDIN and not path.exists():
        raise InputError(f"no such file: {name}")
    if path.is_dir():
        raise InputError(f"{name} is a folder: name a file in it")
    try:
        with ExitStack() as stack:
            if name == STDIN and sys.stdin is None:
                raise InputError("standard input (-) is closed")
            raw = sys.stdin.buffer if name == STDIN else stack.enter_context(path.open("rb"))
            # Whatever it is, it can be read once only: look ahead for the mark of gzip, do not go back.
            stream = io.BufferedReader(cast("io.RawIOBase", raw), _PIECE) if name == STDIN else raw
            zipped = cast("io.BufferedReader", stream).peek(2)[:2] == _GZIP
            if zipped:
                yield cast("IO[bytes]", stack.enter_context(gzip.GzipFile(fileobj=stream))), False
            else:
                yield cast("IO[bytes]", stream), path.is_file() and name != STDIN
            if name == STDIN:
                cast("io.BufferedReader", stream).detach()
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile):
            raise
        raise InputError(f"cannot read {name}: {error.strerror}") from None


def _plain(name: str, encoding: str, folder: Path) -> Path:
    """Path of the same text as plain UTF-8: the file itself if it is that, else a copy in the folder."""
    encoding = _encoding_of(encoding)
    with _decoding(name, encoding), _stream(name) as (stream, plain_file):
        if plain_file and encoding in _UTF8:
            return Path(name)
        copy = folder / f"{len(list(folder.iterdir()))}.txt"
        with copy.open("wb") as out:
            if encoding in _UTF8:
                _copy(name, iter(lambda: stream.read(_PIECE), b""), out)
            else:
                with _reader(stream, encoding) as reader:
                    _copy(name, (piece.encode() for piece in iter(lambda: reader.read(_PIECE), "")), out)
        return copy


def _copy(name: str, pieces: Iterator[bytes], out: IO[bytes]) -> None:
    """Write a text, as long as no line goes on for ever: a small file may unpack to one that fills the disk."""
    length, longest = 0, longest_line()
    for piece in pieces:
        length = len(piece) - 1 - end if (end := piece.rfind(b"\n")) >= 0 else length + len(piece)
        if length > longest:
            refuse_line(name, longest)
        out.write(piece)


@contextmanager
def _decoding(name: str, encoding: str) -> Iterator[None]:
    """Say where bytes are not what they should be."""
    try:
        yield
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InputError(f"{name}: not {encoding} (0x{byte:02x}); name its encoding with --encoding") from None
    except UnicodeError as error:
        raise InputError(f"{name}: not {encoding} ({error}); name its encoding with --encoding") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{name}: broken gzip data ({error})") from None


def _cut(name: str, path: Path, block: int) -> tuple[int, NDArray[np.int64]]:
    """Count the lines of a file, none too long, and find the byte at which every so many of them start."""
    longest = longest_line()
    with path.open("rb") as stream:
        start = len(codecs.BOM_UTF8) if stream.read(3) == codecs.BOM_UTF8 else 0
        stream.seek(start)
        place, begun, lines, last = start, start, 0, b"\n"
        bounds = [start]
        while piece := stream.read(_PIECE):
            ends = np.flatnonzero(np.frombuffer(piece, np.uint8) == ord("\n"))
            marks = np.concatenate(([begun - 1], ends + place, [place + len(piece)]))
            if (lengths := np.diff(marks) - 1).max() > longest:
                refuse_line(f"{name}, line {lines + int(np.argmax(lengths > longest)) + 1}", longest)
            begun = int(marks[-2]) + 1
            # The block ends after line number block, 2 block, …
            for end in ends[block - 1 - lines % block :: block]:
                bounds.append(place + int(end) + 1)
            lines += len(ends)
            place += len(piece)
            last = piece[-1:]
    if last != b"\n":
        lines += 1
    if bounds[-1] != place or lines == 0:
        bounds.append(place)
    return lines, np.array(bounds, np.int64)
