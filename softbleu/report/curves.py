"""Curves of partial scores: for readers a table of places by system, for programs a row for each prefix."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from softbleu import report
from softbleu.formats import Layout
from softbleu.report.comparisons import cut_notes, share_name
from softbleu.report.scores import signature_notes
from softbleu.results.verdicts import distinct_labels
from softbleu.tables import Table, TableColumn, Value

if TYPE_CHECKING:
    from softbleu.results.comparison import Comparison
    from softbleu.results.prefixes import Curves, PrefixScore

PREFIX_COLUMNS = ("system", "metric", "segment", "prefix", "tokens", "length", "score", "signature")


def _known(row: Iterable[Value]) -> list[Value]:
    """Return a row with None for NaN."""
    return [None if value != value else value for value in row]


def prefix_records(scores: Iterable[PrefixScore]) -> Table:
    """Make a row for each prefix, which is computed when it is written."""
    rows = (_known(getattr(score, name) for name in PREFIX_COLUMNS) for score in scores)
    return Table(PREFIX_COLUMNS, cast("Sequence[Sequence[Value]]", rows))


def curve_records(curves: Curves, layout: Layout) -> Table:
    """Make a row per metric and system, with a column for each place where outputs are cut."""
    places = list(dict.fromkeys(place for one in curves.curves for place in one.scores))
    several = len({one.metric for one in curves.curves}) > 1
    named = [*zip(distinct_labels(curves.curves), curves.curves, strict=True)]
    rows = [_known([one.system, name, *map(one.scores.get, places), one.whole]) for name, one in named]
    decimals = {
        (one.system, name): layout.decimals([*one.scores.values(), one.whole], in_percent=one.in_percent)
        for name, one in named
    }
    by_share = curves.unit == "fraction"
    heads = [share_name(place) if by_share else f"{place:,}" for place in places]
    notes = cut_notes() if by_share else cut_notes("after so many tokens")
    signatures = dict.fromkeys(signature_notes([(name * several, one) for name, one in named], layout))
    names = [TableColumn("system"), *[TableColumn("metric")] * several]
    return Table(
        ["system", "metric", *heads, "whole"],
        rows,
        notes=[*notes, *signatures],
        digits=lambda row: decimals[row["system"], row["metric"]],
        text_columns=len(names),
        shown=[*names, *(TableColumn(head, head, missing="") for head in [*heads, "whole"])],
    )


def fraction_lines(tests: Comparison) -> list[Sequence[report.plots.Lines]]:
    """Plot the partial scores of systems by fraction with their intervals, a panel per metric."""
    return report.plots.in_rows([*map(_panel, tests)], 2)


def _panel(table: Comparison) -> report.plots.Lines:
    lines: dict[str, list[tuple[float, float]]] = {}
    bands: dict[str, list[tuple[float, float]]] = {}
    for row in sorted(table.rows, key=lambda row: row.fraction or 2):  # Whole outputs last
        lines.setdefault(row.system, []).append((100 * (row.fraction or 1), row.score))
        bands.setdefault(row.system, []).append((row.lower, row.upper))
    title = f"{table.label} of unfinished outputs, and of whole ones at 100%; 95% intervals"
    return report.plots.Lines(title, "% of the output", table.label, lines, bands=bands)
