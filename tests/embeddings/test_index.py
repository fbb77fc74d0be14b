"""Neighbours by FAISS against brute force: words, similarities, ties; and graphs that are kept."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import neighbours as oracle
from shared_data import shared

from softbleu.embeddings import open_vectors
from softbleu.embeddings.index import NeighbourGraph, NeighbourIndex, cached_graph
from softbleu.embeddings.neighbours import nearest_words
from softbleu.errors import InputError

RNG = np.random.default_rng(8)
ROWS = RNG.normal(size=(700, 12)).astype(np.float32)
ROWS[[3, 650]] = 0
ROWS[40:60] = ROWS[39]
QUERIES = np.concatenate([ROWS[[0, 3, 39, 45, 699]], RNG.normal(size=(20, 12)).astype(np.float32)])
NONE = np.full(len(QUERIES), -1)  # No query is among the rows


def lists(graph: NeighbourGraph) -> list[list[tuple[int, float]]]:
    return [graph.neighbours(query) for query in range(len(graph.bounds) - 1)]


# Small whole numbers: sums are exact, so that ties are ties for both sides.
@st.composite
def rows_of_numbers(draw):
    row = st.lists(st.integers(-2, 2), min_size=(size := draw(st.integers(1, 5))), max_size=size)
    return [np.array(draw(st.lists(row, min_size=1, max_size=most)), dtype=np.float32) for most in (40, 4)]


@given(rows_of_numbers(), st.integers(1, 45), st.floats(-1, 1), st.data())
def test_neighbours_are_brute_force(arrays, count, threshold, data) -> None:
    rows, queries = arrays
    before = rows.copy()
    places = data.draw(st.lists(st.integers(-1, len(rows) - 1), min_size=len(queries), max_size=len(queries)))
    index = NeighbourIndex(rows)
    pairs = list(zip(queries.tolist(), places, strict=True))
    itself = np.array(places)
    near, wide = index.nearest(queries, count, itself), index.above(queries, threshold, itself)
    assert lists(near) == [oracle.nearest(query, rows.tolist(), count, place) for query, place in pairs]
    assert lists(wide) == [oracle.above(query, rows.tolist(), threshold, place) for query, place in pairs]
    np.testing.assert_array_equal(rows, before)


def test_equal_rows_and_other_queries_change_no_answer() -> None:
    rows = np.ones((500, 3), dtype=np.float32)
    rows[::2] *= 4
    assert NeighbourIndex(rows).nearest(np.full((1, 3), 2.0), 4, NONE[:1]).targets.tolist() == [0, 1, 2, 3]
    index = NeighbourIndex(ROWS)
    alone = [index.nearest(query[None], 10, NONE[:1]).neighbours(0) for query in QUERIES]
    assert lists(index.nearest(QUERIES, 10, NONE)) == alone
    assert alone[1] == []


@pytest.mark.slow
def test_neighbours_of_real_vectors() -> None:
    _, rows = open_vectors(shared("data", "googlenews-26k", "googlenews-26k-300d.bin")).head(10_000)
    queries = rows[RNG.choice(len(rows), 300, replace=False)]
    unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float64)
    cosines = (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float64) @ unit.T
    graph = NeighbourIndex(rows).nearest(queries, 10, np.full(300, -1))
    np.testing.assert_array_equal(np.argsort(-cosines, axis=1, kind="stable")[:, :10].ravel(), graph.targets)
    np.testing.assert_allclose(graph.similarities, cosines[graph.owners, graph.targets], atol=1e-6)


def test_index_without_rows() -> None:
    for rows in (np.empty((0, 3)), np.zeros((2, 3))):
        index = NeighbourIndex(rows)
        query = np.array([[1.0, 0, 0]])
        assert lists(index.nearest(query, 2, NONE[:1])) == lists(index.above(query, -1, NONE[:1])) == [[]]


def test_the_key_of_a_graph_holds_all_it_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))
    key: dict[str, Any] = {"fingerprint": "a" * 64, "words": ["one", "two"], "scope": 3, "count": 5}
    graph = NeighbourIndex(ROWS).nearest(QUERIES, 3, NONE)
    changes: list[dict[str, Any]] = [{"fingerprint": "b" * 64}, {"scope": 4}, {"count": 6}, {"processing": "mean"}]
    changes += [{"words": words} for words in (["two", "one"], ["one two"], ["\udc80", "é"])]
    for change in ({}, *changes, {}):
        cached_graph(lambda: graph, **{**key, **change})
    monkeypatch.setattr("softbleu.embeddings.index.GRAPH_FORMAT", 1)
    cached_graph(lambda: graph, **key)
    assert len(list((tmp_path / "cache" / "graphs").iterdir())) == 2 + len(changes)


SETS = {
    "cat": [1.0, 0.1], "Cat": [0.9, 0.3], "kitten": [2.0, 0.1], "void": [0.0, 0.0], "tax": [0.1, 1.0],
    "duty": [0.1, 2.0],
}  # fmt: skip


def names(*words: str, **options: Any) -> list[list[str]]:
    rows = nearest_words(open_vectors(SETS), words, **options)
    assert [rank for word, rank, *_ in rows if word == words[0]] == [
        *range(1, 1 + sum(row[0] == words[0] for row in rows))
    ]
    return [[neighbour for word, _, neighbour, _ in rows if word == asked] for asked in words]


def test_words() -> None:
    assert names("Cat", "tax") == [["cat", "kitten", "tax", "duty"], ["duty", "Cat", "cat", "kitten"]]
    assert names("TAX", count=1) == [["duty"]]
    assert names("cat", threshold=0.98) == [["kitten"]]
    assert names("cat", threshold=0.0, count=2) == [["kitten", "Cat"]]
    # "Cat" is beyond the limit, so "cat" is another word; "CAT" is "cat".
    assert names("Cat", "CAT", "duty", limit=1) == [["cat"], [], ["cat"]]
    for limit in (None, 4):
        with pytest.raises(InputError, match="no vector in mapping for 'TAXI', 'void': leave out or respell"):
            names("cat", "TAXI", "void", limit=limit)
        with pytest.raises(InputError, match="'TAX'"):
            names("TAX", limit=limit, case="exact")
    with pytest.raises(InputError, match=r"'9' and 5 more: leave"):
        names(*map(str, range(15)))
