from __future__ import annotations

import gzip
import os
import pickle
import struct

import pyarrow.parquet
import pytest

from softbleu.metrics.bleu import Bleu
from softbleu.text.tokens import TOKENIZERS


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
        ("--preset", "morgan", ["morgan2014", "terp", "networks", "paraphrases"]),
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
        refused("--format", "html", subcommand="explain")
        .rstrip()
        .endswith("valid: text, json, jsonl, tsv, csv, markdown, latex, parquet")
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


@pytest.mark.parametrize(
    ("arguments", "bounds"),
    [
        (("--smooth", "add-k", "--smooth-value", "1e308"), "0 and 1000000"),
        (("--smooth", "floor", "--smooth-value", "nan"), "0 and 1000000"),
        (("--metric", "gleu", "--variant", "gleu0", "--weight", "1e308"), "0 and 1e+300"),
        (("--metric", "imeasure", "--weight", "1e308"), "1e-06 and 1000000"),
        (("--metric", "softbleu", "--beta", "1e300"), "0 and 1000000"),
    ],
)
def test_settings_whose_powers_overflow(refused, files, arguments, bounds):
    source = ("--source", files.candidate) if arguments[1] in ("gleu", "imeasure") else ()
    assert f"must lie between {bounds}, not {float(arguments[-1]):g}" in refused(*arguments, *source)


MANY = "9" * 26


def test_more_neighbours_than_there_are_words(command, files):
    arguments = ("embeddings", "neighbours", "dog", "--vectors", files.vectors, "--format", "json")
    assert command(*arguments, "--count", MANY).out == command(*arguments, "--count", 5).out


def test_more_sentences_than_can_be_counted(command):
    done = command("corpora", "generate", "--count", MANY)
    assert (done.code, done.out) == (2, "")
    assert "count must lie between 1 and 1e+15" in done.err


@pytest.mark.parametrize("content", ['{"candidate": 1%s}' % ("0" * 5000), '{"candidate": %s' % ("[" * 100_000)])
def test_json_lines_out_of_bounds(refused, files, content):
    path = files.write("deep.jsonl", [content])
    message = refused("--pairs", path, inputs=False)
    assert f"{path}, line 1" in message
    assert "digits" in message or "deep" in message


def test_annotators_of_many_digits(refused, files):
    gold = files.write("gold.m2", ["S a b", f"A 0 1|||V|||c|||REQUIRED|||-NONE-|||{MANY}"])
    candidate = files.write("one.txt", ["a b"])
    message = refused("--metric", "m2", "--gold", gold, "-c", candidate, inputs=False)
    assert f"{gold}, line 2: start, end and annotator are whole numbers" in message


@pytest.mark.parametrize("score", ["1e308", "1e-320", "1" + "0" * 5000])
@pytest.mark.parametrize("name", ["human.tsv", "human.json"])
def test_scores_that_have_no_variance(refused, files, score, name):
    systems = [("A", score), ("B", "1"), ("C", "2"), ("D", "3")]
    metric = files.write(
        "metric.tsv", ["system\tscore", *(f"{system}\t{place}" for place, system in enumerate("ABCD"))]
    )
    lines = ["system\tscore", *(f"{system}\t{value}" for system, value in systems)]
    if name.endswith("json"):
        lines = [f'{{"system": "{system}", "score": {value}}}' for system, value in systems]
    human = files.write(name, lines)
    message = refused("--scores", metric, "--human", human, subcommand="metaeval", inputs=False)
    assert str(human) in message
    assert "a number is needed" in message or "digits" in message


@pytest.mark.parametrize("segments", ["null", "3", '"x"', "[null]"])
def test_segments_that_are_no_list(refused, files, segments):
    metric = files.write(
        "m.json", [f'{{"schema": 1, "systems": [{{"name": "a", "score": 1, "segments": {segments}}}]}}']
    )
    message = refused("--scores", metric, "--human", metric, subcommand="metaeval", inputs=False)
    assert f"{metric}: no scores; JSON is read as" in message


@pytest.mark.skipif(os.name == "nt", reason="names of bytes")
def test_names_that_are_no_text(program, files):
    odd = os.fsdecode(b"odd\xff")
    candidate = files.write(odd, ["the cat sat on a mat", "a small dog barked loudly", "rain fell all night"])
    place = files.folder / "out.parquet"
    arguments = ("-c", candidate, "-r", files.reference, "-m", "exact", "-t", "0.5", "--quiet")
    done = program("sweep", *arguments, "--output", place)
    assert (done.code, done.err) == (0, "")
    assert pyarrow.parquet.read_table(place)["system"].to_pylist() == ["odd\\udcff"]
    store = files.folder / os.fsdecode(b"store\xff")
    assert program("embeddings", "convert", files.vectors, store, "--licence", odd, "--quiet").code == 0
    done = program("embeddings", "info", store)
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
