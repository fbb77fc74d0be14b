"""From what a user asks for (a bundled name, a path, several joined, vectors in memory) to a source of vectors."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from softbleu.embeddings.fasttext import FastTextSource, is_fasttext
from softbleu.embeddings.files import FileSource
from softbleu.embeddings.measure import unit_rows
from softbleu.embeddings.memory import KeyedVectorsLike, open_keyed_vectors, open_mapping
from softbleu.embeddings.store import STORE_FILES, VECTORS, open_store
from softbleu.embeddings.vectors import VectorCase, VectorSource, WordVectors
from softbleu.encoders.locate import encoder_files, is_encoder
from softbleu.errors import VectorError, did_you_mean
from softbleu.io.cache import local_place
from softbleu.io.reading import read_toml
from softbleu.io.resources import find_resource, resource_names

_PART = re.compile(r"(?P<name>.+?)(?:\*(?P<weight>\d+(?:\.\d+)?))?")
_FOLDER = "embeddings"
VectorLocation = str | os.PathLike[str] | KeyedVectorsLike | Mapping[str, ArrayLike] | VectorSource


@dataclass(frozen=True)
class JoinedSource:
    """Sets whose unit vectors are put side by side, times the square root of each set's weight.

    The cosine of two words that all sets know is the weighted mean of their cosines; a word that a set lacks has
    zeros there. The first set says which words come first.

    >>> from softbleu.embeddings import open_vectors
    >>> one, other = open_vectors({"cat": [2.0], "dog": [1.0]}), open_vectors({"cat": [0.0, 3.0]})
    >>> joined = JoinedSource((one, other), (1.0, 1.0))
    >>> joined.dimension, joined.select(["cat", "dog"]).rows.tolist()
    (3, [[1.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    """

    sources: tuple[VectorSource, ...]
    weights: tuple[float, ...]

    @property
    def name(self) -> str:
        """Names and weights of the sets."""
        return "+".join(
            source.name + ("" if weight == 1 else f"*{weight:g}")
            for source, weight in zip(self.sources, self.weights, strict=True)
        )

    @property
    def dimension(self) -> int:
        """Length of each vector."""
        return sum(source.dimension for source in self.sources)

    @property
    def fingerprint(self) -> str:
        """Hex SHA-256 over the fingerprints and weights of the sets."""
        parts = (f"{s.fingerprint}*{w!r}\n" for s, w in zip(self.sources, self.weights, strict=True))
        return hashlib.sha256("".join(parts).encode("ascii")).hexdigest()

    def head(self, count: int | None = None) -> tuple[list[str], NDArray[np.float32]]:
        """Take the first words of the first set; see `VectorSource.head`."""
        words, rows = self.sources[0].head(count)
        others = (source.select(words, "exact").rows for source in self.sources[1:])
        return words, self._side_by_side([rows, *others])

    def select(self, words: Sequence[str], case: VectorCase = "fallback") -> WordVectors:
        """Take the vectors of these words; see `VectorSource.select`. Each set looks a word up for itself."""
        selected = [source.select(words, case) for source in self.sources]
        rows = self._side_by_side([vectors.rows for vectors in selected])
        return WordVectors(rows, self.name, self.fingerprint, min(vectors.zero_words for vectors in selected))

    def _side_by_side(self, parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        scaled = [unit_rows(rows) * weight**0.5 for rows, weight in zip(parts, self.weights, strict=True)]
        return np.concatenate(scaled, axis=1).astype(np.float32)


def open_vectors(location: VectorLocation) -> VectorSource:
    """Open word vectors wherever they are; nothing is loaded before `VectorSource.select`.

    Parameters
    ----------
    location
        A vector file or a store directory, by path or URL; the name of a bundled set, tried if no such path exists;
        several of these as `ONE+OTHER` or `ONE*2+OTHER`, see `JoinedSource`; a gensim KeyedVectors; a mapping of
        words to vectors; or what this function returned before.

    Raises
    ------
    VectorError
        The location does not exist, is damaged, or has no vectors.

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
    if text == "none":
        raise VectorError("no vectors are named (none), and this looks at some: name a set or a file")
    if os.path.lexists(text):
        if path.is_dir():
            return open_store(path)
        if path.exists() and not path.is_file():
            raise VectorError(f"{path}: no regular file, and vectors may be read twice; save them to a file first")
        return FastTextSource(path) if is_fasttext(path) else FileSource(path)
    if isinstance(location, str) and (bundled := _find_bundled(text)):
        return open_store(bundled, name=text)
    if isinstance(location, str) and is_encoder(text):
        raise VectorError(f"{text}: an encoder, and vectors of words are needed; name a set of these")
    if isinstance(location, str) and "+" in text:
        return _open_joined(text)
    raise VectorError(_unknown(text))


def _open_joined(text: str) -> JoinedSource:
    """Open sets written as `ONE+OTHER` or, with weights, `ONE*2+OTHER*0.5`."""
    sources, weights = [], []
    for part in text.split("+"):
        match = _PART.fullmatch(part)
        if match is None or match["weight"] in ("0", "0.0"):
            raise VectorError(f"{text!r}: join sets as ONE+OTHER, or with weights above 0 as ONE*2+OTHER*0.5")
        sources.append(open_vectors(match["name"]))
        weights.append(float(match["weight"] or 1))
    return JoinedSource(tuple(sources), tuple(weights))


def _unknown(name: str) -> str:
    """Say why a name opens nothing: its set must be fetched first, or no such set is known."""
    catalogue = find_resource(_FOLDER, "catalogue.toml")
    known = [] if catalogue is None else list(read_toml(catalogue))
    if name in known:
        return f"{name!r}: a known set that is not installed: 'softbleu embeddings list {name}' says how to get it"
    return (
        f"{name!r}: no such vector file, store or set{did_you_mean(name, known)}; here are: "
        f"{', '.join(bundled_names())}; 'softbleu embeddings list' shows all known sets"
    )


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
        return [path / name for name in STORE_FILES] if path.is_dir() else [path]
    joined = [match["name"] for part in text.split("+") if (match := _PART.fullmatch(part))] if "+" in text else []
    return [file for name in joined for file in vector_files(name)]


def bundled_names() -> tuple[str, ...]:
    """Names of the vector sets that travel with the package, sorted."""
    return resource_names(_FOLDER, VECTORS)


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
    return find_resource(_FOLDER, name) if name in bundled_names() else None
