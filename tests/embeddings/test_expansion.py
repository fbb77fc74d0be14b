"""Expansion of references: exactly the most probable variants, made from allowed words only."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import expansion as oracle
from refusing import refused

from softbleu.embeddings import open_vectors
from softbleu.embeddings.expansion import Expansion, expand_corpus, find_alternatives, iterate_variants
from softbleu.errors import InputError

WORDS = ("a", "b", "c", "d", "e")
# Few values, 1 among them, so that ties are frequent; 0.8 * 0.5 and 0.4 differ by rounding only, if at all.
SIMILARITIES = st.one_of(
    st.sampled_from([1.0, 0.8, 0.7, 0.5, 0.4, 0.49]), st.floats(1e-6, 1.0, allow_nan=False, exclude_min=True)
)
ALTERNATIVES = st.dictionaries(
    st.sampled_from(WORDS),
    st.lists(st.tuples(st.sampled_from(("u", "v", "w", *WORDS)), SIMILARITIES), max_size=3),
    max_size=4,
)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=5)
MOST = st.one_of(st.none(), st.integers(1, 3))


def plain(found):
    return [(variant.probability, list(variant.tokens)) for variant in found]


@given(TEXTS, ALTERNATIVES, MOST)
def test_all_variants_come_once_the_most_probable_first_and_say_what_was_replaced(tokens, alternatives, most):
    found = list(iterate_variants(tokens, alternatives, most))
    assert plain(found) == oracle.variants(tokens, alternatives, most)
    assert len({variant.tokens for variant in found}) == len(found)
    for variant in found:
        changed = {each.position: each for each in variant.replacements}
        assert sorted(changed) == [each.position for each in variant.replacements]
        for place, (before, after) in enumerate(zip(tokens, variant.tokens, strict=True)):
            assert (place in changed) == (before != after)
            if place in changed:
                assert (changed[place].word, changed[place].by) == (before, after)
                assert (after, changed[place].similarity) in alternatives[before]


@pytest.mark.parametrize(
    ("near", "most", "message"),
    [
        ({"a": [("b", 0.0)]}, None, "the similarity of 'a' and 'b' must be above 0 and at most 1, not 0.0"),
        ({"a": [("b", 1.01)]}, None, "at most 1, not 1.01"),
        ({"a": [("b", float("nan"))]}, None, "not nan"),
        ({}, 0, "at least 1 replacement must be allowed, not 0"),
    ],
)
def test_refused(near, most, message):
    refused(InputError, message, lambda: list(iterate_variants(["a"], near, most)))


@given(st.lists(TEXTS, min_size=1, max_size=3), ALTERNATIVES, st.integers(1, 12))
def test_of_several_references_the_most_probable_variants_that_are_none_of_them(segment, alternatives, budget):
    every = [
        (-float(f"{probability:.12g}"), sum(map(str.__ne__, words, reference)), number, order, words)
        for number, reference in enumerate(segment)
        for order, (probability, words) in enumerate(oracle.variants(reference, alternatives))
    ]
    expected = []
    for *_, words in sorted(every, key=lambda entry: entry[:4]):
        if words not in segment and words not in expected:
            expected.append(words)
    found = Expansion(budget=budget).expand(segment, alternatives)
    assert [list(variant.tokens) for variant in found] == expected[:budget]
    for variant in found:
        differing = sum(map(str.__ne__, variant.tokens, segment[variant.reference]))
        assert differing == len(variant.replacements)


def test_a_variant_that_is_there_already_or_comes_twice_is_passed_over():
    near = {"big": [("large", 0.9), ("huge", 0.8)], "large": [("huge", 0.85)], "great": [("huge", 0.7)]}
    found = Expansion(budget=9).expand([["big", "!"], ["large", "!"], ["great", "!"]], near)
    assert [(variant.tokens, variant.probability, variant.reference) for variant in found] == [
        (("huge", "!"), 0.85, 1)
    ]


def alternatives_of(words, vectors, **options):
    return find_alternatives(open_vectors(vectors), words, Expansion(**options))


@given(
    st.dictionaries(
        st.sampled_from(["cat", "Cat", "CAT", "dog", "Dog", "mat", "x2", "!", "été"]),
        st.lists(st.integers(-2, 3).map(float), min_size=2, max_size=2),
        min_size=1,
    ),
    st.sampled_from([0.0, 0.4, 0.7, 0.99]),
    st.integers(1, 4),
)
def test_alternatives_are_the_near_neighbours(vectors, threshold, most):
    words = ["cat", "dog", "mat", "x2", "!", "été", "absent"]
    found = alternatives_of(words, vectors, threshold=threshold, neighbours=most)
    expected = {word: oracle.neighbours(word, vectors, threshold, most) for word in words}
    assert found == {word: near for word, near in expected.items() if near}


CASES = [" ".join(letters).replace(" ", "") for letters in itertools.product("aA", "bB", "cC", "dD")]
SWAPPED = [
    # Spelling follows the word.
    ("car vehicle Cars", {}, "car=vehicle,Cars Car=Vehicle,Cars CAR=VEHICLE,CARS cAR=vehicle,Cars"),
    ("i we", {}, "I=We"),
    # Spellings that become one count once, the nearest.
    ("car vehicle Vehicle truck", {"neighbours": 2}, "Car=Vehicle,Truck"),
    # Never another case of the word itself.
    (" ".join([*CASES, "other"]), {"neighbours": 1}, "abcd=other ABCD=OTHER aBcD=other"),
    # Neither punctuation nor numbers nor words with marks in them.
    ("two 2 3 three ! ? well-known 's", {}, "two=three 2= != well-known= 's="),
    ("", {}, ""),
    ("a b", {}, "absent="),
    # Function words stay, and are not put in.
    ("the this rule law over", {"content_words": True}, "The= rule=law"),
    ("the this rule law over", {"neighbours": 1}, "The=This"),
    ("rule this law", {"neighbours": 1}, "rule=this"),
]


@pytest.mark.parametrize(("words", "options", "expected"), SWAPPED)
def test_what_a_word_is_swapped_for(words, options, expected):
    vectors = {word: [1.0, 0.01 * step] for step, word in enumerate(words.split(), start=1)} | {"zero": [0.0, 0.0]}
    asked = dict(each.split("=", 1) if each[0] != "!" else ("!", "") for each in expected.split())
    found = alternatives_of(list(asked), vectors, **options)
    assert {word: ",".join(name for name, _ in found.get(word, ())) for word in asked} == asked


def test_a_corpus_is_read_twice_block_by_block():
    corpus = [[[["the", "car"]]], [[["a", "Car", "!"], ["sky"]], [[]]]]
    reads = []

    def blocks():
        reads.append("pass")
        for number, block in enumerate(corpus):
            reads.append(number)
            yield block

    vectors = open_vectors({"car": [1.0, 0.1], "vehicle": [1.0, 0.2], "truck": [1.0, 0.3]})
    done = []
    stream = expand_corpus(blocks, vectors, Expansion(budget=1), progress=done.append)
    first = next(iter(stream))
    assert [variant.tokens for variant in first] == [("the", "vehicle")]
    assert reads == ["pass", 0, 1, "pass", 0]
    rest = list(stream)
    assert [[variant.tokens for variant in found] for found in rest] == [[("a", "Vehicle", "!")], []]
    assert done == [1, 3]
