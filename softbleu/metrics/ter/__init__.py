"""TER: edits and shifts that make a reference of the candidate, per reference word."""

from softbleu.metrics.ter.metric import Ter, TerScore

__all__ = ["Ter", "TerScore"]
