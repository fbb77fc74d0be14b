"""How often people agree with differences: curves of made-up people, and what `compare` says of them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from curves import SizedPairs, fit_curve, hold_out

import softbleu
from softbleu.errors import InputError
from softbleu.report import COMPARERS, Layout
from softbleu.results import significance
from softbleu.results.human_agreement import AgreementCurve, curves_for, settings_signed, study_curves


def made_up(systems: int, noise: float, seed: int) -> SizedPairs:
    """People whose scores are those of the metric, but for noise of that standard deviation."""
    generator = np.random.default_rng(seed)
    metric = generator.normal(0, 5, systems)
    people = metric + generator.normal(0, noise, systems)
    names = [f"s{number}" for number in range(systems)]
    return SizedPairs.of([(dict(zip(names, people, strict=True)), dict(zip(names, metric, strict=True)))])


def test_pairs_in_the_order_of_their_differences() -> None:
    one = {"A": 1.0, "B": 2.0, "C": 4.0}, {"A": 10.0, "B": 11.0, "C": 9.0, "D": 3.0}
    other = {"E": 1.0, "F": 1.0, "G": 2.0}, {"E": 5.0, "F": 8.0, "G": 9.0}
    pairs = SizedPairs.of([one, other])
    # D was not judged, people tie E and F, and no pair is of two sets.
    assert pairs.systems == ("A", "B", "C", "E", "F", "G")
    names = [(pairs.systems[one], pairs.systems[other]) for one, other in zip(pairs.one, pairs.other, strict=True)]
    found = dict(zip(map("".join, names), zip(pairs.sizes.tolist(), pairs.agreed.tolist(), strict=True), strict=True))
    assert found == {"AB": (1, True), "AC": (1, False), "BC": (2, False), "EG": (4, True), "FG": (1, True)}
    assert pairs.sizes.tolist() == [1.0, 1.0, 1.0, 2.0, 4.0]
    assert len(pairs.without(0).sizes) == 3
    assert len(pairs.of_system(0).sizes) == 2


def test_curves_rise_where_people_agree_with_great_differences() -> None:
    curve = fit_curve(made_up(20, 2.0, 1), "people", "m", "metric:m")
    assert (curve.pairs, curve.systems) == (190, 20)
    assert 0.4 < curve.share[0] < 0.75
    assert curve.share[-1] > 0.9
    for low, share, high in zip(curve.low, curve.share, curve.high, strict=True):
        assert 0 <= low < share < high <= 1
    assert list(curve.differences) == sorted(curve.differences)
    opposed = fit_curve(made_up(20, 0.0, 1), "people", "m", "metric:m")
    assert min(opposed.share) > 0.9
    with pytest.raises(InputError, match="30 pairs of systems or more, here are 15"):
        fit_curve(made_up(6, 1.0, 1), "people", "m", "metric:m")


def test_intervals_cover_what_more_people_would_say() -> None:
    """A curve of 14 systems covers, at most of its points, that of 200 of the same kind."""
    truth = fit_curve(made_up(200, 4.0, 0), "people", "m", "metric:m", samples=20)
    covered = []
    for seed in range(1, 9):
        curve = fit_curve(made_up(14, 4.0, seed), "people", "m", "metric:m", samples=200)
        for place in (1, 4, 7):
            size = curve.differences[place]
            expected = float(np.interp(size, truth.differences, truth.share))
            covered.append(curve.low[place] <= expected <= curve.high[place])
    assert np.mean(covered) > 0.85


def test_systems_held_out_are_predicted() -> None:
    found = hold_out(made_up(15, 4.0, 1), samples=100)
    assert sum(each.right for each in found) >= 2
    assert [each.most for each in found] == sorted(each.most for each in found)


CURVE = AgreementCurve(
    "WMT99", "chrF", "", 60, 12, [1.0, 5.0, 20.0], [0.6, 0.8, 0.9], [0.5, 0.7, 0.8], [0.7, 0.9, 1.0]
)


def test_a_curve_says_nothing_beyond_its_range() -> None:
    inside = CURVE.at(-3.0)
    assert inside is not None
    assert (inside.share, inside.low, inside.high) == pytest.approx((0.7, 0.6, 0.8))
    assert str(inside) == "70% (60–80)"
    assert str(CURVE.at(0.2)) == "60% (50–70)"
    assert CURVE.at(20.5) is None
    assert CURVE.at(0.0) is None


def test_settings_must_be_those_of_the_data() -> None:
    plain = softbleu.score(["a"], ["a"], metric="chrf").signature
    curve = AgreementCurve.of({**CURVE.as_dict(), "signature": plain.replace("level:corpus", "level:segment")})
    assert curve.fits(plain)
    assert not curve.fits(softbleu.score(["a"], ["a"], metric="chrf", beta=1.0).signature)
    assert not curve.fits(softbleu.score(["a"], [["a", "b"]], metric="chrf").signature)
    assert settings_signed(plain).keys().isdisjoint({"version", "level"})


def test_compare_shows_what_people_said(monkeypatch: pytest.MonkeyPatch) -> None:
    systems = {"one": ["a cat sat here", "it rains"], "two": ["a dog sat here", "it rains"], "three": ["x", "y"]}
    references = ["a cat sat there", "it rains"]
    plain: Any = softbleu.compare(systems, references, metrics="chrf")
    assert plain.judged == [] or plain.judged == [each.data for each in curves_for(plain.signature)]
    range_of = replace(CURVE, differences=[1.0, 5.0, abs(plain.pair("two", "one").difference)])
    monkeypatch.setattr(significance, "curves_for", lambda signature: [range_of])
    table: Any = softbleu.compare(systems, references, metrics="chrf")
    near, far = table.pair("two", "one"), table.pair("three", "one")
    assert near.people == (range_of.at(near.difference),)
    assert table.pair("one", "two").people == near.people
    assert far.people == ()
    text = "".join(COMPARERS["text"]([table], Layout()))
    assert "people, WMT99" in text
    assert str(near.people[0]) in text
    assert "nothing is said beyond the differences of the data" in text
    rows = json.loads("".join(COMPARERS["json"]([table], Layout())))["systems"]
    assert rows[1]["beside"]["people"][0]["data"] == "WMT99"
    assert rows[2]["beside"]["people"] == []
    header, _, two, three = ("".join(COMPARERS["tsv"]([table], Layout()))).splitlines()
    cells = dict(zip(header.split("\t"), two.split("\t"), strict=True))
    assert (float(cells["people"]), cells["people_data"]) == (near.people[0].share, "WMT99")
    assert three.endswith("\t" * 4)
    monkeypatch.setattr(significance, "curves_for", lambda signature: [])
    silent: Any = softbleu.compare(systems, references, metrics="chrf")
    assert "people: nothing is known" in "".join(COMPARERS["text"]([silent], Layout()))


def test_the_study_travels_with_the_package() -> None:
    curves = study_curves()
    assert {each.data for each in curves} == {"WMT13 fr-en", "WMT17 into English", "CoNLL-2014", "SEEDA"}
    for each in curves:
        assert len(each.differences) == len(each.share) == len(each.low) == len(each.high)
        assert all(low <= share <= high for low, share, high in zip(each.low, each.share, each.high, strict=True))
    default = softbleu.score(["a"], ["a"]).signature
    assert [each.data for each in curves_for(default)] == ["WMT13 fr-en"]
