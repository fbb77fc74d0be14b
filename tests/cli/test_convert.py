"""`softbleu embeddings convert`: what it says, what it leaves, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

from softbleu.embeddings import open_vectors


@pytest.fixture(autouse=True)
def _few_pairs(monkeypatch):
    monkeypatch.setattr("softbleu.embeddings.measure.PAIRS", 100)


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


def test_text_names_every_count(command, files):
    done = convert(command, files.vectors, files.folder / "store")
    assert f"store  {files.folder / 'store'}\n" in done.out
    for what in ("kept", "duplicates", "zero rows", "damaged rows", "unusable words", "passed over"):
        assert what in done.out


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


BAD = {
    "missing": (["absent.bin", "store"], "'absent.bin': no such vector file, store or set"),
    "no vectors": (["prose.txt", "store"], "prose.txt: neither word2vec"),
    "truncated": (["cut.txt", "store"], "cut.txt: truncated at line 3: 2 of 5 vectors read"),
    "line": (["short.txt", "store"], "short.txt: line 2: 1 values found, 2 expected"),
    "type": (["vectors.txt", "store", "--dtype", "float64"], "unknown store type 'float64'"),
    "limit": (["vectors.txt", "store", "--limit", "0"], "the limit must be at least 1 word, not 0"),
    "limit, text": (["vectors.txt", "store", "--limit", "few"], "'few' is not a whole number"),
    "vocabulary": (["vectors.txt", "store", "--vocabulary", "absent.txt"], "no such file: absent.txt"),
    "empty vocabulary": (["vectors.txt", "store", "--vocabulary", "empty.txt"], "empty.txt: no words"),
    "nothing wanted": (["vectors.txt", "store", "--vocabulary", "prose.txt"], "no word was kept (6 passed over)"),
    "format": (["vectors.txt", "store", "--format", "xml"], "unknown format 'xml'"),
    "no store": (["vectors.txt", "prose.txt", "--force"], "prose.txt: exists and is no store"),
    "no folder": (["vectors.txt", "prose.txt/store"], "cannot be written"),
    "no target": (["vectors.txt"], "OUT"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_bad_input(refused, files, arguments, message):
    files.write("prose.txt", ["Once upon a time", "there was a word"])
    files.write("cut.txt", ["5 2", "a 1 2", "b 1 2"])
    files.write("short.txt", ["a 1 2", "b 1"])
    files.write("empty.txt", b"")
    assert message in refused("embeddings", "convert", *arguments, output=None)
