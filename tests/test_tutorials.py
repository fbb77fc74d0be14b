"""The tutorial matcher and the tutorial metric of docs/ are installed as their pages say, and work everywhere."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jiwer
import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
PACKAGES = {"tutorial_matcher": "softbleu_phrase.py", "tutorial_metric": "softbleu_wer.py"}
CANDIDATES = {
    "good": ["the cat sat on the mat", "a dog barks at night", "it rains"],
    "bad": ["cat sits on a mat mat", "the dogs bark", "rain"],
    "poor": ["the cat sat on a mat", "a dog barked loudly at night", "it rained"],
}
REFERENCES = ["the cat sat on the mat", "a dog barked at night", "it rains"]
TEXTS = ("-c", "good.txt", "-c", "bad.txt", "-c", "poor.txt", "-r", "reference.txt")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


def install(target: Path) -> None:
    """Install both beside softbleu; no other file is touched."""
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    for folder, module in PACKAGES.items():
        source = target / f"{folder}.source"
        source.mkdir()
        for name in ("pyproject.toml", module):
            (source / name).write_bytes((DOCS / folder / name).read_bytes())
        command = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=target)
        assert done.returncode == 0, done.stderr


@pytest.fixture
def run(build_once: Any, tmp_path: Path) -> Run:
    """Run softbleu, or Python, where both are installed."""
    for name, lines in {**CANDIDATES, "reference": REFERENCES}.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    target = build_once("tutorials", install)
    path = os.pathsep.join(filter(None, [str(target), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = [] if arguments[0] == "-c" else ["-m", "softbleu"]
        command = [sys.executable, *program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path)

    return call


def read(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_page_shows_the_code_that_is_installed() -> None:
    page = (DOCS / "guide" / "matchers.md").read_text(encoding="utf-8")
    code = (DOCS / "tutorial_matcher" / "softbleu_phrase.py").read_text(encoding="utf-8")
    shown = page.partition("```python\n")[2].partition("```")[0]
    assert shown.strip() in code
    assert len((DOCS / "tutorial_metric" / "softbleu_wer.py").read_text().splitlines()) <= 60


@pytest.mark.slow
def test_the_matcher_matches_phrases_only(run: Run) -> None:
    def found(matcher: str) -> Any:
        threshold = [] if matcher == "exact" else ["--threshold", "0.8"]
        return read(run("score", "--format", "json", "--matcher", matcher, *threshold))

    scored = {matcher: found(matcher) for matcher in ("exact", "phrase", "vleu")}
    exact, phrase, vleu = (each["systems"][0]["matches"] for each in scored.values())
    assert phrase[0] == exact[0] < vleu[0]
    assert phrase[1:] == vleu[1:]
    assert phrase[1] > exact[1]
    assert "matcher:phrase|threshold:0.8|" in scored["phrase"]["signature"]
    done = run("score", "--matcher", "phrases")
    assert done.returncode == 2
    assert "did you mean 'phrase'?" in done.stderr


@pytest.mark.slow
def test_the_metric_has_the_numbers_of_jiwer_and_a_setting(run: Run) -> None:
    systems = read(run("score", "--metric", "wer", *TEXTS, "--format", "json"))["systems"]
    for system in systems:
        assert system["score"] == pytest.approx(100 * jiwer.wer(REFERENCES, CANDIDATES[system["name"]]), abs=1e-9)
    assert len({system["score"] for system in systems}) == 3
    option = read(run("score", "--metric", "wer", "--wer-substitution-cost", "2", *TEXTS, "--format", "json"))
    good = option["systems"][0]
    assert good["score"] == 100 * (2 * good["substitutions"] + good["deletions"] + good["insertions"]) / 13
    # Errors are turned round: more of them is worse.
    table = read(run("compare", "--metric", "wer", *TEXTS, "--format", "json", "--samples", "200"))
    assert {row["name"]: row["rank"] for row in table["systems"]} == {"good": 1, "poor": 2, "bad": 3}
