"""Scores: a number and the numbers it is made of, of one row of statistics or of many rows as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Literal, SupportsFloat, TypeVar, overload

import numpy as np

from softbleu.io.platform import cached_property

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from softbleu.types import Array, Cells

Unit = Literal["score", "per cent", "ratio", "count", "tokens", "text"]
_COLUMN = "column"


@dataclass(frozen=True)
class Column:
    """Header, title and unit of a number of a score."""

    name: str
    short: str  # Header in tables (a list has P1, P2, …); empty where tables leave it out
    title: str  # Name where a score stands alone; empty where that leaves it out
    unit: Unit
    each: str = "order"  # What the numbers of a list are of, where the score stands alone


def column(
    short: str = "", title: str = "", unit: Unit = "score", default: object = MISSING, *, each: str = "order"
) -> Any:
    """Declare how a field of a `Score` is shown, by a short and a full title and the unit; see `Column`.

    `default` is the value of a field that is not given, `each` what the numbers of a list are of.
    """
    return field(default=default, metadata={_COLUMN: (short, title, unit, each)})


class NumberLike:
    """Base class of values that are formatted, rounded, ordered and computed with as their `float`."""

    def __float__(self) -> float:
        raise NotImplementedError

    def __format__(self, spec: str) -> str:
        """Format the score; without a specification, show the same as `str`."""
        return format(float(self), spec) if spec else str(self)

    @overload
    def __round__(self, digits: None = None) -> int: ...
    @overload
    def __round__(self, digits: int) -> float: ...
    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)

    def __int__(self) -> int:
        return int(float(self))

    def __neg__(self) -> float:
        return -float(self)

    def __abs__(self) -> float:
        return abs(float(self))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        """Make an array of the score, so that NumPy computes with results."""
        return np.asarray(float(self), dtype=dtype)

    def __add__(self, other: SupportsFloat) -> float:
        return float(self) + float(other)

    __radd__ = __add__

    def __sub__(self, other: SupportsFloat) -> float:
        return float(self) - float(other)

    def __rsub__(self, other: SupportsFloat) -> float:
        return float(other) - float(self)

    def __mul__(self, other: SupportsFloat) -> float:
        return float(self) * float(other)

    __rmul__ = __mul__

    def __truediv__(self, other: SupportsFloat) -> float:
        return float(self) / float(other)

    def __lt__(self, other: SupportsFloat) -> bool:
        return float(self) < float(other)

    def __le__(self, other: SupportsFloat) -> bool:
        return float(self) <= float(other)

    def __gt__(self, other: SupportsFloat) -> bool:
        return float(self) > float(other)

    def __ge__(self, other: SupportsFloat) -> bool:
        return float(self) >= float(other)


@dataclass(frozen=True)
class Score(NumberLike):
    """A score and the numbers it is made of, which formats, rounds, orders and computes as its `score` does."""

    score: float = column(unit="score")  # 0 to 100, unless the metric says otherwise

    def __float__(self) -> float:
        return self.score

    def as_dict(self) -> Cells:
        """Return the fields by name, in full precision; a missing score is None."""
        return {name: None if value != value else value for name, value in asdict(self).items()}

    def to_dict(self) -> Cells:
        """Return the fields by name, for `json`, as a `Result` does."""
        return self.as_dict()

    @classmethod
    @cache
    def columns(cls) -> list[Column]:
        """List the columns beside the score, in order; a field without `column` has its own name as title."""
        shown = []
        for declared in fields(cls)[1:]:
            name = declared.name.replace("_", " ")
            unit: Unit = "count" if declared.type in ("int", int) else "score"
            plain: tuple[str, str, Unit, str] = (name, name, unit, "order")
            shown.append(Column(declared.name, *declared.metadata.get(_COLUMN, plain)))
        return shown

    def shown(self) -> Cells:
        """Return the numbers beside the score by their headers in tables; a list has a number for each order."""
        entries: dict[str, object] = {}
        for shown_column in self.columns():
            value = getattr(self, shown_column.name)
            if shown_column.short and isinstance(value, list):
                entries |= {f"{shown_column.short}{order}": entry for order, entry in enumerate(value, start=1)}
            elif shown_column.short:
                entries[shown_column.short] = value
        return entries


AnyScore = TypeVar("AnyScore", bound=Score, covariant=True)


class ScoreColumns(Sequence[AnyScore], Generic[AnyScore]):
    """Scores of many rows as columns, one entry a row: `score`, and by name the numbers that it is made of.

    As a sequence it has a score of class `kind` for each row. A column may be a function without parameters, which is
    called when the first of these is made: samples need no more than `score`.

    Examples
    --------
    >>> scores = ScoreColumns(Score, [50.0, 75.0])
    >>> scores.score.tolist(), scores[1]
    ([50.0, 75.0], Score(score=75.0))
    """

    def __init__(
        self, kind: Callable[..., AnyScore], score: ArrayLike, **others: ArrayLike | Callable[[], ArrayLike]
    ) -> None:
        self.score = np.asarray(score, np.float64)
        self._kind, self._given = kind, others

    @cached_property
    def _others(self) -> dict[str, Array]:
        return {name: np.asarray(values() if callable(values) else values) for name, values in self._given.items()}

    @classmethod
    def of(cls, scores: Sequence[AnyScore]) -> ScoreColumns[AnyScore]:
        """Take scores that were computed one by one."""
        return cls(lambda score, row: scores[row], [float(each) for each in scores], row=np.arange(len(scores)))

    def __len__(self) -> int:
        return len(self.score)

    @overload
    def __getitem__(self, place: int) -> AnyScore: ...
    @overload
    def __getitem__(self, place: slice) -> list[AnyScore]: ...
    def __getitem__(self, place: int | slice) -> AnyScore | list[AnyScore]:
        if isinstance(place, slice):
            return [self[row] for row in range(*place.indices(len(self)))]
        others = {name: values[[place]].tolist()[0] for name, values in self._others.items()}
        return self._kind(float(self.score[place]), **others)

    def __iter__(self) -> Iterator[AnyScore]:
        columns = [values.tolist() for values in self._others.values()]
        for score, *others in zip(self.score.tolist(), *columns, strict=True):
            yield self._kind(score, **dict(zip(self._others, others, strict=True)))


@dataclass(frozen=True)
class ReferenceScore:
    """The score of a candidate against one of its references."""

    segment: int  # From 1
    reference: int  # From 1
    chosen: bool  # Whether it is the best of its segment
    score: Score


@dataclass(frozen=True)
class DocumentScore:
    """The score of a document: of its segments together."""

    document: str
    segments: int  # How many it has
    score: Score


def shares_of(hits: float, wrong: float, missed: float, beta: float = 1.0) -> tuple[float, float, float]:
    """Compute F, precision and recall of `hits` among proposed and wanted items; a share of no items is 1.

    `beta` is the weight of recall beside precision.

    >>> shares_of(3, 1, 3, beta=0.5), shares_of(0, 0, 2)[1:]
    ((0.6818181818181818, 0.75, 0.5), (1.0, 0.0))
    """
    precision = hits / (hits + wrong) if hits + wrong else 1.0
    recall = hits / (hits + missed) if hits + missed else 1.0
    return f_of(precision, recall, beta), precision, recall


def f_of(precision: float, recall: float, beta: float = 1.0) -> float:
    """Compute F of precision and recall, 0 where both are; `beta` as in `shares_of`."""
    weight = beta**2
    return (1 + weight) * precision * recall / (weight * precision + recall) if precision + recall else 0.0


def share_of(part: float, whole: float, nothing: float | None = 0.0) -> Any:
    """Compute a share in per cent; of nothing it is `nothing`."""
    return 100 * part / whole if whole else nothing
