"""Results and records in every format: names, values of any kind, no rows, no columns; what is written where."""

import csv
import io
import json
import re
import tomllib
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusing import refused

import softbleu
from softbleu.analysis.credit import KindPoints, SoftGain, SoftPair
from softbleu.cli.output import Target
from softbleu.errors import InputError, one_line
from softbleu.formats import BINARY_FORMATS, TABLE_WRITERS, Layout, format_by_suffix, lay_out
from softbleu.matching.kinds import MATCH_KINDS
from softbleu.metrics.score import Score
from softbleu.report.comparisons import COMPARERS
from softbleu.report.credit import shown_parts
from softbleu.report.explanations import EXPLAINERS
from softbleu.report.scores import WRITERS
from softbleu.results.comparison import ComparedRow
from softbleu.results.explain import Explanation, NgramMatch
from softbleu.tables import Table

CANDIDATES = {"A": ["the cat sat on the mat", "a dog"], "B": ["the cat sat", "the dog"]}
REFERENCES = [["the cat sat on a mat", "a cat sat down"], ["a dog"]]


def text_of(name: str, results, **layout) -> str:
    return "".join(WRITERS[name](results, Layout(**layout)))


def read_rows(text: str, delimiter: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]


RESULTS = softbleu.score(CANDIDATES, REFERENCES)


def test_columns_line_up_for_wide_characters():
    assert [one_line(text) for text in ("naïve 猫", "a\u2028b\udcff")] == ["naïve 猫", "a\\u2028b\\udcff"]
    lines = list(lay_out([["猫", "1"], ["cat", "2"], ["cafe\u0301", "3"]], [False, True]))
    assert lines == ["猫    1", "cat   2", "cafe\u0301  3"]


@given(st.lists(st.floats(1e-6, 60), min_size=1, max_size=len(MATCH_KINDS)), st.integers(0, 4))
def test_parts_of_kinds_add_up_as_they_are_shown(points, digits):
    added, unit = sum(points), Decimal(1).scaleb(-max(digits - 1, 0))
    example = SoftPair("A", 1, "a", "b", "mixed", 0, 1, 900_000)
    kinds = [
        KindPoints(*row, example) for row in zip(MATCH_KINDS, (100 * x / added for x in points), points, strict=False)
    ]
    shown, parts = shown_parts(SoftGain(30.0, added, kinds, 1, 1), digits)
    assert sum(Decimal(part.points) for part in parts) == Decimal(shown)
    assert abs(Decimal(shown) - Decimal(added)) <= unit / 2
    whole = dict(zip(MATCH_KINDS, points, strict=False))
    for part in parts:
        given = whole.pop(part.kind, None) or sum(whole.values())
        assert abs(Decimal(part.points) - Decimal(given)) < unit


def test_explanations_in_colour():
    matches = (
        NgramMatch(1, 0, ("dog",), ("hound",), 0, 1, 0.9, exact=False),
        NgramMatch(1, 1, ("\x1b[2J",), None, None, None, 0.0, exact=False),
    )
    explanation = Explanation("A", 7, ("dog", "\x1b[2J"), (("a", "hound"),), matches)
    plain = "".join(EXPLAINERS["text"]([explanation], Layout()))
    assert "\x1b" not in plain
    assert "1-grams: 0.90 of 2" in plain
    coloured = "".join(EXPLAINERS["text"]([explanation], Layout(colour=True)))
    assert "\x1b[33m" in coloured
    assert "\x1b[2J" not in coloured


@dataclass(frozen=True)
class ErrorRate(Score):
    """A score that says nothing of how it is shown."""

    word_edits: int = 0
    costs: list[float] | None = None
    mean_cost: float = 0.0
    unknown: float | None = None


def test_a_score_is_shown_without_any_declaration() -> None:
    scores = ErrorRate(12.5, 1234, [0.5, 2.25], 1.0), ErrorRate(50.0, 7, [1.5], 0.25)
    given: dict[str, Any] = {"metric": "wer", "label": "WER", "higher_is_better": False}
    found = [replace(result, numbers=score, **given) for result, score in zip(RESULTS, scores, strict=True)]
    lines = text_of("markdown", found).splitlines()
    assert cells(lines[0]) == ["system", "WER", "costs1", "costs2", "word edits", "mean cost"]
    assert cells(lines[2]) == ["**A**", "**12.50**", "0.50", "2.25", "1,234", "1.00"]
    assert cells(lines[3]) == ["B", "50.00", "1.50", "-", "7", "0.25"]
    card = [line.split() for line in text_of("text", found[:1]).splitlines()]
    assert card[0] == ["WER", "12.50", "A"]
    assert ["costs", "0.50", "2.25"] in card
    assert ["word", "edits", "1,234"] in card
    assert not any("unknown" in line for line in card)
    (first, second) = read_rows(text_of("tsv", found), "\t")
    assert (first["word_edits"], first["costs_2"], second["costs_2"]) == ("1234", "2.25", "")
    vectors = {"cat": [1.0, 0.2], "dog": [0.9, 0.3]}
    soft = softbleu.score(CANDIDATES, REFERENCES, metrics="softbleu", vectors=vectors, order=2)
    header = cells(text_of("markdown", soft).splitlines()[0])
    assert header == ["system", "softbleu", "P1", "R1", "F1", "P2", "R2", "F2", "vectors"]
    assert all(f"\n{title}" in text_of("text", soft[:1]) for title in ("precision %", "recall %", "F  "))


def test_the_best_of_each_metric_stands_out() -> None:
    less = [replace(each, metric="ter", label="TER", higher_is_better=False) for each in RESULTS]
    assert text_of("text", less, colour=True).splitlines()[5].startswith("\x1b[1mB")
    assert text_of("text", RESULTS, colour=True).splitlines()[4].startswith("\x1b[1mA")
    rows = [cells(line) for line in text_of("markdown", [*RESULTS, *less]).splitlines()[:4]]
    a, b = (f"{result.score:.2f}" for result in RESULTS)
    assert [rows[0], *rows[2:]] == [["system", "BLEU", "TER"], ["A", f"**{a}**", a], ["B", b, f"**{b}**"]]
    assert rf"A & \textbf{{{a}}} & {a} \\" in " ".join(text_of("latex", [*RESULTS, *less]).split())
    table = softbleu.compare(CANDIDATES, REFERENCES)
    turned = [ComparedRow(row, rank=3 - row.rank) for row in table.rows]
    lower = replace(table, rows=turned, families=[replace(each, higher=False) for each in table.families])
    lines = "".join(COMPARERS["text"](lower, Layout(colour=True))).splitlines()
    assert [lines[4].startswith("\x1b[1mB"), lines[5].startswith("A")] == [True, True]


def test_data_names_the_metric_where_there_are_several() -> None:
    several = softbleu.score(CANDIDATES, REFERENCES, metrics=["bleu", "bleu(order=2)"])
    wanted = [(name, metric) for metric in ("bleu", "bleu(order=2)") for name in "AB"]
    data = json.loads(text_of("json", several))
    assert list(data) == ["schema", "systems"]
    assert [(each["name"], each["metric"]) for each in data["systems"]] == wanted
    assert [each["signature"] for each in data["systems"]] == [result.signature for result in several]
    rows = [json.loads(line) for line in text_of("jsonl", several).splitlines()]
    assert [(row["system"], row["metric"]) for row in rows] == wanted
    for name, delimiter in (("tsv", "\t"), ("csv", ",")):
        found = read_rows(text_of(name, several), delimiter)
        assert [(row["system"], row["metric"]) for row in found] == wanted
        assert [row["totals_4"] for row in found] == ["3", "0", "", ""]
    for name in ("json", "jsonl", "tsv", "csv"):
        assert "metric" not in re.sub("metric:bleu", "", text_of(name, RESULTS))


HOSTILE = "a|b_c & 50% $x$\n\t\x1b[31m\u2028<i>{\\}"
NAMES = ["a, b", 'a "b" c', "line\nbreak", "carriage\rreturn", "tab\there", " ", "naïve 猫", "\x1b[31m", "\x00", "=1"]
COLUMNS = ["word", "known", "similarity", "count"]
ROWS: list[list[Any]] = [["cat", True, 0.123456, 1234], [HOSTILE, False, None, 0], ["", None, 1.0, None]]
ROWS += [[name, False, 1e-300, -(2**40)] for name in NAMES]
FACTS: dict[str, Any] = {"vectors": "glove_6b", "words_known": 1234, "ratio": 0.5, "whole": True, "of": None}
FACTS |= {"names": ["a", "b"], "odd": HOSTILE}
RECORDS = Table(COLUMNS, ROWS, FACTS)


def written(name: str, records: Table, digits: int = 2, *, colour: bool = False) -> str:
    return "".join(TABLE_WRITERS[name](records, Layout(digits, colour)))


def parquet_of(records: Table) -> pyarrow.Table:
    return pyarrow.parquet.read_table(io.BytesIO(TABLE_WRITERS["parquet"](records, Layout())))


def read_csv(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def as_cell(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize("name", sorted({*TABLE_WRITERS} - {*BINARY_FORMATS}))
@pytest.mark.parametrize("facts", [{}, FACTS], ids=["", "facts"])
def test_nothing_of_the_text_gets_out(name: str, facts: dict[str, Any]) -> None:
    """Control characters reach no terminal, and lines and columns stay what they are; CSV quotes text as it is."""
    for columns, rows in ((COLUMNS, ROWS), (COLUMNS, []), ([], [])):
        shown = written(name, Table(columns, rows, facts))
        assert not shown or shown.endswith("\n")
        assert "\x1b" not in shown or name == "csv"
        assert "\t" not in shown or name in ("tsv", "csv")
        assert "\u2028" not in shown or name in ("json", "jsonl", "csv")


TABLES: dict[str, tuple[Table, dict[str, Any]]] = {
    "all": (RECORDS, {}),
    "no rows": (Table(COLUMNS, []), {}),
    "facts": (Table([], [], FACTS), {}),
    "facts and no rows": (Table(COLUMNS, [], {"a": 1, "long_name": "x"}, "no words"), {}),
    "nothing": (Table([], []), {}),
    "a column of none": (Table(["yes", "x"], [[True, None], [False, None]]), {}),
    # In LaTeX no row is an argument of the one before it.
    "rows that begin with brackets and stars": (Table(["x", "y"], [["[1", "[2"], ["*1", "*2"]]), {}),
    # Notes are for people, and marks for terminals.
    "notes": (Table(["x"], [[1], [2]], notes=["a|b", "c"], marked=[(1, 0)]), {}),
    "notes in colour": (Table(["x"], [[1], [2]], notes=["a|b", "c"], marked=[(1, 0)]), {"colour": True}),
    # Decimals are the layout's unless the table has its own.
    "decimals of the layout": (Table(["x"], [[0.123456]]), {"digits": 4}),
    "decimals of the table": (Table(["x"], [[0.123456]], digits=5), {"digits": 1}),
}
EXPECTED = tomllib.loads(Path(__file__).with_name("expected.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["text", "markdown", "latex", "tsv"])
@pytest.mark.parametrize("table", TABLES)
def test_tables_are_written_as_expected_in_each_format(table: str, name: str) -> None:
    records, how = TABLES[table]
    assert written(name, records, **how) == EXPECTED[table][name]


def test_json_and_lines_have_the_values() -> None:
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    assert json.loads(written("json", RECORDS)) == {"schema": 1, **FACTS, "rows": rows}
    assert [json.loads(line) for line in written("jsonl", RECORDS).split("\n")[:-1]] == rows
    assert json.loads(written("json", Table([], [], FACTS))) == {"schema": 1, **FACTS}
    assert json.loads(written("jsonl", Table([], [], FACTS))) == FACTS
    assert json.loads(written("json", Table(COLUMNS, []))) == {"schema": 1, "rows": []}
    assert written("jsonl", Table(COLUMNS, [])) == ""
    assert not any("a|b" in written(name, TABLES["notes"][0]) for name in ("json", "jsonl", "csv"))


VALUES = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
VALUES |= st.text(max_size=8).filter(lambda text: "\x00" not in text)


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(VALUES, min_size=n, max_size=n), min_size=1)))
def test_csv_of_anything(rows: list[list[Any]]) -> None:
    columns = [f"column {number}" for number in range(len(rows[0]))]
    found = read_csv(written("csv", Table(columns, rows)))
    assert found == [columns, *([as_cell(value) for value in row] for row in rows)]


def test_csv_has_all_values_and_nothing_to_compute() -> None:
    assert read_csv(written("csv", RECORDS)) == [COLUMNS, *([as_cell(value) for value in row] for row in ROWS)]
    assert [written("csv", Table(columns, [])) for columns in (COLUMNS, [])] == [",".join(COLUMNS) + "\n", ""]
    # Spreadsheets are given nothing to compute if so asked.
    for start in "=+-@":
        records, write = Table(["x", "y"], [[f"{start}1", -1]]), TABLE_WRITERS["csv"]
        assert list(write(records, Layout())) == ["x,y\n", f"{start}1,-1\n"]
        assert list(write(records, Layout(spreadsheet=True))) == ["x,y\n", f"'{start}1,-1\n"]


def test_parquet_has_typed_columns() -> None:
    table = parquet_of(RECORDS)
    assert table.column_names == COLUMNS
    assert [str(kind) for kind in table.schema.types] == ["string", "bool", "double", "int64"]
    assert [list(row.values()) for row in table.to_pylist()] == ROWS
    assert [parquet_of(Table(columns, [])).column_names for columns in (COLUMNS, [])] == [COLUMNS, []]
    write = TABLE_WRITERS["parquet"]
    assert write(RECORDS, Layout()) == write(RECORDS, Layout())


def test_values_that_are_no_numbers_and_rows_of_another_width_are_refused() -> None:
    for name, value in product(("json", "jsonl", "tsv", "csv"), (float("nan"), float("-inf"))):
        refused(ValueError, "JSON compliant", written, name, Table(["x"], [[value]]))
    for name in ("json", "jsonl", "parquet"):
        with pytest.raises(ValueError, match=r"zip|argument"):
            list(TABLE_WRITERS[name](Table(["a", "b"], [[1]]), Layout()))


def test_formats_by_suffix() -> None:
    files = {"a/out.csv": "csv", "out.CSV": "csv", "s3://a/b.md": "markdown", "b.tex": "latex", "b.txt": "text"}
    files |= {"page.html": "html", "out": "text", "-": "text"}
    assert {file: format_by_suffix(file) for file in files} == files
    assert format_by_suffix(None) == "text"


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    target = Target.of(str(tmp_path / "gone/x.parquet"))
    (tmp_path / "gone").rmdir()
    refused(InputError, "cannot write .*x.parquet: No such file", target.write, b"PAR1")


COMET = {"A": [0.8564] * 2, "B": [0.8567] * 2, "C": [0.85671] * 2, "D": [0.85] * 2}
SHIFTED = {name: [score + 1 for score in scores] for name, scores in COMET.items()}
PERCENT = {name: [100 * score for score in scores] for name, scores in COMET.items()}


@pytest.mark.parametrize(
    ("table", "digits", "first", "best"),
    [
        (COMET, None, "0.8564", ["0.8567", "0.8567"]),
        (COMET, 2, "0.86", ["0.86", "0.86", "0.86"]),
        (PERCENT, None, "85.64", ["85.67", "85.67"]),
        (SHIFTED, None, "1.8564", ["1.8567"] * 2),
    ],
)
def test_decimals_follow_the_scale_of_the_scores_and_what_is_printed_as_best_is_bold(table, digits, first, best):
    results = softbleu.Scores("COMET", table).results()
    for name, bold in (("latex", r"\\textbf\{(\d.*?)\}"), ("markdown", r"\*\*(\d.*?)\*\*")):
        text = text_of(name, results, digits=digits)
        assert re.findall(bold, text) == best
        assert first in text
    if digits or table is not SHIFTED:  # One score alone has no spread
        assert text_of("text", results[:1], digits=digits).startswith(f"COMET {first}")


def test_decimals_of_metrics_in_percent_are_two_however_small_the_scores():
    results = softbleu.score({"A": ["a b c x"], "B": ["y"]}, [["a b c d e f g h i j k l m n o p q r s t " * 2]])
    assert 0 < results[0].score < 1
    assert f" {results[0].score:.2f}" in text_of("text", results)
