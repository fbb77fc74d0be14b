"""Input and output that cannot be used beyond what `refusals.txt` has, and limits."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import struct

import pyarrow.parquet
import pytest

from softbleu.io.limits import FACTOR, Limit
from softbleu.metrics.bleu import Bleu


@pytest.fixture
def misused(refused):
    texts = ("-c", "candidate.txt", "-r", "reference.txt")
    return lambda *more, command="score", inputs=True: refused(command, *(texts if inputs else ()), *more)


MANY = "9" * 26


def test_more_neighbours_than_there_are_words(command, files):
    arguments = ("embeddings", "neighbours", "dog", "--vectors", files.vectors, "--format", "json")
    assert command(*arguments, "--count", MANY).out == command(*arguments, "--count", 5).out


@pytest.mark.parametrize("arguments", ["score --treshold 1", "score --order", "scor", "score stray"])
def test_usage_errors_say_where_help_is(command, arguments):
    done = command(*arguments.split())
    assert (done.code, done.err.count("\n"), done.err[:17]) == (2, 1, "softbleu: error: ")
    assert "treshold" not in arguments or ("--threshold" in done.err and "--help" in done.err)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"the 1 2 3\ncat 1 2\n", ["line 2"]),
        (b"the 1 2 3\ncat 1 nan 3\n", ["cat"]),
        (pickle.dumps({"the": [1.0]}), ["pickle"]),
        (b"2 3\nthe " + struct.pack("<3f", 1, 2, 3) + b"cat " + struct.pack("<2f", 1, 2), ["vectors"]),
    ],
    ids=["wrong dimension", "NaN", "pickle", "truncated"],
)
def test_vector_files_that_cannot_be_trusted(misused, files, content, words):
    path = files.write("odd.bin" if b"\x00" in content else "odd.txt", content)
    message = misused("--matcher", "vleu", "--vectors", path)
    assert str(path) in message
    assert all(word in message for word in words)


@pytest.mark.parametrize(
    ("where", "words"), [("no/such/out.txt", "no folder"), ("candidate.txt/out.txt", "no folder"), (".", "folder")]
)
def test_output_that_cannot_be_written(misused, where, words):
    assert words in misused("-o", where)


def test_existing_output_survives_an_error(misused, files):
    files.write("out.txt", ["precious"])
    misused("-c", "missing.txt")


def test_traceback_only_for_debugging(command, files):
    arguments = ("score", "-c", "missing.txt", "-r", files.reference)
    assert "Traceback" not in command(*arguments).err
    debugged = command(*arguments, "--debug")
    assert debugged.code == 2
    assert "Traceback" in debugged.err
    assert debugged.err.endswith("softbleu: error: no such file: missing.txt\n")


def test_faults_of_the_program_are_not_hidden(command, files, monkeypatch):
    def fail(*_):
        raise RuntimeError("a fault")

    monkeypatch.setattr(Bleu, "score", fail)
    with pytest.raises(RuntimeError, match="a fault"):
        command("score", "-c", files.candidate, "-r", files.reference)


@pytest.mark.skipif(os.name == "nt", reason="names of bytes")
def test_names_that_are_no_text(command, files):
    odd = os.fsdecode(b"odd\xff")
    candidate = files.write(odd, ["the cat sat on a mat", "a small dog barked loudly", "rain fell all night"])
    place = files.folder / "out.parquet"
    arguments = ("-c", candidate, "-r", files.reference, "-m", "exact", "-t", "0.5", "--quiet")
    done = command("sweep", *arguments, "--output", place)
    assert (done.code, done.err) == (0, "")
    assert pyarrow.parquet.read_table(place)["system"].to_pylist() == ["odd\\udcff"]
    store = files.folder / os.fsdecode(b"store\xff")
    assert command("embeddings", "convert", files.vectors, store, "--licence", odd, "--quiet").code == 0
    done = command("embeddings", "info", store)
    assert (done.code, done.err) == (0, "")
    assert "odd\\udcff" in done.out


LONG = b"a dog barked\n" + b"x " * 40 + b"\nrain\n"


@pytest.mark.parametrize("name", ["long.txt", "long.txt.gz", "long.utf16"])
@pytest.mark.parametrize("where", ["-c", "--pairs"])
def test_a_line_that_is_too_long(command, files, monkeypatch, name, where):
    content = LONG.replace(b"\n", b" ||| a\n") if where == "--pairs" else LONG
    encoded = content.decode().encode("utf-16") if name == "long.utf16" else content
    path = files.write(name, gzip.compress(encoded) if name.endswith("gz") else encoded)
    inputs = (where, path, *(() if where == "--pairs" else ("-r", path)))
    encoding = ("--encoding", "utf-16") if name == "long.utf16" else ()
    monkeypatch.setenv("SOFTBLEU_LONGEST_LINE", "50")
    done = command("score", *inputs, *encoding)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert str(path) in done.err
    assert "a line of more than 50 bytes: cut it, or set SOFTBLEU_LONGEST_LINE to more" in done.err
    monkeypatch.setenv("SOFTBLEU_LONGEST_LINE", "100")
    assert command("score", *inputs, *encoding).code == 0


def test_a_vector_that_is_too_long(command, files, monkeypatch):
    monkeypatch.setenv("SOFTBLEU_LONGEST_LINE", "100")
    path = files.write("long.vec", ["a 1 2 3", "b " + "1 " * 60])
    done = command("score", "-c", files.candidate, "-r", files.reference, "-m", "vleu", "--vectors", path)
    assert done.code == 2
    assert f"{path}, line 2: a line of more than 100 bytes" in done.err
    done = command("embeddings", "train", path, "-o", files.folder / "store")
    assert done.code == 2
    assert f"{path}, line 2: a line of more than 100 bytes" in done.err


def test_one_signature_one_score(command, tmp_path):
    (tmp_path / "a.txt").write_text("a cat sat\n")
    same = ("-c", tmp_path / "a.txt", "-r", tmp_path / "a.txt", "-f", "json")
    corpus = json.loads(command("score", *same).out)
    segment = json.loads(command("score", *same, "--level", "segment").out)
    assert "effective-order:no" in corpus["signature"]
    assert corpus["systems"][0]["score"] == 0
    assert "effective-order:yes" in segment["signature"]
    assert segment["systems"][0]["score"] == pytest.approx(100)


def test_labels_say_what_was_scored(command, files):
    options = ("-c", files.candidate, "-r", files.reference, "--source", files.candidate)
    soft = command("score", *options, "--metric", "gleu", "--matcher", "exact", "--level", "macro")
    assert soft.out.startswith("GLEU (macro) ")


def test_every_command_allows_more(command, files, monkeypatch):
    monkeypatch.setenv(FACTOR, "1")
    monkeypatch.setattr("softbleu.metrics.meteor._LIMIT", Limit("meteor", "pairs of words", 1, "none"))
    arguments = "score", "-c", files.candidate, "-r", files.reference, "-m", "meteor", "--stages", "exact"
    refused = command(*arguments)
    assert refused.code == 2
    assert "allow more by --limits " in refused.err
    assert command(*arguments, "--limits", "100").code == 0


@pytest.mark.parametrize("arguments", [("diff", "x", "y"), ("embeddings", "info", "x"), ("score",)])
def test_what_allows_more_is_checked_first(command, arguments, monkeypatch):
    monkeypatch.setenv(FACTOR, "1")
    ran = command(*arguments, "--limits", "0")
    assert (ran.code, ran.err) == (2, "softbleu: error: --limits must be a whole number from 1 to 1000000, not '0'\n")
