"""Rankings of metrics over tasks: a table with clusters, and a page that shades them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from softbleu.formats import Layout
from softbleu.meta.campaign import AVERAGE, CLUSTER, GREATEST_P
from softbleu.report.html import explained, page_section, sortable_table, static_page, visible_html
from softbleu.tables import Table, TableColumn

if TYPE_CHECKING:
    from softbleu.meta.questions import MetaEvaluation
    from softbleu.types import Fields

_SHADES = 4  # Clusters with a shade of their own


def reader_table(evaluation: MetaEvaluation) -> Table:
    """Make the table with short names of the columns of clusters."""
    table = evaluation.table
    columns = [TableColumn(name, "#" if name.endswith(CLUSTER) else name) for name in table.columns]
    note = f"#: cluster, which ends before a metric that one of it outperforms (p ≤ {GREATEST_P})"
    return replace(table, shown=columns, notes=[note, *table.notes], text_columns=1)


def write_ranking(evaluation: MetaEvaluation, layout: Layout) -> Iterator[str]:
    """Write a page that needs no other file: a row per metric, sorted by a click on a head, clusters shaded."""
    metrics, tasks = len(evaluation.table.rows), len(evaluation.tasks)
    counted = f"{metrics} metrics, {tasks} task{'s' * (tasks != 1)}"
    facts = ", ".join(f"{name} {value}" for name, value in evaluation.table.facts.items() if name in _SHOWN)
    return static_page(counted, facts, _content(evaluation, layout), "sort.js")


_SHOWN = ("permutations", "exchanged", "seed")


def _content(evaluation: MetaEvaluation, layout: Layout) -> Iterator[str]:
    table = evaluation.table
    heads = [
        TableColumn(name, name, digits=layout.decimals()) for name in table.columns if not name.endswith(CLUSTER)
    ]
    yield from sortable_table(replace(table, shown=heads), "Metrics", _cell)
    mean = "the mean over tasks, where a metric has all; " + str(table.facts.get(AVERAGE, "of shares"))
    meanings = {
        **({AVERAGE: mean} if AVERAGE in table.columns else {}),
        "small numbers, shades": f"clusters: one ends before a metric that one of it outperforms (p ≤ {GREATEST_P})",
        "–": "the metric has no score for the task, or gives all outputs the same",
    }
    yield from page_section("Columns", explained(meanings))
    weights = (f"{name}: {value:.3f}" for name, value in table.facts.items() if isinstance(value, float))
    for note in (*weights, *table.notes, *evaluation.notes):
        yield f'<p class="note">{visible_html(note)}</p>\n'


def _cell(column: TableColumn, row: Fields) -> tuple[str, str]:
    cluster = row[f"{column.name}{CLUSTER}"]
    shade = f" cluster-{cluster}" if isinstance(cluster, int) and cluster <= _SHADES else ""
    return shade, column.cell(row) + ("" if cluster is None else f" <small>{cluster}</small>")
