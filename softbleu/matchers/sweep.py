"""Many matchers at once: similarities are computed once, whatever the number of thresholds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.matchers.base import Matcher, SoftMatcher
from softbleu.matchers.pool import Pool
from softbleu.matchers.soft import LONG_CELLS, BatchMatching, batches
from softbleu.similarity import SCALE, TokenProducts, composition, threshold_in_millionths

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.ngrams import Chunk
    from softbleu.similarity import TokenVectors, UnitVectors
    from softbleu.types import Integers


SWEEP_CELLS = 1 << 18
"""Entries of a batch's token-by-token matrices: more than for one threshold, for the sweep works on whole arrays."""


def masses_of_many(
    matchers: Sequence[Matcher],
    chunk: Chunk,
    vectors: TokenVectors | None,
    max_order: int,
    kernels: Kernels,
) -> list[Integers]:
    """Sum the matches of each segment and order by every matcher, as `Matcher.masses` does for one.

    Matchers that differ in their thresholds only, and assign greedily, share their similarities and their
    assignment; all matchers share the products of the tokens.

    Returns
    -------
    In the order of the matchers: masses in millionths, (segments, max_order) each.
    """
    families: dict[SoftMatcher, dict[int, float]] = {}
    masses: dict[int, Integers] = {}
    for number, matcher in enumerate(matchers):
        if vectors is not None and isinstance(matcher, SoftMatcher) and _can_sweep(matcher, max_order):
            members = families.setdefault(replace(matcher, threshold=0.0), {})
            members[number] = float(matcher.threshold)
        else:
            masses[number] = matcher.masses(chunk, vectors, max_order, kernels)
    if families and vectors is not None:
        ladders = [
            _Ladder(family, sorted(set(members.values())), chunk, max_order) for family, members in families.items()
        ]
        _sweep(ladders, chunk, vectors, max_order)
        for ladder, members in zip(ladders, families.values(), strict=True):
            for number, threshold in members.items():
                masses[number] = ladder.at(threshold)
    return [masses[number] for number in range(len(matchers))]


def _can_sweep(matcher: SoftMatcher, max_order: int) -> bool:
    """Whether the sweep's way of giving out matches is the matcher's, and there is anything to give."""
    return (
        matcher.needs_vectors(max_order)
        and matcher.assignment != "optimal"
        and matcher.consumption == "unit"
        and type(matcher).matches is SoftMatcher.matches
    )


class _Ladder:
    """One matcher at ascending thresholds."""

    def __init__(self, matcher: SoftMatcher, thresholds: list[float], chunk: Chunk, max_order: int) -> None:
        self.matcher = replace(matcher, threshold=thresholds[0])
        self.thresholds = thresholds
        self.by_frequency = composition(matcher.composition).by_frequency
        self.millionths = np.array([threshold_in_millionths(threshold) for threshold in thresholds])
        self.pools = [Pool.of(ngrams, chunk.positions + 1, matcher) for ngrams in chunk.ngrams(max_order)]
        self.masses = np.zeros((len(thresholds), len(chunk), max_order), np.int64)
        for order, pool in enumerate(self.pools, start=1):
            start = pool.start(order, matcher, max_order)
            exact = np.zeros(len(chunk), np.int64)
            np.add.at(exact, chunk.layout.segment[start.starts], start.masses)
            self.masses[:, :, order - 1] = exact

    def at(self, threshold: float) -> Integers:
        """Masses at one of the thresholds: (segments, orders)."""
        found: Integers = self.masses[self.thresholds.index(threshold)]
        return found

    def add(self, segments: Integers, batch: BatchMatching) -> None:
        """Add what the segments of a batch match."""
        tables = batch.tables()
        if tables is None:
            return
        lives = tables.sweep(self.millionths)
        layer, place = np.divmod(lives.segment, len(segments))
        cells = segments[place] * self.masses.shape[2] + np.array(tables.orders)[layer] - 1
        size = self.masses.shape[1] * self.masses.shape[2]
        values = np.minimum(lives.value, SCALE)
        # What begins at each threshold, less what has ended.
        changes = np.bincount(lives.first * size + cells, values, size * len(self.thresholds))
        ended = lives.end < len(self.thresholds)
        changes -= np.bincount((lives.end * size + cells)[ended], values[ended], size * len(self.thresholds))
        self.masses += np.cumsum(changes.reshape(self.masses.shape), axis=0).astype(np.int64)


def _sweep(ladders: list[_Ladder], chunk: Chunk, vectors: TokenVectors, max_order: int) -> None:
    weightings = sorted({ladder.by_frequency for ladder in ladders})
    units = {weighting: _units(vectors, chunk, weighting) for weighting in weightings}
    for candidate, reference in batches(chunk, SWEEP_CELLS):
        segments = chunk.layout.segment[candidate[:, 0]]
        if candidate.shape[1] * reference.shape[1] > LONG_CELLS:
            _match_long(ladders, chunk, int(segments[0]), vectors, max_order)
            continue
        products = {
            weighting: TokenProducts.of(codes[candidate], codes[reference], unit_vectors, max_order)
            for weighting, (unit_vectors, codes) in units.items()
        }
        for ladder in ladders:
            own = products[ladder.by_frequency]
            ladder.add(segments, BatchMatching(ladder.matcher, ladder.pools, candidate, reference, own))


def _units(vectors: TokenVectors, chunk: Chunk, by_frequency: bool) -> tuple[UnitVectors, Integers]:
    """Vectors of a chunk's words, and the codes of its positions; padding has any code."""
    unit_vectors, codes = vectors.weighted(by_frequency=by_frequency).unit(chunk.layout.codes)
    return unit_vectors, np.append(codes, 0)


def _match_long(ladders: list[_Ladder], chunk: Chunk, segment: int, vectors: TokenVectors, max_order: int) -> None:
    """Match a segment that is too long for whole arrays, once for each threshold."""
    from softbleu.kernels import choose_kernels

    alone = chunk.part(segment, segment + 1)
    for ladder in ladders:
        for number, threshold in enumerate(ladder.thresholds):
            matcher = replace(ladder.matcher, threshold=threshold)
            ladder.masses[number, segment] = matcher.masses(alone, vectors, max_order, choose_kernels("numpy"))[0]


@dataclass(frozen=True)
class MatchLives:
    """Matches of the candidate n-grams of a chunk, and between which of some ascending thresholds each is made."""

    order: Integers
    """Order of the candidate n-gram."""
    starts: Integers
    """Candidate position at which it starts."""
    masses: Integers
    """How much of it is matched, in millionths: 1,000,000 for an exact match."""
    partner_starts: Integers
    """Position at which the matched reference n-gram first appears."""
    partner_orders: Integers
    first: Integers
    """Number of the lowest threshold at which the match is made."""
    end: Integers
    """Number of the first threshold above it at which it is not; the number of thresholds if there is none."""

    def at(self, threshold: int) -> MatchLives:
        """Matches made at the threshold of that number."""
        alive = (self.first <= threshold) & (threshold < self.end)
        return MatchLives(*(getattr(self, field.name)[alive] for field in fields(self)))


def match_lives(
    matcher: SoftMatcher, thresholds: Sequence[float], chunk: Chunk, vectors: TokenVectors, max_order: int
) -> MatchLives:
    """Match a chunk at every threshold, ascending; for matchers of any assignment and consumption."""
    lowest = replace(matcher, threshold=thresholds[0])
    count = len(thresholds)
    found: list[tuple[Integers, ...]] = []
    if not _can_sweep(lowest, max_order):
        found = list(_lives_one_by_one(matcher, thresholds, chunk, vectors, max_order))
        return MatchLives(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
    ladder = _Ladder(lowest, list(thresholds), chunk, max_order)
    for order, pool in enumerate(ladder.pools, start=1):
        start = pool.start(order, lowest, max_order)
        exact = start.masses > 0
        number = int(exact.sum())
        found.append(
            (
                np.full(number, order),
                start.starts[exact],
                start.masses[exact],
                start.partner_starts[exact],
                start.partner_orders[exact],
                np.zeros(number, np.int64),
                np.full(number, count),
            )
        )
    unit_vectors, codes = _units(vectors, chunk, ladder.by_frequency)
    for candidate, reference in batches(chunk, SWEEP_CELLS):
        if candidate.shape[1] * reference.shape[1] > LONG_CELLS:
            raise InputError(
                f"a segment of {candidate.shape[1]} candidate and {reference.shape[1]} reference tokens is too long "
                "to show its matches at every threshold: split it"
            )
        products = TokenProducts.of(codes[candidate], codes[reference], unit_vectors, max_order)
        tables = BatchMatching(lowest, ladder.pools, candidate, reference, products).tables()
        if tables is None:
            continue
        lives = tables.sweep(ladder.millionths)
        layer, segment = np.divmod(lives.segment, len(candidate))
        orders = np.array(tables.orders)[layer]
        block, place = np.divmod(lives.column, reference.shape[1])
        widths = [tables.pool_orders[order] for order in tables.orders]
        pool_orders = np.array([row + [0] * (max_order - len(row)) for row in widths])[layer, block]
        masses = np.minimum(lives.value, SCALE).astype(np.int64)
        found.append(
            (
                orders,
                candidate[segment, lives.row],
                masses,
                reference[segment, place],
                pool_orders,
                lives.first,
                lives.end,
            )
        )
    return MatchLives(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _lives_one_by_one(
    matcher: SoftMatcher, thresholds: Sequence[float], chunk: Chunk, vectors: TokenVectors, max_order: int
) -> Iterator[tuple[Integers, ...]]:
    """Match at each threshold anew; every match lives for one of them."""
    for number, threshold in enumerate(thresholds):
        matched = replace(matcher, threshold=threshold).matches(chunk, vectors, max_order)
        for order, matches in enumerate(matched, start=1):
            made = matches.masses > 0
            many = int(made.sum())
            yield (
                np.full(many, order),
                matches.starts[made],
                matches.masses[made],
                matches.partner_starts[made],
                matches.partner_orders[made],
                np.full(many, number),
                np.full(many, number + 1),
            )
