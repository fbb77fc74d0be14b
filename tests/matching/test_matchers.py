"""Many matchers at once give what each gives by itself."""

import math
import tracemalloc
from dataclasses import dataclass, replace
from itertools import compress, product
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refused
from strategies import NARROW, PATHS, SOFT, Case, cases, limits

from softbleu import InputError, score
from softbleu.corpora import Segments
from softbleu.embeddings import open_vectors
from softbleu.kernels import choose_kernels
from softbleu.matching import SoftMatcher, make_matcher
from softbleu.matching.matchers import Exact, VleuMatcher
from softbleu.matching.ngrams import Chunk, TokenVectors
from softbleu.matching.sweep import match_intervals, matched_by_all
from softbleu.metrics.bleu import Bleu
from softbleu.metrics.reading import read_metric
from softbleu.results.api import score_corpus
from softbleu.text.coded import Vocabulary

NUMPY = choose_kernels("numpy")
each_kernels = pytest.mark.parametrize("kernels", ["numpy", pytest.param("numba", marks=pytest.mark.slow)])
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
    selected = open_vectors(case.vectors).select(list(vocabulary), case.vector_case)
    counts = np.bincount(references.codes, minlength=len(selected.norms)).astype(float)
    vectors = TokenVectors(selected.rows, selected.norms, frequencies=counts / max(counts.sum(), 1))
    return Chunk(candidates, references, np.cumsum([0, *map(len, case.references)])), vectors


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


def assert_as_alone(matchers, case, kernels):
    pytest.importorskip(kernels)
    chunk, vectors = chunk_of(case)
    # Another system has the same candidates, the other way round.
    other = replace(chunk, candidates=chunk.candidates.chosen(np.arange(len(chunk))[::-1]))
    found = matched_by_all(matchers, [chunk, other], vectors, case.order, choose_kernels(kernels))
    assert len(found) == len(matchers)
    for masses, matcher in zip(found, matchers, strict=True):
        expected = [matcher.matched(system, vectors, case.order, NUMPY).tolist() for system in (chunk, other)]
        assert masses.dtype.kind == "i"
        assert masses.tolist() == expected, matcher


@each_kernels
@pytest.mark.parametrize("path", [*SWEEP_PATHS, "mixed"])
@given(grid=grids())
@settings(max_examples=12)
def test_masses_of_any_matchers(path, kernels, grid):
    matchers, case = grid
    with limits({**SWEEP_PATHS, "mixed": MIXED}[path]):
        if "narrow" in path:
            matchers = [matcher for matcher in matchers if getattr(matcher, "assignment", "") != "optimal"]
        assert_as_alone(matchers, case, kernels)


@each_kernels
def test_thresholds_may_recur_and_differ_by_less_than_a_millionth(kernels):
    case = Case([["cat", "dog"]], [[["mat", "sat"]]], {"cat": [1, 0], "mat": [1, 1], "dog": [2, 1], "sat": [0, 1]})
    thresholds = [0.7, 0.7000001, 0.7000002, 0.7, 0.3, 0.707107, 0.707106]
    assert_as_alone([make_matcher("vleu", threshold=t) for t in thresholds], case, kernels)


@each_kernels
def test_everyone_wants_the_same_word(kernels):
    """The worst case: at each threshold whatever falls away is passed on to the end of the line."""
    angles = {**dict.fromkeys((f"c{place}" for place in range(70)), 0), **{f"r{place}": place for place in range(70)}}
    angles["r69"] = 90 * (math.pi / 2 - 1e-6)  # A similarity of a millionth
    vectors = {word: [math.cos(angle / 90), math.sin(angle / 90)] for word, angle in angles.items()}
    case = Case([[*angles][:70]], [[[*angles][70:]]], vectors, order=1)
    assert_as_alone([make_matcher("vleu", threshold=each / 40) for each in range(41)], case, kernels)


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
    assert_as_alone(matchers, case, "numpy")
    chunk, vectors = chunk_of(case)
    halved, whole = matched_by_all(matchers, [chunk], vectors, 1, NUMPY)
    assert 0 < halved[0, 0, 0] < whole[0, 0, 0]


@pytest.mark.parametrize(("assignment", "consumption"), ASSIGNMENTS)
def test_an_unmatched_word_has_no_partner(assignment, consumption):
    case = Case([["cat", "dog", "cow"]], [[["mat", "dog", "sat"]]], {"cat": [1.0, 0.1], "mat": [1.0, 0.2]})
    matcher = VleuMatcher(threshold=0.5, assignment=assignment, consumption=consumption)
    chunk, vectors = chunk_of(case)
    matches = next(iter(matcher.matches(chunk, vectors, 1)))
    assert (matches.matched > 0).tolist() == [True, True, False]
    assert (matches.partner_starts[2], matches.partner_orders[2]) == (-1, 0)


def columns_of(matches, orders):
    columns = (orders, matches.starts, matches.matched, matches.partner_starts, matches.partner_orders)
    return zip(*map(np.ndarray.tolist, columns), strict=True)


@pytest.mark.parametrize(("assignment", "consumption"), ASSIGNMENTS)
@pytest.mark.parametrize("name", SOFT)
@given(
    case=cases(longest=5, longest_reference=5, composition="mean"),
    more=st.lists(st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1)), max_size=4),
    composition=st.sampled_from(COMPOSITIONS),
)
@settings(max_examples=4)
def test_match_intervals_hold_at_each_threshold(name, assignment, consumption, case, more, composition):
    thresholds = sorted([float(case.options["threshold"]), *more])
    matcher = make_matcher(name, assignment=assignment, consumption=consumption, composition=composition)
    chunk, vectors = chunk_of(case)
    lives = match_intervals(matcher, thresholds, chunk, vectors, case.order)
    assert (lives.first < lives.end).all()
    every = list(columns_of(lives, lives.order))
    for number, threshold in enumerate(thresholds):
        alive = (lives.first <= number) & (number < lives.end)
        by_order = replace(matcher, threshold=threshold).matches(chunk, vectors, case.order)
        rows = (row for n, each in enumerate(by_order, 1) for row in columns_of(each, np.full_like(each.starts, n)))
        assert sorted(compress(every, alive)) == sorted(row for row in rows if row[2] > 0), threshold


@pytest.mark.parametrize("name", SOFT)
@given(case=cases(longest=5, longest_reference=5))
@settings(max_examples=8)
def test_intervals_of_a_long_segment_are_those_of_a_short_one(name, case):
    given_ = (make_matcher(name), [0.0, 0.5, 0.8, 1.0], *chunk_of(case), case.order)
    at_once = match_intervals(*given_)
    with limits({**NARROW, "softbleu.matching.sweep.SWEEP_CELLS": 1}):
        one_by_one = match_intervals(*given_)

    def at_each(lives):
        rows = list(columns_of(lives, lives.order))
        return [sorted(compress(rows, (lives.first <= n) & (n < lives.end))) for n in range(4)]

    assert at_each(one_by_one) == at_each(at_once)


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


# Matchers as values, by name, and from other packages.


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("fleu", {}, r"unknown matcher 'fleu' .*valid: exact, sleu, .*vleu"),
        ("vleu", {"composition": "best"}, "unknown composition 'best'; valid: mean, aligned"),
        ("vleu", {"colour": "best"}, "matcher 'vleu' has no option 'colour'; it has: threshold, assignment, cons"),
        ("vleu", {"assignment": "optimal", "consumption": "similarity"}, "needs consumption 'unit'"),
    ],
)
def test_unknown_matchers_and_options_are_refused(name, options, message):
    refused(InputError, message, lambda: make_matcher(name, **options))


@dataclass(frozen=True)
class Pairs(SoftMatcher):
    """Only bigrams are soft."""

    name: ClassVar[str] = "pairs"

    def pool_orders(self, order, max_order):
        return (2,) if order == 2 else ()


@dataclass(frozen=True)
class Shorter(SoftMatcher):
    """An n-gram may match approximately those one word shorter; its own order by spelling alone."""

    name: ClassVar[str] = "shorter"

    def pool_orders(self, order, max_order):
        return (order - 1,) if order > 1 else ()


def masses(matcher, candidate, reference):
    vectors = {"cat": [1.0, 0.0], "dog": [0.6, 0.8]}
    measure = read_metric(matcher=replace(matcher, threshold=0.0), order=2, vectors=vectors)
    (result,) = score_corpus(Segments.of([candidate], [reference]), measure)
    return result.numbers.matches


@pytest.mark.parametrize("matcher", [Pairs, Shorter])
@pytest.mark.parametrize("assignment", ["exact-first", "sequential", "optimal"])
def test_a_matcher_may_leave_out_orders_and_lines_may_be_shorter_than_soft_ones(matcher, assignment):
    assert masses(Pairs(assignment=assignment), "a cat", "a dog") == [1, 0.8]
    for candidate, reference in (("cat", "dog"), ("cat", "a dog"), ("a cat", "dog")):
        found = masses(matcher(assignment=assignment), candidate, reference)
        # "a cat" against "dog": (0 + 0.6) / sqrt(2)
        soft = matcher is Shorter and candidate == "a cat"
        assert found == [0, pytest.approx(0.424264) if soft else 0]


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("assignment", ["exact-first", "sequential", "optimal"])
def test_the_own_order_is_exact_where_only_others_are_soft(assignment, long, monkeypatch):
    if long:
        monkeypatch.setattr("softbleu.matching.matchers.BATCH_CELLS", 1)
        monkeypatch.setattr("softbleu.matching.matchers.LONG_CELLS", 0)
    found = masses(Shorter(assignment=assignment), "the cat cat", "the cat dog")
    assert found == [2, 2], "'the cat' is equal to one; 'cat cat' is as good as 'cat', and better than 'dog'"


def test_a_matcher_may_need_frequencies_and_no_vectors() -> None:
    class Weighted(Exact):
        def needs_frequencies(self, max_order: int) -> bool:
            return True

    requires = Bleu(matcher=Weighted()).requires
    assert (requires.vectors, requires.frequency) == (False, True)
