"""Comparisons of systems: a table of the best first for people, rows in the order given for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from softbleu.report.records import SCHEMA, Records, dump, records_tsv

if TYPE_CHECKING:
    from softbleu.report.layout import Layout
    from softbleu.scoring import ComparisonTable

SIGNIFICANT = 0.05


def comparison_table(table: ComparisonTable, layout: Layout) -> Records:
    """Make a row a system; a star marks a difference from the baseline with p < 0.05."""
    rows = []
    ordered = sorted(table.comparisons, key=lambda row: row.rank)
    for row in ordered:
        p_value = "baseline"
        if row.p_value is not None:
            p_value = f"{row.p_value:.4f}" + ("*" if row.p_value < SIGNIFICANT else " ")
        scores = [f"{number:.{layout.digits}f}" for number in (row.score, *row.interval)]
        rows.append([row.name, str(row.rank), *scores, p_value])
    return Records(
        ["system", "rank", table.label, "95% from", "to", "p"],
        rows,
        notes=[
            *([f"* p < {SIGNIFICANT} against {table.baseline}"] if len(rows) > 1 else []),
            f"signature: {table.signature if layout.long_signature else table.short_signature}",
        ],
        text_columns=1,
        marked=[(number, column) for number, row in enumerate(ordered) if row.rank == 1 for column in (0, 2)],
    )


def comparison_records(table: ComparisonTable, layout: Layout) -> Records:
    """Make a row a system with all numbers, in the order given."""
    columns = ["system", "score", "mean", "lower", "upper", "p_value", "rank"]
    return Records(
        columns, [[row.name, row.score, row.mean, *row.interval, row.p_value, row.rank] for row in table.comparisons]
    )


def compare_json(table: ComparisonTable, layout: Layout) -> Iterator[str]:
    """Write one JSON object, a system a line."""
    yield f'{{"schema": {SCHEMA}, "signature": {dump(table.signature)}, '
    yield f'"baseline": {dump(table.baseline)}, "systems": ['
    for number, row in enumerate(table.comparisons):
        yield (",\n" if number else "\n") + dump(asdict(row))
    yield "\n]}\n"


def write_distribution(table: ComparisonTable) -> Iterator[str]:
    """Write the bootstrap scores as tab-separated values, a column a system."""
    from softbleu.report.layout import Layout

    names = [row.name for row in table.comparisons]
    return records_tsv(Records(names, table.resampled.T.tolist()), Layout())
