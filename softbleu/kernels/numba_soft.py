"""Similarities of spellings, and one-to-one assignment of n-grams, compiled by numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from softbleu.kernels import SCALE
from softbleu.kernels.compiled import kernel, part
from softbleu.kernels.numpy_backend import TIE

if TYPE_CHECKING:
    from softbleu.text.coded import TokenPairs, WordParts
    from softbleu.types import Floats, Integers


def raise_to_spellings(
    products: Floats,
    pairs: TokenPairs,
    candidate: NDArray[np.int32],
    reference: NDArray[np.int32],
    parts: WordParts,
    weight: float,
) -> None:
    """Update similarities by spellings; see `softbleu.kernels.numpy_backend.raise_to_spellings`."""
    last = np.zeros(parts.kinds, np.int32)
    most = int((parts.bounds[reference + 1] - parts.bounds[reference]).sum())
    bounds = pairs.rows, pairs.columns, pairs.cells
    entries = np.empty((most + 1, 2), np.int32)
    width = _greatest(pairs.columns)
    work = last, entries, np.zeros(width, np.int32), np.zeros(width)
    _raise(products, *bounds, candidate, reference, parts.codes, parts.bounds, weight, work)


def _greatest(bounds: Integers) -> int:
    """Return the greatest difference of adjacent bounds."""
    return int((bounds[1:] - bounds[:-1]).max(initial=0))


@kernel
def _raise(products, rows, columns, cells, candidate, reference, parts, bounds, weight, work):
    """Count the parts that words share; the words of a segment with a part form a chain of entries."""
    last, entries, shared, sizes = work
    made = 0
    for segment in range(len(cells) - 1):
        first, before = columns[segment], made
        width = columns[segment + 1] - first
        for column in range(width):
            code = reference[first + column]
            # 1 avoids a division by 0 for a word without parts.
            sizes[column] = max(bounds[code + 1] - bounds[code], 1)
            for place in range(bounds[code], bounds[code + 1]):
                made += 1
                entries[made, 0] = column
                entries[made, 1] = last[parts[place]]
                last[parts[place]] = made
        for row in range(rows[segment], rows[segment + 1]):
            start, end = bounds[candidate[row]], bounds[candidate[row] + 1]
            for place in range(start, end):
                entry = last[parts[place]]
                # Earlier entries belong to other segments.
                while entry > before:
                    shared[entries[entry, 0]] += 1
                    entry = entries[entry, 1]
            cell, size = np.uint64(cells[segment] + (row - rows[segment]) * width), np.float64(end - start)
            # Without a branch, for speed: 0 shared parts change nothing.
            for column in range(np.uint64(width)):
                similarity = weight * (2.0 * shared[column] / (size + sizes[column]))
                products[cell + column] = max(products[cell + column], similarity)
                shared[column] = 0


def matched_weights(
    similarities: Floats, pairs: TokenPairs, candidate: Floats, reference: Floats, order: int, greedy: float
) -> Integers:
    """Sum the weights of matched n-grams; see `softbleu.kernels.numpy_backend.matched_weights`."""
    sums = np.zeros((len(pairs.cells) - 1, order, 4), np.int64)
    room = max(_greatest(pairs.rows), _greatest(pairs.columns))
    _match(
        (similarities, pairs.rows, pairs.columns, pairs.cells, candidate, reference),
        greedy,
        (np.empty((2, room)), np.empty((2, room)), np.empty((2, _greatest(pairs.cells)))),
        (np.empty((5, room)), np.empty((5, room), np.int64)),
        sums,
    )
    return sums


@kernel
def _match(texts, greedy, tables, work, sums):
    similarities, rows, columns, cells, candidate, reference = texts
    weights, matched, pairs = tables
    for segment in range(len(sums)):
        lengths = rows[segment + 1] - rows[segment], columns[segment + 1] - columns[segment]
        for n in range(1, sums.shape[1] + 1):
            sizes = _count_ngrams(lengths[0], n), _count_ngrams(lengths[1], n)
            heaviest = _add_windows(candidate, rows[segment], n, sizes[0], weights[0])
            heaviest += _add_windows(reference, columns[segment], n, sizes[1], weights[1])
            _fill(similarities, cells[segment], lengths[1], n, sizes, pairs[0], matched)
            if greedy < 1 and sizes[0] and sizes[1]:
                _pair(pairs, weights, heaviest, sizes, work, matched, greedy)
            for side in range(2):
                part_sum = total = 0.0
                for place in range(sizes[side]):
                    part_sum += matched[side, place] * weights[side, place]
                    total += weights[side, place] * SCALE
                sums[segment, n - 1, 2 * side] = np.rint(part_sum)
                sums[segment, n - 1, 2 * side + 1] = np.rint(total)


@part
def _count_ngrams(length, n):
    return length - n + 1 if length >= n else 0


@part
def _add_windows(values, first, n, size, sums):
    """Compute the sums of n consecutive values; return the greatest."""
    greatest = 0.0
    for start in range(size):
        total = 0.0
        for k in range(n):
            total += values[first + start + k]
        sums[start] = total
        if total > greatest:
            greatest = total
    return greatest


@part(fastmath={"nnan", "nsz"})
def _fill(similarities, cell, stride, n, sizes, filled, best):
    """Compute the similarities of n-grams, and the greatest of each."""
    height, width = sizes
    scale = SCALE / n
    of_columns = best[1, :width]
    of_columns[:] = 0
    for row in range(height):
        first = cell + row * stride
        values = filled[row * width : (row + 1) * width]
        for column in range(np.uint64(width)):
            values[column] = similarities[first + column]
        for k in range(1, n):
            later = first + k * (stride + 1)
            for column in range(np.uint64(width)):
                values[column] += similarities[later + column]
        greatest = 0.0
        for column in range(np.uint64(width)):
            value = np.rint(values[column] * scale)
            values[column] = value
            greatest = value if value > greatest else greatest
            of_columns[column] = value if value > of_columns[column] else of_columns[column]
        best[0, row] = greatest


@part
def _pair(tables, weights, heaviest, sizes, work, matched, greedy):
    """Assign n-grams one to one at the least total cost, and add a share of their similarities."""
    similarities, costs = tables
    height, width = sizes
    # The n-grams of the shorter side are assigned one by one.
    flipped = width < height
    short, long = (width, height) if flipped else (height, width)
    ties, share = work[0], 1 - greedy
    if heaviest < 1e-300:
        heaviest = 1e-300
    for side in range(2):
        for place in range(sizes[side]):
            ties[side, place] = weights[side, place] / heaviest * TIE
            matched[side, place] *= greedy
    for row in range(height):
        for column in range(width):
            place = column * long + row if flipped else row * long + column
            costs[place] = -(similarities[row * width + column] * (1 + (ties[0, row] + ties[1, column])))
    _assign(costs, short, long, work[0], work[1])
    for one in range(short):
        other = work[1][0, one]
        row, column = (other, one) if flipped else (one, other)
        matched[0, row] += share * similarities[row * width + column]
        matched[1, column] += share * similarities[row * width + column]


@part
def _assign(costs, short, long, reals, numbers):
    """Assign a column to each row at the least total cost, by shortest augmenting paths (Crouse 2016).

    Ties are resolved as in `scipy.optimize.linear_sum_assignment`. The columns are written to ``numbers[0]``.
    """
    row_price, price, passed_at, passed_price = reals[0], reals[1], reals[3], reals[4]
    partner, owner, before, passed = numbers[0], numbers[1], numbers[2], numbers[4]
    row_price[:short] = 0
    price[:long] = 0
    owner[:long] = -1
    for first in range(short):
        count = _shortest_path(costs, first, long, reals, numbers)
        # All visited columns but the last have rows, whose prices change with theirs.
        column, reached = passed[count - 1], passed_at[count - 1]
        row_price[first] += reached
        for place in range(count):
            taken, rise = passed[place], reached - passed_at[place]
            if owner[taken] >= 0:
                row_price[owner[taken]] += rise
            price[taken] = passed_price[place] - rise
        row = -1
        while row != first:
            row = before[column]
            owner[column] = row
            column, partner[row] = partner[row], column


@part(fastmath={"nnan", "nsz"})
def _shortest_path(costs, row, long, reals, numbers):
    """Find the shortest path to a column without a row; return the number of visited columns, this one the last.

    Visited columns have the price -inf during the search, so that they are not reached again.
    """
    row_price, price, distance, passed_at, passed_price = reals[0], reals[1], reals[2], reals[3], reals[4]
    owner, before, left, passed = numbers[1], numbers[2], numbers[3], numbers[4]
    for place in range(long):
        left[place] = long - 1 - place
        distance[place] = np.inf
    reached = 0.0
    for count in range(long):
        least, price_of_row, costs_of_row = np.inf, row_price[row], costs[row * long : (row + 1) * long]
        for column in range(np.uint64(long)):
            length, known = reached + costs_of_row[column] - price_of_row - price[column], distance[column]
            before[column] = row if length < known else before[column]
            known = length if length < known else known
            distance[column] = known
            least = known if known < least else least
        # Ties go to the last column without a row, or else to the first.
        nearest = -1
        for place in range(long - count):
            if distance[left[place]] == least and (nearest < 0 or owner[left[place]] < 0):
                nearest = place
        column = left[nearest]
        left[nearest] = left[long - count - 1]
        passed[count], passed_at[count], passed_price[count] = column, least, price[column]
        if owner[column] < 0:
            return count + 1
        reached, row = least, owner[column]
        price[column], distance[column] = -np.inf, np.inf
    return 0
