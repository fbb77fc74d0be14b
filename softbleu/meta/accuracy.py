"""Accuracies (shares of pairs of systems or outputs that a metric orders as judges do), and WMT's Kendall's tau."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain
from math import comb
from typing import TYPE_CHECKING, Self

import numpy as np

from softbleu.corpora.judgements import Assessments, Comparisons, ScoreTable, drawn_with
from softbleu.errors import InputError, known_name
from softbleu.io.arguments import Limit
from softbleu.io.platform import cached_property
from softbleu.meta.agreement import Columns, Estimate, divide, redraw
from softbleu.resample import bootstrap, flip_p_values

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

_AGREED = np.array([[1, 0, -1], [0, 0, 0], [-1, 0, 1]])
# Contribution of each pair of outcomes (judges, metric: worse, tied, better) to the numerator and the denominator
_COUNTED: dict[str, tuple[Integers, Integers]] = {
    "hties": (_AGREED + np.diag([0, 1, 0]), np.ones((3, 3), np.int64)),
    "noties": (_AGREED, np.array([[1, 1, 1], [0, 0, 0], [1, 1, 1]])),
}


@dataclass(frozen=True, eq=False)
class Tau(Estimate):
    """(Concordant - discordant) / pairs: -1 to 1; None without pairs."""

    metric: str
    variant: str
    pairs: int  # In the denominator
    untied: int  # Pairs that neither judges nor the metric tie
    concordant: int
    discordant: int  # Pairs; with `hties`, ties on both sides are concordant
    skipped: int  # Comparisons of systems that the metric did not score


TAUS = tuple(_COUNTED)


def judged_scores(
    comparisons: Comparisons, segments: Mapping[str, Floats], metric: str
) -> tuple[Comparisons, Floats]:
    """Select the comparisons of systems that a metric scored, and stack its scores: (systems, segments)."""
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
    scores = np.stack([segments[name][: min(lengths)] for name in taken.systems])
    whole = ~np.isnan(scores[taken.first, taken.segment] - scores[taken.second, taken.segment])
    if not whole.any():
        raise InputError(f"{metric} scored both outputs of none of the comparisons")
    return taken if whole.all() else taken.at(whole), scores


def tau_of(counts: Integers | Floats, variant: str) -> Floats:
    """Kendall's tau of counted outcomes, (…, 3, 3): judges' and the metric's, each worse, tied, better.

    `noties` leaves judges' ties out, and a tie of the metric only adds to the denominator; `hties` takes a tie on
    both sides as concordant, and one on either side only adds to the denominator (Machacek and Bojar 2013;
    Chollampatt and Ng 2018, section 4.2). NaN where no pair counts.

    Parameters
    ----------
    counts
        Number of pairs, (…, 3, 3).
    variant
        One of `TAUS`.

    Examples
    --------
    >>> counts = np.array([[2, 1, 1], [0, 3, 1], [0, 1, 4]])
    >>> float(tau_of(counts, "noties")), float(tau_of(counts, "hties").round(4))
    (0.5555555555555556, 0.6154)
    """
    return divide(*((counts * part).sum(axis=(-2, -1)) for part in _COUNTED[known_name("variant", variant, TAUS)]))


def preference_taus(
    judged: Comparisons | Assessments, table: ScoreTable, samples: int = 1000, seed: int = 12345
) -> list[Tau]:
    """Compute both variants of tau of a metric, with bootstrap samples of the segments.

    Greater scores are better, also for two assessed outputs of a segment. Comparisons with a system that the metric
    did not score are skipped.

    Parameters
    ----------
    judged
        Comparisons of outputs, or scores of single outputs, by judges.
    table
        Scores of a metric, greater for better.
    samples
        Bootstrap samples; 0 gives no interval.
    seed
        Seed of the samples.
    """
    table.need_segments()
    pairs = JudgedPairs.of(judged, table)
    if pairs is None:
        raise InputError("preferences need two assessed outputs of a segment: here is one of each")
    skipped = len(judged) - len(pairs.judges) if isinstance(judged, Comparisons) else 0
    cells = 3 * (pairs.judges + 1) + np.sign(pairs.differences).astype(np.int64) + 1
    counts = np.bincount(cells, minlength=9).reshape(3, 3)
    drawn = redraw(cells, 9, pairs.one, samples, seed).reshape(-1, 3, 3)
    taus = []
    for variant, (above, below) in _COUNTED.items():
        parts = (below, np.abs(_AGREED), above > 0, above < 0)
        counted, untied, good, bad = (int((counts * part).sum()) for part in parts)
        sampled = float(tau_of(counts, variant)) if counted else None, tau_of(drawn, variant)
        taus.append(Tau(*sampled, table.name, variant, counted, untied, good, bad, skipped))
    return taus


_LIMIT = Limit("accuracies", "pairs of rows", 50_000_000, "3,000 segments: 4,498,500", "take fewer")
"""Each pair takes 24 bytes, and for a while 8 more."""
_MOST_TOGETHER = 2_000_000  # Pairs of all outputs for which each sample seeks its own tie threshold: 2,000 outputs
_MOST_SEGMENTS = 1500  # Segments of which all pairs are compared
_NOTHING = 1e-12
"""Accuracies that differ by no more are the same: the last bits do not decide which tie threshold is best."""

LITTLE = 0.001  # Of accuracy, as much as tables of three digits show


@dataclass(frozen=True, eq=False)
class Accuracy(Estimate):
    """Share of pairs that a metric orders as judges do, 0 to 1, and its value by chance."""

    metric: str
    human: str
    of: str  # `systems`, `systems softly`, `outputs`, `outputs by segment`, `segments` or `segments softly`
    chance: float  # Accuracy without looking at the texts
    epsilon: float | None  # Greatest difference that counts as a tie of the metric; None: not calibrated
    pairs: int
    ties: int | None  # Ties of judges among the pairs; None if judges do not state preferences

    @property
    def doubt(self) -> str:
        """Explain why the accuracy may be chance; empty if it is above chance."""
        if self.value is None or self.value < self.chance + LITTLE:
            return "not above chance"
        return "above chance, but its interval is not" if (self.interval or (1.0,))[0] <= self.chance else ""


@dataclass(frozen=True, eq=False)
class JudgedPairs:
    """Pairs with the judges' preference and the metric's difference."""

    judges: Integers  # 1 where the first is better, -1 where the second is, 0 for a tie
    differences: Floats  # Of the metric
    one: Integers
    other: Integers
    """Numbers of the two things that the bootstrap draws, from 0; the same array twice if pairs belong to one thing,
    such as a segment, and are drawn with it."""
    base: Floats  # Weight of each pair

    @classmethod
    def among(cls, judges: Floats, scores: Floats, clusters: Integers | None = None) -> Self:
        """Pair all points; points with the same number in `clusters` are drawn together, None: each is drawn alone.

        Parameters
        ----------
        judges, scores
            Scores of the points by judges and by the metric, (points,).
        clusters
            Cluster with which each point is drawn, from 0, (points,); None: each is drawn alone.

        Examples
        --------
        >>> JudgedPairs.among(np.array([1.0, 0.0, 0.0]), np.array([5.0, 2.0, 1.0])).accuracy(calibrated=True)
        (1.0, 1.0)
        """
        _LIMIT.check(comb(len(judges), 2), f"a table of {len(judges):,} rows")
        one, other = np.triu_indices(len(judges), 1)
        drawn = (one, other) if clusters is None else (clusters[one], clusters[other])
        said = np.sign(judges[one] - judges[other]).astype(np.int64)
        return cls(said, scores[one] - scores[other], *drawn, np.ones(len(one)))

    @classmethod
    def of(cls, judged: Comparisons | Assessments, table: ScoreTable) -> Self | None:
        """Pair the outputs of each segment that judges compared or scored; None if no segment has two."""
        if isinstance(judged, Comparisons):
            return cls.compared(judged, table)
        judges, scores, segments = judged.pick(table.segments, table.name)
        return cls.within(judges, scores, segments, judged.drawn_with(segments))

    @classmethod
    def compared(cls, comparisons: Comparisons, table: ScoreTable) -> Self:
        """Pair the outputs in `comparisons` that the metric scored; each segment weighs 1."""
        taken, scores = judged_scores(comparisons, table.segments, table.name)
        differences = scores[taken.first, taken.segment] - scores[taken.second, taken.segment]
        _, numbers, sizes = np.unique(taken.segment, return_inverse=True, return_counts=True)
        clusters = np.unique(taken.cluster, return_inverse=True)[1]
        return cls(taken.outcome, differences, clusters, clusters, 1 / sizes[numbers])

    @classmethod
    def within(
        cls, judges: Floats, scores: Floats, segments: Integers, drawn_with: Integers | None = None
    ) -> Self | None:
        """Pair the points of each segment, which weighs 1; None if no segment has two.

        Parameters
        ----------
        judges, scores
            Scores of the points by judges and by the metric, (points,).
        segments
            Segment of each point, (points,).
        drawn_with
            Cluster with which each point is drawn; None: its segment.
        """
        order = np.argsort(segments, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(segments[order])) + 1)
        _LIMIT.check(sum(comb(len(group), 2) for group in groups), "a table of segments")
        pairs = [group[np.stack(np.triu_indices(len(group), 1))] for group in groups if len(group) > 1]
        if not pairs:
            return None
        one, other = np.concatenate(pairs, axis=1)
        said = np.sign(judges[one] - judges[other]).astype(np.int64)
        base = np.concatenate([np.full(group.shape[1], 1 / group.shape[1]) for group in pairs])
        drawn = np.unique(segments if drawn_with is None else drawn_with, return_inverse=True)[1][one]
        return cls(said, scores[one] - scores[other], drawn, drawn, base)

    @property
    def tied(self) -> float:
        """Share of pairs that judges tie: the accuracy of a metric that ties all pairs."""
        return float(self.base[self.judges == 0].sum() / self.base.sum())

    @property
    def chance(self) -> float:
        """Accuracy of a metric without information: it ties all pairs, or guesses half of the others right."""
        return max(self.tied, (1 - self.tied) / 2)

    def accuracy(self, counts: Integers | None = None, *, calibrated: bool) -> tuple[float, float] | None:
        """Compute the share of pairs that the metric orders as judges do, and its tie threshold; None without pairs.

        If calibrated, differences up to the threshold with the greatest accuracy (the smallest of several) count as
        ties (Deutsch, Foster and Freitag 2023); otherwise the threshold is 0. `counts` has how often each thing was
        drawn; None: once.
        """
        (one, other), base, right, sizes, places, gain, last = self._kinds
        weights = np.ones(len(one)) if counts is None else counts[one] * (1 if other is one else counts[other])
        total, least = float(weights @ base), float(weights @ right)
        if not total:
            return None
        values = np.cumsum(weights[places] * gain)[last] if calibrated else np.zeros(0)
        best = int((values >= values.max() - _NOTHING * total).argmax()) if len(values) else 0
        if not len(values) or values[best] <= _NOTHING * total:
            return least / total, 0.0
        return (least + float(values[best])) / total, float(sizes[best])

    def samples(self, samples: int, seed: int, *, calibrated: bool) -> Floats:
        """Compute accuracies in samples of the paired things, each with its own threshold; NaN without pairs.

        Parameters
        ----------
        samples, seed
            How many, and the seed of the draws.
        calibrated
            Whether each sample has the tie threshold that is best for it, or 0.
        """
        things = int(max(self.one.max(), self.other.max())) + 1
        batches = chain.from_iterable(bootstrap(things, samples, seed))
        drawn = (self.accuracy(counts, calibrated=calibrated) for counts in batches)
        return np.array([np.nan if accuracy is None else accuracy[0] for accuracy in drawn], np.float64)

    @cached_property
    def _kinds(self) -> tuple[tuple[Integers, Integers], Floats, Floats, Floats, Integers, Floats, Integers]:
        """Group pairs that are drawn together: their things, weight, correct weight, and the gain by ties.

        A tie threshold adds the gains of all differences up to it; `last` is the last gain of each size.
        """
        single, things = self.one is self.other, int(max(self.one.max(), self.other.max())) + 1
        keys, place = np.unique(self.one if single else self.one * things + self.other, return_inverse=True)
        right = self.base * (np.sign(self.differences) == self.judges)
        sizes, rank = np.unique(np.abs(self.differences), return_inverse=True)
        cells, cell = np.unique(rank * len(keys) + place, return_inverse=True)
        gain = np.bincount(cell, self.base * (self.judges == 0) - right).astype(np.float64)
        rank, places = np.divmod(cells[gain != 0], len(keys))
        last = np.flatnonzero(np.diff(rank, append=-1))
        drawn = (keys, keys) if single else np.divmod(keys, things)
        weight, just = (np.bincount(place, column).astype(np.float64) for column in (self.base, right))
        return drawn, weight, just, sizes[rank[last]], places, gain[gain != 0], last


def system_accuracies(columns: Columns, samples: int = 1000, seed: int = 12345) -> list[Accuracy]:
    """Compute the share of pairs of systems that each metric orders as judges do (Kocmi et al. 2021).

    Parameters
    ----------
    columns
        Scores of systems by judges and by metrics.
    samples
        Bootstrap samples; 0 gives no interval.
    seed
        Seed of the samples.
    """
    return [
        _accuracy(name, columns.human, "systems", JudgedPairs.among(columns.judges, scores), samples, seed)
        for name, scores in columns.metrics.items()
    ]


def output_accuracies(
    table: ScoreTable,
    judged: Comparisons | Assessments,
    human: str = "rankings",
    samples: int = 1000,
    seed: int = 12345,
) -> list[Accuracy]:
    """Compute tie-calibrated accuracies over all pairs of judged outputs, and their mean over segments.

    Pairs are the compared outputs, or all assessed outputs; for more than 2,000 of these only the mean over segments
    is computed. Segments are drawn for the intervals. Raises InputError for fewer than 2 outputs.

    Parameters
    ----------
    table
        Scores of a metric, greater for better.
    judged
        Comparisons of outputs, or scores of single outputs, by judges.
    human
        Name of the judgements, for the result.
    samples
        Bootstrap samples; 0 gives no interval.
    seed
        Seed of the samples.
    """
    together = within = JudgedPairs.of(judged, table)
    if isinstance(judged, Comparisons):
        together = within and replace(within, base=np.ones(len(within.base)))
    else:
        judges, scores, segments = judged.pick(table.segments, table.name)
        if len(judges) < 2:
            raise InputError(f"an accuracy needs 2 outputs or more, here are {len(judges)}")
        few = within is None or comb(len(judges), 2) <= _MOST_TOGETHER
        clusters = np.unique(judged.drawn_with(segments), return_inverse=True)[1]
        together = JudgedPairs.among(judges, scores, clusters) if few else None
    pairings = {"outputs": together, "outputs by segment": within}
    return [_accuracy(table.name, human, of, pairs, samples, seed) for of, pairs in pairings.items() if pairs]


def segment_accuracies(
    table: ScoreTable, judged: Assessments, human: str, samples: int = 1000, seed: int = 12345
) -> list[Accuracy]:
    """Compute accuracies between segments: tie-calibrated over all pairs of segment means, and soft.

    The soft one is soft pairwise accuracy of segments instead of systems: p-values come from sign flips of the
    differences of two segments, system by system. Segments are drawn for the interval. Returns none if no segment has
    several outputs, or more than `_MOST_SEGMENTS` have.

    Parameters
    ----------
    table
        Scores of a metric, greater for better.
    judged
        Scores of single outputs by judges.
    human
        Name of the judgements, for the result.
    samples, seed
        Bootstrap samples and sign flips, and the seed of both.
    """
    judges, scores, segments = judged.pick(table.segments, table.name)
    places, numbers = np.unique(segments, return_inverse=True)
    if not 2 <= len(places) <= min(_MOST_SEGMENTS, len(judges) - 1):
        return []
    said, by_metric = (np.bincount(numbers, column) / np.bincount(numbers) for column in (judges, scores))
    drawn = np.unique(judged.drawn_with(places), return_inverse=True)[1]
    accuracies = [_accuracy(table.name, human, "segments", JudgedPairs.among(said, by_metric, drawn), samples, seed)]
    if judged.texts is None:
        tables = judged.tables(table.segments, table.name)
        one, other = (_soft_order(side[:, places].T, samples, seed) for side in tables)
        accuracies.append(_soft((table.name, human, "segments softly"), one, other, drawn, samples, seed))
    return accuracies


def _soft_order(scores: Floats, trials: int, seed: int) -> Floats:
    """Return P that each thing is better than each later one by chance, (things, things); NaN without shared data."""
    order = np.full((len(scores), len(scores)), np.nan)
    for number, row in enumerate(scores[:-1]):
        apart = row - scores[number + 1 :]
        shared = ~np.isnan(apart).all(axis=1)
        order[number, number + 1 :][shared] = flip_p_values(np.nan_to_num(apart[shared]), trials, seed)
    return order


def _soft(
    names: tuple[str, str, str], judges: Floats, scores: Floats, clusters: Integers, samples: int, seed: int
) -> Accuracy:
    """Compute 1 - the mean difference of p-values, with samples of the clusters of things."""
    known = ~np.isnan(judges)
    whole = np.eye(int(clusters.max()) + 1)[clusters]
    error, pairs = (whole.T @ np.where(known, side, 0) @ whole for side in (np.abs(judges - scores), known))
    drawn = (
        1 - divide((counts @ error * counts).sum(axis=1), (counts @ pairs * counts).sum(axis=1))
        for counts in bootstrap(len(error), samples, seed)
    )
    unsure = 1 - float(np.abs(judges[known] - 0.5).mean())
    value = 1 - float(error.sum() / pairs.sum())
    sampled = np.concatenate([np.zeros(0), *drawn])
    return Accuracy(value, sampled, *names, unsure, None, int(known.sum()), None)


def _accuracy(metric: str, human: str, of: str, pairs: JudgedPairs, samples: int, seed: int) -> Accuracy:
    calibrated = of != "systems"
    value, epsilon = pairs.accuracy(calibrated=calibrated) or (0.0, 0.0)
    drawn = pairs.samples(samples, seed, calibrated=calibrated)
    ties = int((pairs.judges == 0).sum())
    shown = epsilon if calibrated else None
    return Accuracy(value, drawn, metric, human, of, pairs.chance, shown, len(pairs.judges), ties)


def soft_accuracy(
    table: ScoreTable, judged: Comparisons | Assessments, human: str, samples: int = 1000, seed: int = 12345
) -> Accuracy | None:
    """Compute soft pairwise accuracy (Thompson et al. 2024): 1 - the mean difference of p-values of pairs of systems.

    p is one-sided, from sign flips of the differences of the segments on which judges compared the two, or scored
    both; the difference of comparisons is wins minus losses. Systems are drawn for the interval. Returns None without
    two assessed systems.

    Parameters
    ----------
    table
        Scores of a metric, greater for better.
    judged
        Comparisons of outputs, or scores of single outputs, by judges.
    human
        Name of the judgements, for the result.
    samples
        Sign flips, and bootstrap samples of systems.
    seed
        Seed of both.
    """
    judges, metric, one, other = paired_differences(table, judged)
    if not len(one):
        return None
    if judged.documents is not None:
        # Signs are flipped by document.
        numbers = drawn_with(np.arange(judges.shape[1]), judged.documents)
        whole = np.eye(int(numbers.max()) + 1)[numbers]
        judges, metric = judges @ whole, metric @ whole
    systems = np.arange(int(other.max()) + 1)
    by_judges, by_metric = (np.full((len(systems), len(systems)), np.nan) for _ in range(2))
    by_judges[one, other], by_metric[one, other] = (flip_p_values(side, samples, seed) for side in (judges, metric))
    return _soft((table.name, human, "systems softly"), by_judges, by_metric, systems, samples, seed)


def paired_differences(
    table: ScoreTable, judged: Comparisons | Assessments
) -> tuple[Floats, Floats, Integers, Integers]:
    """Return the differences of pairs of systems, (pairs, segments), by judges and by a metric; 0 without judgements.

    `table` has the metric's scores of segments, `judged` the comparisons or assessments.
    """
    judges: Floats
    if isinstance(judged, Comparisons):
        taken, scores = judged_scores(judged, table.segments, table.name)
        systems, segments = scores.shape
        one, other = np.triu_indices(systems, 1)
        number = np.zeros((systems, systems), np.int64)
        number[one, other] = np.arange(len(one))
        cells = number[taken.first, taken.second] * segments + taken.segment
        shape = (len(one), segments)
        judges = np.bincount(cells, taken.outcome, len(one) * segments).reshape(shape).astype(np.float64)
        shared = np.bincount(cells, minlength=len(one) * segments).reshape(shape) > 0
    else:
        said, scores = judged.tables(table.segments, table.name)
        one, other = np.triu_indices(len(said), 1)
        judges = said[one] - said[other]
        shared = ~np.isnan(judges)
    metric = np.where(shared, scores[one][:, : shared.shape[1]] - scores[other][:, : shared.shape[1]], 0.0)
    judged_ones = shared.any(axis=1)
    return np.where(shared, judges, 0.0)[judged_ones], metric[judged_ones], one[judged_ones], other[judged_ones]
