"""The writers by name: of scores, comparisons and explanations; those of other tables are in `records`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from softbleu.report.comparisons import (
    compare_json,
    comparison_records,
    comparison_tables,
    matrix_tables,
    pair_records,
)
from softbleu.report.explanations import explain_json, explain_jsonl, explain_text, explanation_records
from softbleu.report.records import RECORD_WRITERS, Formats, Written
from softbleu.report.scores import score_records, write_json, write_jsonl, write_latex, write_markdown, write_text
from softbleu.tabular import Records

if TYPE_CHECKING:
    from softbleu.analysis.pages import Page
    from softbleu.report.layout import Layout
    from softbleu.scoring import ComparisonTable, Explanation, Result

Subject = TypeVar("Subject")


def _through(
    make: Callable[[Subject, Layout], Records], *names: str
) -> dict[str, Callable[[Subject, Layout], Written]]:
    """Writers of what is made into a table first."""

    def writer(name: str) -> Callable[[Subject, Layout], Written]:
        return lambda subject, layout: RECORD_WRITERS[name](make(subject, layout), layout)

    return {name: writer(name) for name in names}


def _write_html(page: Page, layout: Layout) -> Iterator[str]:
    # Loaded when there is a page to write: it needs NumPy, which a start does without.
    from softbleu.report.html import write_html

    return write_html(page, layout)


WRITERS: Formats[Callable[[Sequence[Result], Layout], Written]] = Formats(
    {
        "text": write_text,
        "json": write_json,
        "jsonl": write_jsonl,
        **_through(score_records, "tsv"),
        "markdown": write_markdown,
        "latex": write_latex,
        **_through(score_records, "csv", "parquet"),
    }
)
PAGES: Formats[Callable[[Page, Layout], Iterator[str]]] = Formats({"html": _write_html})
"""Formats of scores that show more than scores."""
EXPLAINERS: Formats[Callable[[Sequence[Explanation], Layout], Written]] = Formats(
    {
        "text": explain_text,
        "json": explain_json,
        "jsonl": explain_jsonl,
        **_through(explanation_records, "tsv", "csv", "markdown", "latex", "parquet"),
    }
)
_Tables = Sequence["ComparisonTable"]
_Writers = dict[str, Callable[[_Tables, "Layout"], Written]]


def _of_tables(
    write: Callable[[_Tables, Layout, Callable[[Records, Layout], Iterator[str]]], Iterator[str]], *names: str
) -> _Writers:
    """Writers of several tables, one after the other."""

    def writer(name: str) -> Callable[[_Tables, Layout], Written]:
        each: Any = RECORD_WRITERS[name]
        return lambda tables, layout: write(tables, layout, each)

    return {name: writer(name) for name in names}


COMPARERS: Formats[Callable[[_Tables, Layout], Written]] = Formats(
    {
        **_of_tables(comparison_tables, "text"),
        "json": compare_json,
        **_through(comparison_records, "jsonl", "tsv"),
        **_of_tables(comparison_tables, "markdown", "latex"),
        **_through(comparison_records, "csv", "parquet"),
    }
)
MATRIX_WRITERS: Formats[Callable[[_Tables, Layout], Written]] = Formats(
    {
        **_of_tables(matrix_tables, "text"),
        "json": compare_json,
        **_through(pair_records, "jsonl", "tsv"),
        **_of_tables(matrix_tables, "markdown", "latex"),
        **_through(pair_records, "csv", "parquet"),
    }
)
"""The same with all pairs of systems."""
