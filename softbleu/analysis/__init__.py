"""Differences between systems, in buckets, n-grams, corrections and lines; where soft credit comes from."""

from softbleu.analysis.credit import credit_of_corpus, soft_credit
from softbleu.analysis.differences import bucket_scores, choose_lines, correction_kinds, ngram_differences

__all__ = [
    "bucket_scores",
    "choose_lines",
    "correction_kinds",
    "credit_of_corpus",
    "ngram_differences",
    "soft_credit",
]
