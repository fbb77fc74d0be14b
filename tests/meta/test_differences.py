"""Studies: how often judges agree with differences, and measures of softness that are those of the package."""

import csv
from pathlib import Path

import numpy as np
import pytest
from curves import JudgedSet, PooledCurve, leave_out

from softbleu.corpora.judgements import ScoreTable
from softbleu.corpora.judgements.assessments import Assessments
from softbleu.meta.accuracy import soft_accuracy
from softbleu.meta.correlation import correlate

STORED = Path(__file__).parents[2] / "experiments" / "what-differences-mean" / "left-out.csv"


def made_up(number: int, spread: float, seed: int, pairs: int = 150) -> list[JudgedSet]:
    """Sets whose logits are 0.8 + 0.7 log(difference) and a part of their own."""
    generator, sets = np.random.default_rng(seed), []
    for _ in range(number):
        sizes = generator.uniform(0.05, 6, pairs)
        logits = 0.8 + 0.7 * np.log(sizes) + spread * generator.standard_normal()
        sets.append(JudgedSet(sizes, generator.random(pairs) < 1 / (1 + np.exp(-logits))))
    return sets


def test_pairs_are_those_that_both_tell_apart() -> None:
    found = JudgedSet.of(
        {"A": 1.0, "B": 2.0, "C": 4.0, "E": 2.0}, {"A": 10.0, "B": 11.0, "C": 9.0, "D": 3.0, "E": 9.0}
    )
    # D was not judged; judges tie B and E, the metric C and E.
    pairs = sorted(zip(found.sizes.tolist(), found.agreed.tolist(), strict=True))
    assert pairs == [(1.0, False), (1.0, False), (1.0, True), (2.0, False)]


@pytest.mark.slow
def test_a_curve_finds_what_sets_share_and_how_they_differ() -> None:
    curve = PooledCurve.fit(made_up(30, 1.0, 1))
    assert (curve.intercept, curve.slope, curve.spread) == pytest.approx((0.8, 0.7, 1.0), abs=0.45)
    sizes = np.array([0.5, 2.0])
    low, high = curve.interval(sizes)
    assert np.all((low < curve.share(sizes)) & (curve.share(sizes) < high))
    assert np.all(high - low > 0.4)
    alike = PooledCurve.fit(made_up(30, 0.0, 1))
    assert alike.spread < 0.3


@pytest.mark.slow
def test_sets_left_out_are_predicted_where_sets_are_alike() -> None:
    alike, apart = leave_out(made_up(8, 0.0, 2, 200)), leave_out(made_up(8, 3.0, 2, 200))
    assert alike.off < 0.07 < apart.off
    assert alike.brier < alike.constant
    assert [sum(each.pairs for each in found.bins) for found in (alike, apart)] == [1600, 1600]


def test_nothing_is_claimed_for_any_metric_of_the_study() -> None:
    """`compare` says nothing of judges, for every metric is off by more than .07 in one of five bins."""
    with STORED.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["task"] for row in rows} == {"translation", "corrections"}
    for row in rows:
        assert sum(int(float(row[f"pairs{number}"])) for number in range(1, 6)) == int(row["pairs"])
        off = max(abs(float(row[f"claimed{number}"]) - float(row[f"found{number}"])) for number in range(1, 6))
        assert off == pytest.approx(float(row["off"]), abs=2e-4)
        assert off > 0.07


def test_measures_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(STORED.parents[1] / "softness")
    import measures

    people, scores = np.random.default_rng(7).normal(size=(2, 4, 20)).round(1)
    drawn, segments = measures.pearson(scores[None], people)[0], np.tile(np.arange(20), 4)
    expected = correlate(scores.ravel(), people.ravel(), "pearson", clusters=segments)
    np.testing.assert_allclose(drawn, [expected.value, *expected.drawn], atol=1e-12)
    names = ["a", "b", "c", "d"]
    judged = Assessments(people.ravel(), [[name] for name in names for _ in range(20)], segments.tolist())
    soft = soft_accuracy(ScoreTable("m", {}, dict(zip(names, scores, strict=True))), judged, "z")
    assert soft is not None
    assert measures.soft_accuracy(scores[None], people)[0, 0] == pytest.approx(soft.value)


def test_effects_weigh_matched_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(STORED.parents[1] / "softness")
    from cells import Effect

    cells = [(("a", one), ("b", other)) for one in "01" for other in "01"]
    assert Effect("main", "a", "1", "0").of(cells).tolist() == [-0.5, -0.5, 0.5, 0.5]
    assert Effect("both", "a", "1", "0", ("b", "1"), ("b", "0")).of(cells).tolist() == [1, -1, -1, 1]
