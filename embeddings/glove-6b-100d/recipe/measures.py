"""What the evaluation card measures about a set of word vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from recipe import TRAINING_WORDS, CommonParts, Rows, map_rows, unit_rows

from softbleu.embeddings.evaluation import BENCHMARKS as BENCHMARKS
from softbleu.embeddings.evaluation import RankAgreement, TextCoverage, count_coverage, rank_agreement, read_benchmark

SEED = 353
HELD_OUT_WORDS = 1000
FOLDS = 10


def agreement(name: str, words: Sequence[str], rows: Rows) -> RankAgreement:
    """Agreement of these vectors, one a word, with a benchmark, its words lower-cased."""
    pairs = [(first.lower(), second.lower(), score) for first, second, score in read_benchmark(name)]
    return rank_agreement(pairs, words, rows)


def coverage(path: Path, words: Sequence[str]) -> TextCoverage:
    """Tokens of a file (tokenizer 13a, cased) with a vector, looked up as written, then lower-cased."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenise, known = Tokenizer13a(), set(words)  # type: ignore[no-untyped-call]
    with path.open(encoding="utf-8", newline="\n") as handle:
        counts = Counter(token for line in handle for token in tokenise(line.rstrip("\n")).split())
    return count_coverage(counts, (bool({token, token.lower()} & known) for token in counts))


def rounding_effect(exact: Rows, rounded: Rows, pairs: int = 100_000) -> tuple[float, float]:
    """Largest and mean absolute difference of the cosines of random pairs of words, drawn with SEED."""
    draw = np.random.default_rng(SEED).integers(len(exact), size=(2, pairs))
    before, after = unit_rows(exact), unit_rows(rounded)
    change = np.abs(
        np.einsum("ij,ij->i", before[draw[0]], before[draw[1]])
        - np.einsum("ij,ij->i", after[draw[0]], after[draw[1]])
    )
    return float(change.max()), float(change.mean())


def held_out_map(rows: Rows, sister_rows: Rows, treatment: CommonParts) -> dict[str, tuple[float, float, float]]:
    """How near mapped vectors come to the true ones, for frequent words left out of the map's training.

    The HELD_OUT_WORDS most frequent words are left out in turn, every FOLDS-th at once.

    Parameters
    ----------
    rows, sister_rows
        Vectors of words known in both sets, the most frequent first.
    treatment
        What is removed from unit vectors.

    Returns
    -------
    dict
        Mean, median and lowest cosine, before and after treatment.
    """
    rows, sister_rows = unit_rows(rows[:TRAINING_WORDS]), sister_rows[:TRAINING_WORDS]
    place = np.arange(len(rows))
    mapped = np.empty_like(rows[:HELD_OUT_WORDS])
    for fold in range(FOLDS):
        out = (place < HELD_OUT_WORDS) & (place % FOLDS == fold)
        mapped[place[out]] = map_rows(rows[~out], sister_rows[~out], sister_rows[out])
    true = rows[: len(mapped)]
    return {
        "before treatment": _spread(np.einsum("ij,ij->i", mapped, true)),
        "after treatment": _spread(
            np.einsum("ij,ij->i", unit_rows(treatment.remove_from(mapped)), unit_rows(treatment.remove_from(true)))
        ),
    }


def _spread(cosines: Rows) -> tuple[float, float, float]:
    return float(cosines.mean()), float(np.median(cosines)), float(cosines.min())


def neighbours(word: str, words: Sequence[str], rows: Rows, among: int = 20_000, count: int = 5) -> list[str]:
    """Find the nearest of the most frequent words; each as text with its cosine."""
    directions = unit_rows(rows[:among])
    cosines = directions @ unit_rows(rows[[words.index(word)]])[0]
    order = [place for place in np.argsort(-cosines, kind="stable") if words[place] != word][:count]
    return [f"{words[place]} {cosines[place]:.2f}" for place in order]
