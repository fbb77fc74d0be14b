"""FAISS indexes and neighbour graphs against brute force: ids, similarities, ties, recall; and as files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import neighbours as oracle
from refusing import refused
from shared_data import shared

from softbleu.embeddings import index as indexes
from softbleu.embeddings import open_vectors, write_store
from softbleu.embeddings.index import NeighbourGraph, build_index, cached_graph, nearest_graph, range_graph
from softbleu.embeddings.neighbours import index_store, nearest_words, word_graph
from softbleu.errors import InputError, VectorError

PRINT = "0123456789abcdef" * 4
RNG = np.random.default_rng(8)
ROWS = RNG.normal(size=(700, 12)).astype(np.float32)
ROWS[[3, 650]] = 0
ROWS[40:60] = ROWS[39]
QUERIES = np.concatenate([ROWS[[0, 3, 39, 45, 699]], RNG.normal(size=(20, 12)).astype(np.float32)])


# Small whole numbers: sums are exact, so that ties are ties for both sides.
@st.composite
def rows_of_numbers(draw):
    row = st.lists(st.integers(-2, 2), min_size=(size := draw(st.integers(1, 5))), max_size=size)
    return [np.array(draw(st.lists(row, min_size=1, max_size=most)), dtype=np.float32) for most in (40, 4)]


def found(*columns):
    pairs = (zip(*row, strict=True) for row in zip(*(each.tolist() for each in columns), strict=True))
    return [[pair for pair in row if pair[0] >= 0] for row in pairs]


@given(rows_of_numbers(), st.integers(1, 45), st.sampled_from(["exact", "hnsw"]))
def test_search_is_brute_force(data, count, kind):
    rows, queries = data
    before = rows.copy()
    ids, similarities = build_index(rows, kind).search(queries, count)
    np.testing.assert_array_equal(rows, before)
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


def test_equal_rows_and_other_queries_change_no_answer():
    rows = np.ones((500, 3), dtype=np.float32)
    rows[::2] *= 4
    ids, similarities = build_index(rows).search([[2.0, 2.0, 2.0]], 4)
    assert ids.tolist() == [[0, 1, 2, 3]]
    assert (similarities == similarities[0, 0]).all()
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
    path = indexes.save_index(index, tmp_path, PRINT)
    before = path.read_bytes()
    assert indexes.save_index(build_index(ROWS, kind), tmp_path, PRINT).read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [f"neighbours-{kind}-0123456789ab.faiss"] == [path.name]
    again = indexes.load_index(tmp_path, kind, PRINT, ROWS if with_rows else None)
    np.testing.assert_array_equal(again.places, index.places)
    here, there = index.search(QUERIES, 5), again.search(QUERIES, 5)
    np.testing.assert_array_equal(here[0], there[0])
    np.testing.assert_array_equal(here[1], there[1])
    assert indexes.load_index(tmp_path, kind, "f" * 64) is None
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "short"])
def test_damaged_file(damage, tmp_path):
    path = indexes.save_index(build_index(ROWS, "hnsw"), tmp_path, PRINT)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes({"cut": content[:-1000], "empty": b"", "flipped": content, "short": b"x"}[damage])
    said = r"neighbours-hnsw-0123456789ab\.faiss: damaged; build it again"
    refused(VectorError, said, indexes.load_index, tmp_path, "hnsw", PRINT)


def test_file_of_other_vectors(tmp_path):
    path = indexes.save_index(build_index(ROWS, "hnsw"), tmp_path, PRINT)
    for rows in (ROWS[:100], ROWS[:, :5]):
        refused(VectorError, "other vectors", indexes.load_index, tmp_path, "hnsw", PRINT, rows)
    refused(VectorError, "cannot be written", indexes.save_index, build_index(ROWS), tmp_path / "missing", PRINT)
    path.rename(indexes.index_path(tmp_path, "exact", PRINT))
    refused(VectorError, "another kind", indexes.load_index, tmp_path, "exact", PRINT)


def test_index_without_rows():
    for rows in (np.empty((0, 3)), np.zeros((2, 3))):
        index = build_index(rows)
        assert len(index) == 0
        assert index.search([[1.0, 0, 0]], 2)[0].tolist() == [[-1, -1]]
        assert index.above([[1.0, 0, 0]], -1)[0].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nearest_graph([[1.0]], [[1.0]], 0, [0]), InputError, "at least 1, not 0"),
        (lambda: build_index([[1.0, np.nan]]), VectorError, "row 0: NaN or infinite"),
        (lambda: build_index([1.0, 2.0]), VectorError, "shape"),
        (lambda: build_index([["a"]]), VectorError, "must be numbers"),
        (lambda: build_index(ROWS).search(QUERIES, 0), InputError, "at least 1, not 0"),
        (lambda: build_index(ROWS).search(QUERIES[:, :5], 1), VectorError, "dimension 5, but the index has 12"),
        (lambda: names(open_vectors(SETS), "cat", case="lower"), InputError, "unknown vector case 'lower'"),
    ],
)
def test_bad_input(call, error, message):
    refused(error, message, call)


SETS = {
    "cat": [1.0, 0.1], "Cat": [0.9, 0.3], "kitten": [2.0, 0.1], "void": [0.0, 0.0], "tax": [0.1, 1.0],
    "duty": [0.1, 2.0],
}  # fmt: skip


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def lists(graph: NeighbourGraph) -> list[list[tuple[int, float]]]:
    pairs = (graph.neighbours(query) for query in range(len(graph)))
    return [list(zip(targets.tolist(), values.tolist(), strict=True)) for targets, values in pairs]


@given(
    st.lists(st.lists(st.integers(-1, 1), min_size=3, max_size=3), min_size=1, max_size=25),
    st.integers(1, 30),
    st.floats(-1, 1),
)
def test_graphs_are_brute_force(numbers: list[list[int]], count: int, threshold: float) -> None:
    rows = np.array(numbers, dtype=np.float32)
    own = np.arange(len(rows))
    own[::3] = -1
    near, wide = nearest_graph(rows, build_index(rows), count, own), range_graph(rows, rows, threshold, own)
    assert lists(nearest_graph(rows, rows, count, own)) == lists(near)
    assert lists(range_graph(rows, build_index(rows), threshold, own)) == lists(wide)
    queries = list(zip(rows.tolist(), own.tolist(), strict=True))
    assert lists(near) == [oracle.nearest(query, rows.tolist(), count, place) for query, place in queries]
    assert lists(wide) == [oracle.above(query, rows.tolist(), threshold, place) for query, place in queries]
    np.testing.assert_array_equal(wide.above(0.5).targets, range_graph(rows, rows, max(0.5, threshold), own).targets)


KEY: dict[str, Any] = {"fingerprint": "a" * 64, "words": ["one", "two"], "scope": 3, "threshold": 0.5}
GRAPH = NeighbourGraph(np.array([0, 2, 3]), np.array([1, 2, 0]), np.array([0.9, 0.6, 0.8], dtype=np.float32))


def never() -> NeighbourGraph:
    raise RuntimeError("computed although it is kept")


def test_key_holds_everything(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"scope": 4, "threshold": 0.6, "count": 0.5, "case": "fallback", "processing": "centred"}
    changes = [{"fingerprint": "b" * 64}, *({name: value} for name, value in settings.items())]
    changes += [{"words": words} for words in (["two", "one"], ["one two"], ["\udc80", "é"])]
    for change in ({}, *changes):
        cached_graph(lambda: GRAPH, **{**KEY, **change})
    monkeypatch.setattr("softbleu.embeddings.index.GRAPH_FORMAT", 1)
    cached_graph(lambda: GRAPH, **KEY)
    assert len(list((cache / "graphs").iterdir())) == 2 + len(changes)


def names(source: Any, *words: str, **options: Any) -> list[list[str]]:
    found = nearest_words(source, words, **options)
    return [[found.scope[place] for place in found.graph.neighbours(query)[0]] for query in range(len(words))]


def test_words() -> None:
    source = open_vectors(SETS)
    assert names(source, "Cat", "tax") == [["cat", "kitten", "tax", "duty"], ["duty", "Cat", "cat", "kitten"]]
    assert names(source, "TAX", count=1) == [["duty"]]
    assert names(source, "cat", threshold=0.98) == [["kitten"]]
    assert names(source, "cat", threshold=0.0, count=2) == [["kitten", "Cat"]]
    # "Cat" is beyond the limit, so "cat" is another word; "CAT" is "cat".
    assert names(source, "Cat", "CAT", "duty", limit=1) == [["cat"], [], ["cat"]]
    source = open_vectors(SETS)
    for limit in (None, 4):
        with pytest.raises(InputError, match="no vector in mapping for 'TAXI', 'void': leave out or respell"):
            nearest_words(source, ["cat", "TAXI", "void"], limit=limit)
        refused(InputError, "'TAX'", nearest_words, source, ["TAX"], limit=limit, case="exact")
    with pytest.raises(InputError, match=r"'9' and 5 more: leave"):
        nearest_words(source, [str(number) for number in range(15)])


def test_word_graph_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    source = open_vectors(SETS)
    first = word_graph(source, ["cat", "tax", "cat", "nothing"], 0.9)
    pairs = [(word, near) for word, _, near, _ in first.pairs()]
    assert pairs == [("cat", "kitten"), ("cat", "Cat"), ("tax", "duty")]
    assert (list(first.words), list(first.unknown)) == (["cat", "tax"], ["nothing"])
    monkeypatch.setattr("softbleu.embeddings.neighbours.range_graph", never)
    assert list(word_graph(source, ["cat", "tax"], 0.9).pairs()) == list(first.pairs())
    with pytest.raises(TypeError):
        word_graph(source, ["cat", "tax"], 0.8)
    refused(InputError, "no word of the vocabulary has a vector in mapping", word_graph, source, ["nothing"], 0.9)


def test_saved_index_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(3).normal(size=(200, 8))
    words = [f"w{row}" for row in range(200)]
    write_store(tmp_path / "set", words, rows, dtype="float32", name="set", source="made up", licence="CC0-1.0")
    source = open_vectors(tmp_path / "set")
    before = names(source, "w5", "w7", kind="hnsw")
    path, count = index_store(tmp_path / "set", "hnsw")
    assert (path.parent, count) == (tmp_path / "set", 200)
    monkeypatch.setattr("softbleu.embeddings.neighbours.build_index", never)
    for each in (source, open_vectors(tmp_path / "set")):
        assert names(each, "w5", "w7", kind="hnsw") == before
    with pytest.raises(TypeError):
        names(source, "w5", kind="hnsw", limit=100)
