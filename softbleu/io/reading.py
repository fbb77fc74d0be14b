"""Readers of foreign files within bounds of size, depth, digits and types; also packed files and URLs.

Any file gives text, plain values, arrays, or a one-line error; reading never runs code, hangs, or takes more memory
than the size of the file warrants.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import hashlib
import io
import json
import lzma
import math
import os
import re
import sys
import time
import tomllib
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from socket import gaierror
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeGuard, TypeVar, cast

from softbleu.errors import InputError, MissingExtraError, Parameter, VectorError, optional
from softbleu.io.arguments import number_from, read_number

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from fsspec.spec import AbstractBufferedFile, AbstractFileSystem
    from tokenizers import Tokenizer

    from softbleu.types import Array, Json, JsonObject, Keywords

    Buffered = io.BufferedReader[Any]  # Over a raw file of any kind

MOST_BYTES = 64 << 20  # Of a file that is read whole
LONGEST_LINE = "SOFTBLEU_LONGEST_LINE"  # Environment variable with the greatest number of bytes in a line of text
_LONGEST_LINE, _MOST_LINE = 100_000_000, 1 << 40
BLOCK_SIZE = 1 << 20  # Bytes per read
UTF8 = ("utf-8", "ascii")
STDIN = "-"
_UNPACKERS: dict[str, tuple[re.Pattern[bytes], Callable[[Buffered], io.BufferedIOBase]]] = {
    ".gz": (re.compile(rb"\x1f\x8b"), lambda packed: gzip.GzipFile(fileobj=packed)),
    # Text may begin with BZh: the first block, or the end of an empty file, has digits of pi or of its root.
    ".bz2": (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.BZ2File),
    ".xz": (re.compile(rb"\xfd7zXZ\0"), lzma.LZMAFile),
    ".zst": (re.compile(rb"\x28\xb5\x2f\xfd"), lambda packed: _zstd(packed)),
}
"""Unpackers by suffix, each with a pattern of the first bytes."""
_LONGEST_MAGIC = 10

MOST_PLACES = 18  # Digits of a whole number, which always fit 64 bits
LEAST_SCORE, MOST_SCORE = 1e-100, 1e100
"""Bounds of the size of scores other than 0, so that squares neither vanish nor overflow."""
MOST_DEPTH = 64  # Of lists and objects inside one another
# Python's own reader evaluates these headers as program text, with many ways to fail.
_HEADER = re.compile(
    rb"\{\s*'descr':\s*'([<>|=]?[fiub]\d{1,2})',\s*'fortran_order':\s*(True|False),"
    rb"\s*'shape':\s*\(((?:\d{1,18},\s*){0,3}(?:\d{1,18},?)?)\),?\s*\}\s*"
)
_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 4096

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_HTTP = re.compile(r"(?:^|::)(https?)://")
_AS_IT_IS = {"Accept-Encoding": "identity"}
_ATTEMPTS = 3
_PAUSE = 0.5  # Seconds before reading is tried again; the next pause is twice as long
_FINAL = (FileNotFoundError, NotADirectoryError, PermissionError, TimeoutError, ValueError, ImportError)
"""Errors that no other attempt mends."""
SILENCE = 30.0  # Seconds without a byte after which a server is given up
_NO_ANSWER = (ConnectionRefusedError, TimeoutError, gaierror)
_SERVER_FAILS = 500  # The first of HTTP's numbers for failures of the server

_Found = TypeVar("_Found")


@contextmanager
def readable(path: Path, kind: type[InputError | VectorError] = InputError) -> Iterator[None]:
    """Raise an error with the path if a file cannot be read."""
    try:
        yield
    except OSError as error:
        raise kind(f"{path}: cannot be read ({error.strerror or error})") from error


def check_plain(path: Path) -> int:
    """Return the size of a regular file; reject pipes, which would block, and devices, which may have no end."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if not path.is_file():
        raise InputError(f"{path}: no plain file, but a folder, a pipe or a device: name a file")
    return size


def read_bounded(stream: IO[bytes], name: str) -> bytes:
    """Read a whole file of at most `MOST_BYTES`."""
    content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        _refuse_size(name)
    return content


def _refuse_size(where: str) -> NoReturn:
    raise InputError(f"{where}: larger than {MOST_BYTES >> 20} MiB: give a smaller file")


def _zstd(packed: Buffered) -> io.BufferedIOBase:
    try:
        import pyarrow
    except ImportError:
        said = "zstd needs another package: pip install '.[parquet]' in a clone, or unpack the file first (zstd -d)"
        raise MissingExtraError(said) from None
    unpacked: io.BufferedIOBase = pyarrow.input_stream(_Borrowed(packed), compression="zstd")
    return unpacked


class _Borrowed(io.RawIOBase):
    """A stream that stays open when pyarrow closes its reader."""

    def __init__(self, stream: Buffered) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        return self._stream.readinto(buffer)


def unpacker_of(stream: Buffered) -> Callable[[Buffered], io.BufferedIOBase] | None:
    """Find the unpacker of a file (gzip, bzip2, xz or zstd) by its first bytes; None if it is not packed."""
    head = stream.peek(_LONGEST_MAGIC)
    return next((unpack for magic, unpack in _UNPACKERS.values() if magic.match(head)), None)


@contextmanager
def unpacking(name: object, kind: type[InputError | VectorError] = InputError) -> Iterator[None]:
    """Raise an error that names a packed file if it is damaged."""
    try:
        yield
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        # gzip, bz2 and pyarrow report damage as an OSError without a number.
        if getattr(error, "errno", None) is not None:
            raise
        raise kind(f"{name}: damaged packed file ({error}); download or pack it again") from error


@contextmanager
def open_source(name: str) -> Iterator[tuple[Buffered, Path | None]]:
    """Open a file, URL, pipe or standard input, unpacked; also return the path where it can be reread, if any."""
    path, remote = Path(name), is_url(name)
    plain = not remote and name != STDIN and path.is_file()
    if name == STDIN and sys.stdin is None:
        raise InputError("standard input (-) is closed")
    if not (plain or remote or name == STDIN):
        _check_special(path)
    try:
        with ExitStack() as stack:
            if name == STDIN:
                # Standard input cannot be rewound: peek at the beginning of packed files, and leave it open.
                stream: Any = io.BufferedReader(cast("io.RawIOBase", sys.stdin.buffer), BLOCK_SIZE)
                stack.callback(stream.detach)
            else:
                stream = stack.enter_context(open_url(name) if remote else path.open("rb"))
            if unpack := unpacker_of(stream):
                stack.enter_context(unpacking(name))
                unpacked = stack.enter_context(unpack(stream))
                yield io.BufferedReader(unpacked, BLOCK_SIZE), None
            else:
                yield stream, path if plain else None
    except OSError as error:
        if remote:
            raise
        raise InputError(f"cannot read {name}: {error.strerror}") from None


def first_bytes(name: str, count: int) -> bytes | None:
    """Read some first bytes, unpacked; None if the name is no plain file of this machine, but a pipe or a URL."""
    if name == STDIN or is_url(name) or not Path(name).is_file():
        return None
    with open_source(name) as (stream, _):
        return stream.peek(count)


def _check_special(path: Path) -> None:
    """Check that there is a pipe; of devices the empty one is a file, and others may have no end."""
    if not path.exists():
        raise InputError(f"no such file: {path}")
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if (path.is_char_device() or path.is_block_device()) and str(path) != os.devnull:
        raise InputError(f"{path} is a device, which may have no end: name a file, or - for standard input")


def without_packing(name: str) -> str:
    """Return the name that a packed file would have unpacked.

    >>> without_packing("out/online-A.txt.xz"), without_packing("umd.txt")
    ('out/online-A.txt', 'umd.txt')
    """
    return next((name.removesuffix(suffix) for suffix in _UNPACKERS if name.endswith(suffix)), name)


class _HashingReader(io.RawIOBase):
    """A raw file that updates a SHA-256 with everything that is read."""

    def __init__(self, path: Path, handle: io.RawIOBase) -> None:
        self._path = path
        self._handle = handle
        self.digest = hashlib.sha256()
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        # Raised here, where the error surely comes from reading.
        with readable(self._path, VectorError):
            count = self._handle.readinto(buffer)
        self.digest.update(memoryview(buffer)[: count or 0])
        self.count += count or 0
        return count


@dataclass(frozen=True)
class Stream:
    """The unpacked content of a file, and the means to hash the packed file."""

    content: io.BufferedIOBase
    size: int  # Bytes of the packed file
    _reader: _HashingReader
    _packed: io.BufferedIOBase

    @property
    def done(self) -> int:
        """Number of packed bytes that have been read."""
        return self._reader.count

    def fingerprint(self, *, unpack: bool = True) -> str:
        """Read the rest and return the hex SHA-256 of the whole file.

        With `unpack`, the rest is checked for damage of its packing.
        """
        rest = self.content if unpack else self._packed
        while rest.read(BLOCK_SIZE):
            pass
        return self._reader.digest.hexdigest()


@contextmanager
def open_stream(path: Path) -> Iterator[Stream]:
    """Open a file for one pass, unpacked; see `unpacker_of`.

    Raises `VectorError`, within the ``with`` block too: the file cannot be read, or its packing is damaged.
    """
    with readable(path, VectorError):
        opened = path.open("rb", buffering=0)
    with unpacking(path, VectorError), opened as handle:
        reader = _HashingReader(path, handle)
        packed = io.BufferedReader(reader, BLOCK_SIZE)
        unpack = unpacker_of(packed)
        content = io.BufferedReader(unpack(packed), BLOCK_SIZE) if unpack else packed
        yield Stream(content, os.fstat(handle.fileno()).st_size, reader, packed)


def longest_line() -> int:
    """Return the greatest number of bytes in a line of text: 100 million, or by the environment variable."""
    return number_from(LONGEST_LINE, _LONGEST_LINE, _MOST_LINE)


def refuse_line(where: str, longest: int) -> NoReturn:
    """Raise an error for a line that is too long, with the variable that raises the limit."""
    raise InputError(f"{where}: a line of more than {longest:,} bytes: cut it, or set {LONGEST_LINE} to more")


def bounded_lines(stream: IO[bytes] | io.BufferedIOBase, name: str) -> Iterator[bytes]:
    """Read lines with their ends; a line that is too long raises an error before it is read to its end."""
    longest = longest_line()
    for number, line in enumerate(iter(partial(stream.readline, longest + 2), b""), start=1):
        # The end of a line does not count.
        if len(line) > longest and len(line.rstrip(b"\r\n")) > longest:
            refuse_line(f"{name}, line {number}", longest)
        yield line


def encoding_of(name: str) -> str:
    """Return Python's name of a text encoding."""
    try:
        codec = codecs.lookup(name)
        "".encode(name)  # Codecs that do not encode text, such as base64, raise a LookupError.
        return codec.name
    except (LookupError, ValueError):
        raise InputError(f"unknown encoding {name!r}; e.g. utf-8, latin-1, utf-16, gb18030") from None


@contextmanager
def text_reader(stream: IO[bytes] | io.BufferedIOBase, name: str, encoding: str) -> Iterator[io.TextIOWrapper]:
    """Decode strictly, to the very last byte; newlines are kept, and the stream stays open."""
    reader = io.TextIOWrapper(cast("io.BufferedReader", stream), encoding, newline="\n")
    try:
        yield reader
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise _other_encoding(f"{name}: not {encoding} (0x{byte:02x})") from None
    except UnicodeError as error:
        raise _other_encoding(f"{name}: not {encoding} ({error})") from None
    finally:
        reader.detach()


def not_utf8(name: str, line: int, byte: int, value: int) -> InputError:
    """Make the error for a byte that is not UTF-8."""
    return _other_encoding(f"{name}, line {line}, byte {byte}: not UTF-8 (0x{value:02x})")


def _other_encoding(wrong: str) -> InputError:
    return InputError(f"{wrong}; name its encoding with ", Parameter("encoding"))


def text_lines(stream: IO[bytes] | io.BufferedIOBase, name: str, encoding: str) -> Iterator[str]:
    """Read the lines of a text, without their ends and without a byte-order mark."""
    if encoding in UTF8:
        for number, line in enumerate(bounded_lines(stream, name), start=1):
            try:
                text = line.decode().removesuffix("\n").removesuffix("\r")
            except UnicodeDecodeError as error:
                raise not_utf8(name, number, error.start + 1, line[error.start]) from None
            yield text if number > 1 else text.removeprefix("\ufeff")
        return
    longest = longest_line()
    with text_reader(stream, name, encoding) as reader:
        for number, piece in enumerate(iter(partial(reader.readline, longest + 2), "")):
            text = piece.removesuffix("\n")
            if len(text) > longest:
                refuse_line(name, longest)
            text = text.removesuffix("\r")
            yield text if number else text.removeprefix("\ufeff")


class NotJsonError(InputError):
    """The text is not JSON."""


def parse_json(text: str, where: str, *, gaps: bool = False) -> Json:
    """Parse JSON from a place, such as a file and its line; with `gaps`, NaN becomes null.

    Raises `NotJsonError` for other text, `InputError` for values out of bounds and for repeated keys in an object.

    >>> parse_json('{"a": [1, 2.5, null]}', "x.json")
    {'a': [1, 2.5, None]}
    >>> parse_json("[" * 100_000, "x.json")
    Traceback (most recent call last):
    softbleu.errors.InputError: x.json: lists and objects more than 64 deep: write it flatter
    """
    number = _floats(where)
    with _bounded(where):
        try:
            constant = (lambda text: None if text == "NaN" else number(text)) if gaps else number
            pairs = partial(_object, where)
            value = json.loads(text, parse_float=number, parse_constant=constant, object_pairs_hook=pairs)
        except json.JSONDecodeError as error:
            line = f", line {error.lineno}" if error.lineno > 1 else ""
            raise NotJsonError(f"{where}{line}, column {error.colno}: not JSON ({error.msg})") from None
    _check_bounds(value, where)
    return value


def _object(where: str, pairs: list[tuple[str, Json]]) -> JsonObject:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in value if names.count(name) > 1)
        raise InputError(f"{where}: the key {twice[:40]!r} is twice in one object: leave out or rename one")
    return value


def read_json(path: Path) -> Json:
    """Read a JSON file; see `parse_json`."""
    return parse_json(_read_text(path), str(path))


def read_toml(path: Path) -> JsonObject:
    """Read a TOML file; its numbers are finite, and no text has a NUL."""
    where, text = str(path), _read_text(path)
    with _bounded(where):
        try:
            content = tomllib.loads(text, parse_float=_floats(where))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{path}: no TOML ({error})") from error
    _check_bounds(content, where, names=True)
    return content


def map_array(path: Path) -> Array:
    """Map an array of numbers in a ``.npy`` file (rows in order) into memory, read-only."""
    import numpy as np

    size = check_plain(path)
    with readable(path), path.open("rb") as stream:
        start = stream.read(12)
        width = {1: 2, 2: 4, 3: 4}.get(start[6] if len(start) == 12 else 0, 0)
        length = int.from_bytes(start[8 : 8 + width], "little")
        stream.seek(8 + width)
        header = _HEADER.fullmatch(stream.read(min(length, _LONGEST_HEADER)))
    if start[:6] != _MAGIC or header is None:
        raise InputError(f"{path}: no array of numbers in NumPy's format")
    if header[2] == b"True":
        raise InputError(f"{path}: an array that is kept by columns (fortran_order), not by rows")
    try:
        dtype = np.dtype(header[1].decode())
    except TypeError:
        raise InputError(f"{path}: no array of numbers in NumPy's format") from None
    shape = tuple(int(extent) for extent in header[3].replace(b",", b" ").split())
    expected = 8 + width + length + math.prod(shape) * dtype.itemsize
    if size != expected:
        raise InputError(f"{path}: {size} bytes, where its header says {expected}")
    if not math.prod(shape):
        return np.empty(shape, dtype)
    with readable(path):
        return np.memmap(path, dtype, "r", 8 + width + length, shape)


def read_rows(lines: Iterable[str], name: str, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Read rows of CSV, each with the number of the line where it ends.

    >>> list(read_rows(["a,b", "1,2"], "x.csv"))
    [(1, ['a', 'b']), (2, ['1', '2'])]
    """
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{name}, line {reader.line_num}: not CSV ({error})") from None


def check_columns(place: str, names: Sequence[str], header: Sequence[str]) -> None:
    """Check that no two columns of a table have the same meaning; columns without a name have none.

    `names` are the meanings of the header cells.

    >>> check_columns("x.tsv", ["system", "score", "score"], ["system", "Score", "score"])
    Traceback (most recent call last):
    softbleu.errors.InputError: x.tsv: the columns Score, score are all 'score': rename or leave out all but one
    """
    doubled = next((name for name in names if name and names.count(name) > 1), None)
    if doubled is not None:
        found = ", ".join(cell for cell, name in zip(header, names, strict=True) if name == doubled)
        raise InputError(f"{place}: the columns {found} are all {doubled!r}: rename or leave out all but one")


def parse_whole(text: str) -> int:
    """Parse a whole number; ValueError for other text and too many digits."""
    if len(text) > MOST_PLACES + 1:
        raise ValueError(f"a whole number of at most {MOST_PLACES} digits is needed")
    return read_number(int, text)


def whole_number(where: str, what: str, value: object) -> int:
    """Parse a whole number at a place; `what` describes it in the InputError for other values."""
    try:
        return parse_whole(str(value))
    except ValueError:
        raise InputError(f"{where}: {what} is needed, not {value!r}") from None


def parse_score(value: Json) -> float:
    """Parse a score whose square is a normal number; ValueError for other values.

    >>> parse_score("0.5"), parse_score(3)
    (0.5, 3.0)
    >>> parse_score("1e308")
    Traceback (most recent call last):
    ValueError: a number is needed, 0 or of size 1e-100 to 1e+100
    """
    try:
        number = math.nan if isinstance(value, bool) else read_number(float, value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if number != 0 and not LEAST_SCORE <= abs(number) <= MOST_SCORE:
        raise ValueError(f"a number is needed, 0 or of size {LEAST_SCORE:g} to {MOST_SCORE:g}")
    return number


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a ``tokenizer.json``, without its truncation, its padding, and the dropout by which BPE is random."""
    from tokenizers import Tokenizer

    check_plain(path)
    try:
        with no_panic():
            tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        # The library raises nothing more specific.
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{path}: no tokenizer that can be read ({reason})") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    if getattr(tokenizer.model, "dropout", None) is not None:
        tokenizer.model.dropout = None
    return tokenizer


@contextmanager
def no_panic() -> Iterator[None]:
    """Turn panics of the `tokenizers` library, which are no `Exception`, into a RuntimeError."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(str(error)) from None


def _read_text(path: Path) -> str:
    if check_plain(path) > MOST_BYTES:
        _refuse_size(str(path))
    try:
        with readable(path):
            return path.read_text(encoding="utf-8-sig")  # A byte-order mark may come first
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start + 1}): save it as UTF-8") from None


@contextmanager
def _bounded(where: str) -> Iterator[None]:
    """Raise errors where Python's own readers fail: depth beyond the stack, and very long numbers."""
    try:
        yield
    except InputError:
        raise
    except RecursionError:
        _refuse_depth(where)
    except ValueError:
        _refuse_places(where)


def _floats(where: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise InputError(f"{where}: {text[:20]} is no finite number: give one")
        return value

    return read


def _check_bounds(value: object, where: str, *, names: bool = False) -> None:
    """Check all parts of a value, level by level; with `names`, texts must have no NUL."""
    level: list[object] = [value]
    for depth in range(MOST_DEPTH + 1):
        below: list[object] = []
        for entry in level:
            if isinstance(entry, str):
                if names and "\0" in entry:
                    raise InputError(f"{where}: a text with a NUL (\\u0000): take it out")
            elif isinstance(entry, int) and abs(entry) >= 10**MOST_PLACES:
                _refuse_places(where)
            elif depth == MOST_DEPTH and isinstance(entry, dict | list):
                _refuse_depth(where)
            elif isinstance(entry, dict):
                below += entry.keys()
                below += entry.values()
            elif isinstance(entry, list):
                below += entry
        if not below:
            return
        level = below


def _refuse_places(where: str) -> NoReturn:
    raise InputError(f"{where}: a whole number of more than {MOST_PLACES} digits: give a smaller one") from None


def _refuse_depth(where: str) -> NoReturn:
    raise InputError(f"{where}: lists and objects more than {MOST_DEPTH} deep: write it flatter")


def is_url(name: object) -> TypeGuard[str]:
    """Whether a name is a URL, not a path.

    >>> is_url("s3://bucket/key"), is_url("C:/folder/file"), is_url("-")
    (True, False, False)
    """
    return isinstance(name, str) and _SCHEME.match(name) is not None


def file_name(url: str) -> str:
    """Return the file name of a URL, without the query, which may be secret.

    >>> file_name("http://host/sets/v.txt?X-Amz-Signature=ab12")
    'v.txt'
    """
    return url.partition("?")[0].rpartition("/")[2]


def url_state(url: str) -> str:
    """Return a value that changes with the file: its checksum, version or time."""
    return _tried(url, lambda files, path: str(files.ukey(path)))


def open_url(url: str) -> IO[bytes]:
    """Open a file for reading, from its begin to its end."""

    def opened(files: AbstractFileSystem, path: str) -> AbstractBufferedFile:
        if not (isinstance(files.protocol, tuple) and "http" in files.protocol):
            return files.open(path, "rb")
        # A stream, of which only the bytes that are read are received; given a size, fsspec does not ask for it.
        return files.open(path, "rb", block_size=0, size=1, headers=_AS_IT_IS)

    return io.BufferedReader(_UrlReader(url, _tried(url, opened)), BLOCK_SIZE)


class _UrlReader(io.RawIOBase):
    """A raw stream of a URL; errors name the URL."""

    def __init__(self, url: str, stream: IO[bytes]) -> None:
        self._url, self._stream, self._over = url, stream, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            # Reading a response beyond its end gives a warning.
            content = b"" if self._over else self._stream.read(len(buffer))
        except Exception as error:
            raise _failure(self._url, error, "read") from error
        self._over = not content
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._stream.close()
        super().close()


def write_url(url: str, content: bytes) -> None:
    """Write a whole file."""
    _tried(url, lambda files, path: files.pipe_file(path, content), "written")


def find_urls(url: str) -> list[str]:
    """List the files in a folder; none if it does not exist."""
    return _tried(url, lambda files, path: [files.unstrip_protocol(name) for name in files.find(path)])


def remove_urls(urls: list[str]) -> None:
    """Remove files."""
    for url in urls:
        _tried(url, lambda files, path: files.rm_file(path), "removed")


def _tried(url: str, work: Callable[[AbstractFileSystem, str], _Found], done: str = "read") -> _Found:
    """Do something with a file; network failures are tried again."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return work(*_file_system(url))
        # Every kind of file system has its own errors.
        except Exception as raised:
            if isinstance(raised, InputError | MissingExtraError):
                raise
            error = _cause(raised)
            if isinstance(error, _FINAL) or attempt == _ATTEMPTS:
                raise _failure(url, raised, done) from error
            time.sleep(_PAUSE * 2 ** (attempt - 1))
    raise AssertionError


def _file_system(url: str) -> tuple[AbstractFileSystem, str]:
    with optional("remote", f"{url}: a URL"):
        core = import_module("fsspec.core")
    files, path = core.url_to_fs(url, **{scheme: _http_options() for scheme in _HTTP.findall(url)})
    return files, path


def _http_options() -> Keywords:
    """Set how long a server may be silent, and that content is not unpacked."""
    timeout = import_module("aiohttp").ClientTimeout(total=None, sock_connect=SILENCE, sock_read=SILENCE)
    return {"client_kwargs": {"timeout": timeout, "auto_decompress": False}, "headers": _AS_IT_IS}


def _failure(url: str, error: Exception, done: str) -> InputError:
    return InputError(f"{url}: cannot be {done} ({_reason(_cause(error))})")


def _cause(error: Exception) -> BaseException:
    """Find the cause of an error: over HTTP a failing server also raises FileNotFoundError."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, _NO_ANSWER) or getattr(cause, "status", 0) >= _SERVER_FAILS:
            return cause
        cause = cause.__cause__
    return error


def _reason(error: BaseException) -> str:
    if isinstance(error, _NO_ANSWER):
        return "nothing answers there"
    if isinstance(error, FileNotFoundError):
        return "there is no such file, folder or bucket"
    said = str(error).partition("\n")[0]
    if isinstance(error, PermissionError):
        return f"no permission{f': {said}' if said else ''}"
    return said or type(error).__name__
