"""Results as text: tables of writers by name, for scores, comparisons, explanations and other tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from softbleu.errors import InputError, Parameter
from softbleu.io.tabular import Records, Tabular
from softbleu.report.comparisons import (
    compare_json,
    comparison_records,
    comparison_tables,
    matrix_tables,
    pair_records,
    summary_and_matrices,
    summary_tables,
)
from softbleu.report.explanations import explain_json, explain_jsonl, explain_text, explanation_records, lines_text
from softbleu.report.layout import Layout as Layout
from softbleu.report.records import ALIASES, DATA_FORMATS, Formats, Written
from softbleu.report.records import RECORD_WRITERS as RECORD_WRITERS
from softbleu.report.scores import score_records, score_tables, write_json, write_jsonl, write_text

if TYPE_CHECKING:
    from softbleu.analysis import ChosenLines
    from softbleu.analysis.pages import Page
    from softbleu.corpora.checks import Oddities
    from softbleu.metrics.result import Result
    from softbleu.results.explain import Explanation
    from softbleu.results.significance import ComparisonTable

Subject = TypeVar("Subject")


def _through(
    make: Callable[[Subject, Layout], Records | list[Records]], *names: str
) -> dict[str, Callable[[Subject, Layout], Written]]:
    """Writers of what is made into a table first, or into several, which stand one after the other."""
    return {name: partial(_write, name, make) for name in names}


def _write(
    name: str, make: Callable[[Subject, Layout], Records | list[Records]], subject: Subject, layout: Layout
) -> Written:
    made = make(subject, layout)
    return RECORD_WRITERS[name](made, layout) if isinstance(made, Records) else _in_turn(name, made, layout)


def _in_turn(name: str, tables: Iterable[Records], layout: Layout) -> Iterator[str]:
    for number, table in enumerate(tables):
        yield "\n" if number else ""
        yield from RECORD_WRITERS[name](table, layout)  # type: ignore[misc]  # no bytes are written for people


def _write_html(page: Page, layout: Layout) -> Iterator[str]:
    # Loaded when there is a page to write: it needs NumPy, which a start does without.
    from softbleu.report.html import write_html

    return write_html(page, layout)


def _write_odd_lines(odd: Oddities, layout: Layout) -> Iterator[str]:
    from softbleu.report.odd_lines import write_odd_lines

    return write_odd_lines(odd, layout)


WRITERS: Formats[Callable[[Sequence[Result], Layout], Written]] = Formats(
    {
        **_through(score_records, *RECORD_WRITERS),
        **_through(score_tables, "markdown", "latex"),
        "text": write_text,
        "json": write_json,
        "jsonl": write_jsonl,
    }
)
PAGES: Formats[Callable[[Page, Layout], Iterator[str]]] = Formats({"html": _write_html})
"""Formats of scores that show more than scores."""
EXPLAINERS: Formats[Callable[[Sequence[Explanation], Layout], Written]] = Formats(
    {
        **_through(explanation_records, *RECORD_WRITERS),
        "text": explain_text,
        "json": explain_json,
        "jsonl": explain_jsonl,
    }
)


def _view(table: Tabular, layout: Layout) -> Records:
    if isinstance(table, Records):
        return table
    return replace(Records.of(table), verbatim=getattr(table, "systems", ()))


CHECK_WRITERS: Formats[Callable[[Any, Layout], Written]] = Formats({**RECORD_WRITERS, "html": _write_odd_lines})
VIEWS: Formats[Callable[[Tabular, Layout], Written]] = Formats(_through(_view, *RECORD_WRITERS))
"""Writers of buckets and n-grams."""
LINE_WRITERS: Formats[Callable[[ChosenLines, Layout], Written]] = Formats({**VIEWS, "text": lines_text})
Comparer = Callable[[Sequence["ComparisonTable"], "Layout"], Written]
COMPARERS: Formats[Comparer] = Formats(
    {
        **_through(comparison_records, *RECORD_WRITERS),
        **_through(comparison_tables, "text", "markdown"),
        **_through(summary_tables, "latex"),
        "json": compare_json,
    }
)
MATRIX_WRITERS: Formats[Comparer] = Formats(
    {
        **_through(pair_records, *RECORD_WRITERS),
        **_through(matrix_tables, "text", "markdown"),
        **_through(summary_and_matrices, "latex"),
        "json": compare_json,
    }
)
"""Formats of comparisons of all pairs of systems."""


def format_by_suffix(name: str | None) -> str:
    """The format that the suffix of a file names; text without one. InputError: none has that suffix."""
    suffix = Path(name or "").suffix.lower().removeprefix(".")
    known = {"txt": "text", **ALIASES, **{key: key for key in (*DATA_FORMATS, *PAGES)}}
    if suffix and suffix not in known:
        said = f"{name}: no format has the suffix .{suffix}: take .{', .'.join(known)}, or name one by "
        raise InputError(said, Parameter("format"))
    return known.get(suffix, "text")
