"""The pages are written in plain words: the linter of docs/ finds nothing there, and finds what it is for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LINTER = Path(__file__).resolve().parents[1] / "docs" / "prose.py"


def lint(*pages: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, LINTER, *pages], capture_output=True, text=True, check=False)


def test_pages_are_plain() -> None:
    done = lint()
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("sentence", "finding"),
    [
        ("Compare systems and see what people would say.", "2: “people”: say human judges"),
        (f"It takes {'a word and ' * 10}a word.", "2: a sentence of 34 words"),
        ("In the signature it is said which.", "2: a passive opening"),
    ],
)
def test_a_sentence_is_flagged(sentence: str, finding: str, tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(f"# Title\n{sentence}\n\n```sh\nwhat people met alike\n```\nA code span is left out: `people`.\n")
    done = lint(page)
    assert done.returncode == 1
    assert finding in done.stdout
    assert len(done.stdout.splitlines()) == 1


def test_docstrings_and_messages_are_looked_through(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""Words that met, and `mass`."""\nNAMES = ("mass", "what people write")\nWHY = f"no remedy: {NAMES}"\n'
    )
    assert [line.rpartition(":")[0][-10:] for line in lint(module).stdout.splitlines()] == [
        "y:1: “met”",
        ": “remedy”",
    ]
