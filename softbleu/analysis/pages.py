"""Earlier place of pages, which are in `softbleu.report` now."""

from __future__ import annotations

from softbleu.config.earlier import moved_names

__getattr__ = moved_names(
    __name__, dict.fromkeys(("Page", "PageTable", "make_comparison_page", "make_page"), "softbleu.report.pages")
)
