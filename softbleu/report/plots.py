"""Pictures, drawn by matplotlib (extra ``plots``): the same bytes for the same numbers."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from softbleu.errors import InputError, MissingExtraError, UnknownNameError
from softbleu.report.layout import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

PICTURE_FORMATS = ("svg", "png")
MOST_IN_PANEL = 8
"""Names that are explained within a panel."""
_STYLE: dict[str, Any] = {
    "svg.hashsalt": "softbleu",
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 150,
}
_MARKERS = "osD^vP*X<>"
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
"""Told apart by people with any colour vision (Okabe and Ito 2008); markers say the same once more."""


@dataclass(frozen=True)
class Lines:
    """Lines over one axis: points by the name of the line.

    Attributes
    ----------
    title, x_label, y_label
        As text.
    lines
        (x, y) of the points of each line, in order.
    """

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    y_range: tuple[float, float] | None = None


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
    """Points over two axes, each with its name or none.

    Attributes
    ----------
    title, x_label, y_label
        As text.
    points
        (x, y) of each.
    names
        Written beside the points; none where there are no names.
    """

    title: str
    x_label: str
    y_label: str
    points: Sequence[tuple[float, float]]
    names: Sequence[str] = ()


@dataclass(frozen=True)
class HeatMap:
    """A square of values between rows and columns of the same names; None is left blank.

    Attributes
    ----------
    title
        As text.
    names
        Of the rows, and of the columns.
    values
        By row, each from 0, which is drawn darkest, to `most`.
    most
        What is as good as blank.
    """

    title: str
    names: Sequence[str]
    values: Sequence[Sequence[float | None]]
    most: float = 0.1


Picture = Lines | Histogram | Scatter | HeatMap


def draw(picture: Picture | Sequence[Picture], picture_format: str) -> bytes:
    """Draw a picture, or several side by side, as SVG or PNG.

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.
    UnknownNameError
        Another format.
    """
    if picture_format not in PICTURE_FORMATS:
        raise UnknownNameError("picture format", picture_format, PICTURE_FORMATS)
    panels = [picture] if isinstance(picture, Picture) else list(picture)
    if not panels:
        raise InputError("there is nothing to draw")
    with _matplotlib() as figure_class, warnings.catch_warnings():
        # A character that the font lacks is a box in PNG, and itself in SVG; a name may be too long for its panel.
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from|constrained_layout not applied", UserWarning)
        names = {tuple(_names(panel)) for panel in panels}
        # Many names, the same in all panels, stand beside them once.
        shared = len(names) == 1 and len(next(iter(names))) > MOST_IN_PANEL
        height = max(4.0, 0.19 * len(next(iter(names)))) if shared else 4.0
        figure = figure_class(figsize=(6.0 * len(panels) + 2.5 * shared, height), layout="constrained")
        for number, panel in enumerate(panels, start=1):
            axes = figure.add_subplot(1, len(panels), number)
            _draw_panel(axes, panel)
            if not shared and len(_names(panel)) > 1:
                _write_names(axes.legend(fontsize="small"), _names(panel))
        if shared:
            handles = axes.get_legend_handles_labels()
            legend = figure.legend(*handles, loc="outside right upper", fontsize="small")
            _write_names(legend, _names(panels[0]))
        out = io.BytesIO()
        # Without the date, the bytes depend on the numbers only.
        metadata = {"Date": None, "Creator": "softbleu"} if picture_format == "svg" else {"Software": "softbleu"}
        figure.savefig(out, format=picture_format, metadata=metadata)
    return out.getvalue()


def check_plots() -> None:
    """See that pictures can be drawn.

    Raises
    ------
    MissingExtraError
        They cannot: matplotlib is not installed.
    """
    with _matplotlib():
        pass


@contextmanager
def _matplotlib() -> Iterator[Any]:
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("pictures need another package: pip install 'softbleu[plots]'") from None
    style: Any = _STYLE
    with mpl.rc_context(style):
        yield Figure


def _names(panel: Picture) -> list[str]:
    """Names that a legend explains."""
    if isinstance(panel, Lines):
        return list(panel.lines)
    return list(panel.counts) if isinstance(panel, Histogram) else []


def _draw_panel(axes: Any, panel: Picture) -> None:
    _PAINTERS[type(panel)](axes, panel)


def _draw_lines(axes: Any, picture: Lines) -> None:
    for number, points in enumerate(picture.lines.values()):
        xs, ys = zip(*points, strict=True) if points else ((), ())
        axes.plot(
            xs,
            ys,
            label=str(number),
            color=_COLOURS[number % len(_COLOURS)],
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=4,
            linewidth=1.4,
            linestyle=("-", "--", ":")[number // len(_COLOURS) % 3],
        )
    _label(axes, picture)
    if picture.y_range is not None:
        axes.set_ylim(*picture.y_range)


def _draw_histogram(axes: Any, picture: Histogram) -> None:
    for number, counts in enumerate(picture.counts.values()):
        axes.stairs(
            counts,
            picture.edges,
            label=str(number),
            fill=True,
            alpha=0.45,
            color=_COLOURS[number % len(_COLOURS)],
            hatch=("", "//", "..")[number % 3],
        )
    _label(axes, picture)


def _draw_scatter(axes: Any, picture: Scatter) -> None:
    xs, ys = zip(*picture.points, strict=True) if picture.points else ((), ())
    axes.scatter(xs, ys, color=_COLOURS[0], s=18 if picture.names else 6, alpha=1 if picture.names else 0.5)
    for name, point in zip(picture.names, picture.points, strict=bool(picture.names)):
        place = {"xytext": (4, 3), "textcoords": "offset points", "annotation_clip": True}
        axes.annotate(one_line(name), point, fontsize="x-small", parse_math=False, **place)
    _label(axes, picture)


def _draw_heat(axes: Any, picture: HeatMap) -> None:
    shown = [[float("nan") if value is None else value for value in row] for row in picture.values]
    axes.imshow(shown, cmap="Blues_r", vmin=0, vmax=picture.most)
    places = range(len(picture.names))
    for row, values in enumerate(picture.values):
        for column, value in enumerate(values):
            if value is not None:
                colour = "white" if value < picture.most / 2 else "black"
                axes.text(column, row, f"{value:.3f}", ha="center", va="center", fontsize="small", color=colour)
    names = [one_line(name) for name in picture.names]
    axes.set_xticks(places, names, rotation=30, ha="right", parse_math=False)
    axes.set_yticks(places, names, parse_math=False)
    axes.grid(visible=False)
    axes.set_title(one_line(picture.title), fontsize="medium", parse_math=False)


def _label(axes: Any, picture: Lines | Histogram | Scatter) -> None:
    # A dollar sign in a name is no formula.
    axes.set_title(one_line(picture.title), fontsize="medium", parse_math=False)
    axes.set_xlabel(one_line(picture.x_label), parse_math=False)
    axes.set_ylabel(one_line(picture.y_label), parse_math=False)


def _write_names(legend: Any, names: Sequence[str]) -> None:
    """Put names into a legend; as labels they would be read as formulas, or left out if they begin with `_`."""
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(one_line(name))


_PAINTERS: dict[type[Any], Callable[[Any, Any], None]] = {
    Lines: _draw_lines,
    Histogram: _draw_histogram,
    Scatter: _draw_scatter,
    HeatMap: _draw_heat,
}
