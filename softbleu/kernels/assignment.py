"""Giving pool n-grams to candidate n-grams, left to right: at one threshold, and at many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softbleu.kernels.scale import SCALE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.types import Integers

_NEAREST = 48  # Columns of a row that are looked at first
_FEW = 64  # Rows that are served one after the other, which is faster than whole arrays


def assign_greedily(
    similarities: NDArray[np.int32], capacity: Integers, unit: int, threshold: int = 0
) -> tuple[Integers, Integers]:
    """Give each candidate n-gram, left to right, the most similar pool n-gram that is left.

    Every row proposes to its best column; a column keeps the leftmost rows that its capacity allows and sends the
    others on (deferred acceptance). As all columns prefer the leftmost rows, the outcome is exactly that of serving
    the rows one after the other, in few rounds over whole arrays. Returns the column of each row, -1 for none, and
    the similarity of that match, 0 for none: both (batch, rows). The similarities, (batch, rows, columns), are
    overwritten. A column is left while less is consumed than its capacity; a match consumes `unit`, or, of 0, its
    similarity, but one above 1 (of an exact match, which must win all ties) one instance.
    """
    batch, rows, columns = similarities.shape
    partner = np.full(batch * rows, -1)
    value = np.zeros(batch * rows, np.int64)
    if not columns:
        return partner.reshape(batch, rows), value.reshape(batch, rows)
    flat = similarities.reshape(batch * rows, columns)
    limits = capacity.reshape(-1)
    choices = flat.argmax(axis=1)
    proposing = np.flatnonzero(flat[np.arange(batch * rows), choices] > threshold)
    if len(proposing) <= _FEW:
        _serve(flat, proposing.tolist(), rows, limits, unit, threshold, partner, value)
        return partner.reshape(batch, rows), value.reshape(batch, rows)
    choices = choices[proposing]
    contested = np.zeros(len(limits), bool)
    # Number among all columns of the one that each row is engaged to.
    chosen = np.full(batch * rows, -1)
    while len(proposing):
        offered = flat[proposing, choices]
        able = np.flatnonzero(offered > threshold)
        proposing, choices = proposing[able], choices[able]
        partner[proposing] = choices
        value[proposing] = offered[able]
        wanted = proposing // rows * columns + choices
        chosen[proposing] = wanted
        # Only columns that somebody new proposes to may have to send somebody on.
        contested[wanted] = True
        engaged = np.flatnonzero(chosen >= 0)
        engaged = engaged[contested[chosen[engaged]]]
        contested[wanted] = False
        column = chosen[engaged]
        ranked = np.argsort(column, kind="stable")
        engaged, column = engaged[ranked], column[ranked]
        cost = np.full(len(engaged), unit) if unit else np.minimum(value[engaged], SCALE)
        consumed = np.cumsum(cost) - cost
        starts = np.flatnonzero(column[1:] != column[:-1]) + 1
        first = np.concatenate(([0], starts)) if len(column) else starts
        consumed -= np.repeat(consumed[first], np.diff(first, append=len(column)))
        proposing = engaged[consumed >= limits[column]]
        flat[proposing, partner[proposing]] = -1
        partner[proposing] = chosen[proposing] = -1
        value[proposing] = 0
        choices = flat[proposing].argmax(axis=1)
    return partner.reshape(batch, rows), value.reshape(batch, rows)


def _serve(
    flat: NDArray[np.int32],
    proposing: Sequence[int],
    rows: int,
    limits: Integers,
    unit: int,
    threshold: int,
    partner: Integers,
    value: Integers,
) -> None:
    """Serve a few rows one after the other, as `assign_greedily` says."""
    consumed: dict[int, int] = {}
    for row in proposing:
        similarities, first = flat[row], row // rows * flat.shape[1]
        choice = int(similarities.argmax())
        while consumed.get(first + choice, 0) >= limits[first + choice] and similarities[choice] > threshold:
            similarities[choice] = -1
            choice = int(similarities.argmax())
        similarity = int(similarities[choice])
        if similarity > threshold:
            partner[row], value[row] = choice, similarity
            consumed[first + choice] = consumed.get(first + choice, 0) + (unit or min(similarity, SCALE))


class Intervals(NamedTuple):
    """Matches, and between which of some ascending thresholds each is made; one entry a match in every array."""

    segment: Integers
    row: Integers
    column: Integers
    value: Integers  # Similarity in millionths; more than 1 for an exact match
    first: Integers  # Number of the lowest threshold at which the match is made
    end: Integers  # Number of the first threshold above it at which it is not


def serve_at(similarities: NDArray[np.int32], left: Integers, thresholds: Integers) -> Integers:
    """Give each row, top down, its most similar column that is left at each threshold, the leftmost of equal ones.

    The same as `assign_greedily` at each threshold with the unit `SCALE`, for rows that come part by part: what is
    `left` of the columns, (thresholds, columns), is taken from. Similarities have shape (rows, columns). Returns the
    similarity of each match, 0 for none, (thresholds, rows).
    """
    values = np.zeros((len(thresholds), len(similarities)), np.int64)
    most = min(_NEAREST, similarities.shape[1])
    for row in np.flatnonzero(similarities.max(axis=1, initial=0) > thresholds[0]).tolist():
        similarity = similarities[row]
        near = np.argpartition(similarity, -most)[-most:]
        edge = similarity[near[0]]
        # Which of several columns at the edge come first is not known of these few.
        near = np.sort(near[similarity[near] > edge])
        if not len(near) or most == len(similarity):
            edge, near = -1, np.arange(len(similarity))
        waiting = np.arange(len(thresholds))
        for columns, least in ((near, edge), (np.arange(len(similarity)), -1)):
            offered = np.where(left[np.ix_(waiting, columns)] > 0, similarity[columns], -1)
            choice = offered.argmax(axis=1)
            reached = offered[np.arange(len(waiting)), choice]
            made = reached > np.maximum(thresholds[waiting], least)
            left[waiting[made], columns[choice[made]]] -= SCALE
            values[waiting[made], row] = reached[made]
            waiting = waiting[~made & (least > thresholds[waiting])]
            if not len(waiting):
                break
    return values


def sweep_greedily(similarities: NDArray[np.int32], capacity: Integers, thresholds: Integers) -> Intervals:
    """Matches that `assign_greedily` makes (unit: one instance) at every one of some thresholds, in one pass.

    The assignment is made once, at the lowest threshold. As the threshold rises, matches fall away one by one, the
    least similar first, and each frees one instance of the pool. The first row further right that likes it better
    than what it has takes it and frees its own, and so on to the end of the row: exactly what serving the rows one
    after the other, at the higher threshold, would have given. Similarities are 0 or less where no match is allowed;
    thresholds ascend.
    """
    batch, rows, _ = similarities.shape
    partner, value = assign_greedily(similarities.copy(), capacity, SCALE, int(thresholds[0]))
    since = np.zeros((batch, rows), np.int64)
    lived: list[tuple[Integers, ...]] = []
    places = np.arange(rows)

    def end_intervals(segments: Integers, at: Integers, now: Integers) -> None:
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
        end_intervals(settled, least, when[settled])
        partner[settled, least], value[settled, least] = -1, 0

        active = active[column[active] >= 0]
        free, held = column[active], value[active]
        offered = similarities[active, :, free]
        better = (offered > held) | ((offered == held) & (free[:, None] < partner[active]))
        better &= (offered > level[active][:, None]) & (places > freed_by[active][:, None])
        taker = better.argmax(axis=1)
        taken = better[np.arange(len(active)), taker]
        column[active[~taken]] = -1
        moved, taker, free, offer = active[taken], taker[taken], free[taken], offered[taken, taker[taken]]
        end_intervals(moved, taker, when[moved])
        column[moved], freed_by[moved] = partner[moved, taker], taker
        partner[moved, taker], value[moved, taker], since[moved, taker] = free, offer, when[moved]
    segments, at = np.nonzero(value > 0)
    end_intervals(segments, at, np.full(len(segments), len(thresholds)))
    intervals = Intervals(*(np.concatenate(parts) for parts in zip(*lived, strict=True)))
    return Intervals(*(part[intervals.first < intervals.end] for part in intervals))
