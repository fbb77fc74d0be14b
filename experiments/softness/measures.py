"""Agreement of many cells on the same bootstrap samples, and contrasts between cells.

Each measure has the shape (cells, 1 + samples): the value first, then that of each sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from cells import Levels

from softbleu.corpora.judgements import Comparisons
from softbleu.meta.accuracy import JudgedPairs, flip_p_values
from softbleu.meta.correlation import draw_batches

SAMPLES, DRAWN_BY = 1000, 12345


def weights(things: int) -> np.ndarray:
    """How often each thing is drawn: (1 + samples, things); first each once."""
    return np.concatenate([np.ones((1, things)), *draw_batches(things, SAMPLES, DRAWN_BY)])


def _moments(columns: Sequence[np.ndarray], drawn: np.ndarray) -> np.ndarray:
    """Correlations of all pairs of columns, in order of `combinations`; each (things, outputs of each)."""
    counts = drawn @ np.full(len(columns[0]), columns[0].shape[1], float)
    means = [drawn @ each.sum(axis=1) / counts for each in columns]
    squares = [drawn @ (each**2).sum(axis=1) / counts - mean**2 for each, mean in zip(columns, means, strict=True)]
    found = []
    for one, other in combinations(range(len(columns)), 2):
        shared = drawn @ (columns[one] * columns[other]).sum(axis=1) / counts - means[one] * means[other]
        found.append(shared / np.sqrt(squares[one] * squares[other]))
    return np.array(found)


def pearson(scores: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Pearson's r over all outputs; scores (cells, systems, segments), segments drawn."""
    drawn = weights(people.shape[1])
    standard = [(each - each.mean()).T for each in scores]
    return np.array([_moments([each, people.T], drawn)[0] for each in standard])


def partial(scores: np.ndarray, plain: np.ndarray, people: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Correlation of scores with people's, given the plain score; of the segments `kept`, which are drawn."""
    drawn = weights(int(kept.sum()))
    found = []
    for each in scores:
        both, own, other = _moments([(side - side.mean())[:, kept].T for side in (each, people, plain)], drawn)[
            [0, 1, 2]
        ]
        found.append((both - own * other) / np.sqrt((1 - own**2) * (1 - other**2)))
    return np.array(found)


def accuracy(scores: np.ndarray, people: np.ndarray) -> np.ndarray:
    """Tie-calibrated accuracy by segment, segments drawn."""
    systems, segments = people.shape
    numbers = np.tile(np.arange(segments), systems)
    drawn = weights(segments).astype(np.int64)
    found = []
    for each in scores:
        pairs = JudgedPairs.within(people.reshape(-1), each.reshape(-1), numbers)
        assert pairs is not None
        found.append([(pairs.accuracy(counts, calibrated=True) or (np.nan,))[0] for counts in drawn])
    return np.array(found)


def tau(scores: np.ndarray, systems: Sequence[str], judged: Comparisons) -> np.ndarray:
    """Kendall's tau NoTies with rankings, segments drawn."""
    order = np.array([systems.index(name) for name in judged.systems])
    untied = judged.at(judged.outcome != 0)
    first, second = order[untied.first], order[untied.second]
    drawn, segments = weights(scores.shape[2]), scores.shape[2]
    found = []
    for each in scores:
        apart = each[first, untied.segment] - each[second, untied.segment]
        said = np.sign(apart) * untied.outcome
        above = np.bincount(untied.segment, said, segments)
        found.append(drawn @ above / (drawn @ np.bincount(untied.segment, minlength=segments)))
    return np.array(found)


def soft_accuracy(scores: np.ndarray, people: np.ndarray) -> np.ndarray:
    """SPA: 1 - mean |p of judges - p of the metric|, systems drawn. Judges' segments may be other ones."""
    one, other = np.triu_indices(len(people), 1)
    judges = flip_p_values(np.nan_to_num(people[one] - people[other]), SAMPLES, DRAWN_BY)
    drawn = weights(len(people))
    pairs = drawn[:, one] * drawn[:, other]
    found = []
    for each in scores:
        error = np.abs(judges - flip_p_values(each[one] - each[other], SAMPLES, DRAWN_BY))
        # A sample of one system has no pair.
        found.append(1 - pairs @ error / np.maximum(pairs.sum(axis=1), 1e-9))
    return np.array(found)


@dataclass(frozen=True)
class Effect:
    """A contrast between cells: of two levels of a factor, maybe between two levels of another one."""

    name: str
    factor: str
    high: str
    low: str
    at: tuple[str, str] | None = None  # Only cells with this factor at this level
    less: tuple[str, str] | None = None  # Minus the same effect at this one
    sign: str = ""  # As planned: +, - or 0; empty where it was not planned

    def of(self, cells: Sequence[Levels]) -> np.ndarray:
        """Weights of cells: their sum with a measure is the effect."""
        found = _main(cells, self.factor, self.high, self.low, self.at)
        return found if self.less is None else found - _main(cells, self.factor, self.high, self.low, self.less)


def _main(cells: Sequence[Levels], factor: str, high: str, low: str, at: tuple[str, str] | None = None) -> np.ndarray:
    """Mean of the cells at the high level, less that of the cells at the low one."""
    named = [dict(each) for each in cells]
    up, down = (
        np.array([each[factor] == level and (at is None or each[at[0]] == at[1]) for each in named], float)
        for level in (high, low)
    )
    return up / up.sum() - down / down.sum()


def judge(measured: np.ndarray) -> tuple[float, float, float, float]:
    """Value, interval of 95%, and twice the smaller share of samples on either side of zero."""
    value, drawn = float(measured[0]), measured[1:][np.isfinite(measured[1:])]
    low, high = np.percentile(drawn, [2.5, 97.5])
    least = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
    return value, float(low), float(high), min(1.0, 2 * (least + 1) / (len(drawn) + 1))


def interactions(cells: Iterable[Levels]) -> list[Effect]:
    """All two-way interactions of the factors of a factorial, without its exact cell."""
    chosen = [each for each in cells if dict(each).get("unit") != "exact"]
    factors: Mapping[str, list[str]] = {
        name: list(dict.fromkeys(dict(each)[name] for each in chosen)) for name, _ in chosen[0]
    }
    return [
        Effect(f"{one} {high}-{low} × {other} {top}-{base}", one, high, low, (other, top), (other, base))
        for one, other in combinations(factors, 2)
        for low, high in combinations(factors[one], 2)
        for base, top in combinations(factors[other], 2)
    ]
