"""Agreement of metrics with judges about systems, outputs and spans, and of judges with each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from softbleu.corpora.judgements import Assessments, Comparisons, ScoreTable, drawn_with
from softbleu.corpora.judgements.spans import MAJOR, MINOR, MarkedSpan, SpanTable
from softbleu.errors import InputError, UnknownNameError
from softbleu.meta.measures import (
    COEFFICIENTS,
    FEWEST_POINTS,
    Estimate,
    JudgedPairs,
    correlate,
    correlate_within,
    divide,
    estimate,
    linear,
)
from softbleu.resample import ALIKE

if TYPE_CHECKING:
    from softbleu.corpora.labels import Documents
    from softbleu.types import Floats, Integers


@dataclass(frozen=True, eq=False)
class JudgedPoints:
    """Scores of the same points, systems or outputs, by judges and by every metric."""

    judges: Floats  # (points,)
    metrics: Mapping[str, Floats]  # The same by the name of the metric
    systems: Integers | None = None  # System of each output; None for systems themselves, and for texts of no system
    segments: Integers | None = None  # Segment of each output; None for systems
    clusters: Integers | None = None  # Cluster with which each point is drawn, such as its segment; None: alone
    human: str = ""  # Name of the human scores
    points: tuple[str, ...] = ()  # Names of the points; empty for single outputs
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Systems that were scored on one side only, by where they are missing."""

    def at(self, chosen: Integers) -> JudgedPoints:
        """Select systems, in this order."""
        metrics = {name: column[chosen] for name, column in self.metrics.items()}
        points = tuple(self.points[place] for place in chosen)
        return replace(self, judges=self.judges[chosen], metrics=metrics, points=points, left_out={})

    @property
    def constant(self) -> list[str]:
        """Names of columns with the same score for all points, whose correlation is undefined."""
        columns = [(self.human, self.judges), *self.metrics.items()]
        return [name for name, column in columns if np.ptp(column) == 0]

    def standardised(self) -> Floats:
        """Return the metrics' scores with mean 0 and variance 1, (metrics, points), so that they can be exchanged."""
        scores = np.array([*self.metrics.values()]).reshape(len(self.metrics), len(self.judges))
        scores -= scores.mean(axis=1, keepdims=True)
        spread = scores.std(axis=1, keepdims=True)
        made: Floats = np.divide(scores, spread, out=scores, where=spread > ALIKE)
        return made

    def grids(self, columns: Floats) -> Floats:
        """Put scores of outputs, (…, points), into tables, (…, systems, segments), NaN without a score."""
        systems, segments = self.systems, self.segments
        if systems is None or segments is None or not systems.any():
            raise InputError("soft pairwise accuracy needs judged outputs of two systems or more")
        tables = np.full((*columns.shape[:-1], int(systems.max()) + 1, int(segments.max()) + 1), np.nan)
        tables[..., systems, segments] = columns
        return tables


def join_systems(
    metrics: Sequence[ScoreTable], human: str, scores: Mapping[str, float], fewest: int = FEWEST_POINTS
) -> JudgedPoints:
    """Find the systems that judges and all metrics scored. Raises InputError for too few, with the missing ones.

    Parameters
    ----------
    metrics
        Scores of systems or segments by metrics, greater for better.
    human
        Name of the human scores.
    scores
        Human score of each system.
    fewest
        How many systems must be on all sides.

    Examples
    --------
    >>> from softbleu.corpora.judgements import ScoreTable
    >>> table = ScoreTable("bleu", {"A": 30.0, "B": 20.0, "C": 10.0, "D": 5.0})
    >>> joined = join_systems([table], "judges", {"A": 0.6, "B": 0.5, "C": 0.4})
    >>> joined.points, dict(joined.left_out)
    (('A', 'B', 'C'), {'judges': ('D',)})
    """
    for table in metrics:
        if not table.systems:
            raise InputError(f"{table.name} has scores of segments only: give scores of systems, too")
    # A metric may have the name of the human scores: they are not one column.
    tables = {table.name: table.systems for table in metrics}
    sides = [(human, scores), *tables.items()]
    every = dict.fromkeys(name for _, side in sides for name in side)
    left_out: dict[str, tuple[str, ...]] = {}
    for side, systems in sides:
        if missing := tuple(name for name in every if name not in systems):
            left_out[side] = (*left_out.get(side, ()), *missing)
    points = tuple(name for name in every if all(name in systems for _, systems in sides))
    if len(points) < fewest:
        lacking = "; ".join(f"{side} lacks {', '.join(names)}" for side, names in left_out.items())
        raise InputError(
            f"{'a correlation' if fewest == FEWEST_POINTS else 'an accuracy'} needs {fewest} systems or more, "
            f"here are {len(points)}" + (f": {lacking}" * bool(lacking))
        )
    judges, *columns = (np.array([systems[name] for name in points], np.float64) for _, systems in sides)
    metrics_of = dict(zip(tables, columns, strict=True))
    return JudgedPoints(judges, metrics_of, human=human, points=points, left_out=left_out)


def join_assessments(metrics: Sequence[ScoreTable], human: str, assessments: Assessments) -> JudgedPoints:
    """Find the metrics' scores of assessed outputs. Raises InputError for fewer than 3, or for other systems.

    Parameters
    ----------
    metrics
        Scores of systems or segments by metrics, greater for better.
    human
        Name of the human scores.
    assessments
        Human scores of single outputs.
    """
    columns: dict[str, Floats] = {}
    judges, segments = np.zeros(0), np.zeros(0, np.int64)
    for table in metrics:
        judged, values, segments = assessments.pick(table.need_segments(), table.name)
        if columns and not np.array_equal(judged, judges):
            raise InputError(f"{table.name} scored other outputs than {metrics[0].name}: score the same with both")
        judges, columns[table.name] = judged, values
    if not columns:
        raise InputError("there is no metric to compare with judges")
    if len(judges) < FEWEST_POINTS:
        raise InputError(f"a correlation needs {FEWEST_POINTS} outputs or more, here are {len(judges)}")
    return JudgedPoints(judges, columns, None, segments, assessments.drawn_with(segments), human)


def agreements(judged: JudgedPoints, samples: int = 1000, seed: int = 12345) -> dict[str, dict[str, Estimate]]:
    """Correlate every metric with judges: Pearson, Spearman and Kendall, and Pearson within and between segments.

    Parameters
    ----------
    judged
        Scores of the same points by judges and metrics.
    samples
        Bootstrap samples; 0 gives no interval.
    seed
        Seed of the samples.
    """
    segments, drawn, correlated = judged.segments, judged.clusters, {}
    for name, column in judged.metrics.items():
        both = (column, judged.judges)
        correlated[name] = {r: correlate(*both, r, samples, seed, drawn) for r in COEFFICIENTS}
        if segments is not None and len(np.unique(segments)) < len(column):
            correlated[name]["pearson_within"] = correlate_within(*both, samples, seed, segments, drawn)
            places, first, numbers = np.unique(segments, return_index=True, return_inverse=True)
            if len(places) >= FEWEST_POINTS:
                one, other = (np.bincount(numbers, side) / np.bincount(numbers) for side in both)
                of_segments = None if drawn is None else drawn[first]
                correlated[name]["pearson_between"] = correlate(one, other, "pearson", samples, seed, of_segments)
    return correlated


def pair_metrics(usable: Sequence[str], against: str | None, known: Collection[str]) -> list[tuple[str, str]]:
    """Pair the metrics that can be tested: all of `usable`, or each with `against`.

    `known` are all names. Raises InputError if fewer than two can be tested, UnknownNameError for another metric.
    """
    if against is not None and against not in known:
        raise UnknownNameError("metric", against, known)
    if len(usable) < 2:
        raise InputError(f"a test needs two metrics or more that tell points apart, here are {len(usable)}")
    return [pair for pair in combinations(usable, 2) if against in (None, *pair)]


CEILING = "human ceiling"


def judges_left_out(judged: Assessments, scored: Collection[str] | None = None) -> dict[str, JudgedPoints]:
    """Hold each judgement beside the mean of the others of the same output, as a metric's score beside the judges'.

    The `human ceiling` has the judgements of all annotators together. Outputs of a segment are compared only if one
    annotator judged them, so that segments are numbered anew; samples draw the original ones.

    Parameters
    ----------
    judged
        Judgements by annotators with names.
    scored
        Systems that metrics scored; None: all.

    Returns
    -------
    dict
        Points by name: the ceiling, and each annotator with three points or more; empty without common judgements.

    Examples
    --------
    >>> from softbleu.corpora.judgements.assessments import Annotations
    >>> outputs, annotators, scores = (np.array(x) for x in ([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1.0, 2, 4, 5, 7]))
    >>> said = Annotations(outputs, annotators, scores, ("x", "y", "z"))
    >>> found = judges_left_out(Assessments(np.array([7 / 3, 6]), [["A"], ["B"]], [0, 0], annotations=said))
    >>> found["human ceiling"].judges.tolist()
    [3.0, 2.5, 1.5, 7.0, 5.0]
    """
    said = judged.annotations
    if said is None:
        return {}
    places, others = said.beside_others()
    if scored is not None and judged.texts is None:
        known = np.array([not {*systems}.isdisjoint(scored) for systems in judged.systems], bool)
        places, others = (column[known[said.outputs[places]]] for column in (places, others))
    annotators, segments = said.annotators[places], judged.numbers[said.outputs[places]]
    drawn, apart = judged.drawn_with(segments), annotators * (1 + segments.max(initial=0)) + segments
    return {
        name: JudgedPoints(
            others[at], {name: said.scores[places[at]]}, None, apart[at], drawn[at], "the other judges"
        )
        for name, at in _by_judge(annotators, said.names).items()
    }


def pairs_left_out(
    judged: Comparisons | Assessments, scored: Collection[str] | None = None
) -> dict[str, JudgedPairs]:
    """Pair outputs as `judges_left_out`; of comparisons hold each beside the outcome for most of the others."""
    if isinstance(judged, Assessments):
        paired = {
            name: JudgedPairs.within(side.judges, side.metrics[name], apart, side.clusters)
            for name, side in judges_left_out(judged, scored).items()
            if (apart := side.segments) is not None
        }
        return {name: pairs for name, pairs in paired.items() if pairs is not None}
    own, others = (judged if scored is None else judged.only(scored)).beside_others()
    units = np.unique(own.cluster, return_inverse=True)[1]
    return {
        name: JudgedPairs(others[at], own.outcome[at].astype(float), units[at], units[at], np.ones(len(at)))
        for name, at in _by_judge(own.annotator, own.annotators).items()
    }


def _by_judge(annotators: Integers, names: Sequence[str]) -> dict[str, Integers]:
    """Return the places of all judgements together, and of each annotator's, where they are enough."""
    found = {CEILING: np.arange(len(annotators))}
    found |= {f"{name} (judge)": np.flatnonzero(annotators == one) for one, name in enumerate(names)}
    return {name: places for name, places in found.items() if len(places) >= FEWEST_POINTS}


FEWEST_COMMON = 50  # Comparisons in common that two annotators need to count for the mean (Grundkiewicz et al. 2015).
Outcomes = Counter[int]


@dataclass(frozen=True)
class AnnotatorAgreement:
    """Agreement of two annotators, or of one with itself."""

    one: str
    other: str  # Names; both empty for the weighted mean over all pairs
    kappa: float | None
    """(observed - expected) / (1 - expected); None if both always gave the same outcome."""
    observed: float
    expected: float  # Share of equal outcomes, and its value by chance
    comparisons: int  # Pairs of judgements of the same two outputs


def annotator_agreement(comparisons: Comparisons) -> list[AnnotatorAgreement]:
    """Compute Cohen's kappa of every pair of annotators who judged the same two outputs, and of each with itself.

    Chance is defined as by WMT (Bojar et al. 2014, section 3.2): the sum of the squared shares of the three outcomes
    in all common judgements; the two wins are distinguished by the order of the systems' names.

    >>> from softbleu.corpora.judgements import Comparisons
    >>> rows = [(0, "A", "B", 1, "x"), (0, "A", "B", 1, "y"), (1, "A", "B", -1, "x"), (1, "A", "B", 0, "y")]
    >>> [(pair.one, pair.other, pair.observed, pair.expected) for pair in annotator_agreement(Comparisons.of(rows))]
    [('x', 'y', 0.5, 0.375)]
    """
    same: Counter[tuple[int, int]] = Counter()
    total: Counter[tuple[int, int]] = Counter()
    said: defaultdict[tuple[int, int], Outcomes] = defaultdict(Counter)
    groups: defaultdict[tuple[int, ...], dict[int, Outcomes]] = defaultdict(dict)
    columns = (comparisons.segment, comparisons.first, comparisons.second, comparisons.annotator, comparisons.outcome)
    for *outputs, annotator, outcome in np.stack(columns, axis=1)[np.lexsort(columns[2::-1])].tolist():
        groups[tuple(outputs)].setdefault(annotator, Counter())[outcome] += 1
    for by_annotator in groups.values():
        annotators = sorted(by_annotator)
        for index, one in enumerate(annotators):
            mine = by_annotator[one]
            if mine.total() > 1:
                same[one, one] += sum(count * (count - 1) // 2 for count in mine.values())
                total[one, one] += mine.total() * (mine.total() - 1) // 2
                said[one, one] += mine
            for other in annotators[index + 1 :]:
                theirs = by_annotator[other]
                same[one, other] += sum(count * theirs[outcome] for outcome, count in mine.items())
                total[one, other] += mine.total() * theirs.total()
                said[one, other] += mine + theirs
    names = comparisons.annotators
    return [
        _kappa((names[one], names[other]), same[one, other], total[one, other], said[one, other])
        for one, other in sorted(total)
    ]


def mean_agreement(agreements: list[AnnotatorAgreement], *, within: bool) -> AnnotatorAgreement | None:
    """Average kappa over pairs of annotators, or `within` each, weighted by comparisons.

    None if no pair has `FEWEST_COMMON` comparisons in common.

    Parameters
    ----------
    agreements
        Agreements from `annotator_agreement`.
    within
        Average annotators with themselves, or with others.
    """
    counted = [
        pair
        for pair in agreements
        if (pair.one == pair.other) == within and pair.comparisons >= FEWEST_COMMON and pair.kappa is not None
    ]
    if not counted:
        return None
    weights = [pair.comparisons for pair in counted]
    kappa, observed, expected = (
        float(np.average([getattr(pair, name) for pair in counted], weights=weights))
        for name in ("kappa", "observed", "expected")
    )
    return AnnotatorAgreement("", "", kappa, observed, expected, sum(weights))


def _kappa(names: tuple[str, str], same: int, total: int, said: Outcomes) -> AnnotatorAgreement:
    observed = same / total
    expected = sum((count / said.total()) ** 2 for count in said.values())
    kappa = None if expected == 1 else (observed - expected) / (1 - expected)
    return AnnotatorAgreement(*names, kappa, observed, expected, total)


_BITS = {MINOR: 1, MAJOR: 2, "": 3}
_CREDIT = np.array([[0, 0, 0, 0], [0, 1, 0.5, 1], [0, 0.5, 1, 1], [0, 1, 1, 1]])
"""Credit of a character, by the judges' mark (rows: no, minor, major, both) and the predicted one (columns)."""


@dataclass(frozen=True, eq=False)
class Marks:
    """Spans that judges marked, and spans of metrics."""

    judged: SpanTable
    predicted: Sequence[SpanTable]
    texts: Mapping[str, Sequence[str]] | None = None  # Of each system, where they are known
    documents: Documents | None = None  # Documents of the segments, which samples draw


def span_agreements(marks: Marks, samples: int = 1000, seed: int = 12345) -> dict[str, tuple[Estimate, Estimate]]:
    """Compare the spans of each metric with judges, as WMT does (Blain et al. 2023; Alves et al. 2024).

    A character that both mark counts 1, or 1/2 if one mark is minor and the other major. Precision divides the sum by
    the predicted characters, recall by the marked ones. An empty span has one character. Each judgement of an output
    counts by itself; an output that a metric did not read has no spans. Random characters are not blank, and
    need the texts. Samples draw segments, or their documents.

    Returns two estimates a metric: F1, micro-averaged over judgements, whose facts are `precision`, `recall`, the
    characters that were `predicted` and `marked`, and the number of `judgements`; and the expected F1 of the same
    number of random characters.

    Parameters
    ----------
    marks
        Spans of judges and of metrics.
    samples, seed
        Bootstrap samples, 0 or more, and the seed of the draws.

    Examples
    --------
    >>> from softbleu.corpora.judgements import MarkedOutput
    >>> judges = SpanTable("judges", {"A": {0: [MarkedOutput("", (MarkedSpan(0, 4, "major"),))]}})
    >>> metric = SpanTable("m", {"A": {0: [MarkedOutput("", (MarkedSpan(2, 6, "minor"),))]}})
    >>> f1, _ = span_agreements(Marks(judges, [metric]), samples=0)["m"]
    >>> f1.facts["precision"], f1.facts["recall"], f1.value
    (0.25, 0.25, 0.25)
    """
    for table in (marks.judged, *marks.predicted) if marks.texts is not None else ():
        table.check(marks.texts or {})
    return {predicted.name: _of_spans(marks, predicted, samples, seed) for predicted in marks.predicted}


def _of_spans(marks: Marks, predicted: SpanTable, samples: int, seed: int) -> tuple[Estimate, Estimate]:
    judged = marks.judged.outputs
    if not judged.keys() & predicted.outputs.keys():
        raise InputError(f"{predicted.name} has spans of none of the judged systems {', '.join(judged)}")
    rows, places = [], list[int]()
    for system in judged.keys() & predicted.outputs.keys():
        lines = (marks.texts or {}).get(system)
        for segment, outputs in judged[system].items():
            said = [output.spans for output in predicted.outputs[system].get(segment, ())]
            line = None if lines is None else lines[segment]
            rows += [_counts(output.spans, said[0] if said else (), line) for output in outputs]
            places += [segment] * len(outputs)
    drawn = drawn_with(np.array(places), None if marks.documents is None else marks.documents.numbers)
    counts, units = np.array(rows), np.unique(drawn, return_inverse=True)[1]
    right, guessed, marked, *_ = counts.sum(axis=0).tolist()
    f1 = linear(counts, units, lambda right, guessed, marked, *_: divide(2 * right, guessed + marked))
    chance = linear(counts, units, lambda _, __, marked, by_chance, spread: divide(2 * by_chance, spread + marked))
    draws = int(units.max()) + 1, samples, seed
    random = estimate(chance, *draws) if marks.texts is not None else Estimate(None, np.full(samples, np.nan))
    facts = {"precision": right / guessed if guessed else None, "recall": right / marked if marked else None}
    counted = {"predicted": int(guessed), "marked": int(marked), "judgements": len(rows)}
    return replace(estimate(f1, *draws), facts={**facts, **counted}), random


def _counts(judged: Sequence[MarkedSpan], predicted: Sequence[MarkedSpan], line: str | None) -> tuple[float, ...]:
    """Count characters: credit, predicted, marked; and the expected credit and number of random ones."""
    length = max([len(line or "") + 1, *(span.end + 1 for span in (*judged, *predicted) if line is None)])
    marks, guessed = (_flags(spans, length, line is not None) for spans in (judged, predicted))
    right = float(_CREDIT[marks, guessed].sum())
    sizes = float((guessed > 0).sum()), float((marks > 0).sum())
    if line is None or not guessed.any():
        return right, *sizes, 0.0, 0.0
    visible = np.array([not char.isspace() for char in line] + [False])
    shares = np.bincount(guessed[visible], minlength=4) / max(int(visible.sum()), 1)
    shares[0] = 0
    return right, *sizes, float((_CREDIT[marks[visible]] @ shares).sum()), float(shares.sum() * visible.sum())


def _flags(spans: Sequence[MarkedSpan], length: int, cut: bool) -> Integers:
    """Return bits of minor and major marks at each place of a line and at its end."""
    flags = np.zeros(length, np.int64)
    for start, end, severity in spans:
        if cut:
            start, end = min(start, length - 1), min(end, max(length - 1, start))
        flags[start : max(end, start + 1)] |= _BITS[severity]
    return flags
