"""Formats of pages, whose modules are loaded when a page is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from softbleu import report
from softbleu.report.records import RECORD_WRITERS, Formats, Layout, Writers

if TYPE_CHECKING:
    from softbleu.corpora.checks import Oddities
    from softbleu.report.pages import Page


def _write_page(page: Page, layout: Layout) -> Iterator[str]:
    return report.html.write_html(page, layout)


def _write_odd_segments(odd: Oddities, layout: Layout) -> Iterator[str]:
    return report.html.write_odd_segments(odd, layout)


PAGES: Writers[Page] = Formats({"html": _write_page})
"""Formats of pages."""
CHECK_WRITERS: Writers[Any] = Formats({**RECORD_WRITERS, "html": _write_odd_segments})
