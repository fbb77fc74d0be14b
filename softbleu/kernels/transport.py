"""Unbalanced optimal transport with entropy, for many small problems at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from softbleu.types import Floats

_ROUNDS = 2000
_CELLS = 1 << 20  # Costs that are processed together
_ENOUGH = 1e-11  # Largest change of a potential, in units of the cost, of a solved problem


def transport(masses: Floats, others: Floats, costs: Floats, entropy: float = 0.1, marginal: float = 0.1) -> Floats:
    """Compute plans that move masses to others at the least cost; not all mass must be moved.

    A plan T minimises ``sum(T * costs) + entropy * KL(T, masses × others) + marginal * KL(rows, masses) + marginal *
    KL(columns, others)``, where rows and columns are its sums (Chizat et al. 2018). The computation uses scaled
    logarithms, so that tiny masses and large costs are safe. Masses must be above 0, with shapes (problems, m) and
    (problems, n); costs and plans have shape (problems, m, n). Problems do not influence each other.

    >>> transport(np.ones((1, 1)), np.ones((1, 1)), np.zeros((1, 1, 1))).round(6).tolist()
    [[[1.0]]]
    """
    share = marginal / (marginal + entropy)
    # Logarithms relative to the product of both masses
    logs = costs / -entropy
    logs += np.log(masses)[:, :, None] + np.log(others)[:, None, :]
    up, down = np.zeros_like(masses), np.zeros_like(others)
    left = np.arange(len(costs))
    for _ in range(_ROUNDS):
        some = logs if len(left) == len(logs) else logs[left]
        above = share * (np.log(masses[left]) - _log_sums(some, down[left]))
        below = share * (np.log(others[left]) - _log_sums(some.swapaxes(1, 2), above))
        change = np.maximum(np.abs(above - up[left]).max(axis=1), np.abs(below - down[left]).max(axis=1))
        up[left], down[left] = above, below
        left = left[change * entropy > _ENOUGH]
        if not len(left):
            break
    logs += up[:, :, None]
    logs += down[:, None, :]
    return np.exp(logs, out=logs)


def _log_sums(logs: Floats, added: Floats) -> Floats:
    """Compute log(sum(exp(logs + added))) of each row: (problems, rows)."""
    sums = np.empty(logs.shape[:2])
    size = max(1, _CELLS // max(1, len(logs) * logs.shape[2]))
    for start in range(0, logs.shape[1], size):
        rows = logs[:, start : start + size] + added[:, None, :]
        most = rows.max(axis=2, keepdims=True)
        rows -= most
        sums[:, start : start + size] = np.log(np.exp(rows, out=rows).sum(axis=2)) + most[..., 0]
    return sums
