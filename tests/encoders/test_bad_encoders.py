"""Models and stores that cannot be trusted: one line each, and nothing is written."""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from encoders.conftest import GOLDEN
from refusing import refused
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from softbleu.embeddings.inspection import describe_encoder
from softbleu.encoders import encoder_files, is_encoder, open_encoder
from softbleu.encoders.convert import convert_encoder
from softbleu.errors import InputError, SoftbleuError, VectorError

Change = Callable[[Path], object]


def config(name="config.json", **values):
    def change(model):
        found = json.loads((model / name).read_text())
        (model / name).write_text(json.dumps(found | values))

    return change


meta = partial(config, "meta.json")


def weights(edit):
    def change(model):
        found = load_file(model / "model.safetensors")
        edit(found)
        save_file(found, model / "model.safetensors")

    return change


def written(name, content):
    return lambda model: (model / name).write_bytes(content)


def without(*names):
    return lambda model: [(model / name).unlink() for name in names]


def pickled(model):
    (model / "model.safetensors").rename(model / "pytorch_model.bin")


def cut_short(name):
    return lambda model: (model / name).write_bytes((model / name).read_bytes()[:-1])


def grown(model):
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.add_tokens(["more"])
    tokenizer.save(str(model / "tokenizer.json"))


def escaping(model):
    without("model.safetensors")(model)
    (model / "model.safetensors.index.json").write_text('{"weight_map": {"a": "../other.safetensors"}}')


UP = "encoder.layer.1.intermediate.dense.weight"


def full(shape, value):
    return weights(lambda found: found.update({UP: np.full(shape, value, np.float32)}))


BAD: dict[str, tuple[Change, str]] = {
    "no weights": (without("model.safetensors"), "a model without weights; model.safetensors is needed"),
    "a pickle": (pickled, "pytorch_model.bin: a pickle can run any code when it is opened, and is not read"),
    "an index that leaves": (escaping, "model.safetensors.index.json: names no files beside it"),
    "truncated": (cut_short("model.safetensors"), "model.safetensors: no safetensors file, or a damaged one"),
    "no safetensors": (written("model.safetensors", b"\xff" * 99), "no safetensors file, or a damaged one"),
    "an array missing": (weights(lambda found: found.pop(UP)), f"the weights lack {UP}: give the complete model"),
    "another shape": (full((12, 9), 0), UP + r": of shape \(12, 9\), \(12, 8\) expected"),
    "another number of axes": (full((12,), 0), UP + r": of shape \(12,\), \(12, 8\) expected"),
    "not finite": (full((12, 8), np.nan), "layers.1.up.weight: NaN, infinite or too large for float16"),
    "no tokenizer": (without("tokenizer.json"), "tokenizer.json: cannot be read"),
    "a damaged tokenizer": (written("tokenizer.json", b"{}"), "tokenizer.json: no tokenizer that can be read"),
    "a larger tokenizer": (grown, "tokenizer.json: does not fit, its greatest piece is 30, and config.json knows 30"),
    "config of something else": (written("config.json", b"[]"), r"config.json: no object, but \[\]"),
    "no JSON": (written("config.json", b"{"), "config.json.*not JSON"),
    "no family": (config(model_type=None), "names no family of models"),
    "unknown family": (config(model_type="t5"), "unknown family of models 't5'.*valid: bert, "),
    "a decoder": (config(is_decoder=True), "it is a decoder"),
    "cross-attention": (config(add_cross_attention=True), "it attends to another model"),
    "relative positions": (config(position_embedding_type="relative_key"), "'relative_key' is not supported"),
    "an activation": (config(hidden_act="silu"), "unknown activation 'silu'; valid: gelu, gelu_new, "),
    "no size": (config(hidden_size=None), "dimension must be a whole number, not None"),
    "an absurd size": (config(num_hidden_layers=10**9), "depth must lie between 1 and 1024"),
    "heads": (config(num_attention_heads=3), "3 heads do not divide the dimension 8"),
    "eps": (config(layer_norm_eps=0), "eps must lie between 1e-30 and 1, not 0"),
    "more layers than there are": (config(num_hidden_layers=3), "the weights lack encoder.layer.2"),
}


@pytest.mark.parametrize("name", BAD)
def test_models(name, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(GOLDEN / "bert", model)
    change, message = BAD[name]
    change(model)
    refused(SoftbleuError, message, convert_encoder, model, tmp_path / "store")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_what_is_there_is_replaced_when_asked_for(tmp_path):
    convert_encoder(GOLDEN / "bert", tmp_path / "store")
    (tmp_path / "store" / "NOTICE").write_text("kept")
    refused(VectorError, "exists already", convert_encoder, GOLDEN / "roberta", tmp_path / "store")
    convert_encoder(GOLDEN / "roberta", tmp_path / "store", force=True)
    assert describe_encoder(open_encoder(tmp_path / "store"), verify=True)["family"] == "roberta"
    assert (tmp_path / "store" / "NOTICE").read_text() == "kept"
    refused(InputError, "holds the input", convert_encoder, GOLDEN / "bert", GOLDEN / "bert", force=True)
    said = "no layer 3: give different ones from 0"
    refused(InputError, said, convert_encoder, GOLDEN / "bert", tmp_path / "other", layers=[3])


BAD_STORES: dict[str, tuple[Change, str]] = {
    "a newer format": (meta(format=2), "encoder format 2 is newer than this softbleu reads"),
    "no format": (meta(format="1"), "no store format is named"),
    "a dtype": (meta(dtype="int4"), "unknown dtype 'int4'"),
    "another dtype": (meta(dtype="float16"), "words is F32 of shape"),
    "a hash": (meta(sha256="0"), "'sha256' is no SHA-256"),
    "layers": (meta(layers=[3]), "no layer 3"),
    "no layers": (meta(layers="4"), "'layers' is no list of numbers"),
    "a threshold": (meta(threshold=2), "'threshold' is no number from 0 to 1, but 2"),
    "quantiles": (meta(similarity_quantiles={"cosine": {"p90": "x"}}), "quantile p90 is no similarity, but 'x'"),
    "a size": (meta(dimension=10), "words is F32 of shape"),
    "a depth": (meta(depth=3, layers=[3]), "layers.2.qkv.weight is missing"),
    "an activation": (meta(activation="gelu_new"), "unknown activation 'gelu_new' .*; valid: gelu, gelu_tanh, relu"),
    "weights cut short": (cut_short("weights.safetensors"), "weights.safetensors: no safetensors file, or a damaged"),
    "no weights": (without("weights.safetensors"), "weights.safetensors: cannot be read"),
}


@pytest.mark.parametrize("name", BAD_STORES)
def test_stores(name, stored, tmp_path):
    stored()
    change, message = BAD_STORES[name]
    change(tmp_path / "store")
    refused(VectorError, message, open_encoder, tmp_path / "store")


def test_damage_is_noticed_by_verify_and_when_encoding(stored, tmp_path):
    stored()
    meta(activation="relu")(tmp_path / "store")
    encoder = open_encoder(tmp_path / "store")
    assert describe_encoder(encoder)["verified"] == "no"
    refused(VectorError, "was damaged or edited; convert the model again", describe_encoder, encoder, verify=True)
    path = tmp_path / "store" / "weights.safetensors"
    tensors = load_file(path)
    tensors["norm.bias"][:] = np.inf
    save_file(tensors, path)
    encoder = open_encoder(tmp_path / "store")
    with np.errstate(all="ignore"):
        said = "store: a hidden state is NaN or infinite; convert the model again"
        refused(VectorError, said, encoder.encode, encoder.tokenize([["a"]]), (0,))


def test_what_is_an_encoder(tmp_path, monkeypatch, stored):
    assert [is_encoder(each) for each in ("glove-6b-100d", tmp_path, {"a": [1.0]}, None)] == [False] * 4
    assert encoder_files("glove-6b-100d") == encoder_files(None) == []
    refused(VectorError, r"'nothing': no encoder; .*: minilm-l6", open_encoder, "nothing")
    refused(VectorError, "dict: no encoder", open_encoder, {})
    refused(VectorError, "'transformers:' was removed in 0.4", open_encoder, "transformers:tiny")
    encoder = stored()
    assert is_encoder(encoder)
    assert open_encoder(encoder) is encoder
    files = [path.name for path in encoder_files(tmp_path / "store")]
    assert files == ["meta.json", "weights.safetensors", "tokenizer.json"]
