"""Similarities of words, and one-to-one pairings of n-grams, in NumPy and SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softbleu.kernels.scale import SCALE
from softbleu.text.tokens import WordParts, chosen_places

if TYPE_CHECKING:
    from softbleu.kernels.pairs import TokenPairs
    from softbleu.types import Floats, Integers


_DENSE = 1 << 15  # Entries of tables of words and their parts up to which these are no sparse ones
TIE = 1e-10
"""How much weights decide among equal totals: too little to change others, in segments below 10,000 tokens."""


def raise_to_spellings(
    products: Floats,
    pairs: TokenPairs,
    candidate: NDArray[np.int32],
    reference: NDArray[np.int32],
    parts: WordParts,
    weight: float,
) -> None:
    """Raise the similarity of each pair of words, in place, to that of their spellings times a weight above 0.

    The similarity of spellings is the Dice coefficient of their parts, which are character n-grams.
    """
    (left, one), (right, other) = (np.unique(codes, return_inverse=True) for codes in (candidate, reference))
    table = weight * spelling_similarity(left, right, parts)
    for segment in range(len(pairs.cells) - 1):
        rows, columns = (slice(*bounds[segment : segment + 2]) for bounds in (pairs.rows, pairs.columns))
        block = pairs.block(products, segment)
        np.maximum(block, table[np.ix_(one[rows], other[columns])], out=block)


def spelling_similarity(left: NDArray[Any], right: NDArray[Any], parts: WordParts) -> Floats:
    """Dice coefficient of the parts of words, given by their codes, which a word has once: (left, right)."""
    width = parts.kinds
    dense = (len(left) + len(right)) * width <= _DENSE

    def incidence(codes: NDArray[Any]) -> Any:
        places, bounds = chosen_places(parts.bounds, codes)
        ids = parts.codes[places]
        if not dense:
            from scipy.sparse import csr_array

            return csr_array((np.ones(len(ids), np.float32), ids, bounds), shape=(len(codes), width))
        table = np.zeros((len(codes), width), np.float32)
        table[np.repeat(np.arange(len(codes)), np.diff(bounds)), ids] = 1
        return table

    shared = incidence(left) @ incidence(right).T
    shared = (shared if dense else shared.toarray()).astype(np.float64)
    sizes = np.diff(parts.bounds)
    return np.asarray(2 * shared / np.maximum(sizes[left][:, None] + sizes[right][None, :], 1))


def matched_weights(
    similarities: Floats, pairs: TokenPairs, candidate: Floats, reference: Floats, order: int, greedy: float
) -> Integers:
    """Weights of matched n-grams, and of all, in millionths.

    The similarity of n-grams is the mean of their words', position by position; their weight is the sum of the
    words' weights. Each takes the most similar one of the other side, or they are paired one to one by the greatest
    total similarity, the heavier ones where totals are equal. Returns (segments, order, 4): matched and all of the
    candidate, matched and all of the reference. `candidate` and `reference` are weights of the tokens; `greedy` is
    the share of the first way in the result.
    """
    sums = np.zeros((len(pairs.cells) - 1, order, 4), np.int64)
    for segment in range(len(sums)):
        table = pairs.block(similarities, segment)
        ours, others = (
            weights[bounds[segment] : bounds[segment + 1]]
            for weights, bounds in ((candidate, pairs.rows), (reference, pairs.columns))
        )
        for n in range(1, order + 1):
            sums[segment, n - 1] = _weights_of_order(table, _windows(ours, n), _windows(others, n), n, greedy)
    return sums


def _weights_of_order(table: Floats, ours: Floats, others: Floats, order: int, greedy: float) -> list[float]:
    """Compute `matched_weights` of one segment and order, by a table of similarities and the weights of n-grams."""
    matched, met = np.zeros(len(ours)), np.zeros(len(others))
    if len(ours) and len(others):
        similarities = table[: len(ours), : len(others)] + 0.0
        for k in range(1, order):
            similarities += table[k : k + len(ours), k : k + len(others)]
        # Whole millionths, so that ties are ties on every machine.
        similarities *= SCALE / order
        np.rint(similarities, out=similarities)
        matched, met = similarities.max(axis=1, initial=0), similarities.max(axis=0, initial=0)
        if greedy < 1:
            matched *= greedy
            met *= greedy
            row, column = _paired(similarities, ours, others)
            matched[row] += (1 - greedy) * similarities[row, column]
            met[column] += (1 - greedy) * similarities[row, column]
    # One after the other, as compiled: partial sums would differ in the last bits.
    sums = (np.cumsum(values) for values in (matched * ours, ours * SCALE, met * others, others * SCALE))
    return [float(np.rint(total[-1])) if len(total) else 0.0 for total in sums]


def _windows(weights: Floats, order: int) -> Floats:
    """Weight of each n-gram."""
    count = max(len(weights) - order + 1, 0)
    summed = np.zeros(count)
    for k in range(order):
        summed += weights[k : k + count]
    return summed


def _paired(similarities: Floats, ours: Floats, others: Floats) -> tuple[Integers, Integers]:
    """Places of n-grams that are paired one to one, by the greatest total; they have these weights."""
    from scipy.optimize import linear_sum_assignment

    heaviest = max(float(ours.max()) + float(others.max()), 1e-300)
    # Of equal totals the one with the greatest weight: the choice must be the same on every machine.
    ranked = np.add.outer(ours / heaviest * TIE, others / heaviest * TIE)
    ranked += 1
    ranked *= similarities
    # The least of what is below 0: for the greatest SciPy would copy the table.
    np.negative(ranked, out=ranked)
    row, column = linear_sum_assignment(ranked)
    return row, column
