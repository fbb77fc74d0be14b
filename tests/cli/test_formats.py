"""Every format of every command that writes a table: valid, and with the same figures.

Commands: score (corpus, segment, macro, reference; gleu, softbleu, m2, imeasure; several metrics), compare (also
--all-pairs, --by, --show), explain, sweep, metaeval, matrix, select, diff, embeddings (info, similarity, neighbours,
graph, evaluate, list, convert, train), experiments spurious, networks info, language train. Formats: those of
`RECORD_WRITERS`, as programs read them (in full) or people (rounded). Names of systems are kept whole, or escaped.
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from cli.conftest import CANDIDATE, SECOND
from judged_systems import OUTPUTS

from softbleu.report.records import RECORD_WRITERS

TEXTS = "-c one.txt two.txt -r reference.txt"
SOFT = "--vectors vectors.txt"
COMMANDS: dict[str, tuple[str, str]] = {
    "score": (f"score {TEXTS}", "score brevity_penalty:4"),
    "segments": (f"score {TEXTS} --level segment", "score"),
    "means of segments": (f"score {TEXTS} --level macro", "score"),
    "references": (f"score {TEXTS} -r second.txt -s second.txt -m gleu -n 1 --level reference", "score"),
    "GLEU": (f"score {TEXTS} second.txt -s second.txt -m gleu -n 2", "score precisions_1 standard_deviation"),
    "soft": (f"score {TEXTS} {SOFT} -m vleu(threshold=0.5)", "score"),
    "softbleu": (f"score {TEXTS} {SOFT} -m softbleu", "score"),
    "M2": ("score -c one.txt two.txt --gold gold.m2 -m m2", "score"),
    "M2 by segment": ("score -c one.txt two.txt --gold gold.m2 -m m2 --level segment", "score"),
    "M2 by annotator": ("score -c one.txt --gold gold.m2 -m m2 --level reference", "score"),
    "I-measure": ("score -c one.txt two.txt --gold gold.m2 -m imeasure", "score weighted_accuracy"),
    "several metrics": (f"score {TEXTS} -m bleu chrf", "score"),
    "compare": (f"compare {TEXTS} --samples 20", "score lower upper difference"),
    "compare metrics": (f"compare {TEXTS} -m gleu -s second.txt --multi max --samples 20", "score difference"),
    "all pairs": (f"compare {TEXTS} second.txt --samples 20 --all-pairs", "difference"),
    "buckets": (f"compare {TEXTS} --by length", ""),
    "different n-grams": (f"compare {TEXTS} --show ngrams", ""),
    "different lines": (f"compare {TEXTS} --show different", ""),
    "explain": (f"explain {TEXTS} -l 1-3 -m sleu {SOFT}", "similarity"),
    "sweep": (f"sweep {TEXTS} {SOFT} --matcher vleu -t 0.5 0.8", "threshold score"),
    "metaeval": ("metaeval --human human.tsv --scores metric.tsv --samples 20", "pearson:3 spearman:3"),
    "left out": ("metaeval --human human.tsv --scores metric.tsv other.tsv --table left-out", "spearman:3"),
    "windows": ("metaeval --human human.tsv --scores metric.tsv --table windows --window 3", "spearman:3"),
    "williams": ("metaeval --human human.tsv --scores metric.tsv other.tsv --table williams", "p_value:4"),
    "matrix": ("matrix -c one.txt two.txt -m chrf", "one two"),
    "pairs": ("matrix --lists lists.jsonl -m chrf", "score"),
    "select": ("select --lists lists.jsonl -m chrf", "score"),
    "diff": ("diff one.json two.json", "one two difference"),
    "info": (f"embeddings info {SOFT[10:]}", ""),
    "similarity": (f"embeddings similarity dog hound {SOFT}", "similarity:4 percentile:4"),
    "neighbours": (f"embeddings neighbours dog {SOFT} -k 2", "similarity:4"),
    "graph": (f"embeddings graph --vocabulary words.txt -t 0.5 {SOFT}", "similarity:4"),
    "evaluate": (f"embeddings evaluate {SOFT} --corpus one.txt", "value:4"),
    "list": ("embeddings list", ""),
    "list one": ("embeddings list glove-840b-300d", ""),
    "convert": ("embeddings convert vectors.txt store --force", ""),
    "train": ("embeddings train one.txt -o trained --force --dimension 4 --min-count 1 --epochs 1", ""),
    "language": ("language train one.txt -o model.arpa -n 2", ""),
    "spurious": (f"experiments spurious {TEXTS[:10]} -r reference.txt {SOFT} --matcher sleu", "credit"),
    "networks": ("networks info networks.txt --notation brackets", ""),
}
"""Commands, and columns whose numbers people are shown, with so many decimals (2 unless said)."""
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


@pytest.fixture
def place(files: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in {
        "one.txt": CANDIDATE,
        "two.txt": SECOND,
        "gold.m2": GOLD,
        "human.tsv": ["A 0.5", "B 0.4", "C 0.3", "D 0.1"],
        "metric.tsv": ["A 40", "B 10", "C 30", "D 20"],
        "other.tsv": ["A 40", "B 30", "C 20", "D 10"],
        "words.txt": ["dog", "small"],
        "lists.jsonl": ['{"candidates": ["a cat sat", "the cat sat", "the dog sat"]}', '["it rains", "so be it"]'],
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
    numbers = {float(cell) for row in rest for cell in row if re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", cell)}
    for output_format in ("json", "jsonl"):
        found = leaves(PARSERS[output_format](written[output_format]))
        assert numbers <= {each for each in found if isinstance(each, float)}
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
