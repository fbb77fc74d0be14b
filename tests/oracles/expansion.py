"""Expansion of references as it is specified: every variant there is, sorted. Imports nothing from softbleu."""

import math
from collections.abc import Mapping, Sequence
from itertools import product

from .context import cosine

Ranked = tuple[float, list[str]]


def variants(
    tokens: Sequence[str], alternatives: Mapping[str, Sequence[tuple[str, float]]], most: int | None = None
) -> list[Ranked]:
    """Probability and tokens of every variant but the text itself: most probable, fewest, leftmost, nearest first."""
    options = [[(word, 1.0), *nearest_first(word, alternatives.get(word, ()))] for word in tokens]
    found = []
    for choice in product(*(range(len(entries)) for entries in options)):
        places = [place for place, rank in enumerate(choice) if rank]
        if not places or (most is not None and len(places) > most):
            continue
        probability = math.prod(options[place][choice[place]][1] for place in places)
        ranks = [choice[place] for place in places]
        words = [options[place][rank][0] for place, rank in enumerate(choice)]
        found.append((-float(f"{probability:.12g}"), len(places), places, ranks, probability, words))
    return [(probability, words) for *_, probability, words in sorted(found, key=lambda entry: entry[:4])]


def nearest_first(word: str, alternatives: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Alternatives by similarity, then as given; not the word itself, and each once."""
    ordered = sorted(enumerate(alternatives), key=lambda entry: (-entry[1][1], entry[0]))
    kept: list[tuple[str, float]] = []
    for _, (name, similarity) in ordered:
        if name != word and name not in [other for other, _ in kept]:
            kept.append((name, similarity))
    return kept


def neighbours(
    word: str, vectors: Mapping[str, Sequence[float]], threshold: float, most: int
) -> list[tuple[str, float]]:
    """Words of letters more similar than the threshold, nearest first, ties as the vectors have them."""
    found = word if word in vectors else word.lower()
    if not word.isalpha() or found not in vectors or not any(vectors[found]):
        return []
    near = [
        (name, round(cosine(vectors[found], vector), 6))
        for name, vector in vectors.items()
        if name.isalpha() and name.casefold() != word.casefold()
    ]
    near = [entry for entry in near if entry[1] > threshold]
    return sorted(near, key=lambda entry: -entry[1])[:most]
