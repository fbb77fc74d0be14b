"""Deserved and spurious credit as tables and pictures. Shares, recall and F1 are in per cent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softbleu.errors import UnknownNameError
from softbleu.experiments.credit import BINS, CLASSES
from softbleu.experiments.remedies import PLAIN
from softbleu.report.plots import Histogram, Lines, draw
from softbleu.report.records import Records, Value

if TYPE_CHECKING:
    from softbleu.experiments.credit import Credit
    from softbleu.experiments.spurious import Analysis

CREDIT = ("threshold", "matches", "mass", "precision", "order_errors", "spurious", "recall", "f1")
Row = list[Value]
AROUND = 8
"""Tokens on each side of an offender that are shown."""


@dataclass(frozen=True)
class SpuriousTable:
    """A table: its columns beside matcher and remedy, and the rows of one analysis.

    Attributes
    ----------
    columns
        Their names.
    rows
        Called with an analysis, with all, and with the most rows of lists without end.
    """

    columns: Sequence[str]
    rows: Callable[[Analysis, Sequence[Analysis], int], Iterator[Row]]


def make_table(
    name: str, analyses: Sequence[Analysis], most: int = 20, facts: dict[str, str] | None = None
) -> Records:
    """Make one of `TABLES`.

    - `summary`: for aligned text every variant at the given threshold, at the one of its best F1, and at the highest
      with the recall that the plain matcher has at the given one; for other text what was matched at the given one;
    - `thresholds`: every variant at every threshold;
    - `orders`: every variant at the given threshold, order by order;
    - `partners`: reference n-grams by how often they were matched spuriously (or at all, if nobody knows);
    - `offenders`: spurious matches (or any) of greatest mass whose partner has function words only, or is among those
      that the most different n-grams were matched with; with the words around them.

    Parameters
    ----------
    name
        Of the table.
    analyses
        One or more.
    most
        Rows of each variant in `partners` and `offenders`.
    facts
        What else to say of all rows.

    Raises
    ------
    UnknownNameError
        There is no such table.
    """
    if name not in TABLES:
        raise UnknownNameError("table", name, TABLES)
    plain_text = name == "summary" and not analyses[0].tally.judged
    table = _UNALIGNED if plain_text else TABLES[name]
    rows = [
        [analysis.variant.matcher, analysis.variant.remedy, *row]
        for analysis in analyses
        for row in table.rows(analysis, analyses, most)
    ]
    empty = [name_of(analysis) for analysis in analyses if analysis.is_empty]
    said = {"without approximate matches": "; ".join(empty)} if empty else {}
    return Records(["matcher", "remedy", *table.columns], rows, {**(facts or {}), **said})


def name_of(analysis: Analysis) -> str:
    """Name a variant."""
    return f"{analysis.variant.matcher}, {analysis.variant.remedy}"


def draw_spurious(analyses: Sequence[Analysis], picture_format: str) -> bytes:
    """Draw shares of spurious credit by threshold and precision by recall, or the histogram of partners."""
    judged = analyses[0].tally.judged
    return draw(spurious_lines(analyses) if judged else partner_histogram(analyses), picture_format)


def spurious_lines(analyses: Sequence[Analysis]) -> list[Lines]:
    """Two panels, a line a variant: spurious share by threshold, precision by recall."""
    shares, trade = {}, {}
    for each in analyses:
        curve = list(zip(each.thresholds, each.curve, strict=True))
        shares[name_of(each)] = [
            (threshold, 100 * credit.spurious_share)
            for threshold, credit in curve
            if credit.spurious_share is not None
        ]
        trade[name_of(each)] = [
            (100 * credit.recall, 100 * credit.precision)
            for _, credit in curve
            if credit.recall is not None and credit.precision is not None
        ]
    return [
        Lines("spurious credit", "threshold", "per cent of mass", shares),
        Lines("precision and recall of the credit", "recall", "precision", trade),
    ]


def similarity_histograms(analyses: Sequence[Analysis]) -> list[Histogram]:
    """How alike deserved and spurious matches are, a panel a variant: matches at the lowest threshold."""
    edges = [number / BINS for number in range(BINS + 1)]
    return [
        Histogram(
            f"{name_of(each)}, threshold {each.thresholds[0]:g}",
            "similarity",
            "matches",
            edges,
            {
                CLASSES[number]: each.tally.histogram[number].tolist()
                for number in range(len(CLASSES))
                if each.tally.histogram[number].any()
            },
        )
        for each in analyses
    ]


def partner_histogram(analyses: Sequence[Analysis]) -> Histogram:
    """How many reference n-grams were matched by how many different candidate n-grams, in powers of two."""
    numbers = {
        name_of(each): [partner.candidates.bit_length() - 1 for partner in each.partners.partners()]
        for each in analyses
    }
    bins = 1 + max((number for found in numbers.values() for number in found), default=0)
    return Histogram(
        "partners of approximate matches",
        "different candidate n-grams (logarithm to base 2, rounded down)",
        "reference n-grams",
        list(range(bins + 1)),
        {name: [found.count(number) for number in range(bins)] for name, found in numbers.items()},
    )


def _credit(threshold: float, credit: Credit) -> Row:
    shares = (credit.precision, credit.order_share, credit.spurious_share, credit.recall, credit.f1)
    return [threshold, credit.matches, credit.mass, *(_per_cent(share) for share in shares)]


def _per_cent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _summary(analysis: Analysis, analyses: Sequence[Analysis], most: int) -> Iterator[Row]:
    plain = next(
        (
            each
            for each in analyses
            if (each.variant.matcher, each.variant.remedy) == (analysis.variant.matcher, PLAIN)
        ),
        None,
    )
    recall = plain.tally.credit(plain.at).recall if plain else None
    places = {
        "given": analysis.at,
        "best F1": analysis.best(),
        "recall of plain": None if recall is None else analysis.at_recall(recall),
    }
    for place, number in places.items():
        if number is not None:
            yield [place, *_credit(analysis.thresholds[number], analysis.tally.credit(number))]


def _plain_summary(analysis: Analysis, analyses: Sequence[Analysis], most: int) -> Iterator[Row]:
    credit, partners = analysis.tally.credit(analysis.at), analysis.partners.partners()
    function = sum(each.mass for each in partners if each.is_function)
    words = [each for each in partners if len(each.ngram) == 1]
    word_mass = sum(each.mass for each in words)
    function_words = sum(each.mass for each in words if each.is_function)
    promiscuous = max(partners, key=lambda each: each.candidates, default=None)
    yield [
        None if promiscuous is None else " ".join(promiscuous.ngram),
        None if promiscuous is None else promiscuous.candidates,
        analysis.thresholds[analysis.at],
        credit.matches,
        credit.mass,
        len(partners),
        _per_cent(function / credit.mass) if credit.mass else None,
        _per_cent(function_words / word_mass) if word_mass else None,
    ]


def _thresholds(analysis: Analysis, analyses: Sequence[Analysis], most: int) -> Iterator[Row]:
    for threshold, credit in zip(analysis.thresholds, analysis.curve, strict=True):
        yield _credit(threshold, credit)


def _orders(analysis: Analysis, analyses: Sequence[Analysis], most: int) -> Iterator[Row]:
    for order in range(1, len(analysis.tally.deserving) + 1):
        yield [order, *_credit(analysis.thresholds[analysis.at], analysis.tally.credit(analysis.at, order))]


def _partners(analysis: Analysis, analyses: Sequence[Analysis], most: int) -> Iterator[Row]:
    judged = analysis.tally.judged
    for each in analysis.partners.partners()[:most]:
        yield [
            " ".join(each.ngram),
            each.is_function,
            len(each.ngram),
            each.candidates,
            each.matches,
            each.mass,
            each.suspects if judged else None,
            each.suspect_mass if judged else None,
        ]


def _offenders(analysis: Analysis, analyses: Sequence[Analysis], most: int) -> Iterator[Row]:
    for each in analysis.partners.offenders(most):
        sides = (each.candidate.within(AROUND), each.reference.within(AROUND))
        yield [*sides, each.similarity, each.matches, each.segment]


TABLES: dict[str, SpuriousTable] = {
    "summary": SpuriousTable(("at", *CREDIT), _summary),
    "thresholds": SpuriousTable(CREDIT, _thresholds),
    "orders": SpuriousTable(("order", *CREDIT), _orders),
    "partners": SpuriousTable(
        ("partner", "function_words", "order", "candidates", "matches", "mass", "spurious", "spurious_mass"),
        _partners,
    ),
    "offenders": SpuriousTable(("candidate", "reference", "similarity", "matches", "segment"), _offenders),
}
_UNALIGNED = SpuriousTable(
    (
        "most_promiscuous",
        "candidates",
        "threshold",
        "matches",
        "mass",
        "partners",
        "function_ngrams",
        "function_words",
    ),
    _plain_summary,
)
