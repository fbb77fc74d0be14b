"""numba's compiler with the options of the compiled kernels."""

from __future__ import annotations

from functools import partial
from typing import Any

from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from softbleu.io.platform import free_at_forks, load_njit
from softbleu.io.progress import note_wait

_njit = partial(load_njit(), nogil=True, cache=True, no_cfunc_wrapper=True)


def kernel(function: Any) -> Any:
    """Compile a function that is called from Python."""
    return _njit()(function)


def part(function: Any = None, **options: Any) -> Any:
    """Compile a function that is called only from compiled functions, without a wrapper for Python."""
    compile_part = _njit(no_cpython_wrapper=True, **options)
    return compile_part if function is None else compile_part(function)


class _CompilingNote(event.Listener):
    """Notes when numba compiles kernels that its cache does not have."""

    def on_start(self, event: Any) -> None:
        """Print a note when numba starts compiling a softbleu kernel."""
        kernel = event.data["dispatcher"]
        if kernel.py_func.__module__.startswith("softbleu."):
            note_wait(
                "numba compiles softbleu's kernels, which takes up to 10 seconds, once: they are cached in "
                f"{kernel.stats.cache_path}"
            )

    def on_end(self, event: object) -> None:
        """Ignore the end of a compilation."""


free_at_forks(global_compiler_lock)
event.register("numba:compile", _CompilingNote())  # type: ignore[no-untyped-call]
