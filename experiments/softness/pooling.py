"""Effects on several sets as draws of one distribution: their mean, how much sets differ, and a new set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import t


@dataclass(frozen=True)
class Pooled:
    """Mean over sets with its interval of 95%, and the interval of the value that is measured on a new set."""

    sets: int
    mean: float
    low: float
    high: float
    between: float  # Standard deviation of the sets' true effects
    new_low: float
    new_high: float


def pool(values: Sequence[float], deviations: Sequence[float], level: float = 0.95) -> Pooled:
    """Pool effects of sets by random effects (Paule and Mandel 1982; Hartung and Knapp 2001).

    A set weighs 1 / (between² + deviation²); `between` is such that the weighted squares sum to k - 1, or 0. Both
    intervals have k - 1 degrees of freedom. The new set has the median sampling deviation of these.

    Parameters
    ----------
    values
        Effect of each set, k of them, two at least.
    deviations
        Standard deviation of each value by sampling.
    level
        Of both intervals.

    Examples
    --------
    >>> pooled = pool([0.01, 0.03, 0.05], [0.01, 0.01, 0.01])
    >>> round(pooled.mean, 4), round(pooled.between, 4)
    (0.03, 0.0173)
    """
    effects, variances = np.asarray(values, float), np.square(np.asarray(deviations, float)).clip(1e-18)
    degrees = len(effects) - 1
    if degrees < 1:
        raise ValueError("sets differ by what two of them or more show")

    def weighed(between: float) -> tuple[np.ndarray, float, float]:
        weights = 1 / (between + variances)
        mean = float(weights @ effects / weights.sum())
        return weights, mean, float(weights @ (effects - mean) ** 2)

    between = 0.0
    if weighed(0.0)[2] > degrees:
        most = float(np.var(effects) * len(effects) + variances.max())
        between = float(brentq(lambda value: weighed(value)[2] - degrees, 0.0, most, xtol=1e-15))
    weights, mean, squares = weighed(between)
    scale = squares / degrees
    error = scale / float(weights.sum())
    quantile = float(t.ppf((1 + level) / 2, degrees))
    half = quantile * error**0.5
    new = quantile * (error + scale * (between + float(np.median(variances)))) ** 0.5
    return Pooled(len(effects), mean, mean - half, mean + half, between**0.5, mean - new, mean + new)
