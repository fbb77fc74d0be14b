"""Clipped counts of n-grams, compiled by numba."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softbleu.kernels.compiled import kernel, part
from softbleu.kernels.numpy_backend import LONG
from softbleu.kernels.numpy_backend import clipped_counts as counted_in_arrays

if TYPE_CHECKING:
    from softbleu.text.tokens import Tokens
    from softbleu.types import Integers


_STAMP, _HEAD, _WORD, _IN_CANDIDATE, _IN_REFERENCE, _BEST, _READER = range(7)
_MARKS = 2048  # Places for the words of references, by the last bits of their codes: 8 KB, which stay in the cache


@part
def find_ngram(table, head, word, mask, stamp):  # type: ignore[no-untyped-def]
    """Slot of the n-gram (head, word) of this segment, or the free slot where it belongs."""
    mixed = np.uint64(head) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(word) * np.uint64(0xC2B2AE3D27D4EB4F)
    slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))
    while table[slot, _STAMP] == stamp and (table[slot, _HEAD] != head or table[slot, _WORD] != word):
        slot = (slot + 1) & mask
    return slot


@part
def _learn(table, words, order, mask, stamp, marks):  # type: ignore[no-untyped-def]
    """Count the n-grams of a candidate, each a path of (head n-gram, next word) through the table.

    Those with a word that no reference has are left out: `marks` has the stamp where references have the word, or
    another one of the same place.
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
def _clip(table, words, order, mask, stamp, reader, counts):  # type: ignore[no-untyped-def]
    """Raise the clipped counts by what one more reference (number `reader`) has of the candidate's n-grams."""
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
def _count(candidate, candidate_offsets, reference, reference_offsets, segment_offsets, order, counts):  # type: ignore[no-untyped-def]
    size = 64
    for segment in range(len(counts)):
        while size < 2 * order * (candidate_offsets[segment + 1] - candidate_offsets[segment]):
            size *= 2
    # Stamped with the segment that uses it, a slot needs no clearing.
    table = np.full((size, 8), -1, np.int32)
    marks = np.full(_MARKS, -1, np.int32)
    for segment in range(len(counts)):
        words = candidate[candidate_offsets[segment] : candidate_offsets[segment + 1]]
        # A short segment uses the low end of the table only, which stays in the cache.
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
    """Do what `softbleu.kernels.numpy_backend.clipped_counts` does, with the same digits."""
    if candidates.lengths.max(initial=0) > LONG:
        # Tables of its n-grams would take gigabytes.
        return counted_in_arrays(candidates, references, segment_offsets, order)
    counts = np.zeros((len(candidates.lengths), order), np.int64)
    texts = candidates.codes, candidates.offsets, references.codes, references.offsets
    _count(*texts, segment_offsets, order, counts)
    return counts
