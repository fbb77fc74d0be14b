"""Deserved and spurious credit of aligned pairs, as the definitions read: loops, no arrays.

Imports nothing from softbleu, so that agreement between the two means something.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from oracles import soft

Alignment = tuple[tuple[int, int], ...]
KINDEST_FIRST = ("deserved", "order", "spurious")


@dataclass
class Found:
    """What one threshold and order add up to."""

    counts: Counter[str] = field(default_factory=Counter)
    masses: Counter[str] = field(default_factory=Counter)
    rewarded: int = 0
    deserving: int = 0


def class_at(alignment: Alignment, x_start: int, n: int, y_start: int, m: int) -> str:
    """Class of a match of two n-grams at these places."""
    x, y = range(x_start, x_start + n), range(y_start, y_start + m)
    if n <= m:
        shorter, longer, to = x, y, dict(alignment)
    else:
        shorter, longer, to = y, x, {right: left for left, right in alignment}
    met = [to.get(place) for place in shorter]
    if any(place not in longer for place in met):
        return "spurious"
    return "deserved" if met == sorted(met, key=lambda place: place or 0) else "order"


def kindest_class(alignment: Alignment, x_start: int, n: int, partner: tuple[str, ...], reference: list[str]) -> str:
    m = len(partner)
    places = [start for start in range(len(reference) - m + 1) if tuple(reference[start : start + m]) == partner]
    return min((class_at(alignment, x_start, n, start, m) for start in places), key=KINDEST_FIRST.index)


def deserving_starts(candidate: list[str], reference: list[str], alignment: Alignment, order: int) -> set[int]:
    """Where the n-grams stand that BLEU does not count and whose tokens mean adjacent ones, in order."""
    to = dict(alignment)
    left = Counter(soft.ngrams(reference, order))
    found = set()
    for start, ngram in enumerate(soft.ngrams(candidate, order)):
        if left[ngram] > 0:
            left[ngram] -= 1
            continue
        met = [to.get(start + place) for place in range(order)]
        if met[0] is not None and met == list(range(met[0], met[0] + order)):
            found.add(start)
    return found


def judge(
    pairs: list[tuple[list[str], list[str], Alignment]],
    *,
    threshold: float,
    order: int,
    matcher: str,
    product: soft.TokenProduct,
    **options: Any,
) -> list[Found]:
    """Credit at one threshold, for each order."""
    found = [Found() for _ in range(order)]
    for candidate, reference, alignment in pairs:
        given = {"matcher": matcher, "order": order, "threshold": threshold, "token_product": product, **options}
        statistics = soft.bleu_statistics(candidate, [reference], **given)
        for n, (matches, entry) in enumerate(zip(statistics.pairs, found, strict=True), start=1):
            deserving = deserving_starts(candidate, reference, alignment, n)
            entry.deserving += len(deserving)
            for start, partner, mass in matches:
                if partner is None or partner == tuple(candidate[start : start + n]) or mass <= 0:
                    continue
                kind = kindest_class(alignment, start, n, partner, reference)
                entry.counts[kind] += 1
                entry.masses[kind] += mass
                entry.rewarded += kind == "deserved" and start in deserving
    return found
