"""Choices among lists of 64 outputs: CPU time of `select` beside that of the matrices alone, and of calls of `pairwise`.

    python benchmarks/choices.py
    python benchmarks/choices.py --metric bertscore --lists 20

Lists are outputs of WMT13 de-en with words left out, new in each round. The ways take the same lists in turn, in one process; one round warms up.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rows import TEXTS, read_text

import softbleu
from softbleu.corpora.records import TextList
from softbleu.results.pairs import score_pairs

Lists = Sequence[Sequence[str]]


def drawn_lists(count: int, size: int, seed: int = 1) -> Iterator[Lists]:
    """Draw lists: outputs of a segment, each without some of its words."""
    _, systems = read_text(*TEXTS["de-en"])
    draw = random.Random(seed)
    while True:
        rows = [draw.randrange(len(systems[0])) for _ in range(count)]
        texts = [[draw.choice(systems)[row].split() for _ in range(size)] for row in rows]
        yield [[" ".join(word for word in words if draw.random() > 0.1) for words in some] for some in texts]


def ways_of(metric: softbleu.Metric) -> dict[str, Callable[[Lists], object]]:
    """Return the ways that are measured, by name."""
    return {
        "select": lambda lists: softbleu.select(lists, metric),
        "matrices": lambda lists: list(score_pairs([TextList.of(texts) for texts in lists], metric)),
        "pairwise": lambda lists: [softbleu.pairwise(texts, metrics=metric) for texts in lists],
    }


def main(
    metrics: Annotated[list[str] | None, typer.Option("--metric", help="Only these metrics.")] = None,
    count: Annotated[int, typer.Option("--lists", help="Lists a round.")] = 100,
    size: Annotated[int, typer.Option(help="Outputs of a list.")] = 64,
    rounds: Annotated[int, typer.Option(help="Rounds, after one that warms up.")] = 3,
) -> None:
    """Print CPU seconds of a round by each way, and the ratios of `select` to the others."""
    table = Table(title=f"{count} lists of {size}", title_justify="left")
    for column in ("metric", "select s", "matrices s", "ratio", "pairwise s", "ratio"):
        table.add_column(column, justify="left" if column == "metric" else "right")
    for name in metrics or ("chrf", "bleu", "softbleu", "bertscore"):
        ways, lists = ways_of(softbleu.read_metric(name)), drawn_lists(count, size)
        took = dict.fromkeys(ways, 0.0)
        for number in range(rounds + 1):
            drawn = [next(lists) for _ in ways]
            for place, way in enumerate(ways):
                start = time.process_time()
                ways[way](drawn[place])
                took[way] += (time.process_time() - start) * (number > 0)
        own, matrices, single = (seconds / rounds for seconds in took.values())
        ratios = [f"{own:.2f}", f"{matrices:.2f}", f"{own / matrices:.2f}", f"{single:.2f}", f"{own / single:.2f}"]
        table.add_row(name, *ratios)
    Console(width=100).print(table)


if __name__ == "__main__":
    typer.run(main)
