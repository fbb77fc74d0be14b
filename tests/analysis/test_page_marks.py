"""What pages mark, against what the metrics count."""

from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analysis.test_corrections import GOLD, SYSTEMS

import softbleu
from softbleu.analysis import page_matches
from softbleu.analysis.page_marks import LEAST_HEAT, _edit_marks
from softbleu.analysis.pages import make_comparison_page, make_page
from softbleu.corpora import Segments
from softbleu.corpora.judgements import MarkedOutput, MarkedSpan, SpanTable
from softbleu.metrics.edits.judged import JudgedEdit, JudgedEdits
from softbleu.metrics.making import make_metric
from softbleu.metrics.shown import Mark, WordPair, marks_of_pairs
from softbleu.results.explain import explain_corpus

CORPUS = Segments.of_gold({name: SYSTEMS[name] for name in ("good", "mixed")}, GOLD)


def marks_of(page: Any, row: int, side: int | None = None) -> list[tuple[Any, ...]]:
    """Side, start, length, kind and label of the marks of a row."""
    shown = page.marks
    found = zip(shown.row, shown.side, shown.start, shown.length, shown.kind, shown.label, strict=True)
    return [
        (int(where), int(start), int(length), shown.kinds[kind], shown.labels[label])
        for at, where, start, length, kind, label in found
        if at == row and side in (None, where)
    ]


def test_edits_are_those_that_m2_counts() -> None:
    page = make_page(CORPUS, make_metric("m2", max_unchanged_words=0))
    assert [mark[1:4] for mark in marks_of(page, 2, 0)] == [(1, 1, "hit"), (2, 1, "wrong"), (6, 1, "over")]
    assert [mark for mark in marks_of(page, 2, 2) if mark[3] == "missed"] == [
        (2, 4, 0, "missed", "missed, Prep: 0 words should become “at”"),
        (2, 5, 1, "missed", "missed, Mec: 1 words should become “”"),
    ]
    for number, result in enumerate(page.results):
        kinds = Counter(mark[3] for row in (0, 1) for mark in marks_of(page, 2 * number + row, 0))
        assert kinds["hit"] == result.numbers.correct
        assert kinds.total() == result.numbers.proposed
    assert page.parts["gold"] == [[4.0, 1.0], [4.0, 0.0]]


@pytest.mark.parametrize("metric", ["chrf", "bleu", "ter"])
def test_given_spans_are_marked_in_words_as_written(metric: str) -> None:
    """A span that ends within a word marks it whole; it stands on the page of any metric."""
    text = "Ein  Haus, das brennt"
    spans = (MarkedSpan(5, 12, "major"), MarkedSpan(15, 15, ""))
    judges = SpanTable("judges", {"A": {0: [MarkedOutput("f, line 1", spans)]}})
    corpus = Segments.of({"A": [text]}, ["Ein Haus brennt"])
    page = make_page(corpus, make_metric(metric), spans=[judges])
    words = [page.text.words[code] for code in page.text.candidates[0].codes]
    marked = [(words[start : start + size], kind, said) for _, start, size, kind, said in marks_of(page, 0)]
    assert marked == [
        (["Haus", ",", "das"], "major", "major, by judges"),
        (["brennt"], "marked", "marked, by judges"),
    ]
    assert (page.plain, page.marks.title) == (False, "marked spans")
    (explained,) = explain_corpus(corpus, metric, [1], spans=[judges])
    assert [str(one) for one in explained.marked] == ["Ein  [major: Haus, d]as [marked: ]brennt"]


def test_edits_that_are_like_gold_edits_say_how_much() -> None:
    edits = JudgedEdit((1, 2, 1, 2), ("ate",), "hit", "Vform"), JudgedEdit((2, 3, 2, 3), ("the",), "over", "other")
    gold = (JudgedEdit((1, 2, 1, 2), ("eats",), "hit", "Vform"),)
    marks = list(_edit_marks(JudgedEdits(0, ("he", "eat", "a"), edits, gold, ((0, 0, 0.625),))))
    said = "hit, Vform: 1 words become “ate”; 0.62 of “eats”"
    assert marks[:2] == [(0, 1, 1, "hit", 0, said), (2, 1, 1, "hit", 0, said)]
    assert [mark[3] for mark in marks[2:]] == ["over", "over"]


@pytest.mark.parametrize("weight", [2.0, 0.5])
def test_columns_are_those_that_the_i_measure_counts(weight: float) -> None:
    page = make_page(CORPUS, make_metric("imeasure", weight=weight))
    shown: Any = page.marks
    for number, result in enumerate(page.results):
        chosen = shown.row // 2 == number
        columns = (shown.row, shown.link, shown.kind)
        links = Counter(shown.kinds[kind] for *_, kind in {*zip(*(each[chosen] for each in columns), strict=True)})
        numbers = result.numbers
        assert links["right"] == numbers.true_positives
        assert links["wrong"] == numbers.false_positives
        assert links["missed"] == numbers.false_negatives - numbers.both


def test_what_became_of_words_by_gleu() -> None:
    corpus = Segments.of(["the cat sits on on a mat"], [["the cat sits on the mat"]], ["the cat sit on a a mat"])
    page = make_page(corpus, make_metric("gleu", tokenize="none"))
    assert " ".join(mark[3] for mark in marks_of(page, 0)) == "kept kept corrected kept spoiled missed kept"


def test_the_alignment_is_that_of_meteor() -> None:
    corpus = Segments.of(["cats sat the mat"], [["nothing here", "the cat sat on mats"]])
    page = make_page(corpus, make_metric("meteor", stages="exact+stem"))
    texts = [["cats", "sat", "the", "mat"], ["nothing", "here", "the", "cat", "sat", "on", "mats"]]
    met: dict[int, list[str]] = {}
    shown: Any = page.marks
    for side, start, link in zip(shown.side, shown.start, shown.link, strict=True):
        met.setdefault(int(link), []).append(texts[side][start])
    assert sorted(met.values()) == [["cats", "cat"], ["mat", "mats"], ["sat", "sat"], ["the", "the"]]
    kinds = {mark[1:4] for mark in marks_of(page, 0, 0)}
    assert kinds == {(0, 1, "stem"), (1, 1, "exact"), (2, 1, "exact"), (3, 1, "stem")}


def test_similarities_are_those_that_precision_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {"a": [1.0, 0.1], "b": [0.9, 0.5], "c": [0.2, 1.0], "d": [0.5, 0.9]}
    corpus = Segments.of({"A": ["a c", "b"], "B": ["d d a", ""]}, [["b d", "c a b"], ["a c"]])
    measure = make_metric("softbleu", vectors=vectors, order=1, credit="greedy", rarity=0, tokenize="none")
    page = make_page(corpus, measure)
    heat: Any = page.heat
    assert heat.heights.tolist() == [2, 1, 3, 0]
    bounds = np.concatenate(([0], np.cumsum(heat.heights * heat.widths)))
    scores = softbleu.score_corpus(corpus, measure, level="segment")
    for row, (system, segment) in enumerate([(0, 0), (0, 1), (1, 0)]):
        table = heat.values[bounds[row] : bounds[row + 1]].reshape(heat.heights[row], heat.widths[row]) / 50
        assert table[table > 0].min() >= LEAST_HEAT - 0.01
        numbers = scores[system].segments[segment]
        assert table.max(axis=1).mean() * 100 == pytest.approx(numbers.precisions[0], abs=1.01)
        assert table.max(axis=0).mean() * 100 == pytest.approx(numbers.recalls[0], abs=1.01)
    assert [heat.labels[code] for code in heat.names[:2]] == ["a", "c"]
    # 5 words of candidates and 2 of a reference, then 1 and 2.
    monkeypatch.setattr(page_matches, "_MOST_PAIRS", 11)
    assert len(make_page(corpus, measure).text) == 1


@pytest.mark.parametrize("metric", ["chrf", "ter", "refless", "m2", "cleme2", "imeasure", "gleu", "softbleu", "bleu"])
def test_any_metric_has_a_page(metric: str) -> None:
    page = make_comparison_page(CORPUS, [make_metric(metric)])
    assert page.pair == (0, 1)
    assert page.segment_scores == [
        [one.score for one in each.segments] for each in softbleu.score_corpus(CORPUS, metric, level="segment")
    ]
    kinds = [table for table in page.tables if table.title == "Corrections by kind"]
    assert len(kinds) == (metric in ("m2", "cleme2"))
    assert all(row.keys() == table.rows[0].keys() for table in page.tables for row in table.rows)


def test_a_metric_from_outside_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The word error rate of the tutorial, which says by a method which words are right."""
    tutorial = Path(__file__).parents[2] / "docs" / "tutorial_metric"
    monkeypatch.syspath_prepend(str(tutorial))
    wer = import_module("softbleu_wer").WordErrorRate

    class Shown(wer):  # type: ignore[misc, valid-type]
        def pairs(self, chunk: Any, words: Any) -> Iterator[tuple[WordPair, ...]]:
            for line, other in zip(chunk.candidates.by_line(), chunk.references.by_line(), strict=True):
                places = [n for n, (one, two) in enumerate(zip(line, other, strict=False)) if one == two]
                yield tuple(WordPair("right", n, 1, 0, n, 1) for n in places)

        def marks(self, chunk: Any, words: Any) -> Iterator[list[Mark]]:
            return marks_of_pairs(chunk, self.pairs(chunk, words))

    texts = Segments.of(["he eats a apple", "it rains"], ["he eats an apple", "it rains"])
    assert make_page(texts, wer()).marks is None
    page = make_page(texts, Shown())
    assert marks_of(page, 0, 0) == [(0, place, 1, "right", "right") for place in (0, 1, 3)]
    assert len(marks_of(page, 1)) == 4
    (explained,) = explain_corpus(texts, Shown(), [1])
    assert [pair.kind for pair in explained.pairs or ()] == ["right"] * 3
