"""What experiments find, as rows of named values; `softbleu.report` writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from softbleu.tabular import Tabular

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class ResultTable(Tabular):
    """A value for each column in every row, and facts about the whole."""

    columns: Sequence[str]
    """Their names."""
    rows: Sequence[Sequence[Cell]]
    """None where a value is not defined."""
    facts: Mapping[str, Cell | Sequence[str]] = field(default_factory=dict)
    """What is true of all rows."""
    empty: str = "nothing found"
    """What to say where there are no rows."""

    def records(self) -> list[dict[str, Any]]:
        """Rows by the names of the columns."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def described(self) -> Mapping[str, Any]:
        """The facts."""
        return self.facts
