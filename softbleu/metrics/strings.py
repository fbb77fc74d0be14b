"""Metrics of strings: a method that takes the texts of a segment; the rest is done by the contract of arrays."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.metrics.base import Metric
from softbleu.metrics.result import Score
from softbleu.text.tokenizers import TextTokenizer
from softbleu.text.tokens import texts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import WordTable
    from softbleu.types import Integers

_PARTS = 10**8  # Of a point: scores are added up as whole numbers, so that no order of adding changes a digit


@dataclass(frozen=True, repr=False)
class StringMetric(Metric):
    """A metric of the strings of a segment; a subclass says by `evaluate` how they compare.

    Lines come as they stand in the text, in lower case where that is set; ``self.tokenizer.split`` splits them.

    Examples
    --------
    >>> @dataclass(frozen=True, repr=False)
    ... class Exact(StringMetric):
    ...     def evaluate(self, candidate, references, source):
    ...         return 100.0 if candidate in references else 0.0
    >>> Exact().corpus_score(["a cat", "a dog"], ["a cat", "the dog"]).score
    50.0
    """

    @abstractmethod
    def evaluate(self, candidate: str, references: Sequence[str], source: str | None) -> float | Sequence[int]:
        """Compare a candidate with its references, and with the source where `requires` asks for it.

        Returns
        -------
        float or sequence of int
            A score between 0 and 100, of which a corpus has the mean; or counts, of which a corpus has the sums. Of
            counts the score is 100 times the first over the second, unless the metric has its own `score`.
        """

    def complete(self) -> None:
        """Take a tokenizer that keeps the text of lines."""
        object.__setattr__(self, "tokenizer", TextTokenizer(self.tokenizer.plain))

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Counts of each segment, a score being counts, too: (segments, k)."""
        candidates, references = texts_of(chunk.candidates), texts_of(chunk.references)
        sources: Sequence[str | None] = [None] * len(chunk) if chunk.source is None else texts_of(chunk.source)
        bounds = pairwise(chunk.segment_offsets.tolist())
        return np.array(
            [
                self._counts(self.evaluate(candidate, references[start:stop], source))
                for candidate, (start, stop), source in zip(candidates, bounds, sources, strict=True)
            ]
        )

    def _counts(self, value: Any) -> Any:
        if isinstance(value, tuple | list | np.ndarray):
            return value
        if not isinstance(value, float | int | np.number):
            raise TypeError(f"evaluate must return a score or counts, not {value!r}")
        if not 0 <= value <= 100:
            raise ValueError(f"{value} is no score between 0 and 100")
        return round(value * _PARTS), 100 * _PARTS

    def score(self, row: Integers) -> Score:
        """Score a row of counts, or a sum of rows: 100 times the first over the second."""
        return Score(100 * int(row[0]) / max(int(row[1]), 1))
