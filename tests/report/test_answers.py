"""Pages that answer one question: the sentence at the top, and charts whose names are only names."""

import re
from typing import Any

import pytest

from softbleu.formats import Layout
from softbleu.meta import SweepRow
from softbleu.report.answers import make_sweep_page, write_answer
from softbleu.report.charts import draw_chart
from softbleu.report.plots import IntervalRows, Lines, Scatter


def row_of(system: str, threshold: float | None, score: float, metric: str = "bleu") -> SweepRow:
    soft = {} if metric == "chrf" else {"matcher": "exact" if threshold is None else "vleu"}
    return SweepRow(system, "", {"metric": metric, **soft}, threshold, score, {}, "")


FIRST = [("A", None, 10), ("B", None, 20), ("A", 0.5, 30), ("B", 0.5, 40)]
VERDICTS = {
    "A scores from 10.00 (exact) to 30.00 (vleu at 0.5).": FIRST[::2],
    "The order of the systems is the same at all 2 settings: B is best.": FIRST,
    "B is best at 2 of 3 settings and A is best at 1 of 3 settings; the order of the systems changes.": [
        *FIRST,
        ("A", None, 51, "chrf"),
        ("B", None, 50, "chrf"),
    ],
}


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_sweep_is_answered_in_a_sentence(verdict: str) -> None:
    rows = VERDICTS[verdict]
    page = make_sweep_page([row_of(*row) for row in rows])
    assert page.verdict == verdict
    (table,) = page.tables.values()
    scores = {cell for row in table.rows for cell in row if isinstance(cell, int)}
    assert scores == {row[2] for row in rows}
    assert "variant" not in table.columns
    written = "".join(write_answer(page, Layout()))
    assert f'<p id="verdict">{verdict}</p>' in written
    assert '<th scope="col" class="number">threshold</th>' in written


HOSTILE = "</text><script>alert(1)</script>"
CHARTS: list[Any] = [
    Lines(HOSTILE, HOSTILE, HOSTILE, {HOSTILE: [(0.0, 1.0)]}, {"B": [(0.0, 2.0)]}, marked={HOSTILE: 0.0}),
    Scatter("t", "x", "y", [(1.0, 2.0), (1.0, float("nan"))], [HOSTILE, "B"], joined=[[0, 1]]),
    IntervalRows("t", "x", [HOSTILE, "B"], [1.0, 1.0], [(0.5, 1.5), None], at=0.0),
]


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: type(chart).__name__)
def test_names_of_charts_are_only_names(chart: Any) -> None:
    drawn = "".join(draw_chart(chart))
    assert "<script" not in drawn
    assert {"&lt;/text&gt;&lt;script&gt;alert(1)&lt;/script&gt;", "B"} <= set(re.findall(r">([^<>]+)</text>", drawn))


def test_names_beside_points_do_not_cover_one_another() -> None:
    points = [(0.01 * n, 0.01 * n) for n in range(4)] + [(1.0, 1.0)]
    drawn = "".join(draw_chart(Scatter("t", "x", "y", points, [f"system {n}" for n in range(5)])))
    pattern = r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)" >system \d'
    placed = [(float(x), float(y)) for x, y, _ in re.findall(pattern, drawn)]
    assert len(placed) == 5
    near = [
        (a, b) for n, a in enumerate(placed) for b in placed[:n] if abs(a[0] - b[0]) < 3 and abs(a[1] - b[1]) < 10
    ]
    assert near == []
