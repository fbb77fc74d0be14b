"""Lines longer than a model's positions, in overlapping windows; nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.encoders.base import Pieces
from softbleu.errors import VectorError


@dataclass(frozen=True)
class Window:
    """Pieces that are encoded together: all of a line, or of a long one as many as fit."""

    places: NDArray[np.int64]
    """Which of all pieces they are."""
    kept: slice
    """Which of them take their vectors from this window."""

    def __len__(self) -> int:
        return len(self.places)


def cut_windows(pieces: Pieces, most: int) -> Iterator[Window]:
    """Go through the lines; one of more pieces than `most` comes as windows that overlap by half.

    Each window has the boundary pieces of its line at its ends. A piece takes its vector from the window where it
    stands farthest from the ends, the first of several; boundary pieces from the first and the last window. Raises
    `VectorError`: the boundary pieces alone fill a window.
    """
    for start, end in zip(pieces.offsets[:-1].tolist(), pieces.offsets[1:].tolist(), strict=True):
        places = np.arange(start, end)
        if len(places) <= most:
            yield Window(places, slice(0, len(places)))
        else:
            yield from _overlapping(places, pieces.words[start:end] < 0, most)


def _overlapping(places: NDArray[np.int64], boundary: NDArray[np.bool_], most: int) -> Iterator[Window]:
    inner = np.flatnonzero(~boundary)
    # Of nothing but boundary pieces all count as inner ones.
    first, last = (int(inner[0]), int(inner[-1]) + 1) if len(inner) else (0, len(places))
    head, body, tail = places[:first], places[first:last], places[last:]
    room = most - len(head) - len(tail)
    if room < 1:
        raise VectorError(
            f"a line needs {len(head) + len(tail)} boundary pieces, and the encoder has {most} positions"
        )
    step = max(1, room // 2)
    starts = np.append(np.arange(0, len(body) - room, step), len(body) - room)
    # Between neighbours, the middle of what they share.
    bounds = np.concatenate(([0], (starts[:-1] + room + starts[1:] + 1) // 2, [len(body)]))
    for number, start in enumerate(starts.tolist()):
        low, high = (bounds[number : number + 2] - start + len(head)).tolist()
        kept = slice(0 if number == 0 else low, most if number == len(starts) - 1 else high)
        yield Window(np.concatenate([head, body[start : start + room], tail]), kept)
