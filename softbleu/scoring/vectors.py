"""Word vectors for a corpus: those of its vocabulary, ready for workers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.similarity import TokenVectors

if TYPE_CHECKING:
    from softbleu.embeddings.measure import MeasuredWords


@dataclass(frozen=True)
class CorpusVectors:
    """The vectors of a corpus's words, in memory."""

    vectors: TokenVectors
    identity: str = ""
    """Name and content of the set they are from."""
    zero_words: int = 0
    """Words whose vector is zero, which counts as none."""

    @classmethod
    def of(cls, measured: MeasuredWords, reference_words: int, *, normalize: bool, **features: Any) -> CorpusVectors:
        """Put selected vectors and features of the same words together, the references' words first."""
        selected, weights = measured.selected, None
        if not normalize:
            norms = selected.norms[:reference_words]
            mean = float(norms[norms > 0].mean()) if (norms > 0).any() else 1.0
            weights = np.where(selected.known, selected.norms, mean)
        norms = selected.norms
        if measured.rows is not selected.rows:
            norms = np.linalg.norm(measured.rows.astype(np.float64), axis=1)
        vectors = TokenVectors(
            measured.rows,
            norms,
            weights,
            measured.mean_neighbour_similarity,
            measured.allowed_pairs,
            measured.self_only,
            **features,
        )
        return cls(vectors, f"{selected.name}#{selected.fingerprint[:12]}", selected.zero_words)

    def load(self) -> TokenVectors:
        """Return the vectors: they are in memory already."""
        return self.vectors

    @contextmanager
    def stored(self) -> Iterator[StoredVectors]:
        """Lay the vectors down in files, for other processes to map."""
        with tempfile.TemporaryDirectory(prefix="softbleu-") as name:
            for field in fields(TokenVectors):
                array = getattr(self.vectors, field.name)
                if array is not None:
                    np.save(Path(name, f"{field.name}.npy"), array)
            yield StoredVectors(name)


@dataclass(frozen=True)
class StoredVectors:
    """The same in files that every worker maps once."""

    folder: str

    def load(self) -> TokenVectors:
        """Map the files."""
        return _load(self.folder)


@lru_cache(maxsize=4)
def _load(folder: str) -> TokenVectors:
    path = Path(folder)
    names = [field.name for field in fields(TokenVectors) if (path / f"{field.name}.npy").exists()]
    return TokenVectors(**{name: np.load(path / f"{name}.npy", mmap_mode="r") for name in names})
