"""Views of a segment that metrics give: which words stand for which, tables of similarities, marks in its lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softbleu.kernels import choose_kernels
from softbleu.metrics.result import best_rows

if TYPE_CHECKING:
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import WordTable
    from softbleu.metrics.base import Metric
    from softbleu.types import Floats, Integers


CANDIDATE, REFERENCE, SOURCE = range(3)  # Texts that have marks


@dataclass(frozen=True)
class WordPair:
    """Words of a candidate and those of its best reference that they stand for; places are tokens from 0.

    Of words that are deleted or inserted the length on the other side is 0.
    """

    kind: str  # How they match: for METEOR the stage, for TER the edit
    start: int
    length: int
    reference: int  # Which of the segment's references, from 0
    reference_start: int
    reference_length: int
    similarity: float | None = None  # None for metrics that have stages or edits in its place


@dataclass(frozen=True)
class SimilarityTable:
    """Similarities of the words of a candidate, or of their pieces, with those of its best reference."""

    values: Floats  # (rows, columns)
    reference: int  # Which of the segment's references, from 0
    candidate_words: Integers  # Number of the candidate's word of each row, from 0; -1 of what is of no word
    reference_words: Integers  # Number of the reference's word of each column

    def pairs(self, candidate: Sequence[int], reference: Sequence[int]) -> Iterator[WordPair]:
        """For each coded word of the candidate the word that its most similar piece matches, if any is similar.

        The similarity is the mean of its pieces' greatest.

        >>> words, others = np.array([-1, 0, 0]), np.array([0, 1, -1])
        >>> table = SimilarityTable(np.array([[1, 0, 1], [0.5, 0.25, 1], [0, 0.75, 1]]), 0, words, others)
        >>> [(pair.kind, pair.reference_start, pair.similarity) for pair in table.pairs([7], [8, 9])]
        [('similar', 1, 0.625)]
        """
        columns = np.flatnonzero(self.reference_words >= 0)
        if not len(columns):
            return
        for word in np.unique(self.candidate_words[self.candidate_words >= 0]).tolist():
            # A word at a time: a copy of the whole table would be large.
            values = self.values[self.candidate_words == word][:, columns]
            most = values.max(axis=1)
            similarity = round(float(most.mean()), 6)
            met = int(self.reference_words[columns[values[most.argmax()].argmax()]])
            kind = "exact" if candidate[word] == reference[met] else "similar"
            if similarity > 0:
                yield WordPair(kind, word, 1, self.reference, met, 1, similarity)


def pairs_of(chunk: Chunk, tables: Iterable[SimilarityTable]) -> Iterator[tuple[WordPair, ...]]:
    """Pair the words of each segment of a chunk, by the table of its similarities."""
    candidates, references = (tokens.by_line() for tokens in (chunk.candidates, chunk.references))
    for candidate, first, table in zip(candidates, chunk.segment_offsets[:-1].tolist(), tables, strict=True):
        yield tuple(table.pairs(candidate, references[first + table.reference]))


def best_references(metric: Metric, chunk: Chunk, words: WordTable | None) -> Integers:
    """Line of the reference against which `metric` scores each candidate of a chunk best, the first of equal ones.

    `words` is the table of the chunk's words.
    """
    if len(chunk.references.lengths) == len(chunk):
        return np.arange(len(chunk))
    scores = metric.scores(metric.statistics(chunk.by_reference(), words, choose_kernels("numpy")))
    return best_rows(chunk.segment_offsets, scores)


class Mark(NamedTuple):
    """Some tokens of a text in a row."""

    text: int  # `CANDIDATE`, `REFERENCE` (those of a segment count as one text) or `SOURCE`
    start: int  # First token, from 0
    length: int
    kind: str  # What they are coloured by
    link: int  # Number that marks which belong together share
    said: str


def marks_of_pairs(chunk: Chunk, pairs: Iterable[Iterable[WordPair]]) -> Iterator[list[Mark]]:
    """Mark the words of each candidate of a chunk, and of its references, that `pairs` align."""
    offsets = chunk.references.offsets
    for first, aligned in zip(chunk.segment_offsets.tolist(), pairs, strict=False):
        marks: list[Mark] = []
        for link, pair in enumerate(aligned):
            other = int(offsets[first + pair.reference] - offsets[first]) + pair.reference_start
            marks.append(Mark(CANDIDATE, pair.start, pair.length, pair.kind, link, pair.kind))
            marks.append(Mark(REFERENCE, other, pair.reference_length, pair.kind, link, pair.kind))
        yield marks
