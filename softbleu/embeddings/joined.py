"""Several sets of vectors as one: their unit vectors side by side, each set with a weight."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.postprocess import unit_rows
from softbleu.embeddings.vectors import VectorCase, VectorSource, WordVectors
from softbleu.errors import VectorError

_PART = re.compile(r"(?P<name>.+?)(?:\*(?P<weight>\d+(?:\.\d+)?))?")


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
        rows = self._side_by_side([each.rows for each in selected])
        norms = np.linalg.norm(rows.astype(np.float64), axis=1)
        zero_words = min(each.zero_words for each in selected)
        return WordVectors(rows, norms, self.name, self.fingerprint, zero_words)

    def _side_by_side(self, parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
        scaled = [unit_rows(rows) * weight**0.5 for rows, weight in zip(parts, self.weights, strict=True)]
        return np.concatenate(scaled, axis=1).astype(np.float32)


def joined_names(text: str) -> list[str]:
    """Names of the sets that are joined, without their weights.

    >>> joined_names("one*2+other")
    ['one', 'other']
    """
    return [match["name"] for part in text.split("+") if (match := _PART.fullmatch(part))]


def open_joined(text: str, open_one: Callable[[str], VectorSource]) -> JoinedSource:
    """Open sets written as `ONE+OTHER` or, with weights, `ONE*2+OTHER*0.5`.

    Raises `VectorError`: a weight that is none, or a set that cannot be opened.
    """
    sources, weights = [], []
    for part in text.split("+"):
        match = _PART.fullmatch(part)
        if match is None or match["weight"] in ("0", "0.0"):
            raise VectorError(f"{text!r}: join sets as ONE+OTHER, or with weights above 0 as ONE*2+OTHER*0.5")
        sources.append(open_one(match["name"]))
        weights.append(float(match["weight"] or 1))
    return JoinedSource(tuple(sources), tuple(weights))
