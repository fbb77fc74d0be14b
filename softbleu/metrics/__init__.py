"""Metrics: statistics of segments and a score of their sum."""

from __future__ import annotations

from softbleu.metrics.base import Metric, Score
from softbleu.metrics.bleu import Bleu, BleuScore
from softbleu.metrics.gleu import Gleu, GleuScore

__all__ = ["Bleu", "BleuScore", "Gleu", "GleuScore", "Metric", "Score"]
