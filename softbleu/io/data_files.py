"""JSON, TOML, NumPy arrays and lines that others wrote, read within bounds of size, depth, digits and types.

Whatever such a file says, it gives plain values or an error of one line; it never runs, hangs, or takes memory that
its size does not warrant.
"""

from __future__ import annotations

import csv
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import BufferedIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import InputError
from softbleu.io.arguments import number_from

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MOST_BYTES = 64 << 20  # Of a file that is read whole
MOST_PLACES = 18  # Of a whole number; so many always fit 64 bits
LEAST_SCORE, MOST_SCORE = 1e-100, 1e100
"""Of scores that others gave, apart from 0: their squares neither vanish nor overflow."""
MOST_DEPTH = 64  # Of lists and objects inside one another

# Python's own reader of these headers takes them for program text, and fails in as many ways as such text can.
_HEADER = re.compile(
    rb"\{\s*'descr':\s*'([<>|=]?[fiub]\d{1,2})',\s*'fortran_order':\s*(True|False),"
    rb"\s*'shape':\s*\(((?:\d{1,18},\s*){0,3}(?:\d{1,18},?)?)\),?\s*\}\s*"
)
LONGEST_LINE = "SOFTBLEU_LONGEST_LINE"  # The environment variable that says how many bytes a line of text may have
_LONGEST_LINE, _MOST_LINE = 100_000_000, 1 << 40
_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 4096


class NotJsonError(InputError):
    """The text is not JSON."""


def parse_json(text: str, where: str) -> Any:
    """Read JSON that stands at a place, such as a file and its line.

    Raises `NotJsonError` for anything else, `InputError` for what is out of bounds.

    >>> parse_json('{"a": [1, 2.5, null]}', "x.json")
    {'a': [1, 2.5, None]}
    >>> parse_json("[" * 100_000, "x.json")
    Traceback (most recent call last):
    softbleu.errors.InputError: x.json: lists and objects more than 64 deep: write it flatter
    """
    number = _floats(where)
    try:
        value = json.loads(text, parse_int=_wholes(where), parse_float=number, parse_constant=number)
    except json.JSONDecodeError as error:
        line = f", line {error.lineno}" if error.lineno > 1 else ""
        raise NotJsonError(f"{where}{line}, column {error.colno}: not JSON ({error.msg})") from None
    except RecursionError:
        _refuse_depth(where)
    _check(value, where)
    return value


def read_json(path: Path) -> Any:
    """Read a file of JSON; see `parse_json`."""
    return parse_json(_read_text(path), str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Read a file of TOML; numbers in it are finite, and no text has a NUL."""
    where, text = str(path), _read_text(path)
    try:
        content = tomllib.loads(text, parse_float=_floats(where))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: no TOML ({error})") from error
    except RecursionError:
        _refuse_depth(where)
    except InputError:
        raise
    except ValueError:
        # The reader of TOML has whole numbers made by Python, which refuses thousands of digits.
        raise InputError(f"{path}: a whole number of more than {MOST_PLACES} digits: give a smaller one") from None
    _check(content, where, names=True)
    return content


def map_array(path: Path) -> NDArray[Any]:
    """Map an array of a ``.npy`` file into memory, to be read: numbers, row after row."""
    size = _size_of(path)
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


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say that a file cannot be read, where that fails."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def longest_line() -> int:
    """How many bytes a line of text may have: 100 million, or what the environment says."""
    return number_from(LONGEST_LINE, _LONGEST_LINE, _MOST_LINE)


def refuse_line(where: str, longest: int) -> NoReturn:
    """Say that a line is too long, and what raises the limit."""
    raise InputError(f"{where}: a line of more than {longest:,} bytes: cut it, or set {LONGEST_LINE} to more")


def bounded_lines(stream: IO[bytes] | BufferedIOBase, name: str) -> Iterator[bytes]:
    """Read lines with their ends; one that is too long is refused before it has been read to its end."""
    longest = longest_line()
    for number, line in enumerate(iter(partial(stream.readline, longest + 2), b""), start=1):
        # The end of a line does not count.
        if len(line) > longest and len(line.rstrip(b"\r\n")) > longest:
            refuse_line(f"{name}, line {number}", longest)
        yield line


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
    """See that no two columns of a table mean the same; those without a name mean nothing.

    `names` are what the cells of the header mean.

    >>> check_columns("x.tsv", ["system", "score", "score"], ["system", "Score", "score"])
    Traceback (most recent call last):
    softbleu.errors.InputError: x.tsv: the columns Score, score are all 'score': rename or leave out all but one
    """
    doubled = next((name for name in names if name and names.count(name) > 1), None)
    if doubled is not None:
        found = ", ".join(cell for cell, name in zip(header, names, strict=True) if name == doubled)
        raise InputError(f"{place}: the columns {found} are all {doubled!r}: rename or leave out all but one")


def read_bounded(stream: IO[bytes], name: str) -> bytes:
    """Read all of a file, which is not too large."""
    content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        _refuse_size(name)
    return content


def parse_whole(text: str) -> int:
    """Read a whole number; ValueError if it is none, or has too many digits."""
    if len(text) > MOST_PLACES + 1:
        raise ValueError(f"a whole number of at most {MOST_PLACES} digits is needed")
    return int(text)


def whole_number(where: str, what: str, value: object) -> int:
    """Read a whole number that stands at a place, such as `the number of a segment`; InputError: it is none."""
    try:
        return parse_whole(str(value))
    except ValueError:
        raise InputError(f"{where}: {what} is needed, not {value!r}") from None


def parse_score(value: Any) -> float:
    """Read a score, of which sums of squares can be taken; ValueError if it is none.

    >>> parse_score("0.5"), parse_score(3)
    (0.5, 3.0)
    >>> parse_score("1e308")
    Traceback (most recent call last):
    ValueError: a number is needed, 0 or of size 1e-100 to 1e+100
    """
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if number != 0 and not LEAST_SCORE <= abs(number) <= MOST_SCORE:
        raise ValueError(f"a number is needed, 0 or of size {LEAST_SCORE:g} to {MOST_SCORE:g}")
    return number


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a ``tokenizer.json``; what it says of cutting and padding is switched off."""
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
    return tokenizer


@contextmanager
def no_panic() -> Iterator[None]:
    """Turn panics of the `tokenizers` library, which are no `Exception`, into such."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(str(error)) from None


def check_plain(path: Path) -> None:
    """See that a file is one: a pipe would block whoever opens it, a device may have no end."""
    _size_of(path)


def _size_of(path: Path) -> int:
    try:
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if not path.is_file():
        raise InputError(f"{path}: no plain file, but a folder, a pipe or a device: name a file")
    return size


def _read_text(path: Path) -> str:
    if _size_of(path) > MOST_BYTES:
        _refuse_size(str(path))
    try:
        with readable(path):
            return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start + 1}): save it as UTF-8") from None


def _wholes(where: str) -> Callable[[str], int]:
    def read(text: str) -> int:
        if len(text.removeprefix("-")) > MOST_PLACES:
            raise InputError(f"{where}: a whole number of more than {MOST_PLACES} digits: give a smaller one")
        return int(text)

    return read


def _floats(where: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise InputError(f"{where}: {text[:20]} is no finite number: give one")
        return value

    return read


def _check(value: Any, where: str, *, names: bool = False) -> None:
    """Go through all of a value, level by level; in names there is no NUL."""
    level: list[Any] = [value]
    for depth in range(MOST_DEPTH + 1):
        below: list[Any] = []
        for entry in level:
            if isinstance(entry, str):
                if names and "\0" in entry:
                    raise InputError(f"{where}: a text with a NUL (\\u0000): take it out")
            elif isinstance(entry, int) and abs(entry) >= 10**MOST_PLACES:
                raise InputError(f"{where}: a whole number of more than {MOST_PLACES} digits: give a smaller one")
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


def _refuse_size(where: str) -> NoReturn:
    raise InputError(f"{where}: larger than {MOST_BYTES >> 20} MiB: give a smaller file")


def _refuse_depth(where: str) -> NoReturn:
    raise InputError(f"{where}: lists and objects more than {MOST_DEPTH} deep: write it flatter")
