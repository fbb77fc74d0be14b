"""What a metric may offer beside scores: protocols, which callers ask for, and the views of segments it gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeGuard, runtime_checkable

import numpy as np

from softbleu.kernels import choose_kernels
from softbleu.matching.ngrams import Chunk
from softbleu.metrics.base import MatcherMetric, Metric
from softbleu.metrics.result import best_rows

if TYPE_CHECKING:
    from softbleu.corpora.edits import EditedSegment
    from softbleu.language import Finding
    from softbleu.matching.matchers import Matcher
    from softbleu.matching.ngrams import Vectors, WordTable
    from softbleu.metrics.edits import JudgedEdits
    from softbleu.types import Floats, Integers


@runtime_checkable
class SharedMatches(Protocol):
    """Takes no more of a text than what its matcher matches by order, which is then found for several at once."""

    @property
    def matching(self) -> Matcher:
        """Matcher, which says what counts as a match."""

    @property
    def order(self) -> int:
        """Greatest n."""

    def statistics_of(self, chunk: Chunk, matched: Integers) -> Integers:
        """Compute the statistics of each segment of a chunk, (segments, k), of its matches by order.

        `matched` has the shape of `Matcher.matched`, in millionths.
        """


@runtime_checkable
class BleuFormula(SharedMatches, Protocol):
    """Scores by BLEU's formula, which a page computes anew from the matches at another threshold."""

    @property
    def smooth(self) -> str:
        """Smoothing."""

    @property
    def smooth_value(self) -> float | None:
        """Its value."""

    @property
    def effective_order(self) -> bool | None:
        """Whether orders are left out that a text is too short for."""

    def parts_of(self, rows: Integers) -> tuple[Integers, Integers]:
        """Take rows (…, k) apart: clipped matches by order, and both lengths with the totals by order."""


@runtime_checkable
class ReadsRows(Protocol):
    """Reads its statistics from elsewhere; no text is looked at."""

    @property
    def documents(self) -> Sequence[str]:
        """Names of the documents of all segments; empty where they are not known."""

    def read_rows(self, systems: Sequence[str], segments: int) -> Integers:
        """Rows of each of these systems, which have so many segments: (systems, segments, k)."""


@runtime_checkable
class JudgesLines(Protocol):
    """Finds something in single candidates."""

    def find(self, line: str) -> tuple[Finding, ...]:
        """Marks against a tokenised candidate."""


@runtime_checkable
class NamesCauses(Protocol):
    """Says what a score consists of."""

    def causes(self, row: Integers) -> tuple[Finding, ...]:
        """Costs of a segment, in points, by its statistics."""


@runtime_checkable
class ShowsPaths(Protocol):
    """Scores against a path of a network."""

    def paths(self, chunk: Chunk, words: WordTable, forms: Sequence[str]) -> list[ClosestPath]:
        """Find the path behind the statistics of each segment of a chunk; `forms` are the words of the codes."""


@runtime_checkable
class ShowsEdits(Protocol):
    """Judges edits, which can be shown one by one."""

    def judge_edits(
        self, chunk: Chunk, chosen: Sequence[int], words: WordTable | None, forms: Sequence[str]
    ) -> list[JudgedEdits]:
        """Judge the edits of each segment of a chunk, beside those of the reference that counts.

        `chosen` has its number in each segment; `words` are those of `Metric.statistics`, `forms` the words of the
        codes.
        """


EditPlan = tuple["Floats", "Floats", "Floats"]
"""Masses of a candidate's edits and of a reference's, and what of the ones is moved to the others."""


@runtime_checkable
class PlansEdits(ShowsEdits, Protocol):
    """Makes its statistics and judged edits of the same plans, which take a while."""

    def plans(self, segments: Sequence[EditedSegment], vectors: Vectors) -> list[EditPlan]:
        """Plan for each reference of each segment; `vectors` are those of the words."""

    def rows_of(self, plans: Sequence[EditPlan]) -> Integers:
        """Make the statistics of segments by the plans of all their references."""

    def judged_by(
        self, plans: Sequence[EditPlan], segments: Sequence[EditedSegment], chosen: Sequence[int]
    ) -> list[JudgedEdits]:
        """Judge the edits of segments by these plans, beside those of the chosen reference of each."""


@runtime_checkable
class ShowsPairs(Protocol):
    """Aligns words of a candidate with those of its best reference."""

    def pairs(self, chunk: Chunk, words: WordTable | None) -> Iterator[tuple[WordPair, ...]]:
        """Pair the words of each segment of a chunk, ordered by their place in the candidate.

        `words` are those of `Metric.statistics`.
        """


@runtime_checkable
class ShowsMarks(Protocol):
    """Marks words in the lines of a page."""

    def marks(self, chunk: Chunk, words: WordTable | None) -> Iterator[list[Mark]]:
        """Mark the words of each segment of a chunk; `words` are those of `Metric.statistics`."""


@runtime_checkable
class ShowsSimilarities(Protocol):
    """Compares the words of a candidate, or their pieces, with all of its best reference."""

    def tables(self, chunk: Chunk, words: WordTable | None) -> Iterator[SimilarityTable]:
        """Compare the words of each segment of a chunk: a table each; `words` are those of `Metric.statistics`."""


def matcher_of(metric: Metric) -> Matcher | None:
    """Find the matcher of a metric; None for metrics without single matches."""
    return metric.matching if isinstance(metric, MatcherMetric) else None


def shares_matches(metric: Metric) -> TypeGuard[SharedMatches]:
    """Whether statistics follow from matches alone: not where a subclass has statistics of its own."""
    if not isinstance(metric, SharedMatches):
        return False
    owner: Any = next(base for base in type(metric).__mro__ if "statistics" in vars(base))
    return "statistics_of" in vars(owner)


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


@dataclass(frozen=True)
class EditStep:
    """A word of the candidate, and the matched word of the path; empty where either is missing."""

    candidate: str
    word: str
    kind: str  # Of the path's arc
    cost: float


@dataclass(frozen=True)
class ClosestPath:
    """The path that a score is about, beside its candidate."""

    steps: tuple[EditStep, ...]
    edits: float
    length: float

    @property
    def score(self) -> float:
        """Edits per word, in per cent."""
        return 100 * (self.edits / self.length if self.length else float(self.edits > 0))

    @property
    def words(self) -> tuple[str, ...]:
        """Words of the path."""
        return tuple(step.word for step in self.steps if step.word)

    @property
    def kinds(self) -> dict[str, int]:
        """How many of its arcs are of each kind."""
        return dict(Counter(step.kind for step in self.steps if step.kind))


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
