"""`softbleu experiments spurious`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from softbleu.corpora.generate import GenerationSettings, generate

SMALL = ("experiments", "spurious", "--grammar", "alternations", "--count", "60")


def pairs_file(files: Any, name: str = "pairs.jsonl") -> Any:
    settings = GenerationSettings(grammar="alternations", pairing="paraphrase", count=60)
    return files.write(name, [line.rstrip("\n") for line in generate(settings).lines("jsonl")])


def rows(run: Any) -> list[dict[str, Any]]:
    assert run.code == 0, run.err
    found: list[dict[str, Any]] = json.loads(run.out)["rows"]
    return found


def test_summary(command: Any) -> None:
    done = command(*SMALL, "--variant", "plain", "--remedy", "aligned+function-words", "--format", "json")
    assert done.err == ""
    found = rows(done)
    assert {(row["matcher"], row["variant"]) for row in found} == {
        (matcher, variant) for matcher in ("vleu", "xleu") for variant in ("plain", "aligned+function-words")
    }
    given = {(row["matcher"], row["variant"]): row for row in found if row["at"] == "given"}
    assert all(row["threshold"] == 0.8 for row in given.values())
    assert given["xleu", "aligned+function-words"]["spurious"] < given["xleu", "plain"]["spurious"]
    best = [row for row in found if row["at"] == "best F1"]
    assert len(best) == len(given)
    assert all(row["f1"] >= given[row["matcher"], row["variant"]]["f1"] for row in best)
    facts = json.loads(done.out)
    assert (facts["text"], facts["pairs"]) == ("alternations, paraphrase, seed 0", "60")
    assert facts["vectors"].startswith("glove-6b-100d#")


def test_a_file_of_the_same_pairs_gives_the_same(command: Any, files: Any) -> None:
    path = pairs_file(files)
    read = command("experiments", "spurious", "--pairs", path, "--format", "json")
    assert rows(read) == rows(command(*SMALL, "--format", "json"))
    assert command("experiments", "spurious", "--pairs", path, "--format", "json") == read


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("thresholds", {"threshold", "f1"}),
        ("orders", {"order", "recall"}),
        ("partners", {"partner", "spurious_credit"}),
        ("offenders", {"candidate", "reference", "segment"}),
    ],
)
def test_tables(command: Any, table: str, columns: set[str]) -> None:
    found = rows(command(*SMALL, "--matcher", "xleu", "--table", table, "--most", "5", "--format", "json"))
    assert columns < set(found[0])
    assert len(found) == {"thresholds": 20, "orders": 4, "partners": 5, "offenders": 5}[table]
    assert command(*SMALL, "--matcher", "xleu", "--table", table).out.startswith(
        "text     alternations, paraphrase, seed 0\n"
    )


def test_text_without_alignments(command: Any, files: Any) -> None:
    text = ("experiments", "spurious", "-c", files.candidate, "-r", files.reference, "--vectors", files.vectors)
    summary, partners, offenders = (
        rows(command(*text, "--matcher", "sleu", "--table", table, "--format", "json"))
        for table in ("summary", "partners", "offenders")
    )
    assert (summary[0]["matches"], summary[0]["partners"]) == (2, 2)
    assert [[row[name] for name in ("partner", "matches", "spurious")] for row in partners] == [
        *(["little", 1, None], ["the", 1, None])
    ]
    shown = [(row["candidate"], row["reference"]) for row in offenders]
    assert ("the cat sat on [a] mat", "[the] cat sat on the mat") in shown


def test_output_and_picture(command: Any, files: Any) -> None:
    pytest.importorskip("matplotlib")
    table, picture = files.folder / "spurious.csv", files.folder / "spurious.svg"
    done = command(*SMALL, "--matcher", "vleu", "--output", table, "--plot", picture)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert table.read_text().startswith("matcher,variant,at,threshold,matches,credit,precision,order_errors,spurious")
    assert "precision of the credit, per cent" in picture.read_text()
    text = ("-c", files.candidate, "-r", files.reference, "--matcher", "sleu", "--plot", picture)
    assert command("experiments", "spurious", *text).code == 0
    assert "different candidate n-grams" in picture.read_text()


def test_no_approximate_matches_are_said(command: Any, files: Any) -> None:
    line = {"candidate": "a dog", "reference": "a dog", "alignment": [[0, 0]], "label": "identical"}
    done = command("experiments", "spurious", "--pairs", files.write("same.jsonl", [json.dumps(line)]))
    assert done.code == 0
    assert done.err == "softbleu: note: no approximate matches at any threshold: there is no credit to judge\n"
    assert "without approximate matches  vleu, plain; xleu, plain" in done.out
    assert "nan" not in done.out.lower()


def test_without_input_pairs_are_generated(command: Any) -> None:
    done = command("experiments", "spurious", "--matcher", "vleu")
    assert done.code == 0
    assert done.err == (
        "softbleu: note: no input given (see --help), so this generates pairs of the grammar modifiers\n"
    )
    assert "modifiers, paraphrase, seed 0" in done.out
    assert command("experiments", "spurious", "--matcher", "vleu", "--quiet").err == ""
