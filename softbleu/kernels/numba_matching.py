"""Soft matching, compiled by numba: each candidate with its references, from words to sums of matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softbleu.kernels.compiled import kernel, part
from softbleu.kernels.numba_ngrams import find_ngram
from softbleu.kernels.scale import SCALE, ZERO_NORM

if TYPE_CHECKING:
    from softbleu.kernels import WordArrays
    from softbleu.kernels.pairs import TokenPairs
    from softbleu.text.tokens import Tokens
    from softbleu.types import Flags, Floats, Integers


MOST_CELLS = 1 << 22
"""Pairs of tokens of a candidate and its references, at most: as many sums are held for each pair of orders."""
# What the table of n-grams knows of each, behind what it is found by.
_COUNT, _READER, _BEST, _FIRST, _SEEN, _CANDIDATE, _COLUMNS = 3, 4, 5, 6, 7, 8, 9


def sum_matches(
    candidates: Tokens,
    references: Tokens,
    segment_offsets: Integers,
    words: WordArrays,
    meets: Flags,
    threshold: int,
    unit: int,
) -> Integers | None:
    """Sum the matches of each candidate: equal n-grams first, then similar ones, left to right.

    The digits are those of `softbleu.matching.matchers.BatchMatching`, which works on whole arrays. Returns
    millionths: (lines, orders). None where a segment is too long. Candidates of several systems come one system after
    the other; `meets` says which orders may match, (candidate's, pool's); a match takes `unit` millionths, or, of 0,
    its similarity.
    """
    height = int(candidates.lengths.max(initial=0))
    width = int(np.diff(references.offsets[segment_offsets]).max(initial=0))
    if height * width > MOST_CELLS:
        return None
    orders = len(meets)
    sums = np.zeros((len(candidates.lengths), orders), np.int64)
    slots = 64
    while slots < 2 * orders * width:
        slots *= 2
    _match(
        (candidates.codes, candidates.offsets, references.codes, references.offsets, segment_offsets),
        (np.asarray(words.rows), np.asarray(words.norms)),
        (_array(words.weights, np.float64), _array(words.self_only, np.bool_)),
        (meets, meets.any(axis=1), threshold, unit),
        (
            np.full((slots, _COLUMNS), -1, np.int32),
            np.zeros((orders, width), np.int32),
            np.zeros((orders, height), np.bool_),
        ),
        (
            # Words are multiplied three by three, so there is room for two more.
            np.zeros((height + 2, words.rows.shape[1])),
            np.zeros((width + 2, words.rows.shape[1])),
            np.zeros((height + 2, width + 2)),
            np.zeros((orders, height)),
            np.zeros((orders, width)),
            np.zeros((orders + 1, max(height, width))),
        ),
        (
            np.zeros(orders * height * width),
            np.zeros(width),
            np.zeros((orders, width)),
            np.zeros((orders, width), np.int64),
        ),
        sums,
    )
    return sums


def multiply_pairs(
    words: WordArrays, pairs: TokenPairs, candidate: NDArray[np.int32], reference: NDArray[np.int32]
) -> Floats:
    """Products of the words of each pair, unweighted; as `UnitVectors.of_pairs` of `softbleu.matching.similarity`."""
    products = np.empty(int(pairs.cells[-1]))
    height, width = (int(np.diff(bounds).max(initial=0)) + 2 for bounds in (pairs.rows, pairs.columns))
    dimension = words.rows.shape[1]
    _multiply_pairs(
        (candidate, pairs.rows, reference, pairs.columns, pairs.cells),
        (np.asarray(words.rows), np.asarray(words.norms)),
        (np.zeros(0), _array(words.self_only, np.bool_)),
        (np.zeros((height, dimension)), np.zeros((width, dimension)), np.zeros((height, width))),
        products,
    )
    return products


def _array(values: NDArray[Any] | None, kind: type[np.generic]) -> NDArray[Any]:
    return np.zeros(0, kind) if values is None else np.asarray(values)


@kernel
def _match(texts, table, measure, rules, exact, similar, work, sums):  # type: ignore[no-untyped-def]
    codes, offsets, reference, bounds, segments = texts
    rows, norms = table
    ngrams, places, waiting = exact
    proposed, others, cross, row_norms, column_norms, bands = similar
    count, orders = len(segments) - 1, len(sums[0]) if len(sums) else 0
    for segment in range(count):
        first, last = segments[segment], segments[segment + 1]
        text = reference[bounds[first] : bounds[last]]
        mask = 63
        while mask + 1 < 2 * orders * len(text):
            mask = 2 * mask + 1
        _learn_pool(ngrams, reference, bounds, first, last, mask, segment, places)
        looked = False
        for line in range(segment, len(offsets) - 1, count):
            words = codes[offsets[line] : offsets[line + 1]]
            left = _match_equal(ngrams, words, mask, segment, line, rules[1], waiting, sums[line])
            if not left or not len(text):
                continue
            if not looked:
                _look_up(text, rows, norms, others)
                _measure_ngrams(text, others, measure, bands, column_norms)
                looked = True
            _look_up(words, rows, norms, proposed)
            _measure_ngrams(words, proposed, measure, bands, row_norms)
            _multiply(proposed, others, len(words), len(text), cross)
            _relate(words, text, measure, cross)
            _serve(rules, exact, similar, work, line, len(words), len(text), sums[line])


@kernel
def _multiply_pairs(texts, table, measure, room, products):  # type: ignore[no-untyped-def]
    codes, offsets, reference, bounds, cells = texts
    rows, norms = table
    proposed, others, cross = room
    for segment in range(len(cells) - 1):
        words = codes[offsets[segment] : offsets[segment + 1]]
        text = reference[bounds[segment] : bounds[segment + 1]]
        _look_up(words, rows, norms, proposed)
        _look_up(text, rows, norms, others)
        _multiply(proposed, others, len(words), len(text), cross)
        _relate(words, text, measure, cross)
        place = cells[segment]
        for row in range(len(words)):
            for column in range(len(text)):
                products[place] = cross[row, column]
                place += 1


@part(inline="always")
def _learn_pool(ngrams, reference, bounds, first, last, mask, stamp, places):  # type: ignore[no-untyped-def]
    """Count the n-grams of a segment's references, and note the place of each that is the first of its kind.

    `places` holds the slots of n-grams at their first places, -1 at others.
    """
    start = bounds[first]
    places[:, : bounds[last] - start] = -1
    for line in range(first, last):
        for place in range(bounds[line], bounds[line + 1]):
            head = np.int64(-1)
            for order in range(min(len(places), bounds[line + 1] - place)):
                word = reference[place + order]
                slot = find_ngram(ngrams, head, word, mask, stamp)
                if ngrams[slot, 0] != stamp:
                    ngrams[slot, 0], ngrams[slot, 1], ngrams[slot, 2] = stamp, head, word
                    ngrams[slot, _BEST] = 0
                    ngrams[slot, _READER] = ngrams[slot, _SEEN] = -1
                    places[order, place - start] = slot
                if ngrams[slot, _READER] != line:
                    ngrams[slot, _READER], ngrams[slot, _COUNT] = line, 0
                ngrams[slot, _COUNT] += 1
                ngrams[slot, _BEST] = max(ngrams[slot, _BEST], ngrams[slot, _COUNT])
                head = slot


@part(inline="always")
def _match_equal(ngrams, words, mask, stamp, line, searched, waiting, sums):  # type: ignore[no-untyped-def]
    """Match equal n-grams, the leftmost first; note which are left, and count those of orders that are searched."""
    waiting[:, : len(words)] = False
    left = 0
    for place in range(len(words)):
        head, known = np.int64(-1), True
        for order in range(min(len(waiting), len(words) - place)):
            if known:
                slot = find_ngram(ngrams, head, words[place + order], mask, stamp)
                known = ngrams[slot, 0] == stamp
            if known:
                if ngrams[slot, _SEEN] != line:
                    ngrams[slot, _SEEN], ngrams[slot, _CANDIDATE] = line, 0
                head = slot
                if ngrams[slot, _CANDIDATE] < ngrams[slot, _BEST]:
                    ngrams[slot, _CANDIDATE] += 1
                    sums[order] += SCALE
                    continue
            waiting[order, place] = True
            left += searched[order]
    return left


@part
def _look_up(words, rows, norms, units):  # type: ignore[no-untyped-def]
    """Unit vectors of words, those without being 0."""
    for place in range(len(words)):
        word = words[place]
        norm = 1 / norms[word] if norms[word] > 0 else 0.0
        for k in range(rows.shape[1]):
            units[place, k] = np.float64(rows[word, k]) * norm


@part(fastmath={"reassoc", "contract"})
def _multiply(proposed, others, height, width, cross):  # type: ignore[no-untyped-def]
    """Products of unit vectors, nine at a time; those of rows and columns too many are not looked at."""
    for row in range(0, height, 3):
        for column in range(0, width, 3):
            a = b = c = d = e = f = g = h = i = 0.0
            for k in range(proposed.shape[1]):
                one, two, three = proposed[row, k], proposed[row + 1, k], proposed[row + 2, k]
                left, middle, right = others[column, k], others[column + 1, k], others[column + 2, k]
                a += one * left
                b += one * middle
                c += one * right
                d += two * left
                e += two * middle
                f += two * right
                g += three * left
                h += three * middle
                i += three * right
            cross[row, column], cross[row, column + 1], cross[row, column + 2] = a, b, c
            cross[row + 1, column], cross[row + 1, column + 1], cross[row + 1, column + 2] = d, e, f
            cross[row + 2, column], cross[row + 2, column + 1], cross[row + 2, column + 2] = g, h, i


@part
def _related(product, one, other, measure):  # type: ignore[no-untyped-def]
    """Weigh the product of two words, as the measure says; 1 for a word and itself."""
    weights, self_only = measure
    if one == other:
        product = 1.0
    elif len(self_only) and (self_only[one] or self_only[other]):
        product = 0.0
    return product * weights[one] * weights[other] if len(weights) else product


@part(inline="always")
def _is_plain(measure):  # type: ignore[no-untyped-def]
    return len(measure[0]) + len(measure[1]) == 0


@part(inline="always")
def _relate(words, text, measure, cross):  # type: ignore[no-untyped-def]
    """Make of products of unit vectors those of words."""
    plain = _is_plain(measure)
    for row in range(len(words)):
        one = words[row]
        for column in range(len(text)):
            if one == text[column]:
                cross[row, column] = 1.0
        if not plain:
            for column in range(len(text)):
                cross[row, column] = _related(cross[row, column], one, text[column], measure)


@part(fastmath={"reassoc", "contract"})
def _multiply_within(words, vectors, bands):  # type: ignore[no-untyped-def]
    """Products of the words of a text that stand so far apart, by their distance."""
    length = len(words)
    bands[0, :length] = 1.0
    for apart in range(1, min(len(bands), length), 3):
        for place in range(length - apart):
            a = b = c = 0.0
            for k in range(vectors.shape[1]):
                one = vectors[place, k]
                a += one * vectors[place + apart, k]
                b += one * vectors[place + apart + 1, k]
                c += one * vectors[place + apart + 2, k]
            bands[apart, place] = 1.0 if words[place] == words[place + apart] else a
            if apart + 1 < len(bands) and place + apart + 1 < length:
                bands[apart + 1, place] = 1.0 if words[place] == words[place + apart + 1] else b
            if apart + 2 < len(bands) and place + apart + 2 < length:
                bands[apart + 2, place] = 1.0 if words[place] == words[place + apart + 2] else c


@part
def _measure_ngrams(words, vectors, measure, bands, inverse):  # type: ignore[no-untyped-def]
    """1 / norm of the summed vectors of each n-gram; see `softbleu.matching.similarity.UnitVectors.text_norms`."""
    length, orders = len(words), min(len(inverse), len(words))
    _multiply_within(words, vectors, bands[: len(inverse)])
    if not _is_plain(measure):
        for apart in range(orders):
            for place in range(length - apart):
                bands[apart, place] = _related(bands[apart, place], words[place], words[place + apart], measure)
    squares = bands[len(inverse)]
    squares[:length] = 0
    for order in range(orders):
        for place in range(length - order):
            # What the n-gram without its last word has, and what that word adds.
            square = squares[place] + bands[0, place + order]
            for apart in range(1, order + 1):
                square += 2 * bands[apart, place + order - apart]
            squares[place] = square
            inverse[order, place] = 1 / np.sqrt(square) if square > ZERO_NORM else 0.0


@part(inline="always")
def _serve(rules, exact, similar, work, line, height, width, sums):  # type: ignore[no-untyped-def]  # noqa: C901
    """Give pool n-grams to those that wait, left to right, each the most similar one that is left."""
    meets, searched, threshold, unit = rules
    ngrams, places, waiting = exact
    _, _, cross, row_norms, column_norms, _ = similar
    strips, boxes, scaled, capacity = work
    orders, cells = len(meets), height * width
    _sum_strips(cross, strips, min(orders, width), height, width)
    for n in range(min(orders, height)):
        if not searched[n]:
            continue
        _offer(ngrams, places, meets[n], n, line, width, column_norms, scaled, capacity)
        for row in range(height - n):
            if not waiting[n, row]:
                continue
            norm, best, met, place = row_norms[n, row], threshold, 0, -1
            for m in range(min(orders, width)):
                if not meets[n, m]:
                    continue
                # What is not negative needs no look whether it is counted from the end.
                start, columns = np.uint64(m * cells + row * width), np.uint64(width - m)
                for column in range(columns):
                    boxes[column] = strips[start + column]
                for _ in range(n):
                    start += np.uint64(width)
                    for column in range(columns):
                        boxes[column] += strips[start + column]
                # Most n-grams find nothing: only where something may exceed it is it looked at one by one.
                greatest = 0.0
                for column in range(columns):
                    product = boxes[column] * scaled[m, column]
                    greatest = product if product > greatest else greatest
                if greatest * norm < best - 1:
                    continue
                for column in range(width - m):
                    similarity = boxes[column] * norm * scaled[m, column]
                    if similarity > best:
                        value = np.int64(np.rint(min(similarity, np.float64(SCALE))))
                        if value > best:
                            best, met, place = value, m, column
            if place >= 0:
                sums[n] += best
                capacity[met, place] -= unit if unit else best
                if capacity[met, place] <= 0:
                    scaled[met, place] = 0


@part(inline="always")
def _offer(ngrams, places, meets, n, line, width, norms, scaled, capacity):  # type: ignore[no-untyped-def]
    """List the instances of pool n-grams that are left for an order, and their norms, 0 where none is left."""
    for m in range(min(len(meets), width)):
        if not meets[m]:
            continue
        for column in range(width - m):
            slot, left = places[m, column], 0
            if slot >= 0:
                left = ngrams[slot, _BEST]
                if m == n and ngrams[slot, _SEEN] == line:
                    left -= ngrams[slot, _CANDIDATE]
            capacity[m, column] = left * SCALE
            scaled[m, column] = norms[m, column] * np.float64(SCALE) if left > 0 else 0.0


@part(inline="always")
def _sum_strips(cross, strips, orders, height, width):  # type: ignore[no-untyped-def]
    """Sums of products along the reference, for each of its orders."""
    for row in range(height):
        for column in range(width):
            strips[row * width + column] = cross[row, column]
    for m in range(1, orders):
        for row in range(height):
            start, more = np.uint64((m * height + row) * width), np.uint64(row * width + m)
            before = np.uint64(((m - 1) * height + row) * width)
            for column in range(np.uint64(width - m)):
                strips[start + column] = strips[before + column] + strips[more + column]
