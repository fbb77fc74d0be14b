"""Slow, literal versions of what softbleu computes, written from the specification and from nothing else."""
