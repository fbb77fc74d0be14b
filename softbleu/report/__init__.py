"""Results as text: tables of writers by name, for scores, comparisons, explanations and other tables."""

from __future__ import annotations

from softbleu.io.tabular import Records
from softbleu.report.comparisons import draw_pairs, note_few, write_distribution
from softbleu.report.differences import LINE_WRITERS, VIEWS
from softbleu.report.layout import Layout, one_line
from softbleu.report.records import ALIASES, BINARY_FORMATS, DATA_FORMATS, RECORD_WRITERS, SUFFIXES
from softbleu.report.scores import write_numbers
from softbleu.report.writers import COMPARERS, EXPLAINERS, MATRIX_WRITERS, PAGES, WRITERS

__all__ = [
    "ALIASES",
    "BINARY_FORMATS",
    "COMPARERS",
    "DATA_FORMATS",
    "EXPLAINERS",
    "LINE_WRITERS",
    "MATRIX_WRITERS",
    "PAGES",
    "RECORD_WRITERS",
    "SUFFIXES",
    "VIEWS",
    "WRITERS",
    "Layout",
    "Records",
    "draw_pairs",
    "note_few",
    "one_line",
    "write_distribution",
    "write_numbers",
]
