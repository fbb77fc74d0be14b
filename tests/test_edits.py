"""Edits found in texts: alignment and merge rules, beside ERRANT's edits on CoNLL-2014, and as .m2 files."""

from collections import Counter
from itertools import pairwise

import pytest
from cli.conftest import command
from hypothesis import given
from hypothesis import strategies as st
from oracles.edits import cheapest_steps
from refusing import refused
from shared_data import shared
from tables import each_row

import softbleu
from softbleu import InputError
from softbleu.analysis import correction_kinds
from softbleu.corpora.corpus import make_corpus
from softbleu.corpora.edits import Annotation, apply_edits
from softbleu.metrics.edits import alignment_steps, edit_texts, extract_edits, rules_of, substitution_costs
from softbleu.metrics.reading import read_metric

__all__ = ["command"]

WORDS = st.lists(
    st.sampled_from(["the", "The", "to", "is", "was", "depends", "depend", "will", "a", ",", "'s", "a-s", "x"])
)
CHARACTERS = st.lists(st.sampled_from([*"我我们昨天去了，。", "我们", "昨天", "天去"]))


def found(source, output, language=None):
    """Edits as source words, and the words in their place."""
    words = source.split()
    edits = extract_edits(words, output.split(), language)
    return [f"{' '.join(words[edit.start : edit.end])} > {edit.corrections[0]}".strip() for edit in edits]


@each_row("edits.toml", "source", "output", "edits", kinds=None, language=None)
def test_edits_are_aligned_merged_and_typed_by_the_rules_of_a_language(source, output, edits, kinds, language):
    for code in [language] if language else [None, "en-GB"]:
        assert found(source, output, code) == edits
    if kinds is not None:
        (segment,) = edit_texts([source], [output], language=language)
        assert [edit.kind for edit in segment.annotations[0].edits] == kinds
        corpus = make_corpus([output], [output], [source])
        scores = correction_kinds(corpus, read_metric("errant"), "form", language)
        assert {score.kind: score.hits for score in scores if score.kind != "all"} == Counter(kinds)


def test_stems_of_a_language_align_its_words():
    costs = [substitution_costs(["Bäume"], ["Baum"], rules_of(code)) for code in ("de-AT", "cs", None)]
    assert [round(cost, 3) for ((cost,),) in costs] == [0.333, 0.832, 0.832]


@given(
    st.tuples(WORDS, WORDS, st.sampled_from([None, "de", "cs"])) | st.tuples(CHARACTERS, CHARACTERS, st.just("zh"))
)
def test_alignment_is_that_of_its_definition_and_its_edits_make_the_text(texts):
    source, output, language = texts
    rules = rules_of(language)
    steps = cheapest_steps(source, output, lambda word, other: substitution_costs([word], [other], rules)[0][0])
    assert alignment_steps(tuple(source), tuple(output), rules) == steps
    (segment,) = edit_texts([" ".join(source)], [" ".join(output)], language=language)
    edits = segment.annotations[0].in_words()
    made = apply_edits(source, edits)
    # Words of Chinese that are cut otherwise are no edit.
    assert made == tuple(output) or (language == "zh" and "".join(made) == "".join(output))
    assert all(one[1] <= other[0] for one, other in pairwise(edits))
    # What is equal is no edit's end.
    assert all(source[start:end] != list(words) for start, end, words in edits)


@each_row("golden/errant.toml", "texts", "annotator", "bounds", "edits", "ours", "theirs")
def test_edits_of_conll_are_those_of_errant(texts, annotator, bounds, edits, ours, theirs):
    counts, numbers = [bounds, edits, ours, theirs], [0] * 4
    for segment in softbleu.read_m2(str(shared("data", "conll14", "errant", f"{texts}.m2"))):
        (theirs,) = [each.in_words() for each in segment.annotations if each.annotator == annotator]
        words = segment.source.split()
        ours = Annotation(0, extract_edits(words, apply_edits(words, theirs))).in_words()
        spans = {edit[:2] for edit in ours} & {edit[:2] for edit in theirs}
        for place, number in enumerate((len(spans), len({*ours} & {*theirs}), len(ours), len(theirs))):
            numbers[place] += number
    assert numbers == counts


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
def test_texts_that_cannot_be_compared_are_refused(texts, said):
    refused(InputError, said, edit_texts, *texts)
    refused(InputError, "ERRANT is for English", edit_texts, *texts, language="cs", extraction="errant")


def test_edits_of_chinese_are_merged_as_one_says(command, tmp_path):
    texts = [tmp_path / name for name in ("source", "output")]
    for path, text in zip(texts, ("我们去学校。", "他俩去学校。"), strict=True):
        path.write_text(f"{text}\n", encoding="utf-8")
    for options, number in (((), 1), (("--merging", "cherrant"), 1), (("--merging", "errant"), 2)):
        made = command("edits", *texts, "--language", "zh", *options, "--quiet")
        assert made.out.count("\nA ") == number
    assert "is for Chinese" in command("edits", *texts, "--language", "de", "--merging", "cherrant").err
    refused(InputError, "is for Chinese", edit_texts, [], [], extraction="errant", merging="cherrant")


def test_edits_of_long_texts_make_the_text():
    """What is cut: a document, another order of its parts, words that repeat, nothing in common."""
    verbs = ["go" if number % 7 else "goes" for number in range(90)]
    line = " ".join(f"in {number} cities he {verb} to shop number {number}" for number, verb in enumerate(verbs))
    text, corrected = line.split(), line.replace(" go ", " goes ").split()
    assert [edit.corrections for edit in extract_edits(text, corrected)] == [("goes",)] * 77
    turned, others = corrected[400:] + corrected[:400], [f"w{number}" for number in range(700)]
    for output in (turned, ["a", "b"] * 300, others, ["x"]):
        for one, other in ((text, output), (output, text), (["a"] * 500, output)):
            edits = Annotation(0, extract_edits(one, other)).in_words()
            assert apply_edits(one, edits) == tuple(other)
    repeated, changed = ["a", *["b", "a"] * 299, "b"], ["x", *["b", "a"] * 299, "y"]
    assert [edit.corrections for edit in extract_edits(repeated, changed)] == [("x",), ("y",)]
