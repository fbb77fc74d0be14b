"""Stores: what is written is what is read, at each precision; damaged ones are refused."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

import numpy as np
import pytest

from softbleu.embeddings import open_vectors, write_store
from softbleu.embeddings.store import LookupBuilder, quantise, store_fingerprint
from softbleu.errors import VectorError

WORDS = ["the", "The", "zero", "new york", "été"]
ROWS = np.random.default_rng(5).normal(size=(5, 8)).astype(np.float32)
ROWS[2] = 0


def write(place, dtype="int8", **changes):
    arguments: dict[str, Any] = {
        "words": WORDS, "rows": ROWS, "name": "tiny", "source": "made up", "licence": "CC0-1.0", **changes
    }  # fmt: skip
    return write_store(place, dtype=dtype, **arguments)


def edit(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.fixture
def store(tmp_path):
    write(tmp_path / "tiny")
    return tmp_path / "tiny"


@pytest.mark.parametrize(("dtype", "error"), [("int8", 0.5 / 127), ("float16", 2**-11), ("float32", 0.0)])
def test_round_trip(dtype, error, tmp_path):
    fingerprint = write(tmp_path / "tiny", dtype)
    source = open_vectors(tmp_path / "tiny")
    vectors = source.select(["new york", "THE", "The", "été", "absent", "Zero"])
    expected = ROWS[[3, 0, 1, 4, 2, 2]]
    largest = np.abs(expected).max(axis=1, keepdims=True)
    assert (np.abs(vectors.rows - expected) <= error * largest * 1.00001).all()
    assert vectors.known.tolist() == [True] * 4 + [False] * 2
    assert vectors.zero_words == 1
    assert vectors.rows.dtype == np.float32
    assert vectors.fingerprint == source.fingerprint == fingerprint
    assert (vectors.name, source.dimension) == ("tiny", 8)
    assert source.select([]).rows.shape == (0, 8)
    assert source.select(["absent"]).norms.tolist() == [0.0]


def test_layout_on_disk(store, tmp_path):
    parts = [(store / part).read_bytes() for part in ("vectors.npy", "scales.npy", "vocab.txt")]
    assert parts[2] == "the\nThe\nzero\nnew york\nété\n".encode()
    codes, scales = np.load(store / "vectors.npy"), np.load(store / "scales.npy")
    assert (codes.dtype, codes.shape, scales.dtype, scales.shape) == (np.int8, (5, 8), np.float32, (5,))
    np.testing.assert_array_equal(open_vectors(store).select(WORDS).rows, codes * scales[:, None])
    assert json.loads((store / "meta.json").read_text()) == {
        "format": 1, "name": "tiny", "dimension": 8, "count": 5, "dtype": "int8", "source": "made up",
        "licence": "CC0-1.0", "sha256": hashlib.sha256(b"".join(parts)).hexdigest(),
    }  # fmt: skip
    write(tmp_path / "floats", "float16", extra={"corpus": "none"})
    assert not (tmp_path / "floats" / "scales.npy").exists()
    assert json.loads((tmp_path / "floats" / "meta.json").read_text())["corpus"] == "none"


def test_writing_over_a_store_keeps_what_else_lies_there(store):
    (store / "README.md").write_text("a card")
    fingerprint = write(store, "float32", rows=ROWS + 1)
    np.testing.assert_array_equal(open_vectors(store).select(WORDS).rows, ROWS + 1)
    names = sorted(path.name for path in store.iterdir())
    assert names == ["README.md", "meta.json", "vectors.npy", "vocab.txt"]
    assert [path.name for path in store.parent.iterdir()] == ["tiny"]
    assert store_fingerprint(store) == fingerprint


def test_a_failed_write_leaves_the_old_store(store):
    before = {path.name: path.read_bytes() for path in store.iterdir()}
    broken = ROWS.copy()
    broken[4, 2] = np.nan
    with pytest.raises(VectorError, match="row 4: NaN, infinite or too large for int8"):
        write(store, rows=broken)
    assert {path.name: path.read_bytes() for path in store.iterdir()} == before
    assert [path.name for path in store.parent.iterdir()] == ["tiny"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": WORDS[:4]}, "4 words but 5 rows"),
        ({"words": ["a", "b", "a", "c", "d"]}, "'a' appears twice"),
        ({"words": ["a", "b\n", "c", "d", "e"]}, "empty or holds a line break"),
        ({"words": ["a", "", "c", "d", "e"]}, "empty or holds a line break"),
        ({"words": ["a", "\udcff", "c", "d", "e"]}, "not valid Unicode"),
        ({"rows": ROWS[0]}, "must be floats of shape"),
        ({"rows": ROWS.astype(int)}, "must be floats of shape"),
        ({"rows": ROWS + np.float32(np.inf)}, "row 0: NaN, infinite"),
        ({"rows": ROWS + 1e5, "dtype": "float16"}, "row 0: NaN, infinite or too large for float16"),
        ({"dtype": "int4"}, "unknown store type 'int4'; valid: int8, float16, float32"),
        ({"extra": {"sha256": "mine"}}, "extra entries may not be named sha256"),
    ],
)
def test_what_cannot_be_written(changes, message, tmp_path):
    with pytest.raises(VectorError, match=message):
        write(tmp_path / "tiny", **changes)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_of_directories_is_not_replaced(tmp_path):
    (tmp_path / "home" / "things").mkdir(parents=True)
    with pytest.raises(VectorError, match="home: exists and is no store"):
        write(tmp_path / "home")
    assert (tmp_path / "home" / "things").is_dir()


def test_quantise_extremes():
    rows = np.array([[1e-45, 0], [3e38, -3e38], [190 * 2.0**-149, 0], [0, 0]], dtype=np.float32)
    codes, scales = quantise(rows)
    assert codes[1].tolist() == [127, -127]
    assert codes[2].tolist() == [127, 0]
    assert scales[3] == 0
    assert np.isfinite(codes * scales[:, None]).all()
    assert np.abs(codes.astype(int)).max() == 127


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, r"store format 2 is newer than this softbleu reads \(1\); upgrade softbleu"),
        ({"format": None}, "no store format is named"),
        ({"dimension": "8"}, "'dimension' is '8', not a whole number from 1"),
        ({"dimension": 9}, r"vectors.npy: int8 of shape \(5, 8\), int8 of shape \(5, 9\) expected"),
        ({"count": 6}, r"vectors.npy: int8 of shape \(5, 8\), int8 of shape \(6, 8\) expected"),
        ({"dtype": "float32"}, "vectors.npy: int8 of shape .* float32 of shape .* expected"),
        ({"dtype": "object"}, "unknown dtype 'object'; valid: int8, float16, float32"),
        ({"sha256": None}, "'sha256' is no SHA-256 of 64 hexadecimal digits"),
        ({"count": -1}, "'count' is -1"),
        ({"count": True}, "'count' is True"),
        ({"dimension": 0}, "'dimension' is 0"),
        *(({"threshold": wrong}, "'threshold' is no number from 0 to 1") for wrong in (1.5, -0.1, True, "0.8")),
    ],
)
def test_strange_meta(changes, message, store):
    edit(store / "meta.json", **changes)
    with pytest.raises(VectorError, match=message):
        open_vectors(store)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]"])
def test_unreadable_meta(content, store):
    (store / "meta.json").write_bytes(content)
    with pytest.raises(VectorError, match=r"meta\.json.*write the store again"):
        open_vectors(store)
    (store / "meta.json").unlink()
    with pytest.raises(VectorError, match=r"a directory without meta\.json is no vector store"):
        open_vectors(store)


@pytest.mark.parametrize("part", ["vectors.npy", "scales.npy", "vocab.txt"])
def test_missing_and_cut_parts(part, store):
    content = (store / part).read_bytes()
    (store / part).write_bytes(content[:-8])
    with pytest.raises(VectorError, match=rf"{part}: .*write the store again"):
        open_vectors(store)
    (store / part).unlink()
    with pytest.raises(VectorError, match=rf"{part}: .*write the store again"):
        open_vectors(store)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: np.array([[{}]], dtype=object), "no array of numbers in NumPy's format"),
        (np.asfortranarray, ".*kept by columns .*; write the store again"),
    ],
)
def test_arrays_that_are_not_loaded(change, message, store):
    np.save(store / "vectors.npy", change(np.load(store / "vectors.npy")), allow_pickle=True)
    with pytest.raises(VectorError, match=rf"vectors\.npy: {message}"):
        open_vectors(store)


@pytest.mark.parametrize("place", [0, 3])
def test_values_not_finite_in_a_wanted_row(place, store):
    scales = np.load(store / "scales.npy")
    scales[place] = np.nan
    np.save(store / "scales.npy", scales)
    with pytest.raises(VectorError, match=f"NaN or infinite value for word '{WORDS[place]}'"):
        open_vectors(store).select(["The", *WORDS])


def test_first_of_repeated_words_wins_in_a_store_made_elsewhere(store):
    (store / "vocab.txt").write_bytes(b"a\nb\nc\na\nb")
    vectors = open_vectors(store).select(["b", "a"])
    np.testing.assert_allclose(vectors.rows, ROWS[[1, 0]], atol=0.02)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
@pytest.mark.parametrize("part", ["vectors.npy", "scales.npy", "vocab.txt", "lookup.npy"])
def test_pipes_in_the_place_of_files_are_refused(part, store):
    (store / part).unlink(missing_ok=True)
    os.mkfifo(store / part)
    with pytest.raises(VectorError, match=rf"{part}: no plain file"):
        open_vectors(store)


def test_a_lookup_of_rows_that_are_not_there(store):
    builder = LookupBuilder()
    builder.add([word.encode() for word in WORDS])
    table = builder.table()
    assert table is not None
    table[1] += 4_000_000
    np.save(store / "lookup.npy", table)
    with pytest.raises(VectorError, match=r"lookup\.npy: no row 400000\d; write the store again"):
        open_vectors(store).select(WORDS)
