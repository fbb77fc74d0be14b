"""Edits by transport: POT's plans, a literal oracle, and what edits get by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import transport as oracle

import softbleu
from softbleu.analysis import correction_kinds
from softbleu.corpora import Segments
from softbleu.kernels.transport import transport

GOLDEN = json.loads((Path(__file__).parent / "golden" / "transport.json").read_text())["problems"]
SOURCE, REFERENCE = "he eat a apple in garden", "he eats an apple in the garden"


@pytest.mark.parametrize("problem", GOLDEN)
def test_plans_are_those_of_pot(problem: dict[str, Any]) -> None:
    masses, others, costs = (np.array([problem[name]]) for name in ("masses", "others", "costs"))
    found = transport(masses, others, costs, 0.1, problem["marginal"])[0]
    expected = np.array(problem["plan"])
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-7 * expected.max())


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[float], list[float], list[list[float]]]:
    mass = st.floats(0.05, 2)
    m, n = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    costs = st.lists(st.lists(st.floats(0, 2), min_size=n, max_size=n), min_size=m, max_size=m)
    one, other = (draw(st.lists(mass, min_size=size, max_size=size)) for size in (m, n))
    return one, other, draw(costs)


@given(problems(), st.sampled_from([0.1, 0.5]), st.sampled_from([0.1, 1.0]))
@settings(max_examples=20)
def test_plans_are_those_of_the_oracle(problem: Any, entropy: float, marginal: float) -> None:
    one, other, costs = (np.array(each) for each in problem)
    expected = np.array(oracle.plan(problem, entropy, marginal))
    # Tiny masses beside it, and its own again: a problem gets what it gets alone.
    masses, others = np.stack((one, one * 1e-30, one)), np.stack((other, other * 1e-30, other))
    found = transport(masses, others, np.stack((costs, costs, costs)), entropy, marginal)
    assert found[0] == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert np.isfinite(found).all()
    assert (found[0] == found[2]).all()
    assert (found[0] == transport(one[None], other[None], costs[None], entropy, marginal)[0]).all()


def scored(candidate: str, reference: str = REFERENCE, source: str = SOURCE, **given: Any) -> Any:
    return softbleu.score([candidate], [[reference]], [source], metric="uot", **given).numbers


@pytest.mark.parametrize("cost", ["cosine", "euclidean"])
@pytest.mark.parametrize("effect", ["removed", "added"])
def test_better_corrections_score_higher(cost: str, effect: str) -> None:
    given: dict[str, Any] = {"cost": cost, "effect": effect, "marginal": 0.5, "beta": 1}
    same, one, none = (scored(text, **given) for text in (REFERENCE, "he eats a apple in garden", SOURCE))
    wrong = scored("she eat a pear on garden", **given)
    assert same.score > one.score > none.score == 0
    assert same.score > wrong.score
    assert (none.precision, none.recall) == (100, 0)
    assert one.left < one.missed


def test_where_nothing_is_to_be_changed() -> None:
    assert scored(SOURCE, SOURCE).score == 100
    over = scored(REFERENCE, SOURCE)
    assert (over.score, over.precision, over.recall) == (0, 0, 100)


def test_edits_that_the_encoder_does_not_see_count() -> None:
    assert scored("he eat a apple", "He eat a apple", "he eat a apple").score == 0
    assert scored("He eat a apple", "He eat a apple", "he eat a apple", marginal=100.0).score > 40


@pytest.mark.parametrize("effect", ["removed", "added"])
def test_a_long_source_is_taken_for_several_sentences(effect: str) -> None:
    """Words of other parts do not matter to an edit, and edits there have a mass of their own."""
    source, candidate, reference = (
        f"{text}{' and' * 26}" for text in (SOURCE, "he eats a apple in garden", REFERENCE)
    )
    far = " ".join(f"w{number}" for number in range(320))
    texts = [f"{text} {far}" for text in (candidate, reference, source)]
    alone = scored(candidate, reference, source, effect=effect)
    assert scored(*texts, effect=effect) == alone
    assert scored(texts[0].replace("w100", "word"), *texts[1:], effect=effect).left > 1.1 * alone.left


def test_of_several_references_the_nearest_counts() -> None:
    texts = [REFERENCE], [["it rains", REFERENCE]], [SOURCE]
    assert softbleu.score(*texts, metric="uot").score == scored(REFERENCE).score


def test_edits_are_linked_by_what_is_moved() -> None:
    texts = ["he eats an apple in the garden"], [["he eats an apple in garden"]], ["he eat a apple in garden"]
    (found,) = softbleu.explain(*texts, metric="uot")
    assert found.edits is not None
    assert [(edit.text, edit.verdict) for edit in found.edits.edits] == [
        (("eats",), "hit"),
        (("an",), "hit"),
        (("the",), "over"),
    ]
    assert [edit.verdict for edit in found.edits.gold] == ["hit", "hit"]
    shares = {link[:2]: link[2] for link in found.edits.links}
    assert min(shares[0, 0], shares[1, 1]) > 0.5
    assert max(share for pair, share in shares.items() if pair[0] != pair[1]) < 0.5


def test_kinds_of_edits_take_the_plans_of_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes, plans = list[int](), softbleu.Uot.plans

    def counted(self: Any, segments: Any, vectors: Any) -> Any:
        sizes.append(len(segments))
        return plans(self, segments, vectors)

    monkeypatch.setattr(softbleu.Uot, "plans", counted)
    corpus = Segments.of({"A": [REFERENCE, SOURCE], "B": [SOURCE] * 2}, [[REFERENCE]] * 2, [SOURCE] * 2)
    kinds = correction_kinds(corpus, "uot", by="operation")
    assert (sizes, [(row.system, row.hits) for row in kinds if row.kind == "all"]) == ([2, 2], [("A", 3), ("B", 0)])
