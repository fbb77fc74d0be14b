"""The matchers: which n-grams may stand for one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from softbleu.matching.base import Matcher, SoftMatcher

if TYPE_CHECKING:
    from collections.abc import Sequence


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
