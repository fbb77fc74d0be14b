"""Charts of pages: the pictures of `softbleu.report.plots` as HTML, in the page's colours and without matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import ceil, floor, log10

from softbleu.report.html import page_notes, visible_html
from softbleu.report.plots import COLOURS, IntervalRows, Limits, Lines, Scatter

Chart = Lines | Scatter | IntervalRows
_WIDTH, _HEIGHT = 350, 240  # Of the panel, without the text around it
_TOP, _BELOW, _LEFT = 16, 50, 66
_LETTER, _ROW = 8.0, 17  # Width of a letter and height of a line, at the size of the text
_DASHES = ("", "6 3", "2 3", "8 3 2 3")
_MOST_TICKS = 6
_BESIDE = [(x * step, y * step) for step, (x, y) in product((1, 2, 3), ((6, 18), (-6, -9), (9, 5), (-9, 5)))]


@dataclass(frozen=True)
class _Frame:
    """A panel with its axes: places of values, in pixels."""

    x: Limits
    y: Limits
    left: float = _LEFT
    height: float = _HEIGHT

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point."""
        across, up = (x - self.x[0]) / (self.x[1] - self.x[0]), (y - self.y[0]) / (self.y[1] - self.y[0])
        return self.left + across * _WIDTH, _TOP + (1 - up) * self.height

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        """Return the path through points."""
        return "M" + "L".join("{:.1f} {:.1f}".format(*self.at(*point)) for point in points)

    def axes(self, chart: Chart) -> Iterator[str]:
        """Draw ticks with their grid, and name the axes."""
        for x in ticks(self.x):
            at, _ = self.at(x, 0)
            yield f'<path class="grid" d="M{at:.1f} {_TOP}v{self.height}"/>'
            yield _text(at, _TOP + self.height + 18, f"{x:g}", "middle")
        yield _text(self.left + _WIDTH / 2, _TOP + self.height + 40, chart.x_label, "middle")
        if isinstance(chart, IntervalRows):
            return
        for y in ticks(self.y):
            _, at = self.at(0, y)
            yield f'<path class="grid" d="M{self.left} {at:.1f}h{_WIDTH}"/>'
            yield _text(self.left - 6, at + 4, f"{y:g}", "end")
        turned = f'transform="rotate(-90 14 {_TOP + self.height / 2})"'
        yield _text(14, _TOP + self.height / 2, chart.y_label, "middle", turned)


def ticks(limits: Limits) -> list[float]:
    """Return round numbers within limits, `_MOST_TICKS` steps apart at most.

    >>> ticks((0.13, 0.92)), ticks((24.1, 58.4))
    ([0.2, 0.4, 0.6, 0.8], [30.0, 40.0, 50.0])
    """
    low, high = limits
    size = 10.0 ** floor(log10((high - low) / _MOST_TICKS))
    step = next(size * factor for factor in (1, 2, 5, 10) if (high - low) / (size * factor) <= _MOST_TICKS)
    return [round(number * step, 10) for number in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def draw_chart(chart: Chart) -> Iterator[str]:
    """Draw a picture as a figure of a page, with its title as the caption."""
    title = visible_html(chart.title)
    axes = visible_html(", ".join(filter(None, (chart.title, getattr(chart, "y_label", ""), chart.x_label))))
    pieces, width, height = _PAINTERS[type(chart)](chart)
    yield f'<figure><figcaption class="title">{title}</figcaption>\n'
    yield f'<svg class="chart" width="{width:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
    yield f'aria-label="{axes}">\n'
    yield from (f"{piece}\n" for piece in pieces)
    yield "</svg>\n"
    yield from page_notes([chart.note] * bool(chart.note))
    yield "</figure>\n"


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{visible_html(text)}</text>'


def _longest(names: Sequence[str]) -> float:
    return _LETTER * max(map(len, names), default=0)


def _limits(values: Sequence[float]) -> Limits:
    """Return the ends of an axis, a little beyond the values."""
    known = [value for value in values if value == value] or [0.0]
    low, high = min(known), max(known)
    room = 0.04 * (high - low) or abs(high) or 1.0
    return low - room, high + room


def _colour(number: int) -> str:
    # Black would be lost on a dark page.
    return COLOURS[number % len(COLOURS)].replace("#000000", "currentColor")


def _lines(chart: Lines) -> tuple[list[str], float, float]:
    drawn = chart.drawn
    every = [point for points in drawn.values() for point in points] or [(0.0, 0.0)]
    lows_and_highs = [end for band in chart.bands.values() for ends in band for end in ends]
    high = max(_HEIGHT, _ROW * len(drawn))
    frame = _Frame(_limits([x for x, _ in every]), _limits([y for _, y in every] + lows_and_highs), height=high)
    pieces, number_of = [*frame.axes(chart)], {name: number for number, name in enumerate(chart.lines)}
    colours = {name: _colour(number) for name, number in number_of.items()}
    colours |= dict.fromkeys(chart.behind, "currentColor")
    for text, x in chart.marked.items():
        at, _ = frame.at(x, 0)
        pieces.append(
            f'<path d="M{at:.1f} {_TOP}v{high}" stroke="currentColor" stroke-dasharray="2 3" opacity="0.6"/>'
        )
        pieces.append(_text(at - 4, _TOP + 10, text, "end"))
    for name, points in drawn.items():
        behind = name in chart.behind
        look = f'fill="none" stroke="{colours[name]}" stroke-width="{2 - behind}"' + ' opacity="0.4"' * behind
        if name in chart.bands:
            lows, highs = zip(*chart.bands[name], strict=True)
            xs = [x for x, _ in points]
            around = [*zip(xs, lows, strict=True), *reversed([*zip(xs, highs, strict=True)])]
            pieces.append(f'<path d="{frame.path(around)}Z" fill="{colours[name]}" opacity="0.15"/>')
        if points:
            dashes = f'stroke-dasharray="{_DASHES[number_of.get(name, 0) % len(_DASHES)]}"'
            pieces.append(
                f'<path d="{frame.path(points)}" {look} {dashes}><title>{visible_html(name)}</title></path>'
            )
    for point, text in chart.texts_apart(frame.x, frame.y):
        x, y = frame.at(*point)
        pieces += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="currentColor"/>', _text(x + 4, y - 5, text)]
    beside = frame.left + _WIDTH + 12
    for name, end, share in chart.ends(frame.y, _ROW / high):
        (x, y), place = frame.at(*end), _TOP + (1 - share) * high
        pieces.append(f'<path d="M{x:.1f} {y:.1f}L{beside - 3} {place:.1f}" stroke="{colours[name]}"/>')
        pieces.append(_text(beside, place + 4, name))
    return pieces, beside + _longest([*drawn]) + 4, high + _TOP + _BELOW


def _scatter(chart: Scatter) -> tuple[list[str], float, float]:
    xs = [x for x, _ in chart.points] + [end for ends, _ in chart.intervals for end in ends]
    ys = [y for _, y in chart.points] + [end for _, ends in chart.intervals for end in ends]
    frame = _Frame(_limits(xs), _limits(ys))
    pieces = [*frame.axes(chart)]
    for (x, y), (of_x, of_y) in zip(chart.points, chart.intervals, strict=bool(chart.intervals)):
        cross = frame.path([(end, y) for end in of_x]) + frame.path([(x, end) for end in of_y])
        pieces.append(f'<path d="{cross}" stroke="currentColor" opacity="0.35"/>')
    colours = {index: _colour(number) for number, group in enumerate(chart.joined) for index in group}
    for number, group in enumerate(chart.joined):
        path = frame.path([chart.points[index] for index in group])
        pieces.append(f'<path d="{path}" fill="none" stroke="{_colour(number)}" stroke-width="2"/>')
    places = [frame.at(*point) for point in chart.points]
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in places]
    for index, ((x, y), name) in enumerate(zip(places, chart.names, strict=True)):
        pieces.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colours.get(index, "currentColor")}"/>')
        width = _longest([name])
        for right, down in _BESIDE:
            anchor, before = ("start", 0.0) if right > 0 else ("end", width) if right else ("middle", width / 2)
            start = x + right - before
            box = (start, y + down - 12, start + width, y + down + 3)
            free = all(box[2] < a or box[0] > c or box[3] < b or box[1] > d for a, b, c, d in taken)
            if (free and box[0] > 0) or (right, down) == _BESIDE[-1]:
                taken.append(box)
                pieces.append(_text(x + right, y + down, name, anchor))
                break
    return pieces, max(_LEFT + _WIDTH, *(box[2] for box in taken)) + 8, _HEIGHT + _TOP + _BELOW


def _intervals(chart: IntervalRows) -> tuple[list[str], float, float]:
    ends = [end for interval in chart.intervals if interval is not None for end in interval]
    values = [*chart.values, *ends, *[chart.at or 0.0] * (chart.at is not None)]
    left, high = _longest(chart.names) + 14, 24 * len(chart.names)
    frame = _Frame(_limits(values), (len(chart.names) - 0.5, -0.5), left, high)
    pieces = [*frame.axes(chart)]
    if chart.at is not None:
        pieces.append(f'<path d="{frame.path([(chart.at, each) for each in frame.y])}" stroke="currentColor"/>')
    for number, (name, value, interval, full) in enumerate(chart.rows):
        (x, y), colour = frame.at(value, number), _colour(name in chart.coloured)
        if interval is not None:
            bar = frame.path([(end, number) for end in interval])
            pieces.append(
                f'<path d="{bar}" stroke="{colour}" stroke-width="5" stroke-linecap="round" opacity="0.4"/>'
            )
        pieces.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" stroke="{colour}" fill="{colour if full else "none"}"/>'
        )
        pieces += [_text(left - 8, y + 4, name, "end"), _text(left + _WIDTH + 10, y + 4, f"{value:.3f}")]
    return pieces, left + _WIDTH + 60, high + _TOP + _BELOW


_PAINTERS: dict[type, Callable[..., tuple[list[str], float, float]]] = {
    Lines: _lines,
    Scatter: _scatter,
    IntervalRows: _intervals,
}
