"""`softbleu experiments run` about agreement with people."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from judged_systems import OUTPUTS, PEOPLE, REFERENCE

from softbleu.meta.metaeval import metaeval


@pytest.fixture
def study(files: Any, monkeypatch: Any) -> Path:
    for name, lines in {**OUTPUTS, "reference": REFERENCE}.items():
        files.write(f"{name}.txt", lines)
    for name, scores in PEOPLE.items():
        files.write(f"{name}.tsv", [f"{system} {score}" for system, score in scores.items()])
    candidates = json.dumps([f"{name}.txt" for name in OUTPUTS])
    tables = "".join(
        f'[data.{name}]\ncandidates = {candidates}\nreferences = ["reference.txt"]\nhuman = ["people={name}.tsv"]\n'
        for name in PEOPLE
    )
    files.write("agree.toml", [
        'kind = "metaeval"',
        "[metaeval]",
        'questions = ["systems", "williams"]',
        'against = "chrF"',
        "samples = 20",
        "[settings]",
        'tokenize = "none"',
        "[metrics]",
        'chrF = "chrf"',
        '"BLEU, short" = "bleu(order=2)"',
        'TER = "ter"',
        tables,
    ])  # fmt: skip
    files.write("choose.toml", [
        'kind = "calibration"',
        "[calibration.vary]",
        "order = [1, 2]",
        "[settings]",
        'metric = "bleu"',
        tables,
    ])  # fmt: skip
    monkeypatch.chdir(files.folder)
    return Path(files.folder)


def table(folder: Path, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / name).read_text(), newline="")))


def test_agreement_as_an_experiment(command: Any, study: Path) -> None:
    done = command("experiments", "run", "agree.toml", "--no-picture", "-q")
    assert (done.code, done.err) == (0, "")
    rows = table(study, "agree.systems.csv")
    names = ["chrF", "BLEU, short", "TER"]
    assert [(row["data"], row["metric"]) for row in rows] == [(data, name) for data in PEOPLE for name in names]
    alone = metaeval(
        "systems",
        metrics={"TER": "ter"},
        candidates=OUTPUTS,
        references=REFERENCE,
        human={"people": PEOPLE["y"]},
        samples=20,
    ).table
    found = next(row for row in rows if row["data"] == "y" and row["metric"] == "TER")
    assert float(found["pearson"]) == alone.rows[0][list(alone.columns).index("pearson")]
    # Errors are turned round: more of them is worse.
    assert float(found["pearson"]) > 0
    tests = table(study, "agree.williams.csv")
    assert all("chrF" in (row["better"], row["worse"]) for row in tests)
    assert len(tests) == len(PEOPLE) * 2 * 2
    manifest = json.loads((study / "agree.manifest.json").read_text())
    assert list(manifest["metrics"]) == names
    assert {"x.tsv", "a.txt", "reference.txt", "agree.toml"} <= set(manifest["inputs"])


def test_calibration_as_an_experiment(command: Any, study: Path) -> None:
    done = command("experiments", "run", "choose.toml", "--no-picture", "-q")
    assert (done.code, done.err) == (0, "")
    assert [row["held out"] for row in table(study, "choose.csv")] == [*PEOPLE, "mean"]
    assert [row["order"] for row in table(study, "choose.grid.csv")] == ["1", "2"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[metrics]", "metrics = 3\n[nothing]"), "unknown"),
        (("[data.x]", "[data]\nx = 3\n[data.w]"), "[data.x] must be a table, not 3"),
        (('human = ["people=x.tsv"]', "human = 3"), "[data.x] 'human' must be a list of text, not 3"),
        (('human = ["people=x.tsv"]', 'huma = ["x"]'), "unknown"),
        (('human = ["people=x.tsv"]', 'human = ["w.tsv"]'), "w.tsv"),
        (('TER = "ter"', 'TER = "tur"'), "[metrics] 'TER': unknown metric 'tur'"),
        (('against = "chrF"', 'against = "chr"'), "unknown metric 'chr'"),
        (('"systems", "williams"', '"sistems"'), "sistems"),
    ],
)
def test_mistakes_are_one_line(refused: Any, study: Path, change: tuple[str, str], message: str) -> None:
    text = (study / "agree.toml").read_text()
    assert change[0] in text
    (study / "agree.toml").write_text(text.replace(*change, 1))
    assert message in refused("experiments", "run", "agree.toml", "--no-picture", output=None)
