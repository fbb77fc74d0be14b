"""Vectors already in memory: KeyedVectors and plain mappings."""

import hashlib
from types import SimpleNamespace

import numpy as np
import pytest
from refusing import refused

from softbleu.embeddings import open_vectors
from softbleu.embeddings.memory import KeptVectors
from softbleu.errors import VectorError

WORDS = ["the", "Cat", "cat"]
ROWS = np.array([[3, 4], [1, 0], [0, 0]], dtype=np.float32)
FINGERPRINT = hashlib.sha256(b"the\nCat\ncat\n" + ROWS.astype("<f4").tobytes()).hexdigest()


def keyed(words, rows):
    return SimpleNamespace(key_to_index={word: i for i, word in enumerate(words)}, vectors=rows)


def of_gensim(words, rows):
    vectors = pytest.importorskip("gensim.models").KeyedVectors(2)
    vectors.add_vectors(words, rows)
    return vectors


@pytest.mark.parametrize(
    "location",
    [
        dict(zip(WORDS, ROWS, strict=True)),
        dict(zip(WORDS, ROWS.astype(float).tolist(), strict=True)),
        keyed(WORDS, ROWS),
        keyed(WORDS, np.asfortranarray(ROWS.astype(np.float64))),
        of_gensim(WORDS, ROWS),
    ],
    ids=["arrays", "lists", "keyed", "keyed, other layout", "gensim's"],
)
def test_same_rows_and_fingerprint(location):
    source = open_vectors(location)
    vectors = source.select(["THE", "Cat", "CAT", "dog", "the"])
    assert vectors.rows.tolist() == [[3, 4], [1, 0], [0, 0], [0, 0], [3, 4]]
    assert vectors.norms.tolist() == [5, 1, 0, 0, 5]
    assert (vectors.zero_words, vectors.mean_norm) == (1, pytest.approx(11 / 3))
    assert vectors.fingerprint == source.fingerprint == FINGERPRINT
    assert source.select(["THE", "Cat"], "exact").known.tolist() == [False, True]


@pytest.mark.parametrize("row", [0, 4095, 4096, 5000])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e39])
def test_values_not_finite(row, value):
    rows = np.ones((5001, 2))
    rows[row, 1] = value
    source = open_vectors(keyed([f"w{i}" for i in range(5001)], rows))
    refused(VectorError, f"NaN or infinite value for word 'w{row}'", source.select, ["unrelated"])


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ({}, "0 words"),
        ({"a": []}, "give one row per word"),
        ({"a": 1.0}, r"the vector of 'a' has shape \(\)"),
        ({"a": [1, 2], "b": [1]}, r"the vector of 'b' has shape \(1,\), the first one \(2,\)"),
        ({"a": [[1, 2]]}, r"'a' has shape \(1, 2\)"),
        ({"a": ["x", "y"]}, "the vector of 'a' is no list of numbers"),
        ({1: [1, 2]}, "word 1 is no string"),
        (keyed(["a", "b"], np.ones((1, 2))), "2 words with vectors of shape"),
        (SimpleNamespace(key_to_index={"a": 0, "b": 2}, vectors=np.ones((3, 2))), "do not fit together"),
        (object(), "object: no word vectors; give a name, a path, a mapping or a KeyedVectors"),
        (None, "NoneType: no word vectors"),
    ],
)
def test_what_is_no_set_of_vectors(location, message):
    refused(VectorError, message, open_vectors, location)


SPELLINGS = {"cat": [1.0, 0.5], "Cat": [0.25, 2.0], "dog": [-1.0, 3.0], "nil": [0.0, 0.0], "éa": [4.0, 4.0]}
ASKED = [["cat", "CAT", "Cat"], ["dog"], ["none", "cat", "nil"], [], ["DOG", "éa", "cat", "cat"], ["Cat", "dog"]]


@pytest.mark.parametrize("case", ["exact", "fallback"])
@pytest.mark.parametrize("memory", [True, False])
@pytest.mark.parametrize("most", [0, 2, 100])
def test_rows_are_those_of_a_selection(tmp_path, monkeypatch, case, memory, most):
    """Read whole from memory, and word by word from a file, however many words are kept."""
    monkeypatch.setattr("softbleu.embeddings.memory._MOST", most)
    file = tmp_path / "words.txt"
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in SPELLINGS.items()]
    # Of a word that comes twice the first counts.
    file.write_text("".join([*lines, "cat 9 9\n"]), encoding="utf-8")
    source = open_vectors(SPELLINGS if memory else file)
    vectors = KeptVectors(source, case)
    for words in ASKED:
        expected = source.select(words, case).rows if words else np.zeros((0, 2), np.float32)
        assert vectors.select(words, case).rows.tolist() == expected.tolist()
