"""The metric softbleu on the command line."""

from __future__ import annotations

import json

import pytest

from softbleu.config.signature import parse_signature


@pytest.fixture
def arguments(files):
    return ("-c", files.candidate, "-r", files.reference, "--metric", "softbleu", "--vectors", files.vectors)


@pytest.fixture
def idf(files):
    return files.write("idf.txt", ["the a on it", "the night", "a"])


@pytest.fixture
def refused(refused, arguments):
    return lambda *more, subcommand="score": refused(subcommand, *arguments, *more)


def system_of(done):
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)["systems"][0]


# scores


# the text that says how rare words are


def test_idf(command, arguments, idf):
    plain = system_of(command("score", *arguments, "--format", "json"))
    done = command("score", *arguments, "--idf", idf, "--format", "json")
    assert system_of(done)["score"] != plain["score"]
    name, _, digits = parse_signature(json.loads(done.out)["signature"])["idf"].partition("#")
    assert (name, len(digits)) == ("idf.txt", 12)


def test_a_signature_finds_the_text_beside_it_and_notes_another(command, arguments, idf, monkeypatch):
    monkeypatch.chdir(idf.parent)
    first = command("score", *arguments, "--idf", idf, "--format", "json")
    signature = json.loads(first.out)["signature"]
    again = ("score", *arguments[:4], *arguments[6:], "--signature", signature, "--format", "json")
    done = command(*again)
    assert (done.out, done.err) == (first.out, "")
    idf.write_text("the\n", encoding="utf-8")
    done = command(*again)
    assert done.code == 0
    assert done.err.startswith("softbleu: note: idf is idf.txt#")
    assert "in the signature" in done.err
    idf.unlink()
    done = command(*again)
    assert (done.code, done.out) == (2, "")
    assert "idf.txt: cannot be read" in done.err


def test_idf_that_cannot_be_read(refused, files):
    assert "missing.txt: cannot be read (No such file or directory)" in refused("--idf", files.folder / "missing.txt")
    assert "cannot be read (Is a directory)" in refused("--idf", files.folder)
    bad = files.write("bad.txt", b"fine\ncaf\xe9\n")
    assert f"{bad}, line 2, byte 4: not UTF-8" in refused("--idf", bad)


# what is refused


# options without effect


def test_its_options_have_no_effect_on_bleu(command, files, idf):
    done = command("score", *("-c", files.candidate, "-r", files.reference, "--idf", idf, "--beta", 2))
    assert done.code == 0
    assert done.err.splitlines() == [
        f"softbleu: note: {option} has no effect here, with --metric bleu --matcher exact"
        for option in ("--idf", "--beta")
    ]
