"""Results of runs, as Python calls: scores, intervals and comparisons, explanations, pairs of texts, differences."""

from __future__ import annotations

from softbleu.embeddings.choice import VectorChoice
from softbleu.engine.runner import Runner, RunOptions, collect_statistics, running
from softbleu.engine.statistics import Statistics, make_results
from softbleu.metrics.making import read_metric
from softbleu.metrics.result import Coverage, Result
from softbleu.results.api import compare, compare_corpus, score, score_corpus
from softbleu.results.explain import Explanation, NgramMatch, explain_corpus
from softbleu.results.significance import Comparison, ComparisonTable, Pair, SignificanceSettings, compare_systems

__all__ = [
    "Comparison",
    "ComparisonTable",
    "Coverage",
    "Explanation",
    "NgramMatch",
    "Pair",
    "Result",
    "RunOptions",
    "Runner",
    "SignificanceSettings",
    "Statistics",
    "VectorChoice",
    "collect_statistics",
    "compare",
    "compare_corpus",
    "compare_systems",
    "explain_corpus",
    "make_results",
    "read_metric",
    "running",
    "score",
    "score_corpus",
]
