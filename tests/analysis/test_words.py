"""N-grams that one system gets and another misses, against a count of all of them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softbleu.analysis import ngram_differences
from softbleu.corpora import Segments
from softbleu.errors import InputError, UnknownNameError
from softbleu.text.tokens import Tokenizer

TEXT = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6)


def grams(words: list[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[at : at + n]) for n in range(1, order + 1) for at in range(len(words) - n + 1))


@given(st.lists(st.tuples(TEXT, TEXT, TEXT, TEXT), min_size=1, max_size=5), st.integers(1, 3))
def test_all_of_them(lines: list[tuple[list[str], ...]], order: int) -> None:
    texts = [[" ".join(words) for words in line] for line in lines]
    corpus = Segments.of(
        {"A": [line[0] for line in texts], "B": [line[1] for line in texts]}, [line[2:] for line in texts]
    )
    found = ngram_differences(corpus, order=order, top=1000, tokenizer=Tokenizer("none"))
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


def test_what_cannot_differ() -> None:
    with pytest.raises(InputError, match="one system"):
        ngram_differences(Segments.of(["a"], ["a"]))
    with pytest.raises(UnknownNameError, match="nobody"):
        ngram_differences(Segments.of({"A": ["a"], "B": ["b"]}, ["a"]), baseline="nobody")
