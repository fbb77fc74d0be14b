"""M2 and I-measure equal their literal versions on anything small, and keep their laws on anything else."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import imeasure as imeasure_oracle
from oracles import m2 as m2_oracle

from softbleu.corpora.edits import Coded, CodedGold, apply_edits
from softbleu.kernels import choose_kernels
from softbleu.matching.ngrams import Chunk, TokenVectors, WordTable
from softbleu.metrics import imeasure
from softbleu.metrics.imeasure import Band, IMeasure, align_columns, count_alignment
from softbleu.metrics.m2 import find_edits
from softbleu.metrics.m2.lattice import EditTables, Excerpt, LatticeTooLargeError, match_edits
from softbleu.metrics.m2.metric import M2
from softbleu.text.coded import Tokens

words = st.lists(st.integers(0, 3), max_size=7).map(tuple)


@st.composite
def edited(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], Coded]:
    """A source, a candidate and gold edits in order."""
    source, candidate = draw(words), draw(words)
    if draw(st.booleans()):
        cut = draw(st.integers(0, len(source)))
        candidate = (*source[:cut], *candidate[:2], *source[cut + draw(st.integers(0, 2)) :])
    starts = sorted(draw(st.lists(st.integers(0, len(source)), max_size=3)))
    corrections = st.lists(st.lists(st.integers(0, 3), max_size=2).map(tuple), min_size=1, max_size=2).map(tuple)
    gold = tuple(
        (start, draw(st.integers(start, min(start + 2, len(source)))), draw(corrections)) for start in starts
    )
    return source, candidate, gold


def as_text(numbers: Sequence[int]) -> list[str]:
    return [f"w{number}" for number in numbers]


def counted(source: tuple[int, ...], candidate: tuple[int, ...], gold: Coded, most: int = 2) -> tuple[int, int]:
    """Edits of a candidate that are gold edits, and all."""
    (edits,) = find_edits(source, candidate, [gold], most)
    return len(match_edits(edits, gold)), len(edits)


def as_gold(gold: Coded) -> list[m2_oracle.Gold]:
    return [(start, end, tuple(" ".join(as_text(text)) for text in texts)) for start, end, texts in gold]


some = st.lists(st.integers(0, 9), max_size=6)


@given(edited(), some, some, st.integers(0, 4))
def test_edits_are_counted_as_by_the_literal_scorer(case, ahead, behind, most_unchanged):
    """Also where texts begin and end alike, which is left out of lattices."""
    (source, candidate), gold = ((*ahead, *text, *behind) for text in case[:2]), case[2]
    gold = tuple((start + len(ahead), end + len(ahead), texts) for start, end, texts in gold)
    expected = m2_oracle.Graph(as_text(source), as_text(candidate), most_unchanged).counts(as_gold(gold))
    whole, excerpt = (make(source, candidate, most_unchanged) for make in (Excerpt.whole, Excerpt.of))
    edits = whole.edits_towards(gold)
    assert (len(match_edits(edits, gold)), len(edits), len(gold)) == expected
    assert excerpt.size == whole.size
    if source != candidate:
        assert find_edits(source, candidate, [gold], most_unchanged) == [edits]
        if not any(source[start:end] in texts for start, end, texts in gold if start < end):
            assert excerpt.edits_towards(gold) == edits


# Cosines of these, and so all sums, are exact; words from 3 have no vector.
ROWS = np.array([[1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5], [0, 1, 0, 0], *[[0] * 4] * 3], np.float32)
TABLE = WordTable(TokenVectors(ROWS, np.array([1.0, 1, 1, 0, 0, 0])))


@st.composite
def nearly_gold(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...], Coded]:
    """A source, a candidate of one or two edits, and gold edits of the same or overlapping words."""
    source = tuple(draw(st.lists(st.sampled_from([3, 3, 4, 5, 0]), min_size=2, max_size=6)))
    own, gold, place = list[tuple[int, int, tuple[int, ...]]](), list[Any](), 0
    some = st.lists(st.integers(0, 2), max_size=2).map(tuple)
    for _ in range(draw(st.integers(1, 2))):
        start, end = sorted(draw(st.lists(st.integers(place, len(source)), min_size=2, max_size=2)))
        own.append((start, end, draw(some)))
        first = draw(st.integers(max(place, start - 1), start))
        place = draw(st.integers(max(first, end - 1), min(end + 1, len(source))))
        gold.append((first, place, tuple(draw(st.lists(some, min_size=1, max_size=2)))))
        place = max(place, end)
    return source, apply_edits(source, own), tuple(gold)


@given(edited() | nearly_gold(), st.integers(0, 3), st.sampled_from([0.0, 0.4, 0.5, 0.7, 1.0]))
@example(((3, 4, 5), (0, 4, 5), ((0, 2, ((0,),)),)), 0, 0.5)
@settings(max_examples=80)
def test_credit_of_similar_edits_is_that_of_the_literal_scorer(case, most_unchanged, threshold):
    source, candidate, gold = case
    cosines = np.maximum(ROWS.astype(np.float64) @ ROWS.T, np.eye(6))
    texts, graph = as_gold(gold), m2_oracle.Graph(as_text(source), as_text(candidate), most_unchanged)
    lines = [Tokens(np.array(text, np.int32), np.array([0, len(text)])) for text in (candidate, (), source)]
    chunk = Chunk(lines[0], lines[1], np.array([0, 1]), lines[2], [CodedGold((0,), (gold,), not gold)])
    metric = M2(threshold=threshold, max_unchanged_words=most_unchanged)
    (row,) = metric.statistics(chunk, TABLE, choose_kernels("numpy"))
    if threshold == 1.0:
        expected = graph.counts(texts)[:2]
    else:
        expected = m2_oracle.soft_counts(
            graph, texts, lambda *words: cosines[int(words[0][1]), int(words[1][1])], threshold
        )
    credit, proposed = expected if source != candidate else (0, 0)
    right = proposed == len(gold) and credit == proposed * (1 if threshold == 1.0 else 1_000_000)
    assert tuple(row) == (credit, proposed, len(gold), 0, 1, not gold, not gold and proposed > 0, right)


@given(edited(), st.integers(0, 3))
def test_edits_make_the_candidate_of_the_source_and_tables_need_as_few(case, most_unchanged):
    """Without gold edits; the lattice may have more: there some arcs weigh twice."""
    source, candidate, gold = case
    graphs = Excerpt.whole(source, candidate, most_unchanged), EditTables(source, candidate, most_unchanged)
    for graph in graphs:
        assert apply_edits(source, graph.edits_towards(gold)) == candidate
    in_lattice, in_table = (graph.edits_towards(()) for graph in graphs)
    assert len(in_table) <= len(in_lattice)
    assert (not in_table) == (source == candidate)


@given(st.lists(st.integers(0, 30), min_size=3, max_size=9, unique=True), st.data())
def test_a_single_replacement_is_one_correct_edit_in_tables_and_lattice(source, data):
    """Also of a gold edit that begins with an unchanged word."""
    place = data.draw(st.integers(0, len(source) - 1))
    start = data.draw(st.integers(max(0, place - 1), place))
    candidate, edit = (*source[:place], 99, *source[place + 1 :]), (*source[start:place], 99)
    for graph in (Excerpt.whole(tuple(source), candidate, 2), EditTables(tuple(source), candidate, 2)):
        assert graph.edits_towards(((start, place + 1, (edit,)),)) == [(start, place + 1, edit)]


@pytest.mark.parametrize("graph", [Excerpt.whole, EditTables])
def test_an_edit_has_no_more_unchanged_words_than_may_be(graph):
    source, candidate = (1, 5, 6, 7, 2), (3, 5, 6, 7, 4)
    gold = ((0, 5, (candidate,)),)
    assert graph(source, candidate, 3).edits_towards(gold) == [(0, 5, candidate)]
    assert len(graph(source, candidate, 2).edits_towards(gold)) == 2


counts = st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4)).map(
    lambda row: (min(row), max(row[1], min(row)), max(row[2], min(row)))
)


@given(st.lists(st.lists(counts, min_size=1, max_size=3), min_size=1, max_size=8), st.sampled_from((0.5, 1.0, 2.0)))
def test_annotators_are_chosen_as_by_the_literal_scorer(segments, beta):
    rows = np.array([(*row, number) for segment in segments for number, row in enumerate(segment)])
    offsets = np.concatenate(([0], np.cumsum([len(segment) for segment in segments])))
    running = M2(beta).aggregation.chosen(rows, offsets) - offsets[:-1]
    assert running.tolist() == m2_oracle.running_choice(segments, beta)
    best = M2(beta, annotators="best").aggregation.chosen(rows, offsets) - offsets[:-1]
    assert best.tolist() == [m2_oracle.running_choice([segment], beta)[0] for segment in segments]
    chosen = rows[M2(beta).aggregation.chosen(rows, offsets), :3].sum(axis=0).tolist()
    score = M2(beta).aggregation.score(rows, offsets)
    assert score.score == pytest.approx(100 * m2_oracle.f_measure(*chosen, beta), abs=1e-12)
    each = [M2(beta).score(row).score for row in rows]
    assert M2(beta).columns(rows).score.tolist() == pytest.approx(each, abs=1e-12)


REPEATED = {
    "shorter": ((0,) * 200, (0,) * 150),
    "others": ((0,) * 200, (1,) * 200),
    "alternating": ((0,) * 200, (0, 1) * 100),
    "all new": (tuple(range(200)), tuple(range(200, 400))),
    "from nothing": ((), (0, 1) * 100),
    "to nothing": ((0, 1) * 100, ()),
}


@pytest.mark.parametrize("name", [name for name in REPEATED if name != "others"])
def test_a_line_of_200_repeated_words_is_counted(name):
    source, candidate = REPEATED[name]
    gold = ((0, 0, ((1,), (0, 1))), (min(5, len(source)), min(7, len(source)), ((1,),)))
    correct, proposed = counted(source, candidate, gold)
    assert 0 <= correct <= 2
    assert proposed >= 1
    counts = count_alignment((source, candidate, source[::-1][:190]))
    assert sum(counts) >= max(len(source), len(candidate))


def test_a_lattice_too_large_to_list_is_counted_in_tables():
    source, candidate = REPEATED["others"]
    with pytest.raises(LatticeTooLargeError):
        Excerpt.whole(source, candidate, 2)
    assert counted(source, candidate, ((0, 200, ((1,) * 200,)),)) == (1, 1)
    assert counted(source, candidate, ()) == (0, 1)


@given(words, words, words, words, words, st.booleans())
@example((2,), (0, 2), (0,), (), (), False)
def test_columns_are_counted_as_by_the_literal_alignment(source, candidate, reference, start, end, alike):
    """Also where texts begin and end alike; by tables as by search."""
    triple = (source, candidate, reference)
    if alike:
        triple = tuple((*start[:5], *text[:4], *end[:5]) for text in triple)
    expected = imeasure_oracle.counts_of([as_text(text) for text in triple])
    assert tuple(count_alignment(triple)) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imeasure, "find_costs", lambda _: None)
        assert tuple(count_alignment(triple)) == expected


def test_a_long_common_beginning_moves_columns_alone():
    triple, begun = ((0, 1, 2), (0, 3, 2), (0, 4, 2, 5)), tuple(range(100, 300))
    columns = [
        (tuple(None if index is None else index + len(begun) for index in indices), kinds)
        for indices, kinds in align_columns(triple)
    ]
    same = [((place,) * 3, (imeasure.TRUE_NEGATIVE,)) for place in range(len(begun))]
    assert align_columns(tuple((*begun, *text) for text in triple)) == [*same, *columns]


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_long_insertions_are_spread_word_by_word(first, second, third):
    triple = tuple(tuple(range(10, 10 + length)) for length in (first, second, third))
    band = Band(triple)
    shortest, middle, longest = sorted((first, second, third))
    assert band.cost((first, second, third)) == 4 * (longest - shortest), middle


@given(words, words, st.lists(words, min_size=1, max_size=3))
def test_the_best_reference_and_its_ratios(source, candidate, references):
    texts = [as_text(text) for text in references]
    number, counts, base = imeasure_oracle.best_reference(as_text(source), as_text(candidate), texts)
    both = [[count_alignment((source, text, other)) for text in (candidate, source)] for other in references]
    rows = np.array([[*own, same[1], same[3]] for own, same in both])
    offsets = np.array([0, len(references)])
    assert tuple(rows[number, :5]) == counts
    (score,) = IMeasure().aggregation.segment_scores(rows, offsets)
    expected = 100 * float(imeasure_oracle.improvement(counts, base, 2))
    assert score.score == pytest.approx(expected, abs=1e-9)
    assert IMeasure().columns(rows).score[number] == pytest.approx(expected, abs=1e-9)
    assert -100 <= score.score <= 100
