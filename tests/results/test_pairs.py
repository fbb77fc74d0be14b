"""All pairs of texts: every score is that of the pair alone."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_encoder import MadeUpEncoder

import softbleu
from softbleu.corpora.corpus import Segments
from softbleu.corpora.records import TextList
from softbleu.errors import InputError
from softbleu.matching.ngrams import shared_counts
from softbleu.metrics.base import read_metric
from softbleu.results.pairs import pair_systems, score_pairs, score_systems
from softbleu.text.tokens import Tokens, Vocabulary

VECTORS = {"cat": [1.0, 0.2], "dog": [0.9, 0.3], "mat": [0.0, 1.0], "rug": [0.2, 0.9]}
TEXTS = ["a cat sat on the mat .", "the dog sat on a rug ,", "the the the cat", "cat", "", "it rains"]
TEXTS.insert(5, TEXTS[0])
METRICS = ["bleu", "bleu(denominator=reference, smooth=floor)", "vleu(threshold=0.6, tokenize=none)", "chrf", "ter"]
METRICS += ["chrf++", "chrf(whitespace=yes)", "softbleu", "softbleu(credit=greedy, order=3)"]
LINES = st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1, max_size=5)


def alone(candidate: str, reference: str, metric: str, **more: Any) -> float:
    scored = softbleu.score([candidate], [reference], metric=metric, level="segment", **more)
    return scored.segments[0].score  # type: ignore[index]


@pytest.mark.parametrize("metric", METRICS)
def test_each_pair_is_scored_as_a_segment(metric: str) -> None:
    own: dict[str, Any] = {"vectors": VECTORS} if "vleu" in metric or "softbleu" in metric else {}
    if "softbleu" in metric:
        # What is rare hangs on all references, so it comes from elsewhere.
        own["rarity"] = 0.0
    found = softbleu.pairwise(TEXTS, TEXTS, metric, **own).scores
    literal = [[alone(one, other, metric, **own) for other in TEXTS] for one in TEXTS]
    assert np.array(found) == pytest.approx(np.array(literal), abs=1e-9)
    few = softbleu.pairwise(TEXTS, TEXTS[1:4], metric, **own).scores
    assert few.tolist() == pytest.approx(found[:, 1:4], abs=1e-9)
    same = softbleu.pairwise(TEXTS, metric=metric, **own)
    assert same.scores.tolist() == found.tolist()
    assert [*same.records()[0]] == ["candidate", *map(str, range(1, 8))]


def test_pairs_of_vectors_in_context() -> None:
    for metric in ("bertscore", "softbleu", "bertscore(idf=references)"):
        found = softbleu.pairwise(TEXTS, TEXTS[:3], metric, vectors=MadeUpEncoder())
        for place, candidate in enumerate(TEXTS):
            row = softbleu.score([candidate] * 3, TEXTS[:3], metric=metric, vectors=MadeUpEncoder(), level="segment")
            assert found.scores[place] == pytest.approx([each.score for each in row.segments or ()], abs=1e-4)


@given(LINES, LINES, st.integers(1, 3))
def test_counts_that_lines_share(one: list[list[str]], other: list[list[str]], order: int) -> None:
    vocabulary = Vocabulary()
    candidates, references = vocabulary.encode(one), vocabulary.encode(other)

    def counted(line: list[str], n: int) -> Counter[tuple[str, ...]]:
        return Counter(tuple(line[k : k + n]) for k in range(len(line) - n + 1))

    both = (one, other, candidates, references), (one, one, candidates, candidates)
    for left, right, coded, others in both:
        for n, found in enumerate(shared_counts(coded, others, order), start=1):
            literal = [[(counted(a, n) & counted(b, n)).total() for b in right] for a in left]
            assert found.tolist() == literal


def test_many_columns_go_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    text = Tokens(generator.integers(0, 40, 600).astype(np.int32), np.arange(0, 601, 60))
    whole = [counts.tolist() for counts in shared_counts(text, text, 2)]
    monkeypatch.setattr("softbleu.matching.ngrams._INCIDENCES", 64)
    assert [counts.tolist() for counts in shared_counts(text, text, 2)] == whole


def test_rarity_is_that_of_the_references_of_all_lists() -> None:
    lists = [TEXTS, TEXTS[::-1], TEXTS[2:5]]
    measure = read_metric("softbleu", vectors=VECTORS)
    matrices = list(score_pairs([TextList.of(texts) for texts in lists], measure))
    # One list alone has other scores.
    other = softbleu.pairwise(TEXTS, metric=measure).scores
    assert not np.allclose(other, matrices[0].scores)


def test_small_lists_are_compared_together_and_large_ones_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    lists = [TextList.of(TEXTS[:size], TEXTS[size - 1 :]) for size in (1, 7, 2, 3, 5)] + [TextList.of(TEXTS)]
    found = []
    for together, small in ((1024, 32), (1024, 0), (2, 0), (2, 1000), (7, 8)):
        monkeypatch.setattr("softbleu.engine.encode.PAIRS_TOGETHER", together)
        monkeypatch.setattr("softbleu.engine.runner.SMALL_LIST", small)
        for metric in ("chrf", "ter"):
            found.append([each.scores.tolist() for each in score_pairs(lists, read_metric(metric))])
    assert [np.shape(scores) for scores in found[0]] == [(1, 7), (7, 1), (2, 6), (3, 5), (5, 3), (7, 7)]
    assert all(each == found[number % 2] for number, each in enumerate(found))


@pytest.mark.parametrize("together", [1, 1 << 24])
def test_corpora_of_systems(monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    monkeypatch.setattr("softbleu.results.pairs._AT_ONCE", together)
    systems = {"one": TEXTS[:3], "two": TEXTS[1:4], "three": TEXTS[3:6]}
    corpus = Segments.of(systems, list(zip(*systems.values(), strict=True)))
    measure = read_metric("bleu")
    found = score_systems(pair_systems(corpus), [[*systems], [*systems]], measure)
    for row, name in zip(found.records(), systems, strict=True):
        assert row["candidate"] == name
        for other, texts in systems.items():
            assert row[other] == pytest.approx(softbleu.score(systems[name], texts).score)
    assert "level:corpus" in found.signature
    uneven = Segments.of(TEXTS[:2], [["a", "b"], ["c"]])
    with pytest.raises(InputError, match="different numbers of references"):
        pair_systems(uneven)


def test_lists_that_are_none() -> None:
    wrong: list[tuple[str, Any]] = [
        ("candidates are a list of texts, not one text", lambda: softbleu.pairwise("one text")),
        ("references are texts, not 3", lambda: TextList.of(["a"], [3])),  # type: ignore[list-item]
        ("there are no candidates", lambda: softbleu.pairwise([])),
    ]
    for said, call in wrong:
        with pytest.raises(InputError, match=said):
            call()
