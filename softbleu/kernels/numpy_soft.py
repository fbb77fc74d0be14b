"""Similarities of words, and one-to-one pairings of n-grams, in NumPy and SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from softbleu.kernels.scale import SCALE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.kernels.pairs import TokenPairs
    from softbleu.tokens import WordParts
    from softbleu.types import Floats, Integers


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
    """Raise the similarity of each pair of words, in place, to that of their spellings times a weight.

    Parameters
    ----------
    products : one a pair
    pairs : where they stand
    candidate, reference : codes of the words
    parts : character n-grams of all words; words are as alike as the Dice coefficient of theirs
    weight : of spellings, above 0
    """
    (left, one), (right, other) = (np.unique(codes, return_inverse=True) for codes in (candidate, reference))
    table = weight * _spelling_similarity(left, right, parts)
    places, others = pairs.tokens
    np.maximum(products, table[one[places], other[others]], out=products)


def _spelling_similarity(left: NDArray[Any], right: NDArray[Any], parts: WordParts) -> Floats:
    """Dice coefficient of the parts of words, given by their codes: (left, right)."""
    from scipy.sparse import csr_array

    width = parts.kinds

    def incidence(codes: NDArray[Any]) -> csr_array:
        starts, ends = parts.bounds[codes], parts.bounds[codes + 1]
        counts = ends - starts
        bounds = np.concatenate(([0], np.cumsum(counts)))
        places = np.arange(bounds[-1]) + np.repeat(starts - bounds[:-1], counts)
        ids = parts.codes[places]
        return csr_array((np.ones(len(ids), np.float32), ids, bounds), shape=(len(codes), width))

    one, other = incidence(left), incidence(right)
    shared = (one @ other.T).toarray().astype(np.float64)
    sizes = np.diff(one.indptr)[:, None] + np.diff(other.indptr)[None, :]
    return np.asarray(2 * shared / np.maximum(sizes, 1))


def matched_weights(
    similarities: Floats,
    pairs: TokenPairs,
    candidate: Floats,
    reference: Floats,
    order: int,
    greedy: float,
) -> Integers:
    """Weights of matched n-grams, and of all, in millionths.

    n-grams are as alike as their words position by position, on average, and weigh the sum of their words. Each takes
    the most similar one of the other side, or they are paired one to one by the greatest total similarity, the
    heavier ones where totals are equal. Returns (segments, order, 4): matched and all of the candidate, matched and
    all of the reference.

    Parameters
    ----------
    similarities : of words, one a pair
    pairs : where they stand
    candidate, reference : weights of the tokens
    order : greatest n
    greedy : share of the first way in what counts; the rest is the second's
    """
    found = np.zeros((len(pairs.cells) - 1, order, 4), np.int64)
    for n in range(1, order + 1):
        found[:, n - 1] = _weights_of_order(similarities, pairs, candidate, reference, n, greedy)
    return found


def _weights_of_order(
    similarities: Floats, pairs: TokenPairs, candidate: Floats, reference: Floats, order: int, greedy: float
) -> Integers:
    heights, own, owner = _windows(pairs.rows, candidate, order)
    lengths, others, other_owner = _windows(pairs.columns, reference, order)
    strides = np.diff(pairs.columns)
    rows, columns = np.cumsum(heights) - heights, np.cumsum(lengths) - lengths
    widths = lengths[owner]
    ends = np.cumsum(widths)
    starts = ends - widths
    first = pairs.cells[owner] + (np.arange(len(owner)) - rows[owner]) * strides[owner]
    cells = np.arange(ends[-1] if len(ends) else 0)
    places, steps = cells + np.repeat(first - starts, widths), np.repeat(strides[owner] + 1, widths)
    alike = similarities[places]
    for k in range(1, order):
        alike += similarities[places + k * steps]
    # Whole millionths, so that ties are ties on every machine.
    alike = np.rint(alike * (SCALE / order))
    row, column = np.repeat(np.arange(len(owner)), widths), cells + np.repeat(columns[owner] - starts, widths)
    matched, met = np.zeros(len(own)), np.zeros(len(others))
    np.maximum.at(matched, row, alike)
    np.maximum.at(met, column, alike)
    if greedy < 1:
        matched *= greedy
        met *= greedy
        heaviest = np.maximum(_greatest(own, heights) + _greatest(others, lengths), 1e-300)
        # Of equal totals that with the greatest weight: which, must not hang on the last bits of the machine.
        ties = own / heaviest[owner] * TIE, others / heaviest[other_owner] * TIE
        chosen = _paired(alike * (1 + (ties[0][row] + ties[1][column])), heights, lengths)
        matched[row[chosen]] += (1 - greedy) * alike[chosen]
        met[column[chosen]] += (1 - greedy) * alike[chosen]
    sums = (
        (owner, matched * own),
        (owner, own * SCALE),
        (other_owner, met * others),
        (other_owner, others * SCALE),
    )
    # One after the other, as compiled: sums of pieces would differ in the last bits.
    found = [np.bincount(each, values, len(heights)) for each, values in sums]
    return np.rint(np.column_stack(found)).astype(np.int64)


def _windows(bounds: Integers, weights: Floats, order: int) -> tuple[Integers, Floats, Integers]:
    """How many n-grams each segment has; the weight and the segment of each."""
    counts = np.maximum(np.diff(bounds) - order + 1, 0)
    owner = np.repeat(np.arange(len(counts)), counts)
    starts = np.arange(len(owner)) + np.repeat(bounds[:-1] - (np.cumsum(counts) - counts), counts)
    summed = np.zeros(len(owner))
    for k in range(order):
        summed += weights[starts + k]
    return counts, summed, owner


def _greatest(values: Floats, counts: Integers) -> Floats:
    """Greatest of so many values of each segment, 0 of none."""
    found = np.zeros(len(counts))
    np.maximum.at(found, np.repeat(np.arange(len(counts)), counts), values)
    return found


def _paired(ranked: Floats, heights: Integers, widths: Integers) -> Integers:
    """TokenPairs of n-grams that are paired one to one, segment by segment, by the greatest total."""
    from scipy.optimize import linear_sum_assignment

    chosen, cell = [np.zeros(0, np.int64)], 0
    for height, width in zip(heights.tolist(), widths.tolist(), strict=True):
        if height and width:
            block = ranked[cell : cell + height * width].reshape(height, width)
            row, column = linear_sum_assignment(block, maximize=True)
            chosen.append(cell + row * width + column)
            cell += height * width
    return np.concatenate(chosen)
