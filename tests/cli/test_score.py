"""`softbleu score`: numbers as in Python, inputs, notes, and the text for idf."""

from __future__ import annotations

import gzip
import json

import pytest
from cli.conftest import CANDIDATE, REFERENCE, SECOND

import softbleu

KEYS = ["name", "score", "matches", "totals", "precisions", "brevity_penalty", "candidate_length", "reference_length"]
KEYS += ["vector_coverage"]


def scored(command, *arguments):
    done = command("score", *arguments, "--format", "json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out, parse_constant=pytest.fail)


def test_numbers_are_those_of_the_python_interface(command, files):
    found = scored(command, "-c", files.candidate, "-r", files.reference, "-r", files.second)
    expected = softbleu.score(CANDIDATE, list(zip(REFERENCE, SECOND, strict=True)))
    assert found == {
        "schema": 1,
        "signature": expected.signature,
        "systems": [{"name": "candidate", **expected.numbers.as_dict(), "vector_coverage": None}],
    }
    assert list(found["systems"][0]) == KEYS


def test_soft_numbers_are_those_of_the_python_interface(command, files):
    arguments = ["--matcher", "vleu", "-t", 0.8, "--vectors", files.vectors, "--composition", "aligned"]
    arguments += ["--order", 3, "--smooth", "add-k", "--smooth-value", 0.5, "--lowercase", "--tokenize", "13a"]
    arguments += ["--assignment", "optimal", "--consumption", "unit", "--denominator", "all"]
    arguments += ["--effective-order", "--vector-case", "exact"]
    found = scored(command, "-c", files.candidate, "-r", files.reference, *arguments)
    settings = {"matcher": "vleu", "threshold": 0.8, "vectors": str(files.vectors), "composition": "aligned"}
    settings |= {"order": 3, "smooth": "add-k", "smooth_value": 0.5, "lowercase": True, "tokenize": "13a"}
    settings |= {"assignment": "optimal", "consumption": "unit", "denominator": "all"}
    expected = softbleu.score(CANDIDATE, REFERENCE, **settings, effective_order=True, vector_case="exact")
    coverage = expected.coverage.as_dict()
    assert found["signature"] == expected.signature
    assert found["systems"] == [{"name": "candidate", **expected.numbers.as_dict(), "vector_coverage": coverage}]
    assert coverage["candidate"] == {"tokens": 15, "known": 5}


def test_text_says_all_there_is_to_know(command, files):
    arguments = ("-c", files.candidate, "-r", files.reference, "--matcher", "sleu", "--vectors", files.vectors)
    done = command("score", *arguments, "--digits", 3)
    expected = softbleu.score(CANDIDATE, REFERENCE, matcher="sleu", vectors=str(files.vectors))
    assert done.out.startswith(f"SLEU {expected.score:.3f}  candidate\n")
    parts = ("precision %", "matches", "brevity penalty", "length           15 tokens", "references       16 tokens")
    assert all(part in done.out for part in (*parts, "5 of 15 tokens"))
    assert done.out.endswith(f"signature: {expected.short_signature}\n")


def test_segments_in_one_file(command, files):
    two_files = scored(command, "-c", files.candidate, "-r", files.reference, "-r", files.second)
    rows = list(zip(CANDIDATE, REFERENCE, SECOND, strict=True))
    contents = {
        "corpus.txt": [" ||| ".join(row) for row in rows],
        "corpus.tsv": ["candidate\treference\treference2", *("\t".join(row) for row in rows)],
        "corpus.jsonl": [json.dumps({"candidate": {"candidate": c}, "references": [r, s]}) for c, r, s in rows],
    }
    for name, lines in contents.items():
        assert scored(command, "--pairs", files.write(name, lines)) == two_files
    path = files.write("other.jsonl", contents["corpus.txt"])
    assert scored(command, "--pairs", path, "--input-format", "pairs") == two_files


def test_other_encodings_and_compression(command, files):
    arguments = ("-c", files.candidate, "-r", files.reference)
    plain = scored(command, *arguments)
    files.write("candidate.txt", gzip.compress(files.candidate.read_bytes()))
    assert scored(command, *arguments) == plain
    for name, lines in (("candidate.txt", CANDIDATE), ("reference.txt", REFERENCE)):
        files.write(name, "\n".join(lines).encode("utf-16"))
    assert scored(command, *arguments, "--encoding", "utf-16") == plain
    # Marks of the order of bytes, and ends of lines.
    files.write("candidate.txt", b"\xef\xbb\xbf" + "\r\n".join(CANDIDATE).encode())
    files.write("reference.txt", b"\xef\xbb\xbf" + "\n".join(REFERENCE).encode() + b"\r\n")
    assert scored(command, *arguments) == plain


def test_without_input_the_sample_is_scored_and_said_so(command):
    done = command("score")
    assert done.code == 0
    assert done.out.startswith("BLEU ")
    assert "sample corpus" in done.err
    assert done.err.count("\n") == 1
    assert command("score", "--quiet").err == ""


# the text that says how rare words are


@pytest.fixture
def arguments(files):
    return ("-c", files.candidate, "-r", files.reference, "--metric", "softbleu", "--vectors", files.vectors)


@pytest.fixture
def idf(files):
    return files.write("idf.txt", ["the a on it", "the night", "a"])


def system_of(done):
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)["systems"][0]


def test_idf(command, refused, files, arguments, idf):
    plain = system_of(command("score", *arguments, "--format", "json"))
    done = command("score", *arguments, "--idf", idf, "--format", "json")
    assert system_of(done)["score"] != plain["score"]
    files.write("bad.txt", b"fine\ncaf\xe9\n")
    for place, said in (
        ("missing.txt", "missing.txt: cannot be read (No such file or directory)"),
        (".", "cannot be read (Is a directory)"),
        ("bad.txt", "bad.txt, line 2, byte 4: not UTF-8"),
    ):
        assert said in refused("score", *arguments, "--idf", place)


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


def test_options_without_effect_are_noted(command, files, idf):
    texts = ("-c", files.candidate, "-r", files.reference)
    done = command("score", *texts, "--idf", idf, "--beta", 2, "-t", 0.5, "--vectors", "nowhere", "--seed", 3)
    assert done.code == 0
    assert set(done.err.splitlines()) == {
        f"softbleu: note: {option} has no effect here, with --metric bleu --matcher exact"
        for option in ("--seed", "--threshold", "--vectors", "--idf", "--beta")
    }
    assert command("score", *texts, "--seed", 3, "-q").err == ""
