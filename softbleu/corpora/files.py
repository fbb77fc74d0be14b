"""Text files as bytes: found, decompressed, decoded, without a byte-order mark, and cut into blocks of lines."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self, cast

import numpy as np

from softbleu.errors import InputError
from softbleu.io.data_files import bounded_lines, longest_line, refuse_line
from softbleu.io.executors import run_in_order
from softbleu.io.files import hash_files
from softbleu.io.urls import is_url, open_url, read_range, url_size, url_state

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray

_GZIP = b"\x1f\x8b"
_BLOCK = 1 << 20
_RANGE = 1 << 24
"""Bytes that are read of a URL at once, to find its lines."""
_UTF8 = ("utf-8", "ascii")
STDIN = "-"


@dataclass(frozen=True)
class TextPart:
    """Some lines of a plain UTF-8 file, read where and when they are needed: a place travels, or else the text."""

    name: str
    """As the user gave the file."""
    place: Path | str
    """Path or URL."""
    start: int
    stop: int
    """Bytes of the file."""
    first: int
    """Number of the first line, from 1."""
    text: bytes | None = None
    """What is there, where the place means nothing to who is to read it."""

    def carried(self) -> TextPart:
        """The same for whoever cannot read this machine's files."""
        return self if is_url(self.place) else replace(self, text=self._bytes())

    def _bytes(self) -> bytes:
        return _read_bytes(self.place, self.start, self.stop) if self.text is None else self.text

    def read(self) -> bytes:
        """Read the lines, each ended by a newline."""
        text = self._bytes()
        try:
            text.decode()
        except UnicodeDecodeError as error:
            line = text.count(b"\n", 0, error.start) + 1
            byte = error.start - text.rfind(b"\n", 0, error.start) + (self.start if line == self.first == 1 else 0)
            raise _not_utf8(self.name, self.first + line - 1, byte, text[error.start]) from None
        return text if text.endswith(b"\n") else text + b"\n"

    def read_lines(self) -> list[str]:
        """Read the lines without their ends."""
        lines = self.read().decode().split("\n")
        lines.pop()
        return [line.removesuffix("\r") for line in lines]


def read_parts(parts: Sequence[TextPart]) -> list[TextPart]:
    """The same consecutive parts of a file with their text, read at once where the place is a URL."""
    first = parts[0].start
    if not is_url(parts[0].place):
        return list(parts)
    text = _read_bytes(parts[0].place, first, parts[-1].stop)
    return [replace(part, text=text[part.start - first : part.stop - first]) for part in parts]


@dataclass(frozen=True)
class TextFile:
    """A plain UTF-8 file, cut into blocks of lines.

    The last line may lack its newline; a carriage return before a newline belongs to the line end.
    """

    name: str
    """As the user gave it."""
    place: Path | str
    """Where the plain UTF-8 text lies: the path or URL of the file itself, or a copy decompressed or decoded."""
    lines: int
    block: int
    """Lines of a block."""
    bounds: NDArray[np.int64]
    """Byte at which each block starts, and the end of the file."""

    @classmethod
    def open(cls, name: str, encoding: str, folder: Path, block: int, executor: Executor | None = None) -> Self:
        """Find a file (`-`: standard input), make it plain UTF-8 in `folder` where it is not, and count its lines.

        Lines are found by the workers of an executor, range by range, if there is one; in files here by threads only.
        """
        place = _plain(name, encoding, folder)
        lines, bounds = _cut(name, place, block, executor)
        return cls(name, place, lines, block, bounds)

    def state(self) -> tuple[object, ...]:
        """What changes when the file does: its size and time, or what its place tells."""
        if is_url(self.name):
            return self.name, url_state(self.name)
        path = Path(self.name)
        if self.name == STDIN or not path.is_file():
            return self.name, hash_files(Path(self.place))
        return str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns

    def part(self, number: int) -> TextPart:
        """Block `number`."""
        start, stop = self.bounds[number : number + 2].tolist()
        return TextPart(self.name, self.place, start, stop, 1 + number * self.block)

    def read_lines(self, number: int) -> list[str]:
        """Read block `number` as lines without their ends."""
        return self.part(number).read_lines()


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
    """Hex SHA-256 of a file."""
    try:
        return hash_files(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def read_words(name: str, encoding: str = "utf-8") -> list[str]:
    """Read the words of a file (- is standard input), one a line; each once, in order."""
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
    while piece := reader.read(_BLOCK):
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
    if is_url(name):
        with _unpacked(open_url(name)) as (stream, zipped):
            yield stream, not zipped and url_size(name) is not None
        return
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
            stream = io.BufferedReader(cast("io.RawIOBase", raw), _BLOCK) if name == STDIN else raw
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


@contextmanager
def _unpacked(opened: IO[bytes]) -> Iterator[tuple[IO[bytes], bool]]:
    """What comes from afar, decompressed, and whether it had to be."""
    with opened, io.BufferedReader(cast("io.RawIOBase", opened), _BLOCK) as stream:
        if zipped := stream.peek(2)[:2] == _GZIP:
            with gzip.GzipFile(fileobj=stream) as unzipped:
                yield cast("IO[bytes]", unzipped), zipped
        else:
            yield cast("IO[bytes]", stream), zipped


def _plain(name: str, encoding: str, folder: Path) -> Path | str:
    """Place of the same text as plain UTF-8: the file itself if it is that, else a copy in the folder."""
    encoding = _encoding_of(encoding)
    with _decoding(name, encoding), _stream(name) as (stream, plain_file):
        if plain_file and encoding in _UTF8:
            return name if is_url(name) else Path(name)
        copy = folder / f"{len(list(folder.iterdir()))}.txt"
        with copy.open("wb") as out:
            if encoding in _UTF8:
                _copy(name, iter(lambda: stream.read(_BLOCK), b""), out)
            else:
                with _reader(stream, encoding) as reader:
                    _copy(name, (piece.encode() for piece in iter(lambda: reader.read(_BLOCK), "")), out)
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


def _read_bytes(place: Path | str, start: int, stop: int) -> bytes:
    if isinstance(place, str):
        return read_range(place, start, stop)
    with place.open("rb") as stream:
        stream.seek(start)
        return stream.read(stop - start)


@dataclass(frozen=True)
class _Ends:
    """Where lines end in a range of bytes."""

    size: int
    places: NDArray[np.uint32]
    """Of the newlines, from the start of the range."""
    last: bytes


def _find_ends(part: TextPart) -> _Ends:
    text = _read_bytes(part.place, part.start, part.stop)
    places = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")).astype(np.uint32)
    return _Ends(len(text), places, text[-1:])


def _ranges(name: str, place: Path | str, start: int, executor: Executor | None) -> Iterator[_Ends]:
    if isinstance(place, Path):
        size, step = place.stat().st_size, _BLOCK
        executor = executor if isinstance(executor, ThreadPoolExecutor) else None
    else:
        size, step = url_size(place) or 0, _RANGE
    parts = (TextPart(name, place, at, min(at + step, size), 1) for at in range(start, size, step))
    return run_in_order(_find_ends, parts, executor)


def _cut(name: str, place: Path | str, block: int, executor: Executor | None = None) -> tuple[int, NDArray[np.int64]]:
    """Count the lines of a file, none too long, and find the byte at which every so many of them start."""
    longest = longest_line()
    start = len(codecs.BOM_UTF8) if _read_bytes(place, 0, 3) == codecs.BOM_UTF8 else 0
    at, begun, lines, last = start, start, 0, b"\n"
    bounds = [start]
    for piece in _ranges(name, place, start, executor):
        ends = piece.places.astype(np.int64)
        marks = np.concatenate(([begun - 1], ends + at, [at + piece.size]))
        if (lengths := np.diff(marks) - 1).max() > longest:
            refuse_line(f"{name}, line {lines + int(np.argmax(lengths > longest)) + 1}", longest)
        begun = int(marks[-2]) + 1
        # The block ends after line number block, 2 block, …
        for end in ends[block - 1 - lines % block :: block]:
            bounds.append(at + int(end) + 1)
        lines += len(ends)
        at += piece.size
        last = piece.last
    if last != b"\n":
        lines += 1
    if bounds[-1] != at or lines == 0:
        bounds.append(at)
    return lines, np.array(bounds, np.int64)
