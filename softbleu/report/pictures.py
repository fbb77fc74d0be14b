"""What pictures show, whatever draws them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

MOST_IN_ROW = 5  # Panels side by side
MOST_COLOURS = 7  # Names that a figure can tell apart by colour
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Lines:
    """Lines over one axis: points by the name of the line, in order."""

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Points]
    behind: Mapping[str, Points] = field(default_factory=dict)
    """Lines to compare with, drawn in grey: each is dashed like the line of that name."""
    behind_name: str = ""  # What these are


@dataclass(frozen=True)
class Histogram:
    """How often values fall between ascending edges, for each of several kinds."""

    title: str
    x_label: str
    y_label: str
    edges: Sequence[float]
    counts: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Scatter:
    """Points over two axes."""

    title: str
    x_label: str
    y_label: str
    points: Points
    names: Sequence[str] = ()
    """Written beside the points, or numbered if they are many or long; of all points, or none."""
    note: str = ""  # Written below the title


@dataclass(frozen=True)
class Ranks:
    """Who is where in an order, from place to place: a bump chart, with the names at both ends."""

    title: str
    x_label: str
    places: Sequence[str]
    ranks: Mapping[str, Sequence[int]]  # By name the rank at each place, 1 on top; several may share one
    coloured: Collection[str] = ()  # Names to set off, `MOST_COLOURS` at most; the others are grey


@dataclass(frozen=True)
class HeatMap:
    """A square of values between rows and columns of the same names; None is left blank."""

    title: str
    names: Sequence[str]
    values: Sequence[Sequence[float | None]]  # By row, each from 0, which is drawn darkest, to `most`
    most: float = 0.1  # What is as good as blank
    note: str = ""


Picture = Lines | Histogram | Scatter | Ranks | HeatMap
Rows = Sequence[Sequence[Picture]]


def in_rows(panels: Sequence[Picture], most: int = MOST_IN_ROW) -> list[Sequence[Picture]]:
    """Cut panels into rows of so many at most.

    >>> panel = Histogram("", "", "", [])
    >>> [len(row) for row in in_rows([panel] * 7, 5)]
    [5, 2]
    """
    return [panels[start : start + most] for start in range(0, len(panels), most)]
