"""Rankings of metrics over tasks: a table with clusters, and a page that shades them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from softbleu.errors import counted
from softbleu.formats import Layout
from softbleu.meta.campaign import AVERAGE, CLUSTER, GREATEST_P
from softbleu.report.answers import list_names, make_evaluation_page, write_answer
from softbleu.report.html import explained, page_section, sortable_table, static_page
from softbleu.report.plots import readable_measure
from softbleu.tables import Table, TableColumn

if TYPE_CHECKING:
    from softbleu.meta.questions import MetaEvaluation
    from softbleu.types import Fields

_SHADES = 4  # Clusters with a shade of their own
_CLUSTERS = f"a new cluster starts at the first metric significantly below one in the cluster (p ≤ {GREATEST_P})"


def reader_table(evaluation: MetaEvaluation) -> Table:
    """Make the table with short names of the columns of clusters."""
    table = evaluation.table
    columns = [TableColumn(name, "#" if name.endswith(CLUSTER) else name) for name in table.columns]
    return replace(table, shown=columns, notes=[f"#: {_CLUSTERS}", *table.notes], text_columns=1)


def write_evaluation(evaluation: MetaEvaluation, layout: Layout) -> Iterator[str]:
    """Write a page that needs no other file: the answer in a sentence, and the table behind it.

    A ranking of metrics is sorted by a click on a head, and its clusters are shaded.
    """
    if evaluation.question != "metrics":
        return write_answer(make_evaluation_page(evaluation), layout)
    metrics, tasks = len(evaluation.table.rows), counted(len(evaluation.tasks), "task")
    title = f"Agreement with human judgements: {metrics} metrics, {tasks}"
    facts = ", ".join(f"{name} {value}" for name, value in evaluation.table.facts.items() if name in _SHOWN)
    weights = (f"{name}: {value:.3f}" for name, value in evaluation.table.facts.items() if isinstance(value, float))
    notes = [*weights, *evaluation.table.notes, *evaluation.notes]
    content = _content(evaluation.table, layout)
    return static_page(title, facts, content, "sort.js", verdict=_verdict(evaluation), notes=notes)


_SHOWN = ("permutations", "exchanged", "seed")


def _verdict(evaluation: MetaEvaluation) -> str:
    """Name the metrics that agree best with the judges, by the average or the only task."""
    by = evaluation.table.columns[1]
    best = [str(row["metric"]) for row in evaluation.records() if row[f"{by}{CLUSTER}"] == 1]
    over = "on average" if by == AVERAGE else f"by {readable_measure(by)}"
    if len(best) > 1:
        return f"{list_names(best)} agree best with the judges {over}, and cannot be told apart."
    return f"{best[0]} agrees best with the judges {over}." if best else "No metric has a score for every task."


def _content(table: Table, layout: Layout) -> Iterator[str]:
    shown = [name for name in table.columns if not name.endswith(CLUSTER)]
    heads = [TableColumn(name, readable_measure(name), digits=layout.decimals()) for name in shown]
    yield from sortable_table(replace(table, shown=heads), "Metrics", _cell)
    mean = "mean over tasks, of metrics that have a score for each"
    mean += f": {table.facts[AVERAGE]}" if AVERAGE in table.facts else ""
    meanings = {
        **({AVERAGE: mean} if AVERAGE in table.columns else {}),
        "numbers": "shares from 0 to 1, or correlations from −1 to 1; greater agrees better",
        "small numbers, shades": f"clusters: {_CLUSTERS}",
        "–": "the metric has no score for the task, or scores all outputs the same",
    }
    yield from page_section("Columns", explained(meanings))


def _cell(column: TableColumn, row: Fields) -> tuple[str, str]:
    cluster = row[f"{column.name}{CLUSTER}"]
    shade = f" cluster-{cluster}" if isinstance(cluster, int) and cluster <= _SHADES else ""
    return shade, column.cell(row) + ("" if cluster is None else f" <small>{cluster}</small>")
