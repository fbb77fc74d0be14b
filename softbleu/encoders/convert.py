"""From a model folder, as the hub lays it out, to the store of an encoder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

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
from softbleu.encoders.contexts import measure_contexts
from softbleu.encoders.families import family_weights, find_family, first_position, read_architecture
from softbleu.encoders.pieces import read_tokenizer
from softbleu.encoders.store import (
    ENCODER_FILES,
    ENCODER_FORMAT,
    ENCODER_KIND,
    TOKENIZER,
    WEIGHTS,
    EncoderArchitecture,
    encoder_fingerprint,
    map_tensors,
    write_weights,
)
from softbleu.errors import VectorError
from softbleu.io.reading import read_json

CONFIG = "config.json"
_MODEL, _INDEX, _PICKLE = "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"


@dataclass(frozen=True)
class EncoderConversion:
    """Result of a conversion: the architecture of the store, and its recommended layers."""

    architecture: EncoderArchitecture  # What was kept
    left_out: int  # How many of its layers, the last ones, were not
    layers: tuple[int, ...]  # Those that are recommended
    fingerprint: str


def is_model(location: object) -> bool:
    """Whether this is a model folder as the hub lays it out.

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
    """Write a model as the store of an encoder, atomically.

    Parameters
    ----------
    folder
        A model of BERT, DistilBERT, RoBERTa or its variants, or MPNet: ``config.json``, ``model.safetensors`` or its
        parts and their index, and ``tokenizer.json``.
    directory
        Folder of the store.
    layers
        Layers that the store recommends: the mean of their states is used, and layers above them are left out.
        Without them all are kept, and the one at three quarters of the depth is recommended.
    dtype
        How matrices are kept: float16, float32, or int8 with a scale per row.
    name, source, licence
        What ``meta.json`` says of the encoder; by default the name of the folder and that of the model.
    extra
        Further entries of ``meta.json``.
    force
        Replace a store that is there.

    Raises
    ------
    VectorError
        A model that cannot be read or trusted, or a folder that cannot be written; nothing is changed.
    """
    model = Path(folder)
    target = new_place(directory, [model / CONFIG], force=force)
    check_target(target, dtype)
    config = _read_config(model / CONFIG)
    where = str(model / CONFIG)
    family = find_family(config, where)
    whole = read_architecture(family, config, where)
    recommended = default_layers(whole.depth) if layers is None else check_layers(layers, whole.depth, str(model))
    # An encoder has a layer, even if its embeddings are all that is asked for.
    depth = whole.depth if layers is None else max(1, *recommended)
    architecture = replace(whole, depth=depth)
    tokenizer = read_tokenizer(model / TOKENIZER)
    if (most := max(tokenizer.get_vocab().values(), default=-1)) >= architecture.vocabulary:
        raise VectorError(
            f"{model / TOKENIZER}: does not fit, its greatest piece is {most}, and config.json knows "
            f"{architecture.vocabulary}: give the tokenizer of this model"
        )
    tensors = dict(chain.from_iterable(map_tensors(path).items() for path in _weight_files(model)))
    target = target.resolve()
    with store_draft(target) as draft:
        first = first_position(family, config, where)
        write_weights(draft / WEIGHTS, family_weights(family, tensors, architecture, first), dtype)
        tokenizer.save(str(draft / TOKENIZER), pretty=False)
        fingerprint = encoder_fingerprint(draft, architecture)
        meta = {
            "format": ENCODER_FORMAT,
            "kind": ENCODER_KIND,
            "name": name or target.name,
            "family": config["model_type"],
            **asdict(architecture),
            "layers": list(recommended),
            "threshold": None,
            "dtype": dtype,
            "source": source or model.resolve().name,
            "licence": licence,
            "sha256": fingerprint,
            **(extra or {}),
        }
        write_meta(draft, meta)
        write_meta(draft, {**meta, **measure_contexts(draft)})
        replace_store(draft, target, ENCODER_FILES)
    return EncoderConversion(architecture, whole.depth - depth, recommended, fingerprint)


def _read_config(path: Path) -> dict[str, Any]:
    with advised("give the folder of a model"):
        config = read_json(path)
    if not isinstance(config, dict):
        raise VectorError(f"{path}: no object, but {json.dumps(config)[:40]}; give the folder of a model")
    return config


def _weight_files(model: Path) -> list[Path]:
    """Find the files with the arrays of a model: one, or those that an index names."""
    if (model / _MODEL).exists():
        return [model / _MODEL]
    if (index := model / _INDEX).exists():
        places = _read_config(index).get("weight_map")
        names = sorted(set(map(str, places.values()))) if isinstance(places, dict) else []
        if not names or any(Path(name).name != name for name in names):
            raise VectorError(f"{index}: names no files beside it (weight_map); get the model again")
        return [model / name for name in names]
    if (model / _PICKLE).exists():
        raise VectorError(
            f"{model / _PICKLE}: a pickle can run any code when it is opened, and is not read; get the model as "
            f"{_MODEL}, or save it so (save_pretrained)"
        )
    raise VectorError(f"{model}: a model without weights; {_MODEL} is needed")
