"""`softbleu diff`."""

from __future__ import annotations

import csv
import json
from typing import Any

import pytest


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


@pytest.mark.parametrize(
    "given", [["candidate.txt", "monday.json"], ["monday.json", "missing.json"], ["monday.json"]]
)
def test_bad_input(refused: Any, runs: Any, given: list[str]) -> None:
    refused("diff", *given)
