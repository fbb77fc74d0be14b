from __future__ import annotations

import json
from dataclasses import replace

import pytest

import softbleu
from softbleu.errors import UnknownNameError
from softbleu.report import EXPLAINERS, WRITERS, Layout, find_explainer, find_writer, one_line
from softbleu.report.layout import align, display_width
from softbleu.scoring import Explanation, NgramMatch

CANDIDATES = {"A": ["the cat sat on the mat", "a dog"], "B": ["the cat sat", "the dog"]}
REFERENCES = [["the cat sat on a mat", "a cat sat down"], ["a dog"]]


def text_of(name: str, results, **layout) -> str:
    return "".join(WRITERS[name](results, Layout(**layout)))


@pytest.fixture
def results():
    return softbleu.score(CANDIDATES, REFERENCES)


@pytest.fixture
def segments():
    return softbleu.score(CANDIDATES, REFERENCES, level="segment")


def test_markdown(results):
    a, b = (f"{result.score.score:.2f}" for result in results)
    lines = text_of("markdown", results).splitlines()
    assert lines[0] == "| system | BLEU | P1 | P2 | P3 | P4 | BP | length | ref. length |"
    assert lines[1] == "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    assert lines[2].startswith(f"| A | {a} | 87.50 |")
    assert lines[3].startswith(f"| B | {b} |")


def test_latex(results):
    lines = text_of("latex", results, digits=1).splitlines()
    assert lines[0] == f"% {results[0].signature}"
    assert r"\begin{tabular}{lrrrrrrrr}" in lines
    assert rf"A & {results[0].score.score:.1f} & 87.5 & 66.7 & 50.0 & 33.3 & 1.000 & 8 & 8 \\" in lines
    assert lines[-1] == r"\end{tabular}"


@pytest.mark.parametrize("name", ["markdown", "tsv", "text"])
def test_segment_rows(segments, name):
    rows = [line.replace("|", " ").split()[:2] for line in text_of(name, segments).splitlines()]
    wanted = [["A", "1"], ["B", "1"], ["A", "2"], ["B", "2"]]
    assert [row for row in rows if row in wanted] == wanted


def test_data_is_in_full_precision(segments):
    data = json.loads(text_of("json", segments, digits=0))
    for result, system in zip(segments, data["systems"], strict=True):
        assert system["score"] == result.score.score
        assert [entry["score"] for entry in system["segments"]] == [s.score for s in result.segments]


def test_nan_is_refused_rather_than_written(results):
    broken = [replace(results[0], score=replace(results[0].score, score=float("nan")))]
    for name in ("json", "jsonl", "tsv"):
        with pytest.raises(ValueError, match="JSON compliant"):
            text_of(name, broken)


@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_no_error(name):
    text = text_of(name, [])
    assert text == "" or json.loads(text) == {"schema": 1, "signature": "", "systems": []}


@pytest.mark.parametrize(
    ("character", "markdown", "latex"),
    [
        ("&", "&", r"\&"),
        ("%", "%", r"\%"),
        ("$", "$", r"\$"),
        ("#", "#", r"\#"),
        ("_", r"\_", r"\_"),
        ("{", "{", r"\{"),
        ("}", "}", r"\}"),
        ("~", r"\~", r"\textasciitilde{}"),
        ("^", "^", r"\textasciicircum{}"),
        ("\\", r"\\", r"\textbackslash{}"),
        ("|", r"\|", r"\textbar{}"),
        ("*", r"\*", "*"),
        ("<", r"\<", r"\textless{}"),
        ("\n", r"\\n", r"\textbackslash{}n"),
        ("\t", r"\\t", r"\textbackslash{}t"),
    ],
)
def test_names_are_escaped(results, character, markdown, latex):
    named = [replace(results[0], name=f"a{character}b")]
    assert f"| a{markdown}b | " in text_of("markdown", named)
    assert f"\na{latex}b & " in text_of("latex", named)
    assert text_of("tsv", named).count("\n") == 2
    assert len({line.count("\t") for line in text_of("tsv", named).splitlines()}) == 1
    assert json.loads(text_of("jsonl", named))["system"] == f"a{character}b"


def test_several_systems_are_one_table_and_names_no_markup(results):
    named = [replace(results[0], name="[red]A[/red]"), results[1]]
    shown = text_of("text", named)
    assert "[red]A[/red]" in shown
    assert "\x1b" not in shown
    assert "\x1b[1m" in text_of("text", named, colour=True)
    assert shown.count("signature: ") == 1


def test_long_names_are_never_cut(results):
    named = [replace(result, name=result.name * 150) for result in results]
    assert "A" * 150 in text_of("text", named)


def test_unknown_formats_list_the_valid_ones():
    with pytest.raises(UnknownNameError, match="text, json, jsonl, tsv, markdown, latex"):
        find_writer("xml")
    with pytest.raises(UnknownNameError, match=r"text, json, jsonl$"):
        find_explainer("xml")
    assert find_writer("tsv") is WRITERS["tsv"]
    assert find_explainer("json") is EXPLAINERS["json"]


@pytest.mark.parametrize("digits", [-1, 16])
def test_digits_have_bounds(digits):
    with pytest.raises(ValueError, match="digits"):
        Layout(digits=digits)


def test_columns_line_up_for_wide_characters():
    assert display_width("cafe\u0301") == 4
    lines = list(align([["猫", "1"], ["cat", "2"]], [False, True]))
    assert lines == ["猫   1", "cat  2"]


def test_what_is_printable_stays():
    assert one_line("naïve 猫") == "naïve 猫"
    assert one_line("a\u2028b\udcff") == "a\\u2028b\\udcff"


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
