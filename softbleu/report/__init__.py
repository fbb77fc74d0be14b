"""Results as text: tables of writers by name, for scores, comparisons, explanations and other tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from softbleu.report.comparisons import COMPARERS, MATRIX_WRITERS
from softbleu.report.records import RECORD_WRITERS, Formats, Layout, Writers
from softbleu.report.scores import WRITERS

if TYPE_CHECKING:
    from softbleu.corpora.checks import Oddities
    from softbleu.report.pages import Page

__all__ = ["CHECK_WRITERS", "COMPARERS", "MATRIX_WRITERS", "PAGES", "RECORD_WRITERS", "WRITERS", "Layout"]


# Loaded when there is a page to write: it needs NumPy, which a start does without.
def _write_page(page: Page, layout: Layout) -> Iterator[str]:
    from softbleu.report.html import write_html

    return write_html(page, layout)


def _write_odd_segments(odd: Oddities, layout: Layout) -> Iterator[str]:
    from softbleu.report.html import write_odd_segments

    return write_odd_segments(odd, layout)


PAGES: Writers[Page] = Formats({"html": _write_page})
"""Formats of scores that show more than scores."""
CHECK_WRITERS: Writers[Any] = Formats({**RECORD_WRITERS, "html": _write_odd_segments})
