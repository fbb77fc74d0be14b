"""`softbleu embeddings convert`, of words and of encoders: what it says and what it leaves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from softbleu.embeddings import open_vectors
from softbleu.encoders import open_encoder

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "encoders"


@pytest.fixture(autouse=True)
def _few_pairs(monkeypatch):
    for module in ("embeddings.measure", "encoders.contexts"):
        monkeypatch.setattr(f"softbleu.{module}.PAIRS", 100)


def convert(command, *arguments):
    return command("embeddings", "convert", *arguments)


def test_a_store_and_what_became_of_the_words(command, files):
    files.write("raw.txt", ["cat 1 2", "dog 0 0", "cat 3 4", "nan nan 1", "mat 5 6"])
    done = convert(command, files.folder / "raw.txt", files.folder / "store", "--format", "json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert (found["store"], found["dtype"]) == (str(files.folder / "store"), "float16")
    assert found["rows"] == [
        {"what": "kept", "words": 3, "first": None},
        {"what": "duplicates", "words": 1, "first": "cat"},
        {"what": "zero rows", "words": 1, "first": "dog"},
        {"what": "damaged rows", "words": 1, "first": "nan"},
        {"what": "unusable words", "words": 0, "first": None},
        {"what": "passed over", "words": 0, "first": None},
    ]
    words, rows = open_vectors(files.folder / "store").head()
    assert words == ["cat", "dog", "mat"]
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1], atol=1e-3)


def test_options_reach_the_store(command, files):
    wanted = files.write("wanted.txt", ["the", "", "dog", "a", "absent", "dog"])
    done = convert(
        command, files.vectors, files.folder / "store", "--dtype", "float32", "--vocabulary", wanted, "--limit", 2,
        "--name", "tiny", "--source", "made up", "--licence", "CC0-1.0", "--keep-lengths", "-f", "json",
    )  # fmt: skip
    assert done.code == 0, done.err
    meta = json.loads((files.folder / "store" / "meta.json").read_text())
    assert [meta[key] for key in ("name", "source", "licence", "dtype", "count", "normalisation")] == [
        "tiny", "made up", "CC0-1.0", "float32", 2, "none",
    ]  # fmt: skip
    words, rows = open_vectors(files.folder / "store").head()
    assert words == ["dog", "a"]
    np.testing.assert_array_equal(rows, np.array([[0, 1, 0.1], [0.1, 0, 1]], np.float32))


def test_force(command, files):
    convert(command, files.vectors, files.folder / "store", "--limit", 2)
    said = "exists already; choose another place, or replace it with --force (force=True)"
    assert convert(command, files.vectors, files.folder / "store").err.endswith(f"store: {said}\n")
    assert len(open_vectors(files.folder / "store").head()[0]) == 2
    assert convert(command, files.vectors, files.folder / "store", "--force").code == 0
    assert len(open_vectors(files.folder / "store").head()[0]) == 6


def test_pickles_need_trust(command, files):
    models = pytest.importorskip("gensim.models")
    keyed = models.KeyedVectors(2)
    keyed.add_vectors(["a", "b"], np.eye(2, dtype=np.float32))
    keyed.save(str(files.folder / "my.kv"))
    refused = convert(command, files.folder / "my.kv", files.folder / "store")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "can run any code when it is opened; if you trust whoever made it, say so with --trust" in refused.err
    assert not (files.folder / "store").exists()
    assert convert(command, files.folder / "my.kv", files.folder / "store", "--trust").code == 0
    assert open_vectors(files.folder / "store").head()[0] == ["a", "b"]


# encoders


def test_a_model_becomes_an_encoder(command, tmp_path):
    store = tmp_path / "store"
    options = ["--layers", "1", "--dtype", "int8", "--name", "tiny", "--licence", "CC0-1.0", "--format", "json"]
    done = command("embeddings", "convert", GOLDEN / "roberta", store, *options)
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert (found["store"], found["dtype"], found["recommended"]) == (str(store), "int8", "1")
    assert found["rows"] == [{"what": "kept", "layers": 1}, {"what": "left out", "layers": 1}]
    encoder = open_encoder(store)
    assert (encoder.depth, encoder.layers) == (1, (1,))
    done = command("embeddings", "info", store, "--verify", "--format", "json")
    facts = json.loads(done.out)
    assert (facts["kind"], facts["family"], facts["licence"]) == ("encoder", "roberta", "CC0-1.0")
    assert (facts["sha256"], facts["verified"]) == (encoder.fingerprint, "yes")


def test_the_list_tells_encoders_from_words(command):
    rows = json.loads(command("embeddings", "list", "--format", "json").out)["rows"]
    kinds = {row["name"]: (row["kind"], row["state"]) for row in rows}
    assert kinds["minilm-l6"] == ("encoder", "bundled")
    assert kinds["glove-6b-100d"] == ("words", "bundled")
    assert kinds["all-mpnet-base-v2"] == ("encoder", "download")
