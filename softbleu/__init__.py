"""softbleu: BLEU and its kin that count n-grams which mean alike.

>>> import softbleu
>>> result = softbleu.score(["the cat sat on the mat"], [["the cat sat on a mat", "a cat sat down"]])
>>> round(result.score, 2)
53.73
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from softbleu.config.hook import put_in
from softbleu.version import __version__

if TYPE_CHECKING:
    from softbleu.corpora import ParallelFiles, Segments, read_m2, read_segments
    from softbleu.embeddings import open_vectors
    from softbleu.errors import InputError, SoftbleuError, VectorError
    from softbleu.matching import Matcher, SoftMatcher, make_matcher
    from softbleu.meta.metaeval import metaeval
    from softbleu.meta.spurious import spurious
    from softbleu.meta.sweep import sweep
    from softbleu.metrics import Metric
    from softbleu.metrics.bertscore import BertScore
    from softbleu.metrics.bleu import Bleu, Sleu, Vleu, Xleu
    from softbleu.metrics.chrf import Chrf
    from softbleu.metrics.gleu import Gleu
    from softbleu.metrics.green import Green
    from softbleu.metrics.hyter import Hyter
    from softbleu.metrics.imeasure import IMeasure
    from softbleu.metrics.m2 import M2
    from softbleu.metrics.making import read_metric
    from softbleu.metrics.meteor import Meteor
    from softbleu.metrics.refless import Refless
    from softbleu.metrics.result import Result, Results
    from softbleu.metrics.softbleu import Softbleu
    from softbleu.metrics.ter import Ter
    from softbleu.results import (
        VectorChoice,
        compare,
        compare_corpus,
        explain_corpus,
        score,
        score_corpus,
    )
    from softbleu.results.accumulator import Accumulator
    from softbleu.results.explain import explain
    from softbleu.results.pairs import pairwise, select
    from softbleu.text.tokens import Tokenizer

# Loaded when first asked for: `import softbleu` and `softbleu --help` stay fast.
_HOMES = {
    "Accumulator": "results.accumulator",
    "Bleu": "metrics.bleu",
    "BertScore": "metrics.bertscore",
    "Chrf": "metrics.chrf",
    "Gleu": "metrics.gleu",
    "Green": "metrics.green",
    "Hyter": "metrics.hyter",
    "Meteor": "metrics.meteor",
    "IMeasure": "metrics.imeasure",
    "InputError": "errors",
    "M2": "metrics.m2",
    "Matcher": "matching",
    "Metric": "metrics",
    "ParallelFiles": "corpora",
    "Refless": "metrics.refless",
    "Result": "metrics.result",
    "Results": "metrics.result",
    "Segments": "corpora",
    "Sleu": "metrics.bleu",
    "SoftMatcher": "matching",
    "Softbleu": "metrics.softbleu",
    "SoftbleuError": "errors",
    "Ter": "metrics.ter",
    "Tokenizer": "text.tokens",
    "VectorChoice": "results",
    "VectorError": "errors",
    "Vleu": "metrics.bleu",
    "Xleu": "metrics.bleu",
    "compare": "results",
    "compare_corpus": "results",
    "explain": "results.explain",
    "explain_corpus": "results",
    "make_matcher": "matching",
    "metaeval": "meta.metaeval",
    "open_vectors": "embeddings",
    "pairwise": "results.pairs",
    "read_m2": "corpora",
    "read_metric": "metrics.making",
    "read_segments": "corpora",
    "score": "results",
    "score_corpus": "results",
    "select": "results.pairs",
    "spurious": "meta.spurious",
    "sweep": "meta.sweep",
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
    "read_metric",
    "read_segments",
    "score",
    "score_corpus",
    "select",
    "spurious",
    "sweep",
]

# Metrics score by what is above them; it is loaded when the first one does.
put_in(lambda: import_module("softbleu.results.api"))


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'softbleu' has no attribute {name!r}")
    return getattr(import_module(f"softbleu.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
