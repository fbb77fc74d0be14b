"""BLEU, SLEU, VLEU and XLEU for one segment, as the specification reads: no arrays, no shortcuts.

Imports nothing from softbleu, so that agreement between the two means something.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache

NGram = tuple[str, ...]
Pool = dict[NGram, float]
TokenProduct = Callable[[str, str], float]
Similarity = Callable[[NGram, NGram], float]
Pair = tuple[int, NGram | None, float]

VANISHING = 1e-12


@dataclass
class Statistics:
    """What one segment adds up; ``pairs`` has (candidate position, reference n-gram or None, mass)."""

    candidate_length: int
    reference_length: int
    matches: list[float] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    pairs: list[list[Pair]] = field(default_factory=list)


def ngrams(tokens: list[str], order: int) -> list[NGram]:
    return [tuple(tokens[start : start + order]) for start in range(len(tokens) - order + 1)]


def reference_pool(references: list[list[str]], orders: Iterable[int]) -> dict[NGram, int]:
    """Every reference n-gram with its greatest count in any one reference, in order of first appearance.

    References come in the order of their words, as they are sorted, whatever the order in which they are given.
    """
    pool: dict[NGram, int] = {}
    for order in orders:
        for reference in sorted(references):
            counts = Counter(ngrams(reference, order))
            for ngram in ngrams(reference, order):
                pool[ngram] = max(pool.get(ngram, 0), counts[ngram])
    return pool


def closest_reference(candidate: list[str], references: list[list[str]]) -> list[str]:
    """Return the reference of the closest length; ties: the shorter, then the first."""
    return min(references, key=lambda reference: (abs(len(reference) - len(candidate)), len(reference)))


def token_product_from(vectors: dict[str, list[float]]) -> TokenProduct:
    """g(a, b): 1 for the same token, the cosine where both have a vector that is not zero, else 0."""

    @cache
    def product(first: str, second: str) -> float:
        if first == second:
            return 1.0
        a, b = vectors.get(first, []), vectors.get(second, [])
        if not any(a) or not any(b):
            return 0.0
        dot = sum(p * q for p, q in zip(a, b, strict=True))
        return dot / (math.sqrt(sum(p * p for p in a)) * math.sqrt(sum(q * q for q in b)))

    return product


def letters(word: str) -> set[str]:
    """Characters of a word in lower case, and pairs of them, those with marks of its ends too."""
    characters = ["<start>", *word.lower(), "<end>"]
    return {*word.lower(), *("|".join(pair) for pair in ngrams(characters, 2))}


def letters_product(first: str, second: str) -> float:
    """g(a, b) without vectors: 1 for the same token, else the Dice coefficient of their letters."""
    one, other = letters(first), letters(second)
    return 1.0 if first == second else 2 * len(one & other) / (len(one) + len(other))


def clamped_and_rounded(value: float) -> float:
    return round(max(-1.0, min(1.0, value)) * 1e6) / 1e6


def mean_similarity(x: NGram, y: NGram, product: TokenProduct) -> float:
    """Cosine of the two averaged vectors, by block sums."""

    def block_sum(first: NGram, second: NGram) -> float:
        return sum(product(a, b) for a in first for b in second)

    norm_x, norm_y = block_sum(x, x), block_sum(y, y)
    if norm_x <= VANISHING or norm_y <= VANISHING:
        return 0.0
    return clamped_and_rounded(block_sum(x, y) / math.sqrt(norm_x * norm_y))


def aligned_similarity(x: NGram, y: NGram, product: TokenProduct) -> float:
    """Mean token product position by position; n-grams of different orders are not alike at all."""
    if len(x) != len(y):
        return 0.0
    return clamped_and_rounded(sum(product(a, b) for a, b in zip(x, y, strict=True)) / len(x))


COMPOSITIONS = {"mean": mean_similarity, "aligned": aligned_similarity}


def take(pool: Pool, ngram: NGram, amount: float) -> None:
    # Similarities are whole millionths; what is left must not hold the rounding errors of floats.
    pool[ngram] = round(pool[ngram] - amount, 6)
    if pool[ngram] <= 0:
        del pool[ngram]


def approximate_pair(
    position: int, occurrence: NGram, pool: Pool, similar: Similarity, threshold: float, consumption: str
) -> Pair:
    """Match one occurrence to the most similar n-gram left in the pool, if it is similar enough."""
    best, best_similarity = None, -math.inf
    for ngram in pool:
        similarity = similar(occurrence, ngram)
        if similarity > best_similarity:
            best, best_similarity = ngram, similarity
    if best is None or not best_similarity > threshold:
        return position, None, 0.0
    take(pool, best, {"unit": 1.0, "similarity": best_similarity}[consumption])
    return position, best, best_similarity


def sequential_pairs(
    occurrences: list[NGram], pool: Pool, similar: Similarity | None, threshold: float, consumption: str
) -> list[Pair]:
    pairs: list[Pair] = []
    for position, occurrence in enumerate(occurrences):
        if occurrence in pool:
            take(pool, occurrence, 1)
            pairs.append((position, occurrence, 1.0))
        elif similar is not None:
            pairs.append(approximate_pair(position, occurrence, pool, similar, threshold, consumption))
        else:
            pairs.append((position, None, 0.0))
    return pairs


def exact_first_pairs(
    occurrences: list[NGram], pool: Pool, similar: Similarity | None, threshold: float, consumption: str
) -> list[Pair]:
    """Serve what is in the pool as it is, and then the others, which may be again."""
    exact = sequential_pairs(occurrences, pool, None, threshold, consumption)
    if similar is None:
        return exact
    return [
        pair if pair[2] else approximate_pair(pair[0], occurrences[pair[0]], pool, similar, threshold, consumption)
        for pair in exact
    ]


def optimal_pairs(
    occurrences: list[NGram], pool: Pool, similar: Similarity | None, threshold: float, consumption: str
) -> list[Pair]:
    """Try every assignment of occurrences to pool instances; ``consumption`` is always one instance here."""
    del consumption
    pool_ngrams = list(pool)

    def weight(occurrence: NGram, ngram: NGram) -> float:
        if occurrence == ngram:
            return 1.0
        similarity = 0.0 if similar is None else similar(occurrence, ngram)
        return similarity if similarity > threshold else 0.0

    @cache
    def best_from(position: int, left: tuple[float, ...]) -> tuple[float, tuple[Pair, ...]]:
        if position == len(occurrences):
            return 0.0, ()
        rest_mass, rest = best_from(position + 1, left)
        best = rest_mass, ((position, None, 0.0), *rest)
        for index, ngram in enumerate(pool_ngrams):
            mass = weight(occurrences[position], ngram)
            if left[index] > 0 and mass > 0:
                fewer = (*left[:index], left[index] - 1, *left[index + 1 :])
                rest_mass, rest = best_from(position + 1, fewer)
                if mass + rest_mass > best[0]:
                    best = mass + rest_mass, ((position, ngram, mass), *rest)
        return best

    return list(best_from(0, tuple(pool.values()))[1])


ASSIGNMENTS = {"exact-first": exact_first_pairs, "sequential": sequential_pairs, "optimal": optimal_pairs}


def total(
    candidate: list[str], references: list[list[str]], j: int, order: int, matcher: str, denominator: str
) -> int:
    """What the mass of order ``j`` is divided by."""
    across_orders = matcher == "xleu" and denominator != "order"
    counted = closest_reference(candidate, references) if denominator == "reference" else candidate
    if not across_orders:
        return len(ngrams(counted, j))
    if len(counted) < j:
        return 0
    highest = {"all": order, "reference": max(order - 1, 1)}[denominator]
    return sum(len(ngrams(counted, k)) for k in range(1, highest + 1))


def bleu_statistics(
    candidate: list[str],
    references: list[list[str]],
    *,
    matcher: str = "exact",
    order: int = 4,
    threshold: float = 0.0,
    assignment: str = "exact-first",
    consumption: str = "unit",
    composition: str = "mean",
    denominator: str = "order",
    vectors: dict[str, list[float]] | None = None,
    token_product: TokenProduct | None = None,
) -> Statistics:
    """Return the statistics of one segment; ``token_product`` replaces ``vectors`` where speed matters."""
    product = token_product or token_product_from(vectors or {})
    compose = COMPOSITIONS[composition]

    @cache
    def similar(x: NGram, y: NGram) -> float:
        return compose(x, y, product)

    statistics = Statistics(len(candidate), len(closest_reference(candidate, references)))
    orders = range(1, order + 1)
    for j in orders:
        pool: Pool = dict(reference_pool(references, orders if matcher == "xleu" else [j]))
        approximately = {"exact": False, "sleu": j == 1, "vleu": True, "xleu": True}[matcher]
        alike = similar if approximately else None
        pairs = ASSIGNMENTS[assignment](ngrams(candidate, j), pool, alike, threshold, consumption)
        statistics.pairs.append(pairs)
        statistics.matches.append(math.fsum(mass for _, _, mass in pairs))
        statistics.totals.append(total(candidate, references, j, order, matcher, denominator))
    return statistics


def brevity_penalty(candidate_length: float, reference_length: float) -> float:
    if candidate_length >= reference_length:
        return 1.0
    return math.exp(1 - reference_length / candidate_length) if candidate_length else 0.0
