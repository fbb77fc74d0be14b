"""Grids of settings, and their scores in one similarity pass for each system and choice of vectors."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from decimal import Context, Decimal, InvalidOperation, localcontext
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from softbleu.config.declare import format_value
from softbleu.config.earlier import also_named
from softbleu.corpora.corpus import Against, Corpus, References, Texts, make_corpus
from softbleu.corpora.edits import GoldSegment
from softbleu.engine.notes import note_coverage
from softbleu.engine.plan import GivenMetrics, key_of, make_plan, threshold_of
from softbleu.engine.runner import RunOptions, running
from softbleu.engine.statistics import Statistics
from softbleu.errors import InputError, Parameter, UnknownNameError
from softbleu.io.arguments import check_run, listed, read_number
from softbleu.io.progress import shown
from softbleu.metrics.base import Metric
from softbleu.metrics.declared import every_setting
from softbleu.metrics.protocols import ReadsRows, at_level
from softbleu.metrics.reading import fit_metric, read_settings
from softbleu.metrics.result import Coverage, Result
from softbleu.resample import ends
from softbleu.results.comparison import bootstrap_scores
from softbleu.results.significance import SignificanceSettings
from softbleu.results.slices import outputs_family
from softbleu.tables import ResultList, Table
from softbleu.types import Cells, Fields, Progress

if TYPE_CHECKING:
    from softbleu.metrics.keywords import Settings

MOST_STEPS = 10_001
USUAL_MATCHERS = ("exact", "sleu", "vleu", "xleu")
_SWEPT = ("metric", "matcher", "threshold")
_IN_TABLE = (*_SWEPT, "quantile")
"""Settings with their own column in every table; other settings have one if they vary."""


@dataclass(frozen=True)
class SweepPoint:
    """One way to score."""

    label: str  # Distinguishes points with the same settings; may be empty
    metric: Metric


@dataclass(frozen=True)
class SweepRow:
    """The score of one system at one point."""

    system: str
    label: str
    varied: dict[str, str | float | None]  # Settings that differ between points, by name
    threshold: float | None  # As a number, even for a quantile
    score: float  # 0 to 100
    numbers: Cells  # Precisions, lengths and so on, by the metric
    signature: str  # Everything the score depends on
    higher_is_better: bool = True
    coverage: Coverage | None = None
    interval: tuple[float, float] | None = None  # 95%, if the sweep was asked for intervals

    def records(self) -> list[Cells]:
        """Return the row without its signature."""
        named = {"variant": self.label} if self.label else {}
        return [{"system": self.system, **named, **self.varied, "threshold": self.threshold, "score": self.score}]


def sweep_points(
    base: Fields,
    vary: Mapping[str, Sequence[object]],
    variants: Mapping[str, Fields] | None = None,
) -> list[SweepPoint]:
    """Make a grid of every variant with all combinations of values; settings that a metric lacks do not multiply it.

    `base` has the common settings, including the metric; `vary` has values by setting (thresholds are numbers, or
    quantiles such as `p99.9`); `variants` has additional settings by label.

    >>> points = sweep_points({}, {"matcher": ["exact", "vleu"], "threshold": [0.7, 0.8]})
    >>> [str(point.metric) for point in points]
    ['bleu', 'vleu(threshold=0.7)', 'vleu(threshold=0.8)']
    """
    if not isinstance(vary, Mapping) or not all(isinstance(name, str) for name in vary):
        raise InputError(Parameter("vary"), f" must be lists of values by names of settings, not {vary!r}")
    vary = {name: listed(f"values of {name!r}", values, "a list") for name, values in vary.items()}
    if any(not values for values in vary.values()):
        raise InputError("a sweep needs at least one value of everything that varies")
    points: dict[object, SweepPoint] = {}
    for label, options in (variants or {"": {}}).items():
        for values in product(*map(dict.fromkeys, vary.values())):
            settings = {"metric": "bleu", **base, **options, **dict(zip(vary, values, strict=True))}
            metric = fit_metric(settings.pop("metric"), settings)
            # Vectors in memory cannot be hashed, nor always compared.
            points[label, key_of(metric)] = SweepPoint(label, metric)
    return list(points.values())


def read_points(
    metrics: Sequence[str],
    matchers: Sequence[str],
    thresholds: Sequence[str],
    vary: Sequence[str],
    chosen: Callable[[Sequence[str]], Mapping[str, object]],
) -> list[SweepPoint]:
    """Make a point of every metric with every matcher, at every threshold and all variations, each given as text.

    Without `matchers` each metric has its own, or `USUAL_MATCHERS`. Settings are `chosen` by the names of a metric
    and its matchers.

    >>> points = read_points(["bleu"], ["exact", "sleu"], ["0.5"], ["order=2,3"], lambda _: {})
    >>> [str(point.metric) for point in points]
    ['bleu(order=2)', 'bleu(order=3)', 'sleu(threshold=0.5, order=2)', 'sleu(threshold=0.5, order=3)']
    """
    grid, more = read_thresholds(thresholds), read_variations(vary)
    points: list[SweepPoint] = []
    for metric in metrics:
        head, texts = read_settings(metric)
        names = matchers or ([texts["matcher"]] if "matcher" in texts else USUAL_MATCHERS)
        settings = chosen((head, *names))
        for name in more:
            if name in texts or name in settings:
                raise InputError(f"{name} has one value already: leave it out, or ", Parameter("vary", name))
        points += sweep_points({"metric": metric, **settings}, {"matcher": names, "threshold": grid, **more})
    for name in more:
        if not any(one.name == name for point in points for one, _ in point.metric.settings()):
            raise InputError(Parameter("vary", name), ": no metric and no matcher here has that setting")
    return points


def read_thresholds(texts: Sequence[str]) -> list[float | str]:
    """Read thresholds: numbers, ranges `from:to:step` (the end included) and quantiles, several joined by commas.

    >>> read_thresholds(["0:0.3:0.1", "0.75,p99.9"])
    [0.0, 0.1, 0.2, 0.3, 0.75, 'p99.9']
    """
    thresholds: list[float | str] = []
    for part in (part.strip() for text in texts for part in text.split(",")):
        if part.startswith("p"):
            thresholds.append(part)
        elif ":" in part:
            thresholds += _range(part)
        else:
            thresholds.append(float(_number(part, part)))
    return list(dict.fromkeys(thresholds))


def read_variations(texts: Sequence[str]) -> dict[str, list[object]]:
    """Read values of settings, each text `NAME=V1,V2`; a value with a comma is quoted.

    >>> read_variations(["order=2,4", 'vectors-postprocess=none,"mean,pc:2"'])
    {'order': [2, 4], 'vectors_postprocess': ['none', 'mean,pc:2']}
    """
    varied: dict[str, list[object]] = {}
    known = every_setting()
    for text in texts:
        key, equals, values = text.partition("=")
        name = key.replace("-", "_")
        if not equals or name in _SWEPT:
            said = f" takes NAME=V1,V2 of a setting other than {', '.join(_SWEPT)}, not {text!r}"
            raise InputError(Parameter("vary"), said)
        if name not in known:
            raise UnknownNameError("setting", key, sorted(setting.key for setting in known.values()))
        try:
            row = next(csv.reader([values], skipinitialspace=True))
        except csv.Error as error:
            said = f" takes values with commas between them, in one line ({error})"
            raise InputError(Parameter("vary", key), said) from None
        varied.setdefault(name, []).extend(map(known[name].parse, row))
    return varied


def _range(text: str) -> list[float]:
    parts = text.split(":")
    if len(parts) != 3:
        raise InputError(f"a range of thresholds is 'from:to:step', such as 0:1:0.02, not {text!r}")
    # In decimals, so that three times 0.1 is 0.3.
    start, end, step = (_number(part, text) for part in parts)
    # Numbers that are too large become infinite.
    with localcontext(Context(traps=[])):
        if step <= 0 or end < start or end - start >= step * MOST_STEPS:
            raise InputError(f"a range of thresholds goes up, in at most {MOST_STEPS:,} steps, not {text!r}")
        return [float(start + step * number) for number in range(int((end - start) / step) + 1)]


def _number(text: str, whole: str) -> Decimal:
    try:
        number = read_number(Decimal, text)
    except (InvalidOperation, ValueError):
        number = Decimal("NaN")
    if not number.is_finite():
        raise InputError(f"thresholds are numbers, ranges such as 0:1:0.02 or quantiles such as p99.9, not {whole!r}")
    return number


@also_named(metric="metrics")
def sweep(
    candidates: Texts,
    references: References | None = None,
    source: Iterable[str] | None = None,
    *,
    metrics: GivenMetrics = "bleu",
    vary: Mapping[str, Sequence[object]],
    gold: Sequence[GoldSegment] | None = None,
    against: Against = "references",
    jobs: int = 1,
    executor: Executor | None = None,
    progress: Progress | bool | None = None,
    **settings: Unpack[Settings],
) -> ResultList[SweepRow]:
    """Score every system with every combination of varied settings, in one pass over the similarities.

    Parameters
    ----------
    vary
        Values by the name of the setting; see `sweep_points`.
    settings
        Settings that do not vary. The other parameters are as for `softbleu.score`.

    Examples
    --------
    >>> vectors = {"cat": [1.0, 0.0], "dog": [0.6, 0.8]}
    >>> vary = {"threshold": [0.5, 0.7]}
    >>> rows = sweep(["a cat"], ["a dog"], metrics="vleu", order=1, vectors=vectors, vary=vary)
    >>> [(row.threshold, round(row.score)) for row in rows]
    [(0.5, 80), (0.7, 50)]
    """
    corpus = make_corpus(candidates, references, source, gold, against=against)
    several = metrics if isinstance(metrics, list | tuple) else [metrics]
    points = [point for metric in several for point in sweep_points({"metric": metric, **settings}, vary)]
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
    intervals: bool = False,
) -> ResultList[SweepRow]:
    """Score every system of a corpus at every point.

    The corpus is prepared once. Points with the same vectors and tokens are computed together: the products of words
    once for all of them, and similarities and assignment once for all thresholds. Every score equals that of a run
    for itself. `checkpoint` is the folder, by path or URL, from which an interrupted sweep goes on (see
    `softbleu.engine.checkpoint`); the caller removes it when all is written.

    Parameters
    ----------
    corpus
        Candidates of the systems, and the texts that the metrics need.
    points
        Points from `sweep_points`.
    jobs, executor
        Number of processes, or an executor to use instead; the digits do not depend on them.
    checkpoint
        Folder, by path or URL, from which an interrupted sweep goes on.
    progress
        Called with the number of systems that are done; of one system, with the number of segments.
    intervals
        Whether each row has a 95% interval, by the bootstrap of `softbleu.compare`.
    """
    check_run(jobs, executor, progress)
    plan = make_plan([point.metric for point in points]).over(corpus, keep_rows=intervals)
    varied, rows = _varied(points), ResultList[SweepRow]()
    by_segment = progress if len(corpus.systems) == 1 else None
    with running(corpus, plan, RunOptions(jobs, executor, checkpoint=checkpoint, progress=by_segment)) as runner:
        for number, system in enumerate(corpus.systems, start=1):
            for metric in plan.metrics:
                runner.prepared(metric)
            scored = zip(points, runner.collect(plan.metrics, system=system), strict=True)
            for point, statistics in scored:
                row = _row(point, statistics.metric, statistics.results()[0], varied)
                rows.append(replace(row, interval=_interval(statistics)) if intervals else row)
            if progress is not None and by_segment is None:
                progress(number, len(corpus.systems))
    note_coverage((row.system, str(row.varied.get("matcher", row.varied["metric"])), row.coverage) for row in rows)
    return rows


def _interval(statistics: Statistics) -> tuple[float, float] | None:
    """Bootstrap the 95% interval of one system; None where the metric has no score of the corpus."""
    if not at_level(statistics.metric, "corpus").aggregation.has_corpus_score:
        return None
    family = outputs_family(statistics, statistics.systems[0], SignificanceSettings())
    low, high = ends(bootstrap_scores(family)[0][0, 0])
    return float(low), float(high)


def _varied(points: Sequence[SweepPoint]) -> list[str]:
    """Return the names of the settings that differ between points."""
    values: dict[str, set[str]] = {}
    for point in points:
        for setting, value in () if isinstance(point.metric, ReadsRows) else point.metric.settings():
            values.setdefault(setting.name, set()).add(repr(value))
    return [name for name, different in values.items() if len(different) > 1 and name not in _IN_TABLE]


def _plain(name: str, value: object) -> str | float | None:
    if name == "vectors":
        # Tables show only the name; the signature has the content.
        return Path(value).name if isinstance(value, str | Path) else type(value).__name__
    return value if value is None or isinstance(value, float) else format_value(value)


def _row(point: SweepPoint, metric: Metric, result: Result, varied: Sequence[str]) -> SweepRow:
    name = metric.label if isinstance(metric, ReadsRows) else metric.name
    settings = {"metric": name, **{setting.name: value for setting, value in metric.settings()}}
    shown: Cells = {name: settings[name] for name in ("metric", "matcher") if name in settings}
    if metric.vector_choice.quantile:
        shown["quantile"] = metric.vector_choice.quantile
    shown |= {name: _plain(name, settings.get(name)) for name in varied}
    value, numbers = threshold_of(metric), result.numbers.as_dict()
    threshold, score = value if isinstance(value, float) else None, numbers.pop("score")
    more = result.signature, result.higher_is_better, result.coverage
    return SweepRow(result.name, point.label, shown, threshold, score, numbers, *more)


def rank_by_score(rows: Sequence[SweepRow]) -> dict[str, int]:
    """Rank systems by their scores at one point: 1 is the best, and equal scores share the better rank.

    >>> scores = {"A": 20.0, "B": 30.0, "C": 20.0}
    >>> rank_by_score([SweepRow(system, "", {}, 0.8, score, {}, "") for system, score in scores.items()])
    {'A': 2, 'B': 1, 'C': 2}
    """
    from scipy.stats import rankdata

    # A number and a quantile may be the same threshold; then a system has two equal scores.
    scores = {row.system: -row.score if row.higher_is_better else row.score for row in rows}
    ranks = rankdata(list(scores.values()), method="min")
    return {system: int(rank) for system, rank in zip(scores, ranks, strict=True)}


def table_of(rows: Sequence[SweepRow]) -> Table:
    """Make a tidy table: one row per system and point."""
    varied = dict.fromkeys(name for row in rows for name in row.varied)
    labels = ["variant"] if any(row.label for row in rows) else []
    columns = ["system", *labels, *varied, "threshold", "score", "signature"]
    named = [{**asdict(row), "variant": row.label, **row.varied} for row in rows]
    return Table.of(named, columns, background=["signature"])
