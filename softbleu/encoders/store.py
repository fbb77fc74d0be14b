"""The store of an encoder: a folder of plain files, written once and memory-mapped.

``weights.safetensors`` (matrices as float32, float16 or int8; other arrays as float32), ``tokenizer.json`` (of the
library `tokenizers`) and ``meta.json``. Arrays have the same names for all families of models, see
`EncoderArchitecture.shapes`; the vocabulary of a unigram tokenizer is among them (`softbleu.encoders.unigram`).

An int8 matrix has a float32 scale per row. 8 bits suffice for the embeddings of pieces. In linear layers some rows
have values 30 times as large as most, and errors add up from layer to layer, so their numbers have three more bits:
planes with one bit per number, 8 to a byte.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from softbleu.config.declare import Declared, setting
from softbleu.embeddings.vectors import META, StoreType, advised, check_meta, quantise
from softbleu.encoders.base import check_layers
from softbleu.errors import InputError, VectorError
from softbleu.io.files import hash_files
from softbleu.io.reading import check_plain, parse_json, read_json

if TYPE_CHECKING:
    from softbleu.types import Array, JsonObject

WORDS, POSITIONS, DISTANCES = "words", "positions", "distances"
SCALE, LOW = ".scale", ".low"
"""Suffixes of arrays that belong to an int8 array: scales of its rows, and lowest bits."""
LOW_BITS = 3  # Additional bits of int8 matrices, except for the embeddings of pieces
# bfloat16 is the upper half of a float32; NumPy has no such type.
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I8": "|i1", "U8": "|u1"}
STORED_SUM = "stored_sha256"
"""Entry of ``meta.json`` for the hash of the files where these leave out rows that no text needs."""
ENCODER_FORMAT = 2
"""Greatest format of a store; 2 has the vocabulary of a unigram tokenizer among its arrays."""
ENCODER_KIND = "encoder"
WEIGHTS, TOKENIZER = "weights.safetensors", "tokenizer.json"
ENCODER_FILES = (META, WEIGHTS, TOKENIZER)
_STORED = {"int8": "I8", "float16": "F16", "float32": "F32"}
_AGAIN = "convert the model again"
_BLOCK = 1 << 14  # WeightRows that are rounded at once


@dataclass(frozen=True)
class EncoderArchitecture(Declared):
    """Parameters of a forward pass, apart from the weights."""

    dimension: int = setting(help="Length of a hidden state", least=1, most=1 << 16)
    heads: int = setting(help="Heads of attention", least=1, most=1 << 10)
    inner: int = setting(help="Length of a row between the two linear layers of a layer", least=1, most=1 << 18)
    depth: int = setting(help="Layers", least=1, most=1 << 10)
    vocabulary: int = setting(help="Pieces", least=1, most=1 << 24)
    positions: int = setting(help="Most pieces of a line, with boundary pieces", least=1, most=1 << 20)
    distances: int = setting(help="Classes of relative positions; 0: only absolute ones", least=0, most=1 << 10)
    activation: Literal["gelu", "gelu_tanh", "relu"] = setting(help="Function between these linear layers")
    eps: float = setting(help="Constant added to variances", least=1e-30, most=1)

    def check(self) -> None:
        """Check that the number of heads divides the dimension."""
        if self.dimension % self.heads:
            raise InputError(f"{self.heads} heads do not divide the dimension {self.dimension}")

    @classmethod
    def read(cls, config: Mapping[str, object], where: str) -> EncoderArchitecture:
        """Read an architecture from a mapping with more entries."""
        values: JsonObject = {field.name: config.get(field.name) for field in fields(cls)}
        try:
            return cls(**values)
        except InputError as error:
            raise VectorError(f"{where}: {error}") from None

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of all arrays of a store by name."""
        wide = (self.dimension,)
        shapes: dict[str, tuple[int, ...]] = {
            WORDS: (self.vocabulary, self.dimension),
            POSITIONS: (self.positions, self.dimension),
            "norm.weight": wide,
            "norm.bias": wide,
        }
        if self.distances:
            shapes[DISTANCES] = (self.distances, self.heads)
        for layer in range(self.depth):
            for part, (rows, columns) in self.matrices().items():
                shapes[f"layers.{layer}.{part}.weight"] = (rows, columns)
                shapes[f"layers.{layer}.{part}.bias"] = (rows,)
            for part in ("attended_norm", "norm"):
                shapes |= {f"layers.{layer}.{part}.{kind}": wide for kind in ("weight", "bias")}
        return shapes

    def matrices(self) -> dict[str, tuple[int, int]]:
        """Return the shapes of the linear layers of a layer by name."""
        return {
            "qkv": (3 * self.dimension, self.dimension),
            "attended": (self.dimension, self.dimension),
            "up": (self.inner, self.dimension),
            "down": (self.dimension, self.inner),
        }


def is_rounded(name: str, shape: tuple[int, ...]) -> bool:
    """Whether an array is rounded to int8 or float16 on request: all matrices except the small distances."""
    return len(shape) == 2 and name != DISTANCES


class WeightRows(Protocol):
    """An array that is read by rows."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""

    def floats(self, rows: Array | slice = ...) -> NDArray[np.float32]:
        """Return some rows, or all, as float32."""


@dataclass(frozen=True)
class Tensor:
    """An array in a file."""

    kind: str  # Type, as named by safetensors
    values: Array  # The memory-mapped array; the bits of bfloat16

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array."""
        return self.values.shape

    def floats(self, rows: Array | slice = slice(None)) -> NDArray[np.float32]:
        """Return some rows, or all, as float32."""
        part = self.values[rows]
        if self.kind == "BF16":
            return (part.astype(np.uint32) << 16).view(np.float32)
        with np.errstate(over="ignore"):
            return part.astype(np.float32)


def map_tensors(path: Path) -> dict[str, Tensor]:
    """Map the arrays of floats and bytes of a safetensors file by name; ignore other types."""
    from safetensors import SafetensorError, safe_open

    try:
        check_plain(path)
        # safe_open checks that all arrays lie in the file without gaps.
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
        raise VectorError(f"{path}: not a safetensors file, or damaged ({reason}); get it again") from error
    return {
        name: Tensor(entry["dtype"], _array(content, entry))
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] in _TYPES
    }


def _array(content: NDArray[np.uint8], entry: JsonObject) -> Array:
    begin, end = entry["data_offsets"]
    shape = tuple(entry["shape"])
    if not math.prod(shape):
        return np.empty(shape, _TYPES[entry["dtype"]])
    return np.ndarray(shape, _TYPES[entry["dtype"]], content[begin:end].data)


def round_rows(
    rows: NDArray[np.float32], low_bits: int
) -> tuple[NDArray[np.int8], NDArray[np.uint8], NDArray[np.float32]]:
    """Round each row to integer multiples of its own scale.

    Returns the high 8 bits; the low bits, (bits, rows, bytes), the lowest first; and the scales.

    >>> rows = np.array([[1.0, -0.34, 0.02], [0.0, 0.0, 0.0]], np.float32)
    >>> restore_rows(*round_rows(rows, 3)).round(3).tolist()
    [[1.0, -0.3400000035762787, 0.019999999552965164], [0.0, 0.0, 0.0]]
    """
    numbers, scales = quantise(rows, (128 << low_bits) - 1)
    planes = [np.packbits((numbers >> bit & 1).astype(bool), axis=1) for bit in range(low_bits)]
    return (numbers >> low_bits).astype(np.int8), np.stack(planes), scales


def restore_rows(high: NDArray[np.int8], low: NDArray[np.uint8], scales: NDArray[np.float32]) -> NDArray[np.float32]:
    """Restore rows from `round_rows`."""
    numbers = high.astype(np.int16) << len(low)
    for bit, plane in enumerate(low):
        numbers += np.unpackbits(plane, axis=1, count=high.shape[1]).astype(np.int16) << bit
    restored = numbers.astype(np.float32)
    restored *= scales[:, None]
    return restored


def names_encoder(directory: Path) -> bool:
    """Whether ``meta.json`` of a folder says that it is an encoder's store."""
    try:
        meta = read_json(directory / META)
    except InputError:
        return False
    return isinstance(meta, dict) and meta.get("kind") == ENCODER_KIND


def read_encoder_meta(directory: Path) -> tuple[EncoderArchitecture, JsonObject]:
    """Read and check ``meta.json``; return the architecture and all entries."""
    path = directory / META
    with advised(_AGAIN):
        meta = read_json(path)
        if not isinstance(meta, dict) or meta.get("kind") != ENCODER_KIND:
            raise VectorError(f"{path}: does not describe an encoder; {_AGAIN}")
        check_meta(path, meta, ENCODER_FORMAT, "encoder", _AGAIN)
        architecture, layers = EncoderArchitecture.read(meta, str(path)), meta.get("layers")
        if not isinstance(layers, list) or any(type(layer) is not int for layer in layers):
            raise VectorError(f"{path}: 'layers' must be a list of numbers; {_AGAIN}")
        return architecture, {**meta, "layers": check_layers(layers, architecture.depth, str(path))}


def map_weights(directory: Path, architecture: EncoderArchitecture, dtype: StoreType) -> dict[str, Tensor]:
    """Map the arrays of a store, and check their names, types and shapes."""
    path = directory / WEIGHTS
    tensors = map_tensors(path)
    for name, shape in architecture.shapes().items():
        rounded = is_rounded(name, shape)
        _check_tensor(path, tensors, name, shape, _STORED[dtype] if rounded else "F32")
        if rounded and dtype == "int8":
            _check_tensor(path, tensors, name + SCALE, shape[:1], "F32")
            if name != WORDS:
                _check_tensor(path, tensors, name + LOW, (LOW_BITS, shape[0], -(-shape[1] // 8)), "U8")
    return tensors


def _check_tensor(path: Path, tensors: Mapping[str, Tensor], name: str, shape: tuple[int, ...], kind: str) -> None:
    tensor = tensors.get(name)
    if tensor is None:
        raise VectorError(f"{path}: {name} is missing; {_AGAIN}")
    if (tensor.values.shape, tensor.kind) != (shape, kind):
        actual = f"{tensor.kind} of shape {tensor.values.shape}"
        raise VectorError(f"{path}: {name} is {actual}, {kind} of shape {shape} expected; {_AGAIN}")


def stored_array(tensors: Mapping[str, Tensor], name: str) -> NDArray[np.float32]:
    """Read an array as float32."""
    if (low := tensors.get(name + LOW)) is not None:
        return restore_rows(tensors[name].values, low.values, tensors[name + SCALE].values)
    return tensors[name].floats()


def stored_words(tensors: Mapping[str, Tensor], ids: NDArray[np.int32]) -> NDArray[np.float32]:
    """Read the embeddings of some pieces as float32."""
    rows = tensors[WORDS].floats(ids)
    if (scales := tensors.get(WORDS + SCALE)) is not None:
        rows *= scales.values[ids, None]
    return rows


def write_weights(
    path: Path, weights: Iterable[tuple[str, WeightRows]], dtype: StoreType, more: Mapping[str, Array]
) -> None:
    """Write the arrays of a store, large ones in blocks of rows, and `more` arrays as they are.

    Raises `VectorError` for values that are not finite, or too large for `dtype`.
    """
    from safetensors.numpy import save_file

    arrays: dict[str, Array] = dict(more)
    for name, values in weights:
        if not is_rounded(name, values.shape):
            arrays[name] = np.ascontiguousarray(_finite(name, values.floats(), dtype))
            continue
        blocks: dict[str, list[Array]] = {}
        for start in range(0, values.shape[0], _BLOCK):
            for part, block in _rounded(name, values.floats(slice(start, start + _BLOCK)), dtype):
                blocks.setdefault(part, []).append(block)
        # Low bits have the rows in their second dimension.
        arrays |= {part: np.concatenate(several, 1 if part.endswith(LOW) else 0) for part, several in blocks.items()}
    path.touch()
    mode = path.stat().st_mode
    save_file(arrays, path)
    # The library makes files that only their owner can read.
    path.chmod(mode)


def _rounded(name: str, values: NDArray[np.float32], dtype: StoreType) -> Iterator[tuple[str, Array]]:
    """Yield the arrays that hold rows of a matrix."""
    if dtype != "int8":
        with np.errstate(over="ignore"):
            yield name, _finite(name, values.astype(dtype), dtype)
        return
    _finite(name, values, dtype)
    codes, *low, scales = quantise(values) if name == WORDS else round_rows(values, LOW_BITS)
    yield name, codes
    yield from ((name + LOW, bits) for bits in low)
    yield name + SCALE, scales


def _finite(name: str, values: Array, dtype: StoreType) -> Array:
    if not np.isfinite(values).all():
        raise VectorError(f"{name}: NaN, infinite or too large for {dtype}; get the model again")
    return values


def encoder_fingerprint(directory: Path, architecture: EncoderArchitecture) -> str:
    """Compute the hex SHA-256 of weights, tokenizer and architecture, on which hidden states depend."""
    files = hash_files(directory / WEIGHTS, directory / TOKENIZER)
    known = json.dumps(asdict(architecture), sort_keys=True)
    return hashlib.sha256(f"{files} {known}".encode()).hexdigest()
