"""Deserved and spurious credit as tables. Shares, recall and F1 are in per cent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softbleu.errors import known_name
from softbleu.io.tabular import Records, Value
from softbleu.meta.matcher_variants import PLAIN, MatcherVariant

if TYPE_CHECKING:
    from softbleu.meta.credit import CreditTally, JudgedCredit, PartnerTally

CREDIT = ("threshold", "matches", "credit", "precision", "order_errors", "spurious", "recall", "f1")
_Cells = list[Value]
AROUND = 8  # Tokens on each side of an offender that are shown


@dataclass(frozen=True)
class Analysis:
    """The approximate matches of one variant in a text, judged or counted."""

    variant: MatcherVariant
    thresholds: tuple[float, ...]  # Ascending
    at: int  # Number of the threshold at which partners were collected
    tally: CreditTally  # Its credit by threshold and order
    partners: PartnerTally  # What was matched at that threshold
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
        reached = [
            number
            for number, credit in enumerate(self.curve)
            if credit.recall is not None and credit.recall >= recall
        ]
        return max(reached, default=None)

    @property
    def is_empty(self) -> bool:
        """Whether there is no approximate match at any threshold."""
        return not any(credit.matches for credit in self.curve)


@dataclass(frozen=True)
class CreditTable:
    """A table: its columns beside matcher and variant, and the rows of one analysis."""

    columns: Sequence[str]
    rows: Callable[[Analysis, Sequence[Analysis], int], Iterator[_Cells]]
    """Called with an analysis, with all, and with the most rows of lists without end."""


def credit_table(
    name: str, analyses: Sequence[Analysis], most: int = 20, facts: dict[str, str] | None = None
) -> Records:
    """Make the table of `CREDIT_TABLES` with that name, of some analyses.

    - `summary`: for aligned text every variant at the given threshold, at the one of its best F1, and at the highest
      with the recall that the plain matcher has at the given one; for other text what was matched at the given one;
    - `thresholds`: every variant at every threshold;
    - `orders`: every variant at the given threshold, order by order;
    - `partners`: reference n-grams by their spurious matches (by all matches, without alignments);
    - `offenders`: the spurious (or all) matches of greatest weight with function words or promiscuous partners.

    `partners` and `offenders` have at most `most` rows of each variant. `facts` hold for all rows.
    """
    name = known_name("table", name, CREDIT_TABLES)
    plain_text = name == "summary" and not analyses[0].tally.judged
    table = _UNALIGNED if plain_text else CREDIT_TABLES[name]
    rows = [
        [analysis.variant.matcher, analysis.variant.name, *row]
        for analysis in analyses
        for row in table.rows(analysis, analyses, most)
    ]
    empty = [analysis.name for analysis in analyses if analysis.is_empty]
    said = {"without approximate matches": "; ".join(empty)} if empty else {}
    return Records(["matcher", "variant", *table.columns], rows, {**(facts or {}), **said})


def _credit(threshold: float, credit: JudgedCredit) -> list[Value]:
    shares = (credit.precision, credit.order_share, credit.spurious_share, credit.recall, credit.f1)
    return [threshold, credit.matches, credit.weight, *(_per_cent(share) for share in shares)]


def _per_cent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _summary(analysis: Analysis, analyses: Sequence[Analysis], most: int) -> Iterator[_Cells]:
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


def _plain_summary(analysis: Analysis, analyses: Sequence[Analysis], most: int) -> Iterator[_Cells]:
    credit, partners = analysis.tally.credit(analysis.at), analysis.partners.partners()
    function = sum(partner.weight for partner in partners if partner.is_function)
    words = [partner for partner in partners if len(partner.ngram) == 1]
    word_weight = sum(partner.weight for partner in words)
    function_words = sum(partner.weight for partner in words if partner.is_function)
    promiscuous = max(partners, key=lambda partner: partner.candidates, default=None)
    yield [
        None if promiscuous is None else " ".join(promiscuous.ngram),
        None if promiscuous is None else promiscuous.candidates,
        analysis.thresholds[analysis.at],
        credit.matches,
        credit.weight,
        len(partners),
        _per_cent(function / credit.weight) if credit.weight else None,
        _per_cent(function_words / word_weight) if word_weight else None,
    ]


def _thresholds(analysis: Analysis, analyses: Sequence[Analysis], most: int) -> Iterator[_Cells]:
    for threshold, credit in zip(analysis.thresholds, analysis.curve, strict=True):
        yield _credit(threshold, credit)


def _orders(analysis: Analysis, analyses: Sequence[Analysis], most: int) -> Iterator[_Cells]:
    for order in range(1, len(analysis.tally.deserving) + 1):
        yield [order, *_credit(analysis.thresholds[analysis.at], analysis.tally.credit(analysis.at, order))]


def _partners(analysis: Analysis, analyses: Sequence[Analysis], most: int) -> Iterator[_Cells]:
    judged = analysis.tally.judged
    for partner in analysis.partners.partners()[:most]:
        ngram: _Cells = [" ".join(partner.ngram), partner.is_function, len(partner.ngram)]
        suspects: _Cells = [partner.suspects, partner.suspect_weight] if judged else [None, None]
        yield [*ngram, partner.candidates, partner.matches, partner.weight, *suspects]


def _offenders(analysis: Analysis, analyses: Sequence[Analysis], most: int) -> Iterator[_Cells]:
    for offender in analysis.partners.offenders(most):
        sides = (offender.candidate.within(AROUND), offender.reference.within(AROUND))
        yield [*sides, offender.similarity, offender.matches, offender.segment]


CREDIT_TABLES: dict[str, CreditTable] = {
    "summary": CreditTable(("at", *CREDIT), _summary),
    "thresholds": CreditTable(CREDIT, _thresholds),
    "orders": CreditTable(("order", *CREDIT), _orders),
    "partners": CreditTable(
        ("partner", "function_words", "order", "candidates", "matches", "credit", "spurious", "spurious_credit"),
        _partners,
    ),
    "offenders": CreditTable(("candidate", "reference", "similarity", "matches", "segment"), _offenders),
}
_UNALIGNED = CreditTable(
    ("most_promiscuous", "candidates", *CREDIT[:3], "partners", "function_ngrams", "function_words"), _plain_summary
)
