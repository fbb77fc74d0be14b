"""Pictures: the same bytes for the same numbers, and names that are only names."""

import hashlib
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from itertools import combinations
from operator import itemgetter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from refusing import refused

from softbleu.errors import InputError
from softbleu.meta import SweepRow
from softbleu.report import plots
from softbleu.report.plots import (
    PICTURE_FORMATS,
    HeatMap,
    Histogram,
    IntervalRows,
    Lines,
    PictureRows,
    Ranks,
    Scatter,
    draw,
)

LINES = Lines("title", "threshold", "score", {"vleu": [(0.0, 20.5), (0.5, 15.25)], "exact": [(0.0, 10.0)]})
HISTOGRAM = Histogram("title", "similarity", "pairs", [0.0, 0.5, 1.0], {"good": [3, 4], "bad": [1, 0]})
SCATTER = Scatter("title", "metric", "people", [(1.0, 2.0), (2.0, 2.1), (3.0, 1.0)], ["A", "B", "C"], "r = 0.5")
RANKS = Ranks("title", "threshold", ["exact", "0.5"], {"A": [1, 2], "B": [2, 1]}, ["A"])
MAGIC = {"svg": b"<?xml", "png": b"\x89PNG\r\n\x1a\n", "pdf": b"%PDF-"}
HOSTILE = ["<script>alert(1)</script>", "a & b", "\"quoted\" 'twice'", "$x_1$", "$", "$$", r"\$5 or $\frac$"]
HOSTILE += ["-->", "a--b", "]]>", "_hidden", "naïve", "猫"]
UNPRINTABLE = ["line\nbreak", "\x1b[31m", "\x00", "a\udcff"]
SVG = "{http://www.w3.org/2000/svg}"


def texts_of(drawn: bytes) -> list[str]:
    root = ElementTree.fromstring(drawn)
    assert root.tag == f"{SVG}svg"
    assert not [element for element in root.iter() if element.tag == f"{SVG}script"]
    return ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]


NUMBERED = {name: [n] for n, name in enumerate(HOSTILE)}
NUMBERS = [1.0 * n for n in range(len(HOSTILE))]
CURVE = [(float(n), 1.0 * n * n) for n in range(len(HOSTILE))]
PICTURES: dict[str, tuple[Any, list[str]]] = {
    "behind": (replace(LINES, behind={"plain": [(0.0, 20.0), (0.5, 14.0)]}), ["title", "plain"]),
    "no lines": (replace(LINES, lines={}), ["title"]),
    "a line without points": (replace(LINES, lines={"a": [], "b": [(0.0, 1.0)]}), ["title"]),
    "no names": (replace(SCATTER, names=[]), ["title"]),
    "no kinds": (replace(HISTOGRAM, counts={}), ["title"]),
    "thirty lines": (replace(LINES, lines={f"line {n}": [(0.0, n), (1.0, 2.0)] for n in range(30)}), ["title"]),
    "lines": (Lines("t", "x", "y", {name: [(0.0, 1.0)] for name in HOSTILE}), HOSTILE),
    "histogram": (Histogram("t", "x", "y", [0.0, 1.0], NUMBERED), HOSTILE),
    "scatter": (Scatter("t", "x", "y", CURVE, HOSTILE), HOSTILE),
    "few points": (Scatter("t", "x", "y", CURVE[:2], ["$x_1$", "a & b"]), ["$x_1$", "a & b"]),
    "ranks": (Ranks("t", "x", HOSTILE[:2], {name: [n + 1, n + 1] for n, name in enumerate(HOSTILE)}), HOSTILE),
    "intervals": (
        IntervalRows("t", "x", HOSTILE, NUMBERS, [None, *[(0.0, 2.0)] * (len(HOSTILE) - 1)], at=1.0),
        HOSTILE,
    ),
    "heat": (HeatMap("t", HOSTILE, [[0.03] * len(HOSTILE)] * len(HOSTILE)), HOSTILE),
}


@pytest.mark.parametrize("picture", PICTURES)
def test_anything_is_drawn_and_names_are_only_names(picture: str) -> None:
    drawn, names = PICTURES[picture]
    shown = {re.sub(r"^\d+  |  \d+$", "", text) for text in texts_of(draw(drawn, "svg"))}
    assert set(names) <= shown


@pytest.mark.slow
def test_the_same_bytes_whenever_in_any_process_and_style() -> None:
    import matplotlib as mpl

    rows, before = [[LINES, HISTOGRAM, SCATTER], [RANKS]], dict(mpl.rcParams)
    drawn = [draw(rows, name) for name in PICTURE_FORMATS]
    assert dict(mpl.rcParams) == before
    for name, picture in zip(PICTURE_FORMATS, drawn, strict=True):
        assert picture.startswith(MAGIC[name])
        assert not any(date in picture for date in (b"CreationDate", b"<dc:date>"))
    with mpl.rc_context({"axes.grid": False, "svg.hashsalt": "x", "legend.frameon": True}):
        assert [draw(rows, name) for name in PICTURE_FORMATS] == drawn
    code = "import hashlib; from softbleu.report.plots import *; "
    code += f"print([hashlib.sha256(draw({rows!r}, name)).hexdigest() for name in PICTURE_FORMATS])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.strip() == str([hashlib.sha256(picture).hexdigest() for picture in drawn])


def test_a_picture_has_its_title_axes_and_lines() -> None:
    drawn = draw(LINES, "svg")
    assert {"title", "threshold", "score", "vleu", "exact"} <= set(texts_of(drawn))
    assert draw(replace(LINES, lines={**LINES.lines, "exact": [(0.0, 11.0)]}), "svg") != drawn
    assert {"good", "bad", "similarity", "pairs"} <= set(texts_of(draw(HISTOGRAM, "svg")))
    heat = HeatMap("t", ["bleu", "ter"], [[0.25, 0.5, 0.75]] * 2, 1.0, columns=["names", "units", "order"])
    assert {*heat.names, *heat.columns, "0.250", "0.750"} <= set(texts_of(draw(heat, "svg")))


def test_titles_are_only_titles() -> None:
    # What stands beside a panel is broken into lines.
    panels = [Lines(name, f"{name} x", f"{name[:9]} y", {"a": [(0.0, 1.0)]}) for name in HOSTILE]
    shown = texts_of(draw(plots.in_rows(panels), "svg"))
    assert {text for name in HOSTILE for text in (name, f"{name} x", f"{name[:9]} y")} <= set(shown)
    drawn = draw(Lines("\x1b", "x", "y", {name: [(0.0, 1.0)] for name in UNPRINTABLE}), "svg")
    assert sum("\\" in text for text in texts_of(drawn)) == 5
    # Characters that the font lacks.
    assert draw(Lines("猫", "x", "y", {"猫": [(0.0, 1.0)], "犬": [(1.0, 2.0)]}), "png").startswith(MAGIC["png"])


VISION = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
    "normal": np.eye(3),
}
"""Colours as they are seen, in linear RGB: Machado, Oliveira and Fernandes 2009, severity 1."""
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
)


def lab(colour: str, vision: str) -> Any:
    """A colour in CIELAB, where distances are those that people see."""
    channels = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    white = TO_XYZ.sum(axis=1)
    x, y, z = np.cbrt(TO_XYZ @ np.clip(np.array(VISION[vision]) @ linear, 0.001, 1) / white)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", VISION)
def test_colours_are_apart_for_any_vision(vision: str) -> None:
    css = Path(plots.__file__).with_name("page").joinpath("report.css").read_text(encoding="utf-8")
    schemes = [re.findall(rf"--{name}: (#\w+)", css) for name in ("accent", "second", "good", "bad")]
    pairs = [*zip(*schemes[:2], strict=True), *zip(*schemes[2:], strict=True), *combinations(plots.COLOURS, 2)]
    assert len(pairs) == 4 + 21
    # Just noticeable is about 2.3; red and green of one lightness are 5 apart for deuteranopes.
    assert min((np.linalg.norm(lab(one, vision) - lab(other, vision)), one, other) for one, other in pairs) > (15,)


def crowd(count: int, name: str) -> Scatter:
    x, noise = np.random.default_rng(7).normal(size=(2, count))
    points = [(-6.0, -6.0), *zip(x.tolist(), (0.8 * x + 0.4 * noise).tolist(), strict=True)]
    return Scatter("GLEU", "GLEU", "people", points, [f"{name}{n}" for n in range(count + 1)], "r = 0.8 [0.7, 0.9]")


LONG = "a-system-of-some-university.primary."
MANY = {f"{LONG}{n}": [1 + n, 23 - n, 1 + n // 2 * 2] for n in range(23)}
CROWDED: dict[str, PictureRows] = {
    "short names": [[crowd(13, "sys"), replace(crowd(13, "sys"), x_label="M2")]],
    "long names": [[crowd(23, LONG)]],
    "ranks": [[Ranks(LONG * 3, "threshold", ["exact", "0.5", "0.123"], MANY)]] * 2,
    "lines": plots.in_rows([replace(LINES, title=LONG * 2, lines={name: [(0.0, 1e6)] for name in MANY})] * 3, 2),
    "histograms": [[HISTOGRAM, replace(HISTOGRAM, title=LONG, x_label=LONG * 3, y_label=LONG)]],
}


@pytest.mark.parametrize("name", CROWDED)
def test_no_text_covers_another_or_a_point_or_is_cut_off(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.text import Text

    found: list[Any] = []
    write = Text.draw
    with plots.make_figure(CROWDED[name]) as figure:
        monkeypatch.setattr(Text, "draw", lambda text, renderer: (found.append(text), write(text, renderer)))
        figure.draw_without_rendering()
        shown = [text for text in found if text.get_visible() and text.get_text()]
        # Without the line that leads from a name to its curve.
        texts = [(text.get_text(), Text.get_window_extent(text)) for text in shown]
        points = [axes.transData.transform(each.get_offsets()) for axes in figure.axes for each in axes.collections]
        edge = figure.bbox
    assert len(texts) > 10
    assert [(one, other) for (one, a), (other, b) in combinations(texts, 2) if a.overlaps(b)] == []
    assert [text for text, box in texts if box.x0 < 0 or box.y0 < 0 or box.x1 > edge.x1 or box.y1 > edge.y1] == []
    if "names" in name:
        assert sum(map(len, points)) > 20
        assert not any(box.contains(*point) for _, box in texts for panel in points for point in panel)


def test_many_or_long_names_are_numbered() -> None:
    few = crowd(plots.MOST_BESIDE_POINTS - 1, "s")
    for panel, numbered in ((few, False), (crowd(plots.MOST_BESIDE_POINTS, "s"), True), (crowd(2, LONG), True)):
        with plots.make_figure([[panel]]) as figure:
            shown = sorted(text.get_text() for text in figure.axes[0].texts)
            legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        numbers = [str(number + 1) for number in range(len(panel.names))]
        assert shown == sorted(numbers if numbered else panel.names)
        assert legends == [f"{n}  {name}" for n, name in zip(numbers, panel.names, strict=True) if numbered]


def test_axes_called_the_same_are_the_same() -> None:
    other = replace(LINES, lines={"vleu": [(0.2, 90.0), (0.9, 95.0)]})
    apart = replace(other, y_label="per cent")
    with plots.make_figure([[LINES, other, apart], [HISTOGRAM]]) as figure:
        first, second, third, last = figure.axes
        assert first.get_ylim() == second.get_ylim() != third.get_ylim()
        assert first.get_ylim()[0] < 10.0 < 95.0 < first.get_ylim()[1]
        assert first.get_xlim() == second.get_xlim() == third.get_xlim() != last.get_xlim()
        assert [axes.get_ylabel() for axes in figure.axes] == ["score", "", "per cent", "pairs"]
        assert [axes.get_xlabel() for axes in figure.axes] == ["threshold"] * 3 + ["similarity"]


def test_a_name_has_one_colour_and_panels_have_one_size() -> None:
    only = replace(LINES, lines={"exact": [(0.0, 10.0)]})
    with plots.make_figure([[LINES, only]]) as figure:
        first, second = figure.axes
        assert second.lines[0].get_color() == first.lines[1].get_color() != first.lines[0].get_color()
        # Lines have their names beside them, and a legend is for the rest.
        assert [[text.get_text() for text in axes.texts] for axes in (first, second)] == [
            ["vleu", "exact"],
            ["exact"],
        ]
        assert not figure.legends
    with plots.make_figure([[LINES, HISTOGRAM]]) as figure:
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == ["good", "bad"]
    sizes = []
    for name in ("a", LONG * 2):
        with plots.make_figure([[replace(LINES, lines={name: [(0.0, 1.0)], "b": [(0.0, 1.0)]})]]) as figure:
            box, inches = figure.axes[0].get_position(), figure.get_size_inches()
            sizes.append((box.width * inches[0], box.height * inches[1]))
    assert sizes[0] == pytest.approx(sizes[1], rel=0.01)


def test_ranks_are_drawn_best_on_top() -> None:
    with plots.make_figure([[replace(RANKS, ranks={"A": [1, 3], "B": [2, 1], "C": [2, 2]})]]) as figure:
        (axes,) = figure.axes
        assert axes.yaxis_inverted()
        assert sorted(list(line.get_ydata()) for line in axes.lines) == [[1, 3], [2, 1], [2, 2]]
        assert [label.get_text() for label in axes.get_yticklabels()] == ["A  1", "B  2", "C  2"]
        assert [label.get_text() for label in axes.child_axes[0].get_yticklabels()] == ["1  B", "2  C", "3  A"]
        grey = {line.get_color() for line in axes.lines if list(line.get_ydata()) != [1, 3]}
        assert len(grey) == 1
        assert axes.lines[-1].get_color() not in grey


SWEEPS = tomllib.loads(Path(__file__).with_name("sweeps.toml").read_text(encoding="utf-8"))


def row_of(*, system: str, score: float, threshold: float | None = None, label: str = "", **varied: str) -> SweepRow:
    return SweepRow(system, label, {"metric": "bleu", **varied}, threshold, float(score), {}, "")


def rows_of(rows: list[dict[str, Any]]) -> list[SweepRow]:
    return [row_of(**row) for row in rows]


@pytest.mark.parametrize("case", SWEEPS["lines"], ids=itemgetter("name"))
def test_panels_of_lines(case: dict[str, Any]) -> None:
    (panels,) = plots.sweep_lines(rows_of(case["rows"]))
    assert {(panel.x_label, panel.y_label) for panel in panels} == {("threshold", "score")}
    expected = [(panel["title"], list(panel["lines"])) for panel in case["panels"]]
    assert [(panel.title, list(panel.lines)) for panel in panels] == expected
    for panel, wanted in zip(panels, case["panels"], strict=True):
        assert {name: [*map(list, points)] for name, points in panel.lines.items()} == wanted["lines"]


@pytest.mark.parametrize("case", SWEEPS["ranks"], ids=itemgetter("name"))
def test_panels_of_ranks(case: dict[str, Any]) -> None:
    def told(rows: list[SweepRow]) -> list[dict[str, Any]]:
        panels = [panel for (panel,) in plots.sweep_ranks(rows)]
        return [{name: getattr(panel, name) for name in ("title", "x_label", "places", "ranks")} for panel in panels]

    rows = rows_of(case["rows"])
    assert told(rows) == case["panels"]
    if "turned" in case:
        assert told([replace(each, higher_is_better=False) for each in rows]) == case["turned"]


def test_lines_that_move_most_have_colours() -> None:
    points = [(f"s{n}", at, score) for n in range(20) for at, score in ((0.5, n), (0.9, 19 - n))]
    rows = [row_of(system=system, matcher="vleu", threshold=at, score=score) for system, at, score in points]
    ((panel,),), ((still,),) = plots.sweep_ranks(rows), plots.sweep_ranks(rows[::2])
    assert len(panel.coloured) == plots.MOST_COLOURS
    assert {"s0", "s19", "s1", "s18"} <= set(panel.coloured)
    assert list(still.coloured) == []


def test_sweeps_are_drawn() -> None:
    scores = {"<b>&$1": (10, 28), "B": (20, 27)}
    rows = [row_of(system=name, matcher="exact", score=exact) for name, (exact, _) in scores.items()]
    rows += [row_of(system=name, matcher="vleu", threshold=0.5, score=soft) for name, (_, soft) in scores.items()]
    assert {"<b>&$1", "B"} <= set(texts_of(draw(plots.sweep_lines(rows), "svg")))
    assert {"B  1", "2  B", "1  <b>&$1"} <= set(texts_of(draw(plots.sweep_ranks(rows), "svg")))
    refused(InputError, "nothing to draw", draw, [], "svg")


def test_intervals_are_drawn_from_top_to_bottom_and_rings_are_not_filled() -> None:
    panel = IntervalRows("t", "BLEU", ["A", "B"], [2.0, 1.0], [(1.5, 2.5), None], [True, False], ["A"])
    with plots.make_figure([[panel]]) as figure:
        (axes,) = figure.axes
        assert axes.yaxis_inverted()
        interval, first, second = axes.lines
        assert list(interval.get_xdata()) == [1.5, 2.5]
        assert [list(line.get_xdata()) for line in (first, second)] == [[2.0], [1.0]]
        assert first.get_color() != second.get_color() == second.get_markeredgecolor()
        assert (first.get_markerfacecolor(), second.get_markerfacecolor()) == (first.get_color(), "white")


def test_places_points_and_trends_are_marked() -> None:
    lines = replace(LINES, marked={"default 0.8": 0.8}, labels={"vleu": ["0", ""]}, bands={"exact": [(9.0, 11.0)]})
    assert {"default 0.8", "0"} <= set(texts_of(draw(lines, "svg")))
    with plots.make_figure([[replace(SCATTER, points=[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)], fitted=True)]]) as figure:
        trend = figure.axes[0].lines[0]
        assert (list(trend.get_xdata()), list(trend.get_ydata())) == ([0.0, 2.0], [1.0, 5.0])


def test_panels_of_a_sweep_have_intervals_and_the_default() -> None:
    rows = [
        replace(row_of(system="A", matcher="vleu", threshold=at, score=20), interval=(19.0, 21.0))
        for at in (0.5, 0.9)
    ]
    rows.append(replace(row_of(system="A", matcher="exact", score=10), interval=(9.0, 11.0)))
    (((panel,)),) = plots.sweep_lines(rows)
    assert panel.bands == {"vleu": [(19.0, 21.0)] * 2, "exact": [(9.0, 11.0)] * 2}
    assert panel.marked == {"default 0.8": 0.8}
    many = [row_of(system=f"s{n}", matcher="vleu", threshold=at, score=n) for n in range(12) for at in (0.5, 0.9)]
    (((panel,)),) = plots.sweep_lines(many)
    assert list(panel.lines) == [f"s{n}" for n in range(5, 12)]
    assert list(panel.behind) == [f"s{n}" for n in range(5)]
