"""Tiny models of random weights: hidden states as the package transformers computes them (tests/golden/encoders)."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from encoders.conftest import GOLDEN
from safetensors.numpy import load_file, save_file

from softbleu.encoders import Pieces, open_encoder
from softbleu.encoders.convert import convert_encoder

FAMILIES = ("bert", "distilbert", "mpnet", "roberta")


def expected(family):
    with np.load(GOLDEN / family / "expected.npz") as kept:
        ids, offsets, states = kept["ids"], kept["offsets"], kept["states"]
    words = np.zeros(len(ids), np.int32)
    words[offsets[:-1]] = words[offsets[1:] - 1] = -1
    return Pieces(ids, words, offsets), states


@pytest.mark.parametrize("family", FAMILIES)
def test_all_layers_are_those_of_transformers(family, stored):
    encoder = stored(family)
    pieces, states = expected(family)
    assert (encoder.depth, encoder.dimension, encoder.vocabulary) == (2, 8, 30)
    assert np.abs(states).max() > 1
    for layer in range(3):
        np.testing.assert_allclose(encoder.encode(pieces, (layer,)), states[layer], atol=1e-5)
    first, last = (state / np.linalg.norm(state, axis=1, keepdims=True) for state in (states[0], states[2]))
    np.testing.assert_allclose(encoder.encode(pieces, (0, 2)), (first + last) / 2, atol=1e-5)


@pytest.mark.parametrize(("dtype", "error"), [("float16", 0.01), ("int8", 0.05)])
def test_rounded_weights_change_little(dtype, error, stored):
    pieces, states = expected("bert")
    difference = np.abs(stored(dtype=dtype).encode(pieces, (2,)) - states[2]).max()
    assert 1e-5 < difference < error


def test_layers_above_those_asked_for_are_left_out(tmp_path):
    done = convert_encoder(GOLDEN / "mpnet", tmp_path / "store", dtype="float32", layers=[1])
    encoder = open_encoder(tmp_path / "store")
    pieces, states = expected("mpnet")
    assert (done.left_out, encoder.depth, encoder.layers) == (1, 1, (1,))
    np.testing.assert_allclose(encoder.encode(pieces, (1,)), states[1], atol=1e-5)


def old_name(name):
    return name.replace("weight", "gamma").replace("bias", "beta") if "LayerNorm" in name else name


@pytest.mark.parametrize("rename", ["model.{}".format, old_name])
def test_names_of_weights_vary(rename, stored, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(GOLDEN / "bert", model)
    tensors = load_file(model / "model.safetensors")
    save_file({rename(name): values for name, values in tensors.items()}, model / "model.safetensors")
    pieces, states = expected("bert")
    np.testing.assert_allclose(stored(model).encode(pieces, (2,)), states[2], atol=1e-5)


def test_weights_may_lie_in_several_files(stored, tmp_path):
    model = tmp_path / "model"
    shutil.copytree(GOLDEN / "bert", model)
    tensors = load_file(model / "model.safetensors")
    (model / "model.safetensors").unlink()
    names = sorted(tensors)
    places = {name: f"part-{number % 2}.safetensors" for number, name in enumerate(names)}
    for part in set(places.values()):
        save_file({name: tensors[name] for name in names if places[name] == part}, model / part)
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    assert stored(model).fingerprint == stored("bert", "whole").fingerprint


def test_bfloat16_is_read(stored, tmp_path):
    """Written by hand: NumPy has no such type, whose numbers are the upper halves of a float32."""
    model = tmp_path / "model"
    shutil.copytree(GOLDEN / "bert", model)
    tensors = load_file(model / "model.safetensors")
    header, content = {}, b""
    for name, values in tensors.items():
        if values.dtype == np.float32:
            halves = (values.view(np.uint32) >> 16).astype("<u2").tobytes()
            places = [len(content), len(content) + len(halves)]
            header[name] = {"dtype": "BF16", "shape": list(values.shape), "data_offsets": places}
            content += halves
            tensors[name] = (values.view(np.uint32) >> 16 << 16).view(np.float32)
    text = json.dumps(header).encode()
    (model / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + content)
    found = stored(model).fingerprint
    save_file(tensors, model / "model.safetensors")
    assert found == stored(model, "other").fingerprint
