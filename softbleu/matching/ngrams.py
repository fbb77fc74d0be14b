"""N-grams of a chunk of segments: where they start, which are equal, and the pool that references offer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.io.platform import cached_property
from softbleu.kernels.numpy_backend import Positions, first_places, ngram_ids, reference_counts
from softbleu.text.tokens import Tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.corpora.edits import CodedGold, EditedSegment
    from softbleu.types import Flags, Integers

_INCIDENCES = 1 << 22  # Entries of the matrix of lines and n-grams that is held at a time


@dataclass(frozen=True)
class Ngrams:
    """The n-grams of one order in a chunk, candidates and pool; of equal ids are equal n-grams of one segment."""

    starts: Integers  # Candidate positions at which an n-gram starts, ascending
    ids: Integers  # Id of the n-gram at each of `starts`
    occurrence: Integers  # How many equal n-grams of the candidate stand to the left of each of `starts`
    systems: Integers  # System of the candidate at each of `starts`
    pool_starts: Integers  # Positions of the pool's n-grams: each where it first appears in its segment
    pool_ids: Integers  # Id of each pool n-gram
    counts: Integers  # Greatest count of an n-gram in one reference, one number an id (Papineni's clipping)
    ranks: Integers | None = None
    """Where each instance has its own place in the pool: how many equal ones stand before it. None: equal n-grams
    share the first place."""

    @property
    def capacity(self) -> Integers:
        """Instances that each pool n-gram stands for."""
        return self.counts[self.pool_ids] if self.ranks is None else np.ones(len(self.pool_ids), np.int64)

    @cached_property
    def exact(self) -> Flags:
        """Which of `starts` find an equal n-gram in the pool, the leftmost occurrences first."""
        return self.occurrence < self.counts[self.ids]

    def left(self, systems: int) -> Integers:
        """Subtract the exact matches of each system from the counts of the pool: (systems, pool n-grams)."""
        # The first pool n-gram of each id.
        numbers = np.empty(len(self.counts), np.int64)
        numbers[self.pool_ids[::-1]] = np.arange(len(self.pool_ids))[::-1]
        taken = self.systems[self.exact] * len(self.pool_ids) + numbers[self.ids[self.exact]]
        used = np.bincount(taken, minlength=systems * len(self.pool_ids)).reshape(systems, -1)
        if self.ranks is None:
            return self.counts[self.pool_ids] - used
        return (self.ranks >= used[:, numbers[self.pool_ids]]).astype(np.int64)


@dataclass(frozen=True)
class Chunk:
    """Some consecutive segments as coded tokens.

    The references of segment s are the lines ``segment_offsets[s]`` to ``segment_offsets[s + 1]`` of
    `references`. Positions count the tokens of all candidates first, then those of all references.
    """

    candidates: Tokens  # A line per segment: those of the first system, then those of the next, …
    references: Tokens
    segment_offsets: Integers
    source: Tokens | None = None  # One line a segment
    gold: Sequence[CodedGold] | None = None  # Gold edits of each segment, in the codes of the tokens
    edits: Sequence[EditedSegment] | None = None  # Of each segment, where a metric asks for them

    def __len__(self) -> int:
        return len(self.segment_offsets) - 1

    @property
    def systems(self) -> int:
        """Number of candidates of each segment."""
        return (len(self.candidates.offsets) - 1) // max(len(self), 1)

    @classmethod
    def together(cls, chunks: Sequence[Chunk]) -> Chunk:
        """Put the candidates of several systems into one chunk, so that their references are prepared once."""
        if len(chunks) == 1:
            return chunks[0]
        first = chunks[0]
        return cls(Tokens.joined([chunk.candidates for chunk in chunks]), first.references, first.segment_offsets)

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
            self.edits and self.edits[start:end],
        )

    def alone(self, line: int) -> Chunk:
        """One candidate with the references of its segment."""
        segment = line % len(self)
        return replace(self.part(segment, segment + 1), candidates=self.candidates.lines(line, line + 1))

    def by_reference(self) -> Chunk:
        """Every candidate with each of its references as a segment of its own."""
        owner = np.repeat(np.arange(len(self)), self.reference_numbers)
        return Chunk(
            self.candidates.chosen(owner),
            self.references,
            np.arange(len(owner) + 1),
            self.source and self.source.chosen(owner),
        )

    @property
    def reference_numbers(self) -> Integers:
        """How many references each segment has."""
        numbers: Integers = self.segment_offsets[1:] - self.segment_offsets[:-1]
        return numbers

    @cached_property
    def positions(self) -> Positions:
        """Where each token lies."""
        return Positions.of(
            self.candidates.codes,
            self.candidates.lengths,
            self.references.codes,
            self.references.lengths,
            self.reference_numbers,
        )

    @property
    def codes(self) -> NDArray[np.int32]:
        """Tokens of all candidates, then of all references."""
        return np.concatenate((self.candidates.codes, self.references.codes))

    @property
    def size(self) -> int:
        """Number of tokens, candidates and references together."""
        return len(self.candidates.codes) + len(self.references.codes)

    @cached_property
    def reference_positions(self) -> Integers:
        """Bounds of each segment's references among the positions (segments + 1 of them)."""
        return len(self.candidates.codes) + self.references.offsets[self.segment_offsets]

    @property
    def sizes(self) -> dict[str, Integers]:
        """Words of each candidate, and of the references and the source of its segment, by what has them."""
        texts = {"reference": np.diff(self.reference_positions)}
        if self.source is not None:
            texts["source"] = self.source.lengths
        return {"candidate": self.candidates.lengths, **{k: np.tile(v, self.systems) for k, v in texts.items()}}

    def ngrams(self, order: int, *, instances: bool = False) -> Iterator[Ngrams]:
        """The n-grams of orders 1…order; with `instances` equal ones of the pool have a place each."""
        return (self._ngrams(starts, ids, instances) for starts, ids in ngram_ids(self.positions, order))

    def _ngrams(self, starts: Integers, ids: Integers, instances: bool) -> Ngrams:
        cut = int(np.searchsorted(starts, self.positions.split))
        pool_starts, pool_ids = starts[cut:], ids[cut:]
        counts = reference_counts(self.positions, pool_starts, pool_ids)
        ranks = None
        if instances:
            chosen, ranks = self._instances(pool_starts, pool_ids, counts)
        else:
            first = np.empty(self.size, np.int64)
            first[pool_ids[::-1]] = pool_starts[::-1]
            chosen = first[pool_ids] == pool_starts
        systems = self.positions.line[starts[:cut]] // max(len(self), 1)
        return Ngrams(
            starts=starts[:cut],
            ids=ids[:cut],
            occurrence=occurrence_numbers(systems * self.size + ids[:cut], self.systems * self.size),
            systems=systems,
            pool_starts=pool_starts[chosen],
            pool_ids=pool_ids[chosen],
            counts=counts,
            ranks=ranks,
        )

    def _instances(self, starts: Integers, ids: Integers, counts: Integers) -> tuple[Flags, Integers]:
        """Which n-grams of the references are of the one that has most of their kind, and how many precede each."""
        lines = self.positions.line[starts]
        keys = ids * (int(lines.max(initial=0)) + 1) + lines
        _, place, inverse, count = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        most = place[count == counts[ids[place]]]
        line_of = np.empty(len(counts), np.int64)
        line_of[ids[most][::-1]] = lines[most][::-1]
        chosen = lines == line_of[ids]
        ranks = occurrence_numbers(inverse.astype(np.int64), len(count))
        return chosen, ranks[chosen]

    def sums(self, starts: Integers, values: Integers) -> Integers:
        """Sum values of candidate n-grams, which begin at the positions `starts`: one number per candidate."""
        lines = self.positions.line[starts]
        return np.bincount(lines, values, len(self.candidates.lengths)).astype(np.int64)

    def closest_reference_lengths(self) -> Integers:
        """Length of each segment's closest reference; ties go to the shorter (as sacrebleu)."""
        lengths = self.references.lengths
        owner = np.repeat(np.arange(len(self)), self.reference_numbers)
        distance = np.abs(lengths - self.candidates.lengths[owner])
        return lengths[np.lexsort((lengths, distance, owner))[self.segment_offsets[:-1]]]


def shared_counts(candidates: Tokens, references: Tokens, order: int) -> Iterator[Integers]:
    """How many n-grams every two lines share, each as often as both have it: (candidates, references), n = 1…order.

    >>> tokens = Tokens(np.array([1, 1, 2, 1, 2, 2], np.int32), np.array([0, 3, 6]))
    >>> [counts.tolist() for counts in shared_counts(tokens, tokens, 2)]
    [[[3, 2], [2, 3]], [[2, 1], [1, 2]]]
    """
    split, others = len(candidates.lengths), len(references.lengths)
    first = 0 if references is candidates else split
    for ids, lines, counts in _line_counts(candidates, references, order):
        shared = np.zeros((split, others), np.float32)
        # The k-th of equal n-grams of one line meets the k-th of the other.
        while len(ids):
            new = np.append(True, ids[1:] != ids[:-1])
            column = np.cumsum(new) - 1
            met = np.bincount(column) > 1
            if not first:
                # What no other line has, a line shares with itself.
                np.fill_diagonal(shared, shared.diagonal() + np.bincount(lines[~met[column]], minlength=split))
            column, at = (np.cumsum(met) - 1)[column[met[column]]], lines[met[column]]
            columns = int(column[-1]) + 1 if len(column) else 0
            step = max(1, min(columns, _INCIDENCES // (first + others)))
            for start in range(0, columns, step):
                some = slice(*np.searchsorted(column, (start, start + step)))
                incidence = np.zeros((first + others, step), np.float32)
                incidence[at[some], column[some] - start] = 1
                shared += incidence[:split] @ incidence[first:].T
            again = counts > 1
            ids, lines, counts = ids[again], lines[again], counts[again] - 1
        yield shared.astype(np.int64)


def _line_counts(candidates: Tokens, references: Tokens, order: int) -> Iterator[tuple[Integers, Integers, Integers]]:
    """Ids of n-grams, ascending, their lines, references last, and how often; the same lines stand once."""
    others = Tokens(references.codes[:0], references.offsets[:1]) if references is candidates else references
    sides = (candidates.codes, candidates.lengths, others.codes, others.lengths)
    positions = Positions.of(*sides, np.array([len(others.lengths)]))
    lines = len(candidates.lengths) + len(others.lengths)
    for starts, ids in ngram_ids(positions, order):
        keys, counts = np.unique(ids * lines + positions.line[starts], return_counts=True)
        yield keys // lines, keys % lines, counts


def check_order(order: int) -> int:
    """Return the maximum n-gram order, refusing what no metric can use."""
    if not isinstance(order, int) or not 1 <= order <= 16:
        raise InputError(f"n-gram order must be between 1 and 16, not {order!r}")
    return order


def occurrence_numbers(ids: Integers, bound: int) -> Integers:
    """Number equal ids, all below `bound`, 0, 1, 2, … from left to right.

    >>> occurrence_numbers(np.array([7, 3, 7, 7, 3]), 8).tolist()
    [0, 0, 1, 2, 1]
    """
    numbers = np.zeros(len(ids), np.int64)
    places = np.arange(len(ids))
    # Few n-grams recur, and only those are sorted.
    again = np.flatnonzero(first_places(ids, places, bound) != places)
    if not len(again):
        return numbers
    ranked = again[np.argsort(ids[again], kind="stable")]
    new = np.diff(ids[ranked], prepend=-1) != 0
    order = np.arange(1, len(ranked) + 1)
    numbers[ranked] = order - np.maximum.accumulate(np.where(new, order - 1, 0))
    return numbers


def ngram_totals(lengths: Integers, order: int) -> Integers:
    """Number of n-grams of lines of such lengths, n = 1…order: max(0, length - n + 1).

    >>> ngram_totals(np.array([5, 2, 0]), 3).tolist()
    [[5, 4, 3], [2, 1, 0], [0, 0, 0]]
    """
    totals: Integers = np.maximum(lengths[:, None] - np.arange(order), 0)
    return totals
