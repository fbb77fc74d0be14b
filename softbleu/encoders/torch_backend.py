"""Encoders of a store in torch: the forward pass of `softbleu.encoders.stored` on a device.

Pieces of many lines are stacked, and linear layers process blocks of a fixed number of rows. Attention processes
lines whose lengths are filled up to a multiple of 8. So the shapes of products do not depend on the other lines.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from softbleu.encoders.base import Encoder, Pieces, PlacedLine, check_layers
from softbleu.encoders.device import Device
from softbleu.encoders.kept import EncodedLines
from softbleu.encoders.pieces import Window, cut_windows, in_texts
from softbleu.encoders.store import DISTANCES, SCALE, WORDS, stored_array
from softbleu.encoders.stored import Linear, Norm, StoredEncoder, distance_classes
from softbleu.encoders.torch_rows import DeviceRows, computing, is_short_of_memory, rounded_rows
from softbleu.errors import InputError, Parameter, VectorError, WorkerError
from softbleu.io.executors import stop_forking, worker_number
from softbleu.io.platform import cached_property, lock
from softbleu.io.progress import note_wait

if TYPE_CHECKING:
    from softbleu.types import Integers

_ROWS = {"cuda": 8192, "mps": 4096, "cpu": 288}
"""Pieces that are encoded together, while memory suffices."""
_GRAIN = 8
_KEPT = {"cuda": 1 << 30, "mps": 1 << 28, "cpu": 1 << 27}
"""Bytes of states that are kept on a device, unless one chunk of lines has more."""
_SHARE = 4  # At most a quarter of the memory that is free keeps states
_GELU_TANH = partial(torch.nn.functional.gelu, approximate="tanh")
_TYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16}


def open_device(device: Device) -> torch.device:
    """Return torch's device; of several cards each worker of an executor has one.

    Raises `InputError` if torch finds no such device.
    """
    stop_forking()
    if device.name == "cpu":
        return torch.device("cpu")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        there = torch.cuda.is_available() if device.name == "cuda" else torch.backends.mps.is_available()
        said = [" ".join(str(one.message).split())[:200] for one in warned]
    if not there:
        why = said[0] if said else f"torch {torch.__version__} finds none"
        raise InputError(Parameter("device", device.name), f": no such device here ({why})")
    return torch.device(device.name, worker_number() % torch.cuda.device_count() if device.name == "cuda" else 0)


def peak_memory(device: torch.device) -> int:
    """Return the most bytes of a card that tensors of this process have taken; 0 on other devices."""
    return int(torch.cuda.max_memory_allocated(device)) if device.type == "cuda" else 0


@dataclass(frozen=True)
class _Linear:
    weight: torch.Tensor  # Shape (to, from)
    bias: torch.Tensor

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(rows.to(self.weight.dtype), self.weight, self.bias).float()


@dataclass(frozen=True)
class _Norm:
    weight: torch.Tensor
    bias: torch.Tensor
    eps: float

    def __call__(self, rows: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.layer_norm(rows, self.weight.shape, self.weight, self.bias, self.eps)


@dataclass(frozen=True)
class _Layer:
    qkv: _Linear
    attended: _Linear
    attended_norm: _Norm
    up: _Linear
    down: _Linear
    norm: _Norm


class TorchEncoder(StoredEncoder):
    """An encoder of a store that computes on a device.

    In a precision below float32 products are, and all else is float32.
    """

    def __init__(self, directory: Path, name: str | None, device: Device) -> None:
        super().__init__(directory, name)
        self.device = device
        self.together = _ROWS[device.name]  # Pieces that are encoded together

    @classmethod
    def of(cls, encoder: Encoder, device: Device) -> TorchEncoder:
        """Return an encoder of a store on a device."""
        if not isinstance(encoder, StoredEncoder):
            raise InputError(f"{encoder.name}: no encoder of a store: leave out ", Parameter("device"))
        return cls(encoder.directory, encoder.name, device)

    @cached_property
    def place(self) -> torch.device:
        """The device of torch."""
        return open_device(self.device)

    def memory(self) -> str:
        """Describe the most memory of the card that this process has taken; empty for other devices."""
        if "place" not in vars(self) or self.place.type != "cuda":
            return ""
        taken = peak_memory(self.place) / 1e9
        return f"{torch.cuda.get_device_name(self.place)}: at most {taken:.2f} GB of memory taken"

    def encode(self, pieces: Pieces, layers: tuple[int, ...]) -> NDArray[np.float32]:
        """Compute hidden states; see `Encoder.encode`."""
        found: NDArray[np.float32] = self.states(pieces, layers).cpu().numpy()
        return found

    def states(self, pieces: Pieces, layers: tuple[int, ...]) -> torch.Tensor:
        """Compute hidden states as `encode` does, and leave them on the device: (pieces, dimension).

        Raises `WorkerError` if not even one line fits into its memory.
        """
        wanted = check_layers(layers, self.depth, self.name)
        windows = sorted(cut_windows(pieces, self.architecture.positions), key=len)
        windows = [window for window in windows if len(window)]
        ends, done = np.cumsum([0, *map(len, windows)]), 0
        with self.computing():
            out = torch.empty((len(pieces.ids), self.dimension), device=self.place)
            while done < len(windows):
                fitting = int(np.searchsorted(ends, ends[done] + self.together, "right")) - 1
                some = windows[done : max(fitting, done + 1)]
                try:
                    self._encode_windows(pieces, some, wanted, out)
                except RuntimeError as error:
                    if not is_short_of_memory(error):
                        raise
                    self._take_less(sum(map(len, some)), len(some))
                else:
                    done += len(some)
            if not bool(torch.isfinite(out).all()):
                less = self.device.precision != "float32"
                advice = "leave out the precision" if less else "convert the model again"
                raise VectorError(f"{self.name}: a hidden state is NaN or infinite; {advice}")
        return out

    def computing(self) -> AbstractContextManager[None]:
        """Compute in the precision of the device; see `softbleu.encoders.torch_rows.computing`."""
        return computing("high" if self.device.precision == "tf32" else "highest")

    def _take_less(self, pieces: int, lines: int) -> None:
        """Encode half as many pieces together from now on; raise WorkerError if a line alone is too much."""
        if lines == 1:
            raise WorkerError(
                f"{self.device.name} has too little memory for a line of {pieces:,} pieces: free some, or leave out ",
                Parameter("device"),
            )
        self.together = max(1, min(self.together, pieces) // 2)
        if self.place.type == "cuda":
            torch.cuda.empty_cache()
        note_wait(f"memory of {self.device.name} is short: {self.together:,} pieces are encoded together")

    def _encode_windows(
        self, pieces: Pieces, windows: Sequence[Window], layers: tuple[int, ...], out: torch.Tensor
    ) -> None:
        lengths = np.array([len(window) for window in windows])
        starts = np.concatenate(([0], np.cumsum(lengths)))
        places = np.concatenate([window.places for window in windows])
        within = np.arange(len(places)) - np.repeat(starts[:-1], lengths)
        rows = torch.zeros((max(self.together, len(places)), self.dimension), device=self.place)
        rows[: len(places)] = self._words(pieces.ids[places]) + self._places[self.there(within)]
        states = self._run(rows, starts, layers)
        parts = [np.arange(len(window))[window.taken] for window in windows]
        taken = np.concatenate([part + start for part, start in zip(parts, starts[:-1].tolist(), strict=True)])
        out[self.there(places[taken])] = states[self.there(taken)]

    def _run(self, rows: torch.Tensor, starts: Integers, layers: Sequence[int]) -> torch.Tensor:
        """Compute states of embeddings; see `softbleu.encoders.stored.Transformer.run`."""
        groups = [self._group(starts, *ends) for ends in _lengths_alike(np.diff(starts))]
        activations = {"relu": torch.relu, "gelu": torch.nn.functional.gelu, "gelu_tanh": _GELU_TANH}
        activate = activations[self.architecture.activation]
        rows = self._first_norm(rows)
        total = torch.zeros_like(rows)
        for number in range(layers[-1] + 1):
            if number:
                layer = self._weights(number - 1)
                rows = layer.attended_norm(rows + layer.attended(self._attend(layer.qkv(rows), groups)))
                rows = layer.norm(rows + layer.down(activate(layer.up(rows))))
            if number in layers:
                total += torch.nn.functional.normalize(rows, eps=1e-30) if len(layers) > 1 else rows
        return total / len(layers)

    def _attend(self, qkv: torch.Tensor, groups: Sequence[tuple[torch.Tensor, ...]]) -> torch.Tensor:
        dtype = _TYPES.get(self.device.precision, torch.float32)
        out = torch.zeros((len(qkv), self.dimension), device=self.place)
        for places, there, inside, rows, bias in groups:
            # (3, lines, heads, length, dimension of a head)
            split = qkv[places].to(dtype).unflatten(2, (3, self.architecture.heads, -1)).permute(2, 0, 3, 1, 4)
            # How arrays lie in memory would depend on the number of lines, and rounding on it.
            split = split.contiguous()
            scores = (split[0] @ split[1].transpose(2, 3)).float()
            if self.architecture.distances:
                scores += bias
            scores.masked_fill_(~there[:, None, None, :], -torch.inf)
            attended = (torch.softmax(scores, 3).to(dtype) @ split[2]).float()
            out[rows] = attended.transpose(1, 2).flatten(2).flatten(0, 1)[inside]
        return out

    def _group(self, starts: Integers, first: int, end: int) -> tuple[torch.Tensor, ...]:
        """Return places of the pieces of some lines, filled up; which of them are pieces; and biases of distances.

        Between these stand the numbers of the pieces among the places, and their rows, so that the device need not
        wait to count them.
        """
        lengths = np.diff(starts)[first:end]
        within = np.arange(-(-int(lengths.max()) // _GRAIN) * _GRAIN)
        there = within < lengths[:, None]
        places = np.where(there, starts[first:end, None] + within, starts[first])
        bias = torch.zeros(0)
        if self.architecture.distances:
            classes = distance_classes(within[None, :] - within[:, None], self.architecture.distances)
            bias = self._distances[self.there(classes)].permute(2, 0, 1)
        inside = np.flatnonzero(there)
        return *(self.there(part) for part in (places, there, inside, places.reshape(-1)[inside])), bias

    @cached_property
    def _weights(self) -> Callable[[int], _Layer]:
        return cache(self._layer_there)

    def _layer_there(self, number: int) -> _Layer:
        layer = self._layer(number)
        linear = (self._linear_there(part) for part in (layer.qkv, layer.attended, layer.up, layer.down))
        qkv, attended, up, down = linear
        return _Layer(qkv, attended, self._norm_there(layer.attended_norm), up, down, self._norm_there(layer.norm))

    def _linear_there(self, linear: Linear) -> _Linear:
        dtype = _TYPES.get(self.device.precision, torch.float32)
        return _Linear(*(self.there(part).to(dtype) for part in (linear.weight.T, linear.bias)))

    def _norm_there(self, norm: Norm) -> _Norm:
        return _Norm(self.there(norm.weight), self.there(norm.bias), norm.eps)

    @cached_property
    def _first_norm(self) -> _Norm:
        return self._norm_there(self._norm("norm"))

    @cached_property
    def _places(self) -> torch.Tensor:
        return self.there(self._positions)

    @cached_property
    def _distances(self) -> torch.Tensor:
        return self.there(stored_array(self._tensors, DISTANCES))

    @cached_property
    def _embeddings(self) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Embeddings of all pieces in the type of the store, and the scales of rows of int8."""
        scales = self._tensors.get(WORDS + SCALE)
        return self.there(self._tensors[WORDS].values), None if scales is None else self.there(scales.values)

    def _words(self, ids: NDArray[np.int32]) -> torch.Tensor:
        numbers = self.there(ids.astype(np.int64))
        values, scales = self._embeddings
        rows = values[numbers].float()
        return rows if scales is None else rows * scales[numbers, None]

    def there(self, values: NDArray[np.generic]) -> torch.Tensor:
        """Copy an array to the device."""
        # Arrays of a store cannot be written to, which torch warns of.
        array = np.ascontiguousarray(values)
        return torch.from_numpy(array if array.flags.writeable else array.copy()).to(self.place)


def _lengths_alike(lengths: Integers) -> Iterator[tuple[int, int]]:
    """Yield the bounds of consecutive lines whose lengths are filled up to the same.

    >>> list(_lengths_alike(np.array([3, 8, 9, 16, 17])))
    [(0, 2), (2, 4), (4, 5)]
    """
    filled = -(-lengths // _GRAIN)
    return pairwise([0, *(np.flatnonzero(np.diff(filled)) + 1).tolist(), len(lengths)])


class DeviceLines(EncodedLines):
    """Hidden states of lines that stay on a device; each distinct line is encoded once, until memory is full.

    They are rounded as states on disk are. None are kept on disk, because encoding a line again is faster.
    """

    encoder: TorchEncoder

    def __init__(self, encoder: TorchEncoder, layers: tuple[int, ...]) -> None:
        super().__init__(encoder, layers)
        self._places: dict[str, int] = {}
        self._used = 0
        self._pool: torch.Tensor | None = None
        self._using = lock()

    def rows(  # type: ignore[override]
        self, lines: Sequence[PlacedLine], before: Sequence[Sequence[PlacedLine]] = ()
    ) -> tuple[Pieces, DeviceRows]:
        """Return the pieces of distinct lines and their hidden states; see `EncodedLines.rows`."""
        every, pieces, texts, numbers_of = self.cut_texts(lines, before)
        sizes = dict(zip(texts, np.diff(pieces.offsets).tolist(), strict=True))
        with self._using, self.encoder.computing():
            new = [text for text in sizes if text not in self._places]
            if self._used + sum(sizes[text] for text in new) > max(len(self._room(0)), self._most):
                self._places, self._used, new = {}, 0, list(sizes)
            if new:
                numbers = [numbers_of[text] for text in new]
                if before:
                    chosen, places = in_texts(every, numbers)
                    states = self.encoder.states(chosen, self.layers)[self.encoder.there(np.concatenate(places))]
                else:
                    states = self.encoder.states(every.chosen([line for (line,) in numbers]), self.layers)
                count = len(states)
                self._room(self._used + count)[self._used : self._used + count] = rounded_rows(states)
                ends = np.cumsum([sizes[text] for text in new]) + self._used
                self._places.update(zip(new, ends.tolist(), strict=True))
                self._used += count
            starts = np.array([self._places[text] - sizes[text] for text in texts], np.int64)
            lengths = np.diff(pieces.offsets)
            index = np.arange(len(pieces.ids)) + np.repeat(starts - pieces.offsets[:-1], lengths)
            return pieces, DeviceRows(self._room(0)[self.encoder.there(index)])

    def _room(self, rows: int) -> torch.Tensor:
        """Return the pool, which is made larger where it has fewer rows."""
        pool = self._pool
        if pool is None or len(pool) < rows:
            shape = max(rows, min(2 * rows, self._most)), self.encoder.dimension
            grown = torch.empty(shape, device=self.encoder.place)
            if pool is not None:
                grown[: self._used] = pool[: self._used]
            self._pool = pool = grown
        return pool

    @cached_property
    def _most(self) -> int:
        """Rows that are kept."""
        most = _KEPT[self.encoder.device.name]
        if self.encoder.place.type == "cuda":
            most = min(most, torch.cuda.mem_get_info(self.encoder.place)[0] // _SHARE)
        return most // (4 * self.encoder.dimension)
