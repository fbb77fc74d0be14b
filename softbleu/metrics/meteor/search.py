"""The alignment of METEOR 1.5: which of all possible matches of a segment hold, by a beam search in its own order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from operator import itemgetter
from typing import Any

BEAM = 40
# Paths are ordered by one number: most matched words, then fewest chunks, then least distance.
_CHUNK = 1 << 40
_WORD = 1 << 72
_rank = itemgetter(0)

Match = tuple[int, int, int, int]  # Words of the reference, place and words in the candidate, name
_Step = tuple[int, int, int, int, int, int]
"""A match as paths take it: words of the reference, start and end in the candidate, its words as bits, what they
gain, its name."""
Path = tuple[int, int, int, int, Any]
"""Its rank, the candidate's words that are taken (bits), where its last match ends in the candidate and in the
reference (-1 where that was left behind), and the matches that it took, the last first."""


def best_matches(
    length: int, fixed: Mapping[int, tuple[int, int, int]], choices: Mapping[int, Sequence[Match]], exact: int
) -> list[int]:
    """Choose among matches by a beam that runs over the reference from left to right.

    As the program does it: a word of a match that is not exact counts half, rounded down a match and side; the
    distance of a match does not burden the path that takes it, but those that the same path leads to after it.
    `fixed` are matches that no other overlaps (words of the reference, place and words in the candidate), by their
    place in the reference, as are the `choices`, in the order in which they are tried; names below `exact` are exact.

    >>> best_matches(3, {1: (1, 1, 1)}, {0: [(1, 0, 1, 0), (1, 2, 1, 1)], 2: [(1, 0, 1, 2), (1, 2, 1, 3)]}, exact=4)
    [3, 0]
    """
    paths: list[Path] = [(0, 0, -1, -1, None)]
    for place in range(length):
        new: list[Path] = []
        if place in fixed:
            size, start, width = fixed[place]
            for rank, taken, end, last, trail in paths:
                closed = last >= 0 and (end != start or last != place)
                new.append((rank + _CHUNK if closed else rank, taken, start + width, place + size, trail))
        elif place in choices:
            new = _extended(paths, place, [_step(match, exact) for match in choices[place]])
        elif any(0 <= path[3] <= place for path in paths):
            for path in paths:
                new.append(_left(path) if 0 <= path[3] <= place else path)
        else:
            continue
        new.sort(key=_rank)
        paths = new[:BEAM]
    best = min((_left(path) if path[3] >= 0 else path for path in paths), key=_rank)
    found, trail = [], best[4]
    while trail is not None:
        name, trail = trail
        found.append(name)
    return found


def _left(path: Path) -> Path:
    """The path with its last chunk ended."""
    return path[0] + _CHUNK, path[1], -1, -1, path[4]


def _step(match: Match, exact: int) -> _Step:
    size, start, width, name = match
    words = size + width if name < exact else size // 2 + width // 2
    return size, start, start + width, ((1 << width) - 1) << start, words * _WORD, name


def _extended(paths: Sequence[Path], place: int, steps: Sequence[_Step]) -> list[Path]:
    """The paths that go on from these, without most of those that the beam would drop."""
    new: list[Path] = []
    most, bound = max(step[4] for step in steps), inf
    for path in paths:
        if path[3] > place:
            new.append(path)
        else:
            _extend(path, place, steps, most, bound, new)
        if len(new) > 2 * BEAM:
            new.sort(key=_rank)
            del new[BEAM:]
            bound = new[-1][0]
    return new


def _extend(path: Path, place: int, steps: Sequence[_Step], most: int, bound: float, new: list[Path]) -> None:
    """Add the paths that take a match, and none, if they rank before `bound`; no match gains more than `most`."""
    rank, taken, end, last, trail = path
    for size, start, stop, bits, gain, name in steps:
        if rank - most >= bound:
            return
        if taken & bits:
            continue
        own = rank - gain + (_CHUNK if last >= 0 and (end != start or last != place) else 0)
        if own < bound:
            new.append((own, taken | bits, stop, place + size, (name, trail)))
        rank += abs(place - start)
    new.append((rank + _CHUNK, taken, -1, -1, trail) if last >= 0 else (rank, taken, -1, -1, trail))
