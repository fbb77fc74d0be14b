"""Deserved and spurious credit as tables. Shares, recall and F1 are in per cent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softbleu.errors import known_name
from softbleu.io.tabular import Records, Value
from softbleu.meta.matcher_variants import PLAIN, MatcherVariant

if TYPE_CHECKING:
    from softbleu.meta.credit import CreditTally, JudgedCredit

CREDIT = ("threshold", "matches", "credit", "precision", "order_errors", "spurious", "recall", "f1")
_Cells = list[Value]


@dataclass(frozen=True)
class Analysis:
    """The approximate matches of one variant in a text."""

    variant: MatcherVariant
    thresholds: tuple[float, ...]  # Ascending
    at: int  # Number of the threshold that is reported
    tally: CreditTally  # Its credit by threshold and order
    vectors: str  # Name and content of the vectors' set

    @property
    def name(self) -> str:
        """Of the variant."""
        return f"{self.variant.matcher}, {self.variant.name}"

    @property
    def curve(self) -> list[JudgedCredit]:
        """Credit at every threshold."""
        return [self.tally.credit(number) for number in range(len(self.thresholds))]

    def best(self) -> int | None:
        """Find the threshold that separates best: its number, of greatest F1, the highest of equals.

        None if F1 is not defined at any.
        """
        scores = [credit.f1 for credit in self.curve]
        known = [score for score in scores if score is not None]
        return None if not known else max(number for number, score in enumerate(scores) if score == max(known))

    def at_recall(self, recall: float) -> int | None:
        """Find the highest threshold with at least that recall: its number, or None."""
        recalls = enumerate(credit.recall for credit in self.curve)
        return max((number for number, known in recalls if known is not None and known >= recall), default=None)

    @property
    def is_empty(self) -> bool:
        """Whether there is no approximate match at any threshold."""
        return not any(credit.matches for credit in self.curve)


def credit_table(name: str, analyses: Sequence[Analysis], facts: dict[str, str] | None = None) -> Records:
    """Make the table of `CREDIT_TABLES` with that name, of some analyses; `facts` hold for all rows.

    - `summary`: every variant at the given threshold, at the one of its best F1, and at the highest with the recall
      that the plain matcher has at the given one;
    - `thresholds`: every variant at every threshold;
    - `orders`: every variant at the given threshold, order by order.
    """
    columns, rows_of = CREDIT_TABLES[known_name("table", name, CREDIT_TABLES)]
    rows = [
        [analysis.variant.matcher, analysis.variant.name, *row]
        for analysis in analyses
        for row in rows_of(analysis, analyses)
    ]
    empty = [analysis.name for analysis in analyses if analysis.is_empty]
    said = {"without approximate matches": "; ".join(empty)} if empty else {}
    return Records(["matcher", "variant", *columns], rows, {**(facts or {}), **said})


def _credit(threshold: float, credit: JudgedCredit) -> list[Value]:
    shares = (credit.precision, credit.order_share, credit.spurious_share, credit.recall, credit.f1)
    return [threshold, credit.matches, credit.weight, *(None if share is None else 100 * share for share in shares)]


def _summary(analysis: Analysis, analyses: Sequence[Analysis]) -> Iterator[_Cells]:
    by_name = {(other.variant.matcher, other.variant.name): other for other in analyses}
    plain = by_name.get((analysis.variant.matcher, PLAIN))
    recall = plain.tally.credit(plain.at).recall if plain else None
    thresholds = {
        "given": analysis.at,
        "best F1": analysis.best(),
        "recall of plain": None if recall is None else analysis.at_recall(recall),
    }
    for at, number in thresholds.items():
        if number is not None:
            yield [at, *_credit(analysis.thresholds[number], analysis.tally.credit(number))]


def _thresholds(analysis: Analysis, analyses: Sequence[Analysis]) -> Iterator[_Cells]:
    for threshold, credit in zip(analysis.thresholds, analysis.curve, strict=True):
        yield _credit(threshold, credit)


def _orders(analysis: Analysis, analyses: Sequence[Analysis]) -> Iterator[_Cells]:
    for order in range(1, len(analysis.tally.deserving) + 1):
        yield [order, *_credit(analysis.thresholds[analysis.at], analysis.tally.credit(analysis.at, order))]


# Columns beside matcher and variant, and the rows of one analysis, called with it and with all
CREDIT_TABLES: dict[str, tuple[Sequence[str], Callable[[Analysis, Sequence[Analysis]], Iterator[_Cells]]]] = {
    "summary": (("at", *CREDIT), _summary),
    "thresholds": (CREDIT, _thresholds),
    "orders": (("order", *CREDIT), _orders),
}
