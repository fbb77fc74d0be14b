"""Optional capabilities of a metric (edits, pairs of words, marks, paths), and the values that they return."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard, TypeVar

import numpy as np

from softbleu.kernels import Kernels, choose_kernels
from softbleu.matching.ngrams import Chunk, Vectors, WordTable
from softbleu.metrics.aggregation import best_rows
from softbleu.metrics.base import Level, MatcherMetric, Metric
from softbleu.metrics.guards import is_ours

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.corpora.edits import EditedSegment
    from softbleu.language import Finding
    from softbleu.matching.matchers import Matcher
    from softbleu.metrics.edits import JudgedEdits
    from softbleu.text.coded import Tokens
    from softbleu.types import Floats, Integers


AnyMetric = TypeVar("AnyMetric", bound=Metric)


class Capability(ABC):  # noqa: B024 - those below have the methods
    """Base of capabilities: a metric that has all methods of one offers it, whatever its base classes."""

    @classmethod
    def __subclasshook__(cls, other: type) -> bool:
        """Whether a class has these methods, with as many arguments: a setting of the same name is none."""
        settings = getattr(other, "__dataclass_fields__", {})
        for name in cls.__abstractmethods__:
            wanted, there = getattr(cls, name), getattr(other, name, None)
            if isinstance(wanted, property):
                if there is None and name not in settings:
                    return False
            elif name in settings or not callable(there) or not _takes_all(there, wanted):
                return False
        return True


def _takes_all(method: Callable[..., object], wanted: Callable[..., object]) -> bool:
    """Whether a method can be called with the arguments of another."""
    try:
        inspect.signature(method).bind(*inspect.signature(wanted).parameters)
    except (TypeError, ValueError):
        return False
    return True


class SharedMatches(Capability):
    """Takes of a text only the matches of its matcher by order, which are found for several metrics at once."""

    @property
    @abstractmethod
    def matching(self) -> Matcher:
        """Matcher, which decides which words or n-grams match."""

    @property
    @abstractmethod
    def order(self) -> int:
        """Greatest n."""

    @abstractmethod
    def statistics_of(self, chunk: Chunk, matched: Integers) -> Integers:
        """Compute the statistics of each segment of a chunk, (segments, k), of its matches by order.

        `matched` has the shape of `Matcher.matched`, in millionths.
        """


class BleuFormula(SharedMatches):
    """Scores by BLEU's formula, which a page computes anew from the matches at another threshold."""

    @property
    @abstractmethod
    def smooth(self) -> str:
        """Smoothing."""

    @property
    @abstractmethod
    def smooth_value(self) -> float | None:
        """Value of the smoothing."""

    @property
    @abstractmethod
    def effective_order(self) -> bool | None:
        """Whether orders are left out that a text is too short for."""

    @abstractmethod
    def parts_of(self, rows: Integers) -> tuple[Integers, Integers]:
        """Take rows (…, k) apart: clipped matches by order, and both lengths with the totals by order."""


class CountsTexts(Capability):
    """Counts a segment by its tokens as they are, by the settings that `counts_texts` names: fast for one segment.

    Digits are those of `Metric.statistics`.
    """

    @property
    @abstractmethod
    def counts_texts(self) -> bool:
        """Whether it counts so with its settings."""

    @abstractmethod
    def known_texts(self, references: Sequence[Sequence[str]], source: Sequence[str]) -> Any:
        """Prepare references and source, given their tokens, for candidates that are compared with them."""

    @abstractmethod
    def text_rows(self, candidate: Sequence[str], known: Any) -> list[list[int]] | None:
        """Count the numbers of a segment: one row, or one of each reference; None for texts that are too long."""


class ScoresByLevel(Capability):
    """Scores corpora otherwise than segments, unless a setting says how."""

    @abstractmethod
    def at_level(self, level: Level) -> Metric:
        """Return the metric as it scores at a level."""


class ReadsData(Capability):
    """Reads data that no setting needs to name."""

    @abstractmethod
    def resolved(self) -> Metric:
        """Return the metric with all data that it reads named."""


class ComparesPairs(Capability):
    """Compares many texts with many others faster than one after the other."""

    @abstractmethod
    def pair_statistics(
        self, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
    ) -> Integers:
        """Compute the statistics of every candidate with every reference, as segments: (candidates, references, k).

        Both may be the same object, if the lines are the same. `words` and `kernels` are the parameters of
        `Metric.statistics`.
        """


class ReadsRows(Capability):
    """Reads its statistics from elsewhere; no text is looked at."""

    @property
    @abstractmethod
    def documents(self) -> Sequence[str]:
        """Names of the documents of all segments; empty where they are not known."""

    @abstractmethod
    def read_rows(self, corpus: Corpus, systems: Sequence[str]) -> Floats:
        """Read rows of some systems of a corpus: (systems, segments, k)."""


class ChecksDelays(Capability):
    """Finds odd delays in the logs of a corpus."""

    @abstractmethod
    def odd_delays(self, corpus: Corpus) -> Iterable[tuple[str, str]]:
        """Describe the delays of systems, by name, that a reader of their latency should know about."""


class JudgesLines(Capability):
    """Finds something in single candidates."""

    @abstractmethod
    def find(self, line: str) -> tuple[Finding, ...]:
        """Marks against a tokenised candidate."""


class NamesFaults(JudgesLines):
    """Names the faults that lower the score of a candidate."""

    @abstractmethod
    def faults(self, line: str, source: str, row: Integers) -> tuple[Finding, ...]:
        """Costs of a tokenised candidate beside its source, in points, by its statistics; then marks against it."""


class NamesCauses(Capability):
    """Names the causes of a score."""

    @property
    @abstractmethod
    def cause_names(self) -> tuple[str, ...]:
        """Names of all causes, in the order of the lists of numbers of a score."""

    @abstractmethod
    def causes(self, row: Integers) -> tuple[Finding, ...]:
        """Costs of a segment, in points, by its statistics."""


class ShowsPaths(Capability):
    """Scores against a path of a network."""

    @abstractmethod
    def paths(self, chunk: Chunk, words: WordTable, forms: Sequence[str]) -> list[ClosestPath]:
        """Find the path behind the statistics of each segment of a chunk; `forms` are the words of the codes."""


class ShowsEdits(Capability):
    """Judges edits, which can be shown one by one."""

    @abstractmethod
    def judge_edits(
        self, chunk: Chunk, chosen: Sequence[int], words: WordTable | None, forms: Sequence[str]
    ) -> list[JudgedEdits]:
        """Judge the edits of each segment of a chunk, beside the edits of the reference that counts.

        `chosen` has its number in each segment; `words` is the parameter of `Metric.statistics`, `forms` has words
        of codes.
        """


class NamesEditJudge(Capability):
    """Scores corrections by n-grams, and names a metric of edits whose judgement pages show."""

    @property
    @abstractmethod
    def edit_judge(self) -> Metric:
        """Metric that judges the edits."""


EditPlan = tuple["Floats", "Floats", "Floats"]
"""Masses of a candidate's edits and of a reference's, and the mass that is moved from each to each."""


class PlansEdits(ShowsEdits):
    """Makes its statistics and judged edits of the same plans, which take a while."""

    @abstractmethod
    def plans(self, segments: Sequence[EditedSegment], vectors: Vectors) -> list[EditPlan]:
        """Plan for each reference of each segment; `vectors` has the vectors of the words."""

    @abstractmethod
    def rows_of(self, plans: Sequence[EditPlan]) -> Integers:
        """Make the statistics of segments by the plans of all their references."""

    @abstractmethod
    def judged_by(
        self, plans: Sequence[EditPlan], segments: Sequence[EditedSegment], chosen: Sequence[int]
    ) -> list[JudgedEdits]:
        """Judge the edits of segments by these plans, beside the edits of the chosen reference of each."""


class ShowsPairs(Capability):
    """Aligns words of a candidate with words of its best reference."""

    @abstractmethod
    def pairs(self, chunk: Chunk, words: WordTable | None) -> Iterator[tuple[WordPair, ...]]:
        """Pair the words of each segment of a chunk, ordered by their place in the candidate.

        `words` is the parameter of `Metric.statistics`.
        """


class ShowsMarks(Capability):
    """Marks words in the lines of a page."""

    @abstractmethod
    def marks(self, chunk: Chunk, words: WordTable | None) -> Iterator[list[Mark]]:
        """Mark the words of each segment of a chunk; `words` is the parameter of `Metric.statistics`."""


class ShowsSimilarities(Capability):
    """Compares the words of a candidate, or their pieces, with all of its best reference."""

    @abstractmethod
    def tables(self, chunk: Chunk, words: WordTable | None) -> Iterator[SimilarityTable]:
        """Compare the words of each segment of a chunk: a table each; for `words` see `Metric.statistics`."""


def at_level(metric: AnyMetric, level: Level) -> AnyMetric:
    """Return a metric as it scores at a level."""
    if not isinstance(metric, ScoresByLevel):
        return metric
    known: dict[Level, AnyMetric] = vars(metric).setdefault("_at_levels", {})
    if level not in known:
        known[level] = metric.at_level(level)
    return known[level]


def in_percent(metric: Metric) -> bool:
    """Tell whether scores are known to lie on a scale to 100, as our metrics' do unless they are read from files."""
    return is_ours(type(metric)) and not isinstance(metric, ReadsRows)


def matcher_of(metric: Metric) -> Matcher | None:
    """Find the matcher of a metric; None for metrics without single matches."""
    return metric.matching if isinstance(metric, MatcherMetric) else None


def exact_twin(metric: Metric) -> Metric | None:
    """Return BLEU over a soft matcher with exact matches alone; None for other metrics.

    >>> from softbleu import Chrf, Vleu
    >>> exact_twin(Vleu(order=2)).label, exact_twin(Chrf())
    ('BLEU', None)
    """
    soft = isinstance(metric, BleuFormula) and matcher_of(metric) is not None and metric.matching.name != "exact"
    return metric.replaced(matcher="exact") if soft else None


def shares_matches(metric: Metric) -> TypeGuard[SharedMatches]:
    """Whether statistics follow from matches alone: not where a subclass has statistics of its own."""
    if metric.partial or not isinstance(metric, SharedMatches):
        return False
    owner = next(base for base in type(metric).__mro__ if "statistics" in vars(base))
    return "statistics_of" in vars(owner)


CANDIDATE, REFERENCE, SOURCE = range(3)  # Texts that have marks


@dataclass(frozen=True)
class WordPair:
    """Words of a candidate and the words of its best reference that they stand for; places are tokens from 0.

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
    """Similarities of the words of a candidate, or of their pieces, with the words of its best reference."""

    values: Floats  # (rows, columns)
    reference: int  # Which of the segment's references, from 0
    candidate_words: Integers  # Number of the candidate's word of each row, from 0; -1 of what is of no word
    reference_words: Integers  # Number of the reference's word of each column

    def pairs(self, candidate: Sequence[int], reference: Sequence[int]) -> Iterator[WordPair]:
        """Pair each coded word of the candidate with the word that its most similar piece matches, if any is similar.

        The similarity is the mean of its pieces' greatest.

        >>> words, others = np.array([-1, 0, 0]), np.array([0, 1, -1])
        >>> table = SimilarityTable(np.array([[1, 0, 1], [0.5, 0.25, 1], [0, 0.75, 1]]), 0, words, others)
        >>> [(pair.kind, pair.reference_start, pair.similarity) for pair in table.pairs([7], [8, 9])]
        [('similar', 1, 0.625)]
        """
        columns = np.flatnonzero(self.reference_words >= 0)
        if not len(columns):
            return
        rows = np.flatnonzero(self.candidate_words >= 0)
        whole = len(columns) == len(self.reference_words) and len(rows) == len(self.candidate_words)
        values = self.values if whole else self.values[np.ix_(rows, columns)]
        best = values.argmax(axis=1)
        most = values[np.arange(len(rows)), best]
        words = self.candidate_words[rows]
        starts = np.flatnonzero(np.append(True, words[1:] != words[:-1])[: len(words)]).tolist()
        for start, stop in pairwise([*starts, len(words)]):
            word, pieces = int(words[start]), most[start:stop]
            similarity = round(float(pieces[0] if len(pieces) == 1 else pieces.mean()), 6)
            met = int(self.reference_words[columns[best[start + (pieces.argmax() if len(pieces) > 1 else 0)]]])
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
        """Number of arcs of each kind."""
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
    columns = metric.columns(metric.statistics(chunk.by_reference(), words, choose_kernels("numpy")))
    return best_rows(chunk.segment_offsets, columns.score)


class Mark(NamedTuple):
    """Consecutive tokens of a text."""

    text: int  # `CANDIDATE`, `REFERENCE` (those of a segment count as one text) or `SOURCE`
    start: int  # First token, from 0
    length: int
    kind: str  # Decides the colour
    link: int  # Number that marks which belong together share
    said: str
    share: float = 1.0  # How much of a match it is, from 0 to 1


def marks_of_pairs(chunk: Chunk, pairs: Iterable[Iterable[WordPair]]) -> Iterator[list[Mark]]:
    """Mark the words of each candidate of a chunk, and of its references, that `pairs` align."""
    offsets = chunk.references.offsets
    for first, aligned in zip(chunk.segment_offsets.tolist(), pairs, strict=False):
        marks: list[Mark] = []
        for link, pair in enumerate(aligned):
            other = int(offsets[first + pair.reference] - offsets[first]) + pair.reference_start
            said = pair.kind if pair.similarity in (None, 1) else f"{pair.kind} {pair.similarity:.2f}"
            share = 1.0 if pair.similarity is None else pair.similarity
            marks.append(Mark(CANDIDATE, pair.start, pair.length, pair.kind, link, said, share))
            marks.append(Mark(REFERENCE, other, pair.reference_length, pair.kind, link, said, share))
        yield marks
