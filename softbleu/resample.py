"""Resampling: draws of the bootstrap, exchanges and sign flips, intervals, p-values, corrections, ranges of ranks.

Numbers that were published depend on the calls of generators here, and on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from softbleu.errors import InputError

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

Correction = Literal["holm", "fdr", "none"]
LEVEL = 0.95  # Share of the samples that an interval, or a range of ranks, has
ALIKE = 1e-9  # Scores that differ by no more are alike
MOST = 1_000_000  # Samples, or trials
_NOISE = 1e-12  # Smaller differences in a sample count as none
TOGETHER = 256  # Draws at once
_CELLS = 1 << 22  # Entries of the matrices that are in memory at a time

_DRAWN = 1 << 18  # Numbers that are drawn in one call

# Calls that draw 0 or 1. `int8` takes four of 32 random bits and loses the rest of a call, so that batches count.
_BITS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], Integers]] = {
    "task": lambda generator, shape: generator.integers(0, 2, shape, np.int8),
    "flip": lambda generator, shape: np.rint(generator.random(shape, np.float32)).astype(np.int64),
}


def check_samples(samples: int, seed: int, name: str = "samples") -> None:
    """Raise InputError for an invalid number of samples, or of draws of another name, or an invalid seed."""
    if not 1 <= samples <= MOST:
        raise InputError(f"the number of {name} must lie between 1 and {MOST:,}, not {samples:,}")
    if seed < 0:
        raise InputError(f"the seed must be at least 0, not {seed}")


def _batches(count: int, width: int) -> Iterator[int]:
    step = max(1, _CELLS // max(1, width))
    return (min(step, count - start) for start in range(0, count, step))


class Draws:
    """The stream of ``default_rng(seed).integers(limit, size=count)``, from the same random bits in half the time.

    NumPy makes a number below 2 ** 32 of 32 random bits, the lower half of 64 first: the upper half of their product
    with the limit, unless the lower half is one of a few that are refused (Lemire 2019). So 0 or 1 is the first bit.
    A NumPy that draws otherwise is called itself.
    """

    def __init__(self, seed: int, *, known: bool | None = None) -> None:
        self._generator = np.random.default_rng(seed)
        self._known = _numpy_is_known() if known is None else known
        self._spare = np.zeros(0, np.uint32)

    def _words(self, count: int) -> Integers:
        drawn = self._generator.bit_generator.random_raw((max(0, count - len(self._spare)) + 1) // 2)
        words = drawn.astype("<u8", copy=False).view("<u4")
        words = np.concatenate([self._spare, words]) if len(self._spare) else words
        self._spare = words[count:].copy()
        return words[:count]

    def below(self, limit: int, count: int) -> Integers:
        """Draw so many numbers from 0 up to the limit, which is not among them."""
        if limit == 1 or not self._known:
            return self._generator.integers(limit, size=count)
        refused, found, missing = ((1 << 32) - limit) % limit, [np.zeros(0, np.int64)], count
        while missing:
            product = self._words(missing).astype(np.uint64) * np.uint64(limit)
            accepted = product[product.astype(np.uint32) >= refused] if refused else product
            found.append((accepted >> np.uint64(32)).view(np.int64))
            missing -= len(accepted)
        return found[1] if len(found) == 2 else np.concatenate(found)

    def bits(self, shape: tuple[int, ...]) -> Integers:
        """Draw 0 or 1 for each entry of an array."""
        if not self._known:
            return self._generator.integers(2, size=shape)
        drawn: Any = np.empty(shape, np.uint8)
        flat = drawn.reshape(-1)
        for start in range(0, len(flat), _DRAWN):
            some = flat[start : start + _DRAWN].view(bool)
            np.less(self._words(len(some)).view("<i4"), 0, out=some)
        found: Integers = drawn
        return found


@cache
def _numpy_is_known() -> bool:
    """Whether this NumPy draws as `Draws` does; of three numbers below 3 << 30 it refuses one."""
    ours, theirs = Draws(1, known=True), np.random.default_rng(1)
    limits = (2, 3 << 30, 5)
    return all(np.array_equal(ours.below(limit, 33), theirs.integers(limit, size=33)) for limit in limits)


def bootstrap(
    units: int, samples: int, seed: int, width: int = 0, dtype: type[np.integer] = np.int64
) -> Iterator[Integers]:
    """Yield how often each unit is drawn with replacement, (samples, units), in batches that change no sample.

    There may be 0 samples. A sample takes `width` numbers of memory, 8 a unit unless they are given.
    """
    check_samples(samples or 1, seed)
    draws, together = Draws(seed), max(1, _DRAWN // units)
    for size in _batches(samples, width or 8 * units):
        counts = np.empty((size, units), dtype)
        for some in (counts[start : start + together] for start in range(0, size, together)):
            drawn = draws.below(units, some.size).reshape(some.shape)
            drawn += np.arange(len(some))[:, None] * units
            some[...] = np.bincount(drawn.reshape(-1), minlength=some.size).reshape(some.shape)
        yield counts


def bits(
    shape: tuple[int, ...], trials: int, seed: int | Sequence[int], stream: str, width: int = 0
) -> Iterator[Integers]:
    """Yield 0 or 1 for each unit, (trials, *shape), in batches; the `stream` is one of `exchange`, `task`, `flip`.

    A trial takes `width` numbers of memory, one a unit unless they are given.
    """
    # Of tasks the batches are part of the numbers.
    sizes = _batches(trials, width or int(np.prod(shape)))
    if stream == "exchange":
        assert isinstance(seed, int)
        draws = Draws(seed)
        return (draws.bits((size, *shape)) for size in sizes)
    generator = np.random.default_rng(seed)
    return (_BITS[stream](generator, (size, *shape)) for size in sizes)


def sign_sums(counts: Iterable[Integers], trials: int, seed: int | Sequence[int]) -> Iterator[Integers]:
    """Yield sums of as many random signs as each of the `counts`, (trials, counts), for each array of these."""
    generator = np.random.default_rng(seed)
    # The sum of n signs is 2 B - n for B successes of n.
    return (2 * generator.binomial(of, 0.5, (trials, len(of))) - of for of in counts)


class DrawnSums(Protocol):
    """Sums of the rows of segments, such as `ChosenSums`."""

    @property
    def in_blocks(self) -> bool:
        """Whether weights are read a few segments at a time, so that they take a byte each."""

    def plain(self, start: int, stop: int) -> Floats:
        """Add up all segments in the draws `start` to `stop`."""

    def weighted(self, weights: Integers, start: int) -> Floats:
        """Add up segments times weights, (draws, segments); the first draw is number `start`."""


def _width(chosen: DrawnSums, segments: int, columns: int = 1) -> int:
    """Return the numbers of memory that a draw takes."""
    return max(segments // (4 if chosen.in_blocks else 1), columns, _CELLS // TOGETHER)


def resampled_sums(
    chosen: DrawnSums,
    segments: int,
    samples: int,
    seed: int,
    units: Integers | None = None,
    counted: Integers | None = None,
    columns: int = 1,
) -> Iterator[tuple[int, int, Floats]]:
    """Draw units of segments with replacement; yield the first sample, that after the last, and their sums.

    `units` has the number of each segment's unit, such as its document; without them, segments are drawn. `counted`
    numbers the segments that are drawn, all unless given. The more `columns`, the fewer samples at a time.
    """
    counted = np.arange(segments) if counted is None else counted
    places = np.arange(len(counted)) if units is None else np.unique(units[counted], return_inverse=True)[1]
    size, start = int(places.max()) + 1, 0
    # Nothing is drawn 256 times among as many or more, but with a chance of 1 in 10 ** 506.
    dtype = np.uint8 if chosen.in_blocks else np.int64
    for weights in bootstrap(size, samples, seed, _width(chosen, segments, columns), dtype):
        if size < segments:
            by_unit, weights = weights, np.zeros((len(weights), segments), dtype)
            weights[:, counted] = by_unit[:, places]
        yield start, start + len(weights), chosen.weighted(weights, start)
        start += len(weights)


def exchanged_sums(
    chosen: DrawnSums, segments: int, trials: int, seed: int, units: Integers | None = None
) -> Iterator[tuple[int, Floats, Floats]]:
    """Draw units to exchange; yield the trials done, the sums of their segments, and of all. See `resampled_sums`."""
    size, start = segments if units is None else int(units.max()) + 1, 0
    for swapped in bits((size,), trials, seed, "exchange", _width(chosen, segments)):
        stop = start + len(swapped)
        part = chosen.weighted(swapped if units is None else swapped[:, units], start)
        yield stop, part, chosen.plain(start, stop)
        start = stop


def ends(drawn: Floats) -> Floats:
    """Return the ends of the 95% interval of draws, (…, draws): their percentiles 2.5 and 97.5, (2, …)."""
    found: Floats = np.percentile(drawn, [2.5, 97.5], axis=-1)
    return found


def bootstrap_p_values(apart: Floats, observed: Floats, *, as_sacrebleu: bool = False) -> Floats:
    """Two-sided p-values of differences, `observed` as (…) and in samples as (…, samples) (Koehn 2004).

    The share of samples whose difference is at least as far from the mean of all samples as the observed one from 0;
    one is added above and below, so that p is never 0. Samples without a difference have NaN and do not count. Where
    no difference was observed, p is 1.

    With `as_sacrebleu`, as with sacrebleu's ``--paired-bs``, absolute values are taken before the mean is subtracted,
    so that only one tail counts, and greater ones only. Where no difference was observed, its p is close to 0; here
    it is 1.
    """
    apart, distance = np.abs(apart) if as_sacrebleu else apart, np.abs(observed)[..., None]
    centred = apart - np.nanmean(apart, axis=-1, keepdims=True)
    exceeding = centred > distance if as_sacrebleu else np.abs(centred) >= distance - ALIKE
    p_values = (exceeding.sum(axis=-1) + 1) / ((~np.isnan(apart)).sum(axis=-1) + 1)
    return np.where(observed == 0, 1.0, p_values)


def sign_p_value(apart: Floats) -> float:
    """Two-sided p of a difference in samples, (samples,): twice the share in which it is not of its sign.

    One is added above and below, so that p is below .05 where the interval leaves 0 out.
    """
    least = min((apart <= _NOISE).sum(), (apart >= -_NOISE).sum())
    return min(1.0, 2 * (int(least) + 1) / (int((~np.isnan(apart)).sum()) + 1))


def flip_p_values(differences: Floats, trials: int, seed: int) -> Floats:
    """Return one-sided p-values: the share of sign flips whose sum is above the observed one; ties count half.

    In each trial each segment's difference changes its sign or not, the same for every pair. The program of the paper
    counts ties wholly: there, p of a tie and the accuracy of a metric with ties depend on which system comes first.

    Parameters
    ----------
    differences
        Difference of the first and the second of each pair on each segment, (pairs, segments).
    trials
        Number of sign flips.
    seed
        Seed of the samples.

    Examples
    --------
    >>> flip_p_values(np.array([[1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 1.0, -1.0, 0.0, 0.0]]), 1000, 1).round(1).tolist()
    [0.0, 0.5]
    """
    # Drawn as in the program of the paper: the same seed gives the same flips.
    flips = 2 * np.concatenate([*bits(differences.shape[1:], trials, seed, "flip")]).astype(np.float64) - 1
    observed, near = differences.sum(axis=1), ALIKE * np.abs(differences).sum(axis=1)
    sums = flips @ differences.T
    shares: Floats = ((sums >= observed - near).mean(axis=0) + (sums > observed + near).mean(axis=0)) / 2
    return shares


def correct(p_values: Sequence[float], correction: Correction) -> list[float]:
    """Correct p-values for their number by a `correction`: `none`, `holm` or `fdr`; see `SignificanceSettings`.

    >>> correct([0.01, 0.04, 0.03], "holm"), correct([0.01, 0.04, 0.03], "none")
    ([0.03, 0.06, 0.06], [0.01, 0.04, 0.03])
    """
    if correction == "none" or not p_values:
        return list(p_values)
    if correction == "fdr":
        from scipy.stats import false_discovery_control

        controlled: list[float] = false_discovery_control(p_values).tolist()
        return controlled
    order = np.argsort(p_values, kind="stable")
    steps = np.array(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return adjusted.tolist()


def rank_ranges(resampled: Floats) -> tuple[Integers, Integers]:
    """Best and worst rank of each system in 95% of the samples; as many are left out at either end.

    The scores have shape (samples, systems); greater is better.

    >>> ranges = rank_ranges(np.array([[3.0, 2.0, 1.0], [2.0, 3.0, 1.0]]))
    >>> ranges[0].tolist(), ranges[1].tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    known = np.where(np.isnan(resampled), np.inf, -resampled)  # Without a score, last
    order = np.argsort(known, axis=1)
    placed = np.take_along_axis(known, order, axis=1)
    first, ranks = np.ones((2, *known.shape), np.int64)
    first[:, 1:] += np.where(placed[:, 1:] != placed[:, :-1], np.arange(1, known.shape[1]), 0)
    np.put_along_axis(ranks, order, np.maximum.accumulate(first, axis=1), axis=1)
    ranks.sort(axis=0)
    # Rounded, for (1 - 0.95) * 1000 is a little more than 50.
    out = int(np.ceil(round(len(ranks) * (1 - LEVEL) / 2, 9))) if len(ranks) > 2 else 0
    return ranks[out], ranks[len(ranks) - 1 - out]
