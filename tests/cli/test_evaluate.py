from __future__ import annotations

import gzip
import json
import shlex

import pytest

from softbleu.cli.examples import EXAMPLES
from softbleu.embeddings import write_store
from softbleu.embeddings.catalogue import read_catalogue

FORMATS = ["text", "json", "jsonl", "tsv", "markdown", "latex"]


def test_default_vectors(program):
    done = program("embeddings", "evaluate")
    assert (done.code, done.err) == (0, "")
    rows = {line.split()[0]: line.split()[-3:] for line in done.out.splitlines() if "spearman" in line}
    assert rows == {"WordSim-353": ["0.6548", "353", "353"], "SimLex-999": ["0.3375", "996", "999"]}


def test_coverage_of_texts(command, files):
    packed = files.write("packed.gz", gzip.compress(b"The SMALL, dog\n"))
    found = command(
        "embeddings", "evaluate", "--vectors", files.vectors, "--corpus", files.candidate, "--corpus", packed,
        "--tokenize", "13a", "-f", "json",
    )  # fmt: skip
    assert (found.code, found.err) == (0, "")
    records = json.loads(found.out)
    assert (records["vectors"], records["dimension"]) == ("vectors.txt", 3)
    rows = {(row["of"], row["measure"]): row for row in records["rows"]}
    tokens, words = rows[str(files.candidate), "tokens"], rows[str(files.candidate), "words"]
    # the cat sat on a mat / a small dog barked loudly / rain fell all night
    assert (tokens["found"], tokens["all"], tokens["value"]) == (5, 15, 5 / 15)
    assert (words["found"], words["all"]) == (4, 14)
    assert tokens["without_a_vector"] == "cat 1, sat 1, on 1, mat 1, barked 1"
    assert rows[str(packed), "tokens"]["without_a_vector"] == ", 1"
    assert rows["SimLex-999", "spearman"]["value"] is None


def test_how_words_are_looked_up(command, files):
    text = files.write("text.txt", ["The Dog"])
    for options, covered in (
        ([], 2),
        (["--vector-case", "exact"], 0),
        (["--vector-case", "exact", "--lowercase"], 2),
    ):
        done = command(
            "embeddings", "evaluate", "--vectors", files.vectors, "--corpus", text, "-f", "jsonl", *options
        )
        rows = [json.loads(line) for line in done.out.splitlines()]
        assert [row["found"] for row in rows if row["measure"] == "tokens"] == [covered]


def test_how_many_missing_words_are_shown(command, files):
    arguments = ("embeddings", "evaluate", "--vectors", files.vectors, "--corpus", files.candidate, "-f", "jsonl")
    for number in (0, 2):
        rows = [json.loads(line) for line in command(*arguments, "--missing", number).out.splitlines()]
        shown = [row["without_a_vector"] for row in rows if row["measure"] == "tokens"]
        assert shown == [["cat 1, sat 1"] if number else [None]][0]


@pytest.mark.parametrize("output_format", FORMATS)
def test_formats(command, files, output_format):
    output = files.folder / "out"
    arguments = ("embeddings", "evaluate", "--vectors", files.vectors, "-f", output_format)
    done = command(*arguments)
    assert (done.code, done.err) == (0, "")
    assert "SimLex-999" in done.out
    assert command(*arguments, "-o", output).out == ""
    assert output.read_text() == done.out


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["--vectors", "glove-7b"], ["glove-7b", "glove-6b-100d"]),
        (["--vector-case", "upper"], ["unknown vector case 'upper'", "fallback"]),
        (["--corpus", "none.txt"], ["no such file: none.txt"]),
        (["--corpus", "empty.txt"], ["empty.txt", "no tokens"]),
        (["--corpus", "strange.txt"], ["strange.txt, line 1", "--encoding"]),
        (["--tokenize", "14a"], ["unknown tokenize '14a'"]),
        (["--missing", "-1"], ["--missing", "-1"]),
        (["--format", "xml"], ["unknown format 'xml'"]),
        (["--corpus", "candidate.txt", "--output", "candidate.txt"], ["candidate.txt is an input"]),
        (["--output", "nowhere/out.txt"], ["no folder"]),
    ],
)
def test_bad_input(command, files, monkeypatch, arguments, parts):
    files.write("empty.txt", b"\n \n")
    files.write("strange.txt", b"str\xffnge\n")
    monkeypatch.chdir(files.folder)
    before = {path.name: path.read_bytes() for path in files.folder.iterdir()}
    done = command("embeddings", "evaluate", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("softbleu: error: ")
    assert done.err.count("\n") == 1
    assert all(part in done.err for part in parts), done.err
    assert {path.name: path.read_bytes() for path in files.folder.iterdir()} == before


@pytest.mark.parametrize("output_format", FORMATS)
def test_list(command, output_format):
    done = command("embeddings", "list", "-f", output_format)
    assert (done.code, done.err) == (0, "")
    for entry in read_catalogue():
        assert entry.name in done.out
    if output_format == "json":
        rows = {row["name"]: row for row in json.loads(done.out)["rows"]}
        assert rows["glove-6b-100d"]["state"] == "bundled"
        assert rows["glove-840b-300d"] == {
            "name": "glove-840b-300d",
            "kind": "words",
            "state": "download",
            "licence": "PDDL-1.0",
            "words": 2_200_000,
            "dimension": 300,
            "download_MB": 2030,
        }
        assert rows["googlenews-vectors-negative300"]["download_MB"] is None


@pytest.mark.parametrize("output_format", FORMATS)
@pytest.mark.parametrize("entry", read_catalogue(), ids=lambda entry: entry.name)
def test_list_one(command, entry, output_format):
    done = command("embeddings", "list", entry.name, "-f", output_format)
    assert (done.code, done.err) == (0, "")
    assert "step_1" in done.out or "step 1" in done.out
    assert entry.get[0] in done.out or output_format in ("json", "jsonl", "latex", "markdown")
    if output_format == "json":
        found = json.loads(done.out)
        assert [found[f"step_{number}"] for number in range(1, len(entry.get) + 1)] == list(entry.get)
        assert "note" not in found or found["note"] == entry.note


def test_unknown_set(command):
    done = command("embeddings", "list", "glove-840b")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("softbleu: error: unknown vector set 'glove-840b' (did you mean 'glove-840b-300d'?)")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "examples"), [("evaluate", EXAMPLES["embeddings evaluate"]), ("list", EXAMPLES["embeddings list"])]
)
def test_examples(command, files, monkeypatch, name, examples):
    import numpy as np

    monkeypatch.chdir(files.folder)
    write_store("my-vectors", ["a"], np.ones((1, 2)), dtype="float32", name="mine", source="here", licence="CC0-1.0")
    shown = " ".join(command("embeddings", name, "--help", environment={"COLUMNS": "200"}).out.split())
    for example in examples.values():
        assert example in shown
        start, *arguments = shlex.split(example)
        assert start == "softbleu"
        done = command(*arguments)
        assert done.code == 0, done.err
        assert done.out
