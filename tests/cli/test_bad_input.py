from __future__ import annotations

import pickle
import struct

import pytest

from softbleu.metrics.bleu import Bleu
from softbleu.tokens import TOKENIZERS


@pytest.fixture
def refused(command, files):
    """Message of a call that must fail in one line and leave nothing behind."""

    def call(*arguments, subcommand="score", inputs=True):
        output = files.folder / "out.txt"
        before = sorted(files.folder.iterdir())
        if inputs:
            arguments = ("-c", files.candidate, "-r", files.reference, *arguments)
        done = command(subcommand, *arguments, "--output", output)
        assert done.code == 2
        assert done.out == ""
        assert done.err.startswith("softbleu: error: ")
        assert done.err.count("\n") == 1
        assert done.err.endswith("\n")
        assert sorted(files.folder.iterdir()) == before
        return done.err

    return call


def test_missing_file(refused, files):
    missing = files.folder / "missing.txt"
    assert f"no such file: {missing}" in refused("-c", missing, "-r", files.reference, inputs=False)


def test_different_numbers_of_lines(refused, files):
    short = files.write("short.txt", ["one line"])
    message = refused("-r", short)
    assert f"{short} has 1" in message
    assert f"{files.reference} has 3" in message


@pytest.mark.parametrize("option", ["-c", "--pairs"])
def test_empty_corpus(refused, files, option):
    empty = files.write("empty.txt", b"")
    more = ("-r", empty) if option == "-c" else ()
    message = refused(option, empty, *more, inputs=False)
    assert "empty corpus" in message
    assert str(empty) in message


def test_invalid_utf8_names_file_line_and_byte(refused, files):
    bad = files.write("bad.txt", b"the cat\nna\xefve dog\nrain\n")
    message = refused("-c", bad, "-r", files.reference, inputs=False)
    assert f"{bad}, line 2, byte 3: not UTF-8" in message


@pytest.mark.parametrize(
    ("option", "value", "valid"),
    [
        ("--matcher", "vlue", ["exact", "sleu", "vleu", "xleu"]),
        ("--composition", "average", ["mean", "aligned", "sif"]),
        ("--tokenize", "14a", TOKENIZERS),
        ("--assignment", "greedy", ["exact-first", "sequential", "optimal"]),
        ("--consumption", "none", ["unit", "similarity"]),
        ("--smooth", "add-1", ["none", "floor", "add-k", "exp"]),
        ("--denominator", "candidate", ["order", "all", "reference"]),
        ("--preset", "morgan", ["morgan2014"]),
        ("--level", "document", ["corpus", "segment", "macro", "reference"]),
        ("--format", "yaml", ["text", "json", "jsonl", "tsv", "markdown", "latex", "csv", "parquet", "html"]),
        ("--vector-case", "lower", ["exact", "fallback"]),
    ],
)
def test_unknown_names_list_the_valid_ones(refused, option, value, valid):
    matcher = () if option == "--matcher" else ("--matcher", "vleu")
    message = refused(option, value, *matcher)
    assert repr(value) in message
    assert message.rstrip().endswith(f"valid: {', '.join(valid)}")


@pytest.mark.parametrize("matcher", ["exact", "vleu"])
@pytest.mark.parametrize("threshold", ["-0.1", "1.01", "nan", "inf"])
def test_threshold_lies_between_0_and_1(refused, matcher, threshold):
    assert "between 0 and 1" in refused("--matcher", matcher, "--threshold", threshold)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--threshold", "high"),
        ("--order", "2.5"),
        ("--jobs", "many"),
        ("--order", "0"),
        ("--jobs", "0"),
        ("--digits", "-1"),
        ("--smooth-value", "1"),
        ("--encoding", "utf-99"),
    ],
)
def test_numbers_that_make_no_sense(refused, option, value):
    assert value in refused(option, value) or option == "--smooth-value"


def test_usage_errors_say_where_help_is(command):
    for arguments in (["score", "--treshold", "1"], ["score", "--order"], ["scor"], ["score", "stray"]):
        done = command(*arguments)
        assert done.code == 2
        assert done.err.startswith("softbleu: error: ")
        assert done.err.count("\n") == 1
    assert "--threshold" in command("score", "--treshold", "1").err
    assert "--help" in command("score", "--treshold", "1").err


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
def test_vector_files_that_cannot_be_trusted(refused, files, content, words):
    path = files.write("odd.bin" if b"\x00" in content else "odd.txt", content)
    message = refused("--matcher", "vleu", "--vectors", path)
    assert str(path) in message
    assert all(word in message for word in words)


def test_vectors_that_are_nowhere(refused):
    assert "glove-6b-100d" in refused("--matcher", "vleu", "--vectors", "no-such-vectors")


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("c.txt", ["a ||| b", "alone"]),
        ("c.tsv", ["candidate\treference", "a\tb", "alone"]),
        ("c.jsonl", ['{"candidate": "a", "references": ["b"]}', '{"candidate": "a", "references": [null]}']),
    ],
)
def test_segment_without_reference(refused, files, name, lines):
    path = files.write(name, lines)
    message = refused("--pairs", path, inputs=False)
    assert f"{path}, line {3 if name.endswith('tsv') else 2}" in message
    assert "no reference" in message


def test_contradicting_inputs(refused, files):
    assert "--pairs" in refused("--pairs", files.candidate)
    assert "--input-format" in refused("--input-format", "tsv")
    assert "candidate" in refused("-r", files.reference, inputs=False)
    assert "reference" in refused("-c", files.candidate, inputs=False)
    assert "standard input" in refused("-c", "-", "-r", "-", inputs=False)
    assert "'yaml'" in refused("--pairs", files.candidate, "--input-format", "yaml", inputs=False)


@pytest.mark.parametrize("text", ["0", "4", "2-9", "3-1", "x", "-2", "1-", "1.5", "²", ""])
def test_segments_that_are_not_there(refused, text):
    message = refused(f"--segment={text}", subcommand="explain")
    assert "segment" in message


def test_explain_refuses_formats_of_score(refused):
    assert (
        refused("--format", "latex", subcommand="explain")
        .rstrip()
        .endswith("valid: text, json, jsonl, tsv, csv, parquet")
    )


def test_existing_output_survives_an_error(command, files):
    output = files.write("out.txt", ["precious"])
    done = command("score", "-c", "missing.txt", "-r", files.reference, "--output", output)
    assert done.code == 2
    assert output.read_text() == "precious\n"


@pytest.mark.parametrize(
    ("where", "words"), [("no/such/out.txt", "no folder"), ("candidate.txt/out.txt", "no folder"), (".", "folder")]
)
def test_output_that_cannot_be_written(command, files, where, words):
    before = sorted(files.folder.iterdir())
    output = files.folder / where
    done = command("score", "-c", files.candidate, "-r", files.reference, "-o", output)
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1
    assert sorted(files.folder.iterdir()) == before


def test_output_over_an_input(command, files):
    before = files.candidate.read_bytes()
    done = command("score", "-c", files.candidate, "-r", files.reference, "-o", files.candidate)
    assert done.code == 2
    assert "is an input" in done.err
    assert files.candidate.read_bytes() == before


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
