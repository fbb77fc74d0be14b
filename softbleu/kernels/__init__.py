"""The hot loops: nothing but arrays in and out.

What pays for being compiled has two backends behind one interface, `Kernels`: `numpy` always, `numba` (extra
``fast``) for large input. Both give the same digits; tests run every assertion on both. The rest is written once, in
NumPy, and imported from where it stands: `positions`, `assignment`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol, cast

from softbleu.errors import MissingExtraError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from softbleu.types import Integers


KernelName = Literal["auto", "numpy", "numba"]
LARGE = 1 << 24
"""Bytes of text from which numba's start-up is repaid (measured: docs/reference/performance.md)."""


class Kernels(Protocol):
    """What both backends offer; see `softbleu.kernels.numpy_backend` for the meaning."""

    NAME: KernelName

    def clipped_counts(
        self,
        candidate: NDArray[np.int32],
        candidate_offsets: Integers,
        reference: NDArray[np.int32],
        reference_offsets: Integers,
        segment_offsets: Integers,
        order: int,
    ) -> Integers:
        """Count the candidate n-grams found in the references, clipped: (segments, order)."""

    def code_lines(
        self, text: bytes, *, marks: bool = False
    ) -> tuple[NDArray[np.int32], Integers, Callable[[], list[str]]]:
        """Code the tokens of UTF-8 text: codes of all, bounds of the lines, and the words. With `marks` 13a's."""


def choose_kernels(name: KernelName = "auto", size: int = 0) -> Kernels:
    """Return the backend of that name; `auto` takes numba for large text (`size` in bytes) where it is installed.

    >>> choose_kernels(size=1000).NAME
    'numpy'
    """
    if name not in ("auto", "numpy", "numba"):
        raise UnknownNameError("kernels", name, ("auto", "numpy", "numba"))
    installed = find_spec("numba") is not None
    if name == "numba" and not installed:
        raise MissingExtraError("kernels 'numba' need another package: pip install 'softbleu[fast]'")
    numba = name == "numba" or (name == "auto" and installed and size >= LARGE)
    return cast("Kernels", import_module(f"softbleu.kernels.{'numba' if numba else 'numpy'}_backend"))
