"""The metric softbleu for one segment with one reference, as its description reads: loops over words and n-grams.

Imports nothing from softbleu. Where several one-to-one pairings have the greatest total, all of them count.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations, product
from operator import mul

from .soft import TokenProduct, ngrams

Weight = Callable[[str], float]
Table = list[list[float]]
NEAR = 1e-5  # Totals that differ by less may be the greatest, similarities being rounded to 6 decimals elsewhere


@dataclass(frozen=True)
class Options:
    order: int = 2
    beta: float = 1.0
    power: float = 0.7
    rarity: float = 1.5
    position: float = 0.2
    characters: float = 0.8
    credit: str = "both"


@dataclass(frozen=True)
class Matched:
    """Weights of the n-grams of one order: matched and all of the candidate, matched and all of the reference."""

    candidate: float
    candidate_all: float
    reference: float
    reference_all: float

    @property
    def precision(self) -> float:
        return self.candidate / self.candidate_all if self.candidate_all else 0.0

    @property
    def recall(self) -> float:
        return self.reference / self.reference_all if self.reference_all else 0.0

    @property
    def counts(self) -> bool:
        return self.candidate_all > 0 and self.reference_all > 0

    def score(self, beta: float) -> float:
        below = beta**2 * self.precision + self.recall
        return 100 * (1 + beta**2) * self.precision * self.recall / below if below else 0.0


def dice(word: str, other: str) -> float:
    """How many character 2- to 4-grams, marks of ends among the characters, two words share."""
    marked = (["<start>", *each, "<end>"] for each in (word, other))
    one, two = ({ngram for n in (2, 3, 4) for ngram in ngrams(each, n)} for each in marked)
    return 2 * len(one & two) / (len(one) + len(two))


def weights_from(lines: list[list[str]], options: Options) -> Weight:
    """Rarity of each word among lines of words, to the power; what no line has is the rarest."""

    def weight(word: str) -> float:
        documents = sum(1 for line in lines if word in line)
        return math.log((len(lines) + 2) / (documents + 1)) ** options.rarity if options.rarity else 1.0

    return weight


def word_similarity(word: str, other: str, alike: TokenProduct, options: Options) -> float:
    if word == other:
        return 1.0
    return float(max(alike(word, other), options.characters * dice(word, other)) ** options.power)


def similarities(candidate: list[str], reference: list[str], n: int, alike: TokenProduct, options: Options) -> Table:
    """Similarity of every candidate n-gram and every reference n-gram."""

    def words(i: int, j: int) -> float:
        distance = abs((i + 0.5) / len(candidate) - (j + 0.5) / len(reference))
        return word_similarity(candidate[i], reference[j], alike, options) * math.exp(-options.position * distance)

    return [
        [sum(words(i + k, j + k) for k in range(n)) / n for j in range(len(reference) - n + 1)]
        for i in range(len(candidate) - n + 1)
    ]


def pairings(table: Table) -> list[list[tuple[int, int]]]:
    """All ways of pairing off rows and columns, as many as there can be, with the greatest total."""
    height, width = len(table), len(table[0])
    if height <= width:
        every = [list(zip(range(height), chosen, strict=True)) for chosen in permutations(range(width), height)]
    else:
        every = [list(zip(chosen, range(width), strict=True)) for chosen in permutations(range(height), width)]
    totals = [sum(table[i][j] for i, j in pairs) for pairs in every]
    return [pairs for pairs, total in zip(every, totals, strict=True) if total > max(totals) - NEAR]


def greedy_credit(table: Table) -> tuple[list[float], list[float]]:
    return [max(row) for row in table], [max(column) for column in zip(*table, strict=True)]


def clipped_credits(table: Table) -> list[tuple[list[float], list[float]]]:
    found = []
    for pairs in pairings(table):
        rows, columns = [0.0] * len(table), [0.0] * len(table[0])
        for i, j in pairs:
            rows[i] = columns[j] = table[i][j]
        found.append((rows, columns))
    return found


def credits_of(table: Table, credit: str) -> list[tuple[list[float], list[float]]]:
    """How much of each n-gram of either side is matched, in every way that the description allows."""
    greedy = greedy_credit(table)
    if credit == "greedy":
        return [greedy]
    if credit == "clipped":
        return clipped_credits(table)

    def mean(side: list[float], best: list[float]) -> list[float]:
        return [(one + other) / 2 for one, other in zip(side, best, strict=True)]

    return [(mean(rows, greedy[0]), mean(columns, greedy[1])) for rows, columns in clipped_credits(table)]


def matched(
    candidate: list[str], reference: list[str], n: int, alike: TokenProduct, weight: Weight, options: Options
) -> list[Matched]:
    """Weights of one order, one for each way of pairing off; nothing is matched where a side is too short."""
    own = [sum(map(weight, ngram)) for ngram in ngrams(candidate, n)]
    others = [sum(map(weight, ngram)) for ngram in ngrams(reference, n)]
    if not own or not others:
        return [Matched(0, sum(own), 0, sum(others))]
    table = similarities(candidate, reference, n, alike, options)
    return [
        Matched(sum(map(mul, rows, own)), sum(own), sum(map(mul, columns, others)), sum(others))
        for rows, columns in credits_of(table, options.credit)
    ]


def score(orders: list[Matched], options: Options) -> float:
    """Mean over the orders that count."""
    counted = [order.score(options.beta) for order in orders if order.counts]
    return sum(counted) / len(counted) if counted else 0.0


def scores(
    candidate: list[str], reference: list[str], alike: TokenProduct, weight: Weight, options: Options
) -> list[float]:
    """Score a segment, one score for each way of pairing off."""
    orders = [matched(candidate, reference, n, alike, weight, options) for n in range(1, options.order + 1)]
    return [score(list(chosen), options) for chosen in product(*orders)]
