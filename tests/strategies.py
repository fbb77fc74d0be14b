"""Small random corpora and word vectors in which ties, opposites and missing words are frequent."""

import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from complete import complete
from hypothesis import strategies as st
from oracles import soft

from softbleu.corpora import Segments
from softbleu.embeddings.choice import VectorChoice
from softbleu.matching import make_matcher
from softbleu.metrics import Metric
from softbleu.metrics.bleu import Bleu, BleuScore
from softbleu.results.api import score_corpus
from softbleu.results.explain import explain_corpus
from softbleu.text.tokens import Whitespace

WORDS = ("cat", "Cat", "dog", "mat", "the", "The", "sat", "oov")
MATCHERS = ("exact", "sleu", "vleu", "xleu")
SOFT = MATCHERS[1:]
GREEDY = [*product(("exact-first", "sequential"), ("unit", "similarity"))]
Vectors = dict[str, list[float]]
_SCRIPTS = tomllib.loads((Path(__file__).parent / "adversarial/differential.toml").read_text(encoding="utf-8"))[
    "scripts"
]
HOSTILE_WORDS = st.one_of(
    *(st.text(characters, min_size=1, max_size=4) for characters in _SCRIPTS.values()),
    st.sampled_from(["the", "cat", "&quot;", "&amp;lt;", "<skipped>", "3,000.5", "it's", "a-b", "-", "|||"]),
    st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"),
)
HOSTILE_LINES = st.lists(st.tuples(HOSTILE_WORDS, st.sampled_from([" ", " ", " ", ""])), max_size=8).map(
    lambda parts: "".join(map("".join, parts))
)
"""Lines of any text, in any script."""


def spoken(candidates: list[list[str]], references: list[list[list[str]]], sources: Any = None) -> Segments:
    """Words as texts; blank references are empty texts, as oracles have them."""
    lines = None if sources is None else [" ".join(words) for words in sources]
    texts = [[*map(" ".join, texts)] for texts in references]
    return replace(Segments.of([" ".join(words) for words in candidates], texts, lines), blank_references="empty")


@dataclass(frozen=True)
class Case:
    """A corpus, vectors, and everything a score depends on."""

    candidates: list[list[str]]
    references: list[list[list[str]]]
    vectors: Vectors | None  # None: words are compared by their spellings
    matcher: str = "vleu"
    order: int = 4
    denominator: str = "order"
    vector_case: str = "fallback"
    options: dict[str, Any] = field(default_factory=dict)

    def with_options(self, **options: object) -> "Case":
        return replace(self, options={**self.options, **options})

    @property
    def segments(self) -> Segments:
        return spoken(self.candidates, self.references)

    @property
    def metric(self) -> Bleu:
        matcher = make_matcher(self.matcher, **({} if self.matcher == "exact" else self.options))
        return Bleu(matcher, self.order, effective_order=True, denominator=self.denominator)  # type: ignore[arg-type]

    @property
    def known(self) -> Vectors:
        """The vector of each word of `WORDS`; a word found as written keeps its vector even if that is zero."""
        assert self.vectors is not None
        fallback = self.vector_case == "fallback"
        spelling = {word: word if word in self.vectors or not fallback else word.lower() for word in WORDS}
        return {word: self.vectors[found] for word, found in spelling.items() if found in self.vectors}

    @property
    def product(self) -> soft.TokenProduct:
        """The oracle's token product."""
        return soft.letters_product if self.vectors is None else soft.token_product_from(self.known)

    @property
    def vector_choice(self) -> VectorChoice:
        if self.vectors is None:
            return VectorChoice("none")
        return VectorChoice(self.vectors, vector_case=self.vector_case)  # type: ignore[arg-type]

    @property
    def measure(self) -> Metric:
        return complete(self.metric, Whitespace(), self.vector_choice)

    def scores(self, **how: Any) -> list[BleuScore]:
        """What the library says of each segment."""
        result = score_corpus(self.segments, self.measure, level="segment", **how)[0]
        assert result.segments is not None
        return [score for score in result.segments if isinstance(score, BleuScore)]

    def masses(self) -> list[list[float]]:
        return [score.matches for score in self.scores()]

    def oracle(self, product: soft.TokenProduct | None = None) -> list[soft.Statistics]:
        """What the specification says of each segment."""
        given = {"matcher": self.matcher, "order": self.order, "denominator": self.denominator, **self.options}
        given["token_product"] = self.product if product is None else product
        texts = zip(self.candidates, self.references, strict=True)
        return [soft.bleu_statistics(candidate, references, **given) for candidate, references in texts]


@st.composite
def word_vectors(draw: st.DrawFn) -> Vectors:
    """Vectors of small whole numbers, zero, equal, opposite and parallel ones among them."""
    dimension = draw(st.integers(1, 3))
    number = st.integers(-2, 3).map(float)
    vector = st.lists(number, min_size=dimension, max_size=dimension)
    known = draw(st.lists(st.sampled_from(WORDS[:-1]), unique=True, min_size=1))
    vectors = {word: draw(vector) for word in known}
    if draw(st.booleans()) and len(known) > 1:
        vectors[known[1]] = [draw(st.sampled_from([-1.0, 1.0, 2.0])) * value for value in vectors[known[0]]]
    return vectors


def lines(longest: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(WORDS), max_size=longest)


def occurring_similarities(case: Case, composition: str) -> list[float]:
    """Similarities strictly between 0 and 1 of some n-grams that meet."""
    product = case.product
    compose, texts = soft.COMPOSITIONS[composition], zip(case.candidates, case.references, strict=True)
    found = {
        compose(x, y, product)
        for candidate, references in texts
        for n in (1, 2)
        for x in soft.ngrams(candidate, n)
        for reference in references
        for y in soft.ngrams(reference, n)
    }
    return sorted(similarity for similarity in found if 0 < similarity < 1)


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    matcher: str | None = None,
    longest: int = 7,
    longest_reference: int = 7,
    most_segments: int = 4,
    most_references: int = 3,
    highest_order: int = 5,
    fixed_threshold: float | None = None,
    spelt: bool = False,
    **options: object,
) -> Case:
    """Draw a corpus; what is not fixed by an argument is drawn, too."""
    size = draw(st.integers(1, most_segments))
    candidates = draw(st.lists(lines(longest), min_size=size, max_size=size))
    texts = st.lists(lines(longest_reference), min_size=1, max_size=most_references)
    references = draw(st.lists(texts, min_size=size, max_size=size))
    case = Case(
        candidates,
        references,
        None if spelt else draw(word_vectors()),
        matcher=matcher or draw(st.sampled_from(SOFT)),
        order=draw(st.integers(1, highest_order)),
        denominator=draw(st.sampled_from(["order", "all"])),
        vector_case=draw(st.sampled_from(["fallback", "exact"])),
        options=dict(options),
    )
    if fixed_threshold is not None:
        return case.with_options(threshold=fixed_threshold)
    near = occurring_similarities(case, str(options.get("composition", "mean")))
    # Similarities are whole millionths: any threshold below 1 lets a similarity of 1 pass.
    choices = [st.sampled_from([0.0, 0.5, 0.9999994, 0.9999999, 1.0]), st.floats(0, 1, allow_nan=False)]
    return case.with_options(threshold=draw(st.one_of(*choices, *([st.sampled_from(near)] if near else []))))


BY_ONE = {"softbleu.matching.matchers.BATCH_CELLS": 1, "softbleu.kernels.numpy_backend._FEW": 0}
BY_ONE |= {"softbleu.kernels.numpy_backend._TABLE": 0}
LONG = {**BY_ONE, "softbleu.matching.matchers.LONG_CELLS": 0}
LONG |= {"softbleu.kernels.numpy_backend._TABLE": 50, "softbleu.kernels.numpy_backend._COMPACT": 0}
NARROW = {**LONG, "softbleu.matching.matchers.STRIPE_CELLS": 40}
PATHS = {"batch": {}, "one by one": BY_ONE, "long": LONG, "long, narrow stripes": NARROW}
"""Limits under which segments take each way through the matching."""


@contextmanager
def limits(values: dict[str, int]) -> Iterator[None]:
    """Set module constants for a while."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setattr(name, value)
        yield


def assert_statistics_equal(
    case: Case, expected: list[soft.Statistics] | None = None, within: float = 1e-9, **how: Any
) -> None:
    """Scores of segments hold the numbers of the oracle."""
    for score, statistics in zip(case.scores(**how), case.oracle() if expected is None else expected, strict=True):
        assert score.candidate_length == statistics.candidate_length
        assert score.reference_length == statistics.reference_length
        assert score.totals == statistics.totals
        assert score.matches == pytest.approx(statistics.matches, rel=0, abs=within)


def first_place(ngram: soft.NGram | None, references: list[list[str]]) -> tuple[int | None, int | None]:
    """Reference, and place in it, where an n-gram first appears."""
    ngrams = [soft.ngrams(text, len(ngram or ())) for text in references]
    places = ((number, own.index(ngram)) for number, own in enumerate(ngrams) if ngram in own)
    return next(places) if ngram else (None, None)


def assert_partners_equal(case: Case, oracle: list[soft.Statistics], within: float = 1e-9) -> None:
    """Explanations show the partners of the oracle, where they first appear."""
    explained = explain_corpus(case.segments, case.measure, range(1, len(case.candidates) + 1))
    for explanation, statistics, references in zip(explained, oracle, case.references, strict=True):
        expected = [
            (order, start, partner, similarity, *first_place(partner, references))
            for order, pairs in enumerate(statistics.pairs, start=1)
            for start, partner, similarity in pairs
        ]
        found = [
            (
                *(match.order, match.candidate_start, match.reference, pytest.approx(match.similarity, abs=within)),
                *(match.reference_number, match.reference_start),
            )
            for match in explanation.matches
        ]
        assert found == expected


def smallest_norm(case: Case, *, relative: bool = False) -> float:
    """The squared norm nearest to 0 of any n-gram; relative to the sum of what adds up to it."""
    product = case.product
    texts = [text for line, more in zip(case.candidates, case.references, strict=True) for text in (line, *more)]
    ngrams = {ngram for text in texts for n in range(1, case.order + 1) for ngram in soft.ngrams(text, n)}
    parts = [[product(a, b) for a in ngram for b in ngram] for ngram in ngrams]
    return min((abs(sum(each)) / (sum(map(abs, each)) if relative else 1) for each in parts), default=1.0)
