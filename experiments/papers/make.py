"""Make the tables of papers.md: what papers print, what softbleu gives, and by which command.

python experiments/papers/make.py           run the commands, write figures.csv, and put all tables into the page
python experiments/papers/make.py --page    put the tables of figures.csv and readings.csv into the page

A folder `shared` of test data lies beside the checkout, or SOFTBLEU_SHARED names it; METEOR needs softbleu[meteor].
`readings.py` beside it makes readings.csv, and `intervals.py` intervals.csv.
"""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from filling import fill

HERE = Path(__file__).resolve().parent
PAGE = HERE / "papers.md"
SHARED = Path(os.environ.get("SOFTBLEU_SHARED", HERE.parents[2] / "shared"))
FIGURES = HERE / "figures.csv"
Rows = list[dict[str, str]]


def output_of(command: str, folder: Path) -> Rows:
    """Run a command, in a folder of which `data` is that of the test data, and read the table that it writes."""
    sys.stdout.write(f"{command}\n")
    done = subprocess.run(
        ["bash", "-O", "extglob", "-c", command], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stderr}")
    return list(csv.DictReader(io.StringIO(done.stdout), delimiter="\t"))


def picked(rows: Rows, where: str) -> float | str:
    """Find the figure of `value & value @ column`: the row with these values, in that column."""
    wanted, _, column = (part.strip() for part in where.partition("@"))
    values = {value.strip() for value in wanted.split("&")} - {""}
    found = [row for row in rows if values <= {*row.values()}]
    if len(found) != 1:
        raise SystemExit(f"{len(found)} rows have {where}")
    return found[0][column]


def shown(value: str, printed: str, scale: float) -> str:
    """Write a figure with as many decimals as the printed one has."""
    number = float(value) * scale
    plain = printed.lstrip("−").replace(",", "")
    decimals = len(plain.partition(".")[2])
    text = f"{abs(number):.{decimals}f}"
    text = text.removeprefix("0") if plain.startswith(".") else text
    return ("−" if number < 0 and float(text) else "") + text


def make() -> None:
    """Run all commands of cells.toml, and write what comes out."""
    content = tomllib.loads((HERE / "cells.toml").read_text(encoding="utf-8"))
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").symlink_to(SHARED / "data")
        for file, text in content["files"].items():
            (folder / file).write_text(text, encoding="utf-8")
        for command in content["setup"]:
            output_of(command, folder)
        known: dict[str, Rows] = {}
        for table in content["table"]:
            for row in table["row"]:
                command = f"softbleu {row['command']}"
                if command not in known:
                    known[command] = output_of(f"{command} -f tsv -q", folder)
                for cell, (printed, where) in row["cells"].items():
                    ours = shown(str(picked(known[command], where)), printed, row.get("scale", 1))
                    lines.append((table["name"], cell, printed, ours, command, row.get("why", "")))
    with FIGURES.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("table", "cell", "printed", "ours", "command", "why"))
        table.writerows(lines)


def tables() -> dict[str, str]:
    """All tables, as Markdown."""
    found: dict[str, str] = {}
    with FIGURES.open(encoding="utf-8", newline="") as file:
        figures = list(csv.DictReader(file))
    for name in dict.fromkeys(row["table"] for row in figures):
        commands = list(dict.fromkeys(row["command"] for row in figures if row["table"] == name))
        lines = ["| cell | printed | ours | command | why it differs |", "|---|---:|---:|---:|---|"]
        for row in figures:
            if row["table"] == name:
                same = row["printed"].replace(",", "") == row["ours"].replace(",", "")
                why = "" if same else row["why"]
                number = commands.index(row["command"]) + 1
                lines.append(f"| {row['cell']} | {row['printed']} | {row['ours']} | {number} | {why} |")
        numbered = [f"# {number}\n{command}" for number, command in enumerate(commands, start=1)]
        found[name] = "\n".join([*lines, "", "```text", *numbered, "```"])
    for name in ("readings", "intervals"):
        path = HERE / f"{name}.csv"
        if path.exists():
            with path.open(encoding="utf-8", newline="") as file:
                found |= dict(TABLES[name](list(csv.DictReader(file))))
    return found


def readings(rows: Rows) -> dict[str, str]:
    """Tables of the readings of Morgan's text and program."""
    found = {}
    for title in ("Table 2", "Table 6"):
        of = [row for row in rows if row["table"].startswith(title) and row["reading"]]
        whole = {(row["metric"], row["reading"]) for row in of if row["table"] == title}
        lines = ["| metric | reading | 1 | 2 | 3 | 4 | score | distance |", "|---|---|---:|---:|---:|---:|---:|---:|"]
        for row in sorted(of, key=lambda row: row["metric"]):
            if row["table"] != title and (row["metric"], row["reading"]) in whole:
                continue
            three = title == "Table 2" and row["metric"] == "XLEU"
            score = float(row[f"score, totals {'three' if three else 'order'}"])
            counts = [f"{float(row[f'matches {order}']):,.0f}" for order in range(1, 5)]
            tenth = "" if row["table"] == title else " *"
            cells = [
                row["metric"],
                row["reading"] + tenth,
                *counts,
                f"{score:.4f}"[1:],
                row["distance"].removeprefix("0"),
            ]
            lines.append(f"| {' | '.join(cells)} |")
        found[f"{title}, readings"] = "\n".join(lines)
    search = sorted((row for row in rows if row["table"].startswith("Table 2,") and not row["reading"]), key=_far)
    lines = ["| readings of XLEU | 1 | 2 | 3 | 4 | distance |", "|---|---:|---:|---:|---:|---:|"]
    for row in [*search[:5], search[-1]]:
        counts = [f"{float(row[f'matches {order}']):,.0f}" for order in range(1, 5)]
        settings = row["settings"] or "the text, k = j"
        lines.append(f"| {settings} | {' | '.join(counts)} | {row['distance'].removeprefix('0')} |")
    found["search"] = "\n".join(lines)
    artificial = [row for row in rows if row["table"].startswith("Tables 4, 5")]
    lines = ["| metric | reading | 1 | 2 | 3 | 4 | score |", "|---|---|---:|---:|---:|---:|---:|"]
    for metric, reading in dict.fromkeys((row["metric"], row["reading"]) for row in artificial):
        of = [row for row in artificial if (row["metric"], row["reading"]) == (metric, reading)]
        keys = [*(f"matches {order}" for order in range(1, 5)), "score, totals order"]
        cells = []
        for key in keys:
            values = [float(row[key]) for row in of]
            form = ".0f" if key.startswith("matches") else ".4f"
            cells.append(f"{min(values):{form}}–{max(values):{form}}".replace("0.", "."))
        lines.append(f"| {metric} | {reading} | {' | '.join(cells)} |")
    found["artificial"] = "\n".join(lines)
    return found


def _far(row: dict[str, str]) -> float:
    return float(row["distance"])


def intervals(rows: Rows) -> dict[str, str]:
    """The table of the ranking of 2016."""
    keys = list(rows[0])
    lines = [f"| {' | '.join(keys)} |", f"|{'---|' * len(keys)}"]
    return {"intervals": "\n".join([*lines, *(f"| {' | '.join(row.values())} |" for row in rows)])}


TABLES = {"readings": readings, "intervals": intervals}


if __name__ == "__main__":
    if "--page" not in sys.argv[1:]:
        make()
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8"), tables()), encoding="utf-8")
