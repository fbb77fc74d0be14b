"""The writers by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from softbleu.errors import UnknownNameError
from softbleu.report.comparisons import compare_json, compare_latex, compare_markdown, compare_text, compare_tsv
from softbleu.report.data import write_json, write_jsonl, write_tsv
from softbleu.report.explanations import explain_json, explain_jsonl, explain_text
from softbleu.report.markup import write_latex, write_markdown
from softbleu.report.text import write_text

if TYPE_CHECKING:
    from softbleu.report.layout import Layout
    from softbleu.scoring import ComparisonTable, Explanation, Result
    from softbleu.scoring.pages import Page

Found = TypeVar("Found")
Writer = Callable[[Sequence["Result"], "Layout"], Iterator[str]]
"""Results in, pieces of text out; together they are whole lines."""
Explainer = Callable[[Sequence["Explanation"], "Layout"], Iterator[str]]
PageWriter = Callable[["Page", "Layout"], Iterator[str]]
Comparer = Callable[["ComparisonTable", "Layout"], Iterator[str]]

WRITERS: dict[str, Writer] = {
    "text": write_text,
    "json": write_json,
    "jsonl": write_jsonl,
    "tsv": write_tsv,
    "markdown": write_markdown,
    "latex": write_latex,
}


def _write_html(page: Page, layout: Layout) -> Iterator[str]:
    # Loaded when there is a page to write: it needs NumPy, which a start does without.
    from softbleu.report.html import write_html

    return write_html(page, layout)


PAGES: dict[str, PageWriter] = {"html": _write_html}
"""Formats of scores that show more than scores."""
EXPLAINERS: dict[str, Explainer] = {
    "text": explain_text,
    "json": explain_json,
    "jsonl": explain_jsonl,
}
COMPARERS: dict[str, Comparer] = {
    "text": compare_text,
    "json": compare_json,
    "tsv": compare_tsv,
    "markdown": compare_markdown,
    "latex": compare_latex,
}


def find_comparer(name: str) -> Comparer:
    """Find the writer of comparisons of that name.

    Raises
    ------
    UnknownNameError
        No such format; the message lists those there are.
    """
    return _find(name, COMPARERS)


def find_writer(name: str) -> Writer:
    """Find the writer of results of that name; those of `PAGES` write more than results.

    Raises
    ------
    UnknownNameError
        No such format; the message lists those there are.
    """
    if name not in WRITERS:
        raise UnknownNameError("format", name, [*WRITERS, *PAGES])
    return WRITERS[name]


def find_explainer(name: str) -> Explainer:
    """Find the writer of explanations of that name.

    Raises
    ------
    UnknownNameError
        No such format; the message lists those there are.
    """
    return _find(name, EXPLAINERS)


def _find(name: str, table: dict[str, Found]) -> Found:
    if name not in table:
        raise UnknownNameError("format", name, table)
    return table[name]
