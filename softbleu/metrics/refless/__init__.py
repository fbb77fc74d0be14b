"""The metric without references: grammaticality, fluency, and the meaning of the source."""

from softbleu.metrics.refless.metric import Refless, ReflessScore

__all__ = ["Refless", "ReflessScore"]
