"""GLEU against networks: n-grams as often as some single path has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from softbleu.declare import setting
from softbleu.errors import InputError
from softbleu.metrics.base import Requirements
from softbleu.metrics.gleu import Gleu
from softbleu.networks.coding import NetworkMarks, NetworkTokenizer, SpeltNetworkTokenizer
from softbleu.networks.pools import pool_chunk
from softbleu.networks.rules import NetworkRules

if TYPE_CHECKING:
    from softbleu.kernels import Kernels
    from softbleu.ngrams import Chunk
    from softbleu.similarity import WordTable
    from softbleu.types import Integers


@dataclass(frozen=True, repr=False)
class NetGleu(Gleu):
    """GLEU over any matcher against networks of references, that are given or made of the references by rules.

    A reference has each n-gram as often as some single path of its network has it, and the nearest length that a path
    has. Against plain references it is GLEU.

    Parameters
    ----------
    rules
        How references become networks.
    """

    rules: NetworkRules = setting(factory=NetworkRules)
    name: ClassVar[str] = "netgleu"
    matches_lines: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """GLEU, and what it is against."""
        return f"{super().label}, networks"

    @property
    def requires(self) -> Requirements:
        """What GLEU needs, and the marks of networks."""
        return replace(super().requires, parts=(NetworkMarks(),))

    def complete(self) -> None:
        """Take a tokenizer that makes networks of references."""
        kind = SpeltNetworkTokenizer if self.matching.needs_vectors(self.order) else NetworkTokenizer
        given = self.tokenizer.tokenize, self.tokenizer.lowercase
        object.__setattr__(self, "tokenizer", kind(*given, self.rules))

    def resolved(self) -> Self:
        """With the resources that rules look at."""
        rules = self.rules.resolved()
        return self if rules is self.rules else replace(self, rules=rules)

    def statistics(self, chunk: Chunk, words: WordTable | None, kernels: Kernels) -> Integers:
        """Statistics of each segment with each of its references, as GLEU has them."""
        if words is None:
            raise InputError("GLEU against networks needs the table of words: it is missing")
        whole = self.matching.needs_vectors(self.order)
        pool = pool_chunk(chunk, words, self.order, whole=whole, single=self.variant != "gleu0")
        return super().statistics(pool, words, kernels)
