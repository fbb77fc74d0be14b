"""Word vectors for a corpus: those of its vocabulary, ready for workers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import UnknownNameError
from softbleu.similarity import TokenVectors
from softbleu.tokens import Vocabulary

if TYPE_CHECKING:
    from softbleu.embeddings import VectorCase, VectorLocation, WordVectors


@dataclass(frozen=True)
class VectorChoice:
    """Which word vectors to compare words by, and how to look words up.

    Parameters
    ----------
    location : a name (`glove-6b-100d`), a file or folder, gensim's KeyedVectors, or a mapping from words to vectors
    case : words are looked up as written (`exact`), then lower-cased (`fallback`)
    normalize : compare unit vectors; else a word weighs as much as its vector is long, one without a vector the mean
        of the references' words
    """

    location: VectorLocation
    case: VectorCase = "fallback"
    normalize: bool = True

    def __post_init__(self) -> None:
        if self.case not in ("exact", "fallback"):
            raise UnknownNameError("vector case", self.case, ("exact", "fallback"))

    def select(self, words: list[str]) -> WordVectors:
        """Read the vectors of these words."""
        from softbleu.embeddings import open_vectors

        return open_vectors(self.location).select(words, self.case)


@dataclass(frozen=True)
class CorpusVectors:
    """The words of a corpus and their vectors, in memory."""

    vocabulary: Vocabulary
    vectors: TokenVectors
    identity: str = ""
    """Name and content of the set they are from."""
    zero_words: int = 0
    """Words whose vector is zero, which counts as none."""

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, selected: WordVectors, reference_words: int, *, normalize: bool
    ) -> CorpusVectors:
        """Put selected vectors together with the words they were selected for, the references' words first."""
        weights = None
        if not normalize:
            norms = selected.norms[:reference_words]
            mean = float(norms[norms > 0].mean()) if (norms > 0).any() else 1.0
            weights = np.where(selected.known, selected.norms, mean)
        identity = f"{selected.name}#{selected.fingerprint[:12]}"
        token_vectors = TokenVectors(selected.rows, selected.norms, weights)
        return cls(vocabulary, token_vectors, identity, selected.zero_words)

    def load(self) -> CorpusVectors:
        """Return the vectors themselves: they are in memory already."""
        return self

    @contextmanager
    def stored(self) -> Iterator[StoredVectors]:
        """Lay the vectors down in files, for other processes to map."""
        with tempfile.TemporaryDirectory(prefix="softbleu-") as name:
            folder = Path(name)
            np.save(folder / "rows.npy", self.vectors.rows)
            np.save(folder / "norms.npy", self.vectors.norms)
            if self.vectors.weights is not None:
                np.save(folder / "weights.npy", self.vectors.weights)
            # JSON keeps any word as it is, whatever characters it holds.
            (folder / "words.json").write_text(json.dumps(list(self.vocabulary)), encoding="ascii")
            yield StoredVectors(name)


@dataclass(frozen=True)
class StoredVectors:
    """The same in files that every worker maps once."""

    folder: str

    def load(self) -> CorpusVectors:
        """Map the files."""
        return _load(self.folder)


@lru_cache(maxsize=1)
def _load(folder: str) -> CorpusVectors:
    path = Path(folder)
    words = json.loads((path / "words.json").read_text(encoding="ascii"))
    weights = np.load(path / "weights.npy") if (path / "weights.npy").exists() else None
    vectors = TokenVectors(np.load(path / "rows.npy", mmap_mode="r"), np.load(path / "norms.npy"), weights)
    return CorpusVectors(Vocabulary((word, code) for code, word in enumerate(words)), vectors)
