"""Formats of pages, whose modules are loaded when a page is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from softbleu import report
from softbleu.formats import Formats, Writers
from softbleu.formats import Layout as Layout

_PAGES: dict[str, Callable[[], Callable[[Any, Layout], Iterator[str]]]] = {
    "Page": lambda: report.html.write_html,
    "CurvePage": lambda: report.curve_page.write_curve_page,
    "AnswerPage": lambda: report.answers.write_answer,
    "Oddities": lambda: report.html.write_odd_segments,
    "MetaEvaluation": lambda: report.metric_ranks.write_evaluation,
}
"""Writers of pages by the class of their content."""


def _write_page(page: Any, layout: Layout) -> Iterator[str]:
    return _PAGES[type(page).__name__]()(page, layout)


PAGES: Writers[Any] = Formats({"html": _write_page})
"""Formats of pages."""
