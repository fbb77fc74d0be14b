"""Grammars: what is read of them, the sentences and pairs that they make, and corpora of these."""

import json
import os
import re
import subprocess
import sys
import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import grammar as oracle
from refusing import refused
from shared_data import shared

from softbleu.corpora import read_segments
from softbleu.corpora.generate import (
    LABELS,
    NOISE,
    Aligner,
    GenerationSettings,
    Paraphraser,
    ParaphraseSettings,
    Seen,
    distinct_numbers,
    format_for,
    generate,
    label_pair,
    pair_halves,
    read_aligned,
)
from softbleu.corpora.grammar import Chance, Derivations, grammar_names, parse_grammar, read_grammar
from softbleu.errors import InputError, SoftbleuError, UnknownNameError
from softbleu.io.files import find_resource


def all_sentences(derivations):
    return [" ".join(derivations.sentence(derivations.at(index))) for index in range(derivations.count())]


def nltk_parser(name):
    from nltk import CFG, PCFG, ChartParser

    text = (find_resource("corpora", "grammars") / f"{name}.cfg").read_text()
    return ChartParser((PCFG if "[0." in text else CFG).fromstring(text))


def test_grammar_of_the_paper():
    sentences = all_sentences(Derivations.of(read_grammar("morgan2014")))
    lines = shared("data", "morgan2014", "artificial.pairs.txt").read_text().splitlines()
    assert len(lines) == 112
    assert {side.strip() for line in lines for side in line.split("|||")} <= set(sentences)


@pytest.mark.parametrize("name", grammar_names())
def test_grammars_of_the_package_agree_with_nltk_and_pairs_keep_the_meaning(name):
    parser, derivations, chance = nltk_parser(name), Derivations.of(read_grammar(name), 10), Chance(1)
    for draw in (derivations.draw, derivations.draw_uniformly):
        for _ in range(10):
            words = derivations.sentence(draw(chance))
            if len(words) < 30:
                assert oracle.is_sentence(parser, words), words
            assert not oracle.is_sentence(parser, [*words, words[0]])
    for _ in range(300):
        words = derivations.sentence(derivations.draw(chance))
        assert not [after for word, after in pairwise(words) if word == "a" and after[0] in "aeio"]
    pairs = pairs_of(derivations, ParaphraseSettings())
    assert {pair.label for pair in pairs} == {"identical", "paraphrase"}
    for pair in pairs:
        synonymous = derivations.grammar.synonymous
        assert all(synonymous(pair.candidate[i], pair.reference[j]) for i, j in pair.alignment)
        if not derivations.grammar.alternations:
            assert pair.alignment == tuple((i, i) for i in range(len(pair.reference)))
    for pair in pairs_of(derivations, ParaphraseSettings(category=0.5, alternate=1), 40):
        for words in (pair.candidate, pair.reference):
            assert len(words) > 30 or oracle.is_sentence(parser, words), pair


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


def test_continued_lines_start_and_encodings(tmp_path):
    lines = ["A -> 'x' B \\", "  | 'y' B", "", "# a comment: of no kind", "%start A", "B -> 'z'"]
    assert all_sentences(Derivations.of(parse_grammar("long", lines))) == ["x z", "y z"]
    path = tmp_path / "latin.cfg"
    path.write_bytes("S -> 'café'".encode("latin-1"))
    refused(InputError, r"latin\.cfg, line 1, byte 10: not UTF-8", read_grammar, str(path))
    assert read_grammar(str(path), "latin-1").rules[0].word == "café"


def test_impossible_depths_and_many_forms():
    grammar = parse_grammar("loop", ["S -> 'a' S | 'b'"])
    refused(InputError, "loop has no sentence of depth 1: max_depth=2 is the least", Derivations.of, grammar, 1)
    refused(InputError, "too deep: give max_depth=200", Derivations.of, grammar, 201)
    # The deepest derivations fit the stack.
    deepest = Derivations.of(grammar, 200)
    assert (deepest.count(), len(deepest.sentence(deepest.at(0)))) == (199, 199)
    chain = parse_grammar("chain", [*(f"N{n} -> N{n + 1}" for n in range(5000)), "N5000 -> 'x'"])
    refused(InputError, "derivations of depth 5002 are too deep", Derivations.of, chain)
    forms = "S -> " + " | ".join(f"'a' 'b{number}'" for number in range(101))
    refused(InputError, "101 forms: at most 100", parse_grammar, "bad", [forms, f"# alternate: {forms}"])


def test_grammars_of_too_many_derivations_are_refused():
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
    settings = ParaphraseSettings(synonyms=1.0, noise=(("substitute", 0.5), ("function", 0.5)))
    pairs = pairs_of(Derivations.of(grammar), settings, 5, 1)
    assert all(pair.candidate != pair.reference for pair in pairs)


PAPER = Derivations.of(read_grammar("morgan2014"))
ORDERS = Derivations.of(read_grammar("alternations"))
TOKENS = st.lists(st.sampled_from(["cat", "dog", "the", "a"]), max_size=4)


def pairs_of(derivations, settings, count=100, seed=0):
    chance = Chance(seed)
    paraphraser = Paraphraser(derivations, settings, chance)
    return [paraphraser.pair(derivations.draw(chance)) for _ in range(count)]


def test_halves_are_disjoint_pairs_of_other_sentences():
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
    grammar, parser = PAPER.grammar, nltk_parser("morgan2014")
    classes = [sorted(words) for words in set(grammar.synonyms.values())]
    for pair in list(pair_halves(PAPER, 3, distinct_numbers(PAPER)))[::9]:
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
    clauses = Derivations.of(read_grammar(str(Path(__file__).with_name("clauses.cfg"))))
    numbers = {" ".join(clauses.sentence(clauses.at(n))): n for n in range(clauses.count())}
    found = Aligner(clauses).align(clauses.at(numbers[first]), clauses.at(numbers[second]))
    assert " ".join(f"{one}-{other}" for one, other in found) == alignment


@given(TOKENS, TOKENS, st.data())
def test_labels_of_pairs_are_those_of_the_definition(candidate, reference, data):
    places = st.permutations(range(len(reference)))
    size = data.draw(st.integers(0, min(len(candidate), len(reference))))
    left = sorted(data.draw(st.permutations(range(len(candidate))))[:size])
    alignment = tuple(zip(left, data.draw(places)[:size], strict=True))
    expected = oracle.label(candidate, reference, alignment, {"the", "a"})
    assert label_pair(candidate, reference, alignment, {"the", "a"}) == expected


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
    assert {pair.label for pair in pairs_of(PAPER, ParaphraseSettings(synonyms=0, alternate=0))} == {"identical"}
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
    for pair in pairs_of(PAPER, ParaphraseSettings(synonyms=0, category=1)):
        assert not any(left == right for left, right in zip(pair.candidate, pair.reference, strict=True))
        aligned = {pair.reference[place] for _, place in pair.alignment}
        assert aligned <= {"store", "supermarket", "mall", "man", "boy", "woman", "girl"}


NOISY = ParaphraseSettings(category=0.1, noise=tuple((kind, 0.05) for kind in NOISE))
PARAPHRASES = GenerationSettings("alternations", "paraphrase", count=60, paraphrase=NOISY)


def test_every_sentence_is_drawn_once():
    corpus = generate(GenerationSettings(every=True))
    sentences = list(corpus.sentences())
    assert corpus.total == len(set(sentences)) == len(sentences) == 1008
    paraphrased = generate(GenerationSettings(pairing="paraphrase", every=True))
    assert [" ".join(pair.reference) for pair in paraphrased.pairs()] == sentences
    told = []
    repeated = generate(GenerationSettings(count=1008)).lines(progress=lambda *step: told.append(step))
    assert len(set(repeated)) < 1008
    assert told == [(0, 1008), (1000, 1008), (1008, 1008)]
    settings = GenerationSettings(count=900, distinct=True)
    for sampling in ("weights", "uniform"):
        assert len(set(generate(replace(settings, sampling=sampling)).sentences())) == 900
    pairs = list(generate(GenerationSettings(pairing="paraphrase", count=500, distinct=True)).pairs())
    assert len(set(pairs)) == 500


@pytest.mark.parametrize("settings", [GenerationSettings(pairing="halves", seed=7, count=50), PARAPHRASES])
def test_a_corpus_can_be_made_again(settings):
    corpus = generate(settings)
    pairs = list(corpus.pairs())
    assert list(corpus.pairs()) == pairs
    assert list(generate(replace(settings, count=10)).pairs()) == pairs[:10]
    assert list(corpus.pairs()) != list(generate(replace(settings, seed=8)).pairs())


@pytest.mark.slow
def test_same_bytes_in_every_process():
    code = (
        "from softbleu.corpora.generate import *\n"
        "noise = ParaphraseSettings(category=0.1, noise=tuple((kind, 0.05) for kind in NOISE))\n"
        "for pairing in ('halves', 'paraphrase'):\n"
        "    made = generate(GenerationSettings('morgan2014', pairing, seed=3, count=80, paraphrase=noise))\n"
        "    print(*made.lines('jsonl'))"
    )
    own = [{**os.environ, "PYTHONHASHSEED": seed} for seed in "01"]
    first, second = (subprocess.check_output([sys.executable, "-c", code], env=each) for each in own)
    assert first == second
    assert first.count(b"\n") == 162


def test_formats_hold_the_same(written):
    corpus = generate(PARAPHRASES)
    pairs = list(corpus.pairs())
    for name in ("pairs", "tsv", "jsonl"):
        segments = read_segments(written("".join(corpus.lines(name)), f"x.{name}"))
        assert list(segments.candidates["candidate"]) == [" ".join(pair.candidate) for pair in pairs]
        assert [reference for (reference,) in segments.references] == [" ".join(pair.reference) for pair in pairs]
    assert list(read_aligned(written("".join(corpus.lines("jsonl"))))) == pairs
    rows = [line.removesuffix("\n").split("\t") for line in corpus.lines("tsv")]
    assert rows[0] == ["candidate", "reference", "alignment", "label"]
    places = [tuple(tuple(map(int, link.split("-"))) for link in row[2].split()) for row in rows[1:]]
    kept = [(place, row[3]) for place, row in zip(places, rows[1:], strict=True)]
    assert kept == [(pair.alignment, pair.label) for pair in pairs]


def test_formats_of_sentences():
    corpus = generate(GenerationSettings(count=3))
    sentences = list(corpus.sentences())
    assert "".join(corpus.lines()) == "".join(f"{sentence}\n" for sentence in sentences)
    assert "".join(corpus.lines("tsv")).splitlines() == ["sentence", *sentences]
    entries = [json.loads(line) for line in corpus.lines("jsonl")]
    assert entries == [{"sentence": sentence, "grammar": "morgan2014"} for sentence in sentences]
    assert (format_for("x.TSV"), format_for("x.jsonl.gz"), format_for("tsv")) == ("tsv", "jsonl", "tsv")
    halves = generate(GenerationSettings(pairing="halves"))
    refused(UnknownNameError, "of sentences 'pairs' .*; valid: plain, tsv, jsonl", corpus.lines, "pairs")
    refused(UnknownNameError, "of pairs 'plain' .*; valid: pairs, tsv, jsonl", halves.lines, "plain")
    refused(InputError, "gives no pairs", lambda: list(corpus.pairs()))


def test_memory_does_not_grow():
    peaks = []
    for count in (100, 600):
        corpus = generate(replace(PARAPHRASES, grammar="morgan2014", count=count))
        tracemalloc.start()
        for _ in corpus.lines("jsonl"):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # 500 pairs are 400 kB and more.
    assert peaks[1] < 1.1 * peaks[0] + 100_000
