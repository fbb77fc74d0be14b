"""Rows scored one by one, beside a loop of sacrebleu: CPU time of a row (batches of rewards: rewards.py).

    python benchmarks/rows.py                 # all texts that are there
    python benchmarks/rows.py --only en-zh --no-numba

Candidates are outputs that neither program has seen; their references were seen before, as in training. Both programs
score the same 64 rows in turn, in one process; the ratio is the median over systems.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

SHARED = Path(os.environ.get("SOFTBLEU_SHARED", Path(__file__).resolve().parents[2] / "shared"))
ROWS, STEP = 384, 64
Rows = Sequence[tuple[str, str]]
Score = Callable[[Rows], None]
TEXTS = {
    "de-en": ("wmt13-de-en", "reference.en", "txt"),
    "en-cs": ("wmt24-esa/en-cs", "reference-A.cs", "cs"),
    "en-zh": ("wmt24-esa/en-zh", "reference-A.zh", "zh"),
}
METRICS = {
    "bleu": lambda tokenize: {"tokenize": tokenize},
    "chrf": lambda _: {},
    "chrf++": lambda _: {},
    "ter": lambda _: {},
    "gleu": lambda tokenize: {"tokenize": tokenize},
    "softbleu": lambda tokenize: {"tokenize": tokenize},
    "vleu": lambda tokenize: {"tokenize": tokenize},
}


def peer_of(name: str, tokenize: str) -> Any:
    """Sacrebleu's metric, if it has it."""
    from sacrebleu.metrics import BLEU, CHRF, TER

    made = {
        "bleu": lambda: BLEU(effective_order=True, tokenize=tokenize),
        "chrf": CHRF,
        "chrf++": lambda: CHRF(word_order=2),
        "ter": TER,
    }
    return made[name]() if name in made else None


def read_text(folder: str, reference: str, suffix: str) -> tuple[list[str], list[list[str]]]:
    """Read references, and the outputs of five systems."""
    place = SHARED / "data" / folder
    outputs = sorted((place / "system-outputs").glob(f"*.{suffix}"))[:5]
    texts = [path.read_text(encoding="utf-8").split("\n")[:ROWS] for path in (place / reference, *outputs)]
    return texts[0], texts[1:]


def timed(score: Score, rows: Sequence[tuple[str, str]]) -> float:
    """CPU seconds of some rows."""
    start = time.process_time()
    score(rows)
    return time.process_time() - start


def compare(scores: Sequence[Score], text: tuple[list[str], list[list[str]]]) -> list[float]:
    """Microseconds of a row for each function, and the ratios of each to the last; the first system is a warm-up."""
    references, systems = text
    sums = []
    for system in systems:
        rows = [*zip(system, references, strict=True)]
        parts = [rows[start : start + STEP] for start in range(0, len(rows), STEP)]
        took = [[timed(score, part) for score in scores] for part in parts]
        sums.append([1e6 * sum(column) / len(rows) for column in zip(*took, strict=True)])
    ratios = [statistics.median(row[side] / row[-1] for row in sums[1:]) for side in range(len(scores) - 1)]
    return [*map(min, zip(*sums[1:], strict=True)), *ratios]


def lines_of(name: str, text: tuple[list[str], list[list[str]]], tokenize: str, vectors: bool) -> Iterator[list[str]]:
    """Measure the metrics on a text."""
    import softbleu

    for metric, settings in METRICS.items():
        made = softbleu.read_metric(metric, **settings(tokenize))
        if made.requires.vectors and not vectors:
            continue
        peer, source = peer_of(metric, tokenize), made.requires.source

        def single(rows: Rows, made: Any = made, source: bool = source) -> None:
            for candidate, reference in rows:
                made.sentence_score(candidate, [reference], reference if source else None)

        def theirs(rows: Rows, peer: Any = peer) -> None:
            for candidate, reference in rows:
                peer.sentence_score(candidate, [reference])

        own, *others = compare([single, *([theirs] if peer else [])], text)
        yield [
            name,
            metric,
            f"{own:.0f}",
            *(f"{other:.0f}" for other in others[:1]),
            *(f"{ratio:.2f}" for ratio in others[1:]),
        ]


def main(
    only: Annotated[str, typer.Option(help="One text: de-en, en-cs or en-zh.")] = "",
    numba: Annotated[bool, typer.Option(help="Leave numba to softbleu.")] = True,
) -> None:
    """Print the table."""
    if not numba:
        sys.modules["numba"] = None  # type: ignore[assignment]
    table = Table(title=f"A row, numba {'there' if numba else 'hidden'}", title_justify="left")
    for column in ("text", "metric", "softbleu µs", "sacrebleu µs", "ratio"):
        table.add_column(column, justify="left" if column in ("text", "metric") else "right")
    for name, place in TEXTS.items():
        if only in ("", name):
            for line in lines_of(name, read_text(*place), "zh" if name == "en-zh" else "13a", name == "de-en"):
                table.add_row(*line)
    Console(width=100).print(table)


if __name__ == "__main__":
    typer.run(main)
