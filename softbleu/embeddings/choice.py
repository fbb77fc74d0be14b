"""Which word vectors to compare words by, and how."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from softbleu.declare import Declared, setting
from softbleu.embeddings import DEFAULT_VECTORS
from softbleu.embeddings.measure import WordMeasure, measure_words, parse_percentile, similarity_quantile
from softbleu.embeddings.vectors import VectorCase
from softbleu.errors import InputError

if TYPE_CHECKING:
    from softbleu.embeddings import VectorLocation
    from softbleu.embeddings.measure import MeasuredWords


@dataclass(frozen=True)
class VectorChoice(Declared):
    """Which word vectors to compare words by, and how.

    Without `normalize` a word weighs as much as its vector is long, one without a vector the mean of the references'
    words. `quantile`, such as `p99.9` of random pairs of words, changes nothing.
    """

    vectors: VectorLocation = setting(
        DEFAULT_VECTORS,
        "Word vectors: a store, a word2vec, GloVe or fastText file, or a known set; ONE+OTHER joins two",
        metavar="PATH|NAME",
        always_signed=True,
        hashed=True,
        common=True,
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

    def recommended_threshold(self) -> float | None:
        """Threshold that the vectors recommend, None if they do not.

        Raises
        ------
        VectorError
            The vectors cannot be read.
        """
        from softbleu.embeddings import open_vectors

        return getattr(open_vectors(self.vectors), "threshold", None)

    def threshold_at(self, quantile: str) -> float:
        """Similarity at a quantile such as `p99.9`, at least 0.

        Raises
        ------
        InputError, VectorError
            The quantile is none, or the vectors cannot be read.
        """
        from softbleu.embeddings import open_vectors

        return max(0.0, similarity_quantile(open_vectors(self.vectors), parse_percentile(quantile), self.measure))
