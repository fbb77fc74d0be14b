"""Scores for a grid of settings, in one similarity pass for each system and choice of vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from softbleu.config.signature import format_value
from softbleu.corpora.segments import References, Texts, make_corpus
from softbleu.engine.plan import key_of, make_plan, threshold_of
from softbleu.errors import InputError
from softbleu.io.progress import shown
from softbleu.io.tabular import Records, Tabular
from softbleu.metrics.base import Metric
from softbleu.metrics.making import make_metric
from softbleu.results import Result, RunOptions, make_results, running
from softbleu.results.samples import note_coverage

if TYPE_CHECKING:
    from softbleu.corpora.corpus import Corpus
    from softbleu.corpora.edits import GoldSegment
    from softbleu.metrics.keywords import Settings
    from softbleu.metrics.result import Coverage
    from softbleu.results.api import GivenMetrics
    from softbleu.types import Progress

_IN_TABLE = ("metric", "matcher", "threshold", "quantile")
"""Settings with a column of their own in every table; others have one where they vary."""


@dataclass(frozen=True)
class SweepPoint:
    """One way to score."""

    label: str  # What tells it from others with the same settings; may be empty
    metric: Metric


@dataclass(frozen=True)
class SweepRow:
    """The score of one system in one way."""

    system: str
    label: str
    varied: dict[str, str | float | None]  # Settings that differ between points, by name
    threshold: float | None  # As a number, also where a quantile was asked for
    score: float  # 0 to 100
    numbers: dict[str, Any]  # Precisions, lengths and so on, as the metric has them
    signature: str  # Everything the score depends on
    higher_is_better: bool = True
    coverage: Coverage | None = None


class SweepRows(list[SweepRow], Tabular):
    """The rows of a sweep: a list that can be looked at as a table."""

    def records(self) -> list[dict[str, Any]]:
        """A row per system and point; signatures are left out."""
        return [{name: row[name] for name in row if name != "signature"} for row in table_of(self).records()]


def sweep_points(
    base: Mapping[str, Any],
    vary: Mapping[str, Sequence[Any]],
    variants: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[SweepPoint]:
    """Make a grid: every variant with every combination of what varies; a metric without a setting once for it.

    `base` has the settings that all points have, the metric among them; `vary` values by the name of the setting
    (thresholds are numbers, or quantiles such as `p99.9`); `variants` further settings by label.

    >>> points = sweep_points({}, {"matcher": ["exact", "vleu"], "threshold": [0.7, 0.8]})
    >>> [str(point.metric) for point in points]
    ['bleu', 'vleu(threshold=0.7)', 'vleu(threshold=0.8)']
    """
    if any(not values for values in vary.values()):
        raise InputError("a sweep needs at least one value of everything that varies")
    points: dict[object, SweepPoint] = {}
    for label, options in (variants or {"": {}}).items():
        for values in product(*map(dict.fromkeys, vary.values())):
            settings = {"metric": "bleu", **base, **options, **dict(zip(vary, values, strict=True))}
            metric = make_metric(settings.pop("metric"), unused=[], **settings)
            # Vectors in memory cannot be hashed, nor always compared.
            points[label, key_of(metric)] = SweepPoint(label, metric)
    return list(points.values())


def sweep(
    candidates: Texts,
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    metrics: GivenMetrics = "bleu",
    vary: Mapping[str, Sequence[Any]],
    gold: Sequence[GoldSegment] | None = None,
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    **settings: Unpack[Settings],
) -> SweepRows:
    """Score every system with every combination of the settings that vary, in one pass over the similarities.

    Parameters
    ----------
    vary
        Values by the name of the setting; see `sweep_points`.
    settings
        What does not vary. The other parameters are those of `softbleu.score`.

    Examples
    --------
    >>> vectors = {"cat": [1.0, 0.0], "dog": [0.6, 0.8]}
    >>> vary = {"threshold": [0.5, 0.7]}
    >>> found = sweep(["a cat"], ["a dog"], metrics="vleu", order=1, vectors=vectors, vary=vary)
    >>> [(row.threshold, round(row.score)) for row in found]
    [(0.5, 80), (0.7, 50)]
    """
    corpus = make_corpus(candidates, references, source, gold)
    several = metrics if isinstance(metrics, list | tuple) else [metrics]
    points = [point for each in several for point in sweep_points({"metric": each, **settings}, vary)]
    with shown(progress) as shower:
        return sweep_corpus(corpus, points, jobs=jobs, executor=executor, progress=shower)


def sweep_corpus(
    corpus: Corpus,
    points: Sequence[SweepPoint],
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> SweepRows:
    """Score every system of a corpus at every point.

    The corpus is prepared once. Points with the same vectors and tokens are computed together: the products of words
    once for all of them, and similarities and assignment once for all thresholds. Every score equals that of a run
    for itself. `checkpoint` is the folder, by path or URL, from which an interrupted sweep goes on (see
    `softbleu.engine.checkpoint`); the caller removes it when all is written.
    """
    plan = make_plan([point.metric for point in points], corpus)
    varied, rows = _varied(points), SweepRows()
    with running(corpus, plan, RunOptions(jobs, executor, checkpoint=checkpoint)) as runner:
        for number, system in enumerate(corpus.systems, start=1):
            for tokenizer in plan.needed:
                runner.prepared(tokenizer)
            found = zip(points, runner.collect(plan.metrics, system=system), strict=True)
            rows += [_row(point, each.metric, make_results(each)[0], varied) for point, each in found]
            if progress is not None:
                progress(number, len(corpus.systems))
    note_coverage((row.system, str(row.varied.get("matcher", row.varied["metric"])), row.coverage) for row in rows)
    return rows


def _varied(points: Sequence[SweepPoint]) -> list[str]:
    """Names of the settings that are not the same at all points that have them, or that not all have."""
    settings = [{each.name: repr(value) for each, value in point.metric.settings()} for point in points]
    names = dict.fromkeys(name for each in settings for name in each if name not in _IN_TABLE)
    return [name for name in names if len({each.get(name) for each in settings if name in each}) > 1]


def _plain(name: str, value: Any) -> str | float | None:
    if name == "vectors":
        # Where they lie does not matter; what they are stands in the signature.
        return Path(value).name if isinstance(value, str | Path) else type(value).__name__
    return value if value is None or isinstance(value, float) else format_value(value)


def _row(point: SweepPoint, metric: Metric, result: Result, varied: Sequence[str]) -> SweepRow:
    settings = {"metric": metric.name, **{each.name: value for each, value in metric.settings()}}
    numbers = result.numbers.as_dict()
    shown: dict[str, Any] = {name: settings[name] for name in ("metric", "matcher") if name in settings}
    if metric.vector_choice.quantile:
        shown["quantile"] = metric.vector_choice.quantile
    shown |= {name: _plain(name, settings.get(name)) for name in varied}
    given = threshold_of(metric)
    threshold = given if isinstance(given, float) else None
    score = numbers.pop("score")
    more = result.signature, result.higher_is_better, result.coverage
    return SweepRow(result.name, point.label, shown, threshold, score, numbers, *more)


def rank_by_score(rows: Sequence[SweepRow]) -> dict[str, int]:
    """Rank systems by their scores at one point: 1 is the best, and equal scores share the better rank.

    >>> scores = {"A": 20.0, "B": 30.0, "C": 20.0}
    >>> rank_by_score([SweepRow(system, "", {}, 0.8, score, {}, "") for system, score in scores.items()])
    {'A': 2, 'B': 1, 'C': 2}
    """
    from scipy.stats import rankdata

    # A number and a quantile may be one threshold: then a system has its score there twice.
    scores = {row.system: -row.score if row.higher_is_better else row.score for row in rows}
    ranks = rankdata(list(scores.values()), method="min")
    return {system: int(rank) for system, rank in zip(scores, ranks, strict=True)}


def table_of(rows: Sequence[SweepRow]) -> Records:
    """Make a tidy table: one row per system and point."""
    varied = dict.fromkeys(name for row in rows for name in row.varied)
    labels = ["variant"] if any(row.label for row in rows) else []
    columns = ["system", *labels, *varied, "threshold", "score", "signature"]
    named = [{**asdict(row), "variant": row.label, **row.varied} for row in rows]
    return Records(columns, [[row.get(name) for name in columns] for row in named], background=["signature"])
