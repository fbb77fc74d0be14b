"""Types of English edits by rules, beside ERRANT's on CoNLL-2014."""

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared
from strategies import HOSTILE_WORDS
from tables import each_row

from softbleu.corpora.edits import apply_edits, read_m2
from softbleu.metrics.edit_types import rule_types
from softbleu.metrics.edits import edit_texts, extract_edits, form_types, placed
from softbleu.metrics.word_tags import Tag, Tagger, features, lancaster_stem, tag_words, windows

CLASSIFY = rule_types()
WORDS = st.lists(HOSTILE_WORDS | st.sampled_from(["to", "the", "has", "'s", "not", "goes", "Going", "a/b", "x-y"]))


@each_row("edit_types.toml", "source", "output", "types")
def test_edits_have_types_by_the_rules(source: str, output: str, types: list[str]) -> None:
    source, output = source.split(), output.split()
    edits = [(edit.start, edit.end, tuple(edit.corrections[0].split())) for edit in extract_edits(source, output)]
    assert CLASSIFY(source, output, list(placed(edits))) == types


def test_edits_of_texts_get_types_by_rules_or_by_form() -> None:
    texts = ["two apple now a days"], ["two apples nowadays"]
    for types, expected in ((CLASSIFY, ["R:NOUN:NUM", "R:ORTH"]), (form_types("en"), ["R:STEM", "R:SPACE"])):
        (segment,) = edit_texts(*texts, types=types)
        assert [edit.kind for edit in segment.annotations[0].edits] == expected


@given(WORDS, WORDS)
def test_any_edit_has_a_type_of_its_operation(source: list[str], output: list[str]) -> None:
    (kind,) = CLASSIFY(source, output, [(0, len(source), 0, len(output))]) if source or output else ["UNK"]
    assert kind == "UNK" or kind[:2] in ("M:", "U:", "R:")
    assert (kind == "UNK") == (source == output)
    assert len(tag_words(tuple(source))) == len(source)


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("They make use of it", "PRON VERB NOUN PREP PRON"),
        ("The use helps us", "DET NOUN VERB PRON"),
        ("I want to help people who need it", "PRON VERB PART VERB NOUN PRON VERB PRON"),
        ("Social media sites improve the skill", "ADJ NOUN NOUN VERB DET NOUN"),
        ("He turned off the light .", "PRON VERB PART DET NOUN PUNCT"),
    ],
)
def test_words_have_parts_of_speech_by_their_place(sentence: str, parts: str) -> None:
    assert " ".join(word.part for word in tag_words(tuple(sentence.split()))) == parts


@pytest.mark.parametrize(
    ("stem", "words"),
    [
        # Of the rules as published, and of ERRANT 3.0.2's stemmer
        *(("maxim", "maximum"), ("presum", "presumably"), ("multiply", "multiply"), ("provid", "provision")),
        *(("ow", "owed"), ("ear", "ear"), ("say", "saying"), ("string", "string"), ("cem", "cement")),
        *(
            ("act", "acted action actors"),
            ("competit", "competition competitive"),
            ("org", "organization organisation"),
        ),
        *(("", ""), ("a-b", "a-b"), ("st", "st"), ("éta", "étas")),
    ],
)
def test_words_have_the_stems_of_lancaster(stem: str, words: str) -> None:
    assert {lancaster_stem(word) for word in words.split() or [""]} == {stem}


@given(WORDS, st.integers(0, 99))
def test_a_tag_has_the_greatest_sum_of_the_weights_of_known_features(words: list[str], seed: int) -> None:
    usual, draw = {"to": "TO", "~oes": "~VBZ"}, np.random.default_rng(seed)
    shown = [features(window, usual) for window in windows(words)]
    known = sorted({feature for word in shown for feature in word})[::2] or ["0 a"]
    tags = (Tag("NN"), Tag("VB", "a"), Tag("PUNCT"))
    weights = draw.integers(-9, 10, (len(known) + 1, len(tags)), np.int8)
    weights[-1] = 0  # Of features that are not known
    tagger = Tagger(tags, usual, {feature: row for row, feature in enumerate(known)}, weights)
    found = []
    for word in shown:
        rows = [weights[known.index(feature)].tolist() for feature in word if feature in known]
        sums = [sum(row[number] for row in rows) for number in range(len(tags))]
        found.append(tags[sums.index(max(sums))])
    assert tagger.tag(words) == found
    with TemporaryDirectory() as folder:
        tagger.write(Path(folder, "tagger.npz"))
        read = Tagger.read(Path(folder, "tagger.npz"))
    assert (read.tags, read.usual, read.rows, read.weights.tolist()) == (tags, usual, tagger.rows, weights.tolist())


FITTED = ("AMU", "CAMB", "CUUI")
ASIDE = ("IITB", "IPN", "PKU", "RAC", "SJTU", "UFC")


def agreement(name: str, annotator: int = 0) -> Counter[bool]:
    """Count the edits of a file that have ERRANT's main type by rules, and that have not."""
    same = Counter[bool]()
    for segment in read_m2(str(shared("data", "conll14", "errant", f"{name}.m2"))):
        annotation, source = segment.annotations[annotator], segment.source.split()
        edits = annotation.in_words()
        kinds = CLASSIFY(source, apply_edits(source, edits), list(placed(edits)))
        pairs = ((one, edit.kind) for one, edit in zip(kinds, annotation.edits, strict=True) if edit.kind != "UNK")
        same.update(one.partition(":")[2] == other.partition(":")[2] for one, other in pairs)
    return same


@pytest.mark.parametrize(
    ("files", "share"),
    [
        ([*((name, 0) for name in FITTED), ("references", 0)], 0.94),
        ([*((name, 0) for name in ASIDE), ("references", 1)], 0.93),
    ],
)
def test_types_are_those_of_errant_on_conll_2014(files: list[tuple[str, int]], share: float) -> None:
    """The rules are ERRANT's, over the tags of the tagger, which learned from other texts."""
    same = sum((agreement(*file) for file in files), Counter[bool]())
    assert share < same[True] / same.total() < share + 0.015
