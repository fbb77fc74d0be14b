"""The tutorial matcher of docs/ is installed as its page says, and used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    target = tmp_path_factory.mktemp("installed")
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "softbleu_phrase.py"):
        (source / name).write_bytes((DOCS / "tutorial_matcher" / name).read_bytes())
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    install = [sys.executable, "-m", "pip", "install", *options, "--target", str(target), str(source)]
    done = subprocess.run(install, capture_output=True, text=True, check=False, cwd=target)
    assert done.returncode == 0, done.stderr
    path = os.pathsep.join(filter(None, [str(target), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path}


def score(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "softbleu", "score", "--format", "json", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd="/")


def matches(done: subprocess.CompletedProcess[str]) -> list[float]:
    assert done.returncode == 0, done.stderr
    found: list[float] = json.loads(done.stdout)["systems"][0]["matches"]
    return found


def test_it_matches_phrases_only(environment: dict[str, str]) -> None:
    exact = matches(score(environment, "--matcher", "exact"))
    phrase = matches(score(environment, "--matcher", "phrase", "--threshold", "0.8"))
    vleu = matches(score(environment, "--matcher", "vleu", "--threshold", "0.8"))
    assert phrase[0] == exact[0] < vleu[0]
    assert phrase[1:] == vleu[1:]
    assert phrase[1] > exact[1]


def test_it_is_in_the_signature(environment: dict[str, str]) -> None:
    done = score(environment, "--matcher", "phrase", "--threshold", "0.8")
    assert "matcher:phrase|threshold:0.8|" in json.loads(done.stdout)["signature"]


def test_error_messages_list_it(environment: dict[str, str]) -> None:
    done = score(environment, "--matcher", "phrases")
    assert done.returncode == 2
    assert "did you mean 'phrase'?" in done.stderr
    names = done.stderr.partition("valid: ")[2].strip().split(", ")
    assert names[:4] == ["exact", "sleu", "vleu", "xleu"]
    assert "phrase" in names[4:]


def test_the_page_shows_the_code_that_is_installed() -> None:
    page = (DOCS / "guide" / "matchers.md").read_text(encoding="utf-8")
    code = (DOCS / "tutorial_matcher" / "softbleu_phrase.py").read_text(encoding="utf-8")
    shown = page.partition("```python\n")[2].partition("```")[0]
    assert shown.strip() in code
