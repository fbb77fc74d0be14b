"""Rewards of 64 completions beside a loop of sacrebleu: CPU time, and how much memory 200 calls keep.

    python benchmarks/rewards.py
    python benchmarks/rewards.py --only en-zh
    python benchmarks/rewards.py --memory bertscore

Completions are outputs that neither program has seen, with a number put into each; their references were seen before, as in training. Both
score the same batches in turn, in one process. Memory is that of the process after `--warm` calls and after 200 more.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rows import METRICS, TEXTS, peer_of, read_text

import softbleu

BATCH, CALLS = 64, 200
Batch = tuple[list[str], list[str]]


def batches(name: str, seed: int = 1) -> Iterator[Batch]:
    """Draw completions and their references from a text."""
    references, systems = read_text(*TEXTS[name])
    draw = random.Random(seed)
    while True:
        rows = [draw.randrange(len(references)) for _ in range(BATCH)]
        completions = []
        for row in rows:
            words = draw.choice(systems)[row].split()
            words.insert(draw.randrange(len(words) + 1), str(draw.randrange(10**6)))
            completions.append(" ".join(words))
        yield completions, [references[row] for row in rows]


def timed(score: Callable[[list[str], list[str]], object], batch: Batch) -> float:
    """CPU seconds of a batch."""
    start = time.process_time()
    score(*batch)
    return time.process_time() - start


def memory() -> float:
    """Megabytes of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * 4096 / 1e6


def lines_of(name: str) -> Iterator[list[str]]:
    """Measure the metrics on a text: milliseconds of a batch for both, the ratio, and that of dense rewards."""
    tokenize = "zh" if name == "en-zh" else "13a"
    for metric, settings in METRICS.items():
        made = softbleu.read_metric(metric, **settings(tokenize))
        if made.requires.source or (made.requires.vectors and name != "de-en"):
            continue
        peer, took = peer_of(metric, tokenize), [0.0, 0.0, 0.0]

        def theirs(completions: list[str], references: list[str], peer: object = peer) -> None:
            for text, reference in zip(completions, references, strict=True):
                peer.sentence_score(text, [reference])  # type: ignore[attr-defined]

        ways = [softbleu.Reward(made), softbleu.Reward(made, dense=True), *([theirs] if peer else [])]
        drawn = batches(name)
        for count in range(23):
            batch = next(drawn)
            for place, way in enumerate(ways):
                took[place] += timed(way, batch) * (count > 2)  # Three batches for warming up
        own, dense, other = (f"{1000 * seconds / 20:.1f}" for seconds in took)
        ratio = f"{took[0] / took[2]:.2f}" if peer else ""
        yield [name, metric, own, other if peer else "", ratio, dense]


def main(
    only: Annotated[str, typer.Option(help="One text: de-en, en-cs or en-zh.")] = "",
    memory_of: Annotated[str, typer.Option("--memory", help="Measure the memory of this metric instead.")] = "",
    warm: Annotated[int, typer.Option(help="Calls before memory is measured.")] = 5,
) -> None:
    """Print the table."""
    if memory_of:
        reward, drawn = softbleu.Reward(memory_of), batches("de-en")
        for _ in range(warm):
            reward(*next(drawn))
        before = memory()
        for _ in range(CALLS):
            reward(*next(drawn))
        Console().print(f"{memory_of}: {memory() - before:.1f} MB more after {CALLS} calls")
        return
    table = Table(title=f"A batch of {BATCH}", title_justify="left")
    for column in ("text", "metric", "softbleu ms", "sacrebleu ms", "ratio", "dense ms"):
        table.add_column(column, justify="left" if column in ("text", "metric") else "right")
    for name in TEXTS:
        if only in ("", name):
            for line in lines_of(name):
                table.add_row(*line)
    Console(width=100).print(table)


if __name__ == "__main__":
    typer.run(main)
