"""Draws of references, and sums of the rows they choose: in bounded memory, and the same in any pieces."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from complete import complete

from softbleu.errors import InputError
from softbleu.metrics import Gleu, aggregation
from softbleu.results import Statistics, significance
from softbleu.results.significance import approximate_randomization, bootstrap_scores
from softbleu.text.tokens import Tokenizer


def statistics_of(metric: Any, systems: int, counts: list[int]) -> Statistics:
    """Random rows, lengths first."""
    rows = np.random.default_rng(4).integers(1, 40, size=(systems, sum(counts), 2 + 3 * metric.order))
    return Statistics(
        tuple("abcdefgh"[:systems]), complete(metric, Tokenizer()), rows, np.array(counts), (min(counts), max(counts))
    )


@pytest.mark.parametrize("multi", ["sample", "max"])
def test_pieces_change_no_digit(monkeypatch: pytest.MonkeyPatch, multi: Any) -> None:
    """Whether draws and rows are kept or made anew, and however many are looked at together."""
    metric = Gleu(order=2, iterations=7, multi=multi)
    statistics = statistics_of(metric, 3, [2, 2, 1, 3, 2] * 5)
    statistics.rows[:, :, 2:4] *= 1_000_000

    def numbers() -> list[Any]:
        aggregation.ReferenceDraws.shared.cache_clear()
        return [
            [metric.aggregation.score(rows, statistics.offsets) for rows in statistics.rows],
            bootstrap_scores(statistics, metric, 30, 3).tolist(),
            approximate_randomization(statistics, metric, 40, 3)[0].tolist(),
        ]

    whole = numbers()
    assert len(set(whole[1][0])) == 30
    for limit, small in (("_MOST_KEPT", 0), ("_MOST_CONVERTED", 0), ("_SEGMENTS", 8), ("_ITERATIONS", 3)):
        monkeypatch.setattr(aggregation, limit, small)
        assert numbers() == whole
    monkeypatch.setattr(significance, "_CELLS", 60)
    assert numbers() == whole


def test_draws_take_a_bit_each_and_are_not_kept_without_bound() -> None:
    counts = np.full(100_000, 2)
    tracemalloc.start()
    kept = aggregation.ReferenceDraws(counts, 100, 0)
    endless = aggregation.ReferenceDraws(counts, 1_000_000, 0)
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert held < 100_000 * 100 / 8 + 10_000
    assert np.array_equal(kept.bits(5, 9), endless.bits(5, 9))
    assert np.array_equal(kept.bits(105, 109), kept.bits(5, 9))


def test_memory_of_a_great_corpus_is_that_of_its_rows() -> None:
    metric = Gleu()
    statistics = statistics_of(metric, 1, [2] * 30_000)
    aggregation.ReferenceDraws.shared.cache_clear()
    tracemalloc.start()
    metric.aggregation.score(statistics.rows[0], statistics.offsets)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_seeds_of_all_draws_fit_the_generator() -> None:
    most = (1 << 32) - 101 * 5
    assert Gleu(iterations=5, seed=most - 1).seed == most - 1
    with pytest.raises(InputError, match=f"not {most}$"):
        Gleu(iterations=5, seed=most)
