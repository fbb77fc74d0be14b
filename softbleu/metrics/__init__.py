"""Metrics: statistics of segments and a score of their sum. Each is a module or a package of its name."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from softbleu.metrics.aggregation import BestReference as BestReference
from softbleu.metrics.base import METRICS as METRICS
from softbleu.metrics.base import Level as Level
from softbleu.metrics.base import Metric as Metric
from softbleu.metrics.requirements import Requirements as Requirements
from softbleu.metrics.score import Score as Score
from softbleu.metrics.score import ScoreColumns as ScoreColumns
from softbleu.metrics.score import column as column


def __getattr__(name: str) -> object:
    """Load a metric, or its score, when it is first asked for: a run needs one or two of them."""
    module = f"{__name__}.{name.removesuffix('Score').lower()}"
    if name[:1].isupper() and find_spec(module) is not None:
        return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
