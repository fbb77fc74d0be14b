"""Spelling correction: SIGHAN's figures of sentences, and precision and recall by character."""

from itertools import starmap

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import each_row

import softbleu
from softbleu.corpora.edits import Annotation, Edit, GoldSegment

SHARES = ("accuracy", "precision", "recall", "f1")
SENTENCE = "一二三四五六七八九十百千万" * 5
TEXTS = st.lists(
    st.tuples(*[st.sampled_from(["我们去学校", "他门很高兴", "它们很高性", "他们很高兴"])] * 3), min_size=1
)


def spelling(output, reference, source, **settings):
    how = {"metrics": "errant", "language": "zh", "merging": "spelling", "beta": 1.0, **settings}
    return softbleu.score(output, reference, source, **how).numbers


def sentence_figures(score):
    assert score.correct_sentences == score.correction_accuracy
    figures = (getattr(score, f"{what}_{name}") for what in ("detection", "correction") for name in SHARES)
    return [score.false_alarms, *figures]


@each_row("golden/spelling.toml", "gold", "output", "expected")
def test_published_samples_have_the_figures_of_their_programs(gold, output, expected):
    sides = []
    for side in (gold, output):
        sides.append([[*SENTENCE] for _ in side])
        for text, changes in zip(sides[-1], side, strict=True):
            for change in changes.split():
                text[int(change[:-1]) - 1] = change[-1]
    reference, outputs = (list(map("".join, side)) for side in sides)
    score = spelling(outputs, reference, [SENTENCE] * len(gold))
    assert sentence_figures(score) == pytest.approx([100 * share for share in expected], abs=0.005)


def f1(right, proposed, wanted):
    precision, recall = right / proposed if proposed else 0.0, right / wanted if wanted else 0.0
    both = precision + recall
    return [100 * precision, 100 * recall, 200 * precision * recall / both if both else 0.0]


@given(TEXTS)
def test_texts_of_one_length_are_compared_place_by_place(texts):
    """A literal twin, after pycorrector 1.1.4: its `eval_model_batch`, and its counts of characters as in FASPell."""
    source, reference, output = map(list, zip(*texts, strict=True))

    def places(one, other):
        return {place for place, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1]}

    wanted, made = (list(starmap(places, zip(source, side, strict=True))) for side in (reference, output))
    sides = list(zip(wanted, made, strict=True))
    alarms, faulty = sum(bool(own) and not gold for gold, own in sides), sum(map(bool, wanted))
    left = len(sides) - faulty - alarms
    detected = sum(gold == own for gold, own in sides if gold)
    corrected = sum(one == other for one, other, gold in zip(reference, output, wanted, strict=True) if gold)
    expected = [100 * alarms / (len(sides) - faulty) if faulty < len(sides) else None]
    for found in (detected, corrected):
        expected += [100 * (found + left) / len(sides), *f1(found, found + alarms, faulty)]
    score = spelling(output, reference, source)
    assert sentence_figures(score) == [one if one is None else pytest.approx(one) for one in expected]
    both = [(row, place) for row, (gold, own) in enumerate(sides) for place in gold & own]
    right = sum(reference[row][place] == output[row][place] for row, place in both)
    counts = [sum(map(len, side)) for side in (made, wanted)]
    for hits, counting in ((right, "correction"), (len(both), "span")):
        found = spelling(output, reference, source, counting=counting)
        assert [found.true_positives, found.false_positives] == [hits, counts[0] - hits]
        assert found.false_negatives == counts[1] - hits


def test_sentences_are_right_whatever_edits_make_them():
    """Of gold edits by hand an output has others; M2 and ERRANT have the same sentences."""
    edits = (Edit(1, 3, "X", ("eats an",)),)
    gold = [GoldSegment("he eat a apple", (Annotation(0, own),)) for own in (edits, (), (), edits)]
    texts = ["he eats an apple", "he eat a apple", "he eats a apple", "he eat an apple"]
    for metric in ("errant", "m2", "m2(threshold=0.5)"):
        score = softbleu.score(texts, gold=gold, metrics=metric).numbers
        assert (score.correct_sentences, score.false_alarms) == (50.0, 50.0)
    assert softbleu.score(texts[:1], gold=gold[:1], metrics="m2").numbers.false_alarms is None


def test_changed_words_are_edits_of_their_own_where_lengths_differ():
    score = softbleu.score(["he goes to the shop"], ["he goes to shops"], ["he go shops"], metrics="errant")
    apart = spelling(["he goes to the shop"], ["he goes to shops"], ["he go shops"], language="en")
    assert (apart.true_positives, apart.false_positives, apart.false_negatives) == (2, 2, 0)
    assert score.numbers.detection_f1 is None
    assert "merging:spelling" in softbleu.score(["a"], ["a"], ["a"], metrics="errant", merging="spelling").signature
