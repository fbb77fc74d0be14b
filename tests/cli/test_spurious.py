"""`softbleu experiments spurious` and `softbleu corpora generate`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import table_of

from softbleu.corpora.aligned import read_aligned

SMALL = ("experiments", "spurious", "--grammar", "alternations", "--count", "60")


def test_summary(command: Any) -> None:
    done = command(*SMALL, "--variant", "plain", "--remedy", "aligned+function-words", "--format", "json")
    assert done.err == ""
    found = {(row["matcher"], row["variant"], row["at"]): row for row in table_of(done)}
    assert [sum(at == each for *_, at in found) for each in ("given", "best F1")] == [4, 4]
    assert all(row["threshold"] == 0.8 for (*_, at), row in found.items() if at == "given")
    plain, aligned = (found["xleu", variant, "given"] for variant in ("plain", "aligned+function-words"))
    assert aligned["spurious"] < plain["spurious"]
    assert plain["f1"] <= found["xleu", "plain", "best F1"]["f1"]
    facts = json.loads(done.out)
    assert (facts["text"], facts["pairs"]) == ("alternations, paraphrase, seed 0", "60")
    assert facts["vectors"].startswith("glove-6b-100d#")


SIZES = {"thresholds": 20, "orders": 4, "partners": 5, "offenders": 5}


@pytest.mark.parametrize("table", SIZES)
def test_tables(command: Any, table: str) -> None:
    done = command(*SMALL, "--matcher", "xleu", "--table", table, "--most", "5", "-f", "json")
    assert len(table_of(done)) == SIZES[table]


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
    said = "softbleu: note: no input given (see --help), so this generates pairs of the grammar modifiers\n"
    assert done.err == said
    assert "modifiers, paraphrase, seed 0" in done.out


GENERATE = ("corpora", "generate")


def test_halves_of_the_paper(command, files):
    done = command(*GENERATE, "--grammar", "morgan2014", "--pairing", "halves")
    assert (done.code, done.err, len(done.out.splitlines())) == (0, "", 504)
    assert command(*GENERATE, "--pairing", "halves").out == done.out
    assert command(*GENERATE, "--pairing", "halves", "--seed", 1).out != done.out
    grammar = files.write("small.cfg", ["S -> N V", "N -> 'Ann' | 'Bob'", "V -> 'ran' | 'sat'"])
    assert command(*GENERATE, "-g", grammar, "--all").out == "Ann ran\nAnn sat\nBob ran\nBob sat\n"


def test_output_and_its_suffix(command, files):
    output = files.folder / "pairs.jsonl"
    arguments = ("-g", "alternations", "--pairing", "paraphrase", "--count", 50, "--noise", "swap=0.1")
    done = command(*GENERATE, *arguments, "--output", output)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert len(list(read_aligned(str(output)))) == 50
    assert command("score", "--pairs", output).code == 0


def test_rates_reach_the_pairs(command):
    arguments = (*GENERATE, "-g", "alternations", "--pairing", "paraphrase", "--count", 20, "-f", "tsv")
    still = command(*arguments, "--synonyms", 0, "--alternate", 0)
    assert {line.rpartition("\t")[2] for line in still.out.splitlines()[1:]} == {"identical"}
    moved = command(*arguments, "--synonyms", 1, "--category", 1)
    assert "related" in {line.rpartition("\t")[2] for line in moved.out.splitlines()[1:]}


def test_folder_that_is_closed(command, tmp_path, monkeypatch):
    """The same where the user is root, whom permissions do not bind."""
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    done = command(*GENERATE, "--all", "-o", tmp_path / "out.txt")
    assert (done.code, done.out, list(tmp_path.iterdir())) == (2, "", [])
    assert "no permission to write" in done.err
