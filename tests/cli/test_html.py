"""`softbleu score --format html`: the file and its notes."""

from __future__ import annotations

import json
import re

import pytest

import softbleu.analysis.pages
from softbleu.report.records import p_text


@pytest.fixture
def arguments(files):
    texts = ("score", "-c", files.candidate, "-r", files.reference)
    return (*texts, "--matcher", "vleu", "-t", 0.8, "--vectors", files.vectors, "--format", "html")


def data_of(html):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html)[1])


def test_a_page_in_a_file(command, arguments, files):
    output = files.folder / "report.html"
    done = command(*arguments, "--output", output)
    assert (done.code, done.out, done.err) == (0, "", "")
    html = output.read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert html.endswith("</html>\n")
    scored = json.loads(command(*arguments[:-1], "json").out)
    data = data_of(html)
    assert data["signature"] == scored["signature"]
    assert data["systems"][0]["score"] == scored["systems"][0]["score"]


def test_digits_and_level(command, arguments):
    data = data_of(command(*arguments, "--digits", 5, "--level", "segment").out)
    assert data["digits"] == 5
    assert data["metric"]["effective"] is True
    assert data_of(command(*arguments).out)["metric"]["effective"] is False


def test_standard_input_is_read_once(command, arguments, files):
    given = ["-" if argument == files.candidate else argument for argument in arguments]
    piped = command(*given, stdin=files.candidate.read_bytes())
    assert piped.code == 0, piped.err
    assert data_of(piped.out)["systems"][0]["score"] == data_of(command(*arguments).out)["systems"][0]["score"]


def test_a_large_corpus_is_shown_in_part(command, arguments, monkeypatch):
    monkeypatch.setattr(softbleu.analysis.pages, "ROWS", 2)
    done = command(*arguments)
    note = "softbleu: note: the page shows the first 2 of 3 segments; its scores are of all\n"
    assert (done.code, done.err) == (0, note)
    assert (data_of(done.out)["shown"], data_of(done.out)["segments"]) == (2, 3)
    assert command(*arguments, "--quiet").err == ""


def test_a_page_of_a_comparison(command, files):
    texts = ("-c", files.candidate, files.second, "-r", files.reference)
    done = command("compare", *texts, "-m", "bleu", "chrf", "-f", "html", "--title", "One <b> & other")
    assert (done.code, done.err) == (0, "")
    data = data_of(done.out)
    assert (data["title"], data["pair"], list(data["parts"])) == ("One <b> & other", [0, 1], ["chrf"])
    found = json.loads(command("compare", *texts, "-f", "json").out)["systems"]
    assert [system["score"] for system in data["systems"]] == [system["score"] for system in found]
    assert [table["title"] for table in data["tables"]] == [
        "BLEU: differences of pairs",
        "chrF: differences of pairs",
        "Scores by length of the segment",
        "Words by how often the references have them",
        "N-grams that one system gets and another misses",
    ]
    row = dict(zip(data["tables"][0]["columns"], data["tables"][0]["rows"][0], strict=True))
    beside = found[1]["beside"]
    assert row["difference"] == f"{beside['difference']:.2f}"
    assert row["interval"] == " to ".join(f"{end:.2f}" for end in beside["interval"])
    assert row["p_value"] == p_text(beside["p_value"])
