"""Vectors that are asked for a few words at a time are those of one selection."""

from __future__ import annotations

import numpy as np
import pytest

from softbleu.embeddings.locate import open_vectors
from softbleu.embeddings.memory import KeptVectors

WORDS = {"cat": [1.0, 0.5], "Cat": [0.25, 2.0], "dog": [-1.0, 3.0], "nil": [0.0, 0.0], "éa": [4.0, 4.0]}
ASKED = [["cat", "CAT", "Cat"], ["dog"], ["none", "cat", "nil"], [], ["DOG", "éa", "cat", "cat"], ["Cat", "dog"]]


@pytest.mark.parametrize("case", ["exact", "fallback"])
@pytest.mark.parametrize("memory", [True, False])
@pytest.mark.parametrize("most", [0, 2, 100])
def test_rows_are_those_of_a_selection(tmp_path, monkeypatch, case, memory, most):
    """Read whole from memory, and word by word from a file, however many words are kept."""
    monkeypatch.setattr("softbleu.embeddings.memory._MOST", most)
    file = tmp_path / "words.txt"
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in WORDS.items()]
    # Of a word that comes twice the first counts.
    file.write_text("".join([*lines, "cat 9 9\n"]), encoding="utf-8")
    source = open_vectors(WORDS if memory else file)
    vectors = KeptVectors(source, case)
    for words in ASKED:
        expected = source.select(words, case).rows if words else np.zeros((0, 2), np.float32)
        assert vectors.rows(words).tolist() == expected.tolist()
