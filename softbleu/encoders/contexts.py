"""Similarity of random words in context: quantiles of their cosines, which make thresholds comparable."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from softbleu.embeddings.vectors import PAIRS, QUANTILES, SEED, pair_products, percentiles_of
from softbleu.encoders.base import Encoder
from softbleu.encoders.pieces import word_rows
from softbleu.encoders.stored import StoredEncoder
from softbleu.io.files import required_resource

_TEXTS = ("candidate.en", "reference.en", "reference2.en")


def measure_contexts(directory: Path) -> dict[str, object]:
    """Take the measures of a finished store that are kept in its ``meta.json``."""
    encoder = StoredEncoder(directory)
    quantiles = percentiles_of(context_similarities(encoder, encoder.layers))
    return {QUANTILES: {"pairs": PAIRS, "seed": SEED, "layers": list(encoder.layers), "cosine": quantiles}}


def context_quantile(encoder: Encoder, layers: tuple[int, ...], percentile: float) -> float:
    """Cosine that so many percent of random pairs of words in context do not exceed, to 6 decimals.

    Drawn are `PAIRS` pairs of different words of the bundled sample text, with a fixed seed.
    """
    quantiles = encoder.quantiles if layers == encoder.layers else {}
    known = quantiles.get(f"p{percentile:g}")
    if known is None:
        known = round(float(np.percentile(context_similarities(encoder, layers), percentile)), 6)
    return float(known)


def context_similarities(encoder: Encoder, layers: tuple[int, ...]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Cosines of `PAIRS` random pairs of different words (13a, lower-cased) in the bundled sample text.

    A word's vector is the mean of those of its pieces.
    """
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    cut = Tokenizer13a()  # type: ignore[no-untyped-call]
    texts = (required_resource("corpora", "samples", name).read_text(encoding="utf-8") for name in _TEXTS)
    lines = [cut(line).split() for text in texts for line in text.splitlines()]
    pieces = encoder.tokenize(lines)
    starts = np.cumsum([0, *map(len, lines)])
    rows = word_rows(pieces, encoder.encode(pieces, layers), starts[:-1], int(starts[-1]))
    _, kinds = np.unique([word.lower() for line in lines for word in line], return_inverse=True)
    known = np.flatnonzero(rows.any(axis=1))
    directions = rows.astype(np.float32)
    generator = np.random.default_rng(SEED)
    one, other = np.empty(0, np.int64), np.empty(0, np.int64)
    while len(one) < PAIRS:
        drawn = known[generator.integers(len(known), size=(2, PAIRS))]
        drawn = drawn[:, kinds[drawn[0]] != kinds[drawn[1]]]
        one, other = np.append(one, drawn[0]), np.append(other, drawn[1])
    return pair_products(directions, one[:PAIRS], directions, other[:PAIRS])
