"""Matching n-grams with similar n-grams of the same order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from softbleu.matchers.base import SoftMatcher

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class VleuMatcher(SoftMatcher):
    """N-grams may match n-grams of their own order (VLEU: Morgan 2014)."""

    name: ClassVar[str] = "vleu"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """The n-gram's own order."""
        return (order,)
