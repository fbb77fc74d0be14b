"""Vectors on a device, and their products: only the products come back, in batches whose memory is bounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from softbleu.encoders.base import LARGEST, Pieces
from softbleu.encoders.pieces import pieces_by_rank
from softbleu.errors import Parameter, SoftbleuError, WorkerError
from softbleu.io.platform import cached_property, lock

if TYPE_CHECKING:
    from softbleu.types import Array, Floats, Integers

_FLOATS = 1 << 24  # Numbers of vectors that are gathered for a product: 128 MB
_CELLS = 1 << 22  # Products that are held at once: 32 MB
_GRAIN = 8  # Lengths are filled up to multiples of it, so that a pair is multiplied alike in any batch


_COMPUTING = lock()


@contextmanager
def computing(precision: str = "highest") -> Iterator[None]:
    """Compute in torch: without gradients, products in a precision of torch's, on one core of the processor.

    What another program set for torch in this process holds again afterwards. Raises `WorkerError` if the device
    fails, or has too little memory.
    """
    with _COMPUTING:
        restore, threads = _restoring_precision(), torch.get_num_threads()
        # "highest" keeps TF32, whose numbers have 10 bits, from products of float32.
        torch.set_float32_matmul_precision(precision)
        torch.set_num_threads(1)
        try:
            with torch.inference_mode():
                yield
        except RuntimeError as error:
            if isinstance(error, SoftbleuError):
                raise
            raise _failure(error) from error
        finally:
            restore()
            torch.set_num_threads(threads)


def _restoring_precision() -> Callable[[], None]:
    """Return a function that sets the precision of products as it is now."""
    try:
        return partial(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
    except RuntimeError:
        # A program that set it in the way that torch has from 2.9 on cannot be asked in the old way.
        matmul = torch.backends.cuda.matmul
        return partial(setattr, matmul, "fp32_precision", matmul.fp32_precision)


def is_short_of_memory(error: RuntimeError) -> bool:
    """Whether an error of torch says that memory does not suffice; only CUDA has a class for it."""
    return isinstance(error, torch.OutOfMemoryError) or any(
        said in str(error) for said in ("out of memory", "can't allocate memory", "not enough memory")
    )


def rounded_rows(rows: torch.Tensor) -> torch.Tensor:
    """Round each row as `softbleu.encoders.kept` does before it keeps it: to integers of 16 bits times a scale."""
    scales = rows.abs().amax(1, keepdim=True) / LARGEST
    return torch.round(rows / torch.where(scales > 0, scales, 1.0)) * scales


def _failure(error: RuntimeError) -> WorkerError:
    said = " ".join(str(error).split("\n")[0].split())[:200]
    if is_short_of_memory(error):
        return WorkerError(
            f"the device has too little memory ({said}): run fewer programs on it, or fewer ", Parameter("jobs")
        )
    return WorkerError(f"the device failed ({said}): run again, or without ", Parameter("device"))


class DeviceRows:
    """Vectors on a device, (rows, dimension): states in float32, directions and products in float64, as in NumPy.

    Indexed as an array they come back as float64. Where a device has no float64 (mps), all is float32. Rows that have
    `lengths`, (rows, 1), are divided by them when they are used, for float64 takes twice the memory.
    """

    def __init__(self, tensor: torch.Tensor, lengths: torch.Tensor | None = None) -> None:
        self.tensor, self.lengths = tensor, lengths

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and dimension."""
        return tuple(self.tensor.shape)

    def __len__(self) -> int:
        return len(self.tensor)

    @property
    def _exact(self) -> torch.dtype:
        return torch.float32 if self.tensor.device.type == "mps" else torch.float64

    def __getitem__(self, places: Integers | slice) -> Floats:
        rows: Floats = self.host[places]
        return rows

    @cached_property
    def host(self) -> Floats:
        """All rows, in memory."""
        return self._back(self._at(np.arange(len(self))))

    @computing()
    def mapped(self, matrix: NDArray[np.float32]) -> DeviceRows:
        """Return x + x M for each row x; see `VectorMap.of_lines`."""
        return DeviceRows(self.tensor + self.tensor @ self._there(matrix))

    @computing()
    def unit(self) -> DeviceRows:
        """Scale each row to length 1; a zero row stays zero."""
        lengths = torch.linalg.vector_norm(self.tensor, dim=1, keepdim=True, dtype=self._exact)
        return DeviceRows(self.tensor, torch.where(lengths > 0, lengths, 1.0))

    @computing()
    def chosen(self, places: Integers) -> DeviceRows:
        """Return the rows at some places."""
        index = self._there(places)
        return DeviceRows(self.tensor[index], None if self.lengths is None else self.lengths[index])

    @computing()
    def of_words(self, pieces: Pieces, starts: Integers, words: int) -> DeviceRows:
        """Compute directions of words; see `softbleu.encoders.pieces.word_rows`."""
        sums = torch.zeros((words, self.shape[1]), dtype=self._exact, device=self.tensor.device)
        for numbers, places in pieces_by_rank(pieces, starts):
            sums[self._there(numbers)] += self.tensor[self._there(places)]
        return DeviceRows(sums).unit()

    @computing()
    def along(self, direction: NDArray[np.floating]) -> Floats:
        """Multiply each row by one vector: (rows,)."""
        step, along = max(1, _FLOATS // self.shape[1]), self._there(direction).to(self._exact)
        parts = [np.arange(start, min(start + step, len(self))) for start in range(0, len(self), step)]
        return np.concatenate([np.zeros(0), *(self._back(self._at(part) @ along) for part in parts)])

    @computing()
    def tables(self, left: Integers, right: Integers) -> Floats:
        """Multiply all pairs of rows of each text, given by number: (batch, left, right)."""
        products = np.empty((len(left), left.shape[1], right.shape[1]))
        numbers = (left.shape[1] + right.shape[1]) * self.shape[1]
        step = max(1, min(_FLOATS // max(numbers, 1), _CELLS // max(left.shape[1] * right.shape[1], 1)))
        for start in range(0, len(left), step):
            some = slice(start, start + step)
            products[some] = self._back(self._products(left[some], self, right[some]))
        return products

    @computing()
    def neighbours(self, left: Integers, right: Integers) -> Floats:
        """Multiply rows pair by pair: (pairs,)."""
        step = max(1, _FLOATS // self.shape[1])
        products = np.empty(len(left))
        for start in range(0, len(left), step):
            some = slice(start, start + step)
            one, other = (self._at(part[some]) for part in (left, right))
            products[some] = self._back((one * other).sum(1))
        return products

    @computing()
    def greatest(
        self, other: DeviceRows, ours: tuple[Integers, Integers], theirs: tuple[Integers, Integers]
    ) -> list[tuple[Floats, Floats]]:
        """Find the greatest product of each row of either line of a pair with any row of the other, 0 without any.

        `ours` and `theirs` are the first rows of lines, and their lengths.
        """
        sizes = zip(ours[1].tolist(), theirs[1].tolist(), strict=True)
        found = [(np.zeros(height), np.zeros(width)) for height, width in sizes]
        for numbers, left, right in self._batches(ours, theirs):
            step = max(1, _CELLS // right.size)
            best, missed = [], torch.full(right.shape, -torch.inf, dtype=self._exact, device=self.tensor.device)
            for start in range(0, left.shape[1], step):
                some = left[:, start : start + step]
                products = self._products(some, other, right)
                products.masked_fill_(self._there(some < 0)[:, :, None], -torch.inf)
                products.masked_fill_(self._there(right < 0)[:, None, :], -torch.inf)
                best.append(products.amax(2))
                missed = torch.maximum(missed, products.amax(1))
            greatest = zip(self._back(torch.cat(best, 1)), self._back(missed), strict=True)
            for number, (met, of_other) in zip(numbers.tolist(), greatest, strict=True):
                found[number] = met[: ours[1][number]], of_other[: theirs[1][number]]
        return found

    @computing()
    def of_pairs(self, left: Integers, heights: Integers, right: Integers, widths: Integers) -> Floats:
        """Multiply all rows of each line with all of another line, the pairs of a line one behind the other.

        `left` and `right` are the rows of all lines, `heights` and `widths` the lengths of the lines of either side.
        """
        starts = [np.cumsum(lengths) - lengths for lengths in (heights, widths)]
        sizes = heights * widths
        bounds = np.concatenate(([0], np.cumsum(sizes)))
        products = np.empty(int(bounds[-1]))
        for numbers, one, two in self._batches((starts[0], heights), (starts[1], widths)):
            inside = (one >= 0)[:, :, None] & (two >= 0)[:, None, :]
            found = self._back(self._products(left[one], self, right[two]))
            places = np.arange(int(sizes[numbers].sum()))
            places += np.repeat(bounds[numbers] - np.cumsum(sizes[numbers]) + sizes[numbers], sizes[numbers])
            products[places] = found[inside]
        return products

    def _products(self, left: Integers, other: DeviceRows, right: Integers) -> torch.Tensor:
        """Multiply rows at `left` with rows of the other at `right`: (batch, left, right); of -1 there is no row."""
        sides = (self, left), (other, right)
        one, two = (rows._at(np.maximum(places, 0)) for rows, places in sides)
        return one @ two.transpose(1, 2)

    def _batches(
        self, ours: tuple[Integers, Integers], theirs: tuple[Integers, Integers]
    ) -> Iterator[tuple[Integers, Integers, Integers]]:
        """Group pairs of lines of similar lengths: their numbers and places, (batch, tokens), -1 beyond a line."""
        height, width = (-(-lengths // _GRAIN) * _GRAIN for lengths in (ours[1], theirs[1]))
        ranked = np.lexsort((height, width))
        ranked = ranked[(height[ranked] > 0) & (width[ranked] > 0)]
        start = 0
        while start < len(ranked):
            tallest = np.maximum.accumulate(height[ranked[start:]])
            count = np.arange(1, len(tallest) + 1)
            cells, floats = tallest * width[ranked[start:]], (tallest + width[ranked[start:]]) * self.shape[1]
            fitting = (cells * count <= _CELLS) & (floats * count <= _FLOATS)
            end = start + max(1, int(fitting.sum()))
            numbers = ranked[start:end]
            left, right = (
                _places(*(part[numbers] for part in (*side, filled)))
                for side, filled in ((ours, height), (theirs, width))
            )
            yield numbers, left, right
            start = end

    def _at(self, places: Integers) -> torch.Tensor:
        """Return the rows at places of any shape."""
        index = self._there(places)
        rows = self.tensor[index].to(self._exact)
        return rows if self.lengths is None else rows / self.lengths[index]

    def _there(self, values: Array) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.tensor.device)

    def _back(self, values: torch.Tensor) -> Floats:
        found: Floats = values.cpu().numpy().astype(np.float64)
        return found


def _places(starts: Integers, lengths: Integers, filled: Integers) -> Integers:
    places = np.arange(filled.max())
    return np.where(places < lengths[:, None], starts[:, None] + places, -1)
