"""Metrics: statistics of segments and a score of their sum. Each is a module or a package of its name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from softbleu.metrics.base import METRICS, Level, Metric, Requirements
from softbleu.metrics.result import Score, column

if TYPE_CHECKING:
    from softbleu.metrics.bleu import Bleu, BleuScore
    from softbleu.metrics.chrf import Chrf, ChrfScore
    from softbleu.metrics.gleu import Gleu, GleuScore
    from softbleu.metrics.green import Green, GreenScore
    from softbleu.metrics.imeasure import IMeasure, IMeasureScore
    from softbleu.metrics.m2 import M2, M2Score
    from softbleu.metrics.refless import Refless, ReflessScore
    from softbleu.metrics.softbleu import Softbleu, SoftbleuScore
    from softbleu.metrics.ter import Ter, TerScore

__all__ = [
    "M2",
    "METRICS",
    "Bleu",
    "BleuScore",
    "Chrf",
    "ChrfScore",
    "Gleu",
    "GleuScore",
    "Green",
    "GreenScore",
    "IMeasure",
    "IMeasureScore",
    "Level",
    "M2Score",
    "Metric",
    "Refless",
    "ReflessScore",
    "Requirements",
    "Score",
    "Softbleu",
    "SoftbleuScore",
    "Ter",
    "TerScore",
    "column",
]


def __getattr__(name: str) -> object:
    """Load a metric when it is first asked for: a run needs one or two of them."""
    if name not in __all__:
        raise AttributeError(f"module 'softbleu.metrics' has no attribute {name!r}")
    return getattr(import_module(f"softbleu.metrics.{name.removesuffix('Score').lower()}"), name)
