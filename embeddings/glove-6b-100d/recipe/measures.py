"""What the evaluation card measures about a set of word vectors."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from recipe import TRAINING_WORDS, CommonParts, Rows, map_rows, unit_rows

BENCHMARKS = {"WordSim-353": "wordsim353.tsv", "SimLex-999": "simlex999.txt"}
"""Judgements of similarity as gensim carries them: Finkelstein et al. (2002), Hill, Reichart and Korhonen (2015)."""
SEED = 353
HELD_OUT_WORDS = 1000
FOLDS = 10


@dataclass(frozen=True)
class RankAgreement:
    """Rank correlation of cosines with human judgements, over the pairs of which both words have a vector."""

    spearman: float
    pairs: int  # How many pairs entered
    missing: tuple[str, ...]  # Those that did not, as ``one–other``


@dataclass(frozen=True)
class TextCoverage:
    """How much of a text has a vector."""

    tokens: int
    missing: Counter[str]  # How often each word without a vector occurs

    @property
    def share(self) -> float:
        """Tokens with a vector over all tokens."""
        return (self.tokens - self.missing.total()) / self.tokens


def agreement(name: str, words: Sequence[str], rows: Rows) -> RankAgreement:
    """Agreement of these vectors, one a word, with a benchmark, its words lower-cased."""
    from scipy.stats import spearmanr

    place = {word: index for index, word in enumerate(words)}
    covered, missing = [], []
    lines = files("gensim").joinpath("test", "test_data", BENCHMARKS[name]).read_text("utf-8").split("\n")
    judged = csv.reader((line for line in lines if line and not line.startswith("#")), delimiter="\t")
    for first, second, score, *_ in judged:
        one, other = first.lower(), second.lower()
        if one in place and other in place:
            covered.append((place[one], place[other], float(score)))
        else:
            missing.append(f"{one}–{other}")
    left, right = (unit_rows(rows[np.array([pair[side] for pair in covered], int)]) for side in (0, 1))
    cosines = np.einsum("ij,ij->i", left, right)
    spearman = float(spearmanr(cosines, [score for *_, score in covered])[0])
    return RankAgreement(spearman, len(covered), tuple(missing))


def coverage(path: Path, words: Sequence[str]) -> TextCoverage:
    """Tokens of a file (tokenizer 13a, cased) with a vector, looked up as written, then lower-cased."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenise, known = Tokenizer13a(), set(words)  # type: ignore[no-untyped-call]
    with path.open(encoding="utf-8", newline="\n") as handle:
        counts = Counter(token for line in handle for token in tokenise(line.rstrip("\n")).split())
    absent = {token: count for token, count in counts.items() if not {token, token.lower()} & known}
    return TextCoverage(counts.total(), Counter(absent))


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
