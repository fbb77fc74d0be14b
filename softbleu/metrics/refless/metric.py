"""The metric without references: rows of grammaticality, fluency and meaning in millionths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from softbleu.declare import setting
from softbleu.errors import InputError
from softbleu.metrics.base import Metric, Requirements, Score, column
from softbleu.metrics.refless.judging import default_judge
from softbleu.metrics.refless.meaning import meaning
from softbleu.metrics.refless.text import SpeltWords, spelt_lines

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.ngrams import Chunk
    from softbleu.similarity import WordTable
    from softbleu.types import Floats, Integers

_PARTS = 10**6
"""What a segment has is a whole number of such parts, so that segments add up to the same digits anywhere."""
Aggregate = Literal["mean", "share"]


@dataclass(frozen=True)
class ReflessScore(Score):
    """The score, and what it is made of, in per cent."""

    grammar: float = column("G", "grammaticality %", "per cent")
    fluency: float = column("F", "fluency %", "per cent")
    meaning: float = column("M", "meaning %", "per cent")
    better: float = column("better", "better than the source %", "per cent")
    """Share of segments that score higher than their source."""


@dataclass(frozen=True)
class Refless(Metric):
    """Grammaticality, fluency and meaning of corrections, without references (Asano, Mizumoto and Inui 2017).

    The score is alpha G + beta F + gamma M, divided by the sum of the weights. G: logistic regression of
    misspellings, fluency and marks. F: (log P(line) - log P(its words by themselves)) / tokens by the bundled n-gram
    models, between fixed percentiles of learners' lines. M: F of the content words that the line shares with its
    source, equal or of equal stems. Of an empty line all three are 0.

    Parameters
    ----------
    alpha, beta, gamma
        Weights.
    t
        Of precision in M's mean, P R / (t P + (1 - t) R): much weight of precision makes M follow recall.
    aggregate
        A corpus has the mean of its segments' scores, or the `share` of those that score higher than their source.

    Examples
    --------
    >>> Refless().score(np.array([1, 500_000, 1_000_000, 750_000, 1])).score
    67.5
    """

    alpha: float = setting(0.5, "Weight of grammaticality", least=0, most=1)
    beta: float = setting(0.2, "Weight of fluency", least=0, most=1)
    gamma: float = setting(0.3, "Weight of meaning", least=0, most=1)
    t: float = setting(0.85, "Weight of precision in the mean that is meaning", least=0, most=1)
    aggregate: Aggregate = setting("mean", "Mean of segments, or share of those better than their source")
    name: ClassVar[str] = "refless"

    @property
    def label(self) -> str:
        """Its name as people write it."""
        return "Refless"

    @property
    def requires(self) -> Requirements:
        """The source, no references, and how words are spelt."""
        return Requirements(references=False, source=True, parts=(SpeltWords(),))

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Find the criteria of each segment: 1, grammaticality, fluency, meaning in millionths, 1 if better.

        Returns
        -------
        Integers
            Shape (segments, 5).
        """
        if chunk.source is None:
            raise InputError("refless needs the source text: name it with --source, or source=[…]")
        if words is None:
            raise InputError("refless reads words, which this table lacks")
        own, others = (spelt_lines(text, words) for text in (chunk.candidates, chunk.source))
        rows = np.zeros((len(own), 2, 4), np.int64)
        rows[:, :, 0] = 1
        for side, lines in enumerate((own, others)):
            judged = default_judge().judge([" ".join(line) for line in lines])
            rows[:, side, 1:3] = np.rint(_PARTS * judged)
        for row, candidate, source in zip(rows, own, others, strict=True):
            row[:, 3] = [round(_PARTS * meaning(each, source, self.t)) if each else 0 for each in (candidate, source)]
        scores = self._means(rows.reshape(-1, 4)).reshape(-1, 2)
        better = (scores[:, 0] > scores[:, 1]).astype(np.int64)
        return np.column_stack((rows[:, 0], better))

    def _means(self, rows: Integers | Floats) -> Floats:
        """Weighted means of the criteria of rows that begin with those, in per cent."""
        weights = (self.alpha, self.beta, self.gamma)
        total = np.zeros(len(rows))
        for weight, criterion in zip(weights, rows.T[1:4], strict=True):
            total += weight * criterion
        found: Floats = 100 * total / (_PARTS * np.maximum(rows[:, 0], 1) * (sum(weights) or 1))
        return found

    def score(self, row: Integers) -> ReflessScore:
        """Score one row of statistics, or a sum of rows."""
        segments, grammar, fluency, kept, better = (float(number) for number in row)
        shares = [100 * each / max(segments, 1) / _PARTS for each in (grammar, fluency, kept)]
        score = float(self.scores(np.asarray(row)[None])[0])
        return ReflessScore(score, shares[0], shares[1], shares[2], 100 * better / max(segments, 1))

    def scores(self, rows: Integers | Floats) -> Floats:
        """Scores of many rows at once, as `score` gives them."""
        given = np.asarray(rows, np.float64)
        if self.aggregate == "share":
            found: Floats = 100 * given[:, 4] / np.maximum(given[:, 0], 1)
            return found
        return self._means(given)
