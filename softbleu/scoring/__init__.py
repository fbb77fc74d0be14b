"""The runner: segments → chunks → statistics on an executor → sum → score, interval, significance."""

from __future__ import annotations

from softbleu.scoring.api import compare_with, score, score_with
from softbleu.scoring.explain import Explanation, NgramMatch, explain_corpus
from softbleu.scoring.run import Coverage, Result, Statistics, collect_statistics, make_results, score_corpus
from softbleu.scoring.settings import Settings
from softbleu.scoring.significance import Comparison, ComparisonTable, SignificanceSettings, compare_systems
from softbleu.scoring.vectors import VectorChoice

__all__ = [
    "Comparison",
    "ComparisonTable",
    "Coverage",
    "Explanation",
    "NgramMatch",
    "Result",
    "Settings",
    "SignificanceSettings",
    "Statistics",
    "VectorChoice",
    "collect_statistics",
    "compare_systems",
    "compare_with",
    "explain_corpus",
    "make_results",
    "score",
    "score_corpus",
    "score_with",
]
