"""How often a metric prefers the output that people prefer: Kendall's tau as WMT has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from softbleu.errors import InputError, known_name
from softbleu.meta.resampling import interval_of, redraw

if TYPE_CHECKING:
    from softbleu.corpora.judgements import Comparisons, ScoreTable
    from softbleu.types import Floats, Integers


_ALIKE = np.array([[1, 0, -1], [0, 0, 0], [-1, 0, 1]])
# What each pair of outcomes (people, metric: worse, tied, better) adds to the numerator and the denominator
_COUNTED: dict[str, tuple[Integers, Integers]] = {
    "hties": (_ALIKE + np.diag([0, 1, 0]), np.ones((3, 3), np.int64)),
    "noties": (_ALIKE, np.array([[1, 1, 1], [0, 0, 0], [1, 1, 1]])),
}


@dataclass(frozen=True)
class Tau:
    """(Concordant - discordant) / pairs."""

    metric: str
    variant: str
    value: float | None  # -1 to 1; None where no pair counts
    interval: tuple[float, float] | None  # Between the percentiles 2.5 and 97.5 of the bootstrap samples
    pairs: int  # In the denominator
    untied: int  # Those of them that neither people nor the metric tie
    concordant: int
    discordant: int  # Pairs; with `hties`, ties on both sides are concordant
    skipped: int  # Comparisons of systems that the metric did not score


VARIANTS = tuple(_COUNTED)


def judged_scores(
    comparisons: Comparisons, segments: Mapping[str, Floats], metric: str
) -> tuple[Comparisons, Floats]:
    """Take the comparisons of systems that a metric scored, one at least, and its scores: (systems, segments)."""
    known = set(segments) & set(comparisons.systems)
    if len(known) < 2:
        lacking = ", ".join(sorted(set(comparisons.systems) - known))
        raise InputError(f"{metric} scored fewer than two of the ranked systems: it lacks {lacking}")
    taken = comparisons.only(known)
    lengths = {len(segments[name]) for name in taken.systems}
    last = int(taken.segment.max())
    if last >= min(lengths):
        raise InputError(
            f"the rankings name segment {last + 1} of {min(lengths)} that {metric} scored: "
            "is the corpus another one, or are segments counted from another start?"
        )
    return taken, np.stack([segments[name][: min(lengths)] for name in taken.systems])


def count_outcomes(comparisons: Comparisons, segments: Mapping[str, Floats], metric: str) -> Integers:
    """Count what people and a metric say of the same pairs of outputs; the greater score is the better one.

    Of shape (3, 3): people's outcome and the metric's, each worse, tied, better. Comparisons of which the metric did
    not score both systems are not counted. `segments` has the metric's scores of each system.
    """
    taken, scores = judged_scores(comparisons, segments, metric)
    outcome = np.sign(scores[taken.first, taken.segment] - scores[taken.second, taken.segment]).astype(np.int64)
    counts = np.zeros((3, 3), np.int64)
    np.add.at(counts, (taken.outcome + 1, outcome + 1), 1)
    return counts


def tau_of(counts: Integers, variant: str) -> float | None:
    """Kendall's tau of counted outcomes.

    `noties` leaves people's ties out, and a tie of the metric only adds to the denominator; `hties` takes a tie on
    both sides as concordant, and one on either side only adds to the denominator (Machacek and Bojar 2013;
    Chollampatt and Ng 2018, section 4.2).

    >>> counts = np.array([[2, 1, 1], [0, 3, 1], [0, 1, 4]])
    >>> tau_of(counts, "noties"), round(tau_of(counts, "hties"), 4)
    (0.5555555555555556, 0.6154)
    """
    above, below = _COUNTED[known_name("variant", variant, VARIANTS)]
    pairs = int((counts * below).sum())
    return int((counts * above).sum()) / pairs if pairs else None


def preference_taus(comparisons: Comparisons, table: ScoreTable, samples: int = 1000, seed: int = 12345) -> list[Tau]:
    """Compute both variants of tau of a metric, with intervals from samples of the comparisons."""
    if not table.segments:
        raise InputError(f"{table.name} has scores of systems only: give those of segments, too")
    counts = count_outcomes(comparisons, table.segments, table.name)
    total, drawn = int(counts.sum()), redraw(counts, samples, seed)
    found = []
    for variant, (above, below) in _COUNTED.items():
        values = [value for each in drawn if (value := tau_of(each, variant)) is not None]
        sums = (int((counts * part).sum()) for part in (below, np.abs(_ALIKE), above > 0, above < 0))
        pairs, untied, concordant, discordant = sums
        tau, interval, skipped = tau_of(counts, variant), interval_of(values, samples), len(comparisons) - total
        found.append(Tau(table.name, variant, tau, interval, pairs, untied, concordant, discordant, skipped))
    return found
