"""What differs between two runs, as a table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from softbleu.tabular import Records

if TYPE_CHECKING:
    from softbleu.scoring.runs import RunDifference

_COLUMNS = ("kind", "metric", "system", "name", "one", "two", "difference")


def difference_records(found: RunDifference, lines: int | None = None) -> Records:
    """Make a row a change; of each metric so many lines, if there is a limit."""
    rows, shown, left = [], Counter[str](), 0
    for each in found.changes:
        shown[each.metric] += each.kind == "line"
        if lines is not None and each.kind == "line" and shown[each.metric] > lines:
            left += 1
            continue
        rows.append([getattr(each, name) for name in _COLUMNS])
    notes = [f"{left:,} further lines changed (--lines shows more)"] if left else []
    return Records(_COLUMNS, rows, found.described(), "nothing differs", notes=notes, text_columns=4)
