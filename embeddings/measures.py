"""What the evaluation card measures about a set of word vectors."""

from __future__ import annotations

import csv
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from recipe import TRAINING_WORDS, CommonParts, Rows, map_rows, unit_rows

BENCHMARKS = {"WordSim-353": "wordsim353.tsv", "SimLex-999": "simlex999.txt"}
"""Human judgements of similarity, as gensim carries them."""

SEED = 353
HELD_OUT_WORDS = 1000
FOLDS = 10


@dataclass(frozen=True)
class Agreement:
    """Rank correlation of cosines with human judgements, over the pairs with both words in the set."""

    spearman: float
    pairs: int
    missing: tuple[str, ...]


def read_benchmark(name: str) -> list[tuple[str, str, float]]:
    """Pairs of lower-cased words with their mean judgement; the name is a key of BENCHMARKS."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from gensim.test.utils import datapath

    with Path(datapath(BENCHMARKS[name])).open(encoding="utf-8") as handle:
        lines = [line for line in handle if line.strip() and not line.startswith("#")]
    return [
        (first.lower(), second.lower(), float(score))
        for first, second, score, *_ in csv.reader(lines, delimiter="\t")
    ]


def agreement(name: str, words: Sequence[str], rows: Rows) -> Agreement:
    """Agreement of these vectors, one a word, with a benchmark."""
    from scipy.stats import spearmanr

    place = {word: index for index, word in enumerate(words)}
    pairs = read_benchmark(name)
    found = [pair for pair in pairs if pair[0] in place and pair[1] in place]
    left = unit_rows(rows[[place[first] for first, _, _ in found]])
    right = unit_rows(rows[[place[second] for _, second, _ in found]])
    cosines = np.einsum("ij,ij->i", left, right)
    missing = tuple(f"{first}–{second}" for first, second, _ in pairs if not {first, second} <= place.keys())
    return Agreement(float(spearmanr(cosines, [score for *_, score in found])[0]), len(found), missing)


@dataclass(frozen=True)
class Coverage:
    """How many tokens of a text have a vector."""

    tokens: int
    covered: int
    missing: Counter[str]

    @property
    def share(self) -> float:
        """Covered tokens over all tokens."""
        return self.covered / self.tokens


def coverage(path: Path, words: Sequence[str]) -> Coverage:
    """Tokens of a file (tokenizer 13a, cased) with a vector, looked up as written, then lower-cased."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenise, known = Tokenizer13a(), set(words)  # type: ignore[no-untyped-call]
    with path.open(encoding="utf-8", newline="\n") as handle:
        counts = Counter(token for line in handle for token in tokenise(line.rstrip("\n")).split())
    missing = Counter({token: n for token, n in counts.items() if not {token, token.lower()} & known})
    return Coverage(counts.total(), counts.total() - missing.total(), missing)


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
