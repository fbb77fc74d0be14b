"""The backend compiled by numba (``pip install 'softbleu[fast]'``): worth their start-up on large input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from softbleu.types import Integers


NAME: Final = "numba"

_STAMP, _HEAD, _WORD, _IN_CANDIDATE, _IN_REFERENCE, _BEST, _READER = range(7)
_TAB, _NEWLINE, _RETURN, _SEPARATORS, _BLANK = 9, 10, 13, 28, 32


@njit(cache=True, nogil=True, inline="always")
def _blank_length(text, place):  # type: ignore[no-untyped-def]
    """Bytes of the white space (as `str.split` knows it) that starts here; 0 if none does."""
    byte = text[place]
    if byte <= _BLANK:
        blank = byte == _BLANK or _TAB <= byte <= _RETURN or byte >= _SEPARATORS
        return 1 if blank else 0
    if byte == 0xC2:
        return 2 if text[place + 1] in (0x85, 0xA0) else 0
    if byte == 0xE1:
        return 3 if text[place + 1] == 0x9A and text[place + 2] == 0x80 else 0
    if byte == 0xE2:
        second, third = text[place + 1], text[place + 2]
        if second == 0x80:
            return 3 if third <= 0x8A or third in (0xA8, 0xA9, 0xAF) else 0
        return 3 if second == 0x81 and third == 0x9F else 0
    if byte == 0xE3:
        return 3 if text[place + 1] == 0x80 and text[place + 2] == 0x80 else 0
    return 0


@njit(cache=True, nogil=True)
def _code_lines(text, end, slots, codes, offsets):  # type: ignore[no-untyped-def]
    """Code the words of a text; one is told from another by comparing bytes. -1: the table is too small."""
    mask = len(slots) - 1
    used = count = line = place = 0
    while place < end:
        blank = _blank_length(text, place)
        if blank:
            if text[place] == _NEWLINE:
                line += 1
                offsets[line] = count
            place += blank
            continue
        start = place
        mixed = np.uint64(14695981039346656037)
        while True:
            byte = text[place]
            if (byte <= _BLANK or byte >= 0xC2) and _blank_length(text, place):
                break
            mixed = (mixed ^ np.uint64(byte)) * np.uint64(1099511628211)
            place += 1
        length = place - start
        slot = np.int64(mixed ^ (mixed >> np.uint64(29))) & mask
        while True:
            known = slots[slot, 0]
            if known < 0:
                if 2 * used > mask:
                    return -1
                slots[slot, 0] = known = used
                slots[slot, 1] = start
                slots[slot, 2] = length
                used += 1
                break
            if slots[slot, 2] == length and _same(text, slots[slot, 1], start, length):
                break
            slot = (slot + 1) & mask
        codes[count] = known
        count += 1
    return count


@njit(cache=True, nogil=True, inline="always")
def _same(text, one, other, length):  # type: ignore[no-untyped-def]
    # A plain loop: numba compiles no generator expressions.
    for k in range(length):  # noqa: SIM110
        if text[one + k] != text[other + k]:
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def _find(table, head, word, mask, stamp):  # type: ignore[no-untyped-def]
    """Slot of the n-gram (head, word) of this segment, or the free slot where it belongs."""
    mixed = np.uint64(head) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(word) * np.uint64(0xC2B2AE3D27D4EB4F)
    slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(mask))
    while table[slot, _STAMP] == stamp and (table[slot, _HEAD] != head or table[slot, _WORD] != word):
        slot = (slot + 1) & mask
    return slot


@njit(cache=True, nogil=True)
def _learn(table, words, order, mask, stamp):  # type: ignore[no-untyped-def]
    """Count the n-grams of a candidate, each a path of (head n-gram, next word) through the table."""
    for start in range(len(words)):
        head = -1
        for place in range(start, min(start + order, len(words))):
            slot = _find(table, head, words[place], mask, stamp)
            if table[slot, _STAMP] != stamp:
                table[slot, _STAMP] = stamp
                table[slot, _HEAD] = head
                table[slot, _WORD] = words[place]
                table[slot, _IN_CANDIDATE] = 0
                table[slot, _BEST] = 0
                table[slot, _READER] = -1
            table[slot, _IN_CANDIDATE] += 1
            head = slot


@njit(cache=True, nogil=True)
def _clip(table, words, order, mask, stamp, reader, counts):  # type: ignore[no-untyped-def]
    """Raise the clipped counts by what one more reference (number `reader`) has of the candidate's n-grams."""
    for start in range(len(words)):
        head = -1
        for place in range(start, min(start + order, len(words))):
            slot = _find(table, head, words[place], mask, stamp)
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


@njit(cache=True, nogil=True)
def _count(candidate, candidate_offsets, reference, reference_offsets, segment_offsets, order, counts):  # type: ignore[no-untyped-def]
    size = 64
    for segment in range(len(counts)):
        while size < 2 * order * (candidate_offsets[segment + 1] - candidate_offsets[segment]):
            size *= 2
    # Stamped with the segment that uses it, a slot needs no clearing.
    table = np.full((size, 8), -1, np.int64)
    for segment in range(len(counts)):
        words = candidate[candidate_offsets[segment] : candidate_offsets[segment + 1]]
        # A short segment uses the low end of the table only, which stays in the cache.
        room = 64
        while room < 2 * order * len(words):
            room *= 2
        _learn(table, words, order, room - 1, segment)
        for line in range(segment_offsets[segment], segment_offsets[segment + 1]):
            text = reference[reference_offsets[line] : reference_offsets[line + 1]]
            _clip(table, text, order, room - 1, segment, line, counts[segment])


def code_lines(text: bytes) -> tuple[NDArray[np.int32], Integers, Callable[[], list[str]]]:
    """Do what `softbleu.kernels.numpy_backend.code_lines` does; the codes may differ, not which are equal."""
    # Two bytes behind the end let white space of three bytes be looked for anywhere.
    padded = np.frombuffer(text + b"  ", np.uint8)
    codes = np.empty(len(text) // 2 + 1, np.int32)
    offsets = np.zeros(text.count(b"\n") + 1, np.int64)
    size = 1024
    while size < len(text) // 8:
        size *= 2
    slots = np.full((size, 3), -1, np.int32)
    while (count := _code_lines(padded, len(text), slots, codes, offsets)) < 0:
        size *= 4
        slots = np.full((size, 3), -1, np.int32)

    def words() -> list[str]:
        taken = slots[slots[:, 0] >= 0]
        starts, lengths = taken[np.argsort(taken[:, 0]), 1:].T
        bounds = zip(starts.tolist(), (starts + lengths).tolist(), strict=True)
        return [text[start:end].decode() for start, end in bounds]

    return codes[:count], offsets, words


def clipped_counts(
    candidate: NDArray[np.int32],
    candidate_offsets: Integers,
    reference: NDArray[np.int32],
    reference_offsets: Integers,
    segment_offsets: Integers,
    order: int,
) -> Integers:
    """Do what `softbleu.kernels.numpy_backend.clipped_counts` does, with the same digits."""
    counts = np.zeros((len(candidate_offsets) - 1, order), np.int64)
    _count(candidate, candidate_offsets, reference, reference_offsets, segment_offsets, order, counts)
    return counts
