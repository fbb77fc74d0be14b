"""Systems of several runs, compared by loops over runs, samples and segments."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats


def variance(values: Sequence[float], less: int) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / (len(values) - less)


def compare(
    systems: Mapping[str, Sequence[str]], scores: Mapping[str, np.ndarray], drawn: np.ndarray
) -> dict[str, tuple[float | None, ...]]:
    """Score, deviations between runs and segments, interval; difference from the first, its interval, p."""
    means = {name: float(np.mean(column)) for name, column in scores.items()}
    varied = {name: variance([means[run] for run in runs], 1) for name, runs in systems.items() if len(runs) > 1}
    degrees = sum(len(systems[name]) - 1 for name in varied)
    usual = sum(varied[name] * (len(systems[name]) - 1) for name in varied) / degrees

    def sampled(name: str) -> list[float]:
        return [float(np.mean([scores[run][places].mean() for run in systems[name]])) for places in drawn]

    def spread(by_runs: list[tuple[float, int]], samples: list[float]) -> tuple[float, float]:
        every = [*by_runs, (variance(samples, 0), drawn.shape[1] - 1)]
        total = sum(part for part, _ in every)
        return total**0.5, total**2 / sum(part**2 / freedom for part, freedom in every)

    rows: dict[str, tuple[float | None, ...]] = {}
    first = next(iter(systems))

    def parts(*names: str) -> list[tuple[float, int]]:
        sizes = [len(systems[name]) for name in names]
        if 1 in sizes:
            return [(usual * sum(1 / size for size in sizes), degrees)]
        return [(varied[name] / size, size - 1) for name, size in zip(names, sizes, strict=True)]

    score = {name: sum(means[run] for run in runs) / len(runs) for name, runs in systems.items()}
    for name, runs in systems.items():
        error, freedom = spread(parts(name), sampled(name))
        half = stats.t.ppf(0.975, freedom) * error
        within = np.mean([variance([scores[run][places].mean() for places in drawn], 0) for run in runs]) ** 0.5
        row = (score[name], varied[name] ** 0.5 if name in varied else None, within)
        row = (*row, score[name] - half, score[name] + half)
        beside: tuple[float | None, ...] = (None,) * 4
        if name != first:
            apart = score[name] - score[first]
            both = [one - other for one, other in zip(sampled(name), sampled(first), strict=True)]
            error, freedom = spread(parts(name, first), both)
            half = stats.t.ppf(0.975, freedom) * error
            beside = (apart, apart - half, apart + half, 2 * stats.t.sf(abs(apart) / error, freedom))
        rows[name] = (*row, *beside)
    return rows
