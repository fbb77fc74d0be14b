"""Agreement of metrics with people as tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from softbleu.errors import known_name
from softbleu.meta.agreement import TESTED, Columns, MetricAgreement, MetricPair
from softbleu.report.plots import HeatMap, Rows, Scatter, draw, in_rows

if TYPE_CHECKING:
    from softbleu.meta.metaeval import MetaEvaluation

DRAWN = ("systems", "outputs", "williams")  # Questions whose answers have a picture


def check_picture(question: str) -> None:
    """See that there is a picture of an answer."""
    known_name("table with a picture", question, DRAWN)


def draw_metaeval(found: MetaEvaluation, picture_format: str) -> bytes:
    """Draw what there is to draw of an answer; see `metaeval_panels` and `plots.draw`."""
    return draw(metaeval_panels(found), picture_format)


def metaeval_panels(found: MetaEvaluation) -> Rows:
    """Scores of people against each metric's, a panel each with Pearson's r; of `williams` p-values, a panel a test.

    Panels that stand in a row have the same people. A p-value is how likely the row's metric is better than the
    column's by chance alone.
    """
    check_picture(found.question)
    if found.question != "williams":
        return [
            row
            for each, correlated in zip(found.columns, found.agreements, strict=True)
            for row in in_rows([_scatter(each, agreement) for agreement in correlated])
        ]
    tests: dict[str, list[MetricPair]] = {}
    for pair in found.pairs:
        tests.setdefault(f"{pair.human}, {pair.coefficient}", []).append(pair)
    return in_rows([_heat(title, pairs) for title, pairs in tests.items()], len(TESTED))


def _scatter(columns: Columns, agreement: MetricAgreement) -> Scatter:
    metric, pearson = agreement.metric, agreement.correlations["pearson"]
    points = list(zip(columns.metrics[metric].tolist(), columns.people.tolist(), strict=True))
    note = "r is not defined" if pearson.value is None else f"r = {pearson.value:.3f}"
    if pearson.interval is not None:
        note += " [{:.3f}, {:.3f}]".format(*pearson.interval)
    return Scatter(metric, metric, columns.human, points, columns.points, note)


def _heat(title: str, pairs: Sequence[MetricPair]) -> HeatMap:
    p_values = {(pair.better, pair.worse): pair.test.p_value for pair in pairs}
    values = {
        metric: value for pair in pairs for metric, value in zip((pair.better, pair.worse), pair.values, strict=True)
    }
    names = sorted(values, key=lambda metric: -values[metric])
    return HeatMap(title, names, [[p_values.get((row, column)) for column in names] for row in names])
