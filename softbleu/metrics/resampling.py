"""Resampling: references drawn at random, and sums of the rows that samples draw."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from softbleu.types import Floats, Integers

_MOST_KEPT = 1 << 25  # Bytes of draws that are kept for the next system; more are drawn anew
_SEGMENTS = 2048  # Segments added up together: few enough for the cache, and, for draws are bits, a multiple of 8
_ITERATIONS = 128  # Iterations that are added up together
_MOST_CONVERTED = 1 << 22  # Entries of rows that are kept as floating point; more are converted anew


Sampling = Literal["python2", "python3"]


def draw_references(
    counts: Integers, iterations: Iterable[int], seed: int = 0, sampling: Sampling = "python2"
) -> Iterator[Integers]:
    """Draw one reference of each segment, which has `counts` of them, in each iteration, as the official GLEU+ does.

    Iteration k takes the stream of Python's ``random.seed(seed + 101 * k)`` and, of a segment's R references, what
    ``randint(0, R - 1)`` of that version of Python gives.

    >>> [drawn.tolist() for drawn in draw_references(np.array([2, 2, 3, 1]), range(2))]
    [[1, 1, 1, 0], [1, 0, 2, 0]]
    >>> [drawn.tolist() for drawn in draw_references(np.array([2, 2, 3, 1]), range(2), sampling="python3")]
    [[1, 1, 0, 0], [0, 1, 1, 0]]
    """
    return (draw_stream(seed + 101 * k, sampling)(counts) for k in iterations)


def draw_stream(seed: int, sampling: Sampling) -> Callable[[Integers], Integers]:
    """Make a function that draws a number below each count, one after the other."""
    if sampling == "python3":
        draw = random.Random(seed).randrange
        return lambda counts: np.fromiter(map(draw, counts.tolist()), np.int64, len(counts))
    # Seeded with a list of one number, this generator gives Python's own stream.
    share = np.random.RandomState([seed]).random_sample
    return lambda counts: (share(len(counts)) * counts).astype(np.int64)


class ReferenceDraws:
    """The references of all iterations, a bit each; see `draw_references`."""

    def __init__(
        self,
        counts: Integers,
        iterations: int,
        seed: int,
        streams: Sequence[Callable[[Integers], Integers]] = (),
        sampling: Sampling = "python2",
    ) -> None:
        self._counts, self._iterations, self._seed, self._sampling = counts, iterations, seed, sampling
        self._streams = streams  # Of every iteration, where the segments follow others; then they are drawn once
        self._others = int(counts.max(initial=1)) - 1
        held = bool(streams) or self._others * iterations * (len(counts) // 8 + 1) <= _MOST_KEPT
        self._kept = self._drawn(range(iterations)) if held else None

    @classmethod
    @lru_cache(maxsize=1)
    def shared(cls, counts: bytes, iterations: int, seed: int, sampling: Sampling) -> ReferenceDraws:
        """Share the draws of systems with the same references, of which `counts` has the numbers, as bytes.

        The number of draws is `iterations`, by a generator of that `seed`.
        """
        return cls(np.frombuffer(counts, np.int64), iterations, seed, sampling=sampling)

    def bits(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Whether samples `start` to `stop` have reference 1, 2, …, as bits: (references - 1, samples, segments)."""
        iterations = np.arange(start, stop) % self._iterations
        return self._drawn(iterations.tolist()) if self._kept is None else self._kept[:, iterations]

    def _drawn(self, iterations: Sequence[int]) -> NDArray[np.uint8]:
        bits = np.empty((self._others, len(iterations), (len(self._counts) + 7) // 8), np.uint8)
        draws = (draw(self._counts) for draw in self._streams)
        for index, drawn in enumerate(
            draws if self._streams else draw_references(self._counts, iterations, self._seed, self._sampling)
        ):
            for other in range(self._others):
                bits[other, index] = np.packbits(drawn == other + 1)
        return bits


class ChosenSums:
    """Sums of systems' chosen rows, which have the same draws: exact whole numbers, (systems, samples, columns).

    Rows are one per segment or, where references are drawn, one for each possible draw: entry r of a system's places
    has the row of each segment's reference r, and `draws` says which of them each iteration draws.
    """

    adds_up: ClassVar[bool] = True  # Whether sums of two parts of a sample add up to the sum of the whole

    def __init__(
        self, rows: Sequence[Integers], places: Sequence[list[Integers]], draws: ReferenceDraws | None = None
    ) -> None:
        self._rows, self._places, self._draws = rows, places, draws
        self._segments, self._columns = len(places[0][0]), len(rows) * rows[0].shape[1]
        size = len(places[0]) * self._segments * self._columns
        self._kept = [*self._parts()] if size <= _MOST_CONVERTED else None

    def drawn(self, iterations: int) -> Floats:
        """Add up the rows that each iteration draws."""
        starts = range(0, iterations, _ITERATIONS)
        return np.concatenate([self.plain(k, min(k + _ITERATIONS, iterations)) for k in starts], axis=1)

    def plain(self, start: int, stop: int) -> Floats:
        """Add up all segments in the samples `start` to `stop`."""
        return self._sums(start, stop, None)

    def weighted(self, weights: Integers, start: int) -> Floats:
        """Add up segments times weights, (samples, segments); the first sample is number `start`."""
        return self._sums(start, start + len(weights), weights)

    def _sums(self, start: int, stop: int, weights: Integers | None) -> Floats:
        bits = () if self._draws is None else self._draws.bits(start, stop)
        sums = np.zeros((stop - start, self._columns))
        for part, first, more in self._kept or self._parts():
            weight = None if weights is None else weights[:, part].astype(np.float64)
            sums += first.sum(axis=0) if weight is None else weight @ first
            for packed, gain in zip(bits, more, strict=True):
                octets = packed[:, part.start // 8 : -(-part.stop // 8)]
                chose = np.unpackbits(octets, axis=1, count=part.stop - part.start)
                sums += (chose.astype(np.float64) if weight is None else weight * chose) @ gain
        return sums.reshape(stop - start, len(self._rows), -1).swapaxes(0, 1)

    def _parts(self) -> Iterator[tuple[slice, Floats, list[Floats]]]:
        """Yield segments, the first reference's rows of all systems, and differences of other references' rows."""
        for low in range(0, self._segments, _SEGMENTS):
            part = slice(low, min(low + _SEGMENTS, self._segments))
            first, *others = (
                np.concatenate([row[indices[part]] for row, indices in zip(self._rows, layer, strict=True)], axis=1)
                for layer in zip(*self._places, strict=True)
            )
            yield part, first.astype(np.float64), [(other - first).astype(np.float64) for other in others]
