"""Draws: published numbers depend on these calls of generators, on their order, and in one case on their batches."""

from collections.abc import Callable
from operator import mul
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softbleu import resample
from softbleu.engine.statistics import small_numbers
from softbleu.metrics.resampling import ChosenSums, draw_references

SEED, TASK = 12345, [12345, *b"acc_eq en-de"]
LIMITS = [1, 2, 3, 7, 1000, 300_000, 1 << 31, (1 << 31) + 1, 3 << 30, (1 << 32) - 1]
COUNTS = [np.array([9, 4]), np.array([7, 0])]


def bits_of(stream: str, seed: Any, units: int = 5, trials: int = 3) -> Any:
    return np.concatenate([*resample.bits((units,), trials, seed, stream)])


def counted_draws() -> Any:
    drawn = np.random.default_rng(SEED).integers(4, size=(3, 4))
    return [[row.tolist().count(unit) for unit in range(4)] for row in drawn]


def signs() -> Any:
    generator = np.random.default_rng(TASK)
    return np.concatenate([2 * generator.binomial(counts, 0.5, (2, 2)) - counts for counts in COUNTS])


# What is drawn, its literal twin, and digits
PINNED: dict[str, tuple[Callable[[], Any], Callable[[], Any], Any]] = {
    "bootstrap": (
        lambda: np.concatenate([*resample.bootstrap(4, 3, SEED)]),
        counted_draws,
        [[1, 1, 1, 1], [1, 0, 2, 1], [0, 2, 0, 2]],
    ),
    "exchange": (
        lambda: bits_of("exchange", SEED),
        lambda: np.random.default_rng(SEED).integers(2, size=(3, 5)),
        [[1, 0, 1, 0, 0], [1, 1, 1, 1, 0], [1, 0, 1, 1, 0]],
    ),
    "task": (
        lambda: bits_of("task", TASK),
        lambda: np.random.default_rng(TASK).integers(0, 2, (3, 5), np.int8),
        [[0, 0, 1, 1, 0], [1, 1, 0, 0, 1], [0, 0, 1, 0, 1]],
    ),
    "flip": (
        lambda: bits_of("flip", SEED),
        lambda: np.rint(np.random.default_rng(SEED).random((3, 5), np.float32)),
        [[1, 0, 1, 0, 0], [1, 1, 1, 1, 0], [1, 0, 1, 1, 0]],
    ),
    "signs": (
        lambda: np.concatenate([*resample.sign_sums(COUNTS, 2, TASK)]),
        signs,
        [[-1, -4], [-3, 0], [1, 0], [-1, 0]],
    ),
    "references": (
        lambda: [*draw_references(np.array([2, 3, 2, 4]), range(3), 7)],
        lambda: [np.random.RandomState([7 + 101 * k]).random_sample(4) * [2, 3, 2, 4] // 1 for k in range(3)],
        [[0, 0, 1, 0], [0, 2, 1, 1], [1, 0, 1, 1]],
    ),
}


@pytest.mark.parametrize("drawn", PINNED)
def test_generators_are_called_as_published_numbers_need(drawn: str) -> None:
    made, twin, digits = PINNED[drawn]
    assert np.array_equal(made(), digits)
    assert np.array_equal(twin(), digits)


def test_batches_change_no_draw_but_those_of_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn() -> list[Any]:
        return [
            np.concatenate([*resample.bootstrap(7, 9, SEED)]),
            *(bits_of(s, SEED, 7, 9) for s in ("exchange", "flip")),
        ]

    whole = drawn()
    monkeypatch.setattr(resample, "_CELLS", 20)
    assert all(map(np.array_equal, drawn(), whole))
    # A task of 2 ** 20 + 1 units draws three permutations at a time: the fourth begins with new random bits.
    monkeypatch.undo()
    generator = np.random.default_rng(TASK)
    twin = np.concatenate([generator.integers(0, 2, (size, (1 << 20) + 1), np.int8) for size in (3, 2)])
    assert np.array_equal(bits_of("task", TASK, (1 << 20) + 1, 5), twin)
    assert twin.sum(axis=1).tolist() == [524900, 524450, 524414, 523663, 523846]


CALLS = st.lists(st.tuples(st.sampled_from(LIMITS), st.integers(0, 40)), max_size=6)


@given(seed=st.integers(0, 2**40), calls=CALLS)
def test_draws_are_those_of_numpy(seed: int, calls: list[tuple[int, int]]) -> None:
    """Every call goes on with the half of 64 bits that the last one may have left, and refuses as NumPy does."""
    ours, theirs = resample.Draws(seed, known=True), np.random.default_rng(seed)
    for limit, count in calls:
        assert np.array_equal(ours.below(limit, count), theirs.integers(limit, size=count))
        assert np.array_equal(ours.bits((3, count)), theirs.integers(2, size=(3, count)))


def test_another_numpy_is_called_itself() -> None:
    plain, known = (resample.Draws(SEED, known=known) for known in (False, True))
    for limit in LIMITS:
        assert np.array_equal(plain.below(limit, 9), known.below(limit, 9))
        assert np.array_equal(plain.bits((5, limit % 7)), known.bits((5, limit % 7)))


@given(seed=st.integers(0, 99), scale=st.sampled_from([1, 40, 3000, 10**6, 10**9]), most=st.sampled_from([2, 9, 70]))
def test_sums_of_whole_numbers_are_exact(seed: int, scale: int, most: int) -> None:
    """In 16 bits and single precision where these are enough, in more where not."""
    generator = np.random.default_rng(seed)
    rows = generator.integers(-scale, scale, size=(2, 2500, 3), endpoint=True)
    rows[..., 1] *= 1_000_000 if scale < 1000 else 1  # As credits, in millionths
    weights = generator.integers(most, size=(4, 2500)).astype(np.uint8)
    sums = ChosenSums([*small_numbers(rows)], [[np.arange(2500)]] * 2)
    columns = [system.T.tolist() for system in rows]
    literal = [[[sum(map(mul, weight, column)) for column in of] for weight in weights.tolist()] for of in columns]
    assert sums.weighted(weights, 0).tolist() == literal
    assert sums.plain(0, 2).tolist() == [[system.sum(axis=0).tolist()] * 2 for system in rows]
