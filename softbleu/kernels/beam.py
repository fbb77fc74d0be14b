"""METEOR's choice of matches between two lines: a beam search over the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from softbleu.types import Integers

BEAM = 40
# Paths are ranked by one number: most matched words, then fewest chunks, then least distance.
_CHUNK = 1 << 40
_WORD = 1 << 72
_rank = itemgetter(0)

_Trail = tuple[int, "_Trail"] | None
Path = tuple[int, int, int, int, _Trail]
"""Rank, covered words of the candidate (bits), end of the last match in the candidate and in the reference (-1 after
a gap), and the chosen matches as a linked list, the last first."""
_Costs = list[tuple[int, int]]  # Ascending increases of the rank, and numbers of matches


def best_matches(
    length: int,
    fixed: Mapping[int, Sequence[int]],
    indices: Integers,
    sizes: Integers,
    starts: Integers,
    widths: Integers,
    gains: Integers,
) -> list[int]:
    """Choose matches by a beam search over the reference, from left to right; return their numbers.

    Follows METEOR's program: words of inexact matches count half, rounded down per match and side; the distance of a
    match is not added to the path that takes it, but to the following extensions of the same path.

    Parameters
    ----------
    length
        Number of words of the reference.
    fixed
        Matches without overlaps, by position in the reference: words covered there, position and words in the
        candidate.
    indices
        Positions of the other matches in the reference, in the order in which they are tried.
    sizes
        Numbers of words that they cover in the reference.
    starts, widths
        Their positions and numbers of words in the candidate.
    gains
        Numbers of words that they count.

    Examples
    --------
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
    """Return the path with its last chunk ended."""
    return path[0] + _CHUNK, path[1], -1, -1, path[4]


class _Matches:
    """Matches at one word of the reference, with the candidate's words that each covers, as bits."""

    def __init__(self, first: int, sizes: list[int], starts: list[int], widths: list[int], gains: list[int]) -> None:
        self._first = first  # Number of the first match
        self._sizes, self._starts, self._widths, self._gains = sizes, starts, widths, gains
        self._bits = [((1 << width) - 1) << start for start, width in zip(starts, widths, strict=True)]

    def extended(self, paths: Sequence[Path], index: int) -> list[Path]:
        """Extend paths by one of the matches or none; return the best."""
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
        """Return the best extensions as rank, position of the path, and match; -1 within a match.

        Paths with the same available matches at the same cost form a group. In a group, the k-th cheapest match of
        the i-th path ranks behind i k others, so that few are considered.
        """
        differ = self._differing(paths)
        groups: dict[tuple[int, int], tuple[list[int], _Costs, _Costs]] = {}
        new: list[tuple[int, int, int]] = []
        bound: float = inf
        for place, (rank, taken, end, last, _) in enumerate(paths):
            if last > index:
                new.append((rank, place, -1))
                continue
            # Position at which a match continues the chunk; -1: any match begins another chunk; -2: no chunk is open
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
        """Return the words of the matches, as bits, or 0 if all paths cover the same of them, as nearly always."""
        words, differing = 0, 0
        for bits in self._bits:
            words |= bits
        for path in paths:
            differing |= path[1] ^ paths[0][1]
        return words if differing & words else 0

    def _costs(self, taken: int, goes_on: int, index: int) -> tuple[_Costs, _Costs]:
        """List the costs of available matches that continue a chunk, and the least costs of the others.

        The number after the last match means taking none.
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
