"""Pictures: the same bytes for the same numbers, and names that are only names."""

from __future__ import annotations

import hashlib
import io
import struct
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from softbleu.errors import InputError, MissingExtraError, UnknownNameError
from softbleu.experiments import SweepRow
from softbleu.report.plots import PICTURE_FORMATS, Histogram, Lines, check_plots, draw
from softbleu.report.sweeps import MOST_SYSTEMS, draw_sweep, sweep_lines

LINES = Lines("title", "threshold", "score", {"vleu": [(0.0, 20.5), (0.5, 15.25)], "exact": [(0.0, 10.0)]})
HISTOGRAM = Histogram("title", "similarity", "pairs", [0.0, 0.5, 1.0], {"good": [3, 4], "bad": [1, 0]})
HOSTILE = [
    "<script>alert(1)</script>",
    "a & b",
    "\"quoted\" 'twice'",
    "$x_1$",
    "$",
    "$$",
    r"\$5 or $\frac$",
    "-->",
    "a--b",
    "]]>",
    "_hidden",
    "naïve",
]
UNPRINTABLE = ["line\nbreak", "\x1b[31m", "\x00", "a\udcff"]
SVG = "{http://www.w3.org/2000/svg}"


def texts_of(drawn: bytes) -> list[str]:
    root = ElementTree.fromstring(drawn)
    assert root.tag == f"{SVG}svg"
    assert not [element for element in root.iter() if element.tag == f"{SVG}script"]
    return ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]


PICTURES: dict[str, Any] = {
    "lines": LINES,
    "histogram": HISTOGRAM,
    "both": [LINES, HISTOGRAM],
    "bounded": replace(LINES, y_range=(0.0, 100.0)),
    "no lines": replace(LINES, lines={}),
    "a line without points": replace(LINES, lines={"a": [], "b": [(0.0, 1.0)]}),
    "no kinds": replace(HISTOGRAM, counts={}),
    "thirty lines": replace(LINES, lines={f"line {number}": [(0.0, number), (1.0, 2.0)] for number in range(30)}),
}


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("name", PICTURE_FORMATS)
def test_the_same_bytes_twice(name: str, picture: str) -> None:
    first = draw(PICTURES[picture], name)
    assert first == draw(PICTURES[picture], name)
    if name == "svg":
        assert "title" in texts_of(first)
    else:
        assert first.startswith(b"\x89PNG\r\n\x1a\n")
        sizes = {"both": (1800, 600), "thirty lines": (1275, 855)}
        width, height = struct.unpack(">II", first[16:24])
        assert (width, height) == sizes.get(picture, (900, 600))


@pytest.mark.parametrize("name", PICTURE_FORMATS)
def test_the_same_bytes_in_another_process(name: str) -> None:
    code = (
        "import hashlib; from softbleu.report.plots import *; "
        f"print(hashlib.sha256(draw([{LINES!r}, {HISTOGRAM!r}], {name!r})).hexdigest())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.strip() == hashlib.sha256(draw([LINES, HISTOGRAM], name)).hexdigest()


def test_other_numbers_are_another_picture() -> None:
    other = replace(LINES, lines={**LINES.lines, "exact": [(0.0, 11.0)]})
    for name in PICTURE_FORMATS:
        assert draw(other, name) != draw(LINES, name)


def test_what_is_in_a_picture() -> None:
    drawn = draw(LINES, "svg")
    assert {"title", "threshold", "score", "vleu", "exact"} <= set(texts_of(drawn))
    assert b"<dc:date>" not in drawn
    assert "vleu" not in texts_of(draw(replace(LINES, lines={"vleu": LINES.lines["vleu"]}), "svg"))
    assert {"good", "bad", "similarity", "pairs"} <= set(texts_of(draw(HISTOGRAM, "svg")))


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", ["lines", "histogram"])
def test_names_are_only_names(kind: str, name: str) -> None:
    if kind == "lines":
        drawn: Any = Lines(name, name, name, {name: [(0.0, 1.0)], "other": [(1.0, 2.0)]})
    else:
        drawn = Histogram(name, name, name, [0.0, 1.0], {name: [1], "other": [2]})
    shown = texts_of(draw(drawn, "svg"))
    assert shown.count(name) == 4, shown
    assert draw(drawn, "png")


@pytest.mark.parametrize("name", UNPRINTABLE)
def test_names_that_are_unprintable_are_written_as_escapes(name: str) -> None:
    drawn = draw(Lines(name, "x", "y", {name: [(0.0, 1.0)], "other": [(1.0, 2.0)]}), "svg")
    assert sum("\\" in text for text in texts_of(drawn)) == 2


def test_characters_that_the_font_lacks() -> None:
    drawn = Lines("猫", "x", "y", {"猫": [(0.0, 1.0)], "犬": [(1.0, 2.0)]})
    assert texts_of(draw(drawn, "svg")).count("猫") == 2
    assert draw(drawn, "png")


def test_nothing_to_draw() -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        draw([], "svg")


def test_unknown_formats() -> None:
    with pytest.raises(UnknownNameError, match="unknown picture format 'pdf'; valid: svg, png"):
        draw(LINES, "pdf")


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    check_plots()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (check_plots, lambda: draw(LINES, "svg")):
        with pytest.raises(MissingExtraError, match=r"pip install 'softbleu\[plots\]'") as caught:
            call()
        assert "\n" not in str(caught.value)


def test_style_is_nobody_elses() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    draw(LINES, "svg")
    assert dict(mpl.rcParams) == before
    with mpl.rc_context({"lines.linewidth": 9.0, "font.size": 30.0}):
        figure = draw(LINES, "svg")
    assert io.BytesIO(figure).read(5) == b"<?xml"


# sweeps


def row(
    system: str, matcher: str, threshold: float | None, score: float, label: str = "", **varied: str | None
) -> SweepRow:
    return SweepRow(system, label, {"metric": "bleu", "matcher": matcher, **varied}, threshold, score, {}, "")


ROWS = [
    row("A", "exact", None, 10.0),
    row("A", "vleu", 0.9, 12.0),
    row("A", "vleu", 0.5, 15.0),
    row("B", "exact", None, 20.0),
    row("B", "vleu", 0.9, 22.0),
    row("B", "vleu", 0.5, 27.0),
]


def test_a_panel_a_system() -> None:
    panels = sweep_lines(ROWS)
    assert [panel.title for panel in panels] == ["A", "B"]
    assert panels[0].lines == {"exact": [(0.5, 10.0), (0.9, 10.0)], "vleu": [(0.5, 15.0), (0.9, 12.0)]}
    assert panels[1].lines["vleu"] == [(0.5, 27.0), (0.9, 22.0)]
    assert (panels[0].x_label, panels[0].y_label) == ("threshold", "score")


def test_the_mean_of_many_systems() -> None:
    many = [replace(each, system=name, score=each.score + n) for n, name in enumerate("ABCDE") for each in ROWS[:3]]
    (panel,) = sweep_lines(many)
    assert panel.title == "mean of 5 systems"
    assert panel.lines == {"exact": [(0.5, 12.0), (0.9, 12.0)], "vleu": [(0.5, 17.0), (0.9, 14.0)]}
    few = [each for each in many if each.system in "ABCDE"[:MOST_SYSTEMS]]
    assert len(sweep_lines(few)) == MOST_SYSTEMS


def test_lines_are_named_by_what_differs() -> None:
    rows = [
        row("A", "vleu", 0.5, 1.0, order="1"),
        row("A", "vleu", 0.5, 2.0, order="2"),
        row("A", "vleu", 0.5, 3.0, "my variant", order="3"),
        row("A", "vleu", 0.6, 4.0, quantile="p99", order="1"),
    ]
    (panel,) = sweep_lines(rows)
    assert panel.lines == {
        "vleu, order 1": [(0.5, 1.0), (0.6, 4.0)],
        "vleu, order 2": [(0.5, 2.0)],
        "vleu, my variant": [(0.5, 3.0)],
    }


def test_a_quantile_that_is_a_threshold_already_counts_once() -> None:
    rows = [row("A", "vleu", 0.0, 30.0), row("A", "vleu", 0.0, 30.0, quantile="p50"), row("A", "vleu", 0.5, 20.0)]
    (panel,) = sweep_lines(rows)
    assert panel.lines == {"vleu": [(0.0, 30.0), (0.5, 20.0)]}


def test_no_thresholds_at_all() -> None:
    (panel,) = sweep_lines([ROWS[0]])
    assert panel.lines == {"exact": [(0.0, 10.0), (1.0, 10.0)]}


def test_no_rows() -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        draw_sweep([], "svg")


@pytest.mark.parametrize("names", [["<b>&$1", "a$b$"], ["A"]])
def test_sweeps_are_drawn(names: Sequence[str]) -> None:
    rows = [replace(each, system=name) for name in names for each in ROWS[:3]]
    assert set(names) <= set(texts_of(draw_sweep(rows, "svg")))
    assert draw_sweep(rows, "png").startswith(b"\x89PNG")
