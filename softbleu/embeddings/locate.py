"""From what a user asks for (a bundled name, a path, vectors in memory) to a source of vectors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from numpy.typing import ArrayLike

from softbleu.cache import local_place
from softbleu.embeddings.encoders.locate import encoder_files, is_encoder
from softbleu.embeddings.files import FileSource
from softbleu.embeddings.joined import joined_names, open_joined
from softbleu.embeddings.memory import KeyedVectorsLike, open_keyed_vectors, open_mapping
from softbleu.embeddings.packages import open_package, package_files, package_names
from softbleu.embeddings.store import INDEX_SUFFIX, STORE_FILES, VECTORS, open_store
from softbleu.embeddings.vectors import VectorSource
from softbleu.errors import VectorError
from softbleu.resources import find_resource
from softbleu.streams import BLOCK_SIZE

_ROOM = "embeddings"

VectorLocation = str | os.PathLike[str] | KeyedVectorsLike | Mapping[str, ArrayLike] | VectorSource


def open_vectors(location: VectorLocation, *, block_size: int = BLOCK_SIZE) -> VectorSource:
    """Open word vectors wherever they are; nothing is loaded before `VectorSource.select`.

    Parameters
    ----------
    location
        A vector file or a store directory, by path or URL; the name of a bundled set or of one that a Python package
        brings, tried if no such path exists; several of these as `ONE+OTHER` or `ONE*2+OTHER`, see `JoinedSource`; a
        gensim KeyedVectors; a mapping of words to vectors; or what this function returned before.
    block_size
        Bytes of a file read at a time.

    Raises
    ------
    VectorError
        Nothing is there, or it is damaged or no vector file.

    Examples
    --------
    >>> source = open_vectors({"yes": [3.0, 4.0]})
    >>> source.select(["YES"]).known.tolist(), source.select(["YES"], "exact").known.tolist()
    ([True], [False])
    """
    if not isinstance(location, str | os.PathLike):
        return _open_in_memory(location)
    text = local_place(os.fspath(location))
    path = Path(text)
    if os.path.lexists(text):
        if path.is_dir():
            return open_store(path)
        if path.exists() and not path.is_file():
            raise VectorError(f"{path}: no regular file, and vectors may be read twice; save them to a file first")
        return FileSource(path, block_size)
    if isinstance(location, str) and (bundled := _find_bundled(text)):
        return open_store(bundled, name=text)
    if isinstance(location, str) and text in package_names():
        return open_package(text)
    if isinstance(location, str) and is_encoder(text):
        raise VectorError(f"{text}: an encoder, and vectors of words are needed; name a set of these")
    if isinstance(location, str) and "+" in text:
        return open_joined(text, lambda name: open_vectors(name, block_size=block_size))
    names = ", ".join((*bundled_names(), *package_names()))
    raise VectorError(f"{text!r}: no such vector file, store or set; known sets: {names}")


def vector_files(location: object) -> list[Path]:
    """Files that vectors are read from: one; those of a store, an encoder, a bundled or installed set; of all joined.

    What does not exist is read from nothing; of a store, all files that it may have.

    >>> [path.name for path in vector_files("glove-6b-100d")]
    ['meta.json', 'vectors.npy', 'scales.npy', 'vocab.txt', 'lookup.npy']
    """
    if not isinstance(location, str | os.PathLike):
        return []
    if files := encoder_files(location):
        return files
    text = local_place(os.fspath(location))
    path = Path(text) if os.path.lexists(text) else _find_bundled(text)
    if path is not None:
        indexes = sorted(path.glob(f"*{INDEX_SUFFIX}")) if path.is_dir() else []
        return [*(path / name for name in STORE_FILES), *indexes] if path.is_dir() else [path]
    if text in package_names():
        return package_files(text)
    return [each for name in joined_names(text) for each in vector_files(name)] if "+" in text else []


def bundled_names() -> tuple[str, ...]:
    """Names of the vector sets that travel with the package, sorted."""
    room = find_resource(_ROOM)
    return tuple(sorted(path.parent.name for path in room.glob(f"*/{VECTORS}"))) if room else ()


def _open_in_memory(location: KeyedVectorsLike | Mapping[str, ArrayLike] | VectorSource) -> VectorSource:
    if isinstance(location, KeyedVectorsLike):
        return open_keyed_vectors(location)
    if isinstance(location, Mapping):
        return open_mapping(location)
    if isinstance(location, VectorSource):
        return location
    raise VectorError(
        f"{type(location).__name__}: no word vectors; give a name, a path, a mapping or a KeyedVectors (a model's wv)"
    )


def _find_bundled(name: str) -> Path | None:
    return find_resource(_ROOM, name) if name in bundled_names() else None
