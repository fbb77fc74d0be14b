"""Questions asked of metrics: sweeps over settings, and the credit that matchers give by mistake."""

from __future__ import annotations

from softbleu.meta.sweep import SweepPoint, SweepRow, sweep_corpus, sweep_points

__all__ = ["SweepPoint", "SweepRow", "sweep_corpus", "sweep_points"]
