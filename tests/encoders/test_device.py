"""A device is named, or NumPy computes; what does not go together is refused before anything is encoded."""

import pytest
from made_up_encoder import MadeUpEncoder
from refusing import refused

import softbleu
from softbleu.corpora.corpus import BLOCK, Segments
from softbleu.encoders.device import Device
from softbleu.engine.runner import segments_at_once
from softbleu.errors import InputError, MissingExtraError


@pytest.fixture
def _torch(monkeypatch, tmp_path):
    monkeypatch.setattr("softbleu.encoders.device.package_folder", lambda name: tmp_path)


def test_without_torch_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr("softbleu.encoders.device.package_folder", lambda name: None)
    said = r"""device 'cpu' needs another package: pip install '\.\[gpu\]' in a clone$"""
    refused(MissingExtraError, said, softbleu.score, ["a"], ["b"], metrics="bertscore", device="cpu")
    monkeypatch.setenv("SOFTBLEU_DEVICE", "cpu")
    refused(MissingExtraError, said, softbleu.score, ["a"], ["b"], metrics="bertscore")
    # Words have no encoder.
    softbleu.score(["a"], ["b"], metrics="vleu")


@pytest.mark.usefixtures("_torch")
def test_a_device_is_named_by_the_setting_or_else_the_environment(monkeypatch):
    monkeypatch.delenv("SOFTBLEU_DEVICE", raising=False)
    assert Device.of(None) is None
    monkeypatch.setenv("SOFTBLEU_DEVICE", "CUDA")
    assert Device.of(None, "tf32") == Device("cuda", "tf32")
    assert Device.of("cpu") == Device("cpu")
    monkeypatch.setenv("SOFTBLEU_DEVICE", "gpu")
    refused(InputError, "unknown device 'gpu'.*; valid: cuda, mps, cpu", Device.of, None)


@pytest.mark.usefixtures("_torch")
@pytest.mark.parametrize(
    ("said", "settings"),
    [
        ("precision='float16' is for a device: name one by device", {"precision": "float16"}),
        ("precision='tf32' is for cuda, not cpu: leave it out", {"precision": "tf32", "device": "cpu"}),
        ("own device and precision: leave out device", {"vectors": MadeUpEncoder(), "device": "cpu"}),
        ("own device and precision: leave out precision", {"vectors": MadeUpEncoder(), "precision": "float16"}),
    ],
)
def test_settings_that_do_not_go_together(said, settings, monkeypatch):
    monkeypatch.delenv("SOFTBLEU_DEVICE", raising=False)
    refused(InputError, said, softbleu.score, ["a"], ["b"], metrics="bertscore", **settings)


def test_a_precision_is_for_an_encoder():
    said = "glove-6b-100d: a precision is for vectors in context"
    refused(InputError, said, softbleu.score, ["a"], ["b"], metrics="vleu", precision="float16", device="cpu")


@pytest.mark.usefixtures("_torch")
def test_a_metric_is_the_same_on_any_device():
    plain, other = softbleu.BertScore(), softbleu.BertScore(device="cuda")
    assert plain == other
    assert str(plain) == str(other)
    assert plain.signature() == other.signature()
    assert other.vector_choice.computes_on == Device("cuda")
    assert softbleu.Trained(device="cuda", map="minilm-l6").vector_choice.device == "cuda"
    assert softbleu.BertScore(precision="bfloat16") != plain


@pytest.mark.usefixtures("_torch")
def test_a_card_is_given_more_lines_at_once():
    corpus = Segments.of(["a cat"] * 3, [["the cat"]] * 3)
    sizes = [segments_at_once([softbleu.BertScore(device=name)], corpus) for name in (None, "cpu", "cuda")]
    assert sizes == [64, 64, BLOCK]
