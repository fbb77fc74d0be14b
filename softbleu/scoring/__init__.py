"""The runner: segments → chunks → statistics on an executor → sum → score."""

from __future__ import annotations

from softbleu.scoring.api import Settings, score, score_with
from softbleu.scoring.explain import Explanation, NgramMatch, explain_corpus
from softbleu.scoring.run import Coverage, Result, score_corpus
from softbleu.scoring.vectors import VectorChoice

__all__ = [
    "Coverage",
    "Explanation",
    "NgramMatch",
    "Result",
    "Settings",
    "VectorChoice",
    "explain_corpus",
    "score",
    "score_corpus",
    "score_with",
]
