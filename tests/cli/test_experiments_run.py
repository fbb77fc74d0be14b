"""`softbleu experiments run`."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from cli.conftest import names_in
from judged_systems import OUTPUTS, PEOPLE, REFERENCE

from softbleu.engine.checkpoint import Checkpoint
from softbleu.engine.runner import Runner
from softbleu.meta.metaeval import metaeval

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


def test_outputs_are_named_after_the_file(command: Any, files: Any, definition: Path) -> None:
    done = command("experiments", "run", definition)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("softbleu: note: ")
    assert done.err.count("\n") == 1
    assert names_in(files.folder) == INPUTS | {"tiny.csv", "tiny.svg", "tiny.ranks.svg", "tiny.manifest.json"}
    texts = ["-c", files.candidate, "-c", files.second, "-r", files.reference, "--vectors", files.vectors]
    swept = command("sweep", *texts, "--matcher", "exact", "--matcher", "vleu", "-t", "0.5,0.8", "-f", "csv")
    assert (files.folder / "tiny.csv").read_text() == swept.out
    assert swept.out.count("\n") == 7
    assert ElementTree.fromstring((files.folder / "tiny.svg").read_bytes()).tag.endswith("svg")
    manifest = json.loads((files.folder / "tiny.manifest.json").read_text())
    read = {name: (files.folder / name).read_bytes() for name in INPUTS - {"vectors.txt"}}
    # Nothing depends on when it was run.
    before = {path.name: path.read_bytes() for path in files.folder.iterdir() if "manifest" not in path.name}
    assert command("experiments", "run", definition, "-q").code == 0
    assert {name: (files.folder / name).read_bytes() for name in before} == before
    assert manifest["inputs"] == {name: hashlib.sha256(content).hexdigest() for name, content in read.items()}
    assert [signature.count("threshold:*") for signature in manifest["signatures"]] == [0, 1]


def test_formats_and_folders(command: Any, files: Any, definition: Path) -> None:
    folder = files.folder / "results" / "deep"
    done = command("experiments", "run", definition, "-o", folder, "-f", "md", "--picture-format", "png", "-q")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert names_in(folder) == {"tiny.md", "tiny.png", "tiny.ranks.png", "tiny.manifest.json"}
    assert (folder / "tiny.png").read_bytes().startswith(b"\x89PNG")
    assert names_in(files.folder) == INPUTS | {"results"}


def test_without_matplotlib(command: Any, refused: Any, definition: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = "softbleu: error: pictures need another package: pip install 'softbleu[plots]'\n"
    assert refused("experiments", "run", definition, output=None) == said
    assert command("experiments", "run", definition, "--no-picture").code == 0


def test_an_unfinished_run_goes_on(command: Any, files: Any, definition: Path, monkeypatch: Any) -> None:
    collect, scored = Runner.collect, []

    def stop(runner: Any, measures: Any, **more: Any) -> Any:
        if scored == ["candidate"]:
            raise KeyboardInterrupt
        scored.append(more["system"])
        return collect(runner, measures, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Runner, "collect", stop)
        assert command("experiments", "run", definition).code == 130
    assert names_in(files.folder) == INPUTS | {"tiny.unfinished"}
    read, known = Checkpoint.read, []
    monkeypatch.setattr(Checkpoint, "read", lambda *given: known.append(read(*given)) or known[-1])
    assert command("experiments", "run", definition, "--quiet").code == 0
    assert [blocks for blocks, _ in known] == [3, 0]
    assert [row["system"] for row in table(files.folder, "tiny.csv")] == ["candidate"] * 3 + ["second"] * 3
    assert not (files.folder / "tiny.unfinished").exists()


SPURIOUS = """
kind = "spurious"
[corpus]
CORPUS
[settings]
vectors = "./vectors.txt"
[spurious]
matchers = ["vleu"]
thresholds = [0.5]
variants = ["plain"]
"""
GRAMMAR = "S -> N 'barks'\nN -> 'dog' | 'hound'\n# synonyms: dog hound\n"


def test_grammars_of_one_name_are_told_apart(command: Any, files: Any) -> None:
    for folder, text in (("one", GRAMMAR), ("two", GRAMMAR.replace("barks", "runs"))):
        (files.folder / folder).mkdir()
        files.write(f"{folder}/g.cfg", text.encode())
    corpus = 'grammars = ["one/g.cfg", "two/g.cfg"]\ncount = 4'
    path = files.write("tiny.toml", SPURIOUS.replace("CORPUS", corpus).encode())
    assert command("experiments", "run", path, "--quiet").code == 0
    rows = table(files.folder, "tiny.summary.csv")
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
    pictures = {name for name in names_in(files.folder) if name.endswith(".svg")}
    assert pictures == {"tiny.one-x.txt.svg", "tiny.two-x.txt.svg"}


AGREE = ['kind = "metaeval"', "[metaeval]", 'questions = ["systems", "williams"]', 'against = "chrF"', "samples = 20"]
AGREE += ["[settings]", 'tokenize = "none"', "[metrics]", 'chrF = "chrf"', '"BLEU, short" = "bleu(order=2)"']
AGREE += ['TER = "ter"']


@pytest.fixture
def study(files: Any, monkeypatch: Any) -> Path:
    for name, lines in {**OUTPUTS, "reference": REFERENCE}.items():
        files.write(f"{name}.txt", lines)
    for name, scores in PEOPLE.items():
        files.write(f"{name}.tsv", [f"{system} {score}" for system, score in scores.items()])
    texts = f'candidates = {json.dumps([f"{name}.txt" for name in OUTPUTS])}\nreferences = ["reference.txt"]\n'
    tables = "".join(f'[data.{name}]\n{texts}human = ["people={name}.tsv"]\n' for name in PEOPLE)
    files.write("agree.toml", [*AGREE, tables])
    vary = ["[calibration.vary]", "order = [1, 2]", "[settings]", 'metric = "bleu"']
    files.write("choose.toml", ['kind = "calibration"', *vary, tables])
    monkeypatch.chdir(files.folder)
    return Path(files.folder)


def table(folder: Path, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / name).read_text(), newline="")))


def test_agreement_as_an_experiment(command: Any, study: Path) -> None:
    done = command("experiments", "run", "agree.toml", "--no-picture", "-q")
    assert (done.code, done.err) == (0, "")
    rows = table(study, "agree.systems.csv")
    names = ["chrF", "BLEU, short", "TER"]
    assert [(row["data"], row["metric"]) for row in rows] == [(data, name) for data in PEOPLE for name in names]
    texts = {"candidates": OUTPUTS, "references": REFERENCE, "human": {"people": PEOPLE["y"]}}
    alone = metaeval("systems", metrics={"TER": "ter"}, **texts, samples=20).table
    found = next(row for row in rows if row["data"] == "y" and row["metric"] == "TER")
    assert float(found["pearson"]) == alone.rows[0][list(alone.columns).index("pearson")]
    # Errors are turned round: more of them is worse.
    assert float(found["pearson"]) > 0
    tests = table(study, "agree.williams.csv")
    assert all("chrF" in (row["better"], row["worse"]) for row in tests)
    assert len(tests) == len(PEOPLE) * 2 * 2
    manifest = json.loads((study / "agree.manifest.json").read_text())
    assert list(manifest["metrics"]) == names
    assert {"x.tsv", "a.txt", "reference.txt", "agree.toml"} <= set(manifest["inputs"])


def test_calibration_as_an_experiment(command: Any, study: Path) -> None:
    done = command("experiments", "run", "choose.toml", "--no-picture", "-q")
    assert (done.code, done.err) == (0, "")
    assert [row["held out"] for row in table(study, "choose.csv")] == [*PEOPLE, "mean"]
    assert [row["order"] for row in table(study, "choose.grid.csv")] == ["1", "2"]


GRAMMARS = SPURIOUS.replace("CORPUS", 'grammars = ["alternations"]\nLINE')
ONE_LIST = 'human = ["people=x.tsv"]'


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("tiny", "kind", "kinds", "kind of experiment"),
        ("tiny", '"sweep"', '["sweep"]', "kind of experiment"),
        ("tiny", 'title = "Tiny"', "title = ", "no TOML"),
        ("tiny", "[settings]", "[setting]", "did you mean 'settings'"),
        ("tiny", "thresholds =", "threshold =", "[sweep]: unknown key 'threshold' (did you mean 'thresholds'?)"),
        ("tiny", '["exact", "vleu"]', '["vlue"]', "did you mean 'vleu'"),
        ("tiny", '["exact", "vleu"]', "3", "must be a list"),
        ("tiny", "second.txt", "none.txt", "no file matches 'none.txt'"),
        ("tiny", "second.txt", "*.none", "no file matches '*.none'"),
        ("tiny", "./vectors.txt", "./none.txt", "none.txt"),
        ("spurious", "LINE", 'count = "abc"', "'count' must be a whole number, not 'abc'"),
        ("spurious", "LINE", "count = true", "'count' must be a whole number, not True"),
        ("spurious", "LINE", "seed = 1979-05-27", "'seed' must be a whole number, not datetime.date(1979, 5, 27)"),
        ("spurious", "LINE", "seed = nan", "nan is no finite number"),
        ("spurious", "LINE", 'pairing = "a\\u0000b"', "a text with a NUL"),
        ("spurious", "variants", "at = [1]\nvariants", "[spurious] 'at' must be a number"),
        ("spurious", "variants", "at = true\nvariants", "[spurious] 'at' must be a number"),
        ("agree", "[metrics]", "metrics = 3\n[nothing]", "unknown"),
        ("agree", "[data.x]", "[data]\nx = 3\n[data.w]", "[data.x] must be a table, not 3"),
        ("agree", ONE_LIST, "human = 3", "[data.x] 'human' must be a list of text, not 3"),
        ("agree", ONE_LIST, 'huma = ["x"]', "unknown"),
        ("agree", ONE_LIST, 'human = ["w.tsv"]', "w.tsv"),
        ("agree", 'TER = "ter"', 'TER = "tur"', "[metrics] 'TER': unknown metric 'tur'"),
        ("agree", 'against = "chrF"', 'against = "chr"', "unknown metric 'chr'"),
        ("agree", '"systems", "williams"', '"sistems"', "sistems"),
    ],
)
def test_mistakes_are_one_line(
    refused: Any, files: Any, request: Any, name: str, old: str, new: str, message: str
) -> None:
    known = {"tiny": DEFINITION, "spurious": GRAMMARS}
    text = known.get(name) or (request.getfixturevalue("study") / "agree.toml").read_text()
    assert old in text
    files.write(f"{name}.toml", text.replace(old, new, 1).replace("LINE", "").encode())
    files.write(f"{name}.csv", ["before"])
    assert message in refused("experiments", "run", f"{name}.toml", "--no-picture", output=None)
