"""The lines that are chosen, against all scores sorted."""

from __future__ import annotations

from typing import Any

import pytest

import softbleu
from softbleu.analysis import choose_lines
from softbleu.corpora import Segments
from softbleu.errors import InputError, UnknownNameError

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
        (sign * score, place, number + 1)
        for place, own in enumerate(scores(metric).values())
        for number, score in enumerate(own)
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
        less, same = ([sum(map(compare, [each] * len(flat), flat)) for each in flat] for compare in (above, alike))
        values.append([(a + (b - 1) / 2) / (len(flat) - 1) for a, b in zip(less, same, strict=True)])
    apart = [other - one for one, other in zip(*values, strict=True)]
    order = sorted(range(len(apart)), key=lambda place: -abs(apart[place]))
    found = choose_lines(CORPUS, metrics, "disagreeing", top=5)
    assert [line.by for line in found] == pytest.approx([apart[place] for place in order[:5]])
    assert [len(line.scores[0]) for line in found] == [2] * 5
    assert abs(found[0].by) > 0.2


def above(one: float, other: float) -> bool:
    return other < one - 1e-12


def alike(one: float, other: float) -> bool:
    return abs(other - one) <= 1e-12


def test_rows_have_all() -> None:
    corpus = Segments.of(SYSTEMS, REFERENCES, ["source"] * 5)
    (row,) = choose_lines(corpus, ["chrf", "bleu"], "different", top=1).records()
    assert list(row) == [
        *("segment", "different", "system_1", "chrf_1", "bleu_1", "candidate_1"),
        *("system_2", "chrf_2", "bleu_2", "candidate_2", "reference", "source"),
    ]
    assert row["different"] == row["chrf_2"] - row["chrf_1"]
    (one,) = choose_lines(CORPUS, "chrf", "worst", top=1).records()
    assert list(one) == ["segment", "worst", "system", "chrf", "candidate", "reference"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"kind": "best"}, "worst, different, disagreeing"),
        ({"top": 0}, "at least one"),
        ({"baseline": "nobody"}, "nobody"),
        ({"kind": "disagreeing"}, "two metrics"),
    ],
)
def test_what_cannot_be_chosen(more: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=message):
        choose_lines(CORPUS, **{"kind": "different", **more})
    with pytest.raises(InputError, match="one system"):
        choose_lines(CORPUS.only("A"))
