"""The first line of a comparison: which systems are best, and by which tests."""

from itertools import permutations

import pytest

import softbleu
from softbleu.corpora import Segments
from softbleu.formats import Layout
from softbleu.report.curves import curve_records
from softbleu.results.verdicts import best_scores_text, headline

REFERENCE = ["the cat sat on the mat by the door", "a dog ran in the park all day", "we took the train home"] * 20
LOSSES = {"full": 0, "near": 1, "half": 30, "cut": 60}


def texts(*names: str) -> dict[str, list[str]]:
    """Systems that lose the end of so many lines, of each third one first; a name may stand in front of a colon."""
    made = {}
    for name in names:
        called, _, kind = name.rpartition(":")
        cut = {(3 * k) % 60 + (3 * k) // 60 for k in range(LOSSES[kind])}
        lines = [line.rsplit(" ", 2)[0] if place in cut else line for place, line in enumerate(REFERENCE)]
        made[called or kind] = lines
    return made


def said(names: str, metrics: str = "chrf", baseline: str | None = None) -> str:
    corpus = Segments.of(texts(*names.split()), REFERENCE)
    compared = softbleu.compare_corpus(corpus, metrics.split(), baseline=baseline)
    sentence = headline([*compared], Layout())
    assert str(compared).startswith(f"{sentence}\n")  # As Python prints it
    return sentence


@pytest.mark.parametrize(
    ("names", "metrics", "expected"),
    [
        ("full half cut", "chrf", "full is best by chrF; half and cut are worse (each p < 0.001)."),
        (
            "full near cut",
            "chrf",
            "full has the best chrF, but near cannot be told apart from it; cut is worse (p < 0.001).",
        ),
        (
            "B:full A:full cut",
            "ter",
            "A and B share the best TER; cut is worse (p < 0.001).",
        ),
        ("A:half B:half C:half", "chrf", "All 3 systems have the same chrF."),
        ("a:full b:near c:near", "chrf", "a has the best chrF, but b and c cannot be told apart from it."),
        (
            "full near cut",
            "ter chrf",
            "full has the best TER, but near cannot be told apart from it; cut is worse (p < 0.001); "
            "chrF puts full first, too.",
        ),
    ],
)
def test_the_best_are_named_in_any_order_of_systems(names: str, metrics: str, expected: str) -> None:
    assert {said(" ".join(order), metrics) for order in permutations(names.split())} == {expected}


@pytest.mark.parametrize(
    ("names", "baseline", "expected"),
    [
        ("full half cut", "half", "By chrF, full is better than half and cut is worse than it."),
        ("near full", None, "full and near cannot be told apart by chrF (difference +0.48, 95% interval"),
        ("cut full", None, "full is better than cut by 32.81 chrF (95% interval"),
        ("cut full", "full", "full is better than cut by 32.81 chrF (95% interval"),
        ("full", None, "full has 100.00 chrF, 95% interval 100.00 to 100.00."),
    ],
)
def test_others_are_beside_a_baseline(names: str, baseline: str | None, expected: str) -> None:
    assert said(names, baseline=baseline).startswith(expected)


@pytest.mark.parametrize("systems", [3, 16])
def test_the_best_is_tested_like_a_baseline_of_its_name(systems: int) -> None:
    """With more than 14 systems the pairs are not all tested."""
    names = [f"{number:02}:{kind}" for number, kind in zip(range(systems), ["half", "cut", "near"] * 6, strict=False)]
    corpus = Segments.of(texts(*names), REFERENCE)
    table = softbleu.compare_corpus(corpus, "chrf")
    named = softbleu.compare_corpus(corpus, "chrf", baseline="02")
    assert table.baseline == "00"
    beside = table.beside_best().rows
    assert [{**row, "base": ""} for row in beside] == [{**row, "base": ""} for row in named.rows]
    assert table.rows == softbleu.compare_corpus(corpus, "chrf", baseline="00").rows
    assert not named.best


def test_few_lines_have_no_p_value() -> None:
    systems = {name: lines[:29] for name, lines in texts("full", "cut").items()}
    table = softbleu.compare(systems, REFERENCE[:29], metrics=["chrf"])
    assert headline(table, Layout()) == "Too few lines to test (29, of at least 30): full has the best chrF."
    assert [row[name] for row in (*table.rows, *table.pairs) for name in ("p_value", "corrected")] == [None] * 6
    assert table.rows[1].interval is not None


def test_metrics_with_equal_labels_and_partial_scores_are_told_apart() -> None:
    metrics = ["chrf", "chrf(char_order=3)", "ter(partial=yes)"]
    found = softbleu.score(texts("full", "cut"), REFERENCE, metrics=metrics)
    groups = [[found[place], found[place + 1]] for place in (0, 2, 4)]
    said_of = best_scores_text(groups, Layout())
    assert "best chrf and chrf(char_order=3);" in said_of
    assert "best TER (partial) (not" in said_of
    assert "chrf(char_order=3) agrees" in said("full cut", "chrf chrf(char_order=3)")
    curves = softbleu.score_curves(texts("full", "cut"), REFERENCE, metrics=["chrf", "chrf(partial_by=characters)"])
    named = [row["metric"] for row in curve_records(curves, Layout()).records()]
    assert named == [name for name in dict.fromkeys(one.metric for one in curves.curves) for _ in range(2)]
    assert len({*named}) == 2


def test_python_prints_the_verdict_of_one_metric_named_alone() -> None:
    table = softbleu.compare(texts("full", "cut"), REFERENCE, metrics="chrf")
    assert str(table).startswith("full is better than cut by ")
