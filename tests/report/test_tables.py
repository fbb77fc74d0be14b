"""Tables as files, read back by other programs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softbleu.cli.output import Output, find_table_format
from softbleu.errors import InputError, MissingExtraError, UnknownNameError
from softbleu.io.tabular import Records
from softbleu.report import RECORD_WRITERS, Layout

HOSTILE = [
    "a, b",
    'a "b" c',
    "line\nbreak",
    "carriage\rreturn",
    "tab\there",
    "",
    " ",
    "naïve 猫",
    "\x1b[31m",
    "\x00",
    "=1",
]
COLUMNS = ["system", "threshold", "score", "count", "chosen"]
ROWS: list[list[Any]] = [
    ["plain", 0.1, 12.345678901234567, 3, True],
    *([name, None, 1e-300, -(2**40), False] for name in HOSTILE),
]
RECORDS = Records(COLUMNS, ROWS, {"vectors": "glove"})


def text_of(name: str, records: Records) -> str:
    content = RECORD_WRITERS.find(name)(records, Layout())
    assert not isinstance(content, bytes)
    return "".join(content)


def parquet_of(records: Records) -> bytes:
    content = RECORD_WRITERS["parquet"](records, Layout())
    assert isinstance(content, bytes)
    return content


def read_csv(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def as_cell(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def test_csv() -> None:
    assert read_csv(text_of("csv", RECORDS)) == [COLUMNS, *([as_cell(value) for value in row] for row in ROWS)]


def test_numbers_in_csv_are_whole() -> None:
    lines = read_csv(text_of("csv", RECORDS))
    assert [float(line[2]) for line in lines[1:]] == [row[2] for row in ROWS]


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**60), 2**60),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8).filter(lambda text: "\x00" not in text),
)


@given(rows=st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(values, min_size=n, max_size=n), min_size=1)))
def test_csv_of_anything(rows: list[list[Any]]) -> None:
    columns = [f"column {number}" for number in range(len(rows[0]))]
    found = read_csv(text_of("csv", Records(columns, rows)))
    assert found == [columns, *([as_cell(value) for value in row] for row in rows)]


def test_json() -> None:
    data = json.loads(text_of("json", RECORDS))
    assert (data["schema"], data["vectors"]) == (1, "glove")
    assert [list(row.values()) for row in data["rows"]] == ROWS
    assert [list(row) for row in data["rows"]] == [COLUMNS] * len(ROWS)


def test_json_lines() -> None:
    lines = text_of("jsonl", RECORDS).split("\n")
    assert lines.pop() == ""
    assert [json.loads(line) for line in lines] == [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]


def test_tsv() -> None:
    lines = [line.split("\t") for line in text_of("tsv", RECORDS).split("\n")]
    assert lines.pop() == [""]
    assert lines[0] == COLUMNS
    # What would break lines or columns is written as an escape; all else is as in CSV.
    assert [line[1:] for line in lines[1:]] == [[as_cell(value) for value in row[1:]] for row in ROWS]
    shown = {name: line[0] for name, line in zip([row[0] for row in ROWS], lines[1:], strict=True)}
    assert shown["a, b"] == "a, b"
    assert (shown["line\nbreak"], shown["tab\there"], shown["\x1b[31m"]) == (
        r"line\nbreak",
        r"tab\there",
        r"\x1b[31m",
    )


def test_parquet() -> None:
    table = pyarrow.parquet.read_table(io.BytesIO(parquet_of(RECORDS)))
    assert table.column_names == COLUMNS
    assert [str(kind) for kind in table.schema.types] == ["string", "double", "double", "int64", "bool"]
    assert [list(row.values()) for row in table.to_pylist()] == ROWS


def test_parquet_is_the_same_every_time() -> None:
    assert parquet_of(RECORDS) == parquet_of(RECORDS)


@pytest.mark.parametrize("columns", [COLUMNS, []])
def test_no_rows(columns: list[str]) -> None:
    records = Records(columns, [])
    assert pyarrow.parquet.read_table(io.BytesIO(parquet_of(records))).column_names == columns
    assert read_csv(text_of("csv", records)) == ([columns] if columns else [])
    if columns:
        assert text_of("tsv", records) == "\t".join(columns) + "\n"
        assert json.loads(text_of("json", records)) == {"schema": 1, "rows": []}
        assert text_of("jsonl", records) == ""


@pytest.mark.parametrize("name", ["csv", "json", "jsonl", "tsv"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=r"JSON compliant"):
        text_of(name, Records(["score"], [[value]]))


@pytest.mark.parametrize("name", ["json", "jsonl", "parquet"])
def test_rows_of_another_width_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"zip|argument"):
        list(RECORD_WRITERS[name](Records(["a", "b"], [[1]]), Layout()))


def test_parquet_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'softbleu\[parquet\]'"):
        parquet_of(RECORDS)


def test_unknown_formats() -> None:
    with pytest.raises(
        UnknownNameError,
        match=r"unknown format 'xlsx'; valid: text, json, jsonl, tsv, markdown, latex, csv, parquet$",
    ):
        RECORD_WRITERS.find("xlsx")


# by the name of the file


@pytest.mark.parametrize(
    ("name", "file", "start"),
    [
        (None, "out.csv", "a\n"),
        (None, "out.CSV", "a\n"),
        (None, "out.jsonl", '{"a": 1}'),
        (None, "out.json", '{"schema"'),
        (None, "out.txt", "  a"),
        (None, "out", "  a"),
        (None, None, "  a"),
        ("json", "out.csv", '{"schema"'),
        ("markdown", None, "|   a |"),
        ("latex", "out.csv", "% needs"),
        ("csv", None, "a\n"),
    ],
)
def test_formats_by_name_or_suffix(tmp_path: Path, name: str | None, file: str | None, start: str) -> None:
    target = Output.of(None if file is None else str(tmp_path / file))
    content = find_table_format(name, target)(Records(["a"], [[1]]), Layout())
    assert not isinstance(content, bytes)
    assert "".join(content).lstrip(" ").startswith(start.lstrip(" "))


def test_unknown_names_of_formats() -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown format 'xml'; valid: text, json, jsonl, tsv, markdown, latex, csv, parquet$"
    ):
        find_table_format("xml", Output())


def test_parquet_is_not_for_standard_output(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"parquet is not for standard output: name a file with --output"):
        find_table_format("parquet", Output())
    assert callable(find_table_format("parquet", Output(tmp_path / "x")))
    with pytest.raises(InputError, match=r"not for standard output"):
        Output().write(b"PAR1")


def test_bytes_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"before")
    path.chmod(0o640)
    Output.of(str(path)).write(b"after")
    assert path.read_bytes() == b"after"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]
    (tmp_path / "gone").mkdir()
    target = Output.of(str(tmp_path / "gone/x.parquet"))
    (tmp_path / "gone").rmdir()
    with pytest.raises(InputError, match=r"cannot write .*x.parquet: No such file"):
        target.write(b"PAR1")


@pytest.mark.parametrize("name", ["x.svg", "x.PNG", "x.pdf"])
def test_names_of_pictures(tmp_path: Path, name: str) -> None:
    target = Output.of_picture(str(tmp_path / name))
    assert target.suffix == name[-3:].lower()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["x.gif", "x", "x.svg.gz", "-"])
def test_names_of_no_pictures(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown picture format '.*valid: svg, png, pdf$"):
        Output.of_picture(name if name == "-" else str(tmp_path / name))
