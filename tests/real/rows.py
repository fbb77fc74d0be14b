"""Rows of the tables beside this file: what people type, and the figures that must come out.

A table is TOML, a ``[[row]]`` each:

- ``name``, and ``command``, a line or several. Commands run in a folder that has the real corpora as ``data``, the
  definitions of ``experiments``, those of ``tests/real`` as ``real``, and texts made of the corpora as ``made``; what
  one writes, the next may read.
- ``expect``, figures by where they stand in the table (TSV or CSV) that the last command writes: ``AMU & m2 @ gold``
  is the cell of column ``gold`` in the row with the cells ``AMU`` and ``m2``. The column is that of ``column``
  (``score``) unless named. Settings behind a cell may be left out (``vleu`` stands for ``vleu(threshold=0.8)``), of
  several rows the mean counts, and ``A minus B`` is a difference. A figure is compared to as many decimals as it has.
- ``contains``, texts that must be in the output.
- ``output``, a file that is looked at in the place of the standard output.
- ``source``, where the figures come from.
- ``group``, a name: rows of one group run one after another, for the later ones use what the first has encoded.
"""

import contextlib
import csv
import functools
import io
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from shared_data import SHARED

from softbleu.cli.app import run

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
_LINES_OF_A_DOCUMENT = 70


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    name: str
    command: str | list[str] = ""
    expect: dict[str, str] = field(default_factory=dict)
    contains: list[str] = field(default_factory=list)
    column: str = "score"
    output: str = ""
    source: str = ""
    group: str = ""
    # Of headlines only: see headlines.toml.
    page: str = ""
    text: str = ""
    fast: bool = True
    not_made: dict[str, str] = field(default_factory=dict)


def read_rows(name: str) -> list[Row]:
    """The rows of a table of this folder."""
    return [Row(**row) for row in tomllib.loads((HERE / name).read_text(encoding="utf-8"))["row"]]


def furnish(folder: Path) -> Path:
    """Make a folder in which the commands of the tables can be run."""
    for name, target in {"data": SHARED / "data", "experiments": ROOT / "experiments", "real": HERE}.items():
        (folder / name).symlink_to(target, target_is_directory=True)
    made = folder / "made"
    made.mkdir()
    sides = {"JHU": "system-outputs/JHU.2684.txt", "online": "system-outputs/online-B.txt"}
    for side, file in {"reference": "reference.en", **sides}.items():
        lines = (SHARED / "data" / "wmt13-fr-en" / file).read_text(encoding="utf-8").split("\n")[:3000]
        parts = {
            "first": lines[:300],
            # Seven documents of some 1,300 words, and two of some 3,000.
            "documents": [" ".join(lines[at : at + _LINES_OF_A_DOCUMENT]) for at in range(0, 2930, 441)],
            "long": [" ".join(lines[at : at + 160]) for at in (0, 1000)],
        }
        parts["document"], parts["longest"] = parts["documents"][:1], parts["long"][:1]
        for part, of_part in parts.items():
            (made / f"{part}.{side}").write_text("".join(f"{line}\n" for line in of_part), encoding="utf-8")
    return folder


def output_of(row: Row) -> str:
    """Run a row's commands in this process, in the present folder, and take what the last one writes."""
    commands = [row.command] if isinstance(row.command, str) else row.command
    written = [_run(command, Path.cwd()) for command in commands][-1]
    return Path(row.output).read_text(encoding="utf-8") if row.output else written


@functools.cache
def _run(command: str, folder: Path) -> str:
    """Run a command, once in each folder."""
    program, *arguments = shlex.split(command)
    assert program == "softbleu", command
    caught, told = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True), io.StringIO()
    with contextlib.redirect_stdout(caught), contextlib.redirect_stderr(told):
        code = run(arguments)
    if code != 0:
        raise ValueError(f"{command}: exit code {code}: {told.getvalue()[-2000:]}")
    caught.seek(0)
    return caught.read()


def faults(row: Row, output: str) -> Iterator[str]:
    """What came out otherwise."""
    for text in row.contains:
        if text not in output:
            yield f"{row.name}: {text!r} is not in the output: {output[:500]!r}"
    if row.expect:
        delimiter = "\t" if "\t" in output.partition("\n")[0] else ","
        table = list(csv.DictReader(io.StringIO(output), delimiter=delimiter))
        for where, figure in row.expect.items():
            try:
                found = [_value(table, each, row.column) for each in where.split(" minus ")]
            except LookupError as error:
                yield f"{row.name}: {where}: {error}"
                continue
            value = found[0] - sum(found[1:])
            if not agrees(value, figure):
                yield f"{row.name}: {where}: expected {figure}, got {value}"


def agrees(value: float, figure: str) -> bool:
    """Whether a value is a figure, to its decimals."""
    return abs(value - number(figure)) <= 0.5 * 10.0 ** -len(figure.partition(".")[2]) + 1e-9


def number(figure: str) -> float:
    """The number that a page prints, whose minus may be a true one."""
    return float(figure.replace("\N{MINUS SIGN}", "-"))


def _value(table: list[dict[str, str]], where: str, column: str) -> float:
    cells, _, named = where.partition(" @ ")
    wanted = cells.split(" & ")
    found = [
        row[named or column]
        for row in table
        if all(any(wish in (cell, str(cell).partition("(")[0]) for cell in row.values()) for wish in wanted)
    ]
    if not found:
        raise LookupError(f"no row has these cells, of {[list(row.values())[:4] for row in table[:20]]}")
    return sum(map(float, found)) / len(found)
