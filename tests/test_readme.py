"""The README and the guides do what they say: their commands print what they show, their Python runs."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cli.conftest import command

__all__ = ["command"]

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
NAMES = (
    *("coming-from", "corpora", "differences", "gec", "gleu", "languages", "metrics"),
    *("python", "report", "runs", "sweeps", "thresholds", "trained", "vectors"),
)
PAGES = (README, *(ROOT / "docs" / "guide" / f"{name}.md" for name in NAMES))
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


def printed(line: str, command: Any) -> str:
    """What a line of a shell prints: softbleu runs in this process, what is behind a pipe and all else in a shell."""
    given = b""
    if line.startswith("softbleu "):
        own, _, line = line.partition(" | ")
        done = command(*shlex.split(own)[1:], environment={"COLUMNS": "120"})
        assert done.code == 0, f"{own}: {done.err}"
        given = done.out.encode()
    if not line:
        return given.decode()
    found = subprocess.run(line, shell=True, input=given, capture_output=True, check=False)
    assert found.returncode == 0, f"{line}: {found.stderr!r}"
    return found.stdout.decode()


def pattern_of(expected: str) -> str:
    """Three dots stand for anything."""
    return ".*".join(re.escape(part) for part in expected.split("..."))


def test_there_is_something_to_run() -> None:
    assert len(commands(README)) >= 6
    assert all(commands(page) or blocks("python", page) for page in PAGES)
    assert len(blocks("python")) >= 1
    assert "pytest -q" in README.read_text(encoding="utf-8")


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
