"""The oracles themselves, pinned by examples worked by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from oracles import soft
from oracles.soft import aligned_similarity, bleu_statistics, mean_similarity, token_product_from

# "for" and "there" are 0.6 alike; the other cosines follow from the coordinates.
PLANE = {"for": [1.0, 0.0], "there": [0.6, 0.8], "up": [0.0, 1.0], "far": [2.0, 0.0], "back": [-1.0, 0.0]}


def words(line: str) -> list[str]:
    return line.split()


def statistics(candidate: str, *references: str, **options: object) -> soft.Statistics:
    options = {"vectors": PLANE, **options}
    return bleu_statistics(words(candidate), [words(line) for line in references], **options)


# similarity


def test_token_product_has_three_cases() -> None:
    product = token_product_from({**PLANE, "nil": [0.0, 0.0]})
    assert product("unknown", "unknown") == 1
    assert product("for", "there") == pytest.approx(0.6, abs=1e-15)
    assert product("for", "far") == 1, "vectors are scaled to length one"
    assert product("for", "back") == -1
    assert product("for", "unknown") == product("one", "other") == 0
    assert product("nil", "for") == 0, "a zero vector is no vector"
    assert product("nil", "nil") == 1


def test_case_fallback_finds_the_lower_cased_vector() -> None:
    fallback, exact = token_product_from(PLANE, "fallback"), token_product_from(PLANE, "exact")
    assert fallback("There", "for") == pytest.approx(0.6, abs=1e-15)
    assert fallback("There", "there") == pytest.approx(1, abs=1e-15)
    assert exact("There", "for") == exact("There", "there") == 0
    both = token_product_from({**PLANE, "For": [0.0, 1.0]})
    assert (both("For", "for"), both("For", "up")) == (0, 1), "the spelling as written goes first"


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("for", "there", 0.6),
        ("for up", "up for", 1.0),
        ("for up", "for", 0.707107),
        ("for up", "there", 0.989949),  # (0.6 + 0.8) / sqrt(2)
        ("for for", "far", 1.0),
        ("oov for", "oov up", 0.5),
        ("oov for", "for", 0.707107),
        ("one other", "other one", 1.0),
        ("for back", "for", 0.0),  # the average has no length
        ("for", "back", -1.0),
    ],
)
def test_mean_similarity_is_the_cosine_of_averages(x: str, y: str, expected: float) -> None:
    product = token_product_from(PLANE)
    assert mean_similarity(tuple(words(x)), tuple(words(y)), product) == expected
    assert mean_similarity(tuple(words(y)), tuple(words(x)), product) == expected


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("for up", "up for", 0.0),
        ("for up", "for for", 0.5),
        ("for up", "there up", 0.8),
        ("there oov", "for oov", 0.8),
        ("for up", "for", 0.0),
        ("for for", "back back", -1.0),
    ],
)
def test_aligned_similarity_keeps_positions(x: str, y: str, expected: float) -> None:
    assert aligned_similarity(tuple(words(x)), tuple(words(y)), token_product_from(PLANE)) == expected


def test_rounding_is_half_to_even_at_six_decimals() -> None:
    assert soft.clamped_and_rounded(0.1234564) == 0.123456
    assert soft.clamped_and_rounded(2.0**-7) == 0.007812, "0.0078125, exactly half way"
    assert soft.clamped_and_rounded(1 + 1e-9) == 1
    assert soft.clamped_and_rounded(-1.5) == -1


# pools, clipping, totals


def test_clipping() -> None:
    result = statistics("the the the the the the the", "the cat is on the mat", "there is a cat on the mat")
    assert result.matches == [2, 0, 0, 0]
    assert result.totals == [7, 6, 5, 4]
    assert [ngram for _, ngram, _ in result.pairs[0]] == [("the",), ("the",), *[None] * 5]


def test_pools_keep_the_greatest_count_and_the_first_appearance() -> None:
    pool = soft.reference_pool([words("a b a"), words("c b b")], [1])
    assert list(pool.items()) == [(("a",), 2), (("b",), 2), (("c",), 1)]
    pool = soft.reference_pool([words("b a"), words("c a")], [1, 2])
    assert list(pool) == [("b",), ("a",), ("c",), ("b", "a"), ("c", "a")], "all single words of all references first"


def test_reference_length_is_the_closest_and_of_two_the_shorter() -> None:
    assert statistics("a b c", "a b c d", "a b", "a").reference_length == 2
    assert statistics("a b c", "a b c d", "a").reference_length == 4
    assert statistics("a b c", "").reference_length == 0


@pytest.mark.parametrize(
    ("candidate", "references", "matcher", "denominator", "expected"),
    [
        ("a b", ["a b"], "exact", "order", [2, 1, 0, 0]),
        ("", ["a b"], "xleu", "order", [0, 0, 0, 0]),
        ("a b c", ["a b c d", "x y"], "vleu", "order", [3, 2, 1, 0]),
        ("a b c", ["a b c d", "x y"], "vleu", "all", [3, 2, 1, 0]),
        ("a b c", ["a b c d", "x y"], "vleu", "reference", [2, 1, 0, 0]),
        ("a b c", ["a b c d", "x y"], "xleu", "order", [3, 2, 1, 0]),
        ("a b c", ["a b c d", "x y"], "xleu", "all", [6, 6, 6, 0]),
        ("a b c", ["a b c d", "x y"], "xleu", "reference", [3, 3, 0, 0]),
        ("a", ["a b c d e"], "xleu", "reference", [5 + 4 + 3] * 4),
        ("a", ["a b c d e"], "xleu", "all", [1, 0, 0, 0]),
    ],
)
def test_totals(candidate: str, references: list[str], matcher: str, denominator: str, expected: list[int]) -> None:
    assert statistics(candidate, *references, matcher=matcher, denominator=denominator).totals == expected


# assignment, consumption, ties and the threshold: partners of single words, and how alike they are

GREEDY, MILLIONTH = {"assignment": "sequential"}, 0.000001
# Left to right x takes p (0.8) and leaves y only q (-0.6); the best is x with q (0.6) and y with p (0.8).
CROSSED = {"x": [0.6, 0.8], "p": [0.0, 1.0], "q": [1.0, 0.0], "y": [-0.6, 0.8]}
CHAIN = {"a": [1.0, 0.0], "b": [0.6, 0.8], "c": [0.28, 0.96]}  # a·b 0.6, b·c 0.936, a·c 0.28
TIED = {"x": [1.0, 0.0], "p": [0.6, 0.8], "q": [0.6, -0.8]}
PARTNERS: list[tuple[str, str, dict[str, Any], list[tuple[str, float]]]] = [
    ("for there", "there", GREEDY, [("there", 0.6), ("", 0)]),
    ("for there", "there", {}, [("", 0), ("there", 1)]),
    ("there for", "for there", GREEDY, [("there", 1), ("for", 1)]),
    ("for for for", "there for for", {}, [("for", 1), ("for", 1), ("there", 0.6)]),
    ("x y", "p q", {"vectors": CROSSED}, [("p", 0.8), ("", 0)]),
    ("x y", "p q", {"vectors": CROSSED, "assignment": "optimal"}, [("q", 0.6), ("p", 0.8)]),
    # b is exact, and c and a lie below the threshold; two soft matches weigh more.
    ("b c", "a b", {"vectors": CHAIN, "threshold": 0.3}, [("b", 1), ("", 0)]),
    ("b c", "a b", {"vectors": CHAIN, "threshold": 0.3, "assignment": "optimal"}, [("a", 0.6), ("b", 0.936)]),
    ("x", "q p", {"vectors": TIED}, [("q", 0.6)]),
    ("x", "p q", {"vectors": TIED}, [("p", 0.6)]),
    ("x", "p q", {"vectors": {**TIED, "q": [0.6000001, 0.8]}}, [("p", 0.6)]),
    ("for", "there", {"threshold": 0.6}, [("", 0)]),
    ("for", "there", {"threshold": 0.6 - MILLIONTH}, [("there", 0.6)]),
    ("for", "up", {"threshold": 0.0}, [("", 0)]),
    ("for", "back", {"threshold": 0.0}, [("", 0)]),
    # Below the threshold nothing is taken.
    ("for up", "there", {"threshold": 0.7}, [("", 0), ("there", 0.8)]),
    ("for up", "there", {"threshold": 0.7, "assignment": "sequential"}, [("", 0), ("there", 0.8)]),
    ("for up", "there", {"threshold": 0.7, "assignment": "optimal"}, [("", 0), ("there", 0.8)]),
    # One "there": 0.6 taken, 0.4 left, 0.6 taken, gone. An exact match of a fraction counts one.
    ("for for for", "there", {"consumption": "similarity"}, [("there", 0.6), ("there", 0.6), ("", 0)]),
    ("for for for", "there", {}, [("there", 0.6), ("", 0), ("", 0)]),
    ("for there for", "there", {**GREEDY, "consumption": "similarity"}, [("there", 0.6), ("there", 1), ("", 0)]),
    ("for there for", "there there", {"consumption": "similarity"}, [("there", 0.6), ("there", 1), ("there", 0.6)]),
]


@pytest.mark.parametrize(("candidate", "reference", "options", "expected"), PARTNERS)
def test_partners(candidate: str, reference: str, options: dict[str, Any], expected: list[tuple[str, float]]) -> None:
    result = statistics(candidate, reference, **{"matcher": "vleu", "order": 1, **options})
    found = [(" ".join(partner or ()), similarity) for _, partner, similarity in result.pairs[0]]
    assert found == expected
    assert result.matches == [pytest.approx(sum(similarity for _, similarity in expected), abs=1e-12)]


@pytest.mark.parametrize(
    ("candidate", "reference", "options", "expected"),
    [
        # Instances are taken as often as they occur; consumption is for greedy assignments.
        ("for for for for", "there there there", {"matcher": "vleu", "order": 1}, [1.8]),
        ("for for", "there", {"matcher": "vleu", "order": 1, "consumption": "similarity"}, [0.6]),
        ("a b a", "a c", {"order": 1}, [1]),
    ],
)
def test_optimal_masses(candidate: str, reference: str, options: dict[str, Any], expected: list[float]) -> None:
    found = statistics(candidate, reference, assignment="optimal", **options).matches
    assert found == pytest.approx(expected, abs=1e-12)


# matchers


def test_sleu_is_soft_for_single_words_only() -> None:
    assert statistics("for up", "there up", matcher="sleu").matches == [1.6, 0, 0, 0]
    # (for+up)·(there+up) = 0.6 + 0 + 0.8 + 1 = 2.4; norms² 2 and 2 + 2·0.8 = 3.6
    assert statistics("for up", "there up", matcher="vleu").matches[:2] == [1.6, round(2.4 / math.sqrt(7.2), 6)]


XLEU_PARTNERS = [
    # "there" against pool "for" 0.6, "up" 0.8, "for up" 0.989949: the longer one.
    ("there", "for up", {}, 0, ["for up"]),
    ("there", "for up", {"matcher": "vleu"}, 0, ["up"]),
    # Order 1: "for" takes "there" (0.6) and leaves none for "up"; order 2 has a pool of its own.
    ("for up", "there", {}, 0, ["there", ""]),
    ("for up", "there", {}, 1, ["there"]),
    # As a vector "for for" is the same as "for", which stands first in the pool; the exact one goes before.
    ("for for", "up for for", {}, 1, ["for for"]),
    ("for for", "for up", {"threshold": 0.9}, 1, ["for"]),
    # Of equals the shorter first; "for" occurs twice, then its bigram is next.
    ("far far far far", "for for", {}, 0, ["for", "for", "for for", ""]),
]


@pytest.mark.parametrize(("candidate", "reference", "options", "order", "expected"), XLEU_PARTNERS)
def test_xleu_matches_across_orders(
    candidate: str, reference: str, options: dict[str, Any], order: int, expected: list[str]
) -> None:
    found = statistics(candidate, reference, **{"matcher": "xleu", "order": 2, **options}).pairs[order]
    assert [" ".join(partner or ()) for _, partner, _ in found] == expected


def test_composition_tells_a_reordered_bigram() -> None:
    mean, aligned = (
        statistics("up for", "for up", matcher="vleu", order=2, composition=each) for each in ("mean", "aligned")
    )
    assert (mean.matches, aligned.matches) == ([2, 1], [2, 0])
    assert statistics("there", "for up", matcher="xleu", order=2, composition="aligned").matches[0] == 0.8
