"""N-grams of networks: equal to enumeration of all paths; a network that is a reference is that reference."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lattices.test_distances import CANDIDATES, WORDS, hyter, networks
from oracles import networks as oracle

import softbleu
from softbleu.lattices import WordNetwork
from softbleu.lattices.texts import format_line
from softbleu.metrics.making import make_metric

LINES = st.lists(st.sampled_from(("a", "b", "c", "d")), min_size=1, max_size=7)


@given(st.lists(CANDIDATES, min_size=1, max_size=3), networks())
def test_each_ngram_is_there_as_often_as_in_some_path(candidates, network):
    lines = [" ".join(candidate) for candidate in candidates]
    own = {"metric": "netbleu", "notation": "network", "tokenize": "none", "level": "segment", "order": 3}
    found = softbleu.score(lines, [format_line(network)] * len(lines), **own)
    lengths = {len(text) for text in oracle.all_texts(network)}
    for candidate, score in zip(candidates, found.segments, strict=True):
        matches = []
        for order in (1, 2, 3):
            own = Counter(tuple(candidate[k : k + order]) for k in range(len(candidate) - order + 1))
            matches.append((own & oracle.pool(network, order)).total())
        assert score.matches == matches
        closest = min(lengths, key=lambda length: (abs(length - len(candidate)), length))
        assert score.reference_length == closest


@given(LINES, LINES, LINES)
def test_a_network_that_is_a_reference_is_that_reference(candidate, one, other):
    texts = [" ".join(candidate)], [[" ".join(one), " ".join(other)]]
    own = {"tokenize": "none", "order": 3}
    plain = softbleu.score(*texts, metric="bleu", **own)
    assert softbleu.score(*texts, metric="netbleu", **own).numbers == plain.numbers


@pytest.mark.parametrize("name", ["netbleu", "hyter"])
def test_pairs_are_scored_as_segments(name):
    candidates, references = ["a hound barked", "the dog", "a \x02 dog barked"], ["a (dog|hound) barked", "[the] dog"]
    own = {"metric": name, "notation": "brackets"}
    level = {"level": "segment", **own}
    scores = [[softbleu.score([one], [two], **level).segments[0] for two in references] for one in candidates]
    alone = [[score.score for score in row] for row in scores]
    found = softbleu.pairwise(candidates, references, **own)
    assert found.scores == pytest.approx(np.array(alone))
    assert found.scores[0, 0] == pytest.approx(100 if name == "netbleu" else 0)
    assert not isinstance(make_metric(name), softbleu.Bleu)


def test_soft_matches_meet_any_ngram_of_a_network():
    vectors = {"cat": [1.0, 0.1], "dog": [0.9, 0.3], "hound": [0.8, 0.4], "the": [0.0, 1.0], "sat": [-1.0, 0.2]}
    own = {"vectors": vectors, "matcher": "vleu", "threshold": 0.5, "order": 2, "tokenize": "none"}
    lines = ["the cat sat"]
    several = softbleu.score(lines, [["the dog sat", "the hound sat"]], metric="bleu", **own)
    network = softbleu.score(lines, ["the (dog|hound) sat"], metric="netbleu", notation="brackets", **own)
    assert network.score == pytest.approx(several.score)
    assert network.score < 100
    assert network.score > softbleu.score(lines, ["the hound sat"], metric="bleu", **own).score


def test_a_network_that_is_a_reference_has_ter_without_shifts():
    line = softbleu.score(["a b x d e"], ["a b c d"], metric="hyter", tokenize="none")
    assert line.score == softbleu.score(["a b x d e"], ["a b c d"], metric="ter").score == 50
    network = WordNetwork.chain(["a", "b", "c", "d"])
    assert hyter(["a", "b", "x", "d", "e"], network).score == 50
    assert set(WORDS) < set(network.words)
