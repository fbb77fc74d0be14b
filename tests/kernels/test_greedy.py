"""Greedy assignment against serving the rows one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softbleu.kernels.assignment import assign_greedily
from softbleu.kernels.scale import SCALE
from softbleu.matching.assignment import EXACT


def serve_in_order(similarities, capacity, unit):
    partners, values = [], []
    for segment in range(len(similarities)):
        left = capacity[segment].tolist()
        partner, value = [], []
        for row in similarities[segment].tolist():
            best, best_value = -1, 0
            for column, similarity in enumerate(row):
                if similarity > best_value and left[column] > 0:
                    best, best_value = column, similarity
            if best >= 0:
                left[best] -= unit or min(best_value, SCALE)
            partner.append(best)
            value.append(best_value)
        partners.append(partner)
        values.append(value)
    return partners, values


def test_an_exact_match_wins_all_ties():
    assert SCALE < EXACT


VALUES = st.sampled_from([-1, 0, 1, 250_000, 300_000, 500_000, 700_000, 999_999, SCALE, EXACT])


@st.composite
def tables(draw):
    batch, rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 8)), draw(st.integers(0, 6))
    cells = draw(st.lists(VALUES, min_size=batch * rows * columns, max_size=batch * rows * columns))
    left = st.sampled_from([0, 1, 300_000, SCALE, 2 * SCALE, 3 * SCALE])
    capacity = draw(st.lists(left, min_size=batch * columns, max_size=batch * columns))
    return (
        np.array(cells, np.int32).reshape(batch, rows, columns),
        np.array(capacity, np.int64).reshape(batch, columns),
    )


@pytest.mark.parametrize("unit", [SCALE, 0], ids=["unit", "similarity"])
@given(table=tables())
@settings(max_examples=60)
def test_greedy_assignment(unit, table):
    similarities, capacity = table
    expected = serve_in_order(similarities, capacity, unit)
    before = capacity.copy()
    partner, value = assign_greedily(similarities.copy(), capacity, unit)
    assert (partner.tolist(), value.tolist()) == expected
    assert capacity.tolist() == before.tolist(), "the capacity is the caller's"


@pytest.mark.parametrize("unit", [SCALE, 0], ids=["unit", "similarity"])
def test_greedy_assignment_of_large_tables(unit):
    choose = np.random.default_rng(3)
    similarities = choose.integers(-200_000, SCALE + 1, (2, 40, 30)).astype(np.int32)
    similarities[choose.random(similarities.shape) < 0.02] = EXACT
    capacity = choose.integers(0, 4, (2, 30)) * SCALE
    expected = serve_in_order(similarities, capacity, unit)
    partner, value = assign_greedily(similarities, capacity, unit)
    assert (partner.tolist(), value.tolist()) == expected


def test_everyone_wants_the_same_column():
    """The worst case for proposals: rows are turned away one after the other."""
    similarities = np.tile(np.arange(1, 101, dtype=np.int32), (1, 100, 1))
    partner, value = assign_greedily(similarities, np.full((1, 100), SCALE), SCALE)
    assert partner[0].tolist() == list(range(99, -1, -1))
    assert value[0].tolist() == list(range(100, 0, -1))
