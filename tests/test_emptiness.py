"""Nothing and almost nothing: what each kind of emptiness means, in one place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from softbleu import InputError, VectorError, score
from softbleu.corpora import ParallelFiles, read_segments
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
        names = [
            written(folder, f"reference{number}", texts) for number, texts in enumerate(zip(*references, strict=True))
        ]
        with ParallelFiles.open([written(folder, "candidate", candidates)], names) as corpus:
            result = score_corpus(corpus, make_metric(**any_credit(matcher)))[0]
    assert isinstance(result, Result)
    assert isinstance(result.numbers, BleuScore)
    return result.numbers


def any_credit(matcher: str) -> dict[str, Any]:
    """Settings of a matcher under which everything that is alike at all has credit."""
    return {"matcher": matcher, "vectors": VECTORS, **({} if matcher == "exact" else {"threshold": 0.0})}


ways = pytest.mark.parametrize("how", ["memory", "files"])
matchers = pytest.mark.parametrize("matcher", MATCHERS)


# no segments at all


def test_no_segments_in_memory() -> None:
    with pytest.raises(InputError, match="an empty corpus"):
        score([], [])
    with pytest.raises(InputError, match="an empty corpus"):
        score({"A": []}, [])


def test_no_systems_in_memory() -> None:
    with pytest.raises(InputError, match="no candidates at all"):
        score({}, ["a"])


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
def test_no_lines_in_parallel_files(tmp_path: Path, content: bytes) -> None:
    for name in ("c", "r"):
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=r"an empty corpus: .*r has no lines"):
        ParallelFiles.open([str(tmp_path / "c")], [str(tmp_path / "r")])


@pytest.mark.parametrize(("name", "content"), [("a.txt", ""), ("a.jsonl", ""), ("a.tsv", "candidate\treference\n")])
def test_no_segments_in_a_file_of_segments(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=f"an empty corpus: .*{name} has no segments"):
        read_segments(str(tmp_path / name))


def test_an_empty_tsv_file_lacks_its_columns(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"")
    with pytest.raises(InputError, match=r"a\.tsv"):
        read_segments(str(tmp_path / "a.tsv"))


# different numbers of lines


def test_different_numbers_of_segments_in_memory() -> None:
    with pytest.raises(InputError, match="2 candidates but references for 3 segments"):
        score(["a", "b"], [["a"], ["b"], ["c"]])
    with pytest.raises(InputError, match="2 candidates of 'B' but references for 3 segments"):
        score({"A": ["a", "b", "c"], "B": ["a", "b"]}, [["a"], ["b"], ["c"]])


def test_different_numbers_of_lines_name_both_files_and_counts(tmp_path: Path) -> None:
    three, two = written(tmp_path, "three.txt", "abc"), written(tmp_path, "two.txt", "ab")
    with pytest.raises(InputError, match=r"^different numbers of lines: \S*two.txt has 2, \S*three.txt has 3$"):
        ParallelFiles.open([two], [three])
    with pytest.raises(InputError, match=r"\S*two.txt has 2, \S*three.txt has 3$"):
        ParallelFiles.open([three], [three, two])
    with pytest.raises(InputError, match=r"\S*two.txt has 2, \S*three.txt has 3$"):
        ParallelFiles.open([three], [three], source=two)


def test_one_file_without_lines(tmp_path: Path) -> None:
    none, two = written(tmp_path, "none.txt", ""), written(tmp_path, "two.txt", "ab")
    with pytest.raises(InputError, match=r"none.txt has 0, \S*two.txt has 2$"):
        ParallelFiles.open([none], [two])


# a segment without any reference


@pytest.mark.parametrize("entry", [None, [], [None], (None, None)])
def test_a_segment_without_references(entry: Any) -> None:
    with pytest.raises(InputError, match="segment 2 has no reference"):
        score(["a", "b"], [["a"], entry])


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.txt", "a ||| b\nonly this\n", 2),
        ("a.tsv", "candidate\treference\na\tb\nonly this\n", 3),
        ("a.jsonl", '{"candidate": "a", "reference": "b"}\n{"candidate": "a"}\n', 2),
        ("a.jsonl", '{"candidate": "a", "reference": "b"}\n{"candidate": "a", "references": []}\n', 2),
        ("a.jsonl", '{"candidate": "a", "reference": "b"}\n{"candidate": "a", "references": [null]}\n', 2),
        ("a.jsonl", '{"candidate": "a", "reference": "b"}\n{"candidate": "a", "reference": null}\n', 2),
    ],
)
def test_a_segment_without_references_in_a_file(tmp_path: Path, name: str, content: str, line: int) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=f"{name}, line {line}: .*no reference"):
        read_segments(str(tmp_path / name))


@matchers
def test_ragged_references_are_fine(matcher: str) -> None:
    found = score(["a cat", "a dog"], [["a cat"], ["the dog", "a", "dog"]], **any_credit(matcher))
    assert isinstance(found.numbers, BleuScore)
    bigrams = {"exact": 1, "sleu": 1, "vleu": 1.5, "xleu": 1.707107}
    assert found.numbers.matches == pytest.approx([4, bigrams[matcher], 0, 0])


# empty lines


@ways
@matchers
def test_an_empty_candidate_line_is_scored(how: str, matcher: str, tmp_path: Path) -> None:
    alone = scored(how, tmp_path, ["a cat sat on"], [["a cat sat on"]], matcher)
    with_empty = scored(how, tmp_path, ["", "a cat sat on"], [["x y"], ["a cat sat on"]], matcher)
    assert with_empty.matches == alone.matches
    assert with_empty.totals == alone.totals
    assert (with_empty.candidate_length, with_empty.reference_length) == (4, 6)
    assert with_empty.score == pytest.approx(100 * 2.718281828459045 ** (1 - 6 / 4))


@ways
@matchers
def test_an_empty_reference_line_is_a_reference(how: str, matcher: str, tmp_path: Path) -> None:
    """Its length, 0, can be the closest one; it offers nothing."""
    found = scored(how, tmp_path, ["cat", "a cat sat on"], [["", "a b c"], ["a cat sat on", "x"]], matcher)
    assert found.reference_length == 4
    assert found.matches == [4, 3, 2, 1]
    assert found.totals == [5, 3, 2, 1]


@ways
@matchers
def test_only_empty_references(how: str, matcher: str, tmp_path: Path) -> None:
    found = scored(how, tmp_path, ["a cat"], [[""]], matcher)
    assert (found.score, found.reference_length, found.brevity_penalty) == (0, 0, 1)
    assert found.totals == [2, 1, 0, 0]


@ways
@matchers
@pytest.mark.parametrize("blank", ["", "  \t\u2003"])
def test_all_candidates_empty(how: str, matcher: str, blank: str, tmp_path: Path) -> None:
    found = scored(how, tmp_path, [blank, blank], [["a cat"], ["dog"]], matcher)
    assert (found.score, found.brevity_penalty) == (0, 0)
    assert (found.candidate_length, found.reference_length) == (0, 3)
    assert found.matches == found.totals == found.precisions == [0, 0, 0, 0]


@ways
@matchers
def test_everything_empty(how: str, matcher: str, tmp_path: Path) -> None:
    found = scored(how, tmp_path, ["", ""], [[""], [""]], matcher)
    assert found.score == 0
    assert (found.candidate_length, found.reference_length) == (0, 0)


@pytest.mark.parametrize("smooth", ["none", "floor", "add-k", "exp"])
@pytest.mark.parametrize("effective_order", [False, True])
def test_all_candidates_empty_under_any_smoothing(smooth: str, effective_order: bool) -> None:
    found = score(["", ""], ["a b c d", ""], smooth=smooth, effective_order=effective_order, level="segment")
    assert found.score == 0
    assert found.segments is not None
    assert [segment.score for segment in found.segments] == [0, 0]


# identity


@matchers
@pytest.mark.parametrize("assignment", ["exact-first", "sequential", "optimal"])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 9])
def test_identity(matcher: str, assignment: str, length: int) -> None:
    line = " ".join(["cat", "dog", "cat", "nil", "oov", "cat", "cat", "dog", "oov"][:length])
    options = {**any_credit(matcher), **({} if matcher == "exact" else {"assignment": assignment})}
    found = score([line], [line], level="segment", effective_order=True, **options)
    assert found.score == pytest.approx(100, abs=1e-9)
    assert found.segments is not None
    assert found.segments[0].score == pytest.approx(100, abs=1e-9)


def test_identity_of_a_short_line_without_effective_order_is_zero() -> None:
    """As sacrebleu; segment level, the whole included, uses effective order unless told."""
    assert score(["a cat"], ["a cat"]).score == 0
    found = score(["a cat"], ["a cat"], level="segment")
    assert found.score == pytest.approx(100)
    assert found.segments is not None
    assert found.segments[0].score == pytest.approx(100)


# vectors


def test_a_vector_that_is_not_a_number_names_its_word() -> None:
    with pytest.raises(VectorError, match="'dog'"):
        score(["cat"], ["dog"], matcher="vleu", vectors={"cat": [1.0, 0.0], "dog": [float("nan"), 0.0]})


def test_a_vector_that_is_not_a_number_in_a_file_names_its_word(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("cat 1 0\ndog nan 0\n", encoding="utf-8")
    with pytest.raises(VectorError, match=r"dog"):
        score(["cat"], ["dog"], matcher="vleu", vectors=path)


@pytest.mark.parametrize("kind", ["mapping", "file"])
def test_a_zero_vector_is_none_and_counted(kind: str, tmp_path: Path) -> None:
    vectors: Any = VECTORS
    if kind == "file":
        vectors = tmp_path / "vectors.txt"
        vectors.write_text("".join(f"{word} {x} {y}\n" for word, (x, y) in VECTORS.items()), encoding="utf-8")
    found = score(["nil cat oov"], ["cat nil"], matcher="vleu", vectors=vectors, order=1)
    assert isinstance(found.numbers, BleuScore)
    assert found.numbers.matches == [2], "a zero vector still equals itself"
    assert found.coverage is not None
    assert found.coverage.as_dict() == {
        "candidate": {"tokens": 3, "known": 1},
        "reference": {"tokens": 2, "known": 1},
        "zero_words": 1,
    }


def test_no_word_has_a_vector() -> None:
    found = score(["a b c d e"], ["a b c d f"], matcher="vleu", threshold=0.0, vectors=VECTORS)
    plain = score(["a b c d e"], ["a b c d f"])
    assert isinstance(found.numbers, BleuScore)
    assert found.numbers.matches[0] == 4
    assert found.numbers.matches[1:] == pytest.approx([3 + 0.5, 2 + 2 / 3, 1 + 0.75], abs=1e-6)
    assert found.score > plain.score
    assert found.coverage is not None
    assert (found.coverage.candidate_known, found.coverage.reference_known) == (0, 0)
