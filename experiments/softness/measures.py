"""Agreement of many metrics on the same bootstrap samples.

Each measure has the shape (metrics, 1 + samples): the value first, then that of each sample. They are kept in build/.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from cells import PLAIN
from sets import HERE, KEPT, Metric, Set

from softbleu.corpora.judgements import Comparisons
from softbleu.meta.measures import JudgedPairs
from softbleu.resample import bootstrap, flip_p_values

SAMPLES, DRAWN_BY = 1000, 12345


def weights(things: int) -> np.ndarray:
    """How often each thing is drawn: (1 + samples, things); first each once."""
    return np.concatenate([np.ones((1, things)), *bootstrap(things, SAMPLES, DRAWN_BY)])


def _moments(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Counts, sums, squares and products of both by segment, (segments, 6); NaN leaves an output out."""
    there = ~np.isnan(first + second)
    one, other = (np.where(there, side - side[there].mean(), 0) for side in (first, second))
    return np.stack(
        [there.sum(axis=0), *(part.sum(axis=0) for part in (one, other, one**2, other**2, one * other))], 1
    )


def _correlation(sums: np.ndarray) -> np.ndarray:
    """Pearson's r of sums of moments, (…, 6)."""
    count, one, other, ones, others, both = np.moveaxis(sums, -1, 0)
    spread = (ones - one**2 / count) * (others - other**2 / count)
    with np.errstate(invalid="ignore", divide="ignore"):  # A sample without any variation has no r
        r: np.ndarray = (both - one * other / count) / np.sqrt(spread)
    return r


def pearson(scores: np.ndarray, judges: np.ndarray, drawn: np.ndarray | None = None) -> np.ndarray:
    """Pearson's r over all judged outputs; scores (metrics, systems, segments), segments drawn."""
    drawn = weights(judges.shape[1]) if drawn is None else drawn
    return np.array([_correlation(drawn @ _moments(row, judges)) for row in scores])


def parts(values: np.ndarray, judged: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of segments over judged outputs, (…, 1, segments), and deviations from them."""
    masked = np.where(judged, values, np.nan)
    mean = np.nanmean(masked, axis=-2, keepdims=True)
    return mean, masked - mean


def between(scores: np.ndarray, judges: np.ndarray) -> np.ndarray:
    """Pearson's r of means of segments."""
    there = ~np.isnan(judges)
    return pearson(parts(scores, there)[0], parts(judges, there)[0])


def within(scores: np.ndarray, judges: np.ndarray) -> np.ndarray:
    """Pearson's r of deviations from means of segments."""
    there = ~np.isnan(judges)
    return pearson(parts(scores, there)[1], parts(judges, there)[1])


def partial(scores: np.ndarray, plain: np.ndarray, judges: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Correlation of scores with judges', without what the plain score knows; of chosen segments, which are drawn."""
    drawn, estimates = weights(int(chosen.sum())), []
    judges, plain = judges[:, chosen], plain[:, chosen]
    for row in scores[:, :, chosen]:
        pairs = ((row, judges), (row, plain), (judges, plain))
        both, own, other = (_correlation(drawn @ _moments(*pair)) for pair in pairs)
        estimates.append((both - own * other) / np.sqrt((1 - own**2) * (1 - other**2)))
    return np.array(estimates)


def accuracy(scores: np.ndarray, judges: np.ndarray) -> np.ndarray:
    """Tie-calibrated accuracy by segment, segments drawn."""
    segments = judges.shape[1]
    there = ~np.isnan(judges).reshape(-1)
    numbers = np.tile(np.arange(segments), len(judges))[there]
    drawn = weights(segments).astype(np.int64)
    estimates = []
    for row in scores:
        pairs = JudgedPairs.within(judges.reshape(-1)[there], row.reshape(-1)[there], numbers)
        assert pairs is not None
        estimates.append([(pairs.accuracy(counts, calibrated=True) or (np.nan,))[0] for counts in drawn])
    return np.array(estimates)


def tau(scores: np.ndarray, systems: Sequence[str], judged: Comparisons) -> np.ndarray:
    """Kendall's tau NoTies with rankings, segments drawn."""
    order = np.array([systems.index(name) for name in judged.systems])
    untied = judged.at(judged.outcome != 0)
    first, second = order[untied.first], order[untied.second]
    drawn, segments = weights(scores.shape[2]), scores.shape[2]
    estimates = []
    for row in scores:
        apart = row[first, untied.segment] - row[second, untied.segment]
        above = np.bincount(untied.segment, np.sign(apart) * untied.outcome, segments)
        estimates.append(drawn @ above / (drawn @ np.bincount(untied.segment, minlength=segments)))
    return np.array(estimates)


def soft_accuracy(scores: np.ndarray, judges: np.ndarray) -> np.ndarray:
    """SPA: 1 - mean |p of judges - p of the metric|, systems drawn. Judges' segments may be other ones."""
    one, other = np.triu_indices(len(judges), 1)
    sure = flip_p_values(np.nan_to_num(judges[one] - judges[other]), SAMPLES, DRAWN_BY)
    drawn = weights(len(judges))
    pairs = drawn[:, one] * drawn[:, other]
    estimates = []
    for row in scores:
        error = np.abs(sure - flip_p_values(row[one] - row[other], SAMPLES, DRAWN_BY))
        # A sample of one system has no pair.
        estimates.append(1 - pairs @ error / np.maximum(pairs.sum(axis=1), 1e-9))
    return np.array(estimates)


def chance(measure: str, data: Set) -> float:
    """Accuracy of a metric that knows nothing; measure is `accuracy` or `SPA`."""
    judges = data.ratings
    if measure == "accuracy":
        there = ~np.isnan(judges).reshape(-1)
        numbers = np.tile(np.arange(judges.shape[1]), len(judges))[there]
        pairs = JudgedPairs.within(judges.reshape(-1)[there], np.zeros(there.sum()), numbers)
        assert pairs is not None
        return pairs.chance
    one, other = np.triu_indices(len(judges), 1)
    sure = flip_p_values(np.nan_to_num(judges[one] - judges[other]), SAMPLES, DRAWN_BY)
    return 1 - float(np.abs(sure - 0.5).mean())


def _tau_of(scores: np.ndarray, data: Set) -> np.ndarray:
    assert data.comparisons is not None
    return tau(scores, data.texts.systems, data.comparisons)


MEASURES: dict[str, Callable[[np.ndarray, Set], np.ndarray]] = {
    "r": lambda scores, data: pearson(scores, data.ratings),
    "r between": lambda scores, data: between(scores, data.ratings),
    "r within": lambda scores, data: within(scores, data.ratings),
    "accuracy": lambda scores, data: accuracy(scores, data.ratings),
    "SPA": lambda scores, data: soft_accuracy(scores, data.ratings),
    "tau": _tau_of,
    # Of a metric, without what VLEU .8 of words knows.
    "partial r": lambda scores, data: partial(
        scores, data.scores([PLAIN])[0], data.ratings, np.ones(data.ratings.shape[1], bool)
    ),
}


_KNOWN: dict[Path, dict[str, np.ndarray]] = {}  # What is kept in build/, by its file


def measures_of(data: Set) -> list[str]:
    """Names of the measures that a set has."""
    if data.comparisons is not None:
        return ["tau"]
    if not data.same_lines:
        return ["SPA"]
    return ["r"] if len(data.ratings) == 1 else ["r", "r between", "r within", "accuracy", "SPA"]


def measured(data: Set, measure: str, metrics: Sequence[Metric]) -> np.ndarray:
    """Measure metrics on a set; what was measured before is read from build/."""

    def place(metric: Metric) -> str:
        text = f"{str(metric).replace(str(HERE.parent), '')} {measure} {SAMPLES} {DRAWN_BY}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    store = KEPT / f"measures-{data.judged}.npz"
    if store not in _KNOWN:
        _KNOWN[store] = dict(np.load(store)) if store.exists() else {}
    known = _KNOWN[store]
    new = [metric for metric in dict.fromkeys(metrics) if place(metric) not in known]
    if new:
        values = MEASURES[measure](data.scores(new), data)
        known.update({place(metric): row for metric, row in zip(new, values, strict=True)})
        np.savez(store, **known)
    return np.stack([known[place(metric)] for metric in metrics])


def judge(values: np.ndarray) -> tuple[float, float, float, float]:
    """Value, interval of 95%, and twice the smaller share of samples on either side of zero."""
    value, drawn = float(values[0]), values[1:][np.isfinite(values[1:])]
    low, high = np.percentile(drawn, [2.5, 97.5])
    least = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return value, float(low), float(high), min(1.0, 2 * (least + 1) / (len(drawn) + 1))
