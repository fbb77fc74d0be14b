"""What a metric is: statistics of segments, which add up, and a score of their sum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from softbleu.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.kernels import Kernels
    from softbleu.metrics.references import ChosenRows
    from softbleu.ngrams import Chunk
    from softbleu.similarity import TokenVectors
    from softbleu.types import Floats, Integers


@dataclass(frozen=True)
class Score:
    """A score and the numbers it is made of."""

    score: float
    """0 to 100."""

    def as_dict(self) -> dict[str, Any]:
        """Fields by name, in full precision."""
        return asdict(self)


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


class Metric(ABC):
    """Two pure functions. Metrics are frozen dataclasses: their fields are their identity."""

    name: ClassVar[str]
    signature_key: ClassVar[str] = "metric"

    needs_source: ClassVar[bool] = False
    needs_gold: ClassVar[bool] = False
    """Whether the edits of a gold file are looked at, not the references that they make."""

    @property
    @abstractmethod
    def needs_vectors(self) -> bool:
        """Whether any similarity is looked at."""

    @abstractmethod
    def statistics(self, chunk: Chunk, vectors: TokenVectors | None, kernels: Kernels) -> Integers:
        """Compute the statistics of each segment, a row of whole numbers each: (segments, k).

        A metric that looks at one reference at a time gives a row for each reference of each segment instead.
        """

    @property
    def needs_frequencies(self) -> bool:
        """Whether words are weighed by how frequent they are in the references."""
        return False

    @property
    def rarity_source(self) -> object:
        """What says how rare words are, if they are weighed by it: `references`, or another corpus."""
        return None

    @property
    def needs_spelling(self) -> bool:
        """Whether words are compared by their characters, too."""
        return False

    @property
    def needs_rows(self) -> bool:
        """Whether a corpus score needs the rows of every segment, not only their sum."""
        return False

    @property
    def has_corpus_score(self) -> bool:
        """Whether a corpus has a score that is not a mean of segment scores."""
        return True

    @abstractmethod
    def score(self, row: Integers) -> Score:
        """Score the statistics of one segment, or the sum of the statistics of many."""

    @abstractmethod
    def scores(self, rows: Integers | Floats) -> Floats:
        """Scores of many rows, or sums of rows, at once."""

    def summarise(self, rows: Integers, offsets: Integers) -> Score:
        """Score a corpus: segment s has the rows ``offsets[s]`` to ``offsets[s + 1]``."""
        return self.score(rows.sum(axis=0))

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
