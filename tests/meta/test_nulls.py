"""Tests of differences keep their level: of equally good metrics they tell 3 to 7% apart in made-up judgements."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from softbleu.corpora.judgements import Comparisons, ScoreTable
from softbleu.meta.accuracy import JudgedPairs, output_accuracies, preference_taus
from softbleu.meta.correlation import COEFFICIENTS, Estimate, correlate, correlate_within, difference, williams

SYSTEMS, SEGMENTS, TRIALS, SAMPLES = "ABC", 80, 800, 199
POINTS = np.tile(np.arange(SEGMENTS), len(SYSTEMS))  # The segment of each output
Made = tuple[np.ndarray, list[np.ndarray]]
Measure = Callable[[np.ndarray, np.ndarray, int], Estimate]


@cache
def made_up() -> list[Made]:
    """Human scores and two metrics of the same worth; what is hard in a segment is hard for all systems and both."""
    generator = np.random.default_rng(11)
    found = []
    for _ in range(TRIALS):
        hard = generator.standard_normal((3, 1, SEGMENTS))
        noise = generator.standard_normal((3, len(SYSTEMS), SEGMENTS))
        people = hard[0] + noise[0] + np.arange(len(SYSTEMS))[:, None] / 3
        found.append((people.reshape(-1), [(people + hard[k] + noise[k]).reshape(-1) for k in (1, 2)]))
    return found


def compared(people: np.ndarray, scores: np.ndarray) -> tuple[Comparisons, ScoreTable]:
    said, found = (dict(zip(SYSTEMS, side.reshape(len(SYSTEMS), -1), strict=True)) for side in (people, scores))
    return Comparisons.of_scores(said), ScoreTable("m", {}, found)


def accuracy_by_segment(people: np.ndarray, scores: np.ndarray, seed: int) -> Estimate:
    pairs = JudgedPairs.within(people, scores, POINTS)
    assert pairs is not None
    found = pairs.accuracy(calibrated=True)
    return Estimate(found and found[0], pairs.samples(SAMPLES, seed, calibrated=True))


def of_correlation(name: str) -> Measure:
    return lambda people, scores, seed: correlate(scores, people, name, SAMPLES, seed, POINTS)


MEASURES: dict[str, Measure] = {
    "tau": lambda people, scores, seed: preference_taus(*compared(people, scores), SAMPLES, seed)[1],
    "accuracy": lambda people, scores, seed: output_accuracies(*compared(people, scores)[::-1], "", SAMPLES, seed)[0],
    "accuracy by segment": accuracy_by_segment,
    "pearson within": lambda people, scores, seed: correlate_within(scores, people, SAMPLES, seed, POINTS),
    **{name: of_correlation(name) for name in COEFFICIENTS},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["williams", *MEASURES])
def test_levels(name: str) -> None:
    p_values = []
    for seed, (people, metrics) in enumerate(made_up()[: 300 if name == "kendall" else TRIALS]):
        if name == "williams":
            # Of means of systems, which are alone: the first 20 points are of as many segments.
            r = np.corrcoef(np.stack([people, *metrics])[:, :20])
            p_values.append(williams(r[0, 1], r[0, 2], r[1, 2], 20).p_value)
            continue
        found = difference(*(MEASURES[name](people, scores, seed) for scores in metrics))
        p_values.append(found.p_value or 0.0)
    assert 0.03 <= np.mean(np.array(p_values) < 0.05 + 1e-9) <= 0.07
