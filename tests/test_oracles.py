"""The oracles themselves, pinned by examples worked by hand."""

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


SIMILARITIES = [
    ("for", "there", 0.6, 0.6),
    ("for", "back", -1.0, -1.0),
    ("for up", "up for", 1.0, 0.0),
    ("for up", "for", 0.707107, 0.0),
    ("for up", "there", 0.989949, 0.0),  # (0.6 + 0.8) / sqrt(2)
    ("for for", "far", 1.0, 0.0),
    ("oov for", "oov up", 0.5, 0.5),
    ("there oov", "for oov", 0.8, 0.8),
    ("one other", "other one", 1.0, 0.0),
    ("for back", "for", 0.0, 0.0),  # the average has no length
    ("for up", "there up", 0.894427, 0.8),  # 2.4 / sqrt(2 · 3.6)
    ("for for", "back back", -1.0, -1.0),
]


@pytest.mark.parametrize(("x", "y", "mean", "aligned"), SIMILARITIES)
def test_similarity_is_the_cosine_of_averages_or_keeps_positions(x: str, y: str, mean: float, aligned: float) -> None:
    product, one, other = token_product_from(PLANE), tuple(words(x)), tuple(words(y))
    assert mean_similarity(one, other, product) == mean_similarity(other, one, product) == mean
    assert aligned_similarity(one, other, product) == aligned


@pytest.mark.parametrize(
    ("candidate", "references", "matcher", "denominator", "expected"),
    [
        ("", ["a b"], "xleu", "order", [0, 0, 0, 0]),
        ("a b c", ["a b c d", "x y"], "vleu", "all", [3, 2, 1, 0]),
        ("a b c", ["a b c d", "x y"], "vleu", "reference", [2, 1, 0, 0]),
        ("a b c", ["a b c d", "x y"], "xleu", "order", [3, 2, 1, 0]),
        ("a b c", ["a b c d", "x y"], "xleu", "all", [6, 6, 6, 0]),
        ("a", ["a b c d e"], "xleu", "reference", [5 + 4 + 3] * 4),
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


@pytest.mark.parametrize(("consumption", "count", "expected"), [("unit", 3, 1.8), ("similarity", 1, 0.6)])
def test_instances_are_taken_as_often_as_they_occur(consumption: str, count: int, expected: float) -> None:
    """Consumption is for greedy assignments."""
    given = {"matcher": "vleu", "order": 1, "assignment": "optimal", "consumption": consumption}
    assert statistics("for for for for", " ".join(["there"] * count), **given).matches == pytest.approx([expected])


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
def test_xleu_matches_across_orders(candidate, reference, options, order, expected):
    found = statistics(candidate, reference, **{"matcher": "xleu", "order": 2, **options}).pairs[order]
    assert [" ".join(partner or ()) for _, partner, _ in found] == expected
