"""The distances of the trained metric and the fit of its prices, word by word."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import minimize

NEGATIONS = {"not"}


def distances_of(candidate: Sequence[str], reference: Sequence[str], vectors: Mapping[str, Any]) -> list[float]:
    """All distances in order, for words that are numbers if they have a digit, in vectors of words."""
    if candidate == reference:
        return [0.0] * 19

    def unit(word: str) -> Any:
        found = np.array(vectors.get(word, vectors.get(word.lower(), [0.0] * 4)))
        return found / (np.linalg.norm(found) or 1)

    def alike(one: str, other: str) -> float:
        return 1.0 if one == other else float(unit(one) @ unit(other))

    def best(place: int, own: Sequence[str], others: Sequence[str]) -> int:
        def apart(other: int) -> float:
            return abs(place / len(own) - other / len(others))

        ranked = [(alike(own[place], word) - 1e-7 * apart(j), -j) for j, word in enumerate(others)]
        return -max(ranked)[1]

    there = [best(i, candidate, reference) for i in range(len(candidate))]
    back = [best(j, reference, candidate) for j in range(len(reference))]
    lacks = [max(0, 1 - alike(word, reference[there[i]])) for i, word in enumerate(candidate)]
    missing = [max(0, 1 - alike(word, candidate[back[j]])) for j, word in enumerate(reference)]
    one, other = (sum(map(unit, text)) for text in (candidate, reference))
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    paired = [j for i, j in enumerate(there) if back[j] == i]
    ranks = [sorted(paired).index(j) for j in paired]
    longer = math.log((len(candidate) + 1) / (len(reference) + 1))

    def beyond(kind: Any) -> tuple[int, int, int]:
        own, others = (
            Counter(word.replace(",", "") for word in text if kind(word)) for text in (candidate, reference)
        )
        return (others - own).total(), (own - others).total(), own.total() + others.total()

    few, many = (sum(word in NEGATIONS for word in text) for text in (candidate, reference))
    missed, added, numbers = beyond(lambda word: any(each.isdigit() for each in word))
    lost, more, _ = beyond(lambda word: word[0].isupper())
    return [
        sum(lacks) / len(lacks),
        sum(missing) / len(missing),
        sum(each**2 for each in lacks) / len(lacks),
        sum(each**2 for each in missing) / len(missing),
        max(lacks),
        max(missing),
        max(0, 1 - float(one @ other) / length) if length else 1.0,
        0.0,
        1 - len(paired) / len(candidate),
        1 - len(paired) / len(reference),
        sum(b != a + 1 for a, b in pairwise(paired)) / len(candidate),
        2 * sum(abs(rank - i) for i, rank in enumerate(ranks)) / max(len(paired) ** 2, 1),
        max(0, -longer),
        max(0, longer),
        float(few != many),
        (missed + added) / max(numbers, 1),
        lost / len(reference),
        more / len(reference),
        0.0,
    ]


def fitted(powers: Any, scores: Any, groups: Any, penalty: float, more: Any, *, signed: bool = False) -> Any:
    """Minimise the loss of `fit_prices`, or of `fit_severity`, by a general method."""
    centred, wanted = powers.copy(), scores.copy()
    for group in set(groups.tolist()):
        own = groups == group
        centred[own] -= centred[own].mean(axis=0)
        wanted[own] -= wanted[own].mean()
    spread = centred.std(axis=0)

    def loss(prices: Any) -> float:
        lost = wanted + centred / spread @ prices
        beside = more[1] + more[0] / spread @ prices
        return float(lost @ lost + beside @ beside + penalty * prices @ prices)

    size = powers.shape[1]
    found = minimize(
        loss, np.zeros(size), bounds=[(None if signed else 0, None)] * size, options={"maxiter": 1000, "ftol": 1e-14}
    )
    return found.x / spread
