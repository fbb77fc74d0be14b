"""Names and paths: a path first, then a bundled name, else an error that lists the names."""

from pathlib import Path

import numpy as np
import pytest
from refusing import refused
from vector_files import write_store

from softbleu.embeddings import bundled_names, open_vectors
from softbleu.embeddings.locate import JoinedSource
from softbleu.errors import VectorError


def make_store(place, value):
    write_store(place, ["word"], np.full((1, 2), value))


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


def test_a_path_comes_before_a_name(room, monkeypatch):
    assert bundled_names() == ("other", "small")
    source = open_vectors("small")
    assert (source.name, source.select(["word"]).rows.tolist()) == ("small", [[1.0, 1.0]])
    # Path objects are no names.
    refused(VectorError, "'small': no such vector file", open_vectors, Path("small"))
    with monkeypatch.context() as patch:
        patch.setattr("softbleu.io.resources._ROOTS", (room / "work",))
        assert bundled_names() == ()
        refused(VectorError, r"'small': .*here are: ;", open_vectors, "small")
    make_store(room / "work" / "small", 3.0)
    assert open_vectors("small").select(["word"]).rows.tolist() == [[3.0, 3.0]]
    Path("other").write_text("word 4 4\n")
    assert open_vectors("other").select(["word"]).rows.tolist() == [[4.0, 4.0]]
    assert open_vectors(str(room / "embeddings" / "other" / ".." / "small")).name == "small"


def test_unknown_names(room):
    for name in ("smal", "unfinished", "", "no/such.bin", "../embeddings/nothing", "x" * 5000, "a\0b"):
        message = refused(VectorError, "", open_vectors, name)
        assert message.startswith(repr(name))
        assert "no such vector file, store or set; here are: other, small;" in message


ONE = {"cat": [1.0, 0.0], "dog": [3.0, 4.0], "Sun": [0.0, 1.0]}
OTHER = {"cat": [0.0, 2.0, 0.0], "dog": [0.0, 1.0, 1.0], "moon": [1.0, 0.0, 0.0]}


@pytest.mark.parametrize("weights", [(1.0, 1.0), (2.0, 0.5), (0.25, 3.0)])
def test_cosines_are_weighted_means(weights):
    joined = JoinedSource((open_vectors(ONE), open_vectors(OTHER)), weights)
    rows = joined.select(["cat", "dog"]).rows.astype(float)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert units[0] @ units[1] == pytest.approx((weights[0] * 0.6 + weights[1] * 2**-0.5) / sum(weights), abs=1e-6)


def test_a_word_of_one_set_has_the_other_part_zero():
    joined = JoinedSource((open_vectors(ONE), open_vectors(OTHER)), (1.0, 4.0))
    found = joined.select(["moon", "sun", "SUN", "Sun", "stone"])
    assert found.rows.tolist() == [[0, 0, 2, 0, 0], [0] * 5, [0] * 5, [0, 1, 0, 0, 0], [0] * 5]
    assert found.known.tolist() == [True, False, False, True, False]
    # The first set says which words come first.
    words, rows = JoinedSource((open_vectors(OTHER), open_vectors(ONE)), (1.0, 1.0)).head(2)
    assert words == ["cat", "dog"]
    np.testing.assert_allclose(rows[0], [0, 1, 0, 1, 0])


def test_names_weights_and_content_are_its_identity(tmp_path):
    rows = np.eye(2, dtype=np.float32)
    for name in ("one", "other"):
        write_store(tmp_path / name, ["a", "b"], rows, name=name)
    joined = open_vectors(f"{tmp_path}/one*2+{tmp_path}/other")
    assert joined.name == "one*2+other"
    assert joined.dimension == 4
    assert open_vectors(f"{tmp_path}/one+{tmp_path}/other").fingerprint != joined.fingerprint
    assert open_vectors(f"{tmp_path}/one*2.0+{tmp_path}/other").fingerprint == joined.fingerprint
    # Where there is a file of that name, the plus is part of it.
    (tmp_path / "a+b.txt").write_text("cat 1 2\ndog 3 4\n")
    assert open_vectors(str(tmp_path / "a+b.txt")).dimension == 2
    for text in ("glove-6b-100d+", "+glove-6b-100d", "glove-6b-100d*0+glove-6b-100d", "glove-6b-100d+no"):
        refused(VectorError, r"^[^\n]+$", open_vectors, text)
