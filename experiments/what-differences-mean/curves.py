"""How often judges agree with differences of a metric: one curve for many sets, tested on sets left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp

if TYPE_CHECKING:
    from softbleu.types import Flags, Floats

BINS = 5
_GRID = np.linspace(-4, 4, 161)
_LOG_WEIGHTS = -(_GRID**2) / 2 - logsumexp(-(_GRID**2) / 2)
"""Of a standard normal distribution on the grid; finer than what 253 pairs say of a set."""


@dataclass(frozen=True, eq=False)
class JudgedSet:
    """Pairs of systems of one set."""

    sizes: Floats  # Of the metric's differences
    agreed: Flags  # Whether judges prefer the system that the metric prefers

    @classmethod
    def of(cls, people: Mapping[str, float], metric: Mapping[str, float]) -> JudgedSet:
        """Pair systems; pairs that judges or the metric do not tell apart say nothing."""
        names = [name for name in metric if name in people]
        apart = [(people[one] - people[other], metric[one] - metric[other]) for one, other in combinations(names, 2)]
        told = [
            (abs(by_metric), by_people * by_metric > 0) for by_people, by_metric in apart if by_people and by_metric
        ]
        return cls(np.array([size for size, _ in told]), np.array([agreed for _, agreed in told], bool))


@dataclass(frozen=True)
class PooledCurve:
    """Logit of the share of agreement: intercept + slope × logarithm of the difference + the set's own part."""

    intercept: float
    slope: float
    spread: float  # Standard deviation of the sets' own parts

    @classmethod
    def fit(cls, sets: Sequence[JudgedSet]) -> PooledCurve:
        """Maximise the likelihood, the sets' parts integrated out.

        The logarithm of the spread has a weak prior (standard normal), as few sets say little of it.
        """

        def loss(values: Floats) -> float:
            curve = cls(values[0], values[1], float(np.exp(values[2])))
            found = [logsumexp(curve._likelihoods(each) + _LOG_WEIGHTS) for each in sets]
            return float(values[2] ** 2 / 2 - sum(found))

        intercept, slope, spread = minimize(loss, [1.0, 0.5, 0.0], method="L-BFGS-B").x
        return cls(float(intercept), float(slope), float(np.exp(spread)))

    def _logits(self, sizes: Floats) -> Floats:
        logits: Floats = self.intercept + self.slope * np.log(sizes)[:, None] + self.spread * _GRID
        return logits

    def _likelihoods(self, judged: JudgedSet) -> Floats:
        signs = np.where(judged.agreed, 1.0, -1.0)[:, None]
        likelihoods: Floats = log_expit(signs * self._logits(judged.sizes)).sum(axis=0)
        return likelihoods

    def share(self, sizes: Floats) -> Floats:
        """Expected share in a set that was not seen."""
        share: Floats = expit(self._logits(sizes)) @ np.exp(_LOG_WEIGHTS)
        return share

    def interval(self, sizes: Floats) -> Floats:
        """Where the share of 95% of such sets lies: (2, sizes). The curve itself is taken as known."""
        logits = self.intercept + self.slope * np.log(sizes) + self.spread * np.array([[-1.96], [1.96]])
        interval: Floats = expit(logits)
        return interval


@dataclass(frozen=True)
class Bin:
    """Pairs for which about the same share was claimed."""

    pairs: int
    claimed: float
    found: float


@dataclass(frozen=True)
class LeftOut:
    """What curves of the other sets say of each set, and what its judges said."""

    bins: list[Bin]
    brier: float
    constant: float
    """Brier scores of the curves, and of the share of agreement in all pairs of the other sets."""

    @property
    def off(self) -> float:
        """The greatest distance of claimed and found."""
        return max(abs(each.claimed - each.found) for each in self.bins)


def leave_out(sets: Sequence[JudgedSet]) -> LeftOut:
    """Predict each set from all others."""
    claimed, plain = [], []
    for place, left in enumerate(sets):
        others = [each for number, each in enumerate(sets) if number != place]
        claimed.append(PooledCurve.fit(others).share(left.sizes))
        plain.append(np.full(len(left.sizes), np.concatenate([each.agreed for each in others]).mean()))
    said, constant = np.concatenate(claimed), np.concatenate(plain)
    agreed = np.concatenate([each.agreed for each in sets])
    parts = np.array_split(np.argsort(said, kind="stable"), BINS)
    bins = [Bin(len(part), float(said[part].mean()), float(agreed[part].mean())) for part in parts]
    return LeftOut(bins, *(float(((each - agreed) ** 2).mean()) for each in (said, constant)))
