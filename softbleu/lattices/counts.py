"""Count n-grams of networks for metrics over n-grams: each as often as the path that has it most often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from softbleu.io.limits import Limit
from softbleu.lattices.coding import lattices_of
from softbleu.matching.ngrams import Chunk
from softbleu.text.tokens import Tokens

if TYPE_CHECKING:
    from softbleu.kernels.lattices import Lattices
    from softbleu.types import Integers, Words

NGRAMS = Limit(
    "comparing a network by similarity",
    "different n-grams",
    1 << 21,
    "3,000 words with 2 variants each: 120,000",
    "allow fewer alternatives, or lower order",
)
_LIMIT = Limit("n-grams of networks", "arcs to go through", 1 << 28, "3,000 words with 2 variants each: 10,000,000")
"""For a network, with its candidate."""
_BITS = 1 << 10  # Of a number that are combined in the time of an arc
_Path = tuple[Any, int] | None  # Words of a path: those before the last, and the last
_Step = tuple[int, int, int]  # Source, target, word; below 0 there is no word


@dataclass(frozen=True)
class _PoolChunk(Chunk):
    """Segments whose references are parts of paths: together they have each n-gram as often as some path has it."""

    closest: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    """Of each segment the length nearest to its candidate's that a path has; of two equally near, the shorter."""

    def closest_reference_lengths(self) -> Integers:
        """Lengths of paths, not of their parts."""
        return self.closest

    def by_reference(self) -> Self:
        """Return the chunk itself: a network stands for all references of its segment."""
        return self

    def part(self, start: int, end: int) -> _PoolChunk:
        """Take the segments from `start` up to `end`."""
        part = super().part(start, end)
        return _PoolChunk(
            part.candidates, part.references, part.segment_offsets, part.source, closest=self.closest[start:end]
        )


def pool_chunk(chunk: Chunk, order: int, *, whole: bool) -> _PoolChunk:
    """Put parts of paths in the place of networks; `whole` wants all n-grams, not only those of the candidate."""
    apart = chunk.by_reference()
    lattices = lattices_of(apart.references)
    texts = [tuple(line) for line in _lines(apart.candidates)]
    for size, text in zip(lattices.sizes.tolist(), texts, strict=True):
        _LIMIT.check(size, f"a network of {size:,} arcs, of a candidate of {len(text):,} words,")
    lengths = [path_lengths(steps, last) for steps, last in _networks(lattices)]
    parts = [
        list(_parts(steps, None if whole else text, order))
        for (steps, _), text in zip(_networks(lattices), texts, strict=True)
    ]
    groups = list(pairwise(chunk.segment_offsets.tolist()))
    lines = [list(dict.fromkeys(chain.from_iterable(parts[start:end]))) for start, end in groups]
    closest = [
        min((abs(length - words), length) for length in chain.from_iterable(lengths[start:end]))[1]
        for (start, end), words in zip(groups, chunk.candidates.lengths.tolist(), strict=True)
    ]
    flat = list(chain.from_iterable(lines))
    bounds = np.cumsum([0, *map(len, flat)])
    codes = np.fromiter((code for line in flat for code in line), np.int32, int(bounds[-1]))
    # Words that no candidate has are all alike, and like none that one has.
    codes[codes < 0] = 1 + max(int(codes.max(initial=0)), int(chunk.candidates.codes.max(initial=0)))
    return _PoolChunk(
        chunk.candidates,
        Tokens(codes, bounds),
        np.cumsum([0, *map(len, lines)]),
        chunk.source,
        closest=np.array(closest, np.int64),
    )


def _lines(tokens: Tokens) -> Iterator[list[int]]:
    codes = tokens.codes.tolist()
    return (codes[start:end] for start, end in pairwise(tokens.offsets.tolist()))


def _networks(lattices: Lattices) -> Iterator[tuple[list[_Step], int]]:
    """The steps of each, and its last state."""
    columns = (lattices.sources.tolist(), lattices.targets.tolist(), lattices.words.tolist())
    steps = list(zip(*columns, strict=True))
    for (start, end), last in zip(pairwise(lattices.offsets.tolist()), lattices.ends.tolist(), strict=True):
        yield steps[start:end], last


def path_lengths(steps: Sequence[_Step], last: int) -> list[int]:
    """All numbers of words that paths have.

    >>> path_lengths([(0, 1, 7), (1, 2, 8), (0, 2, 9), (2, 3, -2)], 3)
    [1, 2]
    """
    if _is_path(steps):
        return [sum(word != -2 for _, _, word in steps)]
    # Bit k: a path of k words leads here.
    _check_work(len(steps) ** 2 // _BITS, steps)
    lengths = {0: 1}
    for source, target, word in steps:
        lengths[target] = lengths.get(target, 0) | lengths[source] << (word != -2)
    return [length for length in range(lengths[last].bit_length()) if lengths[last] >> length & 1]


def _parts(steps: Sequence[_Step], text: Words | None, order: int) -> Iterator[Words]:
    """Parts of paths that have the n-grams of a text, or all there are, as often as a path has them."""
    if text is not None and _is_path(steps):
        yield tuple(word for _, _, word in steps if word != -2)
        return
    after = _after(steps)
    wanted = None if text is None else [_ngrams(text, n) for n in range(1, order + 1)]
    levels = list(_occurring(steps, after, wanted, order))
    within = {ngram[1:] for level in levels for ngram in level} | {ngram[:-1] for level in levels for ngram in level}
    for level in levels:
        yield from (ngram for ngram in level if ngram not in within)
    # What a path has twice ends at two states, and its parts are there twice, too.
    most: Counter[Words] = Counter({(): 2})  # How often a part has an n-gram, where most often
    work = 0
    for number, level in enumerate(levels):
        enough = {ngram: len(ends) if wanted is None else wanted[number][ngram] for ngram, ends in level.items()}
        often = [
            ngram
            for ngram, ends in level.items()
            if min(len(ends), enough[ngram], most[ngram[1:]], most[ngram[:-1]]) > 1
        ]
        work += len(often) * len(steps)
        _check_work(work, steps)
        for ngram in often:
            if most[ngram] < min(len(level[ngram]), enough[ngram]):
                count, path = most_often(steps, ngram)
                if count > max(1, most[ngram]):
                    yield path
                    for n in range(1, order + 1):
                        for part, times in _ngrams(path, n).items():
                            most[part] = max(most[part], times)


def _is_path(steps: Sequence[_Step]) -> bool:
    """Whether there is a single path, through all states in order."""
    return all(source == place and target == place + 1 for place, (source, target, _) in enumerate(steps))


def _check_work(work: int, steps: Sequence[_Step]) -> None:
    """See that a network is not gone through too often."""
    _LIMIT.check(work, f"a network of {len(steps):,} arcs")


def _ngrams(text: Words, n: int) -> Counter[Words]:
    return Counter(text[start : start + n] for start in range(len(text) - n + 1))


def _after(steps: Sequence[_Step]) -> Mapping[int, frozenset[int]]:
    """Where empty arcs lead from each state that they leave, itself included."""
    after: dict[int, frozenset[int]] = {}
    for source, target, word in reversed(steps):
        if word == -2:
            after[source] = after.get(source, frozenset((source,))) | after.get(target, frozenset((target,)))
    return after


def _occurring(
    steps: Sequence[_Step],
    after: Mapping[int, frozenset[int]],
    wanted: Sequence[Mapping[Words, int]] | None,
    order: int,
) -> Iterator[dict[Words, set[int]]]:
    """N-grams of each order that paths have, of those that are wanted, and the states where they end."""
    leaving: dict[int, dict[int, set[int]]] = {}
    by_word: dict[int, list[tuple[int, int]]] = {}
    for source, target, word in steps:
        if word >= 0:
            leaving.setdefault(source, {}).setdefault(word, set()).add(target)
            by_word.setdefault(word, []).append((source, target))
    ends: dict[Words, set[int]] = {(): set()}
    known = 0
    for n in range(order):
        longer: dict[Words, set[int]] = {}
        for ngram in _next(ends, after, leaving, wanted[n] if wanted is not None else None):
            states = _closure(ends[ngram[:-1]], after)
            targets = {target for source, target in by_word.get(ngram[-1], ()) if n == 0 or source in states}
            if targets:
                longer[ngram] = targets
        known += len(longer)
        if wanted is None:
            NGRAMS.check(known, f"a network of {len(steps):,} arcs")
        ends = longer
        yield longer


def _next(
    ends: Mapping[Words, set[int]],
    after: Mapping[int, frozenset[int]],
    leaving: Mapping[int, Mapping[int, set[int]]],
    wanted: Iterable[Words] | None,
) -> Iterator[Words]:
    """N-grams that may be, by those that are one word shorter."""
    if wanted is not None:
        yield from (ngram for ngram in wanted if ngram[:-1] in ends)
        return
    for ngram, targets in ends.items():
        states = _closure(targets, after) if ngram else leaving
        yield from dict.fromkeys((*ngram, word) for state in states for word in leaving.get(state, ()))


def _closure(states: set[int], after: Mapping[int, frozenset[int]]) -> set[int]:
    return states.union(*(after[state] for state in states if state in after)) if after else states


def most_often(steps: Sequence[_Step], ngram: Words) -> tuple[int, Words]:
    """How often a path has an n-gram that has it most often, and the words of such a path.

    >>> most_often([(0, 1, 7), (1, 2, 7), (1, 2, 8), (2, 3, 7)], (7, 7))
    (2, (7, 7, 7))
    """
    # How far the n-gram has come after each word, as Knuth, Morris and Pratt have it.
    moves = {(before, word): _matched(ngram, before, word) for before in range(len(ngram) + 1) for word in ngram}
    best: dict[int, dict[int, tuple[int, _Path]]] = {0: {0: (0, None)}}
    last = 0
    for source, target, word in steps:
        last = max(last, target)
        there = best.setdefault(target, {})
        for matched, (count, words) in best[source].items():
            if word != -2:
                matched, words = moves.get((matched, word), 0), (words, word)
                count += matched == len(ngram)
            known = there.get(matched)
            if known is None or count > known[0]:
                there[matched] = count, words
    count, words = max(best[last].values(), key=lambda counted: counted[0])
    path = []
    while words is not None:
        words, word = words
        path.append(word)
    return count, tuple(reversed(path))


def _matched(ngram: Words, before: int, word: int) -> int:
    """How many words of an n-gram are matched after a word, so many having been before it."""
    words = (*ngram[:before], word)
    return next(
        size for size in range(min(len(words), len(ngram)), -1, -1) if words[len(words) - size :] == ngram[:size]
    )
