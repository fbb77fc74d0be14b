"""Activation functions, in place and in parts that stay in the processor's cache."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

States = NDArray[np.float32]

_PART = 1 << 14
_END = np.float32(6)
# ln Phi(-a) for a from 0 to 6, Phi the normal distribution: found by weighted least squares, iterated until the
# greatest error of a * Phi(-a) was smallest: 5e-8.
_LOG_TAIL = (
    -0.6931423708619624,
    -0.7979522136820566,
    -0.31799580754852086,
    -0.03702244843055061,
    0.005601125295696635,
    -0.0005331823005181983,
    2.293817349777013e-05,
)


def activate(rows: States, name: str) -> None:
    """Apply an activation function to contiguous rows, in place."""
    flat = rows.reshape(-1)
    if name == "relu":
        np.maximum(flat, 0, out=flat)
        return
    apply = _gelu if name == "gelu" else _gelu_tanh
    spare = np.empty((2, min(_PART, len(flat))), np.float32)
    for start in range(0, len(flat), _PART):
        part = flat[start : start + _PART]
        apply(part, spare[0, : len(part)], spare[1, : len(part)])


def _gelu(x: States, size: States, tail: States) -> None:
    """Multiply by Phi(x), as max(x, 0) - |x| * Phi(-|x|); the error is that of float32, 3e-7 for x up to 3."""
    np.abs(x, out=size)
    np.minimum(size, _END, out=size)
    np.multiply(size, np.float32(_LOG_TAIL[-1]), out=tail)
    for coefficient in _LOG_TAIL[-2:0:-1]:
        tail += np.float32(coefficient)
        tail *= size
    tail += np.float32(_LOG_TAIL[0])
    np.exp(tail, out=tail)
    tail *= size
    np.maximum(x, 0, out=x)
    x -= tail


def _gelu_tanh(x: States, cube: States, _: States) -> None:
    """Multiply by (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2."""
    np.multiply(x, x, out=cube)
    cube *= x
    cube *= np.float32(0.044715)
    cube += x
    cube *= np.float32(math.sqrt(2 / math.pi))
    np.tanh(cube, out=cube)
    cube += np.float32(1)
    cube *= np.float32(0.5)
    x *= cube
