"""The search for edits and shifts finds what sacrebleu's finds, within its limits too."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.lib_ter import translation_edit_rate

from softbleu.metrics.ter import _searched, aligned_words, fewest_edits

WORDS = st.lists(st.integers(0, 6), max_size=14)


def check(candidate: list[int], reference: list[int]) -> None:
    expected, _ = translation_edit_rate(list(map(str, candidate)), list(map(str, reference)))
    assert fewest_edits(candidate, reference) == expected
    found = aligned_words(candidate, reference)
    for text, at in ((candidate, 0), (reference, 2)):
        assert sorted(each for row in found for each in range(row[at], row[at] + row[at + 1])) == [*range(len(text))]
    # Words that stay where they are keep their order.
    places = [row[2] for row in found if row[4] == "exact"]
    assert places == sorted(places)
    edits = 0
    for start, size, other, others, kind in found:
        own, met = candidate[start : start + size], reference[other : other + others]
        assert (own == met) == (kind in ("exact", "shifted"))
        assert (kind == "inserted", kind == "deleted") == (not own, not met)
        edits += own != met
    assert edits + (len(_searched(candidate, reference).made) if candidate and reference else 0) == expected


@settings(max_examples=50)
@given(WORDS, WORDS)
def test_edits_of_short_texts_are_those_of_the_definition(candidate: list[int], reference: list[int]) -> None:
    check(candidate, reference)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 40), min_size=3, max_size=20), st.data())
def test_words_that_were_moved(words: list[int], data: st.DataObject) -> None:
    moved = list(words)
    for _ in range(data.draw(st.integers(1, 3))):
        start, end, target = sorted(data.draw(st.tuples(*[st.integers(0, len(words))] * 3)))
        moved = [*moved[:start], *moved[end:target], *moved[start:end], *moved[target:]]
    check(words, moved)
    check([*moved, 41], words)


@pytest.mark.parametrize(
    ("lengths", "vocabulary"),
    [
        # Beyond the band about the diagonal, from either side and with a steep one.
        ((60, 50), 60),
        ((35, 80), 50),
        ((80, 35), 50),
        ((2, 130), 3),
        ((130, 2), 3),
        # More shifts than are tried, in the first round and in a later one.
        ((40, 42), 2),
        ((26, 26), 6),
        # One fewer than are tried.
        ((55, 57), 7),
        # Farther apart than words are moved, and longer than they are moved at once.
        ((64, 64), 1000),
    ],
    ids=str,
)
def test_edits_of_texts_around_the_limits_are_those_of_the_definition(
    lengths: tuple[int, int], vocabulary: int
) -> None:
    choose = random.Random(7)
    candidate, reference = ([choose.randrange(vocabulary) for _ in range(length)] for length in lengths)
    check(candidate, reference)
    if lengths == (64, 64):
        check([*reference[52:], *reference[:52]], reference)
        check([*reference[:9], *reference[20:40], *reference[9:20], *reference[40:]], reference)


def test_shifts_are_of_ten_words_and_fifty_places_at_most() -> None:
    for length in (10, 11):
        words = list(range(40))
        check([*words[:5], *words[5 + length :], *words[5 : 5 + length]], words)
    for distance in (50, 51):
        words = list(range(distance + 10))
        check([*words[1 : distance + 1], 0, *words[distance + 1 :]], words)
