"""Where soft credit comes from: sums against the metric's own, kinds and pairs against a literal twin."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import snowballstemmer
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import kinds, soft
from refusing import refused
from shared_data import shared
from strategies import WORDS, word_vectors

import softbleu
from softbleu.analysis import credit_of_corpus, soft_credit
from softbleu.corpora import Segments
from softbleu.embeddings.function_words import FUNCTION_WORDS
from softbleu.engine.runner import collect_statistics
from softbleu.errors import InputError
from softbleu.kernels import SCALE
from softbleu.matching.kinds import MATCH_KINDS, KindFinder
from softbleu.metrics.reading import read_metric

SETTINGS = [
    {"text": "vleu"},
    {"text": "sleu"},
    {"text": "xleu", "order": 3},
    {"text": "vleu", "assignment": "sequential", "consumption": "similarity"},
    {"text": "vleu", "assignment": "optimal"},
    {"text": "xleu", "composition": "aligned", "denominator": "all"},
    {"text": "vleu", "partial": True},
]
LINE = st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join)


@pytest.mark.parametrize("how", SETTINGS, ids=str)
@settings(max_examples=12)
@given(st.lists(st.tuples(LINE, LINE, LINE), min_size=1, max_size=4), word_vectors())
def test_credit_adds_up_to_the_matches_of_the_metric(how: Any, lines: Any, vectors: Any) -> None:
    metric = read_metric(**how, threshold=0.4, vectors=vectors, tokenize="none")
    corpus = Segments.of(
        {"A": [one for one, _, _ in lines], "B": [one for _, one, _ in lines]}, [x for *_, x in lines]
    )
    found = credit_of_corpus(corpus, metric, [0.0, 0.7, 1.0])
    for at, threshold in enumerate(found.thresholds):
        (statistics,) = collect_statistics(corpus, metric.replaced(threshold=threshold))
        matches, _ = metric.parts_of(statistics.rows[:, 0])
        assert (found.exact[:, at] + found.soft[:, at].sum(axis=-1) == matches).all()
    for system in corpus.systems:
        whole = found.by_kind(system).sum(axis=0)
        assert (found.by_place(system).sum(axis=0) == whole).all()
        pairs = Counter({pair.order: 0 for pair in found.pairs})
        for pair in found.of(system):
            pairs[pair.order] += pair.millionths
        assert [pairs[order] for order in found.orders] == whole.tolist()
        parts = found.points_by_kind(system, 28.0)
        assert math.isclose(sum(part.points for part in parts), 28.0 * bool(parts))
        for part in parts:
            of_kind = [pair.millionths for pair in found.of(system) if pair.kind == part.kind]
            assert math.isclose(part.share * whole.sum(), 100 * sum(of_kind))
            assert part.example.millionths == max(of_kind)


def test_equal_ngrams_have_the_credit_of_bleu() -> None:
    texts = (["The cats sat on a mat", "it rains"], ["the cat sat on the mat", "It rains here"])
    found = soft_credit(*texts, metrics="vleu", threshold=0.5)
    assert soft_credit(*texts, metric="vleu", threshold=0.5, thresholds=0.5).pairs == found.pairs
    assert (found.exact[0, 0] / SCALE).tolist() == softbleu.score(*texts).numbers.matches
    score = softbleu.score(*texts, metrics="vleu", threshold=0.5)
    sums = found.exact[0, 0] + found.by_kind(found.systems[0]).sum(axis=0)
    assert (sums / SCALE).tolist() == score.numbers.matches


@pytest.mark.parametrize("segments", [15, pytest.param(200, marks=pytest.mark.slow)])
def test_pairs_and_kinds_of_real_segments(segments: int) -> None:
    candidates, references = (
        shared("data", "morgan2014", name).read_text("utf-8").splitlines()[:segments]
        for name in ("umd.2922.txt", "reference.en")
    )
    found = soft_credit(
        candidates, references, metrics="vleu", vectors="none", threshold=0.75, order=3, tokenize="none"
    )
    stem = snowballstemmer.stemmer("english").stemWord
    words = {word for line in candidates + references for word in line.split()}
    sums, counts = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
    for candidate, reference in zip(candidates, references, strict=True):
        one, other = candidate.split(), reference.split()
        matched = soft.bleu_statistics(
            one, [other], matcher="vleu", order=3, threshold=0.75, token_product=soft.letters_product
        )
        for n, pairs in enumerate(matched.pairs, start=1):
            for place, met, mass in pairs:
                ngram = tuple(one[place : place + n])
                if met is not None and met != ngram:
                    kind = kinds.kind(ngram, met, stem, words, FUNCTION_WORDS)
                    equal = sum(x == y for x, y in zip(ngram, met, strict=True))
                    sums[n, " ".join(ngram), " ".join(met), kind, equal] += round(mass * SCALE)
                    counts[n, " ".join(ngram), " ".join(met), kind, equal] += 1
    assert len(sums) > segments
    shown = {(p.order, p.candidate, p.reference, p.kind, p.equal): (p.matches, p.millionths) for p in found.pairs}
    assert {key: matches for key, (matches, _) in shown.items()} == counts
    # The last digit of a similarity may differ.
    assert all(abs(shown[key][1] - sums[key]) <= counts[key] for key in sums)
    assert segments < 200 or len({kind for *_, kind, _ in sums}) == len(MATCH_KINDS) - 1


@pytest.mark.parametrize(
    ("one", "other", "language", "kind"),
    [
        ("The House", "the house", "en", "case"),
        ("sat down", "down Sat", "en", "order"),
        ("3", "5", "en", "number or name"),
        ("Praha", "Brno", "cs", "number or name"),
        ("häuser", "haus", "de", "inflection"),
        ("psi", "psa", "cs", "other words"),
        ("in the house", "on the house", "en", "function words"),
        ("in the house", "on the dog", "en", "mixed"),
        ("in the", "inside", "en", "length"),
        ("in", "on", "de", "other words"),
    ],
)
def test_a_pair_has_a_kind(one: str, other: str, language: str, kind: str) -> None:
    finder = KindFinder(["the", "house", "sat", "down"], language)
    assert finder.kind(one.split(), other.split()) == kind
    assert finder.kind(other.split(), one.split()) == kind


@pytest.mark.parametrize("metric", ["bleu", "chrf", "softbleu"])
def test_metrics_without_soft_matches_are_refused(metric: str) -> None:
    said = "has no soft matches: take one that has, such as sleu, vleu or xleu"
    refused(InputError, said, soft_credit, ["a"], ["b"], metrics=metric)


def test_no_soft_match_is_no_row_of_pairs() -> None:
    found = soft_credit(["a cat"], ["a cat"], metrics="vleu", threshold=0.9)
    assert (found.pairs, not np.any(found.soft)) == ([], True)
    assert {row["share"] for row in found.records()} == {None}
    assert "soft credit, n-grams" in str(found.kinds_table())
