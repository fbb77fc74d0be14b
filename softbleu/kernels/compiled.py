"""numba's compiler, started without what no kernel here uses."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from numba import njit as njit
from numba.np import linalg

# numba loads SciPy's linear algebra to see that there is one, which takes longer than numba itself. There is, for
# softbleu needs SciPy; whoever multiplies matrices in compiled functions of their own has it loaded then.
_ensure_blas: Any = getattr(linalg, "ensure_blas", None)
linalg.ensure_blas = lambda: None
try:
    import_module("numba.np.arraymath")
finally:
    linalg.ensure_blas = _ensure_blas
