"""numba's compiler, as the compiled kernels use it."""

from __future__ import annotations

from softbleu.io.platform import load_njit

njit = load_njit()
