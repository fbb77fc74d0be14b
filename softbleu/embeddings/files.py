"""Vector files: word2vec (binary or text) and GloVe, read in one streaming pass, and models of fastText.

Only wanted rows are kept in memory. Models of fastText (`.bin`) also have vectors of unlisted words, by subwords.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from softbleu.embeddings.vectors import Head, Selection, Sink, VectorCase, WordVectors
from softbleu.errors import VectorError, optional
from softbleu.io.arguments import read_number
from softbleu.io.platform import cached_property
from softbleu.io.reading import BLOCK_SIZE, Stream, longest_line, open_stream, refuse_line
from softbleu.types import Progress

_MODEL_MAGIC = b"\xba\x16\x4f\x2f"
_HEAD_SIZE = 1 << 16
_LARGEST_COUNT = 1 << 31
_LARGEST_DIMENSION = 1 << 16
_HEADER = re.compile(rb"\s*([+-]?\d+)[ \t]+([+-]?\d+)[ \t\r]*\n")
_RESAVE = "load it with gensim and save it with KeyedVectors.save_word2vec_format"
_REFUSED = (
    (re.compile(rb"\x80[\x00-\x05]"), f"a pickle, which can run any code, is not opened; {_RESAVE}"),
    (re.compile(rb"\x93NUMPY"), f"a NumPy array without its words is not a vector file; {_RESAVE}"),
    (re.compile(rb"PK\x03\x04"), f"a zip or npz archive is not a vector file; unpack it, or {_RESAVE}"),
    (re.compile(_MODEL_MAGIC), "a packed model of fastText is not read; unpack it"),
)
_VALUE_SIZE = 4
_LONGEST_WORD = 1 << 16
_MOST_WHOLE, _MOST_DECIMALS = 3, 12  # Most digits of usual numbers: fewer than 16 in total
_NUMERIC = b"0123456789.+-eE "
_MODEL_HEADER = struct.Struct("<4s13id3i2q")
_MODEL_SIZES = struct.Struct("<?2q")
_AFTER_WORD = 9  # Bytes of count and kind after a word
_WORDS_AT_ONCE = 2048
_END = "</s>"  # End of lines, which has no n-grams


@dataclass(frozen=True)
class FileLayout:
    """Layout of a vector file."""

    kind: Literal["binary", "text"]  # word2vec's ``binary``, or ``text`` of word2vec and GloVe
    dimension: int  # Values per vector
    count: int | None  # Number of vectors in the header; None without a header
    start: int  # Bytes of the header


def detect_layout(path: Path) -> FileLayout:
    r"""Detect the layout of a vector file, plain or packed with gzip.

    Raises `VectorError`: the kind is unknown, or the header has impossible sizes.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tiny.txt"
    >>> _ = path.write_text("2 3\nyes 1 0 0\nno 0 1 0\n")
    >>> detect_layout(path)
    FileLayout(kind='text', dimension=3, count=2, start=4)
    """
    with open_stream(path) as stream:
        head = stream.content.read(_HEAD_SIZE)
    if not head.strip():
        raise VectorError(f"{path}: the file is empty; download or convert it again")
    for magic, advice in _REFUSED:
        if magic.match(head):
            raise VectorError(f"{path}: {advice}")
    header = _HEADER.match(head)
    if header is None:
        return FileLayout("text", _count_values(path, head), None, 0)
    count, dimension = (int(number[:20]) for number in header.groups())
    if not (0 < count <= _LARGEST_COUNT and 0 < dimension <= _LARGEST_DIMENSION):
        text = header[0].strip().decode("ascii")
        raise VectorError(f"{path}: header {text!r} (vectors, dimension) is impossible; the file is damaged")
    kind: Literal["binary", "text"] = "text" if _looks_like_text(head[header.end() :]) else "binary"
    return FileLayout(kind, dimension, count, header.end())


def is_number(field: bytes) -> bool:
    """Whether a field of a line is a number, including NaN and infinity."""
    try:
        read_number(float, field)
    except ValueError:
        return False
    return True


def _count_values(path: Path, head: bytes) -> int:
    """Count the values of the first line of a file without header: the numbers at its end."""
    fields = head.lstrip().split(b"\n", 1)[0].split()
    numbers = next((i for i, field in enumerate(reversed(fields)) if not is_number(field)), len(fields) - 1)
    if numbers == 0:
        raise VectorError(
            f"{path}: neither word2vec (header 'vectors dimension') nor GloVe text (a word, then numbers); {_RESAVE}"
        )
    return numbers


def _looks_like_text(body: bytes) -> bool:
    """Whether the values are written as text, not as float32, which soon contains control bytes."""
    sample = body[:1024]
    if any(byte < 32 and byte not in b"\t\r\n" for byte in sample):
        return False
    return len(sample) >= 256 or any(is_number(field) for field in body.partition(b"\n")[0].split()[1:])


def read_binary(path: Path, stream: Stream, layout: FileLayout, sink: Sink, progress: Progress | None) -> None:
    """Read records block by block, and pass on the ones that the sink wants, until it is full.

    Raises `VectorError`: the file is too short or too long, or holds a value that is not finite, wanted or not.
    """
    total = layout.count or 0  # Binary files have a header
    size = layout.dimension * _VALUE_SIZE
    records, offset, rest = 0, layout.start, b""
    stream.content.read(layout.start)
    while records < total:
        if sink.full:
            return
        if progress is not None:
            progress(stream.done, stream.size)
        block = stream.content.read(BLOCK_SIZE)
        if not block:
            word, space, _ = rest.partition(b" ")
            raise VectorError(
                f"{path}: truncated at word {records + 1}{f' ({_show(word)})' if space else ''}, byte {offset}: "
                f"{records} of {total} vectors read; download or convert it again"
            )
        buffer = rest + block
        starts, wanted, slots = _split_records(buffer, size, total - records, sink)
        if starts:
            # One copy for all records
            values = sliding_window_view(np.frombuffer(buffer, dtype=np.uint8), size)[np.asarray(starts)]
            rows = values.view("<f4").astype(np.float32, copy=False)
            if not (sink.tolerant or np.isfinite(rows).all()):
                _refuse_values(path, records, offset, buffer, starts, rows)
            sink.add(slots, rows if len(wanted) == len(rows) else rows[wanted])
            records, offset, buffer = records + len(starts), offset + starts[-1] + size, buffer[starts[-1] + size :]
        rest = buffer
        if len(rest) > size + _LONGEST_WORD and b" " not in rest[:_LONGEST_WORD]:
            raise VectorError(
                f"{path}: word {records + 1}, byte {offset}, has no end within {_LONGEST_WORD} bytes; the header is "
                "wrong or the file is damaged"
            )
    if (rest + stream.content.read(_LONGEST_WORD)).strip():
        raise VectorError(
            f"{path}: more data after the {total} vectors of the header, at byte {offset}; "
            "the header is wrong or the file is damaged"
        )


def _split_records(buffer: bytes, size: int, limit: int, sink: Sink) -> tuple[list[int], list[int], list[int]]:
    """Find the start of the values of each complete record, the wanted records, and their slots."""
    starts: list[int] = []
    wanted: list[int] = []
    slots: list[int] = []
    take, find, last = sink.take, buffer.find, len(buffer) - size
    begin = 0
    for record in range(limit):
        start = find(b" ", begin) + 1
        if start == 0 or start > last:
            break
        starts.append(start)
        # Some writers end each record with a line break, which precedes the next word.
        slot = take(buffer[begin : start - 1].lstrip(b"\n"), None)
        if slot is not None:
            wanted.append(record)
            slots.append(slot)
        begin = start + size
    return starts, wanted, slots


def _show(word: bytes) -> str:
    return repr(word.lstrip(b"\n").decode("utf-8", "replace"))


def _refuse_values(
    path: Path, records: int, offset: int, buffer: bytes, starts: list[int], rows: NDArray[np.float32]
) -> NoReturn:
    record = int(np.argmin(np.isfinite(rows).all(axis=1)))
    begin = starts[record - 1] + rows.shape[1] * _VALUE_SIZE if record else 0
    word = _show(buffer[begin : starts[record] - 1])
    raise VectorError(
        f"{path}: NaN or infinite value for word {word} (word {records + record + 1}, "
        f"byte {offset + begin}); mend or drop that vector"
    )


@dataclass(frozen=True)
class _Lines:
    """Parser of lines with a number of values."""

    path: Path
    dimension: int
    tolerant: bool

    def split(self, line: bytes, number: int) -> tuple[bytes, bytes]:
        """Split a line into word and values, with a fast path for usual lines."""
        line = line.rstrip()
        if line.count(b" ") == self.dimension and b"  " not in line and b"\t" not in line:
            word, _, values = line.partition(b" ")
        else:
            word, values = self._split_unusual(line, number)
        if values.translate(None, _NUMERIC) and not (self.tolerant and all(map(is_number, values.split()))):
            self._refuse_values(word, values, number)
        return word, values

    def _split_unusual(self, line: bytes, number: int) -> tuple[bytes, bytes]:
        """Split a line with tabs, repeated spaces, or a word with spaces, as in GloVe's largest set."""
        parts = line.rsplit(None, self.dimension)
        beyond = parts[0].split()[1:]
        if len(parts) <= self.dimension or (beyond and all(map(is_number, beyond))):
            raise VectorError(
                f"{self.path}: line {number}: {len(line.split()) - 1} values found, "
                f"{self.dimension} expected; the file is cut off, damaged or not a vector file"
            )
        return parts[0], b" ".join(parts[1:])

    def parse(self, wanted: Sequence[tuple[bytes, bytes, int]]) -> NDArray[np.float32]:
        """Parse the values of lines, given as word, values and line number."""
        try:
            with np.errstate(over="ignore"):
                numbers = read_decimals(b" ".join([values for _, values, _ in wanted])).astype(np.float32)
        except ValueError:
            self._refuse_values(*next(line for line in wanted if not all(map(is_number, line[1].split(b" ")))))
        rows = numbers.reshape(len(wanted), self.dimension)
        if not (self.tolerant or (finite := np.isfinite(rows).all(axis=1)).all()):
            self._refuse_values(*wanted[int(np.argmin(finite))])
        return rows

    def _refuse_values(self, word: bytes, values: bytes, number: int) -> NoReturn:
        where = f"for word {word.decode('utf-8', 'replace')!r}"
        strange = next((field for field in values.split(b" ") if not is_number(field)), None)
        fault = f"{strange.decode('utf-8', 'replace')!r} is not a number" if strange else "NaN or infinite value"
        raise VectorError(f"{self.path}: line {number}: {fault} {where}; mend or drop that vector")


def read_decimals(text: bytes) -> NDArray[np.float64]:
    """Parse numbers separated by single blanks, with the results of `float`.

    Usual numbers, such as -12.3456, are computed together from their digits: an exact integer divided by a power of
    ten. Raises `ValueError` if one is not a number.

    >>> read_decimals(b"0.25 -12.5 1e-3").tolist()
    [0.25, -12.5, 0.001]
    """
    padded = np.frombuffer(b" " * _MOST_WHOLE + text + b" " * _MOST_DECIMALS, np.uint8)
    blanks = np.flatnonzero(padded[_MOST_WHOLE:-_MOST_DECIMALS] == ord(" ")) + _MOST_WHOLE
    starts, ends = np.append(_MOST_WHOLE, blanks + 1), np.append(blanks, _MOST_WHOLE + len(text))
    points = np.flatnonzero(padded == ord("."))
    if len(points) != len(starts) or not ((starts < points) & (points < ends)).all():
        points = np.append(points, len(padded))[np.searchsorted(points, starts)]
    negative = padded[starts] == ord("-")
    before, after = points - starts - negative, ends - points - 1
    usual = (before > 0) & (before <= _MOST_WHOLE) & (after > 0) & (after <= _MOST_DECIMALS)
    points = np.where(usual, points, _MOST_WHOLE)
    whole, decimals = (int(counts[usual].max(initial=0)) for counts in (before, after))
    total = np.zeros(len(starts), np.int64)
    for column in (*range(-whole, 0), *range(1, decimals + 1)):
        digits = padded[points + column] - np.uint8(ord("0"))
        digits *= after >= column if column > 0 else before >= -column
        usual &= digits < 10
        total = 10 * total + digits
    numbers: NDArray[np.float64] = total / 10.0**decimals
    np.negative(numbers, out=numbers, where=negative)
    for place in np.flatnonzero(~usual).tolist():
        numbers[place] = read_number(float, text[starts[place] - _MOST_WHOLE : ends[place] - _MOST_WHOLE])
    return numbers


def _read_block(path: Path, stream: Stream, number: int) -> list[bytes]:
    """Read lines until they have the size of a block."""
    block, size, longest = [], 0, longest_line()
    while size < BLOCK_SIZE and (line := stream.content.readline(longest + 1)):
        block.append(line)
        size += len(line)
        if len(line) > longest:
            refuse_line(f"{path}, line {number + len(block)}", longest)
    return block


def read_text(path: Path, stream: Stream, layout: FileLayout, sink: Sink, progress: Progress | None) -> None:
    """Read lines, and parse the ones that the sink wants, until it is full.

    Raises `VectorError`: a line with too few or too many values, or with values that are not finite, wanted or not;
    fewer or more lines than the header states.
    """
    lines = _Lines(path, layout.dimension, sink.tolerant)
    stream.content.read(layout.start)
    number = 0 if layout.count is None else 1
    count = 0
    while not sink.full and (block := _read_block(path, stream, number)):
        if progress is not None:
            progress(stream.done, stream.size)
        slots: list[int] = []
        wanted: list[tuple[bytes, bytes, int]] = []
        for line in block:
            number += 1
            if line.isspace():
                continue
            count += 1
            word, values = lines.split(line, number)
            slot = sink.take(word, None)
            if slot is not None:
                slots.append(slot)
                wanted.append((word, values, number))
        if wanted:
            sink.add(slots, lines.parse(wanted))
    if not sink.full and layout.count is not None and count != layout.count:
        fault = "truncated" if count < layout.count else "damaged"
        raise VectorError(
            f"{path}: {fault} at line {number}: {count} of {layout.count} vectors read; "
            "download or convert it again, or mend the header"
        )


_READERS = {"binary": read_binary, "text": read_text}


class FileSource:
    """A file of word2vec (binary or text) or GloVe vectors, plain or packed with gzip or bzip2."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.layout = detect_layout(path)
        """Layout of the file, from its first bytes."""
        self.name, self.dimension = path.name, self.layout.dimension
        self._fingerprint: str | None = None

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the file on disk, which is read unless `select` was called before."""
        if self._fingerprint is None:
            with open_stream(self.path) as stream:
                self._fingerprint = stream.fingerprint()
        return self._fingerprint

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Return the vectors of words in one pass over the file; see `VectorSource.select`."""
        selection = Selection(words, case)
        self.read(selection)
        return selection.finish(self.dimension, self.name, self.fingerprint)

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Return the first words and their rows; see `VectorSource.head`."""
        head = Head(count)
        self.read(head, to_end=False)
        return head.finish(self.dimension)

    def read(self, sink: Sink, *, progress: Progress | None = None, to_end: bool = True) -> None:
        """Read the file once, and pass wanted rows to the sink.

        `progress` is called with the bytes read and the size of the file. With `to_end`, the file is hashed to its
        end even if the sink is full earlier.
        """
        with open_stream(self.path) as stream:
            _READERS[self.layout.kind](self.path, stream, self.layout, sink, progress)
            if to_end or not sink.full:
                self._fingerprint = stream.fingerprint(unpack=not sink.full)


def is_fasttext(path: Path) -> bool:
    """Whether a file is an unpacked model of fastText."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MODEL_MAGIC)) == _MODEL_MAGIC
    except OSError:
        return False


class FastTextSource:
    """A memory-mapped model of fastText (Bojanowski et al. 2017, section 3.2).

    The vector of a word is the mean of its own row and the rows of its character n-grams; unlisted words have only
    the latter. Raises `VectorError`: the file is damaged, compressed, or of a classifier.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.name
        with path.open("rb") as file:
            self._content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self._read_layout()
        except VectorError:
            raise
        except (struct.error, ValueError):
            self._refuse("is damaged or cut off; download it again")

    def _read_layout(self) -> None:
        _, _, self.dimension, *settings, _, count, _, labels, _, pruned = _MODEL_HEADER.unpack_from(self._content)
        self._buckets, self._shortest, self._longest = settings[-4:-1]
        if labels > 0 or pruned > 0:
            self._refuse("is of a classifier, or compressed; give the .bin of vectors")
        self._count, self._places, place = count, dict[bytes, int](), _MODEL_HEADER.size
        for number in range(count):
            if (end := self._content.find(b"\0", place)) < 0:
                raise ValueError
            self._places.setdefault(self._content[place:end], number)
            place = end + 1 + _AFTER_WORD
        quantised, rows, dimension = _MODEL_SIZES.unpack_from(self._content, place)
        if quantised:
            self._refuse("is compressed; give the .bin of vectors")
        expected = count + self._buckets, self.dimension
        if (rows, dimension) != expected or min(count, dimension, self._buckets + 1) < 1:
            raise ValueError
        # Bytes, since values may not be aligned.
        size = rows * dimension * 4
        self._rows = np.frombuffer(self._content, np.uint8, size, place + _MODEL_SIZES.size).reshape(rows, -1)

    def _refuse(self, fault: str) -> NoReturn:
        raise VectorError(f"{self.path}: this model of fastText {fault}")

    @property
    def words(self) -> list[str]:
        """Words listed by the model."""
        return [word.decode("utf-8", "surrogateescape") for word in self._places]

    def _lists(self, word: str) -> bool:
        return word.encode("utf-8", "replace") in self._places

    @cached_property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the file."""
        with open_stream(self.path) as stream:
            return stream.fingerprint()

    def batches(self, words: Sequence[str]) -> Iterator[tuple[Sequence[str], NDArray[np.float32]]]:
        """Yield words and their rows in batches; a word without known parts has zeros."""
        for start in range(0, len(words), _WORDS_AT_ONCE):
            some = words[start : start + _WORDS_AT_ONCE]
            yield some, self._rows_of(some)

    def _rows_of(self, words: Sequence[str]) -> NDArray[np.float32]:
        with optional("train", "fastText's model with subwords"):
            from gensim.models.fasttext import ft_ngram_hashes

        places, counts = [], []
        for word in words:
            text = word.encode("utf-8", "replace").decode()
            chosen = [self._places[text.encode()]] if self._lists(text) else []
            if self._buckets and text != _END:
                grams = ft_ngram_hashes(text, self._shortest, self._longest, self._buckets)
                chosen += [self._count + gram for gram in grams]
            places += chosen
            counts.append(len(chosen))
        sizes = np.array(counts)
        rows = np.zeros((len(words), self.dimension), np.float32)
        if places:
            values = self._rows[places].view("<f4")
            starts = np.cumsum(sizes) - sizes
            rows[sizes > 0] = np.add.reduceat(values, starts[sizes > 0]) / sizes[sizes > 0, None]
        return rows

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Return the first words and their rows; see `VectorSource.head`."""
        words = self.words[:count]
        return words, self._all(words)

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Return the vectors of words, for unlisted words by subwords; see `VectorSource.select`."""
        if case == "fallback":
            words = [word.lower() if not self._lists(word) and self._lists(word.lower()) else word for word in words]
        return WordVectors(self._all(words), self.name, self.fingerprint, 0)

    def _all(self, words: Sequence[str]) -> NDArray[np.float32]:
        rows = [rows for _, rows in self.batches(words)] or [np.zeros((0, self.dimension), np.float32)]
        made = np.concatenate(rows)
        if not (finite := np.isfinite(made).all(axis=1)).all():
            self._refuse(f"has a value that is not finite for {words[int(np.argmin(finite))]!r}; download it again")
        return made
