"""The README and the guides do what they say: their commands print what they show, their Python runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import command

__all__ = ["command"]

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
START = ROOT / "docs" / "guide" / "start.md"  # its tasks are run by tests/test_tasks.py
PAGES = (README, *(page for page in sorted((ROOT / "docs" / "guide").glob("*.md")) if page != START))
# No environment need be activated: the program is the one beside this interpreter.
SCRIPTS = Path(sys.executable).parent
ENVIRONMENT = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
# What installs or tests is the business of the gate; what comes after the installation is run here.
_INSTALLS = ".venv/bin/"
_TESTS = "pytest"


def blocks(language: str, page: Path = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[tuple[str, str]]:
    """Commands of a page's console blocks and what they are said to print."""
    parts = [part for block in blocks("console", page) for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    split = [part.partition("\n") for part in parts]
    plain = [(line.rpartition(_INSTALLS)[2], expected) for line, _, expected in split]
    return [(line, expected) for line, expected in plain if not line.startswith((_TESTS, "pip "))]


def in_shell(line: str, stdin: bytes = b"", folder: Path | None = None, **more: str) -> str:
    environment = ENVIRONMENT | more
    done = subprocess.run(
        line, shell=True, input=stdin, capture_output=True, check=False, cwd=folder, env=environment
    )
    assert done.returncode == 0, f"{line}: {done.stderr!r}"
    return done.stdout.decode()


def printed(line: str, command: Any) -> str:
    """What a line of a shell prints: softbleu runs in this process, what is behind a pipe and all else in a shell."""
    if not line.startswith("softbleu "):
        return in_shell(line)
    scoring, _, rest = line.partition(" | ")
    done = command(*shlex.split(scoring)[1:], environment={"COLUMNS": "120"})
    assert done.code == 0, f"{scoring}: {done.err}"
    return in_shell(rest, done.out.encode()) if rest else done.out


def pattern_of(expected: str) -> str:
    """Three dots stand for anything."""
    return ".*".join(re.escape(part) for part in expected.split("..."))


def test_there_is_something_to_run() -> None:
    assert len(commands(README)) >= 6
    assert len(blocks("python")) >= 1
    assert sum(bool(commands(page)) for page in PAGES) >= 20
    # What is no command of a console and no Python that runs is shown as text.
    shown = {
        language for page in (*PAGES, START) for language in re.findall(r"^```(\w+)$", page.read_text("utf-8"), re.M)
    }
    assert shown == {"console", "python", "text"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_print_what_is_shown(command: Any, page: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for line, expected in commands(page):
        found = printed(line, command)
        assert not expected or re.fullmatch(pattern_of(expected), found, re.DOTALL), f"{line} printed\n{found}"


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("code", [code for page in PAGES for code in blocks("python", page)])
def test_python_runs(code: str, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "<page>", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.strip()
