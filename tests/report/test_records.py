"""Records in every format: values of any kind, no rows, no columns; what is written where."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softbleu.cli.output import Output
from softbleu.errors import InputError, UnknownNameError
from softbleu.report import RECORD_WRITERS, Layout, Records, format_by_suffix
from softbleu.report.records import BINARY_FORMATS

HOSTILE = "a|b_c & 50% $x$\n\t\x1b[31m\u2028<i>{\\}"
NAMES = ["a, b", 'a "b" c', "line\nbreak", "carriage\rreturn", "tab\there", " ", "naïve 猫", "\x1b[31m", "\x00", "=1"]
COLUMNS = ["word", "known", "similarity", "count"]
ROWS: list[list[Any]] = [["cat", True, 0.123456, 1234], [HOSTILE, False, None, 0], ["", None, 1.0, None]]
ROWS += [[name, False, 1e-300, -(2**40)] for name in NAMES]
FACTS: dict[str, Any] = {"vectors": "glove_6b", "words_known": 1234, "ratio": 0.5, "whole": True, "of": None}
FACTS |= {"names": ["a", "b"], "odd": HOSTILE}
RECORDS = Records(COLUMNS, ROWS, FACTS)
FEW = Records(COLUMNS, ROWS[:3], {"words_known": 1234, "of": None, "names": ["a", "b"]})


def text_of(name: str, records: Records, digits: int = 2, *, colour: bool = False) -> str:
    return "".join(RECORD_WRITERS[name](records, Layout(digits, colour)))


def parquet_of(records: Records) -> pyarrow.Table:
    return pyarrow.parquet.read_table(io.BytesIO(RECORD_WRITERS["parquet"](records, Layout())))


def read_csv(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def as_cell(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize("name", sorted({*RECORD_WRITERS} - {*BINARY_FORMATS}))
@pytest.mark.parametrize("facts", [{}, FACTS], ids=["", "facts"])
@pytest.mark.parametrize(
    ("columns", "rows"), [(COLUMNS, ROWS), (COLUMNS, []), ([], [])], ids=["rows", "no rows", "none"]
)
def test_nothing_of_the_text_gets_out(name: str, columns: list[str], rows: list[Any], facts: dict[str, Any]) -> None:
    """Control characters reach no terminal, and lines and columns stay what they are; CSV quotes text as it is."""
    records = Records(columns, rows, facts)
    shown = text_of(name, records)
    assert not shown or shown.endswith("\n")
    assert "\x1b" not in shown or name == "csv"
    assert "\t" not in shown or name in ("tsv", "csv")
    if name not in ("json", "jsonl", "csv"):
        assert "\u2028" not in shown


def test_text() -> None:
    lines = text_of("text", FEW).split("\n")
    assert lines[:4] == ["words known  1,234", "of           -", "names        a, b", ""]
    assert lines[4].split() == COLUMNS
    assert lines[6].split() == ["cat", "yes", "0.12", "1,234"]
    assert lines[7].startswith(r"a|b_c & 50% $x$\n\t\x1b[31m\u2028<i>{\}")
    assert lines[7].split()[-3:] == ["no", "-", "0"]
    assert lines[8].split() == ["-", "1.00", "-"]
    assert text_of("text", Records(COLUMNS, [])) == "nothing found\n"
    assert text_of("text", Records(COLUMNS, [], {"a": 1}, "no words")) == "a  1\n\nno words\n"
    assert text_of("text", Records([], [], {"a": 1, "long_name": "x"})) == "a          1\nlong name  x\n"
    assert text_of("text", Records([], [])) == ""
    # Decimals are the layout's unless the table has its own.
    assert "0.1235\n" in text_of("text", Records(["x"], [[0.123456]]), digits=4)
    assert "0.12346\n" in text_of("text", Records(["x"], [[0.123456]], digits=5), digits=1)


def test_json() -> None:
    data = json.loads(text_of("json", RECORDS))
    assert data.pop("rows") == [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    assert data == {"schema": 1, **FACTS}
    assert json.loads(text_of("json", Records([], [], FACTS))) == {"schema": 1, **FACTS}
    assert json.loads(text_of("json", Records(COLUMNS, []))) == {"schema": 1, "rows": []}
    *lines, end = text_of("jsonl", RECORDS).split("\n")
    assert [json.loads(line) for line in lines] == [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    assert end == text_of("jsonl", Records(COLUMNS, [])) == ""
    assert json.loads(text_of("jsonl", Records([], [], FACTS))) == FACTS


def test_tsv() -> None:
    header, *lines, end = (line.split("\t") for line in text_of("tsv", RECORDS).split("\n"))
    assert (header, end) == (COLUMNS, [""])
    # What would break lines or columns is written as an escape; all else is as in CSV.
    assert [line[1:] for line in lines] == [[as_cell(value) for value in row[1:]] for row in ROWS]
    shown = {row[0]: line[0] for row, line in zip(ROWS, lines, strict=True)}
    escaped = {"line\nbreak": r"line\nbreak", "tab\there": r"tab\there", "\x1b[31m": r"\x1b[31m", "a, b": "a, b"}
    assert {name: shown[name] for name in escaped} == escaped
    without = dict(line.split("\t") for line in text_of("tsv", Records([], [], FACTS)).split("\n")[:-1])
    assert list(without) == list(FACTS)
    assert (without["whole"], without["of"], json.loads(without["names"])) == ("true", "", ["a", "b"])


VALUES = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
VALUES |= st.text(max_size=8).filter(lambda text: "\x00" not in text)


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(VALUES, min_size=n, max_size=n), min_size=1)))
def test_csv_of_anything(rows: list[list[Any]]) -> None:
    columns = [f"column {number}" for number in range(len(rows[0]))]
    found = read_csv(text_of("csv", Records(columns, rows)))
    assert found == [columns, *([as_cell(value) for value in row] for row in rows)]


def test_csv() -> None:
    assert read_csv(text_of("csv", RECORDS)) == [COLUMNS, *([as_cell(value) for value in row] for row in ROWS)]
    assert [text_of("csv", Records(columns, [])) for columns in (COLUMNS, [])] == [",".join(COLUMNS) + "\n", ""]
    # Spreadsheets are given nothing to compute if so asked.
    for start in "=+-@":
        records, write = Records(["x", "y"], [[f"{start}1", -1]]), RECORD_WRITERS["csv"]
        assert list(write(records, Layout())) == ["x,y\n", f"{start}1,-1\n"]
        assert list(write(records, Layout(spreadsheet=True))) == ["x,y\n", f"'{start}1,-1\n"]


def test_parquet() -> None:
    table = parquet_of(RECORDS)
    assert table.column_names == COLUMNS
    assert [str(kind) for kind in table.schema.types] == ["string", "bool", "double", "int64"]
    assert [list(row.values()) for row in table.to_pylist()] == ROWS
    assert parquet_of(Records(COLUMNS, [])).column_names == COLUMNS
    assert parquet_of(Records([], [])).column_names == []
    write = RECORD_WRITERS["parquet"]
    assert write(RECORDS, Layout()) == write(RECORDS, Layout())


def test_markdown() -> None:
    lines = text_of("markdown", Records(COLUMNS, ROWS[:3], {"words_known": 1234})).split("\n")
    assert lines[:5] == [
        "- words known: 1,234",
        "",
        f"| word{' ' * 45} | known   |   similarity |   count |",
        f"|:{'-' * 50}|:--------|-------------:|--------:|",
        f"| cat{' ' * 46} | yes     |         0.12 |   1,234 |",
    ]
    assert lines[5].startswith(r"| a\|b\_c & 50% $x$\\n\\t\\x1b\[31m")
    assert lines[5].endswith("| no      |            - |       0 |")
    assert text_of("markdown", Records(["x"], [])) == "| x   |\n|-----|\n"
    assert text_of("markdown", Records([], [], {"a": "b_c"})) == "- a: b\\_c\n"
    # A column of none is one of numbers.
    assert "\n|----:|\n" in text_of("markdown", Records(["x"], [[None], [None]]))
    assert "\n|:------|----:|\n" in text_of("markdown", Records(["yes", "x"], [[True, 1], [False, None]]))


LATEX = ["% needs \\usepackage{booktabs}", r"\begin{tabular}{%s}", r"\toprule"]


def test_latex() -> None:
    lines = text_of("latex", Records(COLUMNS, ROWS[:3], {"words_known": 1234, "odd": HOSTILE})).split("\n")
    assert lines[0] == "% words_known: 1,234"
    assert lines[1].startswith(r"% odd: a|b_c & 50% $x$\n\t\x1b[31m")
    assert r"\begin{tabular}{llrr}" in lines
    assert any(re.fullmatch(r"cat +& yes +& +0\.12 & +1,234 \\\\", line) for line in lines)
    assert any(line.startswith(r"a\textbar{}b\_c \& 50\% \$x\$\textbackslash{}n") for line in lines)
    end = [r"\bottomrule", r"\end{tabular}", ""]
    assert lines[-3:] == end
    empty = text_of("latex", Records(["x", "y"], [])).split("\n")
    assert empty == [*(line.replace("%s", "ll") for line in LATEX), r"x   & y   \\", r"\midrule", *end]
    facts = text_of("latex", Records([], [], {"words_known": 1234, "name": "50% of a_b", "names": ["a", "b"]}))
    rows = [r"words known & 1,234        \\", r"name        & 50\% of a\_b \\", r"names       & a, b         \\"]
    assert facts.split("\n") == [*(line.replace("%s", "ll") for line in LATEX), *rows, *end]
    # No row is an argument of the one before it.
    for start in "[*":
        lines = text_of("latex", Records(["x", "y"], [[f"{start}1", f"{start}2"]])).split("\n")
        cells = [[cell.strip() for cell in line.split("&")] for line in lines if "2" in line]
        assert cells == [["{}" + f"{start}1", rf"{start}2  \\"]]


def test_notes_are_for_people_and_marks_for_terminals() -> None:
    records = Records(["x"], [[1], [2]], notes=["a|b", "c"], marked=[(1, 0)])
    assert text_of("text", records) == "x\n─\n1\n2\n\na|b\nc\n"
    assert text_of("text", records, colour=True).split("\n")[2:4] == ["1", "\x1b[1m2\x1b[0m"]
    assert text_of("markdown", records).endswith("| **2** |\n\na\\|b\n\nc\n")
    assert text_of("latex", records).startswith("% a|b\n% c\n% needs")
    for name in ("json", "jsonl", "tsv", "csv"):
        assert "a|b" not in text_of(name, records)


@pytest.mark.parametrize("name", ["json", "jsonl", "tsv", "csv", "parquet"])
def test_what_is_no_number_and_rows_of_another_width_are_refused(name: str) -> None:
    for value in (float("nan"), float("-inf")) if name != "parquet" else ():
        with pytest.raises(ValueError, match=r"JSON compliant"):
            text_of(name, Records(["x"], [[value]]))
    if name not in ("tsv", "csv"):
        with pytest.raises(ValueError, match=r"zip|argument"):
            list(RECORD_WRITERS[name](Records(["a", "b"], [[1]]), Layout()))


def test_formats_by_suffix() -> None:
    files = {"a/out.csv": "csv", "out.CSV": "csv", "s3://a/b.md": "markdown", "b.tex": "latex", "b.txt": "text"}
    files |= {"page.html": "html", "out": "text", "-": "text"}
    assert {file: format_by_suffix(file) for file in files} == files
    assert format_by_suffix(None) == "text"


def test_formats_that_do_not_fit(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x.docx: no format has the suffix .docx: take .txt, .md, .tex, .csv"):
        format_by_suffix("x.docx")
    with pytest.raises(InputError, match=r"parquet is not for standard output: name a file with --output"):
        Output().check_format("parquet")
    Output(tmp_path / "x").check_format("parquet")
    with pytest.raises(InputError, match=r"not for standard output"):
        Output().write(b"PAR1")


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    target = Output.of(str(tmp_path / "gone/x.parquet"))
    (tmp_path / "gone").rmdir()
    with pytest.raises(InputError, match=r"cannot write .*x.parquet: No such file"):
        target.write(b"PAR1")


def test_names_of_pictures(tmp_path: Path) -> None:
    suffixes = [Output.of_picture(str(tmp_path / name)).suffix for name in ("x.svg", "x.PNG", "x.pdf")]
    assert suffixes == ["svg", "png", "pdf"]
    for name in (*(str(tmp_path / name) for name in ("x.gif", "x", "x.svg.gz")), "-"):
        with pytest.raises(UnknownNameError, match=r"unknown picture format '.*valid: svg, png, pdf$"):
            Output.of_picture(name)
    assert list(tmp_path.iterdir()) == []
