"""How much annotators agree with one another, and with themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError

if TYPE_CHECKING:
    from softbleu.corpora.judgements import Comparisons

FEWEST_COMMON = 50  # Comparisons in common that two annotators need to count for the mean (Grundkiewicz et al. 2015).
Outcomes = Counter[int]


@dataclass(frozen=True)
class AnnotatorAgreement:
    """Agreement of two annotators, or of one with itself where both are the same."""

    one: str
    other: str  # Names; both empty for the weighted mean over all pairs
    kappa: float | None
    """(observed - expected) / (1 - expected); None where everything that both said was the same outcome."""
    observed: float
    expected: float  # Share of equal outcomes, and that of chance
    comparisons: int  # Pairs of judgements of the same two outputs


def annotator_agreement(comparisons: Comparisons) -> list[AnnotatorAgreement]:
    """Cohen's kappa of every pair of annotators who judged the same two outputs, and of each with itself.

    Chance is that of WMT (Bojar et al. 2014, section 3.2): the squared shares of the three outcomes in all that both
    said, of the pairs in common; `a` better and `b` better are told apart by the order of the systems' names.

    >>> from softbleu.corpora.judgements import Comparisons
    >>> rows = [(0, "A", "B", 1, "x"), (0, "A", "B", 1, "y"), (1, "A", "B", -1, "x"), (1, "A", "B", 0, "y")]
    >>> [(each.one, each.other, each.observed, each.expected) for each in annotator_agreement(Comparisons.of(rows))]
    [('x', 'y', 0.5, 0.375)]
    """
    same: Counter[tuple[int, int]] = Counter()
    total: Counter[tuple[int, int]] = Counter()
    said: defaultdict[tuple[int, int], Outcomes] = defaultdict(Counter)
    for by_annotator in _groups(comparisons):
        annotators = sorted(by_annotator)
        for place, one in enumerate(annotators):
            mine = by_annotator[one]
            if mine.total() > 1:
                same[one, one] += sum(count * (count - 1) // 2 for count in mine.values())
                total[one, one] += mine.total() * (mine.total() - 1) // 2
                said[one, one] += mine
            for other in annotators[place + 1 :]:
                theirs = by_annotator[other]
                same[one, other] += sum(count * theirs[outcome] for outcome, count in mine.items())
                total[one, other] += mine.total() * theirs.total()
                said[one, other] += mine + theirs
    names = comparisons.annotators
    return [
        _agreement((names[one], names[other]), same[one, other], total[one, other], said[one, other])
        for one, other in sorted(total)
    ]


def mean_agreement(
    agreements: list[AnnotatorAgreement], *, within: bool, fewest: int = FEWEST_COMMON
) -> AnnotatorAgreement:
    """Mean kappa over pairs of annotators, or `within` each, weighted by comparisons. InputError: none is left."""
    kept = [
        each
        for each in agreements
        if (each.one == each.other) == within and each.comparisons >= fewest and each.kappa is not None
    ]
    if not kept:
        who = "annotator judged the same outputs twice" if within else "two annotators judged the same outputs"
        raise InputError(f"no {who} at least {fewest} times: there is no agreement to measure")
    weights = [each.comparisons for each in kept]
    kappa, observed, expected = (
        float(np.average([getattr(each, name) for each in kept], weights=weights))
        for name in ("kappa", "observed", "expected")
    )
    return AnnotatorAgreement("", "", kappa, observed, expected, sum(weights))


def _groups(comparisons: Comparisons) -> Iterator[dict[int, Outcomes]]:
    """Outcomes by annotator, of each two outputs that were judged more than once."""
    order = np.lexsort((comparisons.second, comparisons.first, comparisons.segment))
    keys = np.stack([comparisons.segment, comparisons.first, comparisons.second])[:, order]
    starts = np.flatnonzero(np.r_[True, (np.diff(keys) != 0).any(axis=0)])
    ends = np.r_[starts[1:], len(order)]
    for start, end in zip(starts, ends, strict=True):
        if end - start < 2:
            continue
        group: defaultdict[int, Outcomes] = defaultdict(Counter)
        for place in order[start:end]:
            group[int(comparisons.annotator[place])][int(comparisons.outcome[place])] += 1
        yield dict(group)


def _agreement(names: tuple[str, str], same: int, total: int, said: Outcomes) -> AnnotatorAgreement:
    observed = same / total
    expected = sum((count / said.total()) ** 2 for count in said.values())
    kappa = None if expected == 1 else (observed - expected) / (1 - expected)
    return AnnotatorAgreement(*names, kappa, observed, expected, total)
