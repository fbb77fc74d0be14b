"""Base classes of matchers: which reference n-grams a candidate n-gram may match, and how matches are chosen."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from softbleu.config.declare import Declared, Registry, setting
from softbleu.embeddings.measure import parse_percentile
from softbleu.errors import InputError
from softbleu.kernels import Kernels
from softbleu.kernels.scale import SCALE
from softbleu.matching.matches import Assignment, Consumption, Matches, Rules
from softbleu.matching.ngrams import Chunk
from softbleu.matching.similarity import COMPOSITIONS, Vectors, threshold_in_millionths
from softbleu.matching.soft import soft_matches, soft_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.types import Integers

DEFAULT_THRESHOLD = 0.8  # What a similarity must exceed where neither a person nor the vectors say


def read_threshold(text: str) -> float | str | None:
    """Read a threshold: a number, a quantile as it is written, or `none` for the default.

    >>> read_threshold("0.8"), read_threshold("p99.9")
    (0.8, 'p99.9')
    """
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        parse_percentile(text)
        return text


def threshold_setting(help: str, unset: str) -> Any:
    """Declare the threshold of similarities: a number, a quantile, or None for what is `unset`.

    `help` is the line of help of the setting.
    """
    kinds: dict[str, Any] = {"read": read_threshold, "unset": unset, "always_signed": True, "common": True}
    return setting(None, help, least=0, most=1, metavar="0..1|pX", flags=("-t",), **kinds)


@dataclass(frozen=True)
class Matcher(Declared):
    """A matcher is a value: its fields are its identity and its part of the signature."""

    kind: ClassVar[str] = "matcher"

    @abstractmethod
    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Orders, up to `max_order`, of reference n-grams that a candidate n-gram of `order` may match softly."""

    def matches(self, chunk: Chunk, vectors: Vectors | None, max_order: int) -> list[Matches]:
        """Match the candidate n-grams of orders 1…`max_order` of every line of a chunk: `Matches` for each order.

        `vectors` are those of the words of the corpus, None where `needs_vectors` says so. All systems of a chunk
        share its references.
        """
        return [Matches.exact(ngrams, n) for n, ngrams in enumerate(chunk.ngrams(max_order), start=1)]

    def matched(self, chunk: Chunk, vectors: Vectors | None, max_order: int, kernels: Kernels) -> Integers:
        """Sum the matches of each candidate and order, in millionths of an n-gram: (lines, `max_order`).

        `chunk` has the segments, `vectors` are as for `matches`. `kernels` match in one go where they can; digits do
        not depend on them.
        """
        if vectors is None or not self.needs_vectors(max_order):
            return SCALE * kernels.clipped_counts(
                chunk.candidates, chunk.references, chunk.segment_offsets, max_order
            )
        matches = self.matches(chunk, vectors, max_order)
        return np.column_stack([chunk.sums(some.starts, some.matched) for some in matches])

    def needs_vectors(self, max_order: int) -> bool:
        """Whether any n-gram up to that order may match approximately."""
        return any(self.pool_orders(order, max_order) for order in range(1, max_order + 1))

    def needs_frequencies(self, max_order: int) -> bool:
        """Whether words are weighed by how frequent they are."""
        return False


@dataclass(frozen=True)
class SoftMatcher(Matcher):
    """A matcher that lets similar n-grams stand for one another; subclasses say which (`pool_orders`).

    Parameters
    ----------
    threshold
        A similarity must exceed it to count, 0 to 1. A quantile such as `p99.9` is one of random pairs of words. None
        is the threshold that the vectors recommend, or 0.8.
    assignment
        Order in which matches are made: `exact-first` (exact ones, then left to right), `sequential` (Morgan 2014:
        one pass, left to right) or `optimal` (greatest sum of matches).
    consumption
        How much of a reference n-gram an approximate match uses: one instance (`unit`), or the similarity
        (`similarity`).
    composition
        How n-grams are compared: `mean`, `aligned` or `sif`.
    """

    threshold: float | str | None = threshold_setting(
        "A similarity must be greater than this to count, or than X percent of random pairs of words reach with "
        "these vectors, e.g. p99.9",
        f"{DEFAULT_THRESHOLD:g}, or what the vectors recommend",
    )
    assignment: Assignment = setting(
        "exact-first", "Order in which matches are made: exact-first, sequential or optimal"
    )
    consumption: Consumption = setting(
        "unit", "What an approximate match consumes: one instance (unit) or its similarity"
    )
    composition: str = setting(
        "mean",
        "How n-grams are compared: by mean vectors (mean), the same with rare words weighing more (sif), or word by "
        "word (aligned)",
        choices=COMPOSITIONS,
    )

    def check(self) -> None:
        """See that the settings go together."""
        if self.assignment == "optimal" and self.consumption != "unit":
            raise InputError("assignment 'optimal' gives out whole instances: use consumption 'unit' with it")

    def needs_vectors(self, max_order: int) -> bool:
        """Whether any n-gram up to that order may match approximately."""
        soft = isinstance(self.threshold, str) or threshold_in_millionths(self.least_similarity) < SCALE
        return soft and super().needs_vectors(max_order)

    @property
    def least_similarity(self) -> float:
        """The threshold as a number."""
        if isinstance(self.threshold, str):
            raise InputError(f"threshold {self.threshold!r} is a quantile: resolve the measure, or give a number")
        return DEFAULT_THRESHOLD if self.threshold is None else self.threshold

    def needs_frequencies(self, max_order: int) -> bool:
        """Whether words are weighed by how frequent they are."""
        return COMPOSITIONS[self.composition].by_frequency and self.needs_vectors(max_order)

    def rules(self, max_order: int, vectors: Vectors) -> Rules:
        """Make the rules for n-grams of orders 1…`max_order`, compared by `vectors`."""
        return Rules(
            tuple(tuple(self.pool_orders(order, max_order)) for order in range(1, max_order + 1)),
            threshold_in_millionths(self.least_similarity),
            self.assignment,
            self.consumption,
            COMPOSITIONS[self.composition],
            vectors.equal_is_one,
            vectors.in_context,
        )

    def matches(self, chunk: Chunk, vectors: Vectors | None, max_order: int) -> list[Matches]:
        """Match the candidate n-grams of orders 1…max_order of every segment of a chunk."""
        if vectors is None or not self.needs_vectors(max_order):
            return super().matches(chunk, vectors, max_order)
        return soft_matches(self.rules(max_order, vectors), chunk, vectors)

    def matched(self, chunk: Chunk, vectors: Vectors | None, max_order: int, kernels: Kernels) -> Integers:
        """Do what `Matcher.matched` does, by kernels where these can, with the same digits."""
        sums = None
        if kernels.sum_matches and self.has_plain_matches and vectors is not None and self.needs_vectors(max_order):
            sums = soft_sums(self.rules(max_order, vectors), chunk, vectors, kernels)
        return super().matched(chunk, vectors, max_order, kernels) if sums is None else sums

    @property
    def has_plain_matches(self) -> bool:
        """Whether its matches are those that are made here, not by a subclass."""
        return type(self).matches is SoftMatcher.matches


@dataclass(frozen=True)
class Exact(Matcher):
    """Only equal n-grams match (BLEU: Papineni et al. 2002)."""

    name: ClassVar[str] = "exact"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """None: nothing matches approximately."""
        return ()


@dataclass(frozen=True)
class SleuMatcher(SoftMatcher):
    """Words may match similar words (SLEU: Morgan 2014)."""

    name: ClassVar[str] = "sleu"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Reference words for a word; nothing for longer n-grams."""
        return (1,) if order == 1 else ()


@dataclass(frozen=True)
class VleuMatcher(SoftMatcher):
    """N-grams may match n-grams of their own order (VLEU: Morgan 2014)."""

    name: ClassVar[str] = "vleu"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """The n-gram's own order."""
        return (order,)


@dataclass(frozen=True)
class XleuMatcher(SoftMatcher):
    """N-grams may match n-grams of every order (XLEU: Morgan 2014)."""

    name: ClassVar[str] = "xleu"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Every order."""
        return range(1, max_order + 1)


MATCHERS = Registry("matcher", "softbleu.matching", Matcher)


def make_matcher(name: str, **options: object) -> Matcher:
    """Make a matcher from its name and its options; options that are None keep their defaults.

    Examples
    --------
    >>> make_matcher("vleu", threshold=0.8, assignment=None)
    VleuMatcher(threshold=0.8, assignment='exact-first', consumption='unit', composition='mean')
    >>> make_matcher("exact", threshold=0.8)
    Traceback (most recent call last):
    softbleu.errors.InputError: matcher 'exact' has no option 'threshold'; it has: none
    """
    matcher: Matcher = MATCHERS.make(name, **options)
    return matcher
