"""Effects on several sets as draws of one distribution: their mean, how much sets differ, and a new set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError
from softbleu.io.tabular import Records, Value
from softbleu.metrics.aggregation import normal_interval

if TYPE_CHECKING:
    from softbleu.types import Floats

_HALF = normal_interval(0.0, 1.0)[1]  # Of an interval of 95%, in standard deviations
_NAMING = ("human", "metric", "of", "variant")  # Columns that say what an estimate is of


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


def pool(values: Sequence[float], deviations: Sequence[float]) -> Pooled:
    """Pool effects of sets by random effects (Paule and Mandel 1982; Hartung and Knapp 2001).

    A set weighs 1 / (between² + deviation²); `between` is such that the weighted squares sum to k - 1, or 0. Both
    intervals have k - 1 degrees of freedom. The new set has the median sampling deviation of these.

    Parameters
    ----------
    values
        Effect of each set, k of them, two at least.
    deviations
        Standard deviation of each value by sampling.

    Raises
    ------
    InputError
        There is one set only.

    Examples
    --------
    >>> pooled = pool([0.01, 0.03, 0.05], [0.01, 0.01, 0.01])
    >>> round(pooled.mean, 4), round(pooled.between, 4)
    (0.03, 0.0173)
    """
    from scipy.optimize import brentq
    from scipy.stats import t

    effects, variances = np.asarray(values, float), np.square(np.asarray(deviations, float)).clip(1e-18)
    degrees = len(effects) - 1
    if degrees < 1:
        raise InputError("sets differ by what two of them or more show")

    def weighed(between: float) -> tuple[Floats, float, float]:
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
    quantile = float(t.ppf(0.975, degrees))
    half = quantile * error**0.5
    new = quantile * (error + scale * (between + float(np.median(variances)))) ** 0.5
    return Pooled(len(effects), mean, mean - half, mean + half, between**0.5, mean - new, mean + new)


def pooled_table(question: str, tables: Mapping[str, Records]) -> Records:
    """Pool what tables of several directions estimate, by random effects: a row per estimate that all of them have.

    An estimate is a column that is followed by the ends of its interval, whose width says how it varies by sampling.
    Columns of text say what it is of.

    Parameters
    ----------
    question
        What the tables answer.
    tables
        By the name of the direction; all have the same columns.
    """
    columns = next(iter(tables.values())).columns
    measures = [
        n for n in range(len(columns) - 2) if columns[n + 1].endswith("low") and columns[n + 2].endswith("high")
    ]
    estimates: dict[tuple[Value, ...], list[tuple[float, float]]] = {}
    named = [n for n, name in enumerate(columns) if name in _NAMING]
    for row in (row for table in tables.values() for row in table.rows):
        for n in measures:
            value, low, high = row[n : n + 3]
            if isinstance(value, float) and isinstance(low, float) and isinstance(high, float):
                key = (*(row[place] for place in named), columns[n])
                estimates.setdefault(key, []).append((value, (high - low) / 2 / _HALF))
    rows: list[list[Value]] = []
    for key, known in estimates.items():
        if len(known) == len(tables) > 1:
            values, deviations = zip(*known, strict=True)
            rows.append([question, *key, *astuple(pool(values, deviations))])
    names = ["question", *(columns[n] for n in named), "measure", "directions", "mean", "low", "high", "between"]
    return Records([*names, "new_low", "new_high"], rows)
