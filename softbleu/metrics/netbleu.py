"""BLEU and its soft variants against networks: n-grams as often as some single path has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from softbleu.config.declare import setting
from softbleu.lattices.coding import network_tokenizer
from softbleu.lattices.counts import pool_chunk
from softbleu.lattices.rules import NetworkRules
from softbleu.metrics.bleu import ClippedPrecision

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.matching.ngrams import Chunk
    from softbleu.matching.similarity import WordTable
    from softbleu.types import Integers


@dataclass(frozen=True, repr=False)
class NetBleu(ClippedPrecision):
    """BLEU over any matcher against networks of references, that are given or made of the references by rules.

    Reference counts are clipped: each n-gram counts as often as some single path has it. The reference length is the
    nearest that a path has, both exactly. What arcs cost is not looked at. Against plain references it is BLEU.

    Parameters
    ----------
    rules
        How references become networks.
    """

    rules: NetworkRules = setting(factory=NetworkRules)
    name: ClassVar[str] = "netbleu"
    matches_lines: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """BLEU, or what it is called over that matcher, and what it is against."""
        return f"{super().label}, networks"

    def complete(self) -> None:
        """Take a tokenizer that makes networks of references."""
        all_words = self.matching.needs_vectors(self.order)
        object.__setattr__(self, "tokenizer", network_tokenizer(self.tokenizer, self.rules, all_words=all_words))

    def resolved(self) -> Self:
        """With the resources that rules look at."""
        rules = self.rules.resolved()
        return self if rules is self.rules else replace(self, rules=rules)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Statistics of each segment, as BLEU has them."""
        whole = self.matching.needs_vectors(self.order)
        counted = pool_chunk(chunk, self.order, whole=whole)
        vectors = words.vectors if whole and words is not None else None
        return self.statistics_of(counted, self.matching.matched(counted, vectors, self.order, kernels))
