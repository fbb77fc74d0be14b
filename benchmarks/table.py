"""The table of work × program of docs/reference/performance.md, measured and written by one command.

    python benchmarks/table.py                                        # just bench: all that is installed
    python benchmarks/table.py --only BLEU --pairs 2000 --page /tmp/performance.md
    python benchmarks/table.py --program meteor=meteor-1.5.jar --program mojo=mojo/bin/python --program m2=m2scorer.py

CPU seconds and peak memory are of whole processes, start-up included, medians of runs in turn after one that is not
counted. "Ratio" is the CPU time of a program divided by that of the first program of the same work. Rows that are
not measured, as programs are not installed, stay on the page as they are, with a star. run.py has more tables.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from run import HERE, SHARED, compare, make_corpus

PAGE = HERE.parent / "docs" / "reference" / "performance.md"
BEGIN, END = "<!-- made by just bench -->\n", "<!-- end -->\n"
HEAD = "| work | program | CPU s | peak MB | ratio |\n|---|---|---:|---:|---:|\n"
Programs = dict[str, Sequence[str]]
FAST, SLOW = "softbleu[fast]", "softbleu, NumPy alone"


def softbleu(*options: str, command: str = "score") -> list[str]:
    return [sys.executable, "-m", "softbleu", command, "--quiet", *options]


def both(*options: str) -> Programs:
    """Compiled kernels, where numba is installed, and NumPy."""
    kernels = {FAST: "numba", SLOW: "numpy"} if find_spec("numba") else {SLOW: "numpy"}
    return {name: softbleu(*options, "--kernels", each) for name, each in kernels.items()}


def peer(name: str, *arguments: str) -> Programs:
    """A program that pip installs, if it is there."""
    program = shutil.which(name, path=str(Path(sys.executable).parent))
    return {f"{name} {version(name)}": [program, *arguments]} if program else {}


def texts(*files: str) -> list[str]:
    return [part for option, each in zip(("-c", "-r"), files, strict=True) for part in (option, each)]


def made_works(folder: Path, sizes: Sequence[int], given: dict[str, str]) -> dict[str, Programs]:
    """Work on pairs drawn from the systems of WMT13, or made up where these are not there."""
    works: dict[str, Programs] = {}
    for pairs in sizes:
        candidate, reference = map(str, make_corpus(folder, pairs))
        files, theirs = texts(candidate, reference), [reference, "-i", candidate, "-b"]
        many = pairs == max(sizes)
        work = works[f"BLEU, 13a, {pairs:,} pairs"] = both(*files)
        if many and find_spec("bleuscore"):
            own = [sys.executable, str(HERE / "peers.py"), "bleuscore", candidate, reference]
            work[f"bleuscore {version('bleuscore')}"] = own
        if many and "mojo" in given:
            work["sacrebleu-mojo"] = [given["mojo"], str(HERE / "peers.py"), "mojo", candidate, reference]
        if many and len(sizes) > 1:
            continue
        work |= peer("sacrebleu", *theirs)
        works[f"chrF, {pairs:,} pairs"] = both("-m", "chrf", *files) | peer("sacrebleu", *theirs, "-m", "chrf")
        for name, options in (("VLEU 0.8", ["-m", "vleu", "-t", "0.8"]), ("XLEU 0.8", ["-m", "xleu", "-t", "0.8"])):
            works[f"{name}, {pairs:,} pairs, `glove-6b-100d`"] = both(*options, "--tokenize", "13a", *files)
        works[f"`softbleu`, {pairs:,} pairs"] = both("-m", "softbleu", *files)
    return works


def shared_works(given: dict[str, str]) -> dict[str, Programs]:
    """Work on the shared test data."""
    wmt13, conll, morgan = (SHARED / "data" / name for name in ("wmt13-de-en", "conll14", "morgan2014"))
    outputs = sorted(map(str, (wmt13 / "system-outputs").glob("*.txt")))
    reference, one = str(wmt13 / "reference.en"), next((each for each in outputs if "CNGL_DCU" in each), outputs[0])
    works = {
        "TER, 3,000 pairs of WMT13 (CNGL_DCU)": {"softbleu": softbleu("-m", "ter", *texts(one, reference))}
        | peer("sacrebleu", reference, "-i", one, "-m", "ter", "-b"),
        "METEOR, 3,000 pairs of WMT13": {"softbleu": softbleu("-m", "meteor", *texts(one, reference))},
        "paired bootstrap, 23 systems of WMT13": {
            "softbleu, 10,000 samples": softbleu(
                *("--tokenize", "none", "--samples", "10000", "-r", reference, "-c", *outputs), command="compare"
            )
        },
    }
    if "meteor" in given:
        works["METEOR, 3,000 pairs of WMT13"]["the Java program"] = [
            *("java", "-Xmx2G", "-jar", given["meteor"], one, reference, "-l", "en", "-norm")
        ]
    for name, program in peer("sacrebleu", reference, "-i", *outputs, "-tok", "none", "--paired-bs").items():
        works["paired bootstrap, 23 systems of WMT13"][f"{name}, 1,000 samples"] = [*program, "--paired-bs-n", "1000"]
    vectors = str(SHARED / "data" / "googlenews-26k" / "googlenews-26k-300d.bin")
    left, right = str(morgan / "umd.2922.txt"), str(morgan / "reference.en")
    soft = ["--matcher", "vleu", "--threshold", "0.8"]
    works["VLEU 0.8, 3,000 pairs, word2vec of 32 MB, blanks"] = {
        SLOW: softbleu(*texts(left, right), *soft, "--vectors", vectors, "--kernels", "numpy"),
        "a loop over segments, vectorised (`benchmarks/naive.py`)": [
            *(sys.executable, str(HERE / "naive.py"), left, right, vectors, *soft)
        ],
    }
    systems, source = sorted(map(str, (conll / "systems").glob("*.txt"))), str(conll / "source.txt")
    references = [str(conll / "ref0.txt"), str(conll / "ref1.txt")]
    works["GLEU+, 13 systems of CoNLL-2014, 2 references, 500 samples"] = {
        "softbleu": softbleu("-m", "gleu", "-s", source, "-c", *systems, "-r", *references)
    } | peer("gleu", "-s", source, "-r", *references, "-o", *systems, "-f")
    gold = str(next(iter(sorted(conll.rglob("*.m2"))), ""))
    if gold:
        works["M2, 13 systems of CoNLL-2014"] = {"softbleu": softbleu("-m", "m2", "--gold", gold, "-c", *systems)}
    if gold and "m2" in given:
        script = 'for each in "${@:3}"; do "$1" "$each" "$2"; done'
        official = ["bash", "-c", script, "m2", given["m2"], gold, *systems]
        works["M2, 13 systems of CoNLL-2014"]["the official scorer"] = official
    return works


def rows_of(table: str) -> dict[tuple[str, str], str]:
    """Rows of a table on the page by work and program."""
    found, work = {}, ""
    for row in re.findall(r"^\|.*\|$", table, re.MULTILINE)[2:]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        work = cells[0] or work
        found[work, cells[1].removesuffix(" \\*")] = " | ".join(cells[2:])
    return found


def write(page: Path, measured: dict[tuple[str, str], str], about: str) -> None:
    """Put the table between the markers; rows that were not measured keep their figures, with a star."""
    text = page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    old, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{page}: no table between the lines {BEGIN!r} and {END!r}")
    kept = rows_of(old)
    table, last = HEAD, ""
    every = list(dict.fromkeys([*kept, *measured]))
    for work in dict.fromkeys(work for work, _ in every):
        for program in (program for each, program in every if each == work):
            star = "" if (work, program) in measured else r" \*"
            figures = measured.get((work, program)) or kept[work, program]
            table += f"|{f' {work}' if work != last else ''} | {program}{star} | {figures} |\n"
            last = work
    star = "\n\\* measured before that day.\n" if kept.keys() - measured.keys() else ""
    page.write_text(f"{before}{begin}{about}\n\n{table}{star}{end}{after}", encoding="utf-8")


def main(
    only: Annotated[str, typer.Option(help="Works whose name begins so; all unless given.")] = "",
    pairs: Annotated[list[int] | None, typer.Option(help="Sizes (default: 100,000 and 1,000,000).")] = None,
    repeat: Annotated[int, typer.Option(help="Counted runs of each program.")] = 3,
    program: Annotated[list[str] | None, typer.Option(help="mojo=, meteor= or m2= and where it is.")] = None,
    page: Annotated[Path, typer.Option(help="Page with the markers.")] = PAGE,
) -> None:
    """Measure, and write the table into the page."""
    given = dict(each.partition("=")[::2] for each in program or ())
    measured: dict[tuple[str, str], str] = {}
    with tempfile.TemporaryDirectory() as folder:
        works = made_works(Path(folder), pairs or (100_000, 1_000_000), given)
        works |= shared_works(given) if (SHARED / "data").is_dir() else {}
        for work, programs in works.items():
            if not work.startswith(only):
                continue
            entries = compare(programs, repeat)
            for each in entries:
                ratio = each.cpu / entries[0].cpu
                figures = f"{each.cpu:.3g} | {each.megabytes:.0f} | {'1' if each is entries[0] else f'{ratio:.3g}'}"
                measured[work, each.name] = figures
                print(f"{work}: {each.name}: {figures}", flush=True)
    about = (
        f"Measured on {datetime.now(UTC):%Y-%m-%d} on {platform.machine()} with {os.cpu_count()} cores and Python "
        f"{platform.python_version()}."
    )
    write(page, measured, about)


if __name__ == "__main__":
    typer.run(main)
