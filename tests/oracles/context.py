"""Vectors in context for one line, and BERTScore of one segment, as their descriptions read: loops and lists.

Imports nothing from softbleu.
"""

import math

Vector = list[float]


def cosine(one: Vector, other: Vector) -> float:
    norms = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / norms if norms else 0.0


def word_vectors(words: list[int], rows: list[Vector]) -> dict[int, Vector]:
    """Mean of the rows of each word's pieces; `words` has the number of the word of each piece, -1 for none."""
    return {
        word: [sum(values) / words.count(word) for values in zip(*own, strict=True)]
        for word in set(words) - {-1}
        for own in [[row for number, row in zip(words, rows, strict=True) if number == word]]
    }


def bertscore(
    candidate: list[tuple[Vector, float]], reference: list[tuple[Vector, float]]
) -> tuple[float, float, float]:
    """Precision, recall and F of two lines, given as the vector and the weight of each piece."""

    def share(side: list[tuple[Vector, float]], other: list[tuple[Vector, float]]) -> float:
        weight = sum(own for _, own in side)
        met = sum(own * max(cosine(vector, met) for met, _ in other) for vector, own in side)
        return met / weight if weight else 0.0

    precision, recall = share(candidate, reference), share(reference, candidate)
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0
