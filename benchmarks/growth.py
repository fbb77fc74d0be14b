"""How time and memory grow with the corpus: made-up pairs, each command in a process of its own.

    python benchmarks/growth.py --pairs 10000 --pairs 100000 --pairs 1000000
    python benchmarks/growth.py --only vleu --pairs 10000000 --how "" --how "--cluster local:1" --how "--cluster local:2"

CPU seconds are those of the command (with a cluster of this machine its scheduler, too) and of its workers, start-up
included; CPU per pair leaves out what the smallest corpus of 100 pairs takes. Peak memory is that of the command and
of the largest worker. With --peers sacrebleu does the same, where it can.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from made_up import make_corpus

_TIMED = """
import json, resource, sys, time
from importlib import import_module
start, place, module = time.perf_counter(), sys.argv.pop(1), sys.argv.pop(1)
try:
    import_module(module).main()
except SystemExit as end:
    if end.code: raise
own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
found = [time.perf_counter() - start]
for used in (own, others):
    found += [used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]
with open(place, "w") as out:
    json.dump(found, out)
"""
METRICS = {
    "bleu": ["-m", "bleu"],
    "chrf": ["-m", "chrf"],
    "ter": ["-m", "ter"],
    "gleu": ["-m", "gleu"],
    "gleu, 3 references": ["-m", "gleu"],
    "bleu, 3 references": ["-m", "bleu"],
    "bleu, segments": ["-m", "bleu", "--level", "segment", "-f", "jsonl"],
    "vleu": ["-m", "vleu", "-t", "0.8"],
    "softbleu": ["-m", "softbleu"],
}


PEERS = ("bleu", "chrf", "ter")
PEER = "sacrebleu"
Used = tuple[float, float, float, float, float, str]


def run(folder: Path, metric: str, pairs: int, how: str) -> Used:
    """Wall seconds, CPU and peak megabytes of the command and of its workers, and what it printed."""
    references = 3 if "3 references" in metric else 1
    candidate, *others = map(str, make_corpus(folder, pairs, references))
    source = ["-s", others[0]] if metric.startswith("gleu") else []
    options = [*METRICS[metric], "-c", candidate, "-r", *others, *source, *how.split()]
    options += ["-o", str(folder / "out.jsonl")] if "segment" in options else ["--score-only", "--digits", "12"]
    command = ["softbleu.cli", "score", "-q", *options]
    if how == PEER:
        command = ["sacrebleu.sacrebleu", *others, "-i", candidate, "-m", metric, "-b", "-w", "12"]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name, "used.json")
        timed = [sys.executable, "-c", _TIMED, str(place), *command]
        done = subprocess.run(timed, stdout=subprocess.PIPE, text=True, check=True)
        return *json.loads(place.read_text()), done.stdout.strip()  # type: ignore[return-value]


def median(folder: Path, metric: str, pairs: int, how: str, repeat: int) -> Used:
    """The run whose CPU seconds are in the middle, of one where the corpus is large."""
    runs = [run(folder, metric, pairs, how) for _ in range(repeat if pairs < 10**6 else 1)]
    return sorted(runs, key=lambda used: used[1] + used[3])[len(runs) // 2]


def main(
    pairs: Annotated[list[int], typer.Option(help="Sizes of the corpus.")] = [10_000, 100_000, 1_000_000],  # noqa: B006
    only: Annotated[list[str] | None, typer.Option(help="Some of the metrics.")] = None,
    how: Annotated[list[str] | None, typer.Option(help="Further options, a run each.")] = None,
    repeat: Annotated[int, typer.Option(help="Runs of each corpus below a million pairs.")] = 3,
    peers: Annotated[bool, typer.Option(help="Run sacrebleu, too.")] = False,
    folder: Annotated[Path, typer.Option(help="Where the made-up text is kept.")] = Path("build"),
) -> None:
    """Print a row a run."""
    print(f"{datetime.now(UTC):%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores, {platform.python_version()}")
    print(
        "metric | options | pairs | wall s | command CPU s | workers CPU s | µs a pair | command MB | worker MB | score"
    )
    for metric in only or METRICS:
        for options in [*(how or [""]), *([PEER] if peers and metric in PEERS else [])]:
            _, start, _, others, _, _ = median(folder, metric, 100, options, 2 * repeat - 1)
            for size in pairs:
                wall, own, peak, workers, most, score = median(folder, metric, size, options, repeat)
                each = 1e6 * (own + workers - start - others) / size
                columns = f"{wall:.1f} | {own:.2f} | {workers:.2f} | {each:.2f} | {peak:.0f} | {most:.0f} | {score}"
                print(f"{metric} | {options} | {size:,} | {columns}", flush=True)


if __name__ == "__main__":
    typer.run(main)
