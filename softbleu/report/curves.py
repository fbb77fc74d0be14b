"""Curves of partial scores: for readers a table of places by system, for programs a row for each prefix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from softbleu.report.records import Layout, Writers, table_writers
from softbleu.tables import Records, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softbleu.results.prefixes import Curve, Curves, PrefixScore

PREFIX_COLUMNS = ("system", "metric", "segment", "prefix", "tokens", "length", "score", "signature")


@dataclass(frozen=True)
class _Rows:
    """Rows that are computed while they are written."""

    scores: Iterable[PrefixScore]

    def __iter__(self) -> Iterator[list[Value]]:
        return ([getattr(score, name) for name in PREFIX_COLUMNS] for score in self.scores)


def prefix_records(scores: Iterable[PrefixScore]) -> Records:
    """Make a row for each prefix, which is computed when it is written."""
    return Records(PREFIX_COLUMNS, cast("Sequence[Sequence[Value]]", _Rows(scores)))


def curve_records(curves: Curves, layout: Layout) -> Records:
    """Make a row per metric and system, with a column for each place where outputs are cut."""
    places = list(dict.fromkeys(place for one in curves.curves for place in one.scores))
    several = len({one.metric for one in curves.curves}) > 1
    rows: list[list[Value]] = []
    for one in curves.curves:
        cells = [_show(one, one.scores.get(place), layout) for place in places]
        rows.append([one.system, *[one.label] * several, *cells, _show(one, one.whole, layout)])
    heads = [f"{place:.4g}%" if curves.unit == "fraction" else f"{place:,}" for place in _percent(curves, places)]
    said = "after these shares of their tokens" if curves.unit == "fraction" else "after so many tokens"
    signatures = {
        f"{one.label} " * several
        + f"signature: {one.signature if layout.long_signature else one.short_signature}": None
        for one in curves.curves
    }
    notes = [f"outputs cut {said}, against the beginnings of references that they have come to"]
    notes += ["whole: whole outputs against whole references", *signatures]
    columns = ["system", *["metric"] * several, *heads, "whole"]
    return Records(columns, rows, notes=notes, text_columns=1 + several, verbatim=heads)


def _percent(curves: Curves, places: Iterable[float]) -> list[float]:
    return [place * 100 if curves.unit == "fraction" else place for place in places]


def _show(curve: Curve, score: float | None, layout: Layout) -> str:
    digits = layout.decimals([*curve.scores.values(), curve.whole], in_percent=curve.in_percent)
    return "" if score is None else f"{score:z.{digits}f}"


CURVE_WRITERS: Writers[Curves] = table_writers(curve_records)
"""Formats of curves for readers; programs have a row for each prefix, see `prefix_records`."""
