"""Where the tokens of some segments lie, and which of their n-grams are equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.types import Flags, Integers


_TABLE = 1 << 24
_COMPACT = 1 << 20  # Tables that would have more entries are made for the n-grams that occur, not for all that could


def first_places(keys: Integers, places: Integers, bound: int) -> Integers:
    """Place of the first position that holds each key.

    Keys lie in ``range(bound)``, one a position. Returns for each position the place of the first with the same key.
    """
    if bound > _TABLE:
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return places[first][inverse]
    # Written backwards, so that the first stays; what was never written is never read, so nothing is cleared.
    table = np.empty(bound, places.dtype)
    table[keys[::-1]] = places[::-1]
    return table[keys]


@dataclass(frozen=True)
class Positions:
    """Where the tokens of some segments lie: all candidates first, then all references.

    There may be several candidates of each segment, one a system: those of the first system come first. Every array
    but `sizes` and `places` has one entry a token position.
    """

    codes: NDArray[np.int32]
    line: Integers  # Line of the token: the candidates', then the references'
    segment: Integers
    local: Integers  # Place among the positions of its segment: the candidates' first, then each reference's
    remaining: Integers  # Tokens from here to the end of the line; an n-gram starts where ``remaining >= n``
    side: Integers  # Which reference of its segment, from 0; -1 in a candidate
    sizes: Integers  # Positions of each segment
    places: Integers
    """Sum of the sizes of the segments before: ``places[segment] + local`` numbers the positions by segment."""
    split: int  # Number of candidate positions

    @classmethod
    def of(
        cls,
        candidate: NDArray[np.int32],
        candidate_lengths: Integers,
        reference: NDArray[np.int32],
        reference_lengths: Integers,
        references: Integers,
    ) -> Positions:
        """Lay out coded candidates and references; `references` counts the reference lines of each segment."""
        segments = np.arange(len(references))
        by_system = candidate_lengths.reshape(len(candidate_lengths) // max(len(references), 1), len(references))
        owner = np.repeat(segments, references)
        candidate_tokens = by_system.sum(axis=0)
        tokens = np.bincount(owner, reference_lengths, len(segments)).astype(np.int64)
        lengths = np.concatenate((candidate_lengths, reference_lengths))
        positions = np.arange(len(candidate) + len(reference))
        split = len(candidate)
        starts = np.cumsum(lengths) - lengths
        # Where each line starts among the positions of its segment.
        in_candidates = (np.cumsum(by_system, axis=0) - by_system).reshape(-1)
        in_references = (
            starts[len(candidate_lengths) :] - (split + np.cumsum(tokens) - tokens - candidate_tokens)[owner]
        )
        line_side = np.arange(len(owner)) - np.repeat(np.cumsum(references) - references, references)
        sides = np.concatenate((np.full(len(candidate_lengths), -1), line_side))
        sizes = candidate_tokens + tokens
        line = np.repeat(np.arange(len(lengths)), lengths)
        return cls(
            codes=np.concatenate((candidate, reference)),
            line=line,
            segment=np.concatenate((np.tile(segments, len(by_system)), owner))[line],
            local=positions - (starts - np.concatenate((in_candidates, in_references)))[line],
            remaining=(starts + lengths)[line] - positions,
            side=sides[line],
            sizes=sizes,
            places=np.cumsum(sizes) - sizes,
            split=split,
        )


def ngram_ids(positions: Positions, order: int, *, shared: bool = False) -> Iterator[tuple[Integers, Integers]]:
    """Exact numbers of the n-grams of each segment.

    Yields for n = 1…order the positions where an n-gram starts, and its id: that of its first occurrence in its
    segment among all positions by segment, so equal ids mean equal n-grams of one segment. No hash is involved: an
    n-gram is the pair (number of its head, number of its last word). `shared` leaves out n-grams that begin or end
    with what only candidates, or only references, have.
    """
    segment, local = positions.segment, positions.local
    starts = np.arange(len(positions.codes))
    distinct = first_places(positions.codes.astype(np.int64), starts, int(positions.codes.max(initial=0)) + 1)
    if len(positions.sizes) * len(starts) > _COMPACT:
        distinct = (np.cumsum(distinct == starts) - 1)[distinct]
    most = int(distinct.max(initial=-1)) + 1
    words = first_places(segment * most + distinct, local, len(positions.sizes) * most)
    ids = positions.places[segment] + words
    yield starts, ids
    compact = int((positions.sizes**2).sum()) > _COMPACT
    words, width = _numbered(positions, starts, ids, words, compact)
    numbers, height = words, width
    for n in range(2, order + 1):
        fits = positions.remaining[starts] >= n
        if shared:
            ends = np.zeros(len(positions.codes) + 1, bool)
            ends[starts] = begins = _on_both_sides(positions, starts, ids)
            fits &= begins & ends[starts + 1]
        starts = starts[fits]
        sizes = height * width
        at = segment[starts]
        keys = (np.cumsum(sizes) - sizes)[at] + numbers[fits] * width[at] + words[starts + n - 1]
        numbers = first_places(keys, local[starts], int(sizes.sum()))
        ids = positions.places[at] + numbers
        yield starts, ids
        if n < order:
            numbers, height = _numbered(positions, starts, ids, numbers, compact)


def _on_both_sides(positions: Positions, starts: Integers, ids: Integers) -> Flags:
    """Whether candidates and references of a segment both have each n-gram."""
    cut = int(np.searchsorted(starts, positions.split))
    ours, others = np.zeros((2, len(positions.codes)), bool)
    ours[ids[:cut]], others[ids[cut:]] = True, True
    both: Flags = (ours & others)[ids]
    return both


def _numbered(
    positions: Positions, starts: Integers, ids: Integers, numbers: Integers, compact: bool
) -> tuple[Integers, Integers]:
    """Numbers of n-grams in their segments, and a bound of them for each segment: the number of them if `compact`."""
    if not compact:
        return numbers, positions.sizes
    seen = np.zeros(len(positions.codes) + 1, np.int64)
    seen[ids + 1] = 1
    before = np.cumsum(seen)
    bases = before[positions.places]
    return before[ids] - bases[positions.segment[starts]], before[positions.places + positions.sizes] - bases


def reference_counts(positions: Positions, starts: Integers, ids: Integers) -> Integers:
    """Greatest count of each n-gram in one reference of its segment; `starts` are reference positions.

    Returns one count an id.
    """
    total = len(positions.codes)
    sides = int(positions.side.max(initial=0)) + 1
    if sides == 1:
        return np.bincount(ids, minlength=total)
    keys = ids * sides + positions.side[starts]
    greatest: Integers
    if total * sides <= max(_TABLE, 8 * len(keys)):
        greatest = np.bincount(keys, minlength=total * sides).reshape(total, sides).max(axis=1)
    else:
        # So many references that hardly any of them has an n-gram.
        there, counts = np.unique(keys, return_counts=True)
        greatest = np.zeros(total, np.int64)
        np.maximum.at(greatest, there // sides, counts)
    return greatest
