"""The forward pass: what a line gets does not depend on the lines beside it; and cosines of random pairs of words."""

import json
import math
import shutil

import numpy as np
import pytest
from encoders.conftest import GOLDEN
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from softbleu.encoders import Pieces, open_encoder
from softbleu.encoders.contexts import context_similarities
from softbleu.encoders.convert import convert_encoder
from softbleu.encoders.forward import activate

TEXT = "the cat sat on a mat , and nobody in Unbelievabletown knew why it would n't move ."
WORDS = TEXT.split()
LAYERS = (1, 2)


@pytest.fixture(scope="module", params=["minilm", "mpnet"])
def encoder(request, tmp_path_factory):
    """The bundled encoder, as it has the sizes that matter to a processor; and a tiny one with relative positions."""
    if request.param == "minilm":
        return open_encoder("minilm-l6")
    place = tmp_path_factory.mktemp("encoder") / "store"
    convert_encoder(GOLDEN / "mpnet", place, dtype="float32")
    return open_encoder(place)


def rows_of(encoder, lines):
    pieces = encoder.tokenize(lines)
    return np.split(encoder.encode(pieces, LAYERS), pieces.offsets[1:-1])


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_the_lines_beside_a_line_change_no_bit(encoder, data):
    drawn = st.tuples(st.sampled_from([0, 1, 2, 3, 5, 8, 24, 25, 60]), st.integers(0, 9))
    shapes = data.draw(st.lists(drawn, min_size=1, max_size=8))
    lines = [[WORDS[(start + place) % len(WORDS)] for place in range(length)] for length, start in shapes]
    together = rows_of(encoder, lines)
    order = data.draw(st.permutations(range(len(lines))))
    cut = data.draw(st.integers(0, len(lines)))
    for part in (order[:cut], order[cut:]):
        for number, rows in zip(part, rows_of(encoder, [lines[number] for number in part]), strict=bool(part)):
            np.testing.assert_array_equal(rows, together[number])


def test_many_lines_change_no_bit():
    """More lines than go through the network together, long ones among them."""
    encoder = open_encoder("minilm-l6")
    lines = [[WORDS[(number * 7 + place) % len(WORDS)] for place in range(number % 41)] for number in range(100)]
    lines.append(WORDS * 30)
    together = rows_of(encoder, lines)
    for number in (0, 2, 40, 99, 100):
        np.testing.assert_array_equal(rows_of(encoder, [lines[number]])[0], together[number])


GRID = np.linspace(-9, 9, 20_001).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("gelu", lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2),
        ("gelu_tanh", lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2),
        ("relu", lambda x: max(x, 0.0)),
    ],
)
def test_activations(name, exact):
    found = GRID.copy()
    activate(found, name)
    wanted = np.array([exact(x) for x in GRID.tolist()])
    assert (np.abs(found - wanted) / np.maximum(1, np.abs(wanted))).max() < 1.8e-7


def test_layers_that_are_not_there():
    encoder = open_encoder("minilm-l6")
    nothing = Pieces(np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(1, np.int64))
    assert encoder.encode(nothing, (6, 4)).shape == (0, 384)
    for layers in ((7,), (-1,), (), (4, 4)):
        with pytest.raises(ValueError, match="minilm-l6: no layer"):
            encoder.encode(nothing, layers)


KEPT = ["p50", "p75", "p90", "p95", "p97.5", "p99", "p99.5", "p99.9", "p99.95", "p99.99"]


class Spelling:
    """Two pieces a word, whose vectors add up to one that stands for its spelling in lower case alone."""

    dimension = 64

    def __init__(self):
        self.texts: list[str] = []

    def tokenize(self, lines):
        self.texts = [word.lower() for line in lines for word in line for _ in range(2)]
        words = [place for line in lines for place in range(len(line)) for _ in range(2)]
        ends = np.cumsum([0, *(2 * len(line) for line in lines)])
        return Pieces(np.arange(len(words), dtype=np.int32), np.array(words, np.int32), ends)

    def encode(self, pieces, layers):
        kinds = {word: code for code, word in enumerate(sorted(set(self.texts)))}
        rows = np.zeros((len(self.texts), self.dimension), np.float32)
        for place, word in enumerate(self.texts):
            rows[place] = np.random.default_rng(kinds[word]).normal(size=self.dimension)
            rows[place] += 5 * (-1) ** place
        return rows


def test_pairs_are_of_different_words():
    """A pair of equal words, whatever their case, would have the cosine 1."""
    encoder = Spelling()
    found = context_similarities(encoder, (1,))
    assert len(found) == 100
    assert found.max() < 0.6
    np.testing.assert_array_equal(found, context_similarities(encoder, (1,)))


def test_they_are_kept_with_a_store(stored):
    encoder = stored(layers=[2])
    assert list(encoder.quantiles) == KEPT
    similarities = context_similarities(encoder, (2,))
    assert encoder.quantiles["p90"] == round(float(np.percentile(similarities, 90)), 6)


@pytest.mark.slow
def test_those_of_the_bundled_encoder(monkeypatch):
    monkeypatch.setattr("softbleu.encoders.contexts.PAIRS", 1_000_000)
    encoder = open_encoder("minilm-l6")
    similarities = context_similarities(encoder, encoder.layers)
    assert encoder.quantiles["p99.9"] == pytest.approx(np.percentile(similarities, 99.9), abs=1e-5)


# tiny models of random weights: hidden states as the package transformers computes them (tests/golden/encoders)


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


@pytest.mark.parametrize("model", ["labse", "mbert", "multilingual-minilm", "xlm-roberta"])
def test_multilingual_models_cut_and_encode_text_as_transformers_does(model, stored):
    encoder = stored(model)
    wanted, states = expected(model)
    lines = (GOLDEN / "multilingual.txt").read_text(encoding="utf-8").splitlines()
    pieces = encoder.tokenize([line.split(" ") for line in lines])
    assert (pieces.ids.tolist(), pieces.offsets.tolist()) == (wanted.ids.tolist(), wanted.offsets.tolist())
    for layer in range(3):
        np.testing.assert_allclose(encoder.encode(pieces, (layer,)), states[layer], atol=1e-5)


@pytest.mark.parametrize(("dtype", "error"), [("float16", 0.01), ("int8", 0.05)])
def test_rounded_weights_change_little(dtype, error, stored):
    pieces, states = expected("bert")
    difference = np.abs(stored(dtype=dtype).encode(pieces, (2,)) - states[2]).max()
    assert 1e-5 < difference < error


def test_layers_above_those_asked_for_are_left_out(stored):
    encoder = stored("mpnet", layers=[1])
    pieces, states = expected("mpnet")
    assert (encoder.depth, encoder.layers) == (1, (1,))
    np.testing.assert_allclose(encoder.encode(pieces, (1,)), states[1], atol=1e-5)


def old_name(name):
    return name.replace("weight", "gamma").replace("bias", "beta") if "LayerNorm" in name else name


@pytest.fixture
def copied(tmp_path):
    """A copy of the tiny BERT that may be changed, and its weights."""
    shutil.copytree(GOLDEN / "bert", tmp_path / "model")
    return tmp_path / "model", load_file(tmp_path / "model" / "model.safetensors")


@pytest.mark.parametrize("rename", ["model.{}".format, old_name])
def test_names_of_weights_vary(rename, stored, copied):
    model, tensors = copied
    save_file({rename(name): values for name, values in tensors.items()}, model / "model.safetensors")
    pieces, states = expected("bert")
    np.testing.assert_allclose(stored(model).encode(pieces, (2,)), states[2], atol=1e-5)


def test_weights_may_lie_in_several_files(stored, copied):
    model, tensors = copied
    (model / "model.safetensors").unlink()
    names = sorted(tensors)
    places = {name: f"part-{number % 2}.safetensors" for number, name in enumerate(names)}
    for part in set(places.values()):
        save_file({name: tensors[name] for name in names if places[name] == part}, model / part)
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    assert stored(model).fingerprint == stored("bert", "whole").fingerprint


def test_bfloat16_is_read(stored, copied):
    """Written by hand: NumPy has no such type, whose numbers are the upper halves of a float32."""
    model, tensors = copied
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
