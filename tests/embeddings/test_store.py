"""Stores: what is written is what is read, at each precision; damaged ones are refused."""

import hashlib
import json
import os
import tempfile
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import neighbours as oracle
from refusing import refused
from shared_data import shared
from tables import each_row
from vector_files import write_store

from softbleu.embeddings import open_vectors
from softbleu.embeddings.neighbours import NeighbourGraph, NeighbourIndex, cached_graph, nearest_words
from softbleu.embeddings.vectors import lookup_table, quantise, store_fingerprint
from softbleu.errors import InputError, VectorError

WORDS = ["the", "The", "zero", "new york", "été"]
ROWS = np.random.default_rng(5).normal(size=(5, 8)).astype(np.float32)
ROWS[2] = 0


def write(place, dtype="int8", **changes):
    return write_store(place, dtype=dtype, **{"words": WORDS, "rows": ROWS, **changes})


@pytest.fixture
def store(tmp_path):
    write(tmp_path / "tiny")
    return tmp_path / "tiny"


@pytest.mark.parametrize(("dtype", "error"), [("int8", 0.5 / 127), ("float16", 2**-11), ("float32", 0.0)])
def test_written_vectors_are_read_back(dtype, error, tmp_path):
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
        "format": 1, "name": "set", "dimension": 8, "count": 5, "dtype": "int8", "source": "made up",
        "licence": "CC0-1.0", "sha256": hashlib.sha256(b"".join(parts)).hexdigest(),
    }  # fmt: skip
    write(tmp_path / "floats", "float16", extra={"corpus": "none"})
    assert not (tmp_path / "floats" / "scales.npy").exists()
    assert json.loads((tmp_path / "floats" / "meta.json").read_text())["corpus"] == "none"
    (store / "README.md").write_text("a card")
    fingerprint = write(store, "float32", rows=ROWS + 1)
    np.testing.assert_array_equal(open_vectors(store).select(WORDS).rows, ROWS + 1)
    assert sorted(path.name for path in store.iterdir()) == ["README.md", "meta.json", "vectors.npy", "vocab.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["floats", "tiny"]
    assert store_fingerprint(store) == fingerprint


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": ROWS + np.float32(np.inf)}, "row 0: NaN, infinite"),
        ({"rows": ROWS + 1e5, "dtype": "float16"}, "row 0: NaN, infinite or too large for float16"),
        ({"dtype": "int4"}, "unknown store type 'int4'; valid: int8, float16, float32"),
    ],
)
def test_vectors_that_fit_no_store_are_refused(changes, message, tmp_path):
    refused(VectorError, message, lambda: write(tmp_path / "tiny", **changes))
    assert list(tmp_path.iterdir()) == []


def test_extreme_values_are_quantised_to_finite_ones():
    rows = np.array([[1e-45, 0], [3e38, -3e38], [190 * 2.0**-149, 0], [0, 0]], dtype=np.float32)
    codes, scales = quantise(rows)
    assert codes[1].tolist() == [127, -127]
    assert codes[2].tolist() == [127, 0]
    assert scales[3] == 0
    assert np.isfinite(codes * scales[:, None]).all()
    assert np.abs(codes.astype(int)).max() == 127


@each_row("embeddings/refusals.toml", "entry", "says", table="meta")
def test_strange_values_of_meta_are_refused(entry, says, store):
    meta = json.loads((store / "meta.json").read_text())
    (store / "meta.json").write_text(json.dumps(meta | json.loads(entry)))
    refused(VectorError, says, open_vectors, store)


def rewritten(part, change):
    """Damage to an array: it is kept with what the change makes of it."""

    def damage(store):
        np.save(store / part, change(np.load(store / part)), allow_pickle=True)

    return damage


def cut(store, part):
    (store / part).write_bytes((store / part).read_bytes()[:-8])


def removed(store, part):
    (store / part).unlink()


def piped(store, part):
    (store / part).unlink(missing_ok=True)
    os.mkfifo(store / part)


def beyond_the_end(table):
    table[1] += 4_000_000
    return table


def with_nan(place):
    def change(scales):
        scales[place] = np.nan
        return scales

    return rewritten("scales.npy", change)


PARTS = ("vectors.npy", "scales.npy", "vocab.txt")
AGAIN = "write the store again"
NO_NUMBERS = "no array of numbers in NumPy's format"
DAMAGE = [
    *((partial(Path.write_bytes, data=content), "meta.json", AGAIN) for content in (b"", b"{", b"\xff\xfe", b"[]")),
    (Path.unlink, "meta.json", "a directory without meta.json is not a vector store"),
    *((partial(damage, part=part), "", f"{part}: .*{AGAIN}") for damage in (cut, removed) for part in PARTS),
    *((partial(piped, part=part), "", f"{part}: no plain file") for part in (*PARTS, "lookup.npy")),
    (rewritten("vectors.npy", lambda _: np.array([[{}]], dtype=object)), "", rf"vectors\.npy: {NO_NUMBERS}"),
    (rewritten("vectors.npy", np.asfortranarray), "", rf"vectors\.npy: .*kept by columns .*; {AGAIN}"),
    (rewritten("lookup.npy", lambda table: table[:, 1:]), "", rf"lookup\.npy: .*{AGAIN}"),
    (rewritten("lookup.npy", lambda table: table.astype(np.int64)), "", rf"lookup\.npy: .*{AGAIN}"),
    (partial(Path.write_bytes, data=b"nonsense"), "lookup.npy", rf"lookup\.npy: .*{AGAIN}"),
    (rewritten("lookup.npy", beyond_the_end), "", rf"lookup\.npy: no row 400000\d; {AGAIN}"),
    *((with_nan(place), "", f"NaN or infinite value for word '{WORDS[place]}'") for place in (0, 3)),
]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
@pytest.mark.parametrize(("damage", "part", "message"), DAMAGE)
def test_damaged_stores_are_refused(damage, part, message, tmp_path, monkeypatch):
    if "lookup" in message:
        monkeypatch.setattr("softbleu.embeddings.vectors.LOOKUP_FROM", 1)
    write(tmp_path / "tiny")
    damage(tmp_path / "tiny" / part)
    refused(VectorError, message, lambda: open_vectors(tmp_path / "tiny").select(["The", *WORDS]))


def test_first_of_repeated_words_wins_in_a_store_made_elsewhere(store):
    (store / "vocab.txt").write_bytes(b"a\nb\nc\na\nb")
    vectors = open_vectors(store).select(["b", "a"])
    np.testing.assert_allclose(vectors.rows, ROWS[[1, 0]], atol=0.02)


# The lookup of large stores finds what reading all words finds, clashing checksums included.


CLASHES = [("gnyijstj", "etislvlf"), ("oyntrkpa", "pxjacgya")]
POOL = ["a", "A", "the", "The", "THE", "été", "日本", "new york", "x" * 300, "a\rb", *CLASHES[0], *CLASHES[1]]
WORD = st.one_of(st.sampled_from(POOL), st.text("aA é\r", min_size=1, max_size=3))
ASKED = st.lists(st.sampled_from([*POOL, "", "absent", "\udcff", "a\n"]))


def write_both(words, folder):
    """Write a store with a lookup and the same without."""
    rows = np.arange(1, len(words) * 2 + 1, dtype=np.float32).reshape(-1, 2)
    for name, least in (("with", 1), ("without", 1 << 30)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("softbleu.embeddings.vectors.LOOKUP_FROM", least)
            write(folder / name, "float32", words=words, rows=rows)
    return folder / "with", folder / "without"


@settings(max_examples=15)
@given(st.lists(WORD, unique=True, min_size=1), ASKED, st.sampled_from(["fallback", "exact"]))
def test_both_ways_find_the_same(words, asked, case):
    with tempfile.TemporaryDirectory() as name:
        quick, slow = write_both(words, Path(name))
        assert (quick / "lookup.npy").exists()
        assert not (slow / "lookup.npy").exists()
        asked = [*asked, *words]
        ours, theirs = (open_vectors(place).select(asked, case) for place in (quick, slow))
        np.testing.assert_array_equal(ours.rows, theirs.rows)
        assert ours.fingerprint == theirs.fingerprint
        # and what both find is right
        known = {word: [2.0 * row + 1, 2.0 * row + 2] for row, word in enumerate(words)}
        spelt = [word if word in known or case == "exact" else word.lower() for word in asked]
        assert ours.rows.tolist() == [known.get(word, [0.0, 0.0]) for word in spelt]


def test_there_is_no_lookup_of_words_whose_text_is_too_long_for_it(tmp_path, monkeypatch):
    assert all(crc32(one.encode()) == crc32(other.encode()) for one, other in CLASHES)
    monkeypatch.setattr("softbleu.embeddings.vectors._LARGEST_TEXT", 7)
    for text in (b"the\nof\n", b"the\nofe\n"):
        (tmp_path / "vocab.txt").write_bytes(text)
        assert (lookup_table(tmp_path / "vocab.txt") is None) == (len(text) > 7)


# Neighbours by FAISS against brute force: words, similarities, ties; and graphs that are kept.


RNG = np.random.default_rng(8)
INDEXED = RNG.normal(size=(700, 12)).astype(np.float32)
INDEXED[[3, 650]] = 0
INDEXED[40:60] = INDEXED[39]
QUERIES = np.concatenate([INDEXED[[0, 3, 39, 45, 699]], RNG.normal(size=(20, 12)).astype(np.float32)])
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


def test_equal_rows_other_queries_and_no_rows() -> None:
    rows = np.ones((500, 3), dtype=np.float32)
    rows[::2] *= 4
    assert NeighbourIndex(rows).nearest(np.full((1, 3), 2.0), 4, NONE[:1]).targets.tolist() == [0, 1, 2, 3]
    index = NeighbourIndex(INDEXED)
    alone = [index.nearest(query[None], 10, NONE[:1]).neighbours(0) for query in QUERIES]
    assert lists(index.nearest(QUERIES, 10, NONE)) == alone
    assert alone[1] == []
    for rows in (np.empty((0, 3)), np.zeros((2, 3))):
        index, query = NeighbourIndex(rows), np.array([[1.0, 0, 0]])
        assert lists(index.nearest(query, 2, NONE[:1])) == lists(index.above(query, -1, NONE[:1])) == [[]]


@pytest.mark.slow
def test_neighbours_of_real_vectors() -> None:
    _, rows = open_vectors(shared("data", "googlenews-26k", "googlenews-26k-300d.bin")).head(10_000)
    queries = rows[RNG.choice(len(rows), 300, replace=False)]
    unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float64)
    cosines = (queries / np.linalg.norm(queries, axis=1, keepdims=True)).astype(np.float64) @ unit.T
    graph = NeighbourIndex(rows).nearest(queries, 10, np.full(300, -1))
    np.testing.assert_array_equal(np.argsort(-cosines, axis=1, kind="stable")[:, :10].ravel(), graph.targets)
    np.testing.assert_allclose(graph.similarities, cosines[graph.owners, graph.targets], atol=1e-6)


def test_the_key_of_a_graph_holds_all_it_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))
    key: dict[str, Any] = {"fingerprint": "a" * 64, "words": ["one", "two"], "scope": 3, "count": 5}
    graph = NeighbourIndex(INDEXED).nearest(QUERIES, 3, NONE)
    changes: list[dict[str, Any]] = [{"fingerprint": "b" * 64}, {"scope": 4}, {"count": 6}, {"processing": "mean"}]
    changes += [{"words": words} for words in (["two", "one"], ["one two"], ["\udc80", "é"])]
    for change in ({}, *changes, {}):
        cached_graph(lambda: graph, **{**key, **change})
    monkeypatch.setattr("softbleu.embeddings.neighbours.GRAPH_FORMAT", 1)
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


def test_neighbours_have_other_words_in_order() -> None:
    assert names("Cat", "tax") == [["cat", "kitten", "tax", "duty"], ["duty", "Cat", "cat", "kitten"]]
    assert names("TAX", count=1) == [["duty"]]
    assert names("cat", threshold=0.98) == [["kitten"]]
    assert names("cat", threshold=0.0, count=2) == [["kitten", "Cat"]]
    # "Cat" is beyond the limit, so "cat" is another word; "CAT" is "cat".
    assert names("Cat", "CAT", "duty", limit=1) == [["cat"], [], ["cat"]]
    for limit in (None, 4):
        said = "no vector in mapping for 'TAXI', 'void': leave out or respell"
        refused(InputError, said, names, "cat", "TAXI", "void", limit=limit)
        refused(InputError, "'TAX'", names, "TAX", limit=limit, case="exact")
    refused(InputError, r"'9' and 5 more: leave", names, *map(str, range(15)))
