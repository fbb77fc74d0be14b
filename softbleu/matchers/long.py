"""The matching of one very long segment: distinct n-grams only, a stripe of candidate n-grams at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.matchers.assignment import EXACT, assign, consumed
from softbleu.similarity import SCALE, TokenProducts, composition, threshold_in_millionths, to_millionths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.matchers.base import Matches, SoftMatcher
    from softbleu.matchers.pool import Pool
    from softbleu.similarity import UnitVectors
    from softbleu.types import Floats, Integers


STRIPE_CELLS = 1 << 21
"""Entries of the matrices that are held at a time."""


@dataclass(frozen=True)
class LongSegment:
    """Positions of a segment's candidate and reference tokens, and the codes of all positions."""

    candidate: Integers
    reference: Integers
    codes: Integers


def match_long_segment(
    matcher: SoftMatcher,
    pools: list[Pool],
    segment: LongSegment,
    vectors: UnitVectors,
    matches: list[Matches],
) -> None:
    """Match the n-grams of a segment whose token-by-token matrix would not fit into memory."""
    for order in range(1, len(pools) + 1):
        soft = matcher.pool_orders(order, len(pools))
        if soft:
            _match_order(matcher, pools, segment, vectors, matches[order - 1], order)


@dataclass(frozen=True)
class _Offer:
    """The pool n-grams of one order, written one behind the other as a text."""

    order: int
    starts: Integers
    text: Integers
    bands: tuple[Floats, ...]


def _match_order(
    matcher: SoftMatcher,
    pools: list[Pool],
    segment: LongSegment,
    vectors: UnitVectors,
    matches: Matches,
    order: int,
) -> None:
    own = pools[order - 1]
    rows = segment.candidate[own.waiting[segment.candidate]]
    offers = [
        _offer(segment, vectors, k, segment.reference[pools[k - 1].capacity(k == order)[segment.reference] > 0])
        for k in sorted({order, *matcher.pool_orders(order, len(pools))})
    ]
    starts = np.concatenate([offer.starts for offer in offers])
    capacity = np.concatenate([pools[o.order - 1].capacity(o.order == order)[o.starts] for o in offers]) * SCALE
    columns = np.repeat([offer.order for offer in offers], [len(offer.starts) for offer in offers])
    if not len(starts):
        return
    stripe = max(1, STRIPE_CELLS // (len(starts) * order * int(columns.max())))
    if matcher.assignment == "optimal" and stripe < len(rows):
        raise InputError(
            f"a segment of {len(segment.candidate)} candidate and {len(segment.reference)} reference tokens is too "
            "long for assignment 'optimal': split it, or use 'exact-first'"
        )
    for first in range(0, len(rows), stripe):
        some = rows[first : first + stripe]
        cells, where, which = np.unique(own.cells[some], return_index=True, return_inverse=True)
        text = _text(segment, some[where], order)
        similarities = _similarities(matcher, len(pools), vectors, text, order, offers)
        if matcher.assignment != "exact-first":
            equal = (columns == order) & (cells[:, None] == own.pool_cells[starts])
            similarities[equal] = EXACT
        similarities[:, capacity <= 0] = -1
        partner, value = assign(similarities[which][None], capacity[None], matcher)
        row = np.flatnonzero(partner[0] >= 0)
        column = partner[0, row]
        np.subtract.at(capacity, column, consumed(value[0, row], matcher))
        found = own.index[some[row]]
        matches.masses[found] = np.minimum(value[0, row], SCALE)
        matches.partner_starts[found] = starts[column]
        matches.partner_orders[found] = columns[column]


def _text(segment: LongSegment, starts: Integers, order: int) -> Integers:
    text: Integers = segment.codes[starts[:, None] + np.arange(order)].reshape(1, -1)
    return text


def _offer(segment: LongSegment, vectors: UnitVectors, order: int, starts: Integers) -> _Offer:
    text = _text(segment, starts, order)
    return _Offer(order, starts, text, vectors.bands(text, order))


def _similarities(
    matcher: SoftMatcher,
    max_order: int,
    vectors: UnitVectors,
    text: Integers,
    order: int,
    offers: list[_Offer],
) -> NDArray[np.int32]:
    """Similarities that count, in millionths, of some candidate n-grams and all offers; -1 for others."""
    bands = vectors.bands(text, order)
    blocks = []
    for offer in offers:
        block = np.full((text.size // order, len(offer.starts)), -1, np.int32)
        blocks.append(block)
        if not len(offer.starts) or offer.order not in matcher.pool_orders(order, max_order):
            continue
        products = TokenProducts(*vectors.products(text, offer.text), bands, offer.bands)
        similarities = composition(matcher.composition).similarities(products, order, offer.order)
        if similarities is not None:
            # Windows that straddle two n-grams of a text mean nothing and are left out.
            millionths = to_millionths(similarities[0, ::order, :: offer.order])
            np.copyto(block, millionths, where=millionths > threshold_in_millionths(matcher.threshold))
    return np.concatenate(blocks, axis=1)
