"""Counts of short texts beside plain counts of their n-grams."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies import HOSTILE_LINES

from softbleu.kernels import characters
from softbleu.kernels.characters import clipped_counts_of_characters
from softbleu.kernels.letters import LetteredTexts

ORDERS = st.integers(1, 16)


def ngrams(text: Sequence[Any], n: int) -> Counter[Any]:
    return Counter(tuple(text[start : start + n]) for start in range(len(text) - n + 1))


def clipped(candidate: Sequence[Any], references: Sequence[Sequence[Any]], order: int) -> list[int]:
    counts = []
    for n in range(1, order + 1):
        most: Counter[Any] = Counter()
        for reference in references:
            most |= ngrams(reference, n)
        counts.append((ngrams(candidate, n) & most).total())
    return counts


FEW = st.text("ab", max_size=12)
TEXTS = st.one_of(FEW, HOSTILE_LINES, st.text(st.characters(), max_size=40), st.text("\0\1\x7f\x80\x81é", max_size=9))


@given(candidate=TEXTS, reference=TEXTS, order=ORDERS)
@example(candidate="aaaa", reference="aa", order=3)
@example(candidate="ab", reference="xab", order=3)
@example(candidate="\0", reference="\0\0", order=2)
@example(candidate="\ud800a", reference="a\ud800", order=2)
@example(candidate="\x80\x81", reference="\x81\x80\x81", order=6)
def test_character_ngrams_are_clipped_as_by_plain_counts(candidate: str, reference: str, order: int) -> None:
    found = clipped_counts_of_characters(candidate, reference, order)
    kinds = len(set(candidate + reference)) + 2
    # An n-gram is a number of 62 bits.
    assert (found is None) == bool(candidate and reference and kinds > 2 ** (62 // order))
    assert found in (None, clipped(candidate, [reference], order))


def test_characters_of_long_texts_are_counted_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(characters, "_LONGEST", 10)
    assert [clipped_counts_of_characters("ab" * size, "abab", 1) for size in (2, 3)] == [[4], None]


LINES = st.lists(st.integers(0, 3), max_size=12)


@given(candidate=LINES, references=st.lists(LINES, min_size=1, max_size=3), source=LINES, order=ORDERS)
@example(candidate=[0] * 5, references=[[0, 0, 0], [0, 1, 0]], source=[0, 0], order=3)
def test_word_ngrams_are_clipped_as_by_plain_counts(
    candidate: list[int], references: list[list[int]], source: list[int], order: int
) -> None:
    texts = LetteredTexts(references, source)
    assert texts.clipped_counts(candidate, order) == clipped(candidate, references, order)
    expected = []
    for n in range(1, order + 1):
        left = ngrams(candidate, n) & ngrams(source, n)
        known = set().union(*(ngrams(reference, n) for reference in references))
        expected.append(sum(count for ngram, count in left.items() if ngram not in known))
    assert texts.uncorrected(candidate, order) == expected
    assert texts.lengths == list(map(len, references))


def test_texts_of_many_words_have_enough_letters() -> None:
    words = [str(number) for number in range(600)]
    assert LetteredTexts([words]).clipped_counts(words, 2) == [600, 599]
