"""Unbalanced optimal transport with entropy, of many small problems at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from softbleu.types import Floats

_ROUNDS = 2000
_CELLS = 1 << 20  # Of costs that are looked at together
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
    """Logarithms of the sums of each row's exponentials, once something is added: (problems, rows)."""
    sums = np.empty(logs.shape[:2])
    size = max(1, _CELLS // max(1, len(logs) * logs.shape[2]))
    for start in range(0, logs.shape[1], size):
        rows = logs[:, start : start + size] + added[:, None, :]
        most = rows.max(axis=2, keepdims=True)
        rows -= most
        sums[:, start : start + size] = np.log(np.exp(rows, out=rows).sum(axis=2)) + most[..., 0]
    return sums
