"""TrueSkill by the package trueskill, a match at a time."""

from __future__ import annotations

from typing import Any

import numpy as np


def make_rating(beta: float, draws: float) -> Any:
    import trueskill

    world = trueskill.TrueSkill(mu=0.0, sigma=0.5, beta=beta, tau=0.0, draw_probability=draws)

    def rate(mean: Any, variance: Any, one: Any, other: Any, outcome: Any) -> None:
        for run, a, b, won in zip(one[0], one[1], other[1], outcome, strict=True):
            players = [(world.create_rating(mean[run, k], np.sqrt(variance[run, k])),) for k in (a, b)]
            rated = world.rate(players, ranks=[0, int(won)])
            for k, (rating,) in zip((a, b), rated, strict=True):
                mean[run, k], variance[run, k] = rating.mu, rating.sigma**2

    return rate
