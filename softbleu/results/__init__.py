"""Results of runs, as Python calls: scores, intervals and comparisons, explanations, pairs of texts, differences."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
