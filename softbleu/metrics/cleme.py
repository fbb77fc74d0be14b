"""CLEME and CLEME2.0: corrections judged by chunks that the source, a candidate and all references share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from softbleu.config.declare import setting
from softbleu.corpora.edits import apply_edits
from softbleu.errors import InputError
from softbleu.metrics.aggregation import BestReference
from softbleu.metrics.base import Level, Metric, Requirements
from softbleu.metrics.edits.chunks import Chunk as Piece
from softbleu.metrics.edits.chunks import partition
from softbleu.metrics.result import ReferenceScore, Score, column

if TYPE_CHECKING:
    from softbleu.corpora.edits import EditedSegment, TextEdit
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import WordTable
    from softbleu.types import Floats, Integers

Assumption = Literal["dependent", "independent"]
Weights = Literal["none", "length"]
Choice = Literal["running", "best"]
KINDS = HIT, WRONG, OVER, UNDER, KEPT = tuple(range(5))
"""Of chunks: corrected as a reference has it; otherwise, where something is to be changed; where nothing is; not
corrected; rightly left."""
_LENGTHS = 32  # Chunks of more words than this, less one, weigh as if they had these
_BOUNDS = 0.75, 1.25  # Of weights by length
_DIGITS = 4
FACTORS = 0.45, 0.35, 0.15, 0.05  # Of hits, and of what is not wrong, not under- and not over-corrected


@dataclass(frozen=True)
class ClemeScore(Score):
    """F of corrections, and what it is made of; sums of weights where chunks have weights."""

    true_positives: float = column("TP", "corrected", "count")
    false_positives: float = column("FP", "wrong or over-corrected", "count")
    false_negatives: float = column("FN", "not corrected", "count")
    true_negatives: float = column("TN", "rightly left", "count")
    precision: float = column("P", "precision", "per cent")  # 100 where nothing is changed
    recall: float = column("R", "recall", "per cent")  # 100 where nothing is to be changed
    accuracy: float = column("acc", "accuracy", "per cent")


@dataclass(frozen=True)
class Cleme2Score(Score):
    """A weighted sum of four shares, and these."""

    hit: float = column("hit", "hits", "per cent")  # Of the chunks that are to be changed
    wrong: float = column("wrong", "wrong corrections", "per cent")
    under: float = column("under", "under-corrections", "per cent")
    over: float = column("over", "over-corrections", "per cent")  # Of the chunks that the candidate changes
    hits: float = column("", "hit", "count")  # Sums of weights where chunks have weights
    wrong_corrections: float = column("", "wrong", "count")
    over_corrections: float = column("", "over-corrected", "count")
    under_corrections: float = column("", "under-corrected", "count")
    left: float = column("", "rightly left", "count")


@dataclass(frozen=True, repr=False)
class ChunkMetric(Metric):
    """What CLEME and CLEME2.0 have in common: chunks, and which reference counts."""

    assumption: Assumption = setting(
        "dependent",
        "Chunks are judged by one reference, the best (dependent), or each by all references (independent)",
    )
    weights: Weights = setting("none", "Weights of chunks: all alike, or by their lengths")
    annotators: Choice = setting(
        "running", "Each segment's reference: best for the score of all so far (running), or for its own (best)"
    )
    requires: ClassVar[Requirements] = Requirements(references=False, source=True, edits=True)

    def at_level(self, level: Level) -> Self:
        """Segments that are scored by themselves choose by themselves."""
        return self if level == "corpus" else replace(self, annotators="best")

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Count chunks by kind, a row for each reference of each segment, or one where all are looked at together.

        With weights by length a row has, of each kind, counts by length, and then the sum of the lengths of all
        chunks that references change, and their number.
        """
        if chunk.edits is None:
            raise InputError(f"{self.label} needs the source, and gold edits or references")
        size = 1 if self.weights == "none" else _LENGTHS
        rows = [row for segment in chunk.edits for row in _count(segment, self.assumption, size)]
        return np.array(rows, np.int64).reshape(len(rows), -1)

    def weighed(self, rows: Integers | Floats, mean: float | None = None) -> Floats:
        """Sums of weights by kind, (rows, 5); lengths are compared with their mean in each row, or with that given."""
        counts = np.asarray(rows, np.float64)
        if counts.shape[1] == len(KINDS):
            return counts
        lengths, number = counts[:, -2:].T
        means = lengths / np.maximum(number, 1) if mean is None else np.full(len(counts), mean)
        longer = np.arange(_LENGTHS) - np.minimum(means, _LENGTHS - 2)[:, None]
        heavy, light = (np.clip(2 / (1 + np.exp(sign * longer)), *_BOUNDS) for sign in (-1, 1))
        by_kind = np.stack((heavy, light, light, heavy, np.ones_like(heavy)), axis=1)
        sums: Floats = (counts[:, :-2].reshape(by_kind.shape) * by_kind).sum(axis=2)
        return sums

    @property
    def aggregation(self) -> BestReference:
        """The chosen references."""
        return _ChosenReferences(self)

    def score(self, row: Integers | Floats) -> Score:
        """Score one row of counts, or a sum of rows."""
        (sums,) = self.weighed(row[None]).tolist()
        return self.scored(sums)

    def scores(self, rows: Integers | Floats) -> Floats:
        """Scores of many rows at once, 0 to 100."""
        return np.array([self.scored(sums).score for sums in self.weighed(rows).tolist()], np.float64)

    @abstractmethod
    def scored(self, sums: Sequence[float], digits: int | None = None) -> Score:
        """Score sums of weights by kind; the authors' program rounds scores of sentences to some digits."""

    @abstractmethod
    def key(self, sums: Sequence[float], before: Sequence[float]) -> tuple[float, ...]:
        """What the best reference has most of, where the chunks before have these sums."""

    @abstractmethod
    def own_key(self, sums: Sequence[float]) -> tuple[float, ...]:
        """The same of a segment by itself."""


@dataclass(frozen=True, repr=False)
class Cleme(ChunkMetric):
    """CLEME (Ye et al. 2023): F of corrections, judged by chunks that source, candidate and references share.

    Edits that overlap or touch, whichever texts they are of, lie in one chunk, so that no edit is right by one
    reference's bounds and wrong by those of another. The numbers are those of the authors' program, which does not
    look at references without words, and rounds F to four digits before it compares references.

    Parameters
    ----------
    assumption
        `dependent`: all chunks are judged by one reference, the best. `independent`: a chunk is right if it is as
        in any reference, and missed if every reference changes it.
    weights
        Weights of chunks: all alike, or by length. A chunk of n words (of source or candidate, whichever are more)
        that is right or missed weighs 2 / (1 + exp(m - n)), m being the mean length of chunks that references
        change; a wrong one 2 / (1 + exp(n - m)); all between 0.75 and 1.25. Beyond 31 words length adds no weight.
    annotators
        Choice of each segment's reference, where chunks are judged by one: the one with the greatest F of the
        segment and all before it (`running`; it depends on the order of the segments), or of the segment alone
        (`best`, which scores of segments always take).
    beta
        Weight of recall in F; below 1 precision weighs more.

    Examples
    --------
    >>> Cleme().score(np.array([3, 1, 0, 2, 10])).recall
    60.0
    """

    beta: float = setting(0.5, "Weight of recall beside precision", least=1e-6, most=1e6)
    name: ClassVar[str] = "cleme"

    def scored(self, sums: Sequence[float], digits: int | None = None) -> ClemeScore:
        """Score sums of weights by kind."""
        wrong = sums[WRONG] + sums[OVER]
        found = _measures(sums[HIT], wrong, sums[UNDER], sums[KEPT], self.beta)
        f, *others = (100 * (each if digits is None else round(each, digits)) for each in found)
        return ClemeScore(f, sums[HIT], wrong, sums[UNDER], sums[KEPT], *others)

    def key(self, sums: Sequence[float], before: Sequence[float]) -> tuple[float, ...]:
        """F with what was before, to four digits; then what is right, wrong, missed, left."""
        wrong = sums[WRONG] + sums[OVER]
        hits, more, missed = (
            before[HIT] + sums[HIT],
            before[WRONG] + before[OVER] + wrong,
            before[UNDER] + sums[UNDER],
        )
        f = round(_measures(hits, more, missed, 0.0, self.beta)[0], _DIGITS)
        return f, sums[HIT], -wrong, -sums[UNDER], sums[KEPT]

    def own_key(self, sums: Sequence[float]) -> tuple[float, ...]:
        """F, precision, recall and accuracy, to four digits."""
        found = _measures(sums[HIT], sums[WRONG] + sums[OVER], sums[UNDER], sums[KEPT], self.beta)
        return tuple(round(each, _DIGITS) for each in found)


@dataclass(frozen=True, repr=False)
class Cleme2(ChunkMetric):
    """CLEME2.0 (Ye et al. 2025): a sum of hits and of what is not wrong, not under- and not over-corrected.

    Of the chunks that are to be changed some are hit, some changed in another way (wrong), others left (under); of
    those that the candidate changes some should have been left (over). The score is 0.45 hit + 0.35 (1 - wrong) +
    0.15 (1 - under) + 0.05 (1 - over), so that a source that is copied has 40. Chunks, references and the other
    settings are those of `Cleme`; the best reference has the greatest score.

    Examples
    --------
    >>> round(Cleme2().score(np.array([3, 1, 0, 2, 10])).score, 2)
    68.17
    """

    name: ClassVar[str] = "cleme2"

    def scored(self, sums: Sequence[float], digits: int | None = None) -> Cleme2Score:
        """Score sums of weights by kind."""
        return Cleme2Score(*(100 * share for share in _shares(sums)), *sums)

    def key(self, sums: Sequence[float], before: Sequence[float]) -> tuple[float, ...]:
        """The score with what was before; then what is right, wrong, missed, left."""
        score = _shares([a + b for a, b in zip(before, sums, strict=True)])[0]
        return score, sums[HIT], -(sums[WRONG] + sums[OVER]), -sums[UNDER], sums[KEPT]

    def own_key(self, sums: Sequence[float]) -> tuple[float, ...]:
        """The score, hits, and little of the others."""
        score, hit, *others = _shares(sums)
        return score, hit, *(-share for share in others)


@dataclass(frozen=True)
class _ChosenReferences(BestReference):
    metric: ChunkMetric

    @property
    def by_segment(self) -> bool:
        """Not where the choice goes by the segments before, or weights by the lengths of all chunks."""
        alone = self.metric.annotators == "best" or self.metric.assumption == "independent"
        return alone and self.metric.weights == "none"

    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Choose the row of one reference for each segment."""
        if len(rows) == len(offsets) - 1:
            return np.arange(len(rows))
        sums, before, chosen = self._weighed(rows, offsets).tolist(), [0.0] * len(KINDS), []
        for start, stop in pairwise(offsets.tolist()):
            keys = [
                self.metric.key(own, before) if self.metric.annotators == "running" else self.metric.own_key(own)
                for own in sums[start:stop]
            ]
            chosen.append(start + keys.index(max(keys)))
            before = [a + b for a, b in zip(before, sums[chosen[-1]], strict=True)]
        return np.array(chosen, np.int64)

    def _weighed(self, rows: Integers, offsets: Integers) -> Floats:
        """Sums of weights; lengths are compared with their mean in all segments."""
        lengths, number = rows[offsets[:-1], -2:].sum(axis=0).tolist()
        return self.metric.weighed(rows, lengths / max(number, 1))

    def segment_scores(self, rows: Integers, offsets: Integers) -> list[Score]:
        """Score each segment, to four digits."""
        sums = self._weighed(rows, offsets)[self.chosen(rows, offsets)]
        return [self.metric.scored(own, _DIGITS) for own in sums.tolist()]

    def segment_numbers(self, rows: Integers, offsets: Integers) -> Floats:
        """Scores of the segments alone."""
        return np.array([score.score for score in self.segment_scores(rows, offsets)], np.float64)

    def reference_scores(self, rows: Integers, offsets: Integers) -> list[ReferenceScore]:
        """Score each candidate against each of its references."""
        found = zip(super().reference_scores(rows, offsets), self._weighed(rows, offsets).tolist(), strict=True)
        return [replace(each, score=self.metric.scored(own, _DIGITS)) for each, own in found]


def _count(segment: EditedSegment, assumption: Assumption, lengths: int) -> list[list[int]]:
    """Count the chunks of a segment by kind and length; see `ChunkMetric.statistics`."""
    counted = [_has_words(segment.source, edits) for edits in segment.references]
    if not any(counted):
        counted[0] = True
    references = tuple(edits for edits, has_words in zip(segment.references, counted, strict=True) if has_words)
    chunks, unchanged = partition(replace(segment, references=references))
    tail = []
    if lengths > 1:
        changed = [
            max(len(each.source), len(text)) for each in chunks for text in each.references if text != each.source
        ]
        tail = [sum(changed), len(changed)]
    others = [None] if assumption == "independent" else range(len(references))
    rows = []
    for number in others:
        row = [0] * (len(KINDS) * lengths)
        row[KEPT * lengths] = unchanged
        for each in chunks:
            kind = _kind(each, each.references if number is None else each.references[number : number + 1])
            row[kind * lengths + min(each.length, lengths - 1)] += 1
        rows.append([*row, *tail])
    if assumption == "independent":
        return rows
    # A reference without words has the row of another one, which is then taken.
    left = iter(rows)
    return [next(left) if has_words else rows[0] for has_words in counted]


def _has_words(source: Sequence[str], edits: Sequence[TextEdit]) -> bool:
    return any(words for _, _, words in edits) or bool(apply_edits(source, edits))


def _kind(chunk: Piece, references: Sequence[tuple[str, ...]]) -> int:
    if chunk.candidate == chunk.source:
        return KEPT if chunk.source in references else UNDER
    if chunk.candidate in references:
        return HIT
    return WRONG if any(text != chunk.source for text in references) else OVER


def _measures(
    hits: float, wrong: float, missed: float, kept: float, beta: float
) -> tuple[float, float, float, float]:
    """F, precision, recall and accuracy, 0 to 1, in the order of operations of the authors' program."""
    precision = hits / (hits + wrong) if hits + wrong else 1.0
    recall = hits / (hits + missed) if hits + missed else 1.0
    f = (1 + beta**2) * precision * recall / (beta**2 * precision + recall) if precision + recall else 0.0
    every = hits + wrong + missed + kept
    return f, precision, recall, (hits + kept) / every if every else 0.0


def _shares(sums: Sequence[float]) -> tuple[float, float, float, float, float]:
    """The score, hits, wrong, under- and over-corrections, 0 to 1, in the order of operations of the program."""
    hits, wrong, over, missed, _ = sums
    necessary, proposed = hits + wrong + missed, hits + (wrong + over)
    hit, error, under = ((each / necessary if necessary else 0.0) for each in (hits, wrong, missed))
    excess = over / proposed if proposed else 0.0
    a, b, c, d = FACTORS
    return a * hit + b * (1 - error) + c * (1 - under) + d * (1 - excess), hit, error, under, excess
