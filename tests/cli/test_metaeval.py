"""`softbleu metaeval`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

HUMAN = ["A 0.5", "B 0.4", "C 0.3", "D 0.1"]
ONE = ["A 40", "B 30", "C 20", "D 10"]
TWO = ["A 40", "B 10", "C 30", "D 20", "E 1"]
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
        "reference.txt": ["the cat sat on the mat", "it rained all night long"],
        "a.txt": ["the cat sat on the mat", "it rained all night long"],
        "b.txt": ["the cat sat on a mat", "it rained all night long"],
        "c.txt": ["a cat sat on a rug", "it was all night rain"],
        "d.txt": ["the cat sat on a rug", "it rained all night"],
        "assessed.tsv": [
            "LP\tsource\ttranslation\treference\tHUMAN_score",
            "x-y\ts\tit &apos;s all right\tit 's all right\t1",
            "x-y\ts\tit is wrong\tit 's all right\t0",
            "x-y\ts\tit &apos;s all wrong\tit 's all right\t0.5",
        ],
    }.items():
        files.write(name, content)
    monkeypatch.chdir(files.folder)
    return files


def rows(run: Any) -> list[dict[str, Any]]:
    assert run.code == 0, run.err
    found: list[dict[str, Any]] = json.loads(run.out)["rows"]
    return found


def test_systems(command: Any, judged: Any) -> None:
    arguments = ("--human", "human.tsv", "--scores", "one.tsv", "--scores", "other=two.tsv", "-f", "json")
    done = command("metaeval", *arguments)
    assert done.err == "softbleu: note: human lacks E: left out\nsoftbleu: note: one lacks E: left out\n"
    one, other = rows(done)
    assert (one["metric"], one["points"], one["spearman"], one["kendall"]) == ("one", 4, 1.0, 1.0)
    assert (other["metric"], other["spearman"]) == ("other", 0.4)
    assert one["pearson_low"] <= one["pearson"] <= one["pearson_high"]
    assert command("metaeval", *arguments, "--quiet").err == ""
    assert command("metaeval", *arguments).out == done.out
    assert command("metaeval", *arguments, "--seed", "1").out != done.out


def test_williams_and_left_out(command: Any, judged: Any) -> None:
    given = ("metaeval", "--human", "human.tsv", "--scores", "one.tsv", "--scores", "two.tsv", "-q", "-f", "json")
    tests = rows(command(*given, "--table", "williams"))
    assert [(row["coefficient"], row["better"], row["worse"]) for row in tests] == [
        ("pearson", "one", "two"),
        ("spearman", "one", "two"),
    ]
    assert 0 < tests[0]["p_value"] < tests[0]["corrected"] <= 1
    left = rows(command(*given, "--table", "left-out"))
    assert [(row["metric"], row["without"]) for row in left] == [(m, s) for s in "ABCD" for m in ("one", "two")]
    assert left[0]["spearman"] == 1.0


def test_preferences_of_a_corpus_on_the_spot(command: Any, judged: Any) -> None:
    systems = [part for name in "abcd" for part in ("-c", f"{name}.txt")]
    judged.write("rankings.csv", [line.replace("A", "a").replace("B", "b") for line in RANKINGS])
    done = command(
        *("metaeval", "--rankings", "rankings.csv", *systems, "-r", "reference.txt"),
        *("--metric-settings", "bleu", "--table", "preferences", "-f", "json"),
    )
    hties, noties = rows(done)
    assert (hties["variant"], noties["variant"]) == ("hties", "noties")
    assert done.err == "softbleu: note: bleu lacks C, D: skipped\n"
    assert (noties["pairs"], noties["concordant"], noties["tau"], noties["skipped"]) == (2, 1, 0.5, 8)
    assert json.loads(done.out)["bleu"].startswith("metric:bleu|matcher:exact|")


def test_scores_that_softbleu_wrote(command: Any, judged: Any) -> None:
    systems = [part for name in "abcd" for part in ("-c", f"{name}.txt")]
    judged.write("human.tsv", [line.lower() for line in HUMAN])
    spot = ("metaeval", "--human", "human.tsv", *systems, "-r", "reference.txt", "--metric-settings", "m=bleu")
    expected = rows(command(*spot, "-f", "json"))
    for name in ("tsv", "json", "jsonl"):
        command("score", *systems, "-r", "reference.txt", "-f", name, "-o", f"scores.{name}")
        read = command("metaeval", "--human", "human.tsv", "--scores", f"m=scores.{name}", "-f", "json")
        assert rows(read) == expected
    assert expected[0]["spearman"] == 0.8


def test_direct_assessment(command: Any, judged: Any) -> None:
    given = ("metaeval", "--da", "assessed.tsv", "--metric-settings", "bleu", "-f", "json")
    (clean,) = rows(command(*given, "--unescape"))
    (plain,) = rows(command(*given))
    assert (clean["human"], clean["points"], clean["spearman"]) == ("direct assessment", 3, 1.0)
    assert clean["pearson"] > plain["pearson"]
    assert [row["of"] for row in rows(command(*given, "--table", "accuracy"))] == ["outputs", "outputs by segment"]
    two = command(*given[:-1], "tsv", "-m", "chrf", "--table", "differences", "--samples", "30").out.splitlines()
    assert [line.split("\t")[1] for line in two[1:4]] == [
        "accuracy, outputs",
        "accuracy, outputs by segment",
        "pearson",
    ]


def test_ranking_and_annotators(command: Any, judged: Any) -> None:
    done = command("metaeval", "--rankings", judged.folder / "rankings.csv", "-f", "json")
    assert done.err == ""
    ranked = rows(done)
    assert (ranked[0]["system"], ranked[0]["score"]) == ("A", 1.0)
    assert {row["by"] for row in ranked} == {"expected-wins"}
    both = command(
        *("metaeval", "--rankings", judged.folder / "rankings.csv", "--rank-by", "trueskill", "--runs", "5"),
        *("-f", "markdown"),
    )
    assert both.code == 0
    assert re.search(r"\| trueskill +\| A +\| +1 \|", both.out)
    nobody = command("metaeval", "--rankings", judged.folder / "rankings.csv", "--table", "annotators")
    assert nobody.out == "nobody judged what another had judged\n"


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
    before = Path("picture.svg").read_bytes()
    command(*given, "--plot", "picture.svg", "-q")
    assert Path("picture.svg").read_bytes() == before


def test_constant_scores_are_said(command: Any, judged: Any) -> None:
    done = command("metaeval", "--human", "human.tsv", "--scores", "flat.tsv", "--scores", "one.tsv", "-f", "json")
    flat, one = rows(done)
    assert "flat gives the same score to all 4: no correlation with it is defined" in done.err
    assert (flat["pearson"], flat["kendall_high"], one["spearman"]) == (None, None, 1.0)
    assert "nan" not in done.out.lower()
