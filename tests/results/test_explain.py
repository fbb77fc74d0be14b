"""Explanations: which n-gram met which."""

from typing import Any

import pytest

import softbleu
from softbleu import InputError, VectorError
from softbleu.corpora import Segments
from softbleu.metrics.base import make_metric
from softbleu.results.explain import Explanation, explain_corpus

# "for" and "there" are 0.6 alike.
VECTORS = {"for": [1.0, 0.0], "there": [0.6, 0.8]}
CORPUS = Segments.of(
    {"A": ["x", "For there Oov", ""], "B": ["y", "there", "z"]}, [["x"], ["is", "there oov"], ["z", "w"]]
)


def explain(segments: list[int], *, order: int = 1, corpus: Any = CORPUS, **options: Any) -> list[Explanation]:
    measure = make_metric("vleu", **{"order": order, "vectors": VECTORS, "threshold": 0.0, **options})
    return explain_corpus(corpus, measure, segments)


def test_several_segments_in_the_order_asked_for() -> None:
    found = explain([3, 1, 3])
    assert [(entry.segment, entry.system) for entry in found] == [(n, name) for n in (3, 1, 3) for name in "AB"]
    assert found[0].matches == ()
    assert found[0] == found[4]


def test_exact_matchers_need_no_vectors() -> None:
    found = explain_corpus(CORPUS, make_metric(order=1, vectors="no/such.txt"), [2])[0]
    assert [match.exact for match in found.matches] == [False, True, False]
    # As for scores: a soft matcher must not turn into an exact one in silence.
    with pytest.raises(VectorError, match=r"no/such\.txt"):
        explain_corpus(CORPUS, make_metric("vleu", order=1, vectors="no/such.txt"), [2])


NETWORKS = Segments.of(
    {"A": ["a big hound barked", "it rains", ""], "B": ["hound", "rain fell it", "the dog"]},
    [["the [big|large] (dog|hound) []barked", "a cat"], ["it (rained|rains) {", "rain falls"], ["the (dog|hound)"]],
)


def test_the_best_path_stands_beside_the_candidate() -> None:
    first, second = explain_corpus(NETWORKS, make_metric("hyter", notation="brackets"), [1])
    assert (first.system, first.references) == ("A", (("the", "big", "hound", "barked"),))
    assert first.path is not None
    met = [("a", "the", 1.0), ("big", "big", 0.0), ("hound", "hound", 0.0), ("barked", "barked", 0.0)]
    steps = [(step.candidate, step.word, step.kind, step.cost) for step in first.path.steps]
    assert steps == [(own, word, "user", cost) for own, word, cost in met]
    assert (first.score, first.path.edits, first.path.length, first.path.kinds) == (25.0, 1.0, 4.0, {"user": 4})
    assert (second.score, second.references) == (50.0, (("the", "hound"),))
    # Words that no candidate has.
    unseen = Segments.of({"A": ["x"]}, [["a (dog|hound)"]])
    (found,) = explain_corpus(unseen, make_metric("hyter", notation="brackets"), [1])
    assert found.references in ((("a", "dog"),), (("a", "hound"),))
    with pytest.raises(InputError, match="leave out shifts"):
        explain_corpus(NETWORKS, make_metric("hyter", notation="brackets", shifts=True), [1])


@pytest.mark.parametrize("settings", [{}, {"idf": "references", "extra": 0.25, "replacing": "both"}])
def test_costs_of_a_path_are_those_of_the_score(settings: dict[str, Any]) -> None:
    measure = make_metric("hyter", notation="brackets", **settings)
    found = explain_corpus(NETWORKS, measure, [3, 2])
    scored = softbleu.score_corpus(NETWORKS, measure, level="segment")
    for number, explanation in enumerate(found):
        segment, system = (3, 2)[number // 2], number % 2
        score = scored[system].segments[segment - 1]  # type: ignore[index]
        assert explanation.path is not None
        assert explanation.score == score.score
        assert sum(step.cost for step in explanation.path.steps) == pytest.approx(score.edits)
        words = tuple(step.candidate for step in explanation.path.steps if step.candidate)
        assert words == explanation.candidate


def test_meteor_shows_which_words_of_the_best_reference_stand_for_which_and_at_what_stage():
    # The second reference is the better one; `the` stands for its fifth word, `cats` has a stem in common.
    metric, references = make_metric("meteor", stages="exact+stem"), ["no dog", "a cat sat on the"]
    (found,) = explain_corpus(Segments({"A": ["the cats sat"]}, [references]), metric)
    assert [tuple(vars(pair).values()) for pair in found.word_pairs()] == [
        ("exact", "the", "the", 0, 1, 4, None),
        ("stem", "cats", "cat", 1, 1, 1, None),
        ("exact", "sat", "sat", 2, 1, 2, None),
    ]
    assert found.score == pytest.approx(float(metric.sentence_score("the cats sat", references)))


def test_softbleu_shows_the_most_similar_word_of_the_best_reference():
    vectors = {"cat": [1.0, 0.0], "dog": [0.6, 0.8], "ran": [0.0, -1.0]}
    metric = make_metric("softbleu", vectors=vectors, power=1.0, characters=0.0, position=0.0, rarity=0.0)
    (found,) = explain_corpus(Segments({"A": ["dog cat ran"]}, [["no", "cat cat"]]), metric)
    assert [tuple(vars(pair).values()) for pair in found.word_pairs()] == [
        ("similar", "dog", "cat", 0, 1, 0, pytest.approx(0.6)),
        ("exact", "cat", "cat", 1, 1, 0, 1.0),
    ]


def test_ter_shows_the_edits_and_shifts_to_the_nearest_reference():
    # Of the second reference four edits: "on the mat" is moved as it is.
    texts = Segments.of({"A": ["on the mat a cat sat today"]}, [["dogs", "a black dog sat on the mat"]])
    (found,) = explain_corpus(texts, make_metric("ter"))
    assert [tuple(vars(pair).values()) for pair in found.word_pairs()] == [
        ("shifted", "on the mat", "on the mat", 0, 1, 4, None),
        ("exact", "a", "a", 3, 1, 0, None),
        ("inserted", "", "black", 4, 1, 1, None),
        ("substituted", "cat", "dog", 4, 1, 2, None),
        ("exact", "sat", "sat", 5, 1, 3, None),
        ("deleted", "today", "", 6, 1, 7, None),
    ]
    assert found.score == pytest.approx(100 * 4 / 4)
