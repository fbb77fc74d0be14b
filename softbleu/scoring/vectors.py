"""Word vectors for a corpus: those of its vocabulary, ready for workers."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from softbleu.declare import Declared, setting
from softbleu.embeddings import DEFAULT_VECTORS
from softbleu.embeddings.measure import WordMeasure, measure_words, parse_percentile, similarity_quantile
from softbleu.embeddings.vectors import VectorCase
from softbleu.errors import InputError
from softbleu.similarity import TokenVectors

if TYPE_CHECKING:
    from softbleu.embeddings import VectorLocation
    from softbleu.embeddings.measure import MeasuredWords


@dataclass(frozen=True)
class VectorChoice(Declared):
    """Which word vectors to compare words by, and how.

    Parameters
    ----------
    vectors : a name (`glove-6b-100d`), a file or folder, gensim's KeyedVectors, or a mapping from words to vectors
    vector_case : words are looked up as written (`exact`), then lower-cased (`fallback`)
    normalize : compare unit vectors; else a word weighs as much as its vector is long, one without a vector the mean
        of the references' words
    measure : how the similarity of two words follows from their vectors
    quantile : where the threshold was taken from, such as `p99.9` of random pairs of words; it changes nothing
    """

    vectors: VectorLocation = setting(
        DEFAULT_VECTORS,
        "Word vectors: a store, a word2vec, GloVe or fastText file, or a known set; ONE+OTHER joins two",
        metavar="PATH|NAME",
        always_signed=True,
        hashed=True,
    )
    vector_case: VectorCase = setting(
        "fallback", "Look words up as written only (exact), or also in lower case", earlier=("case",)
    )
    normalize: bool = setting(True, "Compare unit vectors")
    measure: WordMeasure = setting(factory=WordMeasure)
    quantile: str | None = setting(None, "Quantile that the threshold was taken from")
    kind: ClassVar[str] = "vectors"

    def check(self) -> None:
        """See that the vectors may be some; whether they are is known when they are opened."""
        if isinstance(self.vectors, int | float | list):
            raise InputError(f"vectors must be a name, a path, a mapping or KeyedVectors, not {self.vectors!r}")

    @property
    def key(self) -> tuple[str | int, VectorChoice]:
        """What tells it from other choices, however the threshold was found; vectors in memory by which they are."""
        where = str(self.vectors) if isinstance(self.vectors, str | Path) else id(self.vectors)
        return where, replace(self, vectors="", quantile=None)

    def select(self, words: list[str]) -> MeasuredWords:
        """Read the vectors of these words."""
        from softbleu.embeddings import open_vectors

        return measure_words(open_vectors(self.vectors), words, self.vector_case, self.measure)

    def threshold_at(self, quantile: str) -> float:
        """Similarity at a quantile such as `p99.9`, at least 0.

        Raises
        ------
        InputError, VectorError
            The quantile is none, or the vectors cannot be read.
        """
        from softbleu.embeddings import open_vectors

        return max(0.0, similarity_quantile(open_vectors(self.vectors), parse_percentile(quantile), self.measure))


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
