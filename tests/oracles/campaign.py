"""Literal versions of the tests of WMT's metrics task: one permutation, one pair of systems or outputs at a time."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

Rows = Sequence[Sequence[float | None]]  # Scores by system and segment; None: not judged


def standardised(rows: Rows) -> Rows:
    known = [value for row in rows for value in row if value is not None]
    mean = math.fsum(known) / len(known)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / len(known))
    return [[None if value is None else (value - mean) / spread for value in row] for row in rows]


def exchanged(one: Rows, other: Rows, kept: Sequence[Sequence[int]]) -> tuple[Rows, Rows]:
    """Exchange the scores that are not kept."""
    picked = [
        [[a if keep else b for a, b, keep in zip(*rows, strict=True)] for rows in zip(*sides, kept, strict=True)]
        for sides in ((one, other), (other, one))
    ]
    return picked[0], picked[1]


def limit_of_flips(one: Sequence[float], other: Sequence[float]) -> float:
    """Probability that sums of differences with random signs, which are normal, reach the observed one."""
    apart = [a - b for a, b in zip(one, other, strict=True)]
    squares = sum(value**2 for value in apart)
    return 0.5 * math.erfc(sum(apart) / math.sqrt(squares) / math.sqrt(2)) if squares > 1e-9 else 0.5


def soft_accuracy(judges: Rows, metric: Rows) -> float:
    errors = []
    for one, other in combinations(range(len(judges)), 2):
        shared = [n for n, both in enumerate(zip(judges[one], judges[other], strict=True)) if None not in both]
        if shared:
            sides = [[[rows[k][n] for n in shared] for k in (one, other)] for rows in (judges, metric)]
            errors.append(abs(limit_of_flips(*sides[0]) - limit_of_flips(*sides[1])))  # type: ignore[arg-type]
    return 1 - sum(errors) / len(errors)


def pearson(judges: Rows, metric: Rows) -> float:
    pairs = [
        pair for rows in zip(judges, metric, strict=True) for pair in zip(*rows, strict=True) if pair[0] is not None
    ]
    columns = np.array(pairs, float).T
    # Undefined ones count as 0, as in mt-metrics-eval.
    return float(np.corrcoef(columns)[0, 1]) if columns[1].std() > 1e-5 else 0.0


def clusters(values: Mapping[str, float], p_value: Callable[[str, str], float]) -> dict[str, int]:
    """Ranks as mt-metrics-eval assigns them: the next one where any metric of the rank is significantly better."""
    order = sorted(values, key=lambda name: (-values[name], name))
    ranks: dict[str, int] = {}
    start, rank = 0, 1
    for place, name in enumerate(order):
        if any(p_value(order[before], name) <= 0.05 for before in range(start, place)):
            start, rank = place, rank + 1
        ranks[name] = rank
    return ranks


def published_test(judges: Any, one: Any, other: Any, measure: str, permutations: int, ties: Any) -> float:
    """p as by mt-metrics-eval: its PERM-BOTH for soft pairwise accuracy and r, its exchange of verdicts for acc_eq.

    Scores are (systems, segments), all judged. Soft accuracies come from a thousand sign flips of every permutation,
    verdicts from the thresholds `ties` of the two metrics.
    """
    generator = np.random.default_rng(1)
    if measure == "acc_eq":
        return _verdict_test(judges, one, other, permutations, generator, ties)
    flips = (np.rint(generator.random((1000, judges.shape[1]), np.float32)) == 0).tolist()
    if measure == "spa":
        people = _p_values(judges, flips)

        def agreement(scores: Any) -> float:
            return 1 - float(np.abs(people - _p_values(scores, flips)).mean())

    else:

        def agreement(scores: Any) -> float:
            return float(np.corrcoef(judges.reshape(-1), scores.reshape(-1))[0, 1])

    one, other = ((side - side.mean()) / side.std() for side in (one, other))
    lead, as_great = agreement(one) - agreement(other), 0
    for _ in range(permutations):
        kept = generator.binomial(1, 0.5, one.shape)
        first, second = kept * one + (1 - kept) * other, (1 - kept) * one + kept * other
        as_great += agreement(first) - agreement(second) >= lead - 1e-9
    return as_great / permutations


def _p_values(scores: Any, flips: Any) -> Any:
    """One-sided p of each two systems, as its `compute_pairwise_p_values` has them."""
    signs = 1 - 2.0 * np.array(flips)
    sums, partial = scores.sum(axis=1), signs @ scores.T
    return np.array(
        [(partial[:, a] - partial[:, b] >= sums[a] - sums[b]).mean() for a, b in combinations(range(len(scores)), 2)]
    )


def _verdict_test(judges: Any, one: Any, other: Any, permutations: int, generator: Any, ties: Any) -> float:
    pairs = list(combinations(range(len(judges)), 2))
    said = np.sign([judges[a] - judges[b] for a, b in pairs])
    right = []
    for scores, epsilon in zip((one, other), ties, strict=True):
        apart = np.array([scores[a] - scores[b] for a, b in pairs])
        right.append(np.where(abs(apart) <= epsilon, 0, np.sign(apart)) == said)
    lead, as_great = right[0].mean() - right[1].mean(), 0
    for _ in range(permutations):
        kept = generator.binomial(1, 0.5, right[0].shape)
        as_great += (np.where(kept, *right).mean() - np.where(kept, *right[::-1]).mean()) >= lead - 1e-9
    return as_great / permutations
