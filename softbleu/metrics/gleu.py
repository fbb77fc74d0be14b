"""GLEU: n-gram precision for corrected text, with a penalty for uncorrected n-grams."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from softbleu.config.declare import Setting, setting
from softbleu.errors import InputError
from softbleu.io.arguments import Limit
from softbleu.kernels import SCALE, Kernels
from softbleu.kernels.letters import LetteredTexts
from softbleu.kernels.numpy_backend import SHORT
from softbleu.matching.matchers import Exact, Matcher
from softbleu.matching.ngrams import Chunk, Vectors, WordTable
from softbleu.metrics.aggregation import (
    Aggregation,
    BestReference,
    MeanOfReferences,
    SampledReferences,
    SumOfRows,
    best_rows,
)
from softbleu.metrics.base import GivenMatcher, Level, MatcherMetric, Metric
from softbleu.metrics.requirements import Requirements, needed
from softbleu.metrics.resampling import Sampling
from softbleu.metrics.score import ReferenceScore, Score, ScoreColumns, column
from softbleu.metrics.settings import order_setting

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

GleuVariant = Literal["gleu+", "gleu+paper", "gleu0"]
Penalty = Literal["exact", "soft", "progress"]
Multi = Literal["sample", "max", "mean"]
MOST_ITERATIONS = 1_000_000
_PIECE = 256  # Candidates that are counted together: few enough for the cache. Results do not depend on it.
_LIMIT = Limit("gleu", "words", 1 << 21, "a document of 3,000 words with 20 references: 66,000")
"""Limit for a candidate, its references and its source together (0.5 GB)."""


@dataclass(frozen=True)
class GleuScore(Score):
    """A GLEU score and its parts, by order; where references were sampled, means over the samples."""

    matches: list[float] = column("", "matches", "count")
    penalties: list[float] = column("", "penalties", "count")
    numerators: list[float] = column("", "numerator", "count")  # Matches - penalties
    totals: list[float] = column("", "of", "count")
    precisions: list[float] = column("P", "precision %", "per cent")  # Numerators over totals, in percent
    order_scores: list[float] = column("", "score", "score")  # Precision times brevity penalty
    brevity_penalty: float = column("BP", "brevity penalty", "ratio")
    candidate_length: int = column("length", "length", "tokens")
    reference_length: float = column("ref. length", "references", "tokens")
    standard_deviation: float | None = column("std", "standard deviation", "score", default=None)  # Of the samples
    interval: tuple[float, float] | None = column("", "95% interval", "score", default=None)  # If normal


@dataclass(frozen=True, repr=False)
class Gleu(MatcherMetric):
    """GLEU in its published forms (Napoles et al. 2015, 2016), over any matcher.

    The score is 100 BP exp(mean of ln P over the orders). P is the share of the candidate's n-grams that match, less
    those that the source has and the reference lacks: errors that were left.

    Parameters
    ----------
    matcher
        Matcher, exact or soft.
    variant
        `gleu+` (the official program of 2016), `gleu+paper` (Equation 1 of "GLEU Without Tuning") or
        `gleu0` (2015).
    order
        Greatest n.
    penalty
        Which uncorrected n-grams count: if the reference lacks them (`exact`), if they have nothing similar
        there (`soft`), or those of the source that the reference lacks, times the share of the source's lack of
        soft precision that the candidate still has (`progress`; the guide derives it). Orders that are not compared
        by similarity count as in `exact`. None: `exact` over the exact matcher, else `progress`.
    weight
        How often `gleu0` subtracts source n-grams (the paper's lambda).
    swapped_bp
        Exchange the lengths in the brevity penalty, as the program of 2015 did.
    multi
        Meaning of several references: their average over random samples, one a segment (`sample`), the best one of
        each segment (`max`) or, for segment scores, their mean (`mean`); `gleu0` merges them instead.
    iterations
        How many random samples.
    seed
        Sample k is drawn by Python's generator seeded with seed + 101 k; the official seeds have 0.
    sampling
        The official program draws other references under Python 3 than under Python 2, whose are those of published
        figures: `python2` or `python3`.
    segment_smoothing
        Put 1 for every statistic of a segment that is 0, as the official script's segment scores.
    """

    matcher: GivenMatcher = setting(
        factory=Exact, help="How n-grams match: exact, sleu, vleu, xleu, or that of a plug-in"
    )
    variant: GleuVariant = setting("gleu+", "gleu+ (the official program), gleu+paper (its paper) or gleu0 (2015)")
    order: int = order_setting(4)
    penalty: Penalty | None = setting(
        None,
        "Uncorrected n-grams: all that the reference lacks (exact), those without a similar one (soft), or the "
        "source's, less by what the candidate gains in similarity (progress)",
        unset="exact; over a soft matcher progress",
    )
    weight: float = setting(1.0, "Weight of gleu0's penalty", least=0, most=1e300, flags=("--lambda",))
    swapped_bp: bool = setting(False, "Exchange the lengths in the brevity penalty, as the program of 2015")
    multi: Multi = setting("sample", "Several references: sample (drawn at random), max (the best) or mean")
    iterations: int = setting(500, "Random samples", least=1, most=MOST_ITERATIONS)
    seed: int = setting(0, "Sample k is seeded with this + 101 k; the official seeds have 0", least=0)
    segment_smoothing: bool = setting(
        False, "In segment scores, replace zero statistics by 1, as the official -d does", earlier=("smooth",)
    )
    sampling: Sampling = setting(
        "python2", "Draw references as the official program under Python 2 or under Python 3"
    )
    name: ClassVar[str] = "gleu"
    also_rewards: ClassVar[str] = "all edits of all systems; errors added to the source (up to 19% of sentences)"

    def check(self) -> None:
        """Check that the settings are compatible."""
        if self.seed >= (1 << 32) - 101 * self.iterations:
            raise InputError(f"the seed must lie between 0 and 2**32 - 101 * iterations, not {self.seed}")

    @property
    def label(self) -> str:
        """GLEU, and the matcher if it is soft."""
        return "GLEU" if self.matching.name == "exact" else f"GLEU ({self.matching.name})"

    @property
    def usual_penalty(self) -> Penalty:
        """Default penalty over the matcher."""
        return "exact" if self.matching.name == "exact" else "progress"

    def complete(self) -> None:
        """Put in the penalty."""
        if self.penalty is None:
            object.__setattr__(self, "penalty", self.usual_penalty)

    def revised(self, settings: Mapping[str, object]) -> Self:
        """Return the metric with other settings; over another matcher it has the penalty that is usual there."""
        usual = {"penalty": None} if self.penalty == self.usual_penalty else {}
        return super().revised({**usual, **settings})

    def settings(self, without: str = "") -> list[tuple[Setting, object]]:
        """List all settings; signatures name the penalty of soft matchers, which had another one in version 0.3."""
        usual, found = self.usual_penalty, []
        for declared, value in super().settings(without):
            if declared.name == "penalty":
                declared = replace(declared, default=usual, always_signed=usual != "exact")
            found.append((declared, value))
        return found

    @property
    def requires(self) -> Requirements:
        """The source, and the needs of the matcher."""
        return replace(super().requires, source=True)

    def at_level(self, level: Level) -> Self:
        """Return the metric without the smoothing of segment scores for a corpus."""
        return replace(self, segment_smoothing=False) if level == "corpus" and self.segment_smoothing else self

    @property
    def edit_judge(self) -> Metric:
        """Metric whose edits pages show: ERRANT, without its types."""
        from softbleu.metrics.errant import Errant

        return Errant()

    @property
    def aggregation(self) -> Aggregation:
        """Way in which several references count."""
        if self.variant == "gleu0":
            return _MergedReferences(self)
        best = _BestByOrder(self)
        if self.multi == "max":
            return best
        if self.multi == "mean":
            return MeanOfReferences(self, best)
        return SampledReferences(self, best, self.iterations, self.seed, self.sampling)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Lengths, matches by order in millionths, penalties likewise, totals, by reference (for `gleu0`: of all)."""
        units = chunk if self.variant == "gleu0" else chunk.by_reference()
        _LIMIT.check_sum(**units.sizes)
        vectors = None if words is None else words.vectors
        return np.concatenate([self._statistics(piece, vectors) for piece in units.pieces(_PIECE)])

    @property
    def counts_texts(self) -> bool:
        """Whether words match if they are equal, in the official variant."""
        return type(self.matching) is Exact and self.variant == "gleu+" and self.penalty == "exact"

    def known_texts(self, references: Sequence[Sequence[str]], source: Sequence[str]) -> list[LetteredTexts]:
        """Prepare each reference beside the source."""
        return [LetteredTexts([reference], source) for reference in references]

    def text_rows(self, candidate: Sequence[str], known: list[LetteredTexts]) -> list[list[int]] | None:
        """Count the numbers of each reference; see `statistics`."""
        length, rows = len(candidate), list[list[int]]()
        totals = [max(length - n, 0) for n in range(self.order)]
        for texts in known:
            (other,) = texts.lengths
            if length + other >= SHORT:
                return None
            matches = texts.clipped_counts(candidate, self.order)
            penalties = map(min, texts.uncorrected(candidate, self.order), matches)
            rows.append([length, other, *(SCALE * count for count in (*matches, *penalties)), *totals])
        return rows

    def _statistics(self, units: Chunk, vectors: Vectors | None) -> Integers:
        counts = list(count_ngrams(units, self.matching, vectors, self.order))
        uncorrected = [self._uncorrected(of_order) for of_order in counts]
        if vectors is not None and self.penalty == "progress":
            uncorrected = self._less_progress(uncorrected, units, counts, vectors)
        columns = [self._statistics_of_order(*pair) for pair in zip(counts, uncorrected, strict=True)]
        matches, penalties, totals = (np.column_stack([column[k] for column in columns]) for k in range(3))
        lengths = units.candidates.lengths
        return np.column_stack((lengths, units.closest_reference_lengths(), matches, penalties, totals))

    def _uncorrected(self, counts: NgramCounts) -> Integers:
        """N-grams of the source that are left and not excused, in millionths, of each unit."""
        excused = counts.matched if self.penalty == "soft" else SCALE * np.minimum(counts.candidate, counts.reference)
        left = SCALE * np.minimum(counts.source, counts.candidate)
        if self.variant == "gleu+paper":
            return counts.by_unit(np.maximum(left - excused, 0))
        return counts.by_unit(np.where(excused == 0, left, 0))

    def _less_progress(
        self, uncorrected: Sequence[Integers], units: Chunk, counts: Sequence[NgramCounts], vectors: Vectors
    ) -> list[Integers]:
        """Penalties by the progress from the source, at orders that are compared by similarity; see guide/gec.md.

        They are the source's share of uncorrected n-grams, for as many n-grams as the candidate has, times the share
        of the source's lack of soft precision that the candidate still has, 1 at most. The lack is that of all such
        orders together.
        """
        soft = [bool(self.matching.pool_orders(order, self.order)) for order in range(1, self.order + 1)]
        source = replace(units, candidates=units.source or units.candidates)
        sources = list(count_ngrams(source, self.matching, vectors, self.order))
        before, after = (
            np.sum([of_order.lack for of_order, compared in zip(side, soft, strict=True) if compared], axis=0)
            for side in (sources, counts)
        )
        share = np.minimum(np.divide(after, before, out=np.sign(after), where=before > 0), 1)
        made = []
        for of_source, of_candidate, plain, compared in zip(sources, counts, uncorrected, soft, strict=True):
            total = of_candidate.by_unit(of_candidate.candidate)
            penalty = total * self._uncorrected(of_source) / np.maximum(of_source.by_unit(of_source.candidate), 1)
            made.append(np.rint(penalty * share).astype(np.int64) if compared else plain)
        return made

    def _statistics_of_order(self, counts: NgramCounts, uncorrected: Integers) -> tuple[Integers, Integers, Integers]:
        """Matches, penalties (both in millionths) and totals of each unit."""
        matches, totals = counts.by_unit(counts.matched), counts.by_unit(counts.candidate)
        if self.variant == "gleu+paper":
            return matches, uncorrected, totals
        if self.variant == "gleu+":
            return matches, np.minimum(uncorrected, matches), totals
        penalties = np.rint(np.minimum(self.weight * uncorrected, matches)).astype(np.int64)
        gained = np.where(counts.source == 0, counts.matched, 0)
        bonus = counts.by_unit(gained)
        # Soft gains count in whole n-grams below the line, so that precision stays at most 1.
        more = counts.by_unit(np.where((counts.source == 0) & (gained > 0), -(-gained // SCALE), 0))
        return matches + bonus, penalties, totals + more

    def columns(self, rows: Integers | Floats) -> ScoreColumns[GleuScore]:
        """Score rows of statistics, or sums of rows."""
        n, numbers = self.order, np.asarray(rows, np.float64)
        matches, penalties = numbers[:, 2 : 2 + n] / SCALE, numbers[:, 2 + n : 2 + 2 * n] / SCALE
        logs, penalty = self.logs(numbers)
        return ScoreColumns(
            GleuScore,
            100 * np.exp(penalty + logs.mean(axis=1)),
            matches=matches,
            penalties=penalties,
            numerators=lambda: matches - penalties,
            totals=numbers[:, 2 + 2 * n :],
            precisions=lambda: 100 * np.exp(logs),
            order_scores=lambda: 100 * np.exp(penalty[:, None] + logs),
            brevity_penalty=lambda: [math.exp(value) for value in penalty.tolist()],
            candidate_length=lambda: numbers[:, 0].astype(np.int64),
            reference_length=numbers[:, 1],
        )

    def logs(self, rows: Floats) -> tuple[Floats, Floats]:
        """Logarithms of the precisions (rows, order) and of the brevity penalty (rows,)."""
        n = self.order
        candidate, reference = rows[:, 0], rows[:, 1]
        numerators = (rows[:, 2 : 2 + n] - rows[:, 2 + n : 2 + 2 * n]) / SCALE
        totals = rows[:, 2 + 2 * n :]
        if self.swapped_bp:
            candidate, reference = reference, candidate
        if self.segment_smoothing:
            candidate, reference, numerators, totals = (
                np.where(numbers == 0, 1, numbers) for numbers in (candidate, reference, numerators, totals)
            )
        # An order without any candidate n-gram has precision 1; a sum that is not positive scores 0.
        precisions = np.where(totals == 0, 1, np.maximum(numerators, 0) / np.where(totals == 0, 1, totals))
        with np.errstate(divide="ignore"):
            logs = np.log(precisions)
            ratio = np.where(candidate > 0, reference / np.where(candidate > 0, candidate, 1), np.inf)
        ratio = np.where((candidate == 0) & (reference == 0), 1, ratio)
        return logs, np.minimum(1 - ratio, 0)


@dataclass(frozen=True)
class _MergedReferences(SumOfRows):
    def reference_scores(self, rows: Integers, offsets: Integers) -> list[ReferenceScore]:
        """Raise InputError: references are merged."""
        raise InputError("variant 'gleu0' merges the references: it has no scores of single ones")


@dataclass(frozen=True)
class NgramCounts:
    """The distinct n-grams of one order of a chunk's candidates; one entry each in every array."""

    units: Integers  # Segment of the n-gram
    candidate: Integers
    reference: Integers  # Greatest count in one of the segment's references
    source: Integers
    matched: Integers  # How much of it is matched, in millionths, over all its occurrences
    segments: int

    def by_unit(self, numbers: Integers) -> Integers:
        """Sum numbers that belong to the n-grams, segment by segment."""
        return np.bincount(self.units, numbers, self.segments).astype(np.int64)

    @property
    def lack(self) -> Floats:
        """Difference of soft precision from 1 in each segment; 0 without n-grams."""
        totals = SCALE * self.by_unit(self.candidate)
        return (totals - self.by_unit(self.matched)) / np.maximum(totals, 1)


def count_ngrams(chunk: Chunk, matcher: Matcher, vectors: Vectors | None, order: int) -> Iterator[NgramCounts]:
    """Count the n-grams of each candidate of a chunk, of orders 1…order, in candidate, references and source.

    References are matched by `matcher`, with `vectors` where it is soft. Yields the counts of each order. Raises
    `InputError` without source.
    """
    sources = Chunk(chunk.candidates, needed(chunk.source, "gleu", "source"), np.arange(len(chunk) + 1))
    soft = vectors is not None and matcher.needs_vectors(order)
    matched = matcher.matches(chunk, vectors, order) if soft else None
    for n, (ngrams, in_source) in enumerate(zip(chunk.ngrams(order), sources.ngrams(order), strict=True)):
        # Candidate positions are the same in both chunks, so starts align and identify the ids.
        first = np.flatnonzero(ngrams.occurrence == 0)
        ids = ngrams.ids[first]
        candidate = np.bincount(ngrams.ids, minlength=len(chunk.positions.codes))[ids]
        reference = ngrams.counts[ids]
        if matched is None:
            total = SCALE * np.minimum(candidate, reference)
        else:
            sums = np.bincount(ngrams.ids, matched[n].matched, len(chunk.positions.codes))
            total = sums[ids].astype(np.int64)
        source = in_source.counts[in_source.ids[first]]
        units = chunk.positions.segment[ngrams.starts[first]]
        yield NgramCounts(units, candidate, reference, source, total, len(chunk))


@dataclass(frozen=True)
class _BestByOrder(BestReference):
    metric: Gleu

    def chosen(self, rows: Integers, offsets: Integers) -> Integers:
        """Row of each segment's best reference; ties: the higher score at the highest order first."""
        logs, penalty = self.metric.logs(rows.astype(np.float64))
        by_order = np.exp(penalty[:, None] + logs)
        return best_rows(offsets, np.exp(penalty + logs.mean(axis=1)), *by_order.T[::-1])
