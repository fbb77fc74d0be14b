"""References drawn at random, and sums of the rows that resampling takes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from softbleu.types import Floats, Integers

_MOST_KEPT = 1 << 25  # Bytes of draws that are kept for the next system; more are drawn anew
_SEGMENTS = 2048  # Segments added up together: few enough for the cache, and, for draws are bits, a multiple of 8
_ITERATIONS = 128  # Iterations that are added up together
_MOST_CONVERTED = 1 << 22  # Entries of rows that are kept as floating point; more are converted anew


def draw_references(counts: Integers, iterations: Iterable[int], seed: int = 0) -> Iterator[Integers]:
    """Draw one reference of each segment, which has `counts` of them, in each iteration, as the official GLEU+ does.

    Iteration k takes the stream of Python's ``random.seed(seed + 101 * k)`` and, of a segment's R references,
    number ``int(random.random() * R)`` (what Python 2's ``randint`` did).

    >>> [drawn.tolist() for drawn in draw_references(np.array([2, 2, 3, 1]), range(2))]
    [[1, 1, 1, 0], [1, 0, 2, 0]]
    """
    stream = np.random.RandomState(0)
    for k in iterations:
        # Seeded with a list of one number, this generator gives Python's own stream.
        stream.seed([seed + 101 * k])
        yield _drawn(stream, counts)


def _drawn(stream: np.random.RandomState, counts: Integers) -> Integers:
    """Draw the next number below each count."""
    return (stream.random_sample(len(counts)) * counts).astype(np.int64)


class ReferenceDraws:
    """The references of all iterations, a bit each; see `draw_references`."""

    def __init__(
        self, counts: Integers, iterations: int, seed: int, streams: Sequence[np.random.RandomState] = ()
    ) -> None:
        self._counts, self._iterations, self._seed = counts, iterations, seed
        self._streams = streams  # Of every iteration, where the segments follow others; then they are drawn once
        self._others = int(counts.max(initial=1)) - 1
        kept = bool(streams) or self._others * iterations * (len(counts) // 8 + 1) <= _MOST_KEPT
        self._kept = self._drawn(range(iterations)) if kept else None

    @classmethod
    @lru_cache(maxsize=1)
    def shared(cls, counts: bytes, iterations: int, seed: int) -> ReferenceDraws:
        """Many systems share their references, and so their draws; `counts` are the bytes of integers."""
        return cls(np.frombuffer(counts, np.int64), iterations, seed)

    def bits(self, start: int, stop: int) -> NDArray[np.uint8]:
        """Whether samples have reference 1, 2, …, as bits: (references - 1, samples, segments); they begin anew."""
        iterations = np.arange(start, stop) % self._iterations
        return self._drawn(iterations.tolist()) if self._kept is None else self._kept[:, iterations]

    def _drawn(self, iterations: Sequence[int]) -> NDArray[np.uint8]:
        bits = np.empty((self._others, len(iterations), (len(self._counts) + 7) // 8), np.uint8)
        draws = (_drawn(stream, self._counts) for stream in self._streams)
        for place, drawn in enumerate(
            draws if self._streams else draw_references(self._counts, iterations, self._seed)
        ):
            for other in range(self._others):
                bits[other, place] = np.packbits(drawn == other + 1)
        return bits


@dataclass(frozen=True)
class ChosenRows:
    """What resampling adds up: one row a segment or, where references are drawn, one for each that may be drawn."""

    places: list[Integers]  # Entry r has the row of each segment's reference r
    draws: ReferenceDraws | None = None  # Which of them each iteration draws; None where there is one


class ChosenSums:
    """Sums of systems' chosen rows, which have the same draws: exact whole numbers, (systems, samples, columns)."""

    def __init__(self, rows: Sequence[Integers], chosen: Sequence[ChosenRows]) -> None:
        self._rows, self._chosen, self._draws = rows, chosen, chosen[0].draws
        self._segments, self._columns = len(chosen[0].places[0]), len(rows) * rows[0].shape[1]
        size = len(chosen[0].places) * self._segments * self._columns
        self._kept = [*self._parts()] if size <= _MOST_CONVERTED else None

    def drawn(self, iterations: int) -> Floats:
        """Add up what each iteration draws."""
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
        """Segments, the first reference's rows of all systems, and by how much those of the others are greater."""
        for low in range(0, self._segments, _SEGMENTS):
            part = slice(low, min(low + _SEGMENTS, self._segments))
            first, *others = (
                np.concatenate([own[places[part]] for own, places in zip(self._rows, layer, strict=True)], axis=1)
                for layer in zip(*(system.places for system in self._chosen), strict=True)
            )
            yield part, first.astype(np.float64), [(other - first).astype(np.float64) for other in others]
