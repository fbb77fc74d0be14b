"""Commands of the guides for corpora of corrections print the figures that stand beside them, on these corpora."""

import re
import shlex
from typing import Any

import pytest
from cli.conftest import command
from shared_data import shared
from tables import TESTS

__all__ = ["command"]
GUIDES = ("corrections", "coming-from")
ROWS = [
    row
    for guide in GUIDES
    for row in re.findall(
        r"^\|.*\| `softbleu (score [^`]* (?:conll14|gmeg-dev)/[^`]*)` \| (-?[\d.]+|none) \|$",
        (TESTS.parent / "docs" / "guide" / f"{guide}.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
]


@pytest.mark.parametrize(("typed", "figure"), ROWS, ids=str)
def test_recipes_print_their_figure(typed: str, figure: str, command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared("data"))
    done = command(*shlex.split(typed), "--quiet", "--score-only")
    assert (done.code, len(done.out.split())) == (0, 1)
    assert figure in (done.out.strip(), "none")


def test_both_guides_have_recipes() -> None:
    assert len(ROWS) >= 13
