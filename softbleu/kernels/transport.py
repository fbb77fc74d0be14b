"""Unbalanced optimal transport with entropy, of many small problems at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from softbleu.types import Floats

_ROUNDS = 2000
_ENOUGH = 1e-11  # Largest change of a potential, in units of the cost, at which a problem is solved


def transport(masses: Floats, others: Floats, costs: Floats, entropy: float = 0.1, marginal: float = 0.1) -> Floats:
    """Plans that move masses to others at least cost, where mass may be left.

    A plan T minimises ``sum(T * costs) + entropy * KL(T, masses × others) + marginal * KL(rows, masses) + marginal *
    KL(columns, others)``, rows and columns being its sums (Chizat et al. 2018). Logarithms are scaled, so that tiny
    masses and far places do no harm. Masses are above 0, with shapes (problems, m) and (problems, n), costs and plans
    (problems, m, n); what a problem gets does not depend on the others.

    >>> transport(np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1, 1))).round(6).tolist()
    [[[1.0]]]
    """
    share = marginal / (marginal + entropy)
    # Relative to the product of both masses.
    logs = np.log(masses)[:, :, None] + np.log(others)[:, None, :] - costs / entropy
    up, down = np.zeros_like(masses), np.zeros_like(others)
    left = np.arange(len(costs))
    for _ in range(_ROUNDS):
        own = logs[left]
        above = share * (np.log(masses[left]) - _log_sums(own + down[left][:, None, :], 2))
        below = share * (np.log(others[left]) - _log_sums(own + above[:, :, None], 1))
        change = np.maximum(np.abs(above - up[left]).max(axis=1), np.abs(below - down[left]).max(axis=1))
        up[left], down[left] = above, below
        left = left[change * entropy > _ENOUGH]
        if not len(left):
            break
    plans: Floats = np.exp(logs + up[:, :, None] + down[:, None, :])
    return plans


def _log_sums(logs: Floats, axis: int) -> Floats:
    most = logs.max(axis=axis, keepdims=True)
    sums: Floats = np.log(np.exp(logs - most).sum(axis=axis)) + most.squeeze(axis)
    return sums
