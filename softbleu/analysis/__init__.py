"""Where one system is better than another: buckets of segments and words, n-grams, corrections and lines."""

from __future__ import annotations

from softbleu.analysis.differences import (
    ChosenLine,
    ChosenLines,
    bucket_scores,
    choose_lines,
    correction_kinds,
    find_corrections,
    ngram_differences,
)

__all__ = [
    "ChosenLine",
    "ChosenLines",
    "bucket_scores",
    "choose_lines",
    "correction_kinds",
    "find_corrections",
    "ngram_differences",
]
