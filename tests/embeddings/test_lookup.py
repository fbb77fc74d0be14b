"""The lookup of large stores finds what reading all words finds, clashing checksums included."""

from __future__ import annotations

import tempfile
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softbleu.embeddings import open_vectors, write_store
from softbleu.embeddings.convert import convert_vectors
from softbleu.embeddings.store import LookupBuilder, find_rows
from softbleu.errors import VectorError

CLASHES = [("gnyijstj", "etislvlf"), ("oyntrkpa", "pxjacgya")]
POOL = ["a", "A", "the", "The", "THE", "été", "日本", "new york", "x" * 300, "a\rb", *CLASHES[0], *CLASHES[1]]
WORDS = st.lists(st.one_of(st.sampled_from(POOL), st.text("aA é\r", min_size=1, max_size=3)), unique=True, min_size=1)


def write_both(words, folder):
    """Write a store with a lookup and the same without."""
    rows = np.arange(1, len(words) * 2 + 1, dtype=np.float32).reshape(-1, 2)
    for name, least in (("with", 1), ("without", 1 << 30)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("softbleu.embeddings.store.LOOKUP_FROM", least)
            write_store(folder / name, words, rows, dtype="float32", name="s", source="made up", licence="CC0-1.0")
    return folder / "with", folder / "without"


@given(
    WORDS, st.lists(st.sampled_from([*POOL, "", "absent", "\udcff", "a\n"])), st.sampled_from(["fallback", "exact"])
)
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


@pytest.mark.parametrize("present", [0, 1])
def test_a_word_that_only_shares_a_checksum_is_not_found(present, tmp_path):
    for pair in CLASHES:
        assert crc32(pair[0].encode()) == crc32(pair[1].encode())
        quick, _ = write_both([pair[present], "other"], tmp_path)
        vectors = open_vectors(quick).select([*pair, "other"])
        assert vectors.known.tolist() == [present == 0, present == 1, True]


def test_a_word_that_begins_another_is_not_taken_for_it(tmp_path):
    quick, _ = write_both(["ab", "abc", "b"], tmp_path)
    assert open_vectors(quick).select(["a", "ab", "bc", "b"]).rows[:, 0].tolist() == [0, 1, 0, 5]


def test_rows_are_found_by_place(tmp_path):
    words = [word.encode() for word in ("the", *CLASHES[0], "of")]
    (tmp_path / "vocab.txt").write_bytes(b"".join(word + b"\n" for word in words))
    builder = LookupBuilder()
    builder.add(words[:1])
    builder.add([])
    builder.add(words[1:])
    table = builder.table()
    assert table is not None
    assert (table[0][:-1] <= table[0][1:]).all()
    asked = [words[2], b"absent", words[3], words[1]]
    assert sorted(find_rows(table, tmp_path / "vocab.txt", asked)) == [(0, 2), (2, 3), (3, 1)]
    assert list(find_rows(table, tmp_path / "vocab.txt", [])) == []


def test_words_whose_text_is_too_long_for_it_have_none(monkeypatch):
    monkeypatch.setattr("softbleu.embeddings.store._LARGEST_TEXT", 6)
    builder = LookupBuilder()
    builder.add([b"ab", b"cd"])
    assert builder.table() is not None
    builder.add([b"e"])
    assert builder.table() is None


def test_a_conversion_writes_it_from_so_many_words_on(tmp_path, monkeypatch):
    monkeypatch.setattr("softbleu.embeddings.measure.PAIRS", 100)
    monkeypatch.setattr("softbleu.embeddings.store.LOOKUP_FROM", 3)
    for count in (2, 3):
        words = {f"w{number}": [1.0 + number, 1.0] for number in range(count)}
        convert_vectors(words, tmp_path / str(count), dtype="float32", normalize=False)
        assert (tmp_path / str(count) / "lookup.npy").exists() == (count >= 3)
        assert open_vectors(tmp_path / str(count)).select(["w1", "w7", "w0"]).rows[:, 0].tolist() == [2, 0, 1]


@pytest.mark.parametrize("damage", ["another shape", "another type", "no array"])
def test_a_damaged_lookup_is_refused(damage, tmp_path):
    quick, _ = write_both(["a", "b", "c"], tmp_path)
    table = np.load(quick / "lookup.npy")
    if damage == "no array":
        (quick / "lookup.npy").write_bytes(b"nonsense")
    else:
        np.save(quick / "lookup.npy", table[:, 1:] if damage == "another shape" else table.astype(np.int64))
    with pytest.raises(VectorError, match=r"lookup\.npy: .*write the store again"):
        open_vectors(quick)
