"""The backend compiled by numba (``pip install 'softbleu[fast]'``): worth their start-up on large input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numba import njit

from softbleu.kernels.numba_soft import matched_weights as matched_weights
from softbleu.kernels.numba_soft import raise_to_spellings as raise_to_spellings
from softbleu.kernels.numba_soft import serve as serve
from softbleu.tokens import ESCAPES_13A, MARKS_13A

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from softbleu.types import Integers


NAME: Final = "numba"
PAIRS_AT_ONCE: Final = 1 << 16

_STAMP, _HEAD, _WORD, _IN_CANDIDATE, _IN_REFERENCE, _BEST, _READER = range(7)
_TAB, _NEWLINE, _RETURN, _SEPARATORS, _BLANK = 9, 10, 13, 28, 32
_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHORT = 8
"""Bytes of a word that its key has room for."""
_AMPERSAND, _COMMA, _DASH, _STOP, _LESS = b"&,-.<"
# What 13a sees in a byte: nothing, a mark, a full stop or comma, a dash.
_KINDS = np.zeros(256, np.uint8)
_KINDS[list(MARKS_13A.encode())] = 1
_KINDS[[_COMMA, _STOP, _DASH]] = _STOP, _STOP, _DASH
# One below the other: a name, padded, its length, and the byte that it stands for.
_ESCAPES = np.array([[*name.encode().ljust(9), len(name), ord(by or "\0")] for name, by in ESCAPES_13A.items()])


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


@njit(cache=True, nogil=True, inline="always")
def _unescaped(word, length, escape):  # type: ignore[no-untyped-def]
    """Replace an escape, wherever it stands in a word, by what it stands for; the new length."""
    end = place = 0
    size, by = escape[-2], escape[-1]
    while place < length:
        found = place + size <= length
        for k in range(size):
            if not found:
                break
            found = word[place + k] == escape[k]
        if not found:
            word[end] = word[place]
            place += 1
            end += 1
            continue
        place += size
        if by:
            word[end] = by
            end += 1
    return end


@njit(cache=True, nogil=True, inline="always")
def _is_digit(byte):  # type: ignore[no-untyped-def]
    return 48 <= byte <= 57


@njit(cache=True, nogil=True)
def _split_word(word, place, stop, out, end):  # type: ignore[no-untyped-def]
    """Write a word with blanks between its tokens, as 13a has them; where the next may be written."""
    first = place
    while place < stop:
        byte = word[place]
        kind = _KINDS[byte]
        after_digit = place > first and _is_digit(word[place - 1])
        if kind == 0 or (kind == _DASH and not after_digit):
            out[end] = byte
            end += 1
            place += 1
            continue
        last, joined = place, False
        if kind == _STOP:
            while last + 1 < stop and _KINDS[word[last + 1]] == _STOP:
                last += 1
            # Rules for a mark look at two characters at a time, and at none twice.
            odd = (last - place) % 2 == 0
            joined = last + 1 < stop and _is_digit(word[last + 1]) and odd == after_digit
        apart = last > place or not joined
        while place <= last:
            if apart:
                out[end] = _BLANK
                end += 1
            out[end] = word[place]
            end += 1
            if apart and not (joined and place == last):
                out[end] = _BLANK
                end += 1
            place += 1
    return end


@njit(cache=True, nogil=True)
def _split_escaped(text, start, stop, out, end):  # type: ignore[no-untyped-def]
    """Do what `_split_word` does after what is escaped is read as 13a reads it."""
    word, length = text[start:stop].copy(), stop - start
    for escape in _ESCAPES:
        length = _unescaped(word, length, escape)
    return _split_word(word, 0, length, out, end)


@njit(cache=True, nogil=True, inline="always")
def _same(text, one, source, other, length):  # type: ignore[no-untyped-def]
    # A plain loop: numba compiles no generator expressions.
    for k in range(length):  # noqa: SIM110
        if text[one + k] != source[other + k]:
            return False
    return True


@njit(cache=True, nogil=True, inline="always")
def _number(text, start, end, key, table, source):  # type: ignore[no-untyped-def]
    """Number of a word with such a key, the next one if it is new; -1: the table is full.

    `source` is what the table's words stand in. The key of a short word is the word itself.
    """
    slots, keys, starts, lengths, used = table
    length, mask = end - start, len(slots) - 1
    mixed = key * _MIX
    slot = np.int64(mixed >> np.uint64(32)) & mask
    while True:
        known = slots[slot]
        if known < 0:
            known = used[0]
            if known == len(starts):
                return -1
            slots[slot] = known
            keys[known] = key
            starts[known] = start
            lengths[known] = length
            used[0] += 1
            return known
        if (
            keys[known] == key
            and lengths[known] == length
            and (length <= _SHORT or _same(text, start, source, starts[known], length))
        ):
            return known
        slot = (slot + 1) & mask


@njit(cache=True, nogil=True, inline="always")
def _key(key, byte, length):  # type: ignore[no-untyped-def]
    """Key of a word of such a length and key when a byte is added."""
    if length < _SHORT:
        return key << np.uint64(8) | np.uint64(byte)
    return (key ^ np.uint64(byte)) * _MIX


@njit(cache=True, nogil=True, inline="always")
def _word_end(text, start):  # type: ignore[no-untyped-def]
    """Where the word that starts here ends, and its key."""
    key, place = np.uint64(0), start
    while True:
        byte = text[place]
        if (byte <= _BLANK or byte >= 0xC2) and _blank_length(text, place):
            return place, key
        key = _key(key, byte, place - start)
        place += 1


@njit(cache=True, nogil=True)
def _code_lines(text, end, words, codes, offsets, marks, parts, bounds, numbers, out):  # type: ignore[no-untyped-def]
    """Code the words of a text, or with `marks` what they are split into; one is told from another by its bytes.

    -1: a table is full.
    """
    count = line = place = written = 0
    while place < end:
        blank = _blank_length(text, place)
        if blank:
            if text[place] == _NEWLINE:
                line += 1
                offsets[line] = count
            place += blank
            continue
        start = place
        place, key = _word_end(text, start)
        before = words[-1][0]
        known = _number(text, start, place, key, words, text)
        if known < 0:
            return -1
        if not marks:
            codes[count] = known
            count += 1
            continue
        if known == before:
            written, bounds[known + 1] = _number_parts(
                text, start, place, parts, out, written, numbers, bounds[known]
            )
            if written < 0:
                return -1
        for number in range(bounds[known], bounds[known + 1]):
            codes[count] = numbers[number]
            count += 1
    return count


@njit(cache=True, nogil=True)
def _number_parts(text, start, stop, parts, out, place, numbers, count):  # type: ignore[no-untyped-def]
    """Split a word, write it at a place and number its parts; the next place, and how many parts there are."""
    escaped = False
    for k in range(start, stop):
        escaped |= text[k] in (_AMPERSAND, _LESS)
    end = _split_escaped(text, start, stop, out, place) if escaped else _split_word(text, start, stop, out, place)
    while place < end:
        if out[place] == _BLANK:
            place += 1
            continue
        start = place
        key = np.uint64(0)
        while place < end and out[place] != _BLANK:
            key = _key(key, out[place], place - start)
            place += 1
        numbers[count] = _number(out, start, place, key, parts, out)
        if numbers[count] < 0:
            return -1, count
        count += 1
    return end, count


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
    table = np.full((size, 8), -1, np.int32)
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


def code_lines(text: bytes, *, marks: bool = False) -> tuple[NDArray[np.int32], Integers, Callable[[], list[str]]]:
    """Do what `softbleu.kernels.numpy_backend.code_lines` does; the codes may differ, not which are equal."""
    # Two bytes behind the end let white space of three bytes be looked for anywhere.
    padded = np.frombuffer(text + b"  ", np.uint8)
    size = len(text)
    codes = np.empty(size + 1 if marks else size // 2 + 1, np.int32)
    offsets = np.zeros(text.count(b"\n") + 1, np.int64)
    # A mark between blanks takes three bytes, and each stands but once.
    out = np.empty(3 * size if marks else 0, np.uint8)
    numbers = np.empty(size if marks else 0, np.int32)
    room, count = max(1024, size // 8), -1
    while count < 0:
        words, parts = _table(room), _table(room if marks else 1)
        bounds = np.zeros(len(words.starts) + 1, np.int32)
        count = _code_lines(padded, size, words, codes, offsets, marks, parts, bounds, numbers, out)
        room *= 4
    return codes[:count], offsets, lambda: parts.spelt(out.tobytes()) if marks else words.spelt(text)


class _Table(NamedTuple):
    """Words by their bytes, in a hash table."""

    slots: NDArray[np.int32]
    """Number of the word in each slot, or -1."""
    keys: NDArray[np.uint64]
    starts: NDArray[np.int32]
    lengths: NDArray[np.int32]
    used: NDArray[np.int32]
    """How many words there are."""

    def spelt(self, source: bytes) -> list[str]:
        """The words, which stand in `source`."""
        used = self.used[0]
        bounds = zip(self.starts[:used].tolist(), self.lengths[:used].tolist(), strict=True)
        return [source[start : start + length].decode() for start, length in bounds]


def _table(least: int) -> _Table:
    size = 1 << (least - 1).bit_length()
    half = max(size // 2, 1)
    return _Table(
        np.full(size, -1, np.int32),
        np.empty(half, np.uint64),
        np.empty(half, np.int32),
        np.empty(half, np.int32),
        np.zeros(1, np.int32),
    )


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
