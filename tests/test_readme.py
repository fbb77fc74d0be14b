"""The README does what it says: its commands print what it shows, its Python runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[1] / "README.md"
# What installs or tests is the business of the gate, which runs these very commands.
_NOT_HERE = ("pip ", "pytest")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands() -> list[tuple[str, str]]:
    """Commands of all console blocks and what they are said to print."""
    parts = [part for block in blocks("console") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    split = [part.partition("\n") for part in parts]
    return [(command, expected) for command, _, expected in split if not command.startswith(_NOT_HERE)]


def pattern_of(expected: str) -> str:
    """Three dots stand for anything."""
    return ".*".join(re.escape(part) for part in expected.split("..."))


def test_there_is_something_to_run() -> None:
    assert len(commands()) >= 8
    assert len(blocks("python")) >= 1
    assert "pytest -q" in README.read_text(encoding="utf-8")


def test_commands_print_what_is_shown(tmp_path: Path) -> None:
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
    for command, expected in commands():
        done = subprocess.run(
            command, shell=True, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        if expected:
            assert re.fullmatch(pattern_of(expected), done.stdout, re.DOTALL), f"{command} printed\n{done.stdout}"


@pytest.mark.parametrize("code", blocks("python"))
def test_python_runs(code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
