"""Earlier place of pages, which are in `softbleu.report` now."""

from __future__ import annotations

from softbleu.config.earlier import moved_names

_MOVED = ("Page", "PageTable", "make_comparison_page", "make_page")
__getattr__ = moved_names("0.6", __name__, dict.fromkeys(_MOVED, "softbleu.report.pages"))
