"""What makes one system better than another, and where: buckets, n-grams and lines."""

from __future__ import annotations

from softbleu.analysis.buckets import BucketScores, bucket_scores
from softbleu.analysis.lines import ChosenLine, ChosenLines, choose_lines
from softbleu.analysis.words import NgramDifference, NgramDifferences, ngram_differences

__all__ = [
    "BucketScores",
    "ChosenLine",
    "ChosenLines",
    "NgramDifference",
    "NgramDifferences",
    "bucket_scores",
    "choose_lines",
    "ngram_differences",
]
