"""softbleu: BLEU and its kin that count n-grams which mean alike.

>>> import softbleu
>>> result = softbleu.score(["the cat sat on the mat"], [["the cat sat on a mat", "a cat sat down"]])
>>> round(result.score.score, 2)
53.73
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from softbleu.version import __version__

if TYPE_CHECKING:
    from softbleu.corpora import ParallelFiles, Segments, read_m2, read_segments
    from softbleu.embeddings import open_vectors
    from softbleu.errors import InputError, SoftbleuError, VectorError
    from softbleu.experiments.metaeval import metaeval
    from softbleu.experiments.spurious import spurious
    from softbleu.experiments.sweep import sweep
    from softbleu.matchers import Matcher, SoftMatcher, make_matcher
    from softbleu.metrics import M2, Bleu, Gleu, IMeasure, Metric
    from softbleu.metrics.softbleu import Softbleu
    from softbleu.scoring import (
        Measure,
        Result,
        VectorChoice,
        compare,
        compare_corpus,
        explain_corpus,
        read_measure,
        score,
        score_corpus,
    )
    from softbleu.scoring.explain import explain
    from softbleu.tokens import Tokenizer

# Loaded when first asked for: `import softbleu` and `softbleu --help` stay fast.
_HOMES = {
    "Bleu": "metrics",
    "Gleu": "metrics",
    "IMeasure": "metrics",
    "InputError": "errors",
    "M2": "metrics",
    "Matcher": "matchers",
    "Measure": "scoring",
    "Metric": "metrics",
    "ParallelFiles": "corpora",
    "Result": "scoring",
    "Segments": "corpora",
    "SoftMatcher": "matchers",
    "Softbleu": "metrics.softbleu",
    "SoftbleuError": "errors",
    "Tokenizer": "tokens",
    "VectorChoice": "scoring",
    "VectorError": "errors",
    "compare": "scoring",
    "compare_corpus": "scoring",
    "explain": "scoring.explain",
    "explain_corpus": "scoring",
    "make_matcher": "matchers",
    "metaeval": "experiments.metaeval",
    "open_vectors": "embeddings",
    "read_m2": "corpora",
    "read_measure": "scoring",
    "read_segments": "corpora",
    "score": "scoring",
    "score_corpus": "scoring",
    "spurious": "experiments.spurious",
    "sweep": "experiments.sweep",
}

__all__ = [
    "M2",
    "Bleu",
    "Gleu",
    "IMeasure",
    "InputError",
    "Matcher",
    "Measure",
    "Metric",
    "ParallelFiles",
    "Result",
    "Segments",
    "SoftMatcher",
    "Softbleu",
    "SoftbleuError",
    "Tokenizer",
    "VectorChoice",
    "VectorError",
    "__version__",
    "compare",
    "compare_corpus",
    "explain",
    "explain_corpus",
    "make_matcher",
    "metaeval",
    "open_vectors",
    "read_m2",
    "read_measure",
    "read_segments",
    "score",
    "score_corpus",
    "spurious",
    "sweep",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'softbleu' has no attribute {name!r}")
    return getattr(import_module(f"softbleu.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
