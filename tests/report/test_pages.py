"""Pages: what they show at each threshold, and what they mark, against what the metrics count."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from analysis.test_differences import CORRECTED, GOLD
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_encoder import MadeUpEncoder

import softbleu
import softbleu.analysis.matches
from softbleu.analysis import excerpt
from softbleu.analysis.buckets import shown_text
from softbleu.analysis.marks import LEAST_MATCH, LEAST_SHOWN, _edit_marks
from softbleu.corpora import Segments
from softbleu.corpora.judgements import MarkedOutput, MarkedSpan, SpanTable
from softbleu.engine.plan import resolve_metric
from softbleu.engine.prepare import prepare_corpus
from softbleu.metrics import Requirements
from softbleu.metrics.edits import JudgedEdit, JudgedEdits
from softbleu.metrics.protocols import CANDIDATE, SOURCE, Mark, WordPair, marks_of_pairs
from softbleu.metrics.reading import read_metric
from softbleu.report import Layout
from softbleu.report.pages import make_comparison_page, make_page
from softbleu.results.explain import explain_corpus
from softbleu.results.significance import SignificanceSettings
from softbleu.results.verdicts import headline, make_verdicts

ROWS = [[1.0, 0.0, 0.1], [0.9, 0.4, 0.0], [0.7, 0.7, 0.0], [0.0, 1.0, 0.3], [0.1, 0.2, 1.0]]
VECTORS = dict(zip("abcde", ROWS, strict=True))
LINES = st.lists(st.sampled_from([*VECTORS, "unknown"]), max_size=7).map(" ".join)
CORPORA = st.lists(st.tuples(LINES, LINES, st.lists(LINES, min_size=1, max_size=3)), min_size=1, max_size=4)
KINDS: list[dict[str, Any]] = [{"matcher": name} for name in ("vleu", "xleu", "sleu")]
KINDS += [{"matcher": "vleu", "assignment": "optimal"}, {"matcher": "xleu", "preset": "morgan2014"}]
KINDS += [{"matcher": "xleu", "vectors": MadeUpEncoder()}]
KINDS += [{"matcher": "vleu", "vectors": MadeUpEncoder(), "exact_words": "one"}]


def corpus_of(segments) -> Segments:
    one, two, references = zip(*segments, strict=True)
    return Segments.of({"one": one, "two": two}, references)


def made_at(page, number):
    alive = (page.matches.found.first <= number) & (number < page.matches.found.end)
    columns = (getattr(page.matches.found, field.name)[alive].tolist() for field in fields(page.matches.found)[:6])
    return sorted(zip(*columns, strict=True))


def literal_matches(page, corpus, chosen, threshold):
    """What the matcher says at one threshold, line by line."""
    prepared = prepare_corpus(corpus, chosen.tokenizer, Requirements())
    # The slider goes below a run's threshold of 1, at which nothing asks for vectors.
    vectors = prepared.table(chosen.vector_choice, replace(chosen.requires, vectors=True)).words.vectors
    matcher = replace(page.scores.metric.matcher, threshold=threshold)
    found = []
    for system, chunk in enumerate(shown_text(prepared, len(page.text)).chunks()):
        for segment in range(len(chunk)):
            alone = chunk.part(segment, segment + 1)
            for order, matches in enumerate(matcher.matches(alone, vectors, page.scores.metric.order), start=1):
                columns = (matches.starts, matches.matched, matches.partner_starts, matches.partner_orders)
                for start, mass, partner, partner_order in zip(*columns, strict=True):
                    if mass:
                        place = partner - len(alone.candidates.codes)
                        found.append((system * len(chunk) + segment, order, start, mass, place, partner_order))
    return sorted(tuple(map(int, entry)) for entry in found)


@pytest.mark.parametrize("kind", KINDS)
@given(segments=CORPORA, threshold=st.sampled_from([0.0, 0.777, 0.8, 1.0]))
@settings(max_examples=8)
def test_matches_at_a_threshold_are_those_of_the_matcher_and_add_up_to_its_masses(kind, segments, threshold):
    corpus = corpus_of(segments)
    chosen = resolve_metric(read_metric(**{"threshold": threshold, "vectors": VECTORS, **kind}))
    page = make_page(corpus, chosen)
    thresholds, run = page.matches.thresholds.values, page.matches.thresholds.run
    assert thresholds[run] == threshold
    numbers = {0, len(thresholds) // 2, run, len(thresholds) - 1}
    if chosen.vector_choice.in_context:
        # Where nothing is soft no vectors are looked at, and equal n-grams share their first place.
        numbers = {number for number in numbers if thresholds[number] < 1}
    for number, at in enumerate(thresholds):
        made = made_at(page, number)
        assert number not in numbers or made == literal_matches(page, corpus, chosen, at)
        # The statistics of the corpus are the other way to the same sums.
        sums = np.zeros(page.matches.clipped[:, number].shape, np.int64)
        for row, order, _, mass, *_ in made:
            sums[row // len(page.text), order - 1] += mass
        assert sums.tolist() == page.matches.clipped[:, number].tolist()


SEGMENTS = [("a b c", "d e", ["b b c", "a c"]), ("", "a", ["e"]), ("c d e a b", "c", ["d d e a b c"])]
CORPUS = corpus_of(SEGMENTS)
VLEU = read_metric(matcher="vleu", threshold=0.8, vectors=VECTORS)


def test_pages_have_the_threshold_of_the_run():
    swept = make_page(CORPUS, VLEU).matches.thresholds
    assert len(swept.values) == 101
    assert (swept.values[0], swept.values[swept.run], swept.values[-1]) == (0.0, 0.8, 1.0)
    odd = replace(VLEU, matcher=replace(VLEU.matcher, threshold=0.123456))
    swept = make_page(CORPUS, odd).matches.thresholds
    assert len(swept.values) == 102
    assert swept.values[swept.run] == 0.123456
    preset = read_metric(matcher="vleu", preset="morgan2014", consumption="similarity", vectors=VECTORS)
    assert make_page(CORPUS, preset).matches.thresholds.values == tuple(step / 20 for step in range(21))
    page = make_page(CORPUS, read_metric())
    thresholds = page.matches.thresholds
    assert thresholds.values == ()
    # "b c" of the first candidate; the second system's third candidate, "c".
    exact = {(row, order, start) for row, order, start, *_ in made_at(page, thresholds.run)}
    assert [each in exact for each in [(0, 1, 1), (0, 1, 2), (0, 2, 1), (5, 1, 0), (3, 1, 0)]] == [True] * 4 + [False]


def test_gleu_has_matches_and_no_slider():
    corpus = Segments.of(["a b d"], [["a c d", "b d"]], ["a a d"])
    page = make_page(corpus, read_metric("gleu", matcher="vleu", threshold=0.8, vectors=VECTORS))
    assert (page.matches.thresholds.values, page.text.tokens.source is None, page.scores.intervals[0] is None) == (
        (),
        False,
        False,
    )
    assert {(0, 1, 0), (0, 1, 2)} <= {
        (row, order, start) for row, order, start, *_ in made_at(page, page.matches.thresholds.run)
    }
    # Where it scores no corpus there is none.
    assert make_page(corpus, read_metric("gleu", multi="mean"), level="segment").scores.intervals == [None]


def test_a_long_segment_is_matched_at_the_run_s_threshold(monkeypatch):
    whole = make_page(CORPUS, VLEU)
    monkeypatch.setattr(softbleu.analysis.matches, "LONG_CELLS", 20)
    page = make_page(CORPUS, VLEU)
    # Only the first system's last candidate has 5 tokens, against 6.
    assert page.matches.too_long == [2]
    assert made_at(page, page.matches.thresholds.run) == made_at(whole, page.matches.thresholds.run)
    for number in (0, 50, 100):
        assert made_at(page, number) == [entry for entry in made_at(whole, number) if entry[0] != 2]


WRITTEN = ['It\'s the Cat, "Tom" — 3.5%!', "西索对土地，ABC 123。", "これは猫です。Really?", "แมวนั่งบนเสื่อ"]
WRITTEN += ["a  b\u3000c", "", "AT&amp;T", "مرحبا، كيف"]


@pytest.mark.parametrize("tokenize", ["none", "13a", "intl", "zh", "char", "char+space"])
@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_text_stands_as_it_was_written(metric: str, tokenize: str) -> None:
    """Words and blanks of a page put together give the lines; only entities are those of the tokens."""
    corpus = Segments.of({"A": WRITTEN, "B": WRITTEN[::-1]}, [[line, line[::-1]] for line in WRITTEN], WRITTEN)
    page = make_page(corpus, read_metric(metric, tokenize=tokenize, lowercase=True))
    lines = [[page.text.tokens.words[code] for code in text.codes] for text in page.text.tokens.lines]
    words, blanks = [word for text in lines for word in text], iter(page.text.blanks.tolist())
    written = [f"{' ' * bool(next(blanks))}{word}" for word in words]
    sizes = np.concatenate([text.lengths for text in page.text.tokens.lines])
    found = [" ".join("".join(part).split()) for part in np.split(np.array(written, object), np.cumsum(sizes)[:-1])]
    both = [text for line in WRITTEN for text in (line, line[::-1])]
    expected = [" ".join(line.split()) for line in (*WRITTEN, *WRITTEN[::-1], *both, *WRITTEN)]
    entities = ["AT&T" if tokenize in ("13a",) and metric == "bleu" else "AT&amp;T"]
    assert [line for line in found if "AT&" not in line] == [line for line in expected if "AT&" not in line]
    assert {line for line in found if line.startswith("AT&")} == set(entities)


@pytest.mark.parametrize(
    ("line", "tokenize", "language"),
    [("西索对土地", "none", "zh"), ("これは猫", "none", "ja"), ("a cat", "zh", "zh"), ("the cat", "13a", "")],
)
def test_a_page_has_a_language(line: str, tokenize: str, language: str) -> None:
    corpus = Segments.of({"A": [line]}, [line], ["a source in English"])
    page = make_page(corpus, read_metric("chrf", tokenize=tokenize))
    assert (page.text.language, page.text.plain) == (language, True)


EDITED = Segments.of_gold({name: CORRECTED[name] for name in ("good", "mixed")}, GOLD)


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
    page = make_page(EDITED, read_metric("m2", max_unchanged_words=0))
    assert [mark[1:4] for mark in marks_of(page, 2, 0)] == [(1, 1, "hit"), (2, 1, "wrong"), (6, 1, "over")]
    assert [mark for mark in marks_of(page, 2, 2) if mark[3] == "missed"] == [
        (2, 4, 0, "missed", "missed, Prep: 0 words should become “at”"),
        (2, 5, 1, "missed", "missed, Mec: 1 word should become “”"),
    ]
    for number, result in enumerate(page.scores.results):
        kinds = Counter(mark[3] for row in (0, 1) for mark in marks_of(page, 2 * number + row, 0))
        assert kinds["hit"] == result.numbers.correct
        assert kinds.total() == result.numbers.proposed
    assert page.scores.parts["gold"] == [[4.0, 1.0], [4.0, 0.0]]


@pytest.mark.parametrize("metric", ["chrf", "bleu", "ter"])
def test_given_spans_are_marked_in_words_as_written(metric: str) -> None:
    """A span that ends within a word marks it whole; it stands on the page of any metric."""
    spans = (MarkedSpan(5, 12, "major"), MarkedSpan(15, 15, ""))
    judges = SpanTable("judges", {"A": {0: [MarkedOutput("f, line 1", spans)]}})
    corpus = Segments.of({"A": ["Ein  Haus, das brennt"]}, ["Ein Haus brennt"])
    page = make_page(corpus, read_metric(metric), spans=[judges])
    words = [page.text.tokens.words[code] for code in page.text.tokens.candidates[0].codes]
    marked = [(words[start : start + size], kind, said) for _, start, size, kind, said in marks_of(page, 0)]
    major, other = (["Haus", ",", "das"], "major", "major, by judges"), (["brennt"], "marked", "marked, by judges")
    assert (marked, page.text.plain, page.marks.title) == ([major, other], False, "marked spans")
    (explained,) = explain_corpus(corpus, metric, [1], spans=[judges])
    assert [str(one) for one in explained.marked] == ["Ein  [major: Haus, d]as [marked: ]brennt"]


def test_edits_that_are_like_gold_edits_say_how_much() -> None:
    edits = JudgedEdit((1, 2, 1, 2), ("ate",), "hit", "Vform"), JudgedEdit((2, 3, 2, 3), ("the",), "over", "other")
    gold = (JudgedEdit((1, 2, 1, 2), ("eats",), "hit", "Vform"),)
    marks = list(_edit_marks(JudgedEdits(0, ("he", "eat", "a"), edits, gold, ((0, 0, 0.625),))))
    said = "hit, Vform: 1 word becomes “ate”; 0.62 of “eats”"
    assert marks[:2] == [(0, 1, 1, "hit", 0, said, 1.0), (2, 1, 1, "hit", 0, said, 1.0)]
    assert [mark[3] for mark in marks[2:]] == ["over", "over"]


@pytest.mark.parametrize("weight", [2.0, 0.5])
def test_columns_are_those_that_the_i_measure_counts(weight: float) -> None:
    page = make_page(EDITED, read_metric("imeasure", weight=weight))
    shown: Any = page.marks
    marks = {*zip(shown.row, shown.link, shown.kind, strict=True)}
    for number, result in enumerate(page.scores.results):
        links = Counter(shown.kinds[kind] for row, _, kind in marks if row // 2 == number)
        numbers = result.numbers
        assert links["right"] == numbers.true_positives
        assert links["wrong"] == numbers.false_positives
        assert links["missed"] == numbers.false_negatives - numbers.both


@pytest.mark.parametrize("metric", ["gleu", "green"])
def test_metrics_of_corrections_by_n_grams_show_edits(metric: str) -> None:
    corpus = Segments.of(["the cat sits on on a mat"], [["the cat sits on the mat"]], ["the cat sit on a a mat"])
    page = make_page(corpus, read_metric(metric, tokenize="none"))
    made = [mark[:4] for mark in marks_of(page, 0)]
    assert {(0, 2, 1, "hit"), (2, 2, 1, "hit")} <= {*made}
    assert [mark[:4] for mark in marks_of(make_page(corpus, read_metric("errant")), 0)] == made


def test_the_alignment_is_that_of_meteor() -> None:
    texts = ["cats sat the mat", "nothing here the cat sat on mats"]
    corpus = Segments.of(texts[:1], [["nothing here", "the cat sat on mats"]])
    page = make_page(corpus, read_metric("meteor", stages="exact+stem"))
    met: dict[int, list[str]] = {}
    shown: Any = page.marks
    for side, start, link in zip(shown.side, shown.start, shown.link, strict=True):
        met.setdefault(int(link), []).append(texts[side].split()[start])
    assert sorted(met.values()) == [["cats", "cat"], ["mat", "mats"], ["sat", "sat"], ["the", "the"]]
    kinds = {mark[1:4] for mark in marks_of(page, 0, 0)}
    assert kinds == {(0, 1, "stem"), (1, 1, "exact"), (2, 1, "exact"), (3, 1, "stem")}


def test_similarities_are_those_that_precision_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = {"a": [1.0, 0.1], "b": [0.9, 0.5], "c": [0.2, 1.0], "d": [0.5, 0.9]}
    corpus = Segments.of({"A": ["a c", "b"], "B": ["d d a", ""]}, [["b d", "c a b"], ["a c"]])
    measure = read_metric("softbleu", vectors=vectors, order=1, credit="greedy", rarity=0, tokenize="none")
    page = make_page(corpus, measure)
    heat: Any = page.similarities
    assert heat.heights.tolist() == [2, 1, 3, 0]
    bounds = np.concatenate(([0], np.cumsum(heat.heights * heat.widths)))
    scores = softbleu.score_corpus(corpus, measure, level="segment")
    for row, (system, segment) in enumerate([(0, 0), (0, 1), (1, 0)]):
        table = heat.values[bounds[row] : bounds[row + 1]].reshape(heat.heights[row], heat.widths[row]) / 50
        assert table[table > 0].min() >= LEAST_SHOWN - 0.01
        numbers = scores[system].segments[segment]
        assert table.max(axis=1).mean() * 100 == pytest.approx(numbers.precisions[0], abs=1.01)
        assert table.max(axis=0).mean() * 100 == pytest.approx(numbers.recalls[0], abs=1.01)
    assert [heat.labels[code] for code in heat.names[:2]] == ["a", "c"]
    # 5 words of candidates and 2 of a reference, then 1 and 2.
    monkeypatch.setattr(excerpt, "_MOST_PAIRS", 11)
    assert len(make_page(corpus, measure).text) == 1


@pytest.mark.parametrize("metric", ["chrf", "ter", "refless", "m2", "cleme2", "imeasure", "gleu", "softbleu", "bleu"])
def test_any_metric_has_a_page(metric: str) -> None:
    page = make_comparison_page(EDITED, [read_metric(metric)])
    assert page.pair == (0, 1)
    by_segment = softbleu.score_corpus(EDITED, metric, level="segment")
    assert page.scores.segments == [[one.score for one in each.segments] for each in by_segment]
    assert page.scores.segment_signature == by_segment[0].signature
    table = softbleu.compare_corpus(EDITED, metric)
    assert make_page(EDITED, read_metric(metric)).scores.intervals == [each.interval for each in table.comparisons]
    kinds = [table for table in page.tables if table.title.endswith(": corrections by kind")]
    assert len(kinds) == (metric in ("m2", "cleme2"))
    assert all(row.keys() == table.rows[0].keys() for table in page.tables for row in table.rows)


def test_a_page_without_references_marks_faults_and_words_that_are_gone() -> None:
    source = ["He recieve a letter from the school .", "It rains ."]
    texts = Segments.of({"one": ["He recieve a letter from the hospital .", "It rains ."]}, None, source)
    page = make_page(texts, "refless")
    found = {mark[:4] for mark in marks_of(page, 0)}
    assert {(CANDIDATE, 1, 1, "wrong"), (CANDIDATE, 6, 1, "over"), (SOURCE, 6, 1, "missed")} <= found


def test_page_of_a_comparison_has_the_intervals_of_its_samples() -> None:
    how = SignificanceSettings(samples=7, seed=3)
    page = make_comparison_page(EDITED, "gleu", significance=how)
    rows = softbleu.compare_corpus(EDITED, "gleu", significance=how).comparisons
    assert page.scores.intervals == [row.interval for row in rows]
    assert (page.scores.significance.samples, page.scores.significance.seed) == (7, 3)


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
    assert page.marks is not None
    assert page.marks.pairs
    assert marks_of(page, 0, 0) == [(0, place, 1, "right", "right") for place in (0, 1, 3)]
    assert len(marks_of(page, 1)) == 4
    (explained,) = explain_corpus(texts, Shown(), [1])
    assert [pair.kind for pair in explained.pairs or ()] == ["right"] * 3


def test_words_are_marked_by_their_partners() -> None:
    """The partners that `explain` shows, from the similarity at which they count as a match."""
    vectors = {"a": [1.0, 0.1], "b": [0.9, 0.5], "c": [-0.2, 1.0], "d": [0.5, 0.9]}
    corpus = Segments.of(["a c x", "b"], [["b d", "c a b"], ["a c"]])
    for metric in ("softbleu", "bertscore"):
        given: Any = vectors if metric == "softbleu" else MadeUpEncoder()
        measure = read_metric(metric, vectors=given)
        page = make_page(corpus, measure)
        assert page.marks is not None
        for row, one in enumerate(explain_corpus(corpus, measure, [1, 2])):
            expected = [(pair.start, pair.kind) for pair in one.pairs or () if (pair.similarity or 0) >= LEAST_MATCH]
            assert [(start, kind) for _, start, _, kind, _ in marks_of(page, row, 0)] == expected
            assert len(marks_of(page, row, 1)) == len(expected)


def test_soft_credit_is_shown_as_the_library_finds_it() -> None:
    vectors = {"dog": [0.9, 0.3], "dogs": [1.0, 0.2], "cat": [0.0, 1.0]}
    texts = ["a dog saw", "The cat"], ["a dogs saw", "the cat"]
    page = make_page(Segments.of(*texts), read_metric("vleu", order=1, vectors=vectors))
    credit = softbleu.soft_credit(*texts, metrics="vleu", order=1, vectors=vectors)
    soft, exact = (softbleu.score(*texts, metrics=name, order=1).score for name in (page.scores.metric, "bleu"))
    (gain,) = page.gains
    assert gain is not None
    assert (gain.exact, gain.added) == (exact, soft - exact)
    assert gain.parts == credit.points_by_kind("candidate", soft - exact)
    assert [part.example.candidate for part in gain.parts] == ["dog"]
    assert gain.by_order == [sum(pair.millionths for pair in credit.pairs)]
    assert [make_page(Segments.of(*texts), metric).gains for metric in ("bleu", "softbleu")] == [[], []]


def test_words_are_compared_once_for_similarities_and_partners(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus, compared = Segments.of({"A": ["a c", "b"], "B": ["d", "a"]}, ["b d", "a c"]), list[int]()
    measure = read_metric("softbleu", vectors={"a": [1.0, 0.1], "b": [0.9, 0.5]})
    tables = type(measure).tables

    def counted(metric: Any, chunk: Any, words: Any) -> Any:
        compared.append(len(chunk))
        return tables(metric, chunk, words)

    monkeypatch.setattr(type(measure), "tables", counted)
    page = make_page(corpus, measure)
    assert (sum(compared), page.marks is None, page.similarities is None) == (4, False, False)


def test_a_page_that_is_full_keeps_the_lines_that_differ_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each system beside the baseline; every number of the page belongs to its line."""
    words = ["a", "b", "c", "d", "e", "f", "g", "h"]
    rng = np.random.default_rng(3)
    systems = {
        name: [" ".join(rng.choice(words, 6)) + f" {name}{line}" for line in range(40)]
        for name in ("one", "two", "three")
    }
    references = [" ".join(rng.choice(words, 6)) for _ in range(40)]
    corpus = Segments.of(systems, references, [f"source {line}" for line in range(40)])
    monkeypatch.setattr("softbleu.report.pages.ROWS", 30)
    page = make_comparison_page(
        corpus, "chrf", baseline="two", significance=SignificanceSettings(samples=5, trials=5)
    )
    assert (len(page.text), page.text.segments) == (10, 40)
    scores = np.array(
        [[one.score for one in each.segments] for each in softbleu.score_corpus(corpus, "chrf", level="segment")]
    )
    shown = page.text.numbers
    assert shown.tolist() == sorted(shown)
    for system in (0, 2):
        apart = np.abs(scores[system] - scores[1])
        assert {*np.argsort(-apart)[:3].tolist()} <= {*shown.tolist()}
    assert page.scores.segments == scores[:, shown].tolist()
    lines = [[page.text.tokens.words[code] for code in line] for line in page.text.tokens.candidates[0].by_line()]
    assert [line[-1] for line in lines] == [f"one{number}" for number in shown]
    texts = page.text.tokens.references.by_line()
    assert [" ".join(page.text.tokens.words[code] for code in line) for line in texts] == [
        references[k] for k in shown
    ]
    assert page.differences is not None
    assert page.differences.counts.sum(axis=1).tolist() == [40] * 3
    better = page.differences.counts[0][len(page.differences.counts[0]) // 2 + 1 :].sum()
    assert better <= (scores[0] > scores[1]).sum()
    # Of a single system its worst lines stay.
    alone = make_page(corpus.only("one"), "chrf")
    assert alone.text.numbers.tolist() == sorted(np.argsort(scores[0], kind="stable")[:30].tolist())


def test_the_verdict_is_that_of_the_tests() -> None:
    corpus = Segments.of({"A": ["a b c d"] * 30, "B": ["a b x y"] * 30, "C": ["a b c d"] * 30}, [["a b c d"]] * 30)
    tables = softbleu.compare_corpus(corpus, ["chrf", "ter", "bleu"], baseline="A")
    verdicts = make_verdicts(tables, Layout())
    (worse,) = (row.beside for row in tables[0].comparisons if row.name == "B")
    assert worse is not None
    assert verdicts["B"].sentence == f"A is better than B by {-worse.difference:.2f} chrF"
    assert (verdicts["B"].wins, verdicts["B"].ties, verdicts["B"].losses) == (0, 0, 30)
    assert verdicts["B"].agreement == "TER and BLEU agree"
    assert verdicts["C"].sentence == "C and A cannot be told apart by chrF"
    assert verdicts["C"].agreement == "TER and BLEU show no significant difference either"
    said = "By chrF, B is worse than A and C cannot be told apart from it; TER and BLEU agree on both systems."
    assert headline(tables, Layout()) == said
    turned = make_verdicts(softbleu.compare_corpus(corpus, ["ter", "chrf"], baseline="B"), Layout())
    assert turned["A"].sentence.startswith("A is better than B by ")
    assert "lower TER is better" in turned["A"].facts
    assert turned["A"].agreement == "chrF agrees"


@pytest.mark.parametrize("metric", ["chrf", "bleu", "ter", "gleu", "vleu(vectors=none, similarity=spelling)"])
def test_the_effect_of_a_line_is_the_corpus_score_that_its_exchange_costs(metric: str) -> None:
    references = ["the cat sat on the mat", "a small dog", "it rained all night long", ""]
    systems = {
        "A": ["the cat sat on a mat", "a dog", "rain fell all night", "x"],
        "B": ["a cat lay on the mat", "a small dog", "it rained", ""],
        "C": references[::-1],
    }
    sources = [line.replace("a", "the") for line in references]
    page = make_comparison_page(
        Segments.of(systems, references, sources),
        metric,
        baseline="B",
        significance=SignificanceSettings(samples=5, trials=5),
    )

    def score(lines: list[str]) -> float:
        return softbleu.score_corpus(Segments.of({"X": lines}, references, sources), metric)[0].score

    exchanged = {
        name: [[*lines[:k], systems["B"][k], *lines[k + 1 :]] for k in range(4)] for name, lines in systems.items()
    }
    expected = [[score(lines) - score(other) for other in exchanged[name]] for name, lines in systems.items()]
    assert page.differences is not None
    np.testing.assert_allclose(page.differences.effects, expected, atol=1e-9)
    assert {round(effect, 3) for effect in page.differences.effects[1]} == {0.0}


@pytest.mark.parametrize(("wide", "step"), [(1.0, 0.1), (13.7, 2.0), (50.0, 5.0), (100.0, 10.0)])
def test_bars_of_a_histogram_begin_at_round_numbers(
    monkeypatch: pytest.MonkeyPatch, wide: float, step: float
) -> None:
    scores = np.array([[50.0] * 200, np.linspace(50 - wide, 50 + wide, 200)])
    monkeypatch.setattr("softbleu.report.pages.segment_numbers", lambda statistics: scores)
    corpus = Segments.of({"A": ["a"] * 200, "B": ["b"] * 200}, ["a b"] * 200)
    page = make_comparison_page(corpus, "chrf", significance=SignificanceSettings(samples=5, trials=5))
    assert page.differences is not None
    assert page.differences.step == step
    apart = scores[1] - scores[0]
    edges = [-np.inf, *(np.arange(-5, 0) * step), 0]
    worse = [int(((apart > low) & (apart <= high)).sum()) for low, high in pairwise(edges)]
    assert page.differences.counts[1].tolist() == [*worse, 0, *worse[::-1]]
