"""Prefixes of outputs and curves: the same, to the last bit, as texts that end there and are scored one by one."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import softbleu
from softbleu import read_metric
from softbleu.errors import InputError
from softbleu.formats import TABLE_WRITERS, Layout
from softbleu.report.curves import curve_records
from softbleu.resample import correct
from softbleu.results.fractions import find_partings
from softbleu.results.significance import SignificanceSettings

METRICS = (
    *("bleu", "vleu", "chrf", "chrf++(partial_by=characters)", "ter", "ter(partial_by=characters)"),
    *("gleu", "green", "meteor(stages=exact)", "softbleu(rarity=0)"),
)
WORDS = ("the", "cat", "dog", "sat", "on", "a", "mat", "red")
read = cache(read_metric)  # Vectors stay open
texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
filled = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join)


def cut(text, tokens):
    return " ".join(text.split()[:tokens])


@pytest.mark.parametrize("name", METRICS)
@given(st.lists(st.tuples(texts, texts, st.lists(filled, min_size=2, max_size=2), filled), min_size=1, max_size=4))
@settings(max_examples=5)
def test_literal_prefixes_have_the_same_scores(name, segments):
    partial = read(name, partial=True)
    one, other, references, source = zip(*segments, strict=True)
    systems, sources = {"one": one, "other": other}, source if partial.requires.source else None
    for prefix in softbleu.prefix_scores(systems, references, sources, metrics=name, every=2):
        place = prefix.segment - 1
        text = cut(systems[prefix.system][place], prefix.tokens)
        alone = partial.sentence_score(text, references[place], sources and sources[place])
        np.testing.assert_equal(prefix.score, alone.score)  # Of TER of nothing NaN
    curves = softbleu.score_curves(systems, references, sources, metrics=name, every=3)
    for curve in curves.curves:
        for tokens, score in curve.scores.items():
            lines = [cut(line, tokens) for line in systems[curve.system]]
            np.testing.assert_equal(score, partial.corpus_score(lines, references, sources).score)
        whole = read(name).whole.corpus_score(systems[curve.system], references, sources)
        assert curve.whole == whole.score


LINES = ["the cat sat on a red mat", "a dog", "", "the red dog sat on the mat with a cat"] * 30
REFERENCES = ["a cat sat on the red mat", "the dog", "a mat", "the red dog sat on a mat beside a cat"] * 30


def test_cuts_at_shares_round_up_and_workers_change_no_digit():
    fractions = [0.28, 0.5, 1]
    curves = softbleu.score_curves(LINES, REFERENCES, metrics=["bleu", "chrf"], fractions=fractions)
    assert [one.label for one in curves.curves] == ["BLEU", "chrF"]
    assert list(curves.curves[0].scores) == fractions
    half = [cut(line, -(-len(line.split()) // 2)) for line in LINES]
    for curve in curves.curves:
        assert curve.scores[0.5] == read(curve.metric).corpus_score(half, REFERENCES).score
    assert softbleu.score_curves(LINES, REFERENCES, metrics=["bleu", "chrf"], fractions=fractions, jobs=2) == curves
    sizes = [prefix.tokens for prefix in softbleu.prefix_scores(["a b " * 12 + "c"], ["a"], fractions=[0.28])]
    assert sizes == [7]


def test_curve_table_has_a_row_per_system_and_metric_and_says_what_was_cut():
    curves = softbleu.score_curves({"A": LINES, "B": REFERENCES}, REFERENCES, metrics=["chrf", "ter"])
    shown = "".join(TABLE_WRITERS["text"](curve_records(curves, Layout()), Layout()))
    lines = [line.split() for line in shown.splitlines()]
    assert lines[0] == ["system", "metric", "25%", "50%", "75%", "100%", "whole"]
    assert lines[3] == ["B", "chrF", *["100.00"] * 5]
    assert lines[5] == ["B", "TER", *["0.00"] * 5]
    assert "partial:yes" in shown
    assert [row["fraction"] for row in curves.records()] == [0.25, 0.5, 0.75, 1.0] * 4


@pytest.mark.parametrize(
    ("wanted", "said"), [({"fractions": [0.0]}, "fractions of outputs"), ({"every": 0}, "at least 1")]
)
def test_impossible_cuts_are_refused(wanted, said):
    with pytest.raises(InputError, match=said):
        softbleu.score_curves(LINES, REFERENCES, **wanted)


@pytest.mark.parametrize("name", ["chrf", "softbleu", "ter(partial_by=characters)", "gleu"])
def test_prefixes_of_beams_have_the_scores_of_single_sentences(name):
    beams, references = [["the cat sat", "a cat", ""], ["a dog lay down"]], [["the cat sat on", "a cat"], ["a dog"]]
    partial = read(name, partial=True)
    sources = ["cat the sat", "dog lay"] if partial.requires.source else None
    found = list(softbleu.prefix_scores(beams, references, sources, metrics=name, every=2))
    named = [(one.segment, one.hypothesis, one.prefix, one.tokens, one.length) for one in found]
    assert named == [
        (1, 1, 1, 2, 3),
        (1, 1, 2, 3, 3),
        (1, 2, 1, 2, 2),
        (1, 3, 1, 0, 0),
        (2, 1, 1, 2, 4),
        (2, 1, 2, 4, 4),
    ]
    for one in found:
        text = cut(beams[one.segment - 1][one.hypothesis - 1], one.tokens)
        alone = partial.sentence_score(text, references[one.segment - 1], sources and sources[one.segment - 1])
        np.testing.assert_equal(one.score, alone.score)
    flat = [text for texts in beams for text in texts]
    given = [references[0]] * 3 + [references[1]], sources and [sources[0]] * 3 + [sources[1]]
    assert {one.signature for one in found} == {
        one.signature for one in softbleu.prefix_scores(flat, *given, metrics=name)
    }
    with pytest.raises(InputError, match="2 candidates but references for 1 segment"):
        list(softbleu.prefix_scores(beams, ["a cat"]))


def test_curve_of_chrf_takes_characters_of_a_language_without_blanks():
    (curve,) = softbleu.score_curves(["猫坐在"], ["猫坐在垫子上"], metrics="chrf", language="zh").curves
    assert ({*curve.scores.values()}, curve.whole < 50) == ({100.0}, True)


def test_outputs_without_text_are_counted_and_have_no_edit_rate():
    results = softbleu.score(
        {"A": ["", "a cat"], "B": [" ", ""]}, ["a dog", "a cat"], metrics=["ter", "bleu"], partial=True
    )
    shown = [(one.name, one.empty, one.to_dict()["empty"], math.isnan(one.score)) for one in results]
    assert shown == [("A", 1, 1, False), ("B", 2, 2, True), ("A", 1, 1, False), ("B", 2, 2, False)]
    assert softbleu.score([""], ["a dog"], metric="ter").score == 100
    assert softbleu.score([""], [""], metric="ter").score == 0


def test_metric_of_whole_outputs_has_no_curve():
    with pytest.raises(InputError, match="'m2' scores whole outputs only"):
        softbleu.score_curves(LINES, REFERENCES, metrics=["bleu", "m2"])


@pytest.mark.parametrize("name", ["bleu", "ter", "chrf"])
def test_tests_by_fraction_are_those_of_texts_cut_there(name):
    systems = {"A": LINES, "B": [line.replace("cat", "dog") for line in LINES], "C": REFERENCES}
    how = SignificanceSettings(samples=50, trials=99)
    tests = softbleu.compare_partial(systems, REFERENCES, metrics=name, fractions=[0.5], significance=how)
    half = {key: [cut(line, -(-len(line.split()) // 2)) for line in lines] for key, lines in systems.items()}
    expected = [
        softbleu.compare(half, REFERENCES, metrics=read(name, partial=True), significance=how),
        softbleu.compare(systems, REFERENCES, metrics=name, significance=how),
    ]
    alone = [row for table in expected for row in table.comparisons]
    for row, other in zip(tests.rows, alone, strict=True):
        assert (row.system, row.score, (row.lower, row.upper)) == (other.name, other.score, other.interval)
        if other.beside is not None:
            beside = other.beside
            assert (row.difference, row.p_value) == (beside.difference, other.p_value)
            assert (row.difference_lower, row.difference_upper) == beside.interval
    p_values = [other.p_value for other in alone if other.p_value is not None]
    assert [row.corrected for row in tests.rows if row.corrected is not None] == correct(p_values, "holm")
    assert [row.fraction for row in tests.rows] == [0.5] * 3 + [None] * 3


def test_outputs_part_at_the_first_token_that_differs():
    corpus = softbleu.Segments.of({"A": ["a cat sat", "it is", "a"], "B": ["a cat lay", "it is", "a dog"]}, ["a"] * 3)
    found = list(find_partings(corpus, "A", "B", read("bleu").tokenizer))
    assert [(one.segment, one.shared, one.one, one.other) for one in found] == [
        (1, 2, ("sat",), ("lay",)),
        (3, 1, (), ("dog",)),
    ]
