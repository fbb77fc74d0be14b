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


def as_json(score):
    return json.loads(json.dumps(score.as_dict()))


# what comes out


OPTIONS = {
    "default": ([], {}),
    "orders and samples": (["-n", 2, "--iterations", 9, "--seed", 3], {"order": 2, "iterations": 9, "seed": 3}),
    "best": (["--multi", "max", "--order", 3], {"multi": "max", "order": 3}),
    "paper": (["--variant", "gleu+paper", "--order", 2], {"variant": "gleu+paper", "order": 2}),
    "2015": (
        ["--variant", "gleu0", "--lambda", 0.25, "--swapped-bp"],
        {"variant": "gleu0", "weight": 0.25, "swapped_bp": True},
    ),
    "weight": (["--variant", "gleu0", "--weight", 2, "-n", 1], {"variant": "gleu0", "weight": 2.0, "order": 1}),
    "characters": (["--tokenize", "char", "--order", 6], {"tokenize": "char", "order": 6}),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_numbers_are_those_of_the_python_interface(command, given, name):
    arguments, settings = OPTIONS[name]
    found = scored(command, *given, *arguments)
    result = expected(**settings)
    assert found["signature"] == result.signature
    (system,) = found["systems"]
    assert system == {"name": "candidate", **as_json(result.numbers), "vector_coverage": None}


def test_every_option_has_an_effect(command, given):
    """Else the comparisons above would compare defaults. Smoothing of segments is for segments only."""
    signatures = {}
    for name, (arguments, _) in OPTIONS.items():
        signatures[name] = scored(command, *given, *arguments)["systems"][0]["score"]
    assert len(set(signatures.values())) == len(OPTIONS)
    assert scored(command, *given, "--segment-smoothing") == scored(command, *given)


@pytest.mark.parametrize("penalty", ["exact", "soft"])
def test_soft_numbers_are_those_of_the_python_interface(command, files, given, penalty):
    arguments = ["--matcher", "vleu", "-t", 0.8, "--vectors", files.vectors, "--penalty", penalty, "-n", 2]
    (system,) = scored(command, *given, *arguments)["systems"]
    result = expected(matcher="vleu", threshold=0.8, vectors=str(files.vectors), penalty=penalty, order=2)
    assert system["score"] == result.score
    assert system["vector_coverage"] == result.coverage.as_dict()
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


# what is refused


@pytest.fixture
def refused(refused):
    return lambda *arguments, subcommand="score": refused(subcommand, *arguments)


@pytest.mark.parametrize("sources", [[], SOURCE[:2]])
def test_source_missing_from_whole_segments(refused, files, sources):
    rows = [{"candidate": c, "reference": r} for c, r in zip(CANDIDATE, REFERENCE, strict=True)]
    for row, source in zip(rows, sources, strict=False):
        row["source"] = source
    files.write("corpus.txt", [f"{row['candidate']} ||| {row['reference']}" for row in rows])
    assert "source" in refused("--pairs", "corpus.txt", "--metric", "gleu")
    assert "source" in refused("--pairs", files.write("corpus.jsonl", map(json.dumps, rows)), "--metric", "gleu")


@pytest.mark.parametrize("value", [1e9, 1e13, 1e300])
def test_great_weights_take_all_matches_of_an_uncorrected_segment(command, files, source, value):
    copy = files.write("copy.txt", SOURCE)
    arguments = ["-c", copy, "-r", files.reference, files.second, "--source", source, "--metric", "gleu", "-n", 1]
    (system,) = scored(command, *arguments, "--variant", "gleu0", f"--lambda={value}")["systems"]
    (moderate,) = scored(command, *arguments, "--variant", "gleu0", "--lambda=1000")["systems"]
    assert moderate["score"] == 0.0
    assert (system["score"], system["numerators"]) == (0.0, moderate["numerators"])


@pytest.mark.parametrize("seed", [2**31, 2**32 - 101 * 500, 2**32, 5 * 10**9])
def test_great_seeds_are_drawn_or_refused_in_one_line(command, given, seed):
    done = command("score", *given, "--seed", seed)
    assert (done.code, done.err.count("\n"), "seed" in done.err) in [(0, 0, False), (2, 1, True)]


def test_mean_of_a_single_reference_is_that_reference(command, files, source):
    arguments = ["-c", files.candidate, "-r", files.reference, "--source", source, "--metric", "gleu", "-n", 2]
    scores = {
        multi: scored(command, *arguments, "--multi", multi)["systems"][0]["score"]
        for multi in ("mean", "max", "sample")
    }
    assert len(set(scores.values())) == 1
    assert scores["mean"] > 0


def test_options_of_gleu_are_noted_where_they_do_nothing(command, files):
    options = ["--variant", "gleu0", "--multi", "max", "--seed", 3, "--segment-smoothing"]
    done = command("score", "-c", files.candidate, "-r", files.reference, *options)
    assert done.code == 0
    noted = [line.split()[2] for line in done.err.splitlines()]
    assert sorted(noted) == ["--multi", "--seed", "--segment-smoothing", "--variant"]
    assert command("score", "-c", files.candidate, "-r", files.reference, *options, "--quiet").err == ""
