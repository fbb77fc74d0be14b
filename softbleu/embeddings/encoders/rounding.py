"""Matrices in 8 to 16 bits a value: whole multiples of a scale a row, the lowest bits apart.

The first 8 bits of every number are an int8; what is left are planes of one bit a number, 8 to a byte. For the
embeddings of pieces 8 bits do; in the linear layers some rows have values 30 times as large as most, and errors add
up from layer to layer, so that these need more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def round_rows(
    rows: NDArray[np.float32], low_bits: int
) -> tuple[NDArray[np.int8], NDArray[np.uint8], NDArray[np.float32]]:
    """Round each row to whole multiples of its own scale.

    Gives the first 8 bits; the low bits, shape (bits, rows, bytes), the lowest first; the scales.

    >>> rows = np.array([[1.0, -0.34, 0.02], [0.0, 0.0, 0.0]], np.float32)
    >>> restore_rows(*round_rows(rows, 3)).round(3).tolist()
    [[1.0, -0.3400000035762787, 0.019999999552965164], [0.0, 0.0, 0.0]]
    """
    most = (128 << low_bits) - 1
    scales = (np.abs(rows).max(axis=1, initial=0.0) / np.float32(most)).astype(np.float32)
    steps = np.divide(rows, scales[:, None], out=np.zeros_like(rows), where=scales[:, None] > 0)
    numbers = np.nan_to_num(np.rint(steps)).clip(-most, most).astype(np.int16)
    planes = [np.packbits((numbers >> bit & 1).astype(bool), axis=1) for bit in range(low_bits)]
    return (numbers >> low_bits).astype(np.int8), np.stack(planes), scales


def restore_rows(high: NDArray[np.int8], low: NDArray[np.uint8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Put rounded rows together again."""
    numbers = high.astype(np.int16) << len(low)
    for bit, plane in enumerate(low):
        numbers += np.unpackbits(plane, axis=1, count=high.shape[1]).astype(np.int16) << bit
    restored = numbers.astype(np.float32)
    restored *= scales[:, None]
    return restored
