"""Encoders on a graphics card: lines a second by precision, whole processes, and bert_score on the same card.

    python benchmarks/gpu.py                                   # at most ten minutes on one card
    python benchmarks/gpu.py --device cpu --pairs 100 --lines 50   # tries the script where none is

Lines are made of words of the bundled samples, all distinct, with about 43 pieces. The peer is bert_score 0.3.13 with the weights
and the layer of the same encoder; it and transformers must be installed, and are left out otherwise. What would begin after
`--minutes` is left out, and named.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from rich.console import Console
from rich.table import Table

import softbleu
from softbleu.encoders import open_encoder
from softbleu.encoders.device import Device, Precision
from softbleu.encoders.store import stored_array, stored_words
from softbleu.encoders.torch_backend import TorchEncoder, peak_memory

SAMPLES = Path(__file__).resolve().parents[1] / "corpora" / "samples"
PRECISIONS: tuple[Precision, ...] = ("float32", "tf32", "float16", "bfloat16")
PIECES = 43
COMPARED = 4000  # Pairs for the greatest difference between precisions
PEER = "minilm-l6"  # Its tokenizer is a file that transformers reads
METRICS = {
    "bertscore": "bertscore(vectors={0})",
    "vleu": "vleu(vectors={0}, threshold=0.8)",
    "trained": "trained(map={0})",
}


def made_lines(count: int, name: str, seed: int) -> list[str]:
    """Draw lines of words of the samples, which have about `PIECES` pieces of an encoder."""
    words = [word for path in sorted(SAMPLES.glob("*.en")) for word in path.read_text(encoding="utf-8").split()]
    encoder = open_encoder(name)
    per_word = (len(encoder.tokenize([words]).ids) - 2) / len(words)
    draw, size = random.Random(seed), (PIECES - 2) / per_word
    return [" ".join(draw.choices(words, k=max(1, round(draw.gauss(size, size / 4))))) for _ in range(count)]


def changed_lines(lines: list[str], seed: int) -> list[str]:
    """Exchange a tenth of the words of each line."""
    draw = random.Random(seed)
    words = " ".join(lines[:1000]).split()
    return [" ".join(draw.choice(words) if draw.random() < 0.1 else word for word in line.split()) for line in lines]


def lines_a_second(name: str, device: Device, lines: list[str], layers: tuple[int, ...]) -> tuple[float, float]:
    """Encode lines twice: lines a second of the second time, without the tokenizer, and the peak of memory in MB."""
    encoder = TorchEncoder.of(open_encoder(name), device)
    pieces = encoder.tokenize([line.split() for line in lines])
    encoder.states(pieces.chosen(range(min(len(lines), 500))), layers)
    if encoder.place.type == "cuda":
        torch.cuda.reset_peak_memory_stats(encoder.place)
    start = time.perf_counter()
    float(encoder.states(pieces, layers)[-1, -1])  # Waits for the device
    return len(lines) / (time.perf_counter() - start), peak_memory(encoder.place) / 1e6


def differences(name: str, device: Device, pairs: tuple[list[str], list[str]], exact: Any) -> float:
    """Compute the greatest difference of BERTScore's F, from 0 to 1, from NumPy's."""
    found = scored(name, pairs, device=device.name, precision=device.precision)
    return max(abs(one.score - other.score) for one, other in zip(exact, found, strict=True)) / 100


def scored(name: str, pairs: tuple[list[str], list[str]], **settings: Any) -> Any:
    """Score pairs by BERTScore."""
    return softbleu.score(*pairs, metrics="bertscore", vectors=name, level="segment", **settings).segments


def seconds_of(command: list[str], folder: str) -> float:
    """Run a command in a process of its own: the seconds that it takes, start-up included."""
    environment = {**os.environ, "SOFTBLEU_CACHE_LIMIT": "0"}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip().splitlines()[-1:]}")
    return time.perf_counter() - start


def write_model(name: str, place: Path) -> None:
    """Write the weights of an encoder of the family of BERT as transformers reads them."""
    from transformers import BertConfig, BertModel

    encoder: Any = open_encoder(name)
    sizes, tensors = encoder.architecture, encoder._tensors
    config = BertConfig(
        vocab_size=sizes.vocabulary,
        hidden_size=sizes.dimension,
        num_hidden_layers=sizes.depth,
        num_attention_heads=sizes.heads,
        intermediate_size=sizes.inner,
        max_position_embeddings=sizes.positions,
        layer_norm_eps=sizes.eps,
        hidden_act=sizes.activation,
        type_vocab_size=1,
    )
    model = BertModel(config, add_pooling_layer=False)
    parts = {
        "attention.output.dense": "attended",
        "attention.output.LayerNorm": "attended_norm",
        "intermediate.dense": "up",
        "output.dense": "down",
        "output.LayerNorm": "norm",
    }
    arrays = {
        "embeddings.word_embeddings.weight": stored_words(tensors, np.arange(sizes.vocabulary, dtype=np.int32)),
        "embeddings.position_embeddings.weight": stored_array(tensors, "positions"),
        "embeddings.token_type_embeddings.weight": np.zeros((1, sizes.dimension), np.float32),
    }
    for kind in ("weight", "bias"):
        arrays[f"embeddings.LayerNorm.{kind}"] = stored_array(tensors, f"norm.{kind}")
        for layer in range(sizes.depth):
            whole = stored_array(tensors, f"layers.{layer}.qkv.{kind}")
            for part, array in zip(("query", "key", "value"), np.split(whole, 3), strict=True):
                arrays[f"encoder.layer.{layer}.attention.self.{part}.{kind}"] = array
            for theirs, ours in parts.items():
                arrays[f"encoder.layer.{layer}.{theirs}.{kind}"] = stored_array(
                    tensors, f"layers.{layer}.{ours}.{kind}"
                )
    model.load_state_dict({key: torch.from_numpy(np.array(array)) for key, array in arrays.items()})
    model.save_pretrained(place)
    (place / "tokenizer.json").write_bytes((encoder.directory / "tokenizer.json").read_bytes())
    marks = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    known = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": sizes.positions, **marks}
    (place / "tokenizer_config.json").write_text(json.dumps(known), encoding="utf-8")


PEER_CODE = """
import sys
from bert_score import BERTScorer
model, layer, device, *files = sys.argv[1:]
texts = [open(file, encoding="utf-8").read().splitlines() for file in files]
scorer = BERTScorer(model_type=model, num_layers=int(layer), device=device, batch_size=64)
print(float(scorer.score(*texts)[2].mean()))
"""


class Clock:
    """Rows of a table, of which those after the time is over are left out."""

    def __init__(self, minutes: float) -> None:
        self.end, self.left_out = time.monotonic() + 60 * minutes, list[str]()

    def tried(self, what: str, measure: Callable[[], list[str]]) -> list[str]:
        """Measure a row, or say why there is none."""
        if time.monotonic() > self.end:
            return [what, "left out: no time"]
        try:
            return [what, *measure()]
        except Exception as error:
            return [what, f"failed: {str(error).splitlines()[0][:60]}"]


def rows_of(device: str, name: str, pairs: int, lines: int, jobs: list[int], clock: Clock) -> Iterator[list[str]]:
    """Measure everything, a row at a time: what, lines a second or seconds, and more."""
    layers = open_encoder(name).layers
    texts = made_lines(lines, name, 1)
    few = texts[: min(COMPARED, lines)]
    both = changed_lines(few, 2), few
    exact = scored(name, both)
    for precision in PRECISIONS:
        if precision == "tf32" and device != "cuda":
            continue

        def measure(precision: Precision = precision) -> list[str]:
            chosen = Device(device, precision)  # type: ignore[arg-type]
            speed, memory = lines_a_second(name, chosen, texts, layers)
            return [f"{speed:,.0f} lines/s", f"{differences(name, chosen, both, exact):.1e}", f"{memory:,.0f} MB"]

        yield clock.tried(f"encode, {precision}", measure)
    with tempfile.TemporaryDirectory() as folder:
        for encoder in dict.fromkeys((name, PEER)):
            references = made_lines(pairs, encoder, 3)
            for file, content in ((f"r-{encoder}", references), (f"c-{encoder}", changed_lines(references, 4))):
                Path(folder, file).write_text("".join(f"{line}\n" for line in content), encoding="utf-8")
        took: dict[tuple[str, str, int], float] = {}
        runs = [
            (encoder, metric, count)
            for encoder in dict.fromkeys((name, PEER))
            for metric in METRICS
            for count in jobs
        ]
        for encoder, metric, count in runs:
            command = [
                sys.executable,
                "-m",
                "softbleu",
                "score",
                "-c",
                f"c-{encoder}",
                "-r",
                f"r-{encoder}",
                "--quiet",
            ]
            command += ["-m", METRICS[metric].format(encoder), "--device", device, "--jobs", str(count)]

            def run(command: list[str] = command, key: tuple[str, str, int] = (encoder, metric, count)) -> list[str]:
                took[key] = seconds_of(command, folder)
                return [f"{took[key]:.1f} s"]

            yield clock.tried(f"{pairs:,} pairs, {metric} by {encoder}, {count} jobs", run)

        def peer() -> list[str]:
            if find_spec("bert_score") is None or find_spec("transformers") is None:
                return ["not installed"]
            write_model(PEER, Path(folder, "model"))
            layer = str(open_encoder(PEER).layers[-1])
            theirs = seconds_of(
                [sys.executable, "-c", PEER_CODE, "model", layer, device, f"c-{PEER}", f"r-{PEER}"], folder
            )
            ours = [took[PEER, "bertscore", count] for count in jobs if (PEER, "bertscore", count) in took]
            return [f"{theirs:.1f} s", *(f"{theirs / each:.2f} x ours" for each in ours)]

        yield clock.tried(f"{pairs:,} pairs, bert_score by {PEER}", peer)


def main(
    device: Annotated[str, typer.Option(help="cuda, mps or cpu")] = "cuda",
    encoder: Annotated[str, typer.Option(help="Encoder that is measured")] = "multilingual-e5-small",
    pairs: Annotated[int, typer.Option(help="Pairs of a whole process")] = 100_000,
    lines: Annotated[int, typer.Option(help="Lines that are encoded")] = 20_000,
    jobs: Annotated[list[int], typer.Option(help="Processes, of which all share the card")] = [1, 4],  # noqa: B006
    minutes: Annotated[float, typer.Option(help="Nothing begins after so many minutes")] = 9,
) -> None:
    """Measure and print the table."""
    table = Table(title=f"{encoder} on {torch.cuda.get_device_name() if device == 'cuda' else device}")
    for heading in ("", "", "greatest difference of F, or ratio", "peak memory"):
        table.add_column(heading)
    for row in rows_of(device, encoder, pairs, lines, jobs, Clock(minutes)):
        print(*row, sep="\t", flush=True)
        table.add_row(*row)
    Console(width=160).print(table)


if __name__ == "__main__":
    typer.run(main)
