"""Networks made of references, of grammars and of files; and what is refused."""

import math
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product
from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from meteor_data import write_meteor_data
from oracles import networks as oracle
from refusing import refused
from tables import each_row

import softbleu
from softbleu.cli.app import run
from softbleu.corpora.grammar import Derivations, parse_grammar
from softbleu.errors import InputError
from softbleu.lattices import NetworkArc, WordNetwork
from softbleu.lattices.files import meaning_network, read_network
from softbleu.lattices.lattice import LARGEST_NETWORK, format_line, parse_brackets, parse_line
from softbleu.lattices.rules import NetworkRules, NetworkVectors
from softbleu.metrics.hyter import Hyter, closest_path
from softbleu.metrics.protocols import ClosestPath
from softbleu.thesaurus.resources import MeteorData

LETTERS = st.lists(st.sampled_from("abc"), max_size=7)


def texts_of(network):
    """References of a network, and the least cost of each, the cheapest first."""
    least = {}
    for path in oracle.all_paths(network):
        cost, text = round(sum(arc.cost for arc in path), 2), " ".join(oracle.words_of(path))
        least[text] = min(cost, least.get(text, cost))
    return dict(sorted(least.items(), key=itemgetter(1, 0)))


def said(line, **rules):
    """What a line says by rules."""
    return texts_of(NetworkRules(**rules).network(line, str.split))


def test_rules_say_what_their_resources_say(tmp_path):
    # The first words are those that may enter.
    angles = {"car": 0, "vehicle": 20, "truck": 35, "cars": 15, "tax": 90, "idea": 180, "little": 120, "tiny": 140}
    angles |= {"hope": 200, "hoped": 210, "hopes": 215, "dogs": 270, "doggs": 271, "small": 220}
    turns = ((word, math.radians(angle)) for word, angle in angles.items())
    vectors, data = tmp_path / "vectors.txt", write_meteor_data(tmp_path / "data")
    vectors.write_text("".join(f"{word} {math.cos(turn):.4f} {math.sin(turn):.4f}\n" for word, turn in turns))
    resources = {"meteor_data": MeteorData.of(str(data)), "network_vectors": NetworkVectors.of(str(vectors))}
    found = said("a small cat ran away", paraphrase_cost=0.3, **resources)
    costs = {"a small cat": 0, "kitten": 1, "a little cat": 1, "a small feline": 1, "a little feline": 2}
    whole = product(costs.items(), {"ran away": 0, "fled": 1, "ran off quickly": 1}.items())
    assert found == {f"{one} {end}": pytest.approx(0.3 * (cost + more)) for (one, cost), (end, more) in whole}
    assert said("small", synonym_cost=0.2, **resources) == {"small": 0, "little": 0.2, "tiny": 0.2}
    assert said("Small", synonym_cost=0.2, **resources) == {"Small": 0, "Little": 0.2, "Tiny": 0.2}
    assert said("the cat", optional_cost=0.5) == {"the cat": 0, "cat": 0.5}
    assert said("hoping", stem_cost=0.1, **resources) == {"hoping": 0, "hope": 0.1, "hoped": 0.1, "hopes": 0.1}
    assert said("a dog", stem_cost=0.1, alternatives=1, **resources) == {"a dog": 0, "a dogs": 0.1}
    own = {"neighbour_cost": 1.0, "neighbour_quantile": "p60", **resources}
    assert list(found := said("car", **own)) == ["car", "cars", "vehicle", "truck"]
    assert 0 < found["cars"] < found["vehicle"] < found["truck"] < 1
    assert list(said("Car", **own)) == ["Car", "Cars", "Vehicle", "Truck"]


@given(st.lists(LETTERS, min_size=1, max_size=3), st.integers(1, 3))
def test_merged_references_are_all_there(references, shared):
    network = NetworkRules().merged(references, shared)
    texts = oracle.all_texts(network)
    assert {tuple(reference) for reference in references if any(references) and reference} <= texts
    if shared == 3 and max(map(len, references)) < 3:
        assert texts == {tuple(reference) for reference in references if reference} or not any(references)


GRAMMAR = """
S -> NP V NP | NP 'was' V 'by' NP
NP -> 'the' N
N -> 'doctor' | 'physician' | 'judge'
V -> 'praised' | 'lauded' | 'met'
# synonyms: doctor physician
# synonyms: praised lauded
# alternate: S -> NP[1] V NP[2] | NP[2] 'was' V 'by' NP[1]
"""


def test_the_network_of_a_meaning_accepts_its_paraphrases_and_no_other_sentence():
    derivations = Derivations.of(parse_grammar("tiny", GRAMMAR.strip().split("\n")))
    sentences = [" ".join(derivations.sentence(derivations.at(k))) for k in range(derivations.count())]
    synonyms = {"physician": "doctor", "lauded": "praised"}

    def meaning(sentence):
        words = [synonyms.get(word, word) for word in sentence.split()]
        return (words[1], words[2], words[4]) if len(words) == 5 else (words[6], words[3], words[1])

    def alike(sentence):
        return sorted({other for other in sentences if meaning(other) == meaning(sentence)})

    for number, sentence in list(enumerate(sentences))[::8]:
        network = meaning_network(derivations, derivations.at(number))
        assert texts_of(network) == dict.fromkeys(alike(sentence), 0)
    line = format_line(meaning_network(derivations, derivations.at(0)))
    own = {"metrics": "hyter", "notation": "network", "level": "segment"}
    scores = softbleu.score(sentences, [line] * len(sentences), **own).segments
    zero = {sentence for sentence, score in zip(sentences, scores, strict=True) if score.score == 0}
    assert sorted(zero) == alike(sentences[0])


def arcs(text):
    return WordNetwork.of([NetworkArc(int(one), int(other), word) for one, other, word in text.split()], 0)


READERS = {"arcs": arcs, "line": parse_line, "brackets": parse_brackets}


@each_row("lattices/refusals.toml", "reader", "text", "says", times=1)
def test_damaged_networks_are_refused(reader, text, says, times):
    refused(InputError, re.escape(says), READERS[reader], text * times)


def test_brackets_mean_what_they_say():
    parts = product(["the"], ["", "big", "very large"], ["dog", "hound"], ["", "barked"])
    texts = {
        "the [big|very large] (dog|hound) []barked": {" ".join(filter(None, each)) for each in parts},
        r"a \(b\) \\ \[": {"a (b) \\ ["},
        "": {""},
        "(a|b [c|d (e|f)])": {"a", "b", "b c", "b d e", "b d f"},
    }
    assert {line: set(texts_of(parse_brackets(line))) for line in texts} == texts


@pytest.mark.parametrize(
    ("make", "given_"),
    [(WordNetwork.chain, ["a", "b", "c"]), (parse_line, '[[["a"],["b"]],[["c"]]]'), (parse_brackets, "a b c")],
)
def test_too_many_arcs_are_refused(make, given_, monkeypatch):
    monkeypatch.setattr("softbleu.lattices.lattice.LARGEST_NETWORK", replace(LARGEST_NETWORK, most=2))
    refused(InputError, r"a network \(3 arcs, 2 are .*: allow fewer .*SOFTBLEU_LIMITS=[23]", make, given_)
    monkeypatch.setenv("SOFTBLEU_LIMITS", "3")
    assert make(given_)


def test_words_of_networks_are_split_as_text_is():
    said = "names whole networks: leave out costs of rules"
    refused(InputError, said, NetworkRules, notation="network", stem_cost=0.1)
    texts = ["The dog, it barked."], ["The (dog,|hound) it barked."]
    found = softbleu.score(*texts, metrics="hyter", notation="brackets")
    assert (found.score, found.numbers.length) == (0, 6)


def test_commands_make_and_show_networks(tmp_path, monkeypatch, capsys):
    def say(*arguments, code=0):
        assert run(["networks", *arguments]) == code
        out, err = capsys.readouterr()
        assert (err.count("\n") == 1) if code else True
        return out

    monkeypatch.chdir(tmp_path)
    Path("b.txt").write_text("the [big] (dog|hound)\na cat\n", encoding="utf-8")
    Path("c.txt").write_text("The big cat\n", encoding="utf-8")
    say("make", "-r", "b.txt", "--notation", "brackets", "-o", "n.jsonl")
    assert [len(texts_of(read_network("n.jsonl", line))) for line in (1, 2)] == [4, 1]
    assert say("show", "n.jsonl", "--line", "2").startswith("digraph network {")
    assert "edits        1.00" in say("show", "n.jsonl", "--beside", "c.txt")
    say("show", "n.jsonl", "--notation", "att", code=2)
    assert say("make", "--grammar", "alternations", "--count", "3").count("\n") == 3
    for wrong in (("show", "n.jsonl", "--line", "9"), ("show", "b.txt"), ("make",)):
        say(*wrong, code=2)


# Distances to networks: equal to enumeration of all paths.


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
    texts = ["a b", "c", "a", "b b c"], ["(a|b) [c] b", "c", "[a] (b|c) (b c|a)", "b (a|c) c"]
    options = {"metrics": "hyter", "notation": "brackets", "level": "segment"}
    whole = softbleu.score(*texts, **options).segments
    monkeypatch.setattr("softbleu.kernels.lattices._MOST_CELLS", 20)
    assert softbleu.score(*texts, **options).segments == whole


CANDIDATES = st.lists(st.sampled_from((*WORDS, "x")), max_size=6)


def hyter(candidate, network, **settings):
    """Score one candidate against one network."""
    texts = [" ".join(candidate)], [format_line(network)]
    return softbleu.score(*texts, metrics="hyter", notation="network", **settings)


def test_costs_of_arcs_and_shifts_are_those_by_hand():
    found = hyter([], WordNetwork.of([NetworkArc(0, 1, "a", 1.5), NetworkArc(0, 1, "", 0.01)])).numbers
    assert (found.edits, found.length) == (2.5, 1)
    for cost, shifted in ((0, 1), (0.25, 1 + 5 * 0.25)):
        network = WordNetwork.of([NetworkArc(k, k + 1, word, cost) for k, word in enumerate("abcde")])
        assert hyter(list("deabc"), network, shifts=True).numbers.edits == shifted
    assert hyter(list("deabc"), WordNetwork.chain(list("abcde"))).numbers.edits == 4


def test_rare_words_weigh_more():
    """Hundredths of ln(5 / (segments with the word + 1)) / ln(1000): the 3, cat 13, sat 7, flew 13, x 23."""
    candidates, references = ["the cat flew", "the x sat", "the"], ["the cat sat", "the dog sat", "the bird flew"]
    options = {"metrics": "hyter", "idf": "references", "tokenize": "none", "level": "segment"}
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


def test_of_an_empty_reference_an_empty_candidate_has_no_error_and_any_other_all():
    assert [Hyter(extra=0.25).sentence_score(text, [""]).score for text in ("", "a", "a b")] == [0, 100, 100]
    assert [ClosestPath((), edits, 0.0).score for edits in (0.0, 1.0)] == [0, 100]


def test_pairs_are_scored_as_segments():
    candidates, references = ["a hound barked", "the dog", "a \x02 dog barked"], ["a (dog|hound) barked", "[the] dog"]
    own = {"metrics": "hyter", "notation": "brackets"}
    alone = [[softbleu.score([one], [two], level="segment", **own).score for two in references] for one in candidates]
    found = softbleu.pairwise(candidates, references, **own)
    assert found.scores == pytest.approx(np.array(alone))
    assert found.scores[0, 0] == 0
