"""Metrics: statistics of segments and a score of their sum."""

from __future__ import annotations

from softbleu.metrics.base import METRICS, Level, Metric, Requirements, Score, column
from softbleu.metrics.bleu import Bleu, BleuScore
from softbleu.metrics.gleu import Gleu, GleuScore
from softbleu.metrics.imeasure import IMeasure, IMeasureScore
from softbleu.metrics.m2 import M2, M2Score

__all__ = [
    "M2",
    "METRICS",
    "Bleu",
    "BleuScore",
    "Gleu",
    "GleuScore",
    "IMeasure",
    "IMeasureScore",
    "Level",
    "M2Score",
    "Metric",
    "Requirements",
    "Score",
    "column",
]
