"""Greedy matching under a map, token by token: what `trained` makes of it, and the loss that a map is learned by."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def lacks(
    candidate: Sequence[Any],
    reference: Sequence[Any],
    inner: tuple[Sequence[bool], Sequence[bool]],
    matrix: Any,
    direction: Any,
    constant: float,
) -> tuple[float, ...]:
    """Return 1 minus precision, recall and F of two lines of vectors, and the logarithm of the ratio of lengths."""

    def mapped(vector: Any) -> Any:
        moved = np.array(
            [vector[j] + sum(vector[i] * matrix[i][j] for i in range(len(vector))) for j in range(len(vector))]
        )
        length = math.sqrt(sum(x * x for x in moved))
        return moved / length if length else moved

    def weight(vector: Any) -> float:
        return math.log1p(
            math.exp(sum(map(math.prod, zip(vector, direction, strict=True))) * math.sqrt(len(vector)) + constant)
        )

    lines = [[mapped(vector) for vector in line] for line in (candidate, reference)]
    means = []
    for own, other, counted in zip(lines, lines[::-1], inner, strict=True):
        best = [max(float(one @ each) for each in other) for one in own]
        weights = [weight(one) if counts else 0.0 for one, counts in zip(own, counted, strict=True)]
        means.append(sum(map(math.prod, zip(best, weights, strict=True))) / sum(weights))
    precision, recall = means
    sizes = sorted(1 + sum(counted) for counted in inner)
    return 1 - precision, 1 - recall, 1 - 2 * precision * recall / (precision + recall), math.log(sizes[1] / sizes[0])
