"""Compiled linear layers, attention and GELU against NumPy's, on vectors of all lengths that this processor has."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softbleu.encoders import compiled, open_encoder
from softbleu.encoders.compiled import CompiledLinear, choose_tile, compile_functions, widest_vector
from softbleu.encoders.stored import _END, _LOG_TAIL, Linear

LENGTHS = [length for length in (4, 8, 16) if length <= widest_vector()]
needs_compiler = pytest.mark.skipif(not LENGTHS, reason="needs llvmlite, of the extra fast, and x86 with AVX2")


def functions(columns, widest):
    return compiled.Compiled(choose_tile(columns, widest), _LOG_TAIL, float(_END))


@needs_compiler
@settings(max_examples=20, deadline=None)
@given(st.sampled_from(LENGTHS), st.sampled_from([8, 12, 16, 24, 40, 48, 96]), st.integers(1, 40), st.data())
def test_products_of_whole_numbers_are_those_of_numpy(widest, columns, size, data):
    """All sums are exact, in any order."""
    draw = np.random.default_rng(data.draw(st.integers(0, 99)))
    made = functions((columns,), widest)
    count = made.tile.rows * data.draw(st.integers(1, 4))
    rows, weight, bias = (
        draw.integers(-9, 10, shape).astype(np.float32) for shape in ((count, size), (size, columns), columns)
    )
    found = CompiledLinear(weight, bias, made)(rows, np.full((count + 1, columns), np.nan, np.float32))
    np.testing.assert_array_equal(found, Linear(weight, bias)(rows, np.empty((count, columns), np.float32)))


@needs_compiler
def test_bits_depend_neither_on_the_length_of_vectors_nor_on_the_place_of_a_row():
    draw = np.random.default_rng(1)
    rows, weight = (draw.standard_normal(shape, np.float32) for shape in ((24, 70), (70, 48)))
    bias = draw.standard_normal(48, np.float32)
    results = []
    for widest in LENGTHS:
        made = functions((48,), widest)
        linear = CompiledLinear(weight, bias, made)
        for order in (np.arange(24), np.arange(24)[::-1]):
            found = linear(rows[order], np.empty((24, 48), np.float32))
            made.gelu(found)
            results.append(found[order])
    for found in results[1:]:
        np.testing.assert_array_equal(found, results[0])


def attention(qkv, heads, bias):
    """Attention of a line, head by head, in double precision."""
    queries, keys, values = (np.split(part, heads, axis=1) for part in np.split(qkv.astype(np.float64), 3, axis=1))
    results = []
    for query, key, value, more in zip(queries, keys, values, bias, strict=True):
        shares = np.exp(query @ key.T + more)
        results.append(shares / shares.sum(axis=1, keepdims=True) @ value)
    return np.concatenate(results, axis=1)


@needs_compiler
@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 70), min_size=1, max_size=4), st.sampled_from([4, 8, 32, 48]), st.booleans())
def test_attention_is_that_of_its_definition_whatever_the_length_of_vectors(lengths, size, biased):
    heads, draw = 3, np.random.default_rng(sum(lengths))
    biases = {length: draw.standard_normal((heads, length, length), np.float32) * biased for length in lengths}
    results = []
    rows = draw.standard_normal((sum(lengths) + 12, 3 * heads * size), np.float32)
    for widest in LENGTHS:
        found = np.full((len(rows), heads * size), np.nan, np.float32)
        functions((size,), widest).attend(rows, lengths, heads, biases.get if biased else None, found)
        results.append(found[: sum(lengths)])
    ends = np.cumsum(lengths)[:-1]
    for line, result in zip(np.split(rows[: sum(lengths)], ends), np.split(results[0], ends), strict=True):
        np.testing.assert_allclose(result, attention(line, heads, biases[len(line)]), atol=3e-5)
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


@needs_compiler
def test_gelu_is_exact_to_float_precision_and_keeps_what_is_no_number():
    numbers = np.linspace(-9, 9, 20_016).astype(np.float32)
    wanted = np.array([x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in numbers.tolist()])
    made = compile_functions((48,), _LOG_TAIL, float(_END))
    made.gelu(numbers)
    assert (np.abs(numbers - wanted) / np.maximum(1, np.abs(wanted))).max() < 1.8e-7
    odd = np.resize(np.array([np.nan, np.inf, 0, 1e30], np.float32), 48)
    np.testing.assert_array_equal((made.gelu(odd), odd)[1], np.resize([np.nan, np.inf, 0, np.float32(1e30)], 48))


def test_states_are_those_of_numpy():
    lines = [["Soft", "matching", "of", "words"], ["once", "more"], []]
    ways = [open_encoder("minilm-l6") for _ in range(2)]
    vars(ways[1])["_compiled"] = None
    one, other = (way.encode(way.tokenize(lines), (4, 6)) for way in ways)
    np.testing.assert_allclose(one, other, atol=3e-7)


def test_lengths_that_no_vector_divides_and_other_machines_are_left_to_numpy(monkeypatch):
    assert choose_tile((6, 12), 16) is None
    monkeypatch.setattr(compiled, "machine", lambda: "arm64")
    assert widest_vector.__wrapped__() == 0
    monkeypatch.setattr(compiled, "machine", lambda: "x86_64")
    monkeypatch.setattr(compiled, "find_spec", lambda _: None)
    assert widest_vector.__wrapped__() == 0
