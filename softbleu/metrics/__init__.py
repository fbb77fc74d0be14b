"""Metrics: statistics of segments and a score of their sum. Each is a module or a package of its name."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from softbleu.metrics.base import METRICS as METRICS
from softbleu.metrics.base import Level as Level
from softbleu.metrics.base import Metric as Metric
from softbleu.metrics.base import Requirements as Requirements
from softbleu.metrics.result import Score as Score
from softbleu.metrics.result import column as column

if TYPE_CHECKING:
    from softbleu.metrics.bleu import Bleu as Bleu
    from softbleu.metrics.bleu import BleuScore as BleuScore
    from softbleu.metrics.chrf import Chrf as Chrf
    from softbleu.metrics.chrf import ChrfScore as ChrfScore
    from softbleu.metrics.gleu import Gleu as Gleu
    from softbleu.metrics.gleu import GleuScore as GleuScore
    from softbleu.metrics.green import Green as Green
    from softbleu.metrics.green import GreenScore as GreenScore
    from softbleu.metrics.imeasure import IMeasure as IMeasure
    from softbleu.metrics.imeasure import IMeasureScore as IMeasureScore
    from softbleu.metrics.m2 import M2 as M2
    from softbleu.metrics.m2 import M2Score as M2Score
    from softbleu.metrics.refless import Refless as Refless
    from softbleu.metrics.refless import ReflessScore as ReflessScore
    from softbleu.metrics.softbleu import Softbleu as Softbleu
    from softbleu.metrics.softbleu import SoftbleuScore as SoftbleuScore
    from softbleu.metrics.ter import Ter as Ter
    from softbleu.metrics.ter import TerScore as TerScore


def __getattr__(name: str) -> object:
    """Load a metric, or its score, when it is first asked for: a run needs one or two of them."""
    module = f"{__name__}.{name.removesuffix('Score').lower()}"
    if name[:1].isupper() and find_spec(module) is not None:
        return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
