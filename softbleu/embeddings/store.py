"""The store: vectors of a vocabulary as a directory of plain files, written once and memory-mapped.

``vectors.npy`` (int8, float16 or float32, one row a word), ``scales.npy`` (float32, with int8 only: a row
is its int8 values times its scale), ``vocab.txt`` (UTF-8, one word a line) and ``meta.json``; large stores also
have a ``lookup.npy``, see `softbleu.embeddings.lookup`.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Literal, Self

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.lookup import LOOKUP, LOOKUP_FROM, LookupBuilder
from softbleu.errors import VectorError
from softbleu.files import draft_folder, hash_files, put_in_place

STORE_FORMAT = 1
StoreType = Literal["int8", "float16", "float32"]
STORE_TYPES: tuple[StoreType, ...] = ("int8", "float16", "float32")
INDEX_SUFFIX = ".faiss"
"""Of saved neighbour indexes, which belong to one content only."""
META, VECTORS, SCALES, VOCABULARY = "meta.json", "vectors.npy", "scales.npy", "vocab.txt"
_HASHED = (VECTORS, SCALES, VOCABULARY)
STORE_FILES = (META, *_HASHED, LOOKUP)
_RESERVED = frozenset({"format", "name", "dimension", "count", "dtype", "source", "licence", "sha256"})
_ROWS_AT_ONCE = 65_536
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_store(
    directory: str | os.PathLike[str],
    words: Sequence[str],
    rows: NDArray[Any],
    *,
    dtype: StoreType,
    name: str,
    source: str,
    licence: str,
    extra: Mapping[str, object] | None = None,
    measure: Callable[[Path], Mapping[str, object]] | None = None,
) -> str:
    """Write a store atomically: beside its place first, then renamed; an older store there is replaced.

    Words are all different, none with a line break; rows have shape (words, dimension) and are finite. ``int8``
    rounds each row to multiples of its largest magnitude / 127. `extra` and what `measure` finds in the finished
    draft are further entries of ``meta.json``. Other files already there (a licence, a card) are kept. Returns the
    fingerprint: hex SHA-256 over the bytes of the vectors, the scales (if any) and the vocabulary. Raises
    `VectorError`: words and rows that do not fit together, repeated words, values that are not finite.

    >>> import tempfile
    >>> from pathlib import Path
    >>> place = Path(tempfile.mkdtemp()) / "tiny"
    >>> rows = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> fingerprint = write_store(
    ...     place, ["yes", "no"], rows, dtype="int8", name="tiny", source="made up", licence="CC0-1.0"
    ... )
    >>> len(fingerprint), sorted(path.name for path in place.iterdir())
    (64, ['meta.json', 'scales.npy', 'vectors.npy', 'vocab.txt'])
    """
    target = Path(directory)
    _check_store(target, words, rows, dtype, extra or {})
    with StoreWriter(target, rows.shape[1], dtype) as writer:
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            with np.errstate(over="ignore"):
                block = rows[part].astype(np.float32)
            writer.add([word.encode() for word in words[part]], block)
        return writer.finish(name=name, source=source, licence=licence, extra=extra, measure=measure)


class StoreWriter:
    """Writes a store block by block, beside its place until it is finished; used as a context manager.

    Memory holds one block, and 12 bytes a word for the lookup of large stores. An older store at the target is
    replaced, other files there are kept. Raises `VectorError`: something else is there, the disk is full or closed,
    values that are not finite.
    """

    def __init__(self, target: Path, dimension: int, dtype: StoreType) -> None:
        check_target(target, dtype)
        self.count = 0
        # What a link points to is replaced, not the link.
        self._target = target.resolve()
        self._dimension = dimension
        self._dtype = dtype
        self._lookup = LookupBuilder()

    def __enter__(self) -> Self:
        with ExitStack() as self._stack:
            self._stack.enter_context(explained(self._target))
            self._draft = self._stack.enter_context(draft_folder(self._target))
            self._vectors = self._open(VECTORS)
            self._vocabulary = self._open(VOCABULARY)
            self._scales = self._open(SCALES) if self._dtype == "int8" else None
            self._write_headers()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> bool | None:
        return self._stack.__exit__(kind, error, trace)

    def _open(self, name: str) -> BinaryIO:
        return self._stack.enter_context((self._draft / name).open("wb"))

    def _write_headers(self) -> None:
        """Say what the arrays are; the number of rows is put right at the end."""
        for handle, dtype, shape in (
            (self._vectors, self._dtype, (self.count, self._dimension)),
            (self._scales, "float32", (self.count,)),
        ):
            if handle is not None:
                handle.seek(0)
                header = {"descr": np.dtype(dtype).newbyteorder("<").str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(handle, header)

    def add(self, words: Sequence[bytes], rows: NDArray[np.float32]) -> None:
        """Write the next words, all new and none with a line break, and their rows."""
        with np.errstate(over="ignore", invalid="ignore"):
            if self._scales is not None:
                stored, scales = quantise(rows)
                self._scales.write(scales.astype("<f4", copy=False).data)
            else:
                stored = rows.astype(np.dtype(self._dtype).newbyteorder("<"), copy=False)
        kept = rows if self._scales is not None else stored
        if not (finite := np.isfinite(kept).all(axis=1)).all():
            row = self.count + int(np.argmin(finite))
            raise VectorError(f"row {row}: NaN, infinite or too large for {self._dtype}; mend or drop that vector")
        self._vectors.write(np.ascontiguousarray(stored).data)
        self._vocabulary.write(b"".join(word + b"\n" for word in words))
        self._lookup.add(words)
        self.count += len(words)

    def finish(
        self,
        *,
        name: str,
        source: str,
        licence: str,
        extra: Mapping[str, object] | None = None,
        measure: Callable[[Path], Mapping[str, object]] | None = None,
    ) -> str:
        """Complete the store, put it in its place and return its fingerprint; see `write_store`.

        What `measure` finds in the finished draft is kept in ``meta.json``, too.
        """
        self._write_headers()
        for handle in (self._vectors, self._vocabulary, self._scales):
            if handle is not None:
                handle.close()
        if self.count >= LOOKUP_FROM and (table := self._lookup.table()) is not None:
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
            write_meta(self._draft, {**meta, **measure(self._draft)})
        keep_other_files(self._target, self._draft, STORE_FILES)
        put_in_place(self._draft, self._target)
        return fingerprint


@contextmanager
def explained(target: Path) -> Iterator[None]:
    """Say why a store cannot be written."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise VectorError(
                f"{target}: the disk is full ({error.strerror}); make room, or keep fewer words or smaller values; "
                "nothing was changed"
            ) from error
        raise VectorError(f"{target}: cannot be written ({error.strerror or error})") from error


def write_meta(directory: Path, meta: Mapping[str, object]) -> None:
    """Write what a store says of itself."""
    text = json.dumps(meta, indent=2, ensure_ascii=False) + "\n"
    (directory / META).write_text(text, encoding="utf-8", errors="backslashreplace")


def store_fingerprint(directory: str | os.PathLike[str]) -> str:
    """Hex SHA-256 over the bytes of the vectors, the scales (if any) and the vocabulary of a store.

    Equals ``meta["sha256"]`` unless the store was damaged or edited.
    """
    paths = (Path(directory, part) for part in _HASHED)
    return hash_files(*(path for path in paths if path.name != SCALES or path.exists()))


def check_target(target: Path, dtype: str) -> None:
    """See that a store of that type can lie there."""
    if dtype not in STORE_TYPES:
        raise VectorError(f"{target}: unknown store type {dtype!r}; valid: {', '.join(STORE_TYPES)}")
    if target.exists() and (not target.is_dir() or any(path.is_dir() for path in target.iterdir())):
        raise VectorError(f"{target}: exists and is no store; remove it or choose another place")


def _check_store(
    target: Path, words: Sequence[str], rows: NDArray[Any], dtype: str, extra: Mapping[str, object]
) -> None:
    check_target(target, dtype)
    if rows.ndim != 2 or rows.shape[1] == 0 or not np.issubdtype(rows.dtype, np.floating):
        raise VectorError(f"{target}: rows must be floats of shape (words, dimension), not {rows.shape}")
    if len(words) != len(rows):
        raise VectorError(f"{target}: {len(words)} words but {len(rows)} rows; give one row a word")
    if clash := sorted(_RESERVED & extra.keys()):
        raise VectorError(f"{target}: extra entries may not be named {', '.join(clash)}")
    _check_words(target, words)


def _check_words(target: Path, words: Iterable[str]) -> None:
    seen: set[str] = set()
    for word in words:
        if word in seen:
            raise VectorError(f"{target}: word {word!r} appears twice; keep its first row")
        if not word or "\n" in word:
            raise VectorError(f"{target}: word {word!r} is empty or holds a line break; leave it out")
        try:
            word.encode()
        except UnicodeEncodeError:
            raise VectorError(f"{target}: word {word!r} is not valid Unicode; leave it out") from None
        seen.add(word)


def quantise(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round each row to whole multiples, -127 to 127, of its own scale: its largest magnitude / 127.

    >>> codes, scales = quantise(np.array([[127.0, -1.2], [0.0, 0.0]], dtype=np.float32))
    >>> codes.tolist(), scales.tolist()
    ([[127, -1], [0, 0]], [1.0, 0.0])
    """
    scales = (np.abs(rows).max(axis=1, initial=0.0) / np.float32(127)).astype(np.float32)
    steps = np.divide(rows, scales[:, None], out=np.zeros_like(rows), where=scales[:, None] > 0)
    codes = np.nan_to_num(np.rint(steps)).clip(-127, 127).astype(np.int8)
    return codes, scales


def keep_other_files(target: Path, draft: Path, own: Collection[str]) -> None:
    """Copy what else lies in the place of a store than its own files, but for what was made of the former vectors."""
    if target.exists():
        for path in target.iterdir():
            anew = path.name in own or (draft / path.name).exists()
            if not anew and path.suffix != INDEX_SUFFIX:
                shutil.copy2(path, draft / path.name)
