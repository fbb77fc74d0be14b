"""Types that every package uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any]  # Of numbers of any type
    Reals: TypeAlias = NDArray[np.floating]  # Of any precision
    Integers: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float64]
    Flags: TypeAlias = NDArray[np.bool_]

Progress = Callable[[int, int], None]  # Called with the amount done and the total
DelayUnit = Literal["word", "char", "spm"]  # Of an output: each has a delay
OfAnnotators = Literal["mean", "apart"]  # Of several scores of an output
Words = tuple[int, ...]  # A text whose words are numbers

Cells: TypeAlias = dict[str, Any]  # Of a row of a table: values by column
Keywords: TypeAlias = dict[str, Any]  # Arguments of a call, by parameter
Json: TypeAlias = Any  # A value that was read, whose kind its reader checks
JsonObject: TypeAlias = dict[str, Json]
Fields: TypeAlias = Mapping[str, Any]  # Values by name, only to be read
