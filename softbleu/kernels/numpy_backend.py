"""The backend in NumPy: always available, best for small and medium input.

Loops without a compiled version are here, too: numbering equal n-grams, and greedy assignment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from softbleu.kernels import SCALE, Intervals
from softbleu.kernels.letters import LetteredTexts
from softbleu.text.coded import TokenPairs, Tokens, WordParts, chosen_places

if TYPE_CHECKING:
    from softbleu.types import Array, Floats, Integers


NAME: Final = "numpy"
PAIRS_AT_ONCE: Final = 1 << 14
# None: the layers above work on whole arrays, or line by line.
coder: Final = None
sum_matches: Final = None
multiply_pairs: Final = None

SEGMENTS_AT_ONCE = 256
SHORT = 1 << 9  # Tokens of one segment up to which lists are faster than arrays
LONG = 1 << 20  # Tokens above which segments are counted one by one, to save memory
# Greatest size of a table of all possible n-grams, in total and per occurring n-gram; otherwise n-grams are sorted.
_TABLE, _ENTRIES = 1 << 26, 8
_PLACES = 1 << 24
_COMPACT = 1 << 20  # Entries above which tables cover only occurring n-grams, not all possible ones
_DENSE = 1 << 15  # Entries above which tables of words and their parts are sparse
TIE = 1e-10
"""Influence of weights, which decides between equal totals but changes no others, below 10,000 tokens per segment."""
_FEW = 64  # Rows up to which serving them one by one is faster than whole arrays


def first_places(keys: Integers, places: Integers, bound: int) -> Integers:
    """Find the first position with the same key; return the entry of `places` there, for each position.

    Keys lie in ``range(bound)``.
    """
    if bound > _PLACES:
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return places[first][inverse]
    # Written backwards, so that the first entry remains. Unwritten entries are never read: no clearing is needed.
    table = np.empty(bound, places.dtype)
    table[keys[::-1]] = places[::-1]
    return table[keys]


@dataclass(frozen=True)
class Positions:
    """Positions of the tokens of some segments: all candidates first, then all references.

    Segments may have several candidates, which come system by system. Every array except `sizes` and `places` has one
    entry per token position.
    """

    codes: NDArray[np.int32]
    line: Integers  # Line of the token, counting candidates, then references
    segment: Integers
    local: Integers  # Number among the positions of its segment, candidates first, then each reference
    remaining: Integers  # Tokens from here to the end of the line; an n-gram starts where ``remaining >= n``
    side: Integers  # Number of the reference in its segment, from 0; -1 in a candidate
    sizes: Integers  # Number of positions of each segment
    places: Integers
    """Cumulative sizes of earlier segments: ``places[segment] + local`` numbers the positions by segment."""
    split: int  # Number of candidate positions

    @classmethod
    def of(
        cls,
        candidate: NDArray[np.int32],
        candidate_lengths: Integers,
        reference: NDArray[np.int32],
        reference_lengths: Integers,
        references: Integers,
    ) -> Positions:
        """Lay out coded candidates and references; `references` counts the reference lines of each segment."""
        segments = np.arange(len(references))
        by_system = candidate_lengths.reshape(len(candidate_lengths) // max(len(references), 1), len(references))
        owner = np.repeat(segments, references)
        candidate_tokens = by_system.sum(axis=0)
        tokens = np.bincount(owner, reference_lengths, len(segments)).astype(np.int64)
        lengths = np.concatenate((candidate_lengths, reference_lengths))
        positions = np.arange(len(candidate) + len(reference))
        split = len(candidate)
        starts = np.cumsum(lengths) - lengths
        # Start of each line among the positions of its segment
        in_candidates = (np.cumsum(by_system, axis=0) - by_system).reshape(-1)
        in_references = (
            starts[len(candidate_lengths) :] - (split + np.cumsum(tokens) - tokens - candidate_tokens)[owner]
        )
        line_side = np.arange(len(owner)) - np.repeat(np.cumsum(references) - references, references)
        sides = np.concatenate((np.full(len(candidate_lengths), -1), line_side))
        sizes = candidate_tokens + tokens
        line = np.repeat(np.arange(len(lengths)), lengths)
        return cls(
            codes=np.concatenate((candidate, reference)),
            line=line,
            segment=np.concatenate((np.tile(segments, len(by_system)), owner))[line],
            local=positions - (starts - np.concatenate((in_candidates, in_references)))[line],
            remaining=(starts + lengths)[line] - positions,
            side=sides[line],
            sizes=sizes,
            places=np.cumsum(sizes) - sizes,
            split=split,
        )


def ngram_ids(positions: Positions, order: int, *, shared: bool = False) -> Iterator[tuple[Integers, Integers]]:
    """Number the n-grams of each segment exactly.

    Yields for n = 1…order the start positions of n-grams, and their ids: the position, by segment, of the first equal
    n-gram, so that equal ids mean equal n-grams of one segment. No hashing is involved: an n-gram is the pair (number
    of its head, number of its last word). `shared` leaves out n-grams whose head or tail occurs only in candidates,
    or only in references.
    """
    segment, local = positions.segment, positions.local
    starts = np.arange(len(positions.codes))
    distinct = first_places(positions.codes.astype(np.int64), starts, int(positions.codes.max(initial=0)) + 1)
    if len(positions.sizes) * len(starts) > _COMPACT:
        distinct = (np.cumsum(distinct == starts) - 1)[distinct]
    most = int(distinct.max(initial=-1)) + 1
    words = first_places(segment * most + distinct, local, len(positions.sizes) * most)
    ids = positions.places[segment] + words
    yield starts, ids
    compact = int((positions.sizes**2).sum()) > _COMPACT
    words, width = _numbered_in_segments(positions, starts, ids, words, compact)
    numbers, height = words, width
    for n in range(2, order + 1):
        fits = positions.remaining[starts] >= n
        if shared:
            cut = int(np.searchsorted(starts, positions.split))
            ours, others, ends = np.zeros((3, len(positions.codes) + 1), bool)
            ours[ids[:cut]], others[ids[cut:]] = True, True
            ends[starts] = begins = (ours & others)[ids]
            fits &= begins & ends[starts + 1]
        starts = starts[fits]
        sizes = height * width
        at = segment[starts]
        keys = (np.cumsum(sizes) - sizes)[at] + numbers[fits] * width[at] + words[starts + n - 1]
        numbers = first_places(keys, local[starts], int(sizes.sum()))
        ids = positions.places[at] + numbers
        yield starts, ids
        if n < order:
            numbers, height = _numbered_in_segments(positions, starts, ids, numbers, compact)


def _numbered_in_segments(
    positions: Positions, starts: Integers, ids: Integers, numbers: Integers, compact: bool
) -> tuple[Integers, Integers]:
    """Number n-grams within segments; return the numbers and their bound per segment, the least if `compact`."""
    if not compact:
        return numbers, positions.sizes
    seen = np.zeros(len(positions.codes) + 1, np.int64)
    seen[ids + 1] = 1
    before = np.cumsum(seen)
    bases = before[positions.places]
    return before[ids] - bases[positions.segment[starts]], before[positions.places + positions.sizes] - bases


def reference_counts(positions: Positions, starts: Integers, ids: Integers) -> Integers:
    """Compute the greatest count of each n-gram in one reference; `starts` are reference positions.

    Returns one count per id.
    """
    total = len(positions.codes)
    sides = int(positions.side.max(initial=0)) + 1
    if sides == 1:
        return np.bincount(ids, minlength=total)
    keys = ids * sides + positions.side[starts]
    greatest: Integers
    if total * sides <= max(_PLACES, 8 * len(keys)):
        greatest = np.bincount(keys, minlength=total * sides).reshape(total, sides).max(axis=1)
    else:
        # With many references, most n-grams occur in few of them.
        present, counts = np.unique(keys, return_counts=True)
        greatest = np.zeros(total, np.int64)
        np.maximum.at(greatest, present // sides, counts)
    return greatest


def clipped_counts(candidates: Tokens, references: Tokens, segment_offsets: Integers, order: int) -> Integers:
    """Count the candidate n-grams found in the references, clipped (Papineni et al. 2002, section 2.1).

    Segment s has the reference lines ``segment_offsets[s]`` to ``segment_offsets[s + 1]``. Returns (segments, order).
    """
    segments = len(candidates.lengths)
    counts = np.zeros((segments, order), np.int64)
    if segments == 1 and len(candidates.codes) + len(references.codes) < SHORT:
        counts[0] = LetteredTexts(references.by_line()).clipped_counts(candidates.codes.tolist(), order)
        return counts
    for start in range(0, segments, SEGMENTS_AT_ONCE):
        stop = min(start + SEGMENTS_AT_ONCE, segments)
        lines = segment_offsets[start : stop + 1]
        ours, others = candidates.lines(start, stop), references.lines(lines[0], lines[-1])
        if len(ours.codes) + len(others.codes) > LONG:
            for segment in range(start, stop):
                text = candidates.lines(segment, segment + 1).codes
                bounds = pairwise(references.offsets[segment_offsets[segment] : segment_offsets[segment + 1] + 1])
                texts = [references.codes[first:end] for first, end in bounds]
                counts[segment] = clipped_counts_of_long(text, texts, order)
            continue
        positions = Positions.of(ours.codes, ours.lengths, others.codes, others.lengths, np.diff(lines))
        owner = np.repeat(np.arange(stop - start), positions.sizes)
        for n, (starts, ids) in enumerate(ngram_ids(positions, order, shared=True)):
            cut = int(np.searchsorted(starts, positions.split))
            in_candidate = np.bincount(ids[:cut], minlength=len(owner))
            in_reference = reference_counts(positions, starts[cut:], ids[cut:])
            counts[start:stop, n] = np.bincount(owner, np.minimum(in_candidate, in_reference), stop - start)
    return counts


def clipped_counts_of_long(
    candidate: NDArray[np.int32], references: Sequence[NDArray[np.int32]], order: int
) -> list[int]:
    """Count the n-grams of a long candidate found in its references, clipped, for each order.

    Saves memory by dropping n-grams that the candidate lacks; gives the same counts as `clipped_counts`.

    >>> clipped_counts_of_long(np.array([1, 1, 2, 1], np.int32), [np.array([1, 2, 1, 2], np.int32)], 3)
    [3, 2, 1]
    """
    texts = [candidate, *references]
    numbers: list[Array] = _numbered(texts, 1 + max(int(text.max(initial=0)) for text in texts))
    # -1 marks the end of a text.
    words = [np.append(text, np.int32(-1)) for text in numbers]
    width = 1 + int(numbers[0].max(initial=0))
    starts = [np.arange(len(text), dtype=np.int32) for text in texts]
    counts = []
    for n in range(1, order + 1):
        if n > 1:
            bound = (1 + int(numbers[0].max(initial=0))) * width
            for place, text in enumerate(words):
                last = text[starts[place] + (n - 1)]
                starts[place], numbers[place], last = _known(last >= 0, starts[place], numbers[place], last)
                numbers[place] = numbers[place].astype(np.int64)
                numbers[place] *= width
                numbers[place] += last
            numbers = _numbered(numbers, bound)
        for place, number in enumerate(numbers):
            starts[place], numbers[place] = _known(number >= 0, starts[place], number)
        counted = np.bincount(numbers[0])
        best = np.zeros(len(counted), np.int64)
        for number in numbers[1:]:
            np.maximum(best, np.bincount(number, minlength=len(counted)), out=best)
        counts.append(int(np.minimum(counted, best).sum()))
    return counts


def _known(known: NDArray[np.bool_], *arrays: Array) -> tuple[Array, ...]:
    return arrays if known.all() else tuple(array[known] for array in arrays)


def _numbered(keys: Sequence[Array], bound: int) -> list[Array]:
    """Number the keys, all below `bound`, that occur in the first text; other keys get -1."""
    if bound > min(_TABLE, _ENTRIES * sum(map(len, keys))):
        distinct, numbered = np.unique(np.concatenate(keys), return_inverse=True)
        keys, bound = np.split(numbered, np.cumsum([len(key) for key in keys])[:-1]), len(distinct)
    present = np.zeros(bound, bool)
    present[keys[0]] = True
    table = np.cumsum(present, dtype=np.int32)
    table[~present] = 0
    table -= 1
    return [table[key] for key in keys]


def raise_to_spellings(
    products: Floats,
    pairs: TokenPairs,
    candidate: NDArray[np.int32],
    reference: NDArray[np.int32],
    parts: WordParts,
    weight: float,
) -> None:
    """Raise similarities of pairs of words, in place, to the similarities of their spellings times a weight above 0.

    The similarity of spellings is the Dice coefficient of character n-grams, `parts`.
    """
    (left, one), (right, other) = (np.unique(codes, return_inverse=True) for codes in (candidate, reference))
    table = weight * spelling_similarity(left, right, parts)
    for segment in range(len(pairs.cells) - 1):
        rows, columns = (slice(*bounds[segment : segment + 2]) for bounds in (pairs.rows, pairs.columns))
        block = pairs.block(products, segment)
        np.maximum(block, table[np.ix_(one[rows], other[columns])], out=block)


def spelling_similarity(left: Array, right: Array, parts: WordParts) -> Floats:
    """Compute the Dice coefficients of the distinct parts of words, given by their codes: (left, right)."""
    width = parts.kinds
    dense = (len(left) + len(right)) * width <= _DENSE

    def incidence(codes: Array) -> Any:
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
    """Sum the weights of matched n-grams and of all n-grams, in millionths.

    The similarity of n-grams is the mean similarity of their words, position by position; their weight is the sum of
    the words' weights. Either each n-gram matches the most similar one of the other side, with the share `greedy` in
    the result, or n-grams are assigned one to one by the greatest total similarity, ties going to greater weights.
    Returns (segments, order, 4): matched and total of the candidate, matched and total of the reference. `candidate`
    and `reference` are weights of the tokens.
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
    of_ours, of_others = np.zeros(len(ours)), np.zeros(len(others))
    if len(ours) and len(others):
        similarities = table[: len(ours), : len(others)] + 0.0
        for k in range(1, order):
            similarities += table[k : k + len(ours), k : k + len(others)]
        # Integers, so that ties are the same on every machine
        similarities *= SCALE / order
        np.rint(similarities, out=similarities)
        of_ours, of_others = similarities.max(axis=1, initial=0), similarities.max(axis=0, initial=0)
        if greedy < 1:
            of_ours *= greedy
            of_others *= greedy
            row, column = _paired(similarities, ours, others)
            of_ours[row] += (1 - greedy) * similarities[row, column]
            of_others[column] += (1 - greedy) * similarities[row, column]
    # Sequential sums, as in compiled code: pairwise sums would differ in the last bits.
    sums = (np.cumsum(values) for values in (of_ours * ours, ours * SCALE, of_others * others, others * SCALE))
    return [float(np.rint(total[-1])) if len(total) else 0.0 for total in sums]


def _windows(weights: Floats, order: int) -> Floats:
    """Compute the weight of each n-gram."""
    count = max(len(weights) - order + 1, 0)
    summed = np.zeros(count)
    for k in range(order):
        summed += weights[k : k + count]
    return summed


def _paired(similarities: Floats, ours: Floats, others: Floats) -> tuple[Integers, Integers]:
    """Assign n-grams one to one by the greatest total similarity; ties go to greater weights."""
    from scipy.optimize import linear_sum_assignment

    heaviest = max(float(ours.max()) + float(others.max()), 1e-300)
    # Weights break ties, so that the choice is the same on every machine.
    ranked = np.add.outer(ours / heaviest * TIE, others / heaviest * TIE)
    ranked += 1
    ranked *= similarities
    # Minimise the negative: to maximise, SciPy would copy the table.
    np.negative(ranked, out=ranked)
    row, column = linear_sum_assignment(ranked)
    return row, column


def assign_greedily(
    similarities: NDArray[np.int32], capacity: Integers, unit: int, threshold: int = 0
) -> tuple[Integers, Integers]:
    """Assign to each candidate n-gram, left to right, the most similar pool n-gram that is left.

    Every row proposes to its best column; a column keeps the leftmost rows that its capacity allows and rejects the
    others (deferred acceptance). As all columns prefer the leftmost rows, the result is exactly that of serving rows
    one by one, but takes few rounds over whole arrays. Returns the column of each row, -1 for none, and the
    similarity of the match, 0 for none: both (batch, rows). Overwrites the similarities, (batch, rows, columns). A
    column is available while less than its capacity is consumed. A match consumes `unit`, or its similarity if `unit`
    is 0; a similarity above 1 (of an exact match, which wins all ties) consumes one instance.
    """
    batch, rows, columns = similarities.shape
    partner = np.full(batch * rows, -1)
    value = np.zeros(batch * rows, np.int64)
    if not columns:
        return partner.reshape(batch, rows), value.reshape(batch, rows)
    flat = similarities.reshape(batch * rows, columns)
    limits = capacity.reshape(-1)
    choices = flat.argmax(axis=1)
    proposing = np.flatnonzero(flat[np.arange(batch * rows), choices] > threshold)
    if len(proposing) <= _FEW:
        _serve(flat, proposing.tolist(), rows, limits, unit, threshold, partner, value)
        return partner.reshape(batch, rows), value.reshape(batch, rows)
    choices = choices[proposing]
    contested = np.zeros(len(limits), bool)
    # Number, among all columns, of the current column of each row
    chosen = np.full(batch * rows, -1)
    while len(proposing):
        offered = flat[proposing, choices]
        able = np.flatnonzero(offered > threshold)
        proposing, choices = proposing[able], choices[able]
        partner[proposing] = choices
        value[proposing] = offered[able]
        wanted = proposing // rows * columns + choices
        chosen[proposing] = wanted
        # Only columns with new proposals may have to reject rows.
        contested[wanted] = True
        engaged = np.flatnonzero(chosen >= 0)
        engaged = engaged[contested[chosen[engaged]]]
        contested[wanted] = False
        column = chosen[engaged]
        ranked = np.argsort(column, kind="stable")
        engaged, column = engaged[ranked], column[ranked]
        cost = np.full(len(engaged), unit) if unit else np.minimum(value[engaged], SCALE)
        consumed = np.cumsum(cost) - cost
        starts = np.flatnonzero(column[1:] != column[:-1]) + 1
        first = np.concatenate(([0], starts)) if len(column) else starts
        consumed -= np.repeat(consumed[first], np.diff(first, append=len(column)))
        proposing = engaged[consumed >= limits[column]]
        flat[proposing, partner[proposing]] = -1
        partner[proposing] = chosen[proposing] = -1
        value[proposing] = 0
        choices = flat[proposing].argmax(axis=1)
    return partner.reshape(batch, rows), value.reshape(batch, rows)


def _serve(
    flat: NDArray[np.int32],
    proposing: Sequence[int],
    rows: int,
    limits: Integers,
    unit: int,
    threshold: int,
    partner: Integers,
    value: Integers,
) -> None:
    """Serve a few rows one by one; see `assign_greedily`."""
    consumed: dict[int, int] = {}
    for row in proposing:
        similarities, first = flat[row], row // rows * flat.shape[1]
        choice = int(similarities.argmax())
        while consumed.get(first + choice, 0) >= limits[first + choice] and similarities[choice] > threshold:
            similarities[choice] = -1
            choice = int(similarities.argmax())
        similarity = int(similarities[choice])
        if similarity > threshold:
            partner[row], value[row] = choice, similarity
            consumed[first + choice] = consumed.get(first + choice, 0) + (unit or min(similarity, SCALE))


def sweep_greedily(similarities: NDArray[np.int32], capacity: Integers, thresholds: Integers) -> Intervals:
    """Compute the matches of `assign_greedily` (unit: one instance) at all of several thresholds, in one pass.

    The assignment is made once, at the lowest threshold. As the threshold rises, matches are removed one by one, the
    least similar first, and each frees one instance of the pool. The first row further right that prefers it takes it
    and frees its own, and so on to the last row: the result is exactly that of serving rows one by one at the higher
    threshold. Similarities are 0 or less where no match is allowed; thresholds ascend.
    """
    batch, rows, _ = similarities.shape
    partner, value = assign_greedily(similarities.copy(), capacity, SCALE, int(thresholds[0]))
    since = np.zeros((batch, rows), np.int64)
    lived: list[tuple[Integers, ...]] = []
    places = np.arange(rows)

    def end_intervals(segments: Integers, at: Integers, now: Integers) -> None:
        had = value[segments, at] > 0
        segments, at = segments[had], at[had]
        lived.append((segments, at, partner[segments, at], value[segments, at], since[segments, at], now[had]))

    # For each segment with a free instance: its column, the row that freed it, the similarity of the removed match,
    # and the threshold that removed it
    column, freed_by, level, when = (np.full(batch, -1) for _ in range(4))
    active = np.arange(batch)
    while len(active):
        settled = active[column[active] < 0]
        held = value[settled]
        least = np.where(held > 0, held, 2 * SCALE).argmin(axis=1)
        lost = held[np.arange(len(settled)), least]
        falls = (lost > 0) & (lost <= thresholds[-1])
        column[settled[~falls]] = -2
        settled, least, lost = settled[falls], least[falls], lost[falls]
        column[settled], freed_by[settled], level[settled] = partner[settled, least], least, lost
        when[settled] = np.searchsorted(thresholds, lost)
        end_intervals(settled, least, when[settled])
        partner[settled, least], value[settled, least] = -1, 0

        active = active[column[active] >= 0]
        free, held = column[active], value[active]
        offered = similarities[active, :, free]
        better = (offered > held) | ((offered == held) & (free[:, None] < partner[active]))
        better &= (offered > level[active][:, None]) & (places > freed_by[active][:, None])
        taker = better.argmax(axis=1)
        taken = better[np.arange(len(active)), taker]
        column[active[~taken]] = -1
        moved, taker, free, offer = active[taken], taker[taken], free[taken], offered[taken, taker[taken]]
        end_intervals(moved, taker, when[moved])
        column[moved], freed_by[moved] = partner[moved, taker], taker
        partner[moved, taker], value[moved, taker], since[moved, taker] = free, offer, when[moved]
    segments, at = np.nonzero(value > 0)
    end_intervals(segments, at, np.full(len(segments), len(thresholds)))
    intervals = Intervals(*(np.concatenate(parts) for parts in zip(*lived, strict=True)))
    return Intervals(*(part[intervals.first < intervals.end] for part in intervals))
