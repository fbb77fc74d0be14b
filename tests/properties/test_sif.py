"""Words weighed by how rare they are: scores equal those of the literal oracle."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import assume, given, note, settings
from oracles import soft
from strategies import GREEDY, PATHS, SOFT, Case, assert_statistics_equal, cases, limits, smallest_norm

from softbleu.corpora import Segments
from softbleu.errors import InputError
from softbleu.matching.similarity import TokenVectors
from softbleu.metrics.making import make_metric
from softbleu.results import score_corpus

MASS = 1e-5
SMALLEST_NORM = 1e-4
"""Squared norms nearer to 0 than this make similarities that depend on the last bits."""


def weights_of(references: list[list[list[str]]]) -> dict[str, float]:
    """Weight of each word: 0.001 / (0.001 + its share of all reference tokens); 1 for others."""
    counts = Counter(word for texts in references for text in texts for word in text)
    total = sum(counts.values())
    return {word: 0.001 / (0.001 + count / total) for word, count in counts.items()}


@dataclass(frozen=True)
class SifCase(Case):
    """A corpus whose words are weighed; the oracle's mean is over weighted products."""

    norms: dict[str, float] = field(default_factory=dict)

    @property
    def product(self) -> soft.TokenProduct:
        weights, plain = weights_of(self.references), super().product

        def product(one: str, other: str) -> float:
            return weights.get(one, 1.0) * weights.get(other, 1.0) * plain(one, other)

        return product

    def oracle(self) -> list[soft.Statistics]:
        return replace(self, options={**self.options, "composition": "mean"})._unweighted()

    def _unweighted(self) -> list[soft.Statistics]:
        return super().oracle()


ALL = {"composition": "sif", "threshold": 0.0}


def of(case: Case) -> SifCase:
    options = {**case.options, "composition": "sif"}
    return SifCase(**{**vars(case), "options": options})


def near_threshold(case: SifCase) -> bool:
    """Whether a similarity lies on the threshold, but for rounding."""
    product, threshold = case.product, case.options["threshold"]
    for candidate, references in zip(case.candidates, case.references, strict=True):
        for n in range(1, case.order + 1):
            for m in range(1, case.order + 1):
                for x in soft.ngrams(candidate, n):
                    for y in (y for text in references for y in soft.ngrams(text, m)):
                        if 0 < abs(soft.mean_similarity(x, y, product) - threshold) < 3e-6:
                            return True
    return False


@pytest.mark.parametrize(("assignment", "consumption"), GREEDY)
@pytest.mark.parametrize("matcher", SOFT)
def test_greedy_scores(matcher: str, assignment: str, consumption: str) -> None:
    @given(case=cases(matcher=matcher, assignment=assignment, consumption=consumption, highest_order=3))
    @settings(max_examples=4)
    def check(case: Case) -> None:
        weighed = of(case)
        assume(smallest_norm(weighed, relative=True) > SMALLEST_NORM)
        assume(not near_threshold(weighed))
        for path, sizes in PATHS.items():
            note(path)
            with limits(sizes):
                assert_statistics_equal(weighed, None, MASS)

    check()


@given(
    case=cases(
        assignment="optimal", longest=4, longest_reference=4, most_references=2, most_segments=2, highest_order=3
    )
)
@settings(max_examples=10)
def test_optimal_scores(case: Case) -> None:
    weighed = of(case)
    assume(smallest_norm(weighed, relative=True) > SMALLEST_NORM)
    assume(not near_threshold(weighed))
    assert_statistics_equal(weighed, None, MASS)


def test_shares_are_of_the_whole_corpus_and_of_references_only() -> None:
    vectors = {"cat": [3.0, 4.0], "dog": [4.0, 3.0], "mat": [1.0, 0.0]}
    more = [["cat"] * 20], [[["mat"] * 9 + ["cat"]]]
    one = SifCase([["mat", "dog"]], [[["mat", "cat"]]], vectors, "vleu", 2, options=ALL)
    two = replace(one, candidates=one.candidates + more[0], references=one.references + more[1])
    assert_statistics_equal(one, None, MASS)
    assert_statistics_equal(two, None, MASS)
    assert one.masses()[0] != two.masses()[0]
    assert replace(two, candidates=[*one.candidates, ["dog"]]).masses()[0] == two.masses()[0]


def test_no_reference_tokens_at_all() -> None:
    case = SifCase([["cat"], []], [[[]], [[]]], {"cat": [1.0]}, "vleu", 2, options=ALL)
    assert case.masses() == [[0.0, 0.0], [0.0, 0.0]]


def test_neither_workers_nor_other_systems_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("softbleu.corpora.segments.BLOCK", 8)
    vectors = {"cat": [3.0, 4.0], "dog": [4.0, 3.0], "mat": [1.0, 0.0]}
    lines, references = ["the dog", "a mat"] * 12, [["the cat", "a dog"], ["a cat mat"]] * 12
    both = Segments.of({"A": lines, "B": ["dog dog"] * 24}, references)
    xleu = make_metric(matcher="xleu", composition="sif", vectors=vectors, threshold=0.3)
    alone = score_corpus(Segments.of(lines, references), xleu)[0]
    with ThreadPoolExecutor(2) as executor:
        for given_ in (None, executor):
            assert score_corpus(both, xleu, executor=given_)[0].score == alone.score


def test_vectors_without_frequencies_are_refused() -> None:
    vectors = TokenVectors(np.ones((1, 2), np.float32), np.ones(1))
    assert vectors.weighted(by_frequency=False) is vectors
    with pytest.raises(InputError, match="frequencies"):
        vectors.weighted(by_frequency=True)


def test_frequency_weights_multiply_the_others() -> None:
    shares = np.array([0.5, 0.0])
    vectors = TokenVectors(np.ones((2, 2), np.float32), np.ones(2), np.array([3.0, 2.0]), frequencies=shares)
    assert vectors.weighted(by_frequency=True).weights == pytest.approx([3 * 0.001 / 0.501, 2.0])
