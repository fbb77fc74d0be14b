"""The gate of a pipeline: fails for worse systems, and seldom for equal ones."""

from typing import Any

import numpy as np
import pytest

from softbleu.corpora import Segments
from softbleu.results.api import compare_corpus
from softbleu.results.significance import SignificanceSettings

WORDS = [
    "the",
    "a",
    "cat",
    "dog",
    "sat",
    "lay",
    "on",
    "under",
    "mat",
    "tree",
    "and",
    "then",
    "ran",
    "far",
    "away",
    "from",
    "here",
]


def outputs(seed: int, noise: float, lines: int = 60, again: int = 0) -> tuple[list[str], list[str]]:
    """Make lines, and outputs with so many words replaced."""
    generator = np.random.default_rng(seed)
    references = [generator.choice(WORDS, 12).tolist() for _ in range(lines)]
    generator = np.random.default_rng([seed, again])
    made = [[w if generator.random() > noise else str(generator.choice(WORDS)) for w in line] for line in references]
    return [" ".join(line) for line in references], [" ".join(line) for line in made]


def compared(one: list[str], other: list[str], references: list[str], metric: str = "bleu", seed: int = 1) -> Any:
    how = SignificanceSettings(samples=200, trials=300, seed=seed)
    return compare_corpus(Segments.of({"one": one, "other": other}, references), metric, significance=how)


@pytest.mark.parametrize("metric", ["bleu", "ter"])
def test_the_worse_side_fails_in_the_direction_of_the_metric(metric: str) -> None:
    references, good = outputs(1, 0.1)
    poor = outputs(1, 0.5)[1]
    worse, better = compared(good, poor, references, metric), compared(poor, good, references, metric)
    assert [row.system for row in worse.worse()] == ["other"]
    assert better.worse() == []
    row = worse.rows[1]
    loss = -row.difference_lower if metric == "bleu" else row.difference_upper
    assert [worse.worse(loss + step) == [] for step in (0.01, -0.01)] == [True, False]
    assert [row.system for row in compared(good, [*good[:-1], "x"], references, metric).worse(0)] == ["other"]
    assert compared(good, good, references, metric).worse(0) == []


@pytest.mark.slow
def test_equal_systems_seldom_fail() -> None:
    """Two outputs of one noisy system, 60 pairs at .05."""
    found = 0
    for seed in range(60):
        references = outputs(seed, 0)[0]
        one, other = outputs(seed, 0.3)[1], outputs(seed, 0.3, again=5000)[1]
        found += bool(compared(one, other, references, seed=seed).worse())
    assert found <= 6
