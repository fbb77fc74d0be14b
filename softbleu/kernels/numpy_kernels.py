"""The hot loops in NumPy: always there, best on small and middling input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from softbleu.tokens import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.types import Integers


NAME: Final = "numpy"

PIECE = 256
_TABLE = 1 << 24
SCALE = 1_000_000
"""Similarities and masses are counted in millionths, as whole numbers: sums are exact in any order."""


def first_places(keys: Integers, places: Integers, bound: int) -> Integers:
    """Place of the first position that holds each key.

    Parameters
    ----------
    keys : one key a position, in ``range(bound)``
    places : what to answer for each position
    bound : number of possible keys

    Returns
    -------
    For each position the place of the first position with the same key: equal keys, equal answers.
    """
    if bound > _TABLE:
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return places[first][inverse]
    # Written backwards, so that the first stays; what was never written is never read, so nothing is cleared.
    table = np.empty(bound, places.dtype)
    table[keys[::-1]] = places[::-1]
    return table[keys]


@dataclass(frozen=True)
class Layout:
    """Where the tokens of some segments lie: all candidates first, then all references.

    Every array but `sizes` and `places` has one entry a token position.
    """

    codes: NDArray[np.int32]
    segment: Integers
    local: Integers
    """Place among the positions of its segment: the candidate's first, then each reference's."""
    room: Integers
    """Tokens from here to the end of the line; an n-gram starts where ``room >= n``."""
    side: Integers
    """Which reference of its segment, from 0; -1 in a candidate."""
    sizes: Integers
    """Positions of each segment."""
    places: Integers
    """Sum of the sizes of the segments before: ``places[segment] + local`` numbers the cells 0…positions - 1."""
    split: int
    """Number of candidate positions."""

    @classmethod
    def of(
        cls,
        candidate: NDArray[np.int32],
        candidate_lengths: Integers,
        reference: NDArray[np.int32],
        reference_lengths: Integers,
        references: Integers,
    ) -> Layout:
        """Lay out coded candidates and references; `references` counts the reference lines of each segment."""
        segments = np.arange(len(candidate_lengths))
        owner = np.repeat(segments, references)
        tokens = np.bincount(owner, reference_lengths, len(segments)).astype(np.int64)
        lengths = np.concatenate((candidate_lengths, reference_lengths))
        positions = np.arange(len(candidate) + len(reference))
        split = len(candidate)
        before_candidate = np.cumsum(candidate_lengths) - candidate_lengths
        before_reference = split + np.cumsum(tokens) - tokens - candidate_lengths
        before = np.concatenate((np.repeat(before_candidate, candidate_lengths), np.repeat(before_reference, tokens)))
        line_side = np.arange(len(owner)) - np.repeat(np.cumsum(references) - references, references)
        sides = np.concatenate((np.full(len(segments), -1), line_side))
        sizes = candidate_lengths + tokens
        return cls(
            codes=np.concatenate((candidate, reference)),
            segment=np.repeat(np.concatenate((segments, owner)), lengths),
            local=positions - before,
            room=np.repeat(np.cumsum(lengths), lengths) - positions,
            side=np.repeat(sides, lengths),
            sizes=sizes,
            places=np.cumsum(sizes) - sizes,
            split=split,
        )


def ngram_cells(layout: Layout, order: int) -> list[tuple[Integers, Integers]]:
    """Exact numbers of the n-grams of each segment.

    Returns
    -------
    For n = 1…order the positions where an n-gram starts, and its cell: that of its first occurrence in its
    segment, so equal cells mean equal n-grams of one segment. No hash is involved: an n-gram is the pair
    (number of its head, number of its last word).
    """
    segment, local, sizes = layout.segment, layout.local, layout.sizes
    positions = np.arange(len(layout.codes))
    distinct = first_places(layout.codes.astype(np.int64), positions, int(layout.codes.max(initial=0)) + 1)
    words = first_places(segment * len(positions) + distinct, local, len(sizes) * len(positions))
    squares = sizes * sizes
    base, width = (np.cumsum(squares) - squares)[segment], sizes[segment]
    starts, numbers = positions, words
    found = [(starts, layout.places[segment] + numbers)]
    for n in range(2, order + 1):
        fits = layout.room[starts] >= n
        starts = starts[fits]
        keys = base[starts] + numbers[fits] * width[starts] + words[starts + n - 1]
        numbers = first_places(keys, local[starts], int(squares.sum()))
        found.append((starts, layout.places[segment[starts]] + numbers))
    return found


def reference_counts(layout: Layout, starts: Integers, cells: Integers) -> Integers:
    """Greatest count of each n-gram in one reference of its segment; `starts` are reference positions.

    Returns
    -------
    One count a cell.
    """
    total = len(layout.codes)
    sides = int(layout.side.max(initial=0)) + 1
    if sides == 1:
        return np.bincount(cells, minlength=total)
    counts = np.bincount(cells * sides + layout.side[starts], minlength=total * sides)
    greatest: Integers = counts.reshape(total, sides).max(axis=1)
    return greatest


def clipped_counts(
    candidate: NDArray[np.int32],
    candidate_offsets: Integers,
    reference: NDArray[np.int32],
    reference_offsets: Integers,
    segment_offsets: Integers,
    order: int,
) -> Integers:
    """Count the candidate n-grams that are found in the references, clipped (Papineni et al. 2002, section 2.1).

    Parameters
    ----------
    candidate, candidate_offsets : coded tokens of the candidates and the bounds of their lines
    reference, reference_offsets : the same for all reference lines, segment by segment
    segment_offsets : segment s has the reference lines ``segment_offsets[s]`` to ``segment_offsets[s + 1]``
    order : greatest n

    Returns
    -------
    Integers of shape (segments, order).
    """
    segments = len(candidate_offsets) - 1
    counts = np.zeros((segments, order), np.int64)
    for start in range(0, segments, PIECE):
        stop = min(start + PIECE, segments)
        lines = segment_offsets[start : stop + 1]
        bounds = candidate_offsets[start : stop + 1]
        reference_bounds = reference_offsets[lines[0] : lines[-1] + 1]
        layout = Layout.of(
            candidate[bounds[0] : bounds[-1]],
            np.diff(bounds),
            reference[reference_bounds[0] : reference_bounds[-1]],
            np.diff(reference_bounds),
            np.diff(lines),
        )
        counts[start:stop] = _clipped_counts_of_piece(layout, order)
    return counts


def _clipped_counts_of_piece(layout: Layout, order: int) -> Integers:
    segments, total = len(layout.sizes), len(layout.codes)
    counts = np.zeros((segments, order), np.int64)
    owner = np.repeat(np.arange(segments), layout.sizes)
    for n, (starts, cells) in enumerate(ngram_cells(layout, order)):
        cut = int(np.searchsorted(starts, layout.split))
        in_candidate = np.bincount(cells[:cut], minlength=total)
        in_reference = reference_counts(layout, starts[cut:], cells[cut:])
        counts[:, n] = np.bincount(owner, np.minimum(in_candidate, in_reference), segments)
    return counts


def assign_greedily(similarities: NDArray[np.int32], capacity: Integers, unit: int) -> tuple[Integers, Integers]:
    """Give each candidate n-gram, left to right, the most similar pool n-gram that is left.

    Every row proposes to its best column; a column keeps the leftmost rows that its capacity allows and sends
    the others on (deferred acceptance). As all columns prefer the leftmost rows, the outcome is exactly that of
    serving the rows one after the other, in few rounds over whole arrays.

    Parameters
    ----------
    similarities : (batch, rows, columns), positive where a match is allowed; overwritten
    capacity : (batch, columns), in the unit of the similarities; a column is left while less is consumed
    unit : what a match consumes; 0: its similarity
        A similarity above 1 (of an exact match, which must win all ties) consumes one instance.

    Returns
    -------
    Column of each row, -1 for none, and the similarity of that match, 0 for none: both (batch, rows).
    """
    batch, rows, columns = similarities.shape
    partner = np.full(batch * rows, -1)
    value = np.zeros(batch * rows, np.int64)
    if not columns:
        return partner.reshape(batch, rows), value.reshape(batch, rows)
    flat = similarities.reshape(batch * rows, columns)
    limits = capacity.reshape(-1)
    proposing = np.arange(batch * rows)
    choices = flat.argmax(axis=1)
    while len(proposing):
        found = flat[proposing, choices]
        able = found > 0
        proposing = proposing[able]
        partner[proposing] = choices[able]
        value[proposing] = found[able]
        engaged = np.flatnonzero(partner >= 0)
        column = engaged // rows * columns + partner[engaged]
        ranked = np.argsort(column, kind="stable")
        engaged, column = engaged[ranked], column[ranked]
        cost = np.full(len(engaged), unit) if unit else np.minimum(value[engaged], SCALE)
        consumed = np.cumsum(cost) - cost
        starts = np.flatnonzero(np.diff(column, prepend=-1))
        consumed -= np.repeat(consumed[starts], np.diff(starts, append=len(column)))
        proposing = engaged[consumed >= limits[column]]
        flat[proposing, partner[proposing]] = -1
        partner[proposing] = -1
        value[proposing] = 0
        choices = flat[proposing].argmax(axis=1)
    return partner.reshape(batch, rows), value.reshape(batch, rows)


class Lifetimes(NamedTuple):
    """Matches, and between which of some ascending thresholds each is made; one entry a match in every array."""

    segment: Integers
    row: Integers
    column: Integers
    value: Integers
    """Similarity in millionths; more than 1 for an exact match."""
    first: Integers
    """Number of the lowest threshold at which the match is made."""
    end: Integers
    """Number of the first threshold above it at which it is not."""


def sweep_greedily(similarities: NDArray[np.int32], capacity: Integers, thresholds: Integers) -> Lifetimes:
    """Matches that `assign_greedily` makes (unit: one instance) at every one of some thresholds, in one pass.

    The assignment is made once, at the lowest threshold. As the threshold rises, matches fall away one by one, the
    least similar first, and each frees one instance of the pool. The first row further right that likes it better
    than what it has takes it and frees its own, and so on to the end of the row: exactly what serving the rows one
    after the other, at the higher threshold, would have given.

    Parameters
    ----------
    similarities : (batch, rows, columns), greater than the lowest threshold where a match is allowed
    capacity : (batch, columns), in millionths
    thresholds : in millionths, ascending: a match needs a greater similarity
    """
    batch, rows, _ = similarities.shape
    partner, value = assign_greedily(similarities.copy(), capacity, SCALE)
    since = np.zeros((batch, rows), np.int64)
    lived: list[tuple[Integers, ...]] = []
    places = np.arange(rows)

    def end_lives(segments: Integers, at: Integers, now: Integers) -> None:
        had = value[segments, at] > 0
        segments, at = segments[had], at[had]
        lived.append((segments, at, partner[segments, at], value[segments, at], since[segments, at], now[had]))

    # Of each segment with a free instance: its column, the row that freed it, the similarity that fell away and the
    # threshold at which it did.
    column, freed_by, level, when = (np.full(batch, -1) for _ in range(4))
    active = np.arange(batch)
    while len(active):
        settled = active[column[active] < 0]
        held = value[settled]
        least = np.where(held > 0, held, 2 * SCALE).argmin(axis=1)
        lost = held[np.arange(len(settled)), least]
        falls = (lost > 0) & (lost <= thresholds[-1])
        column[settled[~falls]] = -2
        settled, least, lost = settled[falls], least[falls], lost[falls]
        column[settled], freed_by[settled], level[settled] = partner[settled, least], least, lost
        when[settled] = np.searchsorted(thresholds, lost)
        end_lives(settled, least, when[settled])
        partner[settled, least], value[settled, least] = -1, 0

        active = active[column[active] >= 0]
        free, held = column[active], value[active]
        offered = similarities[active, :, free]
        better = (offered > held) | ((offered == held) & (free[:, None] < partner[active]))
        better &= (offered > level[active][:, None]) & (places > freed_by[active][:, None])
        taker = better.argmax(axis=1)
        taken = better[np.arange(len(active)), taker]
        column[active[~taken]] = -1
        found, taker, free, offer = active[taken], taker[taken], free[taken], offered[taken, taker[taken]]
        end_lives(found, taker, when[found])
        column[found], freed_by[found] = partner[found, taker], taker
        partner[found, taker], value[found, taker], since[found, taker] = free, offer, when[found]
    segments, at = np.nonzero(value > 0)
    end_lives(segments, at, np.full(len(segments), len(thresholds)))
    lives = Lifetimes(*(np.concatenate(parts) for parts in zip(*lived, strict=True)))
    return Lifetimes(*(part[lives.first < lives.end] for part in lives))


def code_lines(text: bytes) -> tuple[NDArray[np.int32], Integers]:
    """Code the whitespace tokens of UTF-8 text whose lines all end with a newline.

    Returns
    -------
    The codes of all tokens, and the bounds of the lines among them (lines + 1 of them).
    """
    tokens = Vocabulary().encode([line.split() for line in text.decode().split("\n")[:-1]])
    return tokens.codes, tokens.offsets
