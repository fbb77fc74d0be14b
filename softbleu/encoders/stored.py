"""An encoder of a store: a forward pass in which results of a line never depend on other lines.

The rounding of a matrix product by NumPy may depend on the shapes and, on some processors, on the position of a row.
Therefore pieces of many lines are stacked, linear layers process blocks of `BLOCK_ROWS` rows, and lines start at
equivalent rows (`row_period`). Attention processes lines of equal length, with a product per line; other operations
work row by row. Activation functions work in place, in parts that fit the processor's cache.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from softbleu.embeddings.vectors import PAIRS, QUANTILES, SEED, pair_products, percentiles_of
from softbleu.encoders.base import Encoder, Pieces, PlacedLine, check_layers
from softbleu.encoders.pieces import CutsText, Window, cut_lines, cut_windows, word_rows
from softbleu.encoders.store import (
    DISTANCES,
    POSITIONS,
    TOKENIZER,
    EncoderArchitecture,
    Tensor,
    map_weights,
    read_encoder_meta,
    stored_array,
    stored_words,
)
from softbleu.encoders.unigram import open_tokenizer
from softbleu.errors import VectorError
from softbleu.io.executors import chosen_executor
from softbleu.io.files import required_resource
from softbleu.io.platform import cached_property, own_cores, single_threaded_blas

if TYPE_CHECKING:
    from softbleu.embeddings.maps import VectorMap


States = NDArray[np.float32]

_PART = 1 << 14
_END = np.float32(6)
# Polynomial of ln Phi(-a) for a from 0 to 6, where Phi is the normal distribution, by weighted least squares that
# minimise the greatest error of a * Phi(-a): 5e-8.
_LOG_TAIL = (
    -0.6931423708619624,
    -0.7979522136820566,
    -0.31799580754852086,
    -0.03702244843055061,
    0.005601125295696635,
    -0.0005331823005181983,
    2.293817349777013e-05,
)
BLOCK_ROWS = 144  # Rows of a product: a multiple of the block sizes of known libraries, 4 to 24
_MOST_SCORES = 1 << 20  # Attention scores that are held together, unless one line has more
_MOST_DISTANCE = 128  # Relative position from which all belong to one class
_ROWS = 14 * BLOCK_ROWS  # Rows that are processed together
_LEAST_ROWS = 4 * BLOCK_ROWS  # Rows from which another core pays off
_TEXTS = ("candidate.en", "reference.en", "reference2.en")


def activate(rows: States, name: str) -> None:
    """Apply an activation function to contiguous rows, in place."""
    flat = rows.reshape(-1)
    if name == "relu":
        np.maximum(flat, 0, out=flat)
        return
    apply = _gelu if name == "gelu" else _gelu_tanh
    spare = np.empty((2, min(_PART, len(flat))), np.float32)
    for start in range(0, len(flat), _PART):
        part = flat[start : start + _PART]
        apply(part, spare[0, : len(part)], spare[1, : len(part)])


def _gelu(x: States, size: States, tail: States) -> None:
    """Multiply by Phi(x), as max(x, 0) - |x| * Phi(-|x|); the error is that of float32, 3e-7 for x up to 3."""
    np.abs(x, out=size)
    np.minimum(size, _END, out=size)
    np.multiply(size, np.float32(_LOG_TAIL[-1]), out=tail)
    for coefficient in _LOG_TAIL[-2:0:-1]:
        tail += np.float32(coefficient)
        tail *= size
    tail += np.float32(_LOG_TAIL[0])
    np.exp(tail, out=tail)
    tail *= size
    np.maximum(x, 0, out=x)
    x -= tail


def _gelu_tanh(x: States, cube: States, _: States) -> None:
    """Multiply by (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2."""
    np.multiply(x, x, out=cube)
    cube *= x
    cube *= np.float32(0.044715)
    cube += x
    cube *= np.float32(math.sqrt(2 / math.pi))
    np.tanh(cube, out=cube)
    cube += np.float32(1)
    cube *= np.float32(0.5)
    x *= cube


@dataclass(frozen=True)
class Linear:
    """A linear layer."""

    weight: States  # Shape (from, to)
    bias: States

    def __call__(self, rows: States, out: States) -> States:
        """Apply the layer to a block of rows; the result is the first rows of `out`."""
        result = out[: len(rows)]
        np.matmul(rows, self.weight, out=result)
        result += self.bias
        return result


@dataclass(frozen=True)
class Norm:
    """Layer normalisation."""

    weight: States
    bias: States
    eps: float

    def __call__(self, rows: States) -> None:
        """Normalise a block of rows in place."""
        size = np.float32(rows.shape[1])
        rows -= rows.sum(axis=1, keepdims=True) / size
        variance = np.einsum("ij,ij->i", rows, rows) / size
        rows *= (np.float32(1) / np.sqrt(variance + np.float32(self.eps)))[:, None]
        rows *= self.weight
        rows += self.bias


@dataclass(frozen=True)
class Layer:
    """The weights of a layer."""

    qkv: Linear  # Queries, already divided by the root of their length, keys and values
    attended: Linear
    attended_norm: Norm
    up: Linear
    down: Linear
    norm: Norm


@dataclass(frozen=True)
class Transformer:
    """A transformer: its architecture and weights, ready for the forward pass."""

    architecture: EncoderArchitecture
    norm: Norm  # Normalisation of the embeddings
    distances: States | None  # Bias of attention scores: (classes of relative positions, heads)
    layer: Callable[[int], Layer]  # Returns the weights of a layer, from 0

    @cached_property
    def period(self) -> int:
        """Number of rows at whose multiples lines start."""
        layer = self.layer(0)
        linears = (layer.qkv, layer.attended, layer.up, layer.down)
        return math.lcm(*(row_period(linear.weight) for linear in linears))

    def run(self, embeddings: States, lengths: Sequence[int], layers: Sequence[int]) -> States:
        """Compute the hidden states of a layer (0: the embeddings), or the mean directions of several.

        `embeddings`, (rows, dimension), are sums of those of words and positions, and are overwritten. The rows, a
        multiple of `BLOCK_ROWS`, are those of lines of ascending length, each padded with zeros to a multiple of
        `period`. `lengths` are the numbers of pieces of lines.
        """
        rows = embeddings
        for block in _blocks(rows):
            self.norm(block)
        # States of several layers are normalised first, so that no layer outweighs the others.
        add = _add_directions if len(layers) > 1 else lambda states, sums: np.add(states, sums, out=sums)
        total = np.zeros_like(rows)
        if layers[0] == 0:
            add(rows, total)
        attended = np.zeros_like(rows)
        qkv = np.zeros((len(rows), 3 * rows.shape[1]), np.float32)
        inner = np.empty((BLOCK_ROWS, self.architecture.inner), np.float32)
        spare = np.empty((BLOCK_ROWS, rows.shape[1]), np.float32)
        for number in range(layers[-1]):
            layer = self.layer(number)
            for block, into in zip(_blocks(rows), _blocks(qkv), strict=True):
                layer.qkv(block, into)
            self._attend(qkv, lengths, attended)
            for block, seen in zip(_blocks(rows), _blocks(attended), strict=True):
                block += layer.attended(seen, spare)
                layer.attended_norm(block)
                raised = layer.up(block, inner)
                activate(raised, self.architecture.activation)
                block += layer.down(raised, spare)
                layer.norm(block)
            if number + 1 in layers:
                add(rows, total)
        if len(layers) > 1:
            total /= np.float32(len(layers))
        return total

    def _attend(self, qkv: States, lengths: Sequence[int], out: States) -> None:
        heads = self.architecture.heads
        for start, count, length in self._groups(lengths):
            filled = filled_up(length, self.period)
            part = slice(start, start + count * filled)
            # (3, lines, heads, length, dimension of a head)
            split = qkv[part].reshape(count, filled, 3, heads, -1)[:, :length].transpose(2, 0, 3, 1, 4)
            scores = np.matmul(split[0], split[1].swapaxes(2, 3))
            if self.distances is not None:
                scores += self._bias(length)
            scores -= scores.max(axis=3, keepdims=True)
            np.exp(scores, out=scores)
            scores /= scores.sum(axis=3, keepdims=True)
            into = out[part].reshape(count, filled, heads, -1)[:, :length].transpose(0, 2, 1, 3)
            np.matmul(scores, split[2], out=into)

    def _groups(self, lengths: Sequence[int]) -> Iterator[tuple[int, int, int]]:
        """Yield groups of lines of equal length: first row, number of lines, length."""
        row = 0
        for length, lines in groupby(lengths):
            most, count = max(1, _MOST_SCORES // (self.architecture.heads * length * length)), len(list(lines))
            for first in range(0, count, most):
                some = min(most, count - first)
                yield row, some, length
                row += some * filled_up(length, self.period)

    def _bias(self, length: int) -> States:
        """Compute the bias of a line's attention scores by relative positions: (heads, length, length)."""
        assert self.distances is not None
        places = np.arange(length)
        classes = distance_classes(places[None, :] - places[:, None], self.architecture.distances)
        return np.ascontiguousarray(self.distances[classes].transpose(2, 0, 1))


def filled_up(length: int, period: int) -> int:
    """Round a length up to a multiple of a period.

    >>> filled_up(25, 12), filled_up(24, 12)
    (36, 24)
    """
    return -(-length // period) * period


def row_period(weight: States) -> int:
    """Find the number of rows after which equal rows of a block give the same product in every bit.

    It is 1 if the position of a row does not matter, and 12 with OpenBLAS on processors without AVX-512.
    """
    row = np.random.default_rng(0).standard_normal(weight.shape[0], np.float32)
    products = np.matmul(np.tile(row, (BLOCK_ROWS, 1)), weight)
    divisors = (period for period in range(1, BLOCK_ROWS + 1) if BLOCK_ROWS % period == 0)
    return next(rows for rows in divisors if (products[rows:] == products[:-rows]).all())


def distance_classes(distances: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
    """Compute classes of relative positions (Raffel et al. 2020): per side, near ones exact, others by logarithm.

    >>> distance_classes(np.array([0, 1, 7, 8, 100, 500, -1, -500]), 32).tolist()
    [0, 17, 23, 24, 31, 31, 1, 15]
    """
    side = classes // 2
    exact = side // 2
    size = np.abs(distances)
    far = np.log(np.maximum(size, 1).astype(np.float32) / np.float32(exact)) / np.log(_MOST_DISTANCE / exact)
    coarse = np.minimum(exact + (far.astype(np.float32) * np.float32(side - exact)).astype(np.int64), side - 1)
    numbers: NDArray[np.int64] = np.where(size < exact, size, coarse) + side * (distances > 0)
    return numbers


def _blocks(rows: States) -> Iterator[States]:
    for start in range(0, len(rows), BLOCK_ROWS):
        yield rows[start : start + BLOCK_ROWS]


def _add_directions(rows: States, total: States) -> None:
    for block, into in zip(_blocks(rows), _blocks(total), strict=True):
        norms = np.sqrt(np.einsum("ij,ij->i", block, block))
        into += block * np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)[:, None]


class StoredEncoder:
    """An encoder of a store; weights are loaded on first use, so that it is cheap to send to workers.

    The default name is the name of the directory.
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

    def __getstate__(self) -> dict[str, object]:
        return {key: value for key, value in vars(self).items() if not key.startswith("_")}

    def tokenize(self, lines: Sequence[Sequence[str]]) -> Pieces:
        """Split lines into pieces; see `Encoder.tokenize`."""
        return self.cut([PlacedLine.of_words(line) for line in lines])

    def cut(self, lines: Sequence[PlacedLine]) -> Pieces:
        """Split lines, as they are written, into pieces, which belong to the words that they reach."""
        return cut_lines(self._tokenizer, lines, self.vocabulary, self.name)

    def encode(self, pieces: Pieces, layers: tuple[int, ...]) -> NDArray[np.float32]:
        """Compute hidden states; see `Encoder.encode`. Long lines are encoded in overlapping windows."""
        wanted = check_layers(layers, self.depth, self.name)
        rows = np.empty((len(pieces.ids), self.dimension), np.float32)
        windows = sorted(filter(len, cut_windows(pieces, self.architecture.positions)), key=len)
        cores = own_cores()
        batches = _batches(windows, self._transformer.period, cores)

        def encode(batch: Sequence[Window]) -> None:
            # Several threads would round a product differently; each batch has one.
            with single_threaded_blas():
                self._encode_batch(pieces, batch, wanted, rows)

        with chosen_executor(None, cores, len(batches), threads=True) as threads:
            list(map(encode, batches) if threads is None else threads.map(encode, batches))
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
    def _tokenizer(self) -> CutsText:
        return open_tokenizer(self.directory / TOKENIZER, self._tensors)

    @cached_property
    def _tensors(self) -> Mapping[str, Tensor]:
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
        root = np.float32(math.sqrt(self.dimension // self.architecture.heads))
        return Layer(
            self._linear(place + "qkv", root),
            self._linear(place + "attended"),
            self._norm(place + "attended_norm"),
            self._linear(place + "up"),
            self._linear(place + "down"),
            self._norm(place + "norm"),
        )

    def _linear(self, name: str, root: np.float32 | None = None) -> Linear:
        """Read a linear layer; its first results, the queries, are divided by a root, if any."""
        weight, bias = (stored_array(self._tensors, f"{name}.{part}") for part in ("weight", "bias"))
        if root is not None:
            weight[: self.dimension] /= root
            bias[: self.dimension] /= root
        return Linear(np.ascontiguousarray(weight.T), bias)

    def _norm(self, name: str) -> Norm:
        weight, bias = (stored_array(self._tensors, f"{name}.{part}") for part in ("weight", "bias"))
        return Norm(weight, bias, self.architecture.eps)


def _batches(windows: Sequence[Window], period: int, cores: int) -> list[list[Window]]:
    """Group windows, shortest first, in batches of about equally many rows, about `_ROWS` at most, for all cores."""
    sizes = [filled_up(len(window), period) for window in windows]
    ends = np.cumsum([0, *sizes])
    count = min(filled_up(-(-int(ends[-1]) // _ROWS), cores), -(-int(ends[-1]) // _LEAST_ROWS))
    numbers = ends[:-1] * count // max(int(ends[-1]), 1)
    return [
        [window for _, window in some]
        for _, some in groupby(zip(numbers.tolist(), windows, strict=False), itemgetter(0))
    ]


def measure_contexts(directory: Path) -> dict[str, object]:
    """Compute the measurements of a finished store for its ``meta.json``."""
    encoder = StoredEncoder(directory)
    quantiles = percentiles_of(context_similarities(encoder, encoder.layers))
    return {QUANTILES: {"pairs": PAIRS, "seed": SEED, "layers": list(encoder.layers), "cosine": quantiles}}


def context_quantile(
    encoder: Encoder, layers: tuple[int, ...], percentile: float, vector_map: VectorMap | None = None
) -> float:
    """Compute a percentile of the cosines of random pairs of words in context, under a map if any, to 6 decimals.

    `PAIRS` pairs of different words of the bundled sample text are drawn with a fixed seed.
    """
    quantiles = encoder.quantiles if layers == encoder.layers and vector_map is None else {}
    known = quantiles.get(f"p{percentile:g}")
    if known is None:
        known = round(float(np.percentile(context_similarities(encoder, layers, vector_map), percentile)), 6)
    return float(known)


def context_similarities(
    encoder: Encoder, layers: tuple[int, ...], vector_map: VectorMap | None = None
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Compute the cosines of `PAIRS` random pairs of different words (13a, lower-cased) in the bundled sample text.

    A word's vector is the mean of its pieces' vectors.
    """
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    cut = Tokenizer13a()  # type: ignore[no-untyped-call]
    texts = (required_resource("corpora", "samples", name).read_text(encoding="utf-8") for name in _TEXTS)
    lines = [cut(line).split() for text in texts for line in text.splitlines()]
    pieces = encoder.tokenize(lines)
    starts = np.cumsum([0, *map(len, lines)])
    states = encoder.encode(pieces, layers)
    if vector_map is not None:
        states = vector_map.of_lines(states, pieces.offsets)
    rows = word_rows(pieces, states, starts[:-1], int(starts[-1]))
    _, kinds = np.unique([word.lower() for line in lines for word in line], return_inverse=True)
    known = np.flatnonzero(rows.any(axis=1))
    directions = rows.astype(np.float32)
    generator = np.random.default_rng(SEED)
    one, other = np.empty(0, np.int64), np.empty(0, np.int64)
    while len(one) < PAIRS:
        drawn = known[generator.integers(len(known), size=(2, PAIRS))]
        drawn = drawn[:, kinds[drawn[0]] != kinds[drawn[1]]]
        one, other = np.append(one, drawn[0]), np.append(other, drawn[1])
    return pair_products(directions, one[:PAIRS], directions, other[:PAIRS])
