"""Encoded lines, cached in memory and on disk; each distinct line is encoded once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from softbleu.encoders import Encoder, Pieces
from softbleu.encoders.base import LARGEST, PlacedLine
from softbleu.encoders.pieces import in_texts
from softbleu.io.line_cache import is_cached, kept_lines

_SCALE = 2  # Integers that hold the scale of a row
_MOST = 64_000_000  # Bytes cached in memory
_AT_ONCE = 128  # Lines that are encoded and cached together
_LINES = 1024  # The same for lines of which a mean is cached


class EncodedLines:
    """Hidden states of pieces of lines, by one encoder at given layers.

    States are rounded to 16 bits, with one scale per row, before use, so that cached runs give the same digits.
    """

    def __init__(self, encoder: Encoder, layers: tuple[int, ...]) -> None:
        self.encoder, self.layers = encoder, layers
        self._kept: dict[str, NDArray[np.int16]] = {}
        self._size = 0

    def cut(self, lines: Sequence[PlacedLine]) -> Pieces:
        """Split lines into pieces; an encoder without a method `cut` is given their words."""
        if (cut := getattr(self.encoder, "cut", None)) is not None:
            pieces: Pieces = cut(lines)
            return pieces
        return self.encoder.tokenize([line.words for line in lines])

    def cut_texts(
        self, lines: Sequence[PlacedLine], before: Sequence[Sequence[PlacedLine]] = ()
    ) -> tuple[Pieces, Pieces, list[str], dict[str, tuple[int, ...]]]:
        """Cut lines, and the lines before them.

        Returns the pieces of all distinct lines, and of `lines`; for each of `lines` the key of its text, which it
        ends; and for each text the numbers of its lines among all.
        """
        in_text = [(*earlier, line) for earlier, line in zip(before or [()] * len(lines), lines, strict=True)]
        places: dict[PlacedLine, int] = {}
        numbers = [tuple(places.setdefault(line, len(places)) for line in text) for text in in_text]
        every = self.cut(list(places))
        # Lines that differ in blanks alone are read as one, and each has its pieces.
        pieces = every.chosen([text[-1] for text in numbers]) if before or len(places) < len(lines) else every
        # The key of a line with context begins with a line feed, as no line of a file does.
        texts = [("\n" if len(text) > 1 else "") + "\n".join(line.text for line in text) for text in in_text]
        return every, pieces, texts, dict(zip(texts, numbers, strict=True))

    def rows(
        self, lines: Sequence[PlacedLine], before: Sequence[Sequence[PlacedLine]] = ()
    ) -> tuple[Pieces, NDArray[np.float32]]:
        """Return the pieces of distinct lines and their hidden states: (pieces, dimension).

        `before` holds the lines of context of each line; a line with its context must be distinct.
        """
        every, pieces, texts, numbers = self.cut_texts(lines, before)
        sizes = dict(zip(texts, (np.diff(pieces.offsets) * self._width).tolist(), strict=True))
        if self._size > _MOST:
            self._kept, self._size = {}, 0
        # Another thread may replace the cache meanwhile.
        known = self._kept if is_cached() else {}
        contents = kept_lines(
            self._judge,
            [text for text in texts if text not in known],
            partial(self._encoded, every, numbers),
            # Reject entries of another version with other pieces.
            lambda text, content: len(content) == 2 * sizes[text],
        )
        made = {text: np.frombuffer(content, np.int16) for text, content in contents.items()}
        known.update(made)
        self._size += sum(values.nbytes for values in made.values()) * is_cached()
        together = np.concatenate([np.zeros(0, np.int16), *(known[text] for text in texts)])
        return pieces, _unpacked(together.reshape(-1, self._width))

    def means(self, lines: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """Compute the mean hidden state of each distinct line, including boundary pieces: (lines, dimension)."""
        texts = {" ".join(line): line for line in lines}

        def made(wanted: Sequence[str]) -> Iterator[Mapping[str, bytes]]:
            for start in range(0, len(wanted), _LINES):
                some = wanted[start : start + _LINES]
                pieces = self.encoder.tokenize([texts[text] for text in some])
                states = self.encoder.encode(pieces, self.layers)
                bounds = zip(pieces.offsets[:-1].tolist(), pieces.offsets[1:].tolist(), strict=True)
                sums = [
                    states[start:end].sum(axis=0, dtype=np.float64) / max(end - start, 1) for start, end in bounds
                ]
                yield {text: mean.astype("<f4").tobytes() for text, mean in zip(some, sums, strict=True)}

        key = f"{self._judge} mean"
        contents = kept_lines(key, list(texts), made, lambda _, content: len(content) == 4 * self.encoder.dimension)
        rows = [np.frombuffer(contents[" ".join(line)], "<f4") for line in lines]
        return np.array(rows, np.float64).reshape(-1, self.encoder.dimension)

    @property
    def _judge(self) -> str:
        """Key of states beside the text: encoder, layers and device."""
        device = getattr(self.encoder, "device", None)
        return f"{self.encoder.fingerprint} {self.layers}" + (f" {device.arithmetic}" if device else "")

    @property
    def _width(self) -> int:
        return self.encoder.dimension + _SCALE

    def _encoded(
        self, pieces: Pieces, numbers: Mapping[str, Sequence[int]], texts: Sequence[str]
    ) -> Iterator[Mapping[str, bytes]]:
        """Encode texts, given the numbers of their lines, in batches of similar length."""
        lengths = np.diff(pieces.offsets)
        ranked = sorted(texts, key=lambda text: (lengths[[*numbers[text]]].sum(), numbers[text]))
        for start in range(0, len(ranked), _AT_ONCE):
            some = ranked[start : start + _AT_ONCE]
            chosen, places = in_texts(pieces, [numbers[text] for text in some])
            states = _packed(self.encoder.encode(chosen, self.layers))
            yield {text: states[rows].tobytes() for text, rows in zip(some, places, strict=True)}


def _packed(states: NDArray[np.float32]) -> NDArray[np.int16]:
    """Round each row to integers times a scale, which is stored first: (rows, 2 + dimension)."""
    scales = np.abs(states).max(axis=1, initial=0) / np.float32(LARGEST)
    packed = np.empty((len(states), _SCALE + states.shape[1]), np.int16)
    packed[:, :_SCALE] = scales.astype("<f4").view(np.int16).reshape(-1, _SCALE)
    packed[:, _SCALE:] = np.rint(states / np.where(scales > 0, scales, 1)[:, None])
    return packed


def _unpacked(packed: NDArray[np.int16]) -> NDArray[np.float32]:
    scales = np.ascontiguousarray(packed[:, :_SCALE]).view("<f4")
    states: NDArray[np.float32] = packed[:, _SCALE:] * scales
    return states
