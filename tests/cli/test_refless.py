"""The metric refless on the command line."""

from __future__ import annotations

import json

import pytest

import softbleu
from softbleu.language import VALUES

SOURCE = ["He go to the school yesterday .", "This are good informations .", "I like it ."]
BETTER = ["He went to school yesterday .", "This is good information .", "I like it ."]


def test_the_command_needs_no_references(command, refused, files):
    candidate, source = files.write("better.txt", BETTER), files.write("source.txt", SOURCE)
    rows = list(zip(BETTER, SOURCE, strict=True))
    table = files.write("texts.tsv", ["candidate\tsource", *("\t".join(row) for row in rows)])
    records = [json.dumps({"candidate": own, "source": text}) for own, text in rows]
    pairs = [["--pairs", table], ["--pairs", files.write("texts.jsonl", records)]]
    expected = softbleu.score(BETTER, None, SOURCE, metric="refless").score
    for given in (["-c", candidate, "-s", source], *pairs):
        done = command("score", *given, "-m", "refless", "--score-only", "--digits", 6)
        assert (done.code, done.err) == (0, "")
        assert float(done.out) == pytest.approx(expected, abs=1e-6)
        assert "metric 'bleu' needs references" in refused("score", *given, "-m", "bleu")


def test_coefficients_of_ones_own(command, files):
    text = files.write("source.txt", SOURCE)
    own = {"constant": 0, "coefficients": dict.fromkeys(VALUES, 0), "fluency": [0, 1]}
    path = files.write("own.json", [json.dumps(own)])
    options = ("-m", "refless(alpha=1, beta=0, gamma=0)", "--coefficients", path, "--score-only")
    done = command("score", "-c", text, "-s", text, *options)
    assert (done.code, done.out.strip()) == (0, "50.00")


def test_explain_says_what_speaks_against_a_line(command, files):
    line = "She recieve good informations ."
    source = files.write("source.txt", [line, "It is fine ."])
    better = files.write("better.txt", ["She receives good information .", ""])
    options = ("explain", "-m", "refless", "-s", source, "-c", source, better)
    shown = command(*options, "--segment", 1)
    assert (shown.code, shown.err) == (0, "")
    first, second = shown.out.split("\n\n")
    lines = first.splitlines()
    found = softbleu.score([line], None, [line], metric="refless").numbers
    assert lines[0].startswith("segment 1, source: ")
    assert lines[0].endswith(f" {found.score:.2f}")
    numbers = f"G {found.grammar:.2f}, F {found.fluency:.2f}, M 100.00, better 0.00"
    assert lines[1:3] == [f"candidate  {line}", numbers]
    assert [each.split()[:2] for each in lines[3:5]] == [["misspelt", "recieve"], ["misspelt", "informations"]]
    assert "misspelt" not in second
    rows = [row.split("\t") for row in command(*options, "--format", "tsv").out.splitlines()]
    assert rows[0] == ["system", "segment", "kind", "text", "value", "message"]
    assert rows[1] == ["source", "1", "misspelt", "recieve", "", ""]
    unlikely = [float(row[4]) for row in rows[1:] if row[2] == "unlikely"]
    assert unlikely
    assert max(unlikely) < 0
    entries = [json.loads(entry) for entry in command(*options, "--format", "jsonl").out.splitlines()]
    named = [(each["system"], each["segment"]) for each in entries]
    assert named == [(system, segment) for segment in (1, 2) for system in ("source", "better")]
    assert (entries[0]["numbers"]["meaning"], entries[3]["findings"]) == (100, [])
    (one,) = softbleu.explain([line], None, ["x"], metric="refless")
    assert [each.text for each in one.findings[:2]] == ["recieve", "informations"]
