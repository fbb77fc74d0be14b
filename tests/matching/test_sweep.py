"""Many matchers at once give what each gives by itself."""

import tracemalloc
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import PATHS, SOFT, WORDS, Case, cases, limits

from softbleu import score
from softbleu.embeddings import open_vectors
from softbleu.errors import InputError
from softbleu.kernels import choose_kernels
from softbleu.matching import make_matcher
from softbleu.matching.matchers import VleuMatcher
from softbleu.matching.ngrams import Chunk
from softbleu.matching.similarity import TokenVectors
from softbleu.matching.sweep import match_intervals, matched_by_all
from softbleu.text.tokens import Vocabulary

NUMPY = choose_kernels("numpy")
ASSIGNMENTS = [*product(("exact-first", "sequential"), ("unit", "similarity")), ("optimal", "unit")]
COMPOSITIONS = ("mean", "aligned", "sif")
CELLS = "softbleu.matching.sweep.SWEEP_CELLS"
SWEEP_PATHS = {name: {**values, **({CELLS: 1} if values else {})} for name, values in PATHS.items()}
MIXED = dict.fromkeys((*(f"softbleu.matching.matchers.{name}_CELLS" for name in ("BATCH", "LONG")), CELLS), 12)
"""Some segments are long, others are not; what is not matched alone is never long."""


def chunk_of(case):
    """A corpus as coded tokens, and the vectors of its words."""
    vocabulary = Vocabulary()
    references = vocabulary.encode([text for texts in case.references for text in texts])
    candidates = vocabulary.encode(case.candidates)
    offsets = np.cumsum([0, *map(len, case.references)])
    selected = open_vectors(case.vectors).select(list(vocabulary), case.vector_case)
    counts = np.bincount(references.codes, minlength=len(selected.norms)).astype(float)
    frequencies = counts / max(counts.sum(), 1)
    vectors = TokenVectors(selected.rows, selected.norms, frequencies=frequencies)
    return Chunk(candidates, references, offsets), vectors


@st.composite
def grids(draw):
    """Matchers of all kinds, many of which differ in their thresholds only, and a corpus."""
    case = draw(cases(longest=6, longest_reference=5, composition="mean"))
    some = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
    # The threshold of the case is often a similarity that occurs.
    thresholds = [float(case.options["threshold"]), *draw(st.lists(some, max_size=4))]
    kinds = st.sampled_from(list(product(SOFT, ASSIGNMENTS, COMPOSITIONS)))
    matchers = [make_matcher("exact")]
    for name, given_out, composition in draw(st.lists(kinds, min_size=1, max_size=4)):
        options = dict(zip(("assignment", "consumption"), given_out, strict=True), composition=composition)
        matchers += [make_matcher(name, threshold=threshold, **options) for threshold in thresholds]
    return draw(st.permutations(matchers)), case


def assert_as_alone(matchers, case):
    chunk, vectors = chunk_of(case)
    # Another system has the same candidates, the other way round.
    other = replace(chunk, candidates=chunk.candidates.chosen(np.arange(len(chunk))[::-1]))
    found = matched_by_all(matchers, [chunk, other], vectors, case.order, NUMPY)
    assert len(found) == len(matchers)
    for matcher, masses in zip(matchers, found, strict=True):
        expected = [matcher.matched(system, vectors, case.order, NUMPY).tolist() for system in (chunk, other)]
        assert masses.dtype.kind == "i"
        assert masses.tolist() == expected, matcher


@pytest.mark.parametrize("path", [*SWEEP_PATHS, "mixed"])
@given(grid=grids())
@settings(max_examples=12)
def test_masses_of_any_matchers(path, grid):
    matchers, case = grid
    with limits({**SWEEP_PATHS, "mixed": MIXED}[path]):
        if "narrow" in path:
            matchers = [matcher for matcher in matchers if getattr(matcher, "assignment", "") != "optimal"]
        assert_as_alone(matchers, case)


def test_thresholds_may_recur_and_differ_by_less_than_a_millionth():
    case = Case([["cat", "dog"]], [[["mat", "sat"]]], {"cat": [1, 0], "mat": [1, 1], "dog": [2, 1], "sat": [0, 1]})
    thresholds = [0.7, 0.7000001, 0.7000002, 0.7, 0.3, 0.707107, 0.707106]
    assert_as_alone([make_matcher("vleu", threshold=t) for t in thresholds], case)


def test_without_vectors_matches_are_exact():
    chunk, _ = chunk_of(Case([["cat", "dog"]], [[["cat"]]], {"cat": [1.0]}))
    found = matched_by_all([make_matcher("vleu"), make_matcher("exact")], [chunk], None, 2, NUMPY)
    assert [masses.tolist() for masses in found] == [[[[1_000_000, 0]]]] * 2
    assert matched_by_all([], [chunk], None, 2, NUMPY) == []


@dataclass(frozen=True)
class Halved(VleuMatcher):
    """A matcher of another package, which does not match as the built-in ones do."""

    name = "halved"

    def matches(self, chunk, vectors, max_order):
        return [replace(found, matched=found.matched // 2) for found in super().matches(chunk, vectors, max_order)]


def test_a_matcher_with_its_own_way_of_matching_keeps_it():
    case = Case([["cat", "cat", "dog"]], [[["mat", "cat", "sat"]]], {"cat": [1.0, 0.1], "mat": [1.0, 0.2]})
    matchers = [Halved(threshold=0.5), VleuMatcher(threshold=0.5)]
    assert_as_alone(matchers, case)
    chunk, vectors = chunk_of(case)
    halved, whole = matched_by_all(matchers, [chunk], vectors, 1, NUMPY)
    assert 0 < halved[0, 0, 0] < whole[0, 0, 0]


def matches_alone(matcher, case):
    chunk, vectors = chunk_of(case)
    found = []
    for order, matches in enumerate(matcher.matches(chunk, vectors, case.order), start=1):
        columns = (matches.starts, matches.matched, matches.partner_starts, matches.partner_orders)
        found += [(order, *row) for row in zip(*(column.tolist() for column in columns), strict=True) if row[1] > 0]
    return sorted(found)


def matches_alive(lives, number):
    alive = (lives.first <= number) & (number < lives.end)
    columns = (lives.order, lives.starts, lives.matched, lives.partner_starts, lives.partner_orders)
    return sorted(zip(*(column[alive].tolist() for column in columns), strict=True))


@pytest.mark.parametrize(("assignment", "consumption"), ASSIGNMENTS)
@pytest.mark.parametrize("name", SOFT)
@given(
    case=cases(longest=5, longest_reference=5, composition="mean"),
    more=st.lists(st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1)), max_size=4),
    composition=st.sampled_from(COMPOSITIONS),
)
@settings(max_examples=4)
def test_lives(name, assignment, consumption, case, more, composition):
    thresholds = sorted([float(case.options["threshold"]), *more])
    matcher = make_matcher(name, assignment=assignment, consumption=consumption, composition=composition)
    chunk, vectors = chunk_of(case)
    lives = match_intervals(matcher, thresholds, chunk, vectors, case.order)
    assert (lives.first < lives.end).all()
    for number, threshold in enumerate(thresholds):
        alone = matches_alone(replace(matcher, threshold=threshold), case)
        assert matches_alive(lives, number) == alone, threshold


def test_lives_of_a_long_segment_are_refused():
    case = Case([["cat", "dog", "mat"]], [[["mat", "sat"]]], {word: [1.0, 2.0] for word in WORDS})
    chunk, vectors = chunk_of(case)
    matcher = VleuMatcher()
    with limits({"softbleu.matching.matchers.LONG_CELLS": 6}):
        assert len(match_intervals(matcher, [0.0, 0.5], chunk, vectors, 2).order) == 3
    with (
        limits({"softbleu.matching.matchers.LONG_CELLS": 5}),
        pytest.raises(InputError, match=r"3 candidate and 2 reference tokens is too long.*: split it"),
    ):
        match_intervals(matcher, [0.0, 0.5], chunk, vectors, 2)


@pytest.mark.parametrize("matcher", ["exact", "xleu"])
def test_ten_thousand_repeated_words_take_bounded_memory(matcher):
    vectors = {f"w{number}": [float(number % 7 - 3), float(number % 5), 1.0] for number in range(300)}
    line, other = " ".join(["w1"] * 10_000), " ".join(["w1", "w2"] * 250)
    tracemalloc.start()
    try:
        found = score([line], [other], vectors=vectors, matcher=matcher).numbers.matches
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found[0] >= 250
    assert peak < 200 << 20
