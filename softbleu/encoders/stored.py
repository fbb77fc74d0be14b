"""An encoder of a store: its forward pass in NumPy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.vectors import QUANTILES
from softbleu.encoders.base import Pieces, check_layers
from softbleu.encoders.forward import BLOCK_ROWS, Layer, Linear, Norm, Transformer, filled_up
from softbleu.encoders.pieces import Window, cut_lines, cut_windows, read_tokenizer
from softbleu.encoders.store import (
    DISTANCES,
    POSITIONS,
    TOKENIZER,
    map_weights,
    read_encoder_meta,
    stored_array,
    stored_words,
)
from softbleu.errors import VectorError
from softbleu.io.executors import single_threaded_blas
from softbleu.io.platform import cached_property

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_ROWS = 14 * BLOCK_ROWS  # Rows that go through the network together


class StoredEncoder:
    """An encoder of a store that has been checked; holds no weights before it is used, so it is cheap to send away.

    The name is the directory's own unless given.
    """

    def __init__(self, directory: Path, name: str | None = None) -> None:
        self.directory = directory
        self.name = name or directory.resolve().name
        self.architecture, self.meta = sizes, meta = read_encoder_meta(directory)
        self.dimension, self.depth, self.vocabulary = sizes.dimension, sizes.depth, sizes.vocabulary
        self.fingerprint, self.layers, self.threshold = meta["sha256"], meta["layers"], meta.get("threshold")
        quantiles = meta.get(QUANTILES)
        cosine = quantiles.get("cosine") if isinstance(quantiles, dict) else None
        self.quantiles: Mapping[str, float] = dict(cosine) if isinstance(cosine, dict) else {}
        map_weights(directory, sizes, meta["dtype"])

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if not key.startswith("_")}

    def tokenize(self, lines: Sequence[Sequence[str]]) -> Pieces:
        """See `Encoder.tokenize`."""
        return cut_lines(self._tokenizer, lines, self.vocabulary, self.name)

    def encode(self, pieces: Pieces, layers: tuple[int, ...]) -> NDArray[np.float32]:
        """See `Encoder.encode`. Of a line longer than the positions the pieces are encoded in overlapping windows."""
        wanted = check_layers(layers, self.depth, self.name)
        rows = np.empty((len(pieces.ids), self.dimension), np.float32)
        windows = sorted(cut_windows(pieces, self.architecture.positions), key=len)
        # Products may be rounded otherwise by several threads; work is shared out among processes.
        with single_threaded_blas():
            for batch in _batches([window for window in windows if len(window)], self._transformer.period):
                self._encode_batch(pieces, batch, wanted, rows)
        if not np.isfinite(rows).all():
            raise VectorError(f"{self.name}: a hidden state is NaN or infinite; convert the model again")
        return rows

    def _encode_batch(
        self, pieces: Pieces, batch: Sequence[Window], layers: tuple[int, ...], out: NDArray[np.float32]
    ) -> None:
        lengths = [len(window) for window in batch]
        starts = np.cumsum([0, *(filled_up(length, self._transformer.period) for length in lengths)]).tolist()
        embeddings = np.zeros((filled_up(starts.pop(), BLOCK_ROWS), self.dimension), np.float32)
        for window, start in zip(batch, starts, strict=True):
            rows = stored_words(self._tensors, pieces.ids[window.places])
            embeddings[start : start + len(window)] = rows + self._positions[: len(window)]
        states = self._transformer.run(embeddings, lengths, layers)
        for window, start in zip(batch, starts, strict=True):
            out[window.places[window.taken]] = states[start : start + len(window)][window.taken]

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return read_tokenizer(self.directory / TOKENIZER)

    @cached_property
    def _tensors(self) -> Mapping[str, Any]:
        return map_weights(self.directory, self.architecture, self.meta["dtype"])

    @cached_property
    def _positions(self) -> NDArray[np.float32]:
        return stored_array(self._tensors, POSITIONS)

    @cached_property
    def _transformer(self) -> Transformer:
        distances = stored_array(self._tensors, DISTANCES) if self.architecture.distances else None
        return Transformer(self.architecture, self._norm("norm"), distances, cache(self._layer))

    def _layer(self, number: int) -> Layer:
        place = f"layers.{number}."
        qkv = self._linear(place + "qkv")
        root = np.float32(math.sqrt(self.dimension // self.architecture.heads))
        qkv.weight[:, : self.dimension] /= root
        qkv.bias[: self.dimension] /= root
        return Layer(
            qkv,
            self._linear(place + "attended"),
            self._norm(place + "attended_norm"),
            self._linear(place + "up"),
            self._linear(place + "down"),
            self._norm(place + "norm"),
        )

    def _linear(self, name: str) -> Linear:
        weight = stored_array(self._tensors, f"{name}.weight")
        return Linear(np.ascontiguousarray(weight.T), stored_array(self._tensors, f"{name}.bias"))

    def _norm(self, name: str) -> Norm:
        weight, bias = (stored_array(self._tensors, f"{name}.{part}") for part in ("weight", "bias"))
        return Norm(weight, bias, self.architecture.eps)


def _batches(windows: Sequence[Window], period: int) -> list[list[Window]]:
    """Windows, shortest first, in batches of about `_ROWS` rows, each filled up to a multiple of the period."""
    batches: list[list[Window]] = []
    room = 0
    for window in windows:
        rows = filled_up(len(window), period)
        if rows > room:
            batches.append([])
            room = max(_ROWS, rows)
        batches[-1].append(window)
        room -= rows
    return batches
