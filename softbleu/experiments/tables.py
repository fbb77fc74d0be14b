"""What experiments find, as rows of named values; `softbleu.report` writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Cell = str | int | float | bool | None


@dataclass(frozen=True)
class ResultTable:
    """A value for each column in every row, and facts about the whole.

    Attributes
    ----------
    columns
        Their names.
    rows
        None where a value is not defined.
    facts
        What is true of all rows.
    empty
        What to say where there are no rows.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    facts: Mapping[str, Cell | Sequence[str]] = field(default_factory=dict)
    empty: str = "nothing found"
