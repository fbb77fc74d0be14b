"""The neighbour graph against brute force; the cache it is kept in; and the same by words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import neighbours as oracle
from refusing import refused

from softbleu.embeddings import open_vectors, write_store
from softbleu.embeddings.index import NeighbourGraph, build_index, cached_graph, nearest_graph, range_graph
from softbleu.embeddings.neighbours import index_store, nearest_words, word_graph
from softbleu.errors import InputError

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
    near, wide = nearest_graph(rows, rows, count, own), range_graph(rows, rows, threshold, own)
    queries = list(zip(rows.tolist(), own.tolist(), strict=True))
    assert lists(near) == [oracle.nearest(query, rows.tolist(), count, place) for query, place in queries]
    assert lists(wide) == [oracle.above(query, rows.tolist(), threshold, place) for query, place in queries]
    np.testing.assert_array_equal(wide.above(0.5).targets, range_graph(rows, rows, max(0.5, threshold), own).targets)


def test_an_index_serves_as_scope() -> None:
    rows = np.random.default_rng(2).normal(size=(50, 4))
    for make, value in ((nearest_graph, 3), (range_graph, 0.5)):
        assert lists(make(rows, build_index(rows), value)) == lists(make(rows, rows, value))


KEY: dict[str, Any] = {"fingerprint": "a" * 64, "words": ["one", "two"], "scope": 3, "threshold": 0.5}
GRAPH = NeighbourGraph(np.array([0, 2, 3]), np.array([1, 2, 0]), np.array([0.9, 0.6, 0.8], dtype=np.float32))


def never() -> NeighbourGraph:
    raise RuntimeError("computed although it is kept")


def test_graph_is_computed_once(cache: Path) -> None:
    for compute in (lambda: GRAPH, never):
        kept = cached_graph(compute, **KEY)
        assert lists(kept) == lists(GRAPH)
        assert kept.similarities.dtype == np.float32
    assert len(list((cache / "graphs").iterdir())) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"fingerprint": "b" * 64}, {"words": ["two", "one"]}, {"words": ["one two"]}, {"scope": 4},
        {"threshold": 0.6}, {"count": 0.5}, {"case": "fallback"}, {"processing": "centred"},
        {"words": ["\udc80", "é"]},
    ],
)  # fmt: skip
def test_key_holds_everything(change: dict[str, Any], cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached_graph(lambda: GRAPH, **KEY)
    cached_graph(lambda: GRAPH, **{**KEY, **change})
    monkeypatch.setattr("softbleu.embeddings.index.GRAPH_FORMAT", 1)
    cached_graph(lambda: GRAPH, **KEY)
    assert len(list((cache / "graphs").iterdir())) == 3


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


def test_word_without_vector() -> None:
    source = open_vectors(SETS)
    for limit in (None, 4):
        with pytest.raises(InputError, match="no vector in mapping for 'TAXI', 'void': leave out or respell"):
            nearest_words(source, ["cat", "TAXI", "void"], limit=limit)
        refused(InputError, "'TAX'", nearest_words, source, ["TAX"], limit=limit, case="exact")
    with pytest.raises(InputError, match=r"'9' and 5 more: leave"):
        nearest_words(source, [str(number) for number in range(15)])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 0}, "the count must be at least 1"),
        ({"limit": 0}, "the limit must be at least 1"),
        ({"kind": "flat"}, "unknown index 'flat'"),
        ({"case": "lower"}, "unknown vector case 'lower'"),
        ({"kind": "hnsw", "threshold": 0.5}, "need an exact index"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    refused(InputError, message, lambda: nearest_words(open_vectors(SETS), ["cat"], **options))


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
