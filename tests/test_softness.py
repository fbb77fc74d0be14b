"""Measures of the study of softness are those of softbleu.meta, on the same samples."""

from pathlib import Path

import numpy as np
import pytest

from softbleu.corpora.judgements import ScoreTable
from softbleu.corpora.judgements.assessments import Assessments
from softbleu.meta.accuracy import soft_accuracy
from softbleu.meta.correlation import correlate


def test_measures_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "experiments" / "softness")
    import measures

    people, scores = np.random.default_rng(7).normal(size=(2, 4, 20)).round(1)
    drawn, segments = measures.pearson(scores[None], people)[0], np.tile(np.arange(20), 4)
    expected = correlate(scores.ravel(), people.ravel(), "pearson", clusters=segments)
    np.testing.assert_allclose(drawn, [expected.value, *expected.drawn], atol=1e-12)
    names = ["a", "b", "c", "d"]
    judged = Assessments(people.ravel(), [[name] for name in names for _ in range(20)], segments.tolist())
    soft = soft_accuracy(ScoreTable("m", {}, dict(zip(names, scores, strict=True))), judged, "z")
    assert soft is not None
    assert measures.soft_accuracy(scores[None], people)[0, 0] == pytest.approx(soft.value)


def test_effects_weigh_matched_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "experiments" / "softness")
    from measures import Effect

    cells = [(("a", one), ("b", other)) for one in "01" for other in "01"]
    assert Effect("main", "a", "1", "0").of(cells).tolist() == [-0.5, -0.5, 0.5, 0.5]
    assert Effect("both", "a", "1", "0", ("b", "1"), ("b", "0")).of(cells).tolist() == [1, -1, -1, 1]
