"""Formats of pages, whose modules are loaded when a page is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from softbleu import report
from softbleu.formats import TABLE_WRITERS, Formats, Writers
from softbleu.formats import Layout as Layout

if TYPE_CHECKING:
    from softbleu.corpora.checks import Oddities
    from softbleu.report.curve_page import CurvePage
    from softbleu.report.pages import Page


def _write_page(page: Page, layout: Layout) -> Iterator[str]:
    return report.html.write_html(page, layout)


def _write_odd_segments(odd: Oddities, layout: Layout) -> Iterator[str]:
    return report.html.write_odd_segments(odd, layout)


def _write_curve_page(page: CurvePage, layout: Layout) -> Iterator[str]:
    return report.curve_page.write_curve_page(page, layout)


PAGES: Writers[Page] = Formats({"html": _write_page})
"""Formats of pages."""
CURVE_PAGES: Writers[CurvePage] = Formats({"html": _write_curve_page})
"""Formats of pages of partial scores."""
CHECK_WRITERS: Writers[Any] = Formats({**TABLE_WRITERS, "html": _write_odd_segments})
