"""Conversion of a model folder, as laid out by the hub, into the store of an encoder.

Families of models differ in the names of their sizes and weights.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np

from softbleu.embeddings.vectors import (
    StoreType,
    advised,
    check_target,
    new_place,
    replace_store,
    store_draft,
    write_meta,
)
from softbleu.encoders.base import check_layers, default_layers
from softbleu.encoders.pieces import read_tokenizer
from softbleu.encoders.store import (
    DISTANCES,
    ENCODER_FILES,
    ENCODER_FORMAT,
    ENCODER_KIND,
    POSITIONS,
    TOKENIZER,
    WEIGHTS,
    WORDS,
    EncoderArchitecture,
    Tensor,
    WeightRows,
    encoder_fingerprint,
    map_tensors,
    write_weights,
)
from softbleu.encoders.stored import measure_contexts
from softbleu.encoders.unigram import Unigram
from softbleu.errors import UnknownNameError, VectorError
from softbleu.io.reading import read_json
from softbleu.types import Progress

CONFIG = "config.json"
_MODEL, _INDEX, _PICKLE = "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"
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
    """Names of sizes and weights in models of a kind."""

    sizes: Mapping[str, str]  # Names in ``config.json`` by fields of `EncoderArchitecture`
    parts: Mapping[str, str]  # Names of the weights of a layer
    layer: str = "encoder.layer."
    activation: str = "hidden_act"
    offset: int = 0
    """Row of the first piece in the position embeddings, unless ``pad_token_id`` defines it."""
    padded: bool = False  # Whether the first piece's row is the one after ``pad_token_id``, if named
    types: bool = False  # Whether embeddings of token types exist; type 0 is added to all pieces
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


def find_family(config: Mapping[str, object], where: str) -> Family:
    """Find the family of a model, by its ``config.json``."""
    name = config.get("model_type")
    if not isinstance(name, str):
        raise VectorError(f"{where}: no family of models (model_type)")
    if name not in FAMILIES:
        raise UnknownNameError("family of models", name, FAMILIES, place=where)
    for key, reason in _REFUSED.items():
        if config.get(key):
            raise VectorError(f"{where}: {reason} ({key}), which is not supported")
    if (kind := config.get("position_embedding_type", "absolute")) != "absolute":
        raise VectorError(f"{where}: position_embedding_type {kind!r} is not supported, only 'absolute'")
    return FAMILIES[name]


def first_position(family: Family, config: Mapping[str, object], where: str) -> int:
    """Return the row of the first piece in the position embeddings."""
    pad = config.get("pad_token_id", family.offset - 1)
    if not family.padded:
        return family.offset
    if type(pad) is not int or not 0 <= pad < 1 << 20:
        raise VectorError(f"{where}: pad_token_id must be a whole number, not {pad!r}")
    return pad + 1


def read_architecture(family: Family, config: Mapping[str, object], where: str) -> EncoderArchitecture:
    """Read the architecture from ``config.json``."""
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
    family: Family, tensors: Mapping[str, WeightRows], architecture: EncoderArchitecture, first: int
) -> Iterator[tuple[str, WeightRows]]:
    """Yield the weights of a model under the names of a store; `first` is the result of `first_position`."""
    names = sorted((name for name in tensors if name.endswith(_WORDS)), key=len)
    prefix = names[0].removesuffix(_WORDS) if names else ""

    def read(name: str, *shape: int | None) -> WeightRows:
        return _tensor(tensors, prefix + name, shape)

    def norm(name: str, stored: str) -> Iterator[tuple[str, WeightRows]]:
        yield from ((f"{stored}.{kind}", read(f"{name}.{kind}", size)) for kind in ("weight", "bias"))

    size = architecture.dimension
    yield WORDS, read(_WORDS, architecture.vocabulary, size)
    positions = read(_POSITIONS, first + architecture.positions, size).floats()[first:]
    if family.types:
        positions = positions + read(_TYPES, None, size).floats(slice(0, 1))
    yield POSITIONS, Tensor("F32", positions)
    yield from norm("embeddings.LayerNorm", "norm")
    if family.distances:
        yield DISTANCES, read(family.distances, architecture.distances, architecture.heads)
    for number in range(architecture.depth):
        place, stored = f"{family.layer}{number}.", f"layers.{number}."
        for kind, shape in (("weight", (size, size)), ("bias", (size,))):
            parts = [read(f"{place}{family.parts[part]}.{kind}", *shape) for part in ("query", "key", "value")]
            yield f"{stored}qkv.{kind}", Tensor("F32", np.concatenate([part.floats() for part in parts]))
        for part, shape in architecture.matrices().items():
            if part in family.parts:
                yield f"{stored}{part}.weight", read(f"{place}{family.parts[part]}.weight", *shape)
                yield f"{stored}{part}.bias", read(f"{place}{family.parts[part]}.bias", shape[0])
        for part in ("attended_norm", "norm"):
            yield from norm(place + family.parts[part], stored + part)


def _tensor(tensors: Mapping[str, WeightRows], name: str, shape: tuple[int | None, ...]) -> WeightRows:
    """Find an array by its current or earlier name, and check its shape; None stands for any size but 0."""
    earlier = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
    tensor = tensors.get(name) or tensors.get(earlier)
    if tensor is None:
        raise VectorError(f"the weights lack {name}: give the complete model")
    actual = tensor.shape
    if len(actual) != len(shape) or any(
        has != (want or max(has, 1)) for has, want in zip(actual, shape, strict=True)
    ):
        wanted = "(" + ", ".join(str(want or "any") for want in shape) + ")"
        raise VectorError(f"{name}: of shape {actual}, {wanted} expected: config.json is of another model")
    return tensor


@dataclass(frozen=True)
class Model:
    """A model that can be converted."""

    place: Path  # Where its parts are read from, for messages
    config: Mapping[str, object]
    tensors: Mapping[str, WeightRows]
    tokenizer: str | Unigram  # ``tokenizer.json``, or that without the vocabulary, and the vocabulary
    source: str
    greatest: int  # Greatest number of a piece


def read_model(folder: str | os.PathLike[str]) -> Model:
    """Read a model folder as laid out by the hub; raise VectorError if it cannot be read or trusted."""
    model = Path(folder)
    config = _read_config(model / CONFIG)
    find_family(config, str(model / CONFIG))
    tokenizer = read_tokenizer(model / TOKENIZER)
    text = tokenizer.to_str()
    tensors = dict(chain.from_iterable(map_tensors(path).items() for path in _weight_files(model)))
    greatest = max(tokenizer.get_vocab().values(), default=-1)
    return Model(model / CONFIG, config, tensors, Unigram.of(text) or text, model.resolve().name, greatest)


@dataclass(frozen=True)
class EncoderConversion:
    """Result of a conversion: the architecture of the store, and its recommended layers."""

    architecture: EncoderArchitecture  # Architecture of the store
    left_out: int  # Number of last layers that were left out
    layers: tuple[int, ...]  # Recommended layers
    fingerprint: str


def is_model(location: object) -> bool:
    """Whether a location is a model folder as laid out by the hub.

    >>> is_model("glove.6B.300d.txt")
    False
    """
    return isinstance(location, str | os.PathLike) and Path(location, CONFIG).is_file()


def convert_encoder(
    folder: str | os.PathLike[str],
    directory: str | os.PathLike[str],
    *,
    layers: Sequence[int] | None = None,
    dtype: StoreType = "float16",
    name: str | None = None,
    source: str | None = None,
    licence: str = "not stated",
    extra: Mapping[str, object] | None = None,
    force: bool = False,
) -> EncoderConversion:
    """Convert a model into the store of an encoder, atomically.

    Parameters
    ----------
    folder
        A model of BERT, DistilBERT, RoBERTa or its variants, or MPNet: ``config.json``, ``model.safetensors`` or its
        parts and their index, and ``tokenizer.json``.
    directory
        Folder of the store.
    layers
        Recommended layers, whose states are averaged; layers above them are left out. By default all layers are kept,
        and the one at three quarters of the depth is recommended.
    dtype
        Type of matrices: float16, float32, or int8 with a scale per row.
    name, source, licence
        Entries of ``meta.json``; by default the names of the folder and of the model.
    extra
        Further entries of ``meta.json``.
    force
        Replace an existing store.

    Raises
    ------
    VectorError
        A model that cannot be read or trusted, or a folder that cannot be written; nothing is changed.
    """
    target = new_place(directory, [Path(folder, CONFIG)], force=force)
    check_target(target, dtype)
    return write_encoder(
        read_model(folder), target, layers=layers, dtype=dtype, name=name, source=source, licence=licence, extra=extra
    )


def write_encoder(
    model: Model,
    target: Path,
    *,
    layers: Sequence[int] | None = None,
    dtype: StoreType = "float16",
    name: str | None = None,
    source: str | None = None,
    licence: str = "not stated",
    extra: Mapping[str, object] | None = None,
    progress: Progress | None = None,
) -> EncoderConversion:
    """Write the store of a model; see `convert_encoder`."""
    where = str(model.place)
    family = find_family(model.config, where)
    whole = read_architecture(family, model.config, where)
    recommended = default_layers(whole.depth) if layers is None else check_layers(layers, whole.depth, where)
    # An encoder has at least one layer, even if only its embeddings are used.
    depth = whole.depth if layers is None else max(1, *recommended)
    architecture = replace(whole, depth=depth)
    if model.greatest >= architecture.vocabulary:
        raise VectorError(
            f"{model.place.with_name(TOKENIZER)}: does not fit, its greatest piece is {model.greatest}, and "
            f"config.json has {architecture.vocabulary}: give the tokenizer of this model"
        )
    target = target.resolve()
    with store_draft(target) as draft:
        first = first_position(family, model.config, where)
        weights = family_weights(family, model.tensors, architecture, first)
        steps = len(architecture.shapes())
        unigram = model.tokenizer if isinstance(model.tokenizer, Unigram) else None
        more = {} if unigram is None else dict(unigram.arrays())
        write_weights(draft / WEIGHTS, _counted(weights, steps, progress), dtype, more)
        shell = model.tokenizer if unigram is None else json.dumps(unigram.shell, ensure_ascii=False)
        (draft / TOKENIZER).write_text(str(shell), encoding="utf-8")
        fingerprint = encoder_fingerprint(draft, architecture)
        meta = {
            "format": 1 if unigram is None else ENCODER_FORMAT,
            "kind": ENCODER_KIND,
            "name": name or target.name,
            "family": model.config["model_type"],
            **asdict(architecture),
            "layers": list(recommended),
            "threshold": None,
            "dtype": dtype,
            "source": source or model.source,
            "licence": licence,
            "sha256": fingerprint,
            **(extra or {}),
        }
        write_meta(draft, meta)
        write_meta(draft, {**meta, **measure_contexts(draft)})
        replace_store(draft, target, ENCODER_FILES)
    return EncoderConversion(architecture, whole.depth - depth, recommended, fingerprint)


def _counted(
    weights: Iterable[tuple[str, WeightRows]], steps: int, progress: Progress | None
) -> Iterator[tuple[str, WeightRows]]:
    """Yield weights, and report how many of them are written."""
    for done, each in enumerate(weights):
        if progress is not None:
            progress(done, steps)
        yield each


def _read_config(path: Path) -> dict[str, object]:
    with advised("give the folder of a model"):
        config = read_json(path)
    if not isinstance(config, dict):
        raise VectorError(f"{path}: not an object, but {json.dumps(config)[:40]}; give the folder of a model")
    return config


def _weight_files(model: Path) -> list[Path]:
    """Find the files with the arrays of a model: a single one, or the files of an index."""
    if (model / _MODEL).exists():
        return [model / _MODEL]
    if (index := model / _INDEX).exists():
        places = _read_config(index).get("weight_map")
        names = sorted(set(map(str, places.values()))) if isinstance(places, dict) else []
        if not names or any(Path(name).name != name for name in names):
            raise VectorError(f"{index}: names no files in its folder (weight_map); get the model again")
        return [model / name for name in names]
    if (model / _PICKLE).exists():
        raise VectorError(
            f"{model / _PICKLE}: a pickle can run any code when it is opened, and is not read; get the model as "
            f"{_MODEL}, or save it so (save_pretrained)"
        )
    raise VectorError(f"{model}: a model without weights; {_MODEL} is needed")
