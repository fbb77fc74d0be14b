"""This project beside its peers on the same work, in one run: CPU seconds, wall seconds, peak memory, ratios.

    python benchmarks/run.py                      # everything that is installed
    python benchmarks/run.py --only bleu --pairs 100000

Every figure is of a whole process, start-up included, median of several runs in turn (A B A B …). A peer that is not
installed is named and left out. With the shared test data beside the checkout its text is used; without it, a made-up
text of the same length statistics.
"""

from __future__ import annotations

import json
import os
import platform
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
SHARED = Path(os.environ.get("SOFTBLEU_SHARED", HERE.parents[1] / "shared"))
SOFTBLEU = [sys.executable, "-m", "softbleu", "score", "--quiet", "--format", "json", "--tokenize", "none"]


@dataclass(frozen=True)
class Run:
    """What one process took."""

    cpu: float
    wall: float
    megabytes: float
    output: str


@dataclass(frozen=True)
class Entry:
    """One line of a table: a command and its median figures."""

    name: str
    command: Sequence[str]
    runs: list[Run]

    @property
    def cpu(self) -> float:
        return statistics.median(run.cpu for run in self.runs)

    @property
    def wall(self) -> float:
        return statistics.median(run.wall for run in self.runs)

    @property
    def megabytes(self) -> float:
        return max(run.megabytes for run in self.runs)


_TIMED = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
wall = time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
json.dump([used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024, done.returncode, done.stdout, done.stderr[-500:]],
          sys.stdout)
"""


def run(command: Sequence[str], environment: dict[str, str] | None = None) -> Run:
    """Run a command once; a process of its own between keeps the figures of runs apart."""
    done = subprocess.run(
        [sys.executable, "-c", _TIMED, *command],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **(environment or {})},
    )
    cpu, wall, megabytes, code, output, errors = json.loads(done.stdout)
    if code:
        raise RuntimeError(f"{' '.join(command)} failed: {errors}")
    return Run(cpu, wall, megabytes, output)


def compare(
    commands: dict[str, Sequence[str]], repeat: int, environment: dict[str, str] | None = None
) -> list[Entry]:
    """Run commands in turn, once to warm up and then `repeat` times."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for number in range(repeat + 1):
        for name, command in commands.items():
            done = run(command, environment)
            if number or repeat == 0:
                runs[name].append(done)
    return [Entry(name, commands[name], done) for name, done in runs.items()]


def show(title: str, entries: Sequence[Entry]) -> None:
    """Print a table; ratios are to the first line."""
    table = Table(title=title, title_justify="left")
    for column, justify in (("command", "left"), ("CPU s", "right"), ("wall s", "right"), ("peak MB", "right")):
        table.add_column(column, justify=justify)
    table.add_column("CPU of it / CPU of the first", justify="right")
    for entry in entries:
        ratio = f"{entry.cpu / entries[0].cpu:.2f}"
        table.add_row(entry.name, f"{entry.cpu:.2f}", f"{entry.wall:.2f}", f"{entry.megabytes:.0f}", ratio)
    Console(width=110).print(table)


def make_corpus(folder: Path, pairs: int, seed: int = 1) -> tuple[Path, Path]:
    """Write candidate and reference files of so many pairs: real system output drawn at random, or made up."""
    draw = random.Random(seed)
    candidate, reference = folder / f"candidate.{pairs}.txt", folder / f"reference.{pairs}.txt"
    outputs = sorted((SHARED / "data/wmt13-de-en/system-outputs").glob("*.txt"))
    if outputs:
        systems = [path.read_text(encoding="utf-8").split("\n") for path in outputs]
        references = (SHARED / "data/wmt13-de-en/reference.en").read_text(encoding="utf-8").split("\n")
    else:
        words = [f"w{number}" for number in range(30_000)]
        weights = [1 / (rank + 2) for rank in range(len(words))]
        references = [" ".join(draw.choices(words, weights, k=max(1, round(draw.gauss(22, 9))))) for _ in range(3000)]
        systems = [[_disturbed(line, draw, words, weights) for line in references] for _ in range(5)]
    with candidate.open("w", encoding="utf-8") as left, reference.open("w", encoding="utf-8") as right:
        for _ in range(pairs):
            line = draw.randrange(3000)
            left.write(draw.choice(systems)[line] + "\n")
            right.write(references[line] + "\n")
    return candidate, reference


def _disturbed(line: str, draw: random.Random, words: list[str], weights: list[float]) -> str:
    kept = [word if draw.random() < 0.6 else draw.choices(words, weights)[0] for word in line.split()]
    return " ".join(kept)


def bleu_commands(candidate: Path, reference: Path, tokenize: str, mojo: str | None) -> dict[str, Sequence[str]]:
    """Commands that compute the same BLEU."""
    files = ["-c", str(candidate), "-r", str(reference), "--tokenize", tokenize]
    commands: dict[str, Sequence[str]] = {"softbleu": [*SOFTBLEU, *files]}
    if find_spec("numba"):
        commands["softbleu, numpy kernels"] = [*SOFTBLEU, *files, "--kernels", "numpy"]
    commands["softbleu --jobs 2"] = [*SOFTBLEU, *files, "--jobs", "2"]
    sacrebleu = shutil.which("sacrebleu", path=str(Path(sys.executable).parent)) or "sacrebleu"
    commands["sacrebleu 2.6"] = [sacrebleu, str(reference), "-i", str(candidate), "-tok", tokenize, "-b", "-w", "6"]
    if find_spec("bleuscore"):
        commands["bleuscore"] = [sys.executable, str(HERE / "peers.py"), "bleuscore", str(candidate), str(reference)]
    if mojo:
        peer = [mojo, str(HERE / "peers.py"), "mojo", str(candidate), str(reference), tokenize]
        commands["sacrebleu-mojo"] = peer
    return commands


def soft_commands(candidate: Path, reference: Path) -> dict[str, Sequence[str]]:
    """The metrics that compare words, compiled where numba is installed, and in NumPy."""
    files = ["-c", str(candidate), "-r", str(reference), "--tokenize", "13a"]
    metrics = {"vleu": ["--matcher", "vleu", "-t", "0.8"], "xleu": ["--matcher", "xleu", "-t", "0.8"]}
    kernels = [*(["numba"] if find_spec("numba") else []), "numpy"]
    return {
        f"{name}, {kernel}": [*SOFTBLEU, *options, *files, "--kernels", kernel]
        for name, options in {**metrics, "softbleu": ["-m", "softbleu"]}.items()
        for kernel in kernels
    }


def main(
    only: Annotated[
        str, typer.Option(help="start, bleu, soft, context, sweep, gleu or significance; all unless given")
    ] = "",
    pairs: Annotated[list[int] | None, typer.Option(help="Sizes for BLEU.")] = None,
    repeat: Annotated[int, typer.Option(help="Counted runs of each command.")] = 3,
    mojo: Annotated[str | None, typer.Option(help="A Python with sacrebleu-mojo.")] = None,
) -> None:
    """Print the tables."""
    print(
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )
    if only in ("", "start"):
        commands = {
            "import softbleu": [sys.executable, "-c", "import softbleu"],
            "softbleu --help": [sys.executable, "-m", "softbleu", "--help"],
            "python": [sys.executable, "-c", "pass"],
        }
        show("Start-up", compare(commands, max(repeat, 5)))
    with tempfile.TemporaryDirectory() as name:
        if only in ("", "bleu"):
            for size in pairs or (3_000, 100_000, 1_000_000):
                candidate, reference = make_corpus(Path(name), size)
                for tokenize in ("none", "13a"):
                    commands = bleu_commands(candidate, reference, tokenize, mojo)
                    title = f"BLEU, --tokenize {tokenize}, {size:,} pairs"
                    show(title, compare(commands, 1 if size >= 10**6 else repeat))
    if only in ("", "soft"):
        soft(repeat)
    if only in ("", "context"):
        context()
    if only in ("", "sweep"):
        sweep(repeat)
    if only in ("", "gleu"):
        gleu(repeat)
    if only in ("", "significance"):
        significance(repeat)


def context() -> None:
    """The first 1,000 pairs of a submission in context: lines encoded, and again from what was kept."""
    data = SHARED / "data/morgan2014"
    if not data.exists():
        print("context: left out, it needs the shared test data")
        return
    with tempfile.TemporaryDirectory() as name:
        files = []
        for option, place in (("-c", "umd.2922.txt"), ("-r", "reference.en")):
            lines = (data / place).read_text(encoding="utf-8").splitlines(keepends=True)[:1000]
            Path(name, place).write_text("".join(lines), encoding="utf-8")
            files += [option, str(Path(name, place))]
        entries: list[Entry] = []
        for metric in ("bertscore", "softbleu", "vleu"):
            command = [*SOFTBLEU, *files, "-m", metric, "--vectors", "minilm-l6"]
            for times, title in ((1, "lines encoded"), (3, "lines kept")):
                environment = {"SOFTBLEU_CACHE": str(Path(name, metric))}
                entries.append(
                    Entry(f"{metric}, {title}", command, [run(command, environment) for _ in range(times)])
                )
    show("In context, minilm-l6, 1,000 pairs", entries)


def sweep(repeat: int) -> None:
    """Three matchers at 50 thresholds in one pass, beside runs of single thresholds."""
    data = SHARED / "data/morgan2014"
    candidate, reference = data / "umd.2922.txt", data / "reference.en"
    if not candidate.exists():
        print("sweep: left out, it needs the shared test data")
        return
    files = ["-c", str(candidate), "-r", str(reference)]
    matchers = ("sleu", "vleu", "xleu")
    grid = [part for matcher in matchers for part in ("--matcher", matcher)]
    with tempfile.TemporaryDirectory() as name:
        options = ["--quiet", "--tokenize", "none", *grid, "-t", "0:0.98:0.02", "-o", str(Path(name) / "x.csv")]
        commands: dict[str, Sequence[str]] = {
            "softbleu sweep, 3 matchers, 50 thresholds": [sys.executable, "-m", "softbleu", "sweep", *files, *options]
        }
        for threshold in ("0.8", "0"):
            for matcher in matchers:
                commands[f"softbleu score, {matcher}, θ {threshold}"] = [
                    *SOFTBLEU,
                    *files,
                    "--matcher",
                    matcher,
                    "--threshold",
                    threshold,
                ]
        entries = compare(commands, repeat)
    show("Sweep, 3,000 pairs, glove-6b-100d", entries)
    for threshold in ("0.8", "0"):
        alone = [entry for entry in entries if entry.name.endswith(f"θ {threshold}")]
        cpu, wall = sum(entry.cpu for entry in alone), sum(entry.wall for entry in alone)
        print(f"the three runs at θ {threshold} together: CPU {cpu:.2f} s, wall {wall:.2f} s")


def gleu(repeat: int) -> None:
    """GLEU+ of the systems of CoNLL-2014, 2 references, 500 samples, beside the PyPI program."""
    data = SHARED / "data/conll14"
    outputs = [str(path) for path in sorted((data / "systems").glob("*.txt"))]
    if not outputs:
        print("GLEU: left out, it needs the shared test data")
        return
    references = [str(data / "ref0.txt"), str(data / "ref1.txt")]
    files = [
        *(part for path in outputs for part in ("-c", path)),
        *(part for path in references for part in ("-r", path)),
    ]
    source = str(data / "source.txt")
    commands: dict[str, Sequence[str]] = {"softbleu": [*SOFTBLEU, "--metric", "gleu", "--source", source, *files]}
    program = shutil.which("gleu", path=str(Path(sys.executable).parent))
    if program:
        peer = [program, "-s", source, "-r", *references, "-o", *outputs, "-f"]
        commands["gleu 1.1.0 -p 2 -f"] = [*peer, "-p", "2"]
        commands["gleu 1.1.0 -f"] = peer
    show(f"GLEU+, {len(outputs)} systems, 2 references, 500 samples", compare(commands, min(repeat, 2)))


def significance(repeat: int) -> None:
    """10,000 bootstrap samples of the 23 systems of WMT13 de-en, beside sacrebleu."""
    data = SHARED / "data/wmt13-de-en"
    outputs = [str(path) for path in sorted((data / "system-outputs").glob("*.txt"))]
    if not outputs:
        print("significance: left out, it needs the shared test data")
        return
    files = [*(part for path in outputs for part in ("-c", path)), "-r", str(data / "reference.en")]
    ours = [
        sys.executable,
        "-m",
        "softbleu",
        "compare",
        "--quiet",
        "--tokenize",
        "none",
        "--test",
        "bootstrap",
        *files,
    ]
    sacrebleu = shutil.which("sacrebleu", path=str(Path(sys.executable).parent)) or "sacrebleu"
    theirs = [sacrebleu, str(data / "reference.en"), "-i", *outputs, "-tok", "none", "--paired-bs"]
    commands: dict[str, Sequence[str]] = {
        "softbleu compare, 10,000 samples": [*ours, "--samples", "10000"],
        "softbleu compare, 1,000 samples": ours,
        "sacrebleu --paired-bs, 1,000 samples": [*theirs, "--paired-bs-n", "1000"],
    }
    show("Paired bootstrap, BLEU, 23 systems of 3,000 segments", compare(commands, 1 if repeat < 3 else 2))


def soft(repeat: int) -> None:
    """What compares words on much text; VLEU and XLEU beside a naive loop."""
    with tempfile.TemporaryDirectory() as name:
        files = make_corpus(Path(name), 100_000)
        show("Soft matching, --tokenize 13a, 100,000 pairs", compare(soft_commands(*files), 1))
    vectors = SHARED / "data/googlenews-26k/googlenews-26k-300d.bin"
    if not vectors.exists():
        print("VLEU and XLEU: left out, they need the shared test data")
        return
    candidate, reference = SHARED / "data/morgan2014/umd.2922.txt", SHARED / "data/morgan2014/reference.en"
    for threads in ("1", ""):
        commands: dict[str, Sequence[str]] = {}
        for matcher in ("vleu", "xleu"):
            options = ["--matcher", matcher, "--threshold", "0.8"]
            files = ["-c", str(candidate), "-r", str(reference), "--vectors", str(vectors)]
            naive = [sys.executable, str(HERE / "naive.py"), str(candidate), str(reference), str(vectors), *options]
            commands[f"softbleu, {matcher}"] = [*SOFTBLEU, *files, *options]
            commands[f"naive loop, {matcher}"] = naive
            commands[f"plain naive loop, {matcher}"] = [*naive, "--plain"]
        environment = {"OPENBLAS_NUM_THREADS": threads} if threads else None
        title = f"3,000 pairs, θ 0.8, 300 dimensions, {'one BLAS thread' if threads else 'BLAS threads as installed'}"
        show(title, compare(commands, repeat, environment))


if __name__ == "__main__":
    typer.run(main)
