"""Vectors of words: the interface of all sources, the store, and vectors in memory.

The store is a directory of plain files, written once and memory-mapped: ``vectors.npy`` (int8, float16 or float32,
one row per word), ``scales.npy`` (float32, with int8 only: a row is its int8 values times its scale), ``vocab.txt``
(UTF-8, one word per line) and ``meta.json``. Large stores also have a ``lookup.npy``, uint32 of shape (3, words):
CRC-32 of each word, ascending; its row; the byte of ``vocab.txt`` where it starts. Checksums may collide, so a word
found by its checksum is compared with the text.
"""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
import re
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softbleu.errors import InputError, Parameter, VectorError
from softbleu.io.files import check_apart, draft_folder, hash_files, mend_folder, put_in_place
from softbleu.io.platform import cached_property
from softbleu.io.reading import check_plain, map_array, read_json

if TYPE_CHECKING:
    from softbleu.types import Array, Fields, Flags, Floats, Integers, JsonObject


VectorCase = Literal["exact", "fallback"]
PAIRS, SEED = 1_000_000, 2014  # Random pairs of words for the quantiles of their similarity
PERCENTILES = (50.0, 75.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.9, 99.95, 99.99)
"""Percentiles in every store; others are computed on demand."""
QUANTILES = "similarity_quantiles"
LOOKUP = "lookup.npy"
LOOKUP_FROM = 200_000  # Words from which a lookup pays: fewer are read as quickly
_LARGEST_TEXT = 1 << 32
STORE_FORMAT = 1
StoreType = Literal["int8", "float16", "float32"]
STORE_TYPES: tuple[StoreType, ...] = ("int8", "float16", "float32")
META, VECTORS, SCALES, VOCABULARY = "meta.json", "vectors.npy", "scales.npy", "vocab.txt"
_HASHED = (VECTORS, SCALES, VOCABULARY)
STORE_FILES = (META, *_HASHED, LOOKUP)
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_WINDOW = 16 << 20  # Bytes of a file that are mapped at a time
_SHA256 = re.compile("[0-9a-f]{64}")
_AGAIN = "write the store again"
_ROWS_AT_ONCE = 4096
_MOST = 1 << 17  # Cached words of a large set


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of a list of words, in the same order.

    >>> rows = np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)
    >>> vectors = WordVectors(rows, "made up", "0" * 64, zero_words=0)
    >>> vectors.norms.tolist(), vectors.known.tolist()
    ([5.0, 0.0], [True, False])
    """

    rows: NDArray[np.float32]
    """Vectors as in the file, not normalised, zero for words without one: (words, dimension)."""
    name: str  # Name of the bundled set, or the file name
    fingerprint: str  # Hex SHA-256 of the content of the set
    zero_words: int  # Number of words found with an all-zero row, which counts as no vector

    @cached_property
    def norms(self) -> NDArray[np.float64]:
        """Euclidean length of each row, computed in float64; 0.0 means no vector: (words,)."""
        lengths: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", self.rows, self.rows, dtype=np.float64))
        return lengths

    @property
    def known(self) -> NDArray[np.bool_]:
        """Mask of the words that have a vector: (words,)."""
        return self.norms > 0


@dataclass(frozen=True)
class MeasuredWords:
    """Words with the data of their similarity."""

    selected: WordVectors  # Vectors as in the set
    rows: NDArray[np.float32]
    """Directions without common components, zero for a word without a vector: (words, dimension)."""
    allowed_pairs: Integers | None = None
    """Ascending numbers `one * words + other` of the words that may match; None: any may."""
    self_only: Flags | None = None  # Mask of words that match only themselves: (words,)


@runtime_checkable
class VectorSource(Protocol):
    """Interface of sets of word vectors, of which only the rows of a vocabulary are loaded."""

    @property
    def name(self) -> str:
        """Name of the bundled set, or the file name."""

    @property
    def dimension(self) -> int:
        """Length of each vector."""

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the content; reads a file to its end, once."""

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Return the first words, in most sets the most frequent, and their rows; all if `count` is None.

        Raises `VectorError`: the content read is damaged.
        """

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Return the vectors of words, in order; words may be repeated.

        A word is looked up as written and then, with ``case="fallback"``, lower-cased. A word found as written keeps
        its row even if all zero. If a file repeats a word, the first row counts. Raises `VectorError`: the content is
        damaged, or holds values that are not finite, even for other words.
        """


class Sink(Protocol):
    """Receiver of words and rows of a source, which selects some."""

    tolerant: bool  # Whether rows with values that are not finite are accepted

    @property
    def take(self) -> Callable[[bytes, None], int | None]:
        """Function that returns the slot of a word in UTF-8, or its second argument if the row is not wanted."""

    @property
    def full(self) -> bool:
        """Whether no more words are wanted."""

    def add(self, slots: Sequence[int], rows: NDArray[np.float32]) -> None:
        """Store the rows of slots: (slots, dimension)."""


class Selection:
    """Collects the rows of a vocabulary while a source is read.

    ``open_forms`` maps each spelling not yet found, in UTF-8, to its slot. A source pops the spellings that it has,
    so that the first of repeated words wins, and adds their slots and rows. It is never `full`, so that all rows are
    checked for damage.

    >>> selection = Selection(["The", "cat"], "fallback")
    >>> sorted(selection.open_forms)
    [b'The', b'cat', b'the']
    >>> selection.add([selection.take(b"the", None)], np.ones((1, 4), dtype=np.float32))
    >>> selection.finish(4, "made up", "0" * 64).norms.tolist()
    [2.0, 0.0]
    """

    def __init__(self, words: Sequence[str], case: VectorCase) -> None:
        self.open_forms: dict[bytes, int] = {}
        self.take: Callable[[bytes, None], int | None] = self.open_forms.pop
        self.tolerant = False
        self.full = False
        slot = self.open_forms.setdefault
        spellings = words, map(str.lower, words) if case == "fallback" else words
        # Lone surrogates, from text read with surrogateescape, match nothing, but must not raise.
        self._written, self._lowered = (
            np.fromiter((slot(word.encode("utf-8", "surrogatepass"), len(self.open_forms)) for word in some), np.intp)
            for some in spellings
        )
        self._location = np.full(len(self.open_forms), -1, dtype=np.intp)
        self._parts: list[NDArray[np.float32]] = []
        self._count = 0

    def add(self, slots: Sequence[int], rows: NDArray[np.float32]) -> None:
        """Store the rows of slots: (slots, dimension)."""
        if len(slots):
            self._location[np.asarray(slots)] = np.arange(self._count, self._count + len(slots))
            self._count += len(slots)
            self._parts.append(rows)

    def finish(self, dimension: int, name: str, fingerprint: str) -> WordVectors:
        """Return the collected rows in the order of the words."""
        written = self._location[self._written]
        chosen = np.where(written >= 0, written, self._location[self._lowered])
        known = chosen >= 0
        rows = np.zeros((len(chosen), dimension), dtype=np.float32)
        if self._parts:
            gathered = np.concatenate(self._parts)
            self._parts.clear()
            rows[known] = gathered[chosen[known]]
        return WordVectors(rows, name, fingerprint, int(np.count_nonzero(known & ~rows.any(axis=1))))


class Head:
    """Collects the first words of a source and their rows.

    >>> head = Head(1)
    >>> head.take(b"the", None), head.take(b"of", None), head.full
    (0, None, True)
    """

    def __init__(self, count: int | None) -> None:
        self.words: list[str] = []
        self.tolerant = False
        self._seen: set[bytes] = set()
        self._count = count
        self._parts: list[NDArray[np.float32]] = []

    @property
    def full(self) -> bool:
        """Whether the requested number is reached."""
        return self._count is not None and len(self.words) >= self._count

    def take(self, word: bytes, _: None) -> int | None:
        """Accept a word if it is new and valid UTF-8."""
        if self.full or word in self._seen:
            return None
        self._seen.add(word)
        try:
            self.words.append(word.decode())
        except UnicodeDecodeError:
            return None
        return len(self.words) - 1

    def add(self, slots: Sequence[int], rows: NDArray[np.float32]) -> None:
        """Store rows, which come in the order of the words."""
        self._parts.append(rows)

    def finish(self, dimension: int) -> tuple[list[str], NDArray[np.float32]]:
        """Return the words and their rows, shape (words, dimension)."""
        parts, self._parts = self._parts, []
        return self.words, np.concatenate(parts) if parts else np.zeros((0, dimension), np.float32)


def spellings_of(
    source: VectorSource, words: Sequence[str], case: VectorCase, scope: Collection[str], selected: WordVectors
) -> list[str]:
    """Return the spellings under which words were found: as written, or else in lower case."""
    if case == "exact":
        return list(words)
    # A word found as written keeps its row even if all zero.
    unsure = [
        word
        for word, known in zip(words, selected.known, strict=True)
        if known and word not in scope and word != word.lower()
    ]
    as_written = source.select(unsure, "exact").known if unsure else ()
    lowered = {word for word, known in zip(unsure, as_written, strict=True) if not known}
    return [word.lower() if word in lowered else word for word in words]


def unit_rows(rows: NDArray[np.floating]) -> Floats:
    """Scale each row to length 1; a zero row stays zero.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    exact = rows.astype(np.float64)
    lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    exact /= np.where(lengths > 0, lengths, 1.0)
    return exact


def pair_products(rows: NDArray[np.floating], one: Integers, others: NDArray[np.floating], other: Integers) -> Floats:
    """Compute inner products of pairs of rows, given by number, in double precision."""
    products = np.empty(len(one))
    for start in range(0, len(one), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        left, right = rows[one[part]].astype(np.float64), others[other[part]].astype(np.float64)
        np.einsum("ij,ij->i", left, right, out=products[part])
    return products


def percentiles_of(similarities: Floats) -> dict[str, float]:
    """Compute the quantiles of similarities for a store."""
    values = np.percentile(similarities, PERCENTILES)
    return {f"p{p:g}": round(float(value), 6) for p, value in zip(PERCENTILES, values, strict=True)}


def lookup_table(vocabulary: Path) -> NDArray[np.uint32] | None:
    """Make the lookup table of a ``vocab.txt``; None if the text is too long."""
    if vocabulary.stat().st_size > _LARGEST_TEXT:
        return None
    with vocabulary.open("rb") as lines:
        checksums = np.fromiter((crc32(line[:-1]) for line in lines), np.uint32)
        lines.seek(0)
        ends = np.cumsum(np.fromiter(map(len, lines), np.int64))
    order = np.argsort(checksums, kind="stable")
    starts = np.append(np.zeros(1, np.int64), ends[:-1])
    return np.stack([checksums[order], order.astype(np.uint32), starts[order].astype(np.uint32)])


def find_rows(table: NDArray[np.uint32], vocabulary: Path, words: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """Look words up; yield (position in `words`, row) for each word found."""
    if not words:
        return
    checksums = np.fromiter(map(crc32, words), np.uint32, len(words))
    first = np.searchsorted(table[0], checksums, "left")
    beyond = np.searchsorted(table[0], checksums, "right")
    with vocabulary.open("rb") as handle, mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as text:
        for place in np.flatnonzero(beyond > first).tolist():
            line = words[place] + b"\n"
            for entry in range(int(first[place]), int(beyond[place])):
                start = int(table[2, entry])
                if text[start : start + len(line)] == line:
                    row = int(table[1, entry])
                    if row >= table.shape[1]:
                        raise VectorError(f"{vocabulary.with_name(LOOKUP)}: no row {row}; {_AGAIN}")
                    yield place, row
                    break


@contextmanager
def open_writer(target: Path, dimension: int, dtype: StoreType) -> Iterator[StoreWriter]:
    """Open a store for writing, in a draft folder until it is finished.

    An existing store at the target is replaced, and other files there (a licence, a card) are kept. The type ``int8``
    rounds each row to multiples of its largest magnitude / 127. Raises `VectorError`: the target is something else,
    the disk is full or not writable, or values are not finite.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "tiny"
    >>> with open_writer(place, 2, "int8") as writer:
    ...     writer.add([b"yes", b"no"], np.array([[1.0, 0.0], [0.0, 2.0]], np.float32))
    ...     fingerprint = writer.finish(name="tiny", source="made up", licence="CC0-1.0")
    >>> len(fingerprint), sorted(path.name for path in place.iterdir())
    (64, ['meta.json', 'scales.npy', 'vectors.npy', 'vocab.txt'])
    """
    check_target(target, dtype)
    # Replace the target of a link, not the link.
    place = target.resolve()
    with store_draft(place) as draft, ExitStack() as files:
        yield StoreWriter(place, draft, files, dimension, dtype)


class StoreWriter:
    """Writes a store block by block; holds one block in memory, and 12 bytes per word for the lookup."""

    def __init__(self, target: Path, draft: Path, files: ExitStack, dimension: int, dtype: StoreType) -> None:
        self.count = 0
        self._target, self._draft = target, draft
        self._dimension, self._dtype = dimension, dtype
        self._vectors = files.enter_context((draft / VECTORS).open("wb"))
        self._vocabulary = files.enter_context((draft / VOCABULARY).open("wb"))
        self._scales = files.enter_context((draft / SCALES).open("wb")) if dtype == "int8" else None
        self._write_headers()

    def _write_headers(self) -> None:
        """Write the headers of arrays; called again at the end with the final number of rows."""
        for handle, dtype, shape in (
            (self._vectors, self._dtype, (self.count, self._dimension)),
            (self._scales, "float32", (self.count,)),
        ):
            if handle is not None:
                handle.seek(0)
                header = {"descr": np.dtype(dtype).newbyteorder("<").str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(handle, header)

    def add(self, words: Sequence[bytes], rows: NDArray[np.float32]) -> None:
        """Write the next words, which must be new and without line breaks, and their rows."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self._scales is not None:
                stored, scales = quantise(rows)
                self._scales.write(scales.astype("<f4", copy=False).data)
            else:
                stored = rows.astype(np.dtype(self._dtype).newbyteorder("<"), copy=False)
        if not (finite := np.isfinite(rows if self._scales is not None else stored).all(axis=1)).all():
            row = self.count + int(np.argmin(finite))
            raise VectorError(f"row {row}: NaN, infinite or too large for {self._dtype}; mend or drop that vector")
        self._vectors.write(np.ascontiguousarray(stored).data)
        self._vocabulary.write(b"".join(word + b"\n" for word in words))
        self.count += len(words)

    def finish(
        self,
        *,
        name: str,
        source: str,
        licence: str,
        extra: Mapping[str, object] | None = None,
        measure: Callable[[StoreSource], Mapping[str, object]] | None = None,
    ) -> str:
        """Complete the store, move it to its place, and return its fingerprint.

        Parameters
        ----------
        name, source, licence
            Entries of ``meta.json``.
        extra
            Further entries of ``meta.json``.
        measure
            Computes entries of ``meta.json`` from the finished store, such as `measure_quantiles`.

        Returns
        -------
        str
            Hex SHA-256 over the bytes of the vectors, the scales (if any) and the vocabulary.
        """
        self._write_headers()
        for handle in (self._vectors, self._vocabulary, self._scales):
            if handle is not None:
                handle.close()
        if self.count >= LOOKUP_FROM and (table := lookup_table(self._draft / VOCABULARY)) is not None:
            np.save(self._draft / LOOKUP, table)
        fingerprint = store_fingerprint(self._draft)
        meta = {
            "format": STORE_FORMAT,
            "name": name,
            "dimension": self._dimension,
            "count": self.count,
            "dtype": self._dtype,
            "source": source,
            "licence": licence,
            "sha256": fingerprint,
            **(extra or {}),
        }
        write_meta(self._draft, meta)
        if measure is not None:
            write_meta(self._draft, {**meta, **measure(open_store(self._draft))})
        replace_store(self._draft, self._target, STORE_FILES)
        return fingerprint


def new_place(directory: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]], *, force: bool) -> Path:
    """Check the place of a new store: it contains no input and, unless `force`, does not exist."""
    target = Path(directory)
    if Path(os.path.realpath(target)).is_symlink():
        raise VectorError(f"{target}: is a link to itself; choose another place")
    mend_folder(target.resolve())
    if target.exists() and not force:
        raise VectorError(f"{target}: exists already; choose another, or replace it with ", Parameter("force", True))
    check_apart(target, inputs)
    return target


@contextmanager
def store_draft(target: Path) -> Iterator[Path]:
    """Yield an empty draft folder next to a store; raise VectorError if it cannot be written."""
    try:
        with draft_folder(target) as draft:
            yield draft
    except OSError as error:
        if error.errno in _FULL:
            raise VectorError(
                f"{target}: the disk is full ({error.strerror}); free space, or keep fewer words or smaller values; "
                "nothing was changed"
            ) from error
        raise VectorError(f"{target}: cannot be written ({error.strerror or error})") from error


def write_meta(directory: Path, meta: Mapping[str, object]) -> None:
    """Write ``meta.json`` of a store."""
    text = json.dumps(meta, indent=2, ensure_ascii=False) + "\n"
    (directory / META).write_text(text, encoding="utf-8", errors="backslashreplace")


def store_fingerprint(directory: str | os.PathLike[str]) -> str:
    """Compute the hex SHA-256 of the vectors, the scales (if any) and the vocabulary of a store.

    Equals ``meta["sha256"]`` unless the store was damaged or edited.
    """
    paths = (Path(directory, part) for part in _HASHED)
    return hash_files(*(path for path in paths if path.name != SCALES or path.exists()))


def check_target(target: Path, dtype: str) -> None:
    """Check that a store of a type can be written to a place."""
    if dtype not in STORE_TYPES:
        raise VectorError(f"{target}: unknown store type {dtype!r}; valid: {', '.join(STORE_TYPES)}")
    if target.exists() and (not target.is_dir() or any(path.is_dir() for path in target.iterdir())):
        raise VectorError(f"{target}: exists and is not a store; remove it or choose another place")


def quantise(rows: NDArray[np.float32], most: int = 127) -> tuple[Array, NDArray[np.float32]]:
    """Round each row to integer multiples, -most to most, of its own scale: its largest magnitude / most.

    >>> codes, scales = quantise(np.array([[127.0, -1.2], [0.0, 0.0]], dtype=np.float32))
    >>> codes.tolist(), scales.tolist()
    ([[127, -1], [0, 0]], [1.0, 0.0])
    """
    scales = (np.abs(rows).max(axis=1, initial=0.0) / np.float32(most)).astype(np.float32)
    steps = np.divide(rows, scales[:, None], out=np.zeros_like(rows), where=scales[:, None] > 0)
    codes = np.nan_to_num(np.rint(steps)).clip(-most, most).astype(np.min_scalar_type(-most))
    return codes, scales


def replace_store(draft: Path, target: Path, names: Collection[str]) -> None:
    """Move a store to its place, and keep other files there."""
    if target.exists():
        for path in target.iterdir():
            if path.name not in names and not (draft / path.name).exists():
                shutil.copy2(path, draft / path.name, follow_symlinks=False)
    put_in_place(draft, target)


@dataclass(frozen=True)
class StoreSource:
    """A checked store directory, without data, so that it is cheap to send to workers."""

    directory: Path
    name: str
    dimension: int  # Length of each vector
    count: int  # Number of words
    dtype: str  # Type of stored values
    fingerprint: str  # Hex SHA-256 of the content, as written in ``meta.json``
    meta: JsonObject = field(compare=False, repr=False)  # Content of ``meta.json`` when the store was opened

    @property
    def threshold(self) -> float | None:
        """Threshold for matching that ``meta.json`` recommends, if any."""
        return self.meta.get("threshold")

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Return the vectors of words; see `VectorSource.select`. Other rows are not checked."""
        selection, vocabulary = Selection(words, case), self.directory / VOCABULARY
        if (self.directory / LOOKUP).exists():
            forms, numbers = list(selection.open_forms), list(selection.open_forms.values())
            found = find_rows(map_vectors(self.directory / LOOKUP), vocabulary, forms)
            # Sorted, since rows are read in the order of the file.
            places = sorted((row, numbers[place]) for place, row in found)
        else:
            take = selection.take
            with vocabulary.open("rb") as handle:
                lines = ((row, take(line.rstrip(b"\n"), None)) for row, line in enumerate(handle))
                places = [(row, slot) for row, slot in lines if slot is not None]
        if places:
            rows, slots = zip(*places, strict=True)
            selection.add(slots, self._rows(np.array(rows)))
        return selection.finish(self.dimension, self.name, self.fingerprint)

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Return the first words and their rows; see `VectorSource.head`."""
        wanted = self.count if count is None else min(count, self.count)
        words: list[str] = []
        rows = np.empty((wanted, self.dimension), np.float32)
        for part, values in self.batches(wanted):
            rows[len(words) : len(words) + len(part)] = values
            words += part
        return words, rows

    def batches(self, count: int | None = None) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Yield the first words, all if `count` is None, and their rows in batches."""
        wanted = self.count if count is None else count
        with (self.directory / VOCABULARY).open("rb") as handle:
            for start in range(0, wanted, _ROWS_AT_ONCE):
                end = min(start + _ROWS_AT_ONCE, wanted)
                words = [line.rstrip(b"\n").decode("utf-8", "replace") for line in islice(handle, end - start)]
                yield words, self._rows(np.arange(start, end))

    def _rows(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """Read rows by ascending number as floats."""
        rows = np.empty((len(places), self.dimension), np.float32)
        height = max(1, _WINDOW // (self.dimension * np.dtype(self.dtype).itemsize))
        start = 0
        # One window at a time, since mapped pages count as memory.
        while start < len(places):
            end = int(np.searchsorted(places, places[start] + height))
            window = map_vectors(self.directory / VECTORS)
            rows[start:end] = window[places[start:end]]
            start = end
        if self.dtype == "int8":
            rows *= map_vectors(self.directory / SCALES)[places, None]
        if not (finite := np.isfinite(rows).all(axis=1)).all():
            lines = (self.directory / VOCABULARY).read_bytes().split(b"\n")
            word = lines[int(places[np.argmin(finite)])].decode("utf-8", "replace")
            raise VectorError(f"{self.directory}: NaN or infinite value for word {word!r}; {_AGAIN}")
        return rows


def open_store(directory: str | os.PathLike[str], name: str | None = None) -> StoreSource:
    """Open a store and check that its parts fit together, without reading its vectors.

    The default name is the name of the directory. Raises `VectorError`: not a store, damaged, or of a newer format.
    """
    place = Path(directory)
    path, meta = place / META, read_store_meta(place)
    if meta.get("kind") == "encoder":
        raise VectorError(f"{place}: an encoder; vectors of words are needed: name a set")
    check_meta(path, meta, STORE_FORMAT, "store", _AGAIN)
    for key in ("dimension", "count"):
        if type(meta.get(key)) is not int or meta[key] < 1:
            raise VectorError(f"{path}: {key!r} is {meta.get(key)!r}, not a whole number from 1; {_AGAIN}")
    with advised(_AGAIN):
        check_plain(place / VOCABULARY)
    dimension, count, dtype, fingerprint = (meta[key] for key in ("dimension", "count", "dtype", "sha256"))
    source = StoreSource(place, name or place.resolve().name, dimension, count, dtype, fingerprint, meta)
    _check_array(place / VECTORS, (source.count, source.dimension), source.dtype)
    if source.dtype == "int8":
        _check_array(place / SCALES, (source.count,), "float32")
    if (place / LOOKUP).exists():
        _check_array(place / LOOKUP, (3, source.count), "uint32")
    elif (words := _count_lines(place / VOCABULARY)) != source.count:
        raise VectorError(f"{place / VOCABULARY}: {words} words, {source.count} expected; {_AGAIN}")
    return source


def read_store_meta(place: Path) -> JsonObject:
    """Read ``meta.json`` of a store of any kind; the error for other folders and files says what to type."""
    path = place / META
    if not path.is_file():
        if (place / "config.json").is_file():
            said = f"an unconverted model of transformers: run 'softbleu embeddings convert {place} OUT' and name OUT"
        elif place.is_dir():
            said = f"a directory without {META} is not a vector store; give a vector file or a store, or make a store"
            said += " of a file or model: softbleu embeddings convert IN OUT"
        elif place.exists():
            said = f"a file, not a store; make one of it: softbleu embeddings convert {place} OUT"
        else:
            said = "there is no such folder"
        raise VectorError(f"{place}: {said}")
    with advised(_AGAIN):
        meta = read_json(path)
    if not isinstance(meta, dict):
        raise VectorError(f"{path}: no store format is named; {_AGAIN}")
    return meta


def check_meta(path: Path, meta: Fields, newest: int, kind: str, advice: str) -> None:
    """Check format, type, content hash, threshold and quantiles in ``meta.json``."""
    version, threshold = meta.get("format"), meta.get("threshold")
    if type(version) is not int or version < 1:
        raise VectorError(f"{path}: no store format is named; {advice}")
    if version > newest:
        raise VectorError(
            f"{path}: {kind} format {version} is newer than this softbleu reads ({newest}); upgrade softbleu"
        )
    if meta.get("dtype") not in STORE_TYPES:
        raise VectorError(f"{path}: unknown dtype {meta.get('dtype')!r}; valid: {', '.join(STORE_TYPES)}")
    if not (isinstance(meta.get("sha256"), str) and _SHA256.fullmatch(meta["sha256"])):
        raise VectorError(f"{path}: 'sha256' must be a SHA-256 of 64 hexadecimal digits; {advice}")
    if threshold is not None and (type(threshold) not in (int, float) or not 0 <= threshold <= 1):
        raise VectorError(f"{path}: 'threshold' must be a number from 0 to 1, not {threshold!r}")
    quantiles = meta.get(QUANTILES)
    cosine = quantiles.get("cosine") if isinstance(quantiles, dict) else None
    for key, value in cosine.items() if isinstance(cosine, dict) else ():
        if type(value) not in (int, float) or not abs(value) <= 2:
            raise VectorError(f"{path}: quantile {key} must be a similarity, not {str(value)[:40]!r}; {advice}")


def map_vectors(path: Path) -> Array:
    """Map an array file of a store into memory."""
    with advised(_AGAIN):
        return map_array(path)


@contextmanager
def advised(advice: str) -> Iterator[None]:
    """Convert an `InputError` to a `VectorError` that ends with advice."""
    try:
        yield
    except InputError as error:
        raise VectorError(*error.args, f"; {advice}") from error


def _check_array(path: Path, shape: tuple[int, ...], dtype: str) -> None:
    array = map_vectors(path)
    if array.shape != shape or array.dtype != np.dtype(dtype):
        raise VectorError(
            f"{path}: {array.dtype} of shape {array.shape}, {dtype} of shape {shape} expected; write the store again"
        )


def _count_lines(path: Path) -> int:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise VectorError(f"{path}: cannot be read ({error.strerror}); {_AGAIN}") from error
    return content.count(b"\n") + (not content.endswith(b"\n") if content else 0)


@runtime_checkable
class KeyedVectorsLike(Protocol):
    """The attributes of gensim's KeyedVectors that are used."""

    key_to_index: dict[str, int]
    vectors: Array


class MemorySource:
    """Words and their rows in memory, checked and hashed on first use.

    Raises `VectorError`: no words, a word that is not a string, or rows of the wrong shape.
    """

    def __init__(self, words: Iterable[str], rows: Array, name: str) -> None:
        self._words = list(words)
        self._rows = rows
        self.name = name
        if strange := [word for word in self._words if not isinstance(word, str)]:
            raise VectorError(f"{name}: word {strange[0]!r} is not a string")
        if not self._words or rows.ndim != 2 or rows.shape[1] == 0 or len(rows) < len(self._words):
            raise VectorError(
                f"{name}: {len(self._words)} words with vectors of shape {rows.shape}; give one row per word"
            )

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return int(self._rows.shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the words, one per line, and their float32 values."""
        digest = hashlib.sha256()
        for word in self._words:
            digest.update(word.encode("utf-8", "surrogatepass") + b"\n")
        for _, rows in self.batches():
            digest.update(rows.astype("<f4", order="C", copy=False).data)
        return digest.hexdigest()

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Return the first words and their rows; see `VectorSource.head`."""
        parts = list(self.batches(count))
        rows = [rows for _, rows in parts] or [np.zeros((0, self.dimension), np.float32)]
        return self._words[:count], np.concatenate(rows)

    def batches(self, count: int | None = None) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Yield the first words, all if `count` is None, and their rows in batches."""
        wanted = self._words[:count]
        for start in range(0, len(wanted), _ROWS_AT_ONCE):
            words = wanted[start : start + _ROWS_AT_ONCE]
            with np.errstate(over="ignore"):
                rows = self._rows[start : start + len(words)].astype(np.float32)
            if not (finite := np.isfinite(rows).all(axis=1)).all():
                word = words[int(np.argmin(finite))]
                raise VectorError(f"{self.name}: NaN or infinite value for word {word!r}; mend or drop that vector")
            yield words, rows

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Return the vectors of words; see `VectorSource.select`."""
        fingerprint = self.fingerprint
        selection = Selection(words, case)
        take = selection.open_forms.pop
        places = [
            (row, slot)
            for row, word in enumerate(self._words)
            if (slot := take(word.encode("utf-8", "surrogatepass"), None)) is not None
        ]
        if places:
            numbers = np.array([row for row, _ in places], dtype=np.intp)
            selection.add([slot for _, slot in places], self._rows[numbers].astype(np.float32))
        return selection.finish(self.dimension, self.name, fingerprint)


def open_keyed_vectors(keyed: KeyedVectorsLike) -> MemorySource:
    """Open a gensim KeyedVectors without a copy; words are in the order of their rows."""
    words = sorted(keyed.key_to_index, key=keyed.key_to_index.__getitem__)
    places = [keyed.key_to_index[word] for word in words]
    if places != list(range(len(words))):
        raise VectorError("KeyedVectors: words and rows do not fit together; build it again with add_vectors")
    return MemorySource(words, np.asarray(keyed.vectors), "KeyedVectors")


def open_mapping(vectors: Mapping[str, ArrayLike]) -> MemorySource:
    """Open a mapping from words to vectors of equal length.

    Raises `VectorError`: the mapping is empty, or a vector is not a list of numbers as long as the first one.

    >>> source = open_mapping({"yes": [3.0, 4.0], "no": [0.0, 1.0]})
    >>> source.select(["no", "Yes", "perhaps"]).norms.tolist()
    [1.0, 5.0, 0.0]
    """
    shape: tuple[int, ...] | None = None
    rows = []
    for word, values in vectors.items():
        try:
            row = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise VectorError(
                f"mapping: the vector of {word!r} is not a list of numbers; correct or drop it"
            ) from None
        shape = shape or row.shape
        if row.ndim != 1 or row.shape != shape:
            raise VectorError(
                f"mapping: the vector of {word!r} has shape {row.shape}, the first one {shape}; "
                "give each word one list of numbers, all of one length"
            )
        rows.append(row)
    return MemorySource(vectors, np.array(rows), "mapping")


class KeptVectors:
    """A source with a cache of rows, for `VectorSource.select` of a few words at a time.

    Stores of fewer than `LOOKUP_FROM` words are read completely at first.
    """

    def __init__(self, source: VectorSource, case: VectorCase) -> None:
        self._source, self._case = source, case
        self.name, self.dimension, self.head = source.name, source.dimension, source.head
        self._nothing = np.zeros(source.dimension, np.float32)
        self._rows: dict[str, NDArray[np.float32]] = {}
        self._whole = isinstance(source, MemorySource) or getattr(source, "count", LOOKUP_FROM) < LOOKUP_FROM
        if self._whole:
            words, rows = source.head()
            # Reversed, so that the first of repeated words counts.
            self._rows = dict(zip(reversed(words), rows[::-1], strict=True))

    @cached_property
    def fingerprint(self) -> str:
        """Hex SHA-256 of the content."""
        return self._source.fingerprint

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Return the vectors of words; all-zero rows are not counted."""
        if case != self._case:
            return self._source.select(words, case)
        known = self._rows if self._whole else self._cached(words)
        rows = np.array([self._row(known, word) for word in words], np.float32).reshape(-1, len(self._nothing))
        return WordVectors(rows, self.name, self.fingerprint, 0)

    def measured(self, words: Sequence[str]) -> MeasuredWords:
        """Return the vectors of words for a plain similarity, without changes and restrictions."""
        selected = self.select(words, self._case)
        return MeasuredWords(selected, selected.rows)

    def _row(self, known: Mapping[str, NDArray[np.float32]], word: str) -> NDArray[np.float32]:
        row = known.get(word)
        if row is None and self._whole and self._case == "fallback":
            row = known.get(word.lower())
        return self._nothing if row is None else row

    def _cached(self, words: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return cached rows, including the given words; the cache is emptied when it is too large."""
        if len(self._rows) > _MOST:
            self._rows = {}
        # Another thread may replace the cache meanwhile.
        known = self._rows
        new = [word for word in dict.fromkeys(words) if word not in known]
        if new:
            known.update(zip(new, self._source.select(new, self._case).rows, strict=True))
        return known
