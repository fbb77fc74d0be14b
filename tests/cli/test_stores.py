"""Stores by name: those of the user, and encoders that an extra brings."""

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import TEXTS, scored

from softbleu.encoders import packaged
from softbleu.encoders.convert import convert_encoder

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "encoders"


@pytest.fixture
def stores(tmp_path, monkeypatch, files):
    """A store of vectors and one of an encoder in the folder of the files; the user has none yet."""
    monkeypatch.setenv("SOFTBLEU_STORES", str(tmp_path / "stores"))
    for module in ("embeddings.measure", "encoders.stored"):
        monkeypatch.setattr(f"softbleu.{module}.PAIRS", 100)
    convert_encoder(GOLDEN / "roberta", Path(files.folder) / "store")
    return files


def listed(command, name):
    return next(row for row in scored(command, "list", name="embeddings")["rows"] if row["name"] == name)


@pytest.mark.usefixtures("stores")
def test_an_installed_store_is_found_by_its_name(command: Any) -> None:
    command("embeddings", "convert", "vectors.txt", "words", "--licence", "CC0-1.0")
    found = scored(command, "install", "words", "--name", "mine", "--language", "cze", name="embeddings")
    assert (found["name"], Path(found["store"]).name) == ("mine", "mine")
    shutil.rmtree("words")
    row = listed(command, "mine")
    assert (row["kind"], row["language"], row["state"], row["licence"]) == ("words", "cs", "installed", "CC0-1.0")
    assert row["MB"] > 0
    assert scored(command, "list", "mine", name="embeddings")["dimension"] == row["dimension"]
    scores = scored(command, *TEXTS, "-m", "vleu(threshold=0.8)", "--vectors", "mine", "--language", "cs")
    assert "|vectors:mine#" in str(scores)
    wrong = command("score", *TEXTS, "-m", "vleu(threshold=0.8)", "--vectors", "mine", "--language", "de")
    assert wrong.code == 2
    assert "VLEU: its vectors (mine) are Czech, and the text is German: name vectors of this language" in wrong.err
    scored(command, "install", "store", "--name", "own", name="embeddings")
    assert "|vectors:own#" in str(scored(command, *TEXTS, "-m", "bertscore", "--vectors", "own"))


@pytest.mark.usefixtures("stores")
def test_folders_and_files_that_are_no_store_are_refused(command: Any, refused: Any) -> None:
    Path("empty").mkdir()
    shutil.copytree(GOLDEN / "roberta", "model")
    said = {
        "empty": "a directory without meta.json is not a vector store; .* softbleu embeddings convert IN OUT",
        "model": "an unconverted model .* run 'softbleu embeddings convert model OUT'",
        "vectors.txt": "a file, not a store; make one of it: softbleu embeddings convert vectors.txt OUT",
        "nowhere": "there is no such folder",
        "store --name minilm-l6": "is the name of a set or an encoder of softbleu; give another --name",
        "store --name multilingual-e5-small": "is the name of a set or an encoder of softbleu",
        "store --name a/b": "a name has up to 100 letters, digits",
    }
    for given, message in said.items():
        line = refused("embeddings", "install", *given.split(), output=None)
        assert re.search(message, line), line
    assert command("embeddings", "install", "store").code == 0
    assert "exists already; choose another, or replace it with --force" in refused(
        "embeddings", "install", "store", output=None
    )
    assert command("embeddings", "install", "store", "--force").code == 0


@pytest.fixture
def without_extra(monkeypatch, tmp_path):
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "nothing"))
    monkeypatch.setattr(packaged, "package_folder", lambda _: None)
    monkeypatch.setattr(packaged, "machine", lambda: "x86_64")
    monkeypatch.setattr("sys.platform", "linux")


@pytest.mark.usefixtures("without_extra", "files")
@pytest.mark.parametrize(
    "given",
    [
        "-m bertscore --language cs",
        "-m vleu --language ja --vectors multilingual-e5-small",
        "-m trained --language cs",
    ],
)
def test_an_encoder_whose_extra_is_missing_is_named_with_it(refused: Any, given: str) -> None:
    line = refused("score", *TEXTS, *given.split())
    assert line == (
        "softbleu: error: multilingual-e5-small needs another package: pip install '.[multilingual]' in a clone\n"
    )


def metrics_for(command, language):
    return {row["name"]: row["as"] for row in scored(command, "--language", language, name="metrics")["rows"]}


def test_metrics_of_a_language_are_those_that_work(command: Any, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "nothing"))
    monkeypatch.setattr(packaged, "package_folder", lambda _: None)
    assert listed(command, "multilingual-e5-small")["state"] == "extra"
    assert "bertscore" not in metrics_for(command, "cs")
    first = scored(command, "--language", "cs", name="metrics")["take first"]
    assert first == "softbleu and chrf; trained needs pip install '.[multilingual]'"
    monkeypatch.setattr(packaged, "package_folder", lambda _: tmp_path)
    assert listed(command, "multilingual-e5-small")["state"] == "ready"
    assert metrics_for(command, "cs")["bertscore"] == "bertscore(vectors=multilingual-e5-small)"
    assert metrics_for(command, "en")["bertscore"] == "bertscore"
    head = "trained(head=multilingual-e5-small, vectors=multilingual-e5-small, map=multilingual-e5-small)"
    assert metrics_for(command, "cs")["trained"] == head
    assert metrics_for(command, "en")["trained"] == "trained"


@pytest.mark.usefixtures("files")
def test_the_file_of_a_package_is_read_by_its_name(refused: Any, monkeypatch: Any, files: Any) -> None:
    known = packaged.PACKAGED["multilingual-e5-small"]
    monkeypatch.setattr(packaged, "PACKAGED", {"small": replace(known, size=4)})
    (Path(files.folder) / known.file).write_bytes(b"E5S1")
    line = refused("score", *TEXTS, "-m", "vleu", "--vectors", known.file)
    assert "the model small, which is read by its name: --vectors small" in line
