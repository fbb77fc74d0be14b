"""What a metric may offer beside scores: callers ask for that (`isinstance` of a protocol), never which it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, runtime_checkable

import numpy as np

from softbleu.errors import InputError
from softbleu.kernels import choose_kernels
from softbleu.matching.ngrams import Chunk
from softbleu.metrics.aggregation import best_rows
from softbleu.metrics.base import MatcherMetric, Metric

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.language import Finding
    from softbleu.matching.base import Matcher
    from softbleu.matching.similarity import WordTable
    from softbleu.metrics.edits.judged import JudgedEdits
    from softbleu.metrics.hyter import ClosestPath
    from softbleu.text.tokens import Tokens
    from softbleu.types import Floats, Integers


@runtime_checkable
class SharedMatches(Protocol):
    """Takes no more of a text than what its matcher matches by order, which is then found for several at once."""

    @property
    def matching(self) -> Matcher:
        """What counts as a match."""

    @property
    def order(self) -> int:
        """Greatest n."""

    def statistics_of(self, chunk: Chunk, matched: Integers) -> Integers:
        """Statistics of each segment, its matches by order being known."""


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


@runtime_checkable
class NeedsData(Protocol):
    """Reads data that settings name, or stand for where they are not given."""

    def resolved(self) -> Any:
        """The metric with these settings given: what it reads is then in them."""


@runtime_checkable
class HasLanguage(Protocol):
    """Stands on data of one language, beside vectors."""

    @property
    def language(self) -> str | None:
        """Code of the language; None where it is not known."""


@runtime_checkable
class JudgesLines(Protocol):
    """Finds something in single candidates."""

    def find(self, line: str) -> tuple[Finding, ...]:
        """What speaks against a tokenised candidate."""


@runtime_checkable
class NamesCauses(Protocol):
    """Says what a score consists of."""

    def causes(self, row: Integers) -> tuple[Finding, ...]:
        """What cost a segment points, by its statistics."""


@runtime_checkable
class ShowsPaths(Protocol):
    """Scores against a path of a network."""

    def paths(self, chunk: Chunk, words: WordTable, forms: Sequence[str]) -> list[ClosestPath]:
        """The path behind the statistics of each segment; `forms` are the words of the codes."""


@runtime_checkable
class ShowsEdits(Protocol):
    """Judges edits, which can be shown one by one."""

    def judge_edits(
        self, chunk: Chunk, chosen: Sequence[int], words: WordTable | None, forms: Sequence[str]
    ) -> list[JudgedEdits]:
        """Edits of each segment beside those of the reference that counts; `forms` are the words of the codes."""


@dataclass(frozen=True)
class WordPair:
    """Words of a candidate and those of its best reference that they stand for; places are tokens from 0."""

    kind: str  # How they match: for METEOR the stage
    start: int
    length: int
    reference: int  # Which of the segment's references, from 0
    reference_start: int
    reference_length: int
    similarity: float | None = None  # None for metrics that have stages in its place


@runtime_checkable
class ShowsPairs(Protocol):
    """Aligns words of a candidate with those of its best reference."""

    def pairs(self, chunk: Chunk, words: WordTable | None) -> Iterator[tuple[WordPair, ...]]:
        """The pairs of each segment, by their place in the candidate."""


@dataclass(frozen=True)
class SimilarityTable:
    """Similarities of the words of a candidate, or of their pieces, with those of its best reference."""

    values: Floats  # (rows, columns)
    reference: int  # Which of the segment's references, from 0
    own: Integers  # Number of the candidate's word of each row, from 0; -1 of what is of no word
    other: Integers  # Number of the reference's word of each column

    def pairs(self, candidate: Sequence[int], reference: Sequence[int]) -> Iterator[WordPair]:
        """For each coded word of the candidate the word that its most similar piece matches, if any is similar.

        The similarity is the mean of its pieces' greatest.

        >>> own, other = np.array([-1, 0, 0]), np.array([0, 1, -1])
        >>> table = SimilarityTable(np.array([[1, 0, 1], [0.5, 0.25, 1], [0, 0.75, 1]]), 0, own, other)
        >>> [(pair.kind, pair.reference_start, pair.similarity) for pair in table.pairs([7], [8, 9])]
        [('similar', 1, 0.625)]
        """
        own, other = (words[words >= 0] for words in (self.own, self.other))
        values = self.values[self.own >= 0][:, self.other >= 0]
        if not values.size:
            return
        most, nearest = values.max(axis=1), values.argmax(axis=1)
        for word in np.unique(own).tolist():
            pieces = np.flatnonzero(own == word)
            similarity = round(float(most[pieces].mean()), 6)
            met = int(other[nearest[pieces[most[pieces].argmax()]]])
            kind = "exact" if candidate[word] == reference[met] else "similar"
            if similarity > 0:
                yield WordPair(kind, word, 1, self.reference, met, 1, similarity)


@runtime_checkable
class ShowsSimilarities(Protocol):
    """Compares the words of a candidate, or their pieces, with all of its best reference."""

    def tables(self, chunk: Chunk, words: WordTable | None) -> Iterator[SimilarityTable]:
        """The similarities of each segment."""


@runtime_checkable
class ComparesPairs(Protocol):
    """Compares many candidates with many references faster than one by one."""

    def pair_statistics(
        self, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
    ) -> Integers:
        """Statistics of all with all, (candidates, references, k); the same lines are the same object."""


@runtime_checkable
class AveragesReferences(Protocol):
    """Compares candidates with the mean of all references."""

    def average_statistics(self, candidates: Tokens, references: Tokens, words: WordTable | None) -> Floats:
        """Statistics of every candidate with the mean of the references: (candidates, k)."""


def pairs_of(chunk: Chunk, tables: Iterable[SimilarityTable]) -> Iterator[tuple[WordPair, ...]]:
    """The pairs of each segment, by the table of its similarities."""
    candidates, references = (tokens.by_line() for tokens in (chunk.candidates, chunk.references))
    for candidate, first, table in zip(candidates, chunk.segment_offsets[:-1].tolist(), tables, strict=True):
        yield tuple(table.pairs(candidate, references[first + table.reference]))


def best_references(metric: Metric, chunk: Chunk, words: WordTable | None) -> Integers:
    """Line of the reference against which each candidate scores best, the first of equal ones."""
    if len(chunk.references.lengths) == len(chunk):
        return np.arange(len(chunk))
    scores = metric.scores(metric.statistics(chunk.by_reference(), words, choose_kernels("numpy")))
    return best_rows(chunk.segment_offsets, scores)


def matcher_of(metric: Metric) -> Matcher | None:
    """What counts as a match; None for metrics without single matches."""
    return metric.matching if isinstance(metric, MatcherMetric) else None


def shares_matches(metric: Metric) -> TypeGuard[SharedMatches]:
    """Whether statistics follow from matches alone: not where a subclass has statistics of its own."""
    if not isinstance(metric, SharedMatches):
        return False
    owner: Any = next(each for each in type(metric).__mro__ if "statistics" in vars(each))
    return "statistics_of" in vars(owner)


def shows_matches(metric: Metric) -> bool:
    """Whether its single matches can be shown."""
    return isinstance(metric, MatcherMetric) and getattr(metric, "matches_lines", True)


def pair_statistics(
    metric: Metric, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
) -> Integers:
    """Compute the statistics of every candidate with every reference, as the metric does or one by one."""
    if isinstance(metric, ComparesPairs):
        return metric.pair_statistics(candidates, references, words, kernels)
    return one_by_one(metric, candidates, references, words, kernels)


def one_by_one(
    metric: Metric, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
) -> Integers:
    """Compute the statistics of each candidate with all references, as segments: (candidates, references, k)."""
    each = np.arange(len(references.lengths) + 1)
    again = np.zeros(len(each) - 1, np.int64)
    chunks = (Chunk(candidates.chosen(again + line), references, each) for line in range(len(candidates.lengths)))
    return np.stack([metric.statistics(chunk, words, kernels) for chunk in chunks])


def average_statistics(metric: Metric, candidates: Tokens, references: Tokens, words: WordTable | None) -> Floats:
    """Compute the statistics of every candidate with the mean of all references: (candidates, k)."""
    if isinstance(metric, AveragesReferences):
        return metric.average_statistics(candidates, references, words)
    raise no_mean(metric)


def no_mean(metric: Metric) -> InputError:
    """What is said of a metric whose references have no mean."""
    return InputError(f"metric {metric.name!r} cannot average references: bleu over exact matches and chrf can")


def language_of(metric: Metric) -> str | None:
    """Language of the data and vectors that a metric stands on; None where there are none, or they do not say.

    >>> import softbleu
    >>> [language_of(each) for each in (softbleu.Bleu(), softbleu.Meteor(stages="exact"), softbleu.Vleu())]
    [None, 'en', 'en']
    """
    if isinstance(metric, HasLanguage):
        return metric.language
    return metric.vector_choice.language if metric.requires.vectors else None
