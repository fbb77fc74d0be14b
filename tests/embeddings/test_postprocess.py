"""Mean and components removed: against the singular vectors, and where nothing is left."""

from __future__ import annotations

import numpy as np
import pytest
from oracles import measure as oracle

from softbleu import InputError, score
from softbleu.embeddings import open_vectors
from softbleu.embeddings.measure import CommonParts, Postprocess, WordMeasure, measure_words, unit_rows


def random_rows(count=30, dimension=7, seed=3):
    return np.random.default_rng(seed).normal(size=(count, dimension)) + 0.5


def treated(rows, postprocess):
    words = [f"w{number}" for number in range(len(rows))]
    source = open_vectors(dict(zip(words, rows, strict=True)))
    return measure_words(source, words, "exact", WordMeasure(vectors_postprocess=postprocess)).rows


@pytest.mark.parametrize(("mean", "components"), [(True, 0), (True, 1), (True, 6), (False, 1), (False, 3)])
def test_equal_to_the_oracle(mean, components):
    rows = random_rows().astype(np.float32)
    vectors = {f"w{number}": row.tolist() for number, row in enumerate(rows)}
    directions = oracle.Measure(vectors, mean=mean, components=components).directions
    found = treated(rows, str(Postprocess(mean, components)))
    np.testing.assert_allclose(found, np.array(list(directions.values())), rtol=0, atol=1e-6)


@pytest.mark.parametrize("subtract_mean", [False, True])
def test_what_is_removed_is_gone(subtract_mean):
    rows = unit_rows(random_rows())
    parts = CommonParts.estimate(rows, 2, subtract_mean=subtract_mean)
    left = parts.remove_from(rows)
    np.testing.assert_allclose(left @ parts.components.T, 0, atol=1e-12)
    np.testing.assert_allclose(parts.components @ parts.components.T, np.eye(2), atol=1e-12)
    assert parts.mean.any() == subtract_mean
    if subtract_mean:
        np.testing.assert_allclose(left.mean(axis=0), 0, atol=1e-12)


def test_length_does_not_count():
    """The mean is that of directions."""
    rows = random_rows()
    factors = np.arange(1, len(rows) + 1)[:, None]
    np.testing.assert_allclose(treated(rows * factors, "mean,pc:1"), treated(rows, "mean,pc:1"), atol=1e-6)


def test_zero_vectors_stay_zero_and_move_nothing():
    rows = random_rows()
    found = treated(np.vstack([rows[:5], np.zeros((9, 7)), rows[5:]]), "mean,pc:1")
    assert not found[5:14].any()
    np.testing.assert_allclose(np.delete(found, range(5, 14), axis=0), treated(rows, "mean,pc:1"), atol=1e-6)


def test_scope_decides_and_all_are_treated(monkeypatch):
    rows = random_rows().astype(np.float32)
    monkeypatch.setattr("softbleu.embeddings.measure.SCOPE", 12)
    vectors = {f"w{number}": row.tolist() for number, row in enumerate(rows)}
    directions = oracle.Measure(vectors, mean=True, components=2, scope=12).directions
    np.testing.assert_allclose(treated(rows, "mean,pc:2"), np.array(list(directions.values())), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("rows", "postprocess"),
    [([[1.0, 2.0, 3.0]] * 6, "mean"), ([[0.1 * k, 0.3 * k, 0.7 * k] for k in range(1, 7)], "pc:1")],
    ids=["all alike", "all parallel"],
)
def test_a_vector_of_which_nothing_is_left_is_none(rows, postprocess):
    """Rounding errors scaled to length 1 would be a direction out of nowhere."""
    assert not treated(np.array(rows), postprocess).any()


def test_opposites_cancel():
    """Without their mean two words are opposite: both together have no norm, hence no similarity."""
    vectors = {"a": [1.0, 2.0], "b": [3.0, 1.0]}
    found = score(
        ["a b"], ["b a"], matcher="vleu", vectors=vectors, vectors_postprocess="mean", order=2, smooth="none"
    )
    assert found.numbers.as_dict()["matches"] == [2, 0]


# as text


@pytest.mark.parametrize("text", ["none", "mean", "pc:1", "pc:99", "mean,pc:12"])
def test_text_and_back(text):
    assert str(Postprocess.parse(text)) == text
    assert bool(Postprocess.parse(text)) == (text != "none")


@pytest.mark.parametrize(
    "text",
    [
        "", "pc", "pc:", "pc:0", "pc:-1", "pc:1.5", "pc:02", "pc:100", "mean,", ",pc:1", "pc:1,mean", "none,mean",
        "Mean", "mean pc:1", "meanpc:2", "mean,mean", "mean,none", "mean\n", "pc:\u0661",
    ],
)  # fmt: skip
def test_other_text(text):
    with pytest.raises(InputError, match="vectors-postprocess must be"):
        Postprocess.parse(text)


@pytest.mark.parametrize("components", [7, 8])
def test_more_components_than_there_are(components):
    with pytest.raises(InputError, match="7 dimensions"):
        treated(random_rows(), f"pc:{components}")


@pytest.mark.parametrize("text", ["mean", "pc:1", "mean,pc:2"])
def test_no_rows_have_nothing_in_common(text):
    # Warnings are errors here: a mean of nothing is one.
    parts = Postprocess.parse(text).estimate(np.zeros((0, 3)))
    assert parts.remove_from(np.zeros((2, 3))).tolist() == [[0.0] * 3] * 2
