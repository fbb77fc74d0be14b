"""How alike two words are, as the specification reads: unit vectors, common parts removed, neighbours.

Imports nothing from softbleu. Slow: every neighbourhood is a sort over the whole scope.
"""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

SCOPE = 50_000


def unit(vector: Vector) -> Vector:
    """Scale to length 1; a zero vector stays zero."""
    length = float(np.sqrt(vector @ vector))
    return vector / length if length > 0 else vector


def removed_parts(rows: list[Vector], *, mean: bool, components: int) -> tuple[Vector, list[Vector]]:
    """Mean of the rows, and their leading principal directions: by singular values, about the mean or about 0."""
    table = np.array(rows)
    centre = table.sum(axis=0) / len(table) if mean else np.zeros(table.shape[1])
    directions = np.linalg.svd(table - centre)[2]
    return centre, list(directions[:components])


@dataclass(frozen=True, eq=False)
class Measure:
    """Words and vectors in the order of the set, and what is asked of them."""

    vectors: dict[str, list[float]]
    case: str = "fallback"
    mean: bool = False
    components: int = 0
    neighbours: int | None = None
    scope: int = SCOPE
    lone: tuple[str, ...] = ()  # Words that are like themselves alone

    def spelling(self, word: str) -> str | None:
        """Spelling that a word is found under, if any."""
        if word in self.vectors:
            return word
        if self.case == "fallback" and word.lower() in self.vectors:
            return word.lower()
        return None

    @cached_property
    def scope_words(self) -> list[str]:
        return list(self.vectors)[: self.scope]

    @cached_property
    def directions(self) -> dict[str, Vector]:
        """Unit vector of each word of the set that has one, common parts removed."""
        units = {word: unit(np.array(vector, np.float64)) for word, vector in self.vectors.items()}
        units = {word: vector for word, vector in units.items() if vector.any()}
        if not self.mean and not self.components:
            return units
        head = [units[word] for word in self.scope_words if word in units]
        centre, directions = removed_parts(head, mean=self.mean, components=self.components)
        removed = {}
        for word, vector in units.items():
            left = vector - centre
            for direction in directions:
                left = left - (left @ direction) * direction
            removed[word] = unit(left)
        return removed

    def direction(self, word: str) -> Vector | None:
        spelling = self.spelling(word)
        return None if spelling is None else self.directions.get(spelling)

    @cache  # noqa: B019
    def near(self, spelling: str) -> list[tuple[float, str]]:
        """Cosine and spelling of every other scope word that has a vector, the nearest first."""
        if spelling not in self.directions:
            return []
        own = self.directions[spelling]
        others = [word for word in self.scope_words if word != spelling and word in self.directions]
        return sorted(((float(own @ self.directions[word]), word) for word in others), key=lambda pair: -pair[0])

    def may_meet(self, one: str, other: str) -> bool:
        """Whether one is among the other's nearest neighbours."""
        if self.neighbours is None:
            return True
        a, b = self.spelling(one), self.spelling(other)
        if a is None or b is None or a == b:
            return a == b
        there = b in [word for _, word in self.near(a)[: self.neighbours]]
        back = a in [word for _, word in self.near(b)[: self.neighbours]]
        return there or back

    def product(self, one: str, other: str) -> float:
        """Token product of two words."""
        if one == other:
            return 1.0
        left, right = self.direction(one), self.direction(other)
        if one in self.lone or other in self.lone:
            return 0.0
        if left is None or right is None or not self.may_meet(one, other):
            return 0.0
        return float(left @ right)

    def every_quantile(self, percentile: float) -> float:
        """Percentile over all pairs of different scope words with a vector, each as likely as any other."""
        words = [word for word in self.scope_words if word in self.directions]
        free = Measure(self.vectors, self.case, self.mean, self.components, scope=self.scope)
        return float(np.percentile([free.product(a, b) for a in words for b in words if a != b], percentile))
