"""Tensors of safetensors files, memory-mapped; never a pickle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbleu.data_files import check_plain, parse_json
from softbleu.errors import InputError, VectorError

# bfloat16 is the upper half of a float32; NumPy has no such type.
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "|i1", "U8": "|u1"}


@dataclass(frozen=True)
class Tensor:
    """An array in a file."""

    kind: str
    """Its type, as safetensors names it."""
    values: NDArray[Any]
    """The array, mapped; of bfloat16 the bits."""

    def floats(self, rows: NDArray[Any] | slice = slice(None)) -> NDArray[np.float32]:
        """Read some rows, or all, as float32."""
        part = self.values[rows]
        if self.kind == "BF16":
            return (part.astype(np.uint32) << 16).view(np.float32)
        with np.errstate(over="ignore"):
            return part.astype(np.float32)


def map_tensors(path: Path) -> dict[str, Tensor]:
    """Map the arrays of floats and bytes of a safetensors file, by name; others are passed over."""
    from safetensors import SafetensorError, safe_open

    try:
        check_plain(path)
        # It checks that all arrays lie in the file, one after the other.
        with safe_open(path, "np"):
            pass
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header = parse_json(stream.read(length).decode(), str(path))
        content = (
            np.memmap(path, np.uint8, "r", 8 + length) if path.stat().st_size > 8 + length else np.empty(0, "u1")
        )
    except InputError as error:
        raise VectorError(f"{error}; get it again") from error
    except (OSError, SafetensorError, UnicodeDecodeError) as error:
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())
        raise VectorError(f"{path}: no safetensors file, or a damaged one ({reason}); get it again") from error
    return {
        name: Tensor(entry["dtype"], _array(content, entry))
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] in _TYPES
    }


def _array(content: NDArray[np.uint8], entry: dict[str, Any]) -> NDArray[Any]:
    begin, end = entry["data_offsets"]
    shape = tuple(entry["shape"])
    if not math.prod(shape):
        return np.empty(shape, _TYPES[entry["dtype"]])
    return np.ndarray(shape, _TYPES[entry["dtype"]], content[begin:end].data)
