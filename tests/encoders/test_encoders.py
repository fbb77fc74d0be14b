"""The forward pass: what a line gets does not depend on the lines beside it; and cosines of random pairs of words."""

import json
import math
import re
import shutil
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from encoders.conftest import GOLDEN
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusing import refused
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from softbleu.embeddings.catalogue import describe_encoder
from softbleu.encoders import Pieces, encoder_files, is_encoder, open_encoder
from softbleu.encoders.convert import convert_encoder
from softbleu.encoders.pieces import cut_lines, cut_windows, read_tokenizer
from softbleu.encoders.stored import activate, context_similarities
from softbleu.errors import InputError, SoftbleuError, VectorError

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
    monkeypatch.setattr("softbleu.encoders.stored.PAIRS", 1_000_000)
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


# Lines to pieces, and long lines to windows.


@pytest.fixture(scope="module")
def minilm():
    return open_encoder("minilm-l6")


def test_pieces_belong_to_the_words_they_start_in(minilm):
    pieces = minilm.tokenize([["Unbelievable", ",", "n't", "naïve"], [], ["don't"]])
    # Of the first line [CLS] unbelievable , n ' t naive [SEP].
    assert pieces.offsets.tolist() == [0, 8, 10, 15]
    assert pieces.words.tolist() == [-1, 0, 1, 2, 2, 2, 3, -1, -1, -1, -1, 0, 0, 0, -1]
    # Of odd words some have no piece; none moves the words after it.
    cat, dog = (minilm.tokenize([[each]]).ids[1] for each in ("cat", "dog"))
    for word in ("\u200b", "\x00", "", " ", "\ud800", "a\udfffb", "\U0001f600", "[SEP]", "\u2028"):
        pieces = minilm.tokenize([["cat", word, "dog"]])
        ids, words = pieces.ids.tolist(), pieces.words.tolist()
        assert (words[ids.index(cat)], words[ids.index(dog)]) == (0, 2)
        assert words[0] == words[-1] == -1
        assert words[1:-1] == sorted(words[1:-1])


def byte_level():
    codes = {each: code for code, each in enumerate(["<unk>", *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    tokenizer = Tokenizer(models.BPE(codes, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def trimmed():
    tokenizer = byte_level()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=True)
    return tokenizer


def metaspace():
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("a", -2.0), ("b", -2.0), ("▁a", -1.0)], 0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer


@pytest.mark.parametrize("most", [1, 4, 9])
@pytest.mark.parametrize("make", [byte_level, trimmed, metaspace, None])
def test_a_long_line_is_cut_in_parts(make, most, minilm, monkeypatch):
    cut = minilm.tokenize if make is None else lambda lines: cut_lines(make(), lines, 300, "tiny")
    lines = [["a", "ba", "b", "aabb", "a"], ["\u200b", "naïve", "\x00", "dog", "\u200b"], ["abba"], []]
    whole = cut(lines)
    monkeypatch.setattr("softbleu.encoders.pieces._AT_ONCE", most)
    parts = cut(lines)
    for one, other in zip(vars(whole).values(), vars(parts).values(), strict=True):
        assert one.tolist() == other.tolist()


def test_a_word_of_too_many_characters_is_refused(minilm):
    refused(InputError, "a word of 1,000,001 characters .* 1,000,000 are", minilm.tokenize, [["b", "a" * 1_000_001]])


@pytest.mark.parametrize("make", [byte_level, trimmed, metaspace])
def test_a_space_belongs_to_the_word_after_it(make):
    tokenizer: Tokenizer = make()
    pieces = cut_lines(tokenizer, [["a", "ba", "b"]], 300, "tiny")
    texts = [tokenizer.id_to_token(code).replace("Ġ", "▁") for code in pieces.ids.tolist()]
    groups = ["", "", ""]
    for text, word in zip(texts, pieces.words, strict=True):
        groups[word] += text if word >= 0 else ""
    assert [group.lstrip("▁") for group in groups] == ["a", "ba", "b"]
    assert all(group.startswith("▁") for group in groups[1:])


def test_tokenizers_that_do_not_fit(tmp_path):
    said = "tiny: its tokenizer gives piece 65, of 10 that it knows: it does not fit"
    refused(VectorError, said, lambda: cut_lines(byte_level(), [["a"]], 10, "tiny"))
    lacking = Tokenizer(models.WordLevel({"b": 0}, unk_token="?"))
    said = r"tiny: its tokenizer cannot cut 'a b' \(WordLevel error"
    refused(VectorError, said, cut_lines, lacking, [["a", "b"]], 10, "tiny")
    # Cutting and padding are switched off.
    tokenizer = byte_level()
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=9)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert len(read_tokenizer(tmp_path / "tokenizer.json").encode("abcd")) == 4


@pytest.mark.parametrize("within", [0, 1, 2])
def test_a_template_that_lacks_a_token_is_refused(within, tmp_path):
    """The library would panic when it cuts a line, which is no exception."""
    tokenizer = byte_level()
    processor: processors.PostProcessor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    for _ in range(within):
        processor = processors.Sequence([processor])
    tokenizer.post_processor = processor
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    assert len(read_tokenizer(path).encode("ab")) == 3
    path.write_text(re.sub(r'("SpecialToken": {\s*"id": )"<s>"', r'\1"<t>"', path.read_text()))
    refused(VectorError, r"no tokenizer that can be used \(its post_processor lacks '<t>'\)", read_tokenizer, path)


def test_tokenizers_that_make_too_much_or_point_nowhere(tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer = byte_level()
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace("a", "a" * 10)] * 9)
    tokenizer.save(str(path))
    refused(VectorError, r"its normalizer makes text 1000000000 times longer", read_tokenizer, path)
    tokenizer = byte_level()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 2**32 - 1)])
    said = "gives piece 4294967295, of 99 that it knows"
    refused(VectorError, said, cut_lines, tokenizer, [["a"]], 99, "tiny")
    tokenizer.normalizer = normalizers.Precompiled(struct.pack("<I", 4) + b"\xff" * 4 + b"\0")
    refused(VectorError, "cannot cut 'a'", cut_lines, tokenizer, [["a"]], 99, "tiny")


@given(st.lists(st.integers(0, 40), max_size=5), st.integers(3, 12))
def test_windows_take_each_piece_where_it_stands_farthest_from_the_ends(lengths, most):
    inner = [[-1, *range(length), -1] for length in lengths]
    words = np.array([word for line in inner for word in line], np.int32)
    pieces = Pieces(np.zeros_like(words), words, np.cumsum([0, *map(len, inner)]))
    seen = {}
    places = {}
    for window in cut_windows(pieces, most):
        assert len(window) <= most
        assert words[window.places[[0, -1]]].tolist() == [-1, -1]
        for place, each in enumerate(window.places.tolist()):
            if words[each] >= 0:
                places.setdefault(each, []).append(min(place - 1, len(window) - 2 - place))
        for place in range(len(window))[window.taken]:
            each = int(window.places[place])
            assert each not in seen
            seen[each] = min(place - 1, len(window) - 2 - place)
    assert sorted(seen) == list(range(len(words)))
    assert all(max(distances) == seen[each] for each, distances in places.items())


def test_windows_of_nothing_but_boundaries():
    words = np.full(5, -1, np.int32)
    windows = list(cut_windows(Pieces(words, words, np.array([0, 5])), 3))
    assert sorted(place for window in windows for place in window.places[window.taken].tolist()) == list(range(5))
    wide = np.array([-1, -1, 0, -1], np.int32)
    said = "a line needs 3 boundary pieces, and the encoder has 3 positions"
    refused(VectorError, said, lambda: list(cut_windows(Pieces(wide, wide, np.array([0, 4])), 3)))


def test_a_long_line_is_encoded_whole(stored):
    """Rows of its first pieces are those of its first window, a line by itself."""
    encoder = stored()
    letters = [chr(97 + place * place % 26) for place in range(400)]
    pieces = encoder.tokenize([letters, letters[:142]])
    rows = np.split(encoder.encode(pieces, (2,)), pieces.offsets[1:-1])
    assert len(rows[0]) == 402
    np.testing.assert_array_equal(rows[0][:100], rows[1][:100])
    assert np.abs(rows[0][300:] - rows[0][299]).max(axis=1).all()


# Models and stores that cannot be trusted: one line each, and nothing is written.


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
