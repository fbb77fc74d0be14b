"""Train a head of the metric `trained` on human judgements, as the heads beside this folder were.

python heads/recipe/train.py FILE... -o head.json
python heads/recipe/train.py FILE... -o head.json --vectors glove-6b-100d --tokenize 13a --metrics softbleu chrf

Of `shared/data/wmt15-16-da/*-en.tsv` the first makes `minilm-l6` (about 155 CPU-seconds, 20 with encoded lines in the
cache), the second `static`. Files are tab-separated, with the columns human, candidate and reference. Each is held
out in turn, so give two or more.

`-m trained --head head.json` scores by the head. Its card has Pearson's r of scores with judges in what was held out,
the mean over files with its 95% interval; that of the untrained metric; and by how much the first is greater.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from softbleu import Segments
from softbleu.corpora.judgements import Assessments
from softbleu.engine.plan import make_plan
from softbleu.engine.runner import collect_statistics
from softbleu.errors import InputError
from softbleu.meta.measures import FEWEST_POINTS, Estimate, correlate, difference
from softbleu.metrics.reading import read_metric
from softbleu.metrics.trained import FEATURES, POINT_PARTS, POWERS, Trained, TrainedHead

sys.path.append(str(Path(__file__).resolve().parents[2] / "experiments" / "challenges"))
from challenges import spoil_each

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk, WordTable
    from softbleu.types import Flags, Floats, Integers

PENALTIES = (1.0, 10.0, 100.0, 1000.0)
SEVERITY_PENALTIES = (1000.0, 3000.0, 10000.0, np.inf)  # Infinite: there are no severities
MARGIN, WEIGHT = 0.6, 0.6
"""By how many standard deviations of human scores a spoilt candidate is to be worse, and what this weighs."""
SAMPLES, SEED = 1000, 12345  # Of bootstrap samples of references; the seed spoils candidates, too
_ROUNDS = 2  # Fits of prices and severities
_FLAT = 1e-4  # A column whose spread among judged pairs is this share of its greatest value teaches nothing


class Measured(NamedTuple):
    """What `Trained.measure` says of pairs."""

    distances: Floats  # (pairs, distances)
    directions: Floats  # (pairs, dimensions)

    def at(self, chosen: Flags) -> Measured:
        """Some of the pairs."""
        return Measured(self.distances[chosen], self.directions[chosen])


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
    def of(cls, head: TrainedHead, judged: Mapping[str, Assessments]) -> JudgedDistances:
        """Measure judged texts, which stand by the name of their group, by the distances of a head."""
        for name, group in judged.items():
            if len(group) < FEWEST_POINTS or np.ptp(group.scores) == 0:
                raise InputError(f"group {name!r}: {FEWEST_POINTS} judgements or more that differ are needed")
        texts = [group.texts for group in judged.values()]
        standard = [(group.scores - group.scores.mean()) / group.scores.std() for group in judged.values()]
        lines = [f"{number} {' '.join(line)}" for number, corpus in enumerate(texts) for line in corpus.references]
        return cls(
            measure(head, texts),
            measure(head, map(_spoilt, texts)),
            np.concatenate(standard),
            np.repeat(np.arange(len(judged)), list(map(len, standard))),
            np.unique(lines, return_inverse=True)[1],
            tuple(judged),
        )

    def __len__(self) -> int:
        return len(self.scores)

    def only(self, chosen: Flags) -> JudgedDistances:
        """Take some of the pairs."""
        parts = self.scores[chosen], self.groups[chosen], self.references[chosen]
        return JudgedDistances(self.measured.at(chosen), self.spoilt.at(chosen), *parts, self.names)

    def agreement(self, scores: Floats, samples: int = SAMPLES) -> list[Estimate]:
        """Pearson's r of scores with human judges in each group; samples draw references."""
        members = [self.groups == number for number in range(len(self.names))]
        return [
            correlate(self.scores[group], scores[group], "pearson", samples, SEED, self.references[group])
            for group in members
        ]

    def mean(self, scores: Floats, samples: int = SAMPLES) -> Estimate:
        """Mean over groups of `agreement`; a constant score has 0."""
        groups = self.agreement(scores, samples)
        drawn = np.nan_to_num(np.array([r.drawn for r in groups]))
        return Estimate(float(np.mean([r.value or 0.0 for r in groups])), drawn.mean(axis=0))


@dataclass(frozen=True, repr=False)
class _Distances(Trained):
    """Distances and directions of pairs, in millionths, in the place of points."""

    def statistics(self, chunk: Chunk, words: WordTable, kernels: Kernels) -> Integers:
        distances, directions, _ = self.measure(chunk.by_reference(), words, kernels)
        return np.rint(POINT_PARTS * np.hstack((distances, directions))).astype(np.int64)


def measure(head: TrainedHead, texts: Iterable[Segments]) -> Measured:
    """Measure candidates and references by the distances of a head."""
    metric = _Distances(head=head)
    rows = [collect_statistics(corpus, [metric], keep_rows=True)[0].rows[0] for corpus in texts]
    return Measured(*np.split(np.concatenate(rows) / POINT_PARTS, [len(head.names)], axis=1))


def _rolled(texts: Segments) -> Segments:
    """Give each segment the references of another one, half the text away."""
    half = len(texts) // 2
    return replace(texts, references=[*texts.references[half:], *texts.references[:half]])


def _spoilt(texts: Segments) -> Segments:
    """Change each candidate by a rule."""
    ((name, lines),) = texts.candidates.items()
    spoilt = spoil_each(lines, [references[0] for references in texts.references], SEED)
    return replace(texts, candidates={name: list(spoilt)})


def fit_prices(judged: JudgedDistances, penalty: float, head: TrainedHead) -> Floats:
    """Fit prices of the powers of each distance, none negative, by ridge regression within groups.

    Prices w minimise the sum of squares of s + d w over pairs, and of MARGIN - (e - d) w times WEIGHT, plus penalty
    times the sum of squares of w times the spread of its power. s are scores, d powers of distances times the head's
    severity of their pair, both less their means in the group in the first sum, e those of spoilt candidates:
    (powers, distances).
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
        weights = np.linalg.solve(square, right)
    else:
        root = np.linalg.cholesky(square)
        weights = nnls(root.T, np.linalg.solve(root, right))[0]
    return weights / spread


def fit_head(head: TrainedHead, judged: JudgedDistances, penalties: tuple[float, float]) -> TrainedHead:
    """Fit prices, then severities with these prices, twice, by the penalties of both; last the prices once more."""
    penalty, severity_penalty = penalties
    head = replace(head, severity=())
    for _ in range(_ROUNDS if severity_penalty < np.inf else 0):
        plain = replace(head, prices=_curves(fit_prices(judged, penalty, head)), severity=())
        weights = fit_severity(judged, plain, severity_penalty)
        head = replace(head, severity=tuple(weights.tolist()))
    return replace(head, prices=_curves(fit_prices(judged, penalty, head)))


def _points(head: TrainedHead, measured: Measured) -> Floats:
    """Points that all distances of each pair cost together: (pairs,)."""
    return head.lost(*measured).sum(axis=1)


def _curves(prices: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, prices.T.tolist()))


def held_out(
    head: TrainedHead, judged: JudgedDistances, penalties: tuple[float, float], folds: Integers | None = None
) -> Floats:
    """Score each pair by a head that was fitted without its fold; folds are groups unless others are given."""
    folds = judged.groups if folds is None else folds
    scores = np.zeros(len(judged))
    for fold in np.unique(folds):
        left_out = folds == fold
        fitted = fit_head(head, judged.only(~left_out), penalties)
        scores[left_out] = -_points(fitted, judged.measured.at(left_out))
    return scores


class HeadTraining(NamedTuple):
    """A head, and what is known of it."""

    head: TrainedHead
    judged: JudgedDistances
    penalties: tuple[float, float]
    scores: Floats  # Of each pair by a head that was fitted without its group

    def untrained(self) -> Floats:
        """The first metric of the head, or F of precision and recall."""
        if self.head.metrics:
            return 1 - self.judged.measured.distances[:, len(FEATURES)]
        precision, recall = np.maximum(1 - self.judged.measured.distances[:, :2], 0).T
        return 2 * precision * recall / np.maximum(precision + recall, 1e-12)

    def card(self) -> dict[str, Any]:
        """List the facts that the head's file has on its origin."""
        trained, untrained = (self.judged.mean(scores) for scores in (self.scores, self.untrained()))
        figures = {"held_out": trained, "untrained": untrained, "gain": difference(trained, untrained)}
        penalty, severity_penalty = self.penalties
        return {
            "judgements": len(self.judged),
            "groups": list(self.judged.names),
            "penalty": penalty,
            "severity_penalty": severity_penalty if severity_penalty < np.inf else None,
            "penalties_tried": len(PENALTIES) + len(SEVERITY_PENALTIES) - 1,
            **{
                name: [None if n is None else round(n, 4) for n in figure.cells("").values()]
                for name, figure in figures.items()
            },
            "samples": SAMPLES,
            "seed": SEED,
        }

    def content(self) -> dict[str, Any]:
        """Content of the head's file; distances that cost nothing are left out."""
        head = self.head
        encoding = {name: getattr(head, name) for name in ("vectors", "layers", "tokenize", "lowercase")}
        prices = {name: list(powers) for name, powers in zip(head.names, head.prices, strict=True) if any(powers)}
        lists = {"metrics": list(head.metrics), "prices": prices, "severity": list(head.severity)}
        return {"format": 2, **encoding, **lists, "card": self.card()}


def train(
    judged: Mapping[str, Assessments],
    *,
    vectors: str = "minilm-l6",
    tokenize: str = "none",
    metrics: Sequence[str] = (),
) -> HeadTraining:
    """Train a head of the metric `trained` on human judgements of texts, by the name of their group.

    Distances (`softbleu.metrics.trained.FEATURES`, and 100 less the score of each metric) have prices that are fitted
    by ridge regression without negative ones, the human scores standardised in each group. Severities are fitted in
    turn: by how much judges minded distances more or less in candidates of some direction. Each candidate stands
    beside one that a rule has spoilt (`experiments/challenges`), which is to be worse by `MARGIN`. The penalties
    are those of `PENALTIES`, then of `SEVERITY_PENALTIES`, with the greatest mean r when each group is held out.
    Prices are scaled so that half of all pairs with the reference of another segment lose 100 points.
    """
    if len(judged) < 2:
        raise InputError("to hold one out, give two groups of judgements or more")
    plain = TrainedHead("trained", "", vectors, tokenize=tokenize)
    named = [read_metric(metric, tokenize=tokenize, vectors=vectors) for metric in metrics]
    scorers = make_plan(named).metrics if named else ()
    written = tuple(map(str, scorers))
    (resolved,) = make_plan([Trained(head=plain)]).metrics
    prices = ((0.0, 1.0, 0.0),) * (len(FEATURES) + len(written))
    unit = replace(plain, layers=resolved.vector_choice.layers, metrics=written, prices=prices)
    distances = JudgedDistances.of(unit, judged)

    @cache
    def scores(penalties: tuple[float, float]) -> Floats:
        return held_out(unit, distances, penalties)

    def agreement(penalties: tuple[float, float]) -> float:
        return distances.mean(scores(penalties), samples=0).value or 0.0

    _, penalty = max((agreement((tried, np.inf)), tried) for tried in PENALTIES)
    penalties = penalty, max((agreement((penalty, tried)), tried) for tried in SEVERITY_PENALTIES)[1]
    fitted = fit_head(unit, distances, penalties)
    unrelated = measure(unit, (_rolled(group.texts) for group in judged.values()))
    middle = float(np.median(_points(fitted, unrelated)))
    if middle <= 0:
        raise InputError("what judges liked is farther from the reference in every respect: nothing can be learned")
    # Six digits are more than judgements say, and make the file hard to read.
    curves = tuple(tuple(_short(100 * price / middle) for price in curve) for curve in fitted.prices)
    head = replace(fitted, prices=curves, severity=tuple(map(_short, fitted.severity)))
    return HeadTraining(head, distances, penalties, scores(penalties))


def _short(number: float) -> float:
    return float(f"{number:.6g}")


def read_judged(file: Path) -> Assessments:
    """Read judged texts: tab-separated, with the columns human, candidate and reference."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))
    scores, candidates, references = zip(
        *((float(row["human"]), row["candidate"], row["reference"]) for row in rows), strict=True
    )
    return Assessments(np.array(scores), texts=Segments.of({"candidate": candidates}, references))


def main() -> None:
    """Read judgements, train, and write the head."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("judgements", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--vectors", default="minilm-l6", help="an encoder, or vectors of words")
    parser.add_argument("--tokenize", default="none", help="tokens of vectors of words")
    parser.add_argument("--metrics", nargs="*", default=[], help="metrics whose scores are distances, too")
    given = vars(parser.parse_args())
    files, output = given.pop("judgements"), given.pop("output")
    trained = train({file.stem: read_judged(file) for file in files}, **given)
    output.write_text(json.dumps(trained.content(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
