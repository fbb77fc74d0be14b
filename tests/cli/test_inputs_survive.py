"""No command writes in the place of what it reads, or of what it did not make."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from softbleu.embeddings.convert import convert_vectors

SWEEP = """
kind = "sweep"
[corpus]
candidates = ["{candidate}"]
references = ["reference.txt"]
[settings]
vectors = "./vectors.txt"
[sweep]
matchers = ["exact"]
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def place(files: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with vectors as a file and as a store, text within a store, and a definition."""
    folder: Path = files.folder
    monkeypatch.chdir(folder)
    convert_vectors("vectors.txt", "store")
    (folder / "store" / "card.md").write_text("the cat sat on a mat\n" * 20)
    (folder / "out").mkdir()
    (folder / "out" / "vocab.txt").write_bytes((folder / "vectors.txt").read_bytes())
    (folder / "same.txt").hardlink_to(folder / "vectors.txt")
    files.write("words.txt", ["dog"])
    return folder


EMBEDDINGS = {
    "neighbours": ["neighbours", "dog"],
    "similarity": ["similarity", "dog", "hound"],
    "graph": ["graph", "--vocabulary", "words.txt", "-t", "0.5"],
    "evaluate": ["evaluate"],
}


@pytest.mark.parametrize("name", EMBEDDINGS)
@pytest.mark.parametrize(
    ("vectors", "output"),
    [
        ("vectors.txt", "vectors.txt"),
        ("vectors.txt", "same.txt"),
        ("vectors.txt+store*2", "vectors.txt"),
        ("vectors.txt+store*2", "store/vectors.npy"),
        ("store", "store/vocab.txt"),
        ("store", "store/scales.npy"),
    ],
)
def test_vectors(command: Any, place: Path, name: str, vectors: str, output: str) -> None:
    before = contents(place)
    done = command("embeddings", *EMBEDDINGS[name], "--vectors", vectors, "-o", output)
    assert (done.code, done.err) == (2, f"softbleu: error: {output} is an input: write to another file\n")
    assert contents(place) == before


@pytest.mark.parametrize("name", ["score", "compare", "explain", "sweep"])
@pytest.mark.parametrize(
    ("options", "output"),
    [
        (["--vectors", "vectors.txt+store"], "vectors.txt"),
        (["--vectors", "store"], "store/vocab.txt"),
        (["--metric", "vleu(threshold=0.5, vectors='vectors.txt')"], "same.txt"),
    ],
)
def test_scores(command: Any, place: Path, name: str, options: list[str], output: str) -> None:
    before = contents(place)
    text = ["-c", "candidate.txt", "-r", "reference.txt", *(["-c", "second.txt"] if name == "compare" else [])]
    done = command(name, *text, *options, "-o", output)
    assert (done.code, done.err) == (2, f"softbleu: error: {output} is an input: write to another file\n")
    assert contents(place) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["info", "store", "-o", "store/meta.json"],
        ["index", "store", "-o", "store/vectors.npy"],
        ["graph", "--vocabulary", "words.txt", "-t", "0.5", "-o", "words.txt"],
        ["evaluate", "--corpus", "words.txt", "-o", "words.txt"],
        ["convert", "out/vocab.txt", "out", "--force"],
        ["convert", "store+vectors.txt", "store", "--force"],
        ["convert", "vectors.txt", "store", "--force", "--vocabulary", "store/vocab.txt"],
        ["train", "store/card.md", "-o", "store", "--force", "--dimension", "4", "--epochs", "1", "--min-count", "1"],
    ],
)
def test_files_and_stores(command: Any, place: Path, arguments: list[str]) -> None:
    before = contents(place)
    done = command("embeddings", *arguments)
    assert done.code == 2
    assert " is an input: write" in done.err or " holds the input " in done.err
    assert contents(place) == before


def test_another_file_of_a_store_may_be_written(command: Any, place: Path) -> None:
    assert command("embeddings", "info", "store", "-o", "store/card.md").code == 0
    assert command("embeddings", "similarity", "dog", "hound", "--vectors", "store").code == 0


@pytest.mark.parametrize("digest", ["/../../x" + "0" * 56, "", "0" * 63, "A" * 64, "0" * 64 + "\n"])
def test_a_store_names_nothing_but_its_hash(command: Any, place: Path, digest: str) -> None:
    path = place / "store" / "meta.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "sha256": digest}))
    (place / "store" / "neighbours-hnsw-").mkdir()
    before = contents(place)
    done = command("embeddings", "index", "store")
    assert (done.code, "no SHA-256 of 64 hexadecimal digits" in done.err) == (2, True)
    assert contents(place) == before


@pytest.mark.parametrize("alpha", ["1e308", "1.5", "inf", "nan"])
def test_learning_rates_that_crash_gensim(program: Any, place: Path, alpha: str) -> None:
    done = program("embeddings", "train", "store/card.md", "-o", "new", "--min-count", 1, "--alpha", alpha)
    assert done.code == 2
    assert "alpha must lie between 0 and 1" in done.err


@pytest.mark.parametrize(
    ("definition", "candidate", "options"),
    [
        ("x", "x.csv", []),
        ("x", "x.tsv", ["-f", "tsv"]),
        ("x", "*.csv", []),
        ("x", "x.manifest.json", []),
    ],
)
def test_experiments(
    command: Any, files: Any, monkeypatch: pytest.MonkeyPatch, definition: str, candidate: str, options: list[str]
) -> None:
    monkeypatch.chdir(files.folder)
    files.write(candidate.replace("*", "x"), files.candidate.read_bytes())
    files.write(f"{definition}.toml", SWEEP.format(candidate=candidate).encode())
    before = contents(files.folder)
    done = command("experiments", "run", f"{definition}.toml", "--no-picture", *options)
    assert (done.code, "is an input: write to another file" in done.err) == (2, True)
    assert contents(files.folder) == before


def test_vectors_of_an_experiment(command: Any, files: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files.folder)
    files.write("x.csv", files.vectors.read_bytes())
    text = SWEEP.format(candidate="candidate.txt").replace("vectors.txt", "x.csv").replace("exact", "vleu")
    files.write("x.toml", text.encode())
    before = contents(files.folder)
    assert command("experiments", "run", "x.toml", "--no-picture").code == 2
    assert contents(files.folder) == before


@pytest.mark.parametrize("kind", ["sweep", "spurious"])
@pytest.mark.parametrize("link", [False, True])
def test_notes_where_a_journal_would_lie(
    command: Any, files: Any, monkeypatch: pytest.MonkeyPatch, kind: str, link: bool
) -> None:
    monkeypatch.chdir(files.folder)
    text = SWEEP if kind == "sweep" else SWEEP.replace("sweep", kind) + "thresholds = [0.5]\n"
    files.write("x.toml", text.format(candidate="candidate.txt").replace("exact", "vleu").encode())
    path = files.folder / "x.unfinished"
    if link:
        (files.folder / "notes").write_text("my notes\n")
        path.symlink_to("notes")
    else:
        path.write_text("my notes\n")
    before = contents(files.folder)
    done = command("experiments", "run", "x.toml", "--no-picture")
    assert (done.code, "x.unfinished: no checkpoint of an interrupted run" in done.err) == (2, True)
    assert contents(files.folder) == before
    assert path.is_symlink() == link
