"""Statistics and partners equal those of the literal oracle, whichever way a segment takes; and laws that hold."""

import tomllib
from collections import Counter
from dataclasses import dataclass, field, replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from complete import complete
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st
from oracles import measure, soft
from strategies import (
    GREEDY,
    MATCHERS,
    PATHS,
    SOFT,
    WORDS,
    Case,
    Vectors,
    assert_partners_equal,
    assert_statistics_equal,
    cases,
    limits,
    smallest_norm,
)
from tables import each_row

from softbleu import score
from softbleu.embeddings.choice import VectorChoice
from softbleu.embeddings.measure import WordMeasure
from softbleu.errors import InputError
from softbleu.kernels import SCALE
from softbleu.matching.ngrams import TokenVectors, round_millionths
from softbleu.results.api import score_corpus
from softbleu.results.explain import explain_corpus
from softbleu.text.tokens import Whitespace

WIDE_PATHS = [name for name in PATHS if name != "long, narrow stripes"]


BY_HAND = tomllib.loads(Path(soft.__file__).with_name("by_hand.toml").read_text(encoding="utf-8"))
PLANE = BY_HAND["vectors"]["plane"]


@each_row("oracles/by_hand.toml", "x", "y", "mean", "aligned", table="similarities")
def test_similarities_by_hand(x: str, y: str, mean: float, aligned: float) -> None:
    product, one, other = soft.token_product_from(PLANE), tuple(x.split()), tuple(y.split())
    assert soft.mean_similarity(one, other, product) == soft.mean_similarity(other, one, product) == mean
    assert soft.aligned_similarity(one, other, product) == aligned


@each_row("oracles/by_hand.toml", "candidate", "references", "matcher", "denominator", "expected", table="totals")
def test_totals_by_hand(candidate: str, references: Any, matcher: str, denominator: str, expected: Any) -> None:
    texts = [[text.split() for text in references]]
    case = Case([candidate.split()], texts, PLANE, matcher, len(expected), denominator)
    assert case.oracle()[0].totals == case.scores()[0].totals == expected


@each_row("oracles/by_hand.toml", "candidate", "reference", "options", "expected", table="partners")
def test_partners_by_hand(candidate: str, reference: str, options: dict[str, Any], expected: Any) -> None:
    given = {"matcher": "vleu", "threshold": 0.0, **options}
    vectors, order = BY_HAND["vectors"][given.pop("vectors", "plane")], given.pop("of", 1)
    case = Case([candidate.split()], [[reference.split()]], vectors, given.pop("matcher"), options=given)
    case = replace(case, order=2 if case.matcher == "xleu" else 1)
    product = soft.token_product_from(vectors)
    (oracle,), (explained,) = case.oracle(product), explain_corpus(case.segments, case.measure, [1])
    shown = [(each.reference, each.similarity) for each in explained.matches if each.order == order]
    for found in ([(partner, similarity) for _, partner, similarity in oracle.pairs[order - 1]], shown):
        assert [[" ".join(partner or ()), similarity] for partner, similarity in found] == expected


both_kernels = pytest.mark.parametrize("kernels", ["numpy", "numba"])


@both_kernels
@given(
    case=cases(matcher="exact", longest=9, longest_reference=9, highest_order=8, fixed_threshold=0.0, spelt=True),
    table=st.sampled_from([None, 0, 9, 1 << 26]),
)
@settings(max_examples=60)
def test_exact_statistics_are_those_of_the_oracle(kernels: str, case: Case, table: int | None) -> None:
    """Also if all segments are long, with any room for tables."""
    pytest.importorskip(kernels)
    sizes = (
        {} if table is None else {"numpy_backend.LONG": 0, "numpy_backend.SHORT": 0, "numpy_backend._TABLE": table}
    )
    sizes |= {"numba_backend.LONG": 0} if sizes and kernels == "numba" else {}
    with limits({f"softbleu.kernels.{name}": size for name, size in sizes.items()}):
        assert_statistics_equal(case, kernels=kernels)


@both_kernels
def test_exact_statistics_of_long_lines(kernels: str) -> None:
    pytest.importorskip(kernels)
    choose = np.random.default_rng(5)
    few, many = (list(map(str, choose.integers(0, words, 2000))) for words in (3, 3000))
    candidates, same = [few, ["0"] * 10_000, many, ["7"]], ["0"] * 9999
    references = [[few[::-1], few[:500]], [same], [many[::-1], few], [many]]
    assert_statistics_equal(Case(candidates, references, None, "exact"), kernels=kernels)


@pytest.mark.parametrize("composition", ["mean", "aligned"])
@pytest.mark.parametrize("greedy", GREEDY)
@pytest.mark.parametrize("matcher", SOFT)
@given(data=st.data())
@settings(max_examples=5)
def test_greedy_statistics_and_partners(matcher: str, greedy: Any, composition: str, data: st.DataObject) -> None:
    own = {"assignment": greedy[0], "consumption": greedy[1], "composition": composition}
    spelt, longest = data.draw(st.booleans()), data.draw(st.sampled_from([7, 14]))
    case = data.draw(cases(matcher=matcher, longest=longest, spelt=spelt, **own))
    oracle = case.oracle()
    for path, sizes in PATHS.items():
        note(path)
        with limits(sizes):
            assert_statistics_equal(case, oracle)
            assert_partners_equal(case, oracle)


SHORT: dict[str, Any] = {"longest": 4, "longest_reference": 4, "most_references": 2, "highest_order": 3}


@pytest.mark.parametrize("composition", ["mean", "aligned"])
@pytest.mark.parametrize("matcher", SOFT)
@given(data=st.data())
@settings(max_examples=8)
def test_optimal_statistics_are_those_of_the_oracle(matcher: str, composition: str, data: st.DataObject) -> None:
    own = {"assignment": "optimal", "composition": composition}
    case = data.draw(cases(matcher=matcher, most_segments=3, spelt=data.draw(st.booleans()), **own, **SHORT))
    oracle = case.oracle()
    for path in WIDE_PATHS:
        note(path)
        with limits(PATHS[path]):
            assert_statistics_equal(case, oracle)
            explained = explain_corpus(case.segments, case.measure, range(1, len(case.candidates) + 1))
        # Which of several best assignments is shown is not said.
        for each, statistics in zip(explained, oracle, strict=True):
            by_order = [[pair.similarity for pair in each.matches if pair.order == n + 1] for n in range(case.order)]
            assert list(map(sum, by_order)) == pytest.approx(statistics.matches, abs=1e-9)
            assert all((pair.reference is None) == (pair.similarity == 0) for pair in each.matches)


@pytest.mark.parametrize("matcher", MATCHERS)
@given(data=st.data())
@settings(max_examples=8)
def test_totals_of_references_are_those_of_the_oracle(matcher: str, data: st.DataObject) -> None:
    case = replace(data.draw(cases(matcher=matcher, fixed_threshold=0.0)), denominator="reference")
    assert [score.totals for score in case.scores()] == [statistics.totals for statistics in case.oracle()]


@given(case=cases(composition="mean", highest_order=4, most_segments=1))
@settings(max_examples=25)
def test_raw_norms_weigh_words(case: Case) -> None:
    """Without normalisation a block sum is that of the raw products; a word without a vector has the mean norm."""
    norms = {word: sqrt(sum(value * value for value in vector)) for word, vector in case.known.items() if any(vector)}
    # Of the references' words, whatever is beside them.
    present = {word for texts in case.references for text in texts for word in text if word in norms}
    mean = sum(norms[word] for word in present) / len(present) if present else 1.0
    unit = case.product

    def product(first: str, second: str) -> float:
        return norms.get(first, mean) * norms.get(second, mean) * unit(first, second)

    assert case.vectors is not None
    choice = VectorChoice(case.vectors, case.vector_case, normalize=False)  # type: ignore[arg-type]
    result = score_corpus(case.segments, complete(case.metric, Whitespace(), choice))[0]
    (expected,) = case.oracle(product)
    # A rounding boundary, or a norm that only rounding keeps from zero, may differ by a millionth a match.
    tolerance = 2e-6 * (1 + len(case.candidates[0]))
    assert result.numbers.matches == pytest.approx(expected.matches, rel=0, abs=tolerance)  # type: ignore[attr-defined]


SIZES = {
    "engine.worker.MINI_BATCH": st.integers(1, 4),
    "engine.worker.LEAST": st.just(1),
    "engine.runner.BLOCK": st.integers(1, 4),
    "engine.worker.MOST_TOGETHER": st.integers(1, 30),
    "kernels.numpy_backend.SEGMENTS_AT_ONCE": st.integers(1, 4),
    "corpora.corpus.BLOCK": st.integers(1, 4),
    "matching.matchers.BATCH_CELLS": st.sampled_from([1, 30, 200]),
}


@given(case=cases(most_segments=9, matcher="xleu"), exact=st.booleans(), sizes=st.fixed_dictionaries(SIZES))
def test_sizes_of_pieces_change_nothing(case: Case, exact: bool, sizes: dict[str, int]) -> None:
    case = replace(case, matcher="exact") if exact else case
    expected, whole = case.scores(), score_corpus(case.segments, case.measure)
    with limits({f"softbleu.{name}": size for name, size in sizes.items()}):
        assert case.scores() == expected
        assert score_corpus(case.segments, case.measure) == whole


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
    assert (both[1].numbers, both[1].signature) == (alone[0].numbers, alone[0].signature)


# Scores under remedies equal those of the literal oracle.


SCOPE = "softbleu.embeddings.measure.SCOPE"
SET = ("the", "cat", "The", "dog", "mat", "sat", "Dog", "on", "red", "blue", "ran", "big", "zero", "far", "MAT")
"""Words of the set; `zero` has a zero vector."""
SPOKEN = (*SET, "THE", "Cat", "oov", "Oov")
LONE = ("the", "The", "THE", "on")
FIXED: dict[str, Any] = {
    "mean": {"mean": True},
    "pc:1": {"components": 1},
    "mean,pc:2": {"mean": True, "components": 2},
    "neighbours 2": {"neighbours": 2},
    "function words": {"lone": LONE},
    "all": {"mean": True, "components": 1, "neighbours": 4, "lone": LONE},
}
ANY = {"mean": [True, False], "components": [0, 1, 2], "neighbours": [1, 2, 5, 9], "lone": [(), LONE]}
REMEDIES = {name: st.just(remedy) for name, remedy in FIXED.items()}
REMEDIES["any"] = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in ANY.items()})
SMALLEST_NORM = 0.01  # Squared norms nearer to 0 than this make similarities that depend on the last bits
MASS = 1e-5


def measure_of(mean: bool = False, components: int = 0, lone: Any = (), **same: Any) -> WordMeasure:
    """A remedy as the library has it."""
    removed = ["mean"] * mean + [f"pc:{components}"] * (components > 0)
    function_words = "exact" if lone else "soft"
    return WordMeasure(vectors_postprocess=",".join(removed) or "none", function_words=function_words, **same)


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
        return VectorChoice(self.vectors, self.vector_case, measure=measure_of(**self.remedy))  # type: ignore[arg-type]


def random_vectors(seed: int, dimension: int) -> Vectors:
    """Vectors in general position, off the origin, as a file would hold them."""
    generator = np.random.default_rng(seed)
    rows = (generator.normal(size=(len(SET), dimension)) + 0.5).astype(np.float32)
    return {
        word: ([0.0] * dimension if word == "zero" else row.tolist()) for word, row in zip(SET, rows, strict=True)
    }


@st.composite
def remedy_cases(draw: st.DrawFn, remedy: Any, *, longest: int, **options: object) -> RemedyCase:
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
        remedy=draw(remedy),
        scope=draw(st.integers(dimension + 4, len(SET) + 3)),
    )


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("remedy", REMEDIES)
@given(data=st.data(), greedy=st.sampled_from(GREEDY), composition=st.sampled_from(["mean", "aligned"]))
@settings(max_examples=4)
def test_scores_and_explanations(path: str, remedy: str, data: st.DataObject, greedy: Any, composition: str) -> None:
    options = {"assignment": greedy[0], "consumption": greedy[1], "composition": composition}
    case = data.draw(remedy_cases(REMEDIES[remedy], longest=7 if path == "batch" else 12, **options))
    assume(smallest_norm(case) > SMALLEST_NORM)
    oracle = case.oracle()
    with limits({SCOPE: case.scope, **PATHS[path]}):
        assert_statistics_equal(case, oracle, MASS)
        assert_partners_equal(case, oracle, MASS)


def test_similarities_beyond_1_are_1_however_great() -> None:
    """Without its mean an n-gram's norm may come near to 0, and what is divided by it need not."""
    assert round_millionths(SCALE * np.array([1.5, 3000.0, 1e9, -1.5])).tolist() == [1_000_000] * 3 + [-1_000_000]


SMALLEST_SHARE = 1e-4
SHORTEST = {"longest": 4, "longest_reference": 4, "most_references": 2, "most_segments": 2}


def weights_of(references: list[list[list[str]]]) -> dict[str, float]:
    """Weight of each word: 0.001 / (0.001 + its share of all reference tokens); 1 for others."""
    counts = Counter(word for texts in references for text in texts for word in text)
    total = sum(counts.values())
    return {word: 0.001 / (0.001 + count / total) for word, count in counts.items()}


@dataclass(frozen=True)
class SifCase(Case):
    """A corpus whose words are weighed; the oracle's "mean" is over weighted products."""

    @property
    def product(self) -> soft.TokenProduct:
        weights, plain = weights_of(self.references), super().product

        def product(one: str, other: str) -> float:
            return weights.get(one, 1.0) * weights.get(other, 1.0) * plain(one, other)

        return product


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
    own = {"assignment": given_out[0], "consumption": given_out[1], **(SHORTEST if short else {})}
    case = SifCase(**vars(data.draw(cases(matcher=matcher, highest_order=3, **own))))
    assume(smallest_norm(case, relative=True) > SMALLEST_SHARE)
    assume(not near_threshold(case))
    weighed, expected = case.with_options(composition="sif"), case.with_options(composition="mean").oracle()
    for path, sizes in list(PATHS.items())[: 1 if short else None]:
        note(path)
        with limits(sizes):
            assert_statistics_equal(weighed, expected, MASS)


def test_weights_by_frequency_need_frequencies() -> None:
    case = Case([["cat"], []], [[[]], [[]]], {"cat": [1.0]}, order=2, options={"composition": "sif"})
    assert case.masses() == [[0.0, 0.0], [0.0, 0.0]]
    vectors = TokenVectors(np.ones((1, 2), np.float32), np.ones(1))
    with pytest.raises(InputError, match="frequencies"):
        vectors.weighted()
    shares = np.array([0.5, 0.0])
    vectors = TokenVectors(np.ones((2, 2), np.float32), np.ones(2), np.array([3.0, 2.0]), frequencies=shares)
    assert vectors.weighted().weights == pytest.approx([3 * 0.001 / 0.501, 2.0])
