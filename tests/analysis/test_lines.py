"""Lines and n-grams that differ, against all of them sorted and counted."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import softbleu
from softbleu.analysis import choose_lines, ngram_differences
from softbleu.corpora import Segments
from softbleu.corpora.edits import Annotation, Edit, GoldSegment
from softbleu.text.tokenizers import Whitespace

REFERENCES = ["a cat sat", "it is late", "who are you", "nothing", "a dog barked"]
SYSTEMS = {
    "A": ["a cat sat", "it was late", "you are who", "", "a dog"],
    "B": ["a dog sat", "it is late", "who", "nothing", "dogs barked"],
    "C": ["cat", "late", "who are you", "none", "a dog barked"],
}
CORPUS = Segments.of(SYSTEMS, REFERENCES)


def scores(metric: str) -> dict[str, list[float]]:
    found = softbleu.score(SYSTEMS, REFERENCES, metric=metric, level="segment")
    return {each.name: [one.score for one in each.segments] for each in found}


@pytest.mark.parametrize("metric", ["chrf", "ter"])
def test_the_worst(metric: str) -> None:
    sign = -1 if metric == "ter" else 1
    every = sorted(
        (sign * score, place, number)
        for place, own in enumerate(scores(metric).values())
        for number, score in enumerate(own, start=1)
    )
    found = choose_lines(CORPUS, metric, "worst", top=6)
    assert [(line.segment, line.systems, line.by) for line in found] == [
        (segment, ("ABC"[place],), sign * score) for score, place, segment in every[:6]
    ]


def test_the_most_different() -> None:
    found = scores("chrf")
    every = [(found[name][number] - found["B"][number], name, number + 1) for name in "AC" for number in range(5)]
    every.sort(key=lambda each: -abs(each[0]))
    lines = choose_lines(CORPUS, "chrf", "different", top=4, baseline="B")
    assert [(line.by, line.systems, line.segment) for line in lines] == [
        (by, ("B", name), segment) for by, name, segment in every[:4]
    ]
    assert lines[0].candidates == tuple(SYSTEMS[name][lines[0].segment - 1] for name in lines[0].systems)
    assert len(choose_lines(CORPUS, "chrf", "different", top=100)) == 10


def test_those_about_which_metrics_disagree() -> None:
    metrics = ("chrf", "ter")
    values = []
    for metric, sign in zip(metrics, (1, -1), strict=True):
        flat = [sign * score for own in scores(metric).values() for score in own]
        less = [sum(other < each - 1e-12 for other in flat) for each in flat]
        same = [sum(abs(other - each) <= 1e-12 for other in flat) for each in flat]
        values.append([(a + (b - 1) / 2) / (len(flat) - 1) for a, b in zip(less, same, strict=True)])
    apart = [other - one for one, other in zip(*values, strict=True)]
    order = sorted(range(len(apart)), key=lambda place: -abs(apart[place]))
    found = choose_lines(CORPUS, metrics, "disagreeing", top=5)
    assert [line.by for line in found] == pytest.approx([apart[place] for place in order[:5]])
    assert [len(line.scores[0]) for line in found] == [2] * 5
    assert abs(found[0].by) > 0.2


def test_rows_have_all() -> None:
    corpus = Segments.of(SYSTEMS, REFERENCES, ["source"] * 5)
    (row,) = choose_lines(corpus, ["chrf", "bleu"], "different", top=1).records()
    assert list(row) == [
        *("segment", "different", "system_1", "chrf_1", "bleu_1", "candidate_1"),
        *("system_2", "chrf_2", "bleu_2", "candidate_2", "reference", "source"),
    ]
    assert row["different"] == row["chrf_2"] - row["chrf_1"]


TEXT = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6)


def grams(words: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + n]) for n in range(1, order + 1) for at in range(len(words) - n + 1))


@given(st.lists(st.tuples(TEXT, TEXT, TEXT, TEXT), min_size=1, max_size=5), st.integers(1, 3))
def test_all_of_them(lines: list[tuple[list[str], ...]], order: int) -> None:
    texts = [[" ".join(words) for words in line] for line in lines]
    corpus = Segments.of(
        {"A": [line[0] for line in texts], "B": [line[1] for line in texts]}, [line[2:] for line in texts]
    )
    found = ngram_differences(corpus, order=order, top=1000, tokenizer=Whitespace())
    one, other, offered = (Counter[tuple[str, ...]]() for _ in range(3))
    for a, b, first, second in lines:
        most = grams(first, order) | grams(second, order)
        offered += most
        one += grams(a, order) & most
        other += grams(b, order) & most
    expected = []
    for better, worse, mine, theirs in (("A", "B", one, other), ("B", "A", other, one)):
        gains = sorted((theirs[gram] - mine[gram], gram) for gram in mine if mine[gram] > theirs[gram])
        expected += [(better, worse, gram, mine[gram], theirs[gram], offered[gram]) for _, gram in gains]
    assert [tuple(vars(each).values()) for each in found] == expected


def test_few_each_way_and_every_system_beside_the_baseline() -> None:
    systems = {"A": ["a b c"], "B": ["d e f"], "C": ["a b f"]}
    found = ngram_differences(Segments.of(systems, ["a b c d e f"]), order=1, top=2, baseline="B")
    assert [(each.better, each.worse, each.ngram[0]) for each in found] == [
        *[("B", "A", "d"), ("B", "A", "e"), ("A", "B", "a"), ("A", "B", "b")],
        *[("B", "C", "d"), ("B", "C", "e"), ("C", "B", "a"), ("C", "B", "b")],
    ]
    assert found.records()[0]["order"] == 1


def test_edits_of_lines_by_kind() -> None:
    """The metric that chooses lines may be another than the one that judges edits."""
    edits = (Edit(1, 2, "R:VERB", ("eats",)), Edit(2, 3, "R:DET", ("an",)))
    gold = [GoldSegment("he eat a apple", (Annotation(0, edits),)), GoldSegment("all is well", (Annotation(0, ()),))]
    systems = {"A": ["he eats a apple", "all is well"], "B": ["he ate the apple", "all was so well"]}
    (first, second) = choose_lines(Segments.of_gold(systems, gold), ["gleu", "m2"], "different", by="type")
    assert {line.segment: line.kinds for line in (first, second)} == {
        1: ("hit R:VERB; missed R:DET", "wrong R:VERB"),
        2: ("no edits", "over other"),
    }
