"""Every format of every command that writes a table (`formats.txt`): valid, and with the same figures.

Formats are those of `RECORD_WRITERS`, as programs read them (in full) or people (rounded). Names of systems are kept
whole, or escaped.
"""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from cli.conftest import CANDIDATE, LINES, SECOND
from judged_systems import OUTPUTS

from softbleu.report.records import RECORD_WRITERS

ROWS = [line.split(": ", 1) for line in Path(__file__).with_name("formats.txt").read_text().splitlines()[2:]]
COMMANDS = {name: line.split(" => ") if " => " in line else [line, ""] for name, line in ROWS}
GOLD = [
    "S the cat sit on a mat",
    "A 2 3|||V|||sat|||REQUIRED|||-NONE-|||0",
    "A 4 5|||D|||the|||REQUIRED|||-NONE-|||1",
]
GOLD += ["", "S a small dog bark", "", "S rain fell all night", ""]
PARSERS = {
    "json": lambda text: json.loads(text, parse_constant=pytest.fail),
    "jsonl": lambda text: [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()],
    "csv": lambda text: list(csv.reader(io.StringIO(text, newline=""))),
    "tsv": lambda text: list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)),
}
NUMBER = r"-?\d+\.\d+(?:e-?\d+)?"


@pytest.fixture
def place(files: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in {
        "one.txt": CANDIDATE,
        "two.txt": SECOND,
        "gold.m2": GOLD,
        "words.txt": ["dog", "small"],
        **{name: LINES[name] for name in ("human.tsv", "one.tsv", "two.tsv", "nbest.jsonl")},
        "marked.tsv": LINES["marked.tsv"][:2],
        "networks.txt": ["[the|a] cat (sat|was sitting) on []one mat"],
    }.items():
        files.write(name, content)
    for number, name in enumerate(("one", "two")):
        systems = [{"name": "x", "score": 20.25 + number, "segments": [{"segment": 1, "score": 3.125 * number}]}]
        files.write(
            f"{name}.json", [json.dumps({"schema": 1, "signature": "metric:bleu|order:4", "systems": systems})]
        )
    monkeypatch.chdir(files.folder)
    return Path(files.folder)


def leaves(value: Any) -> list[Any]:
    """Numbers and texts of what JSON says."""
    if isinstance(value, dict | list):
        return [leaf for each in (value.values() if isinstance(value, dict) else value) for leaf in leaves(each)]
    return [value]


def cells_of(output_format: str, text: str) -> list[list[str]]:
    """Rows of the tables that people are shown."""
    if output_format == "markdown":
        rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    else:
        rows = [re.split(r"(?<!\\)&", line[:-2]) for line in text.splitlines() if line.endswith(r"\\")]
    marks = "*" if output_format == "markdown" else "}"
    return [[cell.strip().removeprefix(r"\textbf{").strip(marks) for cell in row] for row in rows]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_format_has_the_same_figures(command: Any, place: Path, name: str) -> None:
    line, shown = COMMANDS[name]
    written = {}
    for output_format in RECORD_WRITERS:
        if output_format != "parquet":
            done = command(*line.split(), "-f", output_format, "-q")
            assert (done.code, done.err) == (0, ""), output_format
            assert done.out.endswith("\n")
            assert not re.search(r"\bnan\b", done.out.lower())
            written[output_format] = done.out
    rows = PARSERS["tsv"](written["tsv"])
    assert PARSERS["csv"](written["csv"]) == rows
    head, *rest = rows
    assert {len(row) for row in rows} == {len(head)}
    numbers = {float(cell) for row in rest for cell in row if re.fullmatch(NUMBER, cell)}
    for output_format in {*written} - {"text", "markdown", "latex"}:  # For readers: others have all digits
        PARSERS.get(output_format, str)(written[output_format])
        assert numbers <= set(map(float, re.findall(NUMBER, written[output_format]))), output_format
    for column, digits in (part.split(":") if ":" in part else (part, "2") for part in shown.split()):
        places = [number for number, cell in enumerate(head) if cell == column]
        figures = {f"{float(row[n]):.{digits}f}" for row in rest for n in places if row[n]}
        assert figures, column
        # For a paper, systems are compared by scores and stars alone.
        for output_format in ("markdown", *(["latex"] if not line.startswith("compare -c") else [])):
            table = {cell.lstrip("+") for row in cells_of(output_format, written[output_format]) for cell in row}
            assert figures <= table, (column, output_format)
        assert figures <= {word.lstrip("+") for word in written["text"].split()}
    assert all(row for name in ("markdown", "latex") for row in cells_of(name, written[name]))
    assert written["latex"].count(r"\begin{tabular}") == written["latex"].count(r"\end{tabular}")
    if line.startswith(("embeddings convert", "embeddings train", "language", "networks")):
        # Their output is another one.
        return
    assert command(*line.split(), "-f", "parquet", "-o", "table.parquet", "-q").code == 0
    table = [list(map(str, row.values())) for row in pyarrow.parquet.read_table("table.parquet").to_pylist()]
    plain = {"None": "", "True": "true", "False": "false"}
    assert not table or [[plain.get(cell, cell) for cell in row] for row in table] == rest


@pytest.mark.parametrize("name", ["score", "compare", "sweep", "explain"])
@pytest.mark.parametrize("output_format", [*RECORD_WRITERS, "html"])
def test_a_file_has_what_standard_output_has(command: Any, place: Path, name: str, output_format: str) -> None:
    line = COMMANDS[name][0].split()
    if output_format == "parquet" or (output_format == "html" and name in ("sweep", "explain")):
        done = command(*line, "-f", output_format)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        return
    before = {path.name for path in place.iterdir()}
    shown = command(*line, "-f", output_format)
    done = command(*line, "-f", output_format, "-o", "out.txt")
    assert (done.code, done.out, done.err) == (0, "", shown.err)
    assert Path("out.txt").read_text(encoding="utf-8") == shown.out
    assert {path.name for path in place.iterdir()} == before | {"out.txt"}


ODD = "a|b\t\x1b[1m&_%"
ESCAPED = {
    "text": r"a|b\t\x1b[1m&_%",
    "tsv": r"a|b\t\x1b[1m&_%",
    "markdown": r"a\|b\\t\\x1b\[1m&\_%",
    "latex": r"a\textbar{}b\textbackslash{}t\textbackslash{}x1b[1m\&\_\%",
}


@pytest.mark.parametrize("name", ["score", "compare", "explain", "sweep"])
def test_names_are_kept_or_escaped(command: Any, place: Path, name: str) -> None:
    line = COMMANDS[name][0].replace("one.txt", "ODD").split()
    arguments = [f"{ODD}.txt" if part == "ODD" else part for part in line]
    (place / f"{ODD}.txt").write_text("".join(f"{line}\n" for line in OUTPUTS["b"]) + "it rains\n")
    for output_format in RECORD_WRITERS:
        if output_format in ESCAPED:
            assert ESCAPED[output_format] in command(*arguments, "-f", output_format, "-q").out, output_format
        elif output_format in PARSERS:
            found = PARSERS[output_format](command(*arguments, "-f", output_format, "-q").out)
            assert ODD in leaves(found), output_format
