"""`softbleu corpora generate`."""

from __future__ import annotations

import os
from pathlib import Path

from softbleu.corpora.aligned import read_aligned

GENERATE = ("corpora", "generate")
SMALL = ["S -> N V", "N -> 'Ann' | 'Bob'", "V -> 'ran' | 'sat'"]


def test_halves_of_the_paper(command):
    done = command(*GENERATE, "--grammar", "morgan2014", "--pairing", "halves")
    lines = done.out.splitlines()
    assert (done.code, done.err, len(lines)) == (0, "", 504)
    assert len({side for line in lines for side in line.split(" ||| ")}) == 1008
    assert command(*GENERATE, "--pairing", "halves").out == done.out
    assert command(*GENERATE, "--pairing", "halves", "--seed", 1).out != done.out


def test_grammar_of_ones_own(command, files):
    grammar = files.write("small.cfg", SMALL)
    assert command(*GENERATE, "-g", grammar, "--all").out.split("\n") == [
        "Ann ran",
        "Ann sat",
        "Bob ran",
        "Bob sat",
        "",
    ]


def test_output_and_its_suffix(command, files):
    output = files.folder / "pairs.jsonl"
    arguments = ("-g", "alternations", "--pairing", "paraphrase", "--count", 50, "--noise", "swap=0.1")
    done = command(*GENERATE, *arguments, "--output", output)
    assert (done.code, done.out, done.err) == (0, "", "")
    assert len(list(read_aligned(str(output)))) == 50
    scored = command("score", "--pairs", output, "-f", "tsv")
    assert scored.code == 0
    assert command("score", "--pairs", output, "-f", "tsv").out == scored.out


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
