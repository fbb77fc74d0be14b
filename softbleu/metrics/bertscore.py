"""BERTScore: precision, recall and F of pieces, each matched with the most similar one, by vectors in context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from softbleu.config.declare import setting
from softbleu.embeddings.choice import VectorChoice
from softbleu.io.arguments import Limit
from softbleu.metrics.aggregation import best_rows
from softbleu.metrics.base import Metric
from softbleu.metrics.protocols import SimilarityTable, WordPair, best_references, pairs_of
from softbleu.metrics.requirements import Requirements, needed
from softbleu.metrics.score import Score, ScoreColumns, column, f_of
from softbleu.metrics.settings import DEFAULT_ENCODER, UNCORRECTED, IdfCorpus, idf_setting
from softbleu.text.coded import Tokens

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk, PieceVectors, WordTable
    from softbleu.types import Floats, Integers

PARTS = 10**9  # Segments have whole numbers of such parts, which add up to the same digits anywhere
_LIMIT = Limit("bertscore", "pairs of words or pieces", 1 << 28, "a document of 3,000 words: 16,000,000")
"""Limit for a candidate and a reference: time grows with their product."""
Average = Literal["segments", "pieces"]


@dataclass(frozen=True)
class BertScoreScore(Score):
    """F, precision and recall, in per cent."""

    precision: float = column("P", "precision %", "per cent")
    recall: float = column("R", "recall %", "per cent")


@dataclass(frozen=True, repr=False)
class BertScore(Metric):
    """BERTScore (Zhang et al. 2020): greedy matching of word pieces by the cosine of their vectors in context.

    Each piece of the candidate is matched with the most similar piece of the reference, and each of the reference
    with that of the candidate. P and R are the weighted means of these cosines, and F = 2 P R / (P + R). Pieces have
    equal weights, or ln((D + 1) / (d + 1)) where d of D references have the piece. The encoder's boundary pieces have
    no weight but can be matched. Of several references each segment takes the best. The digits equal bert_score
    0.3.13 with the same weights and layer.

    Parameters
    ----------
    idf
        `none`: pieces have equal weights; `references`, or a text for the document frequencies.
    average
        A corpus has the mean of its segments' scores (`segments`), or is scored from the sums over all pieces.

    Examples
    --------
    >>> BertScore().score(np.array([PARTS, PARTS // 2, 2 * PARTS // 3, 1, 0, 0, 0, 0])).recall
    50.0
    """

    idf: IdfCorpus | Literal["references"] | None = idf_setting("pieces")
    average: Average = setting("segments", "Average over segments, or over all pieces of the corpus")
    vector_choice: VectorChoice = setting(VectorChoice(DEFAULT_ENCODER), kw_only=True)
    name: ClassVar[str] = "bertscore"
    also_rewards: ClassVar[str] = UNCORRECTED
    label: ClassVar[str] = "BERTScore"

    @property
    def requires(self) -> Requirements:
        """Vectors of pieces, and how rare these are."""
        return Requirements(vectors=True, pieces=True, idf=self.idf)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Precision, recall, F and 1 of each segment; twice similarity and weight, in billionths: (segments, 8)."""
        words = needed(words, self.name, "words")
        single = chunk.by_reference()
        _LIMIT.check_pairs(candidate=single.candidates.lengths, reference=single.references.lengths)
        both = words.vectors.pieces(Tokens.joined((single.candidates, single.references)))
        idf = None if self.idf is None else words.feature("piece_idf")
        lines = np.arange(len(single))
        rows = match_lines(both, both, lines, lines + len(single), idf)
        return rows[best_rows(chunk.segment_offsets, rows[:, 2])]

    def pair_statistics(
        self, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
    ) -> Integers:
        """Statistics of every candidate with every reference; each line is encoded once."""
        words = needed(words, self.name, "words")
        one = words.vectors.pieces(candidates)
        other = one if references is candidates else words.vectors.pieces(references)
        idf = None if self.idf is None else words.feature("piece_idf")
        shape = len(one.offsets) - 1, len(other.offsets) - 1
        lines, others = np.indices(shape).reshape(2, -1)
        return match_lines(one, other, lines, others, idf).reshape(*shape, 8)

    def tables(self, chunk: Chunk, words: WordTable | None) -> Iterator[SimilarityTable]:
        """Similarities of the pieces of each candidate with the words of its best reference, without weights."""
        assert words is not None
        single, best = chunk.by_reference(), best_references(self, chunk, words)
        _LIMIT.check_pairs(candidate=single.candidates.lengths, reference=single.references.lengths)
        one, other = (words.vectors.pieces(text.chosen(best)) for text in (single.candidates, single.references))
        bounds = pairwise(one.offsets.tolist()), pairwise(other.offsets.tolist())
        for number, ours, theirs in zip((best - chunk.segment_offsets[:-1]).tolist(), *bounds, strict=True):
            rows, columns = slice(*ours), slice(*theirs)
            yield SimilarityTable(
                one.rows[rows] @ other.rows[columns].T, number, one.words[rows], other.words[columns]
            )

    def pairs(self, chunk: Chunk, words: WordTable | None) -> Iterator[tuple[WordPair, ...]]:
        """Pair each word of a candidate with the word of its best reference that its most similar piece matches."""
        return pairs_of(chunk, self.tables(chunk, words))

    def columns(self, rows: Integers | Floats) -> ScoreColumns[BertScoreScore]:
        """Score rows of statistics, or sums of rows."""
        precision, recall, f, segments, matched, weight, recalled, other = np.asarray(rows, np.float64).T
        if self.average == "pieces":
            precision, recall = matched / np.maximum(weight, 1), recalled / np.maximum(other, 1)
            below = precision + recall
            f = np.divide(2 * precision * recall, below, out=np.zeros(len(f)), where=below > 0)
            return ScoreColumns(BertScoreScore, 100 * f, precision=100 * precision, recall=100 * recall)
        f, precision, recall = (100 * total / np.maximum(segments, 1) / PARTS for total in (f, precision, recall))
        return ScoreColumns(BertScoreScore, f, precision=precision, recall=recall)


def match_lines(
    candidates: PieceVectors, references: PieceVectors, lines: Integers, others: Integers, idf: Floats | None = None
) -> Integers:
    """Compare lines of `candidates` with `others` of `references`: rows of `BertScore.statistics`, (pairs, 8).

    `lines` and `others` are numbers of lines, from 0; `idf`, (pieces of the vocabulary,), weighs pieces.
    """
    sizes = (np.diff(text.offsets)[some] for text, some in ((candidates, lines), (references, others)))
    for size, other in zip(*(part.tolist() for part in sizes), strict=True):
        _LIMIT.check(size * other, f"a segment of {size:,} candidate and {other:,} reference pieces")
    pairs = zip(lines.tolist(), others.tolist(), candidates.greatest(references, lines, others), strict=True)
    rows = [_row(candidates, references, line, other, greatest, idf) for line, other, greatest in pairs]
    return np.array(rows, np.int64).reshape(-1, 8)


def _row(
    candidates: PieceVectors,
    references: PieceVectors,
    line: int,
    other: int,
    greatest: tuple[Floats, Floats],
    idf: Floats | None,
) -> tuple[int, ...]:
    sums: list[float] = []
    there = []
    for text, number, met in ((candidates, line, greatest[0]), (references, other, greatest[1])):
        part = text.line(number)
        inner = text.words[part] >= 0
        weights = inner * (1.0 if idf is None else idf[text.ids[part]])
        if text.weights is not None:
            weights = weights * text.weights[part]
        sums += [float(met @ weights), float(weights.sum())]
        there.append(bool(inner.any()))
    parts = agreement(sums) if all(there) else (0.0, 0.0, 0.0)
    return (*(round(PARTS * part) for part in parts), 1, *(round(PARTS * total) for total in sums))


def agreement(sums: Sequence[float]) -> tuple[float, float, float]:
    """Compute precision, recall and F of sums: similarity and weight of the candidate, then of the reference.

    >>> agreement([1.0, 2.0, 1.0, 1.0])
    (0.5, 1.0, 0.66...)
    """
    matched, weight, recalled, other = sums
    precision = matched / weight if weight else 0.0
    recall = recalled / other if other else 0.0
    return precision, recall, f_of(precision, recall)
