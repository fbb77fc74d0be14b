"""`softbleu compare --show` and `--by`, `softbleu explain --show`, `softbleu diff`."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest
from cli.conftest import CANDIDATE, REFERENCE

from softbleu.analysis import bucket_scores, choose_lines, ngram_differences
from softbleu.corpora import Segments

POOR = ["cats sit", "a dog barked", "all night rain"]
CORPUS = Segments.of({"good_one": CANDIDATE, "poor": POOR}, REFERENCE)


@pytest.fixture
def given(files):
    good = files.write("good_one.txt", CANDIDATE)
    return ["-c", good, files.write("poor.txt", POOR), "-r", files.reference]


VIEWS: dict[str, Any] = {
    "--by length -m bleu chrf": lambda: bucket_scores(CORPUS, ["bleu", "chrf"]),
    "--by rarity": lambda: bucket_scores(CORPUS, by="rarity"),
    "--by order": lambda: bucket_scores(CORPUS, by="order"),
    "--show ngrams --top 3": lambda: ngram_differences(CORPUS, top=3),
    "--show different --baseline poor -m ter": lambda: choose_lines(CORPUS, "ter", "different", baseline="poor"),
    "--show worst --top 2": lambda: choose_lines(CORPUS, "bleu", "worst", top=2),
    "--show disagreeing -m bleu chrf": lambda: choose_lines(CORPUS, ["bleu", "chrf"], "disagreeing"),
}


@pytest.mark.parametrize("arguments", VIEWS)
def test_views_are_those_of_the_python_interface(command, given, arguments):
    done = command("compare", *given, *arguments.split(), "-f", "json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["rows"] == VIEWS[arguments]().records()


def test_lines_in_text(command, given):
    lines = command("compare", *given, "--show", "different", "--top", 1, "-m", "chrf").out.splitlines()
    (line,) = choose_lines(CORPUS, "chrf", "different", top=1)
    assert lines[0] == f"segment {line.segment}, difference {line.by:+.2f}"
    assert lines[1].split() == ["good_one", f"{line.scores[0][0]:.2f}", *line.candidates[0].split()]
    assert lines[3].split() == ["reference", *line.references[0].split()]
    assert lines[-1] == "scores: chrf"


def test_explain_shows_the_lines_that_matter(command, refused, given):
    done = command("explain", *given, "--show", "worst", "--top", 2, "-f", "json")
    expected = list(dict.fromkeys(line.segment for line in choose_lines(CORPUS, "bleu", "worst", top=2)))
    assert list(dict.fromkeys(each["segment"] for each in json.loads(done.out)["segments"])) == expected
    done = command("explain", *given, "--show", "disagreeing", "-m", "bleu", "chrf", "--top", 1)
    assert (done.code, done.err) == (0, "")
    for arguments in (["--show", "worst", "-l", 1], ["--top", 3]):
        assert "--segment" in refused("explain", *given, *arguments)


def test_corrections_by_kind(command, refused, files):
    gold = files.write("gold.m2", ["S he eat", "A 1 2|||Vform|||eats|||REQUIRED|||-NONE-|||0", "", "S it is", ""])
    system = files.write("system.txt", ["he eats", "it was"])
    done = command("compare", "-c", system, "--gold", gold, "-m", "m2", "--by", "type", "-f", "csv")
    assert (done.code, done.err) == (0, "")
    rows = [row[:5] for row in csv.reader(done.out.splitlines())]
    assert rows == [
        ["system", "kind", "correct", "proposed", "gold"],
        ["system", "all", "1", "2", "1"],
        ["system", "Vform", "1", "1", "1"],
        ["system", "other", "0", "1", "0"],
    ]
    assert "m2" in refused("compare", "-c", system, "-r", system, "--by", "operation")


def test_without_references_words_are_not_counted(command, refused, given, files):
    texts = [*given[:3], "-s", files.reference, "-m", "refless"]
    for view in (["--by", "rarity"], ["--by", "coverage"], ["--show", "ngrams"]):
        assert "references" in refused("compare", *texts, *view)
    assert command("compare", *texts, "--by", "length").code == 0
    assert command("compare", *texts, "-f", "html", "--quiet").code == 0


# softbleu diff


@pytest.fixture
def runs(command: Any, files: Any, monkeypatch: Any) -> Any:
    monkeypatch.chdir(files.folder)
    for name, text in (("monday", files.candidate), ("tuesday", files.second)):
        given = ("-c", f"ours={text}", "-r", files.reference, "-f", "json", "--level", "segment")
        assert command("score", *given, "-o", f"{name}.json").code == 0
        assert command("score", *given, "-m", "chrf", "-o", f"{name}.chrf.json").code == 0
    return files


def test_text_shows_the_most_changed_lines(command: Any, runs: Any) -> None:
    done = command("diff", "monday.json", "tuesday.json", "--lines", "1")
    assert (done.code, done.err) == (0, "")
    assert "cannot be compared  none" in done.out
    assert sum(line.startswith("line ") for line in done.out.splitlines()) == 1
    assert done.out.endswith("\n2 further lines changed (--lines shows more)\n")
    rows = json.loads(command("diff", "monday.json", "tuesday.json", "-f", "json").out)["rows"]
    sizes = [abs(row["difference"]) for row in rows if row["kind"] == "line"]
    assert len(sizes) == 3
    assert sizes == sorted(sizes, reverse=True)
    assert "nothing differs" in command("diff", "monday.json", "monday.json").out


def test_other_metrics_are_not_compared(command: Any, runs: Any) -> None:
    done = command("diff", "monday.json", "monday.chrf.json", "-o", "changed.csv")
    assert (done.code, done.out, done.err) == (0, "", "")
    with (runs.folder / "changed.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["kind"] for row in rows} == {"setting", "score", "line"}
    assert {row["difference"] for row in rows} == {""}
