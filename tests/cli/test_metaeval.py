"""`softbleu metaeval`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import table_of

HUMAN = ["A 0.5", "B 0.4", "C 0.3", "D 0.1"]
ONE = ["A 40", "B 30", "C 20", "D 10"]
TWO = ["A 40", "B 10", "C 30", "D 20", "E 1"]
CAT, RAIN = "the cat sat on the mat", "it rained all night long"
ASSESSED = [
    f"x-y\ts\t{text}\tit 's all right\t{score}" for text, score in (("it &apos;s all right", 1), ("it is wrong", 0))
]
ASSESSED += ["x-y\ts\tit &apos;s all wrong\tit 's all right\t0.5"]
RANKINGS = ["srcIndex,judgeId,system1Id,system1rank,system2Id,system2rank"] + [
    f"{segment},ann,{better},1,{worse},2" for segment in range(2) for better, worse in ("AB", "BC", "AC", "BD", "DC")
]


@pytest.fixture
def judged(files: Any, monkeypatch: Any) -> Any:
    for name, content in {
        "human.tsv": HUMAN,
        "one.tsv": ONE,
        "two.tsv": TWO,
        "rankings.csv": RANKINGS,
        "flat.tsv": ["A 1", "B 1", "C 1", "D 1"],
        "reference.txt": [CAT, RAIN],
        "a.txt": [CAT, RAIN],
        "b.txt": ["the cat sat on a mat", RAIN],
        "c.txt": ["a cat sat on a rug", "it was all night rain"],
        "d.txt": ["the cat sat on a rug", "it rained all night"],
        "assessed.tsv": ["LP\tsource\ttranslation\treference\tHUMAN_score", *ASSESSED],
    }.items():
        files.write(name, content)
    monkeypatch.chdir(files.folder)
    return files


def test_systems(command: Any, judged: Any) -> None:
    arguments = ("--human", "human.tsv", "--scores", "one.tsv", "--scores", "other=two.tsv", "-f", "json")
    done = command("metaeval", *arguments)
    assert done.err == "softbleu: note: human lacks E: left out\nsoftbleu: note: one lacks E: left out\n"
    one, other = table_of(done)
    assert (one["metric"], one["points"], one["spearman"], one["kendall"]) == ("one", 4, 1.0, 1.0)
    assert (other["metric"], other["spearman"]) == ("other", 0.4)
    assert one["pearson_low"] <= one["pearson"] <= one["pearson_high"]
    assert command("metaeval", *arguments, "--quiet", "--seed", "1").out != done.out
    constant = command("metaeval", *arguments[:3], "flat.tsv", *arguments[2:4], "-f", "json")
    flat, one = table_of(constant)
    assert "flat gives the same score to all 4: no correlation with it is defined" in constant.err
    assert (flat["pearson"], flat["kendall_high"], one["spearman"]) == (None, None, 1.0)


def test_preferences_of_a_corpus_on_the_spot(command: Any, judged: Any) -> None:
    systems = [part for name in "abcd" for part in ("-c", f"{name}.txt")]
    judged.write("rankings.csv", [line.replace("A", "a").replace("B", "b") for line in RANKINGS])
    given = ("metaeval", "--rankings", "rankings.csv", *systems, "-r", "reference.txt")
    done = command(*given, "--metric-settings", "bleu", "--table", "preferences", "-f", "json")
    hties, noties = table_of(done)
    assert (hties["variant"], noties["variant"]) == ("hties", "noties")
    assert done.err == "softbleu: note: bleu lacks C, D: skipped\n"
    assert (noties["pairs"], noties["concordant"], noties["tau"], noties["skipped"]) == (2, 1, 0.5, 8)
    assert json.loads(done.out)["bleu"].startswith("metric:bleu|matcher:exact|")


def test_scores_that_softbleu_wrote(command: Any, judged: Any) -> None:
    systems = [part for name in "abcd" for part in ("-c", f"{name}.txt")]
    judged.write("human.tsv", [line.lower() for line in HUMAN])
    spot = ("metaeval", "--human", "human.tsv", *systems, "-r", "reference.txt", "--metric-settings", "m=bleu")
    expected = table_of(command(*spot, "-f", "json"))
    for name in ("tsv", "json", "jsonl"):
        command("score", *systems, "-r", "reference.txt", "-f", name, "-o", f"scores.{name}")
        read = command("metaeval", "--human", "human.tsv", "--scores", f"m=scores.{name}", "-f", "json")
        assert table_of(read) == expected
    assert expected[0]["spearman"] == 0.8


def test_direct_assessment(command: Any, judged: Any) -> None:
    given = ("metaeval", "--da", "assessed.tsv", "--metric-settings", "bleu", "-f", "json")
    (clean,) = table_of(command(*given, "--unescape"))
    (plain,) = table_of(command(*given))
    assert (clean["human"], clean["points"], clean["spearman"]) == ("direct assessment", 3, 1.0)
    assert clean["pearson"] > plain["pearson"]
    assert [row["of"] for row in table_of(command(*given, "--table", "accuracy"))] == [
        "outputs",
        "outputs by segment",
    ]
    two = command(*given[:-1], "tsv", "-m", "chrf", "--table", "differences", "--samples", "30").out.splitlines()
    shown = ["accuracy, outputs", "accuracy, outputs by segment", "pearson"]
    assert [line.split("\t")[1] for line in two[1:4]] == shown


def test_ranking_and_annotators(command: Any, judged: Any) -> None:
    given = ("metaeval", "--rankings", "rankings.csv")
    done = command(*given, "-f", "json")
    assert done.err == ""
    ranked = table_of(done)
    assert (ranked[0]["system"], ranked[0]["score"]) == ("A", 1.0)
    assert {row["by"] for row in ranked} == {"expected-wins"}
    both = command(*given, "--rank-by", "trueskill", "--runs", "5", "-f", "markdown")
    assert both.code == 0
    assert re.search(r"\| trueskill +\| A +\| +1 \|", both.out)
    assert command(*given, "--table", "annotators").out == "nobody judged what another had judged\n"


@pytest.mark.parametrize("table", ["systems", "williams"])
def test_pictures(command: Any, judged: Any, table: str) -> None:
    pytest.importorskip("matplotlib")
    given = ("metaeval", "--human", "human.tsv", "--scores", "one.tsv", "--scores", "t$w$o=two.tsv", "--table", table)
    done = command(*given, "--plot", "picture.svg", "-o", "table.tex", "-f", "latex", "-q")
    assert (done.code, done.out, done.err) == (0, "", "")
    picture = Path("picture.svg").read_text()
    assert "t$w$o" in picture
    assert ("D</text>" in picture or ">D<" in picture) == (table == "systems")
    assert Path("table.tex").read_text().count("\\\\") >= 3
    assert len(re.findall(r"r = -?\d\.\d{3} \[", picture)) == (2 if table == "systems" else 0)
