"""Runs of systems: variance between runs and between segments, and intervals of both, against literal loops."""

import numpy as np
import pytest

import softbleu
from softbleu.corpora import Segments
from softbleu.errors import InputError
from softbleu.metrics.scores import corpus_of
from softbleu.results.generations import compare_runs
from softbleu.results.significance import SignificanceSettings


def test_runs_and_segments_are_drawn() -> None:
    generator = np.random.default_rng(3)
    scores = {name: generator.random(20) for name in ("A.1", "A.2", "A.3", "B")}
    metric = softbleu.Scores("m", {name: column.tolist() for name, column in scores.items()})
    table = compare_runs(corpus_of([metric]), [metric], SignificanceSettings(samples=50, seed=5))
    one, other = table.rows
    assert [(row.system, row.runs) for row in table.rows] == [("A", 3), ("B", 1)]
    means = [scores[f"A.{n}"].mean() for n in (1, 2, 3)]
    assert (one.score, one.between_runs) == pytest.approx((np.mean(means), np.std(means, ddof=1)))
    assert (other.between_runs, one.difference) == (None, None)
    drawn = np.random.default_rng(5).integers(20, size=(50, 20))
    by_run = np.array([[column[places].mean() for places in drawn] for column in scores.values()])
    generator = np.random.default_rng(5)
    chosen = generator.integers(3, size=(50, 3))
    sampled = [np.mean([by_run[run, sample] for run in runs]) for sample, runs in enumerate(chosen)]
    assert (one.lower, one.upper) == pytest.approx(np.percentile(sampled, (2.5, 97.5)))
    assert one.between_segments == pytest.approx(np.sqrt(np.mean([np.var(by_run[n]) for n in range(3)])))
    apart = by_run[3] - sampled
    ends = (other.difference, other.difference_lower, other.difference_upper)
    assert ends == pytest.approx((other.score - one.score, *np.percentile(apart, (2.5, 97.5))))


def test_runs_of_texts() -> None:
    corpus = Segments.of({"A.1": ["a cat", "b"], "A.2": ["a dog", "b"], "B.1": ["x", "b"]}, ["a cat", "b"])
    one, other = compare_runs(corpus, "chrf", SignificanceSettings(samples=9)).rows
    single = [softbleu.score(texts, ["a cat", "b"], metric="chrf").score for texts in corpus.candidates.values()]
    assert [one.score, other.score] == pytest.approx([np.mean(single[:2]), single[2]])
    with pytest.raises(InputError, match="no system has several runs"):
        compare_runs(Segments.of({"A": ["a"], "B.1": ["a"]}, ["a"]))
