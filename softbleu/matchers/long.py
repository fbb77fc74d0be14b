"""The matching of one very long segment: some of the candidate's n-grams at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.limits import Limit
from softbleu.matchers.assignment import consumed
from softbleu.matchers.tables import BatchMatching

if TYPE_CHECKING:
    from softbleu.matchers.batches import Batch, WeighedText
    from softbleu.matchers.matches import Matches, Rules
    from softbleu.matchers.pool import Pool
    from softbleu.types import Integers


STRIPE_CELLS = 1 << 20
"""Pairs of n-grams of an order that are held at a time."""
_LIMIT = Limit("soft matching", "pairs of words", 1 << 25)
"""Of one segment: 5,800 words of each side take some seconds."""
MATCHED_WORDS = Limit("soft matching", "words", 1 << 20)
"""Of a candidate and its references together: what is known of their n-grams takes memory before any comparison."""


def match_long_segment(
    rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText, matches: list[Matches]
) -> None:
    """Match the n-grams of a candidate, alone in its batch, whose token-by-token matrix would not fit into memory.

    Raises
    ------
    InputError
        It is too long.
    """
    height, width = batch.candidate.shape[1], batch.reference.shape[1]
    words = f"a segment of {height:,} candidate and {width:,} reference words"
    _LIMIT.check(height * width, words)
    pools_of_each = max(len(rules.columns(order)) for order in range(1, rules.max_order + 1))
    stripe = max(1, STRIPE_CELLS // (width * pools_of_each))
    if rules.assignment == "optimal" and stripe < height:
        raise InputError(f"{words} is too long for assignment 'optimal': split it, or use 'exact-first'")
    left: dict[int, Integers] = {}
    for start in range(0, height, stripe):
        # N-grams that begin here may end beyond.
        part = replace(batch, candidate=batch.candidate[:, start : start + stripe + rules.max_order - 1])
        matching = BatchMatching(rules, pools, part, text.products(part))
        tables = matching.tables()
        if tables is None:
            continue
        tables.similarities[:, :, stripe:] = 0
        for capacity, order in zip(tables.capacity[:, 0], tables.orders, strict=True):
            if order in left:
                capacity[:] = left[order][: len(capacity)]
            left[order] = capacity
        partner, value = tables.assign(rules)
        matching.note(tables, partner, value, matches)
        for order, columns, found in zip(tables.orders, partner, value, strict=True):
            matched = columns >= 0
            np.subtract.at(left[order], columns[matched], consumed(found[matched], rules))
