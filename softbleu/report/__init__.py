"""Results as text: tables of writers by name, for scores, comparisons, explanations and other tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from softbleu.io.tabular import Records
from softbleu.report.comparisons import COMPARERS, MATRIX_WRITERS
from softbleu.report.explanations import EXPLAINERS, LINE_WRITERS
from softbleu.report.records import RECORD_WRITERS, VIEWS, Formats, Layout, Written, format_by_suffix
from softbleu.report.scores import WRITERS

if TYPE_CHECKING:
    from softbleu.analysis.pages import Page
    from softbleu.corpora.checks import Oddities

__all__ = [
    "CHECK_WRITERS",
    "COMPARERS",
    "EXPLAINERS",
    "LINE_WRITERS",
    "MATRIX_WRITERS",
    "PAGES",
    "RECORD_WRITERS",
    "VIEWS",
    "WRITERS",
    "Layout",
    "Records",
    "format_by_suffix",
]


# Pages need NumPy, which a start does without.
def _write_html(page: Page, layout: Layout) -> Iterator[str]:
    from softbleu.report.html import write_html

    return write_html(page, layout)


def _write_odd_lines(odd: Oddities, layout: Layout) -> Iterator[str]:
    from softbleu.report.html import write_odd_lines

    return write_odd_lines(odd, layout)


PAGES: Formats[Callable[[Page, Layout], Iterator[str]]] = Formats({"html": _write_html})
"""Formats of scores that show more than scores."""
CHECK_WRITERS: Formats[Callable[[Any, Layout], Written]] = Formats({**RECORD_WRITERS, "html": _write_odd_lines})
