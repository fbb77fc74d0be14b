"""softbleu: equal to the literal oracle, and the laws it keeps."""

from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from complete import complete
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import soft
from oracles import softbleu as oracle
from refusing import refused
from strategies import WORDS, Vectors, lines, spoken, word_vectors

from softbleu.corpora import Segments
from softbleu.embeddings.choice import VectorChoice
from softbleu.engine.prepare import prepare_corpus
from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError
from softbleu.kernels import KernelName, choose_kernels
from softbleu.metrics import Metric
from softbleu.metrics.base import IdfCorpus
from softbleu.metrics.softbleu import Softbleu, SoftbleuScore
from softbleu.results.api import score_corpus
from softbleu.text.tokens import Whitespace

MILLION = 1_000_000
KERNELS: list[KernelName] = ["numpy", *(["numba"] if find_spec("numba") else [])]  # type: ignore[list-item]
CREDITS = ("greedy", "clipped", "both")
Lines = list[list[str]]


@dataclass(frozen=True)
class Case:
    """A corpus, vectors and options."""

    candidates: Lines
    references: list[Lines]
    vectors: Vectors | None  # None: words are compared by their spellings
    options: oracle.Options

    def metric(self, **more: Any) -> Softbleu:
        return Softbleu(**{**asdict(self.options), **more})

    @property
    def segments(self) -> Segments:
        return spoken(self.candidates, self.references)

    @property
    def pairs(self) -> list[tuple[list[str], list[str]]]:
        """Every candidate with each of its references."""
        texts = zip(self.candidates, self.references, strict=True)
        return [(candidate, reference) for candidate, references in texts for reference in references]

    @property
    def paired(self) -> "Case":
        """The same references one by one: words are as rare as before."""
        return replace(self, candidates=[one for one, _ in self.pairs], references=[[two] for _, two in self.pairs])

    @property
    def alike(self) -> soft.TokenProduct:
        """The oracle's token product; a word found as written keeps its vector even if that is zero."""
        if self.vectors is None:
            return soft.letters_product
        found = {word: word if word in self.vectors else word.lower() for word in WORDS}
        known = {word: self.vectors[name] for word, name in found.items() if name in self.vectors}
        return soft.token_product_from(known, "exact")

    @property
    def weight(self) -> oracle.Weight:
        return oracle.weights_from([line for texts in self.references for line in texts], self.options)

    def measure(self, **more: Any) -> Metric:
        return complete(
            self.metric(**more), Whitespace(), VectorChoice("none" if self.vectors is None else self.vectors)
        )

    def rows(self, kernels: KernelName = "numpy", **more: Any) -> np.ndarray[Any, Any]:
        """Statistics of the library, a row a segment."""
        how = RunOptions(kernels=kernels)
        return collect_statistics(self.segments, [self.measure(**more)], how, keep_rows=True)[0].rows[0]

    def scores(self, **more: Any) -> list[float]:
        result = score_corpus(self.segments, self.measure(**more), level="segment")
        assert result[0].segments is not None
        return [segment.score for segment in result[0].segments]


@st.composite
def all_options(draw: st.DrawFn, **fixed: Any) -> oracle.Options:
    drawn: dict[str, Any] = {
        "order": draw(st.integers(1, 4)),
        "beta": draw(st.sampled_from([0.0, 0.5, 1.0, 3.0, 1e6])),
        "power": draw(st.sampled_from([0.5, 0.7, 1.0, 2.5])),
        "rarity": draw(st.sampled_from([0.0, 0.5, 1.0, 1.5])),
        "position": draw(st.sampled_from([0.0, 0.2, 2.0])),
        "characters": draw(st.sampled_from([0.0, 0.4, 0.8, 1.0])),
        "credit": draw(st.sampled_from(CREDITS)),
    }
    return oracle.Options(**{**drawn, **fixed})


@st.composite
def cases(draw: st.DrawFn, *, most_references: int = 3, longest: int = 5, **fixed: Any) -> Case:
    size = draw(st.integers(1, 4))
    candidates = draw(st.lists(lines(longest), min_size=size, max_size=size))
    texts = st.lists(lines(longest), min_size=1, max_size=most_references)
    references = draw(st.lists(texts, min_size=size, max_size=size))
    return Case(candidates, references, draw(st.none() | word_vectors()), draw(all_options(**fixed)))


def allowed(case: Case, candidate: list[str], reference: list[str]) -> list[list[oracle.Matched]]:
    alike, weight, options = case.alike, case.weight, case.options
    numbers = range(1, options.order + 1)
    return [oracle.matched(candidate, reference, n, alike, weight, options) for n in numbers]


@given(case=cases(), kernels=st.sampled_from(KERNELS))
@settings(max_examples=40)
def test_rows_are_those_of_the_oracle(case: Case, kernels: KernelName) -> None:
    for (candidate, reference), row in zip(case.pairs, case.paired.rows(kernels), strict=True):
        for found, expected in zip(row.reshape(-1, 4), allowed(case, candidate, reference), strict=True):
            # Every similarity is rounded to 6 decimals, and so is every sum of weights.
            room = 1 + max(expected[0].candidate_all, expected[0].reference_all)
            gaps = [np.abs(np.array(list(vars(one).values())) * MILLION - found).max() for one in expected]
            assert min(gaps) <= room


@given(case=cases())
@settings(max_examples=20)
def test_a_score_follows_from_its_row(case: Case) -> None:
    metric = case.metric()
    for row in case.rows():
        orders = [oracle.Matched(*each) for each in row.reshape(-1, 4).tolist()]
        score = metric.score(row)
        assert isinstance(score, SoftbleuScore)
        assert score.score == pytest.approx(oracle.score(orders, case.options), abs=1e-9)
        assert score.precisions == pytest.approx([100 * one.precision for one in orders], abs=1e-9)
        assert score.recalls == pytest.approx([100 * one.recall for one in orders], abs=1e-9)
        assert score.order_scores == pytest.approx([one.score(case.options.beta) for one in orders], abs=1e-9)
        assert metric.scores(row[None])[0] == score.score


@given(case=cases())
@settings(max_examples=20)
def test_each_segment_takes_its_first_best_reference_and_a_corpus_their_sum(case: Case) -> None:
    metric, single, rows = case.metric(), case.paired.rows(), case.rows()
    start = 0
    for texts, row in zip(case.references, rows, strict=True):
        each = [metric.score(one).score for one in single[start : start + len(texts)]]
        assert row.tolist() == single[start + each.index(max(each))].tolist()
        start += len(texts)
    corpus = score_corpus(case.segments, case.measure())[0]
    assert corpus.numbers == metric.score(rows.sum(axis=0))
    macro = score_corpus(case.segments, case.measure(), level="macro")[0]
    assert macro.score == pytest.approx(np.mean(case.scores()), abs=1e-9)


@given(case=cases(most_references=1))
@settings(max_examples=20)
def test_a_candidate_that_is_its_reference_has_all(case: Case) -> None:
    """100 in every order it is long enough for, whatever the options; an empty one has 0."""
    same = replace(case, candidates=[texts[0] for texts in case.references])
    for words, row in zip(same.candidates, same.rows(), strict=True):
        score = same.metric().score(row)
        orders = min(len(words), case.options.order)
        expected = [100.0 if n < orders else 0.0 for n in range(case.options.order)]
        assert score.order_scores == expected  # type: ignore[attr-defined]
        assert score.score == (100.0 if any(expected) else 0.0)


@given(case=cases(longest=9), most=st.sampled_from([1, 30]), kernels=st.sampled_from(KERNELS))
@settings(max_examples=20)
def test_pieces_and_kernels_change_no_digit(case: Case, most: int, kernels: KernelName) -> None:
    expected = case.rows()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choose_kernels(kernels), "PAIRS_AT_ONCE", most)
        assert case.rows(kernels).tolist() == expected.tolist()


def test_no_vectors_no_score(tmp_path: Path) -> None:
    (block,) = prepare_corpus(Segments.of(["a"], ["a"]), Whitespace(), Softbleu().requires).blocks()
    (chunk,) = block.chunks(0, 1)
    with pytest.raises(InputError, match=r"^softbleu compares words by vectors: name some[^\n]*$"):
        Softbleu().statistics(chunk, None, choose_kernels("numpy"))
    refused(InputError, r"no plain file", IdfCorpus.of, str(tmp_path))
