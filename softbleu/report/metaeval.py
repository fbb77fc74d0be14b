"""Agreement of metrics with people as tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, replace
from typing import TYPE_CHECKING

from softbleu.errors import InputError, UnknownNameError
from softbleu.experiments.annotators import annotator_agreement, mean_agreement
from softbleu.experiments.correlation import COEFFICIENTS
from softbleu.experiments.metaeval import agreements, compare_metrics, leave_one_out
from softbleu.experiments.preferences import preference_taus
from softbleu.report.plots import HeatMap, Scatter, draw
from softbleu.report.records import Records, Value

if TYPE_CHECKING:
    from softbleu.corpora.judgements import Comparisons
    from softbleu.experiments.evidence import Evidence, Sampling
    from softbleu.experiments.metaeval import Columns, MetricPair
    from softbleu.experiments.rankings import RankedSystem


Facts = Mapping[str, Value | Sequence[str]]


def make_metaeval(
    name: str, evidence: Evidence, sampling: Sampling, facts: Facts | None = None, digits: int = 3
) -> Records:
    """Make one of `TABLES`.

    - `systems`: correlations of metrics with human scores of systems;
    - `outputs`: the same with direct assessment of single outputs;
    - `preferences`: Kendall's tau of metrics with people's comparisons of outputs;
    - `williams`: tests of the differences of metrics;
    - `left-out`: the correlations without each system;
    - `ranking`: the systems as people rank them;
    - `annotators`: agreement among people.

    Raises
    ------
    UnknownNameError
        There is no such table.
    InputError
        The evidence is not enough for it.
    """
    if name not in TABLES:
        raise UnknownNameError("table", name, TABLES)
    return replace(TABLES[name](evidence, sampling, facts or {}), digits=digits)


def draw_metaeval(name: str, evidence: Evidence, picture_format: str) -> bytes:
    """Draw the picture that goes with a table: scores of people and metrics, or the p-values of `williams`.

    Raises
    ------
    UnknownNameError
        There is no picture of that table.
    """
    check_picture(name)
    return PICTURES[name](evidence, picture_format)


def check_picture(name: str) -> None:
    """See that there is a picture of a table.

    Raises
    ------
    UnknownNameError
        There is none.
    """
    if name not in PICTURES:
        raise UnknownNameError("picture of table", name, PICTURES)


def agreement_table(columns: Sequence[Columns], sampling: Sampling, facts: Facts) -> Records:
    """Make a row a metric and kind of human scores: three coefficients, each with its interval."""
    names = ["human", "metric", "points"]
    for coefficient in COEFFICIENTS:
        names += [coefficient, f"{coefficient}_low", f"{coefficient}_high"]
    rows: list[list[Value]] = []
    for each in columns:
        for found in agreements(each, sampling.samples, sampling.seed):
            row: list[Value] = [found.human, found.metric, found.points]
            for correlation in found.correlations.values():
                row += [correlation.value, *_ends(correlation.interval)]
            rows.append(row)
    return Records(names, rows, {**facts, **_sampled(sampling)})


def williams_table(columns: Sequence[Columns], facts: Facts) -> Records:
    """Make a row a pair of metrics: their correlations with people and with each other, and Williams' test."""
    names = ["human", "coefficient", "better", "worse", "r_better", "r_worse", "r_between", "t", "p_value"]
    rows: list[list[Value]] = [
        [*(pair.human, pair.coefficient, pair.better, pair.worse), *pair.values, pair.between, *astuple(pair.test)]
        for each in columns
        for pair in compare_metrics(each)
    ]
    return Records(names, rows, facts)


def left_out_table(columns: Sequence[Columns], facts: Facts) -> Records:
    """Make a row a metric and system left out: the correlations of the others, and how much more that is."""
    rows: list[list[Value]] = []
    for each in columns:
        whole = {found.metric: found.correlations for found in agreements(each, samples=0)}
        for point, found in leave_one_out(each):
            values = [correlation.value for correlation in found.correlations.values()]
            before = whole[found.metric]["pearson"].value
            change = None if before is None or values[0] is None else values[0] - before
            rows.append([each.human, found.metric, point, *values, change])
    return Records(["human", "metric", "without", *COEFFICIENTS, "pearson_change"], rows, facts)


def preference_table(evidence: Evidence, sampling: Sampling, facts: Facts) -> Records:
    """Make a row a metric and variant of tau, with the interval and the counts."""
    names = ["metric", "variant", "tau", "low", "high", "pairs", "untied", "concordant", "discordant", "skipped"]
    comparisons = _comparisons(evidence)
    if not evidence.metrics:
        raise InputError("there is no metric: give files of scores, or settings and a corpus to score")
    rows: list[list[Value]] = [
        [*(tau.metric, tau.variant, tau.value), *_ends(tau.interval), *(getattr(tau, name) for name in names[5:])]
        for table in evidence.metrics
        for tau in preference_taus(comparisons, table, sampling.samples, sampling.seed)
    ]
    return Records(names, rows, {**facts, **_sampled(sampling), "comparisons": len(comparisons)})


def ranking_table(rankings: Mapping[str, Sequence[RankedSystem]], facts: Facts) -> Records:
    """Make a row a system and way of ranking, the best first."""
    names = ["by", "system", "cluster", "score", "mean", "best", "worst", "wins", "ties", "losses"]
    rows: list[list[Value]] = [
        [by, each.name, *(getattr(each, name) for name in names[2:])]
        for by, ranked in rankings.items()
        for each in ranked
    ]
    return Records(names, rows, facts)


def annotator_table(comparisons: Comparisons, facts: Facts) -> Records:
    """Make a row a pair of annotators, after the weighted means over different ones and within each one."""
    found = annotator_agreement(comparisons)
    names = ["kappa", "observed", "expected", "comparisons"]
    rows: list[list[Value]] = []
    for name, within in (("all, with others", False), ("all, with themselves", True)):
        try:
            mean = mean_agreement(found, within=within)
        except InputError:
            # There may be one kind of agreement without the other, or pairs too small for a mean.
            continue
        rows.append([name, "", *(getattr(mean, column) for column in names)])
    rows += [[each.one, each.other, *(getattr(each, column) for column in names)] for each in found]
    return Records(["annotator", "other", *names], rows, facts, empty="nobody judged what another had judged")


def draw_scores(columns: Sequence[Columns], picture_format: str) -> bytes:
    """Draw people's scores against each metric's, a panel each."""
    panels = [
        Scatter(
            name,
            name,
            each.human,
            list(zip(column.tolist(), each.people.tolist(), strict=True)),
            each.points,
        )
        for each in columns
        for name, column in each.metrics.items()
    ]
    return draw(panels, picture_format)


def draw_williams(columns: Sequence[Columns], picture_format: str) -> bytes:
    """Draw the p-values: how likely the row's metric is better than the column's by chance alone; a panel a test."""
    panels = []
    for each in columns:
        pairs = compare_metrics(each)
        for coefficient in dict.fromkeys(pair.coefficient for pair in pairs):
            panels.append(_heat(f"{each.human}, {coefficient}", [p for p in pairs if p.coefficient == coefficient]))
    return draw(panels, picture_format)


def _heat(title: str, pairs: Sequence[MetricPair]) -> HeatMap:
    p_values = {(pair.better, pair.worse): pair.test.p_value for pair in pairs}
    values = {
        metric: value for pair in pairs for metric, value in zip((pair.better, pair.worse), pair.values, strict=True)
    }
    names = sorted(values, key=lambda metric: -values[metric])
    return HeatMap(title, names, [[p_values.get((row, column)) for column in names] for row in names])


def _ends(interval: tuple[float, float] | None) -> tuple[float | None, float | None]:
    return (None, None) if interval is None else interval


def _sampled(sampling: Sampling) -> dict[str, Value]:
    return {"samples": sampling.samples, "seed": sampling.seed}


def _comparisons(evidence: Evidence) -> Comparisons:
    if evidence.comparisons is None:
        raise InputError("there are no comparisons by people: give rankings")
    return evidence.comparisons


def _ranking(evidence: Evidence, sampling: Sampling, facts: Facts) -> Records:
    comparisons = _comparisons(evidence)
    said = {"comparisons": len(comparisons), "untied": int((comparisons.outcome != 0).sum())}
    drawn = {"runs": sampling.runs} if "trueskill" in evidence.rankings else {}
    return ranking_table(evidence.rankings, {**facts, **said, **_sampled(sampling), **drawn})


TABLES: dict[str, Callable[[Evidence, Sampling, Facts], Records]] = {
    "systems": lambda evidence, sampling, facts: agreement_table(evidence.of_systems(), sampling, facts),
    "outputs": lambda evidence, sampling, facts: agreement_table(evidence.of_outputs(), sampling, facts),
    "preferences": preference_table,
    "williams": lambda evidence, _, facts: williams_table(evidence.columns(), facts),
    "left-out": lambda evidence, _, facts: left_out_table(evidence.of_systems(), facts),
    "ranking": _ranking,
    "annotators": lambda evidence, _, facts: annotator_table(_comparisons(evidence), facts),
}
PICTURES: dict[str, Callable[[Evidence, str], bytes]] = {
    "systems": lambda evidence, picture_format: draw_scores(evidence.of_systems(), picture_format),
    "outputs": lambda evidence, picture_format: draw_scores(evidence.of_outputs(), picture_format),
    "williams": lambda evidence, picture_format: draw_williams(evidence.columns(), picture_format),
}
