"""Mishaps at the edges: each is one line, exit code 2, and nothing is lost."""

from __future__ import annotations

import json

import pytest


@pytest.mark.parametrize("encoding", ["base64", "hex", "rot13", "undefined", "nothing"])
def test_what_is_no_encoding_of_text(refused, files, encoding):
    message = refused("score", "-c", files.candidate, "-r", files.reference, "--encoding", encoding)
    assert f"unknown encoding '{encoding}'" in message


def test_numbers_beyond_reason(refused, files):
    options = ("-c", files.candidate, "-r", files.reference)
    gleu = ("--metric", "gleu", "--source", files.candidate)
    assert "iterations must lie between 1 and 1000000" in refused("score", *options, *gleu, "--iterations", 10**11)
    assert "takes a number" in refused("explain", *options, "-l", "9" * 5000)


def test_one_signature_one_score(command, tmp_path):
    (tmp_path / "a.txt").write_text("a cat sat\n")
    same = ("-c", tmp_path / "a.txt", "-r", tmp_path / "a.txt", "-f", "json")
    corpus = json.loads(command("score", *same).out)
    segment = json.loads(command("score", *same, "--level", "segment").out)
    assert "effective-order:no" in corpus["signature"]
    assert corpus["systems"][0]["score"] == 0
    assert "effective-order:yes" in segment["signature"]
    assert segment["systems"][0]["score"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("candidate\tcandidate:candidate\treference", "two columns have the same name, 'candidate'"),
        ("candidate:a\tcandidate:a\treference", "two columns have the same name, 'candidate:a'"),
        ("candidates\treference", "must name columns 'candidate' and 'reference'"),
    ],
)
def test_columns_that_would_be_lost(refused, tmp_path, header, message):
    (tmp_path / "c.tsv").write_text(f"{header}\nx\ty\tz\n")
    assert message in refused("score", "--pairs", tmp_path / "c.tsv")


def test_a_source_that_is_sometimes_missing(refused, tmp_path):
    rows = [{"candidate": "a", "reference": "a", "source": "a"}, {"candidate": "b", "reference": "b"}]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "line 2: no source, though other segments have one" in refused("score", "--pairs", tmp_path / "c.jsonl")


def test_labels_say_what_was_scored(command, files):
    options = ("-c", files.candidate, "-r", files.reference, "--source", files.candidate)
    soft = command("score", *options, "--metric", "gleu", "--matcher", "exact", "--level", "macro")
    assert soft.out.startswith("GLEU (macro) ")
