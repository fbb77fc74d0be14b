"""softbleu: equal to the literal oracle, and the laws it keeps."""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meteor_data import PARAPHRASES, SYNSETS, write_meteor_data
from oracles import meteor
from oracles import softbleu as oracle
from refusing import refused
from strategies import Case, lines, word_vectors

import softbleu
from softbleu.corpora import Segments
from softbleu.engine.prepare import prepare_corpus
from softbleu.engine.runner import RunOptions, collect_statistics
from softbleu.errors import InputError
from softbleu.kernels import KernelName, choose_kernels
from softbleu.metrics.reading import read_metric
from softbleu.metrics.settings import IdfCorpus
from softbleu.metrics.softbleu import Softbleu, SoftbleuScore
from softbleu.results.api import score_corpus
from softbleu.text.tokens import Whitespace

MILLION = 1_000_000
KERNELS: list[KernelName] = ["numpy", *(["numba"] if find_spec("numba") else [])]  # type: ignore[list-item]


@dataclass(frozen=True)
class SoftbleuCase(Case):
    """A corpus, vectors and options of softbleu."""

    @property
    def metric(self) -> Softbleu:  # type: ignore[override]
        return Softbleu(**self.options)

    @property
    def pairs(self) -> list[tuple[list[str], list[str]]]:
        """Every candidate with each of its references."""
        texts = zip(self.candidates, self.references, strict=True)
        return [(candidate, reference) for candidate, references in texts for reference in references]

    @property
    def paired(self) -> "SoftbleuCase":
        """The same references one by one: words are as rare as before."""
        return replace(self, candidates=[one for one, _ in self.pairs], references=[[two] for _, two in self.pairs])

    def rows(self, kernels: KernelName = "numpy") -> np.ndarray[Any, Any]:
        """Statistics of the library, a row a segment."""
        how = RunOptions(kernels=kernels)
        return collect_statistics(self.segments, [self.measure], how, keep_rows=True)[0].rows[0]

    def allowed(self, candidate: list[str], reference: list[str]) -> list[list[oracle.Matched]]:
        """What each order may have."""
        options = oracle.Options(**self.options)
        weight = oracle.weights_from([line for texts in self.references for line in texts], options)
        alike, orders = self.product, range(1, options.order + 1)
        return [oracle.matched(candidate, reference, n, alike, weight, options) for n in orders]


OPTIONS = {
    "order": st.integers(1, 4),
    "beta": st.sampled_from([0.0, 0.5, 1.0, 3.0, 1e6]),
    "power": st.sampled_from([0.5, 0.7, 1.0, 2.5]),
    "rarity": st.sampled_from([0.0, 0.5, 1.0, 1.5]),
    "position": st.sampled_from([0.0, 0.2, 2.0]),
    "characters": st.sampled_from([0.0, 0.4, 0.8, 1.0]),
    "credit": st.sampled_from(["greedy", "clipped", "both"]),
}


@st.composite
def cases(draw: st.DrawFn, *, most_references: int = 3, longest: int = 5) -> SoftbleuCase:
    size = draw(st.integers(1, 4))
    texts = st.lists(lines(longest), min_size=1, max_size=most_references)
    candidates, references = (draw(st.lists(each, min_size=size, max_size=size)) for each in (lines(longest), texts))
    vectors, options = draw(st.none() | word_vectors()), draw(st.fixed_dictionaries(OPTIONS))
    return SoftbleuCase(candidates, references, vectors, options=options)


@given(case=cases(), kernels=st.sampled_from(KERNELS))
@settings(max_examples=40)
def test_rows_are_those_of_the_oracle(case: SoftbleuCase, kernels: KernelName) -> None:
    for (candidate, reference), row in zip(case.pairs, case.paired.rows(kernels), strict=True):
        for found, expected in zip(row.reshape(-1, 4), case.allowed(candidate, reference), strict=True):
            # Every similarity is rounded to 6 decimals, and so is every sum of weights.
            room = 1 + max(expected[0].candidate_all, expected[0].reference_all)
            gaps = [np.abs(np.array(list(vars(one).values())) * MILLION - found).max() for one in expected]
            assert min(gaps) <= room


@given(case=cases())
@settings(max_examples=20)
def test_a_score_follows_from_its_row(case: SoftbleuCase) -> None:
    metric, options = case.metric, oracle.Options(**case.options)
    for row in case.rows():
        orders = [oracle.Matched(*each) for each in row.reshape(-1, 4).tolist()]
        score = metric.score(row)
        assert isinstance(score, SoftbleuScore)
        assert score.score == pytest.approx(oracle.score(orders, options), abs=1e-9)
        assert score.precisions == pytest.approx([100 * one.precision for one in orders], abs=1e-9)
        assert score.recalls == pytest.approx([100 * one.recall for one in orders], abs=1e-9)
        assert score.order_scores == pytest.approx([one.score(options.beta) for one in orders], abs=1e-9)
        assert metric.columns(row[None]).score[0] == score.score


@given(case=cases())
@settings(max_examples=20)
def test_each_segment_takes_its_first_best_reference_and_a_corpus_their_sum(case: SoftbleuCase) -> None:
    metric, single, rows = case.metric, case.paired.rows(), case.rows()
    start = 0
    for texts, row in zip(case.references, rows, strict=True):
        each = [metric.score(one).score for one in single[start : start + len(texts)]]
        assert row.tolist() == single[start + each.index(max(each))].tolist()
        start += len(texts)
    corpus, macro, each = (
        score_corpus(case.segments, case.measure, level=level)[0] for level in ("corpus", "macro", "segment")
    )
    assert corpus.numbers == metric.score(rows.sum(axis=0))
    assert macro.score == pytest.approx(np.mean([one.score for one in each.segments or ()]), abs=1e-9)


@given(case=cases(most_references=1))
@settings(max_examples=20)
def test_a_candidate_that_is_its_reference_has_all(case: SoftbleuCase) -> None:
    """100 in every order it is long enough for, whatever the options; an empty one has 0."""
    same = replace(case, candidates=[texts[0] for texts in case.references])
    for words, row in zip(same.candidates, same.rows(), strict=True):
        score = same.metric.score(row)
        expected = [100.0 if n < len(words) else 0.0 for n in range(case.options["order"])]
        assert score.order_scores == expected  # type: ignore[attr-defined]
        assert score.score == (100.0 if any(expected) else 0.0)


@given(case=cases(longest=9), most=st.sampled_from([1, 30]), kernels=st.sampled_from(KERNELS))
@settings(max_examples=20)
def test_pieces_and_kernels_change_no_digit(case: SoftbleuCase, most: int, kernels: KernelName) -> None:
    expected = case.rows()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choose_kernels(kernels), "PAIRS_AT_ONCE", most)
        assert case.rows(kernels).tolist() == expected.tolist()


def test_no_vectors_no_score(tmp_path: Path) -> None:
    (block,) = prepare_corpus(Segments.of(["a"], ["a"]), Whitespace(), Softbleu().requires).blocks()
    (chunk,) = block.chunks(0, 1)
    with pytest.raises(InputError, match=r"^metric 'softbleu' needs a table of words[^\n]*$"):
        Softbleu().statistics(chunk, None, choose_kernels("numpy"))
    refused(InputError, r"no plain file", IdfCorpus.of, str(tmp_path))


# softbleu with METEOR's synonyms and paraphrases: what is known to be alike counts, and by how much.


KNOWN = ["small", "little", "tiny", "cat", "feline", "kitten", "a", "the"]
KNOWN += ["run", "jump", "mouse", "rodent", "in", "of", "Small", "TINY"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write_meteor_data(tmp_path_factory.mktemp("alike") / "data"))


def alike_places(candidate: list[str], reference: list[str], synonyms: float, paraphrases: float) -> Any:
    """Similarity of two places as the description reads, where no word has a vector."""
    pairs = {*PARAPHRASES, *((other, phrase) for phrase, other in PARAPHRASES)}
    rephrased = {
        places
        for own, others in product(meteor.phrases(candidate), meteor.phrases(reference))
        if (meteor.text(candidate, own).lower(), meteor.text(reference, others).lower()) in pairs
        for places in product(own, others)
    }

    def alike(one: str, other: str) -> float:
        (word, i), (met, j) = ((text, int(place[2:])) for text, place in (each.split("@") for each in (one, other)))
        if word == met:
            return 1.0
        if candidate == reference or word.lower() == met.lower():
            return 0.0
        synonymous = not {*SYNSETS.get(word.lower(), ())}.isdisjoint(SYNSETS.get(met.lower(), ()))
        return max(synonyms * synonymous, paraphrases * ((i, j) in rephrased))

    return alike


LINES = st.lists(st.sampled_from(KNOWN), max_size=6)
SHARES = st.tuples(st.sampled_from([0.0, 0.5, 0.8]), st.sampled_from([0.0, 0.6, 0.8]))


@given(candidate=LINES, reference=LINES, shares=SHARES, order=st.integers(1, 2), power=st.sampled_from([1.0, 0.5]))
@settings(max_examples=60)
def test_synonyms_and_paraphrases_count_as_in_the_oracle(candidate, reference, shares, order, power, data):
    given = dict(zip(("synonyms", "paraphrases"), shares, strict=True)) | {"order": order, "power": power}
    given |= {"rarity": 1.0, "characters": 0.0, "tokenize": "none", "vectors": {"unknown": [1.0]}}
    measure = read_metric("softbleu", meteor_data=data, **given)
    found = measure.sentence_score(" ".join(candidate), " ".join(reference))
    options = oracle.Options(order=order, power=power, rarity=1, characters=0)
    weigh = oracle.weights_from([reference], options)
    sides = ([f"{word}@{x}.{n}" for n, word in enumerate(line)] for x, line in (("c", candidate), ("r", reference)))
    alike = alike_places(candidate, reference, *shares)
    scores = oracle.scores(*sides, alike, lambda place: weigh(place.partition("@")[0]), options)
    assert any(float(found) == pytest.approx(score, abs=2e-4) for score in scores)


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [("a tiny cat ran", "a small cat ran"), ("tiny tiny cat", "small cat tiny"), ("tiny", "small"), ("", "small")],
)
def test_soft_meteor_matches_by_vectors_as_by_synonyms(candidate: str, reference: str, data: str) -> None:
    vectors = {"tiny": [1.0, 0.1], "small": [1.0, 0.0], "cat": [0.0, 1.0]}
    given = {"metrics": "meteor", "stages": "exact+stem", "vectors": vectors, "soft_weight": 0.8}
    soft = softbleu.score([candidate], [reference], soft=0.9, **given).numbers
    hard = softbleu.score([candidate], [reference], soft=0.999, **given).numbers
    known = {"metrics": "meteor", "stages": "exact+stem+synonym", "meteor_data": data}
    assert softbleu.score([candidate], [reference], **known).numbers == soft
    assert (hard.score == soft.score) == (not candidate)
