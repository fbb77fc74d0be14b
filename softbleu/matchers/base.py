"""What a matcher is: which reference n-grams may stand for a candidate n-gram, and how they are given out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, get_args

import numpy as np

from softbleu.errors import InputError, UnknownNameError
from softbleu.kernels.scale import SCALE
from softbleu.matchers.matches import Assignment, Consumption, Matches, Rules
from softbleu.matchers.soft import soft_matches
from softbleu.similarity import composition, threshold_in_millionths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.kernels import Kernels
    from softbleu.ngrams import Chunk
    from softbleu.similarity import TokenVectors
    from softbleu.types import Integers


@dataclass(frozen=True)
class Matcher(ABC):
    """A matcher is a value: its fields are its identity and its part of the signature."""

    name: ClassVar[str]
    signature_key: ClassVar[str] = "matcher"

    @abstractmethod
    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Orders of the reference n-grams that a candidate n-gram of that order may match approximately."""

    def matches(self, chunk: Chunk, vectors: TokenVectors | None, max_order: int) -> list[Matches]:
        """Match the candidate n-grams of orders 1…max_order of every line of a chunk."""
        return [Matches.exact(ngrams, n) for n, ngrams in enumerate(chunk.ngrams(max_order), start=1)]

    def matched(self, chunk: Chunk, vectors: TokenVectors | None, max_order: int, kernels: Kernels) -> Integers:
        """Sum the matches of each candidate and order, in millionths: (lines, max_order)."""
        if vectors is None or not self.needs_vectors(max_order):
            return SCALE * kernels.clipped_counts(
                chunk.candidates.codes,
                chunk.candidates.offsets,
                chunk.references.codes,
                chunk.references.offsets,
                chunk.segment_offsets,
                max_order,
            )
        matches = self.matches(chunk, vectors, max_order)
        return np.column_stack([chunk.sums(found.starts, found.matched) for found in matches])

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
        (Morgan 2014: one pass, left to right) or `optimal` (greatest sum of matches)
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

    def rules(self, max_order: int) -> Rules:
        """What it says of n-grams up to an order."""
        return Rules(
            tuple(tuple(self.pool_orders(order, max_order)) for order in range(1, max_order + 1)),
            threshold_in_millionths(self.threshold),
            self.assignment,
            self.consumption,
            composition(self.composition),
        )

    def matches(self, chunk: Chunk, vectors: TokenVectors | None, max_order: int) -> list[Matches]:
        """Match the candidate n-grams of orders 1…max_order of every segment of a chunk."""
        if vectors is None or not self.needs_vectors(max_order):
            return super().matches(chunk, vectors, max_order)
        return soft_matches(self.rules(max_order), chunk, vectors)
