"""softbleu: BLEU, and variants of it that also count similar n-grams.

>>> import softbleu
>>> result = softbleu.score(["the cat sat on the mat"], [["the cat sat on a mat", "a cat sat down"]])
>>> round(result.score, 2)
53.73
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from softbleu.config.interface import set_interface
from softbleu.version import __version__ as __version__

if TYPE_CHECKING:
    from softbleu.corpora import ParallelFiles as ParallelFiles
    from softbleu.corpora import Segments as Segments
    from softbleu.corpora import read_m2 as read_m2
    from softbleu.corpora import read_segments as read_segments
    from softbleu.corpora import write_m2 as write_m2
    from softbleu.embeddings import open_vectors as open_vectors
    from softbleu.embeddings.choice import VectorChoice as VectorChoice
    from softbleu.errors import InputError as InputError
    from softbleu.errors import SoftbleuError as SoftbleuError
    from softbleu.errors import VectorError as VectorError
    from softbleu.matching import Matcher as Matcher
    from softbleu.matching import SoftMatcher as SoftMatcher
    from softbleu.matching import make_matcher as make_matcher
    from softbleu.meta.metaeval import metaeval as metaeval
    from softbleu.meta.spurious import spurious as spurious
    from softbleu.meta.sweep import sweep as sweep
    from softbleu.metrics import Metric as Metric
    from softbleu.metrics.base import read_metric as read_metric
    from softbleu.metrics.bertscore import BertScore as BertScore
    from softbleu.metrics.bleu import Bleu as Bleu
    from softbleu.metrics.bleu import Sleu as Sleu
    from softbleu.metrics.bleu import Vleu as Vleu
    from softbleu.metrics.bleu import Xleu as Xleu
    from softbleu.metrics.chrf import Chrf as Chrf
    from softbleu.metrics.cleme import Cleme as Cleme
    from softbleu.metrics.cleme import Cleme2 as Cleme2
    from softbleu.metrics.edits import edit_texts as edit_texts
    from softbleu.metrics.errant import Errant as Errant
    from softbleu.metrics.gleu import Gleu as Gleu
    from softbleu.metrics.green import Green as Green
    from softbleu.metrics.hyter import Hyter as Hyter
    from softbleu.metrics.imeasure import IMeasure as IMeasure
    from softbleu.metrics.m2 import M2 as M2
    from softbleu.metrics.meteor import Meteor as Meteor
    from softbleu.metrics.refless import Refless as Refless
    from softbleu.metrics.result import Result as Result
    from softbleu.metrics.result import Results as Results
    from softbleu.metrics.scores import Scores as Scores
    from softbleu.metrics.softbleu import Softbleu as Softbleu
    from softbleu.metrics.ter import Ter as Ter
    from softbleu.metrics.trained import Trained as Trained
    from softbleu.metrics.uot import Uot as Uot
    from softbleu.results.api import Accumulator as Accumulator
    from softbleu.results.api import compare as compare
    from softbleu.results.api import compare_corpus as compare_corpus
    from softbleu.results.api import score as score
    from softbleu.results.api import score_corpus as score_corpus
    from softbleu.results.explain import explain as explain
    from softbleu.results.explain import explain_corpus as explain_corpus
    from softbleu.results.pairs import pairwise as pairwise
    from softbleu.text.tokens import Tokenizer as Tokenizer
    from softbleu.text.tokens import make_tokenizer as make_tokenizer

# Loaded when first asked for: `import softbleu` and `softbleu --help` stay fast.
_HOMES = {  # Modules, and what is theirs
    "corpora": "ParallelFiles Segments read_m2 read_segments write_m2",
    "embeddings": "open_vectors",
    "embeddings.choice": "VectorChoice",
    "errors": "InputError SoftbleuError VectorError",
    "matching": "Matcher SoftMatcher make_matcher",
    "meta.metaeval": "metaeval",
    "meta.spurious": "spurious",
    "meta.sweep": "sweep",
    "metrics": "Metric",
    "metrics.base": "read_metric",
    "metrics.bertscore": "BertScore",
    "metrics.bleu": "Bleu Sleu Vleu Xleu",
    "metrics.chrf": "Chrf",
    "metrics.cleme": "Cleme Cleme2",
    "metrics.errant": "Errant",
    "metrics.edits": "edit_texts",
    "metrics.uot": "Uot",
    "metrics.gleu": "Gleu",
    "metrics.green": "Green",
    "metrics.hyter": "Hyter",
    "metrics.imeasure": "IMeasure",
    "metrics.m2": "M2",
    "metrics.meteor": "Meteor",
    "metrics.refless": "Refless",
    "metrics.result": "Result Results",
    "metrics.scores": "Scores",
    "metrics.softbleu": "Softbleu",
    "metrics.ter": "Ter",
    "metrics.trained": "Trained",
    "results.api": "Accumulator compare compare_corpus score score_corpus",
    "results.explain": "explain explain_corpus",
    "results.pairs": "pairwise",
    "text.tokens": "Tokenizer make_tokenizer",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted([*_HOME_OF, "__version__"])

# Metrics score by what is above them; it is loaded when the first one does.
set_interface(lambda: import_module("softbleu.results.api"))


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'softbleu' has no attribute {name!r}")
    return getattr(import_module(f"softbleu.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
