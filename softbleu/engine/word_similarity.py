"""How alike two words are, to the matchers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.embeddings.measure import WordMeasure, measure_words, random_similarities
from softbleu.engine.vectors import CorpusWords
from softbleu.errors import VectorError

if TYPE_CHECKING:
    from softbleu.embeddings import VectorCase, VectorSource


@dataclass(frozen=True)
class WordSimilarity:
    """How alike two words are."""

    one: str
    other: str
    similarity: float
    """0 if they may not meet."""
    percentile: float
    """Percentage of random pairs of words of the set that are less alike."""


def compare_words(
    source: VectorSource,
    one: str,
    other: str,
    measure: WordMeasure | None = None,
    case: VectorCase = "fallback",
) -> WordSimilarity:
    """Compare two words as the matchers do.

    Examples
    --------
    >>> from softbleu.embeddings import open_vectors
    >>> found = compare_words(open_vectors("glove-6b-100d"), "car", "truck")
    >>> round(found.similarity, 2), found.percentile > 99.9
    (0.83, True)
    """
    measure = measure or WordMeasure()
    words = list(dict.fromkeys((one, other)))
    measured = measure_words(source, words, case, measure)
    for word, known in zip(words, measured.selected.known, strict=True):
        if not known:
            raise VectorError(f"{source.name}: no vector for the word {word!r}; try another spelling")
    vectors: Any = CorpusWords.of(measured, len(words), normalize=True).words.vectors
    unit, codes = vectors.of_words(np.arange(len(words), dtype=np.int32))
    _, products = unit.products(codes[None, :1], codes[None, -1:])
    similarity = float(products[0, 0, 0])
    random = random_similarities(source, measure)
    return WordSimilarity(one, other, similarity, float((random < similarity).mean() * 100))
