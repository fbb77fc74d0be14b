"""The writers by name: of scores, comparisons and explanations; those of other tables are in `records`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from softbleu.io.tabular import Records
from softbleu.report.comparisons import (
    compare_json,
    comparison_records,
    comparison_tables,
    matrix_tables,
    pair_records,
)
from softbleu.report.explanations import explain_json, explain_jsonl, explain_text, explanation_records
from softbleu.report.records import RECORD_WRITERS, Formats, Written, records_latex, records_markdown
from softbleu.report.scores import score_records, signed_tables, write_json, write_jsonl, write_text

if TYPE_CHECKING:
    from softbleu.analysis.pages import Page
    from softbleu.report.layout import Layout
    from softbleu.results import ComparisonTable, Explanation, Result

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
        "markdown": lambda results, layout: signed_tables(results, layout, records_markdown),
        "latex": lambda results, layout: signed_tables(results, layout, records_latex),
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
_Comparers = Formats[Callable[[_Tables, "Layout"], Written]]


def _comparers(tables: Callable[[_Tables, Layout], list[Records]], rows: Callable[[_Tables, Layout], Records]) -> Any:
    """Writers of comparisons: for people several tables, one after the other, for programs all rows."""

    def of_tables(name: str) -> Callable[[_Tables, Layout], Iterator[str]]:
        def write(found: _Tables, layout: Layout) -> Iterator[str]:
            for number, table in enumerate(tables(found, layout)):
                yield "\n" if number else ""
                yield from RECORD_WRITERS[name](table, layout)  # type: ignore[misc]  # no bytes are written for people

        return write

    found: dict[str, Any] = {name: of_tables(name) for name in ("text", "markdown", "latex")}
    found |= {"json": compare_json, **_through(rows, "jsonl", "tsv", "csv", "parquet")}
    return Formats({name: found[name] for name in RECORD_WRITERS})


COMPARERS: _Comparers = _comparers(comparison_tables, comparison_records)
MATRIX_WRITERS: _Comparers = _comparers(matrix_tables, pair_records)  # The same with all pairs of systems
