"""softbleu: BLEU, and variants of it that also count similar n-grams.

>>> import softbleu
>>> result = softbleu.score(["the cat sat on the mat"], [["the cat sat on a mat", "a cat sat down"]])
>>> round(result.score, 2)
53.73
"""

from __future__ import annotations

from lazy_loader import attach_stub

# Names are loaded when first used: `import softbleu` and `softbleu --help` stay fast.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
