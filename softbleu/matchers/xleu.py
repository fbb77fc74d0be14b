"""Matching n-grams with similar n-grams of any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from softbleu.matchers.base import SoftMatcher

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class XleuMatcher(SoftMatcher):
    """N-grams may match n-grams of every order (XLEU: Morgan 2014)."""

    name: ClassVar[str] = "xleu"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Every order."""
        return range(1, max_order + 1)
