"""The matching of a whole chunk: in batches of similar segments, or in one pass of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softbleu.kernels.scale import SCALE
from softbleu.matching.batches import BatchMatching, Pool, WeighedText, batches
from softbleu.matching.long import MATCHED_WORDS, match_long_segment
from softbleu.matching.similarity import Mean, TokenVectors

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.matches import Matches, Rules
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import Vectors
    from softbleu.types import Integers


def soft_matches(rules: Rules, chunk: Chunk, vectors: Vectors) -> list[Matches]:
    """Match the n-grams of every candidate, approximately where the rules allow."""
    MATCHED_WORDS.check_sum(**chunk.sizes)
    pools = [Pool.of(ngrams, chunk, rules) for ngrams in chunk.ngrams(rules.max_order, instances=rules.in_context)]
    matches = [pool.start(order, rules) for order, pool in enumerate(pools, start=1)]
    text = WeighedText.of(chunk, vectors, rules.composition.by_frequency, rules.deepest)
    for batch in batches(chunk):
        if batch.is_long:
            match_long_segment(rules, pools, batch, text, matches)
        else:
            BatchMatching(rules, pools, batch, text.products(batch)).run(matches)
    return matches


def soft_sums(rules: Rules, chunk: Chunk, vectors: Vectors, kernels: Kernels) -> Integers | None:
    """Sum the matches of each candidate and order in one go: (lines, orders); None where kernels cannot."""
    plain = rules.exact_first and isinstance(rules.composition, Mean)
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
        SCALE if rules.consumption == "unit" else 0,
    )
