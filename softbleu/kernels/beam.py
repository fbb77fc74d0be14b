"""Which of the matches of two lines METEOR's alignment takes: a beam search over the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from softbleu.types import Integers

BEAM = 40
# Paths are ordered by one number: most matched words, then fewest chunks, then least distance.
_CHUNK = 1 << 40
_WORD = 1 << 72
_rank = itemgetter(0)

Path = tuple[int, int, int, int, Any]
"""Its rank, the candidate's words that are taken (bits), where its last match ends in the candidate and in the
reference (-1 where that was left behind), and the matches that it took, the last first."""
_Costs = list[tuple[int, int]]  # What a match adds to the rank of a path, and its number: the least first


def best_matches(
    length: int,
    fixed: Mapping[int, Sequence[int]],
    indices: Integers,
    sizes: Integers,
    starts: Integers,
    widths: Integers,
    gains: Integers,
) -> list[int]:
    """Choose among matches by a beam that runs over the reference from left to right; return their numbers.

    As the program does it: a word of a match that is not exact counts half, rounded down a match and side; the
    distance of a match does not burden the path that takes it, but those that the same path leads to after it.
    `fixed` are matches that no other overlaps (words of the reference, place and words in the candidate), by their
    place in the reference. The matches to choose from are given by their places in the reference, in the order in
    which they are tried, the words that they cover there, the same in the candidate, and the words that they count.

    >>> two = np.array([0, 0, 2]), np.array([1, 1, 1]), np.array([0, 2, 2]), np.array([1, 1, 1]), np.array([2, 2, 2])
    >>> best_matches(3, {1: (1, 1, 1)}, *two)
    [2, 0]
    """
    bounds = np.searchsorted(indices, np.arange(length + 1)).tolist()
    paths: list[Path] = [(0, 0, -1, -1, None)]
    for index in range(length):
        new: list[Path] = []
        if index in fixed:
            size, start, width = fixed[index]
            for rank, taken, end, last, trail in paths:
                closed = last >= 0 and (end != start or last != index)
                new.append((rank + _CHUNK if closed else rank, taken, start + width, index + size, trail))
        elif bounds[index] < bounds[index + 1]:
            part = slice(*bounds[index : index + 2])
            columns = (column[part].tolist() for column in (sizes, starts, widths, gains))
            paths = _Matches(part.start, *columns).extended(paths, index)
            continue
        elif any(0 <= path[3] <= index for path in paths):
            for path in paths:
                new.append(_left(path) if 0 <= path[3] <= index else path)
        else:
            continue
        new.sort(key=_rank)
        paths = new
    best = min((_left(path) if path[3] >= 0 else path for path in paths), key=_rank)
    names, trail = [], best[4]
    while trail is not None:
        name, trail = trail
        names.append(name)
    return names


def _left(path: Path) -> Path:
    """The path with its last chunk ended."""
    return path[0] + _CHUNK, path[1], -1, -1, path[4]


class _Matches:
    """The matches to choose from at a word of the reference, and the candidate's words that each takes, as bits."""

    def __init__(self, first: int, sizes: list[int], starts: list[int], widths: list[int], gains: list[int]) -> None:
        self._first = first  # Number of the first
        self._sizes, self._starts, self._widths, self._gains = sizes, starts, widths, gains
        self._bits = [((1 << width) - 1) << start for start, width in zip(starts, widths, strict=True)]

    def extended(self, paths: Sequence[Path], index: int) -> list[Path]:
        """The best of the paths that go on from these with one of the matches, or none."""
        onward = []
        for rank, place, match in self._best(paths, index):
            path = paths[place]
            if match == len(self._starts):
                path = rank, path[1], -1, -1, path[4]
            elif match >= 0:
                end, last = self._starts[match] + self._widths[match], index + self._sizes[match]
                path = rank, path[1] | self._bits[match], end, last, (self._first + match, path[4])
            onward.append(path)
        return onward

    def _best(self, paths: Sequence[Path], index: int) -> list[tuple[int, int, int]]:
        """Ranks of the best paths, the places of those that they go on from, and the matches; -1 within a match.

        Paths from which the same matches are left, at the same cost, make a group. In a group the k-th cheapest match
        of the i-th path ranks behind i k others, so that few need a look.
        """
        differ = self._differing(paths)
        groups: dict[tuple[int, int], tuple[list[int], _Costs, _Costs]] = {}
        new: list[tuple[int, int, int]] = []
        bound: float = inf
        for place, (rank, taken, end, last, _) in enumerate(paths):
            if last > index:
                new.append((rank, place, -1))
                continue
            # Where a match would go on with a chunk; -1 where it begins another, -2 where none has to be ended.
            goes_on = end if last == index else -1 if last >= 0 else -2
            key = taken & differ, goes_on
            if key not in groups:
                groups[key] = [0], *self._costs(taken, goes_on, index)
            count, following, others = groups[key]
            count[0] += 1
            new += [(rank + cost, place, match) for cost, match in following]
            if last >= 0:
                rank += _CHUNK
            for cost, match in others[: BEAM // count[0]]:
                if rank + cost >= bound:
                    break
                new.append((rank + cost, place, match))
            if len(new) > 2 * BEAM:
                new.sort()
                del new[BEAM:]
                bound = new[-1][0]
        new.sort()
        return new[:BEAM]

    def _differing(self, paths: Sequence[Path]) -> int:
        """The words of the matches, as bits, or none if all paths have taken the same of these, as nearly always."""
        words, differing = 0, 0
        for bits in self._bits:
            words |= bits
        for path in paths:
            differing |= path[1] ^ paths[0][1]
        return words if differing & words else 0

    def _costs(self, taken: int, goes_on: int, index: int) -> tuple[_Costs, _Costs]:
        """List the costs of the matches that are left and continue a chunk, and the least cost of the others.

        To take none has the number after the last.
        """
        following: _Costs = []
        others: _Costs = []
        distance = 0
        for match, (start, bits, gain) in enumerate(zip(self._starts, self._bits, self._gains, strict=True)):
            if not taken & bits:
                (following if start == goes_on else others).append((distance - gain * _WORD, match))
                distance += abs(index - start)
        others.append((distance, len(self._starts)))
        others.sort()
        return following, others[:BEAM]
