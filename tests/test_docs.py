"""The pages of docs/ keep up with the code."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from typer.cli import app as typer_program
from typer.testing import CliRunner

DOCS = Path(__file__).resolve().parents[1] / "docs"


def options_of(page: str) -> list[str]:
    """Commands and options of a page, each with its explanation."""
    return re.findall(r"^(?:##+ `softbleu .*`|\* `-.*)$", page, re.MULTILINE)


def test_all_options_are_documented(tmp_path: Path) -> None:
    made = tmp_path / "cli.md"
    # In this process, where plug-ins offer nothing.
    arguments = ["softbleu.cli.app", "utils", "docs", "--name", "softbleu", "--output", str(made)]
    assert CliRunner().invoke(typer_program, arguments).exit_code == 0
    expected = options_of(html.unescape(made.read_text(encoding="utf-8")))
    assert len(expected) > 60
    assert options_of((DOCS / "reference" / "cli.md").read_text(encoding="utf-8")) == expected, (
        "run: python docs/reference/make_cli.py"
    )


def test_nothing_is_left_to_fill_in() -> None:
    for page in (DOCS.parent / "README.md", *DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        assert len(text) > 500, page
        assert not re.search(r"@[A-Z_]+@", text), page


@pytest.mark.parametrize("page", [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target
