import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import grammar as oracle

from softbleu.corpora.aligned import LABELS, Aligner, Seen, distinct_numbers, label_pair, pair_halves
from softbleu.corpora.derivations import Chance, Derivations
from softbleu.corpora.grammar import grammar_names, parse_grammar, read_grammar
from softbleu.corpora.paraphrase import NOISE, Paraphraser, ParaphraseSettings
from softbleu.io.resources import find_resource

PAPER = Derivations.of(read_grammar("morgan2014"))
ORDERS = Derivations.of(read_grammar("alternations"))
EXACT = ParaphraseSettings(synonyms=0, alternate=0)
TOKENS = st.lists(st.sampled_from(["cat", "dog", "the", "a"]), max_size=4)


# The clauses of the grammar of alternations, with few words.
CLAUSES = """\
Clause -> NP V NP | NP 'was' V 'by' NP | NP Give NP NP_thing | NP Give NP_thing 'to' NP
NP -> Det N
NP_thing -> Det Thing
Det -> 'the' | 'a'
N -> 'doctor' | 'physician' | 'woman' | 'lady' | 'judge'
V -> 'praised' | 'lauded'
Give -> 'sold'
Thing -> 'book' | 'novel'
# synonyms: doctor physician
# synonyms: woman lady
# synonyms: praised lauded
# synonyms: book novel
# alternate: Clause -> NP[1] V NP[2] | NP[2] 'was' V 'by' NP[1]
# alternate: Clause -> NP[1] Give NP[2] NP_thing | NP[1] Give NP_thing 'to' NP[2]"""


def pairs_of(derivations, settings, count=100, seed=0):
    chance = Chance(seed)
    paraphraser = Paraphraser(derivations, settings, chance)
    return [paraphraser.pair(derivations.draw(chance)) for _ in range(count)]


def test_halves():
    pairs = list(pair_halves(PAPER, 0, distinct_numbers(PAPER)))
    sides = [{pair.candidate for pair in pairs}, {pair.reference for pair in pairs}]
    assert [len(pairs), *map(len, sides)] == [504] * 3
    assert not sides[0] & sides[1]
    assert "identical" not in {pair.label for pair in pairs}
    other = list(pair_halves(PAPER, 1, distinct_numbers(PAPER)))
    assert {pair.candidate for pair in other} != sides[0]
    twice = Derivations.of(parse_grammar("twice", ["S -> A | B", "A -> 'x' | 'y'", "B -> 'y' | 'z'"]))
    assert (twice.count(), distinct_numbers(twice).tolist()) == (4, [0, 1, 3])
    assert len(list(pair_halves(twice, 0, distinct_numbers(twice)))) == 1
    seen = Seen()
    assert [seen.add(text) for text in ("a b", "ab", "a b", "")] == [True, True, False, True]


def test_alignment_of_halves_is_that_of_the_trees():
    from nltk import CFG, ChartParser

    grammar = PAPER.grammar
    parser = ChartParser(CFG.fromstring((find_resource("corpora", "grammars") / "morgan2014.cfg").read_text()))
    classes = [sorted(words) for words in set(grammar.synonyms.values())]
    pairs = list(pair_halves(PAPER, 3, distinct_numbers(PAPER)))
    for pair in pairs[::9]:
        first, second = (next(iter(parser.parse(side))) for side in (pair.candidate, pair.reference))
        expected = oracle.align(first, second, classes)
        assert list(pair.alignment) == expected
        assert pair.label == oracle.label(pair.candidate, pair.reference, expected, set(grammar.function_words))


@pytest.mark.parametrize(
    ("first", "second", "alignment"),
    [
        ("the doctor praised a lady", "a woman was lauded by the physician", "0-5 1-6 2-3 3-0 4-1"),
        ("the doctor praised a lady", "a doctor was praised by the lady", "0-5 2-3 3-0"),
        ("a judge sold a lady the book", "a judge sold the novel to a lady", "0-0 1-1 2-2 3-6 4-7 5-3 6-4"),
    ],
)
def test_alignment_across_alternations(first, second, alignment):
    clauses = Derivations.of(parse_grammar("clauses", CLAUSES.split("\n")))
    numbers = {" ".join(clauses.sentence(clauses.at(n))): n for n in range(clauses.count())}
    found = Aligner(clauses).align(clauses.at(numbers[first]), clauses.at(numbers[second]))
    assert " ".join(f"{one}-{other}" for one, other in found) == alignment


@given(TOKENS, TOKENS, st.data())
def test_labels(candidate, reference, data):
    places = st.permutations(range(len(reference)))
    size = data.draw(st.integers(0, min(len(candidate), len(reference))))
    left = sorted(data.draw(st.permutations(range(len(candidate))))[:size])
    alignment = tuple(zip(left, data.draw(places)[:size], strict=True))
    expected = oracle.label(candidate, reference, alignment, {"the", "a"})
    assert label_pair(candidate, reference, alignment, {"the", "a"}) == expected


@pytest.mark.parametrize("name", grammar_names())
def test_alternations_and_synonyms_keep_the_meaning(name):
    derivations = Derivations.of(read_grammar(name), 9)
    grammar = derivations.grammar
    pairs = pairs_of(derivations, ParaphraseSettings())
    assert {pair.label for pair in pairs} == {"identical", "paraphrase"}
    for pair in pairs:
        assert all(grammar.synonymous(pair.candidate[i], pair.reference[j]) for i, j in pair.alignment)
        if not grammar.alternations:
            assert pair.alignment == tuple((i, i) for i in range(len(pair.reference)))


def test_candidates_are_sentences_of_the_grammar():
    from nltk import CFG, ChartParser

    parser = ChartParser(CFG.fromstring((find_resource("corpora", "grammars") / "alternations.cfg").read_text()))
    for pair in pairs_of(ORDERS, ParaphraseSettings(category=0.5, alternate=1), 40):
        assert oracle.is_sentence(parser, pair.candidate), pair
        assert oracle.is_sentence(parser, pair.reference), pair


@pytest.mark.parametrize("kinds", [(kind,) for kind in NOISE] + [tuple(NOISE), tuple(NOISE)[::-1]])
def test_whatever_the_noise_aligned_words_are_alike(kinds):
    settings = ParaphraseSettings(category=0.3, noise=tuple((kind, 0.2) for kind in kinds))
    labels = Counter()
    for pair in pairs_of(ORDERS, settings):
        candidate, reference = [i for i, _ in pair.alignment], [j for _, j in pair.alignment]
        assert candidate == sorted(set(candidate))
        assert len(set(reference)) == len(reference)
        assert all(ORDERS.grammar.synonymous(pair.candidate[i], pair.reference[j]) for i, j in pair.alignment)
        function = set(ORDERS.grammar.function_words)
        assert pair.label == oracle.label(pair.candidate, pair.reference, pair.alignment, function)
        labels[pair.label] += 1
    assert len(labels) >= 2
    assert set(labels) <= set(LABELS)


@pytest.mark.parametrize(
    ("noise", "rate", "candidate", "alignment", "label"),
    [
        ("swap", 1.0, "b a c", ((0, 1), (1, 0), (2, 2)), "paraphrase"),
        ("drop", 1.0, "", (), "unrelated"),
        ("insert", 1.0, r"\w a \w b \w c", ((1, 0), (3, 1), (5, 2)), "related"),
        ("substitute", 1.0, r"[bc] \w \w", (), "unrelated"),
        ("function", 1.0, "a c b", ((0, 0),), "paraphrase"),
        ("drop", 0.0, "a b c", ((0, 0), (1, 1), (2, 2)), "identical"),
    ],
)
def test_each_kind_of_noise(noise, rate, candidate, alignment, label):
    derivations = Derivations.of(parse_grammar("abc", ["S -> A 'b' 'c'", "A -> 'a' | 'd'", "# function: b c"]))
    paraphraser = Paraphraser(derivations, ParaphraseSettings(synonyms=0, noise=((noise, rate),)), Chance(0))
    pair = paraphraser.pair(derivations.at(0))
    assert re.fullmatch(candidate, " ".join(pair.candidate))
    assert (pair.alignment, pair.label) == (alignment, label)


def test_rates_are_met():
    assert {pair.label for pair in pairs_of(PAPER, EXACT)} == {"identical"}
    changed = []
    for pair in pairs_of(PAPER, ParaphraseSettings(synonyms=0.3), 1000):
        for place, (word, other) in enumerate(zip(pair.candidate, pair.reference, strict=True)):
            if other in {"store", "supermarket", "mall"}:
                changed.append(word != other)
                assert (place, place) in pair.alignment
    assert len(changed) == 1000
    assert sum(changed) / 1000 == pytest.approx(0.3, abs=0.04)
    dropped = pairs_of(PAPER, ParaphraseSettings(0, 0, 0, (("drop", 0.25),)), 1000)
    lengths = [sum(len(getattr(pair, side)) for pair in dropped) for side in ("candidate", "reference")]
    assert lengths[0] / lengths[1] == pytest.approx(0.75, abs=0.02)


def test_other_words_of_a_category_mean_something_else():
    pairs = pairs_of(PAPER, ParaphraseSettings(synonyms=0, category=1))
    for pair in pairs:
        assert not any(left == right for left, right in zip(pair.candidate, pair.reference, strict=True))
        aligned = {pair.reference[place] for _, place in pair.alignment}
        assert aligned <= {"store", "supermarket", "mall", "man", "boy", "woman", "girl"}
