"""softbleu: BLEU, and variants of it that also count similar n-grams.

>>> import softbleu
>>> result = softbleu.score(["the cat sat on the mat"], [["the cat sat on a mat", "a cat sat down"]])
>>> round(result.score, 2)
53.73
"""

from __future__ import annotations

from importlib import import_module

from lazy_loader import attach_stub

from softbleu.config.interface import set_interface

# Loaded when first asked for: `import softbleu` and `softbleu --help` stay fast.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)

# Metrics score by what is above them; it is loaded when the first one does.
set_interface(lambda: import_module("softbleu.results.api"))
