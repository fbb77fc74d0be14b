"""Edits of systems compared kind by kind: what adds up, the tests beside a literal one, and what has no value."""

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refused
from shared_data import shared

import softbleu
from softbleu.analysis import compare_corrections, correction_kinds
from softbleu.analysis.corrections import find_corrections
from softbleu.corpora import Segments
from softbleu.corpora.edits import Annotation, Edit, GoldSegment
from softbleu.errors import InputError, UnknownNameError
from softbleu.metrics.edits import JudgedEdits
from softbleu.resample import correct
from softbleu.results.significance import SignificanceSettings

FEW = SignificanceSettings(samples=40, trials=60, seed=3)


@st.composite
def corrected(draw: Any) -> tuple[dict[str, list[str]], list[GoldSegment]]:
    """Three systems and gold edits of one or two annotators, of three types."""
    gold, systems = [], {name: list[str]() for name in "ABC"}
    for _ in range(draw(st.integers(1, 7))):
        source = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=5))
        annotations = []
        for number in range(draw(st.integers(1, 2))):
            places = sorted(draw(st.sets(st.integers(0, len(source)), max_size=4)))
            texts, kinds = st.sampled_from(["x", "y", ""]), st.sampled_from(["R:V", "U:D", "M:P"])
            spans = list(pairwise(places))[::2]
            annotations.append(Annotation(number, tuple(Edit(*span, draw(kinds), (draw(texts),)) for span in spans)))
        gold.append(GoldSegment(" ".join(source), tuple(annotations)))
        for lines in systems.values():
            lines.append(" ".join(draw(st.sampled_from([word, "x", "y", ""])) for word in source))
    return systems, gold


@settings(max_examples=30)
@given(corrected(), st.sampled_from(["m2", "errant", "cleme", "m2(beta=2)"]), st.sampled_from(["type", "operation"]))
def test_kinds_add_up_to_the_difference_of_all(given_texts: Any, metric: str, by: Any) -> None:
    systems, gold = given_texts
    (table,) = compare_corrections(Segments.of_gold(systems, gold), metric, by, baseline="B", significance=FEW)
    scores = {
        (each.system, each.kind): each for each in correction_kinds(Segments.of_gold(systems, gold), metric, by)
    }
    base = scores["B", "all"]
    for system in "AC":
        whole, *kinds = [row.beside for row in table.rows if row.system == system and row.beside]
        own = scores[system, "all"]
        assert (whole.correct, whole.proposed, whole.gold) == tuple(
            getattr(own, name) - getattr(base, name) for name in ("correct", "proposed", "gold")
        )
        for name in ("correct", "proposed", "gold"):
            assert sum(getattr(kind, name) for kind in kinds) == getattr(whole, name)
        assert sum(kind.contribution for kind in kinds) == pytest.approx(own.f - base.f, abs=1e-9)
        assert whole.contribution == pytest.approx(own.f - base.f, abs=1e-9)
    for row in table.rows:
        score = scores.get((row.system, row.kind))
        assert score is None or score.correct == row.correct
        assert (row.f is None) == (row.gold == 0)
        ends = [row.interval, *([row.beside.interval] if row.beside else [])]
        assert all(-100 <= low <= high <= 100 for low, high in filter(None, ends))
        assert row.interval is None or row.interval[0] >= 0


SOURCES = ["he go home", "a apple fall", "it rain", "she go out", "an dog bark", "we eats it", "I goes", "a egg"] * 9
CHANGES = {"go": "goes", "a": "an", "rain": "rains", "an": "a", "eats": "eat", "goes": "go", "fall": "falls"}
GOLD = [
    GoldSegment(
        line,
        (
            Annotation(
                0,
                tuple(
                    Edit(place, place + 1, "DET" if word.startswith("a") else "VERB", (CHANGES[word],))
                    for place, word in enumerate(line.split())
                    if word in CHANGES
                ),
            ),
        ),
    )
    for line in SOURCES
]


def changed(share: float, seed: int) -> list[str]:
    """Sources with a share of their words changed, rightly or not."""
    draws = np.random.default_rng(seed)
    return [
        " ".join(CHANGES.get(word, "so") if draws.random() < share else word for word in line.split())
        for line in SOURCES
    ]


CORPUS = Segments.of_gold({"A": changed(0.3, 1), "B": changed(0.6, 2), "C": changed(0.5, 3)}, GOLD)
DOCUMENTS = [str(number // 3) for number in range(len(SOURCES))]


def counted(line: JudgedEdits, kind: str) -> np.ndarray[Any, Any]:
    """Correct, proposed and gold edits of a kind in a line."""
    of_kind = Counter(edit.verdict == "hit" for edit in line.gold if kind in ("all", edit.kind))
    return np.array([of_kind[True], sum(kind in ("all", edit.kind) for edit in line.edits), of_kind.total()])


def f_of(counts: Any) -> float:
    return 125 * counts[0] / (counts[1] + counts[2] / 4)


@pytest.mark.parametrize("documents", [None, DOCUMENTS])
def test_intervals_and_p_are_those_of_a_literal_test(documents: Any) -> None:
    how = SignificanceSettings(samples=50, trials=80, seed=4, documents=documents)
    (table,) = compare_corrections(CORPUS, "errant", significance=how)
    lines = find_corrections(CORPUS, "errant")
    units = np.array(DOCUMENTS if documents else range(len(SOURCES))).astype(int)
    size = units.max() + 1
    found = {(row.kind, row.system): row for row in table.rows}
    tested = []
    for kind in ("all", "DET", "VERB"):
        rows = np.array([[counted(line, kind) for line in system] for system in lines])
        draws = np.random.default_rng(4)
        sampled = []
        for drawn in draws.integers(size, size=(50, size)):
            places = np.concatenate([np.flatnonzero(units == unit) for unit in drawn])
            sampled.append([f_of(of_system[places].sum(axis=0)) for of_system in rows])
        scores = np.array(sampled)
        observed = [f_of(of_system.sum(axis=0)) for of_system in rows]
        draws, beyond = np.random.default_rng(4), np.zeros(3)
        for swapped in draws.integers(2, size=(80, size))[:, units].astype(bool)[:, :, None]:
            for other in (1, 2):
                one, two = np.where(swapped, rows[0], rows[other]), np.where(swapped, rows[other], rows[0])
                apart = abs(f_of(one.sum(axis=0)) - f_of(two.sum(axis=0)))
                beyond[other] += apart >= abs(observed[other] - observed[0]) - 1e-9
        for number, system in enumerate("ABC"):
            row = found[kind, system]
            assert row.interval == pytest.approx(np.percentile(scores[:, number], [2.5, 97.5]))
            if row.beside:
                assert row.beside.difference == pytest.approx(observed[number] - observed[0])
                assert row.beside.interval == pytest.approx(
                    np.percentile(scores[:, number] - scores[:, 0], [2.5, 97.5])
                )
                assert row.beside.p_value == pytest.approx((beyond[number] + 1) / 81)
                tested.append((kind, row.beside))
    for kinds in (["all"], ["DET", "VERB"]):
        family = [beside for kind, beside in tested if kind in kinds]
        assert [one.corrected for one in family] == correct([one.p_value for one in family if one.p_value], "holm")
    assert table.tests == 4


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
@pytest.mark.parametrize("documents", [None, DOCUMENTS])
def test_all_kinds_have_the_numbers_of_the_comparison(test: Any, documents: Any) -> None:
    how = SignificanceSettings(test, samples=50, trials=80, documents=documents)
    (table,) = compare_corrections(CORPUS, "m2", baseline="C", significance=how)
    compared = softbleu.compare_corpus(CORPUS, "m2", baseline="C", significance=how)
    for row, whole in zip(table.rows[:3], compared.comparisons, strict=True):
        assert (row.system, row.kind) == (whole.name, "all")
        assert row.interval == pytest.approx(whole.interval)
        assert (row.beside is None) == (whole.beside is None)
        if row.beside and whole.beside:
            for name in ("difference", "interval", "p_value", "corrected"):
                assert getattr(row.beside, name) == pytest.approx(getattr(whole.beside, name)), name
            assert row.beside.contribution_interval == row.beside.interval


def test_kinds_stand_by_what_they_add() -> None:
    (table,) = compare_corrections(CORPUS, "errant", significance=FEW)
    kinds = [row.kind for row in table.rows[3::3]]
    added = dict.fromkeys(kinds, 0.0)
    for row in table.rows[3:]:
        added[row.kind] = max(added[row.kind], abs(row.beside.contribution) if row.beside else 0.0)
    assert kinds == sorted(kinds, key=lambda kind: -added[kind])


def test_numbers_without_a_value_are_blank() -> None:
    gold = [GoldSegment("a b", (Annotation(0, (Edit(0, 1, "X", ("c",)),)),)) for _ in range(24)]
    gold += [GoldSegment("a b", (Annotation(0, (Edit(1, 2, "RARE", ("d",)),)),))] * 4
    gold += [GoldSegment("a b", (Annotation(0, ()),))] * 6
    one = ["a b"] * 34
    two = ["c b"] * 24 + ["a d"] * 4 + ["e b"] * 6
    (table,) = compare_corrections(Segments.of_gold({"A": one, "B": two}, gold), "errant", significance=FEW)
    rows = {(row["kind"], row["system"]): row for row in table.records()}
    assert rows["X", "A"]["precision"] is None
    assert rows["X", "A"]["recall"] == 0
    # Of nobody's gold edits: no recall, no F, no test, but what they cost.
    blank = ("recall", "f", "lower", "difference", "p_value", "corrected")
    assert [rows["other", "B"][name] for name in blank] == [None] * 6
    assert rows["other", "B"]["contribution"] < 0
    # Where nothing varies there is no interval; where fewer than 10 segments differ, no test.
    assert (rows["X", "B"]["f"], rows["X", "B"]["lower"]) == (100, None)
    assert rows["X", "B"]["p_value"] is not None
    assert (rows["RARE", "B"]["difference"], rows["RARE", "B"]["p_value"]) == (100, None)
    assert rows["RARE", "B"]["contribution_lower"] is None
    assert table.tests == 1


def test_comparisons_of_kinds_need_a_baseline_and_their_own_p() -> None:
    refused(UnknownNameError, "nobody", compare_corrections, CORPUS, "m2", baseline="nobody")
    how = SignificanceSettings(compatible="sacrebleu")
    refused(InputError, "sacrebleu", compare_corrections, CORPUS, "m2", significance=how)
    refused(InputError, "take m2", compare_corrections, CORPUS, ["m2", "gleu"])


@pytest.mark.slow
def test_false_alarms_among_equal_systems() -> None:
    """Of systems whose outputs were exchanged at random, p is below 0.05 in 3 to 7% of the tests."""
    gold = softbleu.read_m2(str(shared("data", "conll14", "errant", "references.m2")))
    draws, p_values = np.random.default_rng(1), list[float]()
    for pair in (("AMU", "CAMB"), ("CUUI", "RAC"), ("PKU", "IITB")):
        texts = [softbleu.read_m2(str(shared("data", "conll14", "errant", f"{name}.m2"))) for name in pair]
        for number in range(20):
            swapped = draws.integers(2, size=len(gold))
            systems = {
                name: [texts[side ^ int(swap)][line] for line, swap in enumerate(swapped)]
                for side, name in enumerate(pair)
            }
            how = SignificanceSettings(samples=2, trials=199, seed=number)
            (table,) = compare_corrections(Segments.of_gold(systems, gold), "errant", "category", significance=how)
            p_values += [row.beside.p_value for row in table.rows if row.beside and row.beside.p_value]
    assert 0.03 < np.mean(np.array(p_values) <= 0.05) < 0.07
