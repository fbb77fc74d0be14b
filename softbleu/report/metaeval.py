"""Agreement of metrics with people as tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from softbleu.errors import UnknownNameError
from softbleu.report.plots import HeatMap, Scatter, draw
from softbleu.report.records import Records

if TYPE_CHECKING:
    from softbleu.experiments.agreement import MetricPair
    from softbleu.experiments.metaeval import MetaEvaluation
    from softbleu.experiments.tables import ResultTable

DRAWN = ("systems", "outputs", "williams")
"""Questions whose answers have a picture."""


def records_of(table: ResultTable, digits: int | None = None) -> Records:
    """Make what is written of a table, with so many decimals."""
    return Records(table.columns, table.rows, table.facts, table.empty, digits)


def check_picture(question: str) -> None:
    """See that there is a picture of an answer.

    Raises
    ------
    UnknownNameError
        There is none.
    """
    if question not in DRAWN:
        raise UnknownNameError("picture of table", question, DRAWN)


def draw_metaeval(found: MetaEvaluation, picture_format: str) -> bytes:
    """Draw scores of people against each metric's, a panel each; of `williams` the p-values, a panel a test.

    A p-value is how likely the row's metric is better than the column's by chance alone.

    Raises
    ------
    UnknownNameError
        There is no picture of that answer.
    """
    check_picture(found.question)
    if found.question != "williams":
        panels = [
            Scatter(
                name, name, each.human, list(zip(scores.tolist(), each.people.tolist(), strict=True)), each.points
            )
            for each in found.columns
            for name, scores in each.metrics.items()
        ]
        return draw(panels, picture_format)
    tests: dict[str, list[MetricPair]] = {}
    for pair in found.pairs:
        tests.setdefault(f"{pair.human}, {pair.coefficient}", []).append(pair)
    return draw([_heat(title, pairs) for title, pairs in tests.items()], picture_format)


def _heat(title: str, pairs: Sequence[MetricPair]) -> HeatMap:
    p_values = {(pair.better, pair.worse): pair.test.p_value for pair in pairs}
    values = {
        metric: value for pair in pairs for metric, value in zip((pair.better, pair.worse), pair.values, strict=True)
    }
    names = sorted(values, key=lambda metric: -values[metric])
    return HeatMap(title, names, [[p_values.get((row, column)) for column in names] for row in names])
