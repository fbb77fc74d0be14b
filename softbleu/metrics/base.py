"""What a metric is: statistics of segments, which add up, and a score of their sum."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from softbleu.declare import Declared, Registry, setting
from softbleu.embeddings import DEFAULT_VECTORS
from softbleu.errors import InputError
from softbleu.tokens import Tokenizer, WordFeature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.kernels import Kernels
    from softbleu.language import Finding
    from softbleu.matchers.base import Matcher
    from softbleu.metrics.gathering import Gathered
    from softbleu.metrics.references import ChosenRows
    from softbleu.ngrams import Chunk
    from softbleu.similarity import WordTable
    from softbleu.tokens import Tokens
    from softbleu.types import Floats, Integers

DEFAULT_ENCODER = "minilm-l6"
"""Bundled encoder for vectors in context."""
Level = Literal["corpus", "segment", "macro", "reference"]
Unit = Literal["score", "per cent", "ratio", "count", "tokens", "text"]
MAX_ORDER = 16
_COLUMN = "column"


@dataclass(frozen=True)
class Column:
    """How a number of a score is shown.

    Attributes
    ----------
    name
        Of the field.
    short
        Header in tables; a list has a column an entry: P1, P2, …; empty where tables leave it out.
    title
        What it is called where a score stands alone; empty where that leaves it out.
    unit
        What it is measured in.
    """

    name: str
    short: str
    title: str
    unit: Unit


def column(short: str = "", title: str = "", unit: Unit = "score", default: Any = MISSING) -> Any:
    """Declare how a field of a `Score` is shown; see `Column`."""
    return field(default=default, metadata={_COLUMN: (short, title, unit)})


@dataclass(frozen=True)
class Score:
    """A score and the numbers it is made of."""

    score: float = column(unit="score")
    """0 to 100, unless the metric says otherwise."""

    def __float__(self) -> float:
        return self.score

    def as_dict(self) -> dict[str, Any]:
        """Fields by name, in full precision."""
        return asdict(self)

    @classmethod
    def columns(cls) -> list[Column]:
        """What is shown beside the score, in order; fields that say nothing of it go by their names."""
        shown = []
        for each in fields(cls)[1:]:
            name = each.name.replace("_", " ")
            plain: tuple[str, str, Unit] = (name, name, "count" if each.type in ("int", int) else "score")
            shown.append(Column(each.name, *each.metadata.get(_COLUMN, plain)))
        return shown


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
    rows
        The statistics of every segment for a corpus score, not only their sum.
    """

    references: bool = True
    source: bool = False
    gold: bool = False
    vectors: bool = False
    pieces: bool = False
    frequency: bool = False
    idf: object = None
    parts: tuple[str | WordFeature, ...] = ()
    rows: bool = False

    @property
    def table(self) -> bool:
        """Whether anything is to be known of single words."""
        return self.vectors or bool(self.parts)


def order_setting(default: int) -> Any:
    """Declare the greatest n."""
    return setting(default, "Longest n-grams to look at", least=1, most=MAX_ORDER, flags=("-n",), common=True)


def requirements_of(matcher: Matcher, order: int, **more: Any) -> Requirements:
    """What metrics over a matcher need: what the matcher looks at, and more."""
    return Requirements(vectors=matcher.needs_vectors(order), frequency=matcher.needs_frequencies(order), **more)


@dataclass(frozen=True)
class ReferenceScore:
    """The score of a candidate against one of its references."""

    segment: int
    """From 1."""
    reference: int
    """From 1."""
    chosen: bool
    """Whether it is the best of its segment."""
    score: Score


@dataclass(frozen=True)
class Metric(Declared):
    """Two pure functions. Metrics are frozen dataclasses: their fields are their identity, and their settings."""

    kind: ClassVar[str] = "metric"
    higher_is_better: ClassVar[bool] = True
    default_tokenizer: ClassVar[Tokenizer] = Tokenizer()
    default_vectors: ClassVar[str] = DEFAULT_VECTORS
    in_context: ClassVar[Mapping[str, object]] = {}
    """Settings that are taken, unless they are given, where the vectors are those of tokens in context."""
    judges_lines: ClassVar[bool] = False
    """Whether it finds something in single candidates: see `find`."""
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}
    """Settings of papers, by name; those of the matcher and the tokenizer among them."""

    @property
    def label(self) -> str:
        """What people call the score."""
        return self.name.upper()

    @property
    def matching(self) -> Matcher | None:
        """What counts as a match, for metrics over single matches that can be shown."""
        return None

    def find(self, line: str) -> tuple[Finding, ...]:
        """What speaks against a tokenised candidate, for metrics that judge lines by themselves."""
        return ()

    @property
    def shows_matches(self) -> bool:
        """Whether its matches are with words of the references as they stand."""
        return self.matching is not None

    @property
    def shows_paths(self) -> bool:
        """Whether a score is about a path of a network, which a method `paths` then shows."""
        return False

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

        A metric that looks at one reference at a time gives a row for each reference of each segment instead.
        """

    def pair_statistics(
        self, candidates: Tokens, references: Tokens, words: WordTable | None, kernels: Kernels
    ) -> Integers:
        """Compute the statistics of every candidate with every reference alone: (candidates, references, k).

        Where they are the same lines, they are the same object.
        """
        import numpy as np

        from softbleu.ngrams import Chunk

        each = np.arange(len(references.lengths) + 1)
        again = np.zeros(len(each) - 1, np.int64)
        chunks = (Chunk(candidates.chosen(again + line), references, each) for line in range(len(candidates.lengths)))
        return np.stack([self.statistics(chunk, words, kernels) for chunk in chunks])

    def average_statistics(self, candidates: Tokens, references: Tokens, words: WordTable | None) -> Floats:
        """Compute the statistics of every candidate with the mean of all references: (candidates, k).

        Raises
        ------
        InputError
            References of this metric have no mean.
        """
        raise InputError(f"metric {self.name!r} cannot average references: bleu over exact matches and chrf can")

    @property
    def formula(self) -> Mapping[str, object]:
        """Settings by which a page's script makes the score of matches at other thresholds; empty where it cannot."""
        return {}

    @property
    def has_corpus_score(self) -> bool:
        """Whether a corpus has a score that is not a mean of segment scores."""
        return True

    @abstractmethod
    def score(self, row: Integers) -> Score:
        """Score the statistics of one segment, or the sum of the statistics of many."""

    def scores(self, rows: Integers | Floats) -> Floats:
        """Scores of many rows, or sums of rows, at once."""
        import numpy as np

        return np.array([self.score(row).score for row in rows], np.float64)

    def summarise(self, rows: Integers, offsets: Integers) -> Score:
        """Score a corpus: segment s has the rows ``offsets[s]`` to ``offsets[s + 1]``."""
        return self.score(rows.sum(axis=0))

    def gather(self) -> Gathered | None:
        """Make corpus scores, as `summarise`, of rows that come block by block; None: all are wanted at once."""
        from softbleu.metrics.gathering import Gathered

        return Gathered(self) if type(self).summarise is Metric.summarise and self.has_corpus_score else None

    def reference_scores(self, rows: Integers, offsets: Integers) -> Sequence[ReferenceScore]:
        """Score each candidate against each of its references.

        Raises
        ------
        InputError
            The metric looks at all references together.
        """
        raise InputError(f"metric {self.name!r} has no scores of single references: use level 'segment'")

    def pooled(self, rows: Integers, offsets: Integers) -> Score:
        """Score the sum of all segments, whatever a corpus score is otherwise."""
        return self.score(rows.sum(axis=0))

    def choose(self, rows: Integers, offsets: Integers) -> ChosenRows:
        """Choose the rows that resampling adds up."""
        from softbleu.metrics.references import ChosenRows

        return ChosenRows.every(len(rows))

    def segment_scores(self, rows: Integers, offsets: Integers) -> Sequence[Score]:
        """Score each segment."""
        return [self.score(row) for row in rows]

    def segment_numbers(self, rows: Integers, offsets: Integers) -> Floats:
        """Scores of the segments alone, as `segment_scores` has them."""
        import numpy as np

        if type(self).segment_scores is Metric.segment_scores:
            return self.scores(rows)
        return np.array([each.score for each in self.segment_scores(rows, offsets)], np.float64)


METRICS = Registry("metric", "softbleu.metrics", Metric)
