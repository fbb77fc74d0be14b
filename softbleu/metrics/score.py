"""Scores: a number, what it is made of, and how that is shown."""

from __future__ import annotations

from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

if TYPE_CHECKING:
    from softbleu.types import Floats, Integers

Unit = Literal["score", "per cent", "ratio", "count", "tokens", "text"]
_COLUMN = "column"


@dataclass(frozen=True)
class Column:
    """How a number of a score is shown."""

    name: str
    short: str  # Header in tables (a list has P1, P2, …); empty where tables leave it out
    title: str  # What it is called where a score stands alone; empty where that leaves it out
    unit: Unit


def column(short: str = "", title: str = "", unit: Unit = "score", default: Any = MISSING) -> Any:
    """Declare how a field of a `Score` is shown; see `Column`."""
    return field(default=default, metadata={_COLUMN: (short, title, unit)})


@dataclass(frozen=True)
class Score:
    """A score and the numbers it is made of."""

    score: float = column(unit="score")  # 0 to 100, unless the metric says otherwise

    def __float__(self) -> float:
        return self.score

    def as_dict(self) -> dict[str, Any]:
        """Fields by name, in full precision."""
        return asdict(self)

    @classmethod
    def columns(cls) -> list[Column]:
        """What is shown beside the score, in order; fields that say nothing of it go by their names."""
        shown = []
        for each in fields(cls)[1:]:
            name = each.name.replace("_", " ")
            plain: tuple[str, str, Unit] = (name, name, "count" if each.type in ("int", int) else "score")
            shown.append(Column(each.name, *each.metadata.get(_COLUMN, plain)))
        return shown


@dataclass(frozen=True)
class ReferenceScore:
    """The score of a candidate against one of its references."""

    segment: int  # From 1
    reference: int  # From 1
    chosen: bool  # Whether it is the best of its segment
    score: Score


class Scorer(Protocol):
    """What scores rows of statistics: a metric."""

    name: ClassVar[str]
    higher_is_better: ClassVar[bool]

    def score(self, row: Integers) -> Score:
        """Score the statistics of one segment, or the sum of the statistics of many."""

    def scores(self, rows: Integers | Floats) -> Floats:
        """Scores of many rows at once."""
