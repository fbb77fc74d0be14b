"""A store as a source: memory-mapped, so that only the rows of the wanted words are ever read."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.store import META, SCALES, STORE_FORMAT, STORE_TYPES, VECTORS, VOCABULARY
from softbleu.embeddings.vectors import Selection, VectorCase, WordVectors
from softbleu.errors import VectorError

_NEEDED: dict[str, type] = {"dimension": int, "count": int, "dtype": str, "sha256": str}


@dataclass(frozen=True)
class StoreSource:
    """A store directory that has been checked; holds no data, so that it is cheap to send to a worker.

    Attributes
    ----------
    directory
        Where the store lies.
    name
        What was asked for.
    dimension, count, dtype
        Length of each vector, number of words, and how values are kept.
    fingerprint
        Hex SHA-256 of the content, as written in ``meta.json``.
    """

    directory: Path
    name: str
    dimension: int
    count: int
    dtype: str
    fingerprint: str

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Take the vectors of these words; see `VectorSource.select`. Other rows are not looked at."""
        selection = Selection(words, case)
        take = selection.open_forms.pop
        slots: list[int] = []
        kept: list[int] = []
        with (self.directory / VOCABULARY).open("rb") as handle:
            for row, line in enumerate(handle):
                slot = take(line.rstrip(b"\n"), None)
                if slot is not None:
                    slots.append(slot)
                    kept.append(row)
        if kept:
            selection.add(slots, self._rows(np.asarray(kept)))
        return selection.finish(self.dimension, self.name, self.fingerprint)

    def _rows(self, kept: NDArray[np.intp]) -> NDArray[np.float32]:
        with np.errstate(over="ignore", invalid="ignore"):
            rows: NDArray[np.float32] = _map_array(self.directory / VECTORS)[kept].astype(np.float32)
            if self.dtype == "int8":
                rows *= _map_array(self.directory / SCALES)[kept, None]
        if not (finite := np.isfinite(rows).all(axis=1)).all():
            word = self._word(int(kept[np.argmin(finite)]))
            raise VectorError(f"{self.directory}: NaN or infinite value for word {word!r}; write the store again")
        return rows

    def _word(self, row: int) -> str:
        lines = (self.directory / VOCABULARY).read_bytes().split(b"\n")
        return lines[row].decode("utf-8", "replace")


def open_store(directory: str | os.PathLike[str], name: str | None = None) -> StoreSource:
    """Open a store and check that its parts fit together, without reading its vectors.

    Parameters
    ----------
    directory
        Where the store lies.
    name
        What was asked for; the directory's own name if not given.

    Raises
    ------
    VectorError
        The directory is no store, a damaged one, or one of a newer format.
    """
    place = Path(directory)
    meta = _read_meta(place)
    source = StoreSource(
        place, name or place.resolve().name, meta["dimension"], meta["count"], meta["dtype"], meta["sha256"]
    )
    _check_array(place / VECTORS, (source.count, source.dimension), source.dtype)
    if source.dtype == "int8":
        _check_array(place / SCALES, (source.count,), "float32")
    words = _count_lines(place / VOCABULARY)
    if words != source.count:
        raise VectorError(f"{place / VOCABULARY}: {words} words, {source.count} expected; write the store again")
    return source


def _read_meta(place: Path) -> dict[str, Any]:
    path = place / META
    if not path.is_file():
        raise VectorError(f"{place}: a directory without {META} is no vector store; give a vector file or a store")
    try:
        meta = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise VectorError(f"{path}: cannot be read ({error}); write the store again") from error
    version = meta.get("format") if isinstance(meta, dict) else None
    if not isinstance(version, int) or version < 1:
        raise VectorError(f"{path}: no store format is named; write the store again")
    if version > STORE_FORMAT:
        raise VectorError(
            f"{path}: store format {version} is newer than this softbleu reads ({STORE_FORMAT}); upgrade softbleu"
        )
    for key, kind in _NEEDED.items():
        if not isinstance(meta.get(key), kind):
            raise VectorError(f"{path}: {key!r} is missing or no {kind.__name__}; write the store again")
    if meta["dtype"] not in STORE_TYPES:
        raise VectorError(f"{path}: unknown dtype {meta['dtype']!r}; valid: {', '.join(STORE_TYPES)}")
    return dict(meta)


def _map_array(path: Path) -> NDArray[Any]:
    try:
        array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise VectorError(f"{path}: missing or damaged ({error}); write the store again") from error
    return array


def _check_array(path: Path, shape: tuple[int, ...], dtype: str) -> None:
    array = _map_array(path)
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
