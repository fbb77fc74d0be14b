"""The matching of a whole chunk: in batches of similar segments, a stripe of a long one at a time, or by kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.io.limits import Limit
from softbleu.kernels import Kernels
from softbleu.kernels.scale import SCALE
from softbleu.matching.batches import OPTIMAL, Batch, BatchMatching, Pool, Tables, WeighedText, assign_links, batches
from softbleu.matching.matches import Matches, Rules
from softbleu.matching.ngrams import Chunk
from softbleu.matching.similarity import TokenVectors, Vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.types import Integers

STRIPE_CELLS = 1 << 20  # Pairs of n-grams of an order that are held at a time
_LIMIT = Limit(
    "soft matching", "pairs of words", 1 << 31, "a document of 3,000 words with 20 references: 180,000,000"
)
"""Of one segment, of which a stripe is held at a time."""
MATCHED_WORDS = Limit("soft matching", "words", 1 << 20, "a document of 3,000 words with 20 references: 63,000")
"""Of a candidate and its references together: what is known of their n-grams takes memory before any comparison."""


def soft_matches(rules: Rules, chunk: Chunk, vectors: Vectors) -> list[Matches]:
    """Match the n-grams of every candidate of a chunk, approximately where the rules allow: `Matches` for each order.

    `vectors` are those of the words of the corpus.
    """
    MATCHED_WORDS.check_sum(**chunk.sizes)
    pools = [Pool.of(ngrams, chunk, rules) for ngrams in chunk.ngrams(rules.max_order, instances=rules.in_context)]
    matches = [pool.start(order, rules) for order, pool in enumerate(pools, start=1)]
    text = WeighedText.of(chunk, vectors, rules.composition.by_frequency, rules.deepest)
    for batch in batches(chunk):
        if batch.is_long:
            match_long_segment(rules, pools, batch, text, matches)
        else:
            matching = BatchMatching(rules, pools, batch, text.products(batch))
            if (tables := matching.tables()) is not None:
                matching.note(tables, *tables.assign(rules), matches)
    return matches


def soft_sums(rules: Rules, chunk: Chunk, vectors: Vectors, kernels: Kernels) -> Integers | None:
    """Sum the matches of each candidate of a chunk and order in one go, in millionths: (lines, orders).

    Parameters are those of `soft_matches`; None where `kernels` cannot do so with these rules and vectors.
    """
    plain = rules.exact_first and not rules.composition.aligned
    if kernels.sum_matches is None or not plain or not isinstance(vectors, TokenVectors):
        return None
    if vectors.allowed_pairs is not None:
        return None
    orders = range(1, rules.max_order + 1)
    return kernels.sum_matches(
        chunk.candidates,
        chunk.references,
        chunk.segment_offsets,
        vectors.weighted(by_frequency=rules.composition.by_frequency).arrays,
        np.array([[m in pool_orders for m in orders] for pool_orders in rules.pool_orders]),
        rules.threshold,
        rules.unit,
    )


def match_long_segment(
    rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText, matches: list[Matches]
) -> None:
    """Match the n-grams of a candidate, alone in its batch, whose token-by-token matrix would not fit into memory.

    `pools` are the reference n-grams of each order, `text` the vectors of the chunk, weighted as the rules want;
    `matches`, of each order, are written.
    """
    words = words_of(batch)
    if rules.assignment == "optimal":
        # An order at a time, as all its pairs that may match are held.
        for order in np.flatnonzero([bool(soft) for soft in rules.pool_orders]).tolist():
            one = replace(rules, pool_orders=tuple(s if n == order else () for n, s in enumerate(rules.pool_orders)))
            _match_optimally(one, batch, stripes_of(one, pools, batch, text), matches, words)
    else:
        _match_greedily(rules, stripes_of(rules, pools, batch, text), matches)


def words_of(batch: Batch) -> str:
    """Say how long a segment is that is alone in its batch; raise `InputError` if it is too long."""
    height, width = batch.candidate.shape[1], batch.reference.shape[1]
    words = f"a segment of {height:,} candidate and {width:,} reference words"
    _LIMIT.check(height * width, words)
    return words


def stripes_of(
    rules: Rules, pools: list[Pool], batch: Batch, text: WeighedText
) -> Iterator[tuple[int, BatchMatching, Tables]]:
    """Match some n-grams of a candidate, alone in its batch, with the pools, then the next.

    Yields the token at which the first of them begins, the matching and its tables. `text` and `rules` are as for
    `match_long_segment`.
    """
    pools_of_each = max(len(rules.columns(order)) for order in range(1, rules.max_order + 1))
    stripe = max(1, STRIPE_CELLS // (batch.reference.shape[1] * pools_of_each))
    for start in range(0, batch.candidate.shape[1], stripe):
        # N-grams that begin here may end beyond, and those that begin there are not to be matched yet.
        end = start + stripe + rules.max_order - 1
        part = replace(batch, candidate=batch.candidate[:, start:end])
        matching = BatchMatching(rules, pools, part, text.products(part))
        tables = matching.tables()
        if tables is not None:
            tables.similarities[:, :, stripe:] = 0
            yield start, matching, tables


def _match_greedily(
    rules: Rules, stripes: Iterator[tuple[int, BatchMatching, Tables]], matches: list[Matches]
) -> None:
    """Match the n-grams from left to right: each stripe takes from what those before it have left."""
    left: dict[int, Integers] = {}
    for _, matching, tables in stripes:
        for capacity, order in zip(tables.capacity[:, 0], tables.orders, strict=True):
            if order in left:
                capacity[:] = left[order][: len(capacity)]
            left[order] = capacity
        partner, value = tables.assign(rules)
        matching.note(tables, partner, value, matches)
        for order, columns, similarities in zip(tables.orders, partner, value, strict=True):
            matched = columns >= 0
            np.subtract.at(left[order], columns[matched], rules.unit or np.minimum(similarities[matched], SCALE))
        # Memory is for the next.
        del matching, tables


def _match_optimally(
    rules: Rules,
    batch: Batch,
    stripes: Iterator[tuple[int, BatchMatching, Tables]],
    matches: list[Matches],
    words: str,
) -> None:
    """Gather the pairs of a single order that may match, stripe by stripe, and match them together."""
    links: list[tuple[NDArray[Any], ...]] = []
    first: tuple[BatchMatching, Tables] | None = None
    for start, matching, tables in stripes:
        first = first or (replace(matching, batch=batch), tables)
        similarities = tables.similarities[0, 0]
        row, column = np.nonzero(similarities > max(rules.threshold, 0))
        links.append(((row + start).astype(np.int32), column.astype(np.int32), similarities[row, column]))
        OPTIMAL.check(sum(len(link[0]) for link in links), words)
        del matching, tables
    if first is not None:
        whole, tables = first
        rows, columns, values = map(np.concatenate, zip(*links, strict=True))
        links.clear()
        partner, value = assign_links(rows, columns, values, tables.capacity[0, 0], batch.candidate.shape[1])
        whole.note(tables, partner[None], value[None], matches)
