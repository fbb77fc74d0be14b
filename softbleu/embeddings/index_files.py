"""Indexes kept beside the store whose vectors they hold."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from numpy.typing import ArrayLike

from softbleu.embeddings.faiss_kinds import FAISS_CLASSES, IndexKind, core_of, import_faiss, stored_units
from softbleu.embeddings.index import NeighbourIndex, as_rows, units_and_norms
from softbleu.errors import VectorError
from softbleu.files import drafts_of

_SEAL = b"softbleu"


def save_index(index: NeighbourIndex, store: str | os.PathLike[str], fingerprint: str) -> Path:
    """Write an index beside the store whose vectors it holds, complete or not at all.

    Parameters
    ----------
    index
        Over all rows of the store, in their order.
    store
        The directory.
    fingerprint
        The store's content hash; part of the file's name, so that an index of other vectors is never taken.

    Returns
    -------
    Path
        The file: what FAISS writes, and after it a SHA-256 of that.

    Raises
    ------
    VectorError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from softbleu.embeddings.index import build_index
    >>> with tempfile.TemporaryDirectory() as place:
    ...     path = save_index(build_index([[3.0, 0.0], [1.0, 1.0]]), place, "0123456789abcdef")
    ...     print(path.name, len(load_index(place, "exact", "0123456789abcdef")))
    neighbours-exact-0123456789ab.faiss 2
    """
    path = index_path(store, index.kind, fingerprint)
    try:
        with drafts_of([path]) as (draft,):
            import_faiss().write_index(index.faiss_index, str(draft))
            digest = _digest(draft)
            with draft.open("ab") as stream:
                stream.write(digest + _SEAL)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no permission or no space"
        raise VectorError(f"{path}: the index cannot be written ({reason})") from error
    return path


def load_index(
    store: str | os.PathLike[str], kind: IndexKind, fingerprint: str, rows: ArrayLike | None = None
) -> NeighbourIndex | None:
    """Read the index of that kind that lies beside a store, memory-mapped where FAISS can; None without one.

    Parameters
    ----------
    store, kind, fingerprint
        As `save_index` had them.
    rows
        The store's rows: with them the similarities of ``ivfpq`` are true cosines, not approximations.

    Raises
    ------
    VectorError
        The file is damaged or does not belong to these rows.
    """
    path = index_path(store, kind, fingerprint)
    if not path.is_file():
        return None
    faiss = import_faiss()
    remedy = "build it again with 'softbleu embeddings index'"
    try:
        if _digest(path, tail=len(_SEAL) + 32) + _SEAL != _tail(path):
            raise VectorError(f"{path}: damaged; {remedy}")
        index = faiss.read_index(str(path), getattr(faiss, "IO_FLAG_MMAP_IFC", 0))
        core = core_of(index)
    except (OSError, RuntimeError, MemoryError, AttributeError) as error:
        raise VectorError(f"{path}: cannot be read; {remedy}") from error
    places = faiss.vector_to_array(index.id_map)
    given = None if rows is None else as_rows(rows, "rows")
    fits = given is None or (given.shape[1] == index.d and len(given) > places.max(initial=-1))
    if not isinstance(core, getattr(faiss, FAISS_CLASSES[kind])) or not fits:
        raise VectorError(f"{path}: an index of other vectors, or of another kind; {remedy}")
    units = stored_units(index)
    if units is None and given is not None:
        units, _ = units_and_norms(given[places])
    elif units is None:
        core.make_direct_map()
    return NeighbourIndex(kind, index, places, units)


def index_path(store: str | os.PathLike[str], kind: IndexKind, fingerprint: str) -> Path:
    """Name the file beside a store that holds its index of a kind.

    >>> index_path("my-vectors", "hnsw", "0123456789abcdef").name
    'neighbours-hnsw-0123456789ab.faiss'
    """
    return Path(store, f"neighbours-{kind}-{fingerprint[:12]}.faiss")


def _tail(path: Path) -> bytes:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - 32 - len(_SEAL)))
        return stream.read()


def _digest(path: Path, tail: int = 0) -> bytes:
    """SHA-256 of a file but for its tail: FAISS trusts what it reads, and may crash on a damaged file."""
    digest = hashlib.sha256()
    left = path.stat().st_size - tail
    with path.open("rb") as stream:
        while left > 0 and (block := stream.read(min(left, 1 << 20))):
            digest.update(block)
            left -= len(block)
    return digest.digest()
