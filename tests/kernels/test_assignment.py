"""Greedy assignment, at one threshold and at all in one pass, against serving the rows one after the other."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softbleu.kernels import choose_kernels
from softbleu.kernels.assignment import assign_greedily
from softbleu.kernels.scale import SCALE
from softbleu.matching.matchers import EXACT

BACKENDS = ["numpy", *(["numba"] if find_spec("numba") else [])]
LEVELS = [-1, 0, 1, 250_000, 300_000, 500_000, 700_000, 999_999, SCALE]


def sweep_greedily(backend, *tables):
    return choose_kernels(backend).sweep_greedily(*tables)


def serve_in_order(table, capacity, threshold=0, unit=SCALE):
    """Matches of one segment: each row takes the most similar column that is left, the leftmost of equal ones."""
    left = list(capacity)
    served = []
    for number, row in enumerate(table):
        best, best_value = -1, threshold
        for column, value in enumerate(row):
            if left[column] > 0 and value > best_value:
                best, best_value = column, value
        if best >= 0:
            left[best] -= unit or min(best_value, SCALE)
            served.append((number, best, best_value))
    return served


def expected_at(similarities, capacity, threshold):
    segments = enumerate(zip(similarities.tolist(), capacity.tolist(), strict=True))
    return {(number, *match) for number, tables in segments for match in serve_in_order(*tables, threshold)}


def found_at(lives, number):
    alive = (lives.first <= number) & (number < lives.end)
    columns = (lives.segment, lives.row, lives.column, lives.value)
    return list(zip(*(column[alive].tolist() for column in columns), strict=True))


def assert_as_served(similarities, capacity, thresholds):
    """Compare the matches at every threshold; what the first one forbids is taken out, as callers do."""
    allowed = np.where(similarities > thresholds[0], similarities, -1).astype(np.int32)
    for backend in BACKENDS:
        assert_backend_serves(backend, allowed, capacity, thresholds)


def assert_backend_serves(backend, allowed, capacity, thresholds):
    before = allowed.copy(), capacity.copy()
    lives = sweep_greedily(backend, allowed, capacity, np.array(thresholds))
    assert (allowed == before[0]).all(), "the similarities are the caller's"
    assert (capacity == before[1]).all(), "the capacity is the caller's"
    assert (lives.first < lives.end).all()
    for number, threshold in enumerate(thresholds):
        found = found_at(lives, number)
        assert len(found) == len(set(found))
        assert set(found) == expected_at(allowed, capacity, threshold), (backend, threshold)


@st.composite
def tables(draw, *, values=9):
    batch, rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 9)), draw(st.integers(1, 6))
    levels = [*draw(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=values, unique=True)), EXACT]
    size = batch * rows * columns
    cells = draw(st.lists(st.sampled_from(levels), min_size=size, max_size=size))
    instances = st.integers(0, 3).map(lambda count: count * SCALE)
    capacity = draw(st.lists(instances, min_size=batch * columns, max_size=batch * columns))
    # Those that are similarities, and their neighbours.
    near = sorted({min(max(level + step, 0), SCALE) for level in levels for step in (-1, 0, 1)})
    thresholds = draw(st.lists(st.one_of(st.sampled_from(near), st.integers(0, SCALE)), min_size=1, max_size=8))
    similarities = np.array(cells, np.int32).reshape(batch, rows, columns)
    return similarities, np.array(capacity, np.int64).reshape(batch, columns), sorted(thresholds)


@given(table=tables() | tables(values=2))
@settings(max_examples=30)
def test_every_threshold(table):
    assert_as_served(*table)


def test_everyone_wants_the_same_column():
    """The worst case: whatever falls away is passed on to the end of the row."""
    similarities = np.tile(np.arange(1, 61, dtype=np.int32), (1, 60, 1))
    assert_as_served(similarities, np.full((1, 60), SCALE), list(range(61)))


def assert_assigned(similarities, capacity, unit):
    partner, value = assign_greedily(similarities.copy(), capacity, unit)
    for segment, (table, left) in enumerate(zip(similarities.tolist(), capacity.tolist(), strict=True)):
        expected = serve_in_order(table, left, unit=unit)
        rows = np.flatnonzero(partner[segment] >= 0).tolist()
        columns = (rows, partner[segment, rows].tolist(), value[segment, rows].tolist())
        assert list(zip(*columns, strict=True)) == expected
    assert (value[partner < 0] == 0).all()


@st.composite
def assignments(draw):
    batch, rows, columns = draw(st.integers(1, 3)), draw(st.integers(1, 8)), draw(st.integers(0, 6))
    size = batch * columns
    cells = draw(st.lists(st.sampled_from([*LEVELS, EXACT]), min_size=size * rows, max_size=size * rows))
    left = st.sampled_from([0, 1, 300_000, SCALE, 2 * SCALE, 3 * SCALE])
    capacity = draw(st.lists(left, min_size=size, max_size=size))
    similarities = np.array(cells, np.int32).reshape(batch, rows, columns)
    return similarities, np.array(capacity, np.int64).reshape(batch, columns)


@pytest.mark.parametrize("unit", [SCALE, 0], ids=["unit", "similarity"])
@given(table=assignments())
@settings(max_examples=60)
def test_greedy_assignment(unit, table):
    before = table[1].copy()
    assert_assigned(*table, unit)
    assert (table[1] == before).all(), "the capacity is the caller's"


@pytest.mark.parametrize("unit", [SCALE, 0], ids=["unit", "similarity"])
def test_greedy_assignment_of_large_tables(unit):
    choose = np.random.default_rng(3)
    similarities = choose.integers(-200_000, SCALE + 1, (2, 40, 30)).astype(np.int32)
    similarities[choose.random(similarities.shape) < 0.02] = EXACT
    assert SCALE < EXACT, "an exact match wins all ties"
    assert_assigned(similarities, choose.integers(0, 4, (2, 30)) * SCALE, unit)
    # Everyone wants the same column: rows are turned away one after the other.
    assert_assigned(np.tile(np.arange(1, 61, dtype=np.int32), (1, 60, 1)), np.full((1, 60), SCALE), unit)
