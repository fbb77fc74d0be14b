"""GLEU for one corpus, as the specification reads: dictionaries of counts, Python's own generator.

Imports nothing from softbleu. A corpus is a list of ``Segment``; every score is 0 to 100.
"""

import math
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from . import soft
from .soft import NGram


@dataclass
class Segment:
    source: list[str]
    candidate: list[str]
    references: list[list[str]]


@dataclass
class Options:
    """The options of the metric; ``matching`` goes to the oracle of the matchers as it is."""

    variant: str = "gleu+"
    order: int = 4
    weight: float = 1.0
    swapped_bp: bool = False
    penalty: str = "exact"
    smooth: bool = False
    matching: dict[str, Any] = field(default_factory=dict)


@dataclass
class Row:
    candidate_length: float
    reference_length: float
    numerators: list[float]
    denominators: list[float]


def masses(candidate: list[str], references: list[list[str]], options: Options) -> list[dict[NGram, float]]:
    """For every order, the mass that each candidate n-gram received, over all its occurrences."""
    statistics = soft.bleu_statistics(candidate, references, order=options.order, **options.matching)
    received: list[dict[NGram, float]] = []
    for j, pairs in enumerate(statistics.pairs, start=1):
        occurrences = soft.ngrams(candidate, j)
        mass = dict.fromkeys(occurrences, 0.0)
        for position, _, amount in pairs:
            mass[occurrences[position]] += amount
        received.append({ngram: round(amount, 6) for ngram, amount in mass.items()})
    return received


def uncorrected(
    candidate: dict[NGram, int],
    reference: dict[NGram, int],
    source: dict[NGram, int],
    mass: dict[NGram, float],
    options: Options,
) -> float:
    """What the candidate kept of the source that the reference does not have."""
    total = 0.0
    for ngram, count in candidate.items():
        in_source = min(source.get(ngram, 0), count)
        hard = min(reference.get(ngram, 0), count)
        if options.variant == "gleu+paper":
            total += max(0.0, in_source - (hard if options.penalty != "soft" else mass[ngram]))
        elif options.penalty == "soft":
            total += in_source if mass[ngram] == 0 else 0
        else:
            total += in_source if reference.get(ngram, 0) == 0 else 0
    return total


def compared(options: Options) -> list[int]:
    """Orders that are compared by similarity."""
    soft = options.matching.get("threshold", 0.0) != 1 and options.matching.get("matcher", "exact") != "exact"
    return list(range(1, (1 if options.matching.get("matcher") == "sleu" else options.order) + 1)) if soft else []


def lack(text: list[str], references: list[list[str]], options: Options) -> float:
    """How much the soft precisions of the orders that are compared are below 1, together."""
    mass = masses(text, references, options)
    counts = {j: len(soft.ngrams(text, j)) for j in compared(options)}
    return math.fsum(1 - math.fsum(mass[j - 1].values()) / count for j, count in counts.items() if count)


def left_of_penalty(source: list[str], candidate: list[str], references: list[list[str]], options: Options) -> float:
    """Share of the source's penalty that a candidate has."""
    before, after = (lack(text, references, options) for text in (source, candidate))
    return min(after / before, 1) if before > 1e-9 else float(after > 1e-9)


def statistics(source: list[str], candidate: list[str], references: list[list[str]], options: Options) -> Row:
    """Return one row; several references are one union of counts, as only ``gleu0`` has them.

    ``gleu0`` counts the mass of n-grams that are new, not in the source, twice: above and, rounded up for each
    n-gram, below the line.
    """
    length = len(soft.closest_reference(candidate, references))
    row = Row(len(candidate), length, [], [])
    for j, mass in enumerate(masses(candidate, references, options), start=1):
        in_candidate = Counter(soft.ngrams(candidate, j))
        in_source = Counter(soft.ngrams(source, j))
        in_reference = soft.reference_pool(references, [j])
        matched = math.fsum(mass.values())
        left = uncorrected(in_candidate, in_reference, in_source, mass, options)
        if options.penalty == "progress" and j in compared(options):
            left = uncorrected(in_source, in_reference, in_source, dict.fromkeys(in_source, 0.0), options)
            left *= sum(in_candidate.values()) / max(sum(in_source.values()), 1)
            left = round(left * left_of_penalty(source, candidate, references, options), 6)
        bonus = counted = 0.0
        if options.variant == "gleu+":
            numerator = max(0.0, matched - left)
        elif options.variant == "gleu+paper":
            numerator = matched - left
        else:
            gained = [amount for ngram, amount in mass.items() if ngram not in in_source]
            bonus, counted = math.fsum(gained), sum(map(math.ceil, gained))
            numerator = max(0.0, matched - options.weight * left) + bonus
        row.numerators.append(numerator)
        row.denominators.append(sum(in_candidate.values()) + counted)
    return row


def rows_of(segment: Segment, options: Options) -> list[Row]:
    """One row per reference; ``gleu0`` has one row over all references."""
    if options.variant == "gleu0":
        return [statistics(segment.source, segment.candidate, segment.references, options)]
    return [statistics(segment.source, segment.candidate, [one], options) for one in segment.references]


def score(row: Row, options: Options, *, smooth: bool = False) -> float:
    """Return the score of a row, with ``smooth`` as the official script's ``-d``: zero counts become 1."""
    lengths = [row.candidate_length, row.reference_length]
    numerators, denominators = row.numerators, row.denominators
    if smooth:
        lengths, numerators, denominators = (
            [value if value != 0 else 1 for value in values] for values in (lengths, numerators, denominators)
        )
    if options.swapped_bp:
        lengths.reverse()
    logs = []
    for numerator, denominator in zip(numerators, denominators, strict=True):
        if denominator == 0:
            logs.append(0.0)
        elif numerator <= 0:
            return 0.0
        else:
            logs.append(math.log(numerator / denominator))
    return 100 * soft.brevity_penalty(*lengths) * math.exp(math.fsum(logs) / len(logs))


def total(rows: list[Row], order: int) -> Row:
    """Sum rows."""
    lengths = (math.fsum(getattr(row, side) for row in rows) for side in ("candidate_length", "reference_length"))
    numerators = [math.fsum(row.numerators[j] for row in rows) for j in range(order)]
    return Row(*lengths, numerators, [math.fsum(row.denominators[j] for row in rows) for j in range(order)])


def best(rows: list[Row], options: Options) -> int:
    """Return the best reference of a segment; ties: higher score at the highest order first, then the first."""

    def key(row: Row) -> list[float]:
        """The whole, then each order by itself: its precision times the brevity penalty."""
        one = [
            replace(row, numerators=[a], denominators=[b])
            for a, b in zip(row.numerators, row.denominators, strict=True)
        ]
        # Rounded: scores are equal whatever order their factors came in.
        return [round(score(each, options, smooth=options.smooth), 9) for each in (row, *reversed(one))]

    return max(range(len(rows)), key=lambda index: key(rows[index]))


def drawn(reference_counts: list[int], iteration: int, sampling: str = "python2") -> list[int]:
    """Return the reference of every segment in one iteration, as the official program draws them."""
    random.seed(101 * iteration)
    if sampling == "python3":
        return [random.randint(0, count - 1) for count in reference_counts]
    return [int(random.random() * count) for count in reference_counts]


def sampled(table: list[list[Row]], options: Options, iterations: int, sampling: str = "python2") -> list[float]:
    scores = []
    for iteration in range(iterations):
        indices = drawn([len(rows) for rows in table], iteration, sampling)
        picked = [rows[index] for rows, index in zip(table, indices, strict=True)]
        scores.append(score(total(picked, options.order), options))
    return scores


def segment_scores(segments: list[Segment], options: Options, multi: str) -> list[float]:
    values = []
    for segment in segments:
        rows = rows_of(segment, options)
        each = [score(row, options, smooth=options.smooth) for row in rows]
        values.append(each[best(rows, options)] if multi == "max" else math.fsum(each) / len(each))
    return values


def best_score(segments: list[Segment], options: Options) -> float:
    """Score of a corpus by the best reference of each segment."""
    table = [rows_of(segment, options) for segment in segments]
    return score(total([rows[best(rows, options)] for rows in table], options.order), options)
