"""Metrics: statistics of segments and a score of their sum. Each is a module or a package of its name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from softbleu.metrics.base import METRICS, Level, Metric, Requirements
from softbleu.metrics.score import Score, column

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

# Loaded when first asked for: a run needs one or two of them.
_HOMES = {
    name: home
    for home, names in (
        ("bleu", ("Bleu", "BleuScore")),
        ("chrf", ("Chrf", "ChrfScore")),
        ("gleu", ("Gleu", "GleuScore")),
        ("green", ("Green", "GreenScore")),
        ("imeasure", ("IMeasure", "IMeasureScore")),
        ("m2", ("M2", "M2Score")),
        ("refless", ("Refless", "ReflessScore")),
        ("softbleu", ("Softbleu", "SoftbleuScore")),
        ("ter", ("Ter", "TerScore")),
    )
    for name in names
}

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
    if name not in _HOMES:
        raise AttributeError(f"module 'softbleu.metrics' has no attribute {name!r}")
    return getattr(import_module(f"softbleu.metrics.{_HOMES[name]}"), name)
