"""Deserved and spurious credit as pictures. Shares, recall and F1 are in per cent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from softbleu.meta.credit import BINS, VERDICTS
from softbleu.meta.variants import PLAIN
from softbleu.report.plots import Histogram, Lines, Points, Rows, draw, in_rows

if TYPE_CHECKING:
    from softbleu.meta.credit_tables import Analysis


def draw_spurious(analyses: Sequence[Analysis], picture_format: str) -> bytes:
    """Draw shares of spurious credit by threshold and precision by recall, or the histogram of partners."""
    judged = analyses[0].tally.judged
    return draw(spurious_lines(analyses) if judged else partner_histograms(analyses), picture_format)


def spurious_lines(analyses: Sequence[Analysis]) -> Rows:
    """Spurious share by threshold, then precision by recall: a panel a remedy, a line a matcher.

    Where the matchers were tried without a remedy, too, every other panel has that in grey.
    """
    shares: dict[str, dict[str, Points]] = {}
    trades: dict[str, dict[str, Points]] = {}
    for each in analyses:
        remedy, matcher = each.variant.remedy, each.variant.matcher
        spurious = zip(each.thresholds, (credit.spurious_share for credit in each.curve), strict=True)
        shares.setdefault(remedy, {})[matcher] = [(at, 100 * share) for at, share in spurious if share is not None]
        both = ((credit.recall, credit.precision) for credit in each.curve)
        trades.setdefault(remedy, {})[matcher] = [
            (100 * x, 100 * y) for x, y in both if x is not None and y is not None
        ]
    return [
        *_remedy_panels("threshold", "spurious credit, per cent", shares),
        *_remedy_panels("recall, per cent", "precision of the credit, per cent", trades),
    ]


def _remedy_panels(x_label: str, y_label: str, curves: Mapping[str, Mapping[str, Points]]) -> Rows:
    plain = curves.get(PLAIN, {})
    behind = {remedy: {} if remedy == PLAIN else plain for remedy in curves}
    return in_rows([Lines(name, x_label, y_label, curves[name], behind[name], PLAIN) for name in curves])


def similarity_histograms(analyses: Sequence[Analysis]) -> Rows:
    """How alike deserved and spurious matches are, a panel a variant: matches at the lowest threshold."""
    edges = [number / BINS for number in range(BINS + 1)]
    panels = []
    for each in analyses:
        counts = {name: row.tolist() for name, row in zip(VERDICTS, each.tally.histogram, strict=True) if row.any()}
        title = f"{each.name}, threshold {each.thresholds[0]:g}"
        panels.append(Histogram(title, "similarity", "matches", edges, counts))
    return in_rows(panels)


def partner_histograms(analyses: Sequence[Analysis]) -> Rows:
    """How many reference n-grams were matched by how many different candidate n-grams, in powers of two.

    A panel a remedy.
    """
    numbers: dict[str, dict[str, list[int]]] = {}
    for each in analyses:
        numbers.setdefault(each.variant.remedy, {})[each.variant.matcher] = [
            partner.candidates.bit_length() - 1 for partner in each.partners.partners()
        ]
    found = [number for matchers in numbers.values() for each in matchers.values() for number in each]
    bins = range(1 + max(found, default=0))
    label = "different candidate n-grams (logarithm to base 2, rounded down)"
    panels = []
    for remedy, matchers in numbers.items():
        counts = {matcher: [each.count(number) for number in bins] for matcher, each in matchers.items()}
        panels.append(Histogram(remedy, label, "reference n-grams", [*bins, len(bins)], counts))
    return in_rows(panels)
