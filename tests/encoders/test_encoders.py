"""The forward pass: what a line gets does not depend on the lines beside it; and cosines of random pairs of words."""

import json
import math
import re
import shutil
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from refusing import refused
from safetensors.numpy import load_file, save_file
from tables import each_row
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from softbleu.embeddings.catalogue import describe_encoder
from softbleu.encoders import Pieces, encoder_files, is_encoder, open_encoder
from softbleu.encoders.base import PlacedLine
from softbleu.encoders.charsmap import precompiled
from softbleu.encoders.convert import convert_encoder
from softbleu.encoders.pieces import cut_lines, cut_windows, read_tokenizer
from softbleu.encoders.store import map_weights
from softbleu.encoders.stored import activate, context_similarities
from softbleu.errors import InputError, SoftbleuError, VectorError

TEXT = "the cat sat on a mat , and nobody in Unbelievabletown knew why it would n't move ."
WORDS = TEXT.split()
LAYERS = (1, 2)
GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "encoders"
"""Tiny encoders."""


@pytest.fixture(autouse=True)
def _few_pairs_of_words_in_context(monkeypatch):
    monkeypatch.setattr("softbleu.encoders.stored.PAIRS", 100)


@pytest.fixture
def stored(tmp_path):
    """Convert a model, a golden one by its name, into the folder ``store``, and open what was made."""

    def convert(model="bert", place="store", **options):
        convert_encoder(GOLDEN / model, tmp_path / place, **{"dtype": "float32", **options})
        return open_encoder(tmp_path / place)

    return convert


@pytest.fixture(scope="module")
def minilm():
    return open_encoder("minilm-l6")


@pytest.fixture(scope="module", params=["minilm", "mpnet"])
def encoder(request, minilm, tmp_path_factory):
    """The bundled encoder, as it has the sizes that matter to a processor; and a tiny one with relative positions."""
    if request.param == "minilm":
        return minilm
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


@pytest.mark.parametrize("cores", [1, 3])
def test_many_lines_change_no_bit_on_any_cores(cores, minilm, monkeypatch):
    """More lines than go through the network together, long ones among them."""
    monkeypatch.setattr("softbleu.encoders.stored.own_cores", lambda: cores)
    lines = [[WORDS[(number * 7 + place) % len(WORDS)] for place in range(number % 41)] for number in range(100)]
    lines.append(WORDS * 30)
    together = rows_of(minilm, lines)
    for number in (0, 2, 40, 99, 100):
        np.testing.assert_array_equal(rows_of(minilm, [lines[number]])[0], together[number])


@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("gelu", lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2),
        ("gelu_tanh", lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2),
        ("relu", lambda x: max(x, 0.0)),
    ],
)
def test_activations_are_exact_to_float_precision(name, exact):
    found = np.linspace(-9, 9, 20_001).astype(np.float32)
    wanted = np.array([exact(x) for x in found.tolist()])
    activate(found, name)
    assert (np.abs(found - wanted) / np.maximum(1, np.abs(wanted))).max() < 1.8e-7


def test_no_text_has_a_piece_without_embedding(minilm):
    empty = set(
        np.flatnonzero(~map_weights(minilm.directory, minilm.architecture, "int8")["words"].values.any(axis=1))
    )
    assert len(empty) > 1300
    cutter = minilm._tokenizer
    texts = {cutter.id_to_token(number).removeprefix("##") for number in empty}
    words = [each for text in texts for each in (text, f"a{text}", f"a{text}b", text * 3, f"##{text}", f"ö {text}é")]
    met = {number for found in cutter.encode_batch([words], is_pretokenized=True) for number in found.ids}
    met |= {number for found in cutter.encode_batch(words) for number in found.ids}
    assert len(met) > 300
    assert met & empty == set()


def test_layers_that_are_not_there(minilm):
    nothing = Pieces(np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(1, np.int64))
    assert minilm.encode(nothing, (6, 4)).shape == (0, 384)
    for layers in ((7,), (-1,), (), (4, 4)):
        refused(ValueError, "minilm-l6: no layer", minilm.encode, nothing, layers)


@pytest.mark.parametrize("offsets", [[[0, 2]], [0, 1], [1, 2], [0, 2, 1, 2], []])
def test_pieces_do_not_fit_offsets_of_another_shape(offsets):
    ids = np.zeros(2, np.int32)
    refused(VectorError, "pieces of lines do not fit together", Pieces, ids, ids, np.array(offsets, np.int64))
    refused(VectorError, r"words \(1, 2\)", Pieces, ids, ids[None], np.array([0, 2]))


class Spelling:
    """Two pieces a word, whose vectors add up to one that stands for its spelling in lower case alone."""

    def tokenize(self, lines):
        _, kinds = np.unique([word.lower() for line in lines for word in line], return_inverse=True)
        words = [place for line in lines for place in range(len(line)) for _ in range(2)]
        ends = np.cumsum([0, *(2 * len(line) for line in lines)])
        return Pieces(np.repeat(kinds, 2).astype(np.int32), np.array(words, np.int32), ends)

    def encode(self, pieces, layers):
        spellings = np.random.default_rng(0).normal(size=(pieces.ids.max() + 1, 64)).astype(np.float32)
        return spellings[pieces.ids] + np.resize(np.float32([[5], [-5]]), (len(pieces.ids), 1))


def test_pairs_are_of_different_words():
    """A pair of equal words, whatever their case, would have the cosine 1."""
    encoder = Spelling()
    found = context_similarities(encoder, (1,))
    assert len(found) == 100
    assert found.max() < 0.6
    np.testing.assert_array_equal(found, context_similarities(encoder, (1,)))


def test_they_are_kept_with_a_store(stored):
    encoder = stored(layers=[2])
    assert " ".join(encoder.quantiles) == "p50 p75 p90 p95 p97.5 p99 p99.5 p99.9 p99.95 p99.99"
    similarities = context_similarities(encoder, (2,))
    assert encoder.quantiles["p90"] == round(float(np.percentile(similarities, 90)), 6)


@pytest.mark.slow
def test_a_quantile_of_the_bundled_encoder_is_that_of_its_similarities(minilm, monkeypatch):
    monkeypatch.setattr("softbleu.encoders.stored.PAIRS", 1_000_000)
    similarities = context_similarities(minilm, minilm.layers)
    assert minilm.quantiles["p99.9"] == pytest.approx(np.percentile(similarities, 99.9), abs=1e-5)


# tiny models of random weights: hidden states as the package transformers computes them (tests/golden/encoders)


MULTILINGUAL = ("labse", "mbert", "multilingual-minilm", "xlm-roberta")


def expected(family):
    with np.load(GOLDEN / family / "expected.npz") as kept:
        ids, offsets, states = kept["ids"], kept["offsets"], kept["states"]
    words = np.zeros(len(ids), np.int32)
    words[offsets[:-1]] = words[offsets[1:] - 1] = -1
    return Pieces(ids, words, offsets), states


@pytest.mark.parametrize("family", ["bert", "distilbert", "mpnet", "roberta", *MULTILINGUAL])
def test_pieces_and_all_layers_are_those_of_transformers(family, stored):
    encoder = stored(family)
    wanted, states = expected(family)
    if family in MULTILINGUAL:
        lines = (GOLDEN / "multilingual.txt").read_text(encoding="utf-8").splitlines()
        pieces = encoder.tokenize([line.split(" ") for line in lines])
        assert (pieces.ids.tolist(), pieces.offsets.tolist()) == (wanted.ids.tolist(), wanted.offsets.tolist())
    else:
        pieces = wanted
        assert (encoder.depth, encoder.dimension, encoder.vocabulary) == (2, 8, 30)
    assert np.abs(states).max() > 1
    for layer in range(3):
        np.testing.assert_allclose(encoder.encode(pieces, (layer,)), states[layer], atol=1e-5)
    first, last = (state / np.linalg.norm(state, axis=1, keepdims=True) for state in (states[0], states[2]))
    np.testing.assert_allclose(encoder.encode(pieces, (0, 2)), (first + last) / 2, atol=1e-5)


def test_rounded_weights_change_little_and_layers_above_those_asked_for_are_left_out(stored):
    pieces, states = expected("bert")
    for dtype, error in (("float16", 0.01), ("int8", 0.05)):
        difference = np.abs(stored(dtype=dtype, force=True).encode(pieces, (2,)) - states[2]).max()
        assert 1e-5 < difference < error
    encoder = stored("mpnet", layers=[1], force=True)
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


def test_weights_may_have_other_names_and_lie_in_several_files(stored, copied):
    model, tensors = copied
    same = stored("bert", "whole").fingerprint
    for rename in ("model.{}".format, old_name):
        save_file({rename(name): values for name, values in tensors.items()}, model / "model.safetensors")
        assert stored(model, force=True).fingerprint == same
    (model / "model.safetensors").unlink()
    places = {name: f"part-{number % 2}.safetensors" for number, name in enumerate(sorted(tensors))}
    for part in set(places.values()):
        save_file({name: tensors[name] for name in places if places[name] == part}, model / part)
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    assert stored(model, force=True).fingerprint == same


def test_bfloat16_is_read(stored, copied):
    """Written by hand: NumPy has no such type, whose numbers are the upper halves of a float32."""
    model, tensors = copied
    header, content = {}, b""
    for name, values in tensors.items():
        if values.dtype == np.float32:
            start, content = len(content), content + (values.view(np.uint32) >> 16).astype("<u2").tobytes()
            header[name] = {"dtype": "BF16", "shape": list(values.shape), "data_offsets": [start, len(content)]}
            tensors[name] = (values.view(np.uint32) >> 16 << 16).view(np.float32)
    text = json.dumps(header).encode()
    (model / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + content)
    found = stored(model).fingerprint
    save_file(tensors, model / "model.safetensors")
    assert found == stored(model, "other").fingerprint


# Lines to pieces, and long lines to windows.


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


def cut_words(tokenizer, lines):
    return cut_lines(tokenizer, [PlacedLine.of_words(line) for line in lines], 300, "tiny")


@pytest.mark.parametrize("most", [1, 4, 9])
@pytest.mark.parametrize("make", [byte_level, trimmed, metaspace, None])
def test_a_long_line_is_cut_in_parts(make, most, minilm, monkeypatch):
    cut = minilm.tokenize if make is None else lambda lines: cut_words(make(), lines)
    lines = [["a", "ba", "b", "aabb", "a"], ["\u200b", "naïve", "\x00", "dog", "\u200b"], ["abba"], []]
    whole = cut(lines)
    monkeypatch.setattr("softbleu.encoders.pieces._AT_ONCE", most)
    parts = cut(lines)
    for one, other in zip(vars(whole).values(), vars(parts).values(), strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("make", [byte_level, trimmed, metaspace])
def test_a_space_belongs_to_the_word_after_it(make):
    tokenizer: Tokenizer = make()
    pieces = cut_words(tokenizer, [["a", "ba", "b"]])
    texts = [tokenizer.id_to_token(code).replace("Ġ", "▁") for code in pieces.ids.tolist()]
    groups = ["", "", ""]
    for text, word in zip(texts, pieces.words, strict=True):
        groups[word] += text if word >= 0 else ""
    assert [group.lstrip("▁") for group in groups] == ["a", "ba", "b"]
    assert all(group.startswith("▁") for group in groups[1:])


def test_tokenizers_that_do_not_fit_make_too_much_or_point_nowhere(minilm, tmp_path):
    refused(InputError, "a word of 1,000,001 characters .* 1,000,000 are", minilm.tokenize, [["b", "a" * 1_000_001]])
    tokenizer, path = byte_level(), tmp_path / "tokenizer.json"
    said = "tiny: its tokenizer gives piece 65, but the encoder has 10 pieces: it does not fit"
    refused(VectorError, said, cut_lines, tokenizer, [PlacedLine.of_words("a")], 10, "tiny")
    lacking = Tokenizer(models.WordLevel({"b": 0}, unk_token="?"))
    said = r"tiny: its tokenizer cannot cut 'a b' \(WordLevel error"
    refused(VectorError, said, cut_lines, lacking, [PlacedLine.of_words("ab")], 10, "tiny")
    # Cutting and padding are switched off.
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=9)
    tokenizer.save(str(path))
    assert len(read_tokenizer(path).encode("abcd")) == 4
    tokenizer = byte_level()
    tokenizer.model.dropout = 0.9
    tokenizer.save(str(path))
    assert "0.9" in path.read_text()
    assert read_tokenizer(path).model.dropout is None
    long = {"é": "e" * 1001}
    for times, normalizer in (
        (10**9, normalizers.Sequence([normalizers.Replace("a", "a" * 10)] * 9)),
        (100_000, normalizers.Prepend("a" * 100_000)),
        (2002, normalizers.Sequence([normalizers.Prepend("aa"), normalizers.Precompiled(precompiled(long))])),
    ):
        tokenizer.normalizer = normalizer
        tokenizer.save(str(path))
        refused(VectorError, f"its normalizer makes text {times} times longer", read_tokenizer, path)
    tokenizer = byte_level()
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 2**32 - 1)])
    said = "gives piece 4294967295, but the encoder has 99"
    refused(VectorError, said, cut_lines, tokenizer, [PlacedLine.of_words("a")], 99, "tiny")
    tokenizer.normalizer = normalizers.Precompiled(struct.pack("<I", 4) + b"\xff" * 4 + b"\0")
    refused(VectorError, "cannot cut 'a'", cut_lines, tokenizer, [PlacedLine.of_words("a")], 99, "tiny")


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
    refused(VectorError, r"unusable tokenizer \(its post_processor lacks '<t>'\)", read_tokenizer, path)


@given(st.lists(st.integers(0, 40), max_size=5), st.integers(3, 12))
def test_windows_take_each_piece_where_it_stands_farthest_from_the_ends(lengths, most):
    inner = [[-1, *range(length), -1] for length in lengths]
    words = np.array([word for line in inner for word in line], np.int32)
    pieces = Pieces(np.zeros_like(words), words, np.cumsum([0, *map(len, inner)]))
    seen, places = {}, {}
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


CHANGES = {"without": None, "cut": None, "files": {}, "json": "{}"}


def spoil(description, without, cut, files, json_text):
    """Change a model or a store as a row says, which has the path of the file that describes it."""
    folder = description.parent
    known = json.loads(description.read_text())
    description.write_text(json.dumps(known | json.loads(json_text)))
    for name, text in files.items():
        (folder / name).write_text(text)
    if without is not None:
        (folder / without).unlink()
    if cut is not None:
        (folder / cut).write_bytes((folder / cut).read_bytes()[:-1])


@each_row("encoders/refusals.toml", "says", table="model", **CHANGES)
def test_models_that_cannot_be_converted_are_refused(says, without, cut, files, json, copied, tmp_path):
    spoil(copied[0] / "config.json", without, cut, files, json)
    refused(SoftbleuError, says, convert_encoder, copied[0], tmp_path / "store")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


UP = "encoder.layer.1.intermediate.dense.weight"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, f"the weights lack {UP}: give the complete model"),
        (np.zeros((12, 9), np.float32), UP + r": of shape \(12, 9\), \(12, 8\) expected"),
        (np.zeros(12, np.float32), UP + r": of shape \(12,\), \(12, 8\) expected"),
        (np.full((12, 8), np.nan, np.float32), "layers.1.up.weight: NaN, infinite or too large for float16"),
    ],
)
def test_weights_and_pieces_of_another_model(values, message, copied, tmp_path):
    model, tensors = copied
    del tensors[UP]
    save_file(tensors if values is None else tensors | {UP: values}, model / "model.safetensors")
    refused(VectorError, message, convert_encoder, model, tmp_path / "store")
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.add_tokens(["more"])
    tokenizer.save(str(model / "tokenizer.json"))
    said = "tokenizer.json: does not fit, its greatest piece is 30, and config.json has 30"
    refused(VectorError, said, convert_encoder, model, tmp_path / "store")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_store_is_replaced_when_forced(tmp_path):
    convert_encoder(GOLDEN / "bert", tmp_path / "store")
    (tmp_path / "store" / "NOTICE").write_text("kept")
    refused(VectorError, "exists already", convert_encoder, GOLDEN / "roberta", tmp_path / "store")
    convert_encoder(GOLDEN / "roberta", tmp_path / "store", force=True)
    assert describe_encoder(open_encoder(tmp_path / "store"), verify=True)["family"] == "roberta"
    assert (tmp_path / "store" / "NOTICE").read_text() == "kept"
    refused(InputError, "holds the input", convert_encoder, GOLDEN / "bert", GOLDEN / "bert", force=True)
    said = "no layer 3: give different ones from 0"
    refused(InputError, said, convert_encoder, GOLDEN / "bert", tmp_path / "other", layers=[3])


@each_row("encoders/refusals.toml", "says", table="store", **CHANGES)
def test_damaged_stores_of_encoders_are_refused(says, without, cut, files, json, stored, tmp_path):
    stored()
    spoil(tmp_path / "store" / "meta.json", without, cut, files, json)
    refused(VectorError, says, open_encoder, tmp_path / "store")


def test_damage_is_noticed_by_verify_and_when_encoding(stored, tmp_path):
    stored()
    spoil(tmp_path / "store" / "meta.json", None, None, {}, '{"activation": "relu"}')
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


def test_encoders_are_known_by_name_folder_or_object(tmp_path, monkeypatch, stored):
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
