"""Differences between systems, in buckets, n-grams, corrections and lines; where soft credit comes from."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
