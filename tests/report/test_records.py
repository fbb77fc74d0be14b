"""Records in every format: values of any kind, no rows, no columns."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from softbleu.errors import UnknownNameError
from softbleu.io.tabular import Records
from softbleu.report import RECORD_WRITERS, Layout
from softbleu.report.records import BINARY_FORMATS

HOSTILE = "a|b_c & 50% $x$\n\t\x1b[31m\u2028<i>{\\}"
COLUMNS = ["word", "known", "similarity", "count"]
ROWS: list[list[Any]] = [
    ["cat", True, 0.123456, 1234],
    [HOSTILE, False, None, 0],
    ["", None, 1.0, None],
]
FACTS: dict[str, Any] = {
    "vectors": "glove_6b",
    "words_known": 1234,
    "ratio": 0.5,
    "whole": True,
    "of": None,
    "names": ["a", "b"],
    "odd": HOSTILE,
}


def text_of(name: str, records: Records, digits: int = 2, *, colour: bool = False) -> str:
    return "".join(RECORD_WRITERS[name](records, Layout(digits, colour)))


@pytest.mark.parametrize("name", sorted({*RECORD_WRITERS} - {*BINARY_FORMATS}))
@pytest.mark.parametrize("facts", [{}, FACTS], ids=["no facts", "facts"])
@pytest.mark.parametrize("rows", [[], ROWS], ids=["no rows", "rows"])
@pytest.mark.parametrize("columns", [[], COLUMNS], ids=["no columns", "columns"])
def test_nothing_of_the_text_gets_out(name: str, facts: dict[str, Any], rows: list[Any], columns: list[str]) -> None:
    """Control characters never reach a terminal, and lines and columns stay what they are; CSV, which quotes, has
    text as it is."""
    shown = text_of(name, Records(columns, rows if columns else [], facts))
    assert not shown or shown.endswith("\n")
    assert "\x1b" not in shown or name == "csv"
    assert "\t" not in shown or name in ("tsv", "csv")
    if name not in ("json", "jsonl", "csv"):
        assert "\u2028" not in shown


def test_text() -> None:
    lines = text_of("text", Records(COLUMNS, ROWS, {"words_known": 1234, "of": None, "names": ["a", "b"]})).split(
        "\n"
    )
    assert lines[:4] == ["words known  1,234", "of           -", "names        a, b", ""]
    assert lines[4].split() == COLUMNS
    assert lines[5].split()[-4:] == ["cat", "yes", "0.12", "1,234"] or "cat" in lines[6]
    shown = "\n".join(lines)
    assert r"a|b_c & 50% $x$\n\t\x1b[31m\u2028<i>{\\}" in shown or r"\x1b[31m" in shown
    # Yes and no, none, numbers with separators.
    assert [line.split()[-2:] for line in lines if line.strip()][-1] == ["1.00", "-"]


def test_text_without_rows_or_columns() -> None:
    assert text_of("text", Records(COLUMNS, [])) == "nothing found\n"
    assert text_of("text", Records(COLUMNS, [], {"a": 1}, "no words")) == "a  1\n\nno words\n"
    assert text_of("text", Records([], [], {"a": 1, "long_name": "x"})) == "a          1\nlong name  x\n"
    assert text_of("text", Records([], [])) == ""


def test_decimals_are_the_layouts_unless_the_table_has_its_own() -> None:
    records = Records(["x"], [[0.123456]])
    assert "0.1235\n" in text_of("text", records, digits=4)
    assert "0.12346\n" in text_of("text", Records(["x"], [[0.123456]], digits=5), digits=1)


def test_json() -> None:
    data = json.loads(text_of("json", Records(COLUMNS, ROWS, FACTS)))
    assert [list(row.values()) for row in data.pop("rows")] == ROWS
    assert data == {"schema": 1, **FACTS}
    assert json.loads(text_of("json", Records([], [], FACTS))) == {"schema": 1, **FACTS}
    assert json.loads(text_of("json", Records([], []))) == {"schema": 1}


def test_json_lines() -> None:
    lines = text_of("jsonl", Records(COLUMNS, ROWS, FACTS)).split("\n")
    assert [list(json.loads(line).values()) for line in lines[:-1]] == ROWS
    assert json.loads(text_of("jsonl", Records([], [], FACTS))) == FACTS


def test_tsv() -> None:
    lines = text_of("tsv", Records(COLUMNS, ROWS, FACTS)).split("\n")
    assert lines[0] == "\t".join(COLUMNS)
    assert lines[1].split("\t") == ["cat", "true", "0.123456", "1234"]
    assert lines[2].split("\t")[1:] == ["false", "", "0"]
    assert lines[3].split("\t") == ["", "", "1.0", ""]
    assert lines[4:] == [""]
    without = dict(line.split("\t") for line in text_of("tsv", Records([], [], FACTS)).split("\n")[:-1])
    assert list(without) == list(FACTS)
    assert (without["whole"], without["of"], json.loads(without["names"])) == ("true", "", ["a", "b"])


def test_markdown() -> None:
    lines = text_of("markdown", Records(COLUMNS, ROWS, {"words_known": 1234})).split("\n")
    assert lines[:5] == [
        "- words known: 1,234",
        "",
        f"| word{' ' * 45} | known   |   similarity |   count |",
        f"|:{'-' * 50}|:--------|-------------:|--------:|",
        f"| cat{' ' * 46} | yes     |         0.12 |   1,234 |",
    ]
    assert lines[5].startswith(r"| a\|b\_c & 50% $x$\\n\\t\\x1b\[31m")
    assert lines[5].endswith("| no      |            - |       0 |")
    assert (
        text_of("markdown", Records(COLUMNS, []))
        == "| word   | known   | similarity   | count   |\n|--------|---------|--------------|---------|\n"
    )
    assert text_of("markdown", Records([], [], {"a": "b_c"})) == "- a: b\\_c\n"


def test_latex() -> None:
    shown = text_of("latex", Records(COLUMNS, ROWS, {"words_known": 1234, "odd": HOSTILE}))
    lines = shown.split("\n")
    assert lines[0] == "% words_known: 1,234"
    assert lines[1].startswith(r"% odd: a|b_c & 50% $x$\n\t\x1b[31m")
    assert r"\begin{tabular}{llrr}" in lines
    assert any(re.fullmatch(r"cat +& yes +& +0\.12 & +1,234 \\\\", line) for line in lines)
    assert any(line.startswith(r"a\textbar{}b\_c \& 50\% \$x\$\textbackslash{}n") for line in lines)
    assert lines[-3:] == [r"\bottomrule", r"\end{tabular}", ""]
    empty = text_of("latex", Records(COLUMNS, [])).split("\n")
    assert empty[1:] == [
        r"\begin{tabular}{llll}",
        r"\toprule",
        r"word   & known   & similarity   & count   \\",
        r"\midrule",
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ]


def test_latex_without_columns_shows_the_facts() -> None:
    shown = text_of("latex", Records([], [], {"words_known": 1234, "name": "50% of a_b", "names": ["a", "b"]}))
    assert shown.split("\n") == [
        r"% needs \usepackage{booktabs}",
        r"\begin{tabular}{ll}",
        r"\toprule",
        r"words known & 1,234        \\",
        r"name        & 50\% of a\_b \\",
        r"names       & a, b         \\",
        r"\bottomrule",
        r"\end{tabular}",
        "",
    ]


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
@pytest.mark.parametrize("name", ["json", "jsonl", "tsv"])
def test_what_is_no_number_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=r"JSON compliant"):
        text_of(name, Records(["x"], [[value]]))


def test_a_column_of_none_is_one_of_numbers() -> None:
    assert "\n|----:|\n" in text_of("markdown", Records(["x"], [[None], [None]]))
    assert "\n|:------|----:|\n" in text_of("markdown", Records(["yes", "x"], [[True, 1], [False, None]]))


def test_unknown_formats() -> None:
    with pytest.raises(
        UnknownNameError, match=r"'yaml'; valid: text, json, jsonl, tsv, markdown, latex, csv, parquet$"
    ):
        RECORD_WRITERS.find("yaml")


@pytest.mark.parametrize("start", ["[", "*"])
def test_no_row_is_an_argument_of_the_one_before_it(start: str) -> None:
    lines = text_of("latex", Records(["x", "y"], [[f"{start}1", f"{start}2"]])).split("\n")
    assert [[cell.strip() for cell in line.split("&")] for line in lines if "2" in line] == [
        ["{}" + f"{start}1", rf"{start}2  \\"]
    ]


@pytest.mark.parametrize("start", "=+-@")
def test_spreadsheets_are_given_nothing_to_compute_if_so_asked(start: str) -> None:
    records = Records(["x", "y"], [[f"{start}1", -1]])
    write = RECORD_WRITERS["csv"]
    assert list(write(records, Layout())) == ["x,y\n", f"{start}1,-1\n"]
    assert list(write(records, Layout(spreadsheet=True))) == ["x,y\n", f"'{start}1,-1\n"]


def test_notes_are_for_people_and_marks_for_terminals() -> None:
    records = Records(["x"], [[1], [2]], notes=["a|b", "c"], marked=[(1, 0)])
    assert text_of("text", records) == "x\n─\n1\n2\n\na|b\nc\n"
    assert text_of("text", records, colour=True).split("\n")[2:4] == ["1", "\x1b[1m2\x1b[0m"]
    assert text_of("markdown", records).endswith("| **2** |\n\na\\|b\n\nc\n")
    assert text_of("latex", records).startswith("% a|b\n% c\n% needs")
    for name in ("json", "jsonl", "tsv", "csv"):
        assert "a|b" not in text_of(name, records)
