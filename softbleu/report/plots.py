"""Pictures: their content, and how matplotlib (extra ``plots``) draws them: the same numbers give the same bytes.

Pictures show sweeps, deserved and spurious credit, and agreement with human judges.

Panels form rows. Axes with the same name are the same in all panels of one kind, so that panels can be compared; a
name has the same colour everywhere. The size of the figure follows from the panels and the text around them.
"""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain, count
from statistics import fmean, linear_regression
from typing import TYPE_CHECKING, Any, TypeVar

from softbleu.errors import InputError, UnknownNameError, one_line, optional
from softbleu.matching.matchers import DEFAULT_THRESHOLD
from softbleu.meta.agreement import JudgedPoints
from softbleu.meta.campaign import CLUSTER
from softbleu.meta.measures import TESTED
from softbleu.meta.spurious import BINS, PLAIN, VERDICTS, Analysis
from softbleu.meta.sweep import rank_by_score

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from softbleu.meta import SweepRow
    from softbleu.meta.experiments import Outcome
    from softbleu.meta.questions import MetaEvaluation
    from softbleu.types import Cells, Keywords

Key = TypeVar("Key")
MOST_SYSTEMS = 3  # Systems that have panels of their own; more are averaged
MOST_LINES = 8  # Lines in a panel, if panels can separate variants
MOST_IN_ROW = 5  # Panels side by side
_APART = 0.09  # Least distance between texts at curves, in shares of a panel
_ROW = 0.16  # Height of the name of a line, in inches
MOST_COLOURS = 7  # Names that colours can distinguish in a figure
_UNSAFE = re.compile(r"[^\w.+-]")
_LONGEST = 100  # Characters of a text's name in a file name
Points = Sequence[tuple[float, float]]
Limits = tuple[float, float]  # Ends of an axis


def move_apart(places: Sequence[float], gap: float) -> list[float]:
    """Move places apart by as little as keeps a gap between them, all between 0 and 1 if they fit there.

    >>> [round(place, 2) for place in move_apart([0.5, 0.5, 0.9], 0.1)]
    [0.55, 0.45, 0.9]
    """
    order = sorted(range(len(places)), key=lambda index: (places[index], -index))
    groups: list[list[int]] = []
    starts: list[float] = []
    for index in order:
        groups.append([index])
        starts.append(places[index])
        # Groups that meet become one, in the middle of where its places want to be.
        while len(groups) > 1 and starts[-2] + gap * len(groups[-2]) > starts[-1]:
            starts[-2:], groups[-2:] = [0.0], [groups[-2] + groups[-1]]
            starts[-1] = fmean(places[each] - gap * number for number, each in enumerate(groups[-1]))
        starts[-1] = max(0.0, min(starts[-1], 1 - gap * (len(groups[-1]) - 1)))
    made = [start + gap * number for start, group in zip(starts, groups, strict=True) for number in range(len(group))]
    return [made[order.index(index)] for index in range(len(places))]


@dataclass(frozen=True)
class Lines:
    """Lines over one axis: points by the name of the line, in order."""

    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, Points]
    behind: Mapping[str, Points] = field(default_factory=dict)
    """Lines to compare with, drawn in grey."""
    bands: Mapping[str, Points] = field(default_factory=dict)  # Interval of each point, by the name of the line
    marked: Mapping[str, float] = field(default_factory=dict)  # Places on the x axis, by the text at each
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Texts at the points of a line, by its name; those that would cover others are left out."""
    ticks: Sequence[str] = ()  # Names of the places 1, 2, ... on the x axis
    note: str = ""  # Written below the title

    @property
    def drawn(self) -> Mapping[str, Points]:
        """All lines by name, the ones to compare with last."""
        return {**self.lines, **self.behind}

    def ends(self, y_limits: Limits, gap: float) -> Iterator[tuple[str, tuple[float, float], float]]:
        """Yield each line with its last point, and where its name stands: shares of the height, a gap apart."""
        # Of lines that end together, the one that was higher before has its name above.
        highest = sorted(self.drawn.items(), key=lambda line: -max((y for _, y in line[1] if y == y), default=0.0))
        last = {name: max(points) for name, points in highest if points}
        places = move_apart([_share(y, y_limits) for _, y in last.values()], gap)
        yield from zip(last, last.values(), places, strict=True)

    def texts_apart(self, x_limits: Limits, y_limits: Limits) -> Iterator[tuple[tuple[float, float], str]]:
        """Yield points with their texts, without texts that would cover others."""
        taken: list[tuple[float, float]] = []
        for name, texts in self.labels.items():
            for point, text in zip(self.lines[name], texts, strict=True):
                x, y = _share(point[0], x_limits), _share(point[1], y_limits)
                if all(max(abs(x - other_x), abs(y - other_y)) > _APART for other_x, other_y in taken):
                    taken.append((x, y))
                    yield point, text


def _share(value: float, limits: Limits) -> float:
    return (value - limits[0]) / (limits[1] - limits[0])


@dataclass(frozen=True)
class Histogram:
    """Counts of values between ascending edges, for several kinds."""

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
    """Names beside the points, or numbers if they are many or long; for all points, or none."""
    note: str = ""  # Written below the title
    intervals: Sequence[tuple[tuple[float, float], tuple[float, float]]] = ()  # Of each point on both axes
    fitted: bool = False  # Whether the line of least squares is drawn
    joined: Sequence[Sequence[int]] = ()  # Points that a line joins, such as those of one system at several settings


@dataclass(frozen=True)
class Ranks:
    """Who is where in an order, from place to place: a bump chart, with the names at both ends."""

    title: str
    x_label: str
    places: Sequence[str]
    ranks: Mapping[str, Sequence[int]]  # By name the rank at each place, 1 on top; several may share one
    coloured: Collection[str] = ()  # Names to set off, `MOST_COLOURS` at most; the others are grey


IntervalRow = tuple[str, float, tuple[float, float] | None, bool]


@dataclass(frozen=True)
class IntervalRows:
    """Values of names with their intervals, from top to bottom."""

    title: str
    x_label: str
    names: Sequence[str]
    values: Sequence[float]
    intervals: Sequence[tuple[float, float] | None]
    filled: Sequence[bool] = ()  # Whether a point is filled, or a ring; empty: all are
    coloured: Collection[str] = ()  # Names to set off
    note: str = ""  # Written below the title
    at: float | None = None  # Place of a line across all names

    @property
    def rows(self) -> Iterator[IntervalRow]:
        """Name, value and interval of each row, and whether its point is filled."""
        return zip(self.names, self.values, self.intervals, self.filled or [True] * len(self.names), strict=True)


@dataclass(frozen=True)
class HeatMap:
    """Values between rows and columns, of the same names unless columns have their own; None is left blank."""

    title: str
    names: Sequence[str]
    values: Sequence[Sequence[float | None]]  # By row, each from 0, which is drawn darkest, to `most`
    most: float = 0.1  # Values from here on are blank
    note: str = ""
    columns: Sequence[str] = ()
    texts: Sequence[Sequence[str]] = ()  # Text of each cell; empty: its value


Picture = Lines | Histogram | Scatter | Ranks | IntervalRows | HeatMap
PictureRows = Sequence[Sequence[Picture]]
Panel = TypeVar("Panel", bound=Picture)


def in_rows(panels: Sequence[Panel], most: int = MOST_IN_ROW) -> list[Sequence[Panel]]:
    """Cut panels into rows of a given length.

    >>> panel = Histogram("", "", "", [])
    >>> [len(row) for row in in_rows([panel] * 7, 5)]
    [5, 2]
    """
    return [panels[start : start + most] for start in range(0, len(panels), most)]


PICTURE_FORMATS = ("svg", "png", "pdf")
MOST_BESIDE_POINTS = 15  # Names that are written beside their points; more or longer names are numbered
LONGEST_BESIDE_POINTS = 12
_LONGEST_UPRIGHT = 5
_LEGEND_ROWS = 40
_STYLE: dict[str, object] = {
    "svg.hashsalt": "softbleu",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.edgecolor": "#5b636d",
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 150,
}
# Without dates, the bytes depend on the numbers only.
_METADATA: dict[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "softbleu"},
    "png": {"Software": "softbleu"},
    "pdf": {"CreationDate": None, "Creator": "softbleu"},
}
_MARKERS = "osD^vP*X<>"
_DASHES = ("-", "--", ":", "-.")
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours for any colour vision (Okabe and Ito 2008), repeated by markers."""
_GREY = "#999999"


def draw(picture: Picture | PictureRows, picture_format: str) -> bytes:
    """Draw a picture, or rows of them, in one of `PICTURE_FORMATS`.

    MissingExtraError: matplotlib or textalloc is not installed. UnknownNameError: another format.
    """
    if picture_format not in PICTURE_FORMATS:
        raise UnknownNameError("picture format", picture_format, PICTURE_FORMATS)
    out = io.BytesIO()
    with make_figure([[picture]] if isinstance(picture, Picture) else picture) as figure:
        figure.savefig(out, format=picture_format, metadata=_METADATA[picture_format])
    return out.getvalue()


@contextmanager
def make_figure(rows: PictureRows) -> Iterator[Figure]:
    """Make the figure, and set its style while it is used."""
    panels = [panel for row in rows for panel in row]
    if not panels:
        raise InputError("there is nothing to draw")
    with _matplotlib() as figure_class, warnings.catch_warnings():
        # A character that the font lacks is a box in PNG and PDF, and itself in SVG.
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from", UserWarning)
        columns = max(map(len, rows))
        widths, heights = zip(*(_size(panel, columns) for panel in panels), strict=True)
        names = dict.fromkeys(name for panel in panels for name in _names(panel))
        style = _Style({name: number for number, name in enumerate(names)}, max(widths), max(heights))
        # Large enough for any text beside the panels at first.
        size = ((style.width + 4) * columns + 6, (style.height + 2) * len(rows))
        figure = figure_class(figsize=size, layout="constrained")
        grid = _add_panels(figure, rows, style)
        for axes, panel in zip(grid, panels, strict=True):
            if isinstance(panel, Lines):
                _name_lines(axes, panel, style)
        keyed = list(dict.fromkeys(name for panel in panels for name in _keyed(panel)))
        numbered = any(isinstance(panel, Scatter) for panel in panels)
        least = _add_legend(figure, grid, keyed, style, numbered=numbered) if len(keyed) > 1 - numbered else 0.0
        _fit(figure, grid[0], rows, style, least)
        for axes in grid:
            # Names move no axes.
            axes.autoscale(enable=False)
        for axes, panel in zip(grid, panels, strict=True):
            if isinstance(panel, Scatter):
                _name_points(axes, panel, style)
        yield figure


def check_plots() -> None:
    """Check that pictures can be drawn. Raises MissingExtraError without matplotlib or textalloc."""
    with _matplotlib():
        pass


@contextmanager
def _matplotlib() -> Iterator[Any]:
    with optional("plots", "A picture"):
        import matplotlib as mpl
        import textalloc  # noqa: F401
        from matplotlib.figure import Figure
    style: Any = _STYLE
    with mpl.rc_context(style):
        yield Figure


@dataclass(frozen=True)
class _Style:
    """Colours, dashes and sizes that the panels of a figure have in common."""

    numbers: Mapping[str, int]  # Of the names that have a look of their own
    width: float
    height: float  # Of a panel, in inches

    def of(self, name: str) -> Keywords:
        """Return the style of a name."""
        number = self.numbers[name]
        return {"label": str(number), "color": COLOURS[number % len(COLOURS)]}

    def dashes(self, name: str) -> str:
        """Return the dashes of a name."""
        return _DASHES[self.numbers.get(name, 0) % len(_DASHES)]

    def label(self, axes: Axes, panel: Picture) -> None:
        """Write around a panel, in lines that are no longer than it is, and keep the labels of two axes apart."""
        x_label, y_label, note = (getattr(panel, name, "") for name in ("x_label", "y_label", "note"))
        # A dollar sign in a name is no formula.
        size: Keywords = {"parse_math": False, "fontsize": "small" if self.width < 3 else "medium"}
        in_inch = 13 if self.width < 3 else 11
        wide, high = int(in_inch * self.width), int(in_inch * self.height)
        axes.set_title("\n".join(filter(None, (_wrap(panel.title, wide), _wrap(note, wide)))), **size)
        axes.set_xlabel(_wrap(x_label, wide), **size)
        axes.set_ylabel(_wrap(y_label, high), **size)
        axes.tick_params(labelsize="small")
        if isinstance(panel, Lines | Histogram | Scatter):
            axes.locator_params(axis="x", nbins=max(2, int(1.5 * self.width)))
            axes.locator_params(axis="y", nbins=max(2, int(2.5 * self.height)))


def _wrap(text: str, characters: int) -> str:
    return "\n".join(textwrap.wrap(one_line(text), characters, break_on_hyphens=False))


def _size(panel: Picture, columns: int) -> tuple[float, float]:
    """Width and height of a panel in inches, without the text around it."""
    if isinstance(panel, HeatMap):
        return max(3.0, 0.6 * len(panel.columns or panel.names)), max(3.0, 0.6 * len(panel.names))
    if isinstance(panel, Ranks):
        return max(4.0, 0.42 * len(panel.places)), max(1.5, 0.2 * len(panel.ranks))
    if isinstance(panel, IntervalRows):
        return 4.5, max(1.2, 0.24 * len(panel.names))
    width = {1: 5.5, 2: 4.5, 3: 3.8}.get(columns, 2.4)
    named = _ROW * len(panel.drawn) if isinstance(panel, Lines) else 0.0
    return width, max(named, width * (1.0 if isinstance(panel, Scatter) else 0.7))


def _names(panel: Picture) -> list[str]:
    """Names that have a look of their own."""
    return list(panel.lines) if isinstance(panel, Lines) else _keyed(panel)


def _keyed(panel: Picture) -> list[str]:
    """Names that a legend explains, since they do not stand in the panel."""
    if isinstance(panel, Histogram):
        return list(panel.counts)
    return list(panel.names) if isinstance(panel, Scatter) and _is_numbered(panel) else []


def _is_numbered(panel: Scatter) -> bool:
    longest = max((len(one_line(name)) for name in panel.names), default=0)
    return len(panel.names) > MOST_BESIDE_POINTS or longest > LONGEST_BESIDE_POINTS


def _add_panels(figure: Figure, rows: PictureRows, style: _Style) -> list[Axes]:
    """Draw panels; axes that are shared are labelled once, at the end of the row or column."""
    shared: dict[tuple[str, ...], Axes] = {}
    grid, columns = list["Axes"](), max(map(len, rows))
    for row, panels in enumerate(rows):
        for column, panel in enumerate(panels):
            x, y = _axes_of(panel)
            place = (len(rows), columns, row * columns + column + 1)
            axes = figure.add_subplot(*place, sharex=shared.get(x), sharey=shared.get(y))
            _PAINTERS[type(panel)](axes, panel, style)
            style.label(axes, panel)
            for key in filter(None, (x, y)):
                shared.setdefault(key, axes)
            below = rows[row + 1][column : column + 1] if row + 1 < len(rows) else ()
            if x and any(_axes_of(other)[0] == x for other in below):
                axes.tick_params(labelbottom=False)
                axes.set_xlabel("")
            if y and column and _axes_of(panels[column - 1])[1] == y:
                axes.tick_params(labelleft=False)
                axes.set_ylabel("")
            grid.append(axes)
    return grid


def _axes_of(panel: Picture) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Keys of the x and y axis of a panel: panels with equal keys share them; empty where they are its own."""
    if isinstance(panel, HeatMap | Ranks | IntervalRows):
        return (), ()
    kind = type(panel).__name__
    return (kind, "x", panel.x_label), (kind, "y", panel.y_label)


def _add_legend(
    figure: Figure, grid: Sequence[Axes], names: Sequence[str], style: _Style, *, numbered: bool
) -> float:
    """Explain names beside the panels; return the height in inches."""
    from matplotlib.lines import Line2D

    handle_of: dict[str, Artist] = {}
    for axes in grid:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handle_of.setdefault(label, handle)
    labels = [str(style.numbers[name]) for name in names]
    handles = [handle_of.get(label) or Line2D([], [], linestyle="none") for label in labels]
    columns = -(-len(names) // _LEGEND_ROWS)
    look: dict[str, object] = {"handlelength": 0, "handletextpad": 0} if numbered else {"handlelength": 3}
    legend = figure.legend(handles, labels, loc="outside right upper", fontsize="small", ncols=columns, **look)
    # As labels they would be read as formulas, or left out if they begin with `_`.
    for number, (text, name) in enumerate(zip(legend.get_texts(), names, strict=True), start=1):
        text.set_parse_math(False)
        text.set_text(f"{number}  {one_line(name)}" if numbered else one_line(name))
    return float(legend.get_window_extent().height / figure.dpi)


def _fit(figure: Figure, axes: Axes, rows: PictureRows, style: _Style, least: float) -> None:
    """Make the figure so large that panels have their size, and leave everything where it is then."""
    columns = max(map(len, rows))
    layout = figure.get_layout_engine()
    assert layout is not None
    # Text beside panels has one size, except for a few shares of the figure.
    for _ in range(2):
        layout.execute(figure)
        width, height = figure.get_size_inches()
        box = axes.get_position(original=True)
        width += columns * (style.width - box.width * width)
        height += len(rows) * (style.height - box.height * height)
        figure.set_size_inches(width, max(height, least + 0.2))
    layout.execute(figure)
    figure.set_layout_engine("none")


def _columns(points: Points) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _draw_lines(axes: Axes, picture: Lines, style: _Style) -> None:
    for points in picture.behind.values():
        axes.plot(*_columns(points), color=_GREY, linewidth=1.2)
    for name, points in picture.lines.items():
        xs, ys = _columns(points)
        look = {**style.of(name), "linestyle": style.dashes(name), "linewidth": 1.4}
        marker = _MARKERS[style.numbers[name] % len(_MARKERS)]
        if name in picture.bands:
            low, high = zip(*picture.bands[name], strict=True)
            axes.fill_between(xs, low, high, alpha=0.15, color=style.of(name)["color"])
        # Ten markers or so a line, that dense ones do not hide it.
        axes.plot(xs, ys, marker=marker, markersize=4, markevery=-(-max(1, len(points)) // 12), **look)
    if picture.ticks:
        axes.set_xticks(range(1, len(picture.ticks) + 1), picture.ticks, rotation=30, ha="right", parse_math=False)
    for at in picture.marked.values():
        axes.axvline(at, color=_GREY, linewidth=1, linestyle=":")


def _name_lines(axes: Axes, picture: Lines, style: _Style) -> None:
    """Write the name of each line beside the panel, where it ends, and the texts at its points."""
    limits = axes.get_xlim(), axes.get_ylim()
    small: Keywords = {"color": "#555555", "fontsize": "x-small", "parse_math": False}
    for text, at in picture.marked.items():
        # At the end of the panel that is farther from the lines there.
        near = [min(points, key=lambda point: abs(point[0] - at)) for points in picture.drawn.values() if points]
        shares = [_share(y, limits[1]) for _, y in near] or [1.0]
        place, side = (0.98, "top") if 1 - max(shares) > min(shares) else (0.02, "bottom")
        axes.text(at, place, text, transform=axes.get_xaxis_transform(), rotation=90, ha="right", va=side, **small)
    for point, text in picture.texts_apart(*limits):
        axes.annotate(text, point, (4, 4), textcoords="offset points", **small)
    beside: Keywords = {"textcoords": axes.transAxes, "va": "center", "fontsize": "small", "parse_math": False}
    for name, end, place in picture.ends(limits[1], _ROW / style.height):
        colour = _GREY if name in picture.behind else style.of(name)["color"]
        leader: Keywords = {"arrowstyle": "-", "color": colour, "relpos": (0, 0.5), "shrinkA": 0, "shrinkB": 2}
        shown = "#555555" if name in picture.behind else "#222222"
        axes.annotate(one_line(name), end, (1.03, place), color=shown, arrowprops=leader, **beside)


def _draw_histogram(axes: Axes, picture: Histogram, style: _Style) -> None:
    for name, counts in picture.counts.items():
        hatch = ("", "//", "..")[style.numbers[name] % 3]
        axes.stairs(counts, picture.edges, fill=True, alpha=0.45, hatch=hatch, **style.of(name))


def _draw_scatter(axes: Axes, picture: Scatter, style: _Style) -> None:
    xs, ys = _columns(picture.points)
    for (x, y), (of_x, of_y) in zip(picture.points, picture.intervals, strict=bool(picture.intervals)):
        axes.plot(of_x, (y, y), (x, x), of_y, color=_GREY, linewidth=1, zorder=1)
    for number, group in enumerate(picture.joined):
        look: Keywords = {"color": COLOURS[number % len(COLOURS)], "linewidth": 1, "marker": "o", "markersize": 4.5}
        axes.plot([xs[n] for n in group], [ys[n] for n in group], **look)
    if picture.fitted and len(set(xs)) > 1:
        ends = min(xs), max(xs)
        slope, start = linear_regression(xs, ys)
        axes.plot(ends, [start + slope * x for x in ends], color=_GREY, linewidth=1.2, zorder=1)
    axes.scatter(xs, ys, color=COLOURS[0], s=18 if picture.names else 6, alpha=1 if picture.names else 0.5)
    # Room for text beside the points.
    axes.margins(0.12)


def _name_points(axes: Axes, picture: Scatter, style: _Style) -> None:
    """Write names, or their numbers, where they cover neither points nor each other."""
    import textalloc

    if not picture.names:
        return
    shown = [one_line(name) for name in picture.names]
    if _is_numbered(picture):
        shown = [str(style.numbers[name] + 1) for name in picture.names]
    joined = ([picture.points[index] for index in group] for group in picture.joined)
    apart = [[*zip(*group, strict=True)] for group in joined]
    lines: Keywords = {"x_lines": [x for x, _ in apart], "y_lines": [y for _, y in apart]} if apart else {}
    textalloc.allocate(
        axes,
        *_columns(picture.points),
        shown,
        scatter_plot=axes.collections[0],
        **lines,
        textsize=7,
        linecolor=_GREY,
        linewidth=0.6,
        parse_math=False,
        # In shares of the panel: distances of names from points and edge, and number of positions that are tried.
        margin=0.006,
        min_distance=0.015,
        max_distance=0.3,
        nbr_candidates=2000,
    )


def _draw_ranks(axes: Axes, picture: Ranks, style: _Style) -> None:
    colours = dict(zip(picture.coloured, COLOURS, strict=False))
    indices = range(len(picture.places))
    for name, ranks in sorted(picture.ranks.items(), key=lambda ranked: ranked[0] in colours):
        width = 1.8 if name in colours else 1.0
        axes.plot(indices, ranks, color=colours.get(name, _GREY), marker="o", markersize=4, linewidth=width)
    # Names that share a rank take the places below it, which are free.
    for end, at in ((0, axes), (-1, axes.secondary_yaxis("right"))):
        order = sorted(picture.ranks, key=lambda name: picture.ranks[name][end])
        shown = ["  ".join((one_line(name), str(picture.ranks[name][end]))[:: 1 + 2 * end]) for name in order]
        at.set_yticks(range(1, len(order) + 1), shown, fontsize="small", parse_math=False)
        at.tick_params(length=0)
        for label, name in zip(at.get_yticklabels(), order, strict=True):
            label.set_color(colours.get(name, "#555555"))
        at.spines[:].set_visible(False)
    shown = [one_line(place) for place in picture.places]
    turned = 90 if max(map(len, shown)) > _LONGEST_UPRIGHT else 0
    axes.set_xticks(indices, shown, fontsize="small", rotation=turned, parse_math=False)
    axes.set_ylim(len(picture.ranks) + 0.6, 0.4)
    axes.set_xlim(-0.3, len(indices) - 0.7)
    axes.grid(axis="y", visible=False)


def _draw_intervals(axes: Axes, picture: IntervalRows, style: _Style) -> None:
    for place, (name, value, interval, full) in enumerate(picture.rows):
        colour = COLOURS[1] if name in picture.coloured else COLOURS[0]
        if interval is not None:
            axes.plot(interval, (place, place), color=colour, linewidth=4, alpha=0.35, solid_capstyle="round")
        axes.plot([value], [place], "o", color=colour, markersize=6, markerfacecolor=colour if full else "white")
    if picture.at is not None:
        axes.axvline(picture.at, color=_GREY, linewidth=1)
    axes.set_yticks(range(len(picture.names)), list(map(one_line, picture.names)), fontsize="small", parse_math=False)
    for label, name in zip(axes.get_yticklabels(), picture.names, strict=True):
        label.set_color(COLOURS[1] if name in picture.coloured else "#222222")
    axes.set_ylim(len(picture.names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def _draw_heat(axes: Axes, picture: HeatMap, style: _Style) -> None:
    shown = [[float("nan") if value is None else value for value in row] for row in picture.values]
    axes.imshow(shown, cmap="Blues_r", vmin=0, vmax=picture.most)
    for row, values in enumerate(picture.values):
        for column, value in enumerate(values):
            text = picture.texts[row][column] if picture.texts else "" if value is None else f"{value:.3f}"
            colour = "white" if value is not None and value < picture.most / 2 else "black"
            axes.text(column, row, text, ha="center", va="center", fontsize="small", color=colour)
    names, columns = ([one_line(name) for name in row] for row in (picture.names, picture.columns or picture.names))
    axes.set_xticks(range(len(columns)), columns, rotation=30, ha="right", parse_math=False)
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.grid(visible=False)


_PAINTERS: dict[type[Any], Callable[[Any, Any, _Style], None]] = {
    Lines: _draw_lines,
    Histogram: _draw_histogram,
    Scatter: _draw_scatter,
    Ranks: _draw_ranks,
    IntervalRows: _draw_intervals,
    HeatMap: _draw_heat,
}


def check_ranks(systems: Collection[str]) -> None:
    """Check that a picture has ranks. Raises InputError for fewer than two systems."""
    if len(systems) < 2:
        raise InputError(f"ranks need two systems or more, here are {len(systems)}")


def sweep_lines(rows: Sequence[SweepRow]) -> list[Sequence[Lines]]:
    """Plot score against threshold, with intervals if known: a panel per matcher and variant, a line per system.

    Lines end at the score of exact matches, if it is there. The lines of a single system are its matchers and
    variants in one panel, or in one per variant where they are many; what has no threshold is a level line.
    """
    several = _several_metrics(rows)
    systems, named = _split(rows, lambda row: row.system), _split(rows, lambda row: _name(row, several))
    if len(systems) == 1:
        (system,) = systems
        if len(named) <= MOST_LINES:
            return [[_panel(system, rows, lambda row: _name(row, several))]]
        variants = _split(rows, lambda row: _variant(row, several))
        return in_rows(
            [_panel(", ".join(filter(None, (system, name))), variants[name], _matcher) for name in variants]
        )
    return in_rows([_panel(name, part, lambda row: row.system) for name, part in _with_ends(named).items()])


def _with_ends(named: Mapping[str, Sequence[SweepRow]]) -> dict[str, list[SweepRow]]:
    """Add the scores of exact matches at 1 to the rows whose other settings they have."""
    level = {name: part[0] for name, part in named.items() if all(row.threshold is None for row in part)}
    made: dict[str, list[SweepRow]] = {}
    ends: set[str] = set()
    for name, part in named.items():
        same = [one for one, row in level.items() if _settings(row).items() <= _settings(part[0]).items()]
        if name not in level:
            ends.update(same)
            last = [] if any(row.threshold == 1.0 for row in part) else [row for one in same for row in named[one]]
            varied, label = part[0].varied, part[0].label
            made[name] = [*part, *(replace(row, threshold=1.0, varied=varied, label=label) for row in last)]
    return made | {name: [*named[name]] for name in level if name not in ends}


def sweep_ranks(rows: Sequence[SweepRow]) -> PictureRows:
    """Plot ranks of systems by threshold, with a panel per matcher and variant.

    What has no threshold is the first place of each panel whose other settings it has; without any threshold,
    matchers and variants are the places of one panel. The systems whose ranks change most have colours.
    """
    check_ranks({row.system for row in rows})
    several = _several_metrics(rows)
    level = [row for row in rows if row.threshold is None]
    soft = sorted((row for row in rows if row.threshold is not None), key=lambda row: row.threshold or 0.0)
    panels: list[tuple[str, str, dict[str, list[SweepRow]]]] = []
    for title, with_name in _split(soft, lambda row: _name(row, several)).items():
        first = [row for row in level if _settings(row).items() <= _settings(with_name[0]).items()]
        places = _split(first, _matcher) | _split(with_name, lambda row: f"{row.threshold:.3g}")
        panels.append((title, "threshold", places))
    if not soft:
        panels.append(("", "", _split(level, lambda row: _name(row, several))))
    ranks = [[rank_by_score(place) for place in places.values()] for _, _, places in panels]
    spans = {
        system: max(max(at[system] for at in places) - min(at[system] for at in places) for places in ranks)
        for system in ranks[0][0]
    }
    moved = sorted((system for system in spans if spans[system]), key=lambda system: -spans[system])
    drawn = []
    for (title, x_label, places), at in zip(panels, ranks, strict=True):
        moving = {system: [place[system] for place in at] for system in spans}
        drawn.append([Ranks(title, x_label, list(places), moving, moved[:MOST_COLOURS])])
    return drawn


def _panel(title: str, rows: Sequence[SweepRow], name: Callable[[SweepRow], str]) -> Lines:
    thresholds = sorted({row.threshold for row in rows if row.threshold is not None}) or [0.0, 1.0]
    lines, bands = {}, {}
    for line, on_line in _split(rows, name).items():
        # A number and a quantile may be one threshold: then a system has its score there twice.
        means = {
            at: fmean(row.score for row in part) for at, part in _split(on_line, lambda row: row.threshold).items()
        }
        lines[line] = [
            point
            for at, score in means.items()
            for point in ([(thresholds[0], score), (thresholds[-1], score)] if at is None else [(at, score)])
        ]
        known = {row.threshold: row.interval for row in on_line if row.interval is not None}
        places = [thresholds[0], thresholds[-1]] if None in known else sorted(at for at in known if at is not None)
        if known and known.keys() == means.keys():
            bands[line] = [known[None if None in known else at] for at in places]
    made = {line: sorted(points) for line, points in lines.items()}
    inside = thresholds[0] < DEFAULT_THRESHOLD < thresholds[-1] and any(row.threshold is not None for row in rows)
    marked = {f"default {DEFAULT_THRESHOLD:g}": DEFAULT_THRESHOLD} if inside else {}
    most = (
        list(made) if len(made) <= MOST_COLOURS else sorted(made, key=lambda line: -made[line][-1][1])[:MOST_COLOURS]
    )
    shown, behind = ({line: made[line] for line in made if (line in most) == front} for front in (True, False))
    bands = {line: band for line, band in bands.items() if line in shown}
    return Lines(title, "threshold", "score", shown, behind, bands, marked)


def _split(rows: Iterable[SweepRow], by: Callable[[SweepRow], Key]) -> dict[Key, list[SweepRow]]:
    parts: dict[Key, list[SweepRow]] = {}
    for row in rows:
        parts.setdefault(by(row), []).append(row)
    return parts


def _several_metrics(rows: Sequence[SweepRow]) -> bool:
    return len({row.varied.get("metric") for row in rows}) > 1


def _matcher(row: SweepRow) -> str:
    return str(row.varied.get("matcher") or row.varied.get("metric", ""))


def _settings(row: SweepRow) -> dict[str, str | float]:
    """List the settings that differ between lines, without matcher and quantile, which the axis shows."""
    varied = {key: value for key, value in row.varied.items() if key not in ("matcher", "quantile")}
    return {"": row.label, **{key: value for key, value in varied.items() if value is not None}}


def _variant(row: SweepRow, several: bool) -> str:
    """Name the differences between lines, except the matcher."""
    settings = {key: value for key, value in _settings(row).items() if key not in ("", "metric")}
    parts = [row.label] if row.label else [f"{key} {value}" for key, value in settings.items()]
    return ", ".join([*[str(row.varied["metric"])] * (several and "matcher" in row.varied), *parts])


def _name(row: SweepRow, several: bool) -> str:
    return ", ".join(filter(None, (_matcher(row), _variant(row, several))))


def spurious_lines(analyses: Sequence[Analysis]) -> list[Sequence[Lines]]:
    """Spurious share by threshold, then precision by recall: a panel per variant, a line per matcher.

    Where the matchers were tried as they are, too, every other panel has that in grey.
    """
    shares: dict[str, dict[str, Points]] = {}
    trades: dict[str, dict[str, Points]] = {}
    texts: dict[str, dict[str, list[str]]] = {}
    examples: dict[str, str] = {}
    for analysis in analyses:
        variant, matcher = analysis.variant.name, analysis.variant.matcher
        if (pair := analysis.example) is not None:
            said = f"spurious at {analysis.thresholds[analysis.at]:g}, for example: {pair[0]} ~ {pair[1]}"
            examples.setdefault(variant, said)
        spurious = zip(analysis.thresholds, (credit.spurious_share for credit in analysis.curve), strict=True)
        shares.setdefault(variant, {})[matcher] = [(at, 100 * share) for at, share in spurious if share is not None]
        curve = zip(analysis.thresholds, analysis.curve, strict=True)
        both = [(at, one.recall, one.precision) for at, one in curve]
        known = [(at, 100 * x, 100 * y) for at, x, y in both if x is not None and y is not None]
        trades.setdefault(variant, {})[matcher] = [(x, y) for _, x, y in known]
        texts.setdefault(variant, {})[matcher] = [f"{at:g}" for at, _, _ in known]
    return [
        *_variant_panels("threshold of similarity", "spurious share of soft credit, %", shares, {}, examples),
        *_variant_panels("recall of deserved credit, %", "precision of soft credit, %", trades, texts, {}),
    ]


def _variant_panels(
    x_label: str,
    y_label: str,
    curves: Mapping[str, Mapping[str, Points]],
    texts: Mapping[str, Mapping[str, Sequence[str]]],
    notes: Mapping[str, str],
) -> list[Sequence[Lines]]:
    plain = {f"{matcher}, {PLAIN}": points for matcher, points in curves.get(PLAIN, {}).items()}
    return in_rows(
        [
            Lines(
                *(name, x_label, y_label, curves[name], {} if name == PLAIN else plain),
                labels=texts.get(name, {}),
                note=notes.get(name, ""),
            )
            for name in curves
        ]
    )


def similarity_histograms(analyses: Sequence[Analysis]) -> PictureRows:
    """Similarities of deserved and spurious matches, a panel per variant: matches at the lowest threshold."""
    edges = [number / BINS for number in range(BINS + 1)]
    panels = []
    for analysis in analyses:
        rows = zip(VERDICTS, analysis.tally.histogram, strict=True)
        counts = {name: row.tolist() for name, row in rows if row.any()}
        title = f"{analysis.name}, threshold {analysis.thresholds[0]:g}"
        panels.append(Histogram(title, "similarity", "matches", edges, counts))
    return in_rows(panels)


@dataclass(frozen=True)
class _Plotted:
    """Columns of an answer that a picture shows."""

    panels: Sequence[str]  # Columns by which panels are made
    names: Sequence[str]
    value: str
    interval: tuple[str, str] | None = ("low", "high")
    at: str | float | None = None  # Place of a line, or the column that has it


_PLOTTED = {
    "preferences": _Plotted(["variant"], ["metric"], "tau"),
    "accuracy": _Plotted(["human", "of"], ["metric"], "accuracy", at="chance"),
    "differences": _Plotted(["human", "measure"], ["better", "worse"], "difference", at=0.0),
    "left-out": _Plotted(["human", "metric"], ["without"], "pearson", None),
    "windows": _Plotted(["human", "metric"], ["from_rank", "to_rank"], "pearson", None),
    "ranking": _Plotted(["by"], ["system"], "score", None),
    "annotators": _Plotted([], ["annotator", "other"], "kappa", None),
    "spans": _Plotted([], ["metric"], "f1", at="random"),
    "metric-pairs": _Plotted(["task"], ["better", "worse"], "difference", None, at=0.0),
}
"""Questions whose answers are drawn as values with intervals; the others have pictures of their own."""
_POOLED = ("human", "of", "variant", "measure")  # Columns that name what is pooled over directions
_R = _Plotted(["human"], ["metric"], "pearson", ("pearson_low", "pearson_high"))
_CORRELATED = {"systems": _R, "outputs": _R}  # Values with intervals of pages, which have no picture of every point
_READABLE = {
    "pearson": "Pearson's r",
    "spearman": "Spearman's rank correlation",
    "kendall": "Kendall's tau",
    "pearson_within": "Pearson's r within segments",
    "pearson_between": "Pearson's r between segments",
    "tau": "Kendall's tau",
    "tau hties": "Kendall's tau, ties count",
    "tau noties": "Kendall's tau without judges' ties",
    "hties": "ties count",
    "noties": "without judges' ties",
    "f1": "F1",
    "mean": "mean over directions",
    "spa": "accuracy on systems (spa)",
    "acc_eq": "accuracy on outputs (acc_eq)",
    "systems_pearson": "Pearson's r of systems",
    "systems_kendall": "Kendall's tau of systems",
    "systems_accuracy": "accuracy on systems",
}


def readable_measure(name: str) -> str:
    """Return the name of a measure as readers know it, with the set after it; other names as they are.

    >>> readable_measure("acc_eq en-cs"), readable_measure("difference")
    ('accuracy on outputs (acc_eq), en-cs', 'difference')
    """
    measure, _, of = name.partition(" ")
    known = _READABLE.get(name) or _READABLE.get(measure)
    return name if known is None else known if name in _READABLE else f"{known}, {of}"


def answer_panels(evaluation: MetaEvaluation) -> list[IntervalRows]:
    """Draw the rows of an answer as values with intervals, a panel for each group of rows."""
    columns = evaluation.table.columns
    shown = (_PLOTTED | _CORRELATED).get(evaluation.question)
    if "mean" in columns and "measure" in columns:
        shown = _Plotted([name for name in _POOLED if name in columns], ["metric"], "mean")
    if shown is None:
        return []
    groups: dict[str, list[Cells]] = {}
    for row in evaluation.records():
        title = ", ".join(readable_measure(str(row[name])) for name in shown.panels)
        if "human" in shown.panels and row.get("metric") in evaluation.judges:
            title = next(iter(groups), title)  # Beside the metrics
        if row[shown.value] is not None:
            groups.setdefault(title, []).append(row)
    panels = []
    for title, rows in groups.items():
        ends = [None if shown.interval is None else tuple(row[name] for name in shown.interval) for row in rows]
        at = rows[0][shown.at] if isinstance(shown.at, str) else shown.at
        names = [" – ".join(str(row[name]) for name in shown.names if row[name] not in (None, "")) for row in rows]
        known: Any = [end if end is not None and None not in end else None for end in ends]
        label = readable_measure(shown.value) + ", 95% interval" * (shown.interval is not None)
        label += f"; grey line: {shown.at}" * isinstance(shown.at, str)
        filled = [row.get("metric") not in evaluation.judges for row in rows]
        label += "; rings: judges beside the others" * (not all(filled))
        panels.append(IntervalRows(title, label, names, [row[shown.value] for row in rows], known, filled, at=at))
    return panels


def evaluation_panels(evaluation: MetaEvaluation) -> PictureRows:
    """Plot human scores against each metric's, a panel each with Pearson's r and the line of least squares.

    Of `williams` p-values are drawn by test, of `metrics` the table, shaded by clusters, and of other questions the
    values of the table with their intervals.

    Panels that stand in a row have the same judges. A p-value is how likely the row's metric differs so much from
    the column's by chance alone, corrected for all tests.
    """
    if evaluation.question in _PLOTTED:
        return in_rows(answer_panels(evaluation), 2)
    if evaluation.question == "metrics":
        return [[_ranking(evaluation)]]
    found = evaluation.records()
    if evaluation.question != "williams":
        by_side = ([row for row in found if row["human"] == side.human] for side in evaluation.columns)
        sides = zip(evaluation.columns, by_side, strict=True)
        return [panels for side, own in sides for panels in in_rows([_scatter(side, row) for row in own])]
    tests: dict[str, list[Cells]] = {}
    for row in found:
        tests.setdefault(f"{row['human']}, {row['coefficient']}", []).append(row)
    return in_rows([_heat(title, pairs) for title, pairs in tests.items()], len(TESTED))


def _scatter(judged: JudgedPoints, row: Any) -> Scatter:
    metric, r, ends = row["metric"], row["pearson"], (row["pearson_low"], row["pearson_high"])
    points = list(zip(judged.metrics[metric].tolist(), judged.judges.tolist(), strict=True))
    note = "r is not defined" if r is None else f"r = {r:.3f}"
    if None not in ends:
        note += " [{:.3f}, {:.3f}]".format(*ends)
    return Scatter(metric, metric, judged.human, points, judged.points, note, fitted=True)


def _ranking(evaluation: MetaEvaluation) -> HeatMap:
    """Show the agreement of each metric in each task; the first cluster is the darkest."""
    columns = [name for name in evaluation.table.columns[1:] if not name.endswith(CLUSTER)]
    rows = evaluation.records()
    clusters: Any = [[row[f"{name}{CLUSTER}"] for name in columns] for row in rows]
    shades = [[None if cluster is None else _SHADE * cluster for cluster in row] for row in clusters]
    values: Any = [[row[name] for name in columns] for row in rows]
    texts = [["" if value is None else f"{value:.3f}" for value in row] for row in values]
    title = "Metrics by task; clusters by shade"
    return HeatMap(title, [str(row["metric"]) for row in rows], shades, columns=columns, texts=texts)


_SHADE = 0.018  # A cluster is so much lighter than that before


def _heat(title: str, pairs: Any) -> HeatMap:
    p_values = {(pair["better"], pair["worse"]): pair["corrected"] for pair in pairs}
    values = {pair[name]: pair[f"r_{name}"] for pair in pairs for name in ("better", "worse")}
    names = sorted(values, key=lambda metric: -values[metric])
    cells = [[p_values.get((row, column)) for column in names] for row in names]
    return HeatMap(f"{title}: p after Holm", names, cells)


def outcome_pictures(outcome: Outcome, picture_format: str = "svg") -> Iterator[tuple[str, bytes]]:
    """Draw the pictures of an experiment, each with the suffix of its file name."""
    if outcome.sweep:
        yield "", draw(sweep_lines(outcome.sweep), picture_format)
        if len({row.system for row in outcome.sweep}) > 1:
            yield ".ranks", draw(sweep_ranks(outcome.sweep), picture_format)
    for name, analyses in zip(_file_names(outcome.analyses), outcome.analyses.values(), strict=True):
        yield f".{name}", draw(spurious_lines(analyses), picture_format)
        # The matchers as they are, side by side.
        plain = [analysis for analysis in analyses if analysis.variant.name == PLAIN] or analyses[:1]
        yield f".{name}.similarities", draw(similarity_histograms(plain), picture_format)


def _file_names(texts: Iterable[str]) -> list[str]:
    """Name files after texts: characters that file names cannot have become hyphens, and equal names are numbered.

    >>> _file_names(["a/x.txt", "a:x.txt", "umd.2922"])
    ['a-x.txt', 'a-x.txt-2', 'umd.2922']
    """
    names: list[str] = []
    for text in texts:
        plain = _UNSAFE.sub("-", text[-_LONGEST:])
        numbered = (f"{plain}-{number}" for number in count(2))
        names.append(next(name for name in chain([plain], numbered) if name not in names))
    return names
