"""Differences between systems: scores in buckets of segments and words, n-grams, corrections and lines."""

from softbleu.analysis.differences import bucket_scores, choose_lines, correction_kinds, ngram_differences

__all__ = ["bucket_scores", "choose_lines", "correction_kinds", "ngram_differences"]
