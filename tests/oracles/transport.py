"""Unbalanced transport with entropy, one problem, scaled in turns as in Chizat et al. (2018), without logarithms."""

import math

Rows = list[list[float]]
Problem = tuple[list[float], list[float], Rows]


def plan(problem: Problem, entropy: float, marginal: float) -> Rows:
    """Rows of the plan of masses, others and costs; masses of an ordinary size only."""
    masses, others, costs = problem
    share = marginal / (marginal + entropy)
    kernel = [
        [one * other * math.exp(-cost / entropy) for other, cost in zip(others, row, strict=True)]
        for one, row in zip(masses, costs, strict=True)
    ]
    ups, downs = [1.0] * len(masses), [1.0] * len(others)
    for _ in range(3000):
        for i, one in enumerate(masses):
            ups[i] = (one / sum(cell * down for cell, down in zip(kernel[i], downs, strict=True))) ** share
        for j, other in enumerate(others):
            downs[j] = (other / sum(row[j] * up for row, up in zip(kernel, ups, strict=True))) ** share
    return [[ups[i] * cell * downs[j] for j, cell in enumerate(row)] for i, row in enumerate(kernel)]
