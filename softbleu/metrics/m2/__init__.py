"""M2 (MaxMatch): F-measure of the edits that make a candidate of its source, against gold edits."""

from softbleu.metrics.m2.metric import M2, M2Score, find_edits

__all__ = ["M2", "M2Score", "find_edits"]
