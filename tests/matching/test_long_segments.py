"""Lines of absurd length: finished soon, in bounded memory, with the right sums."""

from __future__ import annotations

import random
import tracemalloc
from dataclasses import replace

import pytest

from softbleu import InputError, score
from softbleu.matching.batches import OPTIMAL

VECTORS = {f"w{number}": [float(number % 7 - 3), float(number % 5), 1.0] for number in range(300)}
MEGABYTE = 1 << 20


def matches(candidate, reference, **options):
    found = score([candidate], [reference], vectors=VECTORS, **options).numbers
    return found.matches


@pytest.mark.parametrize("matcher", ["exact", "xleu"])
def test_ten_thousand_repeated_words(matcher):
    line, other = " ".join(["w1"] * 10_000), " ".join(["w1", "w2"] * 250)
    tracemalloc.start()
    try:
        found = matches(line, other, matcher=matcher)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found[0] >= 250
    assert peak < 200 * MEGABYTE


@pytest.mark.parametrize("matcher", ["vleu", "xleu"])
@pytest.mark.parametrize("assignment", ["exact-first", "sequential", "optimal"])
def test_a_long_line_is_matched_as_a_short_one_would_be(matcher, assignment, monkeypatch):
    choose = random.Random(1)
    candidate, reference = (" ".join(choose.choices(list(VECTORS), k=60)) for _ in range(2))
    options = {"matcher": matcher, "assignment": assignment, "threshold": 0.3}
    expected = matches(candidate, reference, **options)
    monkeypatch.setattr("softbleu.matching.batches.BATCH_CELLS", 1)
    monkeypatch.setattr("softbleu.matching.batches.LONG_CELLS", 0)
    for cells in (1, 5_000, 1 << 21):
        monkeypatch.setattr("softbleu.matching.soft.STRIPE_CELLS", cells)
        assert matches(candidate, reference, **options) == expected


@pytest.mark.parametrize("threshold", [0.0, 0.8])
def test_what_hangs_together_is_matched_optimally_by_itself(threshold, monkeypatch):
    choose = random.Random(2)
    lines = [" ".join(choose.choices(list(VECTORS), k=90)) for _ in range(2)]
    options = {"matcher": "xleu", "assignment": "optimal", "threshold": threshold}
    expected = matches(*lines, **options)
    monkeypatch.setattr("softbleu.matching.batches.LONG_CELLS", 0)
    assert matches(*lines, **options) == expected
    monkeypatch.setattr("softbleu.matching.soft.OPTIMAL", replace(OPTIMAL, most=50))
    monkeypatch.setattr("softbleu.matching.soft.OPTIMAL", replace(OPTIMAL, most=50))
    with pytest.raises(InputError, match=r"too much for assignment 'optimal' .*'exact-first', or allow .*--limits"):
        matches(*lines, **options)
