"""Metrics: statistics of segments and a score of their sum. Each is a module or a package of its name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from softbleu.metrics.base import METRICS, Level, Metric, Requirements, Score, column

if TYPE_CHECKING:
    from softbleu.metrics.bleu import Bleu, BleuScore
    from softbleu.metrics.gleu import Gleu, GleuScore
    from softbleu.metrics.imeasure import IMeasure, IMeasureScore
    from softbleu.metrics.m2 import M2, M2Score
    from softbleu.metrics.softbleu import Softbleu, SoftbleuScore

# Loaded when first asked for: a run needs one or two of them.
_HOMES = {
    "M2": "m2",
    "Bleu": "bleu",
    "BleuScore": "bleu",
    "Gleu": "gleu",
    "GleuScore": "gleu",
    "IMeasure": "imeasure",
    "IMeasureScore": "imeasure",
    "M2Score": "m2",
    "Softbleu": "softbleu",
    "SoftbleuScore": "softbleu",
}

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
    "Softbleu",
    "SoftbleuScore",
    "column",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'softbleu.metrics' has no attribute {name!r}")
    return getattr(import_module(f"softbleu.metrics.{_HOMES[name]}"), name)
