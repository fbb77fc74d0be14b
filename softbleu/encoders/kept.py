"""Encoded lines: each distinct one once, kept in memory for a while and on disk for later runs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from softbleu.encoders import Pieces, open_encoder
from softbleu.io.line_cache import read_lines, write_lines

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.encoders import Encoder

_LARGEST, _SCALE = 32767, 2
"""Greatest whole number of a row, and how many of them hold its scale."""
_MOST = 64_000_000
"""Bytes that are kept in memory."""
_AT_ONCE = 64
"""Lines that are encoded, and then kept, together."""


class EncodedLines:
    """Hidden states of lines' pieces by one encoder and some of its layers.

    They are rounded to 16 bits, with one scale a row, before they are used: the first run has the digits of the next.
    """

    def __init__(self, encoder: Encoder, layers: tuple[int, ...]) -> None:
        self.encoder, self.layers = encoder, layers
        self._prefix = f"{encoder.fingerprint} {layers} ".encode()
        self._kept: dict[bytes, NDArray[np.int16]] = {}
        self._size = 0

    def rows(self, lines: Sequence[Sequence[str]]) -> tuple[Pieces, NDArray[np.float32]]:
        """Pieces of distinct lines, given as their words, and the hidden state of each: (pieces, dimension)."""
        pieces = self.encoder.tokenize(lines)
        keys = [self._key(line) for line in lines]
        missing = [key for key in keys if key not in self._kept]
        if self._size > _MOST:
            self._kept, self._size = {}, 0
            missing = keys
        found = {key: np.frombuffer(content, np.int16) for key, content in read_lines(missing).items()}
        lengths = np.diff(pieces.offsets)
        sizes = dict(zip(keys, (lengths * (self.encoder.dimension + _SCALE)).tolist(), strict=True))
        # What another version cut otherwise is of no use.
        self._keep({key: values for key, values in found.items() if len(values) == sizes[key]})
        self._encode(pieces, [number for number, key in enumerate(keys) if key not in self._kept], keys)
        parts = [self._kept[key] for key in keys]
        together = np.concatenate(parts) if parts else np.zeros(0, np.int16)
        return pieces, _unpacked(together.reshape(-1, self.encoder.dimension + _SCALE))

    def _encode(self, pieces: Pieces, numbers: Sequence[int], keys: Sequence[bytes]) -> None:
        """Encode lines with these numbers; those of about one length together."""
        lengths = np.diff(pieces.offsets)
        ranked = sorted(numbers, key=lambda number: (lengths[number], number))
        for start in range(0, len(ranked), _AT_ONCE):
            some = ranked[start : start + _AT_ONCE]
            own = pieces.chosen(some)
            states = _packed(self.encoder.encode(own, self.layers))
            parts = np.split(states, own.offsets[1:-1])
            made = {keys[number]: part.reshape(-1) for number, part in zip(some, parts, strict=True)}
            self._keep(made)
            write_lines({key: values.tobytes() for key, values in made.items()})

    def _keep(self, made: dict[bytes, NDArray[np.int16]]) -> None:
        self._kept |= made
        self._size += sum(values.nbytes for values in made.values())

    def _key(self, line: Sequence[str]) -> bytes:
        text = " ".join(line).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(self._prefix + text, digest_size=20).digest()


def _packed(states: NDArray[np.float32]) -> NDArray[np.int16]:
    """Round each row to whole numbers times a scale, which stands before them: (rows, 2 + dimension)."""
    scales = np.abs(states).max(axis=1, initial=0) / np.float32(_LARGEST)
    packed = np.empty((len(states), _SCALE + states.shape[1]), np.int16)
    packed[:, :_SCALE] = scales.astype("<f4").view(np.int16).reshape(-1, _SCALE)
    packed[:, _SCALE:] = np.rint(states / np.where(scales > 0, scales, 1)[:, None])
    return packed


def _unpacked(packed: NDArray[np.int16]) -> NDArray[np.float32]:
    scales = np.ascontiguousarray(packed[:, :_SCALE]).view("<f4")
    states: NDArray[np.float32] = packed[:, _SCALE:] * scales
    return states


def encoded_lines(encoder: str | Encoder, layers: tuple[int, ...]) -> EncodedLines:
    """What is kept of an encoder, named by its place or given, once a process."""
    key = encoder if isinstance(encoder, str) else id(encoder), layers
    if key not in _OPEN:
        if len(_OPEN) >= _MOST_OPEN:
            del _OPEN[next(iter(_OPEN))]
        _OPEN[key] = EncodedLines(open_encoder(encoder), layers)
    return _OPEN[key]


_OPEN: dict[tuple[str | int, tuple[int, ...]], EncodedLines] = {}
"""They hold their encoders, so that no other has the same id."""
_MOST_OPEN = 4
