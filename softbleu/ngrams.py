"""N-grams of a chunk of segments: where they start, which are equal, and the pool that references offer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.kernels.numpy_kernels import Layout, ngram_cells, reference_counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from softbleu.corpora.m2 import CodedGold
    from softbleu.tokens import Tokens
    from softbleu.types import Integers


@dataclass(frozen=True)
class Ngrams:
    """The n-grams of one order in a chunk, candidates and pool.

    Cells are numbers of n-grams: equal cells, equal n-grams of one segment.
    """

    starts: Integers
    """Candidate positions at which an n-gram starts, ascending."""
    cells: Integers
    """Cell of the n-gram at each of `starts`."""
    occurrence: Integers
    """How many equal n-grams of the candidate stand to the left of each of `starts`."""
    pool_starts: Integers
    """Positions of the pool's n-grams: where each first appears in the references of its segment."""
    pool_cells: Integers
    """Cell of each pool n-gram."""
    counts: Integers
    """Greatest count of an n-gram in one reference, one number a cell (Papineni's clipping)."""

    @cached_property
    def exact(self) -> NDArray[np.bool_]:
        """Which of `starts` find an equal n-gram in the pool, the leftmost occurrences first."""
        return self.occurrence < self.counts[self.cells]

    @cached_property
    def left(self) -> Integers:
        """What exact matches leave of `counts`, one number a cell."""
        return self.counts - np.bincount(self.cells[self.exact], minlength=len(self.counts))


@dataclass(frozen=True)
class Chunk:
    """Some consecutive segments as coded tokens.

    The references of segment s are the lines ``segment_offsets[s]`` to ``segment_offsets[s + 1]`` of
    `references`. Positions count the tokens of all candidates first, then those of all references.
    """

    candidates: Tokens
    references: Tokens
    segment_offsets: Integers
    source: Tokens | None = None
    """One line a segment."""
    gold: Sequence[CodedGold] | None = None
    """Gold edits of each segment, in the codes of the tokens."""

    def __len__(self) -> int:
        return len(self.segment_offsets) - 1

    def pieces(self, size: int) -> Iterator[Chunk]:
        """Cut into chunks of so many segments."""
        for start in range(0, len(self), size):
            yield self.part(start, min(start + size, len(self)))

    def part(self, start: int, end: int) -> Chunk:
        """Take the segments from `start` up to `end`."""
        bounds = self.segment_offsets[start : end + 1]
        return Chunk(
            self.candidates.lines(start, end),
            self.references.lines(int(bounds[0]), int(bounds[-1])),
            bounds - bounds[0],
            self.source and self.source.lines(start, end),
            self.gold and self.gold[start:end],
        )

    def by_reference(self) -> Chunk:
        """Every candidate with each of its references as a segment of its own."""
        owner = np.repeat(np.arange(len(self)), np.diff(self.segment_offsets))
        return Chunk(
            self.candidates.chosen(owner),
            self.references,
            np.arange(len(owner) + 1),
            self.source and self.source.chosen(owner),
        )

    @cached_property
    def layout(self) -> Layout:
        """Where each token lies."""
        return Layout.of(
            self.candidates.codes,
            self.candidates.lengths,
            self.references.codes,
            self.references.lengths,
            np.diff(self.segment_offsets),
        )

    @property
    def positions(self) -> int:
        """Number of tokens, candidates and references together."""
        return len(self.layout.codes)

    @cached_property
    def candidate_positions(self) -> Integers:
        """Bounds of each segment's candidate among the positions (segments + 1 of them)."""
        return self.candidates.offsets

    @cached_property
    def reference_positions(self) -> Integers:
        """Bounds of each segment's references among the positions (segments + 1 of them)."""
        return self.layout.split + self.references.offsets[self.segment_offsets]

    def ngrams(self, order: int) -> list[Ngrams]:
        """The n-grams of orders 1…order."""
        return [self._ngrams(starts, cells) for starts, cells in ngram_cells(self.layout, order)]

    def _ngrams(self, starts: Integers, cells: Integers) -> Ngrams:
        cut = int(np.searchsorted(starts, self.layout.split))
        pool_starts, pool_cells = starts[cut:], cells[cut:]
        first = np.empty(self.positions, np.int64)
        first[pool_cells[::-1]] = pool_starts[::-1]
        new = first[pool_cells] == pool_starts
        return Ngrams(
            starts=starts[:cut],
            cells=cells[:cut],
            occurrence=occurrence_numbers(cells[:cut]),
            pool_starts=pool_starts[new],
            pool_cells=pool_cells[new],
            counts=reference_counts(self.layout, pool_starts, pool_cells),
        )

    def closest_reference_lengths(self) -> Integers:
        """Length of each segment's closest reference; ties go to the shorter (as sacrebleu)."""
        return self.references.lengths[self.closest_references()]

    def closest_references(self) -> Integers:
        """Line of each segment's closest reference by length; ties go to the shorter, then the first."""
        counts = np.diff(self.segment_offsets)
        lengths = self.references.lengths
        owner = np.repeat(np.arange(len(self)), counts)
        distance = np.abs(lengths - self.candidates.lengths[owner])
        ranked = np.lexsort((lengths, distance, owner))
        return ranked[self.segment_offsets[:-1]]


def check_order(order: int) -> int:
    """Return the maximum n-gram order, refusing what no metric can use."""
    if not isinstance(order, int) or not 1 <= order <= 16:
        raise InputError(f"n-gram order must be between 1 and 16, not {order!r}")
    return order


def occurrence_numbers(cells: Integers) -> Integers:
    """Number equal cells 0, 1, 2, … from left to right.

    >>> occurrence_numbers(np.array([7, 3, 7, 7, 3])).tolist()
    [0, 0, 1, 2, 1]
    """
    ranked = np.argsort(cells, kind="stable")
    ordered = cells[ranked]
    positions = np.arange(len(cells))
    starts = np.where(np.diff(ordered, prepend=-1) != 0, positions, 0)
    numbers = np.empty(len(cells), np.int64)
    numbers[ranked] = positions - np.maximum.accumulate(starts)
    return numbers


def ngram_totals(lengths: Integers, order: int) -> Integers:
    """Number of n-grams of lines of such lengths, n = 1…order: max(0, length - n + 1).

    >>> ngram_totals(np.array([5, 2, 0]), 3).tolist()
    [[5, 4, 3], [2, 1, 0], [0, 0, 0]]
    """
    totals: Integers = np.maximum(lengths[:, None] - np.arange(order), 0)
    return totals
