"""The store of an encoder: a folder of plain files, written once and memory-mapped.

``weights.safetensors`` (matrices as float32, float16 or int8 with a float32 scale a row and, but for the
embeddings of pieces, three more bits a value, see `round_rows`; all else float32),
``tokenizer.json`` (of the `tokenizers` library) and ``meta.json``. Of all families of models the arrays have the same
names, see `EncoderArchitecture.shapes`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbleu.data_files import read_json
from softbleu.embeddings.encoders.architecture import LOW, LOW_BITS, SCALE, WORDS, EncoderArchitecture, is_rounded
from softbleu.embeddings.encoders.base import check_layers
from softbleu.embeddings.encoders.rounding import restore_rows, round_rows
from softbleu.embeddings.encoders.tensors import Tensor, map_tensors
from softbleu.embeddings.store import META, STORE_TYPES, StoreType, quantise
from softbleu.errors import InputError, VectorError
from softbleu.files import hash_files

ENCODER_FORMAT = 1
ENCODER_KIND = "encoder"
WEIGHTS, TOKENIZER = "weights.safetensors", "tokenizer.json"
ENCODER_FILES = (META, WEIGHTS, TOKENIZER)
_SHA256 = re.compile("[0-9a-f]{64}")
_STORED = {"int8": "I8", "float16": "F16", "float32": "F32"}
_AGAIN = "convert the model again"


@dataclass(frozen=True)
class EncoderMeta:
    """What ``meta.json`` says of an encoder, as far as it is needed to use it."""

    architecture: EncoderArchitecture
    layers: tuple[int, ...]
    threshold: float | None
    dtype: StoreType
    fingerprint: str
    everything: Mapping[str, Any]
    """All that it says."""


def names_encoder(directory: Path) -> bool:
    """Whether ``meta.json`` of a folder says that it is an encoder's store."""
    try:
        meta = read_json(directory / META)
    except InputError:
        return False
    return isinstance(meta, dict) and meta.get("kind") == ENCODER_KIND


def read_encoder_meta(directory: Path) -> EncoderMeta:
    """Read and check ``meta.json``."""
    path = directory / META
    try:
        meta = read_json(path)
        if not isinstance(meta, dict) or meta.get("kind") != ENCODER_KIND:
            raise VectorError(f"{path}: of no encoder; {_AGAIN}")
        _check_format(path, meta)
        architecture = EncoderArchitecture.read(meta, str(path))
        return EncoderMeta(
            architecture,
            _read_layers(path, meta, architecture.depth),
            _read_threshold(path, meta),
            meta["dtype"],
            meta["sha256"],
            meta,
        )
    except InputError as error:
        raise VectorError(f"{error}; {_AGAIN}") from error


def _check_format(path: Path, meta: Mapping[str, Any]) -> None:
    version = meta.get("format")
    if type(version) is not int or version < 1:
        raise VectorError(f"{path}: no store format is named; {_AGAIN}")
    if version > ENCODER_FORMAT:
        raise VectorError(
            f"{path}: encoder format {version} is newer than this softbleu reads ({ENCODER_FORMAT}); upgrade softbleu"
        )
    if meta.get("dtype") not in STORE_TYPES:
        raise VectorError(f"{path}: unknown dtype {meta.get('dtype')!r}; valid: {', '.join(STORE_TYPES)}")
    if not (isinstance(meta.get("sha256"), str) and _SHA256.fullmatch(meta["sha256"])):
        raise VectorError(f"{path}: 'sha256' is no SHA-256 of 64 hexadecimal digits; {_AGAIN}")


def _read_layers(path: Path, meta: Mapping[str, Any], depth: int) -> tuple[int, ...]:
    layers = meta.get("layers")
    if not isinstance(layers, list) or any(type(layer) is not int for layer in layers):
        raise VectorError(f"{path}: 'layers' is no list of numbers; {_AGAIN}")
    return check_layers(layers, depth, str(path))


def _read_threshold(path: Path, meta: Mapping[str, Any]) -> float | None:
    threshold = meta.get("threshold")
    if threshold is not None and (type(threshold) not in (int, float) or not 0 <= threshold <= 1):
        raise VectorError(f"{path}: 'threshold' is no number from 0 to 1, but {threshold!r}")
    return threshold


def map_weights(directory: Path, meta: EncoderMeta) -> dict[str, Tensor]:
    """Map the arrays of a store, and see that they are those that it must have."""
    path = directory / WEIGHTS
    tensors = map_tensors(path)
    for name, shape in meta.architecture.shapes().items():
        rounded = is_rounded(name, shape)
        _check_tensor(path, tensors, name, shape, _STORED[meta.dtype] if rounded else "F32")
        if rounded and meta.dtype == "int8":
            _check_tensor(path, tensors, name + SCALE, shape[:1], "F32")
            if name != WORDS:
                _check_tensor(path, tensors, name + LOW, (LOW_BITS, shape[0], -(-shape[1] // 8)), "U8")
    return tensors


def _check_tensor(path: Path, tensors: Mapping[str, Tensor], name: str, shape: tuple[int, ...], kind: str) -> None:
    tensor = tensors.get(name)
    if tensor is None:
        raise VectorError(f"{path}: {name} is missing; {_AGAIN}")
    if (tensor.values.shape, tensor.kind) != (shape, kind):
        found = f"{tensor.kind} of shape {tensor.values.shape}"
        raise VectorError(f"{path}: {name} is {found}, {kind} of shape {shape} expected; {_AGAIN}")


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


def write_weights(path: Path, weights: Iterable[tuple[str, NDArray[np.float32]]], dtype: StoreType) -> None:
    """Write arrays as a store keeps them.

    Raises `VectorError` for values that are not finite, or too large for `dtype`.
    """
    from safetensors.numpy import save

    kept: dict[str, NDArray[Any]] = {}
    for name, values in weights:
        kept[name] = np.ascontiguousarray(values)
        if is_rounded(name, values.shape):
            if dtype == "int8":
                with np.errstate(invalid="ignore"):
                    if name == WORDS:
                        kept[name], kept[name + SCALE] = quantise(values)
                    else:
                        kept[name], kept[name + LOW], kept[name + SCALE] = round_rows(values, LOW_BITS)
            else:
                with np.errstate(over="ignore"):
                    kept[name] = values.astype(dtype)
        checked = values if dtype == "int8" else kept[name]
        if not np.isfinite(checked).all():
            raise VectorError(f"{name}: NaN, infinite or too large for {dtype}; get the model again")
    path.write_bytes(save(kept))


def encoder_fingerprint(directory: Path, architecture: EncoderArchitecture) -> str:
    """Hex SHA-256 over all that hidden states depend on: weights, tokenizer, and what the forward pass must know."""
    files = hash_files(directory / WEIGHTS, directory / TOKENIZER)
    known = json.dumps(asdict(architecture), sort_keys=True)
    return hashlib.sha256(f"{files} {known}".encode()).hexdigest()
