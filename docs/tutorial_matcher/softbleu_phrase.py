"""Words match as they are spelt; longer n-grams may match similar ones."""

from dataclasses import dataclass

from softbleu import SoftMatcher


@dataclass(frozen=True)
class Phrase(SoftMatcher):
    """Soft matches for n-grams of two words and more."""

    name = "phrase"

    def pool_orders(self, order, max_order):
        return (order,) if order > 1 else ()
