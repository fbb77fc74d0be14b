"""What a metric is: statistics of segments, which add up, and a score of their sum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from softbleu.kernels import Kernels
    from softbleu.ngrams import Chunk
    from softbleu.similarity import TokenVectors

    Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Score:
    """A score and the numbers it is made of."""

    score: float
    """0 to 100."""

    def as_dict(self) -> dict[str, Any]:
        """Fields by name, in full precision."""
        return asdict(self)


class Metric(ABC):
    """Two pure functions. Metrics are frozen dataclasses: their fields are their identity."""

    name: ClassVar[str]
    signature_key: ClassVar[str] = "metric"

    @property
    @abstractmethod
    def needs_vectors(self) -> bool:
        """Whether any similarity is looked at."""

    @abstractmethod
    def statistics(self, chunk: Chunk, vectors: TokenVectors | None, kernels: Kernels) -> Integers:
        """Compute the statistics of each segment, a row of whole numbers each: (segments, k)."""

    @abstractmethod
    def score(self, row: Integers) -> Score:
        """Score the statistics of one segment, or the sum of the statistics of many."""
