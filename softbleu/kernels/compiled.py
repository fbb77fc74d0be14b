"""numba's compiler, started without what no kernel here uses."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from numba import njit as njit
from numba.core import event
from numba.np import linalg

from softbleu.progress import note

# numba loads SciPy's linear algebra to see that there is one, which takes longer than numba itself. There is, for
# softbleu needs SciPy; whoever multiplies matrices in compiled functions of their own has it loaded then.
_ensure_blas: Any = getattr(linalg, "ensure_blas", None)
linalg.ensure_blas = lambda: None
try:
    import_module("numba.np.arraymath")
finally:
    linalg.ensure_blas = _ensure_blas


class _CompilingNote(event.Listener):
    """Says that kernels are compiled. numba tells it of those only that its cache does not have."""

    def on_start(self, event: Any) -> None:
        """Say it, of kernels of softbleu."""
        kernel = event.data["dispatcher"]
        if kernel.py_func.__module__.startswith("softbleu."):
            note(
                "numba compiles softbleu's kernels, which takes up to 20 seconds, once: they are kept in "
                f"{kernel.stats.cache_path}"
            )

    def on_end(self, event: Any) -> None:
        """Say nothing."""


event.register("numba:compile", _CompilingNote())  # type: ignore[no-untyped-call]
