"""FAISS indexes against brute force: ids, similarities, ties, recall; and as files."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import neighbours as oracle
from refusing import refused
from shared_data import shared

from softbleu.embeddings import open_vectors
from softbleu.embeddings.index import build_index, index_path, load_index, nearest_graph, save_index
from softbleu.errors import InputError, UnknownNameError, VectorError

PRINT = "0123456789abcdef" * 4
RNG = np.random.default_rng(8)
ROWS = RNG.normal(size=(700, 12)).astype(np.float32)
ROWS[[3, 650]] = 0
ROWS[40:60] = ROWS[39]
QUERIES = np.concatenate([ROWS[[0, 3, 39, 45, 699]], RNG.normal(size=(20, 12)).astype(np.float32)])

# Small whole numbers: sums are exact, so that ties are ties for both sides.
rows_of_numbers = st.integers(1, 5).flatmap(
    lambda dimension: st.tuples(
        *(
            st.lists(st.lists(st.integers(-2, 2), min_size=dimension, max_size=dimension), min_size=1, max_size=most)
            for most in (40, 4)
        )
    )
)


def found(ids, similarities):
    return [
        [(int(a), float(b)) for a, b in zip(*pair, strict=True) if a >= 0]
        for pair in zip(ids, similarities, strict=True)
    ]


@given(rows_of_numbers, st.integers(1, 45), st.sampled_from(["exact", "hnsw"]))
def test_search_is_brute_force(data, count, kind):
    rows, queries = (np.array(part, dtype=np.float32) for part in data)
    ids, similarities = build_index(rows, kind).search(queries, count)
    assert ids.shape == similarities.shape == (len(queries), count)
    assert (ids.dtype, similarities.dtype) == (np.int64, np.float32)
    np.testing.assert_array_equal(ids < 0, np.isneginf(similarities))
    expected = [oracle.nearest(query, rows.tolist(), count) for query in queries.tolist()]
    if kind == "exact":
        assert found(ids, similarities) == expected
    for got, wanted in zip(found(ids, similarities), expected, strict=True):
        # A graph may not reach every row, and finds any of equal ones; what it finds is real and in order.
        assert {pair[0] for pair in got} <= {number for number, row in enumerate(rows.tolist()) if any(row)}
        assert got == sorted(got, key=lambda pair: (-pair[1], pair[0]))
        assert [value for _, value in got] <= [value for _, value in wanted]


@given(rows_of_numbers, st.floats(-1.1, 1.1))
def test_above_is_brute_force(data, threshold):
    rows, queries = (np.array(part, dtype=np.float32) for part in data)
    bounds, ids, similarities = build_index(rows).above(queries, threshold)
    parts = [
        list(zip(ids[first:last].tolist(), similarities[first:last].tolist(), strict=True))
        for first, last in pairwise(bounds.tolist())
    ]
    assert parts == [oracle.above(query, rows.tolist(), threshold) for query in queries.tolist()]


def test_many_equal_rows_beyond_those_fetched():
    rows = np.ones((500, 3), dtype=np.float32)
    rows[::2] *= 4
    ids, similarities = build_index(rows).search([[2.0, 2.0, 2.0]], 4)
    assert ids.tolist() == [[0, 1, 2, 3]]
    assert (similarities == similarities[0, 0]).all()


@pytest.mark.parametrize("kind", ["exact", "hnsw"])
def test_rows_are_left_alone_and_zero_rows_out(kind):
    before = ROWS.copy()
    index = build_index(ROWS, kind)
    np.testing.assert_array_equal(ROWS, before)
    assert (len(index), index.dimension) == (698, 12)
    ids, similarities = index.search(QUERIES, 10)
    assert not np.isin(ids, [3, 650]).any()
    assert (ids[1] == -1).all()
    true = ROWS / np.maximum(np.linalg.norm(ROWS, axis=1, keepdims=True), 1e-30)
    own = QUERIES / np.maximum(np.linalg.norm(QUERIES, axis=1, keepdims=True), 1e-30)
    expected = np.einsum("qd,qkd->qk", own, true[ids])
    np.testing.assert_allclose(similarities[ids >= 0], expected[ids >= 0], atol=1e-6)
    assert (np.diff(similarities[[0, *range(2, 25)]], axis=1) <= 0).all()


def test_answers_do_not_depend_on_company():
    index = build_index(ROWS)
    together = index.search(QUERIES, 10)
    for number, query in enumerate(QUERIES):
        for whole, alone in zip(together, index.search(query[None], 10), strict=True):
            np.testing.assert_array_equal(whole[number], alone[0])


@pytest.fixture(scope="module")
def real():
    return open_vectors(shared("data", "googlenews-26k", "googlenews-26k-300d.bin")).head(10_000)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "least"), [("exact", 1.0), ("hnsw", 0.95)])
def test_recall_on_real_vectors(real, kind, least):
    _, rows = real
    queries = rows[RNG.choice(len(rows), 300, replace=False)]
    unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float64)
    cosines = (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float64) @ unit.T
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :10]
    ids, similarities = build_index(rows, kind).search(queries, 10)
    assert np.mean([len(set(one) & set(other)) / 10 for one, other in zip(ids, best, strict=True)]) >= least
    np.testing.assert_allclose(similarities, np.take_along_axis(cosines, ids, axis=1), atol=1e-6)


@pytest.mark.parametrize("kind", ["exact", "hnsw"])
@pytest.mark.parametrize("with_rows", [True, False])
def test_files(kind, with_rows, tmp_path, capfd):
    index = build_index(ROWS, kind)
    path = save_index(index, tmp_path, PRINT)
    before = path.read_bytes()
    assert save_index(build_index(ROWS, kind), tmp_path, PRINT).read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [f"neighbours-{kind}-0123456789ab.faiss"] == [path.name]
    again = load_index(tmp_path, kind, PRINT, ROWS if with_rows else None)
    np.testing.assert_array_equal(again.places, index.places)
    here, there = index.search(QUERIES, 5), again.search(QUERIES, 5)
    np.testing.assert_array_equal(here[0], there[0])
    np.testing.assert_array_equal(here[1], there[1])
    assert load_index(tmp_path, kind, "f" * 64) is None
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "short"])
def test_damaged_file(damage, tmp_path):
    path = save_index(build_index(ROWS, "hnsw"), tmp_path, PRINT)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes({"cut": content[:-1000], "empty": b"", "flipped": content, "short": b"x"}[damage])
    with pytest.raises(VectorError, match=r"neighbours-hnsw-0123456789ab\.faiss: damaged; build it again") as caught:
        load_index(tmp_path, "hnsw", PRINT)
    assert "\n" not in str(caught.value)


def test_file_of_other_vectors(tmp_path):
    path = save_index(build_index(ROWS, "hnsw"), tmp_path, PRINT)
    for rows in (ROWS[:100], ROWS[:, :5]):
        refused(VectorError, "other vectors", load_index, tmp_path, "hnsw", PRINT, rows)
    refused(VectorError, "cannot be written", lambda: save_index(build_index(ROWS), tmp_path / "missing", PRINT))
    path.rename(index_path(tmp_path, "exact", PRINT))
    refused(VectorError, "another kind", load_index, tmp_path, "exact", PRINT)


def test_index_without_rows():
    for rows in (np.empty((0, 3)), np.zeros((2, 3))):
        index = build_index(rows)
        assert len(index) == 0
        assert index.search([[1.0, 0, 0]], 2)[0].tolist() == [[-1, -1]]
        assert index.above([[1.0, 0, 0]], -1)[0].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: build_index(ROWS, "hsnw"), UnknownNameError, "unknown index 'hsnw'"),
        (lambda: nearest_graph([[1.0]], [[1.0]], 0, [0]), InputError, "at least 1, not 0"),
        (lambda: build_index([[1.0, np.nan]]), VectorError, "row 0: NaN or infinite"),
        (lambda: build_index([1.0, 2.0]), VectorError, "shape"),
        (lambda: build_index([["a"]]), VectorError, "must be numbers"),
        (lambda: build_index(ROWS).search(QUERIES, 0), InputError, "at least 1, not 0"),
        (lambda: build_index(ROWS).search(QUERIES[:, :5], 1), VectorError, "dimension 5, but the index has 12"),
        (lambda: build_index(ROWS).above(QUERIES, float("nan")), InputError, "threshold is no number"),
        (lambda: build_index(ROWS, "hnsw").above(QUERIES, 0.5), InputError, "need an exact index, not hnsw"),
    ],
)
def test_bad_input(call, error, message):
    refused(error, message, call)
