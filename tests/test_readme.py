"""The README and the guides do what they say: their commands print what they show, their Python runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PAGES = (
    README,
    *(
        ROOT / "docs" / "guide" / f"{name}.md"
        for name in (
            *("coming-from", "differences", "gec", "gleu", "metrics"),
            *("corpora", "languages", "python", "report", "runs", "start", "sweeps", "thresholds", "vectors"),
        )
    ),
)
# What installs or tests is the business of the gate; what comes after the installation is run here.
_INSTALLS = ".venv/bin/"
_TESTS = "pytest"


def blocks(language: str, page: Path = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[tuple[str, str]]:
    """Commands of a page's console blocks and what they are said to print."""
    parts = [part for block in blocks("console", page) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    split = [part.partition("\n") for part in parts]
    plain = [(command.rpartition(_INSTALLS)[2], expected) for command, _, expected in split]
    return [(command, expected) for command, expected in plain if not command.startswith((_TESTS, "pip "))]


def pattern_of(expected: str) -> str:
    """Three dots stand for anything."""
    return ".*".join(re.escape(part) for part in expected.split("..."))


def test_there_is_something_to_run() -> None:
    assert len(commands(README)) >= 6
    assert all(commands(page) or blocks("python", page) for page in PAGES)
    assert len(blocks("python")) >= 1
    assert "pytest -q" in README.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    for command, expected in commands(page):
        done = subprocess.run(
            command, shell=True, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        if expected:
            assert re.fullmatch(pattern_of(expected), done.stdout, re.DOTALL), f"{command} printed\n{done.stdout}"


@pytest.mark.parametrize("code", [code for page in PAGES for code in blocks("python", page)])
def test_python_runs(code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
