"""The draft of the paper can be built, and files for citation name the version that they lie beside."""

import json
import re
from pathlib import Path

import pytest

import softbleu

ROOT = Path(__file__).resolve().parents[1]
PAPER = ROOT / "docs" / "paper"


def test_the_paper_is_built_and_finds_every_source() -> None:
    markdown = pytest.importorskip("markdown")
    head, text = (PAPER / "paper.md").read_text(encoding="utf-8").removeprefix("---\n").split("\n---\n")
    keys = set(re.findall(r"^@\w+\{(\w+),$", (PAPER / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE))
    assert {each.partition(":")[0] for each in head.splitlines()} >= {"title", "tags", "authors", "bibliography"}
    assert set(re.findall(r"@(\w+)", text)) == keys
    built = markdown.markdown(text)
    assert re.findall(r"<h1>(.+?)</h1>", built)[:2] == ["Summary", "Statement of need"]
    assert "<h1>References</h1>" in built


def test_files_for_citation_name_the_version() -> None:
    cited = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    described = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    assert cited == [described["version"]] == [softbleu.__version__]
