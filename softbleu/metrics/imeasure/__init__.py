"""I-measure: how much better, or worse, a candidate is than the text that was to be corrected."""

from softbleu.metrics.imeasure.metric import IMeasure, IMeasureScore

__all__ = ["IMeasure", "IMeasureScore"]
