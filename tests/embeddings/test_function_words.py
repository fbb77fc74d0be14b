"""Function words that meet only themselves."""

from __future__ import annotations

import re
from itertools import product as pairs

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import measure, soft
from strategies import GREEDY, PATHS, SOFT, limits

from softbleu.corpora import Segments
from softbleu.embeddings import function_words, open_vectors
from softbleu.embeddings.function_words import FUNCTION_WORDS, is_function_word
from softbleu.embeddings.measure import WordMeasure, measure_words
from softbleu.errors import UnknownNameError
from softbleu.matching.similarity import TokenVectors
from softbleu.metrics.making import make_metric
from softbleu.results import VectorChoice, score_corpus

LONE = ("the", "The", "THE", "a", "n't", "'s", ",", "12", "--", "¿")
FREE = ("cat", "Cat", "dog", "house", "mat", "oov", "café", "x2", "thee")
WORDS = (*LONE, *FREE)


def vectors_of(seed):
    """Vectors near to one another, so that much would match; `oov` has none."""
    generator = np.random.default_rng(seed)
    rows = (generator.normal(size=(len(WORDS), 3)) * 0.4 + 1).astype(np.float32)
    return {word: row.tolist() for word, row in zip(WORDS, rows, strict=True) if word != "oov"}


def oracle_product(vectors, case="fallback"):
    plain = measure.Measure(vectors, case).product

    def product(one, other):
        if one == other:
            return 1.0
        return 0.0 if one in LONE or other in LONE else plain(one, other)

    return product


def test_which_words_are_lone():
    assert all(map(is_function_word, (*LONE, "")))
    often_something_else = ("little", "past", "mine", "like2", "will-o'-the-wisp")
    assert not any(map(is_function_word, (*FREE, *often_something_else)))


def test_the_list():
    for own in function_words._CLASSES.values():
        assert len(own.split()) == len(set(own.split()))
    assert 200 < len(FUNCTION_WORDS) < 400
    assert all(word == word.lower() and re.fullmatch(r"[a-z']+", word) for word in FUNCTION_WORDS)
    assert {word for words in function_words._CLASSES.values() for word in words.split()} == FUNCTION_WORDS


def test_the_measure_says_which_words_are_lone():
    source = open_vectors(vectors_of(1))
    assert measure_words(source, list(WORDS), "fallback", WordMeasure()).self_only is None
    lone = measure_words(source, list(WORDS), "fallback", WordMeasure(function_words="exact")).self_only
    assert lone.tolist() == [word in LONE for word in WORDS]
    with pytest.raises(UnknownNameError, match="unknown function words 'hard'; valid: soft, exact"):
        WordMeasure(function_words="hard")


@given(seed=st.integers(0, 1 << 32), case=st.sampled_from(["fallback", "exact"]))
def test_token_products(seed, case):
    vectors = vectors_of(seed)
    measured = measure_words(open_vectors(vectors), list(WORDS), case, WordMeasure(function_words="exact"))
    norms = np.linalg.norm(measured.rows.astype(np.float64), axis=1)
    unit, codes = TokenVectors(measured.rows, norms, self_only=measured.self_only).of_words(
        np.arange(len(WORDS), dtype=np.int32)
    )
    product = oracle_product(vectors, case)
    expected = np.array([product(a, b) for a, b in pairs(WORDS, WORDS)]).reshape(len(WORDS), -1)
    # One long text, and several side by side, take different ways.
    np.testing.assert_allclose(unit.products(codes[None], codes[None])[1][0], expected, rtol=0, atol=1e-6)
    beside = unit.products(np.array([codes, codes]), np.array([codes, codes]))[1]
    np.testing.assert_allclose(beside, [expected, expected], rtol=0, atol=1e-6)
    # Of one text with itself: tokens 0, 1 and 2 apart.
    for apart, band in enumerate(unit.bands(codes[None], 3)):
        np.testing.assert_allclose(band[0], np.diagonal(expected, apart), rtol=0, atol=1e-6)


lines = st.lists(st.sampled_from(WORDS), max_size=7)


@given(
    path=st.sampled_from(list(PATHS)),
    seed=st.integers(0, 1 << 32),
    candidates=st.lists(lines, min_size=1, max_size=3),
    references=st.lists(st.lists(lines, min_size=1, max_size=2), min_size=3, max_size=3),
    matcher=st.sampled_from(SOFT),
    given_out=st.sampled_from(GREEDY),
    composition=st.sampled_from(["mean", "aligned"]),
    threshold=st.sampled_from([0.0, 0.5, 0.9]),
)
@settings(max_examples=40)
def test_scores(path, seed, candidates, references, matcher, given_out, composition, threshold):
    vectors = vectors_of(seed)
    segments = Segments.of(
        [" ".join(words) for words in candidates],
        [[" ".join(words) for words in texts] for texts in references[: len(candidates)]],
    )
    options = {"assignment": given_out[0], "consumption": given_out[1], "composition": composition}
    asked = make_metric(matcher=matcher, threshold=threshold, vectors=vectors, function_words="exact", **options)
    with limits(PATHS[path]):
        result = score_corpus(segments, asked, level="segment")[0]
    assert "|function-words:exact|" in result.signature
    for score, candidate, texts in zip(result.segments, candidates, references, strict=False):
        expected = soft.bleu_statistics(
            candidate, texts, matcher=matcher, threshold=threshold, token_product=oracle_product(vectors), **options
        )
        assert score.as_dict()["matches"] == pytest.approx(expected.matches, rel=0, abs=1e-5)


def test_lone_words_may_still_stand_in_a_phrase():
    """`the cat` and `the dog` share `the`; `the cat` and `a cat` do not share their articles."""
    vectors = {"the": [1.0, 0.9], "a": [1.0, 1.0], "cat": [0.9, 1.0], "dog": [0.8, 1.0]}
    choice = VectorChoice(vectors, measure=WordMeasure(function_words="exact"))
    assert choice.select(["the", "a", "cat"]).self_only is not None
    segments = Segments.of(["the cat"], ["a cat"])
    exact, free = (
        score_corpus(segments, make_metric("sleu", vectors=vectors, order=1, function_words=way))[0].score
        for way in ("exact", "soft")
    )
    assert exact == pytest.approx(50.0)
    assert free > 99
