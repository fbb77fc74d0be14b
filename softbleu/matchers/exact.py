"""Matching by spelling alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from softbleu.matchers.base import Matcher

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Exact(Matcher):
    """Only equal n-grams match (BLEU: Papineni et al. 2002)."""

    name: ClassVar[str] = "exact"

    def pool_orders(self, order: int, max_order: int) -> Sequence[int]:
        """None: nothing matches approximately."""
        return ()
