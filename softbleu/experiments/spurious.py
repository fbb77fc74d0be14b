"""Which soft credit is deserved, which spurious, and what helps: matchers and remedies over aligned or plain text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from softbleu.experiments.credit import UNJUDGED, Judge, Tally, approximate
from softbleu.experiments.partners import PartnerTally
from softbleu.matchers.sweep import match_intervals
from softbleu.ngrams import check_order
from softbleu.scoring.executors import single_threaded_blas
from softbleu.scoring.run import prepare_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from softbleu.experiments.credit import Credit
    from softbleu.experiments.remedies import Variant
    from softbleu.experiments.text import MatchedText
    from softbleu.matchers.sweep import MatchIntervals
    from softbleu.ngrams import Chunk
    from softbleu.scoring.vectors import CorpusVectors, VectorChoice
    from softbleu.types import Integers, Progress


PIECE = 256
"""Segments that are matched together."""


@dataclass(frozen=True)
class Analysis:
    """What one variant did with a text.

    Attributes
    ----------
    variant
        Which one.
    thresholds
        Ascending.
    at
        Number of the threshold at which partners were collected.
    tally
        Its credit by threshold and order.
    partners
        What was matched at that threshold.
    vectors
        Name and content of the vectors' set.
    """

    variant: Variant
    thresholds: tuple[float, ...]
    at: int
    tally: Tally
    partners: PartnerTally
    vectors: str

    @property
    def curve(self) -> list[Credit]:
        """Credit at every threshold."""
        return [self.tally.credit(number) for number in range(len(self.thresholds))]

    def best(self) -> int | None:
        """Find the threshold that separates best: its number, of greatest F1, the highest of equals.

        None if F1 is not defined at any.
        """
        scores = [credit.f1 for credit in self.curve]
        known = [score for score in scores if score is not None]
        return None if not known else max(number for number, score in enumerate(scores) if score == max(known))

    def at_recall(self, recall: float) -> int | None:
        """Find the highest threshold with at least that recall: its number, or None."""
        reached = [
            number for number, each in enumerate(self.curve) if each.recall is not None and each.recall >= recall
        ]
        return max(reached, default=None)

    @property
    def is_empty(self) -> bool:
        """Whether there is no approximate match at any threshold."""
        return not any(credit.matches for credit in self.curve)


def find_spurious(
    text: MatchedText,
    variants: Sequence[Variant],
    thresholds: Sequence[float | str],
    *,
    at: float = 0.8,
    order: int = 4,
    progress: Progress | None = None,
) -> list[Analysis]:
    """Match a text in several ways, and judge or count what was matched approximately, at all thresholds at once.

    Parameters
    ----------
    text
        Aligned pairs, whose matches are judged, or any text, whose matches are counted.
    variants
        Ways to match; see `make_variants`.
    thresholds
        Numbers, or quantiles such as `p99.9`, which are looked up for each variant.
    at
        Threshold at which partners are collected; it joins the others.
    order
        Longest n-grams.
    progress
        Called with the number of segments done and of all, over all variants.

    Returns
    -------
    An analysis for each variant. Memory: the coded text, the vectors of its words and what was matched at `at`,
    once for each pair of different n-grams.

    Examples
    --------
    >>> from softbleu.corpora.aligned import AlignedPair
    >>> from softbleu.experiments.remedies import make_variants
    >>> from softbleu.experiments.text import MatchedText
    >>> from softbleu.scoring import Settings
    >>> pair = AlignedPair(("small", "dog"), ("little", "cat"), ((0, 0),), "related")
    >>> vectors = {"small": [1.0, 0.1], "little": [1.0, 0.2], "dog": [0.1, 1.0], "cat": [0.2, 1.0]}
    >>> variants = make_variants(Settings(vectors=vectors), ["vleu"], ["plain"])
    >>> credit = find_spurious(MatchedText.of_pairs([pair]), variants, [0.5])[0].curve[0]
    >>> credit.matches, round(credit.deserved, 2), round(credit.spurious, 2), credit.recall
    (3, 1.0, 2.0, 1.0)

    Raises
    ------
    InputError, VectorError
        A threshold outside 0…1, a segment too long to match, vectors that cannot be read.
    """
    check_order(order)
    groups: dict[object, list[int]] = {}
    for number, variant in enumerate(variants):
        choice = replace(variant.settings.vector_choice(), location="", quantile=None)
        groups.setdefault((choice, id(variant.settings.vectors)), []).append(number)
    grids = [_read_grid(variant, thresholds, at) for variant in variants]
    found: dict[int, Analysis] = {}
    chunk: Chunk | None = None
    steps = _Steps(progress, len(text.corpus) * len(variants))
    with single_threaded_blas():
        for members in groups.values():
            prepared = _prepare(text, variants[members[0]].settings.vector_choice())
            # The codes depend on the text only.
            chunk = chunk or text.code(prepared.vocabulary)
            for number in members:
                work = _Work(text, chunk, prepared, variants[number], grids[number], at, order)
                found[number] = work.run(steps)
    return [found[number] for number in range(len(variants))]


def _read_grid(variant: Variant, thresholds: Sequence[float | str], at: float) -> tuple[float, ...]:
    numbers = set()
    for threshold in (at, *thresholds):
        number = replace(variant.settings, threshold=threshold).resolved().threshold
        if isinstance(number, float | int):
            numbers.add(float(number))
    return tuple(sorted(numbers))


def _prepare(text: MatchedText, choice: VectorChoice) -> CorpusVectors:
    return prepare_vectors(text.corpus, text.tokenizer, choice, frequencies=True)


class _Steps:
    """Counts the segments that are done."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def add(self, segments: int) -> None:
        self._done += segments
        if self._progress is not None:
            self._progress(self._done, self._total)


@dataclass(frozen=True)
class _Work:
    text: MatchedText
    chunk: Chunk
    prepared: CorpusVectors
    variant: Variant
    thresholds: tuple[float, ...]
    at: float
    order: int

    def run(self, steps: _Steps) -> Analysis:
        at = self.thresholds.index(float(self.at))
        tally = Tally(len(self.thresholds), self.order, judged=self.text.aligned is not None)
        partners = PartnerTally(self.chunk, list(self.prepared.vocabulary))
        for start, piece, aligned in self._pieces():
            intervals, classes, rewarded = self._match(piece, aligned, tally)
            tally.add(intervals, classes, rewarded)
            made = (intervals.first <= at) & (at < intervals.end)
            partners.add(piece, start, _chosen(intervals, made), classes[made])
            steps.add(len(piece))
        return Analysis(self.variant, self.thresholds, at, tally, partners, self.prepared.identity)

    def _pieces(self) -> Iterator[tuple[int, Chunk, Integers | None]]:
        offsets = self.chunk.candidates.offsets
        for start in range(0, len(self.chunk), PIECE):
            end = min(start + PIECE, len(self.chunk))
            aligned = self.text.aligned
            yield (
                start,
                self.chunk.part(start, end),
                None if aligned is None else aligned[offsets[start] : offsets[end]],
            )

    def _match(
        self, piece: Chunk, aligned: Integers | None, tally: Tally
    ) -> tuple[MatchIntervals, Integers, NDArray[np.bool_]]:
        """Approximate matches, their classes, and which of them reward a deserving n-gram."""
        matcher = self.variant.make_matcher()
        intervals = match_intervals(matcher, self.thresholds, piece, self.prepared.vectors, self.order)
        intervals = _chosen(intervals, approximate(piece, intervals) & (intervals.matched > 0))
        if aligned is None:
            return intervals, np.full(len(intervals.order), UNJUDGED), np.zeros(len(intervals.order), bool)
        judge = Judge(piece, aligned, self.order)
        classes = judge.classes(intervals)
        rewarded = np.zeros(len(intervals.order), bool)
        for order, starts in enumerate(judge.deserving(), start=1):
            tally.deserving[order - 1] += len(starts)
            rewarded |= (classes == 0) & (intervals.order == order) & np.isin(intervals.starts, starts)
        return intervals, classes, rewarded


def _chosen(intervals: MatchIntervals, which: NDArray[np.bool_]) -> MatchIntervals:
    return replace(intervals, **{field.name: getattr(intervals, field.name)[which] for field in fields(intervals)})
