"""Nothing and almost nothing: what each kind of emptiness means, in one place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from softbleu import InputError, score
from softbleu.corpora import ParallelFiles
from softbleu.metrics import BleuScore
from softbleu.metrics.making import make_metric
from softbleu.results import Result, score_corpus

VECTORS = {"cat": [1.0, 0.5], "dog": [0.5, 1.0], "nil": [0.0, 0.0]}
MATCHERS = ("exact", "sleu", "vleu", "xleu")


def written(folder: Path, name: str, lines: Sequence[str]) -> str:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def scored(
    how: str, folder: Path, candidates: Sequence[str], references: Sequence[Sequence[str]], matcher: str
) -> BleuScore:
    """Score in memory, or from files: one reference file for each reference of the first segment."""
    if how == "memory":
        result = score(candidates, references, **any_credit(matcher))
    else:
        sides = enumerate(zip(*references, strict=True))
        names = [written(folder, f"reference{number}", texts) for number, texts in sides]
        with ParallelFiles.open([written(folder, "candidate", candidates)], names) as corpus:
            result = score_corpus(corpus, make_metric(**any_credit(matcher)))[0]
    assert isinstance(result, Result)
    assert isinstance(result.numbers, BleuScore)
    return result.numbers


def any_credit(matcher: str) -> dict[str, Any]:
    """Settings of a matcher under which everything that is alike at all has credit."""
    return {"matcher": matcher, "vectors": VECTORS, **({} if matcher == "exact" else {"threshold": 0.0})}


matchers = pytest.mark.parametrize("matcher", MATCHERS)


# no segments at all


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        ([], [], "an empty corpus"),
        ({"A": []}, [], "an empty corpus"),
        ({}, ["a"], "no candidates at all"),
        (["a", "b"], [["a"], ["b"], ["c"]], "2 candidates but references for 3 segments"),
        ({"A": ["a", "b", "c"], "B": ["a", "b"]}, [["a"], ["b"], ["c"]], "2 candidates of 'B' but references for 3"),
        *((["a", "b"], [["a"], entry], "segment 2 has no reference") for entry in (None, [], [None], (None, None))),
    ],
)
def test_texts_in_memory_that_lack_some(candidates: Any, references: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        score(candidates, references)


# empty lines


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


@pytest.mark.parametrize("how", ["memory", "files"])
@matchers
@pytest.mark.parametrize("case", EMPTY)
def test_empty_lines(how: str, matcher: str, case: str, tmp_path: Path) -> None:
    candidates, references, expected = EMPTY[case]
    found = scored(how, tmp_path, candidates, references, matcher)
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value), name


# identity


def test_identity_of_a_short_line_without_effective_order_is_zero() -> None:
    """As sacrebleu; segment level, the whole included, uses effective order unless told."""
    assert score(["a cat"], ["a cat"]).score == 0
    found = score(["a cat"], ["a cat"], level="segment")
    assert [found.score, *(each.score for each in found.segments or ())] == pytest.approx([100, 100])


# vectors


@pytest.mark.parametrize("kind", ["mapping", "file"])
def test_a_zero_vector_is_none_and_counted(kind: str, tmp_path: Path) -> None:
    vectors: Any = VECTORS
    if kind == "file":
        vectors = written(tmp_path, "vectors.txt", [f"{word} {x} {y}" for word, (x, y) in VECTORS.items()])
    found = score(["nil cat oov"], ["cat nil"], matcher="vleu", vectors=vectors, order=1)
    assert isinstance(found.numbers, BleuScore)
    assert found.numbers.matches == [2], "a zero vector still equals itself"
    assert found.coverage is not None
    sides = {"candidate": {"tokens": 3, "known": 1}, "reference": {"tokens": 2, "known": 1}}
    assert found.coverage.as_dict() == {**sides, "zero_words": 1}
