"""softbleu: BLEU and its kin that count n-grams which mean alike.

>>> import softbleu
>>> result = softbleu.score(["the cat sat on the mat"], [["the cat sat on a mat", "a cat sat down"]])
>>> round(result.score, 2)
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
    from softbleu.metrics import Metric
    from softbleu.scoring import (
        Measure,
        Result,
        Results,
        VectorChoice,
        compare,
        compare_corpus,
        explain_corpus,
        read_measure,
        score,
        score_corpus,
    )
    from softbleu.scoring.accumulator import Accumulator
    from softbleu.scoring.doors import (
        M2,
        BertScore,
        Bleu,
        Chrf,
        Gleu,
        Green,
        Hyter,
        IMeasure,
        Meteor,
        Refless,
        Sleu,
        Softbleu,
        Ter,
        Vleu,
        Xleu,
    )
    from softbleu.scoring.explain import explain
    from softbleu.scoring.pairs import pairwise, select
    from softbleu.tokens import Tokenizer

# Loaded when first asked for: `import softbleu` and `softbleu --help` stay fast.
_HOMES = {
    "Accumulator": "scoring.accumulator",
    "Bleu": "scoring.doors",
    "BertScore": "scoring.doors",
    "Chrf": "scoring.doors",
    "Gleu": "scoring.doors",
    "Green": "scoring.doors",
    "Hyter": "scoring.doors",
    "Meteor": "scoring.doors",
    "IMeasure": "scoring.doors",
    "InputError": "errors",
    "M2": "scoring.doors",
    "Matcher": "matchers",
    "Measure": "scoring",
    "Metric": "metrics",
    "ParallelFiles": "corpora",
    "Refless": "scoring.doors",
    "Result": "scoring",
    "Results": "scoring",
    "Segments": "corpora",
    "Sleu": "scoring.doors",
    "SoftMatcher": "matchers",
    "Softbleu": "scoring.doors",
    "SoftbleuError": "errors",
    "Ter": "scoring.doors",
    "Tokenizer": "tokens",
    "VectorChoice": "scoring",
    "VectorError": "errors",
    "Vleu": "scoring.doors",
    "Xleu": "scoring.doors",
    "compare": "scoring",
    "compare_corpus": "scoring",
    "explain": "scoring.explain",
    "explain_corpus": "scoring",
    "make_matcher": "matchers",
    "metaeval": "experiments.metaeval",
    "open_vectors": "embeddings",
    "pairwise": "scoring.pairs",
    "read_m2": "corpora",
    "read_measure": "scoring",
    "read_segments": "corpora",
    "score": "scoring",
    "score_corpus": "scoring",
    "select": "scoring.pairs",
    "spurious": "experiments.spurious",
    "sweep": "experiments.sweep",
}

__all__ = [
    "M2",
    "Accumulator",
    "BertScore",
    "Bleu",
    "Chrf",
    "Gleu",
    "Green",
    "Hyter",
    "IMeasure",
    "InputError",
    "Matcher",
    "Measure",
    "Meteor",
    "Metric",
    "ParallelFiles",
    "Refless",
    "Result",
    "Results",
    "Segments",
    "Sleu",
    "SoftMatcher",
    "Softbleu",
    "SoftbleuError",
    "Ter",
    "Tokenizer",
    "VectorChoice",
    "VectorError",
    "Vleu",
    "Xleu",
    "__version__",
    "compare",
    "compare_corpus",
    "explain",
    "explain_corpus",
    "make_matcher",
    "metaeval",
    "open_vectors",
    "pairwise",
    "read_m2",
    "read_measure",
    "read_segments",
    "score",
    "score_corpus",
    "select",
    "spurious",
    "sweep",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'softbleu' has no attribute {name!r}")
    return getattr(import_module(f"softbleu.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
