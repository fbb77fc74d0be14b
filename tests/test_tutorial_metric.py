"""The tutorial metric of docs/ is installed as its page says, and works wherever a metric does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jiwer
import pytest

TUTORIAL = Path(__file__).resolve().parents[1] / "docs" / "tutorial_metric"
CANDIDATES = {
    "good": ["the cat sat on the mat", "a dog barks at night", "it rains"],
    "bad": ["cat sits on a mat mat", "the dogs bark", "rain"],
    "poor": ["the cat sat on a mat", "a dog barked loudly at night", "it rained"],
}
REFERENCES = ["the cat sat on the mat", "a dog barked at night", "it rains"]
HUMAN = {"good": 3.0, "poor": 2.0, "bad": 1.0}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("texts")
    for name, lines in {**CANDIDATES, "reference": REFERENCES}.items():
        (made / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    (made / "human.tsv").write_text("".join(f"{name}\t{score}\n" for name, score in HUMAN.items()))
    return made


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Install the package beside softbleu; no other file is touched."""
    target, source = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "softbleu_wer.py"):
        (source / name).write_bytes((TUTORIAL / name).read_bytes())
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    install = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)]
    done = subprocess.run(install, capture_output=True, text=True, check=False, cwd=target)
    assert done.returncode == 0, done.stderr
    path = os.pathsep.join(filter(None, [str(target), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}


@pytest.fixture
def run(environment: dict[str, str], folder: Path):
    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = (
            [sys.executable, *arguments] if arguments[0] == "-c" else [sys.executable, "-m", "softbleu", *arguments]
        )
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=folder)

    return call


def read(done: subprocess.CompletedProcess[str]) -> dict:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


TEXTS = ("-c", "good.txt", "-c", "bad.txt", "-c", "poor.txt", "-r", "reference.txt")


def test_it_is_one_small_file() -> None:
    assert len((TUTORIAL / "softbleu_wer.py").read_text().splitlines()) <= 60


def test_its_numbers_are_those_of_jiwer(run) -> None:
    systems = read(run("score", "--metric", "wer", *TEXTS, "--format", "json"))["systems"]
    for system in systems:
        assert system["score"] == pytest.approx(100 * jiwer.wer(REFERENCES, CANDIDATES[system["name"]]), abs=1e-9)
    assert len({system["score"] for system in systems}) == 3


def test_its_own_setting(run) -> None:
    option = read(run("score", "--metric", "wer", "--wer-substitution-cost", "2", *TEXTS, "--format", "json"))
    expression = read(run("score", "--metric", "wer(substitution_cost=2)", *TEXTS, "--format", "json"))
    assert option == expression
    assert "|substitution-cost:2.0|" in option["signature"]
    good = option["systems"][0]
    assert good["score"] == 100 * (2 * good["substitutions"] + good["deletions"] + good["insertions"]) / 13
    again = read(run("score", "--signature", option["signature"], *TEXTS, "--format", "json", "--quiet"))
    assert again == option


def test_bad_values_are_refused_in_one_line(run) -> None:
    done = run("score", "--metric", "wer", "--wer-substitution-cost", "-1", *TEXTS)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "substitution_cost must lie between 0 and" in done.stderr


def test_help_names_it(run) -> None:
    shown = run("score", "--metric", "wer", "--help").stdout
    assert "--wer-substitution-cost" in shown
    assert "Cost of a substitution beside an insertion's (default: 1)" in " ".join(shown.replace("│", " ").split())


def test_compare_ranks_the_right_way_round(run) -> None:
    table = read(run("compare", "--metric", "wer", *TEXTS, "--format", "json", "--samples", "200"))
    rows = {row["name"]: row for row in table["systems"]}
    assert sorted(rows, key=lambda name: rows[name]["rank"]) == ["good", "poor", "bad"]
    assert sorted(rows, key=lambda name: rows[name]["score"]) == ["good", "poor", "bad"]
    for row in rows.values():
        low, high = row["interval"]
        assert low <= row["score"] <= high
    assert rows["good"]["p_value"] is None
    assert 0 < rows["bad"]["p_value"] <= 1
    text = run("compare", "--metric", "wer", *TEXTS, "--samples", "200").stdout
    assert [line.split()[0] for line in text.splitlines()[2:5]] == ["good", "poor", "bad"]
    assert "WER" in text


def test_sweep(run) -> None:
    done = run("sweep", "--metric", "wer", *TEXTS, "--vary", "substitution_cost=1,2", "--format", "json", "--quiet")
    rows = read(done)["rows"]
    assert [(row["system"], row["substitution_cost"]) for row in rows[:2]] == [("good", 1.0), ("good", 2.0)]
    assert rows[0]["score"] < rows[1]["score"]


def test_metaeval_turns_it_round(run) -> None:
    done = run("metaeval", "--metric", "wer", *TEXTS, "--human", "human.tsv", "--samples", "50", "--format", "json")
    (row,) = read(done)["rows"]
    assert (row["metric"], row["points"], row["spearman"]) == ("wer", 3, 1.0)


def test_python(run) -> None:
    code = (
        "import softbleu\n"
        "result = softbleu.score(['a b'], ['a c'], metric='wer(substitution_cost=2)')\n"
        "print(result.numbers, result.label, result.higher_is_better)\n"
        "print(softbleu.score(['a b'], ['a c'], metric='wer', substitution_cost=0.5).score)\n"
    )
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("WordErrors(score=100.0, substitutions=0, deletions=1, insertions=1")
    assert first.endswith("WER False")
    assert second == "25.0"
