"""Human-agreement curves: how often people agree with differences of a metric by their size, and on other systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.meta.correlation import INTERVAL, draw_counts
from softbleu.results.human_agreement import AgreementCurve

if TYPE_CHECKING:
    from softbleu.types import Flags, Floats, Integers

KNOTS = np.linspace(0, 1, 9)
"""Ranks of differences at which a curve has its points, from the smallest (0) to the greatest (1)."""
WIDTH = 0.15
"""Standard deviation of the ranks of pairs that say something of a point."""
FEWEST_PAIRS = 30
"""Pairs of systems that a curve needs."""

Scores = Sequence[tuple[Mapping[str, float], Mapping[str, float]]]
"""What people and a metric gave to systems, for each test set: only systems of one set are compared."""


@dataclass(frozen=True, eq=False)
class SizedPairs:
    """Pairs of systems in the order of their differences by a metric."""

    one: Integers
    other: Integers
    """Numbers of the systems."""
    sizes: Floats
    """Of the differences, ascending."""
    agreed: Flags
    """Whether people prefer the system that the metric prefers."""
    systems: tuple[str, ...]

    @classmethod
    def of(cls, scores: Scores) -> SizedPairs:
        """Pair the systems of each set; pairs that people or the metric do not tell apart say nothing."""
        rows: list[tuple[float, bool, int, int]] = []
        systems: list[str] = []
        for people, metric in scores:
            names = [name for name in metric if name in people]
            for place, name in enumerate(names):
                for before, other in enumerate(names[:place]):
                    by_people, by_metric = people[name] - people[other], metric[name] - metric[other]
                    if by_people and by_metric:
                        pair = len(systems) + before, len(systems) + place
                        rows.append((abs(by_metric), by_people * by_metric > 0, *pair))
            systems += names
        rows.sort()
        sizes, agreed = np.array([row[0] for row in rows]), np.array([row[1] for row in rows], bool)
        first, second = (np.array([row[place] for row in rows], np.int64) for place in (2, 3))
        return cls(first, second, sizes, agreed, tuple(systems))

    def without(self, system: int) -> SizedPairs:
        """Leave out the pairs of one system."""
        return self._at((self.one != system) & (self.other != system))

    def of_system(self, system: int) -> SizedPairs:
        """Take the pairs of one system."""
        return self._at((self.one == system) | (self.other == system))

    def _at(self, kept: Flags) -> SizedPairs:
        return SizedPairs(self.one[kept], self.other[kept], self.sizes[kept], self.agreed[kept], self.systems)


def fit_curve(
    pairs: SizedPairs, data: str, metric: str, signature: str, samples: int = 1000, seed: int = 12345
) -> AgreementCurve:
    """Find the share of pairs on which people agree, by the size of the difference, with its interval.

    Around each of `KNOTS` pairs weigh less the further their rank by size is (Gaussian, `WIDTH`); a share is
    (agreed + 1/2) / (pairs + 1) of so many pairs as the weights are worth. Pairs of one system are not independent:
    how many are worth one is what the variance of samples of the systems, drawn with replacement, has beyond that of
    a binomial (the median of the knots, 1 at least). The interval is that of Jeffreys for so many pairs as remain.

    Raises
    ------
    InputError
        Fewer than `FEWEST_PAIRS` pairs.
    """
    from scipy.stats import beta

    count = len(pairs.sizes)
    if count < FEWEST_PAIRS:
        raise InputError(f"a curve needs {FEWEST_PAIRS} pairs of systems or more, here are {count}")
    ranks = np.arange(count) / (count - 1)
    kernel = np.exp(-0.5 * ((ranks - KNOTS[:, None]) / WIDTH) ** 2)
    worth = kernel.sum(axis=1) ** 2 / (kernel**2).sum(axis=1)
    share = _shrunk(kernel @ pairs.agreed / kernel.sum(axis=1), worth)
    drawn = []
    for counts in draw_counts(len(pairs.systems), samples, seed):
        weights = kernel * (counts[pairs.one] * counts[pairs.other])
        total = weights.sum(axis=1)
        drawn.append(np.divide(weights @ pairs.agreed, total, out=share.copy(), where=total > 0))
    spread = worth * np.var(drawn, axis=0) / (share * (1 - share))
    apart = worth / max(1.0, float(np.median(spread)))
    low, high = beta.ppf(np.array(INTERVAL)[:, None] / 100, share * apart + 0.5, (1 - share) * apart + 0.5)
    knots = np.interp(KNOTS, ranks, pairs.sizes)
    systems = len(set(pairs.one.tolist()) | set(pairs.other.tolist()))
    columns = (each.tolist() for each in (knots, share, low, high))
    return AgreementCurve(data, metric, signature, count, systems, *columns)


def _shrunk(share: Floats, pairs: Floats | int) -> Floats:
    """A share of so many pairs, a little nearer to one half."""
    shrunk: Floats = (share * pairs + 0.5) / (pairs + 1)
    return shrunk


@dataclass(frozen=True)
class HeldOut:
    """What curves without a system say of its pairs, and what people said of them; pairs of one third by size."""

    least: float
    most: float
    """Of the differences."""
    pairs: int
    predicted: float
    low: float
    high: float
    """Means over the pairs."""
    observed: float
    """(agreed + 1/2) / (pairs + 1), as in curves."""

    @property
    def right(self) -> bool:
        """Whether what was observed lies in the interval."""
        return self.low <= self.observed <= self.high


def hold_out(pairs: SizedPairs, samples: int = 200, seed: int = 12345) -> list[HeldOut]:
    """Predict the pairs of each system from all others.

    Pairs with greater differences than any of the others are left out, as a curve says nothing of them.
    """
    rows: list[tuple[float, bool, float, float, float]] = []
    for system in range(len(pairs.systems)):
        curve = fit_curve(pairs.without(system), "", "", "", samples, seed)
        own = pairs.of_system(system)
        for size, agreed in zip(own.sizes.tolist(), own.agreed.tolist(), strict=True):
            if (found := curve.at(size)) is not None:
                rows.append((size, agreed, found.share, found.low, found.high))
    rows.sort()
    thirds = []
    for part in np.array_split(np.array(rows, np.float64), 3):
        predicted, low, high = part[:, 2:].mean(axis=0).tolist()
        observed = float(_shrunk(part[:, 1].mean(), len(part)))
        thirds.append(HeldOut(float(part[0, 0]), float(part[-1, 0]), len(part), predicted, low, high, observed))
    return thirds
