"""Heads of trained metrics from human judgements: prices of distances, and how well they do on what was held out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from softbleu.corpora.challenges import spoil_each
from softbleu.corpora.judgements import read_judged, read_outputs
from softbleu.corpora.segments import Segments
from softbleu.engine.plan import make_plan
from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError, known_name
from softbleu.io.arguments import several
from softbleu.io.forks import cached_property
from softbleu.io.tabular import Records, Value
from softbleu.meta.correlation import FEWEST_POINTS, Difference, Estimate, check_samples, correlate, difference
from softbleu.meta.evidence import loaded, open_outputs
from softbleu.metrics.heads import FEATURES, POWERS, TrainedHead
from softbleu.metrics.making import make_metric
from softbleu.metrics.trained import POINT_PARTS, Measured, Trained

if TYPE_CHECKING:
    from softbleu.corpora.judgements import Assessments
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import WordTable
    from softbleu.types import Flags, Floats, Integers

TABLES = ("groups", "curve", "distances")
PENALTIES = (1.0, 10.0, 100.0, 1000.0)
MARGIN, WEIGHT = 0.6, 0.6
"""By how many standard deviations of human scores a spoilt candidate is to be worse, and what this weighs."""
SEVERITY_PENALTIES = (1000.0, 3000.0, 10000.0, np.inf)
_FOLDS, _DRAWS, _ROUNDS = 5, 10, 2
"""Parts that a single group is cut into, draws of each size of the learning curve, fits of prices and severities."""
_FLAT = 1e-4  # A column whose spread among judged pairs is this share of its greatest value teaches nothing
_SMALLEST = 25  # Judgements of the first point of the learning curve; each next one has twice as many


@dataclass(frozen=True, eq=False)
class JudgedDistances:
    """Distances of judged pairs, and their human scores."""

    measured: Measured
    spoilt: Measured  # Of the candidates as a rule changes them for the worse, or as they are where none fits
    scores: Floats  # Human scores, standardised in each group
    groups: Integers  # Number of the group of each pair
    references: Integers  # Number of its reference: pairs of one reference are drawn together
    names: tuple[str, ...]  # Of the groups

    @classmethod
    def of(
        cls, head: TrainedHead, judged: Mapping[str, Assessments], seed: int, options: RunOptions
    ) -> tuple[JudgedDistances, Measured]:
        """Measure judged pairs; and pairs with the reference of another segment of the group.

        Parameters
        ----------
        head
            Distances, layers and metrics of the head.
        judged
            Judged texts by the name of their group.
        seed
            Seed of the rules that spoil candidates.
        options
            How the distances are computed.
        """
        scores = [group.scores for group in judged.values()]
        for name, column in zip(judged, scores, strict=True):
            if len(column) < FEWEST_POINTS or np.ptp(column) == 0:
                raise InputError(f"group {name!r}: {FEWEST_POINTS} judgements or more that differ are needed")
        texts: list[Segments] = [group.texts for group in judged.values() if group.texts is not None]
        if not any(line.strip() for corpus in texts for lines in corpus.candidates.values() for line in lines):
            raise InputError("every candidate is empty: there is nothing to learn from")
        measured, spoilt, unrelated = (
            _measured(head, corpora, options)
            for corpora in (texts, [_spoilt(corpus, seed) for corpus in texts], map(_rolled, texts))
        )
        groups = np.repeat(np.arange(len(scores)), list(map(len, scores)))
        lines = [f"{number} {' '.join(line)}" for number, corpus in enumerate(texts) for line in corpus.references]
        standard = [(column - column.mean()) / column.std() for column in scores]
        references = np.unique(lines, return_inverse=True)[1]
        return cls(measured, spoilt, np.concatenate(standard), groups, references, tuple(judged)), unrelated

    def __len__(self) -> int:
        return len(self.scores)

    def only(self, chosen: Flags | Integers) -> JudgedDistances:
        """Take some of the pairs."""
        parts = self.scores[chosen], self.groups[chosen], self.references[chosen]
        return JudgedDistances(self.measured.at(chosen), self.spoilt.at(chosen), *parts, self.names)

    @cached_property
    def folds(self) -> Integers:
        """Number of the fold that holds out each pair: its group; of a single group a fifth of the references."""
        if len(self.names) > 1:
            return self.groups
        return np.asarray(self.references % _FOLDS)

    def agreement(self, scores: Floats, samples: int, seed: int) -> list[Estimate]:
        """Pearson's r of scores with human judges in each group; samples draw references by that `seed`."""
        members = [self.groups == number for number in range(len(self.names))]
        return [
            correlate(self.scores[group], scores[group], "pearson", samples, seed, self.references[group])
            for group in members
        ]

    def mean(self, scores: Floats, samples: int = 0, seed: int = 0) -> Estimate:
        """Mean over groups of `agreement`, of the same samples and seed; a constant score has 0."""
        groups = self.agreement(scores, samples, seed)
        drawn = np.nan_to_num(np.array([r.drawn for r in groups]))
        return Estimate(float(np.mean([r.value or 0.0 for r in groups])), drawn.mean(axis=0))


@dataclass(frozen=True, repr=False)
class _Distances(Trained):
    """Distances and directions of pairs, in millionths, in the place of points."""

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        measured, _ = self.measure(chunk.by_reference(), cast("WordTable", words), kernels)
        return np.rint(POINT_PARTS * np.hstack((measured.distances, measured.directions))).astype(np.int64)


def _measured(head: TrainedHead, texts: Iterable[Segments], options: RunOptions) -> Measured:
    metric = _Distances(head=head)
    rows = [collect_statistics(corpus, [metric], options, keep_rows=True)[0].rows[0] for corpus in texts]
    both = np.concatenate(rows) / POINT_PARTS
    distances, directions = np.split(both, [len(head.names)], axis=1)
    return Measured(distances, directions)


def _rolled(texts: Segments) -> Segments:
    """Give each segment the references of another one, half the text away."""
    half = len(texts) // 2
    return replace(texts, references=[*texts.references[half:], *texts.references[:half]])


def _spoilt(texts: Segments, seed: int) -> Segments:
    """Change each candidate by a rule."""
    ((name, lines),) = texts.candidates.items()
    spoilt = spoil_each(lines, [references[0] for references in texts.references], seed)
    return replace(texts, candidates={name: list(spoilt)})


def fit_prices(judged: JudgedDistances, penalty: float, head: TrainedHead) -> Floats:
    """Fit prices of the powers of each distance, none negative, by ridge regression within groups.

    Prices w minimise the sum of squares of s + d w over pairs, and of MARGIN - (e - d) w times WEIGHT, plus penalty
    times the sum of squares of w times the spread of its power. s are scores, d powers of distances times the head's
    severity of their pair, both less their means in the group in the first sum, e those of spoilt candidates:
    (powers, distances).

    >>> def measured(distances):
    ...     return Measured(np.array(distances), np.ones((3, 1)))
    >>> pairs = measured([[0.0, 1], [1, 0], [2, 1]])
    >>> judged = JudgedDistances(pairs, pairs, np.array([1.0, 0, -1]), np.zeros(3, int), np.arange(3), ("one",))
    >>> fit_prices(judged, 1e-9, TrainedHead("", "")).round(3).tolist()
    [[0.503, 0.0], [0.35, 0.0], [0.147, 0.0]]
    """
    columns = [
        -np.hstack([side.distances**power for power in POWERS]) * head.severities(side.directions)[:, None]
        for side in (judged.measured, judged.spoilt)
    ]
    margin = np.full(len(judged), -MARGIN)
    return _ridge(judged, columns, (judged.scores, margin), penalty, signed=False).reshape(len(POWERS), -1)


def fit_severity(judged: JudgedDistances, head: TrainedHead, penalty: float) -> Floats:
    """Fit by how much what pairs cost depends on the direction of the candidate: (1 + dimensions,).

    Weights v minimise the sum of squares of s + c (1 + z v) over pairs, and of those of spoilt candidates as in
    `fit_prices`, plus penalty times the sum of squares of v times the spread of c z. z are directions less their
    mean, c points by the head's prices, which has no severities.

    Parameters
    ----------
    judged
        Distances of the judged pairs and their human scores.
    head
        A head with prices and without severities.
    penalty
        Weight of the ridge.
    """
    middle = judged.measured.directions.mean(axis=0)
    sides = judged.measured, judged.spoilt
    points = [_points(head, side) for side in sides]
    columns = [-cost[:, None] * (side.directions - middle) for cost, side in zip(points, sides, strict=True)]
    wanted = judged.scores + points[0], points[1] - points[0] - MARGIN
    weights = _ridge(judged, columns, wanted, penalty, signed=True)
    return np.concatenate(([1 - middle @ weights], weights))


def _ridge(
    judged: JudgedDistances, columns: Sequence[Floats], wanted: tuple[Floats, Floats], penalty: float, *, signed: bool
) -> Floats:
    """Fit weights of columns within groups, and of what spoilt candidates have more; a flat column has none."""
    from scipy.optimize import nnls

    judged_ones, spoilt = columns
    both = np.column_stack((judged_ones, wanted[0]))
    for group in np.unique(judged.groups):
        those = judged.groups == group
        both[those] -= both[those].mean(axis=0)
    changed = (judged.measured.distances != judged.spoilt.distances).any(axis=1)
    more = np.column_stack((spoilt - judged_ones, wanted[1]))[changed] * np.sqrt(WEIGHT)
    rows = np.concatenate((both, more))
    spread = both[:, :-1].std(axis=0)
    spread[spread <= np.maximum(_FLAT * np.abs(rows[:, :-1]).max(axis=0), 1e-12)] = np.inf
    scaled = rows[:, :-1] / spread
    square, right = scaled.T @ scaled + penalty * np.eye(len(spread)), scaled.T @ rows[:, -1]
    if signed:
        weights: Floats = np.linalg.solve(square, right)
    else:
        root = np.linalg.cholesky(square)
        weights = nnls(root.T, np.linalg.solve(root, right))[0]
    return np.asarray(weights / spread)


def fit_head(head: TrainedHead, judged: JudgedDistances, penalty: float, severity_penalty: float) -> TrainedHead:
    """Fit prices, then severities with these prices, twice; an infinite penalty leaves severities out.

    Parameters
    ----------
    head
        Distances, layers and metrics of the head; maybe prices and severities.
    judged
        Distances of the judged pairs and their human scores.
    penalty
        Weight of the ridge of prices.
    severity_penalty
        That of severities; infinite: there are none.
    """
    head = replace(head, severity=())
    for _ in range(_ROUNDS if severity_penalty < np.inf else 0):
        plain = replace(head, prices=_curves(fit_prices(judged, penalty, head)), severity=())
        weights = fit_severity(judged, plain, severity_penalty)
        head = replace(head, severity=tuple(weights.tolist()))
    return replace(head, prices=_curves(fit_prices(judged, penalty, head)))


def _points(head: TrainedHead, measured: Measured) -> Floats:
    """Points that all distances of each pair cost together: (pairs,)."""
    return np.asarray(head.lost(measured.distances, measured.directions).sum(axis=1))


def _curves(prices: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, prices.T.tolist()))


def held_out(
    head: TrainedHead,
    judged: JudgedDistances,
    penalties: tuple[float, float],
    draw: Callable[[JudgedDistances], JudgedDistances] | None = None,
) -> Floats:
    """Score each pair by a head that was fitted without its fold; `draw` takes some of the other folds' pairs.

    Parameters
    ----------
    head
        Distances, layers and metrics of the head; maybe prices and severities.
    judged
        Distances of the judged pairs and their human scores.
    penalties
        Weights of the ridges of prices and of severities.
    draw
        Takes some of the pairs of the other folds; None: all are taken.
    """
    scores = np.zeros(len(judged))
    for fold in np.unique(judged.folds):
        left_out = judged.folds == fold
        others = judged.only(~left_out)
        fitted = fit_head(head, others if draw is None else draw(others), *penalties)
        scores[left_out] = -_points(fitted, judged.measured.at(left_out))
    return scores


@dataclass(frozen=True, eq=False)
class HeadTraining:
    """A head, and what is known of it; `table` shows it."""

    head: TrainedHead
    judged: JudgedDistances
    penalties: tuple[float, float]
    scores: Floats  # Of each pair by a head that was fitted without its fold
    samples: int
    seed: int

    @cached_property
    def untrained(self) -> Floats:
        """The first metric of the head, or F of precision and recall."""
        if self.head.metrics:
            return 1 - self.judged.measured.distances[:, len(FEATURES)]
        precision, recall = np.maximum(1 - self.judged.measured.distances[:, :2], 0).T
        return np.asarray(2 * precision * recall / np.maximum(precision + recall, 1e-12))

    @cached_property
    def means(self) -> tuple[Estimate, Estimate, Difference]:
        """Mean r of the groups: held out, and untrained; and how much more the first is."""
        trained, untrained = (self.judged.mean(s, self.samples, self.seed) for s in (self.scores, self.untrained))
        return trained, untrained, difference(trained, untrained)

    def card(self) -> dict[str, Any]:
        """List the facts that the head's file has on its origin."""
        figures: dict[str, Estimate] = dict(zip(("held_out", "untrained", "gain"), self.means, strict=True))
        return {
            "judgements": len(self.judged),
            "groups": list(self.judged.names),
            "penalty": self.penalties[0],
            "severity_penalty": _finite(self.penalties[1]),
            "penalties_tried": len(PENALTIES) + len(SEVERITY_PENALTIES) - 1,
            **{name: [None if n is None else round(n, 4) for n in figure.cells] for name, figure in figures.items()},
            "samples": self.samples,
            "seed": self.seed,
        }

    def table(self, name: str = "groups") -> Records:
        """Show r held out by group, by the number of judgements, or what prices are and each distance is worth.

        InputError: there is no such table.
        """
        make = {"groups": self._groups, "curve": self._curve, "distances": self._worth}
        columns, rows = make[known_name("table", name, TABLES)]()
        gain = self.means[2]
        low, high = gain.interval or (np.nan, np.nan)
        verdict = "pays" if low > 0 else "harms" if high < 0 else "is not known to pay"
        said = (
            f"training {verdict}: {gain.value:+.3f} (95% interval {low:+.3f} to {high:+.3f}) on held-out judgements"
        )
        facts: dict[str, Value] = {
            "head": self.head.location,
            "penalty": self.penalties[0],
            "severity penalty": _finite(self.penalties[1]),
        }
        return Records(columns, rows, facts, digits=3, notes=[said])

    def _groups(self) -> tuple[list[str], list[list[Value]]]:
        names = (*self.judged.names, "mean")
        sides = [
            [*self.judged.agreement(scores, self.samples, self.seed), mean]
            for scores, mean in zip((self.scores, self.untrained), self.means[:2], strict=True)
        ]
        sizes = [*np.bincount(self.judged.groups).tolist(), len(self.judged)]
        rows = [
            [name, size, *trained.cells, untrained.value]
            for name, size, trained, untrained in zip(names, sizes, *sides, strict=True)
        ]
        return ["group", "judgements", "held out", "low", "high", "untrained"], rows

    def _curve(self) -> tuple[list[str], list[list[Value]]]:
        generator = np.random.default_rng(self.seed)
        rows: list[list[Value]] = []
        for size in self._sizes():

            def draw(some: JudgedDistances, size: int = size) -> JudgedDistances:
                return some.only(np.sort(generator.choice(len(some), min(size, len(some)), replace=False)))

            drawn = [self.judged.mean(held_out(self.head, self.judged, self.penalties, draw)) for _ in range(_DRAWS)]
            values = [r.value or 0.0 for r in drawn]
            rows.append([size, float(np.mean(values)), min(values), max(values), self.means[1].value])
        rows.append([None, self.means[0].value, None, None, self.means[1].value])
        return ["judgements", "held out", "worst draw", "best draw", "untrained"], rows

    def _sizes(self) -> Iterator[int]:
        most = len(self.judged) - int(np.bincount(self.judged.folds).max())
        size = _SMALLEST
        while size < most:
            yield size
            size *= 2

    def _worth(self) -> tuple[list[str], list[list[Value]]]:
        rows: list[list[Value]] = []
        for place, name in enumerate(self.head.names):
            if any(self.head.prices[place]):
                sides = (self.judged.measured.without(place), self.judged.spoilt.without(place))
                without = replace(self.judged, measured=sides[0], spoilt=sides[1])
                value = without.mean(held_out(self.head, without, self.penalties)).value
                lost = self.head.lost(self.judged.measured.distances, self.judged.measured.directions)[:, place]
                gain = (self.means[0].value or 0.0) - (value or 0.0)
                rows.append([name, float(lost.mean()), float(lost.std()), gain])
        return ["distance", "mean points", "deviation", "r lost without"], rows


def train(
    judgements: Iterable[str] | Mapping[str, Assessments],
    *,
    candidates: Sequence[str] | Mapping[str, Sequence[str]] = (),
    references: Sequence[str | Sequence[str]] = (),
    metrics: Sequence[str] = (),
    vectors: str = "minilm-l6",
    layers: str | None = None,
    tokenize: str = "none",
    lowercase: bool = False,
    name: str = "trained",
    samples: int = 1000,
    seed: int = 12345,
    rankings_start: int | None = None,
    direction: str | None = None,
    column: str | None = None,
    unescape: bool = False,
    encoding: str = "utf-8",
    **run: Any,
) -> HeadTraining:
    """Train a head of the metric `trained` on human judgements.

    Distances (`softbleu.metrics.heads.FEATURES`, and 100 less the score of each metric) have prices that are fitted
    by ridge regression without negative ones, the human scores standardised in each group. Severities are fitted in
    turn: by how much judges minded distances more or less in candidates of some direction. Each candidate stands
    beside one that a rule has spoilt (`softbleu.corpora.challenges`), which is to be worse by `MARGIN`. The penalties
    are those of `PENALTIES`, then of `SEVERITY_PENALTIES`, with the greatest mean r when each group is held out; of a
    single group fifths of its references are. Prices are scaled so that half of all pairs with the reference of
    another segment lose 100 points.

    Parameters
    ----------
    judgements
        Files of judged texts, see `softbleu.corpora.judgements.read_judged`, or what that returns. With candidates:
        files that name systems and segments, see `softbleu.corpora.judgements.read_outputs`.
    candidates, references
        Files of the systems' outputs and of references, as `softbleu.metaeval` has them.
    metrics
        Metrics whose scores are distances, too, as expressions.
    vectors, layers, tokenize, lowercase
        Vectors (an encoder: distances of pieces in context) and tokens that distances are of.
    name
        What the head is called in signatures.
    samples, seed
        Bootstrap samples of references, and the seed of all draws.
    rankings_start, direction, column
        Of judgements that name systems and segments, as `softbleu.metaeval` has them.
    run
        `jobs`, `executor`, `progress`.
    unescape
        Turn entities such as ``&apos;`` in texts into characters.
    encoding
        Of the files.

    Raises
    ------
    InputError
        Judgements cannot be read or do not differ, or a metric has other tokens or vectors.

    Examples
    --------
    >>> from softbleu.corpora.judgements import Assessments
    >>> texts = Segments.of({"A": ["a cat", "dogs", "the sun", "no"]}, ["a cat", "two dogs", "the sun sets", "a hat"])
    >>> judged = {"mine": Assessments(np.array([1.0, 0.3, 0.4, -1]), texts=texts)}
    >>> head = train(judged, vectors="glove-6b-100d", samples=10).head
    >>> head.vectors, min(map(min, head.prices))
    ('glove-6b-100d', 0.0)
    """
    check_samples(samples, seed)
    options, files = RunOptions(**run), several(judgements)
    if bool(candidates) != bool(references):
        raise InputError("judgements that name systems and segments need candidates and references")
    if not isinstance(files, Mapping) and candidates:
        with open_outputs(candidates, references, None, None, encoding, unescape=unescape) as corpus:
            texts = loaded(corpus)
        read = partial(read_outputs, start=rankings_start, direction=direction, column=column, encoding=encoding)
        files = {Path(name).stem: read(name).with_texts(texts) for name in files}
    elif rankings_start is not None or direction is not None or column is not None:
        raise InputError("rankings-start, direction and column are about judgements of candidates: name their files")
    elif not isinstance(files, Mapping):
        files = _read(files, unescape, encoding)
    choice = {"vectors": vectors, **({} if layers is None else {"layers": layers})}
    plain = TrainedHead(name, "", vectors, layers, tokenize, lowercase)
    written = tuple(_resolved(metric, plain, choice) for metric in metrics)
    (resolved,) = make_plan([Trained(head=plain)]).metrics
    unit = replace(
        plain,
        layers=resolved.vector_choice.layers,
        metrics=written,
        prices=((0.0, 1.0, 0.0),) * (len(FEATURES) + len(written)),
    )
    judged, unrelated = JudgedDistances.of(unit, files, seed, options)
    if not judged.measured.distances.any():
        raise InputError("every candidate is equal to its reference: there is nothing to learn from")
    if len(np.unique(judged.folds)) < 2:
        raise InputError("all judgements are of one reference: give those of two or more, to hold some out")

    @cache
    def scores(penalties: tuple[float, float]) -> Floats:
        return held_out(unit, judged, penalties)

    def agreement(penalties: tuple[float, float]) -> float:
        return judged.mean(scores(penalties)).value or 0.0

    _, penalty = max((agreement((tried, np.inf)), tried) for tried in PENALTIES)
    penalties = penalty, max((agreement((penalty, tried)), tried) for tried in SEVERITY_PENALTIES)[1]
    fitted = fit_head(unit, judged, *penalties)
    middle = float(np.median(_points(fitted, unrelated)))
    if middle <= 0:
        raise InputError("what judges liked is farther from the reference in every respect: nothing can be learned")
    # Six digits are more than judgements say, and make the file hard to read.
    prices = tuple(tuple(_short(100 * price / middle) for price in curve) for curve in fitted.prices)
    head = replace(fitted, prices=prices, severity=tuple(map(_short, fitted.severity)))
    return HeadTraining(head, judged, penalties, scores(penalties), samples, seed)


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def _finite(penalty: float) -> float | None:
    return penalty if penalty < np.inf else None


def _read(files: Iterable[str], unescape: bool, encoding: str) -> dict[str, Assessments]:
    groups: dict[str, Assessments] = {}
    for file in files:
        for group, judged in read_judged(file, unescape=unescape, encoding=encoding).items():
            if group in groups:
                raise InputError(f"{file}: a second file has group {group!r}: name groups in a column 'group'")
            groups[group] = judged
    if not groups:
        raise InputError("there are no judgements: name a file of them")
    return groups


def _resolved(expression: str, head: TrainedHead, choice: Mapping[str, Any]) -> str:
    """Write a metric with what it stands on, such as thresholds."""
    metric = make_metric(expression)
    if metric.requires.source or metric.requires.gold or not metric.requires.references:
        raise InputError(f"metric {expression!r} compares more than candidate and reference: name another")
    (resolved,) = make_plan([make_metric(expression, tokenize=head.tokenize, **choice)]).metrics
    return str(resolved)
