"""Every command on inputs just below 10 MB that are the worst we could think of: time, memory, how it ended.

    python benchmarks/worst.py                      # all
    python benchmarks/worst.py "reader m2*" "ter *" # by patterns of names
    python benchmarks/worst.py --list "reader *"

A row is marked that took more than ten seconds of CPU time or a gigabyte, that ended otherwise than with its result or
with one line, or that was stopped at the limits. Each command runs in a process of its own, in a folder of its own.
"""

from __future__ import annotations

import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from tabulate import tabulate
from worst_inputs import TEXTS, make

SECONDS, MEGABYTES = 10, 1000
_METRICS = {
    "bleu": "-m bleu",
    "chrf": "-m chrf",
    "ter": "-m ter",
    "sleu": "--matcher sleu",
    "vleu": "--matcher vleu",
    "xleu": "--matcher xleu",
    "softbleu": "-m softbleu",
    "gleu": "-m gleu -s {text}.r",
    "meteor": "-m meteor --stages exact+stem",
    "hyter": "-m hyter",
    "green": "-m green -s {text}.r",
    "bertscore": "-m bertscore --vectors minilm-l6",
    "imeasure": "-m imeasure -s {text}.r",
    "tokens-intl": "--tokenize intl",
    "tokens-zh": "--tokenize zh",
    "tokens-char": "--tokenize char",
    "tokens-char+space": "--tokenize char+space",
}
_TEXTS = {
    **{name: f"score -c {{text}}.c -r {{text}}.r {options}" for name, options in _METRICS.items()},
    "refless": "score -c {text}.c -s {text}.r -m refless",
    "compare": "compare -c x={text}.c y={text}.r -r {text}.r --samples 100 -m bleu",
    "explain": "explain -c {text}.c -r {text}.r",
    "page": "score -c {text}.c -r {text}.r -f html -o out.html",
    "networks": "networks make -r {text}.r -o out.jsonl",
}
_READERS = {
    "pairs tsv": "score --pairs pairs.tsv",
    "pairs jsonl": "score --pairs pairs.jsonl",
    **{
        f"references {name}": f"score --pairs bigrefs.jsonl {_METRICS[name]}"
        for name in ("bleu", "vleu", "ter", "chrf", "hyter", "meteor")
    },
    "matrix one": "matrix --lists list.jsonl",
    "matrix many": "matrix --lists lists.jsonl",
    "matrix cut": "matrix --lists manycand.jsonl",
    **{
        f"m2 {name} {metric}": f"score -c {candidate}.txt --gold {gold}.m2 -m {metric}"
        for name, candidate, gold in (
            ("edits", "m2one", "m2many"),
            ("annotators", "m2one", "m2ann"),
            ("plain", "m2", "m2"),
            ("long", "m2long", "m2long"),
            ("mid", "m2mid", "m2mid"),
        )
        for metric in ("m2", "imeasure", "bleu")
    },
    "diff nest": "diff nest.json nest.json",
    "diff flat": "diff flat.json flat.json",
    "diff scores": "diff scores.json seg.json",
    "diff segments": "diff seg.json seg.json",
    "metaeval scores": "metaeval --human scores.tsv --scores scores.tsv --samples 10",
    "metaeval json": "metaeval --human scores.tsv --scores scores.json --samples 10",
    "metaeval ranks": "metaeval --rankings ranks.csv --samples 10 --runs 2",
    "metaeval systems": "metaeval --rankings ranksys.csv --samples 10 --runs 2",
    "metaeval da": "metaeval --da da.tsv -m bleu --samples 10",
    "metaeval da accuracy": "metaeval --da da.tsv -m bleu --samples 10 --table accuracy",
    "metaeval da preferences": "metaeval --da da.tsv -m bleu --samples 10 --table preferences",
    "toml": "experiments run toml.toml -o out",
    "keys": "experiments run keys.toml -o out",
    "grammar rules": "corpora generate --grammar rules.cfg --count 10",
    "grammar alternatives": "corpora generate --grammar alternatives.cfg --count 10",
    "grammar doubling": "corpora generate --grammar doubling.cfg --count 10",
    "grammar deep": "corpora generate --grammar deep.cfg --count 10",
    "grammar paraphrase": "corpora generate --grammar alternatives.cfg --pairing paraphrase --count 10",
    "grammar networks": "networks make --grammar alternatives.cfg --count 2",
    "grammar networks rules": "networks make --grammar rules.cfg --count 2",
    "vectors": "score -c two.txt -r two.txt --matcher vleu --vectors vecs.txt",
    "vectors wide": "score -c two.txt -r two.txt --matcher vleu --vectors wide.txt",
    "vectors convert": "embeddings convert vecs.txt store",
    "vectors convert wide": "embeddings convert wide.txt store",
    "vectors neighbours": "embeddings neighbours w1 --vectors vecs.txt",
    **{
        f"network {name}": f"score -c {candidate}.txt -r {network} -m hyter --notation {notation}"
        for name, candidate, network, notation in (
            ("chain", "one", "net.jsonl", "network"),
            ("parallel", "one", "par.jsonl", "network"),
            ("brackets", "one", "brackets.txt", "brackets"),
            ("optional", "one", "optional.txt", "brackets"),
            ("mid", "mid", "mid-brackets.txt", "brackets"),
        )
    },
    "networks make": "networks make -r brackets.txt --notation brackets -o out.jsonl",
    "networks make short": "networks make -r short-brackets.txt --notation brackets -o out.jsonl",
    "networks make again": "networks make -r nets.jsonl --notation network -o out.jsonl",
    "networks show": "networks show brackets.txt --notation brackets",
    "arpa": "score -c two.txt -s two.txt -m refless --language-model m.arpa --coefficients weights.json",
    "aligned one": "experiments spurious --pairs aligned.jsonl --matcher vleu -t 0.5",
    "aligned many": "experiments spurious --pairs aligneds.jsonl --matcher vleu -t 0.5",
    "labels": "compare -c x=tokens.c -r tokens.r --by labels.txt",
    "rarity": "compare -c x=words.c -r words.r --by rarity",
    "sweep": "sweep -c normal.c -r normal.r --matcher vleu -t 0.5,0.9",
    "spurious": "experiments spurious -c normal.c -r normal.r --matcher vleu -t 0.5",
}
CASES = {f"{name} {text}": command.format(text=text) for name, command in _TEXTS.items() for text in TEXTS}
CASES |= {f"reader {name}": command for name, command in _READERS.items()}


class Ended(NamedTuple):
    """How a command ended."""

    case: str
    fine: bool
    code: int
    cpu: float
    megabytes: int
    said: str


def measure(case: str, inputs: Path, seconds: int, gigabytes: int) -> Ended:
    """Run a command on inputs, which are made where they are missing."""
    words = shlex.split(CASES[case])
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        Path(folder, "out").mkdir()
        for name in {word.rpartition("=")[2] for word in words} | {"one.txt"}:
            if make(inputs, name):
                Path(folder, name).symlink_to(inputs / name)

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))

        process = subprocess.Popen(
            [sys.executable, "-m", "softbleu", *words, "-q"],
            cwd=folder,
            env={**os.environ, "SOFTBLEU_CACHE": str(Path(folder, "cache"))},
            stdout=subprocess.DEVNULL,
            stderr=errors,
            preexec_fn=limit,
        )
        _, status, used = os.wait4(process.pid, 0)
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()
    code, cpu, megabytes = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss // 1024
    fine = code in (0, 2) and cpu <= SECONDS and megabytes <= MEGABYTES and "\n" not in said
    return Ended(case, fine, code, round(cpu, 1), megabytes, said[-300:])


def main(
    patterns: Annotated[list[str] | None, typer.Argument(help="Names of cases; * is any text.")] = None,
    seconds: Annotated[int, typer.Option(help="CPU seconds after which a command is stopped.")] = 20,
    gigabytes: Annotated[int, typer.Option(help="Address space of a command.")] = 9,
    inputs: Annotated[
        Path | None, typer.Option(help="Where inputs are kept (else they are removed at the end).")
    ] = None,
    jsonl: Annotated[bool, typer.Option("--json", help="A line of JSON for each case, as it ends.")] = False,
    names: Annotated[bool, typer.Option("--list", help="Show the commands only.")] = False,
) -> None:
    """Print a row a case, and how many are as they should be."""
    cases = [case for case in CASES if any(fnmatchcase(case, pattern) for pattern in patterns or ["*"])]
    if names:
        print("\n".join(f"{case}: softbleu {CASES[case]}" for case in cases))
        return
    with tempfile.TemporaryDirectory() as folder:
        place = inputs or Path(folder)
        place.mkdir(exist_ok=True)
        rows = []
        for case in cases:
            rows.append(measure(case, place, seconds, gigabytes))
            if jsonl:
                print(json.dumps(rows[-1]._asdict()), flush=True)
    if not jsonl:
        shown = [(row.case, "" if row.fine else "<", *row[2:5], row.said[-100:]) for row in rows]
        print(tabulate(shown, ["case", "", "code", "CPU s", "MB", "said"], floatfmt=".1f", disable_numparse=[5]))
    print(
        f"{sum(row.fine for row in rows)} of {len(rows)} end within {SECONDS} s and {MEGABYTES} MB", file=sys.stderr
    )


if __name__ == "__main__":
    typer.run(main)
