"""Laws that hold between matchers, assignments, thresholds, corpora and ways of working."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import soft
from strategies import GREEDY, MATCHERS, PATHS, SOFT, WORDS, Case, cases, limits

from softbleu import score
from softbleu.metrics import BleuScore
from softbleu.results import NgramMatch, Result, explain_corpus, score_corpus

ROUNDING = 1e-9
ASSIGNMENTS = ("exact-first", "sequential", "optimal")


def assert_nowhere_below(high: Case, low: Case) -> None:
    """Mass by mass, segment by segment."""
    for masses_high, masses_low in zip(high.masses(), low.masses(), strict=True):
        for mass_high, mass_low in zip(masses_high, masses_low, strict=True):
            assert mass_high >= mass_low - ROUNDING


@pytest.mark.parametrize("threshold", [0.9999994, 0.9999999])
@pytest.mark.parametrize("path", PATHS)
def test_below_threshold_one_parallel_vectors_still_match(path: str, threshold: float) -> None:
    """Similarities are whole millionths: any threshold below 1 lets a similarity of 1 pass."""
    vectors = {"cat": [1.0, 2.0], "dog": [2.0, 4.0]}
    case = Case([["cat"]], [[["dog"]]], vectors, order=1, options={"threshold": threshold})
    with limits(PATHS[path]):
        assert case.masses() == [[1.0]]


@pytest.mark.parametrize("matcher", SOFT)
def test_nothing_has_more_mass_than_the_optimal_assignment(matcher: str) -> None:
    """Of no greedy assignment, no higher threshold, no stricter matcher."""
    stricter = MATCHERS[MATCHERS.index(matcher) - 1]

    @given(case=cases(matcher=matcher, longest=10), greedy=st.sampled_from(ASSIGNMENTS[:2]), higher=st.floats(0, 1))
    @settings(max_examples=20)
    def check(case: Case, greedy: str, higher: float) -> None:
        optimal = case.with_options(assignment="optimal")
        assert_nowhere_below(optimal, case.with_options(assignment=greedy))
        threshold = max(higher, case.options["threshold"])
        assert_nowhere_below(optimal, optimal.with_options(threshold=threshold))
        assert_nowhere_below(optimal, replace(optimal, matcher=stricter))

    check()


def corpus_score(case: Case, **more: object) -> Result:
    return score_corpus(case.segments, case.measure, **more)[0]  # type: ignore[arg-type]


SIZES = (
    "softbleu.engine.worker.MINI_BATCH",
    "softbleu.engine.worker.LEAST",
    "softbleu.kernels.numpy_backend.SEGMENTS_AT_ONCE",
    "softbleu.corpora.segments.BLOCK",
    "softbleu.engine.runner.BLOCK",
    "softbleu.engine.worker._MOST_TOKENS",
)


@given(
    case=cases(most_segments=9, matcher="xleu"),
    piece=st.integers(1, 4),
    block=st.integers(1, 4),
    kernel=st.integers(1, 4),
    batch=st.sampled_from([1, 30, 200]),
    exact=st.booleans(),
    tokens=st.integers(1, 30),
)
def test_sizes_of_pieces_change_nothing(
    case: Case, piece: int, block: int, kernel: int, batch: int, exact: bool, tokens: int
) -> None:
    case = replace(case, matcher="exact") if exact else case
    sizes = dict(zip(SIZES, (piece, 1, kernel, block, block, tokens), strict=True))
    expected, whole = case.scores(), corpus_score(case)
    with limits({**sizes, "softbleu.matching.batches.BATCH_CELLS": batch}):
        assert case.scores() == expected
        assert corpus_score(case) == whole


@given(case=cases(most_segments=9))
@settings(max_examples=15)
def test_the_corpus_score_is_that_of_the_summed_segments(case: Case) -> None:
    result, parts = corpus_score(case).numbers, case.scores()
    assert isinstance(result, BleuScore)
    assert result.candidate_length == sum(part.candidate_length for part in parts)
    assert result.reference_length == sum(part.reference_length for part in parts)
    for n in range(case.order):
        assert result.totals[n] == sum(part.totals[n] for part in parts)
        assert result.matches[n] == pytest.approx(sum(part.matches[n] for part in parts), abs=ROUNDING)
        assert round(result.matches[n] * 1e6) / 1e6 == result.matches[n], "whole millionths"


@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=7), min_size=1, max_size=4),
    case=cases(most_segments=1),
    matcher=st.sampled_from(MATCHERS),
    assignment=st.sampled_from(ASSIGNMENTS),
    more=st.sampled_from(["", "the cat", "oov oov oov oov oov"]),
)
def test_identity_scores_one_hundred(texts: Any, case: Case, matcher: str, assignment: str, more: str) -> None:
    references = [[more.split(), text] for text in texts]
    same = Case(texts, references, case.vectors, matcher, options={**case.options, "assignment": assignment})
    assert [segment.score for segment in same.scores()] == pytest.approx([100] * len(texts), abs=1e-9)
    assert corpus_score(same).score == pytest.approx(100, abs=1e-9)


@given(case=cases(), assignment=st.sampled_from(ASSIGNMENTS), path=st.sampled_from(list(PATHS)[:3]))
def test_partners_are_consistent(case: Case, assignment: str, path: str) -> None:
    """They stand where they are said to, are as alike as that, are used no more often than there, and add up."""
    case = case.with_options(assignment=assignment)
    with limits(PATHS[path]):
        explained = explain_corpus(case.segments, case.measure, range(1, len(case.candidates) + 1))
        masses = case.masses()
    for each, by_order, references in zip(explained, masses, case.references, strict=True):
        for order in range(1, case.order + 1):
            matches = [match for match in each.matches if match.order == order]
            assert sum(match.similarity for match in matches) == pytest.approx(by_order[order - 1], abs=ROUNDING)
            pool = soft.reference_pool(references, soft.pool_orders(case.matcher, order, case.order))
            for ngram, uses in Counter(match.reference for match in matches if match.reference).items():
                assert uses <= pool[ngram]
            for match in matches:
                assert_partner(match, each.candidate, references, case)


def assert_partner(match: NgramMatch, candidate: tuple[str, ...], references: list[list[str]], case: Case) -> None:
    assert match.candidate == candidate[match.candidate_start : match.candidate_start + match.order]
    assert match.exact == (match.candidate == match.reference)
    if match.reference is None:
        assert (match.similarity, match.reference_number, match.reference_start) == (0, None, None)
        return
    ngrams = [soft.ngrams(text, len(match.reference)) for text in references]
    first = next((number, own.index(match.reference)) for number, own in enumerate(ngrams) if match.reference in own)
    assert (match.reference_number, match.reference_start) == first, "the partner's first appearance is named"
    alike = soft.mean_similarity(match.candidate, match.reference, case.product)
    assert match.similarity == (1 if match.exact else alike)
    assert match.exact or alike > case.options["threshold"]


@given(
    case=cases(most_segments=2),
    intruder=st.lists(st.sampled_from(WORDS), max_size=5),
    rules=st.tuples(st.sampled_from(GREEDY), st.sampled_from(["mean", "sif"])),
)
def test_scores_of_one_system_do_not_depend_on_the_others(case: Case, intruder: list[str], rules: Any) -> None:
    assume(any(case.candidates))
    segments, ((assignment, consumption), composition) = case.segments, rules
    options = {**case.options, "assignment": assignment, "consumption": consumption, "composition": composition}
    settings_ = {"matcher": case.matcher, "vectors": case.vectors, **options}
    own = segments.candidates["candidate"]
    alone = score({"a": own}, segments.references, **settings_)
    both = score({"b": [" ".join(intruder)] * len(segments), "a": own}, segments.references, **settings_)
    assert both[1] == alone[0]
