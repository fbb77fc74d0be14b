"""Comparisons of systems: text, JSON, TSV, Markdown, LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from softbleu.report.data import SCHEMA, dump
from softbleu.report.layout import one_line
from softbleu.report.markup import latex_table, markdown_table
from softbleu.report.table import Table, label_of, shown_signature
from softbleu.report.text import draw_table

if TYPE_CHECKING:
    from softbleu.report.layout import Layout
    from softbleu.scoring import Comparison, ComparisonTable

SIGNIFICANT = 0.05


def compare_text(comparisons: ComparisonTable, layout: Layout) -> Iterator[str]:
    """Write one table, the best first; a star marks a difference from the baseline with p < 0.05."""
    ordered = _ranked(comparisons)
    table = _table(comparisons, ordered, layout.digits)
    yield from draw_table(table, [row.rank == 1 for row in ordered], layout)
    yield f"\n* p < {SIGNIFICANT} against {one_line(comparisons.baseline)}\n"
    yield f"signature: {one_line(shown_signature(comparisons, layout))}\n"


def compare_json(comparisons: ComparisonTable, layout: Layout) -> Iterator[str]:
    """Write one JSON object, a system a line."""
    yield f'{{"schema": {SCHEMA}, "signature": {dump(comparisons.signature)}, '
    yield f'"baseline": {dump(comparisons.baseline)}, "systems": ['
    for number, row in enumerate(comparisons.comparisons):
        yield (",\n" if number else "\n") + dump(asdict(row))
    yield "\n]}\n"


def compare_tsv(comparisons: ComparisonTable, layout: Layout) -> Iterator[str]:
    """Write a line of column names, and a line a system."""
    yield "system\tscore\tmean\tlower\tupper\tp_value\trank\n"
    for row in comparisons.comparisons:
        numbers = (row.score, row.mean, *row.interval, row.p_value, row.rank)
        yield "\t".join((one_line(row.name), *("" if n is None else dump(n) for n in numbers))) + "\n"


def compare_markdown(comparisons: ComparisonTable, layout: Layout) -> Iterator[str]:
    """Write a Markdown table, the best first."""
    table = _table(comparisons, _ranked(comparisons), layout.digits)
    yield from markdown_table(table, shown_signature(comparisons, layout))


def compare_latex(comparisons: ComparisonTable, layout: Layout) -> Iterator[str]:
    """Write a LaTeX tabular, the best first."""
    table = _table(comparisons, _ranked(comparisons), layout.digits)
    yield from latex_table(table, shown_signature(comparisons, layout))


def write_distribution(comparisons: ComparisonTable) -> Iterator[str]:
    """Write the bootstrap scores as tab-separated values, a column a system."""
    yield "\t".join(one_line(row.name) for row in comparisons.comparisons) + "\n"
    for scores in comparisons.resampled.T.tolist():
        yield "\t".join(map(dump, scores)) + "\n"


def _ranked(comparisons: ComparisonTable) -> list[Comparison]:
    return sorted(comparisons.comparisons, key=lambda row: row.rank)


def _table(comparisons: ComparisonTable, rows: Sequence[Comparison], digits: int) -> Table:
    header = ["system", "rank", label_of(comparisons.signature), "95% from", "to", "p"]
    return Table(header, [_row(row, digits) for row in rows])


def _row(row: Comparison, digits: int) -> list[str]:
    low, high = row.interval
    p_value = "baseline"
    if row.p_value is not None:
        p_value = f"{row.p_value:.4f}" + ("*" if row.p_value < SIGNIFICANT else " ")
    scores = [f"{number:.{digits}f}" for number in (row.score, low, high)]
    return [row.name, str(row.rank), *scores, p_value]
