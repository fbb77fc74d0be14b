"""Encoding of text as word codes, compiled by numba: eight bytes at a time; each distinct word is split once."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from softbleu.kernels.compiled import kernel, part
from softbleu.text.coded import Tokens
from softbleu.text.tokens import ESCAPES_13A, MARKS_13A

if TYPE_CHECKING:
    from softbleu.types import Array, Integers


_BEYOND_ASCII = 0x80
_TAB, _NEWLINE, _RETURN, _SEPARATORS, _BLANK = 9, 10, 13, 28, 32
_AMPERSAND, _COMMA, _DASH, _STOP, _LESS = b"&,-.<"
# Kind of each byte in 13a: 0, a mark, a full stop or comma, a dash
_KINDS = np.zeros(256, np.uint8)
_KINDS[list(MARKS_13A.encode())] = 1
_KINDS[[_COMMA, _STOP, _DASH]] = _STOP, _STOP, _DASH
# Rows of a padded name, its length, and the byte that it stands for
_ESCAPES = np.array([[*name.encode().ljust(9), len(name), ord(by or "\0")] for name, by in ESCAPES_13A.items()])

_OCTET = 8
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF, _TOP, _ONE, _ALL = np.uint64(32), np.uint64(56), np.uint64(1), np.uint64(64)
# Masks for eight bytes at once: bytes up to a blank, and bytes above ASCII, may end a word.
_ABOVE_BLANK, _TOP_BITS = np.uint64(0x2121212121212121), np.uint64(0x8080808080808080)
# Masks of the first bytes of eight
_MASKS = np.array([(1 << 8 * length) - 1 for length in range(_OCTET)], np.uint64)
_LONG = np.uint64(0xFF) << _TOP
"""Bits set in the keys of words of eight bytes or more; keys of shorter words are their bytes and length."""
# Byte of a single bit, by the top six bits of its product with a de Bruijn number
_BIT, _TOP_SIX = np.uint64(0x03F79D71B4CB0A89), np.uint64(58)
_BYTES = np.zeros(64, np.int64)
_BYTES[[(int(_BIT) << bit & (1 << 64) - 1) >> 58 for bit in range(64)]] = np.arange(64) // _OCTET
_LEAST = 1 << 12


class _Table(NamedTuple):
    """A hash table of words."""

    slots: NDArray[np.int32]  # Number of the word in each slot, from 1; 0 for none
    keys: NDArray[np.uint64]  # Keys of the words; the first entry, here and in `bounds`, is for none
    bounds: NDArray[np.int64]  # End of each word in `surface`
    surface: NDArray[np.uint8]  # The words, concatenated
    octets: NDArray[np.uint64]  # The eight bytes from each position on
    used: NDArray[np.int64]  # Number of words


def _octets(text: NDArray[np.uint8]) -> NDArray[np.uint64]:
    first = np.ndarray(1, np.uint64, text.data)
    return as_strided(first, (len(text) - _OCTET + 1,), (1,))


def _table(slots: int, room: int) -> _Table:
    surface = np.zeros(room + _OCTET, np.uint8)
    words = slots // 2
    return _Table(
        np.zeros(slots, np.int32),
        np.zeros(words, np.uint64),
        np.zeros(words, np.int64),
        surface,
        _octets(surface),
        np.zeros(1, np.int64),
    )


def _with_slots(table: _Table) -> _Table:
    words = 2 * len(table.keys)
    slots, keys = np.zeros(2 * len(table.slots), np.int32), _grown(table.keys, words)
    _enter_again(slots, keys, int(table.used[0]))
    return table._replace(slots=slots, keys=keys, bounds=_grown(table.bounds, words))


def _with_room(table: _Table, more: int) -> _Table:
    needed = int(table.bounds[table.used[0]]) + more + _OCTET
    if needed <= len(table.surface):
        return table
    surface = _grown(table.surface, 2 * needed)
    return table._replace(surface=surface, octets=_octets(surface))


def _grown(array: Array, size: int) -> Array:
    grown = np.zeros(size, array.dtype)
    grown[: len(array)] = array
    return grown


class _Words:
    """Encodes words between white space; equal words get the same code in every text."""

    def __init__(self) -> None:
        self.table = _table(_LEAST, _LEAST)

    def __len__(self) -> int:
        return int(self.table.used[0])

    def code(self, text: NDArray[np.uint8], lines: int) -> tuple[NDArray[np.int32], Integers]:
        """Encode a text that is followed by eight blanks."""
        end = len(text) - _OCTET
        self.table = _with_room(self.table, end)
        codes, offsets = np.empty(end // 2 + 1, np.int32), np.zeros(lines + 1, np.int64)
        # State to continue from: position, line, number of codes
        state = np.zeros(3, np.int64)
        while not _code(text, _octets(text), end, state, self.table, codes, offsets):
            self.table = _with_slots(self.table)
        return codes[: state[2]], offsets

    def surface(self, start: int = 0) -> tuple[NDArray[np.uint8], Integers]:
        """Return the words with code `start` and above, concatenated, and their bounds."""
        bounds = self.table.bounds[min(start, len(self)) : len(self) + 1]
        return self.table.surface[bounds[0] : bounds[-1]], bounds - bounds[0]


class CompiledCoder:
    """Encodes words between white space or, with `marks`, tokens of 13a; see `WordCoder`."""

    def __init__(self, *, marks: bool = False) -> None:
        self._words, self._parts = _Words(), _Words() if marks else None
        self._numbers, self._bounds = np.zeros(0, np.int32), np.zeros(1, np.int64)

    def __len__(self) -> int:
        return len(self._words if self._parts is None else self._parts)

    def words(self, start: int = 0) -> list[str]:
        """Return the words with code `start` and above."""
        surface, bounds = (self._words if self._parts is None else self._parts).surface(start)
        text, ends = surface.tobytes(), bounds.tolist()
        return [text[one:other].decode() for one, other in pairwise(ends)]

    def code(self, text: bytes) -> Tokens:
        """Encode UTF-8 text in which every line ends with a newline."""
        known = len(self._words)
        # A writable array, as everywhere, so that functions are compiled once.
        padded = np.frombuffer(bytearray(text + b" " * _OCTET), np.uint8)
        codes, offsets = self._words.code(padded, text.count(b"\n"))
        if self._parts is None:
            return Tokens(codes.copy(), offsets)
        if len(self._words) > known:
            surface, bounds = self._words.surface(known)
            # A mark with blanks around it takes three bytes.
            out = np.empty(3 * len(surface) + len(bounds) + _OCTET, np.uint8)
            end = _split(surface, bounds, out)
            numbers, ends = self._parts.code(out[: end + _OCTET], len(bounds) - 1)
            self._bounds = np.concatenate((self._bounds, len(self._numbers) + ends[1:]))
            self._numbers = np.concatenate((self._numbers, numbers))
        # There are at most as many tokens as bytes.
        parts = np.empty(len(text), np.int32)
        _spread(codes, offsets, self._numbers, self._bounds, parts)
        return Tokens(parts[: offsets[-1]].copy(), offsets)


@part
def _blank_length(text, place):
    """Return the length of the white space (as in `str.split`) at a position, in bytes; 0 for none."""
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


@part
def _unescaped(word, length, escape):
    """Replace an escape everywhere in a word; return the new length."""
    end = place = 0
    size, by = escape[-2], escape[-1]
    while place < length:
        escaped = place + size <= length
        for k in range(size):
            if not escaped:
                break
            escaped = word[place + k] == escape[k]
        if not escaped:
            word[end] = word[place]
            place += 1
            end += 1
            continue
        place += size
        if by:
            word[end] = by
            end += 1
    return end


@part
def _is_digit(byte):
    return 48 <= byte <= 57


@part
def _split_word(word, place, stop, out, end):
    """Write a word with blanks between its 13a tokens; return the end."""
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
            # 13a's rules for marks consume two characters at a time.
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


@part
def _split_escaped(word, out, end):
    """Replace escapes as 13a does, overwriting the word, then call `_split_word`."""
    length = len(word)
    for escape in _ESCAPES:
        length = _unescaped(word, length, escape)
    return _split_word(word, np.int64(0), length, out, end)


@kernel
def _split(surface, bounds, out):
    """Write each word on a line with blanks between its tokens, then eight blanks; return where these begin."""
    # A literal would compile the called functions once more.
    end = np.int64(0)
    for word in range(len(bounds) - 1):
        start, stop = bounds[word], bounds[word + 1]
        escaped = False
        for place in range(start, stop):
            escaped |= surface[place] == _AMPERSAND or surface[place] == _LESS
        if escaped:
            end = _split_escaped(surface[start:stop].copy(), out, end)
        else:
            end = _split_word(surface, start, stop, out, end)
        out[end] = _NEWLINE
        end += 1
    out[end : end + _OCTET] = _BLANK
    return end


@kernel
def _spread(codes, offsets, numbers, bounds, parts):
    """Replace words by their parts; changes `offsets` to bounds of parts."""
    count = place = 0
    for line in range(1, len(offsets)):
        while place < offsets[line]:
            for number in range(bounds[codes[place]], bounds[codes[place] + 1]):
                parts[count] = numbers[number]
                count += 1
            place += 1
        offsets[line] = count


@kernel
def _enter_again(slots, keys, used):
    shift = _ALL - _bits(slots)
    for number in range(1, used + 1):
        slot = np.int64((keys[number] ^ keys[number] >> _HALF) * _MIX >> shift)
        while slots[slot]:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = number


@part
def _bits(slots):
    """Return the number of bits of a slot's number."""
    bits = np.uint64(0)
    while np.uint64(1) << bits < np.uint64(len(slots)):
        bits += np.uint64(1)
    return bits


@kernel
def _code(text, octets, end, state, table, codes, offsets):  # noqa: C901
    """Encode the words of a text; return False if the table is full, to be continued from `state`.

    One function, since passing arrays on, or reading them from tuples, costs reference counting.
    """
    place, line, count = state
    slots, keys, bounds, surface, surface_octets, used = table
    mask, shift, words = len(slots) - 1, _ALL - _bits(slots), used[0]
    while place < end:
        byte = text[place]
        if byte <= _BLANK or byte >= _BEYOND_ASCII:
            blank = _blank_length(text, place)
            if blank:
                if byte == _NEWLINE:
                    line += 1
                    offsets[line] = count
                place += blank
                continue
        start = place
        while True:
            # Only the lowest of the eight flags is reliable.
            octet = octets[place]
            flags = ((octet - _ABOVE_BLANK) & ~octet | octet) & _TOP_BITS
            if not flags:
                place += _OCTET
                continue
            place += _BYTES[((flags & (~flags + _ONE)) * _BIT) >> _TOP_SIX]
            if text[place] == _BLANK or _blank_length(text, place):
                break
            place += 1
        length, last = place - start, place - _OCTET
        if length < _OCTET:
            key = octets[start] & _MASKS[length] | np.uint64(length) << _TOP
        else:
            key = np.uint64(length) * _MIX
            for at in range(start, last, _OCTET):
                key = (key ^ octets[at]) * _MIX
                key ^= key >> _HALF
            key = (key ^ octets[last]) * _MIX | _LONG
        slot = np.int64((key ^ key >> _HALF) * _MIX >> shift)
        while True:
            number = slots[slot]
            if number == 0:
                break
            if keys[number] == key:
                if length < _OCTET:
                    break
                begin = bounds[number - 1]
                at = start
                if bounds[number] - begin == length:
                    while at < last and octets[at] == surface_octets[begin + at - start]:
                        at += _OCTET
                    if at >= last and octets[last] == surface_octets[begin + last - start]:
                        break
            slot = (slot + 1) & mask
        if number == 0:
            if words + 1 == len(keys):
                state[0], state[1], state[2] = start, line, count
                return False
            begin = bounds[words]
            words += 1
            used[0] = number = words
            slots[slot], keys[number], bounds[number] = number, key, begin + length
            for at in range(length):
                surface[begin + at] = text[start + at]
        codes[count] = number - 1
        count += 1
        if text[place] == _BLANK:
            place += 1
    state[2] = count
    return True
