# ruff: noqa: E402  # Without torch there is nothing to import
"""Encoders on a device give what NumPy gives: states, and scores within 1e-5 for systems and 1e-3 for segments."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusing import refused

torch = pytest.importorskip("torch", reason="torch is not installed")

import softbleu
from softbleu.config.declare import parse_signature
from softbleu.corpora.corpus import Segments
from softbleu.encoders import open_encoder, opened, torch_backend, torch_rows
from softbleu.encoders.convert import convert_encoder
from softbleu.encoders.device import Device
from softbleu.encoders.opened import encoded_lines
from softbleu.encoders.torch_backend import TorchEncoder
from softbleu.encoders.torch_rows import DeviceRows
from softbleu.errors import InputError, VectorError, WorkerError
from softbleu.io.progress import ProgressBar
from softbleu.results.api import score_corpus

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "encoders"
TEXT = "the cat sat on a mat , and nobody in Unbelievabletown knew why it would n't move ."
WORDS = TEXT.split()
CPU = Device("cpu")
SAMPLE = {
    name: (Path(__file__).resolve().parents[2] / "corpora" / "samples" / f"{name}.en").read_text("utf-8").splitlines()
    for name in ("candidate", "reference", "reference2")
}
CANDIDATES = {
    "one": [*SAMPLE["candidate"], "", "words", "again"],
    "two": [*(line.lower() for line in SAMPLE["candidate"]), "text", "words", "again"],
}
REFERENCES = [
    *map(list, zip(SAMPLE["reference"], SAMPLE["reference2"], strict=True)),
    ["no text"],
    [""],
    ["again"],
]


@pytest.fixture(autouse=True)
def _nothing_is_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "0")
    opened._OPEN.clear()
    yield
    opened._OPEN.clear()


@pytest.fixture
def on_device(tmp_path):
    """Convert a tiny model; open it in NumPy, and on torch's CPU device."""

    def convert(model="bert", precision="float32", dtype="float32"):
        if not (tmp_path / model).exists():
            convert_encoder(GOLDEN / model, tmp_path / model, dtype=dtype)
        encoder = open_encoder(tmp_path / model)
        return encoder, TorchEncoder.of(encoder, Device("cpu", precision))

    return convert


def lines_of(lengths):
    return [[WORDS[(number * length) % len(WORDS)] for number in range(length)] for length in lengths]


FAMILIES = ["bert", "distilbert", "mpnet", "roberta", "labse", "mbert", "multilingual-minilm", "xlm-roberta"]


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("family", FAMILIES)
def test_states_are_those_of_numpy(family, dtype, on_device):
    encoder, other = on_device(family, dtype=dtype)
    pieces = encoder.tokenize(lines_of([3, 0, 9, 1, 8, 30, 17]))
    for layers in ((0,), (1,), (2,), (0, 2)):
        found, wanted = other.encode(pieces, layers), encoder.encode(pieces, layers)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, atol=1e-5 * max(1, np.abs(wanted).max()))


def test_a_long_line_has_the_windows_of_numpy(on_device):
    encoder, other = on_device()
    pieces = encoder.tokenize(lines_of([400, 2]))
    assert len(pieces.ids) > 2 * encoder.architecture.positions
    np.testing.assert_allclose(other.encode(pieces, (2,)), encoder.encode(pieces, (2,)), atol=1e-5)


@pytest.fixture(scope="module")
def minilm():
    return TorchEncoder.of(open_encoder("minilm-l6"), CPU)


@settings(max_examples=5, deadline=None)
@given(st.lists(st.sampled_from([0, 1, 2, 3, 5, 8, 24, 60]), min_size=1, max_size=8), st.data())
def test_the_lines_beside_a_line_change_no_bit(minilm, lengths, data):
    lines = lines_of(lengths)
    together = minilm.tokenize(lines)
    rows = np.split(minilm.encode(together, (2,)), together.offsets[1:-1])
    order = data.draw(st.permutations(range(len(lines))))
    cut = data.draw(st.integers(0, len(lines)))
    for part in (order[:cut], order[cut:]):
        alone = together.chosen(part)
        for line, found in zip(part, np.split(minilm.encode(alone, (2,)), alone.offsets[1:-1]), strict=False):
            np.testing.assert_array_equal(rows[line], found)


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=9), st.sampled_from([1, 64, 1 << 20]))
def test_products_are_those_of_numpy(sizes, cells):
    heights, widths = np.array(sizes, np.int64).reshape(-1, 2).T
    generator = np.random.default_rng(0)
    rows, others = (generator.normal(size=(int(part.sum()) + 1, 4)).astype(np.float32) for part in (heights, widths))
    left, right = (np.cumsum(part) - part for part in (heights, widths))
    pairs = [
        (rows[row : row + height], others[column : column + width])
        for row, height, column, width in zip(left, heights, right, widths, strict=True)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_rows, "_CELLS", cells)
        one, other = (DeviceRows(torch.from_numpy(part)) for part in (rows, others))
        found = one.greatest(other, (left, heights), (right, widths))
        for (ours, theirs), (met, missed) in zip(pairs, found, strict=True):
            products = ours @ theirs.T if len(ours) and len(theirs) else np.zeros((len(ours), len(theirs)))
            np.testing.assert_allclose(met, products.max(1) if len(theirs) else np.zeros(len(ours)), atol=1e-6)
            np.testing.assert_allclose(missed, products.max(0) if len(ours) else np.zeros(len(theirs)), atol=1e-6)
        together = DeviceRows(torch.from_numpy(np.concatenate((rows, others))))
        places = np.arange(int(heights.sum())), np.arange(int(widths.sum())) + len(rows)
        flat = [(ours @ theirs.T).reshape(-1) for ours, theirs in pairs]
        np.testing.assert_allclose(
            together.of_pairs(places[0], heights, places[1], widths), np.concatenate([[], *flat]), atol=1e-6
        )


METRICS = [
    "bertscore",
    "bertscore(idf=references)",
    "bertscore(context=2)",
    "bertscore(map=minilm-l6)",
    "trained",
    "trained(map=minilm-l6)",
    "softbleu(vectors=minilm-l6)",
    "meteor(soft=0.5, stages=exact, vectors=minilm-l6)",
    *(f"vleu(threshold=0.5, vectors=minilm-l6, composition={each})" for each in ("mean", "sif", "aligned")),
    "vleu(threshold=0.5, vectors=minilm-l6, assignment=optimal, function_words=exact)",
]


@pytest.mark.parametrize("metric", METRICS)
def test_scores_are_those_of_numpy(metric):
    numpy, device = (
        softbleu.score(CANDIDATES, REFERENCES, metrics=metric, level="segment", device=name) for name in (None, "cpu")
    )
    assert any(key[2] == CPU for key in opened._OPEN), "nothing was encoded on the device"
    for one, other in zip(numpy, device, strict=True):
        assert other.score == pytest.approx(one.score, abs=1e-5)
        assert [each.score for each in other.segments] == pytest.approx(
            [each.score for each in one.segments], abs=1e-3
        )
        assert (other.signature, other.metric) == (one.signature, one.metric)


def test_metrics_of_edits_read_lines_on_a_device():
    source = ["He go to school .", "It is a apples ."]
    texts = {"a": ["He goes to school .", "It is an apple ."], "b": ["He go to schools .", "It is apples ."]}
    references = [["He goes to school ."], ["It is apples ."]]
    for metric in ("cleme(weights=similarity)", "uot"):
        one, other = (
            softbleu.score(texts, references, source, metrics=metric, device=name, level="segment")
            for name in (None, "cpu")
        )
        assert [each.score for each in other] == pytest.approx([each.score for each in one], abs=1e-3)


def test_the_same_digits_for_jobs_systems_and_room(monkeypatch):
    """References are encoded once; with room for few lines some are encoded again."""
    whole = softbleu.score(CANDIDATES, REFERENCES, metrics="bertscore", level="segment", device="cpu")
    alone = softbleu.score(CANDIDATES["two"], REFERENCES, metrics="bertscore", level="segment", device="cpu")
    assert alone.segments == whole[1].segments
    opened._OPEN.clear()
    monkeypatch.setitem(torch_backend._KEPT, "cpu", 20 * 4 * 384)
    assert softbleu.score(CANDIDATES, REFERENCES, metrics="bertscore", level="segment", device="cpu") == whole


@pytest.mark.slow
def test_the_same_digits_for_several_processes(tmp_path):
    lines = [" ".join(line) for line in lines_of(range(1, 40))] * 60
    (tmp_path / "c.txt").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "r.txt").write_text("".join(f"{line}\n" for line in reversed(lines)))
    command = [
        sys.executable,
        "-m",
        "softbleu",
        "score",
        "-c",
        "c.txt",
        "-r",
        "r.txt",
        "-m",
        "bertscore",
        "-f",
        "json",
    ]
    outputs = [
        subprocess.run([*command, *more], cwd=tmp_path, capture_output=True, check=True).stdout
        for more in ([], ["--jobs", "2"])
    ]
    assert outputs[0] == outputs[1]


class ShortOfMemory:
    """A device on which so many pieces fit together."""

    def __init__(self, encoder, most):
        self.encode, self.most, self.seen = encoder._encode_windows, most, []

    def __call__(self, pieces, windows, layers, out):
        self.seen.append(sum(map(len, windows)))
        if self.seen[-1] > self.most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        self.encode(pieces, windows, layers, out)


def test_batches_are_halved_until_they_fit(on_device, monkeypatch, capsys):
    _, encoder = on_device()
    pieces = encoder.tokenize(lines_of([9] * 20))
    wanted = encoder.encode(pieces, (2,))
    short = ShortOfMemory(encoder, 40)
    monkeypatch.setattr(encoder, "_encode_windows", short)
    with ProgressBar(quiet=False):
        np.testing.assert_allclose(encoder.encode(pieces, (2,)), wanted, atol=1e-6)
    assert "note: memory of cpu is short: " in capsys.readouterr().err
    assert short.seen[0] > 40
    assert 0 < encoder.together <= 40
    long = encoder.tokenize(lines_of([60]))
    refused(WorkerError, "cpu has too little memory for a line of 62 pieces", encoder.encode, long, (2,))


def test_a_run_goes_on_from_its_checkpoint(monkeypatch, tmp_path):
    """The next run reuses blocks that were finished before a device failed, also in NumPy."""
    count = 1024 + 5
    texts = [WORDS[number % 7] for number in range(count)]
    corpus = Segments.of(texts, [[WORDS[number % 5]] for number in range(count)])
    settings = {"checkpoint": tmp_path / "kept", "level": "corpus"}
    greatest, calls = DeviceRows.greatest, []

    def failing(self, *given):
        calls.append(given)
        if len(calls) > 3:
            raise torch_rows._failure(RuntimeError("CUDA error: unspecified launch failure\nand more"))
        return greatest(self, *given)

    monkeypatch.setattr(DeviceRows, "greatest", failing)
    metric = softbleu.BertScore(device="cpu")
    refused(
        WorkerError,
        r"the device failed \(CUDA error: unspecified launch failure\): run again",
        score_corpus,
        corpus,
        metric,
        **settings,
    )
    assert list((tmp_path / "kept").iterdir())
    monkeypatch.setattr(DeviceRows, "greatest", greatest)
    done = []
    (found,) = score_corpus(corpus, softbleu.BertScore(), progress=lambda *now: done.append(now), **settings)
    assert done[0][0] > 3 * 64
    assert found.score == pytest.approx(score_corpus(corpus, softbleu.BertScore())[0].score, abs=1e-5)


def test_the_memory_of_a_card_is_noted_after_the_run(monkeypatch, capsys):
    monkeypatch.setattr(TorchEncoder, "memory", lambda self: f"{self.name} took it")
    corpus = Segments.of(["a cat"], [["the cat"]])
    with ProgressBar(quiet=False):
        score_corpus(corpus, softbleu.BertScore(device="cpu"))
        score_corpus(corpus, softbleu.BertScore())
    assert capsys.readouterr().err.count("note: minilm-l6 took it\n") == 1
    encoder = TorchEncoder.of(open_encoder("minilm-l6"), CPU)
    monkeypatch.undo()
    assert encoder.memory() == ""
    encoder.__dict__["place"] = torch.device("cuda")
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda device: 1_234_000_000)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Card")
    assert encoder.memory() == "Card: at most 1.23 GB of memory taken"


def test_a_lower_precision_is_signed_and_less_exact():
    asked = {"metrics": "bertscore", "level": "segment", "device": "cpu"}
    texts = CANDIDATES["one"][:4], REFERENCES[:4]
    exact = softbleu.score(*texts, **asked)
    assert "precision" not in parse_signature(exact.signature)
    for precision, most in (("float16", 0.2), ("bfloat16", 1.0)):
        found = softbleu.score(*texts, **asked, precision=precision)
        signed = parse_signature(found.signature)
        assert (signed["precision"], "device" in signed) == (precision, False)
        pairs = zip(exact.segments, found.segments, strict=True)
        assert 1e-4 < max(abs(one.score - other.score) for one, other in pairs) < most


def test_kept_means_of_another_precision_are_apart(monkeypatch, tmp_path):
    monkeypatch.setenv("SOFTBLEU_CACHE", str(tmp_path))
    monkeypatch.setenv("SOFTBLEU_CACHE_LIMIT", "100")
    found = [
        encoded_lines("minilm-l6", (6,), device).means([WORDS])
        for device in (None, CPU, Device("cpu", "bfloat16"), None)
    ]
    np.testing.assert_array_equal(found[0], found[3])
    assert (found[0] != found[1]).any()
    assert 1e-4 < np.abs(found[2] - found[1]).max() < 0.1


def test_settings_of_torch_are_restored_after_encoding(on_device, monkeypatch):
    _, encoder = on_device()
    during, run = [], encoder._encode_windows
    monkeypatch.setattr(
        encoder, "_encode_windows", lambda *given: (during.append(torch.get_float32_matmul_precision()), run(*given))
    )
    torch.set_float32_matmul_precision("medium")
    try:
        encoder.encode(encoder.tokenize([WORDS]), (2,))
        assert torch.get_float32_matmul_precision() == "medium"
        # A program may have set it in the way that torch has from 2.9 on, which forbids to ask in the old way.
        torch.backends.cuda.matmul.fp32_precision = "tf32"
        encoder.encode(encoder.tokenize([WORDS]), (2,))
        assert torch.backends.cuda.matmul.fp32_precision == "tf32"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert during == ["highest", "highest"]
    assert torch.is_grad_enabled()


def test_a_state_that_is_not_finite(on_device):
    _, encoder = on_device(precision="float16")
    encoder._places.fill_(torch.inf)
    said = "bert: a hidden state is NaN or infinite; leave out the precision"
    refused(VectorError, said, encoder.encode, encoder.tokenize([WORDS]), (2,))


def test_devices_that_are_not_there(monkeypatch):
    for name in ("cuda", "mps"):
        if not getattr(torch, "cuda" if name == "cuda" else "mps").device_count():
            said = rf"device='{name}': no such device here \(torch .* finds none\)"
            refused(InputError, said, softbleu.score, ["a"], ["b"], metrics="bertscore", device=name)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    for worker, card in ((0, 0), (1, 1), (2, 0)):
        monkeypatch.setattr(torch_backend, "worker_number", lambda worker=worker: worker)
        assert torch_backend.open_device(Device("cuda")) == torch.device("cuda", card)


def test_nothing_imports_torch_unless_a_device_is_named():
    code = (
        "import sys, softbleu\n"
        "softbleu.score(['a cat'], ['the cat'], metrics=['bleu', 'bertscore', 'trained'])\n"
        "assert 'torch' not in sys.modules\n"
        "softbleu.score(['a cat'], ['the cat'], metrics='bertscore', device='cpu')\n"
        "assert 'torch' in sys.modules\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "SOFTBLEU_DEVICE"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


@pytest.mark.slow
def test_the_benchmark_of_cards_runs():
    script = Path(__file__).resolve().parents[2] / "benchmarks" / "gpu.py"
    small = ["--device", "cpu", "--encoder", "minilm-l6", "--pairs", "3", "--lines", "3", "--jobs", "1"]
    done = subprocess.run([sys.executable, script, *small], check=True, capture_output=True, text=True)
    assert re.findall(r"encode, (\w+)\t[\d,]+ lines/s", done.stdout) == ["float32", "float16", "bfloat16"]
    assert len(re.findall(r"^3 pairs, \w+ by minilm-l6, 1 jobs\t\d+\.\d s$", done.stdout, re.MULTILINE)) == 3
    assert "failed" not in done.stdout
