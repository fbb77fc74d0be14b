"""How time and memory grow with the corpus: made-up pairs, each command in a process of its own.

    python benchmarks/growth.py --pairs 10000 --pairs 100000 --pairs 1000000
    python benchmarks/growth.py --only vleu --pairs 10000000 --how "" --how "--jobs 2"

CPU seconds count the command, its workers and their start-up. CPU per pair is without start-up: the same process has scored 100 pairs twice before, and what the second
time took is taken off. Peak memory is that of the command and of the largest worker. With --peers sacrebleu does the
same, where it can.
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
from typing import Annotated, NamedTuple

import typer
from made_up import make_corpus

_TIMED = """
import json, resource, sys, time
from importlib import import_module
place, module, *commands = sys.argv[1:]
found = []
for command in commands:
    sys.argv = [module, *json.loads(command)]
    start = time.perf_counter()
    try:
        import_module(module).main()
    except SystemExit as end:
        if end.code: raise
    sys.stdout.flush()
    found.append([time.perf_counter() - start])
    for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)):
        found[-1] += [used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]
with open(place, "w") as out:
    json.dump(found, out)
"""
_WARM = 100
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


class Used(NamedTuple):
    """What a run took: wall and CPU seconds, microseconds of CPU a pair without start-up, megabytes; its score."""

    wall: float
    own: float
    workers: float
    each: float
    peak: float
    most: float
    score: str


def arguments(folder: Path, metric: str, pairs: int, how: str) -> list[str]:
    """What a program is asked to do, its name first."""
    candidate, *others = map(str, make_corpus(folder, pairs, 3 if "3 references" in metric else 1))
    if how == PEER:
        return ["sacrebleu.sacrebleu", *others, "-i", candidate, "-m", metric, "-b", "-w", "12"]
    source = ["-s", others[0]] if metric.startswith("gleu") else []
    options = [*METRICS[metric], "-c", candidate, "-r", *others, *source, *how.split()]
    options += ["-o", str(folder / "out.jsonl")] if "segment" in options else ["--score-only", "--digits", "12"]
    return ["softbleu.cli", "score", "-q", *options]


def run(folder: Path, metric: str, pairs: int, how: str) -> Used:
    """Score so many pairs in a process of its own, once it is warm."""
    commands = [arguments(folder, metric, size, how) for size in (_WARM, _WARM, pairs)]
    with tempfile.TemporaryDirectory() as name:
        place = Path(name, "used.json")
        timed = [
            sys.executable,
            "-c",
            _TIMED,
            str(place),
            commands[0][0],
            *(json.dumps(each[1:]) for each in commands),
        ]
        done = subprocess.run(timed, stdout=subprocess.PIPE, text=True, check=True)
        first, second, last = json.loads(place.read_text())
    # Seconds of CPU are those since the process began.
    begun = [second[1] - first[1], second[3] - first[3]]
    own, workers = last[1] - second[1], last[3] - second[3]
    each = 1e6 * (own + workers - sum(begun)) / pairs
    start = first[1] - begun[0], first[3] - begun[1]
    score = done.stdout.strip().rpartition("\n")[2]
    return Used(last[0], own + start[0], workers + start[1], each, last[2], last[4], score)


def median(folder: Path, metric: str, pairs: int, how: str, repeat: int) -> Used:
    """The run whose CPU a pair is in the middle, of one where the corpus is large."""
    runs = [run(folder, metric, pairs, how) for _ in range(repeat if pairs < 10**6 else 1)]
    return sorted(runs, key=lambda used: used.each)[len(runs) // 2]


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
            for size in pairs:
                wall, own, workers, each, peak, most, score = median(folder, metric, size, options, repeat)
                columns = f"{wall:.1f} | {own:.2f} | {workers:.2f} | {each:.2f} | {peak:.0f} | {most:.0f} | {score}"
                print(f"{metric} | {options} | {size:,} | {columns}", flush=True)


if __name__ == "__main__":
    typer.run(main)
