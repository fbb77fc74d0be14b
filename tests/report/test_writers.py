from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass, replace
from typing import Any

import pytest

import softbleu
from softbleu.errors import UnknownNameError
from softbleu.metrics.result import Score
from softbleu.report import COMPARERS, EXPLAINERS, WRITERS, Layout
from softbleu.report.layout import align, one_line
from softbleu.report.records import BINARY_FORMATS
from softbleu.report.scores import write_numbers
from softbleu.results import Explanation, NgramMatch

CANDIDATES = {"A": ["the cat sat on the mat", "a dog"], "B": ["the cat sat", "the dog"]}
REFERENCES = [["the cat sat on a mat", "a cat sat down"], ["a dog"]]


def text_of(name: str, results, **layout) -> str:
    return "".join(WRITERS[name](results, Layout(**layout)))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]


@pytest.fixture
def results():
    return softbleu.score(CANDIDATES, REFERENCES)


@pytest.fixture
def segments():
    return softbleu.score(CANDIDATES, REFERENCES, level="segment")


def test_markdown_and_latex(results):
    a, b = (f"{result.score:.2f}" for result in results)
    lines = text_of("markdown", results).splitlines()
    assert cells(lines[0]) == ["system", "BLEU", "P1", "P2", "P3", "P4", "BP", "length", "ref. length"]
    assert re.fullmatch(r"\|:-+\|(-+:\|){8}", lines[1])
    assert [cells(line)[:3] for line in lines[2:4]] == [["**A**", f"**{a}**", "87.50"], ["B", b, "80.00"]]
    assert lines[4:] == ["", f"signature: {results[0].short_signature}".replace("|", r"\|")]
    text = text_of("latex", results, digits=1)
    assert text.startswith(f"% signature: {results[0].short_signature}\n")
    assert text_of("latex", results, long_signature=True).startswith(f"% signature: {results[0].signature}\n")
    assert "\\begin{tabular}{lrrrrrrrr}\n" in text
    row = rf"\textbf{{A}} & \textbf{{{results[0].score:.1f}}} & 87.5 & 66.7 & 50.0 & 33.3 & 1.000 & 8 & 8 \\"
    assert row in " ".join(text.split())
    assert text.endswith("\\end{tabular}\n")


@pytest.mark.parametrize("name", sorted({*WRITERS} - {*BINARY_FORMATS}))
def test_nothing_is_no_error(name):
    text = text_of(name, [])
    assert text == "" or json.loads(text) == {"schema": 1, "signature": "", "systems": []}


@pytest.mark.parametrize("name", ["json", "jsonl", "tsv"])
def test_nan_is_refused_rather_than_written(results, name):
    broken = replace(results[0], numbers=replace(results[0].numbers, score=float("nan")))
    with pytest.raises(ValueError, match="JSON compliant"):
        text_of(name, [broken])


def test_names_are_escaped(results):
    odd = "&%$#{}_*^~|<\\\n\t"
    markdown = "&%$#{}" r"\_\*^\~\|\<\\\\n\\t"
    latex = r"\&\%\$\#\{\}\_*\textasciicircum{}\textasciitilde{}\textbar{}\textless{}"
    latex += r"\textbackslash{}\textbackslash{}n\textbackslash{}t"
    named = [replace(results[0], name=f"a{odd}b")]
    shown = {name: text_of(name, named) for name in ("markdown", "latex", "tsv", "jsonl")}
    assert re.search(rf"^\| {re.escape(f'a{markdown}b')} +\| ", shown["markdown"], re.MULTILINE)
    assert re.search(rf"^{re.escape(f'a{latex}b')} +& ", shown["latex"], re.MULTILINE)
    assert [line.count("\t") for line in shown["tsv"].splitlines()] == [shown["tsv"].splitlines()[0].count("\t")] * 2
    assert json.loads(shown["jsonl"])["system"] == f"a{odd}b"


def test_several_systems_are_one_table_and_names_no_markup(results):
    shown = text_of("text", [replace(results[0], name="[red]A[/red]"), results[1]])
    assert "[red]A[/red]" in shown
    assert "\x1b" not in shown
    assert shown.count("signature: ") == 1


def test_formats_are_found_by_name_suffix_and_case():
    with pytest.raises(UnknownNameError, match="text, json, jsonl, tsv, markdown, latex"):
        WRITERS.find("xml")
    assert WRITERS.find("MD") is WRITERS["markdown"]
    assert EXPLAINERS.find("tex") is EXPLAINERS["latex"]
    for digits in (-1, 16):
        with pytest.raises(ValueError, match="digits"):
            Layout(digits=digits)


def test_columns_line_up_for_wide_characters():
    assert [one_line(text) for text in ("naïve 猫", "a\u2028b\udcff")] == ["naïve 猫", "a\\u2028b\\udcff"]
    lines = list(align([["猫", "1"], ["cat", "2"], ["cafe\u0301", "3"]], [False, True]))
    assert lines == ["猫    1", "cat   2", "cafe\u0301  3"]


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


def error_rate(results, *scores: ErrorRate):
    given: dict[str, Any] = {"metric": "wer", "label": "WER", "higher_is_better": False}
    return [replace(result, numbers=score, **given) for result, score in zip(results, scores, strict=False)]


def test_a_score_is_shown_without_any_declaration(results):
    found = error_rate(results, ErrorRate(12.5, 1234, [0.5, 2.25], 1.0), ErrorRate(50.0, 7, [1.5], 0.25))
    lines = text_of("markdown", found).splitlines()
    assert cells(lines[0]) == ["system", "WER", "costs1", "costs2", "word edits", "mean cost"]
    assert cells(lines[2]) == ["**A**", "**12.50**", "0.50", "2.25", "1,234", "1.00"]
    assert cells(lines[3]) == ["B", "50.00", "1.50", "-", "7", "0.25"]
    card = [line.split() for line in text_of("text", found[:1]).splitlines()]
    assert card[0] == ["WER", "12.50", "A"]
    assert ["costs", "0.50", "2.25"] in card
    assert ["word", "edits", "1,234"] in card
    assert not any("unknown" in line for line in card)
    (first, second) = csv.DictReader(io.StringIO(text_of("tsv", found)), delimiter="\t")
    assert (first["word_edits"], first["costs_2"], second["costs_2"]) == ("1234", "2.25", "")
    vectors = {"cat": [1.0, 0.2], "dog": [0.9, 0.3]}
    soft = softbleu.score(CANDIDATES, REFERENCES, metric="softbleu", vectors=vectors, order=2)
    header = cells(text_of("markdown", soft).splitlines()[0])
    assert header == ["system", "softbleu", "P1", "R1", "F1", "P2", "R2", "F2", "vectors"]
    assert all(f"\n{title}" in text_of("text", soft[:1]) for title in ("precision %", "recall %", "F  "))


@pytest.fixture
def several():
    return softbleu.score(CANDIDATES, REFERENCES, metric=["bleu", "bleu(order=2)"])


def test_the_best_of_each_metric_stands_out(results):
    less = [replace(each, metric="ter", label="TER", higher_is_better=False) for each in results]
    assert text_of("text", less, colour=True).splitlines()[3].startswith("\x1b[1mB")
    assert text_of("text", results, colour=True).splitlines()[2].startswith("\x1b[1mA")
    rows = [cells(line) for line in text_of("markdown", [*results, *less]).splitlines()[:4]]
    a, b = (f"{result.score:.2f}" for result in results)
    assert [rows[0], *rows[2:]] == [["system", "BLEU", "TER"], ["A", f"**{a}**", a], ["B", b, f"**{b}**"]]
    assert rf"A & \textbf{{{a}}} & {a} \\" in " ".join(text_of("latex", [*results, *less]).split())


def test_scores_alone(several, segments):
    a, b, c, d = (f"{result.score:.2f}" for result in several)
    assert "".join(write_numbers(several, Layout())) == f"{a}\t{c}\n{b}\t{d}\n"
    lines = "".join(write_numbers(segments, Layout(digits=1))).splitlines()
    pairs = zip(*(each.segments for each in segments), strict=True)
    assert lines == [f"{a.score:.1f}\t{b.score:.1f}" for a, b in pairs]


def test_data_names_the_metric_where_there_are_several(results, several):
    wanted = [(name, metric) for metric in ("bleu", "bleu(order=2)") for name in "AB"]
    data = json.loads(text_of("json", several))
    assert list(data) == ["schema", "systems"]
    assert [(each["name"], each["metric"]) for each in data["systems"]] == wanted
    assert [each["signature"] for each in data["systems"]] == [result.signature for result in several]
    rows = [json.loads(line) for line in text_of("jsonl", several).splitlines()]
    assert [(row["system"], row["metric"]) for row in rows] == wanted
    for name, delimiter in (("tsv", "\t"), ("csv", ",")):
        found = list(csv.DictReader(io.StringIO(text_of(name, several)), delimiter=delimiter))
        assert [(row["system"], row["metric"]) for row in found] == wanted
        assert [row["totals_4"] for row in found] == ["3", "0", "", ""]
    for name in ("json", "jsonl", "tsv", "csv"):
        assert "metric" not in re.sub("metric:bleu", "", text_of(name, results))


def test_comparisons_are_ranked_the_right_way_round():
    table = softbleu.compare(CANDIDATES, REFERENCES)
    turned = [replace(row, rank=3 - row.rank) for row in table.comparisons]
    lower = replace(table, comparisons=turned, higher_is_better=False)
    lines = "".join(COMPARERS["text"]([lower], Layout(colour=True))).splitlines()
    assert lines[2].startswith("\x1b[1mB")
    assert lines[3].startswith("A")
