"""Verdicts of a comparison in words: which of two systems is better, by how much, and whether other metrics agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softbleu.formats import Layout
from softbleu.report.comparisons import corrected_text
from softbleu.tables import SIGNIFICANT, p_text

if TYPE_CHECKING:
    from softbleu.results.comparison import ComparedRow, Comparison


@dataclass(frozen=True)
class MetricVerdict:
    """The difference of a system from the baseline by one metric."""

    metric: str
    difference: str  # With its sign
    p: str
    better: str  # Name of the system with the significantly better score; empty if neither is


@dataclass(frozen=True)
class SystemVerdict:
    """A system beside the baseline."""

    better: str  # Name of the significantly better one; empty if neither is
    sentence: str
    facts: Sequence[str]
    wins: int  # Segments that score better than the baseline's
    ties: int
    losses: int
    others: Sequence[MetricVerdict] = ()  # By the other metrics

    @property
    def agreement(self) -> str:
        """A sentence on whether the other metrics agree."""
        groups: dict[str, list[str]] = {}
        for other in self.others:
            if not self.better:
                said = "show a significant difference" if other.better else "show no significant difference either"
            elif other.better:
                said = "agree" if other.better == self.better else "disagree"
            else:
                said = "show no significant difference"
            groups.setdefault(said, []).append(other.metric)
        parts = (f"{_listed(names)} {_verb(verb, len(names))}" for verb, names in groups.items())
        return "; ".join(parts)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _verb(verb: str, count: int) -> str:
    """Put a verb into the singular.

    >>> _verb("show a difference", 1), _verb("agree", 2)
    ('shows a difference', 'agree')
    """
    first, blank, rest = verb.partition(" ")
    return f"{first}s{blank}{rest}" if count == 1 else verb


def make_verdicts(tables: Sequence[Comparison], layout: Layout) -> dict[str, SystemVerdict]:
    """Make the verdict of the first metric on each system beside the baseline, by name."""
    first, *more = tables
    verdicts = {}
    for place, row in enumerate(first.comparisons):
        if row.beside is None:
            continue
        pairs = ((table, table.comparisons[place].beside) for table in more)
        others = [_of_metric(table, pair, layout) for table, pair in pairs if pair is not None]
        wins, ties, losses = row.beside.wins, row.beside.ties, row.beside.losses
        said = _better(first, row.beside), _sentence(first, row.beside, layout), _facts(first, row.beside, layout)
        verdicts[row.name] = SystemVerdict(*said, wins, ties, losses, others)
    return verdicts


def overall_verdict(table: Comparison) -> str:
    """Count the systems that are better and worse than the baseline; empty for two systems."""
    better = [_better(table, row.beside) for row in table.comparisons if row.beside is not None]
    if len(better) < 2:
        return ""
    worse = better.count(table.baseline)
    same = better.count("")
    parts = f"{len(better) - worse - same} significantly better, {worse} worse, {same} neither"
    return f"{len(better)} systems beside {table.baseline}: {parts}."


def _better(table: Comparison, pair: ComparedRow) -> str:
    """Name the better system of a pair; empty unless the difference is significant."""
    if pair.corrected >= SIGNIFICANT:
        return ""
    better: str = pair.name if (pair.difference > 0) == table.higher_is_better else pair.other
    return better


def _digits(table: Comparison, layout: Layout) -> int:
    return layout.decimals((row.score for row in table.comparisons), in_percent=table.in_percent)


def _signed(number: float, digits: int) -> str:
    """Write a number with its sign, as all of a page does.

    >>> _signed(-0.25, 1), _signed(3, 1)
    ('−0.2', '+3.0')
    """
    return f"{number:+z.{digits}f}".replace("-", "−")


def _sentence(table: Comparison, pair: ComparedRow, layout: Layout) -> str:
    better, digits = _better(table, pair), _digits(table, layout)
    if not better:
        return f"{pair.name} and {pair.other} do not differ significantly in {table.label}"
    worse = pair.other if better == pair.name else pair.name
    return f"{better} is better than {worse} by {abs(pair.difference):.{digits}f} {table.label}"


def _facts(table: Comparison, pair: ComparedRow, layout: Layout) -> list[str]:
    digits, how = _digits(table, layout), table.significance
    difference, low, high = (_signed(number, digits) for number in (pair.difference, *pair.interval))
    drawn = f"{how.drawn():,} {'samples' if how.test == 'bootstrap' else 'trials'}"
    tests = corrected_text(table, len(table.comparisons) - 1)
    direction = [] if table.higher_is_better else [f"lower {table.label} is better"]
    return [
        f"{pair.name} less {pair.other}: {difference}, 95% interval {low} to {high}",
        *direction,
        f"p {_p(pair)} ({tests}, {drawn})",
    ]


def _p(pair: ComparedRow) -> str:
    text = p_text(pair.corrected)
    return text if text.startswith("<") else f"= {text}"


def _of_metric(table: Comparison, pair: ComparedRow, layout: Layout) -> MetricVerdict:
    difference = _signed(pair.difference, _digits(table, layout))
    return MetricVerdict(table.label, difference, p_text(pair.corrected), _better(table, pair))
