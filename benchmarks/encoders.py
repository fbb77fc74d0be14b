"""Seconds of an encoder on a CPU: NumPy beside torch, and the tokenizer.

    python benchmarks/encoders.py
    python benchmarks/encoders.py --encoder multilingual-e5-small --text en-cs

Both score the same batches of 64 new pairs by BERTScore in turn, in one process that stays open, as in training.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Annotated

import numpy as np
import typer
from rewards import batches, timed
from rich.console import Console
from rich.table import Table
from rows import TEXTS, read_text

import softbleu
from softbleu.encoders import open_encoder
from softbleu.encoders.base import PlacedLine
from softbleu.encoders.device import Device
from softbleu.encoders.stored import StoredEncoder

CALLS = 5


def opened(name: str) -> StoredEncoder:
    """Open an encoder, which computes by NumPy."""
    encoder = open_encoder(name)
    assert isinstance(encoder, StoredEncoder)
    return encoder


def seconds(call: Callable[[], object]) -> float:
    """CPU seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main(
    encoder: Annotated[str, typer.Option(help="Name of the encoder.")] = "minilm-l6",
    text: Annotated[str, typer.Option(help="One text: de-en, en-cs or en-zh.")] = "de-en",
) -> None:
    """Print the table."""
    device = Device("cpu")
    try:
        from softbleu.encoders.torch_backend import TorchEncoder
    except ImportError:
        raise SystemExit("torch is compared with NumPy: install the extra gpu") from None
    ways = {"torch": TorchEncoder.of(open_encoder(encoder), device), "NumPy": opened(encoder)}
    rewards = {name: softbleu.Reward(softbleu.read_metric("bertscore", vectors=way)) for name, way in ways.items()}
    drawn, took, found = batches(text), {name: [] for name in ways}, {name: [] for name in ways}
    for count in range(CALLS + 1):
        batch = next(drawn)
        for name, reward in rewards.items():
            spent = timed(lambda *texts, reward=reward, name=name: found[name].extend(reward(*texts)), batch)
            took[name] += [spent] if count else []
    medians = {name: statistics.median(several) for name, several in took.items()}
    largest = 100 * float(np.abs(np.subtract(*found.values())).max())

    table = Table(title=f"{encoder}, {text}", title_justify="left")
    table.add_column("")
    for name in (*ways, "ratio"):
        table.add_column(name, justify="right")
    table.add_row("64 new pairs by BERTScore, CPU s", *(f"{s:.2f}" for s in medians.values()), ratio(medians))
    references, systems = read_text(*TEXTS[text])
    lines = [PlacedLine.as_written(line, line.split()) for line in (*references, *systems[0])]
    pieces = ways["NumPy"].cut(lines)
    rates = {
        name: len(pieces.ids) / seconds(lambda way=way: way.encode(pieces, way.layers)) for name, way in ways.items()
    }
    table.add_row("pieces a second", *(f"{rate:,.0f}" for rate in rates.values()), ratio(rates))
    console = Console(width=100)
    console.print(table)
    console.print(f"largest difference of a segment: {largest:.0e} of 100")
    fresh = opened(encoder)
    first, again = (seconds(lambda: fresh.cut(lines)) for _ in range(2))
    console.print(f"tokenizer: {first:.2f} CPU s for {len(lines)} lines the first time, {again:.2f} s again")


def ratio(figures: dict[str, float]) -> str:
    """Ratio of the first of two figures to the second."""
    one, other = figures.values()
    return f"{one / other:.2f}"


if __name__ == "__main__":
    typer.run(main)
