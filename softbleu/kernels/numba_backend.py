"""The backend compiled by numba (``pip install '.[fast]'``), for large input.

This module counts n-grams, matches them (each candidate with its references, from words to sums of matches), and
matches them at many thresholds. Other loops are in `numba_soft` and `numba_words`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from softbleu.kernels import SCALE, ZERO_NORM, Intervals, WordArrays
from softbleu.kernels.compiled import kernel, part
from softbleu.kernels.numba_soft import matched_weights as matched_weights
from softbleu.kernels.numba_soft import raise_to_spellings as raise_to_spellings
from softbleu.kernels.numba_words import CompiledCoder
from softbleu.kernels.numpy_backend import LONG
from softbleu.kernels.numpy_backend import clipped_counts as counted_in_arrays

if TYPE_CHECKING:
    from softbleu.text.coded import TokenPairs, Tokens
    from softbleu.types import Array, Flags, Floats, Integers


NAME: Final = "numba"
PAIRS_AT_ONCE: Final = 1 << 16
coder: Final = CompiledCoder

# Columns of a table of n-grams; the first three are its key.
_STAMP, _HEAD, _WORD, _IN_CANDIDATE, _IN_REFERENCE, _BEST, _READER, _SEEN = range(8)
_COLUMNS = 8
_MARKS = 2048  # Entries for words of references, by the last bits of their codes: 8 KB, which fit the cache
MOST_CELLS = 1 << 22
"""Greatest number of token pairs of a candidate and its references, and so of sums held per pair of orders."""


@part
def find_ngram(table, head, word, mask, stamp):
    """Find the slot of the n-gram (head, word) of this segment, or the free slot for it."""
    mixed = np.uint64(head) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(word) * np.uint64(0xC2B2AE3D27D4EB4F)
    slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))
    while table[slot, _STAMP] == stamp and (table[slot, _HEAD] != head or table[slot, _WORD] != word):
        slot = (slot + 1) & mask
    return slot


@part
def _learn(table, words, order, mask, stamp, marks):
    """Count the n-grams of a candidate, each a path of (head n-gram, next word) through the table.

    N-grams with a word that no reference has are left out: `marks` has the stamp at words of references, and at other
    words with the same last bits.
    """
    for start in range(len(words)):
        head = np.int64(-1)
        for place in range(start, min(start + order, len(words))):
            if marks[words[place] & (_MARKS - 1)] != stamp:
                break
            slot = find_ngram(table, head, words[place], mask, stamp)
            if table[slot, _STAMP] != stamp:
                table[slot, _STAMP] = stamp
                table[slot, _HEAD] = head
                table[slot, _WORD] = words[place]
                table[slot, _IN_CANDIDATE] = 0
                table[slot, _BEST] = 0
                table[slot, _READER] = -1
            table[slot, _IN_CANDIDATE] += 1
            head = slot


@part
def _clip(table, words, order, mask, stamp, reader, counts):
    """Increase the clipped counts by the candidate's n-grams that another reference (number `reader`) has."""
    for start in range(len(words)):
        head = np.int64(-1)
        for place in range(start, min(start + order, len(words))):
            slot = find_ngram(table, head, words[place], mask, stamp)
            if table[slot, _STAMP] != stamp:
                break
            if table[slot, _READER] != reader:
                table[slot, _READER] = reader
                table[slot, _IN_REFERENCE] = 0
            table[slot, _IN_REFERENCE] += 1
            if table[slot, _IN_REFERENCE] > table[slot, _BEST]:
                table[slot, _BEST] += 1
                if table[slot, _BEST] <= table[slot, _IN_CANDIDATE]:
                    counts[place - start] += 1
            head = slot


@kernel
def _count(candidate, candidate_offsets, reference, reference_offsets, segment_offsets, order, counts):
    size = 64
    for segment in range(len(counts)):
        while size < 2 * order * (candidate_offsets[segment + 1] - candidate_offsets[segment]):
            size *= 2
    # Slots are stamped with their segment, and need no clearing.
    table = np.full((size, _COLUMNS), -1, np.int32)
    marks = np.full(_MARKS, -1, np.int32)
    for segment in range(len(counts)):
        words = candidate[candidate_offsets[segment] : candidate_offsets[segment + 1]]
        # A short segment uses only the low end of the table, which stays in the cache.
        room = 64
        while room < 2 * order * len(words):
            room *= 2
        texts = reference_offsets[segment_offsets[segment]], reference_offsets[segment_offsets[segment + 1]]
        for word in reference[texts[0] : texts[1]]:
            marks[word & (_MARKS - 1)] = segment
        _learn(table, words, order, room - 1, segment, marks)
        for line in range(segment_offsets[segment], segment_offsets[segment + 1]):
            text = reference[reference_offsets[line] : reference_offsets[line + 1]]
            _clip(table, text, order, room - 1, segment, line, counts[segment])


def clipped_counts(candidates: Tokens, references: Tokens, segment_offsets: Integers, order: int) -> Integers:
    """Count clipped n-grams; see `softbleu.kernels.numpy_backend.clipped_counts`."""
    if candidates.lengths.max(initial=0) > LONG:
        # Hash tables for such a segment would take gigabytes.
        return counted_in_arrays(candidates, references, segment_offsets, order)
    counts = np.zeros((len(candidates.lengths), order), np.int64)
    texts = candidates.codes, candidates.offsets, references.codes, references.offsets
    _count(*texts, segment_offsets, order, counts)
    return counts


def sum_matches(
    candidates: Tokens,
    references: Tokens,
    segment_offsets: Integers,
    words: WordArrays,
    may_match: Flags,
    threshold: int,
    unit: int,
) -> Integers | None:
    """Sum the matches of each candidate: equal n-grams first, then similar ones, left to right.

    Gives the same digits as `softbleu.matching.matchers.Tables`, which works on whole arrays. Returns millionths,
    (lines, orders), or None if a segment is too long. Candidates come system by system; `may_match`, (candidate
    orders, pool orders), is true for orders that may match; a match consumes `unit` millionths, or its similarity if
    `unit` is 0.
    """
    height = int(candidates.lengths.max(initial=0))
    width = int(np.diff(references.offsets[segment_offsets]).max(initial=0))
    if height * width > MOST_CELLS:
        return None
    orders = len(may_match)
    sums = np.zeros((len(candidates.lengths), orders), np.int64)
    slots = 64
    while slots < 2 * orders * width:
        slots *= 2
    _match(
        (candidates.codes, candidates.offsets, references.codes, references.offsets, segment_offsets),
        (np.asarray(words.rows), np.asarray(words.norms)),
        (_array(words.weights, np.float64), _array(words.self_only, np.bool_)),
        (may_match, may_match.any(axis=1), threshold, unit),
        (
            np.full((slots, _COLUMNS), -1, np.int32),
            np.zeros((orders, width), np.int32),
            np.zeros((orders, height), np.bool_),
        ),
        (
            # Words are multiplied three by three, hence two more rows and columns.
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
    """Multiply pairs of words, unweighted; see `softbleu.matching.ngrams.UnitVectors.of_pairs`."""
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


def _array(values: Array | None, kind: type[np.generic]) -> Array:
    return np.zeros(0, kind) if values is None else np.asarray(values)


@kernel
def _match(texts, table, measure, rules, exact, similar, work, sums):
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
def _multiply_pairs(texts, table, measure, room, products):
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
def _learn_pool(ngrams, reference, bounds, first, last, mask, stamp, places):
    """Count the n-grams of a segment's references; `places` gets their slots at first occurrences, -1 elsewhere."""
    start = bounds[first]
    places[:, : bounds[last] - start] = -1
    for line in range(first, last):
        for place in range(bounds[line], bounds[line + 1]):
            head = np.int64(-1)
            for order in range(min(len(places), bounds[line + 1] - place)):
                word = reference[place + order]
                slot = find_ngram(ngrams, head, word, mask, stamp)
                if ngrams[slot, _STAMP] != stamp:
                    ngrams[slot, _STAMP], ngrams[slot, _HEAD], ngrams[slot, _WORD] = stamp, head, word
                    ngrams[slot, _BEST] = 0
                    ngrams[slot, _READER] = ngrams[slot, _SEEN] = -1
                    places[order, place - start] = slot
                if ngrams[slot, _READER] != line:
                    ngrams[slot, _READER], ngrams[slot, _IN_REFERENCE] = line, 0
                ngrams[slot, _IN_REFERENCE] += 1
                ngrams[slot, _BEST] = max(ngrams[slot, _BEST], ngrams[slot, _IN_REFERENCE])
                head = slot


@part(inline="always")
def _match_equal(ngrams, words, mask, stamp, line, searched, waiting, sums):
    """Match equal n-grams, the leftmost first; mark the others in `waiting`, and count them in searched orders."""
    waiting[:, : len(words)] = False
    left = 0
    for place in range(len(words)):
        head, known = np.int64(-1), True
        for order in range(min(len(waiting), len(words) - place)):
            if known:
                slot = find_ngram(ngrams, head, words[place + order], mask, stamp)
                known = ngrams[slot, _STAMP] == stamp
            if known:
                if ngrams[slot, _SEEN] != line:
                    ngrams[slot, _SEEN], ngrams[slot, _IN_CANDIDATE] = line, 0
                head = slot
                if ngrams[slot, _IN_CANDIDATE] < ngrams[slot, _BEST]:
                    ngrams[slot, _IN_CANDIDATE] += 1
                    sums[order] += SCALE
                    continue
            waiting[order, place] = True
            left += searched[order]
    return left


@part
def _look_up(words, rows, norms, units):
    """Copy the unit vectors of words, 0 for words without a vector."""
    for place in range(len(words)):
        word = words[place]
        norm = 1 / norms[word] if norms[word] > 0 else 0.0
        for k in range(rows.shape[1]):
            units[place, k] = np.float64(rows[word, k]) * norm


@part(fastmath={"reassoc", "contract"})
def _multiply(proposed, others, height, width, cross):
    """Multiply unit vectors, nine products at a time; results in extra rows and columns are ignored."""
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
def _related(product, one, other, measure):
    """Return the weighted product of two words; 1, weighted, for equal words."""
    weights, self_only = measure
    if one == other:
        product = 1.0
    elif len(self_only) and (self_only[one] or self_only[other]):
        product = 0.0
    return product * weights[one] * weights[other] if len(weights) else product


@part(inline="always")
def _is_plain(measure):
    return len(measure[0]) + len(measure[1]) == 0


@part(inline="always")
def _relate(words, text, measure, cross):
    """Convert products of unit vectors to products of words."""
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
def _multiply_within(words, vectors, bands):
    """Multiply the words of a text with each other, by their distance."""
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
def _measure_ngrams(words, vectors, measure, bands, inverse):
    """Compute 1 / norm of the summed vectors of n-grams; see `softbleu.matching.ngrams.UnitVectors.text_norms`."""
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
            # Square of the n-gram without its last word, plus the products of that word
            square = squares[place] + bands[0, place + order]
            for apart in range(1, order + 1):
                square += 2 * bands[apart, place + order - apart]
            squares[place] = square
            inverse[order, place] = 1 / np.sqrt(square) if square > ZERO_NORM else 0.0


@part(inline="always")
def _serve(rules, exact, similar, work, line, height, width, sums):  # noqa: C901
    """Assign to each unmatched n-gram, left to right, the most similar pool n-gram that is left."""
    may_match, searched, threshold, unit = rules
    ngrams, places, waiting = exact
    _, _, cross, row_norms, column_norms, _ = similar
    strips, boxes, scaled, capacity = work
    orders, cells = len(may_match), height * width
    _sum_strips(cross, strips, min(orders, width), height, width)
    for n in range(min(orders, height)):
        if not searched[n]:
            continue
        _offer(ngrams, places, may_match[n], n, line, width, column_norms, scaled, capacity)
        for row in range(height - n):
            if not waiting[n, row]:
                continue
            norm, best, pool_order, place = row_norms[n, row], threshold, 0, -1
            for m in range(min(orders, width)):
                if not may_match[n, m]:
                    continue
                # Unsigned indices skip numba's check for negative ones.
                start, columns = np.uint64(m * cells + row * width), np.uint64(width - m)
                for column in range(columns):
                    boxes[column] = strips[start + column]
                for _ in range(n):
                    start += np.uint64(width)
                    for column in range(columns):
                        boxes[column] += strips[start + column]
                # Most n-grams have no match: compare one by one only if the greatest may exceed the threshold.
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
                            best, pool_order, place = value, m, column
            if place >= 0:
                sums[n] += best
                capacity[pool_order, place] -= unit if unit else best
                if capacity[pool_order, place] <= 0:
                    scaled[pool_order, place] = 0


@part(inline="always")
def _offer(ngrams, places, may_match, n, line, width, norms, scaled, capacity):
    """Compute the instances of pool n-grams that are left for an order, and their norms, 0 if none is left."""
    for m in range(min(len(may_match), width)):
        if not may_match[m]:
            continue
        for column in range(width - m):
            slot, left = places[m, column], 0
            if slot >= 0:
                left = ngrams[slot, _BEST]
                if m == n and ngrams[slot, _SEEN] == line:
                    left -= ngrams[slot, _IN_CANDIDATE]
            capacity[m, column] = left * SCALE
            scaled[m, column] = norms[m, column] * np.float64(SCALE) if left > 0 else 0.0


@part(inline="always")
def _sum_strips(cross, strips, orders, height, width):
    """Sum the products along the reference, for each of its orders."""
    for row in range(height):
        for column in range(width):
            strips[row * width + column] = cross[row, column]
    for m in range(1, orders):
        for row in range(height):
            start, more = np.uint64((m * height + row) * width), np.uint64(row * width + m)
            before = np.uint64(((m - 1) * height + row) * width)
            for column in range(np.uint64(width - m)):
                strips[start + column] = strips[before + column] + strips[more + column]


def sweep_greedily(similarities: NDArray[np.int32], capacity: Integers, thresholds: Integers) -> Intervals:
    """Match at all thresholds; see `softbleu.kernels.numpy_backend.sweep_greedily`. Entries may differ in order."""
    made, count = _sweep(np.ascontiguousarray(similarities), capacity, thresholds)
    return Intervals(*made[:, :count])


@kernel
def _sweep(similarities, capacity, thresholds):
    """Match rows at the lowest threshold; then repeatedly remove the least similar match."""
    batch, rows = similarities.shape[:2]
    made, count = np.empty((6, 64 + 4 * batch * rows), np.int64), 0
    partner, value, since = np.empty(rows, np.int64), np.empty(rows, np.int64), np.empty(rows, np.int64)
    for segment in range(batch):
        table = similarities[segment]
        _serve_rows(table, capacity[segment], thresholds[0], partner, value)
        since[:] = 0
        while True:
            # A round adds at most one entry per row.
            made = _with_room(made, count, rows)
            least = _least_similar(value)
            if least < 0 or value[least] > thresholds[-1]:
                break
            level, free = value[least], partner[least]
            now = np.searchsorted(thresholds, level)
            count = _note(made, count, segment, least, partner, value, since, now)
            partner[least], value[least] = -1, 0
            # The freed instance goes to the first row further right that prefers it, which frees its own in turn.
            for row in range(least + 1, rows):
                offered = table[row, free]
                better = offered > value[row] or (offered == value[row] and free < partner[row])
                if better and offered > level:
                    count = _note(made, count, segment, row, partner, value, since, now)
                    free, partner[row] = partner[row], free
                    value[row], since[row] = offered, now
                    if free < 0:
                        break
        for row in range(rows):
            count = _note(made, count, segment, row, partner, value, since, len(thresholds))
    return made, count


@part
def _serve_rows(table, capacity, threshold, partner, value):
    """Assign to each row, left to right, the most similar column that is left; ties go to the leftmost."""
    left = capacity.copy()
    for row in range(len(table)):
        best, most = -1, threshold
        for column in range(len(left)):
            if table[row, column] > most and left[column] > 0:
                best, most = column, table[row, column]
        partner[row], value[row] = best, 0
        if best >= 0:
            left[best] -= SCALE
            value[row] = most


@part
def _least_similar(value):
    """Find the row of the least similar match, the leftmost of equal ones; -1 without a match."""
    least = -1
    for row in range(len(value)):
        if value[row] > 0 and (least < 0 or value[row] < value[least]):
            least = row
    return least


@part
def _with_room(made, count, more):
    """Return the entries with space for more."""
    if count + more <= made.shape[1]:
        return made
    grown = np.empty((6, 2 * made.shape[1] + more), np.int64)
    grown[:, :count] = made[:, :count]
    return grown


@part
def _note(made, count, segment, row, partner, value, since, now):
    """Add an entry for the match of a row that ends now, if it was made at any threshold."""
    if value[row] <= 0 or since[row] >= now:
        return count
    made[0, count] = segment
    made[1, count] = row
    made[2, count] = partner[row]
    made[3, count] = value[row]
    made[4, count] = since[row]
    made[5, count] = now
    return count + 1
