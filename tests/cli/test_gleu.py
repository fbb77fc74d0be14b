"""GLEU on the command line: its numbers, its levels and its bounds."""

from __future__ import annotations

import json

import pytest
from cli.conftest import CANDIDATE, REFERENCE, SECOND

import softbleu

SOURCE = ["the cat sit on mat", "a small dog barks loud", "rain falled all night"]
REFERENCES = list(zip(REFERENCE, SECOND, strict=True))


@pytest.fixture
def source(files):
    return files.write("source.txt", SOURCE)


@pytest.fixture
def given(files, source):
    """Arguments of a GLEU run over two references."""
    return ["-c", files.candidate, "-r", files.reference, "-r", files.second, "--source", source, "--metric", "gleu"]


def scored(command, *arguments):
    done = command("score", *arguments, "--format", "json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out, parse_constant=pytest.fail)


def expected(level="corpus", **settings):
    return softbleu.score(CANDIDATE, REFERENCES, SOURCE, metric="gleu", level=level, **settings)


# what comes out


@pytest.mark.parametrize("penalty", ["exact", "soft"])
def test_numbers_are_those_of_the_python_interface(command, files, given, penalty):
    arguments = ["--matcher", "vleu", "-t", 0.8, "--vectors", files.vectors, "--penalty", penalty, "-n", 2]
    found = scored(command, *given, *arguments, "--variant", "gleu0", "--lambda", 0.25, "--iterations", 9)
    settings = {"matcher": "vleu", "threshold": 0.8, "vectors": str(files.vectors), "penalty": penalty, "order": 2}
    result = expected(**settings, variant="gleu0", weight=0.25, iterations=9)
    assert found["signature"] == result.signature
    numbers = json.loads(json.dumps(result.numbers.as_dict()))
    assert found["systems"] == [{"name": "candidate", **numbers, "vector_coverage": result.coverage.as_dict()}]
    assert any(not float(match).is_integer() for match in result.numbers.matches)


def test_references_one_by_one_with_the_chosen_one_marked(command, given):
    parts = scored(command, *given, "--level", "reference", "-n", 1)["systems"][0]["references"]
    assert [(part["segment"], part["reference"]) for part in parts] == [(s, r) for s in (1, 2, 3) for r in (1, 2)]
    single = [
        softbleu.score([c], [reference], [s], metric="gleu", order=1).numbers
        for c, references, s in zip(CANDIDATE, REFERENCES, SOURCE, strict=True)
        for reference in references
    ]
    assert [part["score"] for part in parts] == pytest.approx([score.score for score in single])
    chosen = [part["reference"] for part in parts if part["chosen"]]
    assert len({round(score.score, 9) for score in single}) == len(single)
    better = [1 if a.score > b.score else 2 for a, b in zip(single[::2], single[1::2], strict=True)]
    assert chosen == better == [1, 1, 2]
    lines = command("score", *given, "--level", "reference", "-n", 1).out.splitlines()
    assert lines[0].split()[:5] == ["system", "segment", "reference", "chosen", "GLEU"]
    assert ["*" in line for line in lines[2:8]] == [True, False, True, False, False, True]
    assert "All segments together:" in lines


def test_text_has_a_table_by_order(command, given):
    done = command("score", *given, "-n", 3, "--digits", 3)
    score = expected(order=3).numbers
    lines = done.out.splitlines()
    assert lines[0] == f"GLEU {score.score:.3f}  candidate"
    assert command("score", *given, "--level", "macro").out.startswith("GLEU (macro) ")
    rows = {line.split("  ")[0].strip(): line.split() for line in lines}
    assert rows["order"][-3:] == ["1", "2", "3"]
    for title, values in (
        ("score", score.order_scores),
        ("precision %", score.precisions),
        ("matches", score.matches),
        ("penalties", score.penalties),
        ("numerator", score.numerators),
        ("of", score.totals),
    ):
        assert [float(cell) for cell in rows[title][-3:]] == pytest.approx(values, abs=0.0006)
    assert rows["brevity penalty"][2] == f"{score.brevity_penalty:.5f}"
    low, high = score.interval
    assert rows["95% interval"][2:] == [f"{low:.3f}", "to", f"{high:.3f}"]
    assert rows["standard deviation"][2] == f"{score.standard_deviation:.3f}"


@pytest.mark.parametrize("value", [1e9, 1e13, 1e300])
def test_great_weights_take_all_matches_of_an_uncorrected_segment(command, files, source, value):
    copy = files.write("copy.txt", SOURCE)
    arguments = ["-c", copy, "-r", files.reference, files.second, "--source", source, "--metric", "gleu", "-n", 1]
    (system,) = scored(command, *arguments, "--variant", "gleu0", f"--lambda={value}")["systems"]
    (moderate,) = scored(command, *arguments, "--variant", "gleu0", "--lambda=1000")["systems"]
    assert moderate["score"] == 0.0
    assert (system["score"], system["numerators"]) == (0.0, moderate["numerators"])


def test_mean_of_a_single_reference_is_that_reference():
    multis = ("mean", "max", "sample")
    (score,) = {softbleu.score(CANDIDATE, REFERENCE, SOURCE, metric="gleu", order=2, multi=m).score for m in multis}
    assert score > 0
