"""Encoders on the command line: conversion, facts, the list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from softbleu.encoders import open_encoder

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "encoders"


@pytest.fixture(autouse=True)
def _few_pairs(monkeypatch):
    monkeypatch.setattr("softbleu.encoders.contexts.PAIRS", 100)


def test_a_model_becomes_an_encoder(command, tmp_path):
    store = tmp_path / "store"
    options = ["--layers", "1", "--dtype", "int8", "--name", "tiny", "--licence", "CC0-1.0", "--format", "json"]
    done = command("embeddings", "convert", GOLDEN / "roberta", store, *options)
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert (found["store"], found["dtype"], found["recommended"]) == (str(store), "int8", "1")
    assert found["rows"] == [{"what": "kept", "layers": 1}, {"what": "left out", "layers": 1}]
    encoder = open_encoder(store)
    assert (encoder.depth, encoder.layers) == (1, (1,))
    done = command("embeddings", "info", store, "--verify", "--format", "json")
    facts = json.loads(done.out)
    assert (facts["kind"], facts["family"], facts["licence"]) == ("encoder", "roberta", "CC0-1.0")
    assert (facts["sha256"], facts["verified"]) == (encoder.fingerprint, "yes")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--limit", 5], "--limit means nothing for encoders: leave it out"),
        (["--trust"], "--trust means nothing for encoders: leave it out"),
        (["--keep-lengths"], "--keep-lengths means nothing for encoders: leave it out"),
        (["--layers", "4;6"], "layers are different whole numbers from 0, such as 4,6, not '4;6'"),
        (["--layers", "3"], "no layer 3: give different ones from 0 (embeddings) to 2"),
    ],
)
def test_options_that_do_not_fit(refused, options, message):
    assert message in refused("embeddings", "convert", GOLDEN / "bert", "store", *options, output=None)


def test_words_are_not_in_context(refused):
    convert = ("embeddings", "convert", "vectors.txt", "store", "--layers", "1")
    assert "--layers means nothing for word vectors: leave it out" in refused(*convert, output=None)
    asked = ("embeddings", "neighbours", "cat", "--vectors", "minilm-l6")
    assert "an encoder, and vectors of words are needed" in refused(*asked)


def test_the_list_tells_encoders_from_words(command):
    rows = json.loads(command("embeddings", "list", "--format", "json").out)["rows"]
    kinds = {row["name"]: (row["kind"], row["state"]) for row in rows}
    assert kinds["minilm-l6"] == ("encoder", "bundled")
    assert kinds["glove-6b-100d"] == ("words", "bundled")
    assert kinds["all-mpnet-base-v2"] == ("encoder", "download")
