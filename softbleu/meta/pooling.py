"""Pooling of estimates over sets by random effects, on a scale that keeps bounded measures within their bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softbleu.errors import InputError
from softbleu.metrics.aggregation import normal_interval
from softbleu.tables import Table, Value

if TYPE_CHECKING:
    from softbleu.types import Floats

_HALF = normal_interval(0.0, 1.0)[1]  # Half of a 95% interval, in standard deviations
_NAMING = ("human", "metric", "of", "variant")  # Columns that name an estimate
_SHARES = ("accuracy", "SPA", "f1")  # Prefixes of measures from 0 to 1; others are correlations
_EDGE = 1 / 400
"""Share of the range by which values at a bound are moved inside. Smaller shares give perfect sets too much
weight, greater ones move strong correlations: in both cases intervals cover less."""
_NONE = 1e-9  # Smaller standard deviations count as none
HOW = "random effects (Paule and Mandel) of logits, of correlations Fisher's z; interval after Hartung and Knapp"


@dataclass(frozen=True)
class Pooled:
    """Mean over sets with its 95% interval, and the interval of the value on a new set."""

    sets: int
    mean: float
    # None for two sets, which are too few; and if no set varies by sampling
    low: float | None = None
    high: float | None = None
    between: float | None = None  # Standard deviation of the sets' true effects, in units of the measure at the mean
    new_low: float | None = None
    new_high: float | None = None


def bounds_of(measure: str, *, difference: bool = False) -> tuple[float, float]:
    """Return the bounds of a measure: 0 and 1 for accuracies and F1, -1 and 1 for correlations and tau.

    Parameters
    ----------
    measure
        Name of the measure.
    difference
        Whether to return the bounds of the difference of two values.

    Examples
    --------
    >>> bounds_of("accuracy, outputs"), bounds_of("pearson", difference=True)
    ((0.0, 1.0), (-2.0, 2.0))
    """
    low, high = (0.0, 1.0) if measure.startswith(_SHARES) else (-1.0, 1.0)
    return (low - high, high - low) if difference else (low, high)


def pool(values: Sequence[float], deviations: Sequence[float], bounds: tuple[float, float] | None = None) -> Pooled:
    """Pool effects of sets by random effects (Paule and Mandel 1982; Hartung and Knapp 2001).

    A set weighs 1 / (between² + deviation²); with `between` the weighted squares sum to k - 1, or it is 0. Both
    intervals have k - 1 degrees of freedom. The new set has the median sampling deviation.

    With `bounds` the logit of the position between the bounds is pooled (for -1 and 1 twice Fisher's z), and the
    results are transformed back; deviations are scaled by the slope at the value. A value at a bound is moved inside
    by 1/400 of the range. A set without deviation, for example if a metric is always right, gets the greatest
    deviation of the others, because equal samples do not make it certain.

    Parameters
    ----------
    values
        Effect of each set, k of them, two at least.
    deviations
        Standard deviation of each value by sampling.
    bounds
        Least and greatest possible value; None: unbounded.

    Raises
    ------
    InputError
        There is one set only.

    Examples
    --------
    >>> pooled = pool([0.01, 0.03, 0.05], [0.01, 0.01, 0.01])
    >>> round(pooled.mean, 4), round(pooled.between, 4)
    (0.03, 0.0173)
    >>> pooled = pool([0.9, 0.92, 0.95], [0.02, 0.02, 0.01], (0.0, 1.0))
    >>> round(pooled.low, 3), round(pooled.high, 3)
    (0.827, 0.971)
    """
    if len(values) < 2:
        raise InputError("pooling needs two sets or more")
    if not (np.asarray(deviations, float) > _NONE).any():
        return Pooled(len(values), float(np.mean(values)))
    pooled = regress(values, deviations, bounds=bounds).expect()
    return pooled if pooled.sets > 2 else Pooled(2, pooled.mean)


class Term(NamedTuple):
    """A coefficient of a regression with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Regression:
    """Effects of sets as a linear function of moderators, with random effects of sets."""

    sets: int
    terms: Sequence[Term]
    """Intercept, then a term per moderator: in units of the measure at the middle of its bounds."""
    between: float  # Standard deviation of the sets' true effects that moderators leave, on the bounded scale
    covariance: Floats  # Of the coefficients on the bounded scale, after Knapp and Hartung
    scale: float  # Weighted squares by degree of freedom; 1 unless the variance between sets is 0
    deviation: float  # Median sampling deviation on the bounded scale
    bounds: tuple[float, float] | None

    def expect(self, moderators: Sequence[float] = (), deviation: float | None = None, sets: int = 1) -> Pooled:
        """Return the mean at some moderators with its interval, and the prediction interval of a new set there.

        Parameters
        ----------
        moderators
            A value per moderator.
        deviation
            Standard deviation of the new value by sampling; None: the median of the sets.
        sets
            Number of new sets whose mean is expected; `deviation` is that of one of them.
        """
        from scipy.stats import t

        at = np.array([1.0, *moderators])
        slope = _slope(self.bounds)
        middle = float(at @ [term.value / slope for term in self.terms])
        error = float(at @ self.covariance @ at)
        width = _slope(self.bounds, middle)
        sampled = self.deviation if deviation is None else deviation / width
        quantile = float(t.ppf(0.975, self.sets - len(at)))
        half = quantile * error**0.5
        new = quantile * (error + self.scale * (self.between**2 + sampled**2) / sets) ** 0.5
        ends = np.array([middle, middle - half, middle + half, middle - new, middle + new])
        mean, low, high, new_low, new_high = _from_scale(ends, self.bounds).tolist()
        return Pooled(self.sets, mean, low, high, self.between * width, new_low, new_high)


def regress(
    values: Sequence[float],
    deviations: Sequence[float],
    moderators: Sequence[Sequence[float]] = (),
    bounds: tuple[float, float] | None = None,
) -> Regression:
    """Fit effects of sets to moderators by random effects (Paule and Mandel 1982; Knapp and Hartung 2003).

    Scale, weights and sets without deviation are as in `pool`, which is a regression without moderators.

    Parameters
    ----------
    values, deviations
        Effect of each set, and its standard deviation by sampling.
    moderators
        For each moderator its value on each set.
    bounds
        Least and greatest possible value; None: unbounded.

    Raises
    ------
    InputError
        There are too few sets, no set varies by sampling, or a moderator follows from the others.

    Examples
    --------
    >>> fitted = regress([0.1, 0.2, 0.3, 0.5], [0.05] * 4, [[1, 2, 3, 4]])
    >>> [round(term.value, 3) for term in fitted.terms], round(fitted.expect([5]).mean, 3)
    ([-0.05, 0.13], 0.6)
    """
    from scipy.optimize import brentq
    from scipy.stats import t

    effects, variances = np.asarray(values, float), np.square(np.asarray(deviations, float))
    design = np.stack([np.ones(len(effects)), *np.asarray(moderators, float)], axis=1)
    degrees = len(effects) - design.shape[1]
    known = variances > _NONE**2
    if degrees < 1 or not known.any() or np.linalg.matrix_rank(design) < design.shape[1]:
        raise InputError("a regression needs more sets than terms, sampling deviations, and independent moderators")
    if bounds is not None:
        low, width = bounds[0], bounds[1] - bounds[0]
        shares = ((effects - low) / width).clip(_EDGE, 1 - _EDGE)
        effects, variances = np.log(shares / (1 - shares)), variances / (width * shares * (1 - shares)) ** 2
    variances = np.where(known, variances, variances[known].max())

    def fitted(between: float) -> tuple[Floats, Floats, float]:
        weights = 1 / (between + variances)
        inverse = np.linalg.inv(design.T * weights @ design)
        coefficients = inverse @ (design.T @ (weights * effects))
        return coefficients, inverse, float(weights @ (effects - design @ coefficients) ** 2)

    between = 0.0
    if fitted(0.0)[2] > degrees:
        most = float(np.var(effects) * len(effects) + variances.max())
        between = float(brentq(lambda value: fitted(value)[2] - degrees, 0.0, most, xtol=1e-15))
    coefficients, inverse, squares = fitted(between)
    scale = squares / degrees
    halves = float(t.ppf(0.975, degrees)) * np.sqrt(scale * np.diag(inverse))
    ends = _slope(bounds) * np.stack([coefficients, coefficients - halves, coefficients + halves], axis=1)
    terms = [Term(*row) for row in ends.tolist()]
    deviation = float(np.median(variances)) ** 0.5
    return Regression(len(effects), terms, between**0.5, scale * inverse, scale, deviation, bounds)


def _slope(bounds: tuple[float, float] | None, place: float = 0.0) -> float:
    """Return the units of the measure in a unit of the scale, at a place on it: the middle, unless given."""
    if bounds is None:
        return 1.0
    share = 1 / (1 + np.exp(-place))
    return float((bounds[1] - bounds[0]) * share * (1 - share))


def _from_scale(places: Floats, bounds: tuple[float, float] | None) -> Floats:
    """Return the values of the measure at places on the scale."""
    from scipy.special import expit

    return places if bounds is None else bounds[0] + (bounds[1] - bounds[0]) * expit(places)


def pooled_table(question: str, tables: Mapping[str, Table]) -> Table:
    """Pool the estimates of several directions by random effects: a row per estimate, with each direction's value.

    An estimate is a column followed by the ends of its interval, whose width gives its sampling deviation.
    Estimates that a direction lacks are not pooled. Differences of two metrics have the sign of the first direction.
    Accuracies have their chance level in a column of its own, and so has their mean.

    Parameters
    ----------
    question
        Question that the tables answer.
    tables
        Tables by direction; all have the same columns.
    """
    estimates: dict[tuple[Value, ...], dict[str, _Estimate]] = {}
    for direction, table in tables.items():
        for key, one in _estimates(table):
            first, minus, second = str(key[-2]).partition(" − ")  # Metrics, where it is the difference of two
            turned = (*key[:-2], f"{second} − {first}" if minus else key[-2], key[-1])
            opposite = turned != key and turned in estimates
            row = estimates.setdefault(turned if opposite else key, {})
            row[direction] = one._replace(value=-one.value) if opposite else one
    columns, difference = next(iter(tables.values())).columns, question == "differences"
    chances = "chance" in columns
    names = [*(("human", "metric") if difference else (name for name in columns if name in _NAMING)), "measure"]
    rows: list[dict[str, Value]] = []
    for key, found in estimates.items():
        rows.append({"question": question, **dict(zip(names, key, strict=True))})
        for name in tables:
            rows[-1][name] = getattr(found.get(name), "value", None)
            if chances:
                rows[-1][f"{name}_chance"] = getattr(found.get(name), "chance", None)
        pooled, measure = None, str(key[-1])
        if whole := len(found) == len(tables) > 1:
            bounds = bounds_of(measure, difference=difference)
            if question == "spans":
                bounds = bounds_of("f1", difference=measure == "difference")
            pooled = pool([one.value for one in found.values()], [one.deviation for one in found.values()], bounds)
        rows[-1]["mean"] = getattr(pooled, "mean", None)
        if chances:
            known = [one.chance for one in found.values() if isinstance(one.chance, float)]
            rows[-1]["chance"] = sum(known) / len(known) if whole and known else None
        rows[-1] |= {name: getattr(pooled, name, None) for name in ("low", "high", "between", "new_low", "new_high")}
    return Table.of(rows)


class _Estimate(NamedTuple):
    value: float
    deviation: float
    chance: Value


def _estimates(table: Table) -> Iterator[tuple[tuple[Value, ...], _Estimate]]:
    """Yield the estimates of a table with their names; the measure comes last."""
    columns = table.columns
    for row in table.named_rows():
        names = [row[name] for name in columns if name in _NAMING]
        if "worse" in row:
            names = [row["human"], f"{row['better']} − {row['worse']}"]
        for name, low, high in zip(columns, columns[1:], columns[2:], strict=False):
            ends = (row[name], row[low], row[high])
            if low.endswith("low") and high.endswith("high") and None not in ends:
                chance = row.get("chance")
                yield (*names, row.get("measure", name)), _Estimate(ends[0], (ends[2] - ends[1]) / 2 / _HALF, chance)
