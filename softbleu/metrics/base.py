"""What a metric is: statistics of segments, which add up, and a score of their sum."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from softbleu.declare import Declared, Registry, setting
from softbleu.embeddings import DEFAULT_VECTORS
from softbleu.tokens import Tokenizer, WordFeature

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matchers.base import Matcher
    from softbleu.metrics.aggregation import Aggregation
    from softbleu.metrics.score import Score
    from softbleu.ngrams import Chunk
    from softbleu.similarity import WordTable
    from softbleu.types import Floats, Integers

DEFAULT_ENCODER = "minilm-l6"
"""Bundled encoder for vectors in context."""
Level = Literal["corpus", "segment", "macro", "reference"]
MAX_ORDER = 16


@dataclass(frozen=True)
class Requirements:
    """What a metric must be given.

    Attributes
    ----------
    references, source, gold
        Texts of each segment: references, the text that was to be corrected, the edits of a gold file (not only the
        references that they make).
    vectors
        Of words, whose similarity is looked at.
    frequency
        How frequent words are among the references' tokens.
    pieces
        Those of the pieces that an encoder cuts lines into, in context.
    idf
        What says how rare words (or pieces) are: `references`, or another text; None where nothing asks.
    parts
        What the words are made of, by the names of `softbleu.tokens.WORD_PARTS`: `spelling`, `characters`, …; or what
        else is known of them, as a `softbleu.tokens.WordFeature`.
    """

    references: bool = True
    source: bool = False
    gold: bool = False
    vectors: bool = False
    pieces: bool = False
    frequency: bool = False
    idf: object = None
    parts: tuple[str | WordFeature, ...] = ()

    @property
    def table(self) -> bool:
        """Whether anything is to be known of single words."""
        return self.vectors or bool(self.parts)

    def __or__(self, other: Requirements) -> Requirements:
        """What is looked at where two metrics are computed together, field by field."""
        pairs = {each.name: (getattr(self, each.name), getattr(other, each.name)) for each in fields(self)}
        return Requirements(**{name: _together(*pair) for name, pair in pairs.items()})


def _together(one: Any, other: Any) -> Any:
    if isinstance(one, tuple):
        return tuple(dict.fromkeys((*one, *other)))
    # Of texts for idf the references are counted beforehand; others are read when they are looked at.
    return other if not one or other == "references" else one


def order_setting(default: int) -> Any:
    """Declare the greatest n."""
    return setting(default, "Longest n-grams to look at", least=1, most=MAX_ORDER, flags=("-n",), common=True)


def requirements_of(matcher: Matcher, order: int, **more: Any) -> Requirements:
    """What metrics over a matcher need: what the matcher looks at, and more."""
    return Requirements(vectors=matcher.needs_vectors(order), frequency=matcher.needs_frequencies(order), **more)


@dataclass(frozen=True)
class Metric(Declared):
    """Two pure functions. Metrics are frozen dataclasses: their fields are their identity, and their settings.

    What else a metric may offer stands in `softbleu.metrics.optional`.
    """

    kind: ClassVar[str] = "metric"
    higher_is_better: ClassVar[bool] = True
    default_tokenizer: ClassVar[Tokenizer] = Tokenizer()
    default_vectors: ClassVar[str] = DEFAULT_VECTORS
    in_context: ClassVar[Mapping[str, object]] = {}
    """Settings that are taken, unless they are given, where the vectors are those of tokens in context."""
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}
    """Settings of papers, by name; those of the matcher and the tokenizer among them."""

    @property
    def label(self) -> str:
        """What people call the score."""
        return self.name.upper()

    @property
    def requires(self) -> Requirements:
        """What it must be given."""
        return Requirements()

    def tokens(self, tokenizer: Tokenizer) -> Tokenizer:
        """The tokenizer as settings of the metric change it."""
        return tokenizer

    def resolved(self) -> Self:
        """The metric with what its settings stand for where they are not given: what it reads is then in them."""
        return self

    def at_level(self, level: Level) -> Self:
        """The metric as it scores at a level, where that makes a difference."""
        return self

    @abstractmethod
    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Compute the statistics of each segment, a row of whole numbers each: (segments, k).

        Where the aggregation is over references, a row for each reference of each segment instead.
        """

    @abstractmethod
    def score(self, row: Integers) -> Score:
        """Score the statistics of one segment, or the sum of the statistics of many."""

    def scores(self, rows: Integers | Floats) -> Floats:
        """Scores of many rows, or sums of rows, at once."""
        import numpy as np

        return np.array([self.score(row).score for row in rows], np.float64)

    @property
    def aggregation(self) -> Aggregation:
        """How rows reduce to scores of segments and of a corpus: by their sum, unless the metric has another way."""
        from softbleu.metrics.aggregation import SumOfRows

        return SumOfRows(self)


METRICS = Registry("metric", "softbleu.metrics", Metric)
