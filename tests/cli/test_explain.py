"""`softbleu explain`."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from softbleu.cli.explain import parse_segments
from softbleu.corpora import ParallelFiles
from softbleu.metrics.making import make_metric
from softbleu.results import explain_corpus


@pytest.fixture
def arguments(files):
    texts = ("explain", "-c", files.candidate, "-r", files.reference)
    return (*texts, "-m", "vleu", "-t", 0.8, "--vectors", files.vectors)


def test_text_shows_what_met_what(command, arguments, files):
    done = command(*arguments, "-r", files.second, "--segment", 2, "--order", 2)
    assert (done.code, done.err) == (0, "")
    lines = [line.split() for line in done.out.splitlines()]
    assert ["small", "=", "1.00", "small", "reference", "2"] in lines
    assert ["barked", "loudly", "=", "1.00", "barked", "loudly", "reference", "1"] in lines
    assert "\x1b" not in done.out
    alone = command(*arguments, "-l", "2-3", "-n", 2).out
    lines = [line.split() for line in alone.splitlines()]
    assert ["small", "~", "0.99", "little"] in lines
    assert ["segment", "2,", "candidate:", "99.87"] in lines
    assert "  fell   -  0.00\n" in alone


def test_json_is_the_python_interface(command, arguments, files):
    found = json.loads(command(*arguments, "-f", "json", "-l", "2-3").out)
    measure = make_metric(matcher="vleu", threshold=0.8, vectors=str(files.vectors))
    with ParallelFiles.open([str(files.candidate)], [str(files.reference)]) as corpus:
        expected = explain_corpus(corpus, measure, [2, 3])
    assert found == {
        "schema": 1,
        "segments": json.loads(json.dumps([asdict(explanation) for explanation in expected])),
    }


def test_ranges():
    assert parse_segments(["7", "1-3", "2", "10"], 10) == [7, 1, 2, 3, 10]


def test_the_path_of_a_network_is_beside_the_candidate(command, tmp_path):
    (tmp_path / "c").write_text("a big hound loudly\n", encoding="utf-8")
    (tmp_path / "r").write_text("the [big] (dog|hound) barked once again\n", encoding="utf-8")
    arguments = ("explain", "-m", "hyter", "--notation", "brackets", "-c", tmp_path / "c", "-r", tmp_path / "r")
    lines = [line.split() for line in command(*arguments).out.splitlines()]
    assert ["path", "the", "big", "hound", "barked", "once", "again"] in lines
    assert ["edits:", "4.00", "of", "6.00", "words", "(arcs:", "6", "user)"] in lines
    assert ["a", "~", "1.00", "the", "user"] in lines
    assert ["hound", "=", "0.00", "hound", "user"] in lines
    assert ["+", "1.00", "again", "user"] in lines
    table = command(*arguments, "-f", "csv").out.splitlines()
    assert table[:2] == ["system,segment,candidate,path,arc,cost", "c,1,a,the,user,1.0"]
    assert len(table) == 7
