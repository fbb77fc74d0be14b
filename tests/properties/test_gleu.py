"""GLEU in every form equals the literal oracle; and what must hold whatever the text is."""

from dataclasses import dataclass, replace
from statistics import fmean, pstdev
from typing import Any

import pytest
from complete import complete
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import gleu as oracle
from strategies import GREEDY, SOFT, WORDS, lines, spoken, word_vectors

from softbleu.embeddings.choice import VectorChoice
from softbleu.matching import make_matcher
from softbleu.metrics.gleu import Gleu, GleuScore
from softbleu.metrics.result import Result
from softbleu.results.api import score_corpus
from softbleu.text.tokens import Whitespace

VARIANTS = ("gleu+", "gleu+paper", "gleu0")
EXACT = 1e-9
Lines = list[list[str]]


@dataclass(frozen=True)
class Case:
    """A corpus, and everything a GLEU score depends on."""

    sources: Lines
    candidates: Lines
    references: list[Lines]
    options: oracle.Options

    @property
    def oracle_segments(self) -> list[oracle.Segment]:
        return list(map(oracle.Segment, self.sources, self.candidates, self.references))

    def matched(self, **changed: Any) -> "Case":
        """The same with other settings of the matcher."""
        return replace(self, options=replace(self.options, matching={**self.options.matching, **changed}))

    def metric(self, multi: str = "sample", **changed: Any) -> Gleu:
        own = {name: getattr(self.options, name) for name in ("variant", "order", "penalty", "weight", "swapped_bp")}
        matching = {key: each for key, each in self.options.matching.items() if key != "vectors"}
        return Gleu(make_matcher(matching.pop("matcher"), **matching), **own, multi=multi, **changed)

    def run(self, metric: Gleu, level: str = "corpus") -> Result:
        vectors = VectorChoice(self.options.matching["vectors"], "exact")
        corpus = spoken(self.candidates, self.references, self.sources)
        return score_corpus(corpus, complete(metric, Whitespace(), vectors), level=level)[0]


@st.composite
def edited(draw: st.DrawFn, text: list[str]) -> list[str]:
    """Change a few words of a text, as correcting it would; or write another."""
    if draw(st.integers(0, 4)) == 0:
        return draw(lines(8))
    words = list(text)
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(words)))
        words[place : place + draw(st.integers(0, 1))] = draw(st.lists(st.sampled_from(WORDS), max_size=1))
    return words


@st.composite
def cases(draw: st.DrawFn, *, most_segments: int = 4, most_references: int = 5, **fixed: Any) -> Case:
    size = draw(st.integers(1, most_segments))
    sources = draw(st.lists(lines(8), min_size=size, max_size=size))
    candidates = [draw(edited(source)) for source in sources]
    references = [[draw(edited(source)) for _ in range(draw(st.integers(1, most_references)))] for source in sources]
    drawn = {
        "variant": draw(st.sampled_from(VARIANTS)),
        "order": draw(st.integers(1, 6)),
        "penalty": draw(st.sampled_from(["exact", "soft", "progress"])),
        "weight": draw(st.sampled_from([0.0, 0.25, 1.0, 1.5, 3.0])),
        "swapped_bp": draw(st.booleans()),
        "smooth": draw(st.booleans()),
    }
    options = oracle.Options(**{**drawn, **fixed}, matching={"matcher": "exact", "vectors": {}})
    return Case(sources, candidates, references, options)


@st.composite
def soft_cases(draw: st.DrawFn, **fixed: Any) -> Case:
    case = draw(cases(most_segments=3, most_references=3, **fixed))
    assignment, consumption = draw(st.sampled_from(GREEDY))
    return case.matched(
        matcher=draw(st.sampled_from(SOFT)),
        threshold=draw(st.sampled_from([0.0, 0.5, 0.8, 1.0])),
        assignment=assignment,
        consumption=consumption,
        composition=draw(st.sampled_from(["mean", "aligned"])),
        vectors=draw(word_vectors()),
    )


def assert_segments_agree(case: Case) -> None:
    segments, options = case.oracle_segments, case.options
    for multi in ("max", "mean"):
        metric = case.metric(multi, segment_smoothing=case.options.smooth)
        found = [score.score for score in case.run(metric, "segment").segments or ()]
        expected = oracle.segment_scores(segments, options, multi)
        assert found == pytest.approx(expected, rel=0, abs=EXACT)
        assert all(0 <= score <= 100 + EXACT for score in found)
        mean = sum(expected) / len(expected)
        assert case.run(metric, "macro").score == pytest.approx(mean, rel=0, abs=EXACT)


def assert_corpus_agrees(case: Case, sampling: str, iterations: int = 7) -> None:
    segments, options = case.oracle_segments, replace(case.options, smooth=False)
    best = case.run(case.metric("max")).score
    assert best == pytest.approx(oracle.best_score(segments, options), rel=0, abs=EXACT)
    found = case.run(case.metric("sample", iterations=iterations, sampling=sampling)).numbers
    assert isinstance(found, GleuScore)
    samples = oracle.sampled([oracle.rows_of(each, options) for each in segments], options, iterations, sampling)
    mean, deviation = fmean(samples), pstdev(samples)
    assert found.score == pytest.approx(mean, rel=0, abs=EXACT)
    if case.options.variant == "gleu0" or all(len(texts) == 1 for texts in case.references):
        assert (found.standard_deviation, found.interval) == (None, None)
        return
    assert found.standard_deviation == pytest.approx(deviation, rel=0, abs=1e-6)
    interval = (mean - 1.959963984540054 * deviation, mean + 1.959963984540054 * deviation)
    assert found.interval == pytest.approx(interval, rel=0, abs=1e-5)


def assert_references_agree(case: Case) -> None:
    """Every number of every candidate beside every reference, and which reference is chosen."""
    found = case.run(case.metric("max", segment_smoothing=case.options.smooth), "reference").references
    assert found is not None
    expected = []
    for segment in case.oracle_segments:
        rows = oracle.rows_of(segment, case.options)
        chosen = oracle.best(rows, case.options)
        expected += [(row, place == chosen) for place, row in enumerate(rows)]
    assert len(found) == len(expected)
    for part, (row, chosen) in zip(found, expected, strict=True):
        score = part.score
        assert isinstance(score, GleuScore)
        assert part.chosen == chosen
        assert (score.candidate_length, score.reference_length) == (row.candidate_length, row.reference_length)
        assert score.numerators == pytest.approx(row.numerators, rel=0, abs=EXACT)
        assert score.totals == row.denominators
        if not case.options.smooth:
            pairs = zip(row.numerators, row.denominators, strict=True)
            precisions = [100 * max(numerator, 0) / total if total else 100 for numerator, total in pairs]
            assert score.precisions == pytest.approx(precisions, rel=0, abs=EXACT)
            assert score.order_scores == pytest.approx([score.brevity_penalty * each for each in precisions])
        expected_score = oracle.score(row, case.options, smooth=case.options.smooth)
        assert score.score == pytest.approx(expected_score, rel=0, abs=EXACT)


@pytest.mark.parametrize("kind", [cases, soft_cases], ids=["exact", "soft"])
@pytest.mark.parametrize("variant", VARIANTS)
@given(data=st.data())
@settings(max_examples=10)
def test_scores_are_those_of_the_oracle(variant: str, kind: Any, data: st.DataObject) -> None:
    case = data.draw(kind(variant=variant))
    assert_segments_agree(case)
    assert_corpus_agrees(case, data.draw(st.sampled_from(["python2", "python3"])))
    if variant != "gleu0":
        assert_references_agree(case)


@given(data=st.data())
@settings(max_examples=40)
def test_a_soft_score_rises_only_with_soft_precision(data: st.DataObject) -> None:
    """Whatever an edit takes out of the source; and what is as near to the reference scores as much as the source."""
    case = data.draw(soft_cases(variant="gleu+", order=2, penalty="progress", swapped_bp=False))
    case = replace(case, sources=case.sources[:1], references=[case.references[0][:1]])
    threshold = min(case.options.matching["threshold"], 0.5)
    case = case.matched(threshold=threshold, matcher=data.draw(st.sampled_from(["vleu", "xleu"])))
    (source,), one = case.sources, case.candidates[0]
    other = list(one)
    for place in data.draw(st.lists(st.integers(0, max(len(one) - 1, 0)), max_size=2 if one else 0)):
        other[place] = data.draw(st.sampled_from(WORDS))
    found: list[GleuScore] = []
    for text in (one, other, source):
        numbers = replace(case, candidates=[text]).run(case.metric("max")).numbers
        assert isinstance(numbers, GleuScore)
        found.append(numbers)
    for worse, better in ((found[1], found[0]), (found[2], found[0])):
        shares = ([a / max(b, 1) for a, b in zip(each.matches, each.totals, strict=True)] for each in (worse, better))
        lower = all(low <= high for low, high in zip(*shares, strict=True))
        if lower and worse.brevity_penalty <= better.brevity_penalty and all(worse.totals) and all(better.totals):
            assert worse.score <= better.score + EXACT
