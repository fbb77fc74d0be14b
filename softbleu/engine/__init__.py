"""Scoring of a corpus: plan, encoding, workers, checkpoints, statistics."""
