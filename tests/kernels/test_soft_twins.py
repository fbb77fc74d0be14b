"""What compares words and pairs n-grams, compiled: the digits of NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cases

from softbleu.kernels import choose_kernels
from softbleu.kernels.pairs import TokenPairs
from softbleu.results import RunOptions, collect_statistics
from softbleu.text.tokens import WORD_PARTS, Vocabulary, WordParts

pytest.importorskip("numba", reason="numba (extra 'fast') is missing")
BOTH = [choose_kernels("numpy"), choose_kernels("numba")]
LENGTHS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=5)


def pairs_of(lengths):
    rows, columns = np.array([(0, 0), *lengths]).cumsum(axis=0).T
    return TokenPairs(rows, columns)


def weights_by(kernels, similarities, pairs, sides, order, greedy):
    return kernels.matched_weights(similarities.copy(), pairs, sides[0], sides[1], order, greedy).tolist()


@given(
    lengths=LENGTHS,
    values=st.sampled_from([[0.0, 1.0], [0.0, 0.3, 0.5, 1.0], list(np.linspace(0, 1, 50))]),
    order=st.integers(1, 4),
    greedy=st.sampled_from([0.0, 0.5, 1.0]),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=50)
def test_ties_go_the_same_way(lengths, values, order, greedy, seed):
    draw, pairs = np.random.default_rng(seed), pairs_of(lengths)
    similarities = draw.choice(values, int(pairs.cells[-1]))
    sides = [draw.choice([0.0, 0.5, 1.0, 2.25], int(bounds[-1])) for bounds in (pairs.rows, pairs.columns)]
    one, other = (weights_by(kernels, similarities, pairs, sides, order, greedy) for kernels in BOTH)
    assert one == other


@pytest.mark.parametrize("greedy", [0.0, 0.5])
def test_long_segments(greedy):
    draw, pairs = np.random.default_rng(7), pairs_of([(70, 50), (1, 80), (0, 3), (40, 60)])
    similarities = draw.random(int(pairs.cells[-1])).round(2)
    sides = [draw.random(int(bounds[-1])) for bounds in (pairs.rows, pairs.columns)]
    one, other = (weights_by(kernels, similarities, pairs, sides, 3, greedy) for kernels in BOTH)
    assert one == other
    assert max(row[0] for row in one[0]) > 0


@given(
    case=cases(assignment="exact-first", longest=9, longest_reference=9),
    consumption=st.sampled_from(["unit", "similarity"]),
    composition=st.sampled_from(["mean", "sif", "aligned"]),
)
@settings(max_examples=25)
def test_soft_matches(case, consumption, composition):
    case = case.with_options(consumption=consumption, composition=composition)
    one, other = (rows_by(name, case.segments, case.measure) for name in ("numpy", "numba"))
    assert one == other


def rows_by(kernels, segments, measure):
    (statistics,) = collect_statistics(segments, [measure], RunOptions(kernels=kernels), keep_rows=True)
    return statistics.rows.tolist()


@given(
    lines=st.lists(st.tuples(*[st.lists(st.text("abé", max_size=4), max_size=6)] * 2), max_size=4),
    weight=st.sampled_from([0.4, 0.8, 1.0]),
)
@settings(max_examples=40)
def test_spellings(lines, weight):
    vocabulary = Vocabulary()
    candidate, reference = (vocabulary.encode(side) for side in ([a for a, _ in lines], [b for _, b in lines]))
    parts = WordParts.of(vocabulary, WORD_PARTS["spelling"])
    pairs = TokenPairs(candidate.offsets, reference.offsets)
    found = [np.full(int(pairs.cells[-1]), 0.25) for _ in BOTH]
    for kernels, products in zip(BOTH, found, strict=True):
        kernels.raise_to_spellings(products, pairs, candidate.codes, reference.codes, parts, weight)
    assert found[0].tolist() == found[1].tolist()
    left, right = pairs.tokens
    same = candidate.codes[left] == reference.codes[right]
    assert (found[0][same] == weight).all()
