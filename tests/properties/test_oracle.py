"""Statistics and partners equal those of the literal oracle, whichever way a segment takes."""

from __future__ import annotations

from math import sqrt

import pytest
from complete import complete
from hypothesis import given, note, settings
from hypothesis import strategies as st
from oracles import soft
from strategies import (
    GREEDY,
    MATCHERS,
    PATHS,
    SOFT,
    Case,
    assert_partners_equal,
    assert_statistics_equal,
    cases,
    limits,
)

from softbleu.results import VectorChoice, score_corpus
from softbleu.text.tokens import Tokenizer

WIDE_PATHS = [name for name in PATHS if name != "long, narrow stripes"]


@given(case=cases(matcher="exact"))
@settings(max_examples=30)
def test_exact_statistics(case: Case) -> None:
    assert_statistics_equal(case.with_options(threshold=0.0))


@pytest.mark.parametrize("composition", ["mean", "aligned"])
@pytest.mark.parametrize(("assignment", "consumption"), GREEDY)
@pytest.mark.parametrize("matcher", SOFT)
def test_greedy_statistics_and_partners(matcher: str, assignment: str, consumption: str, composition: str) -> None:
    @given(case=cases(matcher=matcher, assignment=assignment, consumption=consumption, composition=composition))
    @settings(max_examples=5)
    def check(case: Case) -> None:
        oracle = case.oracle()
        for path, sizes in PATHS.items():
            note(path)
            with limits(sizes):
                assert_statistics_equal(case, oracle)
                assert_partners_equal(case, oracle)

    check()


@pytest.mark.parametrize("composition", ["mean", "aligned"])
@pytest.mark.parametrize("matcher", SOFT)
def test_optimal_statistics(matcher: str, composition: str) -> None:
    @given(
        case=cases(
            matcher=matcher,
            assignment="optimal",
            composition=composition,
            longest=4,
            longest_reference=4,
            most_references=2,
            most_segments=3,
            highest_order=3,
        )
    )
    @settings(max_examples=8)
    def check(case: Case) -> None:
        oracle = case.oracle()
        for path in WIDE_PATHS:
            note(path)
            with limits(PATHS[path]):
                assert_statistics_equal(case, oracle)

    check()


@pytest.mark.parametrize("matcher", MATCHERS)
def test_reference_totals(matcher: str) -> None:
    @given(case=cases(matcher=matcher, fixed_threshold=0.0), order=st.integers(3, 5))
    @settings(max_examples=8)
    def check(case: Case, order: int) -> None:
        case = Case(case.candidates, case.references, case.vectors, matcher, order, "reference")
        assert [score.totals for score in case.scores()] == [statistics.totals for statistics in case.oracle()]

    check()


@pytest.mark.parametrize("order", [1, 2])
def test_reference_totals_of_low_orders_are_those_of_the_order_below_the_highest(order: int) -> None:
    texts = [["the", "cat", "sat"], ["the"], []]
    case = Case(texts, [[text] for text in texts], {"cat": [1.0]}, "xleu", order, "reference")
    expected = {1: [[3], [1], [0]], 2: [[3, 3], [1, 0], [0, 0]]}[order]
    assert [score.totals for score in case.scores()] == expected


@given(case=cases(consumption="similarity", assignment="sequential", longest=14, longest_reference=12))
@settings(max_examples=12)
def test_longer_lines(case: Case) -> None:
    oracle = case.oracle()
    for path, sizes in PATHS.items():
        note(path)
        with limits(sizes):
            assert_statistics_equal(case, oracle)


@given(case=cases(composition="mean", highest_order=4, most_segments=1))
@settings(max_examples=25)
def test_raw_norms_weigh_words(case: Case) -> None:
    """Without normalisation a block sum is that of the raw products; a word without a vector has the mean norm."""
    norms = {word: sqrt(sum(value * value for value in vector)) for word, vector in case.known.items() if any(vector)}
    # Of the references' words, whatever is beside them.
    present = {word for texts in case.references for text in texts for word in text if word in norms}
    mean = sum(norms[word] for word in present) / len(present) if present else 1.0
    unit = case.product

    def product(first: str, second: str) -> float:
        return norms.get(first, mean) * norms.get(second, mean) * unit(first, second)

    choice = VectorChoice(case.vectors, case.vector_case, normalize=False)  # type: ignore[arg-type]
    result = score_corpus(case.segments, complete(case.metric, Tokenizer(), choice))[0]
    expected = soft.bleu_statistics(
        case.candidates[0],
        case.references[0],
        matcher=case.matcher,
        order=case.order,
        token_product=product,
        **case.options,
    )
    # A rounding boundary, or a norm that only rounding keeps from zero, may differ by a millionth a match.
    tolerance = 2e-6 * (1 + len(case.candidates[0]))
    assert result.numbers.matches == pytest.approx(expected.matches, rel=0, abs=tolerance)  # type: ignore[attr-defined]
