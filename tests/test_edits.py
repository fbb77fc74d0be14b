"""Edits found in texts: alignment and merge rules, beside ERRANT's edits on CoNLL-2014, and as .m2 files."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.edits import cheapest_steps
from refusing import refused
from shared_data import shared

import softbleu
from softbleu import InputError
from softbleu.analysis import correction_kinds
from softbleu.corpora.corpus import make_corpus
from softbleu.corpora.edits import Annotation, apply_edits
from softbleu.metrics.base import make_metric
from softbleu.metrics.edits import alignment_steps, edit_texts, extract_edits, rules_of, substitution_costs

WORDS = st.lists(
    st.sampled_from(["the", "The", "to", "is", "was", "depends", "depend", "will", "a", ",", "'s", "a-s", "x"])
)


def found(source, output, language=None):
    """Edits as source words, and the words in their place."""
    words = source.split()
    edits = extract_edits(words, output.split(), language)
    return [f"{' '.join(words[edit.start : edit.end])} > {edit.corrections[0]}".strip() for edit in edits]


RULES = [line for line in Path(__file__).with_name("edits.txt").read_text(encoding="utf-8").splitlines()[2:] if line]


@pytest.mark.parametrize("row", [line for line in RULES if not line.startswith("#")])
def test_rules(row):
    source, output, expected = row.split(" =>")
    assert "; ".join(found(source, output)) == expected.strip()


@pytest.mark.parametrize(
    ("language", "source", "output", "english", "own"),
    [
        ("cs", "koupil a auto", "koupil auta to", "a auto > auta to", "a > auta; auto > to"),
        ("cs", "pes a kočka", "psi kočka", "pes > psi; a >", "pes a > psi"),
        ("de", "in dem Haus", "im Häuser", "in dem > im; Haus > Häuser", "in dem Haus > im Häuser"),
        ("fr", "aujourd’ hui", "aujourdhui", "aujourd’ > aujourdhui; hui >", "aujourd’ hui > aujourdhui"),
        ("zh", "他 对 我 说 ' 好", "他 对 我 讲 「 好", "说 ' > 讲 「", "说 > 讲; ' > 「"),
    ],
)
def test_rules_of_other_languages(language, source, output, english, own):
    """English lists, its possessive and its apostrophe are for English alone."""
    assert "; ".join(found(source, output)) == "; ".join(found(source, output, "en-GB")) == english
    assert "; ".join(found(source, output, language)) == own


def test_stems_of_a_language_align_its_words():
    costs = [substitution_costs(["Bäume"], ["Baum"], rules_of(code)) for code in ("de-AT", "cs", None)]
    assert [round(cost, 3) for ((cost,),) in costs] == [0.333, 0.832, 0.832]


@given(WORDS, WORDS, st.sampled_from([None, "de", "cs"]))
def test_alignment_is_that_of_its_definition(source, output, language):
    rules = rules_of(language)
    steps = cheapest_steps(source, output, lambda word, other: substitution_costs([word], [other], rules)[0][0])
    assert alignment_steps(tuple(source), tuple(output), rules) == steps


@given(WORDS, WORDS, st.sampled_from([None, "de", "cs"]))
def test_edits_make_the_text(source, output, language):
    (segment,) = edit_texts([" ".join(source)], [" ".join(output)], language=language)
    edits = segment.annotations[0].in_words()
    assert apply_edits(source, edits) == tuple(output)
    assert all(one[1] <= other[0] for one, other in pairwise(edits))
    # What is equal is no edit's end.
    assert all(source[start:end] != list(words) for start, end, words in edits)


CONLL = {
    "AMU": (1277, 1276, 1280, 1278),
    "CAMB": (2052, 2048, 2056, 2054),
    "CUUI": (1592, 1592, 1592, 1592),
    "IITB": (93, 93, 93, 93),
    "IPN": (540, 540, 540, 540),
    "PKU": (988, 988, 991, 991),
    "RAC": (1110, 1105, 1114, 1113),
    "SJTU": (365, 363, 365, 365),
    "UFC": (50, 50, 50, 50),
}
"""Edits with the bounds that ERRANT gives them, with its words, too, all of ours, and all of its."""


@pytest.mark.parametrize(
    ("name", "annotator", "counts"),
    [
        *((name, 0, counts) for name, counts in CONLL.items() if counts[-1] < 1000),
        *(
            pytest.param(name, 0, counts, marks=pytest.mark.slow)
            for name, counts in CONLL.items()
            if counts[-1] > 999
        ),
        pytest.param("references", 0, (2378, 2356, 2448, 2462), marks=pytest.mark.slow),
        pytest.param("references", 1, (3401, 3375, 3452, 3475), marks=pytest.mark.slow),
    ],
)
def test_beside_errant(name, annotator, counts):
    numbers = [0] * 4
    for segment in softbleu.read_m2(str(shared("data", "conll14", "errant", f"{name}.m2"))):
        (theirs,) = [each.in_words() for each in segment.annotations if each.annotator == annotator]
        words = segment.source.split()
        ours = Annotation(0, extract_edits(words, apply_edits(words, theirs))).in_words()
        spans = {edit[:2] for edit in ours} & {edit[:2] for edit in theirs}
        for place, number in enumerate((len(spans), len({*ours} & {*theirs}), len(ours), len(theirs))):
            numbers[place] += number
    assert tuple(numbers) == counts


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([[None], ["a"]], "source, number 1: text is needed, not NoneType"),
        ([["a"], ["a"], [3]], "output 2, number 1: text is needed, not int"),
        ([["a", "b"], ["a", "b"], ["a"]], "the source has 2 lines, output 2 has 1"),
        ([["a"], "a"], "output lines are a list .* not one text"),
        ([{"a"}, ["a"]], "source lines are a list .* not a set, which has no order"),
    ],
)
def test_what_are_no_texts(texts, said):
    refused(InputError, said, edit_texts, *texts)


def test_long_texts():
    """What is cut: a document, another order of its parts, words that repeat, nothing in common."""
    lines = [
        f"in {number} cities he {'go' if number % 7 else 'goes'} to shop number {number}" for number in range(90)
    ]
    text = " ".join(lines).split()
    corrected = " ".join(lines).replace(" go ", " goes ").split()
    assert [edit.corrections for edit in extract_edits(text, corrected)] == [("goes",)] * 77
    for output in (
        corrected[400:] + corrected[:400],
        ["a", "b"] * 300,
        [f"w{number}" for number in range(700)],
        ["x"],
    ):
        for one, other in ((text, output), (output, text), (["a"] * 500, output)):
            edits = Annotation(0, extract_edits(one, other)).in_words()
            assert apply_edits(one, edits) == tuple(other)


@pytest.mark.parametrize(
    ("language", "source", "output", "kinds"),
    [
        ("cs", "Pes štěkal on jít domů včera a", "Pes , štěkal on šel včera domů", "M:PUNCT R:OTHER R:ORDER U:OTHER"),
        ("de", "Der katze schläft zu hause .", "Der Katze schläft zuhause !", "R:CASE R:SPACE R:PUNCT"),
        ("sv", "Jag har en stor hunden", "Jag har den stora hund", "R:OTHER R:STEM R:STEM"),
        ("cs", "velký pes , ano", "velcí pes ano", "R:OTHER U:PUNCT"),
    ],
)
def test_types_by_form(language, source, output, kinds):
    (segment,) = edit_texts([source], [output], language=language)
    assert " ".join(edit.kind for edit in segment.annotations[0].edits) == kinds
    assert " ".join(apply_edits(segment.source.split(), segment.annotations[0].in_words())) == output
    corpus = make_corpus([output], [output], [source])
    scores = correction_kinds(corpus, make_metric("errant"), "form", language)
    assert {score.kind: score.hits for score in scores if score.kind != "all"} == Counter(kinds.split())
    refused(InputError, "ERRANT is for English", edit_texts, [source], [output], language="cs", extraction="errant")
