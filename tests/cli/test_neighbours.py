"""`embeddings neighbours`, `embeddings index` and `embeddings graph`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from softbleu.embeddings import write_store


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write_set(place: Path, words: list[str]) -> Path:
    rows = np.random.default_rng(4).normal(size=(len(words), 20))
    write_store(place, words, rows, dtype="float32", name="set", source="made up", licence="CC0-1.0")
    return place


def test_words_from_standard_input(command: Any, files: Any) -> None:
    def rows(*options: object) -> list[list[str]]:
        given = ("--vectors", files.vectors, *options)
        done = command("embeddings", "neighbours", *given, "-f", "tsv", stdin=b"dog\r\n\n  small \n")
        assert (done.code, done.err) == (0, "")
        header, *found = (line.split("\t") for line in done.out.splitlines())
        assert header == ["query", "rank", "word", "similarity"]
        return list(found)

    words = [["dog", "1", "hound"], ["small", "1", "little"]]
    assert [row[:3] for row in rows("-k", 1)] == [row[:3] for row in rows("-", "-k", 1)] == words
    assert float(rows("small", "-k", 1)[0][3]) == pytest.approx(0.92 / (1.01 * 0.85) ** 0.5, abs=1e-6)
    assert {row[2] for row in rows("dog", "--limit", 2)} == {"small", "little"}
    # As many as there are.
    assert rows("dog", "--count", "9" * 26) == rows("dog", "--count", 5)


def words_of(table: str) -> set[str]:
    return {line.split("\t")[2] for line in table.splitlines()[1:]}


def test_index(command: Any, tmp_path: Path) -> None:
    store = write_set(tmp_path / "set", [f"w{number}" for number in range(700)])
    asked = ("embeddings", "neighbours", "w3", "--vectors", store, "-f", "tsv")
    done = command("embeddings", "index", store, "--kind", "hnsw", "-f", "json")
    assert (done.code, done.err) == (0, "")
    facts = json.loads(done.out)
    path = Path(facts["index"])
    assert path.parent == store
    assert (facts["kind"], facts["words"], facts["bytes"]) == ("hnsw", 700, path.stat().st_size)
    used = command(*asked, "--index", "hnsw")
    assert (used.code, used.err) == (0, "")
    assert len(words_of(used.out) & words_of(command(*asked).out)) >= 8
    path.write_bytes(path.read_bytes()[:-1])
    assert "damaged; build it again with 'softbleu embeddings index'" in command(*asked, "--index", "hnsw").err


def test_graph(command: Any, files: Any, cache: Path) -> None:
    words = files.write("words.txt", ["dog", "small", "", "unheard", "dog"])
    asked = ("embeddings", "graph", "--vocabulary", words, "-t", 0.9, "--vectors", files.vectors)
    first = command(*asked)
    assert (first.code, first.err) == (0, "softbleu: 1 of 3 words have no vector\n")
    assert [line.split("\t")[:2] for line in first.out.splitlines()] == [
        ["word", "neighbour"],
        ["dog", "hound"],
        ["small", "little"],
    ]
    assert len(list(cache.rglob("targets.npy"))) == 1
    closed = command(*asked, "--quiet", environment={"SOFTBLEU_CACHE": str(words / "below")})
    assert (closed.code, closed.out, closed.err) == (0, first.out, "")
