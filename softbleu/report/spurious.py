"""Deserved and spurious credit as tables and pictures. Shares, recall and F1 are in per cent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from softbleu.experiments.credit import BINS, VERDICTS
from softbleu.experiments.credit_tables import credit_table
from softbleu.report.metaeval import records_of
from softbleu.report.plots import Histogram, Lines, draw

if TYPE_CHECKING:
    from softbleu.experiments.spurious import Analysis
    from softbleu.report.records import Records


def make_table(
    name: str, analyses: Sequence[Analysis], most: int = 20, facts: dict[str, str] | None = None
) -> Records:
    """Make what is written of one of the tables; see `credit_table`."""
    return records_of(credit_table(name, analyses, most, facts))


def draw_spurious(analyses: Sequence[Analysis], picture_format: str) -> bytes:
    """Draw shares of spurious credit by threshold and precision by recall, or the histogram of partners."""
    judged = analyses[0].tally.judged
    return draw(spurious_lines(analyses) if judged else partner_histogram(analyses), picture_format)


def spurious_lines(analyses: Sequence[Analysis]) -> list[Lines]:
    """Two panels, a line a variant: spurious share by threshold, precision by recall."""
    shares, trade = {}, {}
    for each in analyses:
        curve = list(zip(each.thresholds, each.curve, strict=True))
        shares[each.name] = [
            (threshold, 100 * credit.spurious_share)
            for threshold, credit in curve
            if credit.spurious_share is not None
        ]
        trade[each.name] = [
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
            f"{each.name}, threshold {each.thresholds[0]:g}",
            "similarity",
            "matches",
            edges,
            {
                VERDICTS[number]: each.tally.histogram[number].tolist()
                for number in range(len(VERDICTS))
                if each.tally.histogram[number].any()
            },
        )
        for each in analyses
    ]


def partner_histogram(analyses: Sequence[Analysis]) -> Histogram:
    """How many reference n-grams were matched by how many different candidate n-grams, in powers of two."""
    numbers = {
        each.name: [partner.candidates.bit_length() - 1 for partner in each.partners.partners()] for each in analyses
    }
    bins = 1 + max((number for found in numbers.values() for number in found), default=0)
    return Histogram(
        "partners of approximate matches",
        "different candidate n-grams (logarithm to base 2, rounded down)",
        "reference n-grams",
        list(range(bins + 1)),
        {name: [found.count(number) for number in range(bins)] for name, found in numbers.items()},
    )
