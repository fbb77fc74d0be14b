"""Results as text: tables of writers by name, for scores, comparisons, explanations and other tables."""

from __future__ import annotations

from lazy_loader import attach_stub

# Modules are loaded when first used, so that a start needs no NumPy.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
