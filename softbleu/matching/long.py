"""The matching of one very long segment: some of the candidate's n-grams at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.io.limits import Limit
from softbleu.matching.assignment import OPTIMAL, assign_links, consumed
from softbleu.matching.batches import BatchMatching, Tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.matching.batches import Batch, Pool, WeighedText
    from softbleu.matching.matches import Matches, Rules
    from softbleu.types import Integers

STRIPE_CELLS = 1 << 20  # Pairs of n-grams of an order that are held at a time
_LIMIT = Limit(
    "soft matching", "pairs of words", 1 << 31, "a document of 3,000 words with 20 references: 180,000,000"
)
"""Of one segment, of which a stripe is held at a time."""
MATCHED_WORDS = Limit("soft matching", "words", 1 << 20, "a document of 3,000 words with 20 references: 63,000")
"""Of a candidate and its references together: what is known of their n-grams takes memory before any comparison."""


def match_long_segment(
    rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText, matches: list[Matches]
) -> None:
    """Match the n-grams of a candidate, alone in its batch, whose token-by-token matrix would not fit into memory."""
    height, width = batch.candidate.shape[1], batch.reference.shape[1]
    words = f"a segment of {height:,} candidate and {width:,} reference words"
    _LIMIT.check(height * width, words)
    pools_of_each = max(len(rules.columns(order)) for order in range(1, rules.max_order + 1))
    stripe = max(1, STRIPE_CELLS // (width * pools_of_each))
    if rules.assignment == "optimal":
        _match_optimally(rules, pools, batch, text, matches, stripe)
    else:
        _match_greedily(rules, pools, batch, text, matches, stripe)


def _match_greedily(
    rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText, matches: list[Matches], stripe: int
) -> None:
    """Match the n-grams from left to right: each stripe takes from what those before it have left."""
    left: dict[int, Integers] = {}
    for start in range(0, batch.candidate.shape[1], stripe):
        places = slice(start, start + stripe)
        matching = _stripe(rules, pools, batch, text, places)
        tables = _tables(matching, places)
        if tables is None:
            continue
        for capacity, order in zip(tables.capacity[:, 0], tables.orders, strict=True):
            if order in left:
                capacity[:] = left[order][: len(capacity)]
            left[order] = capacity
        partner, value = tables.assign(rules)
        matching.note(tables, partner, value, matches)
        for order, columns, found in zip(tables.orders, partner, value, strict=True):
            matched = columns >= 0
            np.subtract.at(left[order], columns[matched], consumed(found[matched], rules))


def _match_optimally(
    rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText, matches: list[Matches], stripe: int
) -> None:
    """Gather the pairs that may match, stripe by stripe, and match those of each order together."""
    links: dict[int, list[tuple[NDArray[Any], ...]]] = {}
    first: tuple[BatchMatching, Tables] | None = None
    height, width = batch.candidate.shape[1], batch.reference.shape[1]
    for start in range(0, height, stripe):
        places = slice(start, start + stripe)
        matching = _stripe(rules, pools, batch, text, places)
        tables = _tables(matching, places)
        if tables is None:
            continue
        first = first or (replace(matching, batch=batch), tables)
        for similarities, order in zip(tables.similarities[:, 0], tables.orders, strict=True):
            row, column = np.nonzero(similarities > max(rules.threshold, 0))
            links.setdefault(order, []).append(
                ((row + start).astype(np.int32), column.astype(np.int32), similarities[row, column])
            )
            size = sum(len(each[0]) for each in links[order])
            OPTIMAL.check(size, f"a segment of {height:,} candidate and {width:,} reference words")
    if first is not None:
        matching, tables = first
        found = []
        for order, capacity in zip(tables.orders, tables.capacity[:, 0], strict=True):
            rows, columns, values = map(np.concatenate, zip(*links.pop(order), strict=True))
            found.append(assign_links(rows, columns, values, capacity, height))
        partner, value = (np.stack(each) for each in zip(*found, strict=True))
        matching.note(tables, partner, value, matches)


def _stripe(rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText, places: slice) -> BatchMatching:
    """Let so many n-grams of the candidate meet the pool."""
    # N-grams that begin here may end beyond.
    end = places.stop + rules.max_order - 1
    part = replace(batch, candidate=batch.candidate[:, places.start : end])
    return BatchMatching(rules, pools, part, text.products(part))


def _tables(matching: BatchMatching, places: slice) -> Tables | None:
    """What these n-grams may match, and not those that begin beyond."""
    tables = matching.tables()
    if tables is not None:
        tables.similarities[:, :, places.stop - places.start :] = 0
    return tables
