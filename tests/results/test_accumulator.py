"""Text in batches scores as it would at once, however it is cut, merged and pickled."""

from __future__ import annotations

import pickle
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softbleu

TEXTS = st.text("ab .", max_size=12)
SEGMENTS = st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=2), TEXTS), min_size=1, max_size=8)
# Sums, averages of samples, and scores that look at the whole corpus (rarity of words, order of the segments).
METRICS = ["bleu", "chrf", "gleu", "softbleu", "sleu(vectors=glove-6b-100d)"]
Rows = list[tuple[str, list[str], str]]


def columns(rows: Rows) -> tuple[list[str], list[list[str]], list[str]]:
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


@pytest.mark.parametrize("metric", METRICS)
@given(rows=SEGMENTS, data=st.data())
@settings(max_examples=12)
def test_any_batches_give_the_same_result(metric: str, rows: Rows, data: st.DataObject) -> None:
    cuts = data.draw(st.sets(st.integers(1, len(rows)), max_size=3))
    bounds = [0, *sorted(cuts - {len(rows)}), len(rows)]
    merged = data.draw(st.integers(0, len(bounds) - 1))
    first, second = softbleu.Accumulator(metric), softbleu.Accumulator(metric)
    for number, (start, stop) in enumerate(pairwise(bounds)):
        (first if number < merged else second).update(*columns(rows[start:stop]))
    first.merge(pickle.loads(pickle.dumps(second)))
    assert len(first) == len(rows)
    assert first.compute() == softbleu.read_metric(metric).corpus_score(*columns(rows))


def test_reset_forgets_all_and_merge_leaves_the_other_alone() -> None:
    one, other = softbleu.Accumulator("chrf"), softbleu.Accumulator(softbleu.Chrf())
    one.update(["a cat"], ["a dog"])
    other.update(["x"], ["y"])
    one.merge(other)
    assert (len(one), len(other)) == (2, 1)
    one.reset()
    one.update(["a dog"], ["a dog"])
    assert one.compute().score == pytest.approx(100)
    assert [each.score for each in one.compute(level="segment").segments or ()] == pytest.approx([100])


def test_what_does_not_go_together_is_refused_and_adds_nothing() -> None:
    one = softbleu.Accumulator()
    with pytest.raises(softbleu.InputError, match="no text to score yet"):
        one.compute()
    one.update(["a"], ["a"])
    with pytest.raises(softbleu.InputError, match="some batches have sources and some have none"):
        one.update(["a"], ["a"], ["a"])
    with pytest.raises(softbleu.InputError, match="2 candidates but references for 1 segments"):
        one.update(["a", "b"], ["a"])
    with pytest.raises(softbleu.InputError, match="one system"):
        one.update({"A": ["a"]}, ["a"])
    with pytest.raises(softbleu.InputError, match="cannot merge"):
        one.merge(softbleu.Accumulator("chrf"))
    assert len(one) == 1


def test_vectors_in_memory_merge_where_they_are_the_same() -> None:
    vectors = {"cat": [1.0, 0.0], "dog": [0.9, 0.1]}
    metric = softbleu.Vleu(vectors=vectors, order=1)
    one, other = softbleu.Accumulator(metric), softbleu.Accumulator(metric)
    one.update(["cat"], ["dog"])
    other.update(["dog"], ["dog"])
    one.merge(other)
    assert one.compute() == metric.corpus_score(["cat", "dog"], ["dog", "dog"])
