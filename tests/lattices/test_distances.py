"""Distances to networks: equal to enumeration of all paths."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import networks as oracle

import softbleu
from softbleu.lattices import NetworkArc, WordNetwork
from softbleu.lattices.texts import format_line, parse_line
from softbleu.metrics.hyter import Hyter, closest_path

WORDS = ("a", "b", "c")
HUNDREDTHS = st.integers(0, 150).map(lambda number: number / 100)


@st.composite
def networks(draw, most=6):
    """Small networks whose paths branch, join, spell the same twice, and have empty arcs."""
    states = draw(st.integers(2, most))
    arcs = [NetworkArc(k, k + 1, draw(st.sampled_from(WORDS)), draw(HUNDREDTHS)) for k in range(states - 1)]
    more = st.tuples(st.integers(0, states - 2), st.integers(1, 3), st.sampled_from(("", *WORDS)), HUNDREDTHS)
    for source, steps, word, cost in draw(st.lists(more, max_size=8)):
        arcs.append(NetworkArc(source, min(source + steps, states - 1), word, cost))
    return WordNetwork.of(arcs)


def test_how_many_networks_are_gone_through_together_makes_no_difference(monkeypatch):
    candidates = ["a b", "c", "a", "b b c"]
    networks = ["(a|b) [c] b", "c", "[a] (b|c) (b c|a)", "b (a|c) c"]
    options = {"metric": "hyter", "notation": "brackets", "level": "segment"}
    whole = softbleu.score(candidates, networks, **options).segments
    monkeypatch.setattr("softbleu.kernels.lattices._MOST_CELLS", 20)
    assert softbleu.score(candidates, networks, **options).segments == whole


CANDIDATES = st.lists(st.sampled_from((*WORDS, "x")), max_size=6)


def hyter(candidate, network, **settings):
    """Score one candidate against one network."""
    texts = [" ".join(candidate)], [format_line(network)]
    return softbleu.score(*texts, metric="hyter", notation="network", **settings)


def test_costs_by_hand():
    network = WordNetwork.of([NetworkArc(0, 1, "a", 1.5), NetworkArc(0, 1, "", 0.01)])
    found = hyter([], network).numbers
    assert (found.edits, found.length) == (2.5, 1)
    network = WordNetwork.chain(["a", "b", "c", "d", "e"])
    assert hyter(list("deabc"), network, shifts=True).numbers.edits == 1
    assert hyter(list("deabc"), network).numbers.edits == 4


def test_rare_words_weigh_more():
    """Hundredths of ln(5 / (segments with the word + 1)) / ln(1000): the 3, cat 13, sat 7, flew 13, x 23."""
    candidates, references = ["the cat flew", "the x sat", "the"], ["the cat sat", "the dog sat", "the bird flew"]
    options = {"metric": "hyter", "idf": "references", "tokenize": "none", "level": "segment"}
    found = softbleu.score(candidates, references, **options).segments
    assert [(one.edits, one.length) for one in found] == [(0.13, 0.23), (0.23, 0.23), (0.26, 0.29)]


HUNDRED = st.just(100) | st.integers(0, 150)


@given(CANDIDATES, networks(5), HUNDRED, st.sampled_from(("greater", "both")))
def test_the_ratio_is_the_least_of_all_paths(candidate, network, extra, replacing):
    prices = {"both": replacing == "both", "extra": Fraction(extra, 100)}
    least = oracle.best_ratio(candidate, network, dict.fromkeys((*WORDS, "x"), Fraction(1)), **prices)
    assume(least is not None)
    found = hyter(candidate, network, extra=extra / 100, replacing=replacing)
    assert Fraction(round(10000 * found.numbers.edits), 10000) / round(found.numbers.length) == least


@given(networks())
def test_texts_say_the_same(network):
    def said(other):
        return {(oracle.words_of(path), round(sum(arc.cost for arc in path), 2)) for path in oracle.all_paths(other)}

    assert said(parse_line(format_line(network))) == said(network)


@given(CANDIDATES, networks(), st.sampled_from(("greater", "both")))
def test_the_best_way_costs_what_the_score_says(candidate, network, replacing):
    found = closest_path(network, candidate, Hyter(replacing=replacing))
    assert [step.candidate for step in found.steps if step.candidate] == candidate
    path = tuple(step.word for step in found.steps if step.word)
    assert path in oracle.all_texts(network)
    assert found.edits == pytest.approx(sum(step.cost for step in found.steps))
    score = hyter(candidate, network, replacing=replacing).numbers
    assert found.edits == pytest.approx(score.edits)
    assert len(path) == score.length


@settings(max_examples=15)
@given(CANDIDATES, networks())
def test_shifts_never_cost_more(candidate, network):
    plain, shifted = (hyter(candidate, network, shifts=shifts).numbers for shifts in (False, True))
    assert shifted.edits <= plain.edits
    assert shifted.length == plain.length


def test_pairs_are_scored_as_segments():
    candidates, references = ["a hound barked", "the dog", "a \x02 dog barked"], ["a (dog|hound) barked", "[the] dog"]
    own = {"metric": "hyter", "notation": "brackets"}
    level = {"level": "segment", **own}
    scores = [[softbleu.score([one], [two], **level).segments[0] for two in references] for one in candidates]
    alone = [[score.score for score in row] for row in scores]
    found = softbleu.pairwise(candidates, references, **own)
    assert found.scores == pytest.approx(np.array(alone))
    assert found.scores[0, 0] == 0
