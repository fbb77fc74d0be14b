"""What scores a corpus: plan, encoding, workers, checkpoints, statistics."""
