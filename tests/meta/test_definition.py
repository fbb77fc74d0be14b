"""Experiments as TOML files: what is read, what is refused, what is noted of a run."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from refusing import refused

from softbleu.errors import InputError
from softbleu.meta.experiments import Definition, Outcome, run_definition
from softbleu.meta.sweep import table_of
from softbleu.report.experiments import outcome_pictures
from softbleu.results.api import score

VECTORS = {"dog": [1.0, 0.1], "hound": [0.9, 0.3], "cat": [0.2, 1.0]}
TEXTS = {"a.txt": ["a dog barks", "the cat sat"], "b.txt": ["the hound barks", "a cat sat"]}
TEXTS |= {"ref.txt": ["the dog barks", "the cat sat"]}
PLAIN = """
kind = "sweep"
title = "Tiny"
[corpus]
candidates = ["data/a.txt", "data/b.txt"]
references = ["data/ref.txt"]
[settings]
vectors = "data/vectors.txt"
order = 2
[sweep]
matchers = ["exact", "vleu"]
thresholds = ["0.5:0.7:0.1", 0.9]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    for name, lines in TEXTS.items():
        (data / name).write_text("".join(f"{line}\n" for line in lines))
    vectors = (f"{word} {' '.join(map(str, numbers))}\n" for word, numbers in VECTORS.items())
    (data / "vectors.txt").write_text("".join(vectors))
    return tmp_path


def write(folder: Path, content: str | bytes, name: str = "tiny.toml") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def rows_of(outcome: Outcome) -> list[dict[str, object]]:
    return table_of(outcome.sweep).records()


CANDIDATES = 'candidates = ["data/a.txt", "data/b.txt"]'
SOURCE = 'source = "data/source.txt"\nencoding = "latin-1"\n[settings]\nmetric = "gleu"'


@pytest.mark.parametrize(
    ("old", "new", "files", "rows"),
    [
        ("[settings]", "[settings]", ("a.txt", "b.txt", "ref.txt"), 10),
        (CANDIDATES, 'candidates = ["data/[ab]*.txt"]', ("a.txt", "b.txt", "ref.txt"), 10),
        (f'{CANDIDATES}\nreferences = ["data/ref.txt"]', 'pairs = "data/pairs.txt"', ("pairs.txt",), 5),
        ("[settings]", SOURCE, ("a.txt", "b.txt", "ref.txt", "source.txt"), 10),
    ],
    ids=["names", "a pattern", "pairs", "a source in Latin-1"],
)
def test_which_files_a_definition_names(folder: Path, old: str, new: str, files: tuple[str, ...], rows: int) -> None:
    write(folder, "a dog barks ||| the dog barks\n", "data/pairs.txt")
    write(folder, "a d\xf6g bark\nthe cat sit\n".encode("latin-1"), "data/source.txt")
    outcome = run_definition(write(folder, PLAIN.replace(old, new)))
    assert set(outcome.manifest()["inputs"]) == {"tiny.toml", *(f"data/{name}" for name in files)}
    assert len(outcome.sweep or ()) == rows
    assert all(("metric:gleu|" in signature) == (new == SOURCE) for signature in outcome.manifest()["signatures"])


def test_a_run_is_that_of_its_settings(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(folder, PLAIN)
    definition = Definition.read(path)
    assert (definition.name, definition.kind, definition.title) == ("tiny", "sweep", "Tiny")
    assert set(definition.tables) == {"corpus", "settings", "sweep"}
    assert definition.settings() == {"vectors": str(folder / "data/vectors.txt"), "order": 2}
    assert definition.variants() is None
    # Paths are relative to the file, wherever it is run from.
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    outcome = run_definition(path)
    expected = []
    for name in ("a.txt", "b.txt"):
        for options in ({}, *({"matcher": "vleu", "threshold": t} for t in (0.5, 0.6, 0.7, 0.9))):
            texts = [[line] for line in TEXTS["ref.txt"]]
            given = {"vectors": str(folder / "data/vectors.txt"), "order": 2, **options}
            result = score(TEXTS[name], texts, **given)
            expected.append((result.score, result.signature))
    assert [(row["score"], row["signature"]) for row in rows_of(outcome)] == expected
    assert [row["threshold"] for row in rows_of(outcome)] == [None, 0.5, 0.6, 0.7, 0.9] * 2
    # All thresholds of a matcher are one line of the manifest.
    exact, soft = expected[0][1], expected[1][1].replace("|threshold:0.5|", "|threshold:*|")
    assert outcome.manifest()["signatures"] == [exact, soft]
    assert len(outcome.sweep) == 10


def test_variants(folder: Path) -> None:
    other = PLAIN + '[variants]\nplain = {}\nlow = { order = 1 }\n"other set" = { vectors = "./data/other.txt" }\n'
    (folder / "data/other.txt").write_text("dog 1 0\nhound 0 1\n")
    path = write(folder, other)
    assert (Definition.read(path).variants() or {})["other set"] == {"vectors": str(folder / "data/other.txt")}
    rows = rows_of(run_definition(path))
    assert [row["variant"] for row in rows[:15]] == ["plain"] * 5 + ["low"] * 5 + ["other set"] * 5
    scores = {(row["variant"], row["threshold"]): row["score"] for row in rows if row["system"] == rows[-1]["system"]}
    assert len({scores[name, 0.9] for name in ("plain", "low", "other set")}) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"kind = ", r"tiny\.toml: no TOML \(Invalid value \(at end of document\)\)"),
        (b"\xff", r"tiny\.toml: not UTF-8 \(byte 1\)"),
        (b"", r"tiny\.toml: unknown kind of experiment 'None'; valid: sweep, spurious"),
        (b'kind = "sweeps"', "'sweeps' .did you mean 'sweep'.*; valid: sweep, spurious"),
        (b'kind = ["sweep"]', "kind of experiment"),
        (b'kind = "sweep"\n[colours]', "table 'colours' .*; valid: corpus, settings, sweep, variants"),
        (b'kind = "sweep"\nsweep = 3', r"'sweep' must be a table: write \[sweep\] on a line of its own"),
    ],
)
def test_files_that_are_no_definitions(folder: Path, content: bytes, message: str) -> None:
    refused(InputError, message, lambda: Definition.read(write(folder, content)))


MATCHERS, REFERENCES, THRESHOLDS = 'matchers = ["exact", "vleu"]', '["data/ref.txt"]', '["0.5:0.7:0.1", 0.9]'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("order = 2", "colour = 2", r"tiny\.toml, \[settings\]: unknown key 'colour'; valid: aggregate"),
        ("matchers =", "matcher =", r"\[sweep\]: unknown key 'matcher' .did you mean 'matchers'"),
        (f"{MATCHERS}\nthresholds = {THRESHOLDS}", "", r"\[sweep\]: it needs 'matchers', 'thresholds'"),
        (f"references = {REFERENCES}", "", r"\[corpus\]: it needs 'references'"),
        ('"exact", "vleu"', '"vlue"', "did you mean 'vleu'"),
        ("0.9]", "1.9]", "between 0 and 1, not 1.9"),
        ("0.5:0.7:0.1", "0.5:0.7", "'from:to:step'"),
        ("data/b.txt", "data/none*.txt", r"no file matches 'data/none\*\.txt'"),
        ("data/b.txt", "data/**none.txt", r"no file matches 'data/\*\*none\.txt'"),
        ("data/b.txt", f"{'a' * 300}/*", r"tiny\.toml: .*(cannot be looked for \(File name|no file matches 'a*)"),
        ("data/ref.txt", "data/none.txt", r"no such file: .*data/none\.txt"),
        ("data/vectors.txt", "data/none.txt", r"data/none\.txt"),
        # values of another kind
        ('["exact", "vleu"]', '"vleu"', r"tiny\.toml, \[sweep\]: 'matchers' must be a list"),
        (REFERENCES, "[1]", r"'references' must be a list of text"),
        (REFERENCES, f"{REFERENCES}\nsource = 1", r"'source' must be text"),
        ("order = 2", 'order = "2"', "order"),
        ("order = 2", "metric = 2", r"\[settings\]: a metric is a name, an expression or a value, not int"),
        ("order = 2", "threshold = [0.5]", r"\[settings\]: threshold must be a number or text, not \[0.5\]"),
        ('["exact", "vleu"]', "[1979-05-27]", r"'matchers' must be a list of text"),
        ("[sweep]", "[sweep]\nmetrics = true", r"'metrics' must be a list of text"),
        ("[sweep]", "[sweep]\nvary = { order = [[2]] }", r"\[sweep\]: 'vary' must be a table of lists"),
        ("[sweep]", '[variants]\nlow = "order"\n[sweep]', r"\[variants.low\]: must be a table"),
        ("[sweep]", "[variants]\nlow = { colour = 1 }\n[sweep]", "unknown key 'colour'"),
    ],
)
def test_definitions_that_are_wrong(folder: Path, old: str, new: str, message: str) -> None:
    assert old in PLAIN
    refused(ValueError, message, lambda: run_definition(write(folder, PLAIN.replace(old, new))))


@pytest.mark.skipif(os.name != "posix", reason="pipes with names")
def test_a_pipe_is_no_text_of_an_experiment(folder: Path) -> None:
    """It would be waited for without end; texts are read more than once."""
    os.mkfifo(folder / "data" / "pipe")
    definition = Definition.read(write(folder, PLAIN.replace("data/ref.txt", "data/pipe")))
    refused(InputError, r"data/pipe: no plain file", definition.files)


def test_pictures(folder: Path) -> None:
    outcome = run_definition(write(folder, PLAIN))
    drawn = dict(outcome_pictures(outcome))
    assert list(drawn) == ["", ".ranks"]
    assert all(b"<svg" in each for each in drawn.values())
    assert outcome.sweep is not None
    one = replace(outcome, sweep=[row for row in outcome.sweep if row.system == outcome.sweep[0].system])
    assert list(dict(outcome_pictures(one, "pdf"))) == [""]
    assert list(outcome_pictures(Outcome(outcome.definition, outcome.started, 0.0))) == []
