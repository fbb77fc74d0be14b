"""A store as a source: memory-mapped, so that only the rows of the wanted words are ever read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbleu.data_files import check_plain, map_array, read_json
from softbleu.embeddings.lookup import LOOKUP, find_rows
from softbleu.embeddings.measure import QUANTILES, kept_quantiles, measure_quantiles
from softbleu.embeddings.store import META, SCALES, STORE_FORMAT, STORE_TYPES, VECTORS, VOCABULARY
from softbleu.embeddings.vectors import Selection, VectorCase, WordVectors
from softbleu.errors import InputError, VectorError

_WINDOW = 16 << 20
"""Bytes of a file that are mapped at a time."""
_ROWS_AT_ONCE = 4096
_SHA256 = re.compile("[0-9a-f]{64}")
_NEEDED: dict[str, type] = {"dimension": int, "count": int, "dtype": str, "sha256": str}


@dataclass(frozen=True)
class StoreSource:
    """A store directory that has been checked; holds no data, so that it is cheap to send to a worker."""

    directory: Path
    """Where the store lies."""
    name: str
    """What was asked for."""
    dimension: int
    count: int
    dtype: str
    """Length of each vector, number of words, and how values are kept."""
    fingerprint: str
    """Hex SHA-256 of the content, as written in ``meta.json``."""

    @property
    def meta(self) -> dict[str, Any]:
        """All that ``meta.json`` says."""
        return _read_meta(self.directory)

    @property
    def quantiles(self) -> dict[str, float]:
        """Quantiles of the similarity of random pairs, as far as they are kept."""
        return kept_quantiles(self.meta)

    @property
    def threshold(self) -> float | None:
        """Threshold that ``meta.json`` recommends for matching by these vectors; None if it does not."""
        return self.meta.get("threshold")

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Take the vectors of these words; see `VectorSource.select`. Other rows are not looked at."""
        selection = Selection(words, case)
        slots: list[int] = []
        kept: list[int] = []
        for slot, row in self._places(selection):
            slots.append(slot)
            kept.append(row)
        if kept:
            order = np.argsort(kept)
            selection.add(np.asarray(slots)[order].tolist(), self._rows(np.asarray(kept)[order]))
        return selection.finish(self.dimension, self.name, self.fingerprint)

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Take the first words and their rows; see `VectorSource.head`."""
        wanted = self.count if count is None else min(count, self.count)
        words: list[str] = []
        rows = np.empty((wanted, self.dimension), np.float32)
        for part, values in self.batches(wanted):
            rows[len(words) : len(words) + len(part)] = values
            words += part
        return words, rows

    def batches(self, count: int | None = None) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Go through the first words, all if `count` is None, and their rows."""
        wanted = self.count if count is None else count
        with (self.directory / VOCABULARY).open("rb") as handle:
            for start in range(0, wanted, _ROWS_AT_ONCE):
                end = min(start + _ROWS_AT_ONCE, wanted)
                words = [line.rstrip(b"\n").decode("utf-8", "replace") for line in islice(handle, end - start)]
                yield words, self._rows(np.arange(start, end))

    def _places(self, selection: Selection) -> Iterator[tuple[int, int]]:
        """Slots of the words that are there, and their rows."""
        if (self.directory / LOOKUP).exists():
            forms, slots = list(selection.open_forms), list(selection.open_forms.values())
            table = map_vectors(self.directory / LOOKUP)
            yield from ((slots[place], row) for place, row in find_rows(table, self.directory / VOCABULARY, forms))
            return
        take = selection.take
        with (self.directory / VOCABULARY).open("rb") as handle:
            for row, line in enumerate(handle):
                slot = take(line.rstrip(b"\n"), None)
                if slot is not None:
                    yield slot, row

    def _rows(self, kept: NDArray[np.intp]) -> NDArray[np.float32]:
        """Read rows, by ascending number, as floats."""
        rows = np.empty((len(kept), self.dimension), np.float32)
        height = max(1, _WINDOW // (self.dimension * np.dtype(self.dtype).itemsize))
        start = 0
        # A window at a time: pages that are mapped count as memory.
        while start < len(kept):
            end = int(np.searchsorted(kept, kept[start] + height))
            window = map_vectors(self.directory / VECTORS)
            rows[start:end] = window[kept[start:end]]
            start = end
        if self.dtype == "int8":
            rows *= map_vectors(self.directory / SCALES)[kept, None]
        if not (finite := np.isfinite(rows).all(axis=1)).all():
            word = self._word(int(kept[np.argmin(finite)]))
            raise VectorError(f"{self.directory}: NaN or infinite value for word {word!r}; write the store again")
        return rows

    def _word(self, row: int) -> str:
        lines = (self.directory / VOCABULARY).read_bytes().split(b"\n")
        return lines[row].decode("utf-8", "replace")


def open_store(directory: str | os.PathLike[str], name: str | None = None) -> StoreSource:
    """Open a store and check that its parts fit together, without reading its vectors.

    The name is the directory's own unless given. Raises `VectorError`: the directory is no store, a damaged one, or
    one of a newer format.
    """
    place = Path(directory)
    meta = _read_meta(place)
    _check_plain(place / VOCABULARY)
    source = StoreSource(
        place, name or place.resolve().name, meta["dimension"], meta["count"], meta["dtype"], meta["sha256"]
    )
    _check_array(place / VECTORS, (source.count, source.dimension), source.dtype)
    if source.dtype == "int8":
        _check_array(place / SCALES, (source.count,), "float32")
    if (place / LOOKUP).exists():
        _check_array(place / LOOKUP, (3, source.count), "uint32")
    elif (words := _count_lines(place / VOCABULARY)) != source.count:
        raise VectorError(f"{place / VOCABULARY}: {words} words, {source.count} expected; write the store again")
    return source


def measure_store(directory: Path) -> dict[str, object]:
    """Take the measures of a finished store that are kept in its ``meta.json``."""
    return {QUANTILES: measure_quantiles(open_store(directory))}


def _read_meta(place: Path) -> dict[str, Any]:
    path = place / META
    if not path.is_file():
        raise VectorError(f"{place}: a directory without {META} is no vector store; give a vector file or a store")
    try:
        meta = read_json(path)
    except InputError as error:
        raise VectorError(f"{error}; write the store again") from error
    if isinstance(meta, dict) and meta.get("kind") == "encoder":
        raise VectorError(f"{place}: an encoder, and vectors of words are needed; name a set of these")
    version = meta.get("format") if isinstance(meta, dict) else None
    if not isinstance(version, int) or version < 1:
        raise VectorError(f"{path}: no store format is named; write the store again")
    if version > STORE_FORMAT:
        raise VectorError(
            f"{path}: store format {version} is newer than this softbleu reads ({STORE_FORMAT}); upgrade softbleu"
        )
    _check_entries(path, meta)
    return dict(meta)


def _check_entries(path: Path, meta: dict[str, Any]) -> None:
    """See that what a store needs is there, and of its kind."""
    for key, kind in _NEEDED.items():
        if type(meta.get(key)) is not kind:
            raise VectorError(f"{path}: {key!r} is missing or no {kind.__name__}; write the store again")
        if kind is int and meta[key] < 1:
            raise VectorError(f"{path}: {key!r} is {meta[key]}, not 1 or more; write the store again")
    recommended = meta.get("threshold", 0.0)
    if isinstance(recommended, bool) or not isinstance(recommended, int | float) or not 0 <= recommended <= 1:
        raise VectorError(f"{path}: 'threshold' is no number from 0 to 1, but {recommended!r}")
    if not _SHA256.fullmatch(meta["sha256"]):
        raise VectorError(f"{path}: 'sha256' is no SHA-256 of 64 hexadecimal digits; write the store again")
    if meta["dtype"] not in STORE_TYPES:
        raise VectorError(f"{path}: unknown dtype {meta['dtype']!r}; valid: {', '.join(STORE_TYPES)}")


def map_vectors(path: Path, advice: str = "write the store again") -> NDArray[Any]:
    """Map an array file into memory; VectorError, with advice, where it cannot be."""
    try:
        return map_array(path)
    except InputError as error:
        raise VectorError(f"{error}; {advice}") from error


def _check_plain(path: Path) -> None:
    try:
        check_plain(path)
    except InputError as error:
        raise VectorError(f"{error}; write the store again") from error


def damaged(path: Path, reason: object, advice: str) -> VectorError:
    """Say what is wrong with a file."""
    return VectorError(f"{path}: missing or damaged ({' '.join(str(reason).split())}); {advice}")


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
        raise VectorError(f"{path}: cannot be read ({error.strerror}); write the store again") from error
    return content.count(b"\n") + (not content.endswith(b"\n") if content else 0)
