"""GREEN of one corpus, as its paper defines the classes: every occurrence of an n-gram is put into one of them.

Imports nothing from softbleu. Scores are 0 to 100.
"""

from math import prod

from .soft import ngrams


def occurrences(words: list[str], n: int) -> set[tuple[tuple[str, ...], int]]:
    """The n-grams of a text, each with its number among equal ones."""
    found = ngrams(words, n)
    return {(ngram, found[:place].count(ngram)) for place, ngram in enumerate(found)}


def classes(source: list[str], candidate: list[str], reference: list[str], n: int) -> tuple[int, int, int]:
    """How many n-grams are right, too much, and missing."""
    s, c, r = (occurrences(words, n) for words in (source, candidate, reference))
    kept, inserted, deleted = s & c & r, (c & r) - s, s - c - r
    over = (c - s - r) | ((s & r) - c)
    under = (r - s - c) | ((s & c) - r)
    return len(kept | inserted | deleted), len(over), len(under)


def f_score(counts: list[tuple[int, int, int]], beta: float) -> float:
    """F of the geometric means over orders."""
    precision = prod(right / (right + over) if over else 1.0 for right, over, _ in counts) ** (1 / len(counts))
    recall = prod(right / (right + under) if under else 1.0 for right, _, under in counts) ** (1 / len(counts))
    below = beta**2 * precision + recall
    return 100 * (1 + beta**2) * precision * recall / below if below else 0.0


def green(
    segments: list[tuple[list[str], list[str], list[list[str]]]], order: int, beta: float
) -> tuple[float, list[float]]:
    """Scores of a corpus and of its segments, each a source, a candidate and references."""
    chosen = []
    for source, candidate, references in segments:
        found = [[classes(source, candidate, each, n) for n in range(1, order + 1)] for each in references]
        # The first of those that are as good, but for the last digits.
        best = max(f_score(counts, beta) for counts in found)
        chosen.append(next(counts for counts in found if f_score(counts, beta) > best - 1e-9))
    whole = [tuple(map(sum, zip(*counts, strict=True))) for counts in zip(*chosen, strict=True)]
    return f_score(whole, beta), [f_score(counts, beta) for counts in chosen]  # type: ignore[arg-type]
