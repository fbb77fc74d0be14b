"""The matching of one very long segment: distinct n-grams only, a stripe of candidate n-grams at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.kernels.scale import SCALE
from softbleu.limits import Limit
from softbleu.matchers.assignment import EXACT, assign, consumed
from softbleu.similarity import TokenProducts, round_millionths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.matchers.batches import Batch, WeighedText
    from softbleu.matchers.matches import Matches, Rules
    from softbleu.matchers.pool import Pool
    from softbleu.types import Floats, Integers


STRIPE_CELLS = 1 << 21
"""Entries of the matrices that are held at a time."""
_LIMIT = Limit("soft matching", "pairs of words of n-grams", 1 << 28)
"""Of one segment: VLEU has so many for 3,000 words, which take some seconds."""
MATCHED_WORDS = Limit("soft matching", "words", 1 << 20)
"""Of a candidate and its references together: what is known of their n-grams takes memory before any comparison."""
_LEAST_ROWS = 256
"""N-grams of a candidate that count at least, for those of the references take memory, however few there are."""


def match_long_segment(
    rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText, matches: list[Matches]
) -> None:
    """Match the n-grams of a candidate, alone in its batch, whose token-by-token matrix would not fit into memory."""
    _check_size(rules, pools, batch)
    for order, soft in enumerate(rules.pool_orders, start=1):
        if soft:
            _match_order(rules, pools, batch, text, matches[order - 1], order)


def _check_size(rules: Rules, pools: list[Pool], batch: Batch) -> None:
    """See that n-grams to be compared are not too many.

    Raises
    ------
    InputError
        They are.
    """
    candidate, work = batch.candidate[0], 0
    for order, soft in enumerate(rules.pool_orders, start=1):
        rows = max(int(pools[order - 1].waiting[candidate].sum()), _LEAST_ROWS) * order
        for k in soft:
            capacity = pools[k - 1].capacity(k == order, batch.systems, batch.reference)
            work += rows * k * int((capacity > 0).sum())
    words = f"{batch.candidate.shape[1]:,} candidate and {batch.reference.shape[1]:,} reference words"
    _LIMIT.check(work, f"a segment of {words}")


@dataclass(frozen=True)
class _Offer:
    """The pool n-grams of one order, written one behind the other as a text."""

    order: int
    starts: Integers
    capacity: Integers
    codes: Integers
    norms: list[Floats]


def _match_order(
    rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText, matches: Matches, order: int
) -> None:
    own, candidate = pools[order - 1], batch.candidate[0]
    rows = candidate[own.waiting[candidate]]
    offers = [_offer(pools[k - 1], batch, text, k, own=k == order) for k in rules.columns(order)]
    starts = np.concatenate([offer.starts for offer in offers])
    capacity = np.concatenate([offer.capacity for offer in offers]) * SCALE
    columns = np.repeat([offer.order for offer in offers], [len(offer.starts) for offer in offers])
    if not len(starts):
        return
    stripe = max(1, STRIPE_CELLS // (len(starts) * order * int(columns.max())))
    if rules.assignment == "optimal" and stripe < len(rows):
        raise InputError(
            f"a segment of {len(candidate)} candidate and {batch.reference.shape[1]} reference tokens is too "
            "long for assignment 'optimal': split it, or use 'exact-first'"
        )
    for first in range(0, len(rows), stripe):
        some = rows[first : first + stripe]
        # Equal n-grams are as similar to others, but in context.
        ids = some if text.vectors.in_context else own.ids(some)
        _, where, which = np.unique(ids, return_index=True, return_inverse=True)
        similarities = _similarities(rules, text, some[where], order, offers)
        if rules.equal_is_one and not rules.exact_first:
            equal = own.equal(some[where][None], starts[None])[0]
            similarities[equal & (columns == order)] = EXACT
        similarities[:, capacity <= 0] = 0
        partner, value = assign(similarities[which][None], capacity[None], rules)
        row = np.flatnonzero(partner[0] >= 0)
        column = partner[0, row]
        np.subtract.at(capacity, column, consumed(value[0, row], rules))
        found = own.index[some[row]]
        matches.matched[found] = np.minimum(value[0, row], SCALE)
        matches.partner_starts[found] = starts[column]
        matches.partner_orders[found] = columns[column]


def _codes(text: WeighedText, starts: Integers, order: int) -> Integers:
    codes: Integers = text.rows[starts[:, None] + np.arange(order)].reshape(1, -1)
    return codes


def _offer(pool: Pool, batch: Batch, text: WeighedText, order: int, *, own: bool) -> _Offer:
    capacity = pool.capacity(own, batch.systems, batch.reference)[0]
    starts = batch.reference[0, capacity > 0]
    codes = _codes(text, starts, order)
    return _Offer(order, starts, capacity[capacity > 0], codes, text.vectors.inverse_norms(codes, order))


def _similarities(
    rules: Rules, text: WeighedText, starts: Integers, order: int, offers: list[_Offer]
) -> NDArray[np.int32]:
    """Similarities, in millionths, of some candidate n-grams and all offers; 0 of those that may not match."""
    codes = _codes(text, starts, order)
    norms = text.vectors.inverse_norms(codes, order)
    blocks = []
    for offer in offers:
        block = np.zeros((len(starts), len(offer.starts)), np.int32)
        blocks.append(block)
        if not block.size or offer.order not in rules.pool_orders[order - 1]:
            continue
        products = TokenProducts(*text.vectors.products(codes, offer.codes), norms, offer.norms)
        # Windows that straddle two n-grams of a text mean nothing and are left out.
        rows, columns = np.zeros((1, codes.size - order + 1)), np.zeros((1, offer.codes.size - offer.order + 1))
        rows[:, ::order], columns[:, :: offer.order] = 1, SCALE
        similarities = rules.composition.similarities(products, order, offer.order, rows, columns)
        if similarities is not None:
            block[...] = round_millionths(similarities[0, ::order, :: offer.order])
    return np.concatenate(blocks, axis=1)
