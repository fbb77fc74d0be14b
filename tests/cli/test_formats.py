"""Every format of every command that writes a table (`formats.toml`): valid, and with the same figures; pages.

Formats are those of `TABLE_WRITERS`, as programs read them (in full) or people (rounded). Names of systems are kept
whole, or escaped.
"""

import csv
import io
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from cli.conftest import TEXTS, names_in
from judged_systems import OUTPUTS
from tables import each_row, read_rows

import softbleu.report.pages
from softbleu.formats import TABLE_FORMATS, TABLE_WRITERS
from softbleu.tables import p_text
from softbleu.version import __version__

pytestmark = pytest.mark.usefixtures("few_lines_tested")
COMMANDS = {row["name"]: row["run"] for row in read_rows("cli/formats.toml")}
PARSERS = {
    "json": lambda text: json.loads(text, parse_constant=pytest.fail),
    "jsonl": lambda text: [json.loads(line, parse_constant=pytest.fail) for line in text.splitlines()],
    "csv": lambda text: list(csv.reader(io.StringIO(text, newline=""))),
    "tsv": lambda text: list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)),
}
NUMBER = r"-?\d+\.\d+(?:e-?\d+)?"


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


def figures_in(text: str) -> set[str]:
    """Words without signs and the brackets of intervals."""
    return {word.lstrip("+") for word in re.split(r"[\s\\\[\]]+|,\s", text)}


@each_row("cli/formats.toml", "run", shown={})
def test_every_format_has_the_same_figures(command: Any, files: Any, run: str, shown: dict[str, int]) -> None:
    files.lay(run)
    written = {}
    for output_format in TABLE_WRITERS:
        if output_format != "parquet":
            done = command(*run.split(), "-f", output_format, "-q")
            assert (done.code, done.err) == (0, ""), output_format
            assert done.out.endswith("\n")
            assert not re.search(r"\bnan\b", done.out.lower())
            written[output_format] = done.out
    head, *rest = PARSERS["tsv"](written["tsv"])
    assert PARSERS["csv"](written["csv"]) == [head, *rest]
    assert {len(row) for row in rest} <= {len(head)}
    numbers = {float(cell) for row in rest for cell in row if re.fullmatch(NUMBER, cell)}
    for output_format in (name for name in written if TABLE_FORMATS[name].audience == "programs"):  # All digits
        PARSERS.get(output_format, str)(written[output_format])
        assert numbers <= set(map(float, re.findall(NUMBER, written[output_format]))), output_format
    for column, digits in shown.items():
        places = [number for number, cell in enumerate(head) if cell == column]
        figures = {f"{float(row[n]):.{digits}f}" for row in rest for n in places if row[n]}
        assert figures, column
        # For a paper, systems are compared by scores and stars alone.
        for output_format in ("markdown", *(["latex"] if not run.startswith("compare -c") else [])):
            table = {cell for row in cells_of(output_format, written[output_format]) for cell in row}
            assert figures <= figures_in(" ".join(table)), (column, output_format)
        assert figures <= figures_in(written["text"])
    assert all(row for name in ("markdown", "latex") for row in cells_of(name, written[name]))
    assert written["latex"].count(r"\begin{tabular}") == written["latex"].count(r"\end{tabular}")
    if run.startswith(("embeddings convert", "embeddings train")):
        # Their output is another one.
        return
    assert command(*run.split(), "-f", "parquet", "-o", "table.parquet", "-q").code == 0
    table = [list(map(str, row.values())) for row in pyarrow.parquet.read_table("table.parquet").to_pylist()]
    plain = {"None": "", "True": "true", "False": "false"}
    assert not table or [[plain.get(cell, cell) for cell in row] for row in table] == rest


@pytest.mark.parametrize("name", ["score", "compare", "sweep", "explain"])
@pytest.mark.parametrize("output_format", [*TABLE_WRITERS, "html"])
def test_a_file_has_what_standard_output_has(command: Any, files: Any, name: str, output_format: str) -> None:
    line = COMMANDS[name].split()
    files.lay(*line)
    if output_format == "parquet":
        done = command(*line, "-f", output_format)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        return
    before = names_in(files.folder)
    signed = ["--signatures"] * (output_format == "text" and name in ("score", "compare"))
    shown = command(*line, "-f", output_format, *signed)
    done = command(*line, "-f", output_format, "-o", "out.txt")
    assert (done.code, done.out, done.err) == (0, "", shown.err)
    assert Path("out.txt").read_text(encoding="utf-8") == shown.out
    assert names_in(files.folder) == before | {"out.txt"}


@each_row("cli/shown.toml", "run", "prints")
def test_commands_print_the_shown_text_and_no_note(command: Any, files: Any, run: str, prints: str) -> None:
    files.lay(run)
    done = command(*shlex.split(run))
    assert (done.code, done.err) == (0, "")
    assert done.out.replace(__version__, "VERSION") == prints


ODD = "a|b\t\x1b[1m&_%"
ESCAPED = {
    "text": r"a|b\t\x1b[1m&_%",
    "tsv": r"a|b\t\x1b[1m&_%",
    "markdown": r"a\|b\\t\\x1b\[1m&\_%",
    "latex": r"a\textbar{}b\textbackslash{}t\textbackslash{}x1b[1m\&\_\%",
}


@pytest.mark.parametrize("name", ["score", "compare", "explain", "sweep"])
def test_names_are_kept_or_escaped(command: Any, files: Any, name: str) -> None:
    arguments = [f"{ODD}.txt" if part == "candidate.txt" else part for part in COMMANDS[name].split()]
    files.lay(*arguments)
    files.write(f"{ODD}.txt", [*OUTPUTS["b"], "it rains"])
    for output_format in {*ESCAPED, *PARSERS}:
        out = command(*arguments, "-f", output_format, "-q").out
        if output_format in ESCAPED:
            assert ESCAPED[output_format] in out, output_format
        else:
            assert ODD in leaves(PARSERS[output_format](out)), output_format


PAGE = ("score", *TEXTS, "--matcher", "vleu", "-t", 0.8, "--vectors", "vectors.txt", "--format", "html")


def data_of(html):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html)[1])


def test_a_page_of_a_run(command, files):
    shown = command(*PAGE)
    assert shown.out.startswith("<!doctype html>")
    assert shown.out.endswith("</html>\n")
    scored, plain = json.loads(command(*PAGE[:-1], "json").out), data_of(shown.out)
    assert plain["signature"] == scored["signature"]
    assert plain["systems"][0]["score"] == scored["systems"][0]["score"]
    assert plain["metric"]["effective"] is False
    data = data_of(command(*PAGE, "--digits", 5, "--level", "segment").out)
    assert (data["digits"], data["metric"]["effective"]) == (5, True)
    piped = command("score", "-c", "-", *PAGE[3:], stdin=files.candidate.read_bytes())
    assert piped.code == 0, piped.err
    assert data_of(piped.out)["systems"][0]["score"] == plain["systems"][0]["score"]


@pytest.mark.usefixtures("files")
def test_a_page_of_several_metrics(command):
    data = data_of(command(*PAGE, "-m", "bleu", "chrf").out)
    bleu, chrf = json.loads(command(*PAGE[:-2], "-m", "bleu", "chrf", "-f", "json").out)["systems"]
    assert (data["label"], list(data["parts"]), data["systems"][0]["score"]) == ("VLEU", ["chrf"], bleu["score"])
    assert [*data["labels"].values()] == ["VLEU", "chrF"]
    assert data["tables"][0]["rows"] == [[bleu["name"], f"{bleu['score']:.2f}", f"{chrf['score']:.2f}"]]


@pytest.mark.usefixtures("files")
def test_a_large_corpus_is_shown_in_part(command, monkeypatch):
    monkeypatch.setattr(softbleu.report.pages, "ROWS", 2)
    done = command(*PAGE)
    note = "softbleu: note: the page shows 2 of 3 segments, those that score worst; its scores are of all\n"
    assert (done.code, done.err) == (0, note)
    data, whole = data_of(done.out), json.loads(command(*PAGE[:-1], "json").out)
    assert (data["shown"], data["segments"]) == (2, 3)
    assert data["systems"][0]["score"] == whole["systems"][0]["score"]
    assert command(*PAGE, "--quiet").err == ""


@pytest.mark.usefixtures("files")
def test_a_page_of_a_comparison(command):
    texts = ("compare", *TEXTS, "-c", "second.txt")
    done = command(*texts, "-m", "bleu", "chrf", "-f", "html", "--title", "One <b> & other")
    assert (done.code, done.err) == (0, "")
    data = data_of(done.out)
    assert (data["title"], data["pair"], list(data["parts"])) == ("One <b> & other", [0, 1], ["chrf"])
    found = json.loads(command(*texts, "-f", "json").out)["systems"]
    assert [system["score"] for system in data["systems"]] == [system["score"] for system in found]
    row = dict(zip(data["tables"][0]["columns"], data["tables"][0]["rows"][0], strict=True))
    beside = found[1]["beside"]
    assert row["difference"] == f"{beside['difference']:.2f}"
    assert row["interval"] == " to ".join(f"{end:.2f}" for end in beside["interval"])
    assert row["p_value"] == p_text(beside["p_value"], beside)


@pytest.fixture
def given(files):
    reference = [f"these are the words of line {number} here" for number in range(60)]
    files.write("bad_50%.txt", ["nothing"] * 60)
    files.write("twin.txt", [*reference[:59], f"{reference[59][:-4]}there"])
    for name in ("left.txt", "long.txt"):
        files.write(name, reference)
    return ["compare", "-c", "left.txt", "bad_50%.txt", "twin.txt", "-r", "long.txt", "-m", "bleu", "ter"]


def test_one_table_of_systems_and_metrics(command, given):
    verdict, *lines = command(*given, "-f", "latex", "--samples", 2000, "--baseline", "left").out.splitlines()
    assert verdict.startswith(
        "% By BLEU, bad_50% is worse than left and twin cannot be told apart from it; TER agrees"
    )
    assert lines[0] == "% * p < 0.05 against left · p: Holm-corrected, 2 tests"
    assert [line.split(":")[0] for line in lines[1:3]] == ["% signature", "% signature"]
    cells = [[cell.strip() for cell in line.removesuffix(r" \\").split("&")] for line in lines if "&" in line]
    assert cells[0] == ["system", "BLEU", "TER"]
    assert cells[1] == ["left", r"\textbf{100.00}", r"\textbf{0.00}"]
    assert [row[0] for row in cells[2:]] == ["twin", r"bad\_50\%"]
    assert all(number.endswith("*") for number in cells[3][1:])


def test_an_interval_or_half_of_it_joins_the_score(command, given):
    """As papers print them, in one column; programs get its bounds."""
    how = (*given[:-1], "--samples", 200, "--columns", "score")
    rows = json.loads(command(*how, "margin", "-f", "json").out)["systems"]
    twin = next(row for row in rows if row["system"] == "twin")
    score, low, high = (f"{twin[name]:.2f}" for name in ("score", "lower", "upper"))
    for column, shown in (
        ("interval", f"[{low}, {high}]"),
        ("margin", rf"$\pm$ {(twin['upper'] - twin['lower']) / 2:.2f}"),
    ):
        (line,) = [line for line in command(*how, column, "-f", "latex").out.splitlines() if line.startswith("twin")]
        assert " ".join(line.split()) == rf"twin & {score} {shown} \\"


@pytest.mark.slow
@pytest.mark.parametrize("more", [[], ["--all-pairs"], ["--columns", "score", "margin", "p"]])
def test_pdflatex_compiles_the_tables(command, given, more, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex (Debian: texlive-latex-base, texlive-latex-recommended)")
    table = command(*given, "-f", "latex", "--samples", 200, *more).out
    text = f"\\documentclass{{article}}\n\\usepackage{{booktabs}}\n\\begin{{document}}\n{table}\\end{{document}}\n"
    (tmp_path / "table.tex").write_text(text, encoding="utf-8")
    arguments = ["pdflatex", "-interaction=batchmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, check=False)
    log = (tmp_path / "table.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull" not in log
