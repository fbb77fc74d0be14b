"""Runs that are kept and compared: what changed, and what cannot be compared."""

import json
from pathlib import Path
from typing import Any

import pytest

import softbleu
from softbleu.report import WRITERS, Layout
from softbleu.results.runs import Change, RunOfMetric, diff_files, diff_runs, read_run

REFERENCES = ["a dog sat here", "it rains all day", "so be it then"]
ONE = {"A": ["a cat sat here", "it rains all day", "so be it"], "B": REFERENCES}
TWO = {"A": ["a dog sat here", "it rains all day", "so be it"], "B": REFERENCES}


def keep(folder: Path, name: str, systems: Any, form: str = "json", **settings: Any) -> Path:
    results = softbleu.score(systems, REFERENCES, **{"metric": ["bleu", "chrf"], "level": "segment", **settings})
    path = folder / name
    path.write_text("".join(WRITERS[form](results, Layout())), encoding="utf-8")
    return path


def test_what_changed_is_what_was_changed(tmp_path: Path) -> None:
    found = diff_files(keep(tmp_path, "one.json", ONE), keep(tmp_path, "two.json", TWO))
    assert found.incomparable == {}
    changed = [(each.metric, each.kind, each.system, each.name) for each in found.changes]
    assert changed == [
        (name, *each) for name in ("bleu", "chrf") for each in (("score", "A", ""), ("line", "A", "1"))
    ]
    # Two systems of three lines by two metrics.
    assert found.compared == 2 * (2 + 2 * 3)
    chrf = found.changes[-1]
    how: Any = {"metric": "chrf", "level": "segment"}
    scores = [softbleu.score(each["A"][:1], REFERENCES[:1], **how).score for each in (ONE, TWO)]
    assert (chrf.one, chrf.two) == pytest.approx(scores)
    assert chrf.difference == pytest.approx(scores[1] - scores[0])
    assert diff_files(tmp_path / "one.json", tmp_path / "one.json").changes == []
    assert json.loads(json.dumps(found.to_dict()))["scores in both"] == found.compared


def test_other_settings_cannot_be_compared(tmp_path: Path) -> None:
    one = keep(tmp_path, "one.json", ONE, metric="chrf")
    two = keep(tmp_path, "two.json", TWO, metric="chrf", beta=1.0)
    found = diff_files(one, two)
    assert found.incomparable == {"chrf": "beta is 2.0 in one, 1.0 in the other"}
    assert found.changes[0] == Change("setting", "chrf", "", "beta", "2.0", "1.0")
    assert {each.difference for each in found.changes} == {None}
    other = diff_files(one, keep(tmp_path, "three.json", ONE, metric="bleu"))
    assert "metric is chrf in one, bleu in the other" in other.incomparable["chrf / bleu"]


def test_resources_and_versions_are_told_apart() -> None:
    def run(**signature: str) -> dict[str, RunOfMetric]:
        return {"vleu": RunOfMetric({"metric": "bleu", "vectors": "a#1", "version": "1", **signature}, {"A": 20.0})}

    (change,) = diff_runs(run(), run(version="2")).changes
    assert change.kind == "version"
    assert diff_runs(run(), run(version="2")).incomparable == {}
    found = diff_runs(run(), run(vectors="a#2"))
    assert [each.kind for each in found.changes] == ["resource"]
    assert found.incomparable == {"vleu": "vectors is a#1 in one, a#2 in the other"}


def test_systems_and_lines_that_one_run_lacks(tmp_path: Path) -> None:
    two = keep(tmp_path, "two.json", {"A": ONE["A"], "C": REFERENCES}, metric="chrf")
    found = diff_files(keep(tmp_path, "one.json", ONE, metric="chrf"), two)
    lacking = [(each.kind, each.system, each.one is None) for each in found.changes if each.name in ("", "1")]
    assert lacking == [("score", "B", False), ("score", "C", True), ("line", "B", False), ("line", "C", True)]


def test_lines_of_json_have_no_signature(tmp_path: Path) -> None:
    one = keep(tmp_path, "one.jsonl", ONE, "jsonl")
    found = diff_files(one, keep(tmp_path, "two.json", TWO))
    assert set(found.incomparable) == {"bleu", "chrf"}
    assert "no signature" in found.incomparable["bleu"]
    both = read_run(str(one))["chrf"].lines, read_run(str(tmp_path / "two.json"))["chrf"].lines
    assert both[0].keys() == both[1].keys()
    assert both[0]["B", "1"] == both[1]["B", "1"]
    # References are lines of their own.
    scored = softbleu.score(["a cat"], [["the cat", "a dog"]], ["a cart"], metric="gleu", level="reference")
    (tmp_path / "gleu.json").write_text("".join(WRITERS["json"]([scored], Layout())), encoding="utf-8")
    lines = read_run(str(tmp_path / "gleu.json"))["gleu"].lines
    assert list(lines) == [("candidate", "1 reference 1"), ("candidate", "1 reference 2")]
