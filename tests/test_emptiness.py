"""Nothing and almost nothing: what each kind of emptiness means, in one place."""

import math
from typing import Any

import pytest

from softbleu import score

VECTORS = {"cat": [1.0, 0.5], "dog": [0.5, 1.0], "nil": [0.0, 0.0]}


LINE, NOTHING = "a cat sat on", [0, 0, 0, 0]
SHORT = 100 * math.exp(1 - 6 / 4)
EMPTY: dict[str, tuple[list[str], list[list[str]], dict[str, Any]]] = {
    "a candidate": (["", LINE], [["x y"], [LINE]], {"score": SHORT, "matches": [4, 3, 2, 1], "totals": [4, 3, 2, 1]}),
    # Its length, 0, can be the closest one; it offers nothing.
    "a reference": (
        ["cat", LINE],
        [["", "a b c"], [LINE, "x"]],
        {"reference_length": 4, "matches": [4, 3, 2, 1], "totals": [5, 3, 2, 1]},
    ),
    "all references": (["a cat"], [[""]], {"score": 0, "reference_length": 0, "brevity_penalty": 1}),
    "all candidates": (
        ["", "  \t\u2003"],
        [["a cat"], ["dog"]],
        {"score": 0, "brevity_penalty": 0, "candidate_length": 0, "reference_length": 3, "precisions": NOTHING},
    ),
    "everything": (["", ""], [[""], [""]], {"score": 0, "candidate_length": 0, "reference_length": 0}),
}


@pytest.mark.parametrize("matcher", ["exact", "sleu", "vleu", "xleu"])
@pytest.mark.parametrize("case", EMPTY)
def test_empty_lines(matcher: str, case: str) -> None:
    candidates, references, expected = EMPTY[case]
    # Everything that is alike at all has credit.
    credit = {} if matcher == "exact" else {"threshold": 0.0}
    found = score(candidates, references, matcher=matcher, vectors=VECTORS, **credit).numbers
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value), name


def test_identity_of_a_short_line_without_effective_order_is_zero() -> None:
    """As sacrebleu; segment level, the whole included, uses effective order unless told."""
    assert score(["a cat"], ["a cat"]).score == 0
    found = score(["a cat"], ["a cat"], level="segment")
    assert [found.score, *(each.score for each in found.segments or ())] == pytest.approx([100, 100])
