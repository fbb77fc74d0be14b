"""What a matcher is: which reference n-grams may stand for a candidate n-gram, and how they are given out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from softbleu.errors import InputError, UnknownNameError
from softbleu.similarity import SCALE, composition, threshold_in_millionths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.kernels import Kernels
    from softbleu.ngrams import Chunk, Ngrams
    from softbleu.similarity import TokenVectors
    from softbleu.types import Integers


Assignment = Literal["exact-first", "sequential", "optimal"]
Consumption = Literal["unit", "similarity"]


@dataclass(frozen=True)
class Matches:
    """What the candidate n-grams of one order found, n-gram by n-gram."""

    starts: Integers
    """Candidate positions at which the n-grams start."""
    masses: Integers
    """How much of each is matched, in millionths: 1,000,000 for an exact match, 0 for none."""
    partner_starts: Integers
    """Position at which the matched reference n-gram first appears; -1 for none."""
    partner_orders: Integers
    """Order of the matched reference n-gram; 0 for none."""

    @classmethod
    def none(cls, ngrams: Ngrams) -> Matches:
        """No matches yet."""
        empty = np.zeros(len(ngrams.starts), np.int64)
        return cls(ngrams.starts, empty, empty - 1, empty.copy())

    @classmethod
    def exact(cls, ngrams: Ngrams, order: int) -> Matches:
        """Exact matches only."""
        first = np.full(len(ngrams.counts), -1)
        first[ngrams.pool_cells] = ngrams.pool_starts
        partners = np.where(ngrams.exact, first[ngrams.cells], -1)
        return cls(ngrams.starts, ngrams.exact * SCALE, partners, np.where(ngrams.exact, order, 0))


@dataclass(frozen=True)
class Matcher(ABC):
    """A matcher is a value: its fields are its identity and its part of the signature."""

    name: ClassVar[str]
    signature_key: ClassVar[str] = "matcher"

    @abstractmethod
    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Orders of the reference n-grams that a candidate n-gram of that order may match approximately."""

    def matches(self, chunk: Chunk, vectors: TokenVectors | None, max_order: int) -> list[Matches]:
        """Match the candidate n-grams of orders 1…max_order of every segment of a chunk."""
        return [Matches.exact(ngrams, n) for n, ngrams in enumerate(chunk.ngrams(max_order), start=1)]

    def masses(self, chunk: Chunk, vectors: TokenVectors | None, max_order: int, kernels: Kernels) -> Integers:
        """Sum the matches of each segment and order, in millionths: (segments, max_order)."""
        if vectors is None or not self.needs_vectors(max_order):
            return SCALE * kernels.clipped_counts(
                chunk.candidates.codes,
                chunk.candidates.offsets,
                chunk.references.codes,
                chunk.references.offsets,
                chunk.segment_offsets,
                max_order,
            )
        masses = np.zeros((len(chunk), max_order), np.int64)
        for order, matches in enumerate(self.matches(chunk, vectors, max_order)):
            np.add.at(masses[:, order], chunk.layout.segment[matches.starts], matches.masses)
        return masses

    def needs_vectors(self, max_order: int) -> bool:
        """Whether any n-gram up to that order may match approximately."""
        return any(self.pool_orders(order, max_order) for order in range(1, max_order + 1))

    def needs_frequencies(self, max_order: int) -> bool:
        """Whether words are weighed by how frequent they are."""
        return False

    def options(self) -> dict[str, object]:
        """Fields and their values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class SoftMatcher(Matcher):
    """A matcher that lets similar n-grams stand for one another; subclasses say which (`pool_orders`).

    Parameters
    ----------
    threshold : a similarity must exceed it to count, 0 to 1
    assignment : order in which matches are made: `exact-first` (exact ones, then left to right), `sequential`
        (Morgan 2014: one pass, left to right) or `optimal` (greatest total mass)
    consumption : what an approximate match takes from the pool: one instance (`unit`), or as much of it as the
        n-grams are similar (`similarity`, Morgan 2014)
    composition : how n-grams are compared: `mean`, `aligned` or `sif`
    """

    threshold: float = 0.0
    assignment: Assignment = "exact-first"
    consumption: Consumption = "unit"
    composition: str = "mean"

    def __post_init__(self) -> None:
        if math.isnan(self.threshold) or not 0 <= self.threshold <= 1:
            raise InputError(f"threshold must lie between 0 and 1, not {self.threshold}")
        for kind, value, valid in (
            ("assignment", self.assignment, get_args(Assignment)),
            ("consumption", self.consumption, get_args(Consumption)),
        ):
            if value not in valid:
                raise UnknownNameError(kind, value, valid)
        if self.assignment == "optimal" and self.consumption != "unit":
            raise InputError("assignment 'optimal' gives out whole instances: use consumption 'unit' with it")
        composition(self.composition)

    def needs_vectors(self, max_order: int) -> bool:
        """Whether any n-gram up to that order may match approximately."""
        return threshold_in_millionths(self.threshold) < SCALE and super().needs_vectors(max_order)

    def needs_frequencies(self, max_order: int) -> bool:
        """Whether words are weighed by how frequent they are."""
        return composition(self.composition).by_frequency and self.needs_vectors(max_order)

    def matches(self, chunk: Chunk, vectors: TokenVectors | None, max_order: int) -> list[Matches]:
        """Match the candidate n-grams of orders 1…max_order of every segment of a chunk."""
        from softbleu.matchers.soft import soft_matches

        if vectors is None or not self.needs_vectors(max_order):
            return super().matches(chunk, vectors, max_order)
        return soft_matches(self, chunk, vectors, max_order)
