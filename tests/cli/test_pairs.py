"""`softbleu matrix` and `softbleu select`."""

from __future__ import annotations

import json
from typing import Any

import pytest

import softbleu

LISTS = ['{"candidates": ["a cat sat", "the cat sat", "the dog sat"]}', '["it rains", "so be it"]']


@pytest.fixture
def lists(files: Any, monkeypatch: Any) -> Any:
    files.write("nbest.jsonl", LISTS)
    for name in ("a.txt", "b.txt", "c.txt", "ref1.txt", "ref2.txt"):
        files.write(name, [f"the cat sat on {name}", "it rains"])
    monkeypatch.chdir(files.folder)
    return files


def test_select_writes_a_line_a_list(command: Any, lists: Any) -> None:
    done = command("select", "--lists", "nbest.jsonl", "-m", "chrf")
    assert (done.code, done.err) == (0, "")
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [each["text"] for each in found] == ["the cat sat", "it rains"]
    assert [(each["segment"], each["candidate"], each["of"]) for each in found] == [(1, 2, 3), (2, 1, 2)]
    piped = command("select", "--lists", "-", "-m", "chrf", stdin="\n".join(LISTS).encode())
    assert piped.out == done.out
    table = command("select", "--lists", "nbest.jsonl", "-m", "chrf", "-f", "text").out
    assert "the cat sat" in table
    assert "signature  metric:chrf" in table


def test_a_matrix_names_its_rows_whatever_systems_are_called(command: Any, lists: Any) -> None:
    given = ("matrix", "-c", "candidate=a.txt", "candidate_=b.txt", "-m", "chrf", "-q", "-f")
    rows = json.loads(command(*given, "json").out)["rows"]
    assert [row["candidate__"] for row in rows] == ["candidate", "candidate_"]
    assert command(*given, "csv").out.splitlines()[0] == "candidate__,candidate,candidate_"
    facts, _, table = command(*given, "text").out.partition("\n\n")
    assert "signature" not in facts
    assert "\nsignature: metric:chrf" in table


def test_matrix_of_corpora_and_of_segments(command: Any, lists: Any) -> None:
    given = ("matrix", "-c", "a.txt", "b.txt", "-r", "ref1.txt", "c.txt", "-m", "chrf", "-f", "json")
    rows = json.loads(command(*given).out)["rows"]
    assert [row["candidate"] for row in rows] == ["a", "b"]
    texts = (["the cat sat on a.txt", "it rains"], ["the cat sat on c.txt", "it rains"])
    assert rows[0]["c"] == pytest.approx(softbleu.score(*texts, metric="chrf").score)
    pairs = json.loads(command(*given, "--level", "segment").out)["rows"]
    assert [(row["segment"], row["candidate"], row["reference"]) for row in pairs[:3]] == [
        *((1, "a", "ref1"), (1, "a", "c"), (1, "b", "ref1"))
    ]
    alone = json.loads(command("matrix", "--lists", "nbest.jsonl", "-m", "chrf", "-f", "json").out)["rows"]
    assert len(alone) == 9 + 4


@pytest.mark.parametrize("bad", ["3", '{"candidates": "text"}', '{"candidates": []}', '["a", null]', "{}"])
def test_bad_lists_name_the_line(refused: Any, bad: str) -> None:
    message = refused("select", "--lists", "-", stdin=f"{LISTS[0]}\n{bad}\n".encode())
    assert message.startswith("softbleu: error: -, line 2: ")
