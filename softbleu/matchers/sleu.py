"""Matching similar words: soft unigrams, longer n-grams by spelling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from softbleu.matchers.base import SoftMatcher

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class SleuMatcher(SoftMatcher):
    """Words may match similar words (SLEU: Morgan 2014)."""

    name: ClassVar[str] = "sleu"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """Reference words for a word; nothing for longer n-grams."""
        return (1,) if order == 1 else ()
