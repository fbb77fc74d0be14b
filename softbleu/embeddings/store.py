"""The store: vectors of a vocabulary as a directory of plain files, written once and memory-mapped.

``vectors.npy`` (int8, float16 or float32, one row a word), ``scales.npy`` (float32, with int8 only: a row
is its int8 values times its scale), ``vocab.txt`` (UTF-8, one word a line) and ``meta.json``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from softbleu.errors import VectorError

STORE_FORMAT = 1
StoreType = Literal["int8", "float16", "float32"]
STORE_TYPES: tuple[StoreType, ...] = ("int8", "float16", "float32")
META, VECTORS, SCALES, VOCABULARY = "meta.json", "vectors.npy", "scales.npy", "vocab.txt"
_HASHED = (VECTORS, SCALES, VOCABULARY)
_RESERVED = frozenset({"format", "name", "dimension", "count", "dtype", "source", "licence", "sha256"})
_ROWS_AT_ONCE = 65_536


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
) -> str:
    """Write a store atomically: beside its place first, then renamed; an older store there is replaced.

    Parameters
    ----------
    directory
        Where the store shall lie. Other files already there (a licence, a card) are kept.
    words
        The words, all different, none with a line break.
    rows
        Their vectors, shape (words, dimension), finite.
    dtype
        How values are kept. ``int8`` rounds each row to multiples of its largest magnitude / 127.
    name, source, licence
        What the set is called, where it comes from, and under which terms.
    extra
        Further entries of ``meta.json``.

    Returns
    -------
    str
        The fingerprint: hex SHA-256 over the bytes of the vectors, the scales (if any) and the vocabulary.

    Raises
    ------
    VectorError
        Words and rows that do not fit together, repeated words, values that are not finite.

    Examples
    --------
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
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    draft.mkdir()
    try:
        _write_rows(draft, rows, dtype)
        (draft / VOCABULARY).write_bytes(b"".join(word.encode() + b"\n" for word in words))
        fingerprint = store_fingerprint(draft)
        meta = {
            "format": STORE_FORMAT,
            "name": name,
            "dimension": rows.shape[1],
            "count": len(words),
            "dtype": dtype,
            "source": source,
            "licence": licence,
            "sha256": fingerprint,
            **(extra or {}),
        }
        (draft / META).write_text(json.dumps(meta, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        _put_in_place(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return fingerprint


def store_fingerprint(directory: str | os.PathLike[str]) -> str:
    """Hex SHA-256 over the bytes of the vectors, the scales (if any) and the vocabulary of a store.

    Equals ``meta["sha256"]`` unless the store was damaged or edited.
    """
    digest = hashlib.sha256()
    for path in (Path(directory, part) for part in _HASHED):
        if path.name == SCALES and not path.exists():
            continue
        with path.open("rb") as handle:
            while block := handle.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _check_store(
    target: Path, words: Sequence[str], rows: NDArray[Any], dtype: str, extra: Mapping[str, object]
) -> None:
    if dtype not in STORE_TYPES:
        raise VectorError(f"{target}: unknown store type {dtype!r}; valid: {', '.join(STORE_TYPES)}")
    if rows.ndim != 2 or rows.shape[1] == 0 or not np.issubdtype(rows.dtype, np.floating):
        raise VectorError(f"{target}: rows must be floats of shape (words, dimension), not {rows.shape}")
    if len(words) != len(rows):
        raise VectorError(f"{target}: {len(words)} words but {len(rows)} rows; give one row a word")
    if clash := sorted(_RESERVED & extra.keys()):
        raise VectorError(f"{target}: extra entries may not be named {', '.join(clash)}")
    if target.exists() and (not target.is_dir() or any(path.is_dir() for path in target.iterdir())):
        raise VectorError(f"{target}: exists and is no store; remove it or choose another place")
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


def _write_rows(draft: Path, rows: NDArray[Any], dtype: StoreType) -> None:
    """Fill ``vectors.npy`` (and ``scales.npy``) some thousand rows at a time."""
    stored = np.lib.format.open_memmap(draft / VECTORS, mode="w+", dtype=np.dtype(dtype), shape=rows.shape)
    scales = np.zeros(len(rows), dtype=np.float32)
    for part in _parts(len(rows)):
        with np.errstate(over="ignore", invalid="ignore"):
            block = rows[part].astype(np.float32)
            if dtype == "int8":
                stored[part], scales[part] = quantise(block)
            else:
                stored[part] = block.astype(dtype)
        kept = block if dtype == "int8" else stored[part]
        if not (finite := np.isfinite(kept).all(axis=1)).all():
            row = part.start + int(np.argmin(finite))
            raise VectorError(f"row {row}: NaN, infinite or too large for {dtype}; mend or drop that vector")
    stored.flush()
    if dtype == "int8":
        np.save(draft / SCALES, scales)


def _parts(count: int) -> Iterator[slice]:
    return (slice(start, min(start + _ROWS_AT_ONCE, count)) for start in range(0, count, _ROWS_AT_ONCE))


def quantise(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Round each row to whole multiples, -127 to 127, of its own scale: its largest magnitude / 127.

    Examples
    --------
    >>> codes, scales = quantise(np.array([[127.0, -1.2], [0.0, 0.0]], dtype=np.float32))
    >>> codes.tolist(), scales.tolist()
    ([[127, -1], [0, 0]], [1.0, 0.0])
    """
    scales = (np.abs(rows).max(axis=1, initial=0.0) / np.float32(127)).astype(np.float32)
    steps = np.divide(rows, scales[:, None], out=np.zeros_like(rows), where=scales[:, None] > 0)
    codes = np.nan_to_num(np.rint(steps)).clip(-127, 127).astype(np.int8)
    return codes, scales


def _put_in_place(draft: Path, target: Path) -> None:
    """Rename the draft to its place; what else lay there comes along."""
    if not target.exists():
        draft.rename(target)
        return
    for path in target.iterdir():
        if path.name not in {META, *_HASHED}:
            shutil.copy2(path, draft / path.name)
    former = target.with_name(f".{target.name}.{os.getpid()}.former")
    target.rename(former)
    draft.rename(target)
    shutil.rmtree(former)
