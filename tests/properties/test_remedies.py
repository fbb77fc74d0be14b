"""Scores under remedies equal those of the literal oracle.

They are common parts removed, neighbours only, function words that meet only themselves, and rare words (SIF).
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st
from oracles import measure, soft
from strategies import (
    GREEDY,
    PATHS,
    SOFT,
    Case,
    Vectors,
    assert_partners_equal,
    assert_statistics_equal,
    cases,
    limits,
    smallest_norm,
)

from softbleu.embeddings.choice import VectorChoice
from softbleu.embeddings.measure import WordMeasure
from softbleu.errors import InputError
from softbleu.kernels.scale import SCALE
from softbleu.matching.similarity import TokenVectors, round_millionths

SCOPE = "softbleu.embeddings.measure.SCOPE"
SET = ("the", "cat", "The", "dog", "mat", "sat", "Dog", "on", "red", "blue", "ran", "big", "zero", "far", "MAT")
"""Words of the set; `zero` has a zero vector."""
SPOKEN = (*SET, "THE", "Cat", "oov", "Oov")
LONE = ("the", "The", "THE", "on")
VARIANTS: dict[str, dict[str, Any]] = {
    "mean": {"mean": True},
    "pc:1": {"components": 1},
    "mean,pc:2": {"mean": True, "components": 2},
    "neighbours 2": {"neighbours": 2},
    "function words": {"lone": LONE},
    "all": {"mean": True, "components": 1, "neighbours": 4, "lone": LONE},
}
SMALLEST_NORM = 0.01
"""Squared norms nearer to 0 than this make similarities that depend on the last bits."""
MASS = 1e-5


def as_text(remedy: dict[str, Any]) -> str:
    """What `mean` and `components` are called."""
    components = remedy.get("components", 0)
    return ",".join(["mean"] * remedy.get("mean", False) + [f"pc:{components}"] * (components > 0)) or "none"


def as_settings(remedy: dict[str, Any]) -> dict[str, Any]:
    """The remedy by the names of `WordMeasure`."""
    kept = {name: value for name, value in remedy.items() if name not in ("mean", "components", "lone")}
    function_words = "exact" if remedy.get("lone") else "soft"
    return {**kept, "vectors_postprocess": as_text(remedy), "function_words": function_words}


@dataclass(frozen=True)
class RemedyCase(Case):
    """A corpus whose words are compared under a remedy."""

    remedy: dict[str, Any] = field(default_factory=dict)
    scope: int = measure.SCOPE

    @property
    def product(self) -> soft.TokenProduct:
        return measure.Measure(self.vectors, self.vector_case, **self.remedy, scope=self.scope).product

    @property
    def vector_choice(self) -> VectorChoice:
        return VectorChoice(self.vectors, self.vector_case, measure=WordMeasure(**as_settings(self.remedy)))  # type: ignore[arg-type]


def random_vectors(seed: int, dimension: int) -> Vectors:
    """Vectors in general position, off the origin, as a file would hold them."""
    generator = np.random.default_rng(seed)
    rows = (generator.normal(size=(len(SET), dimension)) + 0.5).astype(np.float32)
    return {
        word: ([0.0] * dimension if word == "zero" else row.tolist()) for word, row in zip(SET, rows, strict=True)
    }


@st.composite
def remedy_cases(draw: st.DrawFn, remedy: dict[str, Any], *, longest: int = 7, **options: object) -> RemedyCase:
    line = st.lists(st.sampled_from(SPOKEN), max_size=longest)
    size = draw(st.integers(1, 3))
    candidates = draw(st.lists(line, min_size=size, max_size=size))
    references = draw(st.lists(st.lists(line, min_size=1, max_size=2), min_size=size, max_size=size))
    dimension = draw(st.integers(3, 5))
    return RemedyCase(
        candidates,
        references,
        random_vectors(draw(st.integers(0, 1 << 32)), dimension),
        matcher=draw(st.sampled_from(SOFT)),
        order=draw(st.integers(1, 4)),
        vector_case=draw(st.sampled_from(["fallback", "exact"])),
        options={"threshold": draw(st.sampled_from([0.0, 0.3, 0.7])), **options},
        remedy=remedy,
        scope=draw(st.integers(dimension + 4, len(SET) + 3)),
    )


def assert_equal_to_the_oracle(case: RemedyCase) -> None:
    assume(smallest_norm(case) > SMALLEST_NORM)
    oracle = case.oracle()
    with limits({SCOPE: case.scope}):
        assert_statistics_equal(case, oracle, MASS)
        assert_partners_equal(case, oracle, MASS)


ANY = st.fixed_dictionaries(
    {
        "mean": st.booleans(),
        "components": st.integers(0, 2),
        "neighbours": st.sampled_from([1, 2, 5, 9]),
        "lone": st.sampled_from([(), LONE]),
    }
)


@pytest.mark.parametrize("remedy", [*VARIANTS, "any"])
@given(data=st.data(), greedy=st.sampled_from(GREEDY), composition=st.sampled_from(["mean", "aligned"]))
@settings(max_examples=12)
def test_scores_and_explanations(remedy: str, data: st.DataObject, greedy: Any, composition: str) -> None:
    options = {"assignment": greedy[0], "consumption": greedy[1], "composition": composition}
    chosen = VARIANTS[remedy] if remedy in VARIANTS else data.draw(ANY)
    assert_equal_to_the_oracle(data.draw(remedy_cases(chosen, **options)))


@pytest.mark.parametrize("remedy", ["mean", "neighbours 2", "all"])
@given(data=st.data())
@settings(max_examples=4)
def test_segments_of_any_length(remedy: str, data: st.DataObject) -> None:
    case = data.draw(remedy_cases(VARIANTS[remedy], longest=12, assignment="sequential"))
    for path, sizes in PATHS.items():
        note(path)
        with limits(sizes):
            assert_equal_to_the_oracle(case)


def test_similarities_beyond_1_are_1_however_great() -> None:
    """Without its mean an n-gram's norm may come near to 0, and what is divided by it need not."""
    assert round_millionths(SCALE * np.array([1.5, 3000.0, 1e9, -1.5])).tolist() == [1_000_000] * 3 + [-1_000_000]


SMALLEST_SHARE = 1e-4


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

    def oracle(self, product: soft.TokenProduct | None = None) -> list[soft.Statistics]:
        return Case.oracle(replace(self, options={**self.options, "composition": "mean"}), product)


ALL = {"composition": "sif", "threshold": 0.0}
SHORT = {"longest": 4, "longest_reference": 4, "most_references": 2, "most_segments": 2}


def near_threshold(case: SifCase) -> bool:
    """Whether a similarity lies on the threshold, but for rounding."""
    product, threshold, orders = case.product, case.options["threshold"], range(1, case.order + 1)
    return any(
        0 < abs(soft.mean_similarity(x, y, product) - threshold) < 3e-6
        for candidate, references in zip(case.candidates, case.references, strict=True)
        for x in (ngram for n in orders for ngram in soft.ngrams(candidate, n))
        for y in (ngram for m in orders for text in references for ngram in soft.ngrams(text, m))
    )


@pytest.mark.parametrize("given_out", [*GREEDY, ("optimal", "unit")])
@pytest.mark.parametrize("matcher", SOFT)
@given(data=st.data())
@settings(max_examples=4)
def test_scores_of_weighed_words(matcher: str, given_out: tuple[str, str], data: st.DataObject) -> None:
    short = given_out[0] == "optimal"
    own = {"assignment": given_out[0], "consumption": given_out[1], **(SHORT if short else {})}
    case = data.draw(cases(matcher=matcher, highest_order=3, **own))
    weighed = SifCase(**{**vars(case), "options": {**case.options, "composition": "sif"}})
    assume(smallest_norm(weighed, relative=True) > SMALLEST_SHARE)
    assume(not near_threshold(weighed))
    for path, sizes in list(PATHS.items())[: 1 if short else None]:
        note(path)
        with limits(sizes):
            assert_statistics_equal(weighed, None, MASS)


def test_frequencies() -> None:
    case = SifCase([["cat"], []], [[[]], [[]]], {"cat": [1.0]}, "vleu", 2, options=ALL)
    assert case.masses() == [[0.0, 0.0], [0.0, 0.0]]
    vectors = TokenVectors(np.ones((1, 2), np.float32), np.ones(1))
    assert vectors.weighted(by_frequency=False) is vectors
    with pytest.raises(InputError, match="frequencies"):
        vectors.weighted(by_frequency=True)
    shares = np.array([0.5, 0.0])
    vectors = TokenVectors(np.ones((2, 2), np.float32), np.ones(2), np.array([3.0, 2.0]), frequencies=shares)
    assert vectors.weighted(by_frequency=True).weights == pytest.approx([3 * 0.001 / 0.501, 2.0])
