"""`softbleu experiments run`."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet
import pytest

from softbleu.engine.checkpoint import Checkpoint

DEFINITION = """
kind = "sweep"
title = "Tiny"
[corpus]
candidates = ["candidate.txt", "second.txt"]
references = ["reference.txt"]
[settings]
vectors = "./vectors.txt"
[sweep]
matchers = ["exact", "vleu"]
thresholds = ["0.5", "0.8"]
"""
INPUTS = {"candidate.txt", "reference.txt", "second.txt", "vectors.txt", "tiny.toml"}


@pytest.fixture
def definition(files: Any) -> Path:
    path: Path = files.write("tiny.toml", DEFINITION.encode())
    return path


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_outputs_are_named_after_the_file(program: Any, files: Any, definition: Path) -> None:
    done = program("experiments", "run", definition)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("softbleu: note: ")
    assert done.err.count("\n") == 1
    assert names_in(files.folder) == INPUTS | {"tiny.csv", "tiny.svg", "tiny.ranks.svg", "tiny.manifest.json"}
    rows = list(csv.DictReader(io.StringIO((files.folder / "tiny.csv").read_text(), newline="")))
    assert [(row["system"], row["matcher"], row["threshold"]) for row in rows] == [
        (system, matcher, threshold)
        for system in ("candidate", "second")
        for matcher, threshold in (("exact", ""), ("vleu", "0.5"), ("vleu", "0.8"))
    ]
    assert ElementTree.fromstring((files.folder / "tiny.svg").read_bytes()).tag.endswith("svg")
    manifest = json.loads((files.folder / "tiny.manifest.json").read_text())
    assert manifest["inputs"] == {
        name: hashlib.sha256((files.folder / name).read_bytes()).hexdigest() for name in INPUTS - {"vectors.txt"}
    }
    assert [signature.count("threshold:*") for signature in manifest["signatures"]] == [0, 1]


def test_the_table_is_that_of_a_sweep(command: Any, files: Any, definition: Path) -> None:
    assert command("experiments", "run", definition, "--quiet").err == ""
    arguments = ["-c", files.candidate, "-c", files.second, "-r", files.reference, "--vectors", files.vectors]
    swept = command("sweep", *arguments, "--matcher", "exact", "--matcher", "vleu", "-t", "0.5,0.8", "-f", "csv")
    assert (files.folder / "tiny.csv").read_text() == swept.out


@pytest.mark.parametrize("name", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_formats_and_folders(command: Any, files: Any, definition: Path, name: str) -> None:
    results = files.folder / "results"
    results.mkdir()
    done = command("experiments", "run", definition, "-o", results, "-f", name, "--no-picture", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert names_in(results) == {f"tiny.{name}", "tiny.manifest.json"}
    assert names_in(files.folder) == INPUTS | {"results"}
    if name == "parquet":
        assert pyarrow.parquet.read_table(results / "tiny.parquet").num_rows == 6


@pytest.mark.parametrize(("name", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_formats_of_pictures(command: Any, files: Any, definition: Path, name: str, magic: bytes) -> None:
    assert command("experiments", "run", definition, "--picture-format", name, "--quiet").code == 0
    pictures = {path.name: path.read_bytes()[:4] for path in files.folder.glob(f"*.{name}")}
    assert pictures == {f"tiny.{name}": magic, f"tiny.ranks.{name}": magic}


def test_unknown_formats_of_pictures(command: Any, files: Any, definition: Path) -> None:
    done = command("experiments", "run", definition, "--picture-format", "gif")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "unknown picture format 'gif'; valid: svg, png, pdf" in done.err
    assert names_in(files.folder) == INPUTS


def test_run_again_gives_the_same(command: Any, files: Any, definition: Path) -> None:
    def outputs() -> list[bytes]:
        assert command("experiments", "run", definition, "--jobs", "2").code == 0
        return [(files.folder / name).read_bytes() for name in ("tiny.csv", "tiny.svg")]

    assert outputs() == outputs()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind", "kinds", "kind of experiment"),
        ('"sweep"', '["sweep"]', "kind of experiment"),
        ('title = "Tiny"', "title = ", "no TOML"),
        ("[settings]", "[setting]", "did you mean 'settings'"),
        ("thresholds =", "threshold =", "tiny.toml, [sweep]: unknown key 'threshold' (did you mean 'thresholds'?)"),
        ('["exact", "vleu"]', '["vlue"]', "did you mean 'vleu'"),
        ('["exact", "vleu"]', "3", "must be a list"),
        ("second.txt", "none.txt", "no file matches 'none.txt'"),
        ("second.txt", "*.none", "no file matches '*.none'"),
        ("./vectors.txt", "./none.txt", "none.txt"),
    ],
)
def test_bad_definitions(command: Any, files: Any, definition: Path, old: str, new: str, message: str) -> None:
    assert old in DEFINITION
    definition.write_text(DEFINITION.replace(old, new))
    done = command("experiments", "run", definition)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("softbleu: error: ")
    assert done.err.count("\n") == 1
    assert message in done.err
    assert names_in(files.folder) == INPUTS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "html"], "unknown format 'html'; valid: text, json"),
        (["--jobs", "0"], "number of jobs"),
        (["--colour"], "No such option"),
    ],
)
def test_bad_options(
    command: Any, files: Any, definition: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(files.folder)
    done = command("experiments", "run", definition, *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert names_in(files.folder) == INPUTS


def test_no_such_file(command: Any, tmp_path: Path) -> None:
    done = command("experiments", "run", tmp_path / "none.toml")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "none.toml: cannot be read (No such file or directory)" in done.err
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib(command: Any, files: Any, definition: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = command("experiments", "run", definition)
    assert done.code == 2
    assert done.err == "softbleu: error: pictures need another package: pip install 'softbleu[plots]'\n"
    assert names_in(files.folder) == INPUTS
    assert command("experiments", "run", definition, "--no-picture").code == 0


def test_what_is_there_stays_until_the_end(command: Any, files: Any, definition: Path) -> None:
    (files.folder / "tiny.csv").write_text("before")
    definition.write_text(DEFINITION.replace("./vectors.txt", "./none.txt"))
    assert command("experiments", "run", definition).code == 2
    assert (files.folder / "tiny.csv").read_text() == "before"


def test_an_unfinished_run_goes_on(
    command: Any, files: Any, definition: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from softbleu.engine.runner import Runner

    original, scored = Runner.collect, []

    def stop(runner: Any, measures: Any, **more: Any) -> Any:
        if scored == ["candidate"]:
            raise KeyboardInterrupt
        scored.append(more["system"])
        return original(runner, measures, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Runner, "collect", stop)
        assert command("experiments", "run", definition).code == 130
    assert names_in(files.folder) == INPUTS | {"tiny.unfinished"}
    journal, known = files.folder / "tiny.unfinished", []
    read = Checkpoint.read

    def seen(*given: Any) -> Any:
        known.append(read(*given))
        return known[-1]

    monkeypatch.setattr(Checkpoint, "read", seen)
    assert command("experiments", "run", definition, "--quiet").code == 0
    rows = list(csv.DictReader(io.StringIO((files.folder / "tiny.csv").read_text(), newline="")))
    assert [blocks for blocks, _ in known] == [3, 0]
    assert [row["system"] for row in rows] == ["candidate"] * 3 + ["second"] * 3
    assert not journal.exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_closed_folder(command: Any, files: Any, definition: Path) -> None:
    closed = files.folder / "closed"
    closed.mkdir(mode=0o555)
    done = command("experiments", "run", definition, "-o", closed)
    assert done.code == 2
    assert "no permission" in done.err
    assert list(closed.iterdir()) == []


SPURIOUS = """
kind = "spurious"
[corpus]
CORPUS
[settings]
vectors = "./vectors.txt"
[spurious]
matchers = ["vleu"]
thresholds = [0.5]
remedies = ["plain"]
"""
GRAMMAR = "S -> N 'barks'\nN -> 'dog' | 'hound'\n# synonyms: dog hound\n"


def test_grammars_of_one_name_are_told_apart(command: Any, files: Any) -> None:
    for folder, text in (("one", GRAMMAR), ("two", GRAMMAR.replace("barks", "runs"))):
        (files.folder / folder).mkdir()
        files.write(f"{folder}/g.cfg", text.encode())
    corpus = 'grammars = ["one/g.cfg", "two/g.cfg"]\ncount = 4'
    path = files.write("tiny.toml", SPURIOUS.replace("CORPUS", corpus).encode())
    assert command("experiments", "run", path, "--quiet").code == 0
    rows = csv.DictReader(io.StringIO((files.folder / "tiny.summary.csv").read_text(), newline=""))
    assert list(dict.fromkeys(row["text"] for row in rows)) == ["one/g.cfg", "two/g.cfg"]
    pictures = {name for name in names_in(files.folder) if name.endswith(".svg")}
    assert pictures == {f"tiny.{name}-g.cfg{kind}.svg" for name in ("one", "two") for kind in ("", ".similarities")}
    twice = files.write("twice.toml", path.read_bytes().replace(b"two/", b"one/"))
    done = command("experiments", "run", twice)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "[corpus] 'grammars' has one twice" in done.err


def test_pictures_of_candidates_in_folders(command: Any, files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files.folder)
    for folder in ("one", "two"):
        (files.folder / folder).mkdir()
        files.write(f"{folder}/x.txt", ["a little hound barked", "the small dog", "rain fell"])
    corpus = 'candidates = ["one/x.txt", "two/x.txt"]\nreferences = ["reference.txt"]'
    files.write("tiny.toml", SPURIOUS.replace("CORPUS", corpus).encode())
    done = command("experiments", "run", "tiny.toml", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert {name for name in names_in(files.folder) if name.endswith(".svg")} == {
        "tiny.one-x.txt.svg",
        "tiny.two-x.txt.svg",
    }


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("count", '"abc"', "'count' must be a whole number, not 'abc'"),
        ("count", "1.5", "'count' must be a whole number, not 1.5"),
        ("count", "true", "'count' must be a whole number, not True"),
        ("seed", "1979-05-27", "'seed' must be a whole number, not datetime.date(1979, 5, 27)"),
        ("seed", "nan", "nan is no finite number"),
        ("pairing", '"a\\u0000b"', "a text with a NUL"),
    ],
)
def test_values_of_other_types(command: Any, files: Any, key: str, value: str, message: str) -> None:
    corpus = f'grammars = ["alternations"]\n{key} = {value}'
    path = files.write("tiny.toml", SPURIOUS.replace("CORPUS", corpus).encode())
    done = command("experiments", "run", path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err


@pytest.mark.parametrize("line", ["at = [1]", 'at = "p99"', "at = true"])
def test_the_threshold_of_partners_is_a_number(command: Any, files: Any, line: str) -> None:
    path = files.write(
        "tiny.toml", SPURIOUS.replace("CORPUS", 'grammars = ["alternations"]').encode() + line.encode()
    )
    done = command("experiments", "run", path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "[spurious] 'at' must be a number" in done.err
