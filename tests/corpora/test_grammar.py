import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import grammar as oracle
from refusing import refused
from shared_data import shared

from softbleu.corpora.derivations import Chance, Derivations
from softbleu.corpora.grammar import grammar_names, parse_grammar, read_grammar
from softbleu.corpora.paraphrase import Paraphraser, ParaphraseSettings
from softbleu.errors import InputError, SoftbleuError, UnknownNameError
from softbleu.io.resources import find_resource


def all_sentences(derivations):
    return [" ".join(derivations.sentence(derivations.at(index))) for index in range(derivations.count())]


def test_grammar_of_the_paper():
    sentences = all_sentences(Derivations.of(read_grammar("morgan2014")))
    assert len(set(sentences)) == len(sentences) == 1008
    text = (find_resource("corpora", "grammars") / "morgan2014.cfg").read_text()
    assert sentences == oracle.sentences(text, 6)
    lines = shared("data", "morgan2014", "artificial.pairs.txt").read_text().splitlines()
    assert len(lines) == 112
    assert {side.strip() for line in lines for side in line.split("|||")} <= set(sentences)


@pytest.mark.parametrize("name", grammar_names())
def test_grammars_of_the_package_agree_with_nltk(name):
    from nltk import CFG, PCFG, ChartParser

    text = (find_resource("corpora", "grammars") / f"{name}.cfg").read_text()
    parser = ChartParser((PCFG if "[0." in text else CFG).fromstring(text))
    derivations = Derivations.of(read_grammar(name), 10)
    chance = Chance(1)
    for draw in (derivations.draw, derivations.draw_uniformly):
        for _ in range(10):
            words = derivations.sentence(draw(chance))
            if len(words) < 30:
                assert oracle.is_sentence(parser, words), words
            assert not oracle.is_sentence(parser, [*words, words[0]])
    for _ in range(300):
        words = derivations.sentence(derivations.draw(chance))
        assert not [after for word, after in pairwise(words) if word == "a" and after[0] in "aeio"]


SYMBOLS = ("S", "A", "B", "C")
PARTS = st.lists(st.sampled_from([*SYMBOLS, "'x'", "'y'", "'z'"]), max_size=3)


@st.composite
def grammar_texts(draw):
    """Small grammars, sound or not; symbols refer to later ones oftener than to earlier ones."""
    lines = []
    for place, symbol in enumerate(SYMBOLS[: draw(st.integers(1, 4))]):
        forms = draw(st.lists(PARTS, min_size=1, max_size=3))
        loop = draw(st.integers(0, 3)) == 0
        kept = [[p for p in form if loop or p[0] == "'" or SYMBOLS.index(p) > place] for form in forms]
        lines.append(f"{symbol} -> " + " | ".join(" ".join(form) for form in kept))
    return lines


@st.composite
def sound_texts(draw):
    """Small grammars without faults: every symbol leads to the next, and back only behind a word."""
    symbols = SYMBOLS[: draw(st.integers(1, 4))]
    lines = []
    for place, symbol in enumerate(symbols):
        later = st.sampled_from([*symbols[place + 1 :], "'x'", "'y'", "'z'"])
        forms = draw(st.lists(st.lists(later, max_size=3), max_size=2))
        back = draw(st.lists(st.sampled_from(symbols[: place + 1]), max_size=2))
        ahead = [[*symbols[place + 1 : place + 2], "'w'"]]
        unique = {" ".join(form) for form in [*forms, *ahead, *([["'v'", *back]] if back else [])]}
        lines.append(f"{symbol} -> " + " | ".join(sorted(unique, reverse=True)))
    return lines


@given(sound_texts(), st.integers(2, 6))
def test_enumeration_is_that_of_nltk(lines, depth):
    grammar = parse_grammar("random", lines)
    try:
        derivations = Derivations.of(grammar, depth)
    except InputError:
        assert oracle.sentences("\n".join(lines), depth) == []
        return
    assume(derivations.count() < 2000)
    expected = oracle.sentences("\n".join(lines), depth)
    assert derivations.count() == len(expected)
    assert all_sentences(derivations) == expected


@given(grammar_texts())
def test_any_grammar_is_read_or_refused_in_one_line(lines):
    chance = Chance(0)
    try:
        found = Derivations.of(parse_grammar("random", lines))
        found.check_drawing(uniform=False)
    except SoftbleuError as error:
        refusal = str(error)
    else:
        refusal = "random"
        assert {word for _ in range(3) for word in found.sentence(found.draw(chance))} <= {"x", "y", "z"}
    assert re.fullmatch(r"random[^\n]*", refusal)


def test_draws_follow_the_weights():
    lines = ["S -> A [0.7] | 'b' [0.2] | 'c' [0.1]", "A -> 'x' [0.5] | 'y' [0.5]"]
    derivations = Derivations.of(parse_grammar("weighted", lines))
    chance = Chance(5)
    drawn = Counter(derivations.sentence(derivations.draw(chance))[0] for _ in range(4000))
    expected = {"x": 0.35, "y": 0.35, "b": 0.2, "c": 0.1}
    assert {word: drawn[word] / 4000 for word in expected} == pytest.approx(expected, abs=0.025)
    drawn = Counter(derivations.sentence(derivations.draw_uniformly(chance))[0] for _ in range(4000))
    assert {word: drawn[word] / 4000 for word in expected} == pytest.approx(dict.fromkeys(expected, 0.25), abs=0.025)
    chance = Chance(0)
    for bound in (1, 7, 1 << 40, 10**60):
        drawn = [chance.below(bound) for _ in range(500)]
        assert 0 <= min(drawn) <= max(drawn) < bound
        assert sum(drawn) / 500 == pytest.approx((bound - 1) / 2, rel=0.1)
    assert len({chance.below(10**60) % 1000 for _ in range(500)}) > 300


def test_continued_lines_and_start():
    lines = ["A -> 'x' B \\", "  | 'y' B", "", "# a comment: of no kind", "%start A", "B -> 'z'"]
    assert all_sentences(Derivations.of(parse_grammar("long", lines))) == ["x z", "y z"]


FORMS = "S -> " + " | ".join(f"'a' 'b{number}'" for number in range(101))


def test_unknown_names_and_missing_files(tmp_path):
    refused(UnknownNameError, "did you mean 'morgan2014'", read_grammar, "morgan2013")
    refused(InputError, r"no such file: .*none\.cfg", read_grammar, str(tmp_path / "none.cfg"))
    (tmp_path / "latin.cfg").write_bytes("S -> 'café'".encode("latin-1"))
    refused(InputError, r"latin\.cfg, line 1, byte 10: not UTF-8", read_grammar, str(tmp_path / "latin.cfg"))
    assert read_grammar(str(tmp_path / "latin.cfg"), "latin-1").rules[0].word == "café"


def test_many_forms_are_refused():
    refused(InputError, "101 forms, where 100 are the most", parse_grammar, "bad", [FORMS, f"# alternate: {FORMS}"])


def test_impossible_depths():
    grammar = parse_grammar("loop", ["S -> 'a' S | 'b'"])
    said = r"loop has infinitely many sentences \(S -> S\): give max_depth"
    refused(InputError, said, Derivations.of, grammar, exhaustive=True)
    refused(InputError, "loop has no sentence of depth 1: max_depth=2 is the least", Derivations.of, grammar, 1)
    refused(InputError, "too deep: give max_depth=200", Derivations.of, grammar, 201)
    # The deepest derivations fit the stack.
    deepest = Derivations.of(grammar, 200)
    assert (deepest.count(), len(deepest.sentence(deepest.at(0)))) == (199, 199)
    chain = [f"S{n} -> S{n + 1} 'x'" for n in range(400)]
    refused(InputError, "too deep", lambda: Derivations.of(parse_grammar("chain", [*chain, "S400 -> 'y'"])))


def test_what_explodes_is_refused():
    many = Derivations.of(parse_grammar("many", ["S -> S S S | 'a'"]), 200)
    refused(InputError, "too many derivations to count", many.count)
    refused(InputError, "words at depth 200: lower max_depth", many.check_drawing, uniform=False)
    few = Derivations.of(parse_grammar("few", ["S -> S S | 'a'"]), 6)
    sentences = all_sentences(few)
    chance = Chance(0)
    drawn = [len(few.sentence(few.draw_uniformly(chance))) for _ in range(1500)]
    mean = sum(len(sentence.split()) for sentence in sentences) / len(sentences)
    assert few._choices["S", 6].lengths[1] == pytest.approx(mean)
    assert sum(drawn) / len(drawn) == pytest.approx(mean, rel=0.03)


def test_large_grammars_are_read_and_paraphrased():
    words = " ".join(f"w{number}" for number in range(2000))
    alternatives = " | ".join(f"'{word}'" for word in words.split())
    grammar = parse_grammar("wide", [f"S -> {alternatives}", f"# synonyms: {words}", f"# function: {words}"])
    derivations = Derivations.of(grammar)
    settings = ParaphraseSettings(synonyms=1.0, noise=(("substitute", 0.5), ("function", 0.5)))
    chance = Chance(1)
    paraphraser = Paraphraser(derivations, settings, chance)
    pairs = [paraphraser.pair(derivations.draw(chance)) for _ in range(5)]
    assert all(pair.candidate != pair.reference for pair in pairs)
    chain = [f"N{number} -> N{number + 1}" for number in range(5000)] + ["N5000 -> 'x'"]
    refused(InputError, "derivations of depth 5002 are too deep", Derivations.of, parse_grammar("long", chain))
