"""Runs of systems: variance between runs and between segments, and intervals of both, against literal loops."""

import numpy as np
import pytest
from oracles.runs import compare

import softbleu
from softbleu.corpora import Segments
from softbleu.errors import InputError
from softbleu.metrics.scores import corpus_of
from softbleu.results.generations import compare_runs
from softbleu.results.significance import SignificanceSettings


def test_runs_and_segments_are_drawn() -> None:
    generator = np.random.default_rng(3)
    scores = {name: generator.random(20) for name in ("A.1", "A.2", "A.3", "C.1", "C.2", "B")}
    metric = softbleu.Scores("m", {name: column.tolist() for name, column in scores.items()})
    how = SignificanceSettings(samples=50, seed=5)
    rows = compare_runs(corpus_of([metric]), [metric], how).rows
    assert [(row.system, row.runs) for row in rows] == [("A", 3), ("C", 2), ("B", 1)]
    drawn = np.random.default_rng(5).integers(20, size=(50, 20))
    expected = compare({"A": ["A.1", "A.2", "A.3"], "C": ["C.1", "C.2"], "B": ["B"]}, scores, drawn)
    for row in rows:
        values = (row.score, row.between_runs, row.between_segments, row.lower, row.upper)
        beside = (row.difference, row.difference_lower, row.difference_upper, row.p_value)
        assert (*values, *beside) == pytest.approx(expected[row.system], rel=1e-9)
    tested = sorted(row.p_value for row in rows[1:] if row.p_value is not None)
    assert sorted(row.corrected for row in rows[1:] if row.corrected is not None) == pytest.approx(
        [min(1, 2 * tested[0]), max(tested[1], min(1, 2 * tested[0]))]
    )
    same = softbleu.Scores("m", {"A.1": [1.0, 2.0], "A.2": [1.0, 2.0], "B": [1.0, 2.0], "C": [2.0, 3.0]})
    assert [row.p_value for row in compare_runs(corpus_of([same]), [same]).rows] == [None, 1.0, 0.0]


@pytest.mark.parametrize("sizes", [(3, 3), (3, 1)])
@pytest.mark.parametrize("between", [0.05, 0.3])
def test_equal_systems_are_seldom_told_apart(sizes: tuple[int, int], between: float) -> None:
    """At .05, on made-up scores that vary by run, by segment, and by system within a segment."""
    generator, trials, alarms = np.random.default_rng(8), 400, 0
    for _ in range(trials):
        scores = {}
        segments = generator.normal(size=60)
        for system, runs in zip("AB", sizes, strict=True):
            usual = segments + generator.normal(0, 0.5, 60)
            for run in range(runs):
                scores[f"{system}.{run}"] = usual + generator.normal(0, between) + generator.normal(size=60)
        metric = softbleu.Scores("m", {name: column.tolist() for name, column in scores.items()})
        _, other = compare_runs(corpus_of([metric]), [metric], SignificanceSettings(samples=100)).rows
        alarms += (other.p_value or 1) < 0.05
    assert alarms <= 0.08 * trials


def test_runs_of_texts() -> None:
    corpus = Segments.of({"A.1": ["a cat", "b"], "A.2": ["a dog", "b"], "B.1": ["x", "b"]}, ["a cat", "b"])
    one, other = compare_runs(corpus, "chrf", SignificanceSettings(samples=9)).rows
    single = [softbleu.score(texts, ["a cat", "b"], metric="chrf").score for texts in corpus.candidates.values()]
    assert [one.score, other.score] == pytest.approx([np.mean(single[:2]), single[2]])
    with pytest.raises(InputError, match="no system has several runs"):
        compare_runs(Segments.of({"A": ["a"], "B.1": ["a"]}, ["a"]))
