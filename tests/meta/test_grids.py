"""Grids of thresholds as text."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softbleu.errors import InputError
from softbleu.meta.grids import MOST_STEPS, read_thresholds, read_variations


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["0.7"], [0.7]),
        (["1"], [1.0]),
        (["0.7,0.8"], [0.7, 0.8]),
        ([" 0.7 , 0.8 "], [0.7, 0.8]),
        (["0.8", "0.7"], [0.8, 0.7]),
        (["0.7,0.7", "0.70"], [0.7]),
        (["0:0.3:0.1"], [0.0, 0.1, 0.2, 0.3]),
        (["0:1:0.3"], [0.0, 0.3, 0.6, 0.9]),
        (["0.5:0.5:0.1"], [0.5]),
        (["0.2:0.3:0.2"], [0.2]),
        (["0:1:9e999999"], [0.0]),
        (["0.7:0.9:0.1,0.75,p99.9", "p50"], [0.7, 0.8, 0.9, 0.75, "p99.9", "p50"]),
        ([".5,5e-1"], [0.5]),
    ],
)
def test_what_can_be_read(texts: list[str], expected: list[float | str]) -> None:
    found = read_thresholds(texts)
    assert found == expected
    assert [type(entry) for entry in found] == [type(entry) for entry in expected]


@given(st.integers(0, 100), st.integers(0, 100), st.integers(1, 50), st.integers(0, 6))
def test_ranges_are_exact_decimals(start: int, more: int, step: int, digits: int) -> None:
    def text(number: int) -> str:
        return f"{number}e-{digits}"

    found = read_thresholds([f"{text(start)}:{text(start + more)}:{text(step)}"])
    scale = Fraction(1, 10**digits)
    assert found == [float(number * scale) for number in range(start, start + more + 1, step)]


def test_the_finest_grid() -> None:
    assert len(read_thresholds(["0:1:0.0001"])) == MOST_STEPS == 10_001


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["", "0.7,"], "thresholds are numbers, .* not ''"),
        (["high", "nan", "-inf", "0.7;0.8", "0::0.1", "0:1:x", "0:inf:0.1"], "thresholds are numbers, .* not '{}'"),
        (["0:1", "0:1:0.1:2"], "a range of thresholds is 'from:to:step', .* not '{}'"),
        (["0:1:0", "0:1:-0.1", "1:0:0.1", "0:1:0.00009"], "goes up, in at most 10,001 steps, not '{}'"),
        (["0:9e999999:1e-9", "-9e999999:9e999999:9e999999", "0:1e9999999:1"], "goes up"),
    ],
)
def test_what_cannot(texts: list[str], message: str) -> None:
    for text in texts:
        with pytest.raises(InputError, match=message.format(text)):
            read_thresholds([text])


@pytest.mark.parametrize("values", ["2\n3", "2\r3", "9" * 140_000])
def test_values_that_are_no_row(values: str) -> None:
    with pytest.raises(InputError, match="order takes values with commas between them, in one line"):
        read_variations([f"order={values}"])
