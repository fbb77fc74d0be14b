"""Families of models: what their files call the sizes and the weights that all of them have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softbleu.encoders.store import DISTANCES, POSITIONS, WORDS, EncoderArchitecture, Tensor
from softbleu.errors import UnknownNameError, VectorError

_ACTIVATIONS = {"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "relu": "relu"}
_REFUSED = {"is_decoder": "it is a decoder", "add_cross_attention": "it attends to another model"}
_WORDS = "embeddings.word_embeddings.weight"
_POSITIONS = "embeddings.position_embeddings.weight"
_TYPES = "embeddings.token_type_embeddings.weight"
_BERT_SIZES = {
    "dimension": "hidden_size",
    "heads": "num_attention_heads",
    "inner": "intermediate_size",
    "depth": "num_hidden_layers",
}
_BERT_PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "attended_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "norm": "output.LayerNorm",
}


@dataclass(frozen=True)
class Family:
    """How models of a kind name what they have."""

    sizes: Mapping[str, str]  # Of fields of `EncoderArchitecture`, the names in ``config.json``
    parts: Mapping[str, str]  # Of the weights of a layer
    layer: str = "encoder.layer."
    activation: str = "hidden_act"
    offset: int = 0
    """Row of the position embeddings that is the first piece's, where ``pad_token_id`` does not say so."""
    padded: bool = False  # Whether the first piece's row is the one after ``pad_token_id``, if that is named
    types: bool = False  # Whether there are embeddings of token types; those of type 0 are added to all pieces
    distances: str | None = None  # Name of the bias for relative positions


_BERT = Family(_BERT_SIZES, _BERT_PARTS, types=True)
_ROBERTA = Family(_BERT_SIZES, _BERT_PARTS, types=True, offset=2, padded=True)
_DISTILBERT = Family(
    {"dimension": "dim", "heads": "n_heads", "inner": "hidden_dim", "depth": "n_layers"},
    {
        "query": "attention.q_lin",
        "key": "attention.k_lin",
        "value": "attention.v_lin",
        "attended": "attention.out_lin",
        "attended_norm": "sa_layer_norm",
        "up": "ffn.lin1",
        "down": "ffn.lin2",
        "norm": "output_layer_norm",
    },
    layer="transformer.layer.",
    activation="activation",
)
_MPNET = Family(
    _BERT_SIZES,
    {
        **_BERT_PARTS,
        "query": "attention.attn.q",
        "key": "attention.attn.k",
        "value": "attention.attn.v",
        "attended": "attention.attn.o",
        "attended_norm": "attention.LayerNorm",
    },
    offset=2,
    distances="encoder.relative_attention_bias.weight",
)
FAMILIES = {
    "bert": _BERT,
    "camembert": _ROBERTA,
    "distilbert": _DISTILBERT,
    "mpnet": _MPNET,
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
}


def find_family(config: Mapping[str, Any], where: str) -> Family:
    """Find the family of a model, by its ``config.json``."""
    name = config.get("model_type")
    if not isinstance(name, str):
        raise VectorError(f"{where}: names no family of models (model_type)")
    if name not in FAMILIES:
        raise UnknownNameError("family of models", name, FAMILIES, place=where)
    for key, reason in _REFUSED.items():
        if config.get(key):
            raise VectorError(f"{where}: {reason} ({key}), which is not supported")
    if (kind := config.get("position_embedding_type", "absolute")) != "absolute":
        raise VectorError(f"{where}: position_embedding_type {kind!r} is not supported, only 'absolute'")
    return FAMILIES[name]


def first_position(family: Family, config: Mapping[str, Any], where: str) -> int:
    """Row of the position embeddings that is the first piece's."""
    pad = config.get("pad_token_id", family.offset - 1)
    if not family.padded:
        return family.offset
    if type(pad) is not int or not 0 <= pad < 1 << 20:
        raise VectorError(f"{where}: pad_token_id must be a whole number, not {pad!r}")
    return pad + 1


def read_architecture(family: Family, config: Mapping[str, Any], where: str) -> EncoderArchitecture:
    """Take sizes and the like from ``config.json``."""
    activation = config.get(family.activation)
    if not isinstance(activation, str) or activation not in _ACTIVATIONS:
        raise VectorError(f"{where}: unknown activation {activation!r}; valid: {', '.join(_ACTIVATIONS)}")
    sizes = {name: config.get(key) for name, key in family.sizes.items()}
    positions = config.get("max_position_embeddings")
    if type(positions) is int:
        positions -= first_position(family, config, where)
    fields = {
        **sizes,
        "vocabulary": config.get("vocab_size"),
        "positions": positions,
        "distances": config.get("relative_attention_num_buckets", 32) if family.distances else 0,
        "activation": _ACTIVATIONS[activation],
        "eps": config.get("layer_norm_eps", 1e-12),
    }
    return EncoderArchitecture.read(fields, where)


def family_weights(
    family: Family, tensors: Mapping[str, Tensor], architecture: EncoderArchitecture, first: int
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Go through the weights of a model under the names that a store has for them.

    `first` is the row of the position embeddings that is the first piece's.
    """
    names = sorted((name for name in tensors if name.endswith(_WORDS)), key=len)
    prefix = names[0].removesuffix(_WORDS) if names else ""

    def read(name: str, *shape: int | None) -> NDArray[np.float32]:
        return _floats(tensors, prefix + name, shape)

    def norm(name: str, stored: str) -> Iterator[tuple[str, NDArray[np.float32]]]:
        yield from ((f"{stored}.{kind}", read(f"{name}.{kind}", size)) for kind in ("weight", "bias"))

    size = architecture.dimension
    yield WORDS, read(_WORDS, architecture.vocabulary, size)
    positions = read(_POSITIONS, first + architecture.positions, size)[first:]
    if family.types:
        positions = positions + read(_TYPES, None, size)[0]
    yield POSITIONS, positions
    yield from norm("embeddings.LayerNorm", "norm")
    if family.distances:
        yield DISTANCES, read(family.distances, architecture.distances, architecture.heads)
    for number in range(architecture.depth):
        place, stored = f"{family.layer}{number}.", f"layers.{number}."
        for kind, shape in (("weight", (size, size)), ("bias", (size,))):
            parts = [read(f"{place}{family.parts[part]}.{kind}", *shape) for part in ("query", "key", "value")]
            yield f"{stored}qkv.{kind}", np.concatenate(parts)
        for part, shape in architecture.matrices().items():
            if part in family.parts:
                yield f"{stored}{part}.weight", read(f"{place}{family.parts[part]}.weight", *shape)
                yield f"{stored}{part}.bias", read(f"{place}{family.parts[part]}.bias", shape[0])
        for part in ("attended_norm", "norm"):
            yield from norm(place + family.parts[part], stored + part)


def _floats(tensors: Mapping[str, Tensor], name: str, shape: tuple[int | None, ...]) -> NDArray[np.float32]:
    """Read an array of this shape, which may have an earlier name; None stands for any size but 0."""
    earlier = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    tensor = tensors.get(name) or tensors.get(earlier)
    if tensor is None:
        raise VectorError(f"the weights lack {name}: give the complete model")
    actual = tensor.values.shape
    if len(actual) != len(shape) or any(
        has != (want or max(has, 1)) for has, want in zip(actual, shape, strict=True)
    ):
        wanted = "(" + ", ".join(str(want or "any") for want in shape) + ")"
        raise VectorError(f"{name}: of shape {actual}, {wanted} expected: config.json is of another model")
    return tensor.floats()
