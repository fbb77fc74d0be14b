"""Results as text: a table of writers by name, for scores and for explanations."""

from __future__ import annotations

from softbleu.report.comparisons import write_distribution
from softbleu.report.data import write_json, write_jsonl, write_tsv
from softbleu.report.explanations import explain_json, explain_jsonl, explain_text
from softbleu.report.layout import Layout, one_line
from softbleu.report.markup import write_latex, write_markdown
from softbleu.report.records import RECORD_WRITERS, Records, find_record_writer
from softbleu.report.text import write_text
from softbleu.report.writers import (
    COMPARERS,
    EXPLAINERS,
    PAGES,
    WRITERS,
    Explainer,
    Writer,
    find_comparer,
    find_explainer,
    find_writer,
)

__all__ = [
    "COMPARERS",
    "EXPLAINERS",
    "PAGES",
    "RECORD_WRITERS",
    "WRITERS",
    "Explainer",
    "Layout",
    "Records",
    "Writer",
    "explain_json",
    "explain_jsonl",
    "explain_text",
    "find_comparer",
    "find_explainer",
    "find_record_writer",
    "find_writer",
    "one_line",
    "write_distribution",
    "write_json",
    "write_jsonl",
    "write_latex",
    "write_markdown",
    "write_text",
    "write_tsv",
]
