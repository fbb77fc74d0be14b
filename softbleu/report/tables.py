"""Tables of pairs of texts, and of differences between runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from softbleu.io.tabular import Records, Value

if TYPE_CHECKING:
    from softbleu.results.pairs import PairScores
    from softbleu.results.runs import RunDifference

_OF_RUNS = ("kind", "metric", "system", "name", "one", "two", "difference")


def matrix_records(scores: PairScores) -> Records:
    """Make a row per candidate and a column per reference."""
    return _signed(replace(Records.of(scores), verbatim=scores.references), scores)


def text_pair_records(lists: Iterable[PairScores]) -> Records:
    """Make a row per pair of each list."""
    listed = list(lists)
    columns = ["segment", "candidate", "reference", "score"]
    return _signed(Records(columns, _PairRows(listed), listed[0].described()), listed[0])


@dataclass(frozen=True)
class _PairRows(Sequence[Sequence[Value]]):
    """Rows that are made when they are asked for: they take many times the memory of their scores."""

    lists: Sequence[PairScores]

    def __len__(self) -> int:
        return sum(scored.scores.size for scored in self.lists)

    def __iter__(self) -> Iterator[Sequence[Value]]:
        for number, scored in enumerate(self.lists, start=1):
            for one, row in zip(scored.candidates, scored.scores.tolist(), strict=True):
                for other, score in zip(scored.references, row, strict=True):
                    yield number, one, other, score

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]


def _signed(table: Records, scores: PairScores) -> Records:
    return replace(table, background=["signature"], notes=[f"signature: {scores.short_signature}"])


def difference_records(difference: RunDifference, lines: int | None = None) -> Records:
    """Make a row a change; of each metric so many lines, if there is a limit."""
    rows, shown, left = [], Counter[str](), 0
    for change in difference.changes:
        shown[change.metric] += change.kind == "line"
        if lines is not None and change.kind == "line" and shown[change.metric] > lines:
            left += 1
            continue
        rows.append([getattr(change, name) for name in _OF_RUNS])
    notes = [f"{left:,} further lines changed, here are {lines:,} of each metric"] if left else []
    return Records(_OF_RUNS, rows, difference.described(), "nothing differs", notes=notes, text_columns=4)
