"""The bootstrap: samples drawn with replacement, and intervals of what they give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

MOST_SAMPLES = 100_000
INTERVAL = (2.5, 97.5)  # Percentiles
_AT_ONCE = 1 << 24  # Points of samples that are looked at together


def check_samples(samples: int, seed: int) -> None:
    """Raise InputError if so many samples cannot be drawn."""
    if not 1 <= samples <= MOST_SAMPLES:
        raise InputError(f"the number of samples must lie between 1 and {MOST_SAMPLES:,}, not {samples:,}")
    if seed < 0:
        raise InputError(f"the seed must be at least 0, not {seed}")


def draw_points(points: int, samples: int, seed: int) -> Iterator[Integers]:
    """Samples of points, (samples, points), some at a time; which are together makes no difference."""
    check_samples(samples, seed)
    generator = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // points)
    for start in range(0, samples, step):
        yield generator.integers(points, size=(min(step, samples - start), points))


def draw_counts(things: int, samples: int, seed: int) -> Iterator[Integers]:
    """How often each of so many things is drawn, in each of the samples of as many; there may be 0 samples."""
    check_samples(samples or 1, seed)
    for drawn in np.random.default_rng(seed).integers(things, size=(samples, things)):
        yield np.bincount(drawn, minlength=things)


def redraw(counts: Integers, samples: int, seed: int) -> Integers:
    """Draw as many things as were counted, by their kinds: the counts of each sample, (samples, …)."""
    check_samples(samples, seed)
    total = int(counts.sum())
    drawn = np.random.default_rng(seed).multinomial(total, counts.reshape(-1) / total, samples)
    return drawn.reshape(samples, *counts.shape)


def interval_of(values: Floats | Sequence[float], samples: int) -> tuple[float, float] | None:
    """Interval of what samples gave; None where most of them gave nothing."""
    if 2 * len(values) < samples:
        return None
    low, high = np.percentile(values, INTERVAL)
    return float(low), float(high)
