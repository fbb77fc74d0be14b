"""Prefixes of references that unfinished candidates have reached: edit alignment with a free end in the reference."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from softbleu.io.arguments import Limit
from softbleu.kernels.numpy_backend import Positions, ngram_ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.text.coded import Tokens, WordParts
    from softbleu.types import Flags, Integers

_LIMIT = Limit("partial_by=characters", "pairs of characters", 1 << 32, "a document of 3,000 words: 324,000,000")
_CELLS = 1 << 17  # Cells of the tables of a batch: few enough for the cache


def reached(
    candidates: Tokens, references: Tokens, parts: WordParts | None = None, *, every: bool = False
) -> Integers:
    """Count the tokens of each reference that its candidate, or each prefix of it, has reached.

    The prefix of the reference with the least edit cost to the whole candidate counts, the longest of several.
    Insertions, deletions and substitutions cost 1. All prefixes of a candidate are rows of one dynamic programme.
    With `parts`, such as the characters of words, parts are inserted, deleted and substituted instead; prefixes still
    end with a token.

    Parameters
    ----------
    candidates, references
        Coded lines, one reference per candidate.
    parts
        Parts of the words that codes stand for, at least one of each.
    every
        Return a number for every prefix of the candidates, (tokens,), not for whole candidates, (segments,).

    Examples
    --------
    >>> from softbleu.text.coded import Vocabulary, WordParts
    >>> tokens = Vocabulary()
    >>> candidate = tokens.encode(["the dog barked".split()])
    >>> reference = tokens.encode(["the dog has barked all night".split()])
    >>> reached(candidate, reference), reached(candidate, reference, every=True)
    (array([4]), array([1, 2, 4]))
    >>> candidate, reference = tokens.encode([["dogs"]]), tokens.encode([["the", "dog", "barked"]])
    >>> reached(candidate, reference), reached(candidate, reference, WordParts.of(tokens, str))
    (array([1]), array([2]))
    """
    if parts is None:
        return _reached(candidates, references, None, every)
    ends = [np.cumsum(np.diff(parts.bounds)[text.codes]) for text in (candidates, references)]
    ours, theirs = candidates.spread(parts), references.spread(parts)
    _LIMIT.check(int((ours.lengths * theirs.lengths).max(initial=0)), "a segment")
    places, starts = _reached(ours, theirs, ends[1], every), theirs.offsets[:-1]
    if every:
        places, starts = places[ends[0] - 1], np.repeat(starts, candidates.lengths)
    found: Integers = np.searchsorted(ends[1], starts + places, "right") - np.searchsorted(ends[1], starts, "right")
    return found


def _reached(candidates: Tokens, references: Tokens, ends: Integers | None, every: bool) -> Integers:
    """Align tokens; prefixes of references end where so many tokens of all references do, or anywhere."""
    ours, theirs = candidates.lengths, references.lengths
    reached_ends = np.zeros(len(candidates.codes) if every else len(ours), np.int64)
    for lines in _batches(ours, theirs):
        height, width = int(ours[lines[0]]), int(theirs[lines].max())
        one, other = (_padded(text, lines, size) for text, size in ((candidates, height), (references, width)))
        steps = np.arange(width + 1, dtype=np.int32)[:, None]
        beyond = np.where(steps > theirs[lines], np.int32(1 << 30), np.int32(0))
        if ends is not None:
            beyond[1:][~np.isin(references.offsets[lines] + steps[1:], ends)] = np.int32(1 << 30)
        row = np.zeros((width + 1, len(lines)), np.int32)
        counts = np.searchsorted(-ours[lines], -np.arange(height + 1))  # Candidates with a token at each position
        for place in range(height):
            active = int(counts[place])
            row = next_row(row[:, :active], other[:, :active] == one[place, :active])
            first = 0 if every else int(counts[place + 1])
            if first < active:
                costs = row[:, first:active] + steps + beyond[:, first:active]
                found = width - costs[::-1].argmin(axis=0)
                chosen = lines[first:active]
                reached_ends[candidates.offsets[chosen] + place if every else chosen] = found
    return reached_ends


def next_row(row: NDArray[np.int32], saved: Flags | NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the row of the alignment after one more token of the candidate: (places, …).

    A row has the least cost of the candidate so far at every place of the reference, less the number of the place, so
    that insertions cost nothing along it; before the first token it is 0. `saved` is how much less than 1 it costs to
    align the new token with each of the reference: 1, or True, for an equal one.
    """
    after = row + np.int32(1)
    np.minimum(after[1:], row[:-1] - saved, out=after[1:])
    return np.minimum.accumulate(after, axis=0, out=after)


def reached_place(row: NDArray[np.int32], ends: Integers) -> int:
    """Count the tokens of the reference that a candidate with this row has come to.

    Prefixes end at the places `ends` of the row: before the first token, and after each.

    >>> row, ends = np.zeros(4, np.int32), np.arange(4)
    >>> reached_place(row, ends), reached_place(next_row(row, np.array([False, True, True])), ends)
    (0, 2)
    """
    costs = (row[ends] + ends)[::-1]
    return len(ends) - 1 - int(costs.argmin())


def counts_of_prefixes(
    candidates: Tokens, references: Tokens, lines: Integers, sizes: Integers, ends: Integers, order: int
) -> Integers:
    """Count clipped n-grams of prefixes in prefixes of a reference, numbering the n-grams of whole texts once.

    Prefix p has `sizes[p]` tokens of candidate `lines[p]`, beside `ends[p]` tokens of its reference. Returns
    (prefixes, order).

    Examples
    --------
    >>> from softbleu.text.coded import Vocabulary
    >>> tokens = Vocabulary()
    >>> candidate, reference = tokens.encode(["abab"]), tokens.encode(["bab"])
    >>> counts_of_prefixes(candidate, reference, *np.array([[0, 0, 0], [1, 2, 4], [1, 2, 3]]), 2).tolist()
    [[0, 0], [2, 0], [3, 2]]
    """
    counts = np.zeros((len(lines), order), np.int64)
    lengths, by_line = candidates.lengths, np.argsort(lines, kind="stable")
    bounds = np.searchsorted(lines[by_line], np.arange(len(lengths) + 1)).tolist()
    texts = candidates.codes, lengths, references.codes, references.lengths
    positions = Positions.of(*texts, np.ones_like(lengths))
    for n, (starts, ids) in enumerate(ngram_ids(positions, order, shared=True)):
        cut = int(np.searchsorted(starts, positions.split))
        # The k-th of equal n-grams of a candidate meets the k-th of the reference.
        keys = (_numbered_apart(ids[:cut], len(starts)), _numbered_apart(ids[cut:], len(starts)))
        _, one, other = np.intersect1d(*keys, assume_unique=True, return_indices=True)
        segment = positions.segment[starts[one]]
        ours = positions.local[starts[one]] + n + 1
        theirs = positions.local[starts[cut + other]] - lengths[segment] + n + 1
        pairs = np.searchsorted(segment, np.arange(len(lengths) + 1)).tolist()
        for (start, stop), (first, last) in zip(pairwise(pairs), pairwise(bounds), strict=True):
            some = by_line[first:last]
            inside = (ours[start:stop, None] <= sizes[some]) & (theirs[start:stop, None] <= ends[some])
            counts[some, n] = inside.sum(axis=0)
    return counts


def _numbered_apart(ids: Integers, most: int) -> Integers:
    """Make equal ids different by their number among equal ones, of which there are fewer than `most`."""
    order = np.argsort(ids, kind="stable")
    ascending = ids[order]
    keys = np.empty_like(ids)
    keys[order] = ascending * most + np.arange(len(ids)) - np.searchsorted(ascending, ascending)
    return keys


def _batches(ours: Integers, theirs: Integers) -> list[Integers]:
    """Group lines with tokens in the candidate by length, the longest candidates first."""
    order = np.lexsort((theirs, -ours))
    order = order[ours[order] > 0]
    batches, start = [], 0
    while start < len(order):
        width = np.maximum.accumulate(theirs[order[start:]] + 1)
        size = max(1, int(np.searchsorted(width * np.arange(1, len(width) + 1), _CELLS, side="right")))
        batches.append(order[start : start + size])
        start += size
    return batches


def _padded(text: Tokens, lines: Integers, size: int) -> NDArray[np.int32]:
    """Return the codes of lines as columns, (size, lines), padded with -1."""
    places = np.arange(size)[:, None]
    inside = places < text.lengths[lines]
    codes = np.full(inside.shape, -1, np.int32)
    codes[inside] = text.codes[(text.offsets[lines] + places)[inside]]
    return codes
