"""Make the published figures again: all of them, or the rows named; ``headlines.record.tsv`` says what came out.

What is not run keeps the line that it had: date and commit say what a line is about.
"""

import csv
import datetime
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from real.rows import HERE, ROOT, Row, faults, furnish, output_of, read_rows

RECORD = HERE / "headlines.record.tsv"
COLUMNS = ("row", "outcome", "date", "commit", "cpu seconds", "remark")
NOT_RUN = "not run"


def main(names: list[str]) -> int:
    """Run rows, and note what came out."""
    rows = {row.name: row for row in read_rows("headlines.toml")}
    if unknown := [name for name in names if name not in rows]:
        print(f"no row of headlines.toml: {', '.join(unknown)}")
        return 2
    os.chdir(furnish(Path(tempfile.mkdtemp(prefix="headlines-"))))
    commit = _commit()
    known = {line["row"]: line for line in read_record()}
    for name, row in rows.items():
        none = dict.fromkeys(COLUMNS, "") | {"row": name, "outcome": NOT_RUN}
        if not row.command:
            known[name] = {**none, "outcome": "no command makes it"}
        elif name in names or not names:
            known[name] = _line(row, commit)
            print(*known[name].values(), sep="\t", flush=True)
        known.setdefault(name, none)
        _write([known[each] for each in rows if each in known])
    return any(line["outcome"] == "differs" for line in known.values())


def read_record() -> list[dict[str, str]]:
    """What the last runs gave, a line a row."""
    if not RECORD.exists():
        return []
    with RECORD.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def _write(lines: list[dict[str, str]]) -> None:
    with RECORD.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, delimiter="\t", lineterminator="\n")
        table.writeheader()
        table.writerows(lines)


def _line(row: Row, commit: str) -> dict[str, str]:
    before = _cpu_seconds()
    try:
        differences = list(faults(row, output_of(row)))
        outcome = "differs" if differences else "as published"
    except ValueError as error:
        differences, outcome = [str(error).strip()], "could not be run"
    day, remark = datetime.datetime.now(datetime.UTC).date().isoformat(), " ".join("; ".join(differences).split())
    told = (row.name, outcome, day, commit, f"{_cpu_seconds() - before:.0f}", remark[:300])
    return dict(zip(COLUMNS, told, strict=True))


def _cpu_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def _commit() -> str:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", f":!{RECORD.relative_to(ROOT)}")
    return git("rev-parse", "--short", "HEAD") + (" and changes" if changed else "")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
