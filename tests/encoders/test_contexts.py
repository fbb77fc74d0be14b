"""Quantiles of the cosines of random pairs of words in context."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from softbleu.encoders import Pieces, open_encoder
from softbleu.encoders.contexts import context_similarities
from softbleu.encoders.convert import convert_encoder

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "encoders"
KEPT = ["p50", "p75", "p90", "p95", "p97.5", "p99", "p99.5", "p99.9", "p99.95", "p99.99"]


class Spelling:
    """Two pieces a word, whose vectors add up to one that stands for its spelling in lower case alone."""

    dimension = 64

    def __init__(self):
        self.texts: list[str] = []

    def tokenize(self, lines):
        self.texts = [word.lower() for line in lines for word in line for _ in range(2)]
        words = [place for line in lines for place in range(len(line)) for _ in range(2)]
        ends = np.cumsum([0, *(2 * len(line) for line in lines)])
        return Pieces(np.arange(len(words), dtype=np.int32), np.array(words, np.int32), ends)

    def encode(self, pieces, layers):
        kinds = {word: code for code, word in enumerate(sorted(set(self.texts)))}
        rows = np.zeros((len(self.texts), self.dimension), np.float32)
        for place, word in enumerate(self.texts):
            rows[place] = np.random.default_rng(kinds[word]).normal(size=self.dimension)
            rows[place] += 5 * (-1) ** place
        return rows


def test_pairs_are_of_different_words():
    """A pair of equal words, whatever their case, would have the cosine 1."""
    encoder = Spelling()
    found = context_similarities(encoder, (1,))
    assert len(found) == 100
    assert found.max() < 0.6
    np.testing.assert_array_equal(found, context_similarities(encoder, (1,)))


def test_they_are_kept_with_a_store(tmp_path):
    convert_encoder(GOLDEN / "bert", tmp_path / "store", layers=[2], dtype="float32")
    quantiles = open_encoder(tmp_path / "store").quantiles
    assert list(quantiles) == KEPT
    similarities = context_similarities(open_encoder(tmp_path / "store"), (2,))
    assert quantiles["p90"] == round(float(np.percentile(similarities, 90)), 6)


@pytest.mark.slow
def test_those_of_the_bundled_encoder(monkeypatch):
    monkeypatch.setattr("softbleu.encoders.contexts.PAIRS", 1_000_000)
    encoder = open_encoder("minilm-l6")
    similarities = context_similarities(encoder, encoder.layers)
    assert encoder.quantiles["p99.9"] == pytest.approx(np.percentile(similarities, 99.9), abs=1e-5)
